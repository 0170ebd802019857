// SPDX-License-Identifier: MIT
// Integers of 8 or 16 bits, four or two in a word: the __v...4 and __v...2 functions.
#pragma once
#include <limits>
#include <type_traits>

#include "cpu_device/integers.h"
#include "cpu_device/qualifiers.h"

namespace cpu_device {

template <class Lane>
constexpr int kLaneBits = 8 * static_cast<int>(sizeof(Lane));

// The lane of a word that begins at that bit, with its sign where it has one.
template <class Lane>
__host__ __device__ inline int lane_at(unsigned word, int bit) {
    constexpr int kOthers = 32 - kLaneBits<Lane>;
    const unsigned highest = word << (kOthers - bit);
    return std::is_signed<Lane>::value ? static_cast<int>(highest) >> kOthers
                                       : static_cast<int>(highest >> kOthers);
}

// Calls of(bit, x, y) for each lane of a and b: where it begins, and both numbers.
template <class X, class Y, class Of>
__host__ __device__ inline void for_lanes(unsigned a, unsigned b, Of of) {
    static_assert(sizeof(X) == sizeof(Y), "lanes of both words are as wide");
    for (int at = 0; at < 32; at += kLaneBits<X>) of(at, lane_at<X>(a, at), lane_at<Y>(b, at));
}

// What `operation` makes of the lanes of a and b, a lane of the result each.
template <class X, class Y = X, class Operation>
__host__ __device__ inline unsigned by_lanes(unsigned a, unsigned b, Operation operation) {
    unsigned result = 0;
    for_lanes<X, Y>(
        a, b, [&](int at, int x, int y) __attribute__((always_inline)) {
            result |= (static_cast<unsigned>(operation(x, y)) & ((1u << kLaneBits<X>)-1)) << at;
        });
    return result;
}

template <class Lane, class Operation>
__host__ __device__ inline unsigned sum_of_lanes(unsigned a, unsigned b, Operation operation) {
    unsigned sum = 0;
    for_lanes<Lane, Lane>(
        a, b, [&](int, int x, int y) __attribute__((always_inline)) {
            sum += static_cast<unsigned>(operation(x, y));
        });
    return sum;
}

// The nearest number that T holds.
template <class T, class Wide>
__host__ __device__ inline T saturated(Wide value) {
    using Limits = std::numeric_limits<T>;
    static_assert(sizeof(T) < sizeof(Wide), "a wider type holds the limits");
    if (value < static_cast<Wide>(Limits::min())) return Limits::min();
    return value > static_cast<Wide>(Limits::max()) ? Limits::max() : static_cast<T>(value);
}

// What becomes of two numbers. Sums and differences wrap.
namespace operations {

template <class T>
using Bits = std::make_unsigned_t<T>;

struct Sum {
    template <class T>
    __host__ __device__ T operator()(T x, T y) const {
        return static_cast<T>(static_cast<Bits<T>>(x) + static_cast<Bits<T>>(y));
    }
};
struct Difference {
    template <class T>
    __host__ __device__ T operator()(T x, T y) const {
        return static_cast<T>(static_cast<Bits<T>>(x) - static_cast<Bits<T>>(y));
    }
};
struct AbsoluteDifference {
    template <class T>
    __host__ __device__ T operator()(T x, T y) const {
        return x < y ? Difference()(y, x) : Difference()(x, y);
    }
};
// Halves go away from zero.
struct Average {
    template <class T>
    __host__ __device__ T operator()(T x, T y) const {
        return (x + y + (x + y >= 0 ? 1 : 0)) >> 1;
    }
};
struct Greater {
    template <class T>
    __host__ __device__ T operator()(T x, T y) const {
        return x < y ? y : x;
    }
};
struct Lesser {
    template <class T>
    __host__ __device__ T operator()(T x, T y) const {
        return y < x ? y : x;
    }
};

}  // namespace operations

// Second(First(x, y), z) of the halves of three words.
template <class Half, class First, class Second>
__host__ __device__ inline unsigned by_halves(unsigned a, unsigned b, unsigned c) {
    return by_lanes<Half>(by_lanes<Half>(a, b, First()), c, Second());
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
CPU_DEVICE_SIMD(__vabsdiffs, int, cpu_device::operations::AbsoluteDifference()(x, y))
CPU_DEVICE_SIMD(__vabsdiffu, uint, cpu_device::operations::AbsoluteDifference()(x, y))
// Averages: __vhaddu rounds down.
CPU_DEVICE_SIMD(__vavgs, int, cpu_device::operations::Average()(x, y))
CPU_DEVICE_SIMD(__vavgu, uint, cpu_device::operations::Average()(x, y))
CPU_DEVICE_SIMD(__vhaddu, uint, (x + y) >> 1)
CPU_DEVICE_SIMD(__vmaxs, int, cpu_device::operations::Greater()(x, y))
CPU_DEVICE_SIMD(__vmaxu, uint, cpu_device::operations::Greater()(x, y))
CPU_DEVICE_SIMD(__vmins, int, cpu_device::operations::Lesser()(x, y))
CPU_DEVICE_SIMD(__vminu, uint, cpu_device::operations::Lesser()(x, y))
CPU_DEVICE_SIMD_SUM(__vsads, int, cpu_device::operations::AbsoluteDifference()(x, y))
CPU_DEVICE_SIMD_SUM(__vsadu, uint, cpu_device::operations::AbsoluteDifference()(x, y))
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

// ---------------------------------------------------------------- sums and extremes of three

// The functions of a name: for a word and for two halves, with a sign and without. _relu takes what is negative for 0.
#define CPU_DEVICE_OF_THREE(name, First, Second)                                                \
    __host__ __device__ inline int name##_s32(int a, int b, int c) {                            \
        return cpu_device::operations::Second()(cpu_device::operations::First()(a, b), c);      \
    }                                                                                           \
    __host__ __device__ inline unsigned name##_u32(unsigned a, unsigned b, unsigned c) {        \
        return cpu_device::operations::Second()(cpu_device::operations::First()(a, b), c);      \
    }                                                                                           \
    __host__ __device__ inline unsigned name##_s16x2(unsigned a, unsigned b, unsigned c) {      \
        return cpu_device::by_halves<cpu_device::int16_t, cpu_device::operations::First,        \
                                     cpu_device::operations::Second>(a, b, c);                  \
    }                                                                                           \
    __host__ __device__ inline unsigned name##_u16x2(unsigned a, unsigned b, unsigned c) {      \
        return cpu_device::by_halves<cpu_device::uint16_t, cpu_device::operations::First,       \
                                     cpu_device::operations::Second>(a, b, c);                  \
    }                                                                                           \
    __host__ __device__ inline int name##_s32_relu(int a, int b, int c) {                       \
        return cpu_device::operations::Greater()(name##_s32(a, b, c), 0);                       \
    }                                                                                           \
    __host__ __device__ inline unsigned name##_s16x2_relu(unsigned a, unsigned b, unsigned c) { \
        return __vmaxs2(name##_s16x2(a, b, c), 0);                                              \
    }
CPU_DEVICE_OF_THREE(__viaddmax, Sum, Greater)
CPU_DEVICE_OF_THREE(__viaddmin, Sum, Lesser)
CPU_DEVICE_OF_THREE(__vimax3, Greater, Greater)
CPU_DEVICE_OF_THREE(__vimin3, Lesser, Lesser)
#undef CPU_DEVICE_OF_THREE

__host__ __device__ inline int __vimax_s32_relu(int a, int b) {
    return __vimax3_s32(a, b, 0);
}
__host__ __device__ inline unsigned __vimax_s16x2_relu(unsigned a, unsigned b) {
    return __vimax3_s16x2(a, b, 0);
}
__host__ __device__ inline int __vimin_s32_relu(int a, int b) {
    return __vimin3_s32_relu(a, b, b);
}
__host__ __device__ inline unsigned __vimin_s16x2_relu(unsigned a, unsigned b) {
    return __vimin3_s16x2_relu(a, b, b);
}

// These also tell whether a is the result.
#define CPU_DEVICE_CHOICE_OF_WORDS(name, Word, choice, order)              \
    __host__ __device__ inline Word name(Word a, Word b, bool* is_first) { \
        *is_first = a order b;                                             \
        return cpu_device::operations::choice()(a, b);                     \
    }
#define CPU_DEVICE_CHOICE_OF_HALVES(name, type, choice, order)                                    \
    __host__ __device__ inline unsigned name(unsigned a, unsigned b, bool* is_first_high,         \
                                             bool* is_first_low) {                                \
        using Lane = cpu_device::type;                                                            \
        *is_first_high = cpu_device::lane_at<Lane>(a, 16) order cpu_device::lane_at<Lane>(b, 16); \
        *is_first_low = cpu_device::lane_at<Lane>(a, 0) order cpu_device::lane_at<Lane>(b, 0);    \
        return cpu_device::by_lanes<Lane>(a, b, cpu_device::operations::choice());                \
    }
#define CPU_DEVICE_CHOICE(name, choice, order)                        \
    CPU_DEVICE_CHOICE_OF_WORDS(name##_s32, int, choice, order)        \
    CPU_DEVICE_CHOICE_OF_WORDS(name##_u32, unsigned, choice, order)   \
    CPU_DEVICE_CHOICE_OF_HALVES(name##_s16x2, int16_t, choice, order) \
    CPU_DEVICE_CHOICE_OF_HALVES(name##_u16x2, uint16_t, choice, order)
CPU_DEVICE_CHOICE(__vibmax, Greater, >=)
CPU_DEVICE_CHOICE(__vibmin, Lesser, <=)
#undef CPU_DEVICE_CHOICE
#undef CPU_DEVICE_CHOICE_OF_HALVES
#undef CPU_DEVICE_CHOICE_OF_WORDS
