// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/block_topk, version 1.0
//
// Up to 1024 best of a row, by a block.
//   new here   the best are not kept in order while the row is read: a threshold keeps most elements out, the
//              others wait in shared memory, and when it is full the k-th best of them is the next threshold,
//              which is found by counting in 256 bins at a time
//   traffic    1 read per element
//   accepts    float, __half, __nv_bfloat16; any address; k up to 1024 and up to cols, which are up to 2^31 - 1
//   order      as in the lesson, whatever the number of blocks that share a row
//   source     ours; a threshold from a sample: Floyd & Rivest 1975, "Expected time bounds for selection"
#pragma once
#include <cub/block/block_reduce.cuh>

#include "row_scan.cuh"

namespace softmax_topk {

constexpr int kBlock = 256;       // threads
constexpr int64_t kMostK = 1024;  // of which a block sorts the best

constexpr int kRoom = 4096;  // candidates that a block keeps
constexpr int kBins = kBlock;

// Candidates of a block's row, in shared memory. All threads make the same calls.
class BlockList {
public:
    struct Shared {
        Key keys[kRoom];
        Pack<int, 4> bins[2][kBins / 4];
        int count;
        unsigned top;  // no element is better
    };

    __device__ BlockList(Shared& shared, int64_t k)
        : shared_(shared), k_(static_cast<int>(k)), lane_(static_cast<int>(threadIdx.x % 32)) {
        if (threadIdx.x == 0) {
            shared.count = 0;
            shared.top = 0;
        }
        __syncthreads();
    }

    __device__ const Threshold& threshold() const { return threshold_; }

    // The k-th best of the block's elements, each as a number in their order, 0 for none: a threshold, since k
    // have as much. It is returned; 0 if there are fewer.
    template <int kCount>
    __device__ uint32_t raise(const uint32_t (&elements)[kCount]) {
        uint32_t best = 0;
        for (const uint32_t element : elements) best = max(best, element);
        const Key least = kth_best(1, top_of(best), [&](auto visit) {
            for (const uint32_t element : elements) visit(Key{element});
        });
        const auto element = static_cast<uint32_t>(least);
        if (least <= 1) return 0;
        threshold_.raise(least << 32);
        return element;
    }
    // For all threads the same: k of what will be put reach it.
    __device__ void raise_to(Key key) { threshold_.raise(key); }
    // As many candidates of a warp's lanes as there is room for: a bit for each; those that are left are
    // returned. key_of_lowest(bits): the lowest one, a free place where none is set.
    template <class KeyOfLowest>
    __device__ unsigned put(unsigned bits, KeyOfLowest key_of_lowest) {
        while (__any_sync(~0u, bits != 0)) {
            const Key key = key_of_lowest(bits);
            const bool is_wanted = key >= threshold_.key;
            const unsigned who = __ballot_sync(~0u, is_wanted);
            int at = 0;
            if (lane_ == 0 && who != 0) at = atomicAdd(&shared_.count, __popc(who));
            at = __shfl_sync(~0u, at, 0) + __popc(who & ((1u << lane_) - 1));
            const bool has_place = at < kRoom;
            if (is_wanted && has_place) shared_.keys[at] = key;
            if (!is_wanted || has_place) bits &= bits - 1;
            if (__any_sync(~0u, is_wanted && !has_place)) break;
        }
        return bits;
    }
    // The same of all threads, with a threshold that rises where there is no room. not_below(element): a bit for
    // each that is as good.
    template <class KeyOfLowest, class NotBelow>
    __device__ void put_all(unsigned bits, KeyOfLowest key_of_lowest, NotBelow not_below) {
        for (;;) {
            bits = put(bits, key_of_lowest);
            if (!__syncthreads_or(bits != 0)) return;
            keep_best();
            bits &= not_below(element_of(threshold_.key));
        }
    }
    // All have put what they wanted. The k best, in order.
    __device__ const Key* sorted() {
        __syncthreads();
        if (k_ <= kBlock) return sorted<1>();
        return k_ <= 2 * kBlock ? sorted<2>() : sorted<4>();
    }

private:
    // The threshold becomes the k-th best; what does not reach it goes. (The threads have met since the last put.)
    __device__ void keep_best() {
        const int count = min(shared_.count, kRoom);
        uint32_t best = 0;
        for (int i = threadIdx.x; i < count; i += kBlock) {
            best = max(best, static_cast<uint32_t>(shared_.keys[i] >> 32));
        }
        const Key top = Key{top_of(best)} << 32 | ~0u;
        threshold_.raise(kth_best(threshold_.key, top, [&](auto visit) {
            for (int i = threadIdx.x; i < count; i += kBlock) visit(shared_.keys[i]);
        }));
        if (threadIdx.x == 0) shared_.count = 0;
        constexpr int kSome = 4;  // of a thread
        for (int begin = 0; begin < count; begin += kSome * kBlock) {
            Key keys[kSome];
#pragma unroll
            for (int j = 0; j < kSome; ++j) {
                const int i = begin + j * kBlock + static_cast<int>(threadIdx.x);
                keys[j] = i < count ? shared_.keys[i] : 0;
            }
            __syncthreads();  // as many places are free as keys were read
#pragma unroll
            for (int j = 0; j < kSome; ++j)
                put(1, [&](unsigned bits) { return bits != 0 ? keys[j] : 0; });
        }
        __syncthreads();
    }
    // The block's largest, or what was larger in an earlier call, after which the threads have met.
    __device__ uint32_t top_of(uint32_t mine) {
        for (int bit = 16; bit > 0; bit /= 2) mine = max(mine, __shfl_xor_sync(~0u, mine, bit));
        if (lane_ == 0) atomicMax(&shared_.top, mine);
        __syncthreads();
        return shared_.top;
    }

    // The least key that k of the block's keys reach and no more, except for equal ones; low if there are fewer.
    // for_each(visit): the thread's keys, of which those below low are none. None is above high.
    //
    // The range is cut into 256 bins, and the keys in each are counted. From the best bin down, in one of them the
    // count passes k: that is the next range.
    template <class ForEach>
    __device__ Key kth_best(Key low, Key high, ForEach for_each) {
        int above = 0;  // keys that are better than the range
        for (int turn = 0;; ++turn) {
            Pack<int, 4>* bins = shared_.bins[turn % 2];  // the other's may still be read
            bins[threadIdx.x / 4].element[threadIdx.x % 4] = 0;
            __syncthreads();
            const int shift = max(0, 56 - __clzll(static_cast<long long>(high - low)));
            for_each([&](Key key) {
                if (key < low || key > high) return;
                const auto bin = kBins - 1 - static_cast<int>((key - low) >> shift);  // best first
                atomicAdd(&bins[bin / 4].element[bin % 4], 1);
            });
            __syncthreads();
            // Each warp for itself: a lane has eight bins.
            int counts[8], mine = 0;
#pragma unroll
            for (int i = 0; i < 8; i += 4) {
                const Pack<int, 4> four = bins[2 * lane_ + i / 4];
#pragma unroll
                for (int j = 0; j < 4; ++j) mine += counts[i + j] = four.element[j];
            }
            int up_to = mine;  // in this lane's bins and all that are better
            for (int step = 1; step < 32; step *= 2) {
                const int before = __shfl_up_sync(~0u, up_to, step);
                if (lane_ >= step) up_to += before;
            }
            const unsigned who = __ballot_sync(~0u, above + up_to >= k_);
            if (who == 0) return low;
            int bin = 8 * lane_, better = above + up_to - mine, within = counts[0];
#pragma unroll
            for (int i = 1; i < 8; ++i) {
                if (better + within >= k_) break;
                better += within;
                within = counts[i];
                ++bin;
            }
            const int lane = __ffs(static_cast<int>(who)) - 1;
            bin = __shfl_sync(~0u, bin, lane);
            above = __shfl_sync(~0u, better, lane);
            const int reached = above + __shfl_sync(~0u, within, lane);
            low += static_cast<Key>(kBins - 1 - bin) << shift;
            if (reached == k_ || shift == 0) return low;
            high = low + min(high - low, (Key{1} << shift) - 1);
        }
    }

    // A thread has kEach neighbours of a list of kEach * kBlock (Batcher's bitonic sort).
    template <int kEach>
    __device__ const Key* sorted() {
        if (shared_.count > kEach * kBlock) keep_best();
        Key* keys = shared_.keys;
        const int count = shared_.count, thread = static_cast<int>(threadIdx.x);
        int places = 32;
        while (places < count) places *= 2;
        Key mine[kEach];
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const int i = thread * kEach + j;
            mine[j] = i < count ? keys[i] : 0;
        }
        for (int size = 2; size <= places; size *= 2) {
            // Of two places, whether the lower has the better key.
            const auto is_falling = [&](int j) { return ((thread * kEach + j) & size) == 0; };
            for (int bit = size / 2; bit > 0; bit /= 2) {
                const int other_thread = bit / kEach;
                if (other_thread >= 32) {  // of another warp
                    __syncthreads();
#pragma unroll
                    for (int j = 0; j < kEach; ++j) keys[j * kBlock + thread] = mine[j];
                    __syncthreads();
                }
                if (other_thread > 0) {
                    const bool is_lower = (thread & other_thread) == 0;
#pragma unroll
                    for (int j = 0; j < kEach; ++j) {
                        const Key other = other_thread < 32
                                              ? __shfl_xor_sync(~0u, mine[j], other_thread)
                                              : keys[j * kBlock + (thread ^ other_thread)];
                        const bool wants_better = is_lower == is_falling(j);
                        mine[j] = wants_better == (mine[j] > other) ? mine[j] : other;
                    }
                }
#pragma unroll
                for (int step = kEach / 2; step > 0; step /= 2) {
                    if (step != bit) continue;
#pragma unroll
                    for (int j = 0; j < kEach; ++j) {
                        if ((j & step) != 0) continue;
                        const Key a = mine[j], b = mine[j + step];
                        const bool in_order = (a > b) == is_falling(j);
                        mine[j] = in_order ? a : b;
                        mine[j + step] = in_order ? b : a;
                    }
                }
            }
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < kEach; ++j) keys[thread * kEach + j] = mine[j];
        __syncthreads();
        return keys;
    }

    Shared& shared_;
    int k_, lane_;
    Threshold threshold_;
};

// The block's pair, in thread 0.
struct MergeNormalizers {
    __device__ Normalizer operator()(Normalizer a, Normalizer b) const { return merge(a, b); }
};
using ReduceNormalizers = cub::BlockReduce<Normalizer, kBlock>;

// The list in order and the pair, which thread 0 has, as outputs, or as what a slice leaves.
template <class T>
__device__ void hand_over(const Key* keys, Normalizer mine, int64_t row, int64_t k,
                          const Outputs<T>& outputs, const Partial& partial) {
    __shared__ Normalizer normalizer;
    if (threadIdx.x == 0) normalizer = mine;
    __syncthreads();
    const int64_t slice = row * gridDim.y + blockIdx.y;
    if (partial.best != nullptr && threadIdx.x == 0) partial.normalizers[slice] = normalizer;
    for (int64_t i = threadIdx.x; i < k; i += kBlock) {
        if (partial.best != nullptr) {
            partial.best[slice * k + i] = keys[i];
        } else {
            write(outputs, row, k, i, keys[i], normalizer);
        }
    }
}

// A block per row and slice of it: blockIdx.x is the row, blockIdx.y the slice. What is found goes to `outputs`,
// of slices to `partial`, k keys each.
template <class T>
__global__ void __launch_bounds__(kBlock, 3)
    block_topk_kernel(const T* x, Outputs<T> outputs, Partial partial, int64_t cols, int64_t k) {
    using Part = Batch<kBlock, T>;
    __shared__ BlockList::Shared shared;
    __shared__ typename ReduceNormalizers::TempStorage scratch;

    const int64_t row = blockIdx.x;
    const auto slice = part_of(Slice<T>{x + row * cols, 0, cols}, blockIdx.y, gridDim.y);

    BlockList list(shared, k);
    Normalizer mine{-INFINITY, 0.f};
    typename Part::Held next;
    int64_t first = slice.first_pack();
    if (first < slice.end) Part(slice, first, threadIdx.x).fetch(next);
    for (bool is_first = true; first < slice.end; is_first = false) {
        const Part part(slice, first, threadIdx.x);
        float x_[kAtOnce];
        Part::unpack(next, x_);
        first += Part::kCols;  // is on its way while these are looked at
        if (first < slice.end) Part(slice, first, threadIdx.x).fetch(next);

        unsigned bits = 0;
        if (add_batch(mine, x_, list.threshold().least)) {
            bits = is_first ? part.all() : part.candidates(x_, list.threshold().least);
        }
        // The first batch would send everything. The k-th best of so many groups' own best is a threshold.
        constexpr int kGroups = 4, kOfGroup = kAtOnce / kGroups;
        if (is_first && k <= kGroups * kBlock / 2) {
            const float best[kGroups] = {max_of<0, kOfGroup>(x_), max_of<kOfGroup, kOfGroup>(x_),
                                         max_of<2 * kOfGroup, kOfGroup>(x_),
                                         max_of<3 * kOfGroup, kOfGroup>(x_)};
            uint32_t elements[kGroups];
#pragma unroll
            for (int i = 0; i < kGroups; ++i) {
                const bool has_any = (bits >> i * kOfGroup & ((1u << kOfGroup) - 1)) != 0;
                elements[i] = has_any ? ordered(best[i]) : 0;
            }
            const uint32_t least = list.raise(elements);
            if (least != 0) bits &= part.candidates(x_, number_of(least));
        }
        list.put_all(
            bits, [&](unsigned some) { return part.lowest(some, x_); },
            [&](float least) { return part.candidates(x_, least); });
    }
    const Normalizer all = ReduceNormalizers(scratch).Reduce(mine, MergeNormalizers{});
    hand_over(list.sorted(), all, row, k, outputs, partial);
}

// A block per row merges what the slices of the row left.
template <class T>
__global__ void __launch_bounds__(kBlock)
    merge_slices_kernel(Partial partial, int64_t slices, Outputs<T> outputs, int64_t k) {
    __shared__ BlockList::Shared shared;
    __shared__ typename ReduceNormalizers::TempStorage scratch;
    BlockList list(shared, k);
    const int64_t row = blockIdx.x;
    const Key* keys = partial.best + row * slices * k;

    // Lists are in order: where each slice has p + 1 elements that are as good as something, and these are k or
    // more, it is a threshold. (Of a slice with fewer it is a free place, which raises nothing.)
    __shared__ unsigned least;
    if (threadIdx.x == 0) least = ~0u;
    __syncthreads();
    const int64_t p = (k - 1) / slices;
    for (int64_t slice = threadIdx.x; slice < slices; slice += kBlock) {
        atomicMin(&least, static_cast<unsigned>(keys[slice * k + p] >> 32));
    }
    __syncthreads();
    list.raise_to(Key{least} << 32);

    constexpr int kSome = 8;  // of a thread at a time
    for (int64_t begin = 0; begin < slices * k; begin += kSome * kBlock) {
        Key mine[kSome];
        unsigned bits = 0;
#pragma unroll
        for (int i = 0; i < kSome; ++i) {
            const int64_t at = begin + i * kBlock + threadIdx.x;
            mine[i] = at < slices * k ? keys[at] : 0;
        }
#pragma unroll
        for (int i = 0; i < kSome; ++i) {
            if (mine[i] >= list.threshold().key) bits |= 1u << i;
        }
        const auto lowest = [&](unsigned some) {
            Key key = 0;
#pragma unroll
            for (int i = kSome - 1; i >= 0; --i) key = (some >> i & 1) != 0 ? mine[i] : key;
            return key;
        };
        list.put_all(bits, lowest, [](float) { return ~0u; });
    }
    Normalizer mine{-INFINITY, 0.f};
    for (int64_t slice = threadIdx.x; slice < slices; slice += kBlock) {
        mine = merge(mine, partial.normalizers[row * slices + slice]);
    }
    const Normalizer all = ReduceNormalizers(scratch).Reduce(mine, MergeNormalizers{});
    hand_over(list.sorted(), all, row, k, outputs, Partial{});
}

}  // namespace softmax_topk
