// SPDX-License-Identifier: MIT
// A column of each row, chosen at random by its probability, as operations of the runner: the next token of a
// language model.
#pragma once
#include <cstdint>

#include "common/runner/operation.hpp"

namespace operations::sampling {

using runner::DType;

// Probabilities are those of softmax(x / temperature). What stays is cut three times, in this order: the top_k most
// likely columns; the fewest most likely ones that together have top_p of what those have; those that have min_p
// of the best's probability. Of equal elements the lower columns stay, as many as are needed. The columns that
// stay lie in their order side by side, each as wide as its probability, and the row's number (draw.cuh) points at
// one. Temperature 0: the best column. A row with NaN or +inf, or of -inf alone: column -1, probability NaN.
//
// sample_token: the column alone, in 32 bits. sample_token_with_probability: in 64 bits, and the probability (float) with which
// it was chosen among what stays.
enum class Kind { sample_token, sample_token_with_probability };
const char* name_of(Kind kind);

constexpr const char* kTemperature = "temperature";
constexpr const char* kTopK = "top_k";  // 0: all columns
constexpr const char* kTopP = "top_p";
constexpr const char* kMinP = "min_p";
constexpr const char* kSeed = "seed";

struct Options {
    double temperature = 1;
    int64_t top_k = 0;
    double top_p = 1;
    double min_p = 0;
    uint64_t seed = 0;

    bool cut() const { return top_k > 0 || top_p < 1 || min_p > 0; }
};

struct Shape {
    Shape(int64_t all_rows, int64_t all_cols, const Options& how = {})
        : rows(all_rows), cols(all_cols), options(how) {}
    Shape(const runner::Shape& shape);
    operator runner::Shape() const;  // without what is as usual

    int64_t rows;
    int64_t cols;
    Options options;
};

// The one object for each; variants point to it.
const runner::Operation* operation_of(Kind kind);

// What an operation of this family is. std::invalid_argument for any other.
Kind kind_of(const runner::Operation& operation);

}  // namespace operations::sampling
