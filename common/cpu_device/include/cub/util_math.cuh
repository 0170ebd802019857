// SPDX-License-Identifier: MIT
#pragma once
#include "cpu_device/qualifiers.h"

namespace cub {

template <class A, class B>
__host__ __device__ constexpr A DivideAndRoundUp(A number, B divisor) {
    return number / divisor + (number % divisor != 0 ? 1 : 0);
}

}  // namespace cub
