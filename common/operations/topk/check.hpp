// SPDX-License-Identifier: MIT
// The checker: a result against the fp64 reference, or against an earlier variant's result.
//
// A list is checked without sorting the row. It is the right one if its elements follow each other in order,
// and as many elements of the row come before its last one as stand before it in the list. A list by a
// variant's own probabilities need only be right up to rounding: no column may be missing whose true
// probability exceeds the last of the list by more than its bound.
#pragma once
#include <cstdint>
#include <vector>

#include "common/operations/softmax/reference.cuh"
#include "common/operations/topk/operation.hpp"
#include "common/runner/report.hpp"

namespace operations::topk {

// Columns, in 32 bits or 64.
class Indices {
public:
    Indices() = default;
    Indices(const int32_t* narrow) : narrow_(narrow) {}
    Indices(const int64_t* wide) : wide_(wide) {}

    __host__ __device__ int64_t operator[](int64_t place) const {
        return wide_ != nullptr ? wide_[place] : narrow_[place];
    }
    __host__ __device__ Indices from(int64_t place) const {
        return {narrow_ == nullptr ? nullptr : narrow_ + place,
                wide_ == nullptr ? nullptr : wide_ + place};
    }
    bool are_wide() const { return wide_ != nullptr; }
    const int32_t* narrow() const { return narrow_; }
    const int64_t* wide() const { return wide_; }

private:
    __host__ __device__ Indices(const int32_t* narrow, const int64_t* wide)
        : narrow_(narrow), wide_(wide) {}

    const int32_t* narrow_ = nullptr;
    const int64_t* wide_ = nullptr;
};

// A result of x's type, and how it was computed.
struct Result {
    const void* values = nullptr;
    Indices indices = {};
    Kind kind = Kind::softmax_topk;
    softmax::Rules rules = {};  // of the probabilities

    // nullptr: not told, and not checked.
    const void* logits = nullptr;       // of x's type
    const void* log_sum_exp = nullptr;  // float; double of double
};

// Against the reference, or against a previous result: probabilities may differ by the sum of their bounds, and
// columns where their probabilities are as near, unless both are exact; what one of them does not tell is not compared.
// Device pointers; waits for the device.
runner::Report check(const void* x, const Shape& shape, const Result& ours,
                     const Result* previous = nullptr);

// The same on host memory, by plain loops, and by a kernel, whatever the device is.
runner::Report check_on_host(const void* x, const Shape& shape, const Result& ours,
                             const Result* previous = nullptr);
runner::Report check_on_device(const void* x, const Shape& shape, const Result& ours,
                               const Result* previous = nullptr);

// The first k columns of a row, sorted: a stable descending sort.
std::vector<int64_t> sorted_columns(const std::vector<double>& row, int64_t k);

}  // namespace operations::topk
