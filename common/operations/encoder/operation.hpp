// SPDX-License-Identifier: MIT
// A whole encoder as an operation of the runner: hidden states of a batch of sequences through layers of attention
// and feed-forward, [batch, seq, heads * size] to the same; rows behind a sequence's end come out 0.
#pragma once
#include <cstdint>
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
};

// What a layer has learnt, each of all layers one behind the other. Matrices as PyTorch's Linear has them: a row for
// each number that comes out.
struct Parameter {
    std::string name;
    std::vector<int64_t> dims;  // the first: layers
};
std::vector<Parameter> parameters_of(const Shape& shape);

// The object; variants point to it. Inputs: x, lengths, the parameters.
const runner::Operation* operation();

}  // namespace operations::encoder
