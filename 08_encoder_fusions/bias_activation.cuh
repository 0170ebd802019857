// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/bias_activation, version 2.0
//
// y = f(x + bias), the step after a feed-forward layer's first product, in one kernel instead of two.
//   new here   the sum stays in a register; two kernels would write it to memory and read it back
//   traffic    unfused 2.25 reads + 2 writes per element  ->  1.25 + 1: four rows share a load of the bias
//   accepts    float, __half, __nv_bfloat16; any size; y may be x; arithmetic in float, rounded once
//   source     FasterTransformer's add_bias_act (2019): rebuilt; Hendrycks & Gimpel 2016 (GELU)
#pragma once
#include "../04_warp_softmax/warp_softmax.cuh"

namespace encoder_fusions {

using warp_softmax::Pack, warp_softmax::takes_packs;

// x times the probability that a standard normal random number is below x.
struct Gelu {
    __device__ float operator()(float x) const {
        return 0.5f * x * (1.f + erff(0.70710678f * x));  // x / sqrt(2)
    }
};
// FasterTransformer's approximation of GELU.
struct GeluByTanh {
    __device__ float operator()(float x) const {
        return 0.5f * x * (1.f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    }
};
struct Relu {
    __device__ float operator()(float x) const { return x < 0.f ? 0.f : x; }  // fmaxf loses NaN
};

// Version 1, FasterTransformer's: a thread computes one column of four rows, which are gridDim.x apart, and loads the
// column's bias once. Pack is Pack<T, 1>.
// Version 2: the same kernel with packs of 16 bytes. A warp's request moves 512 bytes instead of 64 (in half).
template <class Pack, class Activation>
__global__ void bias_activation_by_columns_kernel(const Pack* x, const Pack* bias, Pack* y,
                                                  int64_t rows, int packs, Activation activation) {
    for (int p = threadIdx.x; p < packs; p += blockDim.x) {
        const Pack row_bias = bias[p];
        for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
            Pack held = x[row * packs + p];
            for (int j = 0; j < Pack::kSize; ++j) {
                const float sum = float(held.element[j]) + float(row_bias.element[j]);
                held.element[j] = typename Pack::Element(activation(sum));
            }
            y[row * packs + p] = held;
        }
    }
}

// y = activation(x + bias) in packs of kPack elements: x and y are rows x cols, bias has cols elements (device memory).
// Asynchronous on stream. Returns cudaErrorInvalidValue for a null pointer, an address or a number of columns that is
// not a multiple of a pack, a negative size, and more than 2^33 rows.
template <int kPack, class T, class Activation>
cudaError_t bias_activation_by_columns(const T* x, const T* bias, T* y, int64_t rows, int64_t cols,
                                       Activation activation, cudaStream_t stream) {
    constexpr int64_t kRowsOfThread = 4;
    if (rows < 0 || cols < 0 || cols > INT32_MAX || rows > kRowsOfThread * INT32_MAX)
        return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    const T* const all[] = {x, bias, y};
    for (const T* each : all)
        if (each == nullptr || !takes_packs<kPack>(each, cols)) return cudaErrorInvalidValue;
    using Pack = encoder_fusions::Pack<T, kPack>;
    const auto packs = static_cast<int>(cols / kPack);
    const auto blocks = static_cast<unsigned>((rows - 1) / kRowsOfThread + 1);
    bias_activation_by_columns_kernel<<<blocks, std::min((packs + 31) / 32 * 32, 256), 0, stream>>>(
        reinterpret_cast<const Pack*>(x), reinterpret_cast<const Pack*>(bias),
        reinterpret_cast<Pack*>(y), rows, packs, activation);
    return cudaGetLastError();
}

}  // namespace encoder_fusions
