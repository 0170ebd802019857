// SPDX-License-Identifier: MIT
// The random number of a row, as the reference has it: Philox 4x32-10 of Salmon et al. 2011, key = seed, counter =
// (0, row).
#pragma once
#include <cstdint>

#include <cuda_runtime.h>

namespace operations::sampling {

struct PhiloxWords {
    uint32_t word[4];
};

// A round: the products of words 0 and 2 with two constants; their upper halves meet the other words and the key.
__host__ __device__ inline PhiloxWords philox(PhiloxWords c, uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
        const uint64_t p0 = 0xd2511f53ull * c.word[0], p2 = 0xcd9e8d57ull * c.word[2];
        const auto high = [](uint64_t product) { return static_cast<uint32_t>(product >> 32); };
        const auto low = [](uint64_t product) { return static_cast<uint32_t>(product); };
        c = {{high(p2) ^ c.word[1] ^ key0, low(p2), high(p0) ^ c.word[3] ^ key1, low(p0)}};
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    return c;
}

// In [0, 1): the first two words as a binary fraction, the second in front.
__host__ __device__ inline double unit_of_row(uint64_t seed, int64_t row) {
    const auto of = static_cast<uint64_t>(row);
    const PhiloxWords words =
        philox({{0, 0, static_cast<uint32_t>(of), static_cast<uint32_t>(of >> 32)}},
               static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
    const uint64_t bits = static_cast<uint64_t>(words.word[1]) << 32 | words.word[0];
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace operations::sampling
