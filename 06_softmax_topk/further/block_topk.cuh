// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/block_topk, version 1.0
//
// Finds up to 1024 best elements of a row, with a block per row.
//   new here   the block keeps no sorted list while it reads the row. A threshold guessed from a sample rejects
//              most elements, candidates wait in shared memory, and counting in 256 bins finds the k best. After a
//              wrong guess, the block reads the row again with safe thresholds
//   traffic    1 read per element, 2 after a wrong guess; for long rows also 2048 elements of the sample
//   accepts    float, __half, __nv_bfloat16; any address; k up to 1024 and up to cols, which are up to 2^31 - 1
//   order      as in the lesson, for any number of blocks per row
//   source     ours; a threshold from a sample: Floyd & Rivest 1975, "Expected time bounds for selection"
#pragma once
#include "reductions.cuh"

namespace softmax_topk {

// Waits for all threads that share a list: a block or a warp.
template <int kThreads>
__device__ void meet() {
    if constexpr (kThreads == 32) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}
template <int kThreads>
__device__ bool any_of(bool mine) {
    if constexpr (kThreads == 32) {
        __syncwarp();
        return __any_sync(~0u, mine) != 0;
    } else {
        return __syncthreads_or(mine) != 0;
    }
}

// Candidates of a row in shared memory. All threads that share the list make the same calls; threadIdx.x is the thread's
// index. The memory is proportional to the number of threads, so a multiprocessor can hold lists for all of its
// threads.
template <int kOfList>
class CandidateList {
public:
    static constexpr int kThreads = kOfList, kRoom = 16 * kThreads;
    static constexpr int kBins = 256;
    // Sample elements per thread: 2048 for a block, 512 for a warp.
    static constexpr int kSample = kThreads == 32 ? 16 : 8;
    struct Shared {
        Key keys[kRoom];
        Pack<int, 4> bins[2][kBins / 4];
        int count;
        unsigned top;     // no element is better
        unsigned bottom;  // each thread has had an element at least this good
    };

    __device__ CandidateList(Shared& shared, int64_t k)
        : shared_(shared), k_(static_cast<int>(k)), lane_(static_cast<int>(threadIdx.x % 32)) {
        while (places_ < k_) places_ *= 2;
        restart();
    }
    // Removes all candidates and the threshold.
    __device__ void restart() {
        meet<kThreads>();
        threshold_ = {};
        if (threadIdx.x == 0) {
            shared_.count = 0;
            shared_.top = 0;
            shared_.bottom = ~0u;
        }
        meet<kThreads>();
    }

    __device__ const Threshold& threshold() const { return threshold_; }
    __device__ int k() const { return k_; }
    // Returns the number of candidates, more than kRoom if some found no place. All threads get the same number
    // after a barrier.
    __device__ int count() const { return shared_.count; }
    __device__ Key key(int i) const { return shared_.keys[i]; }

    // Returns an element that at least `rank` and, not counting equal elements, at most `most` of the threads'
    // elements reach; 0 if there are fewer than `rank`. exists: a bit for each of the thread's elements that
    // exists.
    template <int kCount>
    __device__ uint32_t reached_by(int rank, int most, const float (&x)[kCount], unsigned exists) {
        const uint32_t best = exists != 0 ? ordered(max_of<0, kCount>(x)) : 0;
        uint32_t least = best;
        for (int bit = 16; bit > 0; bit /= 2) least = min(least, __shfl_xor_sync(~0u, least, bit));
        if (lane_ == 0) atomicMin(&shared_.bottom, least);
        const uint32_t top = top_of(best);
        const uint32_t low = rank <= kThreads ? max(shared_.bottom, 1u) : 1;
        const uint32_t element = kth_best(low, top, rank, most, [&](auto visit) {
#pragma unroll
            for (int i = 0; i < kCount; ++i) {
                if ((exists >> i & 1) != 0) visit(ordered(x[i]));
            }
        });
        return element <= 1 ? 0 : element;
    }
    // Returns the number of elements that may reach a guess for `rank`: for rank k, the number that the final sort
    // takes.
    __device__ int most_for(int rank) const {
        return rank == k_ ? places_ : rank + rank / 4;
    }
    // Makes `element` the threshold, without proof that k elements reach it.
    __device__ void guess(uint32_t element) {
        threshold_ = {Key{element} << 32, number_of(element)};
    }
    // Raises the threshold to a key that k candidates reach or will reach. All threads must pass the same key.
    __device__ void raise_to(Key key) {
        threshold_.raise(key);
    }

    // Stores a warp's candidates, one per bit. key_of_lowest(bits) returns the key of the lowest bit. Returns false
    // if some candidates found no place.
    template <class KeyOfLowest>
    __device__ bool put_at_once(unsigned bits, KeyOfLowest key_of_lowest) {
        int at = reserve_places(bits, &shared_.count);
        for (; bits != 0; bits &= bits - 1, ++at) {
            if (at < kRoom) shared_.keys[at] = key_of_lowest(bits);
        }
        return __all_sync(~0u, at <= kRoom);
    }
    // Stores the candidates of all threads, and raises the threshold whenever the memory is full.
    // not_below(element) returns a bit for each of the thread's elements that is at least as large.
    // key_of_lowest(bits) returns a free place if no bit is set.
    template <class KeyOfLowest, class NotBelow>
    __device__ void put_all(unsigned bits, KeyOfLowest key_of_lowest, NotBelow not_below) {
        for (;;) {
            bits = put(bits, key_of_lowest);
            if (!any_of<kThreads>(bits != 0)) return;
            keep_best(places_);
            bits &= not_below(element_of(threshold_.key));
        }
    }
    // Raises the threshold to a key that k to `most` candidates reach (k <= most), and removes all other
    // candidates. (The caller has passed a barrier since the last put.)
    __device__ void keep_best(int most) {
        const int count = min(shared_.count, kRoom);
        uint32_t best = 0;
        for (int i = threadIdx.x; i < count; i += kThreads) {
            best = max(best, static_cast<uint32_t>(shared_.keys[i] >> 32));
        }
        const Key top = Key{top_of(best)} << 32 | ~0u;
        threshold_.raise(kth_best(threshold_.key, top, k_, most, [&](auto visit) {
            for (int i = threadIdx.x; i < count; i += kThreads) visit(shared_.keys[i]);
        }));
        if (threadIdx.x == 0) shared_.count = 0;
        constexpr int kSome = 4;  // per thread
        for (int begin = 0; begin < count; begin += kSome * kThreads) {
            Key keys[kSome];
            unsigned bits = 0;
#pragma unroll
            for (int j = 0; j < kSome; ++j) {
                const int i = begin + j * kThreads + static_cast<int>(threadIdx.x);
                keys[j] = i < count ? shared_.keys[i] : 0;
                if (keys[j] >= threshold_.key) bits |= 1u << j;
            }
            meet<kThreads>();  // as many places are free as keys were read
            put_at_once(bits, [&](unsigned some) { return lowest_of(some, keys); });
        }
        meet<kThreads>();
    }
    // Returns the k best in order. All threads have stored their candidates.
    __device__ const Key* sorted() {
        meet<kThreads>();
        if (shared_.count > places_) keep_best(places_);
        if (k_ <= kThreads) return sorted<1>();
        return k_ <= 2 * kThreads ? sorted<2>() : sorted<4>();
    }

    // Returns all candidates in order, or the k best if there are many; count() returns their number. If there are
    // few, the threads rank them instead of sorting: each thread counts the keys better than its own.
    __device__ const Key* in_order() {
        meet<kThreads>();
        const int count = shared_.count, thread = static_cast<int>(threadIdx.x);
        if (count > kThreads) return sorted();
        const Key mine = thread < count ? shared_.keys[thread] : 0;
        int better = 0;
        if (mine != 0) {
#pragma unroll 8
            for (int i = 0; i < count; ++i) better += shared_.keys[i] > mine ? 1 : 0;
        }
        meet<kThreads>();
        if (mine != 0) shared_.keys[better] = mine;
        meet<kThreads>();
        return shared_.keys;
    }

    // Returns the key of the lowest bit, or a free place if no bit is set.
    template <int kCount>
    __device__ static Key lowest_of(unsigned bits, const Key (&keys)[kCount]) {
        Key key = 0;
#pragma unroll
        for (int i = kCount - 1; i >= 0; --i) key = (bits >> i & 1) != 0 ? keys[i] : key;
        return key;
    }

private:
    // Stores the candidates of a warp's lanes that reach the threshold, until the memory is full. Returns a bit for
    // each candidate that is left.
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
    // Returns the block's largest number, or a larger number of an earlier call. A barrier must follow the earlier
    // call.
    __device__ uint32_t top_of(uint32_t mine) {
        for (int bit = 16; bit > 0; bit /= 2) mine = max(mine, __shfl_xor_sync(~0u, mine, bit));
        if (lane_ == 0) atomicMax(&shared_.top, mine);
        meet<kThreads>();
        return shared_.top;
    }

    // Returns a number that at least `rank` and, not counting equal numbers, at most `most` of the block's numbers
    // reach; low if there are fewer. for_each(visit) visits the thread's numbers; numbers below low or above high
    // are ignored.
    //
    // Divides the range into 256 bins and counts the numbers in each bin. Counting from the best bin down, the bin
    // in which the sum reaches `rank` is the next range.
    template <class K, class ForEach>
    __device__ K kth_best(K low, K high, int rank, int most, ForEach for_each) {
        int above = 0;  // numbers better than the range
        for (int turn = 0;; ++turn) {
            Pack<int, 4>* bins =
                shared_.bins[turn % 2];  // threads may still read the bins of the other turn
#pragma unroll
            for (int j = 0; j < kBins / kThreads; ++j) {
                const unsigned i = j * kThreads + threadIdx.x;
                bins[i / 4].element[i % 4] = 0;
            }
            meet<kThreads>();
            const int shift = max(0, 56 - __clzll(static_cast<long long>(high - low)));
            for_each([&](K key) {
                if (key < low || key > high) return;
                const auto bin =
                    kBins - 1 - static_cast<int>((key - low) >> shift);  // the best bin first
                atomicAdd(&bins[bin / 4].element[bin % 4], 1);
            });
            meet<kThreads>();
            // Each warp adds up all bins itself, eight per lane.
            int counts[8], mine = 0;
#pragma unroll
            for (int i = 0; i < 8; i += 4) {
                const Pack<int, 4> four = bins[2 * lane_ + i / 4];
#pragma unroll
                for (int j = 0; j < 4; ++j) mine += counts[i + j] = four.element[j];
            }
            int up_to = mine;  // in this lane's bins and all better ones
            for (int step = 1; step < 32; step *= 2) {
                const int before = __shfl_up_sync(~0u, up_to, step);
                if (lane_ >= step) up_to += before;
            }
            const unsigned who = __ballot_sync(~0u, above + up_to >= rank);
            if (who == 0) return low;
            int bin = 8 * lane_, better = above + up_to - mine, within = counts[0];
#pragma unroll
            for (int i = 1; i < 8; ++i) {
                if (better + within >= rank) break;
                better += within;
                within = counts[i];
                ++bin;
            }
            const int lane = __ffs(static_cast<int>(who)) - 1;
            bin = __shfl_sync(~0u, bin, lane);
            above = __shfl_sync(~0u, better, lane);
            const int reached = above + __shfl_sync(~0u, within, lane);
            low += static_cast<K>(kBins - 1 - bin) << shift;
            if (reached <= most || shift == 0) return low;
            high = low + min(high - low, (K{1} << shift) - 1);
        }
    }

    // Sorts a list of kEach * kThreads keys, kEach neighbouring keys per thread (Batcher's bitonic sort).
    template <int kEach>
    __device__ const Key* sorted() {
        Key* keys = shared_.keys;
        const int count = shared_.count, thread = static_cast<int>(threadIdx.x);
        const bool has_any = thread * kEach < places_;  // the same in all lanes of a warp
        Key mine[kEach];
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const int i = thread * kEach + j;
            mine[j] = i < count ? keys[i] : 0;
        }
        for (int size = 2; size <= places_; size *= 2) {
            // True if the lower of two places gets the better key.
            const auto is_falling = [&](int j) { return ((thread * kEach + j) & size) == 0; };
            for (int bit = size / 2; bit > 0; bit /= 2) {
                const int other_thread = bit / kEach;
                if (other_thread >= 32) {  // in another warp
                    meet<kThreads>();
#pragma unroll
                    for (int j = 0; j < kEach; ++j) keys[j * kThreads + thread] = mine[j];
                    meet<kThreads>();
                }
                if (!has_any) continue;
                if (other_thread > 0) {
                    const bool is_lower = (thread & other_thread) == 0;
#pragma unroll
                    for (int j = 0; j < kEach; ++j) {
                        const Key other = other_thread < 32
                                              ? __shfl_xor_sync(~0u, mine[j], other_thread)
                                              : keys[j * kThreads + (thread ^ other_thread)];
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
        meet<kThreads>();
#pragma unroll
        for (int j = 0; j < kEach; ++j) keys[thread * kEach + j] = mine[j];
        meet<kThreads>();
        return keys;
    }

    Shared& shared_;
    int k_, lane_;
    int places_ = 32;  // places of the sorted list
    Threshold threshold_;
};

constexpr int kBlock = 256;       // threads
constexpr int64_t kMostK = 1024;  // the longest list that a block sorts
using BlockList = CandidateList<kBlock>;
constexpr int kRoom = BlockList::kRoom;  // candidates that a block holds

// Loads a sample of kCount elements per thread: some neighbouring packs from each of many places all over the
// range. The range must be longer than a batch.
template <int kThreads, class T, int kCount>
__device__ void load_sample(const Range<T>& range, float (&x)[kCount]) {
    constexpr int kPack = 16 / sizeof(T), kPacks = kCount / kPack, kLanes = kThreads == 32 ? 8 : 16;
    constexpr int64_t kPlaces = kPacks * kThreads / kLanes;
    // Omits the first and the last pack, since these may be partly outside.
    const int64_t packs =
        (range.end - range.begin - 2 * kPack) / kPack / kPlaces;  // packs from place to place
    const auto* all = reinterpret_cast<const Pack<T, kPack>*>(range.row + range.first_pack()) + 1;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const auto thread = static_cast<int>(threadIdx.x);
        const int64_t place = i * (kThreads / kLanes) + thread / kLanes;
        const Pack<T, kPack> pack = all[place * packs + (packs - kLanes) / 2 + thread % kLanes];
#pragma unroll
        for (int j = 0; j < kPack; ++j) x[i * kPack + j] = static_cast<float>(pack.element[j]);
    }
}

// Returns a rank such that very likely at least k elements of the row reach the sample's element of that rank. The
// number of the k best elements in the sample has a Poisson distribution; this number rarely exceeds its mean by
// more than four standard deviations.
__host__ __device__ inline int likely_rank(int64_t k, int64_t some, int64_t cols) {
    const float mean = static_cast<float>(k) * static_cast<float>(some) / static_cast<float>(cols);
    return static_cast<int>(fminf(static_cast<float>(k), mean + 4 * sqrtf(mean) + 6));
}

// Guesses the list's threshold from a sample of a range. The row has `cols` elements.
template <class List, class T>
__device__ void guess_from_sample(List& list, const Range<T>& range, int64_t cols) {
    constexpr int kSample = List::kSample;
    float x[kSample];
    load_sample<List::kThreads>(range, x);
    const int rank = likely_rank(list.k(), kSample * List::kThreads, cols);
    const uint32_t element = list.reached_by(rank, rank + rank / 4, x, (1u << kSample) - 1);
    if (element != 0) list.guess(element);
}

// Stores a range's candidates and returns the thread's pair. The row has `cols` elements. If !kSafe, the threshold
// is a guess, and no warp waits for another. Then count() may be less than k, or more than kRoom, and in the second
// case the pair is invalid.
template <bool kSafe, class List, class T>
__device__ Normalizer put_range(List& list, const Range<T>& range, int64_t cols) {
    constexpr int kThreads = List::kThreads;
    using Part = Batch<kThreads, T>;
    const int64_t begin = range.first_pack(), length = range.end - range.begin;
    const bool has_sample = !kSafe && length > Part::kCols;
    if (has_sample) guess_from_sample(list, range, cols);
    Normalizer mine{-INFINITY, 0.f};
    for (int64_t first = begin; first < range.end; first += Part::kCols) {
        const Part part(range, first, threadIdx.x);
        float x[kBatchElements];
        part.load(x);
        unsigned bits = 0;
        if (add_batch(mine, x, list.threshold().least)) {
            bits = part.candidates(x, list.threshold().least);
        }
        if (first == begin && !has_sample) {
            const int rank = kSafe ? list.k() : likely_rank(list.k(), length, cols);
            const uint32_t element = list.reached_by(rank, list.most_for(rank), x, part.all());
            if (element != 0) {
                bits &= part.candidates(x, number_of(element));
                if constexpr (kSafe) {
                    list.raise_to(Key{element} << 32);
                } else {
                    list.guess(element);
                }
            }
        }
        const auto key_of_lowest = [&](unsigned some) { return part.lowest(some, x); };
        if constexpr (kSafe) {
            list.put_all(bits, key_of_lowest,
                         [&](float least) { return part.candidates(x, least); });
        } else if (__any_sync(~0u, bits != 0)) {
            if (!list.put_at_once(bits, key_of_lowest)) break;
        }
    }
    meet<kThreads>();
    return mine;
}

// Returns the number of threads per multiprocessor for which the registers suffice.
constexpr int resident_threads(int of_block, size_t element_bytes) {
    return of_block == kBlock || (of_block == 128 && element_bytes > 2) ? 1024 : 768;
}

// A block computes a slice of a row: blockIdx.x is the row, blockIdx.y the slice. If a row has one slice, the
// results go to `outputs`, otherwise to `partial`, up to k keys per slice.
template <class List, class T>
__global__ void __launch_bounds__(List::kThreads,
                                  resident_threads(List::kThreads, sizeof(T)) / List::kThreads)
    block_topk_kernel(const T* x, Outputs<T> outputs, Partial partial, int64_t cols, int64_t k) {
    constexpr int kThreads = List::kThreads;
    __shared__ typename List::Shared shared;
    const int64_t row = blockIdx.x;
    const auto slice = part_of(Range<T>{x + row * cols, 0, cols}, blockIdx.y, gridDim.y);
    const bool is_shared = partial.best != nullptr;

    List list(shared, k);
    Normalizer mine = put_range<false>(list, slice, cols);
    // A slice may have fewer than k candidates; the merge detects whether some are missing.
    if (list.count() > List::kRoom || (list.count() < k && !is_shared)) {
        list.restart();
        mine = put_range<true>(list, slice, cols);
    }
    const Normalizer all = merge_in_block<kThreads>(mine);
    if (!is_shared) {
        const Key* keys = list.sorted();
        for (int64_t i = threadIdx.x; i < k; i += kThreads) write(outputs, row, k, i, keys[i], all);
        return;
    }
    if (list.count() > k) list.keep_best(static_cast<int>(k));
    const int64_t at = row * gridDim.y + blockIdx.y;
    for (int i = threadIdx.x; i < list.count(); i += kThreads)
        partial.best[at * k + i] = list.key(i);
    if (threadIdx.x == 0) {
        partial.counts[at] = list.count();
        partial.cuts[at] = list.threshold().key;
        partial.normalizers[at] = all;
    }
}

// Merges the results of a row's slices, with one block per row.
template <class T>
__global__ void __launch_bounds__(kBlock)
    merge_slices_kernel(const T* x, Partial partial, int64_t slices, Outputs<T> outputs,
                        int64_t cols, int64_t k) {
    __shared__ BlockList::Shared shared;
    __shared__ int longest;
    __shared__ unsigned least;
    const int64_t row = blockIdx.x;
    const int* counts = partial.counts + row * slices;
    const Key* cuts = partial.cuts + row * slices;
    if (threadIdx.x == 0) {
        longest = 0;
        least = ~0u;
    }
    BlockList list(shared, k);
    Normalizer mine{-INFINITY, 0.f};
    for (int64_t slice = threadIdx.x; slice < slices; slice += kBlock) {
        mine = merge(mine, partial.normalizers[row * slices + slice]);
        atomicMax(&longest, counts[slice]);
        atomicMin(&least, static_cast<unsigned>(cuts[slice] >> 32));
    }
    const Normalizer all = merge_in_block<kBlock>(mine);

    constexpr int kSome = 8;  // per thread and step
    const int length = longest, places = static_cast<int>(slices) * length;
    for (int begin = 0; begin < places; begin += kSome * kBlock) {
        Key keys[kSome];
        unsigned bits = 0;
#pragma unroll
        for (int i = 0; i < kSome; ++i) {
            const int at = begin + i * kBlock + static_cast<int>(threadIdx.x);
            const int slice = at / length, place = at % length;
            const bool is_one = at < places && place < counts[slice];
            keys[i] = is_one ? partial.best[(row * slices + slice) * k + place] : 0;
            if (keys[i] >= list.threshold().key) bits |= 1u << i;
        }
        list.put_all(
            bits, [&](unsigned some) { return BlockList::lowest_of(some, keys); },
            [](float) { return ~0u; });
    }
    // If there are k candidates, at least k of them reach this threshold.
    if (list.count() >= k) {
        list.raise_to(Key{least} << 32);
        list.keep_best(static_cast<int>(k));
    }
    // A slice with a cut above the threshold may lack some of the best elements. (This is rare: such a slice has
    // many more of them than the others.)
    bool has_lost = false;
    for (int64_t slice = threadIdx.x; slice < slices; slice += kBlock) {
        has_lost |= cuts[slice] > list.threshold().key;
    }
    if (__syncthreads_or(has_lost)) {
        using Part = Batch<kBlock, T>;
        for (int64_t which = 0; which < slices; ++which) {
            const Key cut = cuts[which];
            if (cut <= list.threshold().key) continue;
            const auto slice = part_of(Range<T>{x + row * cols, 0, cols}, which, slices);
            for (int64_t first = slice.first_pack(); first < slice.end; first += Part::kCols) {
                const Part part(slice, first, threadIdx.x);
                float u[kBatchElements];
                part.load(u);
                const auto not_below = [&](float element) { return part.candidates(u, element); };
                list.put_all(
                    not_below(element_of(list.threshold().key)),
                    [&](unsigned some) {
                        const Key key = part.lowest(some, u);
                        return key < cut ? key : 0;  // the slice has already stored what lies above
                    },
                    not_below);
            }
        }
    }
    const Key* keys = list.sorted();
    for (int64_t i = threadIdx.x; i < k; i += kBlock) write(outputs, row, k, i, keys[i], all);
}

}  // namespace softmax_topk
