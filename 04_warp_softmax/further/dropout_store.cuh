// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/dropout_store, version 1.0
//
// Dropout after softmax, in a Store functor: sets each element to 0 with a given probability, scales the others up.
//   new here   random numbers that depend on seed and position alone, without state
//   traffic    that of the softmax; ten rounds per four elements (with packs of one: per element) take more
//              time than the memory traffic
//   note       the caller passes a new seed per launch; the gradient recomputes the mask from the same seed
//   source     Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3": Philox4x32-10
#pragma once
#include "row_groups.cuh"

namespace warp_softmax {

struct Philox {
    uint32_t word[4];
};

// Returns four random words: ten rounds of multiplications mix counter, stream and key.
__host__ __device__ inline Philox philox(uint64_t counter, uint64_t stream, uint64_t key) {
    constexpr uint64_t kMultiply[2] = {0xD2511F53u, 0xCD9E8D57u};
    constexpr uint32_t kWeyl[2] = {0x9E3779B9u, 0xBB67AE85u};
    uint32_t c[4] = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                     static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)};
    uint32_t k[2] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
    for (int round = 0; round < 10; ++round) {
        const uint64_t a = kMultiply[0] * c[0];
        const uint64_t b = kMultiply[1] * c[2];
        const uint32_t next[4] = {
            static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
            static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
        for (int i = 0; i < 4; ++i) c[i] = next[i];
        k[0] += kWeyl[0];
        k[1] += kWeyl[1];
    }
    return {{c[0], c[1], c[2], c[3]}};
}

// True if element (row, col) is dropped. The seed alone decides, for all types, packs and block sizes.
__host__ __device__ inline bool is_dropped(uint64_t seed, float probability, int64_t row,
                                           int64_t col) {
    const Philox random = philox(static_cast<uint64_t>(col) / 4, static_cast<uint64_t>(row), seed);
    const uint32_t word = random.word[col % 4];
    return static_cast<float>(word >> 8) * 0x1p-24f < probability;  // 24 bits: exact in a float
}

// Writes 0 for a dropped element, and result / (1 - probability) for any other element.
template <class T>
struct DropoutStore {
    using Element = T;
    T* y;
    int64_t row_stride;
    float probability;
    uint64_t seed;

    template <int kPack>
    bool takes(int64_t cols) const {
        return takes_packs<kPack>(y, row_stride, cols);
    }

    template <int kPack, class Compute>
    __device__ void store(const Compute* from, int64_t row, int64_t col) const {
        Compute kept[kPack];
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
            kept[i] = is_dropped(seed, probability, row, col + i)
                          ? Compute(0)
                          : from[i] / (1 - static_cast<Compute>(probability));
        }
        DirectStore<T>{y, row_stride}.template store<kPack>(kept, row, col);
    }
};

// Writes softmax(x) after dropout to y. 0 <= probability < 1. Returns the error code that launch() returns.
template <class T>
cudaError_t softmax_dropout(const T* x, T* y, float probability, uint64_t seed, int64_t rows,
                            int64_t cols, cudaStream_t stream) {
    if (!(probability >= 0.f && probability < 1.f)) return cudaErrorInvalidValue;
    return launch<Algorithm::softmax>(
        DirectLoad<T>{x, cols}, DropoutStore<T>{y, cols, probability, seed}, rows, cols, stream);
}

}  // namespace warp_softmax
