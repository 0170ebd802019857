// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/lifted_exp, version 1.0
//
// An exponential of two instructions for the 16-bit types, whose results are too coarse to show what it
// loses.
//   new here   softmax divides exponentials by their sum, so a factor common to all of them cancels. The
//              factor 2^64 keeps small exponentials above the range that the fast instruction flushes to 0
//   accepts    float and double as well: for them it is exp, and the factor is 1
//   source     ours
#pragma once
#include <cmath>

#include <cuda_runtime.h>

namespace warp_softmax {

// 2^x by the GPU's own instruction. Its relative error is 2^-22, and results below 2^-126 become 0. (exp2f
// and __expf keep those, by three more instructions around this one.)
__device__ inline float fast_exp2(float x) {
#ifdef __CUDA_ARCH__
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return exp2f(x);
#endif
}

// exp(x) * kLift, as accurate as the type can show (a relative 2^-11 for __half, 2^-8 for __nv_bfloat16).
// 16-bit types use fast_exp2, lifted so that it returns 0 only for results below any __nv_bfloat16.
template <class T>
constexpr float kLift = sizeof(T) == 2 ? 0x1p64f : 1.f;

template <class T, class Compute>
__device__ Compute lifted_exp(Compute x) {
    if constexpr (sizeof(T) == 2) {
        return fast_exp2(x * 1.4426950408889634f + 64.f);  // log2(e)
    } else {
        return std::exp(x);
    }
}

}  // namespace warp_softmax
