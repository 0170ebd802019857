// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/masked_loads, version 1.0
//
// The softmaxes of attention, without a new kernel: Load functors scale and mask the row.
//   new here   a Load functor with a scale and a boolean mask, and a Load functor with a scale and a causal mask
//   traffic    1 read of x (and of the mask) + 1 write; the causal one reads nothing above the diagonal
//   accepts    as row_groups; a row that is masked everywhere becomes zeros
//   source     OneFlow's fused_scale_mask_softmax and fused_tril_scale_softmax_mask_scale
#pragma once
#include "row_groups.cuh"

namespace warp_softmax {

// Loads x * scale where the mask is true, and -inf elsewhere. mask has the shape and the stride of x.
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

    template <int kPack>
    struct Both {
        Pack<T, kPack> x;
        Pack<bool, kPack> mask;
    };
    struct Row {
        const T* x;
        const bool* mask;
        ComputeOf<T> scale;

        template <int kPack>
        __device__ Both<kPack> fetch(int col, bool is_there, T /*padding*/) const {
            Both<kPack> both{};  // a mask of false
            if (is_there) {
                both.x = *reinterpret_cast<const Pack<T, kPack>*>(x + col);
                both.mask = *reinterpret_cast<const Pack<bool, kPack>*>(mask + col);
            }
            return both;
        }
        template <class Compute, int kPack>
        __device__ Compute element(const Both<kPack>& pack, int i, int /*col*/) const {
            return pack.mask.element[i] ? static_cast<Compute>(pack.x.element[i]) * scale
                                        : -static_cast<Compute>(INFINITY);
        }
    };
    __device__ Row at(int64_t row) const {
        return {x + row * row_stride, mask + row * row_stride, scale};
    }
};

// Loads x * scale in columns 0 to i of row i of each matrix of `seq` rows, and -inf in later columns. Reads nothing
// above the diagonal, except the rest of a pack that the diagonal cuts.
template <class T>
struct CausalLoad {
    using Element = T;
    static constexpr bool kMasks = false;  // every row sees column 0
    const T* x;
    ComputeOf<T> scale;
    int64_t seq;
    int64_t row_stride;

    template <int kPack>
    bool takes(int64_t cols) const {
        return takes_packs<kPack>(x, row_stride, cols);
    }

    struct Row {
        typename DirectLoad<T>::Row x;
        ComputeOf<T> scale;
        int seen;  // number of columns that the row sees

        template <int kPack>
        __device__ Pack<T, kPack> fetch(int col, bool is_there, T padding) const {
            return x.template fetch<kPack>(col, is_there && col < seen, padding);
        }
        template <class Compute, int kPack>
        __device__ Compute element(const Pack<T, kPack>& pack, int i, int col) const {
            return col + i < seen ? static_cast<Compute>(pack.element[i]) * scale
                                  : -static_cast<Compute>(INFINITY);
        }
    };
    __device__ Row at(int64_t row) const {
        return {{x + row * row_stride}, scale, static_cast<int>(row % seq) + 1};
    }
};

// Writes the softmax of x * scale over the columns whose mask is true, and zeros to all other columns. mask: rows x
// cols bools. scale > 0. Returns the error code that launch() returns.
template <class T>
cudaError_t scale_mask_softmax(const T* x, const bool* mask, T* y, ComputeOf<T> scale, int64_t rows,
                               int64_t cols, cudaStream_t stream) {
    return launch<Algorithm::softmax>(ScaleMaskLoad<T>{x, mask, scale, cols},
                                      DirectStore<T>{y, cols}, rows, cols, stream);
}

// Writes the softmax of x * scale over columns 0 to i of row i, and zeros to later columns, in each of rows / seq
// matrices. Returns the errors of launch, and cudaErrorInvalidValue if seq does not divide rows.
template <class T>
cudaError_t causal_softmax(const T* x, T* y, ComputeOf<T> scale, int64_t rows, int64_t cols,
                           int64_t seq, cudaStream_t stream) {
    if (rows > 0 && cols > 0 && (seq <= 0 || rows % seq != 0)) return cudaErrorInvalidValue;
    return launch<Algorithm::softmax>(CausalLoad<T>{x, scale, seq, cols}, DirectStore<T>{y, cols},
                                      rows, cols, stream);
}

}  // namespace warp_softmax
