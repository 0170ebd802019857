// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/draws, version 1.0
//
// What a draw takes and what it leaves: the options of each row, its random number, and the addresses of the results.
//   new here   options of all rows, or of each row by itself; a row's number depends on its seed, its offset and its
//              place alone, so any kernel draws the same column
//   accepts    int32_t and int64_t columns
#pragma once
#include <cfloat>

#include "mass_cut.cuh"
#include "philox.cuh"

namespace softmax_topk::sampling {

// Output addresses: for each row the chosen column (32 or 64 bits), and its probability among the columns that
// remain. Any pointer may be nullptr.
struct Chosen {
    int32_t* narrow;
    int64_t* wide;
    float* probabilities;
    bool logarithms;  // true: store logarithms instead of probabilities

    __device__ void put(int64_t row, int64_t col, float probability) const {
        if (narrow != nullptr) narrow[row] = static_cast<int32_t>(col);
        if (wide != nullptr) wide[row] = col;
        if (probabilities != nullptr)
            probabilities[row] = logarithms ? std::log(probability) : probability;
    }
    __device__ void put_nothing(int64_t row) const { put(row, -1, NAN); }
    // Mark a row for the next launch, and find the mark.
    __device__ void put_off(int64_t row) const { put(row, kPutOff, NAN); }
    __device__ bool is_put_off(int64_t row) const {
        return narrow != nullptr ? narrow[row] == kPutOff : wide != nullptr && wide[row] == kPutOff;
    }

    static constexpr int kPutOff = -2;
};
inline Chosen chosen_to(int32_t* columns, float* probabilities, bool logarithms = false) {
    return {columns, nullptr, probabilities, logarithms};
}
inline Chosen chosen_to(int64_t* columns, float* probabilities, bool logarithms = false) {
    return {nullptr, columns, probabilities, logarithms};
}

// The options of a row in the form that kernels take.
struct Draw {
    float scale;     // log2(e) / temperature; infinite: the best column
    float units;     // of mass, for the best element
    uint32_t top_k;  // 0: all
    float top_p;
    float min_p;

    // False if one of the row's options is out of range. (Comparisons with NaN are false.)
    __device__ bool is_valid() const {
        return scale > 0.f && top_p > 0.f && top_p <= 1.f && min_p >= 0.f && min_p <= 1.f;
    }
};

// The options of all rows: those of `all`, or the row's own where there is an array.
struct Draws {
    Draw all;
    uint64_t seed;
    uint64_t offset;
    const float* temperatures;
    const int32_t* top_ks;
    const float* top_ps;
    const float* min_ps;
    const uint64_t* seeds;
    const uint64_t* offsets;

    // Returns a row's options, but for seed and offset. A temperature or a top_k out of range makes the scale NaN, or
    // not positive.
    __device__ Draw of(int64_t row, int64_t cols) const {
        Draw draw = all;
        if (temperatures != nullptr) {
            const float temperature = temperatures[row];
            draw.scale = kLog2e / temperature;
            if (!(draw.scale <= FLT_MAX)) draw.scale = temperature == 0.f ? INFINITY : NAN;
        }
        if (top_ks != nullptr) {
            const int32_t top_k = top_ks[row];
            draw.top_k = top_k < cols ? static_cast<uint32_t>(top_k) : 0;
            if (top_k < 0) draw.scale = NAN;
        }
        if (top_ps != nullptr) draw.top_p = top_ps[row];
        if (min_ps != nullptr) draw.min_p = min_ps[row];
        return draw;
    }
    // Returns the row's random number as a mass from 0 to total - 1. (A kernel loads seed and offset only here, so they
    // take no registers before.)
    __device__ Mass target(int64_t row, Mass total) const {
        const uint64_t its_seed = seeds == nullptr ? seed : seeds[row];
        const uint64_t its_offset = offsets == nullptr ? offset : offsets[row];
        return __umul64hi(random_bits(its_seed, static_cast<uint64_t>(row), its_offset), total);
    }
};

// Returns the mass that the most likely columns must reach together. (A rounding error of half a unit does not
// matter.)
__device__ inline Mass limit_of(float top_p, Mass total) {
    return max(Mass{1}, static_cast<Mass>(ceil(double{top_p} * static_cast<double>(total))));
}

}  // namespace softmax_topk::sampling
