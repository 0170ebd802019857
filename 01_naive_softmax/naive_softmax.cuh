// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 01_naive_softmax, version 1.0
//
// Softmax as the textbook writes it: exp(x) divided by the row's sum of exp(x).
//   new here   two ways to map the formula to threads: one thread per row, and one block per row
//   traffic    2 reads + 1 write per element, in both kernels
//   accepts    rows x cols floats, row-major; y may be x
//   careful    expf overflows above 88.7 and loses digits below -87, so results may be NaN, inf or 0
//   source     Milakov & Gimelshein 2018, "Online normalizer calculation for softmax", Algorithm 1
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

namespace naive_softmax {

// One thread per row. Neighbouring threads read elements one row apart, so each of a warp's 32 loads
// touches its own sector of 32 bytes, and the warp moves eight times as many bytes as it uses.
template <int kThreads>
__global__ void thread_per_row_kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (row >= rows) return;

    const float* x_row = x + row * cols;
    float* y_row = y + row * cols;

    float sum = 0.f;
    for (int64_t col = 0; col < cols; ++col) {
        sum += expf(x_row[col]);
    }

    const float scale = 1.f / sum;  // one division per row, not one per element
    for (int64_t col = 0; col < cols; ++col) {
        y_row[col] = expf(x_row[col]) * scale;
    }
}

// One block per row. Neighbouring threads take neighbouring columns, so a warp's 32 loads are contiguous.
template <int kThreads>
__global__ void block_per_row_kernel(const float* x, float* y, int64_t cols) {
    using BlockReduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ float row_sum;

    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;

    float sum = 0.f;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        sum += expf(x_row[col]);
    }
    sum = BlockReduce(scratch).Sum(sum);
    if (threadIdx.x == 0) row_sum = sum;  // only thread 0 has the sum of the block
    __syncthreads();

    const float scale = 1.f / row_sum;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        y_row[col] = expf(x_row[col]) * scale;
    }
}

// Writes the softmax of each row of x to y (rows x cols, device memory). Asynchronous on stream.
// Returns cudaErrorInvalidValue for a null pointer or a negative size.
inline cudaError_t thread_per_row(const float* x, float* y, int64_t rows, int64_t cols,
                                  cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    constexpr int kThreads = 128;
    const int64_t blocks = (rows + kThreads - 1) / kThreads;
    if (blocks > INT32_MAX) return cudaErrorInvalidValue;
    thread_per_row_kernel<kThreads>
        <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError();
}

// Does the same with one block per row.
inline cudaError_t block_per_row(const float* x, float* y, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    constexpr int kThreads = 256;
    constexpr int64_t kMaxBlocks = INT32_MAX;  // per grid; further rows take another launch
    for (int64_t row = 0; row < rows; row += kMaxBlocks) {
        const auto blocks = static_cast<unsigned>(std::min(rows - row, kMaxBlocks));
        block_per_row_kernel<kThreads>
            <<<blocks, kThreads, 0, stream>>>(x + row * cols, y + row * cols, cols);
    }
    return cudaGetLastError();
}

}  // namespace naive_softmax
