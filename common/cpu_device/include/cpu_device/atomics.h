// SPDX-License-Identifier: MIT
// Atomic functions, for the types for which CUDA has them. Each tells the runtime once that it is
// about to happen; the memory hooks do not count it as a load or a store.
#pragma once
#include "cpu_device/core.h"
#include "cpu_device/qualifiers.h"
#include "cpu_device/traits.h"

namespace cpu_device {

// Replaces *address by update(*address) and returns what was there before.
template <class T, class Update>
__device__ inline T atomic_update(T* address, Update update, unsigned ordering = kUnfencedAtomic) {
    using Bits = Word<sizeof(T)>;
    note_atomic(address, sizeof(T), ordering);
    Bits* bits = reinterpret_cast<Bits*>(address);
    Bits before = __atomic_load_n(bits, __ATOMIC_RELAXED);
    for (;;) {
        const T old = bit_cast<T>(before);
        const Bits after = bit_cast<Bits>(static_cast<T>(update(old)));
        if (__atomic_compare_exchange_n(bits, &before, after, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            return old;
        }
    }
}

// Counted as an atomic.
template <class T>
__device__ inline T atomic_load(T* address, unsigned ordering) {
    return atomic_update(
        address, [](T old) { return old; }, ordering & ~(kTells | kReleases));
}

// A store, as it is in PTX, that asks not what was there.
template <class T>
__device__ inline void atomic_store(T* address, T value, unsigned ordering) {
    using Bits = Word<sizeof(T)>;
    note_atomic_store(address, sizeof(T), ordering & ~(kObserves | kAcquires));
    __atomic_store_n(reinterpret_cast<Bits*>(address), bit_cast<Bits>(value), __ATOMIC_RELAXED);
}

// What Ordering has of an access whose memory order is numbered as C++ numbers them: relaxed, consume, acquire, release,
// both, sequentially consistent.
constexpr unsigned ordering_of(int order, bool of_block) {
    constexpr int kRelaxed = 0, kRelease = 3;
    const bool acquires = order != kRelaxed && order != kRelease, releases = order >= kRelease;
    return kObserves | kTells | (acquires ? kAcquires : 0u) | (releases ? kReleases : 0u) |
           (of_block ? kOfBlock : 0u);
}

// The translation's: see check_reads_by_exchange().
template <class T>
__device__ inline T volatile_read(const T& value) {
    return *static_cast<const volatile T*>(&value);
}

template <class T>
constexpr bool is_atomic_integer = is_one_of<T, int, unsigned, unsigned long long>;

}  // namespace cpu_device

template <class T>
__device__ inline T atomicAdd(T* address, cpu_device::not_deduced<T> value) {
    static_assert(cpu_device::is_atomic_integer<T> || cpu_device::is_small_float<T> ||
                      cpu_device::is_one_of<T, float, double>,
                  "atomicAdd takes int, unsigned, unsigned long long, float, double, half, bf16 "
                  "and pairs of the last two");
    return cpu_device::atomic_update(address, [value](T old) { return old + value; });
}

// A sum of signed integers wraps.
__device__ inline int atomicAdd(int* address, int value) {
    return static_cast<int>(
        atomicAdd(reinterpret_cast<unsigned*>(address), static_cast<unsigned>(value)));
}

template <class T>
__device__ inline T atomicSub(T* address, cpu_device::not_deduced<T> value) {
    static_assert(cpu_device::is_one_of<T, int, unsigned>, "atomicSub takes int and unsigned");
    return static_cast<T>(
        atomicAdd(reinterpret_cast<unsigned*>(address), 0u - static_cast<unsigned>(value)));
}

template <class T>
__device__ inline T atomicExch(T* address, cpu_device::not_deduced<T> value) {
    static_assert(cpu_device::is_atomic_integer<T> || std::is_same_v<T, float>,
                  "atomicExch takes int, unsigned, unsigned long long and float");
    return cpu_device::atomic_update(address, [value](T) { return value; });
}

template <class T>
__device__ inline T atomicMin(T* address, cpu_device::not_deduced<T> value) {
    static_assert(cpu_device::is_atomic_integer<T> || std::is_same_v<T, long long>,
                  "atomicMin takes int, unsigned, long long and unsigned long long");
    return cpu_device::atomic_update(address, [value](T old) { return value < old ? value : old; });
}

template <class T>
__device__ inline T atomicMax(T* address, cpu_device::not_deduced<T> value) {
    static_assert(cpu_device::is_atomic_integer<T> || std::is_same_v<T, long long>,
                  "atomicMax takes int, unsigned, long long and unsigned long long");
    return cpu_device::atomic_update(address, [value](T old) { return old < value ? value : old; });
}

// Counts up to limit, then begins at 0 again.
__device__ inline unsigned atomicInc(unsigned* address, unsigned limit) {
    return cpu_device::atomic_update(address,
                                     [limit](unsigned old) { return old >= limit ? 0 : old + 1; });
}

// Counts down to 0, then begins at limit again.
__device__ inline unsigned atomicDec(unsigned* address, unsigned limit) {
    return cpu_device::atomic_update(
        address, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

template <class T>
__device__ inline T atomicCAS(T* address, cpu_device::not_deduced<T> expected,
                              cpu_device::not_deduced<T> value) {
    static_assert(cpu_device::is_atomic_integer<T> || std::is_same_v<T, unsigned short>,
                  "atomicCAS takes int, unsigned, unsigned long long and unsigned short");
    return cpu_device::atomic_update(
        address, [expected, value](T old) { return old == expected ? value : old; });
}

template <class T>
__device__ inline T atomicAnd(T* address, cpu_device::not_deduced<T> value) {
    static_assert(cpu_device::is_atomic_integer<T>,
                  "atomicAnd takes int, unsigned and unsigned long long");
    return cpu_device::atomic_update(address, [value](T old) { return old & value; });
}

template <class T>
__device__ inline T atomicOr(T* address, cpu_device::not_deduced<T> value) {
    static_assert(cpu_device::is_atomic_integer<T>,
                  "atomicOr takes int, unsigned and unsigned long long");
    return cpu_device::atomic_update(address, [value](T old) { return old | value; });
}

template <class T>
__device__ inline T atomicXor(T* address, cpu_device::not_deduced<T> value) {
    static_assert(cpu_device::is_atomic_integer<T>,
                  "atomicXor takes int, unsigned and unsigned long long");
    return cpu_device::atomic_update(address, [value](T old) { return old ^ value; });
}

// The scope, block or system, says who must see the update as one step. Here everybody does. A
// macro, because it makes two names of each function's name.
#define CPU_DEVICE_ATOMIC_SCOPES(name)                                \
    template <class T, class... Values>                               \
    __device__ inline T name##_block(T* address, Values... values) {  \
        return name(address, values...);                              \
    }                                                                 \
    template <class T, class... Values>                               \
    __device__ inline T name##_system(T* address, Values... values) { \
        return name(address, values...);                              \
    }
CPU_DEVICE_ATOMIC_SCOPES(atomicAdd)
CPU_DEVICE_ATOMIC_SCOPES(atomicSub)
CPU_DEVICE_ATOMIC_SCOPES(atomicExch)
CPU_DEVICE_ATOMIC_SCOPES(atomicMin)
CPU_DEVICE_ATOMIC_SCOPES(atomicMax)
CPU_DEVICE_ATOMIC_SCOPES(atomicInc)
CPU_DEVICE_ATOMIC_SCOPES(atomicDec)
CPU_DEVICE_ATOMIC_SCOPES(atomicCAS)
CPU_DEVICE_ATOMIC_SCOPES(atomicAnd)
CPU_DEVICE_ATOMIC_SCOPES(atomicOr)
CPU_DEVICE_ATOMIC_SCOPES(atomicXor)
#undef CPU_DEVICE_ATOMIC_SCOPES
