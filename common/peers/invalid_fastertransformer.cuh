// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// WRONG, and here because of that: the kernel that a well-known table calls FasterTransformer's
// softmax. When its mask was cut out, a constant took the place of the score. Written anew.
//   wrong      no element of x is used, so every result is 1 / length. The load of x is dead code,
//              which the compiler drops: what is timed is a softmax without a read
//   unseen     on an input of ones, of which 1 / length is the softmax
//   traffic    0 + 1 accesses per element; the original reads x and the mask
//   source     the softmax folder of a public collection of CUDA notes, by its description
#pragma once
#include <cstdint>

#include <cuda_runtime.h>

#include "fastertransformer_softmax.cuh"

namespace invalid_fastertransformer {

// v1_row() of fastertransformer_softmax.cuh but for the score.
template <class T>
__device__ void row_without_input(const T* x, T* y, int length) {
    const int col = threadIdx.x;
    [[maybe_unused]] const T unused = x[col < length ? col : 0];
    const float score = -1e20f;  // there: x * scale + (1 - mask) * -10000
    fastertransformer_softmax::v1_softmax(score, y, length);
}

template <class T>
__global__ void row_per_block(const T* x, T* y, int length) {
    const int row = blockIdx.x;
    row_without_input(x + row * length, y + row * length, length);
}

template <class T>
__global__ void matrix_per_block(const T* x, T* y, int length) {
    for (int i = 0; i < length; ++i) {
        const int row = blockIdx.x * length + i;
        row_without_input(x + row * length, y + row * length, length);
    }
}

// As fastertransformer_softmax::v1, without mask and scale.
template <class T>
cudaError_t v1_without_input(const T* x, T* y, int64_t batch, int64_t heads, int64_t length,
                             cudaStream_t stream) {
    namespace original = fastertransformer_softmax;
    if (batch <= 0 || heads <= 0 || length <= 0 || length > original::kV1MaxLength ||
        batch > original::kV1MaxElements / (heads * length * length)) {
        return cudaErrorInvalidValue;
    }
    const int64_t matrices = batch * heads;
    const auto threads = static_cast<unsigned>(original::v1_threads(length));
    if (original::v1_by_matrix(batch, heads)) {
        matrix_per_block<<<static_cast<unsigned>(matrices), threads, 0, stream>>>(
            x, y, static_cast<int>(length));
    } else {
        row_per_block<<<static_cast<unsigned>(matrices * length), threads, 0, stream>>>(
            x, y, static_cast<int>(length));
    }
    return cudaGetLastError();
}

}  // namespace invalid_fastertransformer
