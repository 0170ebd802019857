// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/gradient, version 1.0
//
// Computes one element of a gradient from the sum of its row or column.
//   used by    softmax_backward.cuh and any_axis_backward.cuh
//   source     softmax: dx = (dy - sum(y * dy)) * y; log-softmax: dx = dy - exp(y) * sum(dy)
#pragma once
#include "../../04_warp_softmax/further/row_groups.cuh"

namespace smem_softmax {

// Returns exp(y). For 16-bit results, squares exp(y / 2), a fast exponential that never underflows. (A lift as
// in 04 would lose digits, which matter if the gradient is a small difference.)
template <class T, class Compute>
__device__ Compute exp_of(Compute y) {
    if constexpr (sizeof(T) == 2) {
        const float root = warp_softmax::fast_exp2(y * 0.7213475204444817f);  // log2(e) / 2
        return root * root;
    } else {
        return std::exp(y);
    }
}

// Returns an element's term of the sum.
template <warp_softmax::Algorithm kAlgorithm, class Compute>
__device__ Compute term_of(Compute y, Compute dy) {
    return kAlgorithm == warp_softmax::Algorithm::softmax ? y * dy : dy;
}

template <warp_softmax::Algorithm kAlgorithm, class T, class Compute>
__device__ T gradient_of(Compute y, Compute dy, Compute sum) {
    return static_cast<T>(kAlgorithm == warp_softmax::Algorithm::softmax ? (dy - sum) * y
                                                                         : dy - exp_of<T>(y) * sum);
}

}  // namespace smem_softmax
