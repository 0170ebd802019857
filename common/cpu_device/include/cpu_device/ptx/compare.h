// SPDX-License-Identifier: MIT
// Comparisons and choices.
#pragma once
#include <type_traits>

#include "cpu_device/ptx/float.h"
#include "cpu_device/ptx/integer.h"
#include "cpu_device/ptx/operands.h"

namespace cpu_device::ptx {

// ---------------------------------------------------------------- comparisons

using combined = may<dot_and, dot_or, dot_xor>;
using of_bits = one<dot_b16, dot_b32, dot_b64>;
using of_unsigned = one<dot_u16, dot_u32, dot_u64>;
using of_signed = one<dot_s16, dot_s32, dot_s64>;
using equality = one<dot_eq, dot_ne>;
using order = one<dot_eq, dot_ne, dot_lt, dot_le, dot_gt, dot_ge>;
using order_of_unsigned =
    one<dot_eq, dot_ne, dot_lt, dot_le, dot_gt, dot_ge, dot_lo, dot_ls, dot_hi, dot_hs>;
using order_of_floats = one<dot_eq, dot_ne, dot_lt, dot_le, dot_gt, dot_ge, dot_equ, dot_neu,
                            dot_ltu, dot_leu, dot_gtu, dot_geu, dot_num, dot_nan>;

// The forms of a comparison; Result is the slot for the result's type, where it has one.
template <class M, class... Result>
inline constexpr bool is_comparison =
    fits_one_of<M, form<equality, combined, Result..., of_bits>,
                form<order_of_unsigned, combined, Result..., of_unsigned>,
                form<order, combined, Result..., of_signed>,
                form<order_of_floats, combined, may<dot_ftz>, Result..., one<dot_f32>>,
                form<order_of_floats, combined, Result..., one<dot_f64>>>;
template <class M, class... Result>
inline constexpr bool is_comparison_of_halves =
    fits<M, form<order_of_floats, combined, may<dot_ftz>, Result..., one<dot_f16>>>;
template <class M, class... Result>
inline constexpr bool is_comparison_of_bfloats =
    fits<M, form<order_of_floats, combined, Result..., one<dot_bf16>>>;

template <class M>
inline constexpr bool is_setp_of_pairs =
    fits_one_of<M, form<order_of_floats, combined, may<dot_ftz>, one<dot_f16x2>>,
                form<order_of_floats, combined, one<dot_bf16x2>>>;
template <class M>
inline constexpr bool is_setp = is_setp_of_pairs<M> || is_comparison<M> ||
                                is_comparison_of_halves<M> || is_comparison_of_bfloats<M>;

// A comparison with a bool operation takes a third operand; no other does.
template <class M>
inline constexpr bool is_combined = M::template has_one_of<dot_and, dot_or, dot_xor>;

template <class M>
__device__ inline bool combine(bool result, [[maybe_unused]] bool with) {
    if constexpr (M::template has<dot_and>) return result && with;
    if constexpr (M::template has<dot_or>) return result || with;
    if constexpr (M::template has<dot_xor>) return result != with;
    return result;
}

// With NaN the plain comparisons are false, .ne among them, and those that end in u are true.
template <class M, class T>
__device__ inline bool holds(T a, T b) {
    const auto x = number(flushed<M>(a)), y = number(flushed<M>(b));
    if constexpr (std::is_floating_point_v<decltype(number(a))>) {
        const bool is_unordered = x != x || y != y;
        if constexpr (M::template has<dot_nan>) return is_unordered;
        if constexpr (M::template has<dot_num>) return !is_unordered;
        if (is_unordered) {
            return M::template has_one_of<dot_equ, dot_neu, dot_ltu, dot_leu, dot_gtu, dot_geu>;
        }
    }
    if constexpr (M::template has_one_of<dot_eq, dot_equ>) return x == y;
    if constexpr (M::template has_one_of<dot_ne, dot_neu>) return x != y;
    if constexpr (M::template has_one_of<dot_lt, dot_lo, dot_ltu>) return x < y;
    if constexpr (M::template has_one_of<dot_le, dot_ls, dot_leu>) return x <= y;
    if constexpr (M::template has_one_of<dot_gt, dot_hi, dot_gtu>) return x > y;
    return x >= y;
}

template <class P>
inline constexpr bool is_pair = false;
template <class P, class Q>
inline constexpr bool is_pair<Pair<P, Q>> = true;

// p|q: q is what p would be if the comparison were false. For a pair of numbers p compares the low ones, q the
// high ones.
template <class M, class P, class A, class B>
__device__ inline void compare_to(P& p, const A& a, const B& b, bool c) {
    using T = value_of<nth_type<M>>;
    const T x = read<T>(a), y = read<T>(b);
    if constexpr (is_pair_of_floats<T>) {
        static_assert(is_pair<P>, "setp of a pair of numbers writes two predicates: p|q");
        const bool low = combine<M>(holds<M>(x.x, y.x), c),
                   high = combine<M>(holds<M>(x.y, y.y), c);
        write(p.first, low);
        write(p.second, high);
    } else if constexpr (is_pair<P>) {
        static_assert(!is_one_of<T, float16, bfloat16>, "setp of 16 bits writes one predicate");
        const bool result = holds<M>(x, y);
        write(p.first, combine<M>(result, c));
        write(p.second, combine<M>(!result, c));
    } else {
        write(p, combine<M>(holds<M>(x, y), c));
    }
}

template <class M, class P, class A, class B>
__device__ inline void op_setp(P&& p, const A& a, const B& b) {
    constexpr bool kIsGood = is_setp<M> && !is_combined<M>;
    static_assert(kIsGood, "setp has no such form");
    if constexpr (kIsGood) compare_to<M>(p, a, b, false);
}
template <class M, class P, class A, class B, class C>
__device__ inline void op_setp(P&& p, const A& a, const B& b, const C& c) {
    constexpr bool kIsGood = is_setp<M> && is_combined<M>;
    static_assert(kIsGood, "setp has no such form");
    if constexpr (kIsGood) compare_to<M>(p, a, b, read<bool>(c));
}

// ---------------------------------------------------------------- set

template <class M>
inline constexpr bool is_set =
    is_comparison<M, one<dot_u32, dot_s32, dot_f16, dot_f32>> ||
    (is_comparison<M, one<dot_bf16>> && !M::template has<dot_ftz>) ||
    is_comparison_of_halves<M, one<dot_u16, dot_s16, dot_u32, dot_s32, dot_f16>> ||
    (is_comparison_of_halves<M, one<dot_bf16>> && !M::template has<dot_ftz>) ||
    is_comparison_of_bfloats<M, one<dot_u16, dot_s16, dot_u32, dot_s32, dot_bf16>> ||
    fits_one_of<
        M,
        form<order_of_floats, combined, may<dot_ftz>, one<dot_u32, dot_s32, dot_f16x2>,
             one<dot_f16x2>>,
        form<order_of_floats, combined, one<dot_u32, dot_s32, dot_bf16x2>, one<dot_bf16x2>>>;

// Truth is 1 as a float, and all bits as an integer.
template <class T>
__device__ inline T truth(bool holds) {
    if constexpr (std::is_integral_v<T>) {
        return holds ? static_cast<T>(-1) : T(0);
    } else {
        return T(holds ? 1.f : 0.f);
    }
}
template <class M, class D, class A, class B>
__device__ inline void write_truth(D& d, const A& a, const B& b, bool c) {
    using T = value_of<nth_type<M, 0>>;
    using Operand = value_of<nth_type<M, 1>>;
    const Operand x = read<Operand>(a), y = read<Operand>(b);
    if constexpr (is_pair_of_floats<Operand>) {
        const bool low = combine<M>(holds<M>(x.x, y.x), c),
                   high = combine<M>(holds<M>(x.y, y.y), c);
        if constexpr (is_pair_of_floats<T>) {
            using Element = typename T::Scalar;
            write<T>(d, T(truth<Element>(low), truth<Element>(high)));
        } else {
            write<T>(d, static_cast<T>((low ? 0xffffu : 0u) | (high ? 0xffff0000u : 0u)));
        }
    } else {
        write<T>(d, truth<T>(combine<M>(holds<M>(x, y), c)));
    }
}

template <class M, class D, class A, class B>
__device__ inline void op_set(D& d, const A& a, const B& b) {
    constexpr bool kIsGood = is_set<M> && !is_combined<M>;
    static_assert(kIsGood, "set has no such form");
    if constexpr (kIsGood) write_truth<M>(d, a, b, false);
}
template <class M, class D, class A, class B, class C>
__device__ inline void op_set(D& d, const A& a, const B& b, const C& c) {
    constexpr bool kIsGood = is_set<M> && is_combined<M>;
    static_assert(kIsGood, "set has no such form");
    if constexpr (kIsGood) write_truth<M>(d, a, b, read<bool>(c));
}

// ---------------------------------------------------------------- choices

using of_any = one<dot_b16, dot_b32, dot_b64, dot_u16, dot_u32, dot_u64, dot_s16, dot_s32, dot_s64,
                   dot_f32, dot_f64>;
template <class M>
inline constexpr bool is_selp = fits<M, form<of_any>>;
template <class M>
inline constexpr bool is_slct =
    fits_one_of<M, form<of_any, one<dot_s32>>, form<may<dot_ftz>, of_any, one<dot_f32>>>;

template <class M, class D, class A, class B, class P>
__device__ inline void op_selp(D& d, const A& a, const B& b, const P& p) {
    static_assert(is_selp<M>, "selp has no such form");
    if constexpr (is_selp<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, read<bool>(p) ? read<T>(a) : read<T>(b));
    }
}
// Chooses a where c >= 0, b where c is negative or NaN.
template <class M, class D, class A, class B, class C>
__device__ inline void op_slct(D& d, const A& a, const B& b, const C& c) {
    static_assert(is_slct<M>, "slct has no such form");
    if constexpr (is_slct<M>) {
        using T = value_of<nth_type<M, 0>>;
        write<T>(d, flushed<M>(read<value_of<nth_type<M, 1>>>(c)) >= 0 ? read<T>(a) : read<T>(b));
    }
}

}  // namespace cpu_device::ptx
