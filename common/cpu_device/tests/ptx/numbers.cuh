// SPDX-License-Identifier: MIT
// Floats of any format, rounded by plain C++ in one place: what PTX's instructions on floats are held to.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "common/cpu_device/tests/ptx/forms.cuh"

namespace ptx_tests {

struct Format {
    int exponent_bits, mantissa_bits;
    uint32_t infinity;  // of e4m3, which has none, one past its largest number
};
constexpr Format kSingle{8, 23, 0x7f800000}, kHalf{5, 10, 0x7c00}, kBfloat{8, 7, 0x7f80},
    kTf32{8, 10, 0x3fc00}, kE4m3{4, 3, 0x7f}, kE5m2{5, 2, 0x7c};

enum class Direction { nearest, away, zero, down, up };

// A number that no double holds exactly: what is left over is much smaller than it.
struct Exact {
    double number, rest;
};
inline Exact sum(double a, double b) {
    const double number = a + b, part = number - a;
    return {number, std::isfinite(number) ? (a - (number - part)) + (b - part) : 0};
}

inline int sign_place(Format format) {
    return format.exponent_bits + format.mantissa_bits;
}
inline uint32_t nan_of(Format format) {
    return format.infinity == kE4m3.infinity ? 0x7f : (1u << sign_place(format)) - 1;
}

inline double value_of(Format format, uint32_t bits) {
    const uint32_t magnitude = bits & ((1u << sign_place(format)) - 1);
    const double sign = (bits >> sign_place(format) & 1) != 0 ? -1 : 1;
    if (magnitude > format.infinity ||
        (magnitude == format.infinity && format.infinity == kE4m3.infinity))
        return std::numeric_limits<double>::quiet_NaN();
    if (magnitude == format.infinity) return sign * std::numeric_limits<double>::infinity();
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
    const double mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
    const double steps = exponent == 0 ? mantissa : mantissa + (1u << format.mantissa_bits);
    return sign * std::ldexp(steps, (exponent == 0 ? 1 : exponent) - bias - format.mantissa_bits);
}

// The format's bits of the exact number.
inline uint32_t rounded(Format format, Exact exact, Direction direction = Direction::nearest) {
    const double x = exact.number;
    const uint32_t sign = std::signbit(x) ? 1u << sign_place(format) : 0;
    if (x != x) return nan_of(format);
    if (std::isinf(x)) return sign | format.infinity;
    if (x == 0) return sign;
    int exponent = std::ilogb(x);
    if (exact.rest != 0 && std::signbit(exact.rest) != std::signbit(x) &&
        std::fabs(x) == std::ldexp(1, exponent))
        --exponent;  // just below a power of two
    const int least = 2 - (1 << (format.exponent_bits - 1));
    if (exponent < least) exponent = least;
    // In steps, the neighbours are lower and upper.
    const double steps = std::fabs(std::ldexp(x, format.mantissa_bits - exponent));
    const double rest = std::signbit(x) ? -exact.rest : exact.rest;
    double lower = std::floor(steps);
    if (lower == steps && rest < 0) --lower;
    const double upper = lower == steps && rest == 0 ? lower : lower + 1, middle = lower + 0.5;
    bool up = upper > lower;
    switch (direction) {
        case Direction::nearest:
        case Direction::away:
            if (steps == middle && rest == 0) {
                up = direction == Direction::away || std::fmod(lower, 2) != 0;
            } else {
                up = up && (steps > middle || (steps == middle && rest > 0));
            }
            break;
        case Direction::zero:
            up = false;
            break;
        case Direction::down:
            up = up && sign != 0;
            break;
        case Direction::up:
            up = up && sign == 0;
            break;
    }
    const double magnitude =
        static_cast<double>(exponent - least) * (1u << format.mantissa_bits) + (up ? upper : lower);
    if (magnitude < format.infinity) return sign | static_cast<uint32_t>(magnitude);
    const bool to_infinity = direction == Direction::nearest || direction == Direction::away ||
                             direction == (sign != 0 ? Direction::down : Direction::up);
    return sign | (to_infinity ? format.infinity : format.infinity - 1);
}

}  // namespace ptx_tests
