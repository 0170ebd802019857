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
// NaN in d stays there. Equal maxima need no exponential, and two infinite ones must have none:
// their difference is NaN.
struct Merge {
    __host__ __device__ Normalizer operator()(Normalizer a, Normalizer b) const {
        const float scale = a.m == b.m ? 1.f : expf(-fabsf(a.m - b.m));
        return a.m < b.m ? Normalizer{b.m, b.d + a.d * scale} : Normalizer{a.m, a.d + b.d * scale};
    }
};

// A few elements as a set. Masked ones (-inf) contribute nothing, +inf makes m and d infinite, and
// a NaN, which is nobody's maximum, makes d NaN.
template <int kCount>
__host__ __device__ Normalizer lift(const float (&x)[kCount]) {
    float m = -INFINITY;
    for (const float element : x) m = fmaxf(m, element);
    const float base = fabsf(m) == INFINITY ? 0.f : m;  // inf - inf would be NaN
    float d = 0.f;
    for (const float element : x) d += expf(element - base);
    return {m, d};
}

// The larger of two numbers; a NaN beside a number is left out.
struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

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

// How many elements a thread loads before it uses the first: that many loads wait for memory
// together. y may be x, so the compiler must not move a load before an earlier store by itself.
inline constexpr int kAtOnce = 8;

// Threads that a multiprocessor can hold at once; to have them all, a thread may use 32 registers, or
// 42, or 64.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || \
    __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
inline constexpr int kResident = 2048;
#elif __CUDA_ARCH__ >= 800
inline constexpr int kResident = 1536;
#else
inline constexpr int kResident = 1024;
#endif

// Whether a column of a batch is still in the row: in whole batches always, without a comparison.
struct Whole {
    __device__ bool has(int) const { return true; }
};
struct Part {
    int cols;
    __device__ bool has(int col) const { return col < cols; }
};

// Walks a row in batches of kAtOnce * kThreads columns: visit(first column, Whole or Part).
template <int kThreads, class Visit>
__device__ void for_each_batch(int64_t cols, Visit visit) {
    constexpr int kStep = kAtOnce * kThreads;
    int64_t first = 0;
    for (; first + kStep <= cols; first += kStep) visit(first, Whole{});
    if (first < cols) visit(first, Part{static_cast<int>(cols - first)});
}

// A thread's share of the batch at x: kAtOnce elements, kThreads apart. Behind the row's end -inf:
// it contributes nothing.
template <int kThreads, class Batch>
__device__ void load(const float* x, Batch batch, float (&v)[kAtOnce]) {
    const int mine = threadIdx.x;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
        v[i] = batch.has(mine + i * kThreads) ? (x + mine)[i * kThreads] : -INFINITY;
    }
}
template <int kThreads, class Batch>
__device__ void store(float* y, Batch batch, const float (&v)[kAtOnce]) {
    const int mine = threadIdx.x;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
        if (batch.has(mine + i * kThreads)) (y + mine)[i * kThreads] = v[i];
    }
}

// The normalizer of the row of cols elements at x, in every thread of the block. Two reductions of
// a number each, not one of pairs: the block's maximum once known, a thread needs one exponential,
// where merging pairs on the way takes one at every step (0.95 of the time at 4000 x 2016, an H200).
template <int kThreads>
__device__ Normalizer block_normalizer(const float* x, int64_t cols) {
    using BlockReduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ Normalizer block;

    Normalizer mine{-INFINITY, 0.f};
    for_each_batch<kThreads>(cols, [&](int64_t first, auto batch) {  // one pass where 02 makes two
        float v[kAtOnce];
        load<kThreads>(x + first, batch, v);
        mine = Merge{}(mine, lift(v));
    });
    const float m = BlockReduce(scratch).Reduce(mine.m, Max{});
    if (threadIdx.x == 0) block.m = m;  // only thread 0 has the block's result
    __syncthreads();
    const float d = BlockReduce(scratch).Sum(Merge{}(mine, {block.m, 0.f}).d);
    if (threadIdx.x == 0) block.d = d;
    __syncthreads();
    return block;
}

// +inf has no ratio to anything: the whole row becomes NaN.
__device__ inline Normalizer for_division(Normalizer row) {
    return row.m == INFINITY ? Normalizer{NAN, NAN} : row;
}

// One block per row, kAtOnce elements of each thread at a time.
template <int kThreads, class Output>
__global__ void __launch_bounds__(kThreads, kResident / kThreads)
    block_per_row_kernel(const float* x, float* y, int64_t cols) {
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;

    const Output output(for_division(block_normalizer<kThreads>(x_row, cols)));

    for_each_batch<kThreads>(cols, [&](int64_t first, auto batch) {
        float v[kAtOnce];
        load<kThreads>(x_row + first, batch, v);
        for (float& element : v) element = output(element);
        store<kThreads>(y_row + first, batch, v);
    });
}

// How many threads work on a row of that many columns: a batch each, or a few.
inline int threads_for(int64_t cols) {
    return cols <= 3072 ? 128 : cols <= 6144 ? 256 : cols <= 12288 ? 512 : 1024;
}

inline constexpr int64_t kMaxBlocks = INT32_MAX;  // of a grid; more rows take another launch

template <class Output>
cudaError_t launch_block_per_row(const float* x, float* y, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    const int threads = threads_for(cols);
    const auto kernel = threads == 128   ? block_per_row_kernel<128, Output>
                        : threads == 256 ? block_per_row_kernel<256, Output>
                        : threads == 512 ? block_per_row_kernel<512, Output>
                                         : block_per_row_kernel<1024, Output>;
    for (int64_t row = 0; row < rows; row += kMaxBlocks) {
        const auto blocks = static_cast<unsigned>(std::min(rows - row, kMaxBlocks));
        kernel<<<blocks, threads, 0, stream>>>(x + row * cols, y + row * cols, cols);
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

}  // namespace online_softmax
