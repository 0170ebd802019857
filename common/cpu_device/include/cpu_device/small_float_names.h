// SPDX-License-Identifier: MIT
// The functions of cuda_fp16.h and cuda_bf16.h whose names contain the type's. Macros, because a
// template makes no names: `name` is half or bfloat16, Type and Pair are the classes.
#pragma once

#include <type_traits>

#include "cpu_device/small_float.h"
#include "vector_functions.h"

#define CPU_DEVICE_SMALL_FLOAT_NAMES(name, Type, Pair)                           \
    __host__ __device__ inline Type __double2##name(double a) {                  \
        return a;                                                                \
    }                                                                            \
    __host__ __device__ inline Type __float2##name(float a) {                    \
        return a;                                                                \
    }                                                                            \
    __host__ __device__ inline Type __float2##name##_rn(float a) {               \
        return a;                                                                \
    }                                                                            \
    __host__ __device__ inline Type __float2##name##_rz(float a) {               \
        return Type::from(a, cpu_device::Rounding::zero);                        \
    }                                                                            \
    __host__ __device__ inline Type __float2##name##_ru(float a) {               \
        return Type::from(a, cpu_device::Rounding::up);                          \
    }                                                                            \
    __host__ __device__ inline Type __float2##name##_rd(float a) {               \
        return Type::from(a, cpu_device::Rounding::down);                        \
    }                                                                            \
    __host__ __device__ inline float __##name##2float(Type a) {                  \
        return a;                                                                \
    }                                                                            \
    __host__ __device__ inline short __##name##_as_short(Type a) {               \
        return cpu_device::bit_cast<short>(a);                                   \
    }                                                                            \
    __host__ __device__ inline unsigned short __##name##_as_ushort(Type a) {     \
        return cpu_device::bit_cast<unsigned short>(a);                          \
    }                                                                            \
    __host__ __device__ inline Type __short_as_##name(short a) {                 \
        return cpu_device::bit_cast<Type>(a);                                    \
    }                                                                            \
    __host__ __device__ inline Type __ushort_as_##name(unsigned short a) {       \
        return cpu_device::bit_cast<Type>(a);                                    \
    }                                                                            \
    __host__ __device__ inline Pair make_##name##2(Type x, Type y) {             \
        return {x, y};                                                           \
    }                                                                            \
    __host__ __device__ inline Pair __halves2##name##2(Type x, Type y) {         \
        return {x, y};                                                           \
    }                                                                            \
    __host__ __device__ inline Pair __##name##2##name##2(Type a) {               \
        return {a, a};                                                           \
    }                                                                            \
    __host__ __device__ inline Pair __float2##name##2_rn(float a) {              \
        return {Type(a), Type(a)};                                               \
    }                                                                            \
    __host__ __device__ inline Pair __floats2##name##2_rn(float x, float y) {    \
        return {Type(x), Type(y)};                                               \
    }                                                                            \
    __host__ __device__ inline Pair __float22##name##2_rn(float2 a) {            \
        return {Type(a.x), Type(a.y)};                                           \
    }                                                                            \
    __host__ __device__ inline float2 __##name##22float2(Pair a) {               \
        return make_float2(a.x, a.y);                                            \
    }                                                                            \
    __host__ __device__ inline Type __low2##name(Pair a) {                       \
        return a.x;                                                              \
    }                                                                            \
    __host__ __device__ inline Type __high2##name(Pair a) {                      \
        return a.y;                                                              \
    }                                                                            \
    __host__ __device__ inline Pair __low2##name##2(Pair a) {                    \
        return {a.x, a.x};                                                       \
    }                                                                            \
    __host__ __device__ inline Pair __high2##name##2(Pair a) {                   \
        return {a.y, a.y};                                                       \
    }                                                                            \
    __host__ __device__ inline Pair __lows2##name##2(Pair a, Pair b) {           \
        return {a.x, b.x};                                                       \
    }                                                                            \
    __host__ __device__ inline Pair __highs2##name##2(Pair a, Pair b) {          \
        return {a.y, b.y};                                                       \
    }                                                                            \
    __host__ __device__ inline signed char __##name##2char_rz(Type a) {          \
        return a.template to_integer<signed char>(cpu_device::Rounding::zero);   \
    }                                                                            \
    __host__ __device__ inline unsigned char __##name##2uchar_rz(Type a) {       \
        return a.template to_integer<unsigned char>(cpu_device::Rounding::zero); \
    }                                                                            \
    CPU_DEVICE_SMALL_FLOAT_INTEGER(name, Type, short, short)                     \
    CPU_DEVICE_SMALL_FLOAT_INTEGER(name, Type, ushort, unsigned short)           \
    CPU_DEVICE_SMALL_FLOAT_INTEGER(name, Type, int, int)                         \
    CPU_DEVICE_SMALL_FLOAT_INTEGER(name, Type, uint, unsigned)                   \
    CPU_DEVICE_SMALL_FLOAT_INTEGER(name, Type, ll, long long)                    \
    CPU_DEVICE_SMALL_FLOAT_INTEGER(name, Type, ull, unsigned long long)

#define CPU_DEVICE_SMALL_FLOAT_INTEGER(name, Type, integer, Integer)           \
    CPU_DEVICE_SMALL_FLOAT_ROUNDED(name, Type, integer, Integer, _rn, nearest) \
    CPU_DEVICE_SMALL_FLOAT_ROUNDED(name, Type, integer, Integer, _rz, zero)    \
    CPU_DEVICE_SMALL_FLOAT_ROUNDED(name, Type, integer, Integer, _ru, up)      \
    CPU_DEVICE_SMALL_FLOAT_ROUNDED(name, Type, integer, Integer, _rd, down)

#define CPU_DEVICE_SMALL_FLOAT_ROUNDED(name, Type, integer, Integer, suffix, direction)   \
    __host__ __device__ inline Integer __##name##2##integer##suffix(Type a) {             \
        return a.template to_integer<Integer>(cpu_device::Rounding::direction);           \
    }                                                                                     \
    __host__ __device__ inline Type __##integer##2##name##suffix(Integer a) {             \
        return Type::from(cpu_device::sticky_double(a), cpu_device::Rounding::direction); \
    }

// The friends of the classes are found by their arguments. Who calls ::hexp(x) finds these, which call those: of the two,
// hexp(x) means the friend, which is no template.
#define CPU_DEVICE_SMALL_FLOAT_FRIEND(name)                                                      \
    template <                                                                                   \
        class First, class... More,                                                              \
        std::enable_if_t<                                                                        \
            cpu_device::is_small_float<First> && (std::is_same_v<First, More> && ...), int> = 0> \
    __host__ __device__ inline auto name(First first, More... more)                              \
        ->decltype(name(first, more...)) {                                                       \
        return name(first, more...);                                                             \
    }
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hadd)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hsub)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmul)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hdiv)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hfma)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hadd_rn)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hsub_rn)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmul_rn)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hadd_sat)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hsub_sat)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmul_sat)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hfma_sat)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hfma_relu)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hneg)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__habs)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hisnan)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hisinf)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmax)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmin)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmax_nan)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmin_nan)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__heq)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hequ)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hne)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hneu)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hlt)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hltu)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hle)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hleu)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hgt)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hgtu)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hge)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hgeu)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hsqrt)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hrsqrt)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hrcp)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hexp)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hexp2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hexp10)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hlog)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hlog2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hlog10)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hsin)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hcos)
CPU_DEVICE_SMALL_FLOAT_FRIEND(htanh)
CPU_DEVICE_SMALL_FLOAT_FRIEND(htanh_approx)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hceil)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hfloor)
CPU_DEVICE_SMALL_FLOAT_FRIEND(htrunc)
CPU_DEVICE_SMALL_FLOAT_FRIEND(hrint)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__habs2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hneg2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hisnan2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hcmadd)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__low2float)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__high2float)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__lowhigh2highlow)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__h2div)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2sqrt)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2rsqrt)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2rcp)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2exp)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2exp2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2exp10)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2log)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2log2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2log10)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2sin)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2cos)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2tanh)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2tanh_approx)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2ceil)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2floor)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2trunc)
CPU_DEVICE_SMALL_FLOAT_FRIEND(h2rint)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hadd2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hadd2_rn)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hadd2_sat)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hsub2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hsub2_rn)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hsub2_sat)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmul2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmul2_rn)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmul2_sat)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmax2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmin2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmax2_nan)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hmin2_nan)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hfma2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hfma2_sat)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hfma2_relu)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__heq2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__heq2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hequ2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hequ2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hne2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hne2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hneu2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hneu2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hlt2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hlt2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hltu2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hltu2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hle2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hle2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hleu2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hleu2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hgt2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hgt2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hgtu2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hgtu2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hge2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hge2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hgeu2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hgeu2_mask)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hbeq2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hbequ2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hbne2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hbneu2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hblt2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hbltu2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hble2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hbleu2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hbgt2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hbgtu2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hbge2)
CPU_DEVICE_SMALL_FLOAT_FRIEND(__hbgeu2)
#undef CPU_DEVICE_SMALL_FLOAT_FRIEND
