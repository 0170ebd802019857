// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/small_lists, version 1.0
//
// Finds up to 512 best elements of rows of moderate length, with the fewest threads that have room for the
// candidates.
//   new here   the list of block_topk.cuh for a block of 128 or 64 threads, or for a warp, which needs no barrier:
//              more rows are in flight at once, and some rows load while others sort
//   traffic    as block_topk.cuh; the sample has 512 elements, 1024 for 128 threads
//   accepts    float, __half, __nv_bfloat16; any address; k up to 4 per thread and up to cols
//   order      as in the lesson
//   source     as block_topk.cuh
#pragma once
#include "block_topk.cuh"

namespace softmax_topk {

constexpr int kListWarps = 4;  // per block, with a row each

// A warp per row: threadIdx.y is the warp, threadIdx.x the lane.
template <class T>
__global__ void __launch_bounds__(kListWarps * 32, 6)
    warp_list_kernel(const T* x, Outputs<T> outputs, int64_t rows, int64_t cols, int64_t k) {
    using List = CandidateList<32>;
    __shared__ List::Shared shared[kListWarps];
    const int64_t row = int64_t{blockIdx.x} * kListWarps + threadIdx.y;
    if (row >= rows) return;
    const Range<T> range{x + row * cols, 0, cols};

    List list(shared[threadIdx.y], k);
    Normalizer mine = put_range<false>(list, range, cols);
    if (list.count() > List::kRoom || list.count() < k) {
        list.restart();
        mine = put_range<true>(list, range, cols);
    }
    const Normalizer all = merge_in_warp(mine);
    const Key* keys = list.sorted();
    for (int64_t i = threadIdx.x; i < k; i += 32) write(outputs, row, k, i, keys[i], all);
}

// True if this list can sort k elements and hardly ever lacks room. The expected number of candidates plus three
// standard deviations must fit; the guess is the sample's element of the likely rank, or of a rank up to a quarter
// higher.
template <class List>
bool has_room_for(int64_t k, int64_t cols) {
    constexpr int64_t kSample = List::kSample * List::kThreads;
    constexpr int64_t kBatch = kBatchElements * List::kThreads;
    if (k > 4 * List::kThreads) return false;
    if (cols <= kBatch) return true;  // the whole row is the sample
    const float rank = static_cast<float>(likely_rank(k, kSample, cols)) * 9 / 8;
    const float expected = rank * static_cast<float>(cols) / static_cast<float>(kSample);
    return expected * (1 + 3 / std::sqrt(rank)) <= static_cast<float>(List::kRoom);
}

// Returns the smallest number of threads per row that can hold the row's candidates and keeps the GPU at least half
// full.
inline int threads_of_list(int64_t rows, int64_t cols, int64_t k, int multiprocessors) {
    constexpr int64_t kHalf = 512;  // threads per multiprocessor, with 64 registers each
    const auto are_enough = [&](int threads) { return rows * threads >= kHalf * multiprocessors; };
    if (are_enough(32) && has_room_for<CandidateList<32>>(k, cols)) return 32;
    if (are_enough(64) && has_room_for<CandidateList<64>>(k, cols)) return 64;
    if (are_enough(128) && has_room_for<CandidateList<128>>(k, cols)) return 128;
    return kBlock;
}

}  // namespace softmax_topk
