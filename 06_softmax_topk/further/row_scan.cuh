// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/row_scan, version 1.0
//
// The parts that all fast kernels share: keys, thresholds and batches.
//   new here   one integer for an element and its column, with the order of the list; batches of 16 elements per
//              thread, whose maximum tells whether any of the 16 may be among the best
//   accepts    float, __half, __nv_bfloat16; any address; up to 2^31 - 1 columns
//   order      as in the lesson
//   source     ours
#pragma once
#include <cstdint>

#include "../../03_online_softmax/online_softmax.cuh"
#include "../../04_warp_softmax/further/lifted_exp.cuh"
#include "../../04_warp_softmax/warp_softmax.cuh"

namespace softmax_topk {

using online_softmax::Normalizer;
using warp_softmax::fast_exp2;
using warp_softmax::Pack;

// Where results are stored: rows x k values each, and one log_sum_exp per row. Any pointer may be nullptr. Columns
// have 32 or 64 bits.
template <class T>
struct Outputs {
    T* probabilities;
    int32_t* columns;
    int64_t* wide_columns;
    T* logits;
    float* log_sum_exp;
};

// An element and its column as one integer: the element with the greater key comes first. No two columns have the
// same key. No element has key 0, which marks a free place.
using Key = unsigned long long;

// Returns an unsigned integer with the order of the float. -0 becomes 0, and NaN becomes the largest integer.
__device__ inline uint32_t ordered(float u) {
    const uint32_t bits = __float_as_uint(u + 0.f);
    const uint32_t turned = bits >> 31 != 0 ? ~0u : 0x80000000u;
    return u != u ? ~0u : bits ^ turned;
}
__device__ inline float number_of(uint32_t ordered) {
    if (ordered == ~0u) return NAN;
    return __uint_as_float(ordered >> 31 != 0 ? ordered & 0x7fffffffu : ~ordered);
}

// Among equal elements the lower column has the greater key.
__device__ inline Key key_of(float u, int32_t col) {
    return Key{ordered(u)} << 32 | ~static_cast<uint32_t>(col);
}
__device__ inline float element_of(Key key) {
    return number_of(static_cast<uint32_t>(key >> 32));
}
__device__ inline int32_t column_of(Key key) {
    return static_cast<int32_t>(~static_cast<uint32_t>(key));
}

// The k-th best so far: only elements that reach this threshold can be among the row's k best.
struct Threshold {
    Key key = 1;  // anything but a free place
    // The smallest value with which a later column can still enter the list: the next value above the k-th best.
    // (If the k-th best is +inf or NaN, this is NaN, and no element is less than NaN.)
    float least = -INFINITY;

    __device__ bool is_none() const { return key == 1; }
    __device__ void raise(Key to) {
        if (to <= key) return;
        key = to;
        const auto element = static_cast<uint32_t>(to >> 32);
        least = element >= ordered(INFINITY) ? NAN : number_of(element + 1);
    }
};

// Elements per thread in a batch; their loads are in flight together.
constexpr int kBatchElements = 16;

// Columns begin .. end of a row.
template <class T>
struct Range {
    const T* row;
    int64_t begin, end;

    // Returns the column at which the first pack starts, at or before `begin`. Packs start at multiples of 16
    // bytes.
    __device__ int64_t first_pack() const {
        return begin -
               static_cast<int64_t>(reinterpret_cast<uintptr_t>(row + begin) % 16 / sizeof(T));
    }
};

// Returns one of `parts` equal parts of a row, which start at multiples of 128 bytes of the row.
template <class T>
__device__ Range<T> part_of(const Range<T>& row, int64_t part, int64_t parts) {
    const int64_t line = 128 / sizeof(T);
    const int64_t cols = (row.end + parts * line - 1) / (parts * line) * line;
    const auto up_to = [&](int64_t p) { return p * cols < row.end ? p * cols : row.end; };
    return {row.row, up_to(part), up_to(part + 1)};
}

// The elements that kThreads threads load together from a range, kCount per thread, from column `first` on. Places
// are relative to `first`. (A thread holds its elements in registers, so all indices must be compile-time
// constants.)
template <int kThreads, class T, int kCount = kBatchElements>
class Batch {
public:
    static constexpr int kPack = 16 / sizeof(T);
    static constexpr int kCols = kThreads * kCount;
    using Held = Pack<T, kPack>[kCount / kPack];

    __device__ Batch(const Range<T>& range, int64_t first, int thread)
        : at_(range.row + first),
          first_(static_cast<int32_t>(first)),
          mine_(thread * kPack),
          from_(static_cast<int>(range.begin > first ? range.begin - first : 0)),
          count_(static_cast<int>(range.end - first < kCols ? range.end - first : kCols) - from_) {}

    // Loads the thread's elements, or -inf outside of the range. Loads whole packs if each pack is completely
    // inside or completely outside.
    __device__ void fetch(Held& held) const {
        const auto pack = [&](int i) {
            return *reinterpret_cast<const Pack<T, kPack>*>(at_ + place(i));
        };
        if (is_whole()) {
#pragma unroll
            for (int i = 0; i < kCount; i += kPack) held[i / kPack] = pack(i);
        } else if (from_ == 0 && count_ % kPack == 0) {
#pragma unroll
            for (int i = 0; i < kCount; i += kPack) {
                for (T& element : held[i / kPack].element) element = static_cast<T>(-INFINITY);
                if (has(i)) held[i / kPack] = pack(i);
            }
        } else {
#pragma unroll
            for (int i = 0; i < kCount; ++i) {
                T& element = held[i / kPack].element[i % kPack];
                element = static_cast<T>(-INFINITY);
                if (has(i)) element = at_[place(i)];
            }
        }
    }
    // Converts what fetch() loaded.
    __device__ static void unpack(const Held& held, float (&x)[kCount]) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            x[i] = static_cast<float>(held[i / kPack].element[i % kPack]);
        }
    }
    __device__ void load(float (&x)[kCount]) const {
        Held held;
        fetch(held);
        unpack(held, x);
    }
    // Return the place of the thread's element i in the batch, the element's column, and whether the range contains
    // it.
    __device__ int place(int i) const {
        return i / kPack * kThreads * kPack + mine_ + i % kPack;
    }
    __device__ int32_t column(int i) const {
        return first_ + place(i);
    }
    __device__ bool has(int i) const {
        return static_cast<unsigned>(place(i) - from_) < static_cast<unsigned>(count_);
    }
    __device__ bool is_whole() const {
        return count_ == kCols;
    }
    __device__ int32_t column_at(int place) const {
        return first_ + place;
    }

    // Returns a bit for each element that exists.
    __device__ unsigned all() const {
        unsigned bits = ~0u >> (32 - kCount);
        if (is_whole()) return bits;
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            if (!has(i)) bits &= ~(1u << i);
        }
        return bits;
    }
    // Returns a bit for each element that is not less than `least`.
    __device__ unsigned candidates(const float (&x)[kCount], float least) const {
        unsigned bits = 0;
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            if (!(x[i] < least)) bits |= 1u << i;
        }
        // Elements outside of the range are -inf, which is less than most thresholds.
        return least > -INFINITY ? bits : bits & all();
    }
    // Returns the key of the lowest bit's element, or a free place if no bit is set.
    __device__ Key lowest(unsigned bits, const float (&x)[kCount]) const {
        const int which = __ffs(static_cast<int>(bits)) - 1;
        const float u = chosen<0, kCount>(x, which);
        return bits == 0 ? 0 : key_of(u, column(which));
    }

private:
    // Returns element `which` of kSome from kFirst on: each bit of `which` selects a half.
    template <int kFirst, int kSome>
    __device__ static float chosen(const float (&x)[kCount], int which) {
        if constexpr (kSome == 1) {
            return x[kFirst];
        } else {
            const float a = chosen<kFirst, kSome / 2>(x, which);
            const float b = chosen<kFirst + kSome / 2, kSome / 2>(x, which);
            return (which & kSome / 2) != 0 ? b : a;
        }
    }

    const T* at_;
    int32_t first_;
    int mine_, from_, count_;
};

// Returns the value to subtract from elements with maximum m: m, but 0 for infinities, because inf - inf would be
// NaN.
__device__ inline float base_of(float m) {
    return fabsf(m) == INFINITY ? 0.f : m;
}
// Returns exp(x), or exp(x / temperature) if scale is log2(e) / temperature.
constexpr float kLog2e = 1.4426950408889634f;
__device__ inline float short_exp(float x, float scale = kLog2e) {
    return fast_exp2(x * scale);
}

// Returns the maximum of kSome elements from kFirst on, ignoring NaN.
template <int kFirst, int kSome, int kCount>
__device__ float max_of(const float (&x)[kCount]) {
    float max = x[kFirst];
#pragma unroll
    for (int i = 1; i < kSome; ++i) max = fmaxf(max, x[kFirst + i]);
    return max;
}

// Adds a batch to a pair. Returns true if an element of the batch may be `least` or larger. NaN makes d NaN.
template <int kCount>
__device__ bool add_batch(Normalizer& set, const float (&x)[kCount], float least,
                          float scale = kLog2e) {
    const float max = fmaxf(max_of<0, kCount / 2>(x), max_of<kCount / 2, kCount / 2>(x));
    const float m = fmaxf(set.m, max);
    const float base = base_of(m);
    float sums[4] = {};  // four chains, so that an addition waits for fewer others
#pragma unroll
    for (int i = 0; i < kCount; ++i) sums[i % 4] += short_exp(x[i] - base, scale);
    set.d = set.d * short_exp(set.m - base, scale) + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    set.m = m;
    return !(max < least) || set.d != set.d;
}

// Writes the results for the i-th best element of a row with this normalizer.
template <class T>
__device__ void write(const Outputs<T>& outputs, int64_t row, int64_t k, int64_t i, Key key,
                      Normalizer normalizer) {
    const int64_t at = row * k + i;
    const float u = element_of(key);
    if (outputs.probabilities != nullptr) {
        // exp(inf - inf) has no value: the whole row becomes NaN.
        const float m = normalizer.m == INFINITY ? NAN : normalizer.m;
        outputs.probabilities[at] = static_cast<T>(expf(u - m) / normalizer.d);
    }
    if (outputs.columns != nullptr) outputs.columns[at] = column_of(key);
    if (outputs.wide_columns != nullptr) outputs.wide_columns[at] = column_of(key);
    if (outputs.logits != nullptr) outputs.logits[at] = static_cast<T>(u);
    if (i == 0 && outputs.log_sum_exp != nullptr) {
        outputs.log_sum_exp[row] = normalizer.m + logf(normalizer.d);
    }
}

// Results that each slice of a row stores for the launch that merges the slices: its best keys and its normalizer.
struct Partial {
    Key* best;  // k or more places per slice
    Normalizer* normalizers;
    // For unsorted slices: the number of keys, and a cut that all these keys reach. Any other element of the slice
    // that may be among the row's best is below the cut.
    Key* cuts;
    int* counts;
};

}  // namespace softmax_topk
