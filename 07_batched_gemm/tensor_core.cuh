// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/tensor_core, version 2.0
//
// Rung 6: a warp multiplies 16 x 16 by 16 x 16 elements with one instruction, on a tensor core.
//   new here   fragments: squares of 16 x 16 that the 32 lanes of a warp hold together; tiles of T, not float
//   accepts    half and bfloat16; loads packs of 8 if neither A nor B is transposed, otherwise single elements
//   limited by matrix_load_wavefronts: 24 per 64 x 32 x 16 multiplications, which take 16 clocks; waiting for tiles
#pragma once
#include <mma.h>

#include "problem.cuh"

namespace batched_gemm {

constexpr int kCoreSide = 128, kCoreDepth = 64, kCoreThreads = 256;
// 8 unused elements end each row, so that the eight rows that a fragment load reads at once begin in different banks.
constexpr int kPitchA = kCoreDepth + 8, kPitchB = kCoreSide + 8;

template <class T, int kCount>
__global__ void __launch_bounds__(kCoreThreads, 2) tensor_core_kernel(const Problem<T> g) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    using namespace nvcuda::wmma;
    using Packed = warp_softmax::Pack<T, kCount>;
    __shared__ __align__(32) T a_tile[kCoreSide][kPitchA], b_tile[kCoreDepth][kPitchB];
    __shared__ __align__(32) float patches[kCoreThreads / 32][16][24];
    const int64_t row = int64_t{blockIdx.x} * kCoreSide, col = int64_t{blockIdx.y} * kCoreSide;
    const auto a = g.a[blockIdx.z], b = g.b[blockIdx.z];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int y = warp / 4 * 64, x = warp % 4 * 32;  // where the warp's 64 x 32 elements of C begin
    fragment<accumulator, 16, 16, 16, float> sums[8];
    for (auto& each : sums) fill_fragment(each, 0.f);
    for (int64_t first = 0; first < g.k; first += kCoreDepth) {
#pragma unroll(kCount == 1 ? 4 : 2)
        for (int from = 0; from < kCoreSide * kCoreDepth; from += kCoreThreads * kCount) {
            const int i = from + static_cast<int>(threadIdx.x) * kCount;
            const int a_row = a.transposed ? i % kCoreSide : i / kCoreDepth;
            const int a_p = a.transposed ? i / kCoreSide : i % kCoreDepth;
            const int b_p = b.transposed ? i % kCoreDepth : i / kCoreSide;
            const int b_col = b.transposed ? i / kCoreDepth : i % kCoreSide;
            Packed of_a = {}, of_b = {};
            if (row + a_row < g.m && first + a_p < g.k)
                of_a = reinterpret_cast<const Packed&>(a(row + a_row, first + a_p));
            if (first + b_p < g.k && col + b_col < g.n)
                of_b = reinterpret_cast<const Packed&>(b(first + b_p, col + b_col));
            reinterpret_cast<Packed&>(a_tile[a_row][a_p]) = of_a;
            reinterpret_cast<Packed&>(b_tile[b_p][b_col]) = of_b;
        }
        __syncthreads();
#pragma unroll 1  // the fragments of several steps would not fit in registers
        for (int p = 0; p < kCoreDepth; p += 16) {
            fragment<matrix_a, 16, 16, 16, T, row_major> of_a[4];
            fragment<matrix_b, 16, 16, 16, T, row_major> of_b[2];
            for (int i = 0; i < 4; ++i) load_matrix_sync(of_a[i], &a_tile[y + 16 * i][p], kPitchA);
            for (int j = 0; j < 2; ++j) load_matrix_sync(of_b[j], &b_tile[p][x + 16 * j], kPitchB);
            for (int i = 0; i < 8; ++i) mma_sync(sums[i], of_a[i / 2], of_b[i % 2], sums[i]);
        }
        __syncthreads();
    }
    // CUDA does not say which lane holds which element of a fragment, so results go through shared memory.
    const auto c = g.c[blockIdx.z];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        store_matrix_sync(&patches[warp][0][0], sums[i], 24, mem_row_major);
        __syncwarp();
        for (int r = lane / 16, at = lane % 16; r < 16; r += 2)
            write(g, c, row + y + i / 2 * 16 + r, col + x + i % 2 * 16 + at, patches[warp][r][at]);
        __syncwarp();  // all lanes have read the patch: the next fragment may overwrite it
    }
#endif
}

}  // namespace batched_gemm
