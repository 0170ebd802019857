// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/double_buffering, version 1.0
//
// Step 3, whose blocks no longer stand still while a tile is on its way.
//   new here   two tiles of each matrix: while one is multiplied, the next is loaded, by way of registers
//   traffic    as register_tiled: 2k / 128 loads per element of C
//   accepts    as register_tiled; where lines are no packs, it goes by way of that
//   source     Volkov & Demmel 2008; SGEMM as in MAGMA and maxas (Nath et al. 2010, Gray 2014)
#pragma once
#include "../batched_gemm.cuh"

namespace batched_gemm {

// A thread's part of a tile on its way from memory, which nobody waits for before put().
template <int kCount, class T>
struct TileAhead {
    static constexpr int kEach = kBlockTile * kDepth / kCount / kThreads;
    Pack<T, kCount> packs[kEach];

    __device__ static int place(int i) {
        return (static_cast<int>(threadIdx.x) + i * kThreads) * kCount;
    }
    // As load_tile().
    __device__ void load(const Matrix<const T>& x, bool along_k, int64_t line, int64_t lines,
                         int64_t p, int64_t k) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int width = along_k ? kDepth : kBlockTile;
            const int64_t row = (along_k ? line : p) + place(i) / width;
            const int64_t col = (along_k ? p : line) + place(i) % width;
            packs[i] = {};
            if (row < (along_k ? lines : k) && col < (along_k ? k : lines))
                packs[i] = *reinterpret_cast<const Pack<T, kCount>*>(x.data + row * x.ld + col);
        }
    }
    __device__ void put(DepthTile& tile, bool along_k) const {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            if (along_k)
                put_down(tile, place(i) / kDepth, place(i) % kDepth, packs[i]);
            else
                put_across(tile, place(i) / kBlockTile, place(i) % kBlockTile, packs[i]);
        }
    }
};

template <class T, int kCount>
__global__ void __launch_bounds__(kThreads, 2) double_buffered_kernel(const Problem<T> g) {
    __shared__ __align__(16) DepthTile a_tiles[2];
    __shared__ __align__(16) DepthTile b_tiles[2];
    const Tile tile(g.m, g.n, kBlockTile, kBlockTile);
    const auto a = g.a[tile.batch], b = g.b[tile.batch];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp / 2 * 16 + lane / 8 * 4, col = warp % 2 * 32 + lane % 8 * 4;

    TileAhead<kCount, T> of_a, of_b;
    const auto load = [&](int64_t first) {
        of_a.load(a, !a.transposed, tile.row, g.m, first, g.k);
        of_b.load(b, b.transposed, tile.col, g.n, first, g.k);
    };
    const auto put = [&](int to) {
        of_a.put(a_tiles[to], !a.transposed);
        of_b.put(b_tiles[to], b.transposed);
        __syncthreads();  // they are there, and nobody needs the others any more: one barrier a tile
    };
    float sums[8][8] = {};
    if (g.k > 0) {
        load(0);
        put(0);
    }
    int use = 0;
    for (int64_t first = 0; first < g.k; first += kDepth) {
        const bool is_last = first + kDepth >= g.k;
        if (!is_last) load(first + kDepth);
        multiply(sums, a_tiles[use], b_tiles[use], row, col);
        use ^= 1;
        if (!is_last) put(use);
    }
    write_sums<kCount>(g, tile, row, col, sums);
}

// Where lines do not begin and end at multiples of 16 bytes: register_tiled(), since single elements on their way
// would take more registers than there are.
template <class T>
cudaError_t double_buffered(const Problem<T>& g, cudaStream_t stream) {
    if (!consists_of_packs(g)) return register_tiled(g, stream);
    return launch_tiles(g, kBlockTile, kBlockTile, [&](unsigned blocks) {
        double_buffered_kernel<T, kPerPack<T>><<<blocks, kThreads, 0, stream>>>(g);
    });
}

}  // namespace batched_gemm
