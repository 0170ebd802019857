// SPDX-License-Identifier: MIT
// What clangd includes before a device file (.clangd): with it clang, whose CUDA mode knows launches, reads the originals
// over the CPU device's stand-ins. Nothing is compiled with it.
#pragma once

// The C library may be called from kernels, and so may the stand-ins. Not so the standard library's classes, which are
// the host's.
#pragma clang force_cuda_host_device begin
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#pragma clang force_cuda_host_device end

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <vector>
namespace std {
template <class T>
__device__ add_rvalue_reference_t<T> declval() noexcept;
}
#undef __host__
#undef __device__

#pragma clang force_cuda_host_device begin
#define __syncthreads synchronize_block  // a word that clang has of its own
#include <cuda_runtime.h>
#pragma clang force_cuda_host_device end

#undef __global__
#undef __device__
#undef __host__
#define __global__ __attribute__((global))
#define __device__ __attribute__((host, device))
#define __host__ __attribute__((host))

// What a launch becomes.
int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                cudaStream_t stream = nullptr);
