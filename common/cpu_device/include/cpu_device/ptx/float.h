// SPDX-License-Identifier: MIT
// Arithmetic of f64, f32, f16, bf16 and pairs of the last two. Approximate instructions round the exact
// result once, which is better than the ISA promises.
#pragma once
#include <cmath>
#include <type_traits>

#include "cpu_device/float_math.h"
#include "cpu_device/ptx/integer.h"
#include "cpu_device/ptx/operands.h"
#include "cpu_device/rounding.h"
#include "cpu_device/small_float.h"

namespace cpu_device::ptx {

// ---------------------------------------------------------------- numbers

template <class M>
inline constexpr Rounding rounding_of =
    M::template has_one_of<dot_rz, dot_rzi>   ? Rounding::zero
    : M::template has_one_of<dot_rp, dot_rpi> ? Rounding::up
    : M::template has_one_of<dot_rm, dot_rmi> ? Rounding::down
                                              : Rounding::nearest;

template <class T>
inline constexpr bool is_pair_of_floats = is_one_of<T, float16x2, bfloat16x2>;

// The number to compute with: a float holds either 16-bit number exactly.
template <class T>
__device__ inline auto number(T x) {
    if constexpr (is_one_of<T, float16, bfloat16>) {
        return static_cast<float>(x);
    } else {
        return x;
    }
}
// Instructions return the NaN that has all bits set but the sign; f64 may return any.
template <class T, class Number>
__device__ inline T canonical(Number x) {
    if constexpr (is_one_of<T, float>) {
        return x != x ? bit_cast<float>(0x7fffffffu) : static_cast<float>(x);
    } else {
        return static_cast<T>(x);
    }
}
template <class T>
__device__ inline bool is_negative(T x) {
    return (bit_cast<Word<sizeof(T)>>(x) >> (bits_of<T> - 1) & 1) != 0;
}
template <class T>
__device__ inline T with_sign(T x, bool negative) {
    using Bits = Word<sizeof(T)>;
    constexpr Bits kSign = static_cast<Bits>(Bits(1) << (bits_of<T> - 1));
    const Bits rest = static_cast<Bits>(bit_cast<Bits>(x) & static_cast<Bits>(~kSign));
    return bit_cast<T>(static_cast<Bits>(rest | (negative ? kSign : Bits(0))));
}
template <class T>
__device__ inline T smallest_normal() {
    if constexpr (std::is_same_v<T, float16>) return float16::from_bits(1 << 10);
    if constexpr (std::is_same_v<T, bfloat16>) return bfloat16::from_bits(1 << 7);
    if constexpr (std::is_same_v<T, float>) return bit_cast<float>(1u << 23);
    if constexpr (std::is_same_v<T, double>) return bit_cast<double>(uint64_t(1) << 52);
}
template <class T>
__device__ inline bool is_subnormal(T x) {
    const auto magnitude = number(with_sign(x, false));
    return magnitude != 0 && magnitude < number(smallest_normal<T>());
}

// .ftz turns subnormal operands and results into zeros of the same sign.
template <class M, class T>
__device__ inline T flushed(T x) {
    if constexpr (M::template has<dot_ftz>) {
        if (is_subnormal(x)) return with_sign(T(0.f), is_negative(x));
    }
    return x;
}
// .sat clamps a result to [0, 1], and NaN to 0; .relu turns negative results into 0 and keeps NaN.
template <class M, class T>
__device__ inline T limited(T x) {
    if constexpr (M::template has<dot_sat>) {
        if (!(number(x) > 0)) return T(0.f);
        if (number(x) > 1) return T(1.f);
    }
    if constexpr (M::template has<dot_relu>) {
        if (number(x) <= 0) return T(0.f);
    }
    return x;
}

// operation(elements...) for each element of a pair, or once.
template <class T, class Operation, class... Rest>
__device__ inline T by_element(Operation operation, T a, Rest... rest) {
    if constexpr (is_pair_of_floats<T>) {
        return T(operation(a.x, rest.x...), operation(a.y, rest.y...));
    } else {
        return operation(a, rest...);
    }
}

// d = operation(operands...), where the operation takes elements and gives one.
template <class M, class Operation, class D, class... Operand>
__device__ inline void compute(Operation operation, D& d, const Operand&... operands) {
    using T = value_of<nth_type<M>>;
    write<T>(d, by_element<T>(
                    [operation](auto... x) __attribute__((always_inline)) {
                        return limited<M>(flushed<M>(operation(flushed<M>(x)...)));
                    },
                    read<T>(operands)...));
}

// Arithmetic of numbers as an operation on elements, rounded once.
template <class M, class Arithmetic>
struct Rounded {
    template <class T, class... Rest>
    __device__ T operator()(T a, Rest... rest) const {
        if constexpr (is_one_of<T, float16, bfloat16>) {
            return T(Arithmetic{}(number(a), number(rest)...));
        } else {
            return canonical<T>(rounded<rounding_of<M>>(Arithmetic{}, a, rest...));
        }
    }
};
struct MultiplyAdd : FusedMultiplyAdd {};
// A product of 16-bit numbers plus a third is computed as a double that rounds as the exact sum would.
template <class M>
struct Rounded<M, MultiplyAdd> {
    template <class T>
    __device__ T operator()(T a, T b, T c) const {
        if constexpr (is_one_of<T, float16, bfloat16>) {
            return T(sticky_multiply_add(number(a), number(b), number(c)));
        } else {
            return canonical<T>(rounded<rounding_of<M>>(FusedMultiplyAdd{}, a, b, c));
        }
    }
};

// ---------------------------------------------------------------- sums and products

using rounding = may<dot_rn, dot_rz, dot_rm, dot_rp>;
using any_rounding = one<dot_rn, dot_rz, dot_rm, dot_rp>;
using of_f32 = one<dot_f32>;
using of_f64 = one<dot_f64>;
using of_halves = one<dot_f16, dot_f16x2>;
using of_bfloats = one<dot_bf16, dot_bf16x2>;

template <class M>
inline constexpr bool is_float_add =
    fits_one_of<M, form<rounding, may<dot_ftz>, may<dot_sat>, of_f32>, form<rounding, of_f64>,
                form<may<dot_rn>, may<dot_ftz>, may<dot_sat>, of_halves>,
                form<may<dot_rn>, of_bfloats>>;
template <class M>
inline constexpr bool is_float_mad =
    fits_one_of<M, form<any_rounding, may<dot_ftz>, may<dot_sat>, of_f32>,
                form<any_rounding, of_f64>>;
template <class M>
inline constexpr bool is_fma =
    is_float_mad<M> || fits_one_of<M, form<one<dot_rn>, may<dot_ftz>, may<dot_sat>, of_halves>,
                                   form<one<dot_rn>, may<dot_ftz>, one<dot_relu>, of_halves>,
                                   form<one<dot_rn>, may<dot_relu>, of_bfloats>,
                                   form<one<dot_rn>, one<dot_oob>, may<dot_relu>,
                                        one<dot_f16, dot_f16x2, dot_bf16, dot_bf16x2>>>;

// .oob: 0 where a factor is the NaN that tensor copies put outside of the tensor.
template <class Operation>
struct ZeroOutside {
    Operation operation;
    template <class T>
    __device__ T operator()(T a, T b, T c) const {
        constexpr uint16_t kOutside = 0xffff;
        const bool is_outside =
            bit_cast<uint16_t>(a) == kOutside || bit_cast<uint16_t>(b) == kOutside;
        return is_outside ? T(0.f) : operation(a, b, c);
    }
};

template <class M, class D, class A, class B, if_floats<M> = 0>
__device__ inline void op_add(D& d, const A& a, const B& b) {
    static_assert(is_float_add<M>, "add has no such form");
    if constexpr (is_float_add<M>) compute<M>(Rounded<M, Add>{}, d, a, b);
}
template <class M, class D, class A, class B, if_floats<M> = 0>
__device__ inline void op_sub(D& d, const A& a, const B& b) {
    static_assert(is_float_add<M>, "sub has no such form");
    if constexpr (is_float_add<M>) compute<M>(Rounded<M, Subtract>{}, d, a, b);
}
template <class M, class D, class A, class B, if_floats<M> = 0>
__device__ inline void op_mul(D& d, const A& a, const B& b) {
    static_assert(is_float_add<M>, "mul has no such form");
    if constexpr (is_float_add<M>) compute<M>(Rounded<M, Multiply>{}, d, a, b);
}
template <class M, class D, class A, class B, class C, if_floats<M> = 0>
__device__ inline void op_mad(D& d, const A& a, const B& b, const C& c) {
    static_assert(is_float_mad<M>, "mad has no such form");
    if constexpr (is_float_mad<M>) compute<M>(Rounded<M, MultiplyAdd>{}, d, a, b, c);
}
template <class M, class D, class A, class B, class C>
__device__ inline void op_fma(D& d, const A& a, const B& b, const C& c) {
    static_assert(is_fma<M>, "fma has no such form");
    using Operation = Rounded<M, MultiplyAdd>;
    if constexpr (M::template has<dot_oob>) {
        compute<M>(ZeroOutside<Operation>{}, d, a, b, c);
    } else if constexpr (is_fma<M>) {
        compute<M>(Operation{}, d, a, b, c);
    }
}

// ---------------------------------------------------------------- quotients and roots

template <class M>
inline constexpr bool is_float_div =
    fits_one_of<M, form<one<dot_approx, dot_full>, may<dot_ftz>, of_f32>,
                form<any_rounding, may<dot_ftz>, of_f32>, form<any_rounding, of_f64>>;
template <class M>
inline constexpr bool is_sqrt =
    fits_one_of<M, form<one<dot_approx>, may<dot_ftz>, of_f32>,
                form<any_rounding, may<dot_ftz>, of_f32>, form<any_rounding, of_f64>>;
template <class M>
inline constexpr bool is_approximate_f64 = fits<M, form<one<dot_approx>, one<dot_ftz>, of_f64>>;
template <class M>
inline constexpr bool is_rcp = is_sqrt<M> || is_approximate_f64<M>;
template <class M>
inline constexpr bool is_rsqrt =
    fits<M, form<one<dot_approx>, may<dot_ftz>, one<dot_f32, dot_f64>>>;

struct Reciprocal {
    template <class T>
    __device__ T operator()(T a) const {
        return 1 / a;
    }
};
struct ReciprocalRoot {
    template <class T>
    __device__ T operator()(T a) const {
        return ::rsqrt(a);
    }
};
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write the upper half of a number; the lower half is 0.
template <class M, class Operation, class D, class A>
__device__ inline void compute_upper_half(Operation operation, D& d, const A& a) {
    const auto upper = [](double x) __attribute__((always_inline)) {
        return bit_cast<double>(bit_cast<uint64_t>(x) >> 32 << 32);
    };
    const double x = flushed<M>(upper(read<double>(a)));
    write<double>(d, upper(flushed<M>(operation(x))));
}

template <class M, class D, class A, class B, if_floats<M> = 0>
__device__ inline void op_div(D& d, const A& a, const B& b) {
    static_assert(is_float_div<M>, "div has no such form");
    if constexpr (is_float_div<M>) compute<M>(Rounded<M, Divide>{}, d, a, b);
}
template <class M, class D, class A>
__device__ inline void op_rcp(D& d, const A& a) {
    static_assert(is_rcp<M>, "rcp has no such form");
    if constexpr (is_approximate_f64<M>) {
        compute_upper_half<M>(Reciprocal{}, d, a);
    } else if constexpr (is_rcp<M>) {
        compute<M>(Rounded<M, Reciprocal>{}, d, a);
    }
}
template <class M, class D, class A>
__device__ inline void op_sqrt(D& d, const A& a) {
    static_assert(is_sqrt<M>, "sqrt has no such form");
    if constexpr (is_sqrt<M>) compute<M>(Rounded<M, SquareRoot>{}, d, a);
}
template <class M, class D, class A>
__device__ inline void op_rsqrt(D& d, const A& a) {
    static_assert(is_rsqrt<M>, "rsqrt has no such form");
    if constexpr (is_approximate_f64<M>) {
        compute_upper_half<M>(ReciprocalRoot{}, d, a);
    } else if constexpr (is_rsqrt<M>) {
        compute<M>(Rounded<M, ReciprocalRoot>{}, d, a);
    }
}

// ---------------------------------------------------------------- functions

template <class M>
inline constexpr bool is_approximate_f32 = fits<M, form<one<dot_approx>, may<dot_ftz>, of_f32>>;
template <class M>
inline constexpr bool is_ex2 =
    is_approximate_f32<M> || fits_one_of<M, form<one<dot_approx>, of_halves>,
                                         form<one<dot_approx>, one<dot_ftz>, of_bfloats>>;
template <class M>
inline constexpr bool is_tanh =
    fits<M, form<one<dot_approx>, one<dot_f32, dot_f16, dot_f16x2, dot_bf16, dot_bf16x2>>>;

// A function of the C library, computed in double and rounded to the element.
#define CPU_DEVICE_PTX_FUNCTION(Name, function)                            \
    struct Name {                                                          \
        template <class T>                                                 \
        __device__ T operator()(T x) const {                               \
            return canonical<T>(function(static_cast<double>(number(x)))); \
        }                                                                  \
    };
CPU_DEVICE_PTX_FUNCTION(Sine, ::sin)
CPU_DEVICE_PTX_FUNCTION(Cosine, ::cos)
CPU_DEVICE_PTX_FUNCTION(BinaryLogarithm, ::log2)
CPU_DEVICE_PTX_FUNCTION(PowerOfTwo, ::exp2)
CPU_DEVICE_PTX_FUNCTION(HyperbolicTangent, ::tanh)
#undef CPU_DEVICE_PTX_FUNCTION

template <class M, class D, class A>
__device__ inline void op_sin(D& d, const A& a) {
    static_assert(is_approximate_f32<M>, "sin has no such form");
    if constexpr (is_approximate_f32<M>) compute<M>(Sine{}, d, a);
}
template <class M, class D, class A>
__device__ inline void op_cos(D& d, const A& a) {
    static_assert(is_approximate_f32<M>, "cos has no such form");
    if constexpr (is_approximate_f32<M>) compute<M>(Cosine{}, d, a);
}
template <class M, class D, class A>
__device__ inline void op_lg2(D& d, const A& a) {
    static_assert(is_approximate_f32<M>, "lg2 has no such form");
    if constexpr (is_approximate_f32<M>) compute<M>(BinaryLogarithm{}, d, a);
}
template <class M, class D, class A>
__device__ inline void op_ex2(D& d, const A& a) {
    static_assert(is_ex2<M>, "ex2 has no such form");
    if constexpr (is_ex2<M>) compute<M>(PowerOfTwo{}, d, a);
}
template <class M, class D, class A>
__device__ inline void op_tanh(D& d, const A& a) {
    static_assert(is_tanh<M>, "tanh has no such form");
    if constexpr (is_tanh<M>) compute<M>(HyperbolicTangent{}, d, a);
}

// ---------------------------------------------------------------- signs and extremes

template <class M>
inline constexpr bool is_float_neg =
    fits_one_of<M, form<may<dot_ftz>, one<dot_f32, dot_f16, dot_f16x2>>,
                form<one<dot_f64, dot_bf16, dot_bf16x2>>>;
template <class M>
inline constexpr bool is_float_min =
    fits_one_of<M,
                form<may<dot_ftz>, may<dot_NaN>, may<dot_xorsign>, may<dot_abs>,
                     one<dot_f32, dot_f16, dot_f16x2>>,
                form<may<dot_NaN>, may<dot_xorsign>, may<dot_abs>, of_bfloats>, form<of_f64>>&&
        M::template has<dot_xorsign> == M::template has<dot_abs>;
template <class M>
inline constexpr bool is_copysign = fits<M, form<one<dot_f32, dot_f64>>>;
template <class M>
inline constexpr bool is_testp =
    fits<M,
         form<one<dot_finite, dot_infinite, dot_number, dot_notanumber, dot_normal, dot_subnormal>,
              one<dot_f32, dot_f64>>>;

struct Negate {
    template <class T>
    __device__ T operator()(T x) const {
        return with_sign(x, !is_negative(x));
    }
};
struct Magnitude {
    template <class T>
    __device__ T operator()(T x) const {
        return with_sign(x, false);
    }
};
// Prefers a number to NaN, unless .NaN asks for NaN; -0 is less than +0. With .xorsign.abs the result is the
// extreme of the magnitudes, with the sign of the product.
template <class M, bool is_max>
struct Extreme {
    template <class T>
    __device__ T operator()(T a, T b) const {
        const bool negative = is_negative(a) != is_negative(b);
        if constexpr (!M::template has<dot_abs>) return chosen(a, b);
        return with_sign(chosen(with_sign(a, false), with_sign(b, false)), negative);
    }
    template <class T>
    __device__ T chosen(T a, T b) const {
        const auto x = number(a), y = number(b);
        const bool is_a_nan = x != x, is_b_nan = y != y;
        if ((M::template has<dot_NaN> && (is_a_nan || is_b_nan)) || (is_a_nan && is_b_nan))
            return canonical<T>(x + y);
        if (is_a_nan) return b;
        if (is_b_nan) return a;
        if (x == y) return is_negative(a) == is_max ? b : a;
        return (x < y) == is_max ? b : a;
    }
};

template <class M, class D, class A, if_floats<M> = 0>
__device__ inline void op_neg(D& d, const A& a) {
    static_assert(is_float_neg<M>, "neg has no such form");
    if constexpr (is_float_neg<M>) compute<M>(Negate{}, d, a);
}
template <class M, class D, class A, if_floats<M> = 0>
__device__ inline void op_abs(D& d, const A& a) {
    static_assert(is_float_neg<M>, "abs has no such form");
    if constexpr (is_float_neg<M>) compute<M>(Magnitude{}, d, a);
}
template <class M, class D, class A, class B, if_floats<M> = 0>
__device__ inline void op_min(D& d, const A& a, const B& b) {
    static_assert(is_float_min<M>, "min has no such form");
    if constexpr (is_float_min<M>) compute<M>(Extreme<M, false>{}, d, a, b);
}
template <class M, class D, class A, class B, if_floats<M> = 0>
__device__ inline void op_max(D& d, const A& a, const B& b) {
    static_assert(is_float_min<M>, "max has no such form");
    if constexpr (is_float_min<M>) compute<M>(Extreme<M, true>{}, d, a, b);
}
// b with the sign of a.
template <class M, class D, class A, class B>
__device__ inline void op_copysign(D& d, const A& a, const B& b) {
    static_assert(is_copysign<M>, "copysign has no such form");
    if constexpr (is_copysign<M>) {
        using T = value_of<nth_type<M>>;
        write<T>(d, with_sign(read<T>(b), is_negative(read<T>(a))));
    }
}
// A zero counts as normal.
template <class M, class P, class A>
__device__ inline void op_testp(P& p, const A& a) {
    static_assert(is_testp<M>, "testp has no such form");
    if constexpr (is_testp<M>) {
        const auto x = read<value_of<nth_type<M>>>(a);
        const bool is_nan = x != x, is_infinite = std::isinf(x);
        write<bool>(p, M::template has<dot_notanumber> ? is_nan
                       : M::template has<dot_number>   ? !is_nan
                       : M::template has<dot_infinite> ? is_infinite
                       : M::template has<dot_finite>   ? !is_nan && !is_infinite
                       : M::template has<dot_subnormal>
                           ? is_subnormal(x)
                           : !is_nan && !is_infinite && !is_subnormal(x));
    }
}

}  // namespace cpu_device::ptx
