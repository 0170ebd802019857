// SPDX-License-Identifier: MIT
// How the library's C functions fail: what is thrown in them comes out as a code and words.
#pragma once
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

#include "common/peers/device_words.hpp"
#include "common/runner/device.hpp"

namespace library {

// A caller's mistake, or something that is not to be had: code and words.
class Refusal : public std::runtime_error {
public:
    Refusal(cudaError_t code, const std::string& words) : std::runtime_error(words), code_(code) {}
    cudaError_t code() const { return code_; }

private:
    cudaError_t code_;
};

[[noreturn]] inline void refuse(const std::string& words) {
    throw Refusal(cudaErrorInvalidValue, words);
}
inline void require(bool condition, const char* otherwise) {
    if (!condition) refuse(otherwise);
}

inline std::string& last_error() {
    static std::string text;
    return text;
}

inline int failed(cudaError_t code, const char* words) noexcept {
    try {
        last_error() = words;
    } catch (...) {
        last_error().clear();  // no memory even for that
    }
    return code;
}

inline int failed_on_device(const runner::CudaError& error) noexcept {
    try {
        const std::string more = take_device_words();
        return failed(error.code(), (error.what() + (more.empty() ? "" : ": " + more)).c_str());
    } catch (...) {
        return failed(error.code(), error.what());
    }
}

// Runs a function's body. Nothing is printed: what the device says of an error stands behind the code's own words.
template <class Body>
int guarded(Body body) noexcept {
    try {
        hush_device();
        body();
        return cudaSuccess;
    } catch (const Refusal& refusal) {
        return failed(refusal.code(), refusal.what());
    } catch (const runner::CudaError& error) {
        return failed_on_device(error);
    } catch (const std::bad_alloc&) {
        return failed(cudaErrorMemoryAllocation, "the host's memory is full");
    } catch (const std::exception& error) {
        return failed(cudaErrorUnknown, error.what());
    } catch (...) {
        return failed(cudaErrorUnknown, "something was thrown that is no exception");
    }
}

}  // namespace library
