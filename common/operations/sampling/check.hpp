// SPDX-License-Identifier: MIT
// The checker: chosen columns against the fp64 reference.
//
// With the row's number u known, there is one right column: that whose interval of the cumulative distribution holds
// u. The distribution is that of the columns that stay. Both are known up to rounding: a column is right if it
// is for some cuts within the bounds, and some u within the bound of the interval's borders. Nothing is sorted: a
// cut is found by a search over keys, a sum over the row for each of their bits.
#pragma once
#include <cstdint>
#include <vector>

#include "common/operations/sampling/operation.hpp"
#include "common/operations/topk/check.hpp"
#include "common/runner/report.hpp"

namespace operations::sampling {

struct Result {
    topk::Indices columns = {};
    const float* probabilities = nullptr;  // nullptr: not told, and not checked
    DType dtype = DType::float32;          // of x
    int64_t partial_sums = 1;              // how many threads add up a row
};

// Against the reference, or against a previous result: columns may differ where both are right, which two neighbours of
// a border may be. Device pointers; waits for the device.
runner::Report check(const void* x, const Shape& shape, const Result& ours,
                     const Result* previous = nullptr);

// The same on host memory, by plain loops, and by a kernel, whatever the device is.
runner::Report check_on_host(const void* x, const Shape& shape, const Result& ours,
                             const Result* previous = nullptr);
runner::Report check_on_device(const void* x, const Shape& shape, const Result& ours,
                               const Result* previous = nullptr);

// The probability of each column of a row, 0 for those that do not stay, by sorting: what the checker is tested
// against, and draws are counted against. All NaN where there is no distribution.
std::vector<double> distribution_of(const std::vector<double>& row, const Options& options);

// The column at which u points, -1 where there is none.
int64_t column_at(double u, const std::vector<double>& distribution);

}  // namespace operations::sampling
