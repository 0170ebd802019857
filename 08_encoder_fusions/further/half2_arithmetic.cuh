// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/half2_arithmetic, version 1.0
//
// FasterTransformer's arithmetic in half2: two elements per instruction, each step rounded to 11 bits.
//   new here   kernels not only move half2 but also compute in it
//   traffic    2 reads + 1 write per element; the norm 5 + 1
//   accepts    __half; the norm up to 4096 columns; calls the tuned kernels if rows do not consist of pairs
//   source     FasterTransformer v1.0, add_bias_act and add_bias_input_layernorm of half (2019)
#pragma once
#include <cuda_fp16.h>

#include "tuned_bias_activation.cuh"
#include "tuned_layernorm.cuh"

namespace encoder_fusions {

constexpr int kHalf2Threads = 256;

// A block per row; threadIdx.x counts pairs.
template <class Half2>
__global__ void half2_bias_gelu_kernel(const Half2* x, const Half2* bias, Half2* y, int pairs) {
    const Half2* x_row = x + int64_t{blockIdx.x} * pairs;
    Half2* y_row = y + int64_t{blockIdx.x} * pairs;
    for (int p = threadIdx.x; p < pairs; p += kHalf2Threads) {
        const Half2 sum = __hadd2(x_row[p], bias[p]);        // rounds once
        const Half2 cube = __hmul2(sum, __hmul2(sum, sum));  // rounds twice more
        const float2 s = __half22float2(sum), c = __half22float2(cube);
        const float left = 0.5f * (1.f + tanhf(0.79788456f * (s.x + 0.044715f * c.x)));
        const float right = 0.5f * (1.f + tanhf(0.79788456f * (s.y + 0.044715f * c.y)));
        const Half2 result = __hmul2(sum, __floats2half2_rn(left, right));  // rounds twice more
        y_row[p] = result;
    }
}

// Adds the three operands in half2, so each sum is rounded twice; mean and variance are floats.
template <class Half2, int kPairs>
__global__ void half2_layernorm_kernel(const Half2* x, const Half2* bias, const Half2* residual,
                                       Norm<Half2> norm, Half2* y, int pairs) {
    constexpr int kWarps = kHalf2Threads / 32;
    __shared__ float partials[2][kWarps];
    const int64_t first = int64_t{blockIdx.x} * pairs;
    const auto cols = static_cast<float>(2 * pairs);
    float2 held[kPairs];
    float total = 0.f;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
        const int p = i * kHalf2Threads + threadIdx.x;
        held[i] = make_float2(0.f, 0.f);
        if (p < pairs)
            held[i] = __half22float2(__hadd2(__hadd2(x[first + p], residual[first + p]), bias[p]));
        total += held[i].x + held[i].y;
    }
    const float mean = block_sum<kWarps>(total, partials[0]) / cols;
    float squares = 0.f;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
        const float left = held[i].x - mean, right = held[i].y - mean;
        if (i * kHalf2Threads + static_cast<int>(threadIdx.x) < pairs)
            squares += left * left + right * right;
    }
    const float scale = rsqrtf(block_sum<kWarps>(squares, partials[1]) / cols + norm.epsilon);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
        const int p = i * kHalf2Threads + threadIdx.x;
        if (p >= pairs) continue;
        const float2 gamma = __half22float2(norm.gamma[p]), beta = __half22float2(norm.beta[p]);
        const Half2 result = __floats2half2_rn((held[i].x - mean) * scale * gamma.x + beta.x,
                                               (held[i].y - mean) * scale * gamma.y + beta.y);
        y[first + p] = result;
    }
}

// True if rows consist of pairs at these addresses and fit a grid.
inline bool consist_of_pairs(std::initializer_list<const __half*> addresses, int64_t rows,
                             int64_t cols) {
    return rows > 0 && cols > 0 && rows <= INT32_MAX && cols <= INT32_MAX &&
           std::all_of(addresses.begin(), addresses.end(), [&](const __half* address) {
               return address != nullptr && takes_packs<2>(address, cols);
           });
}
inline const __half2* pairs_of(const __half* x) {
    return reinterpret_cast<const __half2*>(x);
}
inline __half2* pairs_of(__half* x) {
    return reinterpret_cast<__half2*>(x);
}

// Take the arguments and return the errors of add_bias_activation with GeluByTanh, and of add_bias_residual_layernorm.
inline cudaError_t half2_bias_gelu(const __half* x, const __half* bias, __half* y, int64_t rows,
                                   int64_t cols, cudaStream_t stream) {
    if (!consist_of_pairs({x, bias, y}, rows, cols))
        return add_bias_activation(x, bias, y, rows, cols, batched_gemm::GeluByTanh{}, stream);
    half2_bias_gelu_kernel<<<static_cast<unsigned>(rows), kHalf2Threads, 0, stream>>>(
        pairs_of(x), pairs_of(bias), pairs_of(y), static_cast<int>(cols / 2));
    return cudaGetLastError();
}
inline cudaError_t half2_layernorm(const __half* x, const __half* bias, const __half* residual,
                                   const Norm<__half>& norm, __half* y, int64_t rows, int64_t cols,
                                   cudaStream_t stream) {
    constexpr int kPairs = 8;
    if (cols > 2 * kPairs * kHalf2Threads) return cudaErrorInvalidValue;
    if (!consist_of_pairs({x, bias, residual, norm.gamma, norm.beta, y}, rows, cols))
        return add_bias_residual_layernorm(x, bias, residual, norm, y, rows, cols, stream);
    half2_layernorm_kernel<__half2, kPairs>
        <<<static_cast<unsigned>(rows), kHalf2Threads, 0, stream>>>(
            pairs_of(x), pairs_of(bias), pairs_of(residual),
            Norm<__half2>{pairs_of(norm.gamma), pairs_of(norm.beta), norm.epsilon}, pairs_of(y),
            static_cast<int>(cols / 2));
    return cudaGetLastError();
}

}  // namespace encoder_fusions
