// SPDX-License-Identifier: MIT
// Attention as an operation of the runner: o = softmax(scale q k^T) v for each head of each sequence, row-major,
// q and o [batch, heads, queries, size], k and v [batch, key_heads, keys, size].
#pragma once
#include <cstdint>

#include "common/runner/operation.hpp"

namespace operations::attention {

using runner::DType;

constexpr const char* kCausal = "causal";  // query i sees keys 0 to i + keys - queries
constexpr const char* kScale = "scale";    // of scores; 0: 1 / sqrt(size)
// Heads of k and v, a divisor of heads: consecutive heads of q share one. 0: as many as q has.
constexpr const char* kKeyHeads = "key_heads";

struct Shape {
    Shape(int64_t sequences, int64_t of_each, int64_t all_queries, int64_t all_keys,
          int64_t of_head)
        : batch(sequences), heads(of_each), queries(all_queries), keys(all_keys), size(of_head) {}
    Shape(const runner::Shape& shape);
    // Without the options that are as usual.
    operator runner::Shape() const;

    Shape with_causal() const {
        Shape other = *this;
        other.causal = true;
        return other;
    }
    Shape with_scale(double new_scale) const {
        Shape other = *this;
        other.scale = new_scale;
        return other;
    }
    Shape with_key_heads(int64_t of_keys) const {
        Shape other = *this;
        other.key_heads = of_keys;
        return other;
    }
    __host__ __device__ int64_t heads_of_keys() const { return key_heads == 0 ? heads : key_heads; }
    float scale_of_scores() const;
    // Keys that a query sees in a sequence of so many.
    int64_t seen_by(int64_t query, int64_t length) const;

    int64_t batch, heads, queries, keys, size;
    bool causal = false;
    double scale = 0;  // as a float
    int64_t key_heads = 0;
};

enum class Kind {
    attention,           // o
    attention_with_sum,  // and the logarithm of each query's sum of exponentials, as float
};
// The objects; variants point to them. Their inputs: q, k, v, and lengths, the keys of each sequence that count.
const runner::Operation* operation_of(Kind kind);

}  // namespace operations::attention
