// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/register_tile, version 2.0
//
// Rung 4: a thread computes 8 x 8 elements of C.
//   new here   a thread reads 8 values of A and 8 of B, and multiplies each of A with each of B
//   traffic    loads per element of C: 2k / 64 -> 2k / 128
//   limited by shared_load_requests: 16 per 64 x 32 multiplications, so 1.125 -> 0.25 per 32, just few enough
#pragma once
#include "problem.cuh"

namespace batched_gemm {

constexpr int kSide = 128;         // a tile of C is 128 x 128
constexpr int kDepth = 8;          // a tile of A is 128 x 8, one of B 8 x 128
constexpr int kSideThreads = 256;  // 16 x 16

template <class T>
__global__ void __launch_bounds__(kSideThreads, 2) register_tile_kernel(const Problem<T> g) {
    __shared__ float a_tile[kSide][kDepth + 1], b_tile[kDepth][kSide + 1];
    const int64_t row = int64_t{blockIdx.x} * kSide, col = int64_t{blockIdx.y} * kSide;
    const auto a = g.a[blockIdx.z], b = g.b[blockIdx.z];
    const int thread = static_cast<int>(threadIdx.x);
    // A thread's elements are 16 rows or columns apart, so the lanes of a warp read neighbours, in different banks.
    const int y = thread / 16, x = thread % 16;
    float sums[8][8] = {};
    for (int64_t first = 0; first < g.k; first += kDepth) {
#pragma unroll 2
        for (int i = thread; i < kSide * kDepth; i += kSideThreads) {
            const int a_row = a.transposed ? i % kSide : i / kDepth;
            const int a_p = a.transposed ? i / kSide : i % kDepth;
            const int b_p = b.transposed ? i % kDepth : i / kSide;
            const int b_col = b.transposed ? i / kDepth : i % kSide;
            const bool in_a = row + a_row < g.m && first + a_p < g.k;
            const bool in_b = first + b_p < g.k && col + b_col < g.n;
            a_tile[a_row][a_p] = in_a ? static_cast<float>(a(row + a_row, first + a_p)) : 0.f;
            b_tile[b_p][b_col] = in_b ? static_cast<float>(b(first + b_p, col + b_col)) : 0.f;
        }
        __syncthreads();
#pragma unroll 1  // unrolling two steps would need more registers than two blocks have
        for (int p = 0; p < kDepth; ++p) {
            float of_a[8], of_b[8];
            for (int i = 0; i < 8; ++i) of_a[i] = a_tile[y + 16 * i][p];
            for (int j = 0; j < 8; ++j) of_b[j] = b_tile[p][x + 16 * j];
            for (int i = 0; i < 8; ++i) {  // 64 multiplications for 16 reads
                for (int j = 0; j < 8; ++j) sums[i][j] += of_a[i] * of_b[j];
            }
        }
        __syncthreads();
    }
    const auto c = g.c[blockIdx.z];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) write(g, c, row + y + 16 * i, col + x + 16 * j, sums[i][j]);
    }
}

}  // namespace batched_gemm
