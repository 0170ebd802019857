// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm, version 1.0
//
// C[b] = alpha A[b] B[b] + beta C[b] for each b of a batch, in four steps.
//   new here   a tile of A and of B, once loaded, is used by a whole block: on the chip data is worth more
//   traffic    loads per element of C: naive 2k, tiled 2k / 32, register_tiled and tensor_core 2k / 128
//   accepts    half, bfloat16, float (tensor_core: the first two); sums in float; any sizes, k = 0 too;
//              row-major, each of A and B stored as it is or transposed; any addresses and strides
//   needs      for step 4 a GPU of compute capability 8.0, before which bfloat16 has no tensor cores
//   source     Hong & Kung 1981 (tiles); Volkov & Demmel 2008 (registers); CUDA Programming Guide (wmma)
#pragma once
#include <cstdint>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include "tiles.cuh"

namespace batched_gemm {

// ---- step 1: one thread per element of C; threadIdx.x walks columns

constexpr int kNaiveRows = 8, kNaiveCols = 32;

template <class T>
__global__ void naive_kernel(const Problem<T> g) {
    const Tile tile(g.m, g.n, kNaiveRows, kNaiveCols);
    const int64_t row = tile.row + threadIdx.y, col = tile.col + threadIdx.x;
    if (row >= g.m || col >= g.n) return;
    const auto a = g.a[tile.batch], b = g.b[tile.batch];
    float sum = 0.f;
    for (int64_t p = 0; p < g.k; ++p) {
        sum += static_cast<float>(a(row, p)) * static_cast<float>(b(p, col));
    }
    write(g.c[tile.batch](row, col), sum, g);
}

// ---- step 2: a block loads tiles of A and B into shared memory, and each of its threads uses 32 of each

constexpr int kTile = 32;

template <class T>
__global__ void __launch_bounds__(kTile* kTile) tiled_kernel(const Problem<T> g) {
    // A column more, so that elements below each other lie in different banks: transposed matrices want it.
    __shared__ float a_tile[kTile][kTile + 1];
    __shared__ float b_tile[kTile][kTile + 1];
    const Tile tile(g.m, g.n, kTile, kTile);
    const auto a = g.a[tile.batch], b = g.b[tile.batch];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);

    float sum = 0.f;
    for (int64_t first = 0; first < g.k; first += kTile) {
        // threadIdx.x walks along a line in memory, whichever way that is.
        const int a_row = a.transposed ? x : y, a_p = a.transposed ? y : x;
        const int b_p = b.transposed ? x : y, b_col = b.transposed ? y : x;
        const bool in_a = tile.row + a_row < g.m && first + a_p < g.k;
        const bool in_b = first + b_p < g.k && tile.col + b_col < g.n;
        a_tile[a_row][a_p] = in_a ? static_cast<float>(a(tile.row + a_row, first + a_p)) : 0.f;
        b_tile[b_p][b_col] = in_b ? static_cast<float>(b(first + b_p, tile.col + b_col)) : 0.f;
        __syncthreads();  // both tiles are there
        for (int p = 0; p < kTile; ++p) sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();  // nobody needs them any more
    }
    const int64_t row = tile.row + y, col = tile.col + x;
    if (row < g.m && col < g.n) write(g.c[tile.batch](row, col), sum, g);
}

// ---- step 3: a block has 128 x 128 elements of C; each thread keeps 8 x 8 sums in registers, and uses each
// ---- value from shared memory 8 times

// A thread has 4 rows and 4 columns from (row, col) on, and again 64 further down and to the right.
__device__ inline void multiply(float (&sums)[8][8], const DepthTile& a_tile,
                                const DepthTile& b_tile, int row, int col) {
#pragma unroll  // so that the next values come while these are multiplied
    for (int p = 0; p < kDepth; ++p) {
        const float4 upper = *reinterpret_cast<const float4*>(&a_tile[p][row]);
        const float4 lower = *reinterpret_cast<const float4*>(&a_tile[p][row + 64]);
        const float4 left = *reinterpret_cast<const float4*>(&b_tile[p][col]);
        const float4 right = *reinterpret_cast<const float4*>(&b_tile[p][col + 64]);
        const float of_a[] = {upper.x, upper.y, upper.z, upper.w,
                              lower.x, lower.y, lower.z, lower.w};
        const float of_b[] = {left.x, left.y, left.z, left.w, right.x, right.y, right.z, right.w};
        for (int i = 0; i < 8; ++i) {  // 64 multiplications for 16 values
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
    for (int64_t first = 0; first < g.k; first += kDepth) {
        load_tile<kCount>(a_tile, a, !a.transposed, tile.row, g.m, first, g.k);
        load_tile<kCount>(b_tile, b, b.transposed, tile.col, g.n, first, g.k);
        __syncthreads();  // both tiles are there
        multiply(sums, a_tile, b_tile, row, col);
        __syncthreads();  // nobody needs them any more
    }
    write_sums<kCount>(g, tile, row, col, sums);
}

// ---- step 4: a warp multiplies 16 x 16 by 16 x 16 at once, on a tensor core

template <class T, class Layouts, int kCount>
__global__ void __launch_bounds__(kThreads, 2) tensor_core_kernel(const Problem<T> g) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    using namespace nvcuda::wmma;
    using TileA = StoredTile<typename Layouts::A, kBlockTile, kSlab>;
    using TileB = StoredTile<typename Layouts::B, kSlab, kBlockTile>;
    constexpr int kPatchPitch = 24;  // 16, and 8 more for the banks
    __shared__ __align__(32) T a_tile[TileA::kRows * TileA::kPitch];
    __shared__ __align__(32) T b_tile[TileB::kRows * TileB::kPitch];
    __shared__ __align__(32) float patches[kThreads / 32][16 * kPatchPitch];
    const Tile tile(g.m, g.n, kBlockTile, kBlockTile);
    const auto a = g.a[tile.batch], b = g.b[tile.batch];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp / 4 * 64, col = warp % 4 * 32;  // of the warp's 64 x 32 sums

    fragment<accumulator, 16, 16, 16, float> sums[4][2];
    for (int i = 0; i < 8; ++i) fill_fragment(sums[i / 2][i % 2], 0.f);
    for (int64_t first = 0; first < g.k; first += kSlab) {
        TileA::template load<kCount>(a_tile, a, tile.row, g.m, first, g.k);
        TileB::template load<kCount>(b_tile, b, first, g.k, tile.col, g.n);
        __syncthreads();
#pragma unroll 1  // or all fragments of a slab stand in registers at once, and some no longer fit
        for (int p = 0; p < kSlab; p += 16) {
            fragment<matrix_b, 16, 16, 16, T, typename Layouts::B> of_b[2];
            for (int j = 0; j < 2; ++j) {
                load_matrix_sync(of_b[j], b_tile + TileB::at(p, col + 16 * j), TileB::kPitch);
            }
            for (int i = 0; i < 4; ++i) {
                fragment<matrix_a, 16, 16, 16, T, typename Layouts::A> of_a;
                load_matrix_sync(of_a, a_tile + TileA::at(row + 16 * i, p), TileA::kPitch);
                for (int j = 0; j < 2; ++j) mma_sync(sums[i][j], of_a, of_b[j], sums[i][j]);
            }
        }
        __syncthreads();
    }
    // Which element a lane holds, CUDA leaves open: so by way of shared memory. Eight lanes at a time read
    // 4 rows of 8 columns, which no two find in one bank.
    float* const patch = patches[warp];
    const int patch_row = lane % 8 / 2 + lane / 16 * 4, patch_col = lane % 2 * 4 + lane / 8 % 2 * 8;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        store_matrix_sync(patch, sums[i / 2][i % 2], kPatchPitch, mem_row_major);
        __syncwarp();
        for (int line = patch_row; line < 16; line += 8) {
            const int64_t c_row = tile.row + row + i / 2 * 16 + line;
            const int64_t c_col = tile.col + col + i % 2 * 16 + patch_col;
            if (c_row >= g.m || c_col >= g.n) continue;
            const float* from = patch + line * kPatchPitch + patch_col;
            const float4 four = *reinterpret_cast<const float4*>(from);
            write_four<kCount>(g, &g.c[tile.batch](c_row, 0), c_col, four);
        }
        __syncwarp();  // before the next takes its place
    }
#endif
}

// ---- launchers: C as Problem says, asynchronous on stream

template <class T>
cudaError_t naive(const Problem<T>& g, cudaStream_t stream) {
    return launch_tiles(g, kNaiveRows, kNaiveCols, [&](unsigned blocks) {
        naive_kernel<<<blocks, dim3(kNaiveCols, kNaiveRows), 0, stream>>>(g);
    });
}
template <class T>
cudaError_t tiled(const Problem<T>& g, cudaStream_t stream) {
    return launch_tiles(g, kTile, kTile, [&](unsigned blocks) {
        tiled_kernel<<<blocks, dim3(kTile, kTile), 0, stream>>>(g);
    });
}
// 3 and 4 load single elements where lines do not begin and end at multiples of 16 bytes.
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
template <class T>
cudaError_t tensor_core(const Problem<T>& g, cudaStream_t stream) {
    static_assert(sizeof(T) == 2, "tensor cores multiply half or bfloat16 here");
    using Col = nvcuda::wmma::col_major;
    using Row = nvcuda::wmma::row_major;
    if (!has_tensor_cores()) return cudaErrorNotSupported;
    return launch_tiles(g, kBlockTile, kBlockTile, [&](unsigned blocks) {
        const auto launch = [&](auto layouts) {
            using Layouts = decltype(layouts);
            if (consists_of_packs(g)) {
                tensor_core_kernel<T, Layouts, kPerPack<T>><<<blocks, kThreads, 0, stream>>>(g);
            } else {
                tensor_core_kernel<T, Layouts, 1><<<blocks, kThreads, 0, stream>>>(g);
            }
        };
        if (g.a.transposed) {
            g.b.transposed ? launch(Stored<Col, Col>{}) : launch(Stored<Col, Row>{});
        } else {
            g.b.transposed ? launch(Stored<Row, Col>{}) : launch(Stored<Row, Row>{});
        }
    });
}

}  // namespace batched_gemm
