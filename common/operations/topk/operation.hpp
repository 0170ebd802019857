// SPDX-License-Identifier: MIT
// The k most likely columns of each row and their probabilities, as operations of the runner.
#pragma once
#include <cstdint>

#include "common/runner/operation.hpp"

namespace operations::topk {

using runner::DType;

// Two orders, which differ where probabilities are equal after rounding and logits are not.
//
// softmax_topk: that of a stable descending sort of x. Of equal elements the lower column comes first; -0
// equals +0; NaN is largest. Indices are exact.
//
// topk_of_softmax: that of the same sort of the variant's own probabilities, which may be rounded otherwise
// than another's. In a row of NaN the columns are 0 to k - 1.
//
// softmax_topk_lse: the first, and all else that one read of x tells: the k elements themselves (logits) and
// the logarithm of the row's sum of exponentials (log_sum_exp: float, double of double). Indices have 64 bits.
enum class Kind { softmax_topk, topk_of_softmax, softmax_topk_lse };
constexpr Kind kAllKinds[] = {Kind::softmax_topk, Kind::topk_of_softmax, Kind::softmax_topk_lse};
const char* name_of(Kind kind);

constexpr const char* kOption = "k";
constexpr int64_t kUsualK = 5;  // the paper's
constexpr int64_t kLargestDrawnK = 1024;

struct Shape {
    Shape(int64_t all_rows, int64_t all_cols, int64_t best)
        : rows(all_rows), cols(all_cols), k(best) {}
    Shape(const runner::Shape& shape)
        : rows(shape[0]),
          cols(shape[1]),
          k(static_cast<int64_t>(shape.option(kOption, static_cast<double>(kUsualK)))) {}
    operator runner::Shape() const {
        runner::Shape shape{rows, cols};
        shape.set_option(kOption, static_cast<double>(k));
        return shape;
    }

    int64_t rows;
    int64_t cols;
    int64_t k;
};

// The one object for each; variants point to it.
const runner::Operation* operation_of(Kind kind);

// What an operation of this family is. std::invalid_argument for any other.
Kind kind_of(const runner::Operation& operation);

}  // namespace operations::topk
