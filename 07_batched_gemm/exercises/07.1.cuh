// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// Exercise 07.1: a product by tiles
//
// A block of 32 x 32 threads computes a 32 x 32 tile of C, one element per thread. Walk along k in steps of 32: copy a tile
// of A and one of B into shared memory, each thread one element of either, then add up the products of row y of a_tile and
// column x of b_tile in `sum`.
//
// The matrices may end within a tile. Elements that are not there count as 0.
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
constexpr int kTile = 32;  // a tile of A, of B and of C is 32 x 32

__global__ void __launch_bounds__(kTile* kTile)
    product_kernel(const float* all_a, const float* all_b, float* all_c, Sizes g) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const Matrix<const float> a{all_a + blockIdx.z * g.m * g.k, g.k};
    const Matrix<const float> b{all_b + blockIdx.z * g.k * g.n, g.n};
    const Matrix<float> c{all_c + blockIdx.z * g.m * g.n, g.n};
    const int64_t row = int64_t{blockIdx.x} * kTile, col = int64_t{blockIdx.y} * kTile;
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    // The element of either tile that this thread copies.
    const int a_row = y, a_p = x, b_p = y, b_col = x;

    float sum = 0.f;
    // ---- your lines: sum becomes element (row + y, col + x) of the product
    // ---- end of your lines
    if (row + y < g.m && col + x < g.n) c(row + y, col + x) = sum;
}

inline cudaError_t launch(const float* a, const float* b, float* c, int64_t batch, int64_t m,
                          int64_t n, int64_t k, cudaStream_t stream) {
    if (batch == 0 || m == 0 || n == 0) return cudaSuccess;
    const auto blocks = [](int64_t size) {
        return static_cast<unsigned>((size + kTile - 1) / kTile);
    };
    product_kernel<<<dim3(blocks(m), blocks(n), static_cast<unsigned>(batch)), dim3(kTile, kTile),
                     0, stream>>>(a, b, c, Sizes{m, n, k});
    return cudaGetLastError();
}
