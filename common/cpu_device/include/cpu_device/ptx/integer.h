// SPDX-License-Identifier: MIT
// Moves and integer arithmetic.
#pragma once
#include "cpu_device/integers.h"
#include <limits>
#include <type_traits>
#include <utility>

#include "cpu_device/integer_math.h"
#include "cpu_device/ptx/operands.h"
#include "cpu_device/simd.h"

namespace cpu_device::ptx {

// ---------------------------------------------------------------- mov

template <class M>
inline constexpr bool is_mov =
    fits<M, form<one<dot_pred, dot_b16, dot_b32, dot_b64, dot_b128, dot_u16, dot_u32, dot_u64,
                     dot_s16, dot_s32, dot_s64, dot_f32, dot_f64>>>;
template <class M>
inline constexpr bool is_mov_of_lists = fits<M, form<one<dot_b16, dot_b32, dot_b64, dot_b128>>>;

template <class M, class D, class A>
__device__ inline void op_mov(D& d, const A& a) {
    static_assert(is_mov<M>, "mov has no such form");
    if constexpr (is_mov<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, read<T>(a));
    }
}

// The bits of part i of n, which is one n-th of T, at their place.
template <class T, size_t i, size_t n, class Part>
__device__ inline T packed_part(const Part& part) {
    return static_cast<T>(static_cast<T>(read<bits_of_size<sizeof(T) / n>>(part))
                          << (8 * sizeof(T) / n * i));
}
template <class T, class... Part, size_t... i>
__device__ inline T packed(const List<Part...>& parts, std::index_sequence<i...>) {
    return static_cast<T>((packed_part<T, i, sizeof...(i)>(std::get<i>(parts.parts)) | ...));
}
template <class T, class... Part, size_t... i>
__device__ inline void unpack(T value, const List<Part...>& parts, std::index_sequence<i...>) {
    constexpr size_t kBytes = sizeof(T) / sizeof...(i);
    (write(std::get<i>(parts.parts), static_cast<bits_of_size<kBytes>>(value >> (8 * kBytes * i))),
     ...);
}

// {a, b} and {a, b, c, d} hold the low part first.
template <class M, class D, class... A>
__device__ inline void op_mov(D& d, const List<A...>& a) {
    constexpr bool kIsGood =
        is_mov_of_lists<M> &&
        (sizeof...(A) == 2 || (sizeof...(A) == 4 && !fits<M, form<one<dot_b128>>>));
    static_assert(kIsGood, "mov packs 2 or 4 registers into .b16, .b32, .b64 or .b128");
    if constexpr (kIsGood) {
        using T = value_of<nth_type<M>>;
        write<T>(d, packed<T>(a, std::index_sequence_for<A...>()));
    }
}
template <class M, class... D, class A>
__device__ inline void op_mov(const List<D...>& d, const A& a) {
    constexpr bool kIsGood =
        is_mov_of_lists<M> &&
        (sizeof...(D) == 2 || (sizeof...(D) == 4 && !fits<M, form<one<dot_b128>>>));
    static_assert(kIsGood, "mov unpacks .b16, .b32, .b64 or .b128 into 2 or 4 registers");
    if constexpr (kIsGood) {
        using T = value_of<nth_type<M>>;
        unpack<T>(read<T>(a), d, std::index_sequence_for<D...>());
    }
}

// ---------------------------------------------------------------- types

using of_integers = one<dot_u16, dot_u32, dot_u64, dot_s16, dot_s32, dot_s64>;
using of_32_or_64_bits = one<dot_u32, dot_u64, dot_s32, dot_s64>;
using of_16_or_32_bits = one<dot_u16, dot_u32, dot_s16, dot_s32>;
using of_pairs = one<dot_u16x2, dot_s16x2>;

// Instructions of integers and of floats share names; float.h has those of floats.
template <class M>
inline constexpr bool is_of_floats =
    M::template has_one_of<dot_f16, dot_f16x2, dot_bf16, dot_bf16x2, dot_f32, dot_f64>;
template <class M>
using if_integers = std::enable_if_t<!is_of_floats<M>, int>;
template <class M>
using if_floats = std::enable_if_t<is_of_floats<M>, int>;

template <class T>
using WithSign = std::conditional_t<sizeof(T) == 2, int32_t,
                                    std::conditional_t<sizeof(T) == 4, int64_t, __int128>>;
template <class T>
using WithoutSign =
    std::conditional_t<sizeof(T) == 2, uint32_t,
                       std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>>;
// The integer that holds any product of two.
template <class T>
using Twice = std::conditional_t<std::is_signed_v<T>, WithSign<T>, WithoutSign<T>>;

template <class T>
inline constexpr int bits_of = 8 * static_cast<int>(sizeof(T));

// a + b modulo 2^n, of numbers with and without a sign.
template <class T>
__device__ inline T wrapped_sum(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class T>
__device__ inline T wrapped_difference(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// The element type of .u16x2 and .s16x2.
template <class M>
using lane_of = std::conditional_t<M::template has<dot_s16x2>, int16_t, uint16_t>;
template <class M>
inline constexpr bool is_of_pairs = M::template has_one_of<dot_u16x2, dot_s16x2>;

// ---------------------------------------------------------------- sums

template <class M>
inline constexpr bool is_integer_add =
    fits_one_of<M, form<of_integers>, form<one<dot_sat>, one<dot_s32>>, form<of_pairs>>;
template <class M>
inline constexpr bool is_integer_sub =
    fits_one_of<M, form<of_integers>, form<one<dot_sat>, one<dot_s32>>>;
template <class M>
inline constexpr bool is_with_carry_out = fits<M, form<one<dot_cc>, of_32_or_64_bits>>;
template <class M>
inline constexpr bool is_with_carry_in = fits<M, form<may<dot_cc>, of_32_or_64_bits>>;

template <class M, class D, class A, class B, if_integers<M> = 0>
__device__ inline void op_add(D& d, const A& a, const B& b) {
    static_assert(is_integer_add<M>, "add has no such form");
    if constexpr (is_integer_add<M>) {
        using T = value_of<nth_type<M>>;
        const T x = read<T>(a), y = read<T>(b);
        if constexpr (is_of_pairs<M>) {
            write<T>(d,
                     by_lanes<lane_of<M>>(
                         x, y, [](int i, int j) __attribute__((always_inline)) { return i + j; }));
        } else if constexpr (M::template has<dot_sat>) {
            write<T>(d, saturated<T>(static_cast<int64_t>(x) + y));
        } else {
            write<T>(d, wrapped_sum(x, y));
        }
    }
}

template <class M, class D, class A, class B, if_integers<M> = 0>
__device__ inline void op_sub(D& d, const A& a, const B& b) {
    static_assert(is_integer_sub<M>, "sub has no such form");
    if constexpr (is_integer_sub<M>) {
        using T = value_of<nth_type<M>>;
        const T x = read<T>(a), y = read<T>(b);
        if constexpr (M::template has<dot_sat>) {
            write<T>(d, saturated<T>(static_cast<int64_t>(x) - y));
        } else {
            write<T>(d, wrapped_difference(x, y));
        }
    }
}

// a + b + carry, and a - b - carry, whose borrow is the carry. Writes the carry where .cc asks for it.
template <class M, class D, class A, class B>
__device__ inline void add_with_carry(D& d, const A& a, const B& b, bool in, Carry& carry) {
    using T = std::make_unsigned_t<value_of<nth_type<M>>>;
    T sum = 0;
    const bool first = __builtin_add_overflow(read<T>(a), read<T>(b), &sum);
    const bool second = __builtin_add_overflow(sum, static_cast<T>(in), &sum);
    write<T>(d, sum);
    if constexpr (M::template has<dot_cc>) carry.out = first || second;
}
template <class M, class D, class A, class B>
__device__ inline void subtract_with_carry(D& d, const A& a, const B& b, bool in, Carry& carry) {
    using T = std::make_unsigned_t<value_of<nth_type<M>>>;
    T difference = 0;
    const bool first = __builtin_sub_overflow(read<T>(a), read<T>(b), &difference);
    const bool second = __builtin_sub_overflow(difference, static_cast<T>(in), &difference);
    write<T>(d, difference);
    if constexpr (M::template has<dot_cc>) carry.out = first || second;
}

template <class M, class D, class A, class B>
__device__ inline void op_add(D& d, const A& a, const B& b, Carry& carry) {
    static_assert(is_with_carry_out<M>, "add.cc has no such form");
    if constexpr (is_with_carry_out<M>) add_with_carry<M>(d, a, b, false, carry);
}
template <class M, class D, class A, class B>
__device__ inline void op_addc(D& d, const A& a, const B& b, Carry& carry) {
    static_assert(is_with_carry_in<M>, "addc has no such form");
    if constexpr (is_with_carry_in<M>) add_with_carry<M>(d, a, b, carry.out, carry);
}
template <class M, class D, class A, class B>
__device__ inline void op_sub(D& d, const A& a, const B& b, Carry& carry) {
    static_assert(is_with_carry_out<M>, "sub.cc has no such form");
    if constexpr (is_with_carry_out<M>) subtract_with_carry<M>(d, a, b, false, carry);
}
template <class M, class D, class A, class B>
__device__ inline void op_subc(D& d, const A& a, const B& b, Carry& carry) {
    static_assert(is_with_carry_in<M>, "subc has no such form");
    if constexpr (is_with_carry_in<M>) subtract_with_carry<M>(d, a, b, carry.out, carry);
}

// ---------------------------------------------------------------- products

template <class M>
inline constexpr bool is_integer_mul = fits_one_of<M, form<first<dot_hi, dot_lo>, of_integers>,
                                                   form<first<dot_wide>, of_16_or_32_bits>>;
template <class M>
inline constexpr bool is_integer_mad =
    is_integer_mul<M> || fits<M, form<first<dot_hi>, one<dot_sat>, one<dot_s32>>>;
template <class M>
inline constexpr bool is_mad_with_carry_out =
    fits<M, form<first<dot_hi, dot_lo>, one<dot_cc>, of_32_or_64_bits>>;
template <class M>
inline constexpr bool is_mad_with_carry_in =
    fits<M, form<first<dot_hi, dot_lo>, may<dot_cc>, of_32_or_64_bits>>;
template <class M>
inline constexpr bool is_mul24 = fits<M, form<first<dot_hi, dot_lo>, one<dot_u32, dot_s32>>>;
template <class M>
inline constexpr bool is_mad24 =
    is_mul24<M> || fits<M, form<first<dot_hi>, one<dot_sat>, one<dot_s32>>>;

// The half of the product that .lo or .hi names, or with .wide all of it.
template <class M, class T>
__device__ inline auto product(T a, T b) {
    const Twice<T> all = static_cast<Twice<T>>(static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b));
    if constexpr (M::template has<dot_wide>) {
        return all;
    } else if constexpr (M::template has<dot_hi>) {
        return static_cast<T>(all >> bits_of<T>);
    } else {
        return static_cast<T>(all);
    }
}
// The low or the high 32 of the 48 bits of a product of 24 bits each.
template <class M, class T>
__device__ inline T product24(T a, T b) {
    const auto extended = [](T x) __attribute__((always_inline)) {
        return static_cast<int64_t>(static_cast<T>(static_cast<uint32_t>(x) << 8) >> 8);
    };
    return static_cast<T>(extended(a) * extended(b) >> (M::template has<dot_hi> ? 16 : 0));
}
template <class M, class T>
__device__ inline T sum_of_mad(T a, T b) {
    if constexpr (M::template has<dot_sat>) return saturated<T>(static_cast<int64_t>(a) + b);
    return wrapped_sum(a, b);
}

template <class M, class D, class A, class B, if_integers<M> = 0>
__device__ inline void op_mul(D& d, const A& a, const B& b) {
    static_assert(is_integer_mul<M>, "mul has no such form");
    if constexpr (is_integer_mul<M>) {
        using T = value_of<nth_type<M>>;
        write(d, product<M>(read<T>(a), read<T>(b)));
    }
}
template <class M, class D, class A, class B, class C, if_integers<M> = 0>
__device__ inline void op_mad(D& d, const A& a, const B& b, const C& c) {
    static_assert(is_integer_mad<M>, "mad has no such form");
    if constexpr (is_integer_mad<M>) {
        using T = value_of<nth_type<M>>;
        const auto left = product<M>(read<T>(a), read<T>(b));
        using Sum = std::remove_const_t<decltype(left)>;
        write<Sum>(d, sum_of_mad<M>(left, read<Sum>(c)));
    }
}
template <class M, class D, class A, class B, class C>
__device__ inline void op_mad(D& d, const A& a, const B& b, const C& c, Carry& carry) {
    static_assert(is_mad_with_carry_out<M>, "mad.cc has no such form");
    if constexpr (is_mad_with_carry_out<M>) {
        using T = value_of<nth_type<M>>;
        const auto left = static_cast<std::make_unsigned_t<T>>(product<M>(read<T>(a), read<T>(b)));
        add_with_carry<M>(d, left, c, false, carry);
    }
}
template <class M, class D, class A, class B, class C>
__device__ inline void op_madc(D& d, const A& a, const B& b, const C& c, Carry& carry) {
    static_assert(is_mad_with_carry_in<M>, "madc has no such form");
    if constexpr (is_mad_with_carry_in<M>) {
        using T = value_of<nth_type<M>>;
        const auto left = static_cast<std::make_unsigned_t<T>>(product<M>(read<T>(a), read<T>(b)));
        add_with_carry<M>(d, left, c, carry.out, carry);
    }
}
template <class M, class D, class A, class B>
__device__ inline void op_mul24(D& d, const A& a, const B& b) {
    static_assert(is_mul24<M>, "mul24 has no such form");
    if constexpr (is_mul24<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, product24<M>(read<T>(a), read<T>(b)));
    }
}
template <class M, class D, class A, class B, class C>
__device__ inline void op_mad24(D& d, const A& a, const B& b, const C& c) {
    static_assert(is_mad24<M>, "mad24 has no such form");
    if constexpr (is_mad24<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, sum_of_mad<M>(product24<M>(read<T>(a), read<T>(b)), read<T>(c)));
    }
}

// ---------------------------------------------------------------- quotients

template <class M>
inline constexpr bool is_of_one_integer = fits<M, form<of_integers>>;

// PTX leaves a division by zero undefined. Here all bits of the quotient are set then, and the
// remainder is a.
template <class T>
__device__ inline T quotient(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrapped_difference<T>(0, a);
    return static_cast<T>(a / b);
}
template <class M, class D, class A, class B, if_integers<M> = 0>
__device__ inline void op_div(D& d, const A& a, const B& b) {
    static_assert(is_of_one_integer<M>, "div has no such form");
    if constexpr (is_of_one_integer<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, quotient(read<T>(a), read<T>(b)));
    }
}
template <class M, class D, class A, class B>
__device__ inline void op_rem(D& d, const A& a, const B& b) {
    static_assert(is_of_one_integer<M>, "rem has no such form");
    if constexpr (is_of_one_integer<M>) {
        using T = value_of<nth_type<M>>;
        const T x = read<T>(a), y = read<T>(b);
        const bool is_exact = y == 0 || (std::is_signed_v<T> && y == static_cast<T>(-1));
        write<T>(d, is_exact ? static_cast<T>(y == 0 ? x : 0) : static_cast<T>(x % y));
    }
}

// ---------------------------------------------------------------- magnitudes

template <class M>
inline constexpr bool is_of_signed = fits<M, form<one<dot_s16, dot_s32, dot_s64>>>;
template <class M>
inline constexpr bool is_integer_min =
    fits_one_of<M, form<of_integers>, form<of_pairs>, form<one<dot_relu>, one<dot_s32, dot_s16x2>>>;

template <class M, class D, class A, if_integers<M> = 0>
__device__ inline void op_neg(D& d, const A& a) {
    static_assert(is_of_signed<M>, "neg has no such form");
    if constexpr (is_of_signed<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, wrapped_difference<T>(0, read<T>(a)));
    }
}
template <class M, class D, class A, if_integers<M> = 0>
__device__ inline void op_abs(D& d, const A& a) {
    static_assert(is_of_signed<M>, "abs has no such form");
    if constexpr (is_of_signed<M>) {
        using T = value_of<nth_type<M>>;
        const T x = read<T>(a);
        write<T>(d, x < 0 ? wrapped_difference<T>(0, x) : x);
    }
}

template <class M, bool is_max, class T>
__device__ inline T extreme(T a, T b) {
    const T chosen = (a < b) == is_max ? b : a;
    return M::template has<dot_relu> && chosen < 0 ? T(0) : chosen;
}
template <class M, bool is_max, class D, class A, class B>
__device__ inline void write_extreme(D& d, const A& a, const B& b) {
    using T = value_of<nth_type<M>>;
    const T x = read<T>(a), y = read<T>(b);
    if constexpr (is_of_pairs<M>) {
        write<T>(d, by_lanes<lane_of<M>>(
                        x, y, [](int i, int j) __attribute__((always_inline)) {
                            return extreme<M, is_max>(i, j);
                        }));
    } else {
        write<T>(d, extreme<M, is_max>(x, y));
    }
}
template <class M, class D, class A, class B, if_integers<M> = 0>
__device__ inline void op_min(D& d, const A& a, const B& b) {
    static_assert(is_integer_min<M>, "min has no such form");
    if constexpr (is_integer_min<M>) write_extreme<M, false>(d, a, b);
}
template <class M, class D, class A, class B, if_integers<M> = 0>
__device__ inline void op_max(D& d, const A& a, const B& b) {
    static_assert(is_integer_min<M>, "max has no such form");
    if constexpr (is_integer_min<M>) write_extreme<M, true>(d, a, b);
}

// |a - b| + c
template <class M, class D, class A, class B, class C>
__device__ inline void op_sad(D& d, const A& a, const B& b, const C& c) {
    static_assert(is_of_one_integer<M>, "sad has no such form");
    if constexpr (is_of_one_integer<M>) {
        using T = value_of<nth_type<M>>;
        const T x = read<T>(a), y = read<T>(b);
        write<T>(d, wrapped_sum(x < y ? wrapped_difference(y, x) : wrapped_difference(x, y),
                                read<T>(c)));
    }
}

}  // namespace cpu_device::ptx
