// SPDX-License-Identifier: MIT
// The atomic functions that nvcc itself has, since CUDA 12.8: each names its memory order and, if it likes, its scope.
#pragma once
#include <type_traits>

#include "cpu_device/atomics.h"

enum {
    __NV_ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};

enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

namespace cpu_device {

constexpr unsigned builtin_ordering(int order, int scope) {
    return ordering_of(order, scope <= __NV_THREAD_SCOPE_BLOCK);
}

}  // namespace cpu_device

template <class T>
__device__ inline T __nv_atomic_load_n(T* address, int order,
                                       int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return cpu_device::atomic_load(address, cpu_device::builtin_ordering(order, scope));
}

template <class T>
__device__ inline void __nv_atomic_load(T* address, T* result, int order,
                                        int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *result = __nv_atomic_load_n(address, order, scope);
}

template <class T>
__device__ inline void __nv_atomic_store_n(T* address, cpu_device::not_deduced<T> value, int order,
                                           int scope = __NV_THREAD_SCOPE_SYSTEM) {
    cpu_device::atomic_store(address, value, cpu_device::builtin_ordering(order, scope));
}

template <class T>
__device__ inline void __nv_atomic_store(T* address, T* value, int order,
                                         int scope = __NV_THREAD_SCOPE_SYSTEM) {
    __nv_atomic_store_n(address, *value, order, scope);
}

template <class T>
__device__ inline T __nv_atomic_exchange_n(T* address, cpu_device::not_deduced<T> value, int order,
                                           int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return cpu_device::atomic_update(
        address, [value](T) { return value; }, cpu_device::builtin_ordering(order, scope));
}

template <class T>
__device__ inline void __nv_atomic_exchange(T* address, T* value, T* result, int order,
                                            int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *result = __nv_atomic_exchange_n(address, *value, order, scope);
}

// Compares bits, and leaves in *expected what was there if that was something else.
template <class T>
__device__ inline bool __nv_atomic_compare_exchange_n(T* address, T* expected,
                                                      cpu_device::not_deduced<T> value,
                                                      bool /*weak*/, int order, int /*failed*/,
                                                      int scope = __NV_THREAD_SCOPE_SYSTEM) {
    using Bits = cpu_device::Word<sizeof(T)>;
    const auto wanted = cpu_device::bit_cast<Bits>(*expected);
    const T old = cpu_device::atomic_update(
        address,
        [wanted, value](T old) { return cpu_device::bit_cast<Bits>(old) == wanted ? value : old; },
        cpu_device::builtin_ordering(order, scope));
    const bool is_equal = cpu_device::bit_cast<Bits>(old) == wanted;
    if (!is_equal) *expected = old;
    return is_equal;
}

template <class T>
__device__ inline bool __nv_atomic_compare_exchange(T* address, T* expected, T* value, bool weak,
                                                    int order, int failed,
                                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return __nv_atomic_compare_exchange_n(address, expected, *value, weak, order, failed, scope);
}

// A macro, because it makes two names of each operation's.
#define CPU_DEVICE_BUILTIN_ATOMIC(name, result)                                                  \
    template <class T>                                                                           \
    __device__ inline T __nv_atomic_fetch_##name(T* address, cpu_device::not_deduced<T> value,   \
                                                 int order,                                      \
                                                 int scope = __NV_THREAD_SCOPE_SYSTEM) {         \
        return cpu_device::atomic_update(                                                        \
            address, [value](T old) { return static_cast<T>(result); },                          \
            cpu_device::builtin_ordering(order, scope));                                         \
    }                                                                                            \
    template <class T>                                                                           \
    __device__ inline void __nv_atomic_##name(T* address, cpu_device::not_deduced<T> value,      \
                                              int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
        __nv_atomic_fetch_##name(address, value, order, scope);                                  \
    }
CPU_DEVICE_BUILTIN_ATOMIC(add, old + value)
CPU_DEVICE_BUILTIN_ATOMIC(sub, old - value)
CPU_DEVICE_BUILTIN_ATOMIC(and, old& value)
CPU_DEVICE_BUILTIN_ATOMIC(or, old | value)
CPU_DEVICE_BUILTIN_ATOMIC(xor, old ^ value)
CPU_DEVICE_BUILTIN_ATOMIC(min, value < old ? value : old)
CPU_DEVICE_BUILTIN_ATOMIC(max, old < value ? value : old)
#undef CPU_DEVICE_BUILTIN_ATOMIC

__device__ inline void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    if (order == __NV_ATOMIC_RELAXED) return;
    cpu_device::fence(cpu_device::kFences |
                      (scope <= __NV_THREAD_SCOPE_BLOCK ? cpu_device::kOfBlock : 0u));
}
