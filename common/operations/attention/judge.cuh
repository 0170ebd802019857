// SPDX-License-Identifier: MIT
// What a result of attention must be, and how far it may be off: for the host and for kernels.
//
// With u the unit of rounding of sums, n the keys that a query sees, w = exp(score - max) and d their sum:
//   - A score is a sum of `size` products (the bound of a product's element: see gemm's judge), at most the scale
//     times the norms of its query and its key; a few roundings more come with the scale and the difference from
//     the maximum. That error in an exponent is a relative one of w.
//   - An exponential is off by 2^-22 of itself. Where the maximum changes, what was summed before is multiplied by
//     one: at most n times. n weights and n weighted values are added.
//   - So the relative error of each weight, and of d, is at most e = exp(all of that) - 1, and what they come to is
//     off by at most 2 e of the mean of |v|, weighted alike.
//   - With 16-bit elements a weight may be rounded to their type before it is multiplied, d not; so small a weight
//     of __half that it is subnormal loses a fixed part.
//   - The result is rounded to its type.
#pragma once
#include <cfloat>
#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

#include "common/operations/gemm/judge.cuh"

namespace operations::attention {

struct Rules {
    Rules(const Shape& shape, DType of)
        : precision(gemm::Precision::of(of)),
          scale(shape.scale_of_scores()),
          size(shape.size),
          dtype(of) {}
    gemm::Precision precision;
    double scale;
    int64_t size;
    DType dtype;
};

// What is known of a query's scores.
struct Scores {
    int64_t seen = 0;
    double max = -INFINITY;
    double largest_norm = 0;  // of a key
    double norm = 0;          // of the query
    double weights = 0;       // d
    bool is_nan = false;      // a score is NaN or +inf

    __host__ __device__ void add(double score, double norm_of_key) {
        is_nan = is_nan || !(score < INFINITY);
        if (score > max) max = score;
        if (norm_of_key > largest_norm) largest_norm = norm_of_key;
        ++seen;
    }
    __host__ __device__ void add(const Scores& other) {
        is_nan = is_nan || other.is_nan;
        if (other.max > max) max = other.max;
        if (other.largest_norm > largest_norm) largest_norm = other.largest_norm;
        seen += other.seen;
    }
    __host__ __device__ double weight(double score) const {
        return max == -INFINITY ? 0 : exp(score - max);
    }
    // Of a score; infinite where an element is.
    __host__ __device__ double magnitude(const Rules& rules) const {
        return rules.scale * norm * largest_norm;
    }
    __host__ __device__ double error(const Rules& rules) const {
        const double terms = static_cast<double>(rules.size) * rules.precision.sums_a_product + 16;
        const double keys = 2 * static_cast<double>(seen) + 16;
        const double finite = largest_norm * norm < INFINITY ? magnitude(rules) : 0;
        return terms * rules.precision.unit * finite + keys * 0x1p-22;
    }
};

// Sums over the keys, of one element of v.
struct Column {
    double sum = 0;        // w v
    double magnitude = 0;  // w |v|
    double absolute = 0;   // |v|
    __host__ __device__ void add(double weight, double value) {
        sum += weight * value;
        magnitude += weight * fabs(value);
        absolute += fabs(value);
    }
};

__host__ __device__ inline Expected expected(const Column& column, const Scores& scores,
                                             const Rules& rules) {
    if (scores.is_nan) return {NAN, 0};
    if (scores.weights == 0) return {0, 0};
    const double value = column.sum / scores.weights;
    if (value != value) return {NAN, 0};
    const gemm::Precision& p = rules.precision;
    const double relative = expm1(2 * scores.error(rules));
    const double of_weights = p.result_unit > 0 ? p.result_unit * (1 + relative) : 0;
    const double lost = rules.dtype == DType::float16 ? p.smallest : p.underflow;
    const double error = (relative + of_weights) * column.magnitude / scores.weights +
                         lost * column.absolute / scores.weights;
    // Where errors of scores are so large that any weights are possible, the result is some mean of v, hence finite,
    // unless a score or a sum overflows.
    const bool overflows =
        !(scores.magnitude(rules) < FLT_MAX / 4) || column.absolute >= p.overflows_from;
    if (!(error < FLT_MAX) || fabs(value) + error >= p.overflows_from)
        return {value, overflows ? NAN : INFINITY};
    return {value, error + p.result_unit * (fabs(value) + error) + p.smallest};
}

__host__ __device__ inline Expected expected_sum(const Scores& scores, const Rules& rules) {
    if (scores.is_nan) return {NAN, 0};
    if (scores.weights == 0) return {-INFINITY, 0};
    const double value = scores.max + log(scores.weights);
    return {value, scores.error(rules) + 0x1p-22 * (fabs(value) + 1)};
}

// The same where another result is what is known: of the two each may be off.
__host__ __device__ inline Expected beside(double other, const Expected& reference) {
    if (reference.bound == 0 || reference.bound != reference.bound) return reference;
    return {other, 2 * reference.bound};
}

}  // namespace operations::attention
