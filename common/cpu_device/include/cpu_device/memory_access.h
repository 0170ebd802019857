// SPDX-License-Identifier: MIT
// Loads and stores with a hint for the caches. The CPU device has no caches to hint at: each is one
// plain access of its full width.
#pragma once
#include "cpu_device/qualifiers.h"
#include "cpu_device/traits.h"
#include "vector_types.h"

namespace cpu_device {

template <class T>
constexpr bool is_one_access =
    is_small_float<T> ||
    is_one_of<T, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
              unsigned long, long long, unsigned long long, float, double> ||
    is_one_of<T, char2, uchar2, short2, ushort2, int2, uint2, longlong2, ulonglong2, float2,
              double2, char4, uchar4, short4, ushort4, int4, uint4, float4>;

template <class T>
__device__ inline T load(const T* address) {
    static_assert(is_one_access<T>,
                  "loads with a cache hint take numbers and packs of at most 16 bytes");
    return *address;
}

template <class T>
__device__ inline void store(T* address, not_deduced<T> value) {
    static_assert(is_one_access<T>,
                  "stores with a cache hint take numbers and packs of at most 16 bytes");
    *address = value;
}

}  // namespace cpu_device

template <class T>
__device__ inline T __ldg(const T* address) {
    return cpu_device::load(address);
}

template <class T>
__device__ inline T __ldca(const T* address) {
    return cpu_device::load(address);
}

template <class T>
__device__ inline T __ldcg(const T* address) {
    return cpu_device::load(address);
}

template <class T>
__device__ inline T __ldcs(const T* address) {
    return cpu_device::load(address);
}

template <class T>
__device__ inline T __ldcv(const T* address) {
    return cpu_device::load(address);
}

template <class T>
__device__ inline T __ldlu(const T* address) {
    return cpu_device::load(address);
}

template <class T>
__device__ inline void __stwb(T* address, cpu_device::not_deduced<T> value) {
    cpu_device::store(address, value);
}

template <class T>
__device__ inline void __stcg(T* address, cpu_device::not_deduced<T> value) {
    cpu_device::store(address, value);
}

template <class T>
__device__ inline void __stcs(T* address, cpu_device::not_deduced<T> value) {
    cpu_device::store(address, value);
}

template <class T>
__device__ inline void __stwt(T* address, cpu_device::not_deduced<T> value) {
    cpu_device::store(address, value);
}

__device__ inline unsigned __isClusterShared(const void* address) {
    return cpu_device::is_shared_in_cluster(address);
}
__device__ inline unsigned __isShared(const void* address) {
    return cpu_device::is_shared(address);
}

// Addresses as PTX takes them.
__device__ inline size_t __cvta_generic_to_shared(const void* pointer) {
    return cpu_device::shared_address(pointer);
}
__device__ inline void* __cvta_shared_to_generic(size_t address) {
    return cpu_device::shared_pointer(address);
}
__device__ inline size_t __cvta_generic_to_global(const void* pointer) {
    return reinterpret_cast<size_t>(pointer);
}
__device__ inline void* __cvta_global_to_generic(size_t address) {
    return reinterpret_cast<void*>(address);
}
__device__ inline size_t __cvta_generic_to_constant(const void* pointer) {
    return reinterpret_cast<size_t>(pointer);
}

__device__ inline unsigned __isGlobal(const void* address) {
    return cpu_device::is_global(address);
}
