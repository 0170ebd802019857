// SPDX-License-Identifier: MIT
// How a test says which message a wrong kernel must end with, and that the next launch works.
#pragma once
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/testing/catch.hpp"

// Device memory for n elements, for the life of the object.
template <class T>
class DeviceArray {
public:
    explicit DeviceArray(size_t n) : size_(n) {
        REQUIRE(cudaMalloc(&data_, n * sizeof(T)) == cudaSuccess);
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { cudaFree(data_); }

    T* data() const { return data_; }

    void fill(const std::vector<T>& values) {
        REQUIRE(cudaMemcpy(data_, values.data(), values.size() * sizeof(T),
                           cudaMemcpyHostToDevice) == cudaSuccess);
    }

    std::vector<T> read() const {
        std::vector<T> values(size_);
        REQUIRE(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost) ==
                cudaSuccess);
        return values;
    }

private:
    T* data_ = nullptr;
    size_t size_;
};

// As a library's wrapper of an instruction: in another file than the kernel that calls it.
template <class T>
__device__ __forceinline__ void wrapped_store(T* to, T value) {
    *to = value;
}

// Sets an environment variable for the life of the object.
class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) {
        const char* before = std::getenv(name);
        if (before != nullptr) before_ = before;
        had_one_ = before != nullptr;
        setenv(name, value, 1);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() { had_one_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }

private:
    const char* name_;
    std::string before_;
    bool had_one_ = false;
};

inline __global__ void write_thread_numbers(int* to) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    to[i] = i;
}

inline void check_that_launches_work() {
    // A test may have made the watchdog impatient, which is not for right kernels on a busy machine.
    const Environment patience("CPU_DEVICE_WATCHDOG_SECONDS", "60");
    DeviceArray<int> numbers(256);
    write_thread_numbers<<<4, 64>>>(numbers.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    const std::vector<int> values = numbers.read();
    CHECK(values.front() == 0);
    CHECK(values.back() == 255);
}

// The launch before this ended with `code` and a message that holds every one of `parts`.
inline void check_failure(cudaError_t code, const std::vector<std::string>& parts) {
    CHECK(cudaDeviceSynchronize() == code);
    CHECK(cudaGetLastError() == code);
    CHECK(cudaGetLastError() == cudaSuccess);
    const std::string text = cpu_device::last_error_text();
    for (const std::string& part : parts) CHECK_THAT(text, ContainsSubstring(part));
    check_that_launches_work();
}

// What is printed to standard error while print() runs.
template <class Print>
std::string standard_error_of(Print print) {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    std::fflush(stderr);
    const int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    print();
    std::fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    std::string text;
    std::rewind(file);
    for (int next; (next = std::fgetc(file)) != EOF;) text += static_cast<char>(next);
    std::fclose(file);
    return text;
}

inline std::string at_line(const char* file, int line) {
    return std::string(file) + ":" + std::to_string(line);
}
