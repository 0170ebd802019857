// SPDX-License-Identifier: MIT
// The bits of a key in the order that radix sorts have: as unsigned integers they compare as the keys do.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cpu_device/memory_access.h"
#include "cuda_runtime.h"

namespace cub::detail {

template <size_t bytes>
using KeyBits = std::conditional_t<
    bytes == 1, uint8_t,
    std::conditional_t<
        bytes == 2, uint16_t,
        std::conditional_t<bytes == 4, uint32_t,
                           std::conditional_t<bytes == 8, uint64_t, unsigned __int128>>>>;

// Zeros of both signs are one key, as in CUB.
template <class Key>
__host__ __device__ inline KeyBits<sizeof(Key)> ordered_bits(const Key& key) {
    using Bits = KeyBits<sizeof(Key)>;
    constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Key) - 1));
    Bits bits;
    __builtin_memcpy(&bits, &key, sizeof bits);
    if constexpr (std::is_integral_v<Key> || std::is_enum_v<Key> || sizeof(Key) == 16) {
        return Key(-1) < Key(0) ? static_cast<Bits>(bits ^ sign) : bits;
    } else {
        if (bits == sign) bits = 0;
        return static_cast<Bits>((bits & sign) != 0 ? ~bits : bits | sign);
    }
}

template <class Key>
__host__ __device__ inline Key key_of_ordered_bits(KeyBits<sizeof(Key)> bits) {
    using Bits = KeyBits<sizeof(Key)>;
    constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Key) - 1));
    if constexpr (std::is_integral_v<Key> || sizeof(Key) == 16) {
        if (Key(-1) < Key(0)) bits = static_cast<Bits>(bits ^ sign);
    } else {
        bits = static_cast<Bits>((bits & sign) != 0 ? bits ^ sign : ~bits);
    }
    Key key;
    __builtin_memcpy(&key, &bits, sizeof key);
    return key;
}

// Bits `begin` to `end` - 1.
template <class Key>
__host__ __device__ inline KeyBits<sizeof(Key)> bits_of_key(const Key& key, int begin, int end) {
    using Bits = KeyBits<sizeof(Key)>;
    const Bits bits = static_cast<Bits>(ordered_bits(key) >> begin);
    const int width = end - begin;
    return width >= static_cast<int>(8 * sizeof(Key))
               ? bits
               : static_cast<Bits>(bits & ((Bits{1} << width) - 1));
}

}  // namespace cub::detail
