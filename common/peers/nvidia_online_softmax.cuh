// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// The kernels that NVIDIA/online-softmax, the code of the 2018 paper, measures against each other:
// written anew from their description, to be compared with. Compiled with -use_fast_math, as there.
//   design     a block per vector, scalar strided loads, cub::BlockReduce, __expf, __fdividef;
//              at least eight elements a thread: blocks of 32 to 256 threads
//   traffic    naive 2 + 1, safe 3 + 1, online 2 + 1 accesses per element; with the best five, 2 and 1
//   accepts    float, cols below 2^31; x and y must not overlap; up to five best
//   limits     the maximum starts at -FLT_MAX, so a row of -inf alone divides 0 by 0: NaN;
//              naive overflows where exp(x) does, and 1 / d is 0 from d = 2^126 on (__fdividef);
//              subnormal results are 0; __expf errs by 2 + 1.16 |x - m| units of the last place;
//              among equal elements any may be taken, and -inf, NaN or nothing at all has the column -1
//   changed    the original multiplies vector and length in 32 bits, which 2^31 elements overflow
//   source     Milakov & Gimelshein 2018, Algorithms 1 to 4, and that repository's description
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

// The best of what a thread has seen, kept in order by moving up what is new.
constexpr int kPlaces = 5;
struct List {
    int column[kPlaces];
    float element[kPlaces];

    __device__ void clear() {
        for (int i = 0; i < kPlaces; ++i) {
            column[i] = -1;
            element[i] = -FLT_MAX;
        }
    }
    __device__ void insert(float x, int col) {
        if (!(x > element[kPlaces - 1])) return;
        element[kPlaces - 1] = x;
        column[kPlaces - 1] = col;
        for (int i = kPlaces - 2; i >= 0; --i) {
            if (!(element[i + 1] > element[i])) continue;
            const float up = element[i + 1];
            const int up_col = column[i + 1];
            element[i + 1] = element[i];
            column[i + 1] = column[i];
            element[i] = up;
            column[i] = up_col;
        }
    }
};

// A list and a pair; of the safe kernel, whose maximum is known before, all pairs have the same m.
struct ListAndPair {
    List list;
    Pair pair;
};
struct MergeListsAndPairs {
    __device__ ListAndPair operator()(const ListAndPair& a, const ListAndPair& b) const {
        ListAndPair both{a.list, MergePairs{}(a.pair, b.pair)};
        for (int i = 0; i < kPlaces; ++i) both.list.insert(b.list.element[i], b.list.column[i]);
        return both;
    }
};

// kOnline: the maximum is found on the way; else by a loop of its own.
template <int kThreads, bool kOnline>
__launch_bounds__(kThreads)
    __global__ void topk_kernel(const float* __restrict__ x, float* __restrict__ values,
                                int* __restrict__ indices, int cols, int k) {
    x += static_cast<int64_t>(blockIdx.x) * cols;
    values += static_cast<int64_t>(blockIdx.x) * k;
    indices += static_cast<int64_t>(blockIdx.x) * k;

    ListAndPair mine;
    mine.list.clear();
    mine.pair = {-FLT_MAX, 0.f};
    if constexpr (!kOnline) {
        float largest = -FLT_MAX;
        for (int col = threadIdx.x; col < cols; col += kThreads) largest = fmaxf(largest, x[col]);
        mine.pair.m = reduce_and_share<kThreads>(largest, Max{});
    }
    for (int col = threadIdx.x; col < cols; col += kThreads) {
        mine.list.insert(x[col], col);
        if constexpr (kOnline) {
            mine.pair = MergePairs{}(mine.pair, Pair{x[col], 1.f});
        } else {
            mine.pair.d += __expf(x[col] - mine.pair.m);
        }
    }
    using BlockReduce = cub::BlockReduce<ListAndPair, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    const ListAndPair row = BlockReduce(scratch).Reduce(mine, MergeListsAndPairs{});
    if (threadIdx.x != 0) return;
    const float inverse = __fdividef(1.f, row.pair.d);
    for (int i = 0; i < kPlaces; ++i) {
        if (i >= k) return;
        values[i] = __expf(row.list.element[i] - row.pair.m) * inverse;
        indices[i] = row.list.column[i];
    }
}

// Threads of a block: as many of 256, 128, 64 as leave each at least so many elements, else 32.
inline int threads_for(int64_t cols, int64_t least = 8) {
    for (const int threads : {256, 128, 64}) {
        if (cols / least >= threads) return threads;
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

// The k best of each row: their probabilities and columns, rows x k each.
constexpr int64_t kLeastForTopk = 16;  // elements of a thread
template <bool kOnline>
cudaError_t topk(const float* x, float* values, int* indices, int64_t rows, int64_t cols, int64_t k,
                 cudaStream_t stream) {
    if (rows < 0 || cols < 0 || k < 0 || rows > INT32_MAX || cols > INT32_MAX || k > cols ||
        k > kPlaces)
        return cudaErrorInvalidValue;
    if (rows == 0 || k == 0) return cudaSuccess;
    if (x == nullptr || values == nullptr || indices == nullptr) return cudaErrorInvalidValue;
    const int threads = threads_for(cols, kLeastForTopk);
    const auto kernel = threads == 256   ? topk_kernel<256, kOnline>
                        : threads == 128 ? topk_kernel<128, kOnline>
                        : threads == 64  ? topk_kernel<64, kOnline>
                                         : topk_kernel<32, kOnline>;
    kernel<<<static_cast<unsigned>(rows), static_cast<unsigned>(threads), 0, stream>>>(
        x, values, indices, static_cast<int>(cols), static_cast<int>(k));
    return cudaGetLastError();
}

}  // namespace nvidia_online_softmax
