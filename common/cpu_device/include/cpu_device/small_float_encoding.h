// SPDX-License-Identifier: MIT
// The 16-bit floating-point formats: from and to float and double, with one rounding.
#pragma once
#include "cpu_device/integers.h"
#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu_device/qualifiers.h"
#include "cpu_device/rounding.h"
#include "cpu_device/traits.h"

// A namespace of their own: a program's function that takes one is not to be mistaken for one of the CPU device with the
// same name, which argument-dependent lookup would find.
namespace cpu_device::small_floats {

// IEEE 754's binary16 (half), and the upper half of a float (bfloat16).
struct Binary16 {
    static constexpr int exponent_bits = 5;
    static constexpr int mantissa_bits = 10;
};
struct BrainFloat16 {
    static constexpr int exponent_bits = 8;
    static constexpr int mantissa_bits = 7;
};

template <class Format>
constexpr int exponent_bias = (1 << (Format::exponent_bits - 1)) - 1;

template <class Format>
constexpr uint16_t infinity_bits = ((1 << Format::exponent_bits) - 1) << Format::mantissa_bits;

constexpr uint16_t nan_bits = 0x7fff;  // the NaN that CUDA's instructions return
constexpr uint16_t sign_bit = 0x8000;

template <class Format>
__host__ __device__ inline uint16_t encode(double value, Rounding rounding = Rounding::nearest) {
    constexpr int double_mantissa_bits = 52;
    constexpr uint64_t implicit_bit = uint64_t(1) << double_mantissa_bits;
    constexpr int smallest_normal = 1 - exponent_bias<Format>;

    const uint64_t bits = bit_cast<uint64_t>(value);
    const uint16_t sign = static_cast<uint16_t>(bits >> 48 & sign_bit);
    if (value != value) return nan_bits;
    if (std::isinf(value)) return sign | infinity_bits<Format>;

    // Below the smallest normal number the exponent stands still and the mantissa loses bits
    // instead. Doubles too small to be normal have no implicit bit, but vanish here all the same.
    const int exponent = static_cast<int>(bits >> double_mantissa_bits & 0x7ff) - 1023;
    const int scale = exponent < smallest_normal ? smallest_normal : exponent;
    const int wanted = double_mantissa_bits - Format::mantissa_bits + scale - exponent;
    const int dropped = wanted < double_mantissa_bits + 2 ? wanted : double_mantissa_bits + 2;

    const bool is_zero = (bits & (~uint64_t(0) >> 1)) == 0;
    const uint64_t significand = is_zero ? 0 : (bits & (implicit_bit - 1)) | implicit_bit;
    const uint64_t rest = significand & ((uint64_t(1) << dropped) - 1);
    const uint64_t half = uint64_t(1) << (dropped - 1);
    uint64_t kept = significand >> dropped;
    switch (rounding) {
        case Rounding::nearest:
            kept += rest > half || (rest == half && (kept & 1) != 0);
            break;
        case Rounding::up:
            kept += rest != 0 && sign == 0;
            break;
        case Rounding::down:
            kept += rest != 0 && sign != 0;
            break;
        case Rounding::zero:
            break;
    }

    // kept still has the implicit bit of a normal number, which counts the exponent up by one; so
    // does a mantissa that rounding carried over.
    const uint64_t encoded =
        (static_cast<uint64_t>(scale - smallest_normal) << Format::mantissa_bits) + kept;
    if (encoded < infinity_bits<Format>) return static_cast<uint16_t>(sign | encoded);
    const bool away_from_zero =
        rounding == Rounding::nearest || rounding == (sign != 0 ? Rounding::down : Rounding::up);
    return static_cast<uint16_t>(sign | (infinity_bits<Format> - (away_from_zero ? 0 : 1)));
}

template <class Format>
__host__ __device__ inline float decode(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & sign_bit) << 16;
    if constexpr (Format::exponent_bits == 8) {
        return bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    } else {
        constexpr int shift = 23 - Format::mantissa_bits;
        const uint32_t magnitude = bits & ~sign_bit & 0xffff;
        if (magnitude > infinity_bits<Format>) return bit_cast<float>(0x7fffffffu);
        if (magnitude == infinity_bits<Format>) return bit_cast<float>(sign | 0x7f800000u);
        // Exponent and mantissa in a float's places give the value with the wrong bias, also where
        // the exponent is zero: the product puts it right, exactly.
        constexpr float rebias = bit_cast<float>(uint32_t(254 - exponent_bias<Format>) << 23);
        return bit_cast<float>(sign |
                               bit_cast<uint32_t>(bit_cast<float>(magnitude << shift) * rebias));
    }
}

// An integer as a double that rounds to 16 bits as the integer itself would. Where a double is too
// short, the lowest bit that remains stands for all those lost, so that no tie is made up.
template <class Integer>
__host__ __device__ inline double sticky_double(Integer value) {
    if constexpr (sizeof(Integer) < 8) {
        return value;
    } else {
        const bool negative = value < 0;
        uint64_t magnitude = static_cast<uint64_t>(value);
        if (negative) magnitude = 0 - magnitude;
        constexpr uint64_t lost = (1 << 11) - 1;
        if ((magnitude & lost) != 0 && magnitude >> 53 != 0) {
            magnitude = (magnitude & ~lost) | (lost + 1);
        }
        const double result = static_cast<double>(magnitude);
        return negative ? -result : result;
    }
}

// a * b + c as a double that rounds to 16 bits as the exact sum would: "rounded to odd". The
// product of two 16-bit floats is exact in double; the sum may not be, and then its last bit is
// made odd, which says "not exactly this" and keeps the second rounding from seeing a tie.
__host__ __device__ inline double sticky_multiply_add(float a, float b, float c) {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    const double addend = c;
    const double sum = product + addend;
    if (!std::isfinite(sum)) return sum;
    const double part = sum - product;
    const double error = (product - (sum - part)) + (addend - part);
    const uint64_t bits = bit_cast<uint64_t>(sum);
    if (error == 0 || (bits & 1) != 0) return sum;
    return bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

}  // namespace cpu_device::small_floats
namespace cpu_device {
using namespace small_floats;
}  // namespace cpu_device
