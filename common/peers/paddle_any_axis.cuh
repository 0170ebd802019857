// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// PaddlePaddle's log-softmax along the middle axis of (outer, dim, inner): written anew from its
// description, to be compared with.
//   design     four steps choose the launch: two-dimensional blocks with as many threads as possible
//              along inner, the rest along dim. threadIdx.x runs along dim, so accesses coalesce only in
//              blocks with one thread along dim. The kernel makes three passes
//   traffic    3 reads + 1 write per element, one element per access
//   accepts    float, __half, __nv_bfloat16, computed in float; any sizes; y may be x
//   changed    sizes of 64 bits
//   source     PaddlePaddle pull request 32396 (2021)
#pragma once
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

extern __shared__ __align__(128) unsigned char shared_bytes[];

namespace paddle_any_axis {

// Reduces the values of a column's threads in shared memory, by a tree reduction. threadIdx.x is a thread's index
// in its column.
template <class Join>
__device__ float join_column(float mine, Join join) {
    if (blockDim.x == 1) return mine;
    float* column = reinterpret_cast<float*>(shared_bytes) + threadIdx.y * blockDim.x;
    __syncthreads();  // until all threads have read the previous result
    column[threadIdx.x] = mine;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            column[threadIdx.x] = join(column[threadIdx.x], column[threadIdx.x + half]);
    }
    __syncthreads();
    return column[0];
}

// kSwapped: true if the grid's x runs along inner and the grid's y along outer.
template <bool kSwapped, class T>
__global__ void __launch_bounds__(1024)
    log_softmax_kernel(const T* x, T* y, int64_t outer, int64_t dim, int64_t inner) {
    const unsigned outer_block = kSwapped ? blockIdx.y : blockIdx.x;
    const unsigned inner_block = kSwapped ? blockIdx.x : blockIdx.y;
    const unsigned outer_blocks = kSwapped ? gridDim.y : gridDim.x;
    const unsigned inner_blocks = kSwapped ? gridDim.x : gridDim.y;
    const auto larger = [](float a, float b) { return fmax(a, b); };
    const auto total = [](float a, float b) { return a + b; };

    for (int64_t slab = outer_block; slab < outer; slab += outer_blocks) {
        for (int64_t first = int64_t{inner_block} * blockDim.y; first < inner;
             first += int64_t{inner_blocks} * blockDim.y) {
            const int64_t col = first + threadIdx.y;
            const bool is_there = col < inner;  // threads past the end stay for the barriers
            const int64_t rows = is_there ? dim : 0;
            const int64_t base = slab * dim * inner + col;

            float max = -static_cast<float>(INFINITY);
            for (int64_t row = threadIdx.x; row < rows; row += blockDim.x)
                max = fmax(max, static_cast<float>(x[base + row * inner]));
            max = join_column(max, larger);

            float sum = 0;
            for (int64_t row = threadIdx.x; row < rows; row += blockDim.x)
                sum += std::exp(static_cast<float>(x[base + row * inner]) - max);
            sum = join_column(sum, total);

            const float log_sum = std::log(sum);
            for (int64_t row = threadIdx.x; row < rows; row += blockDim.x) {
                const int64_t at = base + row * inner;
                y[at] = static_cast<T>(static_cast<float>(x[at]) - max - log_sum);
            }
        }
    }
}

// Step 1: returns up to 1024 threads along inner and, along dim, the largest power of two with which the block
// fits.
inline dim3 block_size(int64_t dim, int64_t inner) {
    constexpr int64_t kThreads = 1024;
    const int64_t along_inner = std::min(inner, kThreads);
    int64_t along_dim = 1;
    while (2 * along_dim * along_inner <= kThreads && 2 * along_dim <= dim) along_dim *= 2;
    return {static_cast<unsigned>(along_dim), static_cast<unsigned>(along_inner)};
}

// Step 4: returns the blocks along inner first, then the rest of the active blocks along outer.
inline dim3 grid_size(dim3 block, int64_t active, int64_t outer, int64_t inner) {
    const int64_t inner_blocks =
        std::min<int64_t>((inner + block.y - 1) / block.y, std::min<int64_t>(active, 65535));
    const int64_t outer_blocks = std::min(
        std::min<int64_t>((active + inner_blocks - 1) / inner_blocks, outer), INT64_C(65535));
    return {static_cast<unsigned>(outer_blocks), static_cast<unsigned>(inner_blocks)};
}

// Computes the log-softmax of x (outer x dim x inner, row-major, device memory) along dim into y, which may be x.
// Asynchronous on stream. Returns cudaErrorInvalidValue for a null pointer or a negative size. swapped: true if
// the grid's x runs along inner.
template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t outer, int64_t dim, int64_t inner,
                        cudaStream_t stream, bool swapped = false) {
    if (outer < 0 || dim < 0 || inner < 0) return cudaErrorInvalidValue;
    if (outer == 0 || dim == 0 || inner == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    const dim3 block = block_size(dim, inner);
    const size_t shared = block.x == 1 ? 0 : block.x * block.y * sizeof(float);  // step 2
    int device = 0, multiprocessors = 1;  // without a device, the launch reports the error
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    const int64_t active = 2 * int64_t{multiprocessors};  // step 3
    const dim3 grid = grid_size(block, active, outer, inner);
    if (swapped) {
        log_softmax_kernel<true>
            <<<dim3(grid.y, grid.x), block, shared, stream>>>(x, y, outer, dim, inner);
    } else {
        log_softmax_kernel<false><<<grid, block, shared, stream>>>(x, y, outer, dim, inner);
    }
    return cudaGetLastError();
}

}  // namespace paddle_any_axis
