// SPDX-License-Identifier: MIT
// Small helpers the device headers share.
#pragma once
#include "cpu_device/integers.h"
#include <cstddef>
#include <type_traits>

#include "cpu_device/qualifiers.h"

namespace cpu_device {

template <class T, class... Candidates>
constexpr bool is_one_of = (std::is_same_v<T, Candidates> || ...);

// A parameter of type T that takes no part in template argument deduction, so that the pointer
// beside it decides and the value converts: atomicAdd(double*, 1).
template <class T>
struct Identity {
    using type = T;
};
template <class T>
using not_deduced = typename Identity<T>::type;

// CUDA's 16-bit floats and pairs of them; their headers say which classes these are.
template <class T>
constexpr bool is_small_float = false;

// The unsigned integer of a size.
template <size_t bytes>
using Word = std::conditional_t<
    bytes == 1, uint8_t,
    std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

template <class To, class From>
__host__ __device__ constexpr To bit_cast(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits can only be kept between types of one size");
    return __builtin_bit_cast(To, from);
}

}  // namespace cpu_device
