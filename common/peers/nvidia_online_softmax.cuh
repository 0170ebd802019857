// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// The kernels that NVIDIA/online-softmax, the code of the 2018 paper, measures against each other:
// written anew from their description, to be compared with. Compiled with -use_fast_math, as there.
//   design     a block per vector, scalar strided loads, cub::BlockReduce, __expf, __fdividef;
//              at least eight elements a thread: blocks of 32 to 256 threads
//   traffic    naive 2 + 1, safe 3 + 1, online 2 + 1 accesses per element
//   accepts    float, cols below 2^31; x and y must not overlap
//   limits     the maximum starts at -FLT_MAX, so a row of -inf alone divides 0 by 0: NaN;
//              naive overflows where exp(x) does, and 1 / d is 0 from d = 2^126 on (__fdividef);
//              subnormal results are 0; __expf errs by 2 + 1.16 |x - m| units of the last place
//   changed    the original multiplies vector and length in 32 bits, which 2^31 elements overflow
//   source     Milakov & Gimelshein 2018, Algorithms 1 to 3, and that repository's description
#pragma once
#include <cfloat>
#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

namespace nvidia_online_softmax {

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

struct __align__(8) Pair {
    float m;
    float d;
};

// Rescales the pair of the smaller maximum; {-FLT_MAX, 0} is neutral.
struct MergePairs {
    __device__ Pair operator()(Pair a, Pair b) const {
        const bool a_leads = a.m > b.m;
        const Pair larger = a_leads ? a : b;
        const Pair smaller = a_leads ? b : a;
        return {larger.m, larger.d + smaller.d * __expf(smaller.m - larger.m)};
    }
};

// The block's value in every thread.
template <int kThreads, class T, class Op>
__device__ T reduce_and_share(T mine, Op op) {
    using BlockReduce = cub::BlockReduce<T, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ T total;
    mine = BlockReduce(scratch).Reduce(mine, op);
    if (threadIdx.x == 0) total = mine;
    __syncthreads();
    return total;
}

template <int kThreads>
__launch_bounds__(kThreads)
    __global__ void naive_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
    x += static_cast<int64_t>(blockIdx.x) * cols;
    y += static_cast<int64_t>(blockIdx.x) * cols;

    float mine = 0.f;
    for (int col = threadIdx.x; col < cols; col += kThreads) mine += __expf(x[col]);
    const float inverse = __fdividef(1.f, reduce_and_share<kThreads>(mine, Sum{}));

    for (int col = threadIdx.x; col < cols; col += kThreads) y[col] = __expf(x[col]) * inverse;
}

template <int kThreads>
__launch_bounds__(kThreads)
    __global__ void safe_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
    x += static_cast<int64_t>(blockIdx.x) * cols;
    y += static_cast<int64_t>(blockIdx.x) * cols;

    float largest = -FLT_MAX;
    for (int col = threadIdx.x; col < cols; col += kThreads) largest = fmaxf(largest, x[col]);
    const float m = reduce_and_share<kThreads>(largest, Max{});

    float mine = 0.f;
    for (int col = threadIdx.x; col < cols; col += kThreads) mine += __expf(x[col] - m);
    const float inverse = __fdividef(1.f, reduce_and_share<kThreads>(mine, Sum{}));

    for (int col = threadIdx.x; col < cols; col += kThreads) {
        y[col] = __expf(x[col] - m) * inverse;
    }
}

template <int kThreads>
__launch_bounds__(kThreads)
    __global__ void online_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
    x += static_cast<int64_t>(blockIdx.x) * cols;
    y += static_cast<int64_t>(blockIdx.x) * cols;

    Pair mine{-FLT_MAX, 0.f};
    for (int col = threadIdx.x; col < cols; col += kThreads) {
        mine = MergePairs{}(mine, Pair{x[col], 1.f});
    }
    const Pair row = reduce_and_share<kThreads>(mine, MergePairs{});
    const float inverse = __fdividef(1.f, row.d);

    for (int col = threadIdx.x; col < cols; col += kThreads) {
        y[col] = __expf(x[col] - row.m) * inverse;
    }
}

// Threads of a block: as many of 256, 128, 64 as leave each at least eight elements, else 32.
inline int threads_for(int64_t cols) {
    for (const int threads : {256, 128, 64}) {
        if (cols / 8 >= threads) return threads;
    }
    return 32;
}

// A kernel in all four block sizes.
using Kernel = void (*)(const float*, float*, int);
struct Family {
    Kernel of_32, of_64, of_128, of_256;
};

inline cudaError_t launch(const Family& family, const float* x, float* y, int64_t rows,
                          int64_t cols, cudaStream_t stream) {
    if (rows < 0 || cols < 0 || rows > INT32_MAX || cols > INT32_MAX) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    const int threads = threads_for(cols);
    const Kernel kernel = threads == 256   ? family.of_256
                          : threads == 128 ? family.of_128
                          : threads == 64  ? family.of_64
                                           : family.of_32;
    kernel<<<static_cast<unsigned>(rows), static_cast<unsigned>(threads), 0, stream>>>(
        x, y, static_cast<int>(cols));
    return cudaGetLastError();
}

inline cudaError_t naive(const float* x, float* y, int64_t rows, int64_t cols,
                         cudaStream_t stream) {
    return launch({naive_kernel<32>, naive_kernel<64>, naive_kernel<128>, naive_kernel<256>}, x, y,
                  rows, cols, stream);
}

inline cudaError_t safe(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch({safe_kernel<32>, safe_kernel<64>, safe_kernel<128>, safe_kernel<256>}, x, y,
                  rows, cols, stream);
}

inline cudaError_t online(const float* x, float* y, int64_t rows, int64_t cols,
                          cudaStream_t stream) {
    return launch({online_kernel<32>, online_kernel<64>, online_kernel<128>, online_kernel<256>}, x,
                  y, rows, cols, stream);
}

}  // namespace nvidia_online_softmax
