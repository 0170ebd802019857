// SPDX-License-Identifier: MIT
// Batched matrix products as an operation of the runner: C[b] = alpha A[b] B[b] + beta C[b], where A[b] is
// m x k, B[b] is k x n and C[b] is m x n, all row-major.
#pragma once
#include <cstdint>

#include "common/runner/operation.hpp"

namespace operations::gemm {

using runner::DType;

constexpr const char* kTransposeA = "transpose_a";  // A[b] is stored as k x m
constexpr const char* kTransposeB = "transpose_b";  // B[b] is stored as n x k
constexpr const char* kAlpha = "alpha";
constexpr const char* kBeta = "beta";

struct Shape {
    Shape(int64_t all, int64_t rows, int64_t cols, int64_t inner)
        : batch(all), m(rows), n(cols), k(inner) {}
    Shape(const runner::Shape& shape);
    // Without the options that are as usual.
    operator runner::Shape() const;

    Shape with_transposed(bool of_a, bool of_b) const {
        Shape other = *this;
        other.transpose_a = of_a;
        other.transpose_b = of_b;
        return other;
    }
    Shape with_scales(double new_alpha, double new_beta) const {
        Shape other = *this;
        other.alpha = new_alpha;
        other.beta = new_beta;
        return other;
    }

    int64_t batch, m, n, k;
    bool transpose_a = false, transpose_b = false;
    double alpha = 1, beta = 0;  // as floats
};

// How a product comes about, on which its error depends. Scales are float in all of them.
enum class Kind {
    float_sums,
    half_sums,  // of halves: what is added up is rounded to half again and again
    tf32,       // of floats, of whose digits tensor cores multiply the first 11; sums in float
    e4m3,       // of __nv_fp8_e4m3; tensor cores keep 14 bits of a sum
    s8,         // of int8_t; sums in int
    pruned,  // as float_sums; of four neighbours in B along k, two are 0, which sparse tensor cores leave out
};

// The element type of A and B. C always has elements of dtype.
runner::ElementType operand_type(DType dtype, Kind kind);

// One object a kind; variants point to it. Its operands: a, b, and c, which is read where beta is not 0.
const runner::Operation* operation(Kind kind = Kind::float_sums);

}  // namespace operations::gemm
