// SPDX-License-Identifier: MIT
//
// Complex numbers as pairs, for host and device.
#pragma once
#define CU_COMPLEX_H_

#include <cmath>

#include "cpu_device/qualifiers.h"
#include "vector_functions.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

namespace cpu_device {

// (a + bi) / (c + di), scaled by |c| + |d| so that no square overflows.
template <class Pair, class Real>
__host__ __device__ inline Pair complex_quotient(Pair x, Pair y, Real scale) {
    const Real a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale;
    const Real inverse = static_cast<Real>(1) / (c * c + d * d);
    Pair quotient;
    quotient.x = (a * c + b * d) * inverse;
    quotient.y = (b * c - a * d) * inverse;
    return quotient;
}

}  // namespace cpu_device

// A macro, because the functions of float and double differ in one letter of their names.
#define CPU_DEVICE_COMPLEX(Pair, Real, suffix, make)                         \
    __host__ __device__ inline Pair make_##Pair(Real real, Real imaginary) { \
        return make(real, imaginary);                                        \
    }                                                                        \
    __host__ __device__ inline Real cuCreal##suffix(Pair x) {                \
        return x.x;                                                          \
    }                                                                        \
    __host__ __device__ inline Real cuCimag##suffix(Pair x) {                \
        return x.y;                                                          \
    }                                                                        \
    __host__ __device__ inline Pair cuConj##suffix(Pair x) {                 \
        return make(x.x, -x.y);                                              \
    }                                                                        \
    __host__ __device__ inline Pair cuCadd##suffix(Pair x, Pair y) {         \
        return make(x.x + y.x, x.y + y.y);                                   \
    }                                                                        \
    __host__ __device__ inline Pair cuCsub##suffix(Pair x, Pair y) {         \
        return make(x.x - y.x, x.y - y.y);                                   \
    }                                                                        \
    __host__ __device__ inline Pair cuCmul##suffix(Pair x, Pair y) {         \
        return make(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);           \
    }                                                                        \
    __host__ __device__ inline Pair cuCdiv##suffix(Pair x, Pair y) {         \
        return cpu_device::complex_quotient(                                 \
            x, y, static_cast<Real>(1) / (std::fabs(y.x) + std::fabs(y.y))); \
    }                                                                        \
    __host__ __device__ inline Real cuCabs##suffix(Pair x) {                 \
        return std::hypot(x.x, x.y);                                         \
    }                                                                        \
    __host__ __device__ inline Pair cuCfma##suffix(Pair x, Pair y, Pair z) { \
        return make(std::fma(x.x, y.x, std::fma(-x.y, y.y, z.x)),            \
                    std::fma(x.x, y.y, std::fma(x.y, y.x, z.y)));            \
    }

CPU_DEVICE_COMPLEX(cuFloatComplex, float, f, make_float2)
CPU_DEVICE_COMPLEX(cuDoubleComplex, double, , make_double2)
#undef CPU_DEVICE_COMPLEX

__host__ __device__ inline cuComplex make_cuComplex(float real, float imaginary) {
    return make_float2(real, imaginary);
}
__host__ __device__ inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) {
    return make_double2(x.x, x.y);
}
__host__ __device__ inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
    return make_float2(static_cast<float>(x.x), static_cast<float>(x.y));
}
