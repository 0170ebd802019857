// SPDX-License-Identifier: MIT
// PTX's arithmetic and comparisons of floats, against exact sums, products and quotients that plain C++ rounds.
#include <algorithm>
#include <cfenv>
#include <cmath>

#include "common/cpu_device/tests/ptx/forms.cuh"
#include "common/cpu_device/tests/ptx/numbers.cuh"

namespace ptx_tests {
namespace {

using D = Direction;

// ---------------------------------------------------------------- plain definitions

template <class To, class From>
To as(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    std::memcpy(&to, &from, sizeof(to));
    return to;
}
float single(Exact exact, D direction) {
    return as<float>(rounded(kSingle, exact, direction));
}
bool is_positive_zero(double x) {
    return x == 0 && !std::signbit(x);
}
// A sum that is exactly 0 is -0 when it is rounded down, but for that of two +0.
Exact sum_towards(double a, double b, D direction) {
    const Exact result = sum(a, b);
    const bool negative = direction == D::down && !(is_positive_zero(a) && is_positive_zero(b));
    return result.number == 0 && negative ? Exact{-0.0, 0} : result;
}
float add(float a, float b, D direction) {
    return single(sum_towards(a, b, direction), direction);
}
float mul(float a, float b, D direction) {
    return single({static_cast<double>(a) * static_cast<double>(b), 0}, direction);
}
float fma(float a, float b, float c, D direction) {
    return single(sum_towards(static_cast<double>(a) * static_cast<double>(b), c, direction),
                  direction);
}
float div(float a, float b, D direction) {
    const double x = a, y = b, quotient = x / y;
    const bool is_inexact = std::isfinite(quotient) && std::isfinite(y);
    return single({quotient, is_inexact ? std::fma(-quotient, y, x) / y : 0}, direction);
}
float root(float a, D direction) {
    const double x = a, result = std::sqrt(x);
    const bool is_inexact = std::isfinite(result) && result > 0;
    return single({result, is_inexact ? std::fma(-result, result, x) / result : 0}, direction);
}

// Of f64 no wider type knows the exact result: the processor's own rounding is what it is held to.
template <class Operation>
double towards(D direction, Operation operation) {
    std::fesetround(direction == D::zero   ? FE_TOWARDZERO
                    : direction == D::down ? FE_DOWNWARD
                    : direction == D::up   ? FE_UPWARD
                                           : FE_TONEAREST);
    volatile double result = operation();
    std::fesetround(FE_TONEAREST);
    return result;
}
double add(double a, double b, D direction) {
    volatile double x = a, y = b;
    return towards(direction, [&] { return x + y; });
}
double mul(double a, double b, D direction) {
    volatile double x = a, y = b;
    return towards(direction, [&] { return x * y; });
}
double fma(double a, double b, double c, D direction) {
    volatile double x = a, y = b, z = c;
    return towards(direction, [&] { return std::fma(x, y, z); });
}
double div(double a, double b, D direction) {
    volatile double x = a, y = b;
    return towards(direction, [&] { return x / y; });
}
double root(double a, D direction) {
    volatile double x = a;
    return towards(direction, [&] { return std::sqrt(x); });
}

float flush(float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.f, x) : x;
}
float saturate(float x) {
    return x > 1 ? 1.f : x > 0 ? x : 0.f;
}

// Of a number and NaN the number; -0 is less than +0. The number that stands for NaN has all bits but the sign.
float smaller(float a, float b) {
    if (a != a && b != b) return as<float>(0x7fffffffu);
    return a != a || b < a || (a == b && std::signbit(b)) ? b : a;
}
double smaller(double a, double b) {
    return a != a || b < a || (a == b && std::signbit(b)) ? b : a;
}
template <class T>
T larger(T a, T b) {
    if (a != a && b != b) return smaller(a, b);
    return a != a || b > a || (a == b && std::signbit(a)) ? b : a;
}
float with_nan(float a, float b, float chosen) {
    return a != a || b != b ? as<float>(0x7fffffffu) : chosen;
}
// The sign of the product of a and b on a number.
float signed_by(float a, float b, float number) {
    return number != number
               ? number
               : std::copysign(number, std::signbit(a) != std::signbit(b) ? -1.f : 1.f);
}

// ---------------------------------------------------------------- comparisons

enum Comparison { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
bool compares(Comparison how, double a, double b) {
    const bool unordered = a != a || b != b;
    const bool results[] = {a == b, a < b || a > b, a<b, a<b || a == b, a> b, a> b || a == b};
    if (how == num) return !unordered;
    if (how == nan) return unordered;
    return how < equ ? results[how] : unordered || results[how - equ];
}

// ---------------------------------------------------------------- two floats in a word

// The bits of both results of a function of exact numbers, which gives an exact number.
template <class Of>
uint32_t by_halves(Format format, uint32_t a, uint32_t b, uint32_t c, Of of) {
    uint32_t result = 0;
    for (int at = 0; at < 32; at += 16) {
        const auto value = [&](uint32_t word) { return value_of(format, word >> at & 0xffff); };
        result |= rounded(format, of(value(a), value(b), value(c))) << at;
    }
    return result;
}
Exact exact(double x) {
    return {x, 0};
}
Exact clamped(Format format, Exact x) {
    const double number = value_of(format, rounded(format, x));
    return exact(number > 1 ? 1 : number > 0 ? number : 0);
}
Exact without_negative(Exact x) {
    return x.number <= 0 ? exact(0) : x;
}
double flushed(Format format, double x) {
    const double least = std::ldexp(1, 2 - (1 << (format.exponent_bits - 1)));
    return std::fabs(x) < least ? std::copysign(0., x) : x;
}

// clang-format off
// ---------------------------------------------------------------- f32 and f64
#define ROUNDED_FORMS(FORM, MODE, TYPE, L, towards)                                                                        \
    FORM("add." #MODE "." #TYPE, add(a, b, towards), asm("add." #MODE "." #TYPE " %0, %1, %2;" : "=" L(d) : L(a), L(b)))   \
    FORM("sub." #MODE "." #TYPE, add(a, -b, towards), asm("sub." #MODE "." #TYPE " %0, %1, %2;" : "=" L(d) : L(a), L(b)))  \
    FORM("mul." #MODE "." #TYPE, mul(a, b, towards), asm("mul." #MODE "." #TYPE " %0, %1, %2;" : "=" L(d) : L(a), L(b)))   \
    FORM("fma." #MODE "." #TYPE, fma(a, b, c, towards), asm("fma." #MODE "." #TYPE " %0, %1, %2, %3;" : "=" L(d) : L(a), L(b), L(c))) \
    FORM("div." #MODE "." #TYPE, div(a, b, towards), asm("div." #MODE "." #TYPE " %0, %1, %2;" : "=" L(d) : L(a), L(b)))   \
    FORM("rcp." #MODE "." #TYPE, div(One(1), a, towards), asm("rcp." #MODE "." #TYPE " %0, %1;" : "=" L(d) : L(a)))        \
    FORM("sqrt." #MODE "." #TYPE, root(a, towards), asm("sqrt." #MODE "." #TYPE " %0, %1;" : "=" L(d) : L(a)))
#define SINGLE_FORMS(FORM)                                                                                                 \
    ROUNDED_FORMS(FORM, rn, f32, "f", D::nearest) ROUNDED_FORMS(FORM, rz, f32, "f", D::zero)                               \
    ROUNDED_FORMS(FORM, rm, f32, "f", D::down) ROUNDED_FORMS(FORM, rp, f32, "f", D::up)                                    \
    FORM("add.f32", add(a, b, D::nearest), asm("add.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)))                          \
    FORM("mad.rz.f32", fma(a, b, c, D::zero), asm("mad.rz.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c)))        \
    FORM("add.ftz.f32", flush(add(flush(a), flush(b), D::nearest)), asm("add.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b))) \
    FORM("sub.sat.f32", saturate(add(a, -b, D::nearest)), asm("sub.sat.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)))       \
    FORM("mul.rz.ftz.f32", flush(mul(flush(a), flush(b), D::zero)), asm("mul.rz.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b))) \
    FORM("fma.rn.ftz.sat.f32", saturate(flush(fma(flush(a), flush(b), flush(c), D::nearest))), asm("fma.rn.ftz.sat.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c))) \
    FORM("add.f32 1.5", add(add(a, 1.5f, D::nearest), -2, D::nearest), asm("{ .reg .f32 s; add.f32 s, %1, 0f3FC00000; add.f32 %0, s, -2.0; }" : "=f"(d) : "f"(a))) \
    FORM("min.f32", smaller(a, b), asm("min.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)))                                  \
    FORM("max.f32", larger(a, b), asm("max.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)))                                   \
    FORM("min.ftz.f32", smaller(flush(a), flush(b)), asm("min.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)))            \
    FORM("max.NaN.f32", with_nan(a, b, larger(a, b)), asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)))           \
    FORM("min.xorsign.abs.f32", signed_by(finite, b, smaller(std::fabs(finite), std::fabs(b))), asm("min.xorsign.abs.f32 %0, %1, %2;" : "=f"(d) : "f"(finite), "f"(b))) \
    FORM("neg.f32", -finite, asm("neg.f32 %0, %1;" : "=f"(d) : "f"(finite)))                                               \
    FORM("abs.ftz.f32", flush(std::fabs(finite)), asm("abs.ftz.f32 %0, %1;" : "=f"(d) : "f"(finite)))                      \
    FORM("copysign.f32", as<float>((as<uint32_t>(b) & 0x7fffffff) | (as<uint32_t>(a) & 0x80000000)), asm("copysign.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b))) \
    FORM("selp.f32", a < b ? a : c, asm("{ .reg .pred s; setp.lt.f32 s, %1, %2; selp.f32 %0, %1, %3, s; }" : "=f"(d) : "f"(a), "f"(b), "f"(c))) \
    FORM("slct.f32.f32", c >= 0 ? a : b, asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c)))           \
    FORM("slct.ftz.f32.f32", flush(c) >= 0 ? a : b, asm("slct.ftz.f32.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c)))
#define DOUBLE_FORMS(FORM)                                                                                                 \
    ROUNDED_FORMS(FORM, rn, f64, "d", D::nearest) ROUNDED_FORMS(FORM, rz, f64, "d", D::zero)                               \
    ROUNDED_FORMS(FORM, rm, f64, "d", D::down) ROUNDED_FORMS(FORM, rp, f64, "d", D::up)                                    \
    FORM("min.f64", smaller(a, b), asm("min.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)))                                  \
    FORM("max.f64", larger(a, b), asm("max.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)))                                   \
    FORM("neg.f64", -a, asm("neg.f64 %0, %1;" : "=d"(d) : "d"(a)))                                                         \
    FORM("abs.f64", std::fabs(a), asm("abs.f64 %0, %1;" : "=d"(d) : "d"(a)))                                               \
    FORM("copysign.f64", std::copysign(b, a), asm("copysign.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)))                  \
    FORM("setp.ltu.f64", compares(ltu, a, b) ? a : c, asm("{ .reg .pred s; setp.ltu.f64 s, %1, %2; selp.f64 %0, %1, %3, s; }" : "=d"(d) : "d"(a), "d"(b), "d"(c))) \
    FORM("mov.f64", 5.0, asm("{ .reg .f64 s; mov.f64 s, 0d3FF8000000000000; add.f64 s, s, 1.0; mul.f64 %0, s, 2.0; }" : "=d"(d)))

// ---------------------------------------------------------------- predicates
#define COMPARED_BY(FORM, OP, TYPE, L, a, b, x, y)                                                                         \
    FORM("setp." #OP "." #TYPE, compares(OP, x, y) ? 1 : 2, asm("{ .reg .pred s; setp." #OP "." #TYPE " s, %1, %2; selp.u32 %0, 1, 2, s; }" : "=r"(d) : L(a), L(b)))
#define COMPARED(FORM, TYPE, L, a, b, x, y)                                                                                \
    COMPARED_BY(FORM, eq, TYPE, L, a, b, x, y) COMPARED_BY(FORM, ne, TYPE, L, a, b, x, y) COMPARED_BY(FORM, lt, TYPE, L, a, b, x, y)    \
    COMPARED_BY(FORM, le, TYPE, L, a, b, x, y) COMPARED_BY(FORM, gt, TYPE, L, a, b, x, y) COMPARED_BY(FORM, ge, TYPE, L, a, b, x, y)    \
    COMPARED_BY(FORM, equ, TYPE, L, a, b, x, y) COMPARED_BY(FORM, neu, TYPE, L, a, b, x, y) COMPARED_BY(FORM, ltu, TYPE, L, a, b, x, y) \
    COMPARED_BY(FORM, leu, TYPE, L, a, b, x, y) COMPARED_BY(FORM, gtu, TYPE, L, a, b, x, y) COMPARED_BY(FORM, geu, TYPE, L, a, b, x, y) \
    COMPARED_BY(FORM, num, TYPE, L, a, b, x, y) COMPARED_BY(FORM, nan, TYPE, L, a, b, x, y)
#define TESTED_BY(FORM, WHAT, holds)                                                                                       \
    FORM("testp." #WHAT ".f32", (holds) ? 1 : 2, asm("{ .reg .pred s; testp." #WHAT ".f32 s, %1; selp.u32 %0, 1, 2, s; }" : "=r"(d) : "f"(f)))
#define PREDICATE_FORMS(FORM)                                                                                              \
    COMPARED(FORM, f32, "f", f, g, f, g)                                                                                   \
    COMPARED(FORM, f16, "h", h, k, value_of(kHalf, h), value_of(kHalf, k))                                                 \
    COMPARED_BY(FORM, lt, bf16, "h", h, k, value_of(kBfloat, h), value_of(kBfloat, k))                                     \
    COMPARED_BY(FORM, neu, bf16, "h", h, k, value_of(kBfloat, h), value_of(kBfloat, k))                                    \
    TESTED_BY(FORM, finite, std::isfinite(f)) TESTED_BY(FORM, infinite, std::isinf(f)) TESTED_BY(FORM, number, f == f)     \
    TESTED_BY(FORM, notanumber, f != f) TESTED_BY(FORM, subnormal, std::fpclassify(f) == FP_SUBNORMAL)                     \
    TESTED_BY(FORM, normal, std::isnormal(f) || f == 0)                                                                    \
    FORM("setp.lt.ftz.f32", flush(f) < flush(g) ? 1 : 2, asm("{ .reg .pred s; setp.lt.ftz.f32 s, %1, %2; selp.u32 %0, 1, 2, s; }" : "=r"(d) : "f"(f), "f"(g))) \
    FORM("setp.lt.f16x2", (value_of(kHalf, a & 0xffff) < value_of(kHalf, b & 0xffff)) + 2 * (value_of(kHalf, a >> 16) < value_of(kHalf, b >> 16)), asm("{ .reg .pred s, t; .reg .b32 u, v; setp.lt.f16x2 s|t, %1, %2; selp.b32 u, 1, 0, s; selp.b32 v, 2, 0, t; add.u32 %0, u, v; }" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("set.ge.u32.f16x2", (value_of(kHalf, a & 0xffff) >= value_of(kHalf, b & 0xffff) ? 0xffff : 0) + (value_of(kHalf, a >> 16) >= value_of(kHalf, b >> 16) ? 0xffff0000 : 0), asm("set.ge.u32.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("set.gt.f16x2.f16x2", (value_of(kHalf, a & 0xffff) > value_of(kHalf, b & 0xffff) ? 0x3c00 : 0) + (value_of(kHalf, a >> 16) > value_of(kHalf, b >> 16) ? 0x3c000000 : 0), asm("set.gt.f16x2.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("set.le.bf16x2.bf16x2", (value_of(kBfloat, a & 0xffff) <= value_of(kBfloat, b & 0xffff) ? 0x3f80 : 0) + (value_of(kBfloat, a >> 16) <= value_of(kBfloat, b >> 16) ? 0x3f800000 : 0), asm("set.le.bf16x2.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("set.nan.s32.f32", f != f || g != g ? -1 : 0, asm("set.nan.s32.f32 %0, %1, %2;" : "=r"(d) : "f"(f), "f"(g)))

// ---------------------------------------------------------------- 16 bits
// of_halves() makes a word of what an expression of the operands' halves x, y and z is for the low and for the high ones.
#define PAIR_FORMS(FORM, TYPE)                                                                                             \
    FORM("add." #TYPE, of_halves(sum(x, y)), asm("add." #TYPE " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))                  \
    FORM("sub.rn." #TYPE, of_halves(sum(x, -y)), asm("sub.rn." #TYPE " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))           \
    FORM("mul." #TYPE, of_halves(exact(x * y)), asm("mul." #TYPE " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))               \
    FORM("fma.rn." #TYPE, of_halves(sum(x * y, z)), asm("fma.rn." #TYPE " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("fma.rn.relu." #TYPE, of_halves(without_negative(sum(x * y, z))), asm("fma.rn.relu." #TYPE " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("min." #TYPE, of_halves(exact(smaller(x, y))), asm("min." #TYPE " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))       \
    FORM("max." #TYPE, of_halves(exact(larger(x, y))), asm("max." #TYPE " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))        \
    FORM("min.NaN." #TYPE, of_halves(exact(x + y != x + y && (x != x || y != y) ? x + y : smaller(x, y))), asm("min.NaN." #TYPE " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("max.xorsign.abs." #TYPE, of_finite_halves(exact(std::copysign(larger(std::fabs(x), std::fabs(y)), std::signbit(x) != std::signbit(y) ? -1 : 1))), asm("max.xorsign.abs." #TYPE " %0, %1, %2;" : "=r"(d) : "r"(finite), "r"(finite_too))) \
    FORM("abs." #TYPE, finite & 0x7fff7fff, asm("abs." #TYPE " %0, %1;" : "=r"(d) : "r"(finite)))                          \
    FORM("neg." #TYPE, finite ^ 0x80008000, asm("neg." #TYPE " %0, %1;" : "=r"(d) : "r"(finite)))
#define HALF_FORMS(FORM)                                                                                                   \
    PAIR_FORMS(FORM, f16x2)                                                                                                \
    FORM("add.sat.f16x2", of_halves(clamped(format, sum(x, y))), asm("add.sat.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("mul.ftz.f16x2", of_halves(exact(flushed(format, value_of(format, rounded(format, exact(flushed(format, x) * flushed(format, y))))))), asm("mul.ftz.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("fma.rn.f16", of_halves(sum(x * y, z)) & 0xffff, uint16_t low; asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(low) : "h"(a16), "h"(b16), "h"(c16)); d = low)
#define BFLOAT_FORMS(FORM)                                                                                                 \
    PAIR_FORMS(FORM, bf16x2)                                                                                               \
    FORM("add.rn.bf16", of_halves(sum(x, y)) & 0xffff, uint16_t low; asm("add.rn.bf16 %0, %1, %2;" : "=h"(low) : "h"(a16), "h"(b16)); d = low)

// ---------------------------------------------------------------- approximations
// NEAR(name, result, greatest error, asm): of x in (0, 8].
#define APPROXIMATE_FORMS(NEAR)                                                                                            \
    NEAR("div.approx.f32", x / y, 3e-7 * std::fabs(x / y), asm("div.approx.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y)))   \
    NEAR("div.full.ftz.f32", x / y, 3e-7 * std::fabs(x / y), asm("div.full.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y))) \
    NEAR("rcp.approx.f32", 1. / x, 2e-7 / x, asm("rcp.approx.f32 %0, %1;" : "=f"(d) : "f"(x)))                             \
    NEAR("rcp.approx.ftz.f32", 1. / x, 2e-7 / x, asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x)))                     \
    NEAR("sqrt.approx.f32", std::sqrt(x), 3e-7 * std::sqrt(x), asm("sqrt.approx.f32 %0, %1;" : "=f"(d) : "f"(x)))          \
    NEAR("rsqrt.approx.f32", 1 / std::sqrt(x), 3e-7 / std::sqrt(x), asm("rsqrt.approx.f32 %0, %1;" : "=f"(d) : "f"(x)))    \
    NEAR("sin.approx.f32", std::sin(x - 4.), 1e-6, asm("sin.approx.f32 %0, %1;" : "=f"(d) : "f"(x - 4)))                   \
    NEAR("cos.approx.ftz.f32", std::cos(x - 4.), 1e-6, asm("cos.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x - 4)))           \
    NEAR("lg2.approx.f32", std::log2(x), 3e-7 * (1 + std::fabs(std::log2(x))), asm("lg2.approx.f32 %0, %1;" : "=f"(d) : "f"(x))) \
    NEAR("ex2.approx.f32.ftz", std::exp2(x - 4.), 4e-7 * std::exp2(x - 4.), asm("ex2.approx.f32.ftz %0, %1;" : "=f"(d) : "f"(x - 4))) \
    NEAR("tanh.approx.f32", std::tanh(x - 4.), 1e-3 * std::fabs(std::tanh(x - 4.)), asm("tanh.approx.f32 %0, %1;" : "=f"(d) : "f"(x - 4))) \
    NEAR("ex2.approx.f16", std::exp2(x), 3e-3 * std::exp2(x), asm("{ .reg .b16 s; cvt.rn.f16.f32 s, %1; ex2.approx.f16 s, s; cvt.f32.f16 %0, s; }" : "=f"(d) : "f"(x))) \
    NEAR("tanh.approx.f16x2", std::tanh(x), 2e-3, asm("{ .reg .b32 s; .reg .b16 l, h; cvt.rn.f16x2.f32 s, %2, %1; tanh.approx.f16x2 s, s; mov.b32 {l, h}, s; cvt.f32.f16 %0, l; }" : "=f"(d) : "f"(x), "f"(y))) \
    NEAR("tanh.approx.bf16", std::tanh(y), 2e-2, asm("{ .reg .b16 s; cvt.rn.bf16.f32 s, %1; tanh.approx.bf16 s, s; cvt.f32.bf16 %0, s; }" : "=f"(d) : "f"(y))) \
    NEAR("ex2.approx.ftz.bf16x2", std::exp2(y), 3e-2 * std::exp2(y), asm("{ .reg .b32 s; .reg .b16 l, h; cvt.rn.bf16x2.f32 s, %2, %1; ex2.approx.ftz.bf16x2 s, s; mov.b32 {l, h}, s; cvt.f32.bf16 %0, h; }" : "=f"(d) : "f"(x), "f"(y))) \
    NEAR("rcp.approx.ftz.f64", 1. / x, 2e-6 / x, double s; asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(s) : "d"(double(x))); d = float(s)) \
    NEAR("rsqrt.approx.f64", 1. / std::sqrt(x), 2e-7 / std::sqrt(x), double s; asm("rsqrt.approx.f64 %0, %1;" : "=d"(s) : "d"(double(x))); d = float(s))
// clang-format on

// ---------------------------------------------------------------- devices

template <class T>
__host__ __device__ T float_of(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof(T));
    return value;
}

#define KERNEL_BODY(OPERANDS, FORMS)                        \
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= step) return;                                  \
    const Operands in = operands[i];                        \
    OPERANDS                                                \
    results += i;                                           \
    FORMS(PTX_ON_DEVICE)

#define OF_FLOATS(T)                                                                              \
    using Result = T;                                                                             \
    [[maybe_unused]] const T a = float_of<T>(in.a), b = float_of<T>(in.b), c = float_of<T>(in.c); \
    [[maybe_unused]] const T finite = float_of<T>(in.a & 0xbfffffffbfffffff);
#define OF_WORDS                                                                              \
    using Result = uint32_t;                                                                  \
    [[maybe_unused]] const uint32_t a = static_cast<uint32_t>(in.a),                          \
                                    b = static_cast<uint32_t>(in.b),                          \
                                    c = static_cast<uint32_t>(in.c), finite = a & 0xbfffbfff, \
                                    finite_too = b & 0xbfffbfff;                              \
    [[maybe_unused]] const uint16_t a16 = static_cast<uint16_t>(a),                           \
                                    b16 = static_cast<uint16_t>(b),                           \
                                    c16 = static_cast<uint16_t>(c), h = a16, k = b16;         \
    [[maybe_unused]] const float f = float_of<float>(in.a), g = float_of<float>(in.b);
#define OF_MODERATE                                                               \
    using Result [[maybe_unused]] = float;                                        \
    [[maybe_unused]] const float x = static_cast<float>(in.a % 4096 + 1) / 512.f, \
                                 y = static_cast<float>(in.b % 4096 + 1) / 512.f - 4.0009765625f;

__global__ void singles_kernel(const Operands* operands, uint64_t* results, size_t step){
    KERNEL_BODY(OF_FLOATS(float),
                SINGLE_FORMS)} __global__ void doubles_kernel(const Operands* operands,
                                                              uint64_t* results, size_t step){
    KERNEL_BODY(OF_FLOATS(double),
                DOUBLE_FORMS)} __global__ void predicates_kernel(const Operands* operands,
                                                                 uint64_t* results, size_t step){
    KERNEL_BODY(OF_WORDS, PREDICATE_FORMS)} __global__ void halves_kernel(const Operands* operands,
                                                                          uint64_t* results,
                                                                          size_t step){
    KERNEL_BODY(OF_WORDS, HALF_FORMS)} __global__ void bfloats_kernel(const Operands* operands,
                                                                      uint64_t* results,
                                                                      size_t step){KERNEL_BODY(
    OF_WORDS, BFLOAT_FORMS)} __global__ void approximations_kernel(const Operands* operands,
                                                                   uint64_t* results, size_t step) {
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= step) return;
    const Operands in = operands[i];
    OF_MODERATE
    results += i;
    APPROXIMATE_FORMS(PTX_NEAR_ON_DEVICE)
}

#define PLAIN_BODY(OPERANDS, FORMS) \
    OPERANDS                        \
    std::vector<Expected> expected; \
    FORMS(PTX_ON_HOST)              \
    return expected;

std::vector<Expected> plain_singles(const Operands& in) {
    using One [[maybe_unused]] = float;
    PLAIN_BODY(OF_FLOATS(float), SINGLE_FORMS)
}
std::vector<Expected> plain_doubles(const Operands& in) {
    using One [[maybe_unused]] = double;
    PLAIN_BODY(OF_FLOATS(double), DOUBLE_FORMS)
}
std::vector<Expected> plain_predicates(const Operands& in){PLAIN_BODY(OF_WORDS, PREDICATE_FORMS)}
#define halves_of(a, b, ...)                                            \
    by_halves(format, a, b, c,                                          \
              [&]([[maybe_unused]] double x, [[maybe_unused]] double y, \
                  [[maybe_unused]] double z) { return __VA_ARGS__; })
#define of_halves(...) halves_of(a, b, __VA_ARGS__)
#define of_finite_halves(...) halves_of(finite, finite_too, __VA_ARGS__)
std::vector<Expected> plain_halves(const Operands& in) {
    constexpr Format format = kHalf;
    PLAIN_BODY(OF_WORDS, HALF_FORMS)
}
std::vector<Expected> plain_bfloats(const Operands& in) {
    constexpr Format format = kBfloat;
    PLAIN_BODY(OF_WORDS, BFLOAT_FORMS)
}
#undef of_halves
#undef of_finite_halves
#undef halves_of
std::vector<Expected> plain_approximations(const Operands& in) {
    OF_MODERATE
    std::vector<Expected> expected;
    APPROXIMATE_FORMS(PTX_NEAR_ON_HOST)
    return expected;
}

// Of f64 any NaN is as good as another.
bool same_double(uint64_t got, const Expected& expected) {
    const double x = float_of<double>(got), y = float_of<double>(expected.bits);
    return got == expected.bits || (x != x && y != y);
}

const std::vector<uint64_t> kSpecialSingles{
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f800001, 0x7f800000, 0xff800000,
    0x7fc00000, 0x7f800001, 0xffffffff, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
    0x7f7fffff, 0xff7fffff, 0x33800000, 0x4b7fffff, 0x3fc00000, 0x20000000};

TEST_CASE("PTX's f32 is rounded once, in the direction that the instruction says") {
    std::vector<Operands> operands = operands_with(kSpecialSingles, 1000);
    // Some near each other, whose sums lose and whose products are in range.
    for (size_t i = 400; i < 800; ++i) {
        for (uint64_t* each : {&operands[i].a, &operands[i].b, &operands[i].c})
            *each = (*each & 0x80ffffff) | 0x3f000000 | (*each >> 40 & 0x01800000);
    }
    check_forms(singles_kernel, plain_singles, operands);
    check_forms(predicates_kernel, plain_predicates, operands);
}

TEST_CASE("PTX's f64 is rounded once, in the direction that the instruction says") {
    std::vector<uint64_t> special{0,
                                  0x8000000000000000,
                                  0x3ff0000000000000,
                                  0xbff0000000000000,
                                  0x7ff0000000000000,
                                  0xfff0000000000000,
                                  0x7ff8000000000000,
                                  0x0000000000000001,
                                  0x8010000000000000,
                                  0x7fefffffffffffff,
                                  0x3ca0000000000000,
                                  0x4340000000000001};
    std::vector<Operands> operands = operands_with(special, 400);
    for (size_t i = 200; i < 400; ++i) {
        for (uint64_t* each : {&operands[i].a, &operands[i].b, &operands[i].c})
            *each = (*each & 0x803fffffffffffff) | 0x3fc0000000000000;
    }
    check_forms(doubles_kernel, plain_doubles, operands, same_double);
}

TEST_CASE("PTX's f16 and bf16, and pairs of them, are rounded once") {
    std::vector<uint64_t> special{0x00008000, 0x3c00bc00, 0x3c01c000, 0x7c00fc00, 0x7e00ffff,
                                  0x00018001, 0x03ff0400, 0x7bfffbff, 0x3f80bf80, 0x7f80ff80,
                                  0x7fc07f81, 0x007f0080, 0x7f7fff7f, 0x3f813fc0, 0x10003400};
    const std::vector<Operands> operands = operands_with(special, 800);
    check_forms(halves_kernel, plain_halves, operands);
    check_forms(bfloats_kernel, plain_bfloats, operands);
}

TEST_CASE("PTX's approximations are as near as the ISA promises") {
    check_forms(approximations_kernel, plain_approximations, operands_with({}, 300), near);
}

}  // namespace
}  // namespace ptx_tests
