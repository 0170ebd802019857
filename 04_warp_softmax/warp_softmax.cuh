// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax, version 1.0
//
// A row lives in the registers of one warp: it is read once and written once.
//   new here   32 lanes hold a row and exchange values by shuffles; loads and stores of 16 bytes; 16-bit types
//   traffic    03: 2 reads + 1 write per element  ->  04: 1 read + 1 write
//   accepts    rows x cols, row-major, of float, __half or __nv_bfloat16; up to 2048 columns; y may be x
//   rows       as in 02: with NaN or +inf, or of -inf alone, they come out all NaN
//   source     OneFlow's oneflow/core/cuda/softmax.cuh (2021), warp tier: its idea, rebuilt
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace warp_softmax {

// kPack neighbours that one access moves. Its address has to be a multiple of its size.
template <class T, int kPack>
struct __align__(sizeof(T) * kPack) Pack {
    using Element = T;
    static constexpr int kSize = kPack;
    T element[kPack];
};

// Elements that a lane may hold. With more, registers run out, and too few warps fit on the GPU.
constexpr int kMaxElements = 64;

// All lanes get the largest of what they bring, or the sum: in each of five steps a lane takes what the
// lane has whose number differs in one bit.
__device__ inline float warp_max(float value) {
    for (int bit = 16; bit > 0; bit /= 2) {
        value = fmaxf(value, __shfl_xor_sync(~0u, value, bit));  // ~0u: all 32 lanes take part
    }
    return value;
}
__device__ inline float warp_sum(float value) {
    for (int bit = 16; bit > 0; bit /= 2) {
        value += __shfl_xor_sync(~0u, value, bit);
    }
    return value;
}

// One warp per row of `packs` packs, up to kPacks for each lane. threadIdx.x is the lane and walks columns,
// threadIdx.y is the row in the block.
template <class T, int kPack, int kPacks>
__global__ void warp_per_row_kernel(const Pack<T, kPack>* x, Pack<T, kPack>* y, int64_t rows,
                                    int packs) {
    const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    if (row >= rows) return;  // the whole warp: it leaves no lane waiting in a shuffle
    const Pack<T, kPack>* x_row = x + row * packs;
    Pack<T, kPack>* y_row = y + row * packs;

    // Neighbouring lanes take neighbouring packs. Behind the row's end a lane holds -inf: it is no
    // maximum, and its exponential adds 0.
    float held[kPacks][kPack];
    float max = -INFINITY;
#pragma unroll  // an array is in registers only where every index is known to the compiler
    for (int i = 0; i < kPacks; ++i) {
        const int p = i * 32 + threadIdx.x;
        Pack<T, kPack> pack;
        for (T& element : pack.element) element = static_cast<T>(-INFINITY);
        if (p < packs) pack = x_row[p];  // tested inside: all lanes make the same trips
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            held[i][j] = static_cast<float>(pack.element[j]);
            max = fmaxf(max, held[i][j]);
        }
    }
    max = warp_max(max);  // no shared memory and no barrier, which a block needs

    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            held[i][j] = expf(held[i][j] - max);  // kept: 02 and 03 compute it again to write it
            sum += held[i][j];
        }
    }
    sum = warp_sum(sum);

    const float scale = 1.f / sum;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const int p = i * 32 + threadIdx.x;
        Pack<T, kPack> pack;
#pragma unroll
        for (int j = 0; j < kPack; ++j) pack.element[j] = static_cast<T>(held[i][j] * scale);
        if (p < packs) y_row[p] = pack;
    }
}

// Launches the kernel of the fewest packs a lane (1, 2, 4, ...) that 32 lanes hold a row with.
template <class T, int kPack, int kPacks = 1>
cudaError_t launch_packs(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    if constexpr (kPacks * kPack > kMaxElements) {
        return cudaErrorInvalidValue;  // more columns than a warp holds
    } else if (cols > 32 * kPacks * kPack) {
        return launch_packs<T, kPack, 2 * kPacks>(x, y, rows, cols, stream);
    } else {
        constexpr int64_t kRows = 4;                     // of a block
        constexpr int64_t kMaxRows = kRows * INT32_MAX;  // of a grid; more take another launch
        for (int64_t row = 0; row < rows; row += kMaxRows) {
            const int64_t some = std::min(rows - row, kMaxRows);
            warp_per_row_kernel<T, kPack, kPacks>
                <<<static_cast<unsigned>((some + kRows - 1) / kRows), dim3(32, kRows), 0, stream>>>(
                    reinterpret_cast<const Pack<T, kPack>*>(x + row * cols),
                    reinterpret_cast<Pack<T, kPack>*>(y + row * cols), some,
                    static_cast<int>(cols / kPack));
        }
        return cudaGetLastError();
    }
}

// Whether rows of cols elements at `address` consist of packs of kPack, each at a multiple of its size.
template <int kPack, class T>
bool takes_packs(const T* address, int64_t cols) {
    return cols % kPack == 0 && reinterpret_cast<uintptr_t>(address) % (kPack * sizeof(T)) == 0;
}

// Softmax of each row of x into y (rows x cols, device memory). Asynchronous on stream.
// cudaErrorInvalidValue for a null pointer, a misaligned pointer, a negative size, or too many columns.
// takes: cols <= 2048
template <class T>
cudaError_t softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    static_assert(sizeof(T) <= sizeof(float), "it is computed in float");
    constexpr int kPack = 16 / sizeof(T);  // 16 bytes: the widest access of a lane on a Hopper
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    if (!takes_packs<1>(x, cols) || !takes_packs<1>(y, cols)) return cudaErrorInvalidValue;
    return takes_packs<kPack>(x, cols) && takes_packs<kPack>(y, cols)
               ? launch_packs<T, kPack>(x, y, rows, cols, stream)
               : launch_packs<T, 1>(x, y, rows, cols, stream);  // the same kernel, narrower packs
}

}  // namespace warp_softmax
