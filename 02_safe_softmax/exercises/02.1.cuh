// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// Exercise 02.1: the row's maximum
//
// The kernel below subtracts `max` from every x, so that no exponential overflows. Find the row's maximum first: each
// thread looks at its own columns, the block combines what its threads found, and all threads get the result in `max`.
//
// The memory in `scratch` is used again for the sum further down. A barrier has to keep the two uses apart.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

// The larger of two numbers.
struct Max {
    __host__ __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <int kThreads>
__global__ void block_per_row_kernel(const float* x, float* y, int64_t cols) {
    using BlockReduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ float row_max;
    __shared__ float row_sum;

    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;

    float max = -INFINITY;
    // ---- your lines: BlockReduce(scratch).Reduce(max, Max{}) combines; thread 0 gets the result
    // ---- end of your lines

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

inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols,
                          cudaStream_t stream) {
    if (rows == 0 || cols == 0) return cudaSuccess;
    constexpr int kThreads = 256;
    constexpr int64_t kMaxBlocks = INT32_MAX;  // per grid; further rows take another launch
    for (int64_t row = 0; row < rows; row += kMaxBlocks) {
        const auto blocks = static_cast<unsigned>(std::min(rows - row, kMaxBlocks));
        block_per_row_kernel<kThreads>
            <<<blocks, kThreads, 0, stream>>>(x + row * cols, y + row * cols, cols);
    }
    return cudaGetLastError();
}
