// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/philox, version 1.0
//
// Random numbers without state: a function of a counter and a key, the same on every device.
//   new here   each caller computes its random number from its position; there is no generator object
//   gain       needs no memory for states and no order of calls: any row of any launch can be drawn
//              again
//   source     Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3": Philox 4x32-10
#pragma once
#include <cstdint>

#include <cuda_runtime.h>

namespace softmax_topk {

// Runs ten rounds. Each multiplies two of the four words and mixes the upper halves into the other
// two words.
__host__ __device__ inline uint4 philox(uint4 counter, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        const uint64_t x = uint64_t{0xd2511f53u} * counter.x;
        const uint64_t z = uint64_t{0xcd9e8d57u} * counter.z;
        counter = make_uint4(
            static_cast<uint32_t>(z >> 32) ^ counter.y ^ key.x, static_cast<uint32_t>(z),
            static_cast<uint32_t>(x >> 32) ^ counter.w ^ key.y, static_cast<uint32_t>(x));
        key.x += 0x9e3779b9u;  // the golden ratio
        key.y += 0xbb67ae85u;  // sqrt(3) - 1
    }
    return counter;
}

// Returns 64 random bits for a row. The key is the seed, and the counter is (offset, row). These are
// the first bits after curand_init(seed, row, 4 * offset).
__host__ __device__ inline uint64_t random_bits(uint64_t seed, uint64_t row, uint64_t offset) {
    const uint4 words =
        philox(make_uint4(static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32),
                          static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32)),
               make_uint2(static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)));
    return uint64_t{words.y} << 32 | words.x;
}

}  // namespace softmax_topk
