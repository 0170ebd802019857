// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// Exercise 05.1: a row in the shared memory of a block
//
// A block owns a row that is too long for the registers of a warp. Read the row once, put its packs into shared memory
// with Layout::put, and find the maximum on the way. The two loops below take the packs from there with Layout::get.
#pragma once
#include <cmath>
#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

extern __shared__ __align__(128) unsigned char shared_bytes[];

// kPack neighbours that one access moves. Its address has to be a multiple of its size.
template <class T, int kPack>
struct __align__(sizeof(T) * kPack) Pack {
    using Element = T;
    static constexpr int kSize = kPack;
    T element[kPack];
};

// A layout keeps a row in shared memory between the loops over it: put() leaves pack p of `packs` there, get() brings it
// back to the same thread. This one moves 16 bytes as one access.
struct Whole {
    template <class Pack>
    __device__ static void put(const Pack& from, unsigned char* kept, int p, int /*packs*/) {
        reinterpret_cast<Pack*>(kept)[p] = from;
    }
    template <class Pack>
    __device__ static void get(Pack& to, unsigned char* kept, int p, int /*packs*/) {
        to = reinterpret_cast<Pack*>(kept)[p];
    }
};

// All threads of the block get the reduction of what they bring.
template <int kThreads, class Value, class Merge>
__device__ Value reduce_in_row(Value value, Merge merge) {
    using BlockReduce = cub::BlockReduce<Value, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ Value of_all;
    value = BlockReduce(scratch).Reduce(value, merge);
    if (threadIdx.x == 0) of_all = value;  // the only thread that has it
    __syncthreads();
    return of_all;
}

// A block per row: threadIdx.x walks its packs.
template <class Layout, class Pack, int kThreads>
__global__ void row_in_shared_kernel(const Pack* x, Pack* y, int cols) {
    using T = typename Pack::Element;
    const int packs = cols / Pack::kSize;
    const Pack* x_row = x + int64_t{blockIdx.x} * packs;
    Pack* y_row = y + int64_t{blockIdx.x} * packs;
    unsigned char* const kept = shared_bytes;

    float max = -INFINITY;
    // ---- your lines: each pack of x_row has one thread, which keeps it and looks for its maximum
    // ---- end of your lines
    max = reduce_in_row<kThreads>(max, [](float a, float b) { return fmaxf(a, b); });

    float sum = 0.f;
    for (int first = 0; first < packs; first += kThreads) {
        const int p = first + threadIdx.x;
        if (p < packs) {
            Pack pack;
            Layout::get(pack, kept, p, packs);  // no barrier: this thread has put it there itself
            for (const T element : pack.element) sum += expf(static_cast<float>(element) - max);
        }
    }
    sum = reduce_in_row<kThreads>(sum, [](float a, float b) { return a + b; });

    const float scale = 1.f / sum;
    for (int first = 0; first < packs; first += kThreads) {
        const int p = first + threadIdx.x;
        if (p < packs) {
            Pack pack;
            Layout::get(pack, kept, p, packs);
            for (T& element : pack.element) {
                element = static_cast<T>(expf(static_cast<float>(element) - max) * scale);
            }
            y_row[p] = pack;
        }
    }
}

// takes: cols <= 12288, cols % 4 == 0, x % 16 == 0, y % 16 == 0
inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols,
                          cudaStream_t stream) {
    if (rows == 0 || cols == 0) return cudaSuccess;
    constexpr int kThreads = 256, kPack = 4;
    using Row = Pack<float, kPack>;
    row_in_shared_kernel<Whole, Row, kThreads>
        <<<static_cast<unsigned>(rows), kThreads, cols * sizeof(float), stream>>>(
            reinterpret_cast<const Row*>(x), reinterpret_cast<Row*>(y), static_cast<int>(cols));
    return cudaGetLastError();
}
