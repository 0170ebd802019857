// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/activations, version 1.0
//
// What a feed-forward layer does to each sum, as functors: in an epilogue here, in a kernel of its own in 08.
//   accepts    any float; NaN stays NaN, and what has no limit (GELU and SiLU of -inf) is NaN, as in PyTorch
//   source     Hendrycks & Gimpel 2016 (GELU, SiLU)
#pragma once
#include <cmath>

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
// x times the share of a normal distribution that is below x. Of what lies below -|x|, the logarithm is nearly a
// polynomial of |x|: fitted so that the share is off by 2^-23 at most. (erff takes twice as many instructions, more
// than the time in which elements come and go.)
struct Gelu {
    __device__ float operator()(float x) const {
        const float t = fminf(fabsf(x), 16.f);  // where nothing is left
        const float high = (1.9180059e-5f * t - 6.5864172e-4f) * t + 7.7545005e-3f;
        const float low = (high * t - 5.2965492e-2f) * t - 0.45906021f;
        const float log2_share = (low * t - 1.15112206f) * t - 0.99999969f;
        const float share = warp_softmax::fast_exp2(log2_share);
        return x * (x < 0.f ? share : 1.f - share);
    }
};
// x / (1 + 2^-y), which needs no digits that ex2 and rcp do not have.
__device__ inline float share_of(float x, float y) {
    return __fdividef(x, 1.f + warp_softmax::fast_exp2(-y));
}
struct Silu {
    __device__ float operator()(float x) const { return share_of(x, 1.44269504f * x); }  // log2(e)
};
// The same as 0.5 x (1 + tanh(u)) with u = 0.79788456 (x + 0.044715 x^3): (1 + tanh(u)) / 2 is
// 1 / (1 + exp(-2 u)), which takes fewer instructions and loses no digits where it is small.
struct GeluByTanh {
    __device__ float operator()(float x) const {
        return share_of(x, 2.3022082f * (x + 0.044715f * x * x * x));  // 2 * 0.79788456 * log2(e)
    }
};

}  // namespace batched_gemm
