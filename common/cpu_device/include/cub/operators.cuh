// SPDX-License-Identifier: MIT
// Which operators cub's collectives know by name.
#pragma once
#include <cuda/functional>
#include <cuda/std/functional>

#include "cpu_device/traits.h"

namespace cub {

// CUB 2's names; CUB 3 has cuda::std::plus, cuda::maximum and cuda::minimum instead.
using Sum = cuda::std::plus<>;
using Max = cuda::maximum<>;
using Min = cuda::minimum<>;

namespace detail {

template <class T, class Operation>
constexpr bool is_sum = cpu_device::is_one_of<Operation, cuda::std::plus<>, cuda::std::plus<T>>;
template <class T, class Operation>
constexpr bool is_maximum = cpu_device::is_one_of<Operation, cuda::maximum<>, cuda::maximum<T>>;
template <class T, class Operation>
constexpr bool is_minimum = cpu_device::is_one_of<Operation, cuda::minimum<>, cuda::minimum<T>>;

}  // namespace detail
}  // namespace cub
