// SPDX-License-Identifier: MIT
// What a row must come out as: the fp64 reference, and the greatest error that float arithmetic
// excuses. The same few functions serve the host's loop and the GPU's kernel (check.cu).
#pragma once
#include <cfloat>
#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

#include "common/runner/stage.hpp"

namespace runner {

// What the judge needs to know of how a variant computes.
struct Rules {
    Operation operation = Operation::softmax;
    bool overflows = false;       // stage 01: exp(x) itself must fit a float
    int64_t threads_per_row = 1;  // how many partial sums a row has
};

// One row of x in double.
struct RowSummary {
    double max;  // -inf for a row of -inf
    double sum;  // of exp(x - max)
    bool has_nan;
    bool has_plus_inf;
};

struct RowSummarizer {
    RowSummary row{-INFINITY, 0, false, false};

    __host__ __device__ void add(double x) {
        row.has_nan = row.has_nan || x != x;
        row.has_plus_inf = row.has_plus_inf || x == INFINITY;
        if (x != x || x == -INFINITY || x == INFINITY) return;
        if (x > row.max) {
            row.sum = row.sum * exp(row.max - x) + 1;
            row.max = x;
        } else {
            row.sum += exp(x - row.max);
        }
    }
    __host__ __device__ void add(const RowSummary& other) {
        row.has_nan = row.has_nan || other.has_nan;
        row.has_plus_inf = row.has_plus_inf || other.has_plus_inf;
        if (other.max == -INFINITY) return;
        const double max = row.max > other.max ? row.max : other.max;
        const double mine = row.max == -INFINITY ? 0 : row.sum * exp(row.max - max);
        row = {max, mine + other.sum * exp(other.max - max), row.has_nan, row.has_plus_inf};
    }
};

// How stage 01's promise reads for a row: exp(x) and its sum fit a float, or overflow, or vanish;
// or lie so near the border that either may happen. A subnormal sum is such a border: it has lost
// digits, and its reciprocal may be infinite.
enum class ExpRange { fits, overflows, vanishes, border };

constexpr double kLogLargest = 88.722839;  // log of the largest float
constexpr double kLogSmallest =
    -103.972077;                      // log of half the smallest float: anything less rounds to 0
constexpr double kLogNormal = -87.0;  // just above log of the smallest normal float
constexpr double kBorder = 1e-3;

__host__ __device__ inline ExpRange exp_range(const RowSummary& row) {
    if (row.has_plus_inf) return ExpRange::overflows;
    const double log_sum = row.max + log(row.sum);
    if (log_sum > kLogLargest + kBorder) return ExpRange::overflows;
    if (row.max < kLogSmallest - kBorder) return ExpRange::vanishes;
    const bool border = log_sum > kLogLargest - kBorder || log_sum < kLogNormal;
    return border ? ExpRange::border : ExpRange::fits;
}

// A row as seen by the judge of one variant: what is worth computing once a row.
struct RowReference {
    RowSummary row;
    int64_t cols;
    double log_sum;  // of exp(x - max)
    double base;     // the part of the error bound that all elements share
    ExpRange range;  // fits, for variants that do not overflow
};

__host__ __device__ inline RowReference row_reference(const RowSummary& row, int64_t cols,
                                                      const Rules& rules) {
    const double serial_adds =
        static_cast<double>((cols + rules.threads_per_row - 1) / rules.threads_per_row);
    const double base = log(static_cast<double>(cols)) + serial_adds +
                        log2(static_cast<double>(rules.threads_per_row)) + 8;
    return {row, cols, log(row.sum), base, rules.overflows ? exp_range(row) : ExpRange::fits};
}

// What one element of the result must be.
struct Expected {
    double value;  // NaN: only NaN will do
    double bound;  // greatest absolute error; NaN: anything goes (counted as unchecked)
};

// A float result never has to be nearer than two steps of the subnormal numbers.
constexpr double kSubnormalSlack = 2 * 0x1p-149;

// Stage 01 where exp(x) leaves the range of float: what Algorithm 1 must then give.
__host__ __device__ inline Expected expected_overflow(double x, ExpRange range) {
    if (range == ExpRange::border) return {0, NAN};
    if (range == ExpRange::vanishes) return {NAN, 0};                      // 0 / 0
    if (x > kLogLargest + kBorder) return {NAN, 0};                        // inf / inf
    return x > kLogLargest - kBorder ? Expected{0, NAN} : Expected{0, 0};  // finite / inf
}

// The result's element for x; for log_sum_exp, whose result is one per row, x is ignored.
__host__ __device__ inline Expected expected(double x, const RowReference& reference,
                                             const Rules& rules) {
    const RowSummary& row = reference.row;
    if (row.has_nan) return {NAN, 0};

    if (rules.operation == Operation::log_sum_exp) {
        if (row.has_plus_inf) return {INFINITY, 0};
        if (row.max == -INFINITY) return {-INFINITY, 0};
        return {row.max + reference.log_sum, 0x1p-24 * (fabs(row.max) + reference.base)};
    }

    if (row.max == -INFINITY && !row.has_plus_inf) return {NAN, 0};
    if (reference.range != ExpRange::fits) return expected_overflow(x, reference.range);
    if (row.has_plus_inf) return {NAN, 0};

    if (rules.operation == Operation::log_softmax) {
        if (x == -INFINITY) return {-INFINITY, 0};
        const double value = x - row.max - reference.log_sum;
        if (value < -FLT_MAX) return {-INFINITY, 0};
        return {value, 0x1p-24 * (row.max - x + reference.base)};
    }

    if (x == -INFINITY) return {0, 0};
    const double value = exp(x - row.max) / row.sum;
    const double distance = rules.overflows ? fabs(x) : row.max - x;
    double slack = kSubnormalSlack;
    if (rules.overflows) {  // exp(x) may itself be subnormal, here and in every term of the sum
        slack +=
            (1 + value * static_cast<double>(reference.cols)) * 0x1p-149 * exp(-row.max) / row.sum;
    }
    return {value, value * 0x1p-24 * (distance + reference.base) + slack};
}

// One element against its yardstick, as a share of the bound: good if at most 1. NaN counts as
// infinitely wrong unless NaN is what was wanted.
__host__ __device__ inline double share_of_bound(double got, const Expected& wanted) {
    if (wanted.bound != wanted.bound) return 0;
    if (wanted.value != wanted.value) return got != got ? 0 : INFINITY;
    if (got == wanted.value) return 0;
    const double share = fabs(got - wanted.value) / wanted.bound;
    return share >= 0 ? share : INFINITY;
}

}  // namespace runner
