// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/activations, version 1.0
//
// The activations of a feed-forward layer as functors. Here an epilogue calls them, in 08 a kernel of its own.
//   accepts    any float; NaN stays NaN; GELU and SiLU of -inf are NaN, as in PyTorch
//   source     Hendrycks & Gimpel 2016 (GELU, SiLU)
#pragma once
#include <cmath>
#include <type_traits>

#include <cuda_runtime.h>

#include "../../04_warp_softmax/further/lifted_exp.cuh"

namespace batched_gemm {

struct Identity {
    __device__ float operator()(float x) const { return x; }
};
struct Relu {
    __device__ float operator()(float x) const {
        return x < 0.f ? 0.f : x;
    }  // fmaxf would lose NaN
};
// x times the probability that a standard normal random number is below x. The logarithm of the probability for -|x| is
// nearly a polynomial in |x|; the coefficients are fitted so that the probability is off by at most 2^-23. (erff needs
// twice as many instructions, which would take longer than memory takes to deliver an element.)
struct Gelu {
    __device__ float operator()(float x) const {
        const float t = fminf(fabsf(x), 16.f);  // the share below -16 is 0
        const float high = (1.9180059e-5f * t - 6.5864172e-4f) * t + 7.7545005e-3f;
        const float low = (high * t - 5.2965492e-2f) * t - 0.45906021f;
        const float log2_share = (low * t - 1.15112206f) * t - 0.99999969f;
        const float share = warp_softmax::fast_exp2(log2_share);
        return x * (x < 0.f ? share : 1.f - share);
    }
};
// The same for results of 16 bits, with fewer instructions: tensor cores wait while an epilogue computes it. The error is at most
// 2^-13 of the result or 2^-26, whichever is larger. Infinity becomes NaN.
struct GeluOf16Bits {
    __device__ explicit GeluOf16Bits(Gelu) {}
    __device__ float operator()(float x) const {
        const float t = fabsf(x);
        const float high = (-3.3990652e-4f * t + 6.0139834e-3f) * t - 4.8858061e-2f;
        const float log2_share = ((high * t - 0.46329185f) * t - 1.1495558f) * t - 1.0000935f;
        return fmaxf(x, 0.f) - t * warp_softmax::fast_exp2(log2_share);
    }
};
// Activation, or what replaces it where results have the type T.
template <class T, class Activation>
using ForResult = std::conditional_t<std::is_same_v<Activation, Gelu> && sizeof(T) == 2,
                                     GeluOf16Bits, Activation>;
// Returns x / (1 + 2^-y). The approximate instructions ex2 and rcp are accurate enough.
__device__ inline float share_of(float x, float y) {
    return __fdividef(x, 1.f + warp_softmax::fast_exp2(-y));
}
struct Silu {
    __device__ float operator()(float x) const { return share_of(x, 1.44269504f * x); }  // log2(e)
};
// 0.5 x (1 + tanh(u)) with u = 0.79788456 (x + 0.044715 x^3). The code uses (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)),
// which needs fewer instructions and loses no digits if the result is small.
struct GeluByTanh {
    __device__ float operator()(float x) const {
        return share_of(x, 2.3022082f * (x + 0.044715f * x * x * x));  // 2 * 0.79788456 * log2(e)
    }
};

}  // namespace batched_gemm
