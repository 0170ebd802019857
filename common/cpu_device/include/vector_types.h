// SPDX-License-Identifier: MIT
// CUDA's vector types (char1 .. double4) and dim3, with the toolkit's sizes and alignments: the
// alignment is what lets a whole pack arrive as one memory access.
#pragma once
#define __VECTOR_TYPES_H__
#include <cstddef>

namespace cpu_device {

// A pack of two or four elements is aligned like one wide element, up to the widest access of a
// lane, 16 bytes. Packs of one and three are aligned like their element.
template <class Element, size_t count>
constexpr size_t vector_alignment = count * sizeof(Element) < 16 ? count * sizeof(Element) : 16;

}  // namespace cpu_device

// A macro, because each name of a family is made from the element's name.
#define CPU_DEVICE_VECTOR_TYPES(name, Element)                         \
    struct name##1 {                                                   \
        Element x;                                                     \
    };                                                                 \
    struct alignas(cpu_device::vector_alignment<Element, 2>) name##2 { \
        Element x, y;                                                  \
    };                                                                 \
    struct name##3 {                                                   \
        Element x, y, z;                                               \
    };                                                                 \
    struct alignas(cpu_device::vector_alignment<Element, 4>) name##4 { \
        Element x, y, z, w;                                            \
    };

CPU_DEVICE_VECTOR_TYPES(char, signed char)
CPU_DEVICE_VECTOR_TYPES(uchar, unsigned char)
CPU_DEVICE_VECTOR_TYPES(short, short)
CPU_DEVICE_VECTOR_TYPES(ushort, unsigned short)
CPU_DEVICE_VECTOR_TYPES(int, int)
CPU_DEVICE_VECTOR_TYPES(uint, unsigned int)
CPU_DEVICE_VECTOR_TYPES(long, long)
CPU_DEVICE_VECTOR_TYPES(ulong, unsigned long)
CPU_DEVICE_VECTOR_TYPES(longlong, long long)
CPU_DEVICE_VECTOR_TYPES(ulonglong, unsigned long long)
CPU_DEVICE_VECTOR_TYPES(float, float)
CPU_DEVICE_VECTOR_TYPES(double, double)
#undef CPU_DEVICE_VECTOR_TYPES

// CUDA 13 spells the alignment of the 32-byte packs in their names.
#define CPU_DEVICE_ALIGNED_PACKS(name, T)            \
    struct __attribute__((aligned(16))) name##_16a { \
        T x, y, z, w;                                \
    };                                               \
    struct __attribute__((aligned(32))) name##_32a { \
        T x, y, z, w;                                \
    };
CPU_DEVICE_ALIGNED_PACKS(long4, long)
CPU_DEVICE_ALIGNED_PACKS(ulong4, unsigned long)
CPU_DEVICE_ALIGNED_PACKS(longlong4, long long)
CPU_DEVICE_ALIGNED_PACKS(ulonglong4, unsigned long long)
CPU_DEVICE_ALIGNED_PACKS(double4, double)
#undef CPU_DEVICE_ALIGNED_PACKS

// Extent of a grid, a block or a cluster; what is not said is 1.
struct dim3 {
    unsigned int x, y, z;

    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 extent) : x(extent.x), y(extent.y), z(extent.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
