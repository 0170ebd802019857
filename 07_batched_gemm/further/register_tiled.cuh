// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/register_tiled, version 2.0
//
// A tuned version of the rung vector_loads.
//   new here   a thread requests all its packs of a tile before it stores the first; packs of 16 bytes; C is written in
//              packs
//   traffic    as vector_loads: 2k / 128 loads per element of C
//   accepts    what vector_loads accepts
//   source     Volkov & Demmel 2008
#pragma once
#include "tiles.cuh"

namespace batched_gemm {

template <class T, int kCount>
__device__ float4 four_of(const Pack<T, kCount>& pack, int i) {
    return make_float4(static_cast<float>(pack.element[i]), static_cast<float>(pack.element[i + 1]),
                       static_cast<float>(pack.element[i + 2]),
                       static_cast<float>(pack.element[i + 3]));
}

// Loads kRows lines of kCols elements of x, which has `lines` lines of `length` elements, from element `at` of line
// `line` on; elements beyond x are zeros. Calls put(row, col, pack) once for each pack, in one of the block's threads.
// A thread requests kAtOnce packs before it waits for the first.
template <int kRows, int kCols, int kCount, class T, class Put>
__device__ void for_each_pack(const Matrices<const T>& x, int64_t line, int64_t lines, int64_t at,
                              int64_t length, Put put) {
    constexpr int kEach = kRows * kCols / kCount / kThreads, kAtOnce = kEach < 4 ? kEach : 4;
    static_assert(kEach % kAtOnce == 0 && kEach * kThreads * kCount == kRows * kCols,
                  "all threads load equally many packs");
#pragma unroll(kCount == 1 ? 1 : kEach)  // unrolled single elements would need too many registers
    for (int begin = 0; begin < kEach; begin += kAtOnce) {
        const int first = (static_cast<int>(threadIdx.x) + begin * kThreads) * kCount;
        Pack<T, kCount> packs[kAtOnce] = {};
#pragma unroll  // an array indexed at run time cannot stay in registers
        for (int i = 0; i < kAtOnce; ++i) {
            const int place = first + i * kThreads * kCount;
            const int64_t row = line + place / kCols, col = at + place % kCols;
            if (row >= lines || col >= length) continue;
            packs[i] = *reinterpret_cast<const Pack<T, kCount>*>(x.data + row * x.ld + col);
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int place = first + i * kThreads * kCount;
            put(place / kCols, place % kCols, packs[i]);
        }
    }
}

// Write four neighbouring sums to columns col to col + 3 of a line of C: as one pack, or one by one.
template <int kCount, class T>
__device__ void write_pack(const Problem<T>& g, T* c, const float* sums) {
    Pack<T, kCount> pack{};
    if (g.beta != 0.f) pack = *reinterpret_cast<Pack<T, kCount>*>(c);
    for (int i = 0; i < kCount; ++i) {
        float result = g.alpha * sums[i];
        if (g.beta != 0.f) result += g.beta * static_cast<float>(pack.element[i]);
        pack.element[i] = static_cast<T>(result);
    }
    *reinterpret_cast<Pack<T, kCount>*>(c) = pack;
}
template <int kCount, class T>
__device__ void write_four(const Problem<T>& g, T* line, int64_t col, float4 four) {
    constexpr int kWidth = kCount == 1 ? 1 : 4;
    const float sums[] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; i += kWidth) {
        if (col + i < g.n) write_pack<kWidth>(g, line + col + i, sums + i);
    }
}

constexpr int kTiledDepth = 16;  // of a tile, along k

// A row is one step along k, so that the values a thread multiplies are neighbours. With four extra columns, rows begin
// in different banks, but still at multiples of 16 bytes.
using DepthTile = float[kTiledDepth][kBlockTile + 4];

// Store a pack into a tile: a pack along k down a column, any other pack across a row.
template <class T, int kCount>
__device__ void put_down(DepthTile& tile, int row, int col, const Pack<T, kCount>& pack) {
    for (int i = 0; i < kCount; ++i) tile[col + i][row] = static_cast<float>(pack.element[i]);
}
template <class T, int kCount>
__device__ void put_across(DepthTile& tile, int row, int col, const Pack<T, kCount>& pack) {
    if constexpr (kCount == 1) tile[row][col] = static_cast<float>(pack.element[0]);
    for (int i = 0; i + 4 <= kCount; i += 4)
        *reinterpret_cast<float4*>(&tile[row][col + i]) = four_of(pack, i);
}

// Loads a tile of A or B. line: the first row of A, or the first column of B. along_k: true if neighbours in memory are
// neighbours along k.
template <int kCount, class T>
__device__ void load_tile(DepthTile& tile, const Matrices<const T>& x, bool along_k, int64_t line,
                          int64_t lines, int64_t p, int64_t k) {
    if (along_k) {
        for_each_pack<kBlockTile, kTiledDepth, kCount>(
            x, line, lines, p, k,
            [&](int row, int col, const auto& pack) { put_down(tile, row, col, pack); });
    } else {
        for_each_pack<kTiledDepth, kBlockTile, kCount>(
            x, p, k, line, lines,
            [&](int row, int col, const auto& pack) { put_across(tile, row, col, pack); });
    }
}

// sums += a_tile b_tile. A thread computes rows row to row + 3 and row + 64 to row + 67, and columns col to col + 3 and
// col + 64 to col + 67.
__device__ inline void multiply(float (&sums)[8][8], const DepthTile& a_tile,
                                const DepthTile& b_tile, int row, int col) {
#pragma unroll  // lets nvcc load the next values while these are multiplied
    for (int p = 0; p < kTiledDepth; ++p) {
        const float4 upper = *reinterpret_cast<const float4*>(&a_tile[p][row]);
        const float4 lower = *reinterpret_cast<const float4*>(&a_tile[p][row + 64]);
        const float4 left = *reinterpret_cast<const float4*>(&b_tile[p][col]);
        const float4 right = *reinterpret_cast<const float4*>(&b_tile[p][col + 64]);
        const float of_a[] = {upper.x, upper.y, upper.z, upper.w,
                              lower.x, lower.y, lower.z, lower.w};
        const float of_b[] = {left.x, left.y, left.z, left.w, right.x, right.y, right.z, right.w};
        for (int i = 0; i < 8; ++i) {  // 64 multiplications for 16 values read
            for (int j = 0; j < 8; ++j) sums[i][j] += of_a[i] * of_b[j];
        }
    }
}
template <int kCount, class T>
__device__ void write_sums(const Problem<T>& g, const Tile& tile, int row, int col,
                           const float (&sums)[8][8]) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int64_t c_row = tile.row + row + i / 4 * 64 + i % 4;
        if (c_row >= g.m) continue;
        T* const line = &g.c[tile.batch](c_row, 0);
        const float* of = sums[i];
        write_four<kCount>(g, line, tile.col + col, make_float4(of[0], of[1], of[2], of[3]));
        write_four<kCount>(g, line, tile.col + col + 64, make_float4(of[4], of[5], of[6], of[7]));
    }
}

template <class T, int kCount>
__global__ void __launch_bounds__(kThreads, 2) register_tiled_kernel(const Problem<T> g) {
    __shared__ __align__(16) DepthTile a_tile, b_tile;
    const Tile tile(g.m, g.n, kBlockTile, kBlockTile);
    const auto a = g.a[tile.batch], b = g.b[tile.batch];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp / 2 * 16 + lane / 8 * 4, col = warp % 2 * 32 + lane % 8 * 4;
    float sums[8][8] = {};
    for (int64_t first = 0; first < g.k; first += kTiledDepth) {
        load_tile<kCount>(a_tile, a, !a.transposed, tile.row, g.m, first, g.k);
        load_tile<kCount>(b_tile, b, b.transposed, tile.col, g.n, first, g.k);
        __syncthreads();  // both tiles are complete
        multiply(sums, a_tile, b_tile, row, col);
        __syncthreads();  // every thread has used them
    }
    write_sums<kCount>(g, tile, row, col, sums);
}

// Loads single elements if lines do not begin and end at multiples of 16 bytes.
template <class T>
cudaError_t register_tiled(const Problem<T>& g, cudaStream_t stream) {
    return launch_tiles(g, kBlockTile, kBlockTile, [&](unsigned blocks) {
        if (consists_of_packs(g)) {
            register_tiled_kernel<T, kPerPack<T>><<<blocks, kThreads, 0, stream>>>(g);
        } else {
            register_tiled_kernel<T, 1><<<blocks, kThreads, 0, stream>>>(g);
        }
    });
}
}  // namespace batched_gemm
