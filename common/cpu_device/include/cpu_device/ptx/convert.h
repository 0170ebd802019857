// SPDX-License-Identifier: MIT
// Conversions.
#pragma once
#include <limits>
#include <type_traits>

#include "cpu_device/fp8.h"
#include "cpu_device/ptx/float.h"
#include "cpu_device/ptx/operands.h"
#include "cpu_device/rounding.h"
#include "cpu_device/small_float.h"

namespace cpu_device::ptx {

// ---------------------------------------------------------------- forms

using to_integral_number = one<dot_rni, dot_rzi, dot_rmi, dot_rpi>;
using may_to_integral_number = may<dot_rni, dot_rzi, dot_rmi, dot_rpi>;
using any_integer = one<dot_u8, dot_u16, dot_u32, dot_u64, dot_s8, dot_s16, dot_s32, dot_s64>;
using integer_of_bfloats = one<dot_u16, dot_u32, dot_u64, dot_s16, dot_s32, dot_s64>;
using of_f16 = one<dot_f16>;
using of_bf16 = one<dot_bf16>;
using may_flush = may<dot_ftz>;
using may_clamp = may<dot_sat>;

// Whether To holds every number of From's.
template <class To, class From>
constexpr bool holds_all_of() {
    if (std::is_signed_v<From> && !std::is_signed_v<To>) return false;
    return std::numeric_limits<To>::digits >= std::numeric_limits<From>::digits;
}

template <class M>
constexpr bool is_cvt_of_integers() {
    if constexpr (fits<M, form<one<dot_sat>, any_integer, any_integer>>)
        return !holds_all_of<value_of<nth_type<M, 0>>, value_of<nth_type<M, 1>>>();
    return fits<M, form<any_integer, any_integer>>;
}
template <class M>
inline constexpr bool is_cvt_to_integer =
    fits_one_of<M, form<to_integral_number, may_flush, may_clamp, any_integer, of_f32>,
                form<to_integral_number, may_clamp, any_integer, one<dot_f16, dot_f64>>,
                form<to_integral_number, integer_of_bfloats, of_bf16>>;
template <class M>
inline constexpr bool is_cvt_from_integer =
    fits_one_of<M, form<any_rounding, may_flush, may_clamp, of_f32, any_integer>,
                form<any_rounding, may_clamp, one<dot_f16, dot_f64>, any_integer>,
                form<any_rounding, of_bf16, integer_of_bfloats>>;
template <class M>
inline constexpr bool is_cvt_of_floats =
    // narrower ones
    fits_one_of<M, form<any_rounding, may_flush, may_clamp, of_f32, of_f64>,
                form<any_rounding, may_flush, may_clamp, of_f16, of_f32>,
                form<any_rounding, may_clamp, of_f16, of_f64>,
                form<any_rounding, may_flush, of_bf16, of_f32>,
                form<any_rounding, of_bf16, of_f64>> ||
    // wider ones, and the other one of 16 bits
    fits_one_of<M, form<may_flush, may_clamp, of_f32, of_f16>,
                form<may_flush, may_clamp, of_f64, of_f32>, form<may_clamp, of_f64, of_f16>,
                form<rounding, may_flush, of_f32, of_bf16>, form<rounding, of_f64, of_bf16>,
                form<rounding, of_f16, of_bf16>, form<rounding, of_bf16, of_f16>> ||
    // to an integral number
    fits_one_of<M, form<may_to_integral_number, may_flush, may_clamp, of_f32, of_f32>,
                form<may_to_integral_number, may_clamp, of_f16, of_f16>,
                form<may_to_integral_number, may_clamp, of_f64, of_f64>,
                form<may_to_integral_number, of_bf16, of_bf16>>;

template <class M>
inline constexpr bool is_cvt_with_relu =
    fits<M, form<one<dot_rn, dot_rz>, may<dot_relu>, may<dot_satfinite>, one<dot_f16, dot_bf16>,
                 of_f32>>;
template <class M>
inline constexpr bool is_cvt_of_two =
    fits<M, form<one<dot_rn, dot_rz>, may<dot_relu>, may<dot_satfinite>, one<dot_f16x2, dot_bf16x2>,
                 of_f32>>;
template <class M>
inline constexpr bool is_cvt_to_fp8 =
    fits<M, form<one<dot_rn>, may<dot_relu>, one<dot_satfinite>, one<dot_e4m3x2, dot_e5m2x2>,
                 one<dot_f32, dot_f16x2>>>;
template <class M>
inline constexpr bool is_cvt_from_fp8 =
    fits<M, form<one<dot_rn>, may<dot_relu>, one<dot_f16x2>, one<dot_e4m3x2, dot_e5m2x2>>>;
template <class M>
inline constexpr bool is_cvt_to_tf32 =
    fits_one_of<M, form<one<dot_rn, dot_rz>, may<dot_relu>, one<dot_tf32>, of_f32>,
                form<one<dot_rna>, may<dot_satfinite>, one<dot_tf32>, of_f32>>;
template <class M>
inline constexpr bool is_cvt_pack =
    fits_one_of<M, form<one<dot_pack>, one<dot_sat>, one<dot_u16, dot_s16>, one<dot_s32>>,
                form<one<dot_pack>, one<dot_sat>, one<dot_u8, dot_s8, dot_u4, dot_s4>, one<dot_s32>,
                     one<dot_b32>>>;

// ---------------------------------------------------------------- registers

// Registers of cvt may be wider than its types, except bf16: cvt reads the lowest bits, and extends
// what it writes with an integer's sign or with zeros.
template <class T, class Register>
inline constexpr bool is_chosen_from =
    !is_one_of<T, bfloat16, bool> && std::is_integral_v<Register> &&
    !std::is_same_v<Register, bool>;
template <class T, class From>
__device__ inline T read_lowest(const From& from) {
    if constexpr (is_chosen_from<T, From>) {
        static_assert(sizeof(From) >= sizeof(T), "cvt: the register is smaller than the type");
        return bit_cast<T>(static_cast<Word<sizeof(T)>>(from));
    } else {
        return read<T>(from);
    }
}
template <class T, class To>
__device__ inline void write_extended(To& to, T value) {
    if constexpr (is_chosen_from<T, To>) {
        static_assert(sizeof(To) >= sizeof(T), "cvt: the register is smaller than the type");
        if constexpr (std::is_const_v<To>) {
            write_to_input();
        } else if constexpr (std::is_integral_v<T>) {
            to = static_cast<To>(value);  // NOLINT(bugprone-signed-char-misuse): a number
        } else {
            to = bit_cast<Word<sizeof(T)>>(value);
        }
    } else {
        write<T>(to, value);
    }
}

// ---------------------------------------------------------------- numbers

template <class T>
inline constexpr T largest_number = std::numeric_limits<T>::max();
template <>
inline constexpr float largest_number<float16> = 65504.f;
template <>
inline constexpr float largest_number<bfloat16> = bit_cast<float>(0x7f7f0000u);

// A NaN of f64 keeps its sign and the upper bits of its mantissa.
template <class T>
inline constexpr int mantissa_bits = 23;
template <>
inline constexpr int mantissa_bits<float16> = Binary16::mantissa_bits;
template <>
inline constexpr int mantissa_bits<bfloat16> = BrainFloat16::mantissa_bits;
template <class T>
__device__ inline T narrowed_nan(double x) {
    using Bits = Word<sizeof(T)>;
    constexpr int kMantissa = mantissa_bits<T>;
    const uint64_t bits = bit_cast<uint64_t>(x);
    const uint64_t sign = bits >> 63 << (bits_of<T> - 1);
    const uint64_t exponent = (uint64_t{1} << (bits_of<T> - 1)) - (uint64_t{1} << kMantissa);
    const uint64_t mantissa = bits >> (52 - kMantissa) & ((uint64_t{1} << kMantissa) - 1);
    const uint64_t quiet = uint64_t{1} << (kMantissa - 1);
    return bit_cast<T>(static_cast<Bits>(sign | exponent | mantissa | quiet));
}

// Rounds a number to T; .satfinite replaces infinities by the largest number.
template <class M, class T, class From>
__device__ inline T narrowed(From x) {
    T result;
    if constexpr (std::is_same_v<From, double> && is_one_of<T, float, float16, bfloat16>) {
        if (x != x) return narrowed_nan<T>(x);
    }
    if constexpr (is_one_of<T, float16, bfloat16>) {
        if constexpr (std::is_integral_v<From>) {
            result = T::from(sticky_double(x), rounding_of<M>);
        } else {
            result = T::from(x, rounding_of<M>);
        }
    } else {
        result = canonical<T>(rounded<rounding_of<M>>(Convert<T>{}, x));
    }
    if constexpr (M::template has<dot_satfinite>) {
        if (std::isinf(number(result))) return with_sign(T(largest_number<T>), is_negative(result));
    }
    return result;
}

// .ftz concerns f32 alone, not its other side.
template <class M, class T>
__device__ inline T flushed_single(T x) {
    if constexpr (std::is_same_v<T, float>) return flushed<M>(x);
    return x;
}

template <class M, class T, class From>
__device__ inline T converted(From x) {
    if constexpr (std::is_integral_v<From> && std::is_integral_v<T>) {
        if constexpr (M::template has<dot_sat>) return saturated<T>(static_cast<__int128>(x));
        return static_cast<T>(x);
    } else if constexpr (std::is_integral_v<T>) {
        // NaN becomes 0, or the top bit alone where either side has 64 bits.
        constexpr bool kIsLong = sizeof(T) == 8 || sizeof(From) == 8;
        constexpr T kOfNan = kIsLong ? static_cast<T>(uint64_t(1) << (bits_of<T> - 1)) : T(0);
        return to_integer<T>(number(flushed_single<M>(x)), rounding_of<M>, kOfNan);
    } else if constexpr (M::template has_one_of<dot_rni, dot_rzi, dot_rmi, dot_rpi>) {
        const auto value = to_integral(number(flushed_single<M>(x)), rounding_of<M>);
        return limited<M>(canonical<T>(value));
    } else {
        return limited<M>(flushed_single<M>(narrowed<M, T>(number(flushed_single<M>(x)))));
    }
}

template <class M, class D, class A>
__device__ inline void convert(D& d, const A& a) {
    using To = value_of<nth_type<M, 0>>;
    using From = value_of<nth_type<M, 1>>;
    write_extended<To>(d, converted<M, To>(read_lowest<From>(a)));
}

// ---------------------------------------------------------------- eight bits

template <class M>
using fp8_format = std::conditional_t<M::template has<dot_e4m3x2>, E4m3, E5m2>;
template <class M>
__device__ inline uint32_t fp8_of(float x) {
    if (M::template has<dot_relu> && x <= 0) return 0;
    return encode_fp8<fp8_format<M>>(x, true);
}
template <class M>
__device__ inline float16 of_fp8(uint32_t bits) {
    return limited<M>(float16(decode_fp8<fp8_format<M>>(static_cast<uint8_t>(bits))));
}

// Keeps ten bits of the mantissa; the rest becomes 0. Which NaN it returns is what an H100 does.
template <class M>
__device__ inline uint32_t tf32_of(float x) {
    const uint32_t bits = bit_cast<uint32_t>(x);
    if (x != x) {
        if (!M::template has<dot_rna>) return 0x7fffe000;
        return (bits & ~0x1fffu) - (M::template has<dot_satfinite> ? 0x2000 : 0);
    }
    if (M::template has<dot_relu> && x <= 0) return 0;
    const uint32_t half = M::template has<dot_rna>  ? 0x1000
                          : M::template has<dot_rn> ? 0xfff + (bits >> 13 & 1)
                                                    : 0;
    const uint32_t result = std::isinf(x) ? bits : (bits + half) & ~0x1fffu;
    if (M::template has<dot_satfinite> && (result & 0x7fffffff) == 0x7f800000)
        return (result & 0x80000000) | 0x7f7fe000;
    return result;
}

// ---------------------------------------------------------------- cvt

template <class M, class D, class A>
__device__ inline void op_cvt(D& d, const A& a) {
    constexpr bool kIsPlain = is_cvt_of_integers<M>() || is_cvt_to_integer<M> ||
                              is_cvt_from_integer<M> || is_cvt_of_floats<M> || is_cvt_with_relu<M>;
    if constexpr (kIsPlain) {
        convert<M>(d, a);
    } else if constexpr (is_cvt_to_tf32<M>) {
        write<uint32_t>(d, tf32_of<M>(read<float>(a)));
    } else if constexpr (is_cvt_to_fp8<M> && M::template has<dot_f16x2>) {
        const float16x2 x = read<float16x2>(a);
        write<uint16_t>(d, static_cast<uint16_t>(fp8_of<M>(x.x) | fp8_of<M>(x.y) << 8));
    } else if constexpr (is_cvt_from_fp8<M>) {
        const uint32_t x = read<uint16_t>(a);
        write<float16x2>(d, float16x2(of_fp8<M>(x & 0xff), of_fp8<M>(x >> 8)));
    } else {
        static_assert(never<M>, "cvt has no such form of one operand");
    }
}
// The nearest integer of the type that cvt.pack writes, in that type's bits.
template <class M>
inline constexpr int packed_bits = M::template has_one_of<dot_u4, dot_s4>   ? 4
                                   : M::template has_one_of<dot_u8, dot_s8> ? 8
                                                                            : 16;
template <class M, class A>
__device__ inline uint32_t packed_integer(const A& a) {
    constexpr bool kHasSign = M::template has_one_of<dot_s4, dot_s8, dot_s16>;
    constexpr int kLeast = kHasSign ? -(1 << (packed_bits<M> - 1)) : 0,
                  kMost = kLeast + (1 << packed_bits<M>)-1;
    const int32_t x = read<int32_t>(a), nearest = x < kLeast ? kLeast : x > kMost ? kMost : x;
    return static_cast<uint32_t>(nearest) & ((1u << packed_bits<M>)-1);
}

// The first of two operands becomes the high half.
template <class M, class D, class A, class B>
__device__ inline void op_cvt(D& d, const A& a, const B& b) {
    if constexpr (is_cvt_of_two<M>) {
        using T = value_of<nth_type<M>>;
        using Element = typename T::Scalar;
        const float high = read<float>(a), low = read<float>(b);
        write<T>(d, T(converted<M, Element>(low), converted<M, Element>(high)));
    } else if constexpr (is_cvt_to_fp8<M> && M::template has<dot_f32>) {
        const float high = read<float>(a), low = read<float>(b);
        write<uint16_t>(d, static_cast<uint16_t>(fp8_of<M>(low) | fp8_of<M>(high) << 8));
    } else if constexpr (is_cvt_pack<M> && !M::template has<dot_b32>) {
        write<uint32_t>(d, packed_integer<M>(a) << 16 | packed_integer<M>(b));
    } else {
        static_assert(never<M>, "cvt has no such form of two operands");
    }
}
template <class M, class D, class A, class B, class C>
__device__ inline void op_cvt(D& d, const A& a, const B& b, const C& c) {
    if constexpr (is_cvt_pack<M> && M::template has<dot_b32>) {
        constexpr int kBits = packed_bits<M>;
        write<uint32_t>(d, read<uint32_t>(c) << 2 * kBits | packed_integer<M>(a) << kBits |
                               packed_integer<M>(b));
    } else {
        static_assert(never<M>, "cvt has no such form of three operands");
    }
}

}  // namespace cpu_device::ptx
