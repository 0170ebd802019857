// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 01_naive_softmax/further/batched_loads, version 1.0
//
// The same block per row, with eight loads of each thread in flight in both loops.
//   new here   all loads of a batch come before its first use; a wide row gets more threads
//   traffic    2 reads + 1 write per element, as in the lesson
//   gain       most with few long rows, where the loads of one block are all that hides the wait for memory;
//              some with many rows, too, though it moves the same bytes
//   accepts    rows x cols floats, row-major; y may be x; overflows as the lesson does
//   source     Volkov 2010, "Better performance at lower occupancy"
#pragma once
#include "../naive_softmax.cuh"

namespace naive_softmax {

// How many elements a thread loads before it uses the first: that many loads wait for memory
// together. y may be x, so the compiler must not move a load before an earlier store by itself.
inline constexpr int kAtOnce = 8;

// Threads that a multiprocessor can hold at once. It has 65,536 registers for them: to have them all, a
// thread may use that many divided by this.
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
// its exp adds 0.
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

// One block per row, kAtOnce elements of each thread at a time.
template <int kThreads>
__global__ void __launch_bounds__(kThreads, kResident / kThreads)
    batched_loads_kernel(const float* x, float* y, int64_t cols) {
    using BlockReduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ float row_sum;

    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;

    float sum = 0.f;
    for_each_batch<kThreads>(cols, [&](int64_t first, auto batch) {
        float v[kAtOnce];
        load<kThreads>(x_row + first, batch, v);
        for (const float element : v) sum += expf(element);
    });
    sum = BlockReduce(scratch).Sum(sum);
    if (threadIdx.x == 0) row_sum = sum;
    __syncthreads();

    const float scale = 1.f / row_sum;
    for_each_batch<kThreads>(cols, [&](int64_t first, auto batch) {
        float v[kAtOnce];
        load<kThreads>(x_row + first, batch, v);
        for (float& element : v) element = expf(element) * scale;
        store<kThreads>(y_row + first, batch, v);
    });
}

// How many threads work on a row of that many columns: a batch each, or a few.
inline int threads_for(int64_t cols) {
    return cols <= 3072 ? 128 : cols <= 6144 ? 256 : cols <= 12288 ? 512 : 1024;
}

inline constexpr int64_t kMaxBlocks = INT32_MAX;  // of a grid; more rows take another launch

// Softmax of each row of x into y (rows x cols, device memory). Asynchronous on stream.
// cudaErrorInvalidValue for a null pointer or a negative size.
inline cudaError_t batched_loads(const float* x, float* y, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    const int threads = threads_for(cols);
    const auto kernel = threads == 128   ? batched_loads_kernel<128>
                        : threads == 256 ? batched_loads_kernel<256>
                        : threads == 512 ? batched_loads_kernel<512>
                                         : batched_loads_kernel<1024>;
    for (int64_t row = 0; row < rows; row += kMaxBlocks) {
        const auto blocks = static_cast<unsigned>(std::min(rows - row, kMaxBlocks));
        kernel<<<blocks, threads, 0, stream>>>(x + row * cols, y + row * cols, cols);
    }
    return cudaGetLastError();
}

}  // namespace naive_softmax
