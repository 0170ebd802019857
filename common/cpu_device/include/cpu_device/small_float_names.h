// SPDX-License-Identifier: MIT
// The functions of cuda_fp16.h and cuda_bf16.h whose names contain the type's. Macros, because a
// template makes no names: `name` is half or bfloat16, Type and Pair are the classes.
#pragma once

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
