// SPDX-License-Identifier: MIT
// Arithmetic in IEEE 754's four rounding directions.
#pragma once
#include <cfenv>
#include <cmath>
#include <limits>

#include "cpu_device/qualifiers.h"

namespace cpu_device {

// In CUDA's function names: _rn, _rz, _ru, _rd. Nearest takes the even neighbour of a tie.
enum class Rounding { nearest, zero, up, down };

constexpr int floating_environment(Rounding rounding) {
    switch (rounding) {
        case Rounding::zero:
            return FE_TOWARDZERO;
        case Rounding::up:
            return FE_UPWARD;
        case Rounding::down:
            return FE_DOWNWARD;
        default:
            return FE_TONEAREST;
    }
}

// A copy of value that the compiler cannot see through: arithmetic on it stays where it is written.
template <class T>
__host__ __device__ inline T opaque(T value) {
    volatile T hidden = value;
    return hidden;
}

// operation(operands...), rounded in the given direction by the processor itself. The compiler
// knows nothing of directions, so operands and result pass through volatile memory on both sides of
// the change; nothing else of the program runs meanwhile on this thread.
template <Rounding rounding, class Operation, class... Operands>
__host__ __device__ inline auto rounded(Operation operation, Operands... operands) {
    if constexpr (rounding == Rounding::nearest) {
        return operation(operands...);
    } else {
        std::fesetround(floating_environment(rounding));
        const auto result = opaque(operation(opaque(operands)...));
        std::fesetround(FE_TONEAREST);
        return result;
    }
}

// The neighbouring integer in the given direction.
template <class T>
__host__ __device__ inline T to_integral(T value, Rounding rounding) {
    switch (rounding) {
        case Rounding::zero:
            return std::trunc(value);
        case Rounding::up:
            return std::ceil(value);
        case Rounding::down:
            return std::floor(value);
        default:
            return std::nearbyint(value);
    }
}

// value as an integer, rounded in the given direction; the nearest end of the range where it is out
// of range. What NaN becomes depends on the instruction, so the caller says it.
template <class Integer, class T>
__host__ __device__ inline Integer to_integer(T value, Rounding rounding, Integer of_nan) {
    constexpr bool is_signed = std::numeric_limits<Integer>::is_signed;
    constexpr int bits = std::numeric_limits<Integer>::digits;
    const T end = std::ldexp(T(1), bits);  // one past the largest
    if (value != value) return of_nan;
    const T integral = to_integral(value, rounding);
    if (integral >= end) return std::numeric_limits<Integer>::max();
    if (integral < (is_signed ? -end : T(0))) return std::numeric_limits<Integer>::min();
    return static_cast<Integer>(integral);
}

}  // namespace cpu_device
