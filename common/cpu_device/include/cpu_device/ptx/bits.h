// SPDX-License-Identifier: MIT
// Instructions on bits and bytes.
#pragma once
#include "cpu_device/integers.h"
#include <type_traits>
#include <utility>

#include "cpu_device/integer_math.h"
#include "cpu_device/ptx/integer.h"
#include "cpu_device/ptx/operands.h"

namespace cpu_device::ptx {

// ---------------------------------------------------------------- counting and finding

template <class M>
inline constexpr bool is_of_b32_or_b64 = fits<M, form<one<dot_b32, dot_b64>>>;
template <class M>
inline constexpr bool is_bfind = fits<M, form<may<dot_shiftamt>, of_32_or_64_bits>>;

__device__ inline uint32_t leading_zeros(uint64_t value, int bits) {
    return static_cast<uint32_t>(value == 0 ? bits : __builtin_clzll(value) - (64 - bits));
}

template <class M, class D, class A>
__device__ inline void op_popc(D& d, const A& a) {
    static_assert(is_of_b32_or_b64<M>, "popc has no such form");
    if constexpr (is_of_b32_or_b64<M>)
        write<uint32_t>(d, static_cast<uint32_t>(__popcll(read<value_of<nth_type<M>>>(a))));
}
template <class M, class D, class A>
__device__ inline void op_clz(D& d, const A& a) {
    static_assert(is_of_b32_or_b64<M>, "clz has no such form");
    if constexpr (is_of_b32_or_b64<M>) {
        using T = value_of<nth_type<M>>;
        write<uint32_t>(d, leading_zeros(read<T>(a), bits_of<T>));
    }
}
// Finds the highest bit that differs from the sign, or with .shiftamt its distance from the top; all
// bits are set where there is none.
template <class M, class D, class A>
__device__ inline void op_bfind(D& d, const A& a) {
    static_assert(is_bfind<M>, "bfind has no such form");
    if constexpr (is_bfind<M>) {
        using T = value_of<nth_type<M>>;
        const T value = read<T>(a);
        const auto bits = static_cast<std::make_unsigned_t<T>>(value < T(0) ? ~value : value);
        const uint32_t zeros = leading_zeros(bits, bits_of<T>);
        write<uint32_t>(d, bits == 0                       ? ~0u
                           : M::template has<dot_shiftamt> ? zeros
                                                           : bits_of<T> - 1 - zeros);
    }
}
template <class M, class D, class A>
__device__ inline void op_brev(D& d, const A& a) {
    static_assert(is_of_b32_or_b64<M>, "brev has no such form");
    if constexpr (is_of_b32_or_b64<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, static_cast<T>(__brevll(read<T>(a)) >> (64 - bits_of<T>)));
    }
}
template <class M, class D, class A, class B, class C>
__device__ inline void op_fns(D& d, const A& mask, const B& base, const C& offset) {
    static_assert(fits<M, form<one<dot_b32>>>, "fns has no such form");
    write<uint32_t>(d, __fns(read<uint32_t>(mask), read<uint32_t>(base), read<int32_t>(offset)));
}

// ---------------------------------------------------------------- fields

template <class M>
inline constexpr bool is_bfe = fits<M, form<of_32_or_64_bits>>;
template <class M>
inline constexpr bool is_bmsk = fits<M, form<one<dot_clamp, dot_wrap>, one<dot_b32>>>;
template <class M>
inline constexpr bool is_szext = fits<M, form<one<dot_clamp, dot_wrap>, one<dot_u32, dot_s32>>>;

// A mask of the lowest bits.
template <class T>
__device__ inline T low_bits(uint32_t count) {
    return count >= static_cast<uint32_t>(bits_of<T>) ? static_cast<T>(~T(0))
                                                      : static_cast<T>((T(1) << count) - 1);
}

// Extracts the field of c bits from bit b on; both count modulo 256. A signed field ends at the top at
// the latest, and its highest bit fills the rest of the result.
template <class M, class D, class A, class B, class C>
__device__ inline void op_bfe(D& d, const A& a, const B& b, const C& c) {
    static_assert(is_bfe<M>, "bfe has no such form");
    if constexpr (is_bfe<M>) {
        using T = value_of<nth_type<M>>;
        using Bits = std::make_unsigned_t<T>;
        const Bits value = read<Bits>(a);
        const uint32_t begin = read<uint32_t>(b) & 0xff, length = read<uint32_t>(c) & 0xff;
        constexpr uint32_t kTop = bits_of<T> - 1;
        const uint32_t highest = begin + length - 1 < kTop ? begin + length - 1 : kTop;
        const Bits field = begin > kTop ? Bits(0) : static_cast<Bits>(value >> begin);
        const Bits inside =
            begin > kTop ? Bits(0)
                         : low_bits<Bits>(length < kTop + 1 - begin ? length : kTop + 1 - begin);
        const bool sign = std::is_signed_v<T> && length != 0 && (value >> highest & 1) != 0;
        write<Bits>(d, static_cast<Bits>((field & inside) | (sign ? ~inside : Bits(0))));
    }
}
// Replaces d bits of b, from bit c on, by the lowest ones of a.
template <class M, class F, class A, class B, class C, class D>
__device__ inline void op_bfi(F& f, const A& a, const B& b, const C& c, const D& d) {
    static_assert(is_of_b32_or_b64<M>, "bfi has no such form");
    if constexpr (is_of_b32_or_b64<M>) {
        using T = value_of<nth_type<M>>;
        const uint32_t begin = read<uint32_t>(c) & 0xff, length = read<uint32_t>(d) & 0xff;
        const T into = read<T>(b);
        if (begin >= static_cast<uint32_t>(bits_of<T>)) return write<T>(f, into);
        const T place = static_cast<T>(low_bits<T>(length) << begin);
        write<T>(f, static_cast<T>((into & ~place) | (read<T>(a) << begin & place)));
    }
}
// Bits a to a + b - 1.
template <class M, class D, class A, class B>
__device__ inline void op_bmsk(D& d, const A& a, const B& b) {
    static_assert(is_bmsk<M>, "bmsk has no such form");
    uint32_t begin = read<uint32_t>(a), length = read<uint32_t>(b);
    if (M::template has<dot_wrap>) begin &= 31, length &= 31;
    write<uint32_t>(d, begin > 31 ? 0u : low_bits<uint32_t>(length) << begin);
}
// Extends the lowest b bits with zeros or their sign.
template <class M, class D, class A, class B>
__device__ inline void op_szext(D& d, const A& a, const B& b) {
    static_assert(is_szext<M>, "szext has no such form");
    if constexpr (is_szext<M>) {
        const uint32_t value = read<uint32_t>(a);
        uint32_t length = read<uint32_t>(b);
        if (M::template has<dot_wrap>) length &= 31;
        const uint32_t inside = low_bits<uint32_t>(length);
        const bool sign =
            M::template has<dot_s32> && length - 1 < 31 && (value >> (length - 1) & 1) != 0;
        write<uint32_t>(d, (value & inside) | (sign ? ~inside : 0u));
    }
}

// ---------------------------------------------------------------- shifts

template <class M>
inline constexpr bool is_shl = fits<M, form<one<dot_b16, dot_b32, dot_b64>>>;
template <class M>
inline constexpr bool is_shr = fits<
    M, form<one<dot_b16, dot_b32, dot_b64, dot_u16, dot_u32, dot_u64, dot_s16, dot_s32, dot_s64>>>;
template <class M>
inline constexpr bool is_shf =
    fits<M, form<first<dot_l, dot_r>, one<dot_clamp, dot_wrap>, one<dot_b32>>>;

// Shifts beyond the width leave nothing but the sign.
template <class M, class D, class A, class B>
__device__ inline void op_shl(D& d, const A& a, const B& b) {
    static_assert(is_shl<M>, "shl has no such form");
    if constexpr (is_shl<M>) {
        using T = value_of<nth_type<M>>;
        const uint32_t by = read<uint32_t>(b);
        write<T>(d,
                 by < static_cast<uint32_t>(bits_of<T>) ? static_cast<T>(read<T>(a) << by) : T(0));
    }
}
template <class M, class D, class A, class B>
__device__ inline void op_shr(D& d, const A& a, const B& b) {
    static_assert(is_shr<M>, "shr has no such form");
    if constexpr (is_shr<M>) {
        using T = value_of<nth_type<M>>;
        const uint32_t by = read<uint32_t>(b);
        const T value = read<T>(a);
        const T beyond = value < T(0) ? static_cast<T>(-1) : T(0);
        write<T>(d, by < static_cast<uint32_t>(bits_of<T>) ? static_cast<T>(value >> by) : beyond);
    }
}
template <class M, class D, class A, class B, class C>
__device__ inline void op_shf(D& d, const A& low, const B& high, const C& by) {
    static_assert(is_shf<M>, "shf has no such form");
    if constexpr (is_shf<M>) {
        const uint32_t l = read<uint32_t>(low), h = read<uint32_t>(high), n = read<uint32_t>(by);
        if constexpr (M::template has<dot_l>) {
            write<uint32_t>(d, M::template has<dot_wrap> ? __funnelshift_l(l, h, n)
                                                         : __funnelshift_lc(l, h, n));
        } else {
            write<uint32_t>(d, M::template has<dot_wrap> ? __funnelshift_r(l, h, n)
                                                         : __funnelshift_rc(l, h, n));
        }
    }
}

// ---------------------------------------------------------------- logic

template <class M>
inline constexpr bool is_logic = fits<M, form<one<dot_pred, dot_b16, dot_b32, dot_b64>>>;
template <class M>
inline constexpr bool is_cnot = fits<M, form<one<dot_b16, dot_b32, dot_b64>>>;

template <class M, class D, class A, class B>
__device__ inline void op_and(D& d, const A& a, const B& b) {
    static_assert(is_logic<M>, "and has no such form");
    if constexpr (is_logic<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, static_cast<T>(read<T>(a) & read<T>(b)));
    }
}
template <class M, class D, class A, class B>
__device__ inline void op_or(D& d, const A& a, const B& b) {
    static_assert(is_logic<M>, "or has no such form");
    if constexpr (is_logic<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, static_cast<T>(read<T>(a) | read<T>(b)));
    }
}
template <class M, class D, class A, class B>
__device__ inline void op_xor(D& d, const A& a, const B& b) {
    static_assert(is_logic<M>, "xor has no such form");
    if constexpr (is_logic<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, static_cast<T>(read<T>(a) ^ read<T>(b)));
    }
}
template <class M, class D, class A>
__device__ inline void op_not(D& d, const A& a) {
    static_assert(is_logic<M>, "not has no such form");
    if constexpr (is_logic<M>) {
        using T = value_of<nth_type<M>>;
        if constexpr (std::is_same_v<T, bool>) {
            write<T>(d, !read<T>(a));
        } else {
            write<T>(d, static_cast<T>(~read<T>(a)));
        }
    }
}
template <class M, class D, class A>
__device__ inline void op_cnot(D& d, const A& a) {
    static_assert(is_cnot<M>, "cnot has no such form");
    if constexpr (is_cnot<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, static_cast<T>(read<T>(a) == 0));
    }
}

// Bit 4a + 2b + c of the table is the result's bit where the operands' bits are a, b and c.
template <uint32_t i>
__device__ inline uint32_t entry_of(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
    if ((table >> i & 1) == 0) return 0;
    return ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
}
template <class A, class B, class C, class Table, uint32_t... i>
__device__ inline uint32_t by_table(const A& a, const B& b, const C& c, const Table& table,
                                    std::integer_sequence<uint32_t, i...>) {
    static_assert(std::is_same_v<Table, Integer>, "lop3 takes its table as an immediate");
    const uint32_t x = read<uint32_t>(a), y = read<uint32_t>(b), z = read<uint32_t>(c);
    return (entry_of<i>(read<uint32_t>(table), x, y, z) | ...);
}
using entries_of_table = std::make_integer_sequence<uint32_t, 8>;

template <class M, class D, class A, class B, class C, class Table>
__device__ inline void op_lop3(D& d, const A& a, const B& b, const C& c, const Table& table) {
    static_assert(fits<M, form<one<dot_b32>>>, "lop3 has no such form");
    write<uint32_t>(d, by_table(a, b, c, table, entries_of_table()));
}
// Also tells whether the result differs from 0, combined with q.
template <class M, class D, class P, class A, class B, class C, class Table, class Q>
__device__ inline void op_lop3(const Pair<D, P>& d, const A& a, const B& b, const C& c,
                               const Table& table, const Q& q) {
    static_assert(fits<M, form<one<dot_and, dot_or>, one<dot_b32>>>, "lop3 has no such form");
    const uint32_t result = by_table(a, b, c, table, entries_of_table());
    const bool with = read<bool>(q);
    write(d.first, result);
    write(d.second, M::template has<dot_and> ? result != 0 && with : result != 0 || with);
}

// ---------------------------------------------------------------- bytes

template <class M>
inline constexpr bool is_prmt =
    fits<M, form<one<dot_b32>, may<dot_f4e, dot_b4e, dot_rc8, dot_ecl, dot_ecr, dot_rc16>>>;

// Which of the eight bytes comes to place i, chosen by the lowest bits of c.
template <class M>
__device__ inline uint32_t byte_of_mode(uint32_t c, uint32_t i) {
    if (M::template has<dot_f4e>) return (c + i) & 7;
    if (M::template has<dot_b4e>) return (c - i) & 7;
    if (M::template has<dot_rc8>) return c;
    if (M::template has<dot_ecl>) return i < c ? c : i;
    if (M::template has<dot_ecr>) return i < c ? i : c;
    return (c & 1) * 2 + (i & 1);
}
template <class M, class D, class A, class B, class C>
__device__ inline void op_prmt(D& d, const A& a, const B& b, const C& c) {
    static_assert(is_prmt<M>, "prmt has no such form");
    if constexpr (is_prmt<M>) {
        const uint32_t low = read<uint32_t>(a), high = read<uint32_t>(b);
        uint32_t selector = read<uint32_t>(c), signs = 0;
        if constexpr (fits<M, form<one<dot_b32>>>) {
            signs = (selector >> 3 & 0x1111) * 0xf;  // the nibbles that stand for a byte's sign
        } else {
            const uint32_t chosen = selector & 3;
            selector = 0;
            for (uint32_t i = 0; i < 4; ++i) selector |= byte_of_mode<M>(chosen, i) << 4 * i;
        }
        uint32_t bytes = __byte_perm(low, high, selector);
        for (uint32_t i = 0; i < 4; ++i) {
            if ((signs >> 4 * i & 1) == 0) continue;
            const uint32_t byte = 0xffu << 8 * i;
            bytes = (bytes >> (8 * i + 7) & 1) != 0 ? bytes | byte : bytes & ~byte;
        }
        write<uint32_t>(d, bytes);
    }
}

// ---------------------------------------------------------------- products of packed integers

template <class M>
inline constexpr bool is_dp4a = fits<M, form<one<dot_u32, dot_s32>, one<dot_u32, dot_s32>>>;
template <class M>
inline constexpr bool is_dp2a =
    fits<M, form<first<dot_lo, dot_hi>, one<dot_u32, dot_s32>, one<dot_u32, dot_s32>>>;

template <class Type, class Unsigned, class Signed>
using element_of = std::conditional_t<std::is_same_v<Type, dot_s32>, Signed, Unsigned>;

template <class M, class D, class A, class B, class C>
__device__ inline void op_dp4a(D& d, const A& a, const B& b, const C& c) {
    static_assert(is_dp4a<M>, "dp4a has no such form");
    if constexpr (is_dp4a<M>) {
        write<uint32_t>(d, dot_product<element_of<nth_type<M, 0>, uint8_t, int8_t>,
                                       element_of<nth_type<M, 1>, uint8_t, int8_t>>(
                               read<uint32_t>(a), read<uint32_t>(b), read<uint32_t>(c), 4));
    }
}
// Libraries have one without in functions that nobody calls, where ptxas never sees it: it may stand, but not be called.
[[gnu::error("dp2a is .lo or .hi, then two types")]] void dp2a_without_half();

template <class M, class D, class A, class B, class C>
__device__ inline void op_dp2a(D& d, const A& a, const B& b, const C& c) {
    constexpr bool kHasNoHalf = fits<M, form<one<dot_u32, dot_s32>, one<dot_u32, dot_s32>>>;
    static_assert(is_dp2a<M> || kHasNoHalf, "dp2a has no such form");
    if constexpr (kHasNoHalf) dp2a_without_half();
    if constexpr (is_dp2a<M>) {
        write<uint32_t>(d, dot_product<element_of<nth_type<M, 0>, uint16_t, int16_t>,
                                       element_of<nth_type<M, 1>, uint8_t, int8_t>>(
                               read<uint32_t>(a), read<uint32_t>(b), read<uint32_t>(c), 2,
                               M::template has<dot_hi> ? 2 : 0));
    }
}

}  // namespace cpu_device::ptx
