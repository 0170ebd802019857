// SPDX-License-Identifier: MIT
// The numbers of a type of 8 bits: those that weights and states are rounded to.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <cuda_fp8.h>

#include "common/operations/encoder/operation.hpp"

namespace operations::encoder {

template <class E>
struct Numbers {
    static constexpr bool kIsInteger = std::is_same_v<E, int8_t>;
    __host__ __device__ static constexpr double largest() { return kIsInteger ? 127 : 448; }
    __host__ __device__ static double spacing(double x) {
        if (kIsInteger) return 1;
        constexpr int kSmallestExponent = -6, kFraction = 3;
        const int exponent = x == 0 ? kSmallestExponent : ilogb(x);
        return ldexp(1., (exponent > kSmallestExponent ? exponent : kSmallestExponent) - kFraction);
    }
    __host__ __device__ static double nearest(double x) {
        const double most = kIsInteger && x < 0 ? 128 : largest();
        const double rounded = rint(x / spacing(x)) * spacing(x);
        return fabs(rounded) > most ? copysign(most, x) : rounded;
    }
};

}  // namespace operations::encoder
