// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/loads_and_stores, version 1.0
//
// Functors through which a kernel reads and writes its rows, so that other work can be fused with it.
//   new here   Load and Store functors, whose work is fused with the softmax
//   accepts    float, __half, __nv_bfloat16, double; any distance between rows
//   source     OneFlow's oneflow/core/cuda/softmax.cuh (2021)
#pragma once
#include <cstdint>
#include <type_traits>

#include "../warp_softmax.cuh"

namespace warp_softmax {

// The type of the arithmetic: double for double, float for all others.
template <class T>
using ComputeOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

// takes_packs for rows that start row_stride elements apart; false for a null pointer.
template <int kPack, class T>
bool takes_packs(const T* address, int64_t row_stride, int64_t cols) {
    return address != nullptr && row_stride % kPack == 0 && takes_packs<kPack>(address, cols);
}

// A Load functor has Element, the type of its elements; kMasks, true if a row that is masked everywhere must
// become zeros; takes<kPack>(cols), true if it can load packs; and at(row). at(row) returns an object with
//   fetch<kPack>(col, is_there, padding)   returns the pack that starts at column col (a multiple of kPack), as
//                                          stored in memory; a pack of `padding` if is_there is false
//   element<Compute>(pack, i, col)         returns the value of the pack's element i, which is in column col + i
// fetch and element are separate so that a kernel can request all packs of a row before it uses the first.
// A Store functor has Element, takes<kPack>(cols) and store<kPack>(from, row, col), which writes a pack.

// Loads element (row, col) from x[row * row_stride + col] and does nothing else.
template <class T>
struct DirectLoad {
    using Element = T;
    static constexpr bool kMasks = false;
    const T* x;
    int64_t row_stride;

    template <int kPack>
    bool takes(int64_t cols) const {
        return takes_packs<kPack>(x, row_stride, cols);
    }

    struct Row {
        const T* x;

        template <int kPack>
        __device__ Pack<T, kPack> fetch(int col, bool is_there, T padding) const {
            Pack<T, kPack> pack;
#pragma unroll
            for (T& element : pack.element) element = padding;
            if (is_there) pack = *reinterpret_cast<const Pack<T, kPack>*>(x + col);
            return pack;
        }
        template <class Compute, int kPack>
        __device__ Compute element(const Pack<T, kPack>& pack, int i, int /*col*/) const {
            return static_cast<Compute>(pack.element[i]);
        }
    };
    __device__ Row at(int64_t row) const {
        return {x + row * row_stride};
    }
};

// Stores element (row, col) to y[row * row_stride + col] and does nothing else.
template <class T>
struct DirectStore {
    using Element = T;
    T* y;
    int64_t row_stride;

    template <int kPack>
    bool takes(int64_t cols) const {
        return takes_packs<kPack>(y, row_stride, cols);
    }

    template <int kPack, class Compute>
    __device__ void store(const Compute* from, int64_t row, int64_t col) const {
        Pack<T, kPack> pack;
#pragma unroll
        for (int i = 0; i < kPack; ++i) pack.element[i] = static_cast<T>(from[i]);
        *reinterpret_cast<Pack<T, kPack>*>(y + row * row_stride + col) = pack;
    }
};

}  // namespace warp_softmax
