// SPDX-License-Identifier: MIT
// Calls a device function on the device for many inputs, for tests that compare its results with
// something else.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "common/testing/catch.hpp"

// Device memory that starts as a copy of a vector.
template <class T>
class DeviceVector {
public:
    static constexpr size_t kElementBytes =
        sizeof(T);  // NOLINT(bugprone-sizeof-expression): of pointers, too

    explicit DeviceVector(const std::vector<T>& values) : size_(values.size()) {
        REQUIRE(cudaMalloc(reinterpret_cast<void**>(&data_), size_ * kElementBytes) == cudaSuccess);
        REQUIRE(cudaMemcpy(data_, values.data(), size_ * kElementBytes, cudaMemcpyHostToDevice) ==
                cudaSuccess);
    }
    DeviceVector(const DeviceVector&) = delete;
    DeviceVector& operator=(const DeviceVector&) = delete;
    ~DeviceVector() { cudaFree(data_); }

    T* data() const { return data_; }

    std::vector<T> values() const {
        std::vector<T> values(size_);
        REQUIRE(cudaMemcpy(values.data(), data_, size_ * kElementBytes, cudaMemcpyDeviceToHost) ==
                cudaSuccess);
        return values;
    }

private:
    size_t size_;
    T* data_ = nullptr;
};

inline void require_success() {
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

template <class Function, class Result, class... Inputs>
__global__ void map_kernel(Result* results, int count, const Inputs*... inputs) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) results[i] = Function{}(inputs[i]...);
}

// Function{}(inputs[i]...) for each i, computed on the device.
template <class Result, class Function, class First, class... Inputs>
std::vector<Result> map_on_device(const std::vector<First>& first,
                                  const std::vector<Inputs>&... inputs) {
    const int count = static_cast<int>(first.size());
    DeviceVector<Result> results{std::vector<Result>(first.size())};
    const DeviceVector<First> device_first(first);
    const auto launch = [&](const auto&... others) {
        map_kernel<Function><<<(count + 255) / 256, 256>>>(
            results.data(), count, static_cast<const First*>(device_first.data()),
            static_cast<const Inputs*>(others.data())...);
    };
    launch(DeviceVector<Inputs>(inputs)...);
    require_success();
    return results.values();
}

// A class whose objects call the device function `name`: built-in functions have no address.
#define DEVICE_FUNCTION(Class, name)                               \
    struct Class {                                                 \
        template <class... Arguments>                              \
        __device__ auto operator()(Arguments... arguments) const { \
            return name(arguments...);                             \
        }                                                          \
    }
