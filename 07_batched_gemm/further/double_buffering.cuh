// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/double_buffering, version 1.1
//
// register_tiled without its waits: a block copies the next tile while it multiplies the current one.
//   new here   two tiles of each matrix; cp.async, an asynchronous copy from global to shared memory that needs no
//              registers
//   traffic    as register_tiled: 2k / 128 loads per element of C
//   accepts    float; calls register_tiled if lines do not consist of packs
//   source     Volkov & Demmel 2008; SGEMM as in MAGMA and maxas (Nath et al. 2010, Gray 2014)
#pragma once
#include <cuda_pipeline.h>

#include "register_tiled.cuh"

namespace batched_gemm {

// Starts to copy kCount elements of a line in memory, or zeros beyond the matrix. This thread may read the copy after
// __pipeline_wait_prior, other threads after a barrier as well.
template <int kCount>
__device__ void copy_ahead(float* to, const Matrices<const float>& x, int64_t line, int64_t lines,
                           int64_t at, int64_t length) {
    const bool is_there = line < lines && at < length;
    __pipeline_memcpy_async(to, is_there ? x.data + line * x.ld + at : x.data,
                            kCount * sizeof(float), is_there ? 0 : kCount * sizeof(float));
}

// Starts to copy a tile in the layout of load_tile(). Elements that are neighbours along k in memory go down a column
// of the tile one by one: a warp copies 8 elements of each of 4 lines, to 32 different banks.
__device__ inline void fetch_tile(DepthTile& tile, const Matrices<const float>& x, bool along_k,
                                  int64_t line, int64_t lines, int64_t p, int64_t k) {
    const int thread = static_cast<int>(threadIdx.x);
    if (along_k) {
#pragma unroll
        for (int i = 0; i < kBlockTile * kTiledDepth / kThreads; ++i) {
            const int down = thread % 8 + i % (kTiledDepth / 8) * 8;
            const int across = thread / 8 + i / (kTiledDepth / 8) * (kThreads / 8);
            copy_ahead<1>(&tile[down][across], x, line + across, lines, p + down, k);
        }
    } else {
#pragma unroll
        for (int i = 0; i < kBlockTile * kTiledDepth / kThreads / 4; ++i) {
            const int place = (thread + i * kThreads) * 4;
            const int down = place / kBlockTile, across = place % kBlockTile;
            copy_ahead<4>(&tile[down][across], x, p + down, k, line + across, lines);
        }
    }
}

template <class T>  // float; a template, so that several files can include it
__global__ void __launch_bounds__(kThreads, 2) double_buffered_kernel(const Problem<T> g) {
    __shared__ __align__(16) DepthTile a_tiles[2];
    __shared__ __align__(16) DepthTile b_tiles[2];
    const Tile tile(g.m, g.n, kBlockTile, kBlockTile);
    const auto a = g.a[tile.batch], b = g.b[tile.batch];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp / 2 * 16 + lane / 8 * 4, col = warp % 2 * 32 + lane % 8 * 4;

    const auto fetch = [&](int64_t first, int to) {
        fetch_tile(a_tiles[to], a, !a.transposed, tile.row, g.m, first, g.k);
        fetch_tile(b_tiles[to], b, b.transposed, tile.col, g.n, first, g.k);
        __pipeline_commit();
    };
    float sums[8][8] = {};
    if (g.k > 0) fetch(0, 0);
    int use = 0;
    for (int64_t first = 0; first < g.k; first += kTiledDepth) {
        __pipeline_wait_prior(0);
        __syncthreads();  // these tiles are complete, and every thread has used the others
        if (first + kTiledDepth < g.k) fetch(first + kTiledDepth, use ^ 1);
        multiply(sums, a_tiles[use], b_tiles[use], row, col);
        use ^= 1;
    }
    write_sums<kPerPack<T>>(g, tile, row, col, sums);
}

inline cudaError_t double_buffered(const Problem<float>& g, cudaStream_t stream) {
    if (!consists_of_packs(g)) return register_tiled(g, stream);
    return launch_tiles(g, kBlockTile, kBlockTile, [&](unsigned blocks) {
        double_buffered_kernel<float><<<blocks, kThreads, 0, stream>>>(g);
    });
}

}  // namespace batched_gemm
