// SPDX-License-Identifier: MIT
// Small whole numbers as the elements of matrices.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace ptx_tests {

// A format of floats with so many bits of exponent and mantissa, and as many bits in all as it takes.
inline uint64_t float_bits(int value, int exponent_bits, int mantissa_bits) {
    if (value == 0) return 0;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);  // 0.5 to 1
    const auto mantissa =
        static_cast<uint64_t>(std::ldexp(2 * fraction - 1, mantissa_bits));  // exact: small numbers
    const auto biased = static_cast<uint64_t>(exponent - 1 + (1 << (exponent_bits - 1)) - 1);
    const uint64_t sign = value < 0 ? 1 : 0;
    return (sign << exponent_bits | biased) << mantissa_bits | mantissa;
}

struct ElementFormat {
    const char* name;
    int bits;
    int least, most;                   // numbers that it holds
    int exponent_bits, mantissa_bits;  // of a float

    uint64_t of(int value) const {
        if (exponent_bits != 0) return float_bits(value, exponent_bits, mantissa_bits);
        return static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
    }
};
constexpr ElementFormat kF64{"f64", 64, -5, 5, 11, 52};
constexpr ElementFormat kTf32{"tf32", 32, -5, 5, 8, 23};
constexpr ElementFormat kF16{"f16", 16, -5, 5, 5, 10};
constexpr ElementFormat kBf16{"bf16", 16, -5, 5, 8, 7};
constexpr ElementFormat kE4m3{"e4m3", 8, -5, 5, 4, 3};
constexpr ElementFormat kE5m2{"e5m2", 8, -4, 4, 5, 2};
constexpr ElementFormat kS8{"s8", 8, -128, 127, 0, 0};
constexpr ElementFormat kU8{"u8", 8, 0, 255, 0, 0};
constexpr ElementFormat kS4{"s4", 4, -8, 7, 0, 0};
constexpr ElementFormat kU4{"u4", 4, 0, 15, 0, 0};
constexpr ElementFormat kB1{"b1", 1, 0, 1, 0, 0};
constexpr ElementFormat kF32{"f32", 32, -20, 20, 8, 23};
constexpr ElementFormat kS32{"s32", 32, -20, 20, 0, 0};
constexpr ElementFormat kSumF16{"f16", 16, -20, 20, 5, 10};

inline int element(const ElementFormat& format, int i, int seed) {
    const int range = format.most - format.least + 1;
    return format.least + (i * 7 + i / 13 * 5 + seed) % range;
}

}  // namespace ptx_tests
