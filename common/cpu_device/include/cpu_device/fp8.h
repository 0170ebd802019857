// SPDX-License-Identifier: MIT
// Floats of 8 bits: e4m3 (no infinity, largest 448) and e5m2 (the upper half of a half, largest 57344).
#pragma once
#include "cpu_device/small_float.h"

namespace cpu_device {

// Each is read as a format with five bits of exponent, as a half has. e4m3 biases its exponent by 7 where that has 15, so
// 2^-8 times the number is one of it; and every exponent of e4m3 is a number's, but for one NaN.
struct E4m3 {
    static constexpr int exponent_bits = 5;
    static constexpr int mantissa_bits = 3;
    static constexpr float scale = 256;
    static constexpr uint8_t largest = 0x7e;  // 448
    static constexpr uint8_t beyond = 0x7f;   // NaN
};
struct E5m2 {
    static constexpr int exponent_bits = 5;
    static constexpr int mantissa_bits = 2;
    static constexpr float scale = 1;
    static constexpr uint8_t largest = 0x7b;  // 57344
    static constexpr uint8_t beyond = 0x7c;   // infinity
};

// Rounded to the nearest, ties to even. What is too large becomes the largest number, or, unless it saturates, what
// stands beyond.
template <class Format>
__host__ __device__ inline uint8_t encode_fp8(double value, bool saturates) {
    constexpr uint8_t kNan = 0x7f;
    if (value != value) return kNan;
    const unsigned bits = encode<Format>(value / static_cast<double>(Format::scale));
    const unsigned magnitude = bits & 0x7fffu,
                   beyond = saturates ? Format::largest : Format::beyond;
    return static_cast<uint8_t>(bits >> 15 << 7 |
                                (magnitude > Format::largest ? beyond : magnitude));
}

template <class Format>
__host__ __device__ inline float decode_fp8(uint8_t bits) {
    const unsigned magnitude = bits & 0x7fu, sign = bits >> 7;
    if (Format::beyond == 0x7f && magnitude == Format::beyond) return bit_cast<float>(0x7fffffffu);
    return decode<Format>(static_cast<uint16_t>(sign << 15 | magnitude)) * Format::scale;
}

}  // namespace cpu_device
