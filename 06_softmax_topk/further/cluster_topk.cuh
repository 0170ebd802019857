// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/cluster_topk, version 1.0
//
// Finds up to 1024 best elements of each of a few long rows, with a cluster of blocks per row.
//   new here   one launch. Each block sorts its candidates in its shared memory. Then it counts for each candidate
//              the better candidates in all blocks' lists. This count is the candidate's place in the row's list.
//              No block merges lists, and no exchange goes through device memory
//   traffic    as block_topk.cuh; for a row of up to one batch, the whole row is the sample
//   accepts    as block_topk.cuh
//   needs      compute capability 9.0
//   source     ours
#pragma once
#include <cooperative_groups.h>

#include "block_topk.cuh"

namespace softmax_topk {

// A cluster loads a row as one large block would: every batch contains elements of each block.
template <int kBlocks, class T, int kCount>
using ClusterBatch = Batch<kBlocks * kBlock, T, kCount>;

// Returns approximately the number of the row's elements that a block loads.
template <int kBlocks, class T>
__device__ int64_t share_of(const Range<T>& row, int rank) {
    constexpr int64_t kCols = kBlock * 16 / sizeof(T);  // side by side
    const int64_t rest = row.end % (kBlocks * kCols) - rank * kCols;
    return row.end / (kBlocks * kCols) * kCols + (rest < 0 ? 0 : rest < kCols ? rest : kCols);
}

// Stores the candidates of one block of the cluster and returns the thread's pair. Uses guesses, as
// put_range<false>() does.
template <int kBlocks, int kCount, class T>
__device__ Normalizer put_share(BlockList& list, const Range<T>& row, int rank) {
    using Part = ClusterBatch<kBlocks, T, kCount>;
    const int thread = rank * kBlock + static_cast<int>(threadIdx.x);
    int64_t first = row.first_pack();
    const bool is_one_batch = row.end - first <= Part::kCols;
    typename Part::Held next;
    Part(row, first, thread).fetch(next);
    if (!is_one_batch) guess_from_sample(list, row, row.end);  // the same in all blocks
    Normalizer mine{-INFINITY, 0.f};
    while (first < row.end) {
        const Part part(row, first, thread);
        float x[kCount];
        Part::unpack(next, x);
        first += Part::kCols;
        if (first < row.end) Part(row, first, thread).fetch(next);
        const bool any = add_batch(mine, x, list.threshold().least);
        if (is_one_batch) {
            // Guesses the threshold from the best of each half of a thread's elements: few other elements exceed
            // the guess.
            constexpr int kHalf = kCount / 2;
            const float best[] = {max_of<0, kHalf>(x), max_of<kHalf, kHalf>(x)};
            const int likely = likely_rank(list.k(), share_of<kBlocks>(row, rank), row.end);
            const uint32_t element =
                list.reached_by(likely, list.most_for(likely), best, part.all() != 0 ? 3 : 0);
            if (element != 0) list.guess(element);
        }
        const unsigned bits = any ? part.candidates(x, list.threshold().least) : 0;
        if (!__any_sync(~0u, bits != 0)) continue;
        if (!list.put_at_once(bits, [&](unsigned some) { return part.lowest(some, x); })) break;
    }
    __syncthreads();
    return mine;
}

// The summary of a block's list for the other blocks.
struct Summary {
    Key cut;  // keys below it may be missing
    Normalizer normalizer;
    int count;
};

// Returns the blocks per multiprocessor. (16-bit elements need too many registers for two blocks.)
constexpr int resident_blocks(size_t element_bytes) {
    return element_bytes == 2 ? 1 : 2;
}

// A cluster computes a row: blockIdx.x is the row, blockIdx.y the block's rank in the cluster.
template <int kBlocks, int kCount, class T>
__global__ void __launch_bounds__(kBlock, resident_blocks(sizeof(T)))
    cluster_topk_kernel(const T* x, Outputs<T> outputs, int64_t cols, int64_t k) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    constexpr int kOthers =
        kRoom - static_cast<int>(kMostK);  // keys of all blocks that are compared at a time
    __shared__ BlockList::Shared shared;
    __shared__ Summary summary;
    __shared__ int better[kMostK];  // for each key of the list, the number of better keys
    __shared__ int reached;         // keys that reach all cuts
    const auto cluster = cooperative_groups::this_cluster();
    const int rank = static_cast<int>(blockIdx.y);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    const Range<T> row{x + blockIdx.x * cols, 0, cols};

    BlockList list(shared, k);
    Normalizer mine = put_share<kBlocks, kCount>(list, row, rank);
    for (bool is_sure = false;; is_sure = true) {
        const Normalizer of_share = merge_in_block<kBlock>(mine);
        const bool is_full = list.count() > kRoom;
        if (is_full) list.restart();
        const Key* keys = list.in_order();
        // A key beaten by k keys of this block cannot be in the row's top k.
        const int length = static_cast<int>(k), count = min(list.count(), length);
        if (thread == 0) {
            const Key least = list.count() > length ? keys[length - 1] : list.threshold().key;
            summary = {is_full ? ~Key{0} : least, of_share, count};
            reached = 0;
        }
        for (int i = thread; i < count; i += kBlock) better[i] = 0;
        __cluster_barrier_arrive();
        __cluster_barrier_wait();

        // Lane i of each warp reads the summary of block i.
        Summary heard{1, {-INFINITY, 0.f}, 0};
        if (lane < kBlocks) heard = *cluster.map_shared_rank(&summary, lane);
        const Normalizer all = merge_in_warp(heard.normalizer);
        Key cut = heard.cut;
        int longest = heard.count;
#pragma unroll
        for (int bit = 16; bit > 0; bit /= 2) {
            const Key other = __shfl_xor_sync(~0u, cut, bit);
            cut = other > cut ? other : cut;
            longest = max(longest, __shfl_xor_sync(~0u, longest, bit));
        }
        longest |= 1;  // an odd length: lists searched side by side start in different banks

        // Copies as many lists at a time as fit, mostly all.
        Key* others = shared.keys + kMostK;
        const int at_once = min(kBlocks, kOthers / longest);
        for (int from = 0; from < kBlocks; from += at_once) {
            const int lists = min(at_once, kBlocks - from), places = lists * longest;
            constexpr int kSome = 4;  // per thread and step
            int mine_reached = 0;
            for (int begin = 0; begin < places; begin += kSome * kBlock) {
                Key some[kSome];
#pragma unroll
                for (int i = 0; i < kSome; ++i) {
                    const int at = begin + i * kBlock + thread;
                    const int which = min(at / longest, lists - 1), place = at % longest;
                    const int theirs = __shfl_sync(~0u, heard.count, from + which);
                    some[i] = 0;
                    if (at < places && place < theirs)
                        some[i] = cluster.map_shared_rank(shared.keys, from + which)[place];
                }
#pragma unroll
                for (int i = 0; i < kSome; ++i) {
                    const int at = begin + i * kBlock + thread;
                    if (at < places) others[at] = some[i];
                    mine_reached += __popc(__ballot_sync(~0u, some[i] >= cut));
                }
            }
            if (lane == 0 && mine_reached > 0) atomicAdd(&reached, mine_reached);
            __syncthreads();
            // kBlocks neighbouring threads search for one key, each in one list.
            const int which = thread % kBlocks;
            for (int begin = 0; begin < count; begin += kBlock / kBlocks) {
                const int i = begin + thread / kBlocks;
                int place = 0;
                if (i < count && which < lists) {
                    const Key key = keys[i];
                    const Key* other = others + which * longest;
                    for (int step = 1 << (31 - __clz(longest)); step > 0; step /= 2) {
                        const bool is_better =
                            place + step <= longest && other[place + step - 1] > key;
                        if (is_better) place += step;
                    }
                }
#pragma unroll
                for (int bit = kBlocks / 2; bit > 0; bit /= 2) {
                    place += __shfl_xor_sync(~0u, place, bit);
                }
                if (i < count && which == 0) better[i] += place;
            }
            __syncthreads();
        }
        __cluster_barrier_arrive();  // this block has read what it needs from the others
        // If k keys reach all cuts, the lists contain all k best elements of the row.
        if (is_sure || reached >= k) {
#pragma unroll 1  // nearly always one trip
            for (int i = thread; i < count; i += kBlock) {
                if (better[i] < k) write(outputs, blockIdx.x, k, better[i], keys[i], all);
            }
            __cluster_barrier_wait();  // others may still read this block's memory
            return;
        }
        __cluster_barrier_wait();
        list.restart();
        mine = put_range<true>(list, part_of(row, rank, kBlocks), cols);
    }
#else  // never launched: see largest_cluster_here()
    __trap();
#endif
}

}  // namespace softmax_topk
