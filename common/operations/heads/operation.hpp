// SPDX-License-Identifier: MIT
// Tokens of a batch of sequences, by token and by head, with padding and without, as operations of the runner.
#pragma once
#include <cstdint>
#include <vector>

#include "common/runner/operation.hpp"

namespace operations::heads {

using runner::DType;

// With `tokens` given, sequences have different lengths, which add up to that: packed, their rows lie without
// gaps. Otherwise each has `seq` tokens.
//
// add_qkv_bias_transpose: q, k, v = qkv + bias, from a row of [3, heads, size] a token to [batch, heads, seq,
// size] each; zeros where there is no token. transpose_back: from one of these to a row of [heads, size] a token.
// masked_softmax: y = softmax of x / sqrt(size) over the columns that are tokens, x and y [batch, heads, seq, seq];
// rows that are none are zeros. With the option `causal` no row sees columns behind its own.
// remove_padding: from [batch, seq, heads * size] to packed rows, rebuild_padding: back; by lengths.
enum class Kind {
    add_qkv_bias_transpose,
    masked_softmax,
    transpose_back,
    remove_padding,
    rebuild_padding
};
constexpr Kind kAllKinds[] = {Kind::add_qkv_bias_transpose, Kind::masked_softmax,
                              Kind::transpose_back, Kind::remove_padding, Kind::rebuild_padding};

constexpr const char* kTokens = "tokens";
constexpr const char* kCausal = "causal";

struct Shape {
    Shape(int64_t sequences, int64_t longest, int64_t all_heads, int64_t of_head,
          int64_t packed = 0)
        : batch(sequences), seq(longest), heads(all_heads), size(of_head), tokens(packed) {}
    Shape(const runner::Shape& shape);
    operator runner::Shape() const;

    bool is_packed() const { return tokens > 0; }
    int64_t hidden() const { return heads * size; }
    int64_t rows() const { return is_packed() ? tokens : batch * seq; }

    int64_t batch, seq, heads, size;
    int64_t tokens;  // 0: not packed
    bool causal = false;
};

// What scores are multiplied by: 1 / sqrt(size).
float scale_of(const Shape& shape);

// The one object for each; variants point to it.
const runner::Operation* operation_of(Kind kind);

}  // namespace operations::heads
