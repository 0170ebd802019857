// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/masked_loads, version 1.0
//
// Attention's softmaxes without a new kernel: what is scaled and masked is what a row's load gives.
//   new here   Load functors with a scale and a boolean mask, and with the causal triangle
//   traffic    1 read of x (and of the mask) + 1 write; nothing is read above the diagonal
//   accepts    as the lesson; a row that the mask leaves empty becomes zeros
//   source     OneFlow's fused_scale_mask_softmax and fused_tril_scale_softmax_mask_scale
#pragma once
#include "../warp_softmax.cuh"

namespace warp_softmax {

// x * scale where the mask is true, -inf elsewhere. mask has x's shape and stride.
template <class T>
struct ScaleMaskLoad {
    using Element = T;
    static constexpr bool kMasks = true;
    const T* x;
    const bool* mask;
    ComputeOf<T> scale;
    int64_t row_stride;

    template <int kPack>
    bool takes(int64_t cols) const {
        return takes_packs<kPack>(x, row_stride, cols) &&
               takes_packs<kPack>(mask, row_stride, cols);
    }

    template <int kPack, class Compute>
    __device__ void load(Compute* to, int64_t row, int64_t col) const {
        const int64_t at = row * row_stride + col;
        const auto pack = *reinterpret_cast<const Pack<T, kPack>*>(x + at);
        const auto kept = *reinterpret_cast<const Pack<bool, kPack>*>(mask + at);
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            to[i] = kept.element[i] ? static_cast<Compute>(pack.element[i]) * scale
                                    : -static_cast<Compute>(INFINITY);
        }
    }
};

// Row i of each matrix of `seq` rows sees columns 0 to i: what lies above the diagonal is not read
// (but for the rest of a pack that the diagonal cuts).
template <class T>
struct CausalLoad {
    using Element = T;
    static constexpr bool kMasks = false;  // column 0 is always there, -inf or not
    const T* x;
    ComputeOf<T> scale;
    int64_t seq;
    int64_t row_stride;

    template <int kPack>
    bool takes(int64_t cols) const {
        return takes_packs<kPack>(x, row_stride, cols);
    }

    template <int kPack, class Compute>
    __device__ void load(Compute* to, int64_t row, int64_t col) const {
        const int64_t last = row % seq;  // the last column that this row sees
        Pack<T, kPack> pack{};
        if (col <= last)
            pack = *reinterpret_cast<const Pack<T, kPack>*>(x + row * row_stride + col);
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            to[i] = col + i <= last ? static_cast<Compute>(pack.element[i]) * scale
                                    : -static_cast<Compute>(INFINITY);
        }
    }
};

// Softmax of x * scale where mask is true; zeros elsewhere, and in rows without any. mask: rows x cols
// bools, true to keep. scale > 0. Errors as softmax.
template <class T>
cudaError_t scale_mask_softmax(const T* x, const bool* mask, T* y, ComputeOf<T> scale, int64_t rows,
                               int64_t cols, cudaStream_t stream) {
    if (rows > 0 && cols > 0 && (x == nullptr || mask == nullptr || y == nullptr)) {
        return cudaErrorInvalidValue;
    }
    return launch<Algorithm::softmax>(ScaleMaskLoad<T>{x, mask, scale, cols},
                                      DirectStore<T>{y, cols}, rows, cols, stream);
}

// Softmax of x * scale over columns 0 to i of row i, zeros behind, in each of rows / seq matrices.
// cudaErrorInvalidValue also where seq is no divisor of rows.
template <class T>
cudaError_t causal_softmax(const T* x, T* y, ComputeOf<T> scale, int64_t rows, int64_t cols,
                           int64_t seq, cudaStream_t stream) {
    if (rows > 0 && cols > 0 && (x == nullptr || y == nullptr)) return cudaErrorInvalidValue;
    if (rows > 0 && cols > 0 && (seq <= 0 || rows % seq != 0)) return cudaErrorInvalidValue;
    return launch<Algorithm::softmax>(CausalLoad<T>{x, scale, seq, cols}, DirectStore<T>{y, cols},
                                      rows, cols, stream);
}

}  // namespace warp_softmax
