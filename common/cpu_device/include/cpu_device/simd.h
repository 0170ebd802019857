// SPDX-License-Identifier: MIT
// Integers of 8 or 16 bits, four or two in a word: the __v...4 and __v...2 functions.
#pragma once
#include <type_traits>

#include "cpu_device/integers.h"
#include "cpu_device/qualifiers.h"

namespace cpu_device {

template <class Lane>
constexpr int kLaneBits = 8 * static_cast<int>(sizeof(Lane));

// The lane of a word that begins at that bit, with its sign where it has one.
template <class Lane>
__device__ inline int lane_at(unsigned word, int bit) {
    constexpr int kOthers = 32 - kLaneBits<Lane>;
    const unsigned highest = word << (kOthers - bit);
    return std::is_signed<Lane>::value ? static_cast<int>(highest) >> kOthers
                                       : static_cast<int>(highest >> kOthers);
}

// What `operation` makes of the lanes of a and b, a lane of the result each.
template <class Lane, class Operation>
__device__ inline unsigned by_lanes(unsigned a, unsigned b, Operation operation) {
    constexpr int kBits = kLaneBits<Lane>;
    unsigned result = 0;
    for (int at = 0; at < 32; at += kBits) {
        const int x = lane_at<Lane>(a, at), y = lane_at<Lane>(b, at);
        result |= (static_cast<unsigned>(operation(x, y)) & ((1u << kBits) - 1)) << at;
    }
    return result;
}

template <class Lane, class Operation>
__device__ inline unsigned sum_of_lanes(unsigned a, unsigned b, Operation operation) {
    unsigned sum = 0;
    for (int at = 0; at < 32; at += kLaneBits<Lane>) {
        const int x = lane_at<Lane>(a, at), y = lane_at<Lane>(b, at);
        sum += static_cast<unsigned>(operation(x, y));
    }
    return sum;
}

template <class Lane>
__device__ inline int saturated(int value) {
    constexpr bool kHasSign = std::is_signed<Lane>::value;
    constexpr int kMost = (1 << (kLaneBits<Lane> - kHasSign)) - 1,
                  kLeast = kHasSign ? -kMost - 1 : 0;
    return value < kLeast ? kLeast : value > kMost ? kMost : value;
}

}  // namespace cpu_device

// Both functions of a name, which take lanes x and y with a sign (int) or without (uint) as an int. In the expression
// Lane is the type of a lane.
#define CPU_DEVICE_SIMD_OF(name, type, how, parameters, second, expression)               \
    __device__ inline unsigned name parameters {                                          \
        using Lane [[maybe_unused]] = cpu_device::type;                                   \
        return cpu_device::how<Lane>(                                                     \
            a, second, [](int x, [[maybe_unused]] int y) __attribute__((always_inline)) { \
                return expression;                                                        \
            });                                                                           \
    }
#define CPU_DEVICE_SIMD(name, sign, expression)                                                  \
    CPU_DEVICE_SIMD_OF(name##2, sign##16_t, by_lanes, (unsigned a, unsigned b), b, (expression)) \
    CPU_DEVICE_SIMD_OF(name##4, sign##8_t, by_lanes, (unsigned a, unsigned b), b, (expression))
#define CPU_DEVICE_SIMD_OF_ONE(name, sign, expression)                                \
    CPU_DEVICE_SIMD_OF(name##2, sign##16_t, by_lanes, (unsigned a), 0u, (expression)) \
    CPU_DEVICE_SIMD_OF(name##4, sign##8_t, by_lanes, (unsigned a), 0u, (expression))
#define CPU_DEVICE_SIMD_SUM(name, sign, expression)                                    \
    CPU_DEVICE_SIMD_OF(name##2, sign##16_t, sum_of_lanes, (unsigned a, unsigned b), b, \
                       (expression))                                                   \
    CPU_DEVICE_SIMD_OF(name##4, sign##8_t, sum_of_lanes, (unsigned a, unsigned b), b, (expression))
// __vcmp...: all bits of the lane; __vset...: its lowest bit.
#define CPU_DEVICE_SIMD_COMPARISON(name, sign, expression)     \
    CPU_DEVICE_SIMD(__vcmp##name, sign, (expression) ? -1 : 0) \
    CPU_DEVICE_SIMD(__vset##name, sign, (expression) ? 1 : 0)

// Wrapping; ss and us saturate, with and without a sign.
CPU_DEVICE_SIMD_OF_ONE(__vabs, int, x < 0 ? -x : x)
CPU_DEVICE_SIMD_OF_ONE(__vabsss, int, cpu_device::saturated<Lane>(x < 0 ? -x : x))
CPU_DEVICE_SIMD_OF_ONE(__vneg, int, -x)
CPU_DEVICE_SIMD_OF_ONE(__vnegss, int, cpu_device::saturated<Lane>(-x))
CPU_DEVICE_SIMD(__vadd, int, x + y)
CPU_DEVICE_SIMD(__vaddss, int, cpu_device::saturated<Lane>(x + y))
CPU_DEVICE_SIMD(__vaddus, uint, cpu_device::saturated<Lane>(x + y))
CPU_DEVICE_SIMD(__vsub, int, x - y)
CPU_DEVICE_SIMD(__vsubss, int, cpu_device::saturated<Lane>(x - y))
CPU_DEVICE_SIMD(__vsubus, uint, cpu_device::saturated<Lane>(x - y))
CPU_DEVICE_SIMD(__vabsdiffs, int, x < y ? y - x : x - y)
CPU_DEVICE_SIMD(__vabsdiffu, uint, x < y ? y - x : x - y)
// Averages: of halves those with a sign go away from zero, __vavgu up and __vhaddu down.
CPU_DEVICE_SIMD(__vavgs, int, (x + y + (x + y >= 0 ? 1 : 0)) >> 1)
CPU_DEVICE_SIMD(__vavgu, uint, (x + y + 1) >> 1)
CPU_DEVICE_SIMD(__vhaddu, uint, (x + y) >> 1)
CPU_DEVICE_SIMD(__vmaxs, int, x < y ? y : x)
CPU_DEVICE_SIMD(__vmaxu, uint, x < y ? y : x)
CPU_DEVICE_SIMD(__vmins, int, x < y ? x : y)
CPU_DEVICE_SIMD(__vminu, uint, x < y ? x : y)
CPU_DEVICE_SIMD_SUM(__vsads, int, x < y ? y - x : x - y)
CPU_DEVICE_SIMD_SUM(__vsadu, uint, x < y ? y - x : x - y)
CPU_DEVICE_SIMD_COMPARISON(eq, int, x == y)
CPU_DEVICE_SIMD_COMPARISON(ne, int, x != y)
CPU_DEVICE_SIMD_COMPARISON(ges, int, x >= y)
CPU_DEVICE_SIMD_COMPARISON(geu, uint, x >= y)
CPU_DEVICE_SIMD_COMPARISON(gts, int, x > y)
CPU_DEVICE_SIMD_COMPARISON(gtu, uint, x > y)
CPU_DEVICE_SIMD_COMPARISON(les, int, x <= y)
CPU_DEVICE_SIMD_COMPARISON(leu, uint, x <= y)
CPU_DEVICE_SIMD_COMPARISON(lts, int, x < y)
CPU_DEVICE_SIMD_COMPARISON(ltu, uint, x < y)

#undef CPU_DEVICE_SIMD_OF
#undef CPU_DEVICE_SIMD
#undef CPU_DEVICE_SIMD_OF_ONE
#undef CPU_DEVICE_SIMD_SUM
#undef CPU_DEVICE_SIMD_COMPARISON
