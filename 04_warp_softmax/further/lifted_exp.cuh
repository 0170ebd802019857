// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/lifted_exp, version 1.0
//
// An exponential in two instructions for the 16-bit types. Its error is smaller than the rounding error of
// these types.
//   new here   softmax divides exponentials by their sum, so a factor common to all of them cancels. The
//              factor 2^64 keeps small exponentials above the range that the fast instruction flushes to 0
//   accepts    16-bit types; for float and double lifted_exp is exp, and the factor is 1
//   source     ours
#pragma once
#include <cmath>

#include <cuda_runtime.h>

namespace warp_softmax {

// Returns 2^x by a single GPU instruction. The relative error is 2^-22, and results below 2^-126 become 0. (exp2f
// and __expf take three more instructions to keep such results.)
__device__ inline float fast_exp2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// lifted_exp returns exp(x) * kLift. For 16-bit types it uses fast_exp2: its error is below their rounding error
// (relative 2^-11 for __half, 2^-8 for __nv_bfloat16), and because of kLift it returns 0 only if exp(x) is smaller
// than any __nv_bfloat16.
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
