// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// Exercise 05.2: a layout without bank conflicts
//
// Packs of two floats are kept in shared memory element by element. The array `row` has room for 2 * packs floats. Return
// the place of element i of pack p, in either layout: packed keeps the row's order, interleaved keeps the first elements of
// all packs, followed by the second elements. The check runs the interleaved one and counts its bank conflicts.
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

// Element by element. Packed: in the row's order. Interleaved: all first elements of the packs, then all second elements.
template <bool kInterleaved>
struct ByElement {
    template <class Pack>
    __device__ static auto& place(unsigned char* kept, int p, int i, int packs) {
        auto* row = reinterpret_cast<typename Pack::Element*>(kept);
        // ---- your lines: return row[...], the place of element i of pack p, for both layouts
        return row[p];
        // ---- end of your lines
    }
    template <class Pack>
    __device__ static void put(const Pack& from, unsigned char* kept, int p, int packs) {
        for (int i = 0; i < Pack::kSize; ++i) place<Pack>(kept, p, i, packs) = from.element[i];
    }
    template <class Pack>
    __device__ static void get(Pack& to, unsigned char* kept, int p, int packs) {
        for (int i = 0; i < Pack::kSize; ++i) to.element[i] = place<Pack>(kept, p, i, packs);
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
    for (int first = 0; first < packs; first += kThreads) {
        const int p = first + threadIdx.x;
        if (p < packs) {
            const Pack pack = x_row[p];
            Layout::put(pack, kept, p, packs);
            for (const T element : pack.element) max = fmaxf(max, static_cast<float>(element));
        }
    }
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

// takes: cols <= 12288, cols % 2 == 0, x % 8 == 0, y % 8 == 0
inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols,
                          cudaStream_t stream) {
    if (rows == 0 || cols == 0) return cudaSuccess;
    constexpr int kThreads = 256, kPack = 2;
    using Row = Pack<float, kPack>;
    row_in_shared_kernel<ByElement<true>, Row, kThreads>
        <<<static_cast<unsigned>(rows), kThreads, cols * sizeof(float), stream>>>(
            reinterpret_cast<const Row*>(x), reinterpret_cast<Row*>(y), static_cast<int>(cols));
    return cudaGetLastError();
}
