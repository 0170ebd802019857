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

template <class Key, class Value>
struct KeyValuePair {
    using key_type = Key;
    using value_type = Value;
    Key key;
    Value value;
};

// The pair with the largest (smallest) value; of equal ones that with the lower key.
struct ArgMax {
    template <class Key, class Value>
    __host__ __device__ constexpr KeyValuePair<Key, Value> operator()(
        const KeyValuePair<Key, Value>& a, const KeyValuePair<Key, Value>& b) const {
        return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class Key, class Value>
    __host__ __device__ constexpr KeyValuePair<Key, Value> operator()(
        const KeyValuePair<Key, Value>& a, const KeyValuePair<Key, Value>& b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

struct Equality {
    template <class A, class B>
    __host__ __device__ constexpr bool operator()(const A& a, const B& b) const {
        return a == b;
    }
};
struct Inequality {
    template <class A, class B>
    __host__ __device__ constexpr bool operator()(const A& a, const B& b) const {
        return !(a == b);
    }
};
template <class Equal>
struct InequalityWrapper {
    Equal op;
    __host__ __device__ InequalityWrapper(Equal equal) : op(equal) {}
    template <class A, class B>
    __host__ __device__ bool operator()(const A& a, const B& b) {
        return !op(a, b);
    }
};
using Difference = cuda::std::minus<>;
template <class T>
struct CastOp {
    template <class A>
    __host__ __device__ T operator()(A&& value) const {
        return static_cast<T>(value);
    }
};

namespace detail {

template <class T, class Operation>
constexpr bool is_sum = cpu_device::is_one_of<Operation, cuda::std::plus<>, cuda::std::plus<T>>;
template <class T, class Operation>
constexpr bool is_maximum = cpu_device::is_one_of<Operation, cuda::maximum<>, cuda::maximum<T>>;
template <class T, class Operation>
constexpr bool is_minimum = cpu_device::is_one_of<Operation, cuda::minimum<>, cuda::minimum<T>>;

}  // namespace detail
}  // namespace cub
