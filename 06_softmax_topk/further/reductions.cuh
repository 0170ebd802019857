// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/reductions, version 1.0
//
// The reductions of this folder: of a warp (all lanes get the result) and of a block (all threads get the
// result).
//   new here   nothing: shuffles within a warp, shared memory and barriers within a block
//   used by    warp_topk.cuh, block_topk.cuh, mass_cut.cuh and the headers that include them
#pragma once
#include <cub/block/block_reduce.cuh>

#include "row_scan.cuh"

namespace softmax_topk {

// ---------------------------------------------------------------- normalizer pairs

// Returns the pair of the union of two sets of elements.
__device__ inline Normalizer merge(Normalizer a, Normalizer b) {
    const float m = fmaxf(a.m, b.m);
    const float base = base_of(m);
    return {m, a.d * short_exp(a.m - base) + b.d * short_exp(b.m - base)};
}
struct MergeNormalizers {
    __device__ Normalizer operator()(Normalizer a, Normalizer b) const { return merge(a, b); }
};

__device__ inline Normalizer merge_in_warp(Normalizer mine, float scale = kLog2e) {
    const float m = warp_softmax::warp_max(mine.m);
    return {m, warp_softmax::warp_sum(mine.d * short_exp(mine.m - base_of(m), scale))};
}
template <int kThreads>
__device__ Normalizer merge_in_block(Normalizer mine) {
    using ReduceNormalizers = cub::BlockReduce<Normalizer, kThreads>;
    __shared__ typename ReduceNormalizers::TempStorage scratch;
    __shared__ Normalizer normalizer;
    const Normalizer all = ReduceNormalizers(scratch).Reduce(mine, MergeNormalizers{});
    if (threadIdx.x == 0) normalizer = all;
    __syncthreads();
    return normalizer;
}

// ---------------------------------------------------------------- sums and maxima

// Reserves a place for each bit of all lanes of a warp. Returns the first place of this lane. count: the places that
// are taken, in shared memory.
__device__ inline int reserve_places(unsigned bits, int* count) {
    const int lane = threadIdx.x % 32;
    const int mine = __popc(bits);
    int up_to = mine;  // in this lane and those before it
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(~0u, up_to, step);
        if (lane >= step) up_to += before;
    }
    const int first = lane == 31 ? atomicAdd(count, up_to) : 0;
    return __shfl_sync(~0u, first, 31) + up_to - mine;
}

template <class Number>
__device__ Number sum_in_warp(Number mine) {
    for (int bit = 16; bit > 0; bit /= 2) mine += __shfl_xor_sync(~0u, mine, bit);
    return mine;
}
// From compute capability 8.0 on, a warp has an instruction for a sum of 32 bits.
__device__ inline unsigned long long sum_in_warp(unsigned long long mine) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    constexpr int kBits = 22;  // the sum of 32 such numbers has 27 bits
    unsigned long long sum = 0;
#pragma unroll
    for (int bit = 0; bit < 64; bit += kBits) {
        const auto bits = static_cast<unsigned>(mine >> bit) & ((1u << kBits) - 1);
        sum += static_cast<unsigned long long>(__reduce_add_sync(~0u, bits)) << bit;
    }
    return sum;
#else
    return sum_in_warp<unsigned long long>(mine);
#endif
}
// Computes kCount sums at once.
template <int kThreads, class Number, int kCount>
__device__ void sums_in_block(Number (&mine)[kCount]) {
    __shared__ Number of_warp[kThreads / 32][kCount];
    __shared__ Number of_block[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        mine[i] = sum_in_warp(mine[i]);
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32][i] = mine[i];
    }
    __syncthreads();  // all threads have also read the sums of the previous call
    if (threadIdx.x < kCount) {
        Number sum = 0;
        for (int warp = 0; warp < kThreads / 32; ++warp) sum += of_warp[warp][threadIdx.x];
        of_block[threadIdx.x] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i) mine[i] = of_block[i];
}
template <int kThreads, class Number>
__device__ Number sum_in_block(Number mine) {
    Number one[] = {mine};
    sums_in_block<kThreads>(one);
    return one[0];
}
template <int kThreads, class Number>
__device__ Number max_in_block(Number mine) {
    const auto larger = [](Number a, Number b) { return a > b ? a : b; };
    using BlockReduce = cub::BlockReduce<Number, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ Number result;
    mine = BlockReduce(scratch).Reduce(mine, larger);
    if (threadIdx.x == 0) result = mine;  // only thread 0 has it
    __syncthreads();
    return result;
}

}  // namespace softmax_topk
