// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax, version 1.0
//
// Softmax that keeps a row in the registers of one warp, so that it reads x once and writes y once.
//   new here   32 lanes hold a row and exchange values by shuffles; loads and stores of 16 bytes; 16-bit types
//   traffic    03: 2 reads + 1 write per element  ->  04: 1 read + 1 write
//   accepts    rows x cols, row-major, of float, __half or __nv_bfloat16; up to 2048 columns; y may be x
//   rows       as in 02: rows with NaN, rows with +inf and rows of -inf alone become all NaN
//   source     OneFlow's oneflow/core/cuda/softmax.cuh (2021), warp tier: its idea, rebuilt
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace warp_softmax {

// kPack neighbouring elements, moved by one access. The address of a pack must be a multiple of its size.
template <class T, int kPack>
struct __align__(sizeof(T) * kPack) Pack {
    using Element = T;
    static constexpr int kSize = kPack;
    T element[kPack];
};

// Maximum number of elements in a lane. With more, too few warps would fit into a multiprocessor's registers.
constexpr int kMaxElements = 64;

// Return the maximum, or the sum, of the 32 lanes' values to every lane. In each of five steps a lane
// combines its value with that of the lane whose index differs in one bit.
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

// One warp per row of `packs` packs; a lane holds up to kPacks packs. threadIdx.x is the lane, threadIdx.y is
// the row within the block.
template <class T, int kPack, int kPacks>
__global__ void warp_per_row_kernel(const Pack<T, kPack>* x, Pack<T, kPack>* y, int64_t rows,
                                    int packs) {
    const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    if (row >= rows) return;  // the whole warp returns, so no lane waits in a shuffle
    const Pack<T, kPack>* x_row = x + row * packs;
    Pack<T, kPack>* y_row = y + row * packs;

    // Neighbouring lanes take neighbouring packs. Past the row's end a lane holds -inf, which is never the
    // maximum and whose exponential adds 0.
    float held[kPacks][kPack];
    float max = -INFINITY;
#pragma unroll  // an array stays in registers only if the compiler knows every index
    for (int i = 0; i < kPacks; ++i) {
        const int p = i * 32 + threadIdx.x;
        Pack<T, kPack> pack;
        for (T& element : pack.element) element = static_cast<T>(-INFINITY);
        if (p < packs) pack = x_row[p];  // the test is inside: all lanes make the same trips
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            held[i][j] = static_cast<float>(pack.element[j]);
            max = fmaxf(max, held[i][j]);
        }
    }
    max = warp_max(max);  // a block would need shared memory and a barrier

    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            held[i][j] = expf(held[i][j] - max);  // kept: 02 and 03 compute it twice
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

// Launches the kernel with the fewest packs per lane (1, 2, 4, ...) with which 32 lanes can hold a row.
template <class T, int kPack, int kPacks = 1>
cudaError_t launch_packs(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    if constexpr (kPacks * kPack > kMaxElements) {
        return cudaErrorInvalidValue;  // the row has more columns than a warp holds
    } else if (cols > 32 * kPacks * kPack) {
        return launch_packs<T, kPack, 2 * kPacks>(x, y, rows, cols, stream);
    } else {
        constexpr int64_t kRows = 4;                     // per block
        constexpr int64_t kMaxRows = kRows * INT32_MAX;  // per grid; more take another launch
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

// True if the rows of cols elements at `address` consist of whole packs of kPack elements, all aligned.
template <int kPack, class T>
bool takes_packs(const T* address, int64_t cols) {
    return cols % kPack == 0 && reinterpret_cast<uintptr_t>(address) % (kPack * sizeof(T)) == 0;
}

// Writes the softmax of each row of x to y (rows x cols, device memory). Asynchronous on stream. Returns
// cudaErrorInvalidValue for a null pointer, a misaligned pointer, a negative size, or too many columns.
// takes: cols <= 2048
template <class T>
cudaError_t softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    static_assert(sizeof(T) <= sizeof(float), "the arithmetic is in float, no type is wider");
    constexpr int kPack = 16 / sizeof(T);  // 16 bytes: the widest access of a lane up to Hopper
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    if (!takes_packs<1>(x, cols) || !takes_packs<1>(y, cols)) return cudaErrorInvalidValue;
    return takes_packs<kPack>(x, cols) && takes_packs<kPack>(y, cols)
               ? launch_packs<T, kPack>(x, y, rows, cols, stream)
               : launch_packs<T, 1>(x, y, rows, cols, stream);  // the same kernel, narrower packs
}

}  // namespace warp_softmax
