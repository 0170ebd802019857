// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/naive, version 2.0
//
// Rung 1: a thread computes one element of C.
//   traffic    2k loads per element of C
//   limited by global_load_requests: 2 per 32 multiplications. A multiprocessor serves one request a clock and could
//              do 4 x 32 multiplications in the same clock, so the kernel reaches an eighth of that speed at best
#pragma once
#include "problem.cuh"

namespace batched_gemm {

constexpr int kNaiveSide = 32;  // a block computes 32 x 32 elements; threadIdx.x counts columns

template <class T>
__global__ void naive_kernel(const Problem<T> g) {
    const int64_t row = int64_t{blockIdx.x} * kNaiveSide + threadIdx.y;
    const int64_t col = int64_t{blockIdx.y} * kNaiveSide + threadIdx.x;
    if (row >= g.m || col >= g.n) return;
    const auto a = g.a[blockIdx.z], b = g.b[blockIdx.z];
    float sum = 0.f;
    for (int64_t p = 0; p < g.k; ++p) {
        sum += static_cast<float>(a(row, p)) * static_cast<float>(b(p, col));
    }
    write(g, g.c[blockIdx.z], row, col, sum);
}

}  // namespace batched_gemm
