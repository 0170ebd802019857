// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/mass_cut, version 1.0
//
// Finds the place at which to cut a sorted row so that a given number of elements, or a given share of the
// probability, comes before the cut. Does not sort the row.
//   new here   masses are integers, so sums do not depend on their order; each read finds two bits of the key of
//              the last element that stays
//   traffic    a read for every two bits of a key (and of a column, if the cut goes through equal elements)
//   order      as in the lesson: of equal elements the lower columns stay
//   source     Alabi et al. 2012, "Fast k-selection algorithms for graphics processing units", which chooses digits
//              by the number of elements; here also by probability
#pragma once
#include <cmath>
#include <type_traits>

#include "reductions.cuh"

namespace softmax_topk::sampling {

// Probabilities as integers; 62 bits hold the sum of a row. The best column has 2^40 units, or fewer in rows of
// more than four million columns. A column with less than one unit is never chosen.
using Mass = unsigned long long;

inline float units_of_best(int64_t cols) {
    int bits = 40;
    while (bits > 31 && cols >> (62 - bits) != 0) --bits;
    return std::ldexp(1.f, bits);
}

// Computes exp(x / temperature) relative to that of the best element.
struct Weights {
    float best;
    float scale;  // log2(e) / temperature
    float units;  // of the best element

    __device__ float weight(float x) const { return fast_exp2((x - best) * scale); }
    __device__ Mass mass(float x) const { return static_cast<Mass>(weight(x) * units); }
};

// A digit has two bits. A pass tries all digits except the last: for each, it sums up the mass of the keys that are
// larger than every key with this digit.
constexpr int kDigit = 2;
constexpr int kTried = (1 << kDigit) - 1;

// A key, the mass of all larger keys, and the mass of these and the key itself.
struct Found {
    uint32_t key;
    Mass above;
    Mass with;
};

// Returns the smallest key of `bits` bits for which all larger keys have less mass than `limit` (above 0): the last
// key that stays if the first keys must make up this mass. for_each(visit) calls visit(key, mass) for each of the
// thread's elements; every pass calls it again.
template <int kThreads, class ForEach>
__device__ Found find(int bits, Mass limit, ForEach for_each) {
    Found found{0, 0, ~Mass{0}};
    for (int left = bits; left > 0;) {
        const int digit = left < kDigit ? left : kDigit;
        left -= digit;
        const uint32_t smaller = (1u << left) - 1;  // the bits after this digit
        Mass above[kTried] = {};
        for_each([&](uint32_t key, Mass mass) {
#pragma unroll
            for (uint32_t i = 0; i < kTried; ++i) {
                if (key > (found.key | i << left | smaller)) above[i] += mass;
            }
        });
        sums_in_block<kThreads>(above);
        int chosen = 0;  // the first digit with little enough mass above it
#pragma unroll
        for (int i = 0; i < kTried; ++i) {
            const bool is_digit = i < (1 << digit) - 1;
            if (is_digit && above[i] >= limit) {
                chosen = i + 1;
                found.with = above[i];
            }
        }
#pragma unroll
        for (int i = 0; i < kTried; ++i) {
            if (i == chosen && i < (1 << digit) - 1) found.above = above[i];
        }
        found.key |= static_cast<uint32_t>(chosen) << left;
    }
    return found;
}

// Returns the number of bits that can number `count` items.
__host__ __device__ inline int bits_for(int64_t count) {
    int bits = 0;
    while (int64_t{1} << bits < count) ++bits;
    return bits;
}

// The number of leading bits in which a type's ordered numbers differ; for 16-bit types, the further bits carry no
// information.
template <class T>
constexpr int kKeyBits = sizeof(T) == 4              ? 32
                         : std::is_same_v<T, __half> ? 19
                                                     : 16;
template <class T>
__device__ uint32_t order_of(float u) {
    return ordered(u) >> (32 - kKeyBits<T>);
}

// The elements that stay: those with larger keys, and those with this key up to column `last`.
struct Cut {
    uint32_t key = 0;
    int32_t last = INT32_MAX;

    __device__ bool keeps(uint32_t of, int32_t col) const {
        return of > key || (of == key && col <= last);
    }
    // Keeps what both cuts keep.
    __device__ void join(const Cut& other) {
        last = key == other.key ? min(last, other.last) : key > other.key ? last : other.last;
        key = max(key, other.key);
    }
};

// Calls visit(element, column) for the elements of a range that kThreads threads share. Only eight loads are in
// flight, because the visitor needs many registers.
template <int kThreads, class T, class Visit>
__device__ void for_each_element(const Range<T>& range, int thread, Visit visit) {
    constexpr uint32_t kLoads = 8;
    const auto end = static_cast<uint32_t>(range.end);
    const uint32_t begin = static_cast<uint32_t>(range.begin) + static_cast<uint32_t>(thread);
    for (uint32_t first = begin; first < end; first += kLoads * kThreads) {
        float x[kLoads];
#pragma unroll
        for (uint32_t i = 0; i < kLoads; ++i) {
            const uint32_t col = first + i * kThreads;
            x[i] = col < end ? static_cast<float>(range.row[col]) : 0.f;
        }
#pragma unroll
        for (uint32_t i = 0; i < kLoads; ++i) {
            const uint32_t col = first + i * kThreads;
            if (col < end) visit(x[i], static_cast<int32_t>(col));
        }
    }
}

// Returns the cut after the first elements in sorted order that make up `limit` (above 0). measure(element, column)
// returns the amount that an element adds; equal elements add the same amount or 0.
template <int kThreads, class T, class Measure>
__device__ Cut cut_at(const Range<T>& row, Mass limit, Measure measure) {
    const Found by_element = find<kThreads>(kKeyBits<T>, limit, [&](auto visit) {
        for_each_element<kThreads>(row, threadIdx.x, [&](float u, int32_t col) {
            visit(order_of<T>(u), measure(u, col));
        });
    });
    if (by_element.with <= limit) return {by_element.key, INT32_MAX};
    // Only some of the elements equal to the last element stay: those with the lowest columns, whose keys by column
    // are largest.
    const int bits = bits_for(row.end);
    const uint32_t largest = (1u << bits) - 1;
    const Found by_column = find<kThreads>(bits, limit - by_element.above, [&](auto visit) {
        for_each_element<kThreads>(row, threadIdx.x, [&](float u, int32_t col) {
            if (order_of<T>(u) == by_element.key)
                visit(largest - static_cast<uint32_t>(col), measure(u, col));
        });
    });
    return {by_element.key, static_cast<int32_t>(largest - by_column.key)};
}

}  // namespace softmax_topk::sampling
