// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/register_column, version 2.0
//
// Rung 3: a thread computes 8 elements of C, one below the other, and keeps their sums in registers.
//   new here   a thread reads a value of B once and uses it in 8 multiplications
//   traffic    loads per element of C: 2k / 32 -> 2k / 64
//   limited by shared_load_requests: 9 per 8 x 32 multiplications, so 2 -> 1.125 per 32; nvcc merges loads of A: 0.875
#pragma once
#include "problem.cuh"

namespace batched_gemm {

constexpr int kColumnSide = 64;  // a tile of C is 64 x 64
constexpr int kColumnDepth = 8;  // a tile of A is 64 x 8, one of B 8 x 64
constexpr int kColumn = 8;       // elements of C that a thread computes
constexpr int kColumnThreads = kColumnSide * kColumnSide / kColumn;
static_assert(kColumnThreads == kColumnSide * kColumnDepth,
              "a thread loads one element of each tile");

template <class T>
__global__ void __launch_bounds__(kColumnThreads) register_column_kernel(const Problem<T> g) {
    __shared__ float a_tile[kColumnSide][kColumnDepth + 1], b_tile[kColumnDepth][kColumnSide + 1];
    const int64_t row = int64_t{blockIdx.x} * kColumnSide, col = int64_t{blockIdx.y} * kColumnSide;
    const auto a = g.a[blockIdx.z], b = g.b[blockIdx.z];
    const int thread = static_cast<int>(threadIdx.x);
    const int a_row = a.transposed ? thread % kColumnSide : thread / kColumnDepth;
    const int a_p = a.transposed ? thread / kColumnSide : thread % kColumnDepth;
    const int b_p = b.transposed ? thread % kColumnDepth : thread / kColumnSide;
    const int b_col = b.transposed ? thread / kColumnDepth : thread % kColumnSide;

    const int y = thread / kColumnSide * kColumn, x = thread % kColumnSide;
    float sums[kColumn] = {};
    for (int64_t first = 0; first < g.k; first += kColumnDepth) {
        const bool in_a = row + a_row < g.m && first + a_p < g.k;
        const bool in_b = first + b_p < g.k && col + b_col < g.n;
        a_tile[a_row][a_p] = in_a ? static_cast<float>(a(row + a_row, first + a_p)) : 0.f;
        b_tile[b_p][b_col] = in_b ? static_cast<float>(b(first + b_p, col + b_col)) : 0.f;
        __syncthreads();
#pragma unroll 2  // unrolling all eight steps would need more registers than two blocks have
        for (int p = 0; p < kColumnDepth; ++p) {
            const float of_b = b_tile[p][x];  // one read for 8 multiplications
            for (int i = 0; i < kColumn; ++i) sums[i] += a_tile[y + i][p] * of_b;
        }
        __syncthreads();
    }
    const auto c = g.c[blockIdx.z];
    for (int i = 0; i < kColumn; ++i) write(g, c, row + y + i, col + x, sums[i]);
}

}  // namespace batched_gemm
