// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/warp_threshold, version 1.0
//
// Up to 128 best of a row, by a warp.
//   new here   a block's way, a threshold guessed from a sample and candidates that wait in shared memory, by a warp
//              alone: nobody waits at a barrier, and while one row's candidates are put in order others are read
//   traffic    1 read per element, 2 where the guess was wrong, and of rows of more than 512 that many for the sample
//   accepts    float, __half, __nv_bfloat16; any address; k up to 128 and up to cols, which are up to 2^31 - 1
//   order      as in the lesson
//   source     as block_topk.cuh
#pragma once
#include "block_topk.cuh"

namespace softmax_topk {

constexpr int kListWarps = 4;             // of a block, a row each
constexpr int64_t kMostOfWarpList = 128;  // of which a warp sorts the best
using WarpCandidates = CandidateList<32, 512>;

// threadIdx.y is the warp, threadIdx.x the lane.
template <class T>
__global__ void __launch_bounds__(kListWarps * 32, 6)
    warp_threshold_kernel(const T* x, Outputs<T> outputs, int64_t rows, int64_t cols, int64_t k) {
    __shared__ WarpCandidates::Shared shared[kListWarps];
    const int64_t row = int64_t{blockIdx.x} * kListWarps + threadIdx.y;
    if (row >= rows) return;
    const Slice<T> slice{x + row * cols, 0, cols};

    WarpCandidates list(shared[threadIdx.y], k);
    Normalizer mine = put_slice<false>(list, slice, cols);
    if (list.count() > WarpCandidates::kRoom || list.count() < k) {
        list.restart();
        mine = put_slice<true>(list, slice, cols);
    }
    const Normalizer all = warp_normalizer(mine);
    const Key* keys = list.sorted();
    for (int64_t i = threadIdx.x; i < k; i += 32) write(outputs, row, k, i, keys[i], all);
}

// Whether a warp's room is hardly ever too small for what reaches its guess: four deviations more than are expected.
inline bool has_room_for_guess(int64_t k, int64_t cols) {
    constexpr int64_t kSample = WarpCandidates::kSample * 32;
    if (k > kMostOfWarpList) return false;
    if (cols <= kSample) return true;  // which is its own sample
    const auto rank = static_cast<float>(likely_rank(k, kSample, cols));
    const float expected = rank * static_cast<float>(cols) / kSample;
    return expected * (1 + 4 / sqrtf(rank)) <= WarpCandidates::kRoom;
}

}  // namespace softmax_topk
