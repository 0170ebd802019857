// SPDX-License-Identifier: MIT
// A whole encoder as an operation of the runner: hidden states of a batch of sequences through layers of attention
// and feed-forward, [batch, seq, heads * size] to the same; rows behind a sequence's end come out 0.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/operations/tokens/operation.hpp"
#include "common/runner/operation.hpp"

namespace operations::encoder {

using runner::DType;
using tokens::Activation;

// Options beside those that name an activation, which are tokens'.
constexpr const char* kLayers = "layers";  // 1 unless it is said
constexpr const char* kInner =
    "inner";  // numbers in the feed-forward part; 0: four times the hidden ones
constexpr const char* kTokens = "tokens";    // of all sequences together; 0: all are full
constexpr const char* kPrenorm = "prenorm";  // norms come before attention and feed-forward
constexpr const char* kEpsilon = "epsilon";  // what is added to a variance
// Of encoders in 8 bits.
constexpr const char* kResultBits = "result_bits";  // of products: 16, or 8 with int8 (mode 2)
constexpr const char* kPercentile = "percentile";   // of magnitudes that steps cover; 100: all

// What products multiply: numbers of the operation's type, or 8-bit numbers.
enum class Kind { plain, e4m3, s8 };
// Of the weights' elements; not of plain ones, which have the operation's type.
inline runner::ElementType weight_type(Kind kind) {
    return kind == Kind::e4m3 ? runner::ElementType::float8_e4m3 : runner::ElementType::int8;
}

struct Shape {
    Shape(int64_t sequences, int64_t longest, int64_t all_heads, int64_t of_head)
        : batch(sequences), seq(longest), heads(all_heads), size(of_head) {}
    Shape(const runner::Shape& shape);
    // Without the options that are as usual.
    operator runner::Shape() const;

    int64_t hidden() const { return heads * size; }
    int64_t rows() const { return tokens > 0 ? tokens : batch * seq; }
    int64_t inner_size() const { return inner > 0 ? inner : 4 * hidden(); }

    int64_t batch, seq, heads, size;
    int64_t layers = 1, inner = 0, tokens = 0;
    bool prenorm = false;
    Activation activation = Activation::gelu;
    double epsilon = tokens::kEpsilon;
    bool has_8_bit_results = false;
    double percentile = 100;
};

// What a layer has learnt, each of all layers one behind the other. Matrices as PyTorch's Linear has them: a row for
// each number that comes out.
struct Parameter {
    std::string name;
    std::vector<int64_t> dims;                     // the first: layers
    std::optional<runner::ElementType> type = {};  // nothing: the operation's
};
// In 8 bits a matrix has a float for each row, "qkv_steps" for "qkv_weight", and each layer has kRounded floats, "steps": an 8-bit
// element stands for itself times its step.
std::vector<Parameter> parameters_of(const Shape& shape, Kind kind = Kind::plain);
std::string steps_of(const std::string& matrix);  // the parameter's name

// The tensors of a layer that are rounded to 8 bits, in the order of their steps: the inputs of the four products, then, with
// 8-bit results, what the products return.
enum Rounded {
    kQkvInput,
    kOutputInput,
    kInnerInput,
    kOuterInput,
    kQkvResult,
    kOutputResult,
    kInnerResult,
    kOuterResult,
    kRounded
};

// The objects; variants point to them. Inputs: x, lengths, the parameters.
const runner::Operation* operation(Kind kind = Kind::plain);

}  // namespace operations::encoder
