// SPDX-License-Identifier: MIT
// The named inputs: every value is a pure function of (seed, row, col), the same on every device.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "common/runner/stage.hpp"

namespace runner {

enum class Input {
    uniform,       // [0, 1): what most benchmarks use, and what hides most faults
    normal,        // mean 0, standard deviation 1 (nearly)
    large,         // normal + 1000: exp(x) overflows
    all_negative,  // normal - 200: exp(x) vanishes
    ties,          // small integers: many equal maxima
    spike,         // normal, and one 50 in each row: nearly all the weight on one element
    masked,        // normal, three in ten replaced by -inf, one in each row kept
    masked_slice,  // normal, -inf in all but the last quarter: slices of -inf alone
    constant,      // all 3.25
    denormal,      // one 0 in each row, the rest in [-103, -87): subnormal results
};
const std::vector<Input>& all_inputs();
const char* name_of(Input input);
const char* summary_of(Input input);

// SplitMix64's finaliser: 64 well-mixed bits of any counter.
__host__ __device__ inline uint64_t mix(uint64_t bits) {
    bits += 0x9e3779b97f4a7c15ull;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
    return bits ^ (bits >> 31);
}

__host__ __device__ inline float unit(uint64_t bits) {  // [0, 1), 24 bits
    return static_cast<float>(bits >> 40) * 0x1p-24f;
}

// The sum of four uniforms, centred and scaled: exact in float, hence equal on every device.
__host__ __device__ inline float nearly_normal(uint64_t bits) {
    const int sum = static_cast<int>(bits & 0xffff) + static_cast<int>((bits >> 16) & 0xffff) +
                    static_cast<int>((bits >> 32) & 0xffff) + static_cast<int>(bits >> 48);
    return static_cast<float>(sum - 2 * 0xffff) * (1.75f / 0x10000);
}

__host__ __device__ inline float input_value(Input input, uint64_t seed, int64_t row, int64_t col,
                                             int64_t cols) {
    const uint64_t bits = mix(mix(seed + static_cast<uint64_t>(row)) + static_cast<uint64_t>(col));
    const int64_t chosen =
        static_cast<int64_t>(mix(seed ^ static_cast<uint64_t>(row)) % static_cast<uint64_t>(cols));
    const float normal = nearly_normal(bits);
    switch (input) {
        case Input::uniform:
            return unit(bits);
        case Input::normal:
            return normal;
        case Input::large:
            return normal + 1000.f;
        case Input::all_negative:
            return normal - 200.f;
        case Input::ties:
            return static_cast<float>(bits % 4);
        case Input::spike:
            return col == chosen ? 50.f : normal;
        case Input::masked:
            return col != chosen && mix(bits) % 10 < 3 ? -INFINITY : normal;
        case Input::masked_slice:
            return col < cols - (cols + 3) / 4 ? -INFINITY : normal;
        case Input::constant:
            return 3.25f;
        case Input::denormal:
            return col == chosen ? 0.f : -103.f + 16.f * unit(bits);
    }
    return 0.f;
}

// Fills x (device memory, shape) on the default stream.
void fill(float* x, Shape shape, Input input, uint64_t seed);

}  // namespace runner
