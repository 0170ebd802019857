// SPDX-License-Identifier: MIT
// One 16-bit float and a pair of them, with CUDA's functions that are named alike for half and
// bfloat16. cuda_fp16.h and cuda_bf16.h add the names that differ.
//
// Every operation is done in float or double and rounded once to 16 bits: a float has more than
// twice the digits of either format, so rounding its sums, products, quotients and roots again
// gives what rounding the exact value would.
//
// All functions are friends defined in their class: found through their arguments, and converting
// those as CUDA's overloads do.
#pragma once
#include "cpu_device/integers.h"
#include <cmath>
#include <type_traits>

#include "cpu_device/qualifiers.h"
#include "cpu_device/rounding.h"
#include "cpu_device/small_float_encoding.h"
#include "cpu_device/traits.h"

namespace cpu_device::small_floats {

// The bits as plain integers: CUDA's __half_raw and __half2_raw and their like.
template <class Format>
struct SmallFloatRaw {
    unsigned short x;
};
template <class Format>
struct alignas(4) SmallFloatPairRaw {
    unsigned short x, y;
};

template <class Format>
class SmallFloat {
public:
    using Raw = SmallFloatRaw<Format>;

    SmallFloat() = default;
    __host__ __device__ constexpr SmallFloat(Raw raw) : bits_(raw.x) {}
    __host__ __device__ SmallFloat(float value) : bits_(encode<Format>(value)) {}
    __host__ __device__ SmallFloat(double value) : bits_(encode<Format>(value)) {}

    template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
    __host__ __device__ SmallFloat(Integer value) : bits_(encode<Format>(sticky_double(value))) {}

    template <class Other, std::enable_if_t<!std::is_same_v<Other, Format>, int> = 0>
    __host__ __device__ explicit SmallFloat(SmallFloat<Other> other)
        : SmallFloat(static_cast<float>(other)) {}

    __host__ __device__ static SmallFloat from(double value, Rounding rounding) {
        return from_bits(encode<Format>(value, rounding));
    }
    __host__ __device__ static constexpr SmallFloat from_bits(unsigned short bits) {
        return Raw{bits};
    }

    __host__ __device__ operator Raw() const { return Raw{bits_}; }
    __host__ __device__ operator float() const { return decode<Format>(bits_); }
    __host__ __device__ operator bool() const { return (bits_ & ~sign_bit & 0xffff) != 0; }

    template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
    __host__ __device__ operator Integer() const {
        return to_integer<Integer>(Rounding::zero);
    }

    // NaN becomes 0, or in 64 bits the number with the top bit alone: that is what the instruction
    // does.
    template <class Integer>
    __host__ __device__ Integer to_integer(Rounding rounding) const {
        constexpr Integer of_nan =
            sizeof(Integer) == 8 ? static_cast<Integer>(uint64_t(1) << 63) : Integer(0);
        return cpu_device::to_integer<Integer>(decode<Format>(bits_), rounding, of_nan);
    }

    // ---------------------------------------------------------------- arithmetic

    __host__ __device__ friend SmallFloat __hadd(SmallFloat a, SmallFloat b) {
        return number(a) + number(b);
    }
    __host__ __device__ friend SmallFloat __hsub(SmallFloat a, SmallFloat b) {
        return number(a) - number(b);
    }
    __host__ __device__ friend SmallFloat __hmul(SmallFloat a, SmallFloat b) {
        return number(a) * number(b);
    }
    __host__ __device__ friend SmallFloat __hdiv(SmallFloat a, SmallFloat b) {
        return number(a) / number(b);
    }
    __host__ __device__ friend SmallFloat __hfma(SmallFloat a, SmallFloat b, SmallFloat c) {
        return sticky_multiply_add(number(a), number(b), number(c));
    }

    // The _rn forms promise not to be fused with a neighbouring operation. Nothing is, here.
    __host__ __device__ friend SmallFloat __hadd_rn(SmallFloat a, SmallFloat b) { return a + b; }
    __host__ __device__ friend SmallFloat __hsub_rn(SmallFloat a, SmallFloat b) { return a - b; }
    __host__ __device__ friend SmallFloat __hmul_rn(SmallFloat a, SmallFloat b) { return a * b; }

    // Clamped to [0, 1]; NaN becomes 0.
    __host__ __device__ friend SmallFloat __hadd_sat(SmallFloat a, SmallFloat b) {
        return saturate(a + b);
    }
    __host__ __device__ friend SmallFloat __hsub_sat(SmallFloat a, SmallFloat b) {
        return saturate(a - b);
    }
    __host__ __device__ friend SmallFloat __hmul_sat(SmallFloat a, SmallFloat b) {
        return saturate(a * b);
    }
    __host__ __device__ friend SmallFloat __hfma_sat(SmallFloat a, SmallFloat b, SmallFloat c) {
        return saturate(__hfma(a, b, c));
    }

    // Negative numbers become 0, NaN stays.
    __host__ __device__ friend SmallFloat __hfma_relu(SmallFloat a, SmallFloat b, SmallFloat c) {
        return __hmax_nan(__hfma(a, b, c), from_bits(0));
    }

    __host__ __device__ friend SmallFloat __hneg(SmallFloat a) {
        return __hisnan(a) ? from_bits(nan_bits) : from_bits(a.bits_ ^ sign_bit);
    }
    __host__ __device__ friend SmallFloat __habs(SmallFloat a) {
        return __hisnan(a) ? from_bits(nan_bits) : from_bits(a.bits_ & ~sign_bit & 0xffff);
    }

    __host__ __device__ friend SmallFloat operator+(SmallFloat a, SmallFloat b) {
        return __hadd(a, b);
    }
    __host__ __device__ friend SmallFloat operator-(SmallFloat a, SmallFloat b) {
        return __hsub(a, b);
    }
    __host__ __device__ friend SmallFloat operator*(SmallFloat a, SmallFloat b) {
        return __hmul(a, b);
    }
    __host__ __device__ friend SmallFloat operator/(SmallFloat a, SmallFloat b) {
        return __hdiv(a, b);
    }
    __host__ __device__ friend SmallFloat& operator+=(SmallFloat& a, SmallFloat b) {
        return a = a + b;
    }
    __host__ __device__ friend SmallFloat& operator-=(SmallFloat& a, SmallFloat b) {
        return a = a - b;
    }
    __host__ __device__ friend SmallFloat& operator*=(SmallFloat& a, SmallFloat b) {
        return a = a * b;
    }
    __host__ __device__ friend SmallFloat& operator/=(SmallFloat& a, SmallFloat b) {
        return a = a / b;
    }
    __host__ __device__ friend SmallFloat operator+(SmallFloat a) { return a; }
    __host__ __device__ friend SmallFloat operator-(SmallFloat a) { return __hneg(a); }
    __host__ __device__ friend SmallFloat& operator++(SmallFloat& a) {
        return a += SmallFloat(1.f);
    }
    __host__ __device__ friend SmallFloat& operator--(SmallFloat& a) {
        return a -= SmallFloat(1.f);
    }
    __host__ __device__ friend SmallFloat operator++(SmallFloat& a, int) {
        const SmallFloat before = a;
        ++a;
        return before;
    }
    __host__ __device__ friend SmallFloat operator--(SmallFloat& a, int) {
        const SmallFloat before = a;
        --a;
        return before;
    }

    // ---------------------------------------------------------------- comparisons

    __host__ __device__ friend bool __hisnan(SmallFloat a) {
        return (a.bits_ & ~sign_bit & 0xffff) > infinity_bits<Format>;
    }
    // -1 and 1 for the infinities.
    __host__ __device__ friend int __hisinf(SmallFloat a) {
        if (__habs(a).bits_ != infinity_bits<Format>) return 0;
        return (a.bits_ & sign_bit) != 0 ? -1 : 1;
    }

// With NaN the plain comparison is false, != too, and the one that ends in u ("unordered") is true.
// A macro, because it makes two names of one.
#define CPU_DEVICE_COMPARISON(name, operation)                            \
    __host__ __device__ friend bool name(SmallFloat a, SmallFloat b) {    \
        return !unordered(a, b) && number(a) operation number(b);         \
    }                                                                     \
    __host__ __device__ friend bool name##u(SmallFloat a, SmallFloat b) { \
        return unordered(a, b) || number(a) operation number(b);          \
    }
    CPU_DEVICE_COMPARISON(__heq, ==)
    CPU_DEVICE_COMPARISON(__hne, !=)
    CPU_DEVICE_COMPARISON(__hlt, <)
    CPU_DEVICE_COMPARISON(__hle, <=)
    CPU_DEVICE_COMPARISON(__hgt, >)
    CPU_DEVICE_COMPARISON(__hge, >=)
#undef CPU_DEVICE_COMPARISON

    __host__ __device__ friend bool operator==(SmallFloat a, SmallFloat b) {
        return __heq(a, b);
    }
    __host__ __device__ friend bool operator!=(SmallFloat a, SmallFloat b) {
        return __hneu(a, b);
    }
    __host__ __device__ friend bool operator<(SmallFloat a, SmallFloat b) {
        return __hlt(a, b);
    }
    __host__ __device__ friend bool operator<=(SmallFloat a, SmallFloat b) {
        return __hle(a, b);
    }
    __host__ __device__ friend bool operator>(SmallFloat a, SmallFloat b) {
        return __hgt(a, b);
    }
    __host__ __device__ friend bool operator>=(SmallFloat a, SmallFloat b) {
        return __hge(a, b);
    }

    // Of a number and NaN the number; of two zeros +0.
    __host__ __device__ friend SmallFloat __hmax(SmallFloat a, SmallFloat b) {
        if (__hisnan(a) && __hisnan(b)) return from_bits(nan_bits);
        if (__hisnan(a)) return b;
        if (__hisnan(b)) return a;
        if (a == b) return from_bits(a.bits_ & b.bits_);
        return a > b ? a : b;
    }
    // Of a number and NaN the number; of two zeros -0.
    __host__ __device__ friend SmallFloat __hmin(SmallFloat a, SmallFloat b) {
        if (__hisnan(a) && __hisnan(b)) return from_bits(nan_bits);
        if (__hisnan(a)) return b;
        if (__hisnan(b)) return a;
        if (a == b) return from_bits(a.bits_ | b.bits_);
        return a < b ? a : b;
    }
    // With NaN, NaN.
    __host__ __device__ friend SmallFloat __hmax_nan(SmallFloat a, SmallFloat b) {
        return unordered(a, b) ? from_bits(nan_bits) : __hmax(a, b);
    }
    __host__ __device__ friend SmallFloat __hmin_nan(SmallFloat a, SmallFloat b) {
        return unordered(a, b) ? from_bits(nan_bits) : __hmin(a, b);
    }

    // ---------------------------------------------------------------- functions

    __host__ __device__ friend SmallFloat hsqrt(SmallFloat a) {
        return std::sqrt(number(a));
    }
    __host__ __device__ friend SmallFloat hrsqrt(SmallFloat a) {
        return 1 / std::sqrt(double(number(a)));
    }
    __host__ __device__ friend SmallFloat hrcp(SmallFloat a) {
        return 1 / number(a);
    }
    __host__ __device__ friend SmallFloat hexp(SmallFloat a) {
        return std::exp(double(number(a)));
    }
    __host__ __device__ friend SmallFloat hexp2(SmallFloat a) {
        return std::exp2(double(number(a)));
    }
    __host__ __device__ friend SmallFloat hexp10(SmallFloat a) {
        return ::exp10(double(number(a)));
    }
    __host__ __device__ friend SmallFloat hlog(SmallFloat a) {
        return std::log(double(number(a)));
    }
    __host__ __device__ friend SmallFloat hlog2(SmallFloat a) {
        return std::log2(double(number(a)));
    }
    __host__ __device__ friend SmallFloat hlog10(SmallFloat a) {
        return std::log10(double(number(a)));
    }
    __host__ __device__ friend SmallFloat hsin(SmallFloat a) {
        return std::sin(double(number(a)));
    }
    __host__ __device__ friend SmallFloat hcos(SmallFloat a) {
        return std::cos(double(number(a)));
    }
    __host__ __device__ friend SmallFloat htanh(SmallFloat a) {
        return std::tanh(double(number(a)));
    }
    __host__ __device__ friend SmallFloat htanh_approx(SmallFloat a) {
        return htanh(a);
    }
    __host__ __device__ friend SmallFloat hceil(SmallFloat a) {
        return std::ceil(number(a));
    }
    __host__ __device__ friend SmallFloat hfloor(SmallFloat a) {
        return std::floor(number(a));
    }
    __host__ __device__ friend SmallFloat htrunc(SmallFloat a) {
        return std::trunc(number(a));
    }
    __host__ __device__ friend SmallFloat hrint(SmallFloat a) {
        return to_integral(number(a), Rounding::nearest);
    }

private:
    __host__ __device__ static float number(SmallFloat a) {
        return decode<Format>(a.bits_);
    }
    __host__ __device__ static bool unordered(SmallFloat a, SmallFloat b) {
        return __hisnan(a) || __hisnan(b);
    }
    __host__ __device__ static SmallFloat saturate(SmallFloat a) {
        return __hmin(__hmax(a, from_bits(0)), SmallFloat(1.f));
    }

public:
    // Nobody's business, but of a class with private members g++ warns at each memcpy into an array of them.
    unsigned short bits_;
};

// Two 16-bit floats in one word. It is passed by value, so that it is read and written as one.
template <class Format>
struct alignas(4) SmallFloatPair {
    using Scalar = SmallFloat<Format>;
    using Raw = SmallFloatPairRaw<Format>;

    Scalar x, y;

    SmallFloatPair() = default;
    __host__ __device__ constexpr SmallFloatPair(Scalar low, Scalar high) : x(low), y(high) {}
    __host__ __device__ constexpr SmallFloatPair(Raw raw)
        : x(Scalar::from_bits(raw.x)), y(Scalar::from_bits(raw.y)) {}
    __host__ __device__ operator Raw() const { return bit_cast<Raw>(*this); }

// name##2 does for each element of a pair what name does for one. Macros, because they make names.
#define CPU_DEVICE_PAIRWISE_1(pair_name, name)                              \
    __host__ __device__ friend SmallFloatPair pair_name(SmallFloatPair a) { \
        return {name(a.x), name(a.y)};                                      \
    }
#define CPU_DEVICE_PAIRWISE_2(pair_name, name)                                                \
    __host__ __device__ friend SmallFloatPair pair_name(SmallFloatPair a, SmallFloatPair b) { \
        return {name(a.x, b.x), name(a.y, b.y)};                                              \
    }
#define CPU_DEVICE_PAIRWISE_3(pair_name, name)                                              \
    __host__ __device__ friend SmallFloatPair pair_name(SmallFloatPair a, SmallFloatPair b, \
                                                        SmallFloatPair c) {                 \
        return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)};                                  \
    }
    CPU_DEVICE_PAIRWISE_1(__habs2, __habs)
    CPU_DEVICE_PAIRWISE_1(__hneg2, __hneg)
    CPU_DEVICE_PAIRWISE_1(h2sqrt, hsqrt)
    CPU_DEVICE_PAIRWISE_1(h2rsqrt, hrsqrt)
    CPU_DEVICE_PAIRWISE_1(h2rcp, hrcp)
    CPU_DEVICE_PAIRWISE_1(h2exp, hexp)
    CPU_DEVICE_PAIRWISE_1(h2exp2, hexp2)
    CPU_DEVICE_PAIRWISE_1(h2exp10, hexp10)
    CPU_DEVICE_PAIRWISE_1(h2log, hlog)
    CPU_DEVICE_PAIRWISE_1(h2log2, hlog2)
    CPU_DEVICE_PAIRWISE_1(h2log10, hlog10)
    CPU_DEVICE_PAIRWISE_1(h2sin, hsin)
    CPU_DEVICE_PAIRWISE_1(h2cos, hcos)
    CPU_DEVICE_PAIRWISE_1(h2tanh, htanh)
    CPU_DEVICE_PAIRWISE_1(h2tanh_approx, htanh_approx)
    CPU_DEVICE_PAIRWISE_1(h2ceil, hceil)
    CPU_DEVICE_PAIRWISE_1(h2floor, hfloor)
    CPU_DEVICE_PAIRWISE_1(h2trunc, htrunc)
    CPU_DEVICE_PAIRWISE_1(h2rint, hrint)
    CPU_DEVICE_PAIRWISE_2(__hadd2, __hadd)
    CPU_DEVICE_PAIRWISE_2(__hsub2, __hsub)
    CPU_DEVICE_PAIRWISE_2(__hmul2, __hmul)
    CPU_DEVICE_PAIRWISE_2(__h2div, __hdiv)
    CPU_DEVICE_PAIRWISE_2(__hadd2_rn, __hadd)
    CPU_DEVICE_PAIRWISE_2(__hsub2_rn, __hsub)
    CPU_DEVICE_PAIRWISE_2(__hmul2_rn, __hmul)
    CPU_DEVICE_PAIRWISE_2(__hadd2_sat, __hadd_sat)
    CPU_DEVICE_PAIRWISE_2(__hsub2_sat, __hsub_sat)
    CPU_DEVICE_PAIRWISE_2(__hmul2_sat, __hmul_sat)
    CPU_DEVICE_PAIRWISE_2(__hmax2, __hmax)
    CPU_DEVICE_PAIRWISE_2(__hmin2, __hmin)
    CPU_DEVICE_PAIRWISE_2(__hmax2_nan, __hmax_nan)
    CPU_DEVICE_PAIRWISE_2(__hmin2_nan, __hmin_nan)
    CPU_DEVICE_PAIRWISE_2(operator+, __hadd)
    CPU_DEVICE_PAIRWISE_2(operator-, __hsub)
    CPU_DEVICE_PAIRWISE_2(operator*, __hmul)
    CPU_DEVICE_PAIRWISE_2(operator/, __hdiv)
    CPU_DEVICE_PAIRWISE_3(__hfma2, __hfma)
    CPU_DEVICE_PAIRWISE_3(__hfma2_sat, __hfma_sat)
    CPU_DEVICE_PAIRWISE_3(__hfma2_relu, __hfma_relu)
#undef CPU_DEVICE_PAIRWISE_1
#undef CPU_DEVICE_PAIRWISE_2
#undef CPU_DEVICE_PAIRWISE_3

    __host__ __device__ friend SmallFloatPair& operator+=(SmallFloatPair& a, SmallFloatPair b) {
        return a = a + b;
    }
    __host__ __device__ friend SmallFloatPair& operator-=(SmallFloatPair& a, SmallFloatPair b) {
        return a = a - b;
    }
    __host__ __device__ friend SmallFloatPair& operator*=(SmallFloatPair& a, SmallFloatPair b) {
        return a = a * b;
    }
    __host__ __device__ friend SmallFloatPair& operator/=(SmallFloatPair& a, SmallFloatPair b) {
        return a = a / b;
    }
    __host__ __device__ friend SmallFloatPair operator+(SmallFloatPair a) {
        return a;
    }
    __host__ __device__ friend SmallFloatPair operator-(SmallFloatPair a) {
        return __hneg2(a);
    }
    __host__ __device__ friend SmallFloatPair& operator++(SmallFloatPair& a) {
        return a += SmallFloatPair(Scalar(1.f), Scalar(1.f));
    }
    __host__ __device__ friend SmallFloatPair& operator--(SmallFloatPair& a) {
        return a -= SmallFloatPair(Scalar(1.f), Scalar(1.f));
    }
    __host__ __device__ friend SmallFloatPair operator++(SmallFloatPair& a, int) {
        const SmallFloatPair before = a;
        ++a;
        return before;
    }
    __host__ __device__ friend SmallFloatPair operator--(SmallFloatPair& a, int) {
        const SmallFloatPair before = a;
        --a;
        return before;
    }

// A comparison of pairs tells its two outcomes as 1 and 0, as masks of bits, or as one: both hold.
#define CPU_DEVICE_COMPARISON(name, compare)                                                     \
    __host__ __device__ friend SmallFloatPair __h##name##2(SmallFloatPair a, SmallFloatPair b) { \
        return {Scalar(compare(a.x, b.x) ? 1.f : 0.f), Scalar(compare(a.y, b.y) ? 1.f : 0.f)};   \
    }                                                                                            \
    __host__ __device__ friend unsigned __h##name##2_mask(SmallFloatPair a, SmallFloatPair b) {  \
        return (compare(a.x, b.x) ? 0xffffu : 0) | (compare(a.y, b.y) ? 0xffff0000u : 0);        \
    }                                                                                            \
    __host__ __device__ friend bool __hb##name##2(SmallFloatPair a, SmallFloatPair b) {          \
        return compare(a.x, b.x) && compare(a.y, b.y);                                           \
    }
    CPU_DEVICE_COMPARISON(eq, __heq)
    CPU_DEVICE_COMPARISON(ne, __hne)
    CPU_DEVICE_COMPARISON(lt, __hlt)
    CPU_DEVICE_COMPARISON(le, __hle)
    CPU_DEVICE_COMPARISON(gt, __hgt)
    CPU_DEVICE_COMPARISON(ge, __hge)
    CPU_DEVICE_COMPARISON(equ, __hequ)
    CPU_DEVICE_COMPARISON(neu, __hneu)
    CPU_DEVICE_COMPARISON(ltu, __hltu)
    CPU_DEVICE_COMPARISON(leu, __hleu)
    CPU_DEVICE_COMPARISON(gtu, __hgtu)
    CPU_DEVICE_COMPARISON(geu, __hgeu)
#undef CPU_DEVICE_COMPARISON

    __host__ __device__ friend bool operator==(SmallFloatPair a, SmallFloatPair b) {
        return __hbeq2(a, b);
    }
    __host__ __device__ friend bool operator!=(SmallFloatPair a, SmallFloatPair b) {
        return __hbneu2(a, b);
    }
    __host__ __device__ friend bool operator<(SmallFloatPair a, SmallFloatPair b) {
        return __hblt2(a, b);
    }
    __host__ __device__ friend bool operator<=(SmallFloatPair a, SmallFloatPair b) {
        return __hble2(a, b);
    }
    __host__ __device__ friend bool operator>(SmallFloatPair a, SmallFloatPair b) {
        return __hbgt2(a, b);
    }
    __host__ __device__ friend bool operator>=(SmallFloatPair a, SmallFloatPair b) {
        return __hbge2(a, b);
    }

    __host__ __device__ friend SmallFloatPair __hisnan2(SmallFloatPair a) {
        return {Scalar(__hisnan(a.x) ? 1.f : 0.f), Scalar(__hisnan(a.y) ? 1.f : 0.f)};
    }

    // a * b + c for complex numbers x + iy, each step rounded.
    __host__ __device__ friend SmallFloatPair __hcmadd(SmallFloatPair a, SmallFloatPair b,
                                                       SmallFloatPair c) {
        return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
    }

    __host__ __device__ friend float __low2float(SmallFloatPair a) {
        return a.x;
    }
    __host__ __device__ friend float __high2float(SmallFloatPair a) {
        return a.y;
    }
    __host__ __device__ friend SmallFloatPair __lowhigh2highlow(SmallFloatPair a) {
        return {a.y, a.x};
    }
};

}  // namespace cpu_device::small_floats
namespace cpu_device {
using namespace small_floats;

template <class Format>
constexpr bool is_small_float<SmallFloat<Format>> = true;
template <class Format>
constexpr bool is_small_float<SmallFloatPair<Format>> = true;

}  // namespace cpu_device
