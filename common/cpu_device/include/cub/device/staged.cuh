// SPDX-License-Identifier: MIT
// What CUB's device-wide algorithms have in common here: they are no kernels, but plain loops on the host over
// a copy of the data, so that nothing of them is counted.
#pragma once
#include <cstddef>
#include <type_traits>
#include <vector>

#include "cpu_device/runtime_api.h"

namespace cub::detail {

// The first call of the two asks how much scratch memory there has to be.
inline bool asks_for_bytes(const void* scratch, size_t& bytes) {
    if (scratch != nullptr) return false;
    bytes = 1;
    return true;
}

// Numbers from the device's memory. (bool's vector is none.)
template <class T>
std::vector<T> read(const T* from, size_t count, cudaError_t& error) {
    static_assert(!std::is_same_v<T, bool>, "the CPU device's CUB takes no bools");
    std::vector<T> values(count);
    if (error == cudaSuccess && count != 0) {
        error = cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
    return values;
}

template <class T>
void write(T* to, const std::vector<T>& values, cudaError_t& error) {
    if (error != cudaSuccess || values.empty()) return;
    error = cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
}

}  // namespace cub::detail
