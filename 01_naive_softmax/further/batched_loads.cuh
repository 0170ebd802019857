// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 01_naive_softmax/further/batched_loads, version 1.0
//
// The lesson's block per row, with eight loads per thread in flight.
//   new here   a thread issues all loads of a batch before it uses the first; wide rows get more threads
//   traffic    2 reads + 1 write per element, as in the lesson
//   gain       largest with few long rows, where the one block of a row must hide the memory latency alone;
//              smaller with many rows
//   accepts    rows x cols floats, row-major; y may be x; overflows as the lesson does
//   source     Volkov 2010, "Better performance at lower occupancy"
#pragma once
#include "../naive_softmax.cuh"

namespace naive_softmax {

// Number of elements that a thread loads before it uses the first, so that the loads are in flight together.
// The compiler cannot do this by itself: y may be x, so it must not move a load before a store.
inline constexpr int kAtOnce = 8;

// Maximum number of threads resident on a multiprocessor. They share its 65,536 registers, so the kernel reaches
// this number only if each thread uses at most 65,536 / kResident registers.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || \
    __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
inline constexpr int kResident = 2048;
#elif __CUDA_ARCH__ >= 800
inline constexpr int kResident = 1536;
#else
inline constexpr int kResident = 1024;
#endif

// Batches of columns: has(col) is true if column col of the batch is inside the row. Whole needs no comparison.
struct Whole {
    __device__ bool has(int) const { return true; }
};
struct Part {
    int cols;
    __device__ bool has(int col) const { return col < cols; }
};

// Calls visit(first column, Whole or Part) for each batch of kAtOnce * kThreads columns of a row.
template <int kThreads, class Visit>
__device__ void for_each_batch(int64_t cols, Visit visit) {
    constexpr int kStep = kAtOnce * kThreads;
    int64_t first = 0;
    for (; first + kStep <= cols; first += kStep) visit(first, Whole{});
    if (first < cols) visit(first, Part{static_cast<int>(cols - first)});
}

// Loads this thread's kAtOnce elements of the batch at x, which are kThreads apart. Elements past the row's end
// become -inf, whose exponential is 0.
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

// One block per row; each thread handles kAtOnce elements at a time.
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

// Returns the number of threads for a row of `cols` columns. Up to 12288 columns, three batches suffice.
inline int threads_for(int64_t cols) {
    return cols <= 3072 ? 128 : cols <= 6144 ? 256 : cols <= 12288 ? 512 : 1024;
}

inline constexpr int64_t kMaxBlocks = INT32_MAX;  // per grid; further rows take another launch

// Writes the softmax of each row of x to y (rows x cols, device memory). Asynchronous on stream.
// Returns cudaErrorInvalidValue for a null pointer or a negative size.
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
