// SPDX-License-Identifier: MIT
// make_char1 .. make_double4. Building a pack with these, rather than with braces straight into
// memory, is what makes its store one access.
#pragma once
#define __VECTOR_FUNCTIONS_H__
#include "cpu_device/qualifiers.h"
#include "vector_types.h"

// A macro, because each name of a family is made from the element's name.
#define CPU_DEVICE_MAKE_FUNCTIONS(name, Element)                                         \
    __host__ __device__ inline name##1 make_##name##1(Element x) {                       \
        name##1 pack = {x};                                                              \
        return pack;                                                                     \
    }                                                                                    \
    __host__ __device__ inline name##2 make_##name##2(Element x, Element y) {            \
        name##2 pack = {x, y};                                                           \
        return pack;                                                                     \
    }                                                                                    \
    __host__ __device__ inline name##3 make_##name##3(Element x, Element y, Element z) { \
        name##3 pack = {x, y, z};                                                        \
        return pack;                                                                     \
    }                                                                                    \
    __host__ __device__ inline name##4 make_##name##4(Element x, Element y, Element z,   \
                                                      Element w) {                       \
        name##4 pack = {x, y, z, w};                                                     \
        return pack;                                                                     \
    }

CPU_DEVICE_MAKE_FUNCTIONS(char, signed char)
CPU_DEVICE_MAKE_FUNCTIONS(uchar, unsigned char)
CPU_DEVICE_MAKE_FUNCTIONS(short, short)
CPU_DEVICE_MAKE_FUNCTIONS(ushort, unsigned short)
CPU_DEVICE_MAKE_FUNCTIONS(int, int)
CPU_DEVICE_MAKE_FUNCTIONS(uint, unsigned int)
CPU_DEVICE_MAKE_FUNCTIONS(long, long)
CPU_DEVICE_MAKE_FUNCTIONS(ulong, unsigned long)
CPU_DEVICE_MAKE_FUNCTIONS(longlong, long long)
CPU_DEVICE_MAKE_FUNCTIONS(ulonglong, unsigned long long)
CPU_DEVICE_MAKE_FUNCTIONS(float, float)
CPU_DEVICE_MAKE_FUNCTIONS(double, double)
#undef CPU_DEVICE_MAKE_FUNCTIONS

__host__ __device__ inline double4_16a make_double4_16a(double x, double y, double z, double w) {
    double4_16a pack;
    pack.x = x;
    pack.y = y;
    pack.z = z;
    pack.w = w;
    return pack;
}
