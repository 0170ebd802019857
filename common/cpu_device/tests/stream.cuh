// SPDX-License-Identifier: MIT
// A stream for the life of an object.
#pragma once
#include <cuda_runtime.h>

#include "common/testing/catch.hpp"

class Stream {
public:
    explicit Stream(unsigned flags = cudaStreamNonBlocking) {
        REQUIRE(cudaStreamCreateWithFlags(&handle_, flags) == cudaSuccess);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { cudaStreamDestroy(handle_); }

    operator cudaStream_t() const { return handle_; }

private:
    cudaStream_t handle_ = nullptr;
};
