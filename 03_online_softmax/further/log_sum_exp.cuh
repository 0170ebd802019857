// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 03_online_softmax/further/log_sum_exp, version 1.0
//
// log(sum of exp(x)) of each row, in one read: the result follows from the row's normalizer alone.
//   new here   only the first pass of batched.cuh; no second pass over the elements
//   traffic    1 read per element, 1 write per row
//   accepts    rows x cols floats, row-major; y must not overlap x; -inf marks a masked element
//   source     Milakov & Gimelshein 2018, Algorithm 3, lines 1 to 6
#pragma once
#include "batched.cuh"

namespace online_softmax {

// One block and one result per row.
template <int kThreads>
__global__ void __launch_bounds__(kThreads, kResident / kThreads)
    log_sum_exp_kernel(const float* x, float* y, int64_t cols) {
    const Normalizer row = block_normalizer<kThreads>(x + blockIdx.x * cols, cols);
    if (threadIdx.x == 0) y[blockIdx.x] = row.m + logf(row.d);
}

// Writes log(sum of exp(x)) of each row of x (rows x cols) to y (rows). A row with NaN gives NaN, a row with
// +inf gives +inf, and a row of -inf alone gives -inf. y must not overlap x.
inline cudaError_t log_sum_exp(const float* x, float* y, int64_t rows, int64_t cols,
                               cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr) return cudaErrorInvalidValue;
    const int threads = threads_for(cols);
    const auto kernel = threads == 128   ? log_sum_exp_kernel<128>
                        : threads == 256 ? log_sum_exp_kernel<256>
                        : threads == 512 ? log_sum_exp_kernel<512>
                                         : log_sum_exp_kernel<1024>;
    for (int64_t row = 0; row < rows; row += kMaxBlocks) {
        const auto blocks = static_cast<unsigned>(std::min(rows - row, kMaxBlocks));
        kernel<<<blocks, threads, 0, stream>>>(x + row * cols, y + row, cols);
    }
    return cudaGetLastError();
}

}  // namespace online_softmax
