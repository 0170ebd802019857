// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/tiled, version 2.0
//
// Rung 2: a block copies a tile of A and a tile of B into shared memory, then multiplies them.
//   new here   32 threads use each value that is loaded from memory
//   traffic    loads per element of C: 2k -> 2k / 32
//   limited by shared_load_requests: 2 per 32 multiplications, and shared memory serves one request a clock as well
#pragma once
#include "problem.cuh"

namespace batched_gemm {

constexpr int kTile = 32;  // a tile of A, of B and of C is 32 x 32

template <class T>
__global__ void __launch_bounds__(kTile* kTile) tiled_kernel(const Problem<T> g) {
    // A transposed matrix fills its tile column by column. With 33 columns, a column lies in 32 different banks.
    __shared__ float a_tile[kTile][kTile + 1], b_tile[kTile][kTile + 1];
    const int64_t row = int64_t{blockIdx.x} * kTile, col = int64_t{blockIdx.y} * kTile;
    const auto a = g.a[blockIdx.z], b = g.b[blockIdx.z];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    // Neighbouring threads load neighbours in memory: along a row, or down a column of a transposed matrix.
    const int a_row = a.transposed ? x : y, a_p = a.transposed ? y : x;
    const int b_p = b.transposed ? x : y, b_col = b.transposed ? y : x;

    float sum = 0.f;
    for (int64_t first = 0; first < g.k; first += kTile) {
        const bool in_a = row + a_row < g.m && first + a_p < g.k;
        const bool in_b = first + b_p < g.k && col + b_col < g.n;
        a_tile[a_row][a_p] = in_a ? static_cast<float>(a(row + a_row, first + a_p)) : 0.f;
        b_tile[b_p][b_col] = in_b ? static_cast<float>(b(first + b_p, col + b_col)) : 0.f;
        __syncthreads();  // both tiles are complete
        for (int p = 0; p < kTile; ++p) sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();  // every thread has used them: the next step may overwrite them
    }
    write(g, g.c[blockIdx.z], row + y, col + x, sum);
}

}  // namespace batched_gemm
