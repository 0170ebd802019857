// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 03_online_softmax, version 1.0
//
// Softmax that finds the maximum and the normalizer in one pass over x.
//   new here   the normalizer pair (m, d): pairs merge in any order, so maximum and sum share a pass
//   traffic    02: 3 reads + 1 write per element  ->  03: 2 reads + 1 write
//   accepts    rows x cols floats, row-major; y may be x; -inf marks a masked element
//   rows       rows with NaN, rows with +inf and rows of -inf alone become all NaN, as in PyTorch
//   source     Milakov & Gimelshein 2018, "Online normalizer calculation for softmax", Algorithm 3
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

namespace online_softmax {

// Describes a set of elements: their maximum m, and d = sum of exp(x - m). A single element x is {x, 1}.
struct __align__(8) Normalizer {
    float m;
    float d;
};

// Merges the pairs of two sets into the pair of their union. Up to rounding, the order of merges does not
// matter, and {-inf, 0} (no element) is neutral. If both sets have only masked elements (-inf), base is 0,
// because -inf - -inf is NaN. NaN and +inf need no extra code: their exp(x - m) is NaN, so d and the whole
// row become NaN.
struct Merge {
    __host__ __device__ Normalizer operator()(Normalizer a, Normalizer b) const {
        const float m = fmaxf(a.m, b.m);
        const float base = m == -INFINITY ? 0.f : m;
        return {m, a.d * expf(a.m - base) + b.d * expf(b.m - base)};
    }
};

// One block per row. Neighbouring threads take neighbouring columns, so a warp's 32 loads are contiguous.
template <int kThreads>
__global__ void block_per_row_kernel(const float* x, float* y, int64_t cols) {
    using BlockReduce = cub::BlockReduce<Normalizer, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ Normalizer row;

    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;

    Normalizer mine{-INFINITY, 0.f};
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {  // one pass for both m and d
        mine = Merge{}(mine, {x_row[col], 1.f});
    }
    mine = BlockReduce(scratch).Reduce(mine, Merge{});
    if (threadIdx.x == 0) row = mine;  // only thread 0 has the pair of the block
    __syncthreads();

    const float m = row.m;
    const float scale = 1.f / row.d;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        y_row[col] = expf(x_row[col] - m) * scale;
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

}  // namespace online_softmax
