// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// Exercise 07.2: eight sums in the registers of a thread
//
// The tiles are in shared memory. Each thread computes 8 elements of C, one below the other: rows y to y + 7 of column x.
// For each p add the products of a_tile[y + i][p] and b_tile[p][x] to sums[i], and read the value of B once for all eight.
#pragma once
#include <cstdint>

#include <cuda_runtime.h>

// A matrix in memory, row by row.
template <class T>
struct Matrix {
    T* data;
    int64_t ld;  // elements from one row to the next
    __device__ T& operator()(int64_t row, int64_t col) const { return data[row * ld + col]; }
};

// C = A B, m x k times k x n.
struct Sizes {
    int64_t m, n, k;
};
constexpr int kColumnSide = 64;  // a tile of C is 64 x 64
constexpr int kColumnDepth = 8;  // a tile of A is 64 x 8, one of B 8 x 64
constexpr int kColumn = 8;       // elements of C that a thread computes
constexpr int kColumnThreads = kColumnSide * kColumnSide / kColumn;

__global__ void __launch_bounds__(kColumnThreads)
    product_kernel(const float* all_a, const float* all_b, float* all_c, Sizes g) {
    __shared__ float a_tile[kColumnSide][kColumnDepth + 1], b_tile[kColumnDepth][kColumnSide + 1];
    const Matrix<const float> a{all_a + blockIdx.z * g.m * g.k, g.k};
    const Matrix<const float> b{all_b + blockIdx.z * g.k * g.n, g.n};
    const Matrix<float> c{all_c + blockIdx.z * g.m * g.n, g.n};
    const int64_t row = int64_t{blockIdx.x} * kColumnSide, col = int64_t{blockIdx.y} * kColumnSide;
    const int thread = static_cast<int>(threadIdx.x);
    const int a_row = thread / kColumnDepth, a_p = thread % kColumnDepth;
    const int b_p = thread / kColumnSide, b_col = thread % kColumnSide;

    const int y = thread / kColumnSide * kColumn, x = thread % kColumnSide;
    float sums[kColumn] = {};
    for (int64_t first = 0; first < g.k; first += kColumnDepth) {
        const bool in_a = row + a_row < g.m && first + a_p < g.k;
        const bool in_b = first + b_p < g.k && col + b_col < g.n;
        a_tile[a_row][a_p] = in_a ? a(row + a_row, first + a_p) : 0.f;
        b_tile[b_p][b_col] = in_b ? b(first + b_p, col + b_col) : 0.f;
        __syncthreads();
        // ---- your lines: for each p, eight products
        // ---- end of your lines
        __syncthreads();
    }
    for (int i = 0; i < kColumn; ++i) {
        if (row + y + i < g.m && col + x < g.n) c(row + y + i, col + x) = sums[i];
    }
}

inline cudaError_t launch(const float* a, const float* b, float* c, int64_t batch, int64_t m,
                          int64_t n, int64_t k, cudaStream_t stream) {
    if (batch == 0 || m == 0 || n == 0) return cudaSuccess;
    const auto blocks = [](int64_t size) {
        return static_cast<unsigned>((size + kColumnSide - 1) / kColumnSide);
    };
    product_kernel<<<dim3(blocks(m), blocks(n), static_cast<unsigned>(batch)), kColumnThreads, 0,
                     stream>>>(a, b, c, Sizes{m, n, k});
    return cudaGetLastError();
}
