// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/softmax_backward, version 1.0
//
// The gradients of softmax and of log-softmax, from the result y and its gradient dy, as an operation of the kernels for
// rows of any length and along any axis.
//   new here   two tensors on the chip, not one; a row or a column is reduced to a sum
//   traffic    2 reads + 1 write per element that stays on the chip; 4 reads + 1 write per other element (log-softmax
//              along another axis: 3 reads)
//   accepts    float, __half, __nv_bfloat16, double; dx may be dy or y
//   needs      CUDA 12.5, as row_teams.cuh
//   source     softmax: dx = (dy - sum(y * dy)) * y; log-softmax: dx = dy - exp(y) * sum(dy)
#pragma once
#include "row_teams.cuh"

namespace smem_softmax {

// ---------------------------------------------------------------- sums, as sets of elements

template <class Compute>
struct Sum {
    using Number = Compute;
    Compute d;
    static __device__ Sum of_none() { return {0}; }
    __device__ Compute base() const { return 0; }
};

template <class Compute>
__device__ Sum<Compute> merged(Sum<Compute> a, Sum<Compute> b) {
    return {a.d + b.d};
}

template <class Compute>
__device__ Sum<Compute> merge_in_warp(Sum<Compute> mine) {
    return {warp_softmax::group_sum<32>(mine.d)};
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
template <class Compute>
__device__ void send(Sum<Compute> set, Sum<Compute>* there, uint64_t* arrived) {
    cuda::ptx::st_async(&there->d, set.d, arrived);
}
#endif

// ---------------------------------------------------------------- the operation

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

// The gradient dx, computed from the tensors y and dy.
template <Algorithm kAlgorithm, class T>
struct GradientOf {
    using Element = T;
    using Compute = ComputeOf<T>;
    using Set = Sum<Compute>;
    static constexpr int kInputs = 2;
    static constexpr int kFirstOfTerm = kAlgorithm == Algorithm::softmax ? 0 : 1;
    static constexpr bool kHasMaximum = false;
    static constexpr int kUnroll = sizeof(T) == 2 ? 2 : 4;
    const T* in[kInputs];  // y and dy
    T* out;

    __host__ __device__ GradientOf at(int64_t row, int64_t cols) const {
        return {{in[0] + row * cols, in[1] + row * cols}, out + row * cols};
    }
    static __device__ T nothing() { return T(0.f); }
    static __device__ Compute term(const Compute (&x)[kInputs], Compute /*base*/) {
        return kAlgorithm == Algorithm::softmax ? x[0] * x[1] : x[1];
    }
    static __device__ Compute last_of(Compute d) { return d; }
    static __device__ T result(const Compute (&x)[kInputs], Compute /*base*/, Compute sum) {
        return static_cast<T>(kAlgorithm == Algorithm::softmax ? (x[1] - sum) * x[0]
                                                               : x[1] - exp_of<T>(x[0]) * sum);
    }

    struct Finish {
        Compute sum;
        explicit __device__ Finish(Set row) : sum(row.d) {}
        __device__ T of(const T (&x)[kInputs]) const {
            return result({static_cast<Compute>(x[0]), static_cast<Compute>(x[1])}, 0, sum);
        }
        __device__ WidePack<T> of_packs(const uint4 (&words)[kInputs]) const {
            WidePack<T> pack;
            for_each_element<T>(words,
                                [&](int i, const auto& x) { pack.element[i] = result(x, 0, sum); });
            return pack;
        }
    };
    __device__ NothingNoted note() const { return {}; }
    __device__ Finish finish(Set row, NothingNoted) const { return Finish(row); }
};

}  // namespace smem_softmax
