// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// Exercise 01.1: the formula, a thread per row
//
// Softmax replaces each element of a row by exp(x), divided by the sum of exp(x) over that row. Here each thread owns
// one row. Compute the sum, then write the row of y.
//
// Subtract no maximum: rows of large numbers overflow, and the check expects that of stage 01.
#pragma once
#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

template <int kThreads>
__global__ void thread_per_row_kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (row >= rows) return;

    const float* x_row = x + row * cols;
    float* y_row = y + row * cols;

    // ---- your lines: read x_row[0] to x_row[cols - 1], write y_row[0] to y_row[cols - 1]
    // ---- end of your lines
}

inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols,
                          cudaStream_t stream) {
    if (rows == 0 || cols == 0) return cudaSuccess;
    constexpr int kThreads = 128;
    const int64_t blocks = (rows + kThreads - 1) / kThreads;
    thread_per_row_kernel<kThreads>
        <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError();
}
