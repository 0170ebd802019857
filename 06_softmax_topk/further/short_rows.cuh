// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/short_rows, version 1.0
//
// Finds up to 32 best elements of each of many short rows, such as the experts that a router chooses.
//   new here   a few lanes hold a row, 16 elements each, and sort it in registers. A 32-bit key holds an element
//              and its column; the column replaces the last bits of a float. If a check cannot prove that these
//              bits did not matter, the lanes sort the row again with longer keys
//   traffic    1 read per element
//   accepts    float, __half, __nv_bfloat16; any address; up to 512 columns; k up to 32 and up to cols
//   order      as in the lesson
//   source     sorting networks: Batcher 1968; the column in a key's last bits: QuACK (without a check)
#pragma once
#include <type_traits>

#include "row_scan.cuh"

namespace softmax_topk {

constexpr int kHeld = kBatchElements;  // elements per lane
constexpr int kShortBlock = 128;

// Returns a key in which the column replaces the element's last bits. In 16-bit types these bits are unused, so the
// keys are exact.
template <int kCols>
__device__ uint32_t narrow_key(float u, int col) {
    return (ordered(u) & ~(kCols - 1u)) | (kCols - 1u - static_cast<unsigned>(col));
}
template <int kCols>
__device__ int place_of(uint32_t key) {
    return static_cast<int>(kCols - 1u - (key & (kCols - 1u)));
}
// Returns the smallest element with these upper bits.
template <int kCols>
__device__ float least_of(uint32_t key) {
    return number_of(key & ~(kCols - 1u));
}
template <int kCols>
__device__ float element_of_16_bits(uint32_t key) {
    const bool is_negative = key >> 31 == 0;
    return number_of(is_negative ? key | (kCols - 1u) : key & ~(kCols - 1u));
}

template <class K>
__device__ __forceinline__ void exchange(K& better, K& worse) {
    const K a = better, b = worse;
    better = a > b ? a : b;
    worse = a > b ? b : a;
}
// Sort numbers, the best first, by a fixed list of exchanges (Batcher's odd-even merge sort). merge_halves() merges
// the two sorted halves of kCount numbers from kFirst on; it considers only every kStep-th number.
template <int kFirst, int kCount, int kStep, class K>
__device__ __forceinline__ void merge_halves(K (&keys)[kHeld]) {
    if constexpr (2 * kStep < kCount) {
        merge_halves<kFirst, kCount, 2 * kStep>(keys);
        merge_halves<kFirst + kStep, kCount, 2 * kStep>(keys);
#pragma unroll
        for (int i = kStep; i + kStep < kCount; i += 2 * kStep) {
            exchange(keys[kFirst + i], keys[kFirst + i + kStep]);
        }
    } else {
        exchange(keys[kFirst], keys[kFirst + kStep]);
    }
}
template <int kFirst = 0, int kCount = kHeld, class K>
__device__ __forceinline__ void sort(K (&keys)[kHeld]) {
    if constexpr (kCount > 1) {
        sort<kFirst, kCount / 2>(keys);
        sort<kFirst + kCount / 2, kCount / 2>(keys);
        merge_halves<kFirst, kCount, 1>(keys);
    }
}
// Sorts the first kCount numbers, which must be a bitonic sequence.
template <int kCount, class K>
__device__ __forceinline__ void sort_bitonic(K (&keys)[kHeld]) {
#pragma unroll
    for (int step = kCount / 2; step > 0; step /= 2) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            if ((i & step) == 0) exchange(keys[i], keys[i + step]);
        }
    }
}

// Returns the sorted best of a row that kLanes lanes hold. kBest = 8: each lane gets all 8 in the first places of
// `keys`. kBest = 32: of each pair of lanes, the even one gets the first 16, the odd one the last.
template <int kLanes, int kBest, class K>
__device__ __forceinline__ void best_of_row(K (&keys)[kHeld]) {
    const bool is_odd = (threadIdx.x & 1) != 0;
    if constexpr (kBest < kHeld) {  // the lane's best 8 of two sorted halves
        sort<0, kHeld / 2>(keys);
        sort<kHeld / 2, kHeld / 2>(keys);
#pragma unroll
        for (int i = 0; i < kBest; ++i) {
            const K other = keys[kHeld - 1 - i];
            keys[i] = other > keys[i] ? other : keys[i];
        }
        sort_bitonic<kBest>(keys);
    } else {
        sort(keys);
    }
    // If one of two lists is reversed, the better keys of all places are the best of both lists, in bitonic order.
    const auto best_of = [&](auto kept, int lane_bits) {
        constexpr int kCount = decltype(kept)::value;
        K others[kHeld];
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            others[i] = __shfl_xor_sync(~0u, keys[kCount - 1 - i], lane_bits);
        }
#pragma unroll
        for (int i = 0; i < kCount; ++i) keys[i] = others[i] > keys[i] ? others[i] : keys[i];
    };
    if constexpr (kBest == 8) {
#pragma unroll
        for (int bit = 1; bit < kLanes; bit *= 2) {
            best_of(std::integral_constant<int, 8>{}, bit);
            sort_bitonic<8>(keys);
        }
    } else {
        // The 32 keys of two lanes.
        K others[kHeld];
#pragma unroll
        for (int i = 0; i < kHeld; ++i) others[i] = __shfl_xor_sync(~0u, keys[kHeld - 1 - i], 1);
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
            keys[i] = (others[i] > keys[i]) != is_odd ? others[i] : keys[i];
        }
        sort_bitonic<kHeld>(keys);
#pragma unroll
        for (int bit = 2; bit < kLanes; bit *= 2) {
            best_of(std::integral_constant<int, kHeld>{},
                    bit | 1);  // the last of 32 is in an odd lane
#pragma unroll
            for (int i = 0; i < kHeld; ++i) {
                const K other = __shfl_xor_sync(~0u, keys[i], 1);
                keys[i] = (other > keys[i]) != is_odd ? other : keys[i];
            }
            sort_bitonic<kHeld>(keys);
        }
    }
}

// True if columns did not influence the choice and the order of the k best: exactly k elements of the row,
// including NaN, reach the upper bits of the k-th best, and no two of these k share their upper bits.
template <int kLanes, int kBest>
__device__ bool is_proven(const uint32_t (&best)[kHeld], const float (&x)[kHeld], int k) {
    constexpr int kCols = kLanes * kHeld, kOwn = kBest == 8 ? 8 : kHeld;
    const int begin = kBest == 8 ? 0 : static_cast<int>(threadIdx.x & 1) * kHeld;
    const auto same = [](uint32_t a, uint32_t b) { return (a ^ b) < kCols; };
    bool is_tied = false;
    uint32_t last = 0;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        if (i + 1 < kOwn) is_tied |= begin + i + 1 < k && same(best[i], best[i + 1]);
        last = begin + i < k ? best[i] : last;  // (nvcc would index the array with k - 1)
    }
    if constexpr (kBest != 8) {
        const uint32_t next = __shfl_xor_sync(~0u, best[0], 1);
        is_tied |= begin == 0 && kHeld < k && same(best[kHeld - 1], next);
        const uint32_t other = __shfl_xor_sync(~0u, last, 1);  // 0: the odd lane has none of the k
        last = last == 0 || (other != 0 && other < last) ? other : last;
    }
    const float least = least_of<kCols>(last);
    int reached = 0;
#pragma unroll
    for (int i = 0; i < kHeld; ++i) reached += !(x[i] < least);  // NaN is largest
#pragma unroll
    for (int bit = 1; bit < kLanes; bit *= 2) reached += __shfl_xor_sync(~0u, reached, bit);
    return !is_tied && reached == k;
}

// Returns the pair of a row in all of its lanes.
template <int kLanes>
__device__ Normalizer pair_in_lanes(const float (&x)[kHeld]) {
    float m = x[0];
#pragma unroll
    for (int i = 1; i < kHeld; ++i) m = fmaxf(m, x[i]);
#pragma unroll
    for (int bit = 1; bit < kLanes; bit *= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, bit));
    const float base = base_of(m);
    float d = 0.f;
#pragma unroll
    for (int i = 0; i < kHeld; ++i) d += short_exp(x[i] - base);
#pragma unroll
    for (int bit = 1; bit < kLanes; bit *= 2) d += __shfl_xor_sync(~0u, d, bit);
    return {m, d};
}

// Distributes the k results over the lanes of a row: calls visit(place, key) once for each place below k.
template <int kLanes, int kBest, class K, class Visit>
__device__ __forceinline__ void for_each_best(const K (&keys)[kHeld], int k, Visit visit) {
    constexpr int kOwn = kBest == 8 ? 8 : kHeld;
    constexpr int kWriters = kBest == 8 ? kLanes : kLanes / 2;  // lanes with the same places
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const int writer = kBest == 8 ? lane : lane / 2;
    const int begin = kBest == 8 ? 0 : (lane & 1) * kHeld;
#pragma unroll
    for (int at = 0; at < kOwn; at += kWriters) {
        K key = 0;
#pragma unroll
        for (int i = at; i < kOwn && i < at + kWriters; ++i) key = i - at == writer ? keys[i] : key;
        const int place = begin + at + writer;
        if (at + writer < kOwn && place < k) visit(place, key);
    }
}

// Each row has kLanes lanes.
template <int kLanes, int kBest, class T>
__global__ void __launch_bounds__(kShortBlock, 8)
    short_rows_kernel(const T* x, Outputs<T> outputs, int64_t rows, int cols, int k) {
    constexpr int kCols = kLanes * kHeld;
    using Part = Batch<kLanes, T>;
    const int64_t row = (int64_t{blockIdx.x} * kShortBlock + threadIdx.x) / kLanes;
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    // Lanes without a row take part in all shuffles, without columns.
    const int64_t mine = row < rows ? row : 0;
    const Range<T> range{x + mine * cols, 0, row < rows ? cols : 0};
    const Part part(range, range.first_pack(), lane);
    float u[kHeld];
    part.load(u);
    const Normalizer normalizer = pair_in_lanes<kLanes>(u);

    uint32_t narrow[kHeld];
#pragma unroll
    for (int i = 0; i < kHeld; ++i) narrow[i] = narrow_key<kCols>(u[i], part.place(i));
    if (!part.is_whole()) {
#pragma unroll
        for (int i = 0; i < kHeld; ++i) narrow[i] = part.has(i) ? narrow[i] : 0;
    }
    best_of_row<kLanes, kBest>(narrow);

    const auto write_one = [&](int place, Key key) {
        if (row < rows) write(outputs, row, k, place, key, normalizer);
    };
    if constexpr (sizeof(T) == 2) {
        for_each_best<kLanes, kBest>(narrow, k, [&](int place, uint32_t key) {
            const float element = element_of_16_bits<kCols>(key);
            write_one(place, key_of(element, part.column_at(place_of<kCols>(key))));
        });
    } else if (__all_sync(~0u, is_proven<kLanes, kBest>(narrow, u, k) || row >= rows)) {
        __shared__ Pack<T, 4> all[kHeld / 4][kShortBlock];  // with their last bits
#pragma unroll
        for (int i = 0; i < kHeld; i += 4) {
            const Pack<T, 4> pack{u[i], u[i + 1], u[i + 2], u[i + 3]};
            all[i / 4][threadIdx.x] = pack;
        }
        __syncwarp();
        for_each_best<kLanes, kBest>(narrow, k, [&](int place, uint32_t key) {
            const int at = place_of<kCols>(key), pack = at / 4;
            const int thread = static_cast<int>(threadIdx.x) - lane + pack % kLanes;
            const float element = all[pack / kLanes][thread].element[at % 4];
            write_one(place, key_of(element, part.column_at(at)));
        });
    } else {
        Key keys[kHeld];
        // A shuffle from each lane to itself: otherwise nvcc would keep 16 more registers for the source of `narrow`.
        const int self = static_cast<int>(threadIdx.x % 32);
#pragma unroll
        for (float& each : u) each = __shfl_sync(~0u, each, self);
#pragma unroll
        for (int i = 0; i < kHeld; ++i) keys[i] = part.has(i) ? key_of(u[i], part.column(i)) : 0;
        best_of_row<kLanes, kBest>(keys);
        for_each_best<kLanes, kBest>(keys, k, write_one);
    }
}

}  // namespace softmax_topk
