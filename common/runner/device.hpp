// SPDX-License-Identifier: MIT
// Device memory as values, and CUDA's error codes as exceptions: for the runner and the tests,
// never for a stage's header.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace runner {

// A CUDA call failed: what was being done, and what CUDA says of it.
class CudaError : public std::runtime_error {
public:
    CudaError(cudaError_t code, const std::string& doing)
        : std::runtime_error(doing + ": " + cudaGetErrorString(code) + " (" +
                             cudaGetErrorName(code) + ")"),
          code_(code) {}
    cudaError_t code() const { return code_; }

private:
    cudaError_t code_;
};

inline void check_cuda(cudaError_t code, const std::string& doing) {
    if (code != cudaSuccess) throw CudaError(code, doing);
}

// count elements of device memory, freed with the object. Uninitialised: on purpose, see poison().
template <class T>
class DeviceBuffer {
public:
    static constexpr size_t kElementBytes =
        sizeof(T);  // NOLINT(bugprone-sizeof-expression): of pointers, too

    explicit DeviceBuffer(size_t count = 0) : count_(count) {
        if (count == 0) return;
        const cudaError_t status =
            cudaMalloc(reinterpret_cast<void**>(&data_), count * kElementBytes);
        if (status != cudaSuccess) {
            cudaGetLastError();  // the failure is reported here; it must not be found again later
            throw CudaError(status, "allocating " + std::to_string(count * kElementBytes) +
                                        " bytes on the device");
        }
    }
    explicit DeviceBuffer(const std::vector<T>& host) : DeviceBuffer(host.size()) { upload(host); }
    DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~DeviceBuffer() {
        if (data_ != nullptr) cudaFree(data_);
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t size() const { return count_; }
    size_t bytes() const { return count_ * kElementBytes; }

    // Every byte 0xff: NaN in every floating-point type, so that an element nobody wrote shows.
    void poison() {
        if (count_ > 0) check_cuda(cudaMemset(data_, 0xff, bytes()), "poisoning the output");
    }
    void upload(const std::vector<T>& host) {
        if (count_ > 0)
            check_cuda(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice),
                       "copying to the device");
    }
    std::vector<T> download() const {
        std::vector<T> host(count_);
        if (count_ > 0)
            check_cuda(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost),
                       "copying from the device");
        return host;
    }

private:
    void swap(DeviceBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
    }
    T* data_ = nullptr;
    size_t count_ = 0;
};

}  // namespace runner
