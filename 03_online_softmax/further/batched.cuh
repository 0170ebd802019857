// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 03_online_softmax/further/batched, version 1.0
//
// The lesson's kernel, tuned: one block per row computes the same pair with less waiting.
//   new here   eight loads per thread in flight; a batch, and then the block, finds its maximum first, so
//              exponentials do not wait for each other; wide rows get more threads
//   traffic    2 reads + 1 write per element, as in the lesson
//   gain       largest with few long rows, where the one block of a row must hide the memory latency alone;
//              smallest where DRAM traffic limits the lesson as well
//   accepts    rows x cols floats, row-major; y may be x; -inf marks a masked element
//   source     Volkov 2010, "Better performance at lower occupancy"; the pairs of Milakov & Gimelshein 2018
#pragma once
#include "../../01_naive_softmax/further/batched_loads.cuh"
#include "../online_softmax.cuh"

namespace online_softmax {

// Stage 01 defines the batches of loads.
using naive_softmax::for_each_batch;
using naive_softmax::kAtOnce;
using naive_softmax::kMaxBlocks;
using naive_softmax::kResident;
using naive_softmax::load;
using naive_softmax::store;
using naive_softmax::threads_for;

// Returns the number to subtract from elements whose maximum is m: 0 if m is infinite, as inf - inf is NaN.
__host__ __device__ inline float base_of(float m) {
    return fabsf(m) == INFINITY ? 0.f : m;
}

// Merges kCount elements into a set. Finds the new maximum first, so that no exponential waits for another
// and d is rescaled only once (Merge rescales d for every element). Masked elements (-inf) add 0, +inf
// makes m and d infinite, and NaN makes d NaN (fmaxf drops a NaN, so m stays a number).
template <int kCount>
__host__ __device__ Normalizer merge_batch(Normalizer set, const float (&x)[kCount]) {
    float m = set.m;
    for (const float element : x) m = fmaxf(m, element);
    const float base = base_of(m);
    float d = set.d * expf(set.m - base);
    for (const float element : x) d += expf(element - base);
    return {m, d};
}

// Returns the larger of two numbers. fmaxf(NaN, number) is the number.
struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// The last step of softmax and of log_softmax: turns an element into its result, given the row's normalizer.
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

// Returns to every thread of the block the normalizer of the row of cols elements at x. Two reductions of
// floats replace one reduction of pairs, which would wait for exponentials at every step: after the first,
// each thread rescales its d to the block's maximum with one exponential, and the second adds the d.
template <int kThreads>
__device__ Normalizer block_normalizer(const float* x, int64_t cols) {
    using BlockReduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ Normalizer block;

    Normalizer mine{-INFINITY, 0.f};
    for_each_batch<kThreads>(cols, [&](int64_t first, auto batch) {
        float v[kAtOnce];
        load<kThreads>(x + first, batch, v);
        mine = merge_batch(mine, v);
    });
    const float m = BlockReduce(scratch).Reduce(mine.m, Max{});
    if (threadIdx.x == 0) block.m = m;  // only thread 0 has the maximum of the block
    __syncthreads();                    // block.m is written and scratch is free
    const float d = BlockReduce(scratch).Sum(mine.d * expf(mine.m - base_of(block.m)));
    if (threadIdx.x == 0) block.d = d;
    __syncthreads();
    return block;
}

// Returns the normalizer for the last step. A row with +inf has no softmax, so all of its results become NaN.
__device__ inline Normalizer for_division(Normalizer row) {
    return row.m == INFINITY ? Normalizer{NAN, NAN} : row;
}

// One block per row; each thread handles kAtOnce elements at a time.
template <int kThreads, class Output>
__global__ void __launch_bounds__(kThreads, kResident / kThreads)
    batched_kernel(const float* x, float* y, int64_t cols) {
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

template <class Output>
cudaError_t launch_batched(const float* x, float* y, int64_t rows, int64_t cols,
                           cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    const int threads = threads_for(cols);
    const auto kernel = threads == 128   ? batched_kernel<128, Output>
                        : threads == 256 ? batched_kernel<256, Output>
                        : threads == 512 ? batched_kernel<512, Output>
                                         : batched_kernel<1024, Output>;
    for (int64_t row = 0; row < rows; row += kMaxBlocks) {
        const auto blocks = static_cast<unsigned>(std::min(rows - row, kMaxBlocks));
        kernel<<<blocks, threads, 0, stream>>>(x + row * cols, y + row * cols, cols);
    }
    return cudaGetLastError();
}

// Writes the softmax of each row of x to y (rows x cols, device memory). Asynchronous on stream.
// Returns cudaErrorInvalidValue for a null pointer or a negative size.
inline cudaError_t batched(const float* x, float* y, int64_t rows, int64_t cols,
                           cudaStream_t stream) {
    return launch_batched<Softmax>(x, y, rows, cols, stream);
}

// Writes log(softmax(x)) of each row of x to y. The result is right even if the probability underflows.
inline cudaError_t log_softmax(const float* x, float* y, int64_t rows, int64_t cols,
                               cudaStream_t stream) {
    return launch_batched<LogSoftmax>(x, y, rows, cols, stream);
}

}  // namespace online_softmax
