// SPDX-License-Identifier: MIT
// cub::DeviceReduce for pointers, on the host.
#pragma once
#include <algorithm>
#include <limits>
#include <type_traits>

#include "cub/device/staged.cuh"

namespace cub {

struct DeviceReduce {
    template <class In, class Out, class Operation, class T>
    static cudaError_t Reduce(void* scratch, size_t& bytes, In* in, Out* out, long long count,
                              Operation operation, T initial, cudaStream_t = nullptr) {
        if (detail::asks_for_bytes(scratch, bytes)) return cudaSuccess;
        cudaError_t error = cudaSuccess;
        using Value = std::remove_const_t<In>;
        T sum = initial;
        for (const Value& value : detail::read<Value>(in, static_cast<size_t>(count), error)) {
            sum = operation(sum, value);
        }
        detail::write<Out>(out, {static_cast<Out>(sum)}, error);
        return error;
    }
    template <class In, class Out>
    static cudaError_t Sum(void* scratch, size_t& bytes, In* in, Out* out, long long count,
                           cudaStream_t stream = nullptr) {
        return Reduce(
            scratch, bytes, in, out, count, [](auto a, auto b) { return a + b; }, Out{}, stream);
    }
    template <class In, class Out>
    static cudaError_t Min(void* scratch, size_t& bytes, In* in, Out* out, long long count,
                           cudaStream_t stream = nullptr) {
        return Reduce(
            scratch, bytes, in, out, count, [](auto a, auto b) { return b < a ? b : a; },
            std::numeric_limits<std::remove_const_t<In>>::max(), stream);
    }
    template <class In, class Out>
    static cudaError_t Max(void* scratch, size_t& bytes, In* in, Out* out, long long count,
                           cudaStream_t stream = nullptr) {
        return Reduce(
            scratch, bytes, in, out, count, [](auto a, auto b) { return a < b ? b : a; },
            std::numeric_limits<std::remove_const_t<In>>::lowest(), stream);
    }
};

}  // namespace cub
