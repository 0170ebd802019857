// SPDX-License-Identifier: MIT
// Numbers that look random and are pure functions of a counter: the same on every device.
#pragma once
#include <cstdint>

#include <cuda_runtime.h>

namespace runner {

// SplitMix64's finaliser: 64 well-mixed bits of any counter.
__host__ __device__ inline uint64_t mix(uint64_t bits) {
    bits += 0x9e3779b97f4a7c15ull;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
    return bits ^ (bits >> 31);
}

// [0, 1), in 24 bits, or in the 53 of a double.
__host__ __device__ inline double unit(uint64_t bits, bool wide) {
    return wide ? static_cast<double>(bits >> 11) * 0x1p-53
                : static_cast<double>(bits >> 40) * 0x1p-24;
}

}  // namespace runner
