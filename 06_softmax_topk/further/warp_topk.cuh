// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/warp_topk, version 1.0
//
// Finds up to 32 best elements of a row, with warps that do not wait for each other while they read.
//   new here   a warp's list has one place per lane; candidates wait in a queue until they fill a second list,
//              which shuffles sort and merge
//   traffic    1 read per element
//   accepts    float, __half, __nv_bfloat16; any address; k up to 32 and up to cols, which are up to 2^31 - 1
//   order      as in the lesson, for any number of warps and blocks per row
//   source     queue and merging network: Johnson, Douze, Jegou 2017, "Billion-scale similarity search with
//              GPUs" (WarpSelect)
#pragma once
#include "reductions.cuh"

namespace softmax_topk {

// Exchanges keys between lanes whose indices differ in `bit`: the lower lane gets the better key.
template <class K>
__device__ K exchanged(K mine, int bit, bool better_first = true) {
    const K other = __shfl_xor_sync(~0u, mine, bit);
    const bool is_lower = (threadIdx.x & bit) == 0;
    return (is_lower == better_first) == (mine > other) ? mine : other;
}
// Sorts a warp's keys, the best in lane 0 (Batcher's bitonic sort).
template <class K>
__device__ K sorted(K mine) {
#pragma unroll
    for (int size = 2; size <= 32; size *= 2) {
#pragma unroll
        for (int bit = size / 2; bit > 0; bit /= 2) {
            mine = exchanged(mine, bit, (threadIdx.x & 31 & size) == 0);
        }
    }
    return mine;
}
// Returns the best 32 of two sorted lists. Each lane keeps the better of a's key and the key of b reversed. These
// are the 32 best keys in bitonic order, which five exchanges sort.
template <class K>
__device__ K merged(K a, K b) {
    const K other = __shfl_sync(~0u, b, 31 - static_cast<int>(threadIdx.x % 32));
    K mine = a > other ? a : other;
#pragma unroll
    for (int bit = 16; bit > 0; bit /= 2) mine = exchanged(mine, bit);
    return mine;
}

constexpr int kWarps = 8;  // per block

// The best 32 that a warp has found, and the candidates in its queue. All lanes make the same calls.
class WarpList {
public:
    __device__ WarpList(Key (&queue)[kWarps][64], int64_t k)
        : queue_(queue[threadIdx.x / 32]), k_(static_cast<int>(k)), lane_(threadIdx.x % 32) {}

    __device__ const Threshold& threshold() const { return threshold_; }

    // Adds one candidate, or a free place, per lane.
    __device__ void offer(Key key) {
        const bool wanted = key >= threshold_.key;
        const unsigned who = __ballot_sync(~0u, wanted);
        if (wanted) queue_[waiting_ + __popc(who & ((1u << lane_) - 1))] = key;
        waiting_ += __popc(who);
        if (waiting_ < 32) return;
        __syncwarp();  // before lanes read what others wrote
        add(sorted(queue_[lane_]));
        waiting_ -= 32;
        const Key next = lane_ < waiting_ ? queue_[lane_ + 32] : 0;
        __syncwarp();  // before lanes overwrite what others read
        if (lane_ < waiting_) queue_[lane_] = next;
    }
    // Raises the threshold to the k-th best of two elements per lane (ordered numbers; 0: none), since k elements
    // reach it. Returns this element.
    __device__ uint32_t raise(uint32_t one, uint32_t another) {
        const uint32_t best = k_ <= 16
                                  ? sorted(max(one, another))  // one element per lane is enough
                                  : merged(sorted(one), sorted(another));
        const uint32_t least = __shfl_sync(~0u, best, k_ - 1);
        threshold_.raise(Key{least} << 32);
        return least;
    }
    // Merges a sorted list.
    __device__ void add(Key list) {
        best_ = merged(best_, list);
        threshold_.raise(__shfl_sync(~0u, best_, k_ - 1));
    }
    // Returns the lane's key in the list of all added candidates.
    __device__ Key finish() {
        __syncwarp();
        if (waiting_ > 0) add(sorted(lane_ < waiting_ ? queue_[lane_] : 0));
        waiting_ = 0;
        return best_;
    }

private:
    Key* queue_;
    int k_, lane_;
    int waiting_ = 0;
    Key best_ = 0;
    Threshold threshold_;
};

// The result of a set of elements: the 32 best keys and the pair.
struct PairAndBest {
    Key best;  // one place per lane
    Normalizer normalizer;
};

// Scans a range, kCount elements per lane at a time.
template <int kCount, class T>
__device__ PairAndBest scan(const Range<T>& range, int64_t k, Key (&queue)[kWarps][64]) {
    using Part = Batch<32, T, kCount>;
    const int lane = static_cast<int>(threadIdx.x % 32);
    // In long rows, the next batch loads while the warp computes the current batch.
    constexpr bool kTwoBatches = kCount == kBatchElements;
    WarpList list(queue, k);
    Normalizer mine{-INFINITY, 0.f};
    typename Part::Held next;
    int64_t first = range.first_pack();
    if (kTwoBatches && first < range.end) Part(range, first, lane).fetch(next);
    while (first < range.end) {
        const Part part(range, first, lane);
        float x[kCount];
        if (!kTwoBatches) part.fetch(next);
        Part::unpack(next, x);
        first += Part::kCols;
        if (kTwoBatches && first < range.end) Part(range, first, lane).fetch(next);

        const bool any = add_batch(mine, x, list.threshold().least);
        if (!__any_sync(~0u, any)) continue;  // most batches

        unsigned bits = 0;
        if (any) {
            bits = list.threshold().is_none() ? part.all()
                                              : part.candidates(x, list.threshold().least);
        }
        constexpr int kHalf = kCount / 2;
        const bool low = bits << (32 - kHalf) != 0, high = bits >> kHalf != 0;
        const int halves = __popc(__ballot_sync(~0u, low)) + __popc(__ballot_sync(~0u, high));
        if (halves > k) {
            const uint32_t least = list.raise(low ? ordered(max_of<0, kHalf>(x)) : 0,
                                              high ? ordered(max_of<kHalf, kHalf>(x)) : 0);
            bits &= part.candidates(x, number_of(least));
        }
        while (__any_sync(~0u, bits != 0)) {
            list.offer(part.lowest(bits, x));
            bits &= bits - 1;
        }
    }
    return {list.finish(), merge_in_warp(mine)};
}

// Merges the results of a block's warps into warp 0: in each step, half of the warps merge the other half's results
// into their own.
template <int kCount, int kPlaces>
__device__ PairAndBest merge_lists_in_block(PairAndBest mine, Key (&best)[kCount][kPlaces]) {
    __shared__ Normalizer normalizers[kCount];
    const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
    for (int half = kCount / 2; half > 0; half /= 2) {
        if (warp >= half && warp < 2 * half) {
            best[warp][lane] = mine.best;
            if (lane == 0) normalizers[warp] = mine.normalizer;
        }
        __syncthreads();
        if (warp < half) {
            mine.best = merged(mine.best, best[warp + half][lane]);
            mine.normalizer = merge(mine.normalizer, normalizers[warp + half]);
        }
    }
    return mine;
}

// If kShared, the warps of a block share a row, or the part blockIdx.y of a row; otherwise each warp computes a
// row. Results go to `outputs`, but if several blocks share a row to `partial`, 32 keys per block.
template <bool kShared, int kCount, class T>
__global__ void __launch_bounds__(kWarps * 32, kShared ? 3 : 4)
    warp_topk_kernel(const T* x, Outputs<T> outputs, Partial partial, int64_t rows, int64_t cols,
                     int64_t k) {
    __shared__ Key queue[kWarps][64];
    const int64_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t row = kShared ? blockIdx.x : int64_t{blockIdx.x} * kWarps + warp;
    if (row >= rows) return;  // whole warps, and no barrier follows
    const int64_t parts = kShared ? int64_t{gridDim.y} * kWarps : 1;
    const int64_t part = kShared ? int64_t{blockIdx.y} * kWarps + warp : 0;
    PairAndBest found =
        scan<kCount>(part_of(Range<T>{x + row * cols, 0, cols}, part, parts), k, queue);
    if constexpr (kShared) {
        found = merge_lists_in_block(found, queue);
        if (warp != 0) return;
        if (partial.best != nullptr) {
            const int64_t slice = row * gridDim.y + blockIdx.y;
            partial.best[slice * 32 + lane] = found.best;
            if (lane == 0) partial.normalizers[slice] = found.normalizer;
            return;
        }
    }
    if (lane < k) write(outputs, row, k, lane, found.best, found.normalizer);
}

// Merges the results of a row's slices, with one block per row.
constexpr int kMergingWarps = 32;
template <class T>
__global__ void __launch_bounds__(kMergingWarps * 32)
    merge_lists_kernel(Partial partial, int64_t slices, Outputs<T> outputs, int64_t k) {
    __shared__ Key lists[kMergingWarps][32];
    const int64_t row = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    PairAndBest found{0, {-INFINITY, 0.f}};
    for (int64_t slice = row * slices + warp; slice < (row + 1) * slices; slice += kMergingWarps) {
        found.best = merged(found.best, partial.best[slice * 32 + lane]);
        found.normalizer = merge(found.normalizer, partial.normalizers[slice]);
    }
    found = merge_lists_in_block(found, lists);
    if (warp == 0 && lane < k) write(outputs, row, k, lane, found.best, found.normalizer);
}

}  // namespace softmax_topk
