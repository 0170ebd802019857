// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// Exercise 04.3: store 16 bytes per lane
//
// Here a pack has four floats, and `held` has their exponentials. Divide by the row's sum and write the row: each pack with
// one store of 16 bytes, to the place it was read from, and nothing beyond the row's end.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

// kPack neighbours that one access moves. Its address has to be a multiple of its size.
template <class T, int kPack>
struct __align__(sizeof(T) * kPack) Pack {
    using Element = T;
    static constexpr int kSize = kPack;
    T element[kPack];
};

// All lanes get the largest of what they bring, or the sum.
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

// One warp per row of `packs` packs, up to kPacks for each lane. threadIdx.x is the lane and walks columns, threadIdx.y is
// the row in the block.
template <class T, int kPack, int kPacks>
__global__ void warp_per_row_kernel(const Pack<T, kPack>* x, Pack<T, kPack>* y, int64_t rows,
                                    int packs) {
    const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    if (row >= rows) return;  // the whole warp returns, so no lane waits in a shuffle
    const Pack<T, kPack>* x_row = x + row * packs;
    Pack<T, kPack>* y_row = y + row * packs;

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
    max = warp_max(max);

    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            held[i][j] = expf(held[i][j] - max);
            sum += held[i][j];
        }
    }
    sum = warp_sum(sum);

    // ---- your lines: y_row[i * 32 + threadIdx.x] becomes held[i] / sum
    // ---- end of your lines
}

// Launches the kernel of the fewest packs a lane (1, 2, 4, ...) that 32 lanes hold a row with.
template <int kPack, int kPacks = 1>
cudaError_t launch_packs(const float* x, float* y, int64_t rows, int64_t cols,
                         cudaStream_t stream) {
    constexpr int kMaxElements = 32;  // of a lane
    if constexpr (kPacks * kPack > kMaxElements) {
        return cudaErrorInvalidValue;  // the row has more columns than a warp holds
    } else if (cols > 32 * kPacks * kPack) {
        return launch_packs<kPack, 2 * kPacks>(x, y, rows, cols, stream);
    } else {
        constexpr int64_t kRows = 4;  // per block
        const auto blocks = static_cast<unsigned>((rows + kRows - 1) / kRows);
        warp_per_row_kernel<float, kPack, kPacks><<<blocks, dim3(32, kRows), 0, stream>>>(
            reinterpret_cast<const Pack<float, kPack>*>(x),
            reinterpret_cast<Pack<float, kPack>*>(y), rows, static_cast<int>(cols / kPack));
        return cudaGetLastError();
    }
}

// takes: cols <= 1024, cols % 4 == 0, x % 16 == 0, y % 16 == 0
inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols,
                          cudaStream_t stream) {
    if (rows == 0 || cols == 0) return cudaSuccess;
    return launch_packs<4>(x, y, rows, cols, stream);
}
