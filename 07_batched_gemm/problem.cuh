// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/problem, version 2.0
//
// The code that all rungs share: the layout of a batch's matrices, the problem of a call, and the write of a sum to C.
#pragma once
#include "../04_warp_softmax/warp_softmax.cuh"

namespace batched_gemm {
// The matrices of a batch: `stride` elements apart (0: one matrix for the whole batch), or at the device pointers in
// `each`. A line in memory is a row, or a column if the matrix is stored transposed. Lines begin ld elements apart.
template <class T>
struct Matrices {
    T* data = nullptr;
    int64_t ld = 0, stride = 0;
    bool transposed = false;
    T* const* each = nullptr;
    __device__ Matrices operator[](int64_t b) const {
        T* const first = each == nullptr ? data + b * stride : each[b];
        __builtin_assume(__isGlobal(first));  // otherwise nvcc emits generic loads
        return {first, ld, 0, transposed};
    }
    __device__ T& operator()(int64_t row, int64_t col) const {  // element of the first matrix
        return data[transposed ? col * ld + row : row * ld + col];
    }
};

// C[b] = alpha A[b] B[b] + beta C[b], m x k times k x n. With beta = 0 the kernels do not read C.
template <class T, class Result = T>
struct Problem {
    int64_t batch, m, n, k;
    float alpha = 1.f;
    Matrices<const T> a, b;
    float beta = 0.f;
    Matrices<Result> c;
};

// Computes element (row, col) of C from its sum of products and writes it; does nothing if C has no such element.
template <class T>
__device__ void write(const Problem<T>& g, Matrices<T> c, int64_t row, int64_t col,
                      const float& sum) {
    if (row >= g.m || col >= g.n) return;
    const float old = g.beta == 0.f ? 0.f : g.beta * static_cast<float>(c(row, col));
    c(row, col) = static_cast<T>(g.alpha * sum + old);
}

}  // namespace batched_gemm
