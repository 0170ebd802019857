// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/vector_loads, version 2.0
//
// Rung 5: a thread loads four elements at a time, from memory and from shared memory.
//   new here   packs of four; A's tile is stored transposed, so that values from four rows of A are neighbours as well
//   traffic    as before, in a quarter of the requests: shared_load_requests 0.25 -> 0.0625 per 32 multiplications
//   limited by waiting for tiles: a block loads nothing while it multiplies, and only two fit (occupancy_percent 25)
#pragma once
#include "problem.cuh"

namespace batched_gemm {

using warp_softmax::Pack;  // neighbours in memory, moved by one instruction

constexpr int kVectorSide = 128, kVectorDepth = 16, kVectorThreads = 256;
// A row is one step along k. 4 unused elements end it: rows begin in different banks, and at multiples of 16 bytes.
using VectorTile = float[kVectorDepth][kVectorSide + 4];

// Copies the tile of x that begins at (line, first), in packs of kCount. A pack along k goes down a column of the tile.
template <int kCount, class T>
__device__ void load_lines(VectorTile& tile, const Matrices<const T>& x, int64_t line,
                           int64_t lines, int64_t first, int64_t k) {
#pragma unroll 4
    for (int from = 0; from < kVectorSide * kVectorDepth; from += kVectorThreads * kCount) {
        const int i = from + static_cast<int>(threadIdx.x) * kCount;
        const int at = x.transposed ? i % kVectorSide : i / kVectorDepth;
        const int p = x.transposed ? i / kVectorSide : i % kVectorDepth;
        Pack<T, kCount> pack = {};
        if (line + at < lines && first + p < k)
            pack = reinterpret_cast<const Pack<T, kCount>&>(x(line + at, first + p));
        float* const to = &tile[p][at];
        const int step = x.transposed ? 1 : kVectorSide + 4;
        for (int j = 0; j < kCount; ++j) to[j * step] = static_cast<float>(pack.element[j]);
    }
}

template <class T, int kCount>
__global__ void __launch_bounds__(kVectorThreads, 2) vector_loads_kernel(const Problem<T> g) {
    __shared__ __align__(16) VectorTile a_tile, b_tile;
    const int64_t row = int64_t{blockIdx.x} * kVectorSide, col = int64_t{blockIdx.y} * kVectorSide;
    auto a = g.a[blockIdx.z], b = g.b[blockIdx.z];
    b.transposed = !b.transposed;  // load_lines() counts lines along n in B, as it counts rows in A
    // A thread computes rows y to y + 3 and y + 64 to y + 67, and columns x to x + 3 and x + 64 to x + 67.
    const int y = static_cast<int>(threadIdx.x) / 16 * 4,
              x = static_cast<int>(threadIdx.x) % 16 * 4;
    float sums[8][8] = {};
    for (int64_t first = 0; first < g.k; first += kVectorDepth) {
        load_lines<kCount>(a_tile, a, row, g.m, first, g.k);
        load_lines<kCount>(b_tile, b, col, g.n, first, g.k);
        __syncthreads();
#pragma unroll
        for (int p = 0; p < kVectorDepth; ++p) {
            Pack<float, 4> of_a[2], of_b[2];
            for (int i = 0; i < 2; ++i) {
                of_a[i] = reinterpret_cast<Pack<float, 4>&>(a_tile[p][y + 64 * i]);
                of_b[i] = reinterpret_cast<Pack<float, 4>&>(b_tile[p][x + 64 * i]);
            }
            for (int i = 0; i < 64; ++i)
                sums[i / 8][i % 8] +=
                    of_a[i / 32].element[i / 8 % 4] * of_b[i / 4 % 2].element[i % 4];
        }
        __syncthreads();
    }
    const auto c = g.c[blockIdx.z];
#pragma unroll
    for (int i = 0; i < 64; ++i)
        write(g, c, row + y + i / 32 * 64 + i / 8 % 4, col + x + i / 4 % 2 * 64 + i % 4,
              sums[i / 8][i % 8]);
}

}  // namespace batched_gemm
