// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/block_topk, version 1.0
//
// Up to 1024 best of a row, by a block.
//   new here   the best are not kept in order while the row is read: a threshold keeps most elements out, the
//              others wait in shared memory, and when it is full the k-th best of them is the next threshold
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

// The least key that k or fewer of the block's keys reach, and all that are better: exactly k, if there are
// so many. count(key): how many of them reach it, told to all threads. Keys are from `low` on.
template <class Count>
__device__ Key kth_best(int k, Key low, Count count) {
    Key high = ~Key{0};
    while (low < high) {
        const Key middle = low + (high - low) / 2 + 1;
        const int reached = count(middle);
        if (reached == k) return middle;
        if (reached > k) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// Candidates of a block's row, in shared memory. All threads make the same calls.
template <int kRoom>
class BlockList {
public:
    using Sum = cub::BlockReduce<int, kBlock>;
    struct Shared {
        Key keys[kRoom];
        int count, sum;
        typename Sum::TempStorage scratch;
    };

    __device__ BlockList(Shared& shared, int64_t k) : shared_(shared), k_(static_cast<int>(k)) {
        if (threadIdx.x == 0) shared.count = 0;
        __syncthreads();
    }

    __device__ const Threshold& threshold() const { return threshold_; }

    // Of those threads that have a candidate at all, their best. If these are more than k, the k-th best of
    // them is a threshold: at most k threads have anything that reaches it.
    __device__ void raise(Key best_of_thread) {
        threshold_.raise(kth_best(k_, threshold_.key, [&](Key key) {
            return __syncthreads_count(best_of_thread >= key);
        }));
    }
    // Of one thread; there has to be room.
    __device__ void put(Key key) {
        if (key >= threshold_.key) shared_.keys[atomicAdd(&shared_.count, 1)] = key;
    }
    // All have put what they wanted: there shall be room for so many more.
    __device__ void make_room(int more) {
        __syncthreads();
        const bool is_full = shared_.count > kRoom - more;
        __syncthreads();  // all have read it before anybody puts more
        if (is_full) keep_best();
    }
    // The k best, in order, the rest of `places` free. places: a power of two, k or more.
    __device__ const Key* sorted(int places) {
        __syncthreads();
        if (shared_.count > k_) keep_best();
        Key* keys = shared_.keys;
        for (int i = shared_.count + threadIdx.x; i < places; i += kBlock) keys[i] = 0;
        for (int size = 2; size <= places; size *= 2) {
            for (int bit = size / 2; bit > 0; bit /= 2) {
                __syncthreads();
                for (int pair = threadIdx.x; pair < places / 2; pair += kBlock) {
                    const int i = 2 * pair - (pair & (bit - 1));  // the bit is 0 in i
                    const Key a = keys[i], b = keys[i + bit];
                    if ((a < b) == ((i & size) == 0)) {
                        keys[i] = b;
                        keys[i + bit] = a;
                    }
                }
            }
        }
        __syncthreads();
        return keys;
    }

private:
    // The threshold becomes the k-th best; what does not reach it goes.
    __device__ void keep_best() {
        const int count = shared_.count;
        threshold_.raise(kth_best(k_, threshold_.key, [&](Key key) {
            int mine = 0;
            for (int i = threadIdx.x; i < count; i += kBlock) mine += shared_.keys[i] >= key;
            return block_sum(mine);
        }));
        __syncthreads();
        if (threadIdx.x == 0) shared_.count = 0;
        for (int begin = 0; begin < count; begin += kBlock) {
            const int i = begin + static_cast<int>(threadIdx.x);
            const Key key = i < count ? shared_.keys[i] : 0;
            __syncthreads();  // as many places are free as keys were read
            put(key);
        }
        __syncthreads();
    }
    __device__ int block_sum(int mine) {
        const int sum = Sum(shared_.scratch).Sum(mine);
        if (threadIdx.x == 0) shared_.sum = sum;
        __syncthreads();  // also: the scratch may be used again
        return shared_.sum;
    }

    Shared& shared_;
    int k_;
    Threshold threshold_;
};

// Enough for a batch of which nothing can be left out, and more, so that the room is seldom made.
constexpr int kRoomOf32To128 = 4096;
constexpr int kRoomOfMore = 8192;

// The block's pair, in thread 0.
struct MergeNormalizers {
    __device__ Normalizer operator()(Normalizer a, Normalizer b) const { return merge(a, b); }
};
using ReduceNormalizers = cub::BlockReduce<Normalizer, kBlock>;

inline __host__ __device__ int places_for(int64_t k) {
    int places = 1;
    while (places < k) places *= 2;
    return places;
}

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
template <int kRoom, class T>
__global__ void __launch_bounds__(kBlock)
    block_topk_kernel(const T* x, Outputs<T> outputs, Partial partial, int64_t cols, int64_t k) {
    using List = BlockList<kRoom>;
    using Part = Batch<kBlock, T>;
    static_assert(kRoom >= kMostK + Part::kCols || kRoom >= 128 + 128 * kAtOnce,
                  "beside the best, there is room for a batch of candidates");
    extern __shared__ __align__(16) unsigned char memory[];
    auto& shared = *reinterpret_cast<typename List::Shared*>(memory);
    __shared__ typename ReduceNormalizers::TempStorage scratch;

    const int64_t row = blockIdx.x;
    const auto slice = part_of(Slice<T>{x + row * cols, 0, cols}, blockIdx.y, gridDim.y);

    List list(shared, k);
    Normalizer mine{-INFINITY, 0.f};
    for (int64_t first = slice.first_pack(); first < slice.end; first += Part::kCols) {
        const Part part(slice, first, threadIdx.x);
        float x_[kAtOnce];
        part.load(x_);
        unsigned bits = 0;
        if (add_batch(mine, x_, list.threshold().element)) {
            bits = part.candidates(x_, list.threshold());
        }
        const int threads = __syncthreads_count(bits != 0);
        if (threads == 0) continue;
        if (threads > k) {
            list.raise(part.best(bits, x_));
            bits = part.candidates(x_, list.threshold());
        }
        for (; bits != 0; bits &= bits - 1) list.put(part.lowest(bits, x_));
        list.make_room(static_cast<int>(k < kBlock ? k : kBlock) * kAtOnce);
    }
    const Normalizer all = ReduceNormalizers(scratch).Reduce(mine, MergeNormalizers{});
    hand_over(list.sorted(places_for(k)), all, row, k, outputs, partial);
}

// A block per row merges what the slices of the row left.
template <int kRoom, class T>
__global__ void __launch_bounds__(kBlock)
    merge_slices_kernel(Partial partial, int64_t slices, Outputs<T> outputs, int64_t k) {
    using List = BlockList<kRoom>;
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ typename ReduceNormalizers::TempStorage scratch;
    List list(*reinterpret_cast<typename List::Shared*>(memory), k);
    const int64_t row = blockIdx.x;
    const Key* keys = partial.best + row * slices * k;
    constexpr int kSome = 4;  // of a thread, before room is made
    for (int64_t begin = 0; begin < slices * k; begin += kSome * kBlock) {
        for (int i = 0; i < kSome; ++i) {
            const int64_t mine = begin + i * kBlock + threadIdx.x;
            if (mine < slices * k) list.put(keys[mine]);
        }
        list.make_room(kSome * kBlock);
    }
    Normalizer mine{-INFINITY, 0.f};
    for (int64_t slice = threadIdx.x; slice < slices; slice += kBlock) {
        mine = merge(mine, partial.normalizers[row * slices + slice]);
    }
    const Normalizer all = ReduceNormalizers(scratch).Reduce(mine, MergeNormalizers{});
    hand_over(list.sorted(places_for(k)), all, row, k, outputs, Partial{});
}

}  // namespace softmax_topk
