// SPDX-License-Identifier: MIT
// What a row must come out as: the fp64 reference, and the greatest error that the arithmetic
// excuses. The same few functions serve the host's loop and the GPU's kernel (check.cu).
//
// Results in double are held to a reference in double. It errs less than they may, because it adds
// what rounding loses (two_sum), also of x - max; what is left, of its exp, log and division, is
// known and granted to the result (Precision::reference_ulps). So nothing here needs a wider type,
// which a GPU does not have.
#pragma once
#include <cfloat>
#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

#include "common/operations/softmax/shape.hpp"
#include "common/operations/tally.cuh"

namespace operations::softmax {

// What the judge needs to know of how a variant computes.
struct Rules {
    Kind kind = Kind::softmax;
    bool overflows = false;    // stage 01: exp(x) itself must fit the arithmetic's type
    int64_t partial_sums = 1;  // how many partial sums a row has
    DType dtype = DType::float32;
};

// Where a type's numbers end; float32's, unless said otherwise. Arithmetic on float16 and bfloat16
// is done in float: it has float's rounding and range, and the result is rounded once more.
struct Precision {
    // Of the arithmetic.
    double half_ulp = 0x1p-24;          // the greatest error of one rounding, relative
    double smallest_term = 0x1p-149;    // the smallest number
    double log_largest = 88.722839;     // of the largest number
    double log_smallest = -103.972077;  // of half the smallest: exp of anything less is 0
    double log_normal = -87;            // just above that of the smallest normal number
    double reference_ulps = 0;          // what the reference itself may be off, in half_ulp

    // Of the result.
    bool narrow = false;     // rounded from float
    int fraction_bits = 23;  // behind the leading 1
    double subnormal = 0x1p-149;
    double smallest_normal = 0x1p-126;
    double overflow = 0x1.ffffffp127;  // from here on it rounds to infinity
    double subnormal_ulps = 0.5;       // how far rounding may take a subnormal one, in its units

    // How far rounding may take the result from value.
    __host__ __device__ double rounding(double value) const {
        return (fabs(value) < smallest_normal ? subnormal_ulps : 0.5) * ulp(value);
    }
    // The distance of the result's numbers around value.
    __host__ __device__ double ulp(double value) const {
        if (fabs(value) < smallest_normal || fabs(value) == INFINITY) return subnormal;
        return ldexp(1., ilogb(value) - fraction_bits);
    }
};

// Float's, four times: behind the rounding to 16 bits a kernel may use the fast exponential, which is
// off by 2 + 1.2 |x| units.
constexpr double kFastHalfUlp = 0x1p-22;

__host__ __device__ inline Precision precision_of(DType dtype) {
    Precision precision;
    switch (dtype) {
        case DType::float32:
            break;
        case DType::float16:
            precision.narrow = true;
            precision.half_ulp = kFastHalfUlp;
            precision.fraction_bits = 10;
            precision.subnormal = 0x1p-24;
            precision.smallest_normal = 0x1p-14;
            precision.overflow = 65520;
            break;
        case DType::bfloat16:
            precision.narrow = true;
            precision.half_ulp = kFastHalfUlp;
            precision.fraction_bits = 7;
            precision.subnormal = 0x1p-133;
            // A kernel may round 2^k times the result and bring that down: twice, where it is subnormal.
            precision.subnormal_ulps = 0.75;
            precision.overflow = 0x1.ffp127;
            break;
        case DType::float64:
            precision.half_ulp = 0x1p-53;
            precision.smallest_term = precision.subnormal = 0x1p-1074;
            precision.smallest_normal = 0x1p-1022;
            precision.log_largest = 709.782713;
            precision.log_smallest = -745.133219;
            precision.log_normal = -708;
            precision.fraction_bits = 52;
            precision.overflow = INFINITY;
            // exp and log are good to an ulp on host and device. In softmax the numerator and the
            // terms of the sum are off by 3 half ulps, the sum and the division add one each.
            precision.reference_ulps = 8;
            break;
    }
    return precision;
}

// a + b as the nearest double and what is left of it, exactly (Knuth). Finite numbers only.
struct TwoSum {
    double sum;
    double rest;
};
__host__ __device__ inline TwoSum two_sum(double a, double b) {
    const double sum = a + b;
    const double b_in_sum = sum - a;
    return {sum, (a - (sum - b_in_sum)) + (b - b_in_sum)};
}

// exp(x - max) for finite x <= max. The difference of two doubles is none, mostly.
__host__ __device__ inline double exp_of_difference(double x, double max) {
    constexpr double kVanishes = -800;  // exp is 0 from -746 on
    if (x - max < kVanishes) return 0;
    const TwoSum difference = two_sum(x, -max);
    const double y = exp(difference.sum);
    return y + y * difference.rest;
}

// What an operation sees at one place: x, in double, or -inf where it is masked out; and beside it,
// for the backward ones, the gradient.
struct Element {
    double x;
    double gradient = 0;
};

template <class T>
__host__ __device__ Element element_at(const Inputs& inputs, Kind kind, Shape shape, int64_t row,
                                       int64_t col) {
    const int64_t index = index_of(shape, row, col);
    const T* x = static_cast<const T*>(inputs.x);
    const auto kept = [&](bool keep) {
        return Element{keep ? to_double(x[index]) * kScale : -INFINITY};
    };
    switch (kind) {
        case Kind::scale_mask_softmax:
            return kept(static_cast<const bool*>(inputs.x2)[index]);
        case Kind::causal_softmax:
            return kept(col <= row % causal_rows(shape));
        case Kind::softmax_backward:
        case Kind::log_softmax_backward:
            return {to_double(x[index]), to_double(static_cast<const T*>(inputs.x2)[index])};
        default:
            return {to_double(x[index])};
    }
}

// One row in double: a first pass finds max, a second one sum. Parts of a row can be joined after
// each pass. Begins as empty_row(); has no constructor, so as to lie in shared memory.
struct RowSummary {
    double max;   // of the finite elements; -inf where there is none
    double sum;   // of exp(x - max) over them; backward: of the terms
    double rest;  // what sum has lost to rounding
    double size;  // of the terms' magnitudes: all that rounding can be relative to
    bool has_nan;
    bool has_infinity;  // +inf; backward: any, in what is added up

    __host__ __device__ void find_max(Element at, Kind kind) {
        if (is_backward(kind)) {  // no max; log_softmax's sum is of the gradients alone
            const double x = kind == Kind::softmax_backward ? at.x : 0;
            has_nan = has_nan || at.gradient != at.gradient || x != x;
            has_infinity = has_infinity || fabs(at.gradient) == INFINITY || fabs(x) == INFINITY;
            return;
        }
        has_nan = has_nan || at.x != at.x;
        has_infinity = has_infinity || at.x == INFINITY;
        if (at.x > max && at.x != INFINITY) max = at.x;
    }
    __host__ __device__ void join_max(const RowSummary& other) {
        has_nan = has_nan || other.has_nan;
        has_infinity = has_infinity || other.has_infinity;
        if (other.max > max) max = other.max;
    }
    __host__ __device__ void add(Element at, Kind kind) {
        if (kind == Kind::softmax_backward) {
            const double term = at.x * at.gradient;
            add_term(term);
            rest += fma(at.x, at.gradient, -term);
        } else if (kind == Kind::log_softmax_backward) {
            add_term(at.gradient);
        } else if (fabs(at.x) < INFINITY) {
            add_term(exp_of_difference(at.x, max));
        }
    }
    __host__ __device__ void join_sum(const RowSummary& other) {
        const double both = size + other.size;
        add_term(other.sum);
        rest += other.rest;
        size = both;
    }

private:
    __host__ __device__ void add_term(double term) {
        const TwoSum next = two_sum(sum, term);
        sum = next.sum;
        rest += next.rest;
        size += fabs(term);
    }
};

__host__ __device__ inline RowSummary empty_row() {
    RowSummary row{};
    row.max = -INFINITY;
    return row;
}

// How stage 01's promise reads for a row: exp(x) and its sum fit the arithmetic's type, or overflow,
// or vanish; or lie so near the border that either may happen. A subnormal sum is such a border: it
// has lost digits, and its reciprocal may be infinite.
enum class ExpRange { fits, overflows, vanishes, border };

constexpr double kBorder = 1e-3;

__host__ __device__ inline ExpRange exp_range(const RowSummary& row, const Precision& precision) {
    if (row.has_infinity) return ExpRange::overflows;
    const double log_sum = row.max + log(row.sum);
    if (log_sum > precision.log_largest + kBorder) return ExpRange::overflows;
    if (row.max < precision.log_smallest - kBorder) return ExpRange::vanishes;
    const bool border = log_sum > precision.log_largest - kBorder || log_sum < precision.log_normal;
    return border ? ExpRange::border : ExpRange::fits;
}

// A row as seen by the judge of one variant: what is worth computing once a row.
struct RowReference {
    RowSummary row;
    Precision precision;
    int64_t cols;
    double sum;      // of exp(x - max)
    double log_sum;  // its logarithm
    double adds;     // roundings of the longest chain of additions
    double base;     // the part of the error bound that all elements share, in half_ulp
    ExpRange range;  // fits, for variants that do not overflow
};

__host__ __device__ inline RowReference row_reference(const RowSummary& row, int64_t cols,
                                                      const Rules& rules) {
    const Precision precision = precision_of(rules.dtype);
    const double serial_adds =
        static_cast<double>((cols + rules.partial_sums - 1) / rules.partial_sums);
    const double adds = serial_adds + log2(static_cast<double>(rules.partial_sums));
    const double log_cols = log(static_cast<double>(cols));
    double base = log_cols + adds + 8;
    // The reference's own part; its logarithm is off by an ulp of itself.
    if (precision.reference_ulps > 0) base += precision.reference_ulps + 2 * log_cols;
    const double sum = row.sum + row.rest;
    return {
        row,      precision, cols, sum,
        log(sum), adds,      base, rules.overflows ? exp_range(row, precision) : ExpRange::fits};
}

// The end of every bound: how far a finite result may lie from value + rest, of which the
// arithmetic loses `error`.
//
// A result never has to be nearer than two of the smallest numbers of the arithmetic (in double the
// reference, which errs there like the result, takes two more). A narrow one is rounded once more, by
// half a unit in the last place of what the arithmetic gave (a subnormal __nv_bfloat16: see above).
__host__ __device__ inline Expected finite(double value, double rest, double error,
                                           const Precision& precision) {
    double bound = error + (precision.reference_ulps > 0 ? 4 : 2) * precision.smallest_term;
    if (precision.narrow) bound += precision.rounding(fabs(value) + bound);
    // Near the largest number, rounding decides between it and infinity.
    if (fabs(value) == INFINITY || fabs(value) - bound >= precision.overflow)
        return {value < 0 ? -INFINITY : INFINITY, 0};
    if (fabs(value) + bound >= precision.overflow) return {0, NAN};
    return {value, bound, rest};
}

// Stage 01 where exp(x) leaves the range of its type: what Algorithm 1 must then give.
__host__ __device__ inline Expected expected_overflow(double x, const RowReference& reference) {
    const double log_largest = reference.precision.log_largest;
    if (reference.range == ExpRange::border) return {0, NAN};
    if (reference.range == ExpRange::vanishes) return {NAN, 0};            // 0 / 0
    if (x > log_largest + kBorder) return {NAN, 0};                        // inf / inf
    return x > log_largest - kBorder ? Expected{0, NAN} : Expected{0, 0};  // finite / inf
}

// dx = (dy - sum(y * dy)) * y, and of log-softmax dx = dy - exp(y) * sum(dy).
//
// The sum is off by a rounding for each addition of its longest chain, relative to the sum of its
// terms' magnitudes (row.size, beside which the sum itself may be nothing), and by one more where
// its terms are products. What follows adds, in half ulps,
//  - softmax: 2 |dy| + 2 |sum| as difference and product, in either order: dy * y - sum * y rounds
//    no more than that;
//  - log-softmax: exp's 4 and the product's one, relative to exp(y) * sum; |y| more for kernels that
//    take exp2(y * log2(e)); and |dx| of the difference, at most |dy| + exp(y) * |sum|.
// With |sum| <= row.size, and 1 more for what these errors do to each other.
__host__ __device__ inline Expected expected_gradient(Element at, const RowReference& reference,
                                                      const Rules& rules) {
    const RowSummary& row = reference.row;
    const Precision& precision = reference.precision;
    if (row.has_nan || at.x != at.x) return {NAN, 0};
    // Infinite here, NaN there: formulas that are equal otherwise differ in that.
    const bool fits = row.size + fabs(at.gradient) < exp(precision.log_largest);
    if (row.has_infinity || !fits || at.x == INFINITY) return {0, NAN};

    if (rules.kind == Kind::softmax_backward) {
        const TwoSum difference = two_sum(at.gradient, -row.sum);
        const double value = difference.sum * at.x;
        const double rest = fma(difference.sum, at.x, -value) + (difference.rest - row.rest) * at.x;
        const double underflow = static_cast<double>(reference.cols) * precision.smallest_term;
        const double error =
            precision.half_ulp * (2 * fabs(at.gradient) + (reference.adds + 4) * row.size);
        return finite(value, rest, (error + underflow) * fabs(at.x), precision);
    }
    const double weight = exp(at.x);
    const double product = weight * row.sum;
    const TwoSum value = two_sum(at.gradient, -product);
    const double rest = value.rest - fma(weight, row.sum, -product) - weight * row.rest;
    const double relative =
        weight == 0 ? 0 : weight * (fabs(at.x) + reference.adds + 7 + precision.reference_ulps);
    const double error = precision.half_ulp * (fabs(at.gradient) + relative * row.size);
    return finite(value.sum, rest, error + precision.smallest_term * row.size, precision);
}

// The result's element there; log_sum_exp's, which is one per row, is the same everywhere.
__host__ __device__ inline Expected expected(Element at, const RowReference& reference,
                                             const Rules& rules) {
    if (is_backward(rules.kind)) return expected_gradient(at, reference, rules);
    const double x = at.x;
    const RowSummary& row = reference.row;
    const Precision& precision = reference.precision;
    if (row.has_nan) return {NAN, 0};

    if (rules.kind == Kind::log_sum_exp) {
        if (row.has_infinity) return {INFINITY, 0};
        if (row.max == -INFINITY) return {-INFINITY, 0};
        const TwoSum value = two_sum(row.max, reference.log_sum);
        return finite(value.sum, value.rest, precision.half_ulp * (fabs(row.max) + reference.base),
                      precision);
    }

    if (row.max == -INFINITY && !row.has_infinity) {  // where a mask may leave nothing: zeros
        return {rules.kind == Kind::scale_mask_softmax ? 0 : NAN, 0};
    }
    if (reference.range != ExpRange::fits) return expected_overflow(x, reference);
    if (row.has_infinity) return {NAN, 0};

    // Finite also for doubles that lie farther apart than double reaches.
    const double distance = fmin(row.max - x, DBL_MAX);

    if (rules.kind == Kind::log_softmax) {
        if (x == -INFINITY) return {-INFINITY, 0};
        if (x - row.max == -INFINITY) return {-INFINITY, 0};
        const TwoSum difference = two_sum(x, -row.max);
        const TwoSum value = two_sum(difference.sum, -reference.log_sum);
        return finite(value.sum, value.rest + difference.rest,
                      precision.half_ulp * (distance + reference.base), precision);
    }

    if (x == -INFINITY) return {0, 0};
    const double value = exp_of_difference(x, row.max) / reference.sum;
    double error =
        value * precision.half_ulp * ((rules.overflows ? fabs(x) : distance) + reference.base);
    if (rules.overflows) {  // exp(x) may itself be subnormal, here and in every term of the sum
        error += (1 + value * static_cast<double>(reference.cols)) * precision.smallest_term *
                 exp(-row.max) / reference.sum;
    }
    return finite(value, 0, error, precision);
}

}  // namespace operations::softmax
