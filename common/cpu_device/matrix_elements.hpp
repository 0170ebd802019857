// SPDX-License-Identifier: MIT
//
// The elements of matrices as they lie in registers of 32 bits.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "cpu_device/fp8.h"
#include "cpu_device/matrix_instructions.h"

namespace cpu_device {

inline unsigned bits_of(Element element) {
    switch (element) {
        case Element::f64:
            return 64;
        case Element::tf32:
            return 32;
        case Element::f16:
        case Element::bf16:
            return 16;
        case Element::s4:
        case Element::u4:
            return 4;
        case Element::b1:
            return 1;
        default:
            return 8;
    }
}

inline double value_of_tf32(uint32_t bits) {
    constexpr uint32_t kUsed = 0xffffe000u;  // a GPU does not look at the others
    bits &= kUsed;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline const std::array<float, 1u << 16>& values_of_f16() {
    static const auto values = [] {
        std::array<float, 1u << 16> all{};
        for (uint32_t i = 0; i < all.size(); ++i)
            all[i] = static_cast<float>(decode<Binary16>(static_cast<uint16_t>(i)));
        return all;
    }();
    return values;
}

template <class Format>
const std::array<float, 1u << 8>& values_of_fp8() {
    static const auto values = [] {
        std::array<float, 1u << 8> all{};
        for (uint32_t i = 0; i < all.size(); ++i)
            all[i] = decode_fp8<Format>(static_cast<uint8_t>(i));
        return all;
    }();
    return values;
}

// Appends the elements of a register to a row.
template <class Sum>
[[gnu::always_inline]] inline Sum* append(Sum* to, Element element, const uint32_t* words) {
    const uint32_t word = words[0];
    switch (element) {
        case Element::f64: {
            double value;
            std::memcpy(&value, words, sizeof value);
            *to++ = static_cast<Sum>(value);
            break;
        }
        case Element::tf32:
            *to++ = static_cast<Sum>(value_of_tf32(word));
            break;
        case Element::f16:
            for (int i = 0; i < 2; ++i)
                *to++ = static_cast<Sum>(values_of_f16()[word >> 16 * i & 0xffffu]);
            break;
        case Element::bf16:
            for (int i = 0; i < 2; ++i)
                *to++ =
                    static_cast<Sum>(decode<BrainFloat16>(static_cast<uint16_t>(word >> 16 * i)));
            break;
        case Element::e4m3:
            for (int i = 0; i < 4; ++i)
                *to++ = static_cast<Sum>(values_of_fp8<E4m3>()[word >> 8 * i & 0xffu]);
            break;
        case Element::e5m2:
            for (int i = 0; i < 4; ++i)
                *to++ = static_cast<Sum>(values_of_fp8<E5m2>()[word >> 8 * i & 0xffu]);
            break;
        case Element::s8:
            for (int i = 0; i < 4; ++i) {
                const int byte = static_cast<int>(word >> 8 * i & 0xffu);
                *to++ = static_cast<Sum>(byte >= 128 ? byte - 256 : byte);
            }
            break;
        case Element::u8:
            for (int i = 0; i < 4; ++i) *to++ = static_cast<Sum>(word >> 8 * i & 0xffu);
            break;
        case Element::s4:
            for (int i = 0; i < 8; ++i) {
                const int nibble = static_cast<int>(word >> 4 * i & 15u);
                *to++ = static_cast<Sum>(nibble >= 8 ? nibble - 16 : nibble);
            }
            break;
        case Element::u4:
            for (int i = 0; i < 8; ++i) *to++ = static_cast<Sum>(word >> 4 * i & 15u);
            break;
        case Element::b1:
            for (int i = 0; i < 32; ++i) *to++ = static_cast<Sum>(word >> i & 1u);
            break;
    }
    return to;
}

}  // namespace cpu_device
