// SPDX-License-Identifier: MIT
// What the lanes of a warp do together: shuffles, votes, matches, reductions.
#pragma once
#include "cpu_device/core.h"
#include "cpu_device/qualifiers.h"
#include "cpu_device/traits.h"

constexpr int warpSize = 32;

namespace cpu_device {

// What device code has for warpSize: 32, but no constant to the compiler, as for nvcc.
__device__ inline int warp_size() {
    return warpSize;
}

template <class T>
__device__ inline uint64_t to_bits(T value) {
    static_assert(std::is_arithmetic_v<T> || is_small_float<T>,
                  "warp functions take numbers of 1 to 8 bytes; a struct goes member by member");
    static_assert(sizeof(T) <= 8, "warp functions take numbers of 1 to 8 bytes");
    return bit_cast<Word<sizeof(T)>>(value);
}

template <class T>
__device__ inline T from_bits(uint64_t bits) {
    return bit_cast<T>(static_cast<Word<sizeof(T)>>(bits));
}

template <class T>
__device__ inline T shuffle(unsigned mask, T value, Shuffle mode, int operand, int width) {
    return from_bits<T>(warp_shuffle(mask, to_bits(value), mode, operand, width));
}

// Any trivially copyable value, word by word, of a lane of the mask.
template <class T>
__device__ inline T value_from_lane(unsigned mask, T value, int lane) {
    static_assert(std::is_trivially_copyable_v<T>,
                  "lanes exchange values that are copied bit by bit");
    uint64_t words[(sizeof(T) + 7) / 8] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (uint64_t& word : words) word = warp_shuffle(mask, word, Shuffle::index, lane, warpSize);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
}

// The values that lanes exchange lie in memory of the runtime, not of the kernel: what reads them
// is a real function, hidden from the memory hooks.
inline __attribute__((noinline, no_sanitize("thread"))) uint64_t lane_value(const uint64_t* values,
                                                                            int lane) {
    return values[lane];
}

template <class T, class Operation>
__device__ inline T reduce_lanes(unsigned mask, T value, Operation operation) {
    const uint64_t* values = warp_exchange(mask, to_bits(value), Collective::reduce);
    T result = from_bits<T>(lane_value(values, __builtin_ctz(mask)));
    for (unsigned left = mask & (mask - 1); left != 0; left &= left - 1) {
        result = operation(result, from_bits<T>(lane_value(values, __builtin_ctz(left))));
    }
    return result;
}

}  // namespace cpu_device

template <class T>
__device__ inline T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize) {
    return cpu_device::shuffle(mask, value, cpu_device::Shuffle::index, lane, width);
}

template <class T>
__device__ inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    return cpu_device::shuffle(mask, value, cpu_device::Shuffle::up, static_cast<int>(delta),
                               width);
}

template <class T>
__device__ inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    return cpu_device::shuffle(mask, value, cpu_device::Shuffle::down, static_cast<int>(delta),
                               width);
}

template <class T>
__device__ inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
    return cpu_device::shuffle(mask, value, cpu_device::Shuffle::exclusive_or, lane_mask, width);
}

__device__ inline unsigned __activemask() {
    return cpu_device::active_mask();
}

__device__ inline unsigned __ballot_sync(unsigned mask, int predicate) {
    const cpu_device::uint64_t* votes =
        cpu_device::warp_exchange(mask, predicate != 0, cpu_device::Collective::vote);
    return cpu_device::lanes_equal(votes, mask, 1);
}

__device__ inline int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}

// "Nobody says no" rather than "everybody says yes": lanes of the mask that have exited do not
// vote.
__device__ inline int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate == 0) == 0;
}

__device__ inline int __uni_sync(unsigned mask, int predicate) {
    const unsigned ballot = __ballot_sync(mask, predicate);
    return ballot == 0 || ballot == mask;
}

template <class T>
__device__ inline unsigned __match_any_sync(unsigned mask, T value) {
    static_assert(sizeof(T) >= 4, "__match_any_sync takes numbers of 4 or 8 bytes");
    const cpu_device::uint64_t bits = cpu_device::to_bits(value);
    return cpu_device::lanes_equal(
        cpu_device::warp_exchange(mask, bits, cpu_device::Collective::match), mask, bits);
}

template <class T>
__device__ inline unsigned __match_all_sync(unsigned mask, T value, int* all_equal) {
    const bool equal = __match_any_sync(mask, value) == mask;
    *all_equal = equal;
    return equal ? mask : 0;
}

__device__ inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
    return cpu_device::reduce_lanes(mask, value, [](unsigned a, unsigned b) { return a + b; });
}

// Signed sums wrap, as the unsigned ones do.
__device__ inline int __reduce_add_sync(unsigned mask, int value) {
    return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value)));
}

__device__ inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
    return cpu_device::reduce_lanes(mask, value,
                                    [](unsigned a, unsigned b) { return b < a ? b : a; });
}

__device__ inline int __reduce_min_sync(unsigned mask, int value) {
    return cpu_device::reduce_lanes(mask, value, [](int a, int b) { return b < a ? b : a; });
}

__device__ inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
    return cpu_device::reduce_lanes(mask, value,
                                    [](unsigned a, unsigned b) { return a < b ? b : a; });
}

__device__ inline int __reduce_max_sync(unsigned mask, int value) {
    return cpu_device::reduce_lanes(mask, value, [](int a, int b) { return a < b ? b : a; });
}

__device__ inline unsigned __reduce_and_sync(unsigned mask, unsigned value) {
    return cpu_device::reduce_lanes(mask, value, [](unsigned a, unsigned b) { return a & b; });
}

__device__ inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
    return cpu_device::reduce_lanes(mask, value, [](unsigned a, unsigned b) { return a | b; });
}

__device__ inline unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
    return cpu_device::reduce_lanes(mask, value, [](unsigned a, unsigned b) { return a ^ b; });
}
