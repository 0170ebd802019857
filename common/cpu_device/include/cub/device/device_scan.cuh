// SPDX-License-Identifier: MIT
// cub::DeviceScan for pointers, on the host.
#pragma once
#include <type_traits>

#include "cub/device/staged.cuh"

namespace cub {

struct DeviceScan {
    template <class In, class Out, class Operation, class T>
    static cudaError_t ExclusiveScan(void* scratch, size_t& bytes, In* in, Out* out,
                                     Operation operation, T initial, long long count,
                                     cudaStream_t = nullptr) {
        if (detail::asks_for_bytes(scratch, bytes)) return cudaSuccess;
        cudaError_t error = cudaSuccess;
        using Value = std::remove_const_t<In>;
        std::vector<Out> sums;
        T sum = initial;
        for (const Value& value : detail::read<Value>(in, static_cast<size_t>(count), error)) {
            sums.push_back(static_cast<Out>(sum));
            sum = operation(sum, value);
        }
        detail::write<Out>(out, sums, error);
        return error;
    }
    template <class In, class Out, class Operation>
    static cudaError_t InclusiveScan(void* scratch, size_t& bytes, In* in, Out* out,
                                     Operation operation, long long count, cudaStream_t = nullptr) {
        if (detail::asks_for_bytes(scratch, bytes)) return cudaSuccess;
        cudaError_t error = cudaSuccess;
        using Value = std::remove_const_t<In>;
        std::vector<Out> sums;
        for (const Value& value : detail::read<Value>(in, static_cast<size_t>(count), error)) {
            sums.push_back(sums.empty() ? static_cast<Out>(value)
                                        : static_cast<Out>(operation(sums.back(), value)));
        }
        detail::write<Out>(out, sums, error);
        return error;
    }
    template <class In, class Out>
    static cudaError_t ExclusiveSum(void* scratch, size_t& bytes, In* in, Out* out, long long count,
                                    cudaStream_t stream = nullptr) {
        return ExclusiveScan(
            scratch, bytes, in, out, [](auto a, auto b) { return a + b; }, Out{}, count, stream);
    }
    template <class In, class Out>
    static cudaError_t InclusiveSum(void* scratch, size_t& bytes, In* in, Out* out, long long count,
                                    cudaStream_t stream = nullptr) {
        return InclusiveScan(
            scratch, bytes, in, out, [](auto a, auto b) { return a + b; }, count, stream);
    }
};

}  // namespace cub
