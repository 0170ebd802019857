// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 02_safe_softmax, version 1.0
//
// Softmax that cannot overflow: it subtracts the row's maximum first.
//   new here   exp(x - max) lies in [0, 1] for every x; finding the maximum takes an extra pass
//   traffic    01: 2 reads + 1 write per element  ->  02: 3 reads + 1 write
//   accepts    rows x cols floats, row-major; y may be x; -inf marks a masked element
//   rows       rows with NaN, rows with +inf and rows of -inf alone become all NaN, as in PyTorch
//   source     Milakov & Gimelshein 2018, "Online normalizer calculation for softmax", Algorithm 2
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

namespace safe_softmax {

// Returns the larger of two numbers. fmaxf(NaN, number) is the number; the sum of exponentials keeps the NaN.
struct Max {
    __host__ __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// One block per row. Neighbouring threads take neighbouring columns, so a warp's 32 loads are contiguous.
template <int kThreads>
__global__ void block_per_row_kernel(const float* x, float* y, int64_t cols) {
    using BlockReduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ float row_max;
    __shared__ float row_sum;

    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;

    float max = -INFINITY;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {  // the extra pass
        max = Max{}(max, x_row[col]);
    }
    max = BlockReduce(scratch).Reduce(max, Max{});
    if (threadIdx.x == 0) row_max = max;
    __syncthreads();  // row_max is written, and all threads have finished with scratch
    max = row_max;

    float sum = 0.f;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        sum += expf(x_row[col] - max);
    }
    sum = BlockReduce(scratch).Sum(sum);
    if (threadIdx.x == 0) row_sum = sum;  // only thread 0 has the sum of the block
    __syncthreads();

    const float scale = 1.f / row_sum;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        y_row[col] = expf(x_row[col] - max) * scale;
    }
}

// Writes the softmax of each row of x to y (rows x cols, device memory). Asynchronous on stream.
// Returns cudaErrorInvalidValue for a null pointer or a negative size.
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

}  // namespace safe_softmax
