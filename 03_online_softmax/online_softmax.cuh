// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 03_online_softmax, version 1.0
//
// One pass over x finds both the maximum and the normalizer.
//   new here   the pair (m, d): two of them merge, in any order, so max and sum share a pass
//   traffic    02: 3 reads + 1 write per element  ->  03: 2 reads + 1 write
//   accepts    rows x cols floats, row-major; y may be x; -inf marks a masked element
//   rows       with NaN or +inf, or of -inf alone, come out all NaN, as in PyTorch
//   source     Milakov & Gimelshein 2018, "Online normalizer calculation for softmax", Algorithm 3
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

namespace online_softmax {

// What is known of the elements seen so far: their maximum m, and d = sum of exp(x - m).
struct __align__(8) Normalizer {
    float m;
    float d;
};

// Two sets of elements as one. Associative and commutative up to rounding; {-inf, 0} is neutral. A
// NaN in m reaches d in the first merge and stays there. Equal maxima need no exponential, and two
// infinite ones must have none: their difference is NaN.
struct Merge {
    __host__ __device__ Normalizer operator()(Normalizer a, Normalizer b) const {
        const float scale = a.m == b.m ? 1.f : expf(-fabsf(a.m - b.m));
        return a.m < b.m ? Normalizer{b.m, b.d + a.d * scale} : Normalizer{a.m, a.d + b.d * scale};
    }
};

// One element as a set (a masked one contributes nothing), and a set as itself.
__host__ __device__ inline Normalizer lift(float x) {
    return {x, x == -INFINITY ? 0.f : 1.f};
}
__host__ __device__ inline Normalizer lift(Normalizer set) {
    return set;
}

// What a row's normalizer is for: the result of an element.
struct Softmax {
    float m;
    float scale;
    __host__ __device__ explicit Softmax(Normalizer row) : m(row.m), scale(1.f / row.d) {}
    __host__ __device__ float operator()(float x) const { return expf(x - m) * scale; }
};
struct LogSoftmax {
    float m;
    float log_d;
    __host__ __device__ explicit LogSoftmax(Normalizer row) : m(row.m), log_d(logf(row.d)) {}
    __host__ __device__ float operator()(float x) const { return x - m - log_d; }
};

// The normalizer of cols elements (or sets) at x, in every thread of the block. threadIdx.x walks
// columns.
template <int kThreads, class T>
__device__ Normalizer block_normalizer(const T* x, int64_t cols) {
    using BlockReduce = cub::BlockReduce<Normalizer, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ Normalizer block;

    Normalizer mine{-INFINITY, 0.f};
#pragma unroll 4  // four loads in flight; nvcc does so by itself in 01 and 02, but not here
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {  // one pass where 02 makes two
        mine = Merge{}(mine, lift(x[col]));
    }
    mine = BlockReduce(scratch).Reduce(mine, Merge{});
    if (threadIdx.x == 0) block = mine;  // only thread 0 has the block's result
    __syncthreads();
    return block;
}

// +inf has no ratio to anything: the whole row becomes NaN.
__device__ inline Normalizer for_division(Normalizer row) {
    return row.m == INFINITY ? Normalizer{NAN, NAN} : row;
}

// One block per row.
template <int kThreads, class Output>
__global__ void block_per_row_kernel(const float* x, float* y, int64_t cols) {
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;

    const Output output(for_division(block_normalizer<kThreads>(x_row, cols)));

    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        y_row[col] = output(x_row[col]);
    }
}

// One block per row; one result per row.
template <int kThreads>
__global__ void log_sum_exp_kernel(const float* x, float* y, int64_t cols) {
    const Normalizer row = block_normalizer<kThreads>(x + blockIdx.x * cols, cols);
    if (threadIdx.x == 0) y[blockIdx.x] = row.m + logf(row.d);
}

constexpr int kBlockThreads = 256;
constexpr int64_t kMaxBlocks = INT32_MAX;  // of a grid's x; more rows take another launch

template <class Output>
cudaError_t launch_block_per_row(const float* x, float* y, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    for (int64_t row = 0; row < rows; row += kMaxBlocks) {
        const auto blocks = static_cast<unsigned>(std::min(rows - row, kMaxBlocks));
        block_per_row_kernel<kBlockThreads, Output>
            <<<blocks, kBlockThreads, 0, stream>>>(x + row * cols, y + row * cols, cols);
    }
    return cudaGetLastError();
}

// Softmax of each row of x into y (rows x cols, device memory). Asynchronous on stream.
// cudaErrorInvalidValue for a null pointer or a negative size.
inline cudaError_t block_per_row(const float* x, float* y, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
    return launch_block_per_row<Softmax>(x, y, rows, cols, stream);
}

// log(softmax(x)) of each row, without the detour that would lose small probabilities.
inline cudaError_t log_softmax(const float* x, float* y, int64_t rows, int64_t cols,
                               cudaStream_t stream) {
    return launch_block_per_row<LogSoftmax>(x, y, rows, cols, stream);
}

// log(sum of exp(x)) of each row of x (rows x cols) into y (rows). A row with +inf gives +inf, one
// of -inf alone -inf, one with NaN NaN. y must not overlap x.
inline cudaError_t log_sum_exp(const float* x, float* y, int64_t rows, int64_t cols,
                               cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    for (int64_t row = 0; row < rows; row += kMaxBlocks) {
        const auto blocks = static_cast<unsigned>(std::min(rows - row, kMaxBlocks));
        log_sum_exp_kernel<kBlockThreads>
            <<<blocks, kBlockThreads, 0, stream>>>(x + row * cols, y + row, cols);
    }
    return cudaGetLastError();
}

}  // namespace online_softmax
