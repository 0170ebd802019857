// SPDX-License-Identifier: MIT
// What an element of a product must be, and how far it may be off: for the host and for kernels.
//
// With u the unit of rounding of float, S the sum of the magnitudes of its k products (by Cauchy and
// Schwarz at most the norm of A's row times that of B's column):
//   - Each product is rounded, where it is not exact, and each of k sums, in whatever order: at most k + 1
//     roundings for each product, then one of alpha and one of the last sum. So the error is at most
//     n u / (1 - n u) |alpha| S with n = k + 3, and 3 u |beta c|.
//   - Tensor cores (16-bit elements) add L >= 4 products and the sum so far at once, cut off behind the
//     digits of the largest instead of rounded: L + 1 errors of 2 u each. So k counts 5/4 k, and u twice.
//   - Where their sums are halves, each of those k / L is rounded to the nearest half: against that unit the errors
//     before do not count for much (1 part in 256 is more than they are).
//   - Where they multiply floats, they take 11 bits of each (tf32) and drop the rest: 2^-10 of either.
//   - Sums of e4m3 products keep 14 bits in place of 24, so 2 u is 2^-13. The bound above would then exceed most results from
//     k = 512 on. Walk has a smaller one, which the errors exceed only if thousands of them have the same sign by accident.
//   - Sums of int8_t are exact. They are rounded once to float, which is exact up to 2^24, and once by alpha.
//   - The result is rounded to its type.
// Of whole numbers so small that no sum can leave the 24 digits of a float, all of this is exact.
#pragma once
#include <cfloat>
#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

#include "common/operations/gemm/operation.hpp"
#include "common/operations/tally.cuh"
#include "common/runner/dtype.hpp"

namespace operations::gemm {

// A row of A or a column of B.
struct Line {
    double norm;    // the root of the sum of squares: NaN or infinite where an element is
    bool integral;  // all of its elements are whole numbers
};

struct SquaredLine {
    double sum = 0;
    bool integral = true;
    __host__ __device__ void add(double element) {
        sum += element * element;
        integral = integral && element == trunc(element);
    }
    __host__ __device__ Line line() const { return {sqrt(sum), integral}; }
};

// What is known of the products of one result, in their order. A tensor core adds 32 of e4m3 at once to the sum so far and cuts
// each off towards zero, at 2^-13 of the largest of them. So an error has the sign of its product, and is at most
// 2^-13 (2 P + p), where P is the largest partial sum and p the largest product; 2 P, because the sum of any part of k is the
// difference of two partial sums. The mean of the errors adds up where signs do; what is left over grows as sqrt(k), of which
// six times is more than 20 standard deviations. The sum so far is cut off once per 32 products, always towards zero.
struct Walk {
    double sum = 0, largest_sum = 0, largest_product = 0;
    double signs = 0, most_signs = 0;  // positive products minus negative ones
    __host__ __device__ void add(double product) {
        sum += product;
        signs += product > 0 ? 1 : product < 0 ? -1 : 0;
        largest_sum = fmax(largest_sum, fabs(sum));
        largest_product = fmax(largest_product, fabs(product));
        most_signs = fmax(most_signs, fabs(signs));
    }
    __host__ __device__ double error_of_e4m3(double count) const {
        return 0x1p-13 * (2 * largest_sum + largest_product) *
               (2 * most_signs + 6 * sqrt(count) + count / 32 + 1);
    }
};

// How results of a type come about.
struct Precision {
    double unit;            // of the sums
    double sums_a_product;  // how many errors of a unit each product can take part in
    double operand_unit;    // of what is multiplied in place of an element
    double underflow;       // what a product may lose by being too small
    double result_unit;     // of rounding to the type, half a last place; 0 where that is float
    double smallest;        // number of the type
    double smallest_normal;
    double overflows_from;  // what rounds to infinity
    double largest_sum;     // of products: beyond it a sum may overflow on the way
    double largest_whole;   // number up to which all, and their sums, have digits enough

    // The same results, of other sums.
    __host__ __device__ Precision with_sums(double new_unit, double new_sums_a_product,
                                            double new_largest_sum,
                                            double new_largest_whole) const {
        Precision other = *this;
        other.unit = new_unit;
        other.sums_a_product = new_sums_a_product;
        other.largest_sum = new_largest_sum;
        other.largest_whole = new_largest_whole;
        return other;
    }
    __host__ __device__ static Precision of(DType dtype, Kind kind = Kind::float_sums) {
        constexpr double kWhole = 0x1p24;
        switch (kind) {
            case Kind::float_sums:
            case Kind::pruned:
                break;
            case Kind::half_sums:
                return {0x1.01p-11, 0.25,    0,     0x1p-24, 0x1p-11,
                        0x1p-24,    0x1p-14, 65520, 65504,   0x1p11};
            case Kind::tf32:
                return {0x1p-23,  1.25,     0x1p-10, 0x1p-126,    0,
                        0x1p-149, 0x1p-126, FLT_MAX, FLT_MAX / 4, 0x1p11};
            case Kind::e4m3:
                return of(dtype).with_sums(0x1p-13, 1.25, FLT_MAX / 4, 0x1p14);
            case Kind::s8:
                return of(dtype).with_sums(0x1p-24, 0, 0x1p31, kWhole);
        }
        switch (dtype) {
            case DType::float16:
                return {0x1p-23, 1.25,    0,     0x1p-126,    0x1p-11,
                        0x1p-24, 0x1p-14, 65520, FLT_MAX / 4, kWhole};
            case DType::bfloat16:
                return {0x1p-23,  1.25,     0,       0x1p-126,    0x1p-8,
                        0x1p-133, 0x1p-126, FLT_MAX, FLT_MAX / 4, kWhole};
            default:
                return {0x1p-24,  1,        0,       0x1p-149,    0,
                        0x1p-149, 0x1p-126, FLT_MAX, FLT_MAX / 4, kWhole};
        }
    }
};

struct Rules {
    Rules(const Shape& shape, DType of, Kind kind_of = Kind::float_sums)
        : alpha(static_cast<float>(shape.alpha)),
          beta(static_cast<float>(shape.beta)),
          k(shape.k),
          dtype(of),
          kind(kind_of) {}
    double alpha;
    double beta;
    int64_t k;
    DType dtype;
    Kind kind;
};

// To the type and back. What is rounded is exact in float, as in a kernel.
__host__ __device__ inline double rounded(double exact, DType dtype) {
    const auto value = static_cast<float>(exact);
    switch (dtype) {
        case DType::float16:
            return runner::to_double(static_cast<__half>(value));
        case DType::bfloat16:
            return runner::to_double(static_cast<__nv_bfloat16>(value));
        default:
            return value;
    }
}

// What is known of one element before its value is: how large it could be on the way, and what follows.
struct Outlook {
    Precision precision;
    double magnitude;    // |alpha| S + |beta c|, at most; not finite where an operand is not
    double largest_sum;  // of products
    double sum_error;    // of the unrounded result
    bool exact;          // no rounding but the last

    // walk: of e4m3 alone.
    __host__ __device__ Outlook(const Line& row, const Line& col, double c, const Rules& rules,
                                const Walk& walk = {})
        : precision(Precision::of(rules.dtype, rules.kind)) {
        const double unit = precision.unit;
        const double of_operands = precision.operand_unit * (2 + precision.operand_unit);
        const double terms = static_cast<double>(rules.k);
        const double products = rules.k == 0 ? 0 : fabs(rules.alpha) * row.norm * col.norm;
        const double addend = rules.beta == 0 ? 0 : fabs(rules.beta * c);
        magnitude = products + addend;
        const double roundings = (terms * precision.sums_a_product + 3) * unit;
        largest_sum = row.norm * col.norm;
        const double unit_of_addend = rules.kind == Kind::e4m3 ? 0x1p-24 : unit;
        sum_error = (roundings / (1 - roundings) * (1 + of_operands) + of_operands) * products +
                    3 * unit_of_addend * addend +
                    (terms + 2) * (fabs(rules.alpha) + 1) * precision.underflow;
        if (!(roundings < 1)) sum_error = INFINITY;
        if (rules.kind == Kind::e4m3) {
            const double of_sum = fabs(rules.alpha) * walk.error_of_e4m3(terms);
            sum_error = fmin(sum_error, of_sum + 0x1p-22 * (products + addend));
        }

        constexpr double kFraction = 16;  // of which alpha and beta may be multiples
        constexpr double kExact = 0x1p24 / kFraction;
        const auto is_short = [=](double scale) {
            return scale * kFraction == trunc(scale * kFraction);
        };
        exact = row.integral && col.integral && is_short(rules.alpha) && is_short(rules.beta) &&
                (rules.beta == 0 || c == trunc(c)) && magnitude <= kExact &&
                largest_sum <= kExact && largest_sum <= precision.largest_whole &&
                (precision.operand_unit == 0 ||
                 (row.norm <= precision.largest_whole && col.norm <= precision.largest_whole));
    }
    __host__ __device__ bool is_finite() const { return magnitude < INFINITY; }
    // Nothing can be said: a sum on the way may overflow, though the result need not; or there are so many
    // roundings that nothing need be left.
    __host__ __device__ bool is_open() const {
        return magnitude >= FLT_MAX / 4 || largest_sum >= precision.largest_sum ||
               !(sum_error < INFINITY);
    }
    // Of a result of about that value.
    __host__ __device__ double error_at(double value) const {
        return sum_error + precision.result_unit * (fabs(value) + sum_error) + precision.smallest;
    }
};

// product: of the row and the column, in fp64.
__host__ __device__ inline Expected expected(double product, double c, const Outlook& outlook,
                                             const Rules& rules) {
    const double scaled = rules.k == 0 ? 0 : rules.alpha * product;
    const double value = rules.beta == 0 ? scaled : scaled + rules.beta * c;
    if (!outlook.is_finite()) return {value, 0};  // NaN or an infinity, and so the result
    if (outlook.exact) return {rounded(value, rules.dtype), 0};
    if (outlook.is_open()) return {value, NAN};
    const double limit = outlook.precision.overflows_from;
    if (fabs(value) - outlook.sum_error >= limit) return {value > 0 ? INFINITY : -INFINITY, 0};
    if (fabs(value) + outlook.sum_error >= limit) return {value, NAN};  // either is right
    if (rules.kind == Kind::s8 && rules.alpha == 1 && rules.beta == 0 && fabs(value) <= 0x1p24)
        return {rounded(value, rules.dtype), 0};
    return {value, outlook.error_at(value)};
}

// The same where another result is what is known.
__host__ __device__ inline Expected expected_beside(double ours, double other,
                                                    const Outlook& outlook) {
    if (!outlook.is_finite() || outlook.exact) return {other, 0};
    if (outlook.is_open()) return {other, NAN};
    if (ours != ours || other != other) return {other, 0};  // no bound admits that
    if (fabs(ours) == INFINITY || fabs(other) == INFINITY) {
        const double finite = fabs(ours) < fabs(other) ? ours : other;
        const bool either_is_right =
            fabs(finite) < INFINITY && fabs(finite) + 2 * outlook.error_at(finite) >=
                                           outlook.precision.overflows_from * (1 - 0x1p-11);
        return {other, either_is_right ? NAN : 0};
    }
    return {other, outlook.error_at(ours) + outlook.error_at(other)};
}

}  // namespace operations::gemm
