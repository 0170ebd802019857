// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/tuned_bias_activation, version 1.1
//
// The lesson's y = f(x + bias) with four rows per thread.
//   new here   a thread loads four rows before it uses the first, and loads their bias once; blocks fit the row's
//              width; activations with fewer instructions
//   traffic    1.25 reads + 1 write per element: four elements share a load of the bias
//   accepts    float, __half, __nv_bfloat16; any size; y may be x; arithmetic in float, rounded once
//   source     ours
#pragma once
#include "../../07_batched_gemm/further/activations.cuh"
#include "packs.cuh"

namespace encoder_fusions {

template <class Pack, class Activation>
__global__ void bias_activation_kernel(const Pack* x, const Pack* bias, Pack* y, int64_t rows,
                                       int packs, Activation activation) {
    using T = typename Pack::Element;
    const int p = pack_of_thread();
    if (p >= packs || row_of_thread(blockIdx.x, 0) >= rows) return;
    const Pack row_bias = bias[p];  // loaded once for all rows of the thread

    Pack held[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t row = row_of_thread(blockIdx.x, i);
        if (row < rows) held[i] = x[row * packs + p];
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t row = row_of_thread(blockIdx.x, i);
        if (row >= rows) return;
        Pack result;
#pragma unroll
        for (int j = 0; j < Pack::kSize; ++j) {
            const float sum =
                static_cast<float>(held[i].element[j]) + static_cast<float>(row_bias.element[j]);
            result.element[j] = static_cast<T>(activation(sum));
        }
        y[row * packs + p] = result;
    }
}

// y = activation(x + bias): x and y are rows x cols, bias has cols elements (device memory). Asynchronous on
// stream. cudaErrorInvalidValue for a null or misaligned pointer and for a size that is negative or too large for the
// grid.
template <class T, class Activation>
cudaError_t add_bias_activation(const T* x, const T* bias, T* y, int64_t rows, int64_t cols,
                                Activation activation, cudaStream_t stream) {
    if (rows < 0 || cols < 0 || cols > INT32_MAX) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    return with_widest_pack<T>({x, bias, y}, cols, [&](auto pack) {
        constexpr int kPack = pack.value;
        const Tiling tiling(rows, cols / kPack);
        if (!tiling.fits()) return cudaErrorInvalidValue;
        bias_activation_kernel<<<tiling.grid(), tiling.block, 0, stream>>>(
            as_packs<kPack>(x), as_packs<kPack>(bias), as_packs<kPack>(y), rows,
            static_cast<int>(cols / kPack), activation);
        return cudaGetLastError();
    });
}

}  // namespace encoder_fusions
