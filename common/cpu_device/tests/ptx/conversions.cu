// SPDX-License-Identifier: MIT
// PTX's cvt, against numbers that plain C++ rounds.
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/cpu_device/tests/ptx/forms.cuh"
#include "common/cpu_device/tests/ptx/numbers.cuh"

namespace ptx_tests {
namespace {

using D = Direction;
using Wide = __int128;

// ---------------------------------------------------------------- plain definitions

template <class T>
T clamped(Wide value) {
    return static_cast<T>(
        std::clamp<Wide>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
double rni(double x) {
    return std::nearbyint(x);
}
double rzi(double x) {
    return std::trunc(x);
}
double rmi(double x) {
    return std::floor(x);
}
double rpi(double x) {
    return std::ceil(x);
}

// An integral number as an integer; NaN is 0, or the top bit where 64 bits take part.
template <class T>
T integer(double x, bool is_long = sizeof(T) == 8) {
    constexpr int kBits = std::numeric_limits<T>::digits + std::numeric_limits<T>::is_signed;
    if (x != x) return is_long ? static_cast<T>(uint64_t(1) << (kBits - 1)) : T(0);
    if (x >= std::ldexp(1., 64)) return std::numeric_limits<T>::max();
    if (x <= -std::ldexp(1., 64)) return std::numeric_limits<T>::min();
    return clamped<T>(static_cast<Wide>(x));
}
Exact exact(double x) {
    return {x, 0};
}
template <class T>
Exact of_integer(T x) {
    const double number = static_cast<double>(x);
    return {number, static_cast<double>(static_cast<Wide>(x) - static_cast<Wide>(number))};
}
double saturated(double x) {
    return x > 1 ? 1 : x > 0 ? x : 0;
}
double without_negative(double x) {
    return x <= 0 ? 0 : x;
}
double flushed(double x) {
    return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0., x) : x;
}
// Infinities become the largest number.
uint32_t finite(Format format, double x) {
    const uint32_t bits = rounded(format, exact(x)), sign = 1u << sign_place(format);
    return x == x && (bits & ~sign) == format.infinity ? bits - 1 : bits;
}
double value(Format format, uint32_t bits) {
    return value_of(format, bits);
}
uint32_t of(Format format, double x, D direction = D::nearest) {
    return rounded(format, exact(x), direction);
}
// A NaN keeps its sign, and of its mantissa the upper bits.
uint32_t of_double(Format format, double x, D direction = D::nearest) {
    if (x == x) return of(format, x, direction);
    const uint64_t bits = bits_of(x);
    const uint32_t sign = static_cast<uint32_t>(bits >> 63) << sign_place(format);
    return sign | format.infinity |
           static_cast<uint32_t>((bits & 0xfffffffffffff) >> (52 - format.mantissa_bits)) |
           1u << (format.mantissa_bits - 1);
}
uint32_t tf32_nan(float x) {
    return static_cast<uint32_t>(bits_of(x)) & ~0x1fffu;
}

// clang-format off
// ---------------------------------------------------------------- to and from integers
// f and g are floats, e is a double, w16, w32 and w64 are words.
#define INTEGER_FORMS(FORM) \
    FORM("cvt.s32.s16", bits_of(static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(w16)))), uint32_t o; asm("cvt.s32.s16 %0, %1;" : "=r"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.u32.u8", bits_of(static_cast<uint32_t>(static_cast<uint32_t>(static_cast<uint8_t>(w16)))), uint32_t o; asm("cvt.u32.u8 %0, %1;" : "=r"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.s32.s8", bits_of(static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(w32)))), uint32_t o; asm("cvt.s32.s8 %0, %1;" : "=r"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.u8.u32", bits_of(static_cast<uint16_t>(static_cast<uint8_t>(static_cast<uint32_t>(w32)))), uint16_t o; asm("cvt.u8.u32 %0, %1;" : "=h"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.s8.s32", bits_of(static_cast<uint32_t>(static_cast<int8_t>(static_cast<int32_t>(w32)))), uint32_t o; asm("cvt.s8.s32 %0, %1;" : "=r"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.u16.s64", bits_of(static_cast<uint16_t>(static_cast<uint16_t>(static_cast<int64_t>(w64)))), uint16_t o; asm("cvt.u16.s64 %0, %1;" : "=h"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.s64.s32", bits_of(static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(w32)))), uint64_t o; asm("cvt.s64.s32 %0, %1;" : "=l"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.u64.u32", bits_of(static_cast<uint64_t>(static_cast<uint64_t>(static_cast<uint32_t>(w32)))), uint64_t o; asm("cvt.u64.u32 %0, %1;" : "=l"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.s64.u8", bits_of(static_cast<uint64_t>(static_cast<int64_t>(static_cast<uint8_t>(w16)))), uint64_t o; asm("cvt.s64.u8 %0, %1;" : "=l"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.u32.s64", bits_of(static_cast<uint32_t>(static_cast<uint32_t>(static_cast<int64_t>(w64)))), uint32_t o; asm("cvt.u32.s64 %0, %1;" : "=r"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.u64.s8", bits_of(static_cast<uint64_t>(static_cast<uint64_t>(static_cast<int8_t>(w64)))), uint64_t o; asm("cvt.u64.s8 %0, %1;" : "=l"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.sat.u8.s32", bits_of(static_cast<uint32_t>(clamped<uint8_t>(static_cast<int32_t>(w32)))), uint32_t o; asm("cvt.sat.u8.s32 %0, %1;" : "=r"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.sat.s8.u32", bits_of(static_cast<uint16_t>(clamped<int8_t>(static_cast<uint32_t>(w32)))), uint16_t o; asm("cvt.sat.s8.u32 %0, %1;" : "=h"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.sat.s16.s64", bits_of(static_cast<uint16_t>(clamped<int16_t>(static_cast<int64_t>(w64)))), uint16_t o; asm("cvt.sat.s16.s64 %0, %1;" : "=h"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.sat.u32.s64", bits_of(static_cast<uint32_t>(clamped<uint32_t>(static_cast<int64_t>(w64)))), uint32_t o; asm("cvt.sat.u32.s64 %0, %1;" : "=r"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.sat.s32.u32", bits_of(static_cast<uint32_t>(clamped<int32_t>(static_cast<uint32_t>(w32)))), uint32_t o; asm("cvt.sat.s32.u32 %0, %1;" : "=r"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.sat.u64.s64", bits_of(static_cast<uint64_t>(clamped<uint64_t>(static_cast<int64_t>(w64)))), uint64_t o; asm("cvt.sat.u64.s64 %0, %1;" : "=l"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.sat.s64.u64", bits_of(static_cast<uint64_t>(clamped<int64_t>(static_cast<uint64_t>(w64)))), uint64_t o; asm("cvt.sat.s64.u64 %0, %1;" : "=l"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.sat.u16.s8", bits_of(static_cast<uint32_t>(clamped<uint16_t>(static_cast<int8_t>(w16)))), uint32_t o; asm("cvt.sat.u16.s8 %0, %1;" : "=r"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rni.s32.f32", bits_of(static_cast<uint32_t>(integer<int32_t>(rni(f)))), uint32_t o; asm("cvt.rni.s32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rni.s32.f64", bits_of(static_cast<uint32_t>(integer<int32_t>(rni(e), true))), uint32_t o; asm("cvt.rni.s32.f64 %0, %1;" : "=r"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rzi.s32.f32", bits_of(static_cast<uint32_t>(integer<int32_t>(rzi(f)))), uint32_t o; asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rzi.s32.f64", bits_of(static_cast<uint32_t>(integer<int32_t>(rzi(e), true))), uint32_t o; asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rmi.s32.f32", bits_of(static_cast<uint32_t>(integer<int32_t>(rmi(f)))), uint32_t o; asm("cvt.rmi.s32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rmi.s32.f64", bits_of(static_cast<uint32_t>(integer<int32_t>(rmi(e), true))), uint32_t o; asm("cvt.rmi.s32.f64 %0, %1;" : "=r"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rpi.s32.f32", bits_of(static_cast<uint32_t>(integer<int32_t>(rpi(f)))), uint32_t o; asm("cvt.rpi.s32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rpi.s32.f64", bits_of(static_cast<uint32_t>(integer<int32_t>(rpi(e), true))), uint32_t o; asm("cvt.rpi.s32.f64 %0, %1;" : "=r"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rzi.u32.f32", bits_of(static_cast<uint32_t>(integer<uint32_t>(rzi(f)))), uint32_t o; asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rzi.s64.f32", bits_of(static_cast<uint64_t>(integer<int64_t>(rzi(f)))), uint64_t o; asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rzi.u64.f32", bits_of(static_cast<uint64_t>(integer<uint64_t>(rzi(f)))), uint64_t o; asm("cvt.rzi.u64.f32 %0, %1;" : "=l"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rzi.u8.f32", bits_of(static_cast<uint16_t>(integer<uint8_t>(rzi(f)))), uint16_t o; asm("cvt.rzi.u8.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rzi.s8.f32", bits_of(static_cast<uint16_t>(integer<int8_t>(rzi(f)))), uint16_t o; asm("cvt.rzi.s8.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rzi.u16.f32", bits_of(static_cast<uint16_t>(integer<uint16_t>(rzi(f)))), uint16_t o; asm("cvt.rzi.u16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rni.u64.f32", bits_of(static_cast<uint64_t>(integer<uint64_t>(rni(f)))), uint64_t o; asm("cvt.rni.u64.f32 %0, %1;" : "=l"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rpi.ftz.s32.f32", bits_of(static_cast<uint32_t>(integer<int32_t>(rpi(flushed(f))))), uint32_t o; asm("cvt.rpi.ftz.s32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rmi.u32.f64", bits_of(static_cast<uint32_t>(integer<uint32_t>(rmi(e), true))), uint32_t o; asm("cvt.rmi.u32.f64 %0, %1;" : "=r"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rmi.s64.f64", bits_of(static_cast<uint64_t>(integer<int64_t>(rmi(e), true))), uint64_t o; asm("cvt.rmi.s64.f64 %0, %1;" : "=l"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rmi.u64.f64", bits_of(static_cast<uint64_t>(integer<uint64_t>(rmi(e), true))), uint64_t o; asm("cvt.rmi.u64.f64 %0, %1;" : "=l"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rni.s32.f16", bits_of(static_cast<uint32_t>(integer<int32_t>(rni(value(kHalf, w16))))), uint32_t o; asm("cvt.rni.s32.f16 %0, %1;" : "=r"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rzi.u16.f16", bits_of(static_cast<uint16_t>(integer<uint16_t>(rzi(value(kHalf, w16))))), uint16_t o; asm("cvt.rzi.u16.f16 %0, %1;" : "=h"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rpi.s64.f16", bits_of(static_cast<uint64_t>(integer<int64_t>(rpi(value(kHalf, w16))))), uint64_t o; asm("cvt.rpi.s64.f16 %0, %1;" : "=l"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rzi.s32.bf16", bits_of(static_cast<uint32_t>(integer<int32_t>(rzi(value(kBfloat, w16))))), uint32_t o; asm("cvt.rzi.s32.bf16 %0, %1;" : "=r"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rmi.s16.bf16", bits_of(static_cast<uint16_t>(integer<int16_t>(rmi(value(kBfloat, w16))))), uint16_t o; asm("cvt.rmi.s16.bf16 %0, %1;" : "=h"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rn.f32.s32", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<int32_t>(w32)), D::nearest)))), float o; asm("cvt.rn.f32.s32 %0, %1;" : "=f"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rz.f32.s32", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<int32_t>(w32)), D::zero)))), float o; asm("cvt.rz.f32.s32 %0, %1;" : "=f"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rm.f32.s32", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<int32_t>(w32)), D::down)))), float o; asm("cvt.rm.f32.s32 %0, %1;" : "=f"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rp.f32.s32", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<int32_t>(w32)), D::up)))), float o; asm("cvt.rp.f32.s32 %0, %1;" : "=f"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rn.f32.u32", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<uint32_t>(w32)), D::nearest)))), float o; asm("cvt.rn.f32.u32 %0, %1;" : "=f"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rn.f32.s64", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<int64_t>(w64)), D::nearest)))), float o; asm("cvt.rn.f32.s64 %0, %1;" : "=f"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.rm.f32.s64", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<int64_t>(w64)), D::down)))), float o; asm("cvt.rm.f32.s64 %0, %1;" : "=f"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.rn.f32.u64", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<uint64_t>(w64)), D::nearest)))), float o; asm("cvt.rn.f32.u64 %0, %1;" : "=f"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.rz.f32.u64", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<uint64_t>(w64)), D::zero)))), float o; asm("cvt.rz.f32.u64 %0, %1;" : "=f"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.rn.f32.u8", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<uint8_t>(w32)), D::nearest)))), float o; asm("cvt.rn.f32.u8 %0, %1;" : "=f"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rn.f32.s16", bits_of(static_cast<float>(float_of(rounded(kSingle, of_integer(static_cast<int16_t>(w16)), D::nearest)))), float o; asm("cvt.rn.f32.s16 %0, %1;" : "=f"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rn.sat.f32.s32", bits_of(static_cast<float>(float_of(of(kSingle, saturated(static_cast<double>(static_cast<int32_t>(w32))))))), float o; asm("cvt.rn.sat.f32.s32 %0, %1;" : "=f"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rn.f16.s32", bits_of(static_cast<uint16_t>(rounded(kHalf, of_integer(static_cast<int32_t>(w32)), D::nearest))), uint16_t o; asm("cvt.rn.f16.s32 %0, %1;" : "=h"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rp.f16.s64", bits_of(static_cast<uint16_t>(rounded(kHalf, of_integer(static_cast<int64_t>(w64)), D::up))), uint16_t o; asm("cvt.rp.f16.s64 %0, %1;" : "=h"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.rn.f16.u64", bits_of(static_cast<uint16_t>(rounded(kHalf, of_integer(static_cast<uint64_t>(w64)), D::nearest))), uint16_t o; asm("cvt.rn.f16.u64 %0, %1;" : "=h"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.rn.bf16.s32", bits_of(static_cast<uint16_t>(rounded(kBfloat, of_integer(static_cast<int32_t>(w32)), D::nearest))), uint16_t o; asm("cvt.rn.bf16.s32 %0, %1;" : "=h"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rz.bf16.s64", bits_of(static_cast<uint16_t>(rounded(kBfloat, of_integer(static_cast<int64_t>(w64)), D::zero))), uint16_t o; asm("cvt.rz.bf16.s64 %0, %1;" : "=h"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.rn.bf16.u16", bits_of(static_cast<uint16_t>(rounded(kBfloat, of_integer(static_cast<uint16_t>(w16)), D::nearest))), uint16_t o; asm("cvt.rn.bf16.u16 %0, %1;" : "=h"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rn.f64.s32", bits_of(static_cast<double>(static_cast<double>(static_cast<int32_t>(w32)))), double o; asm("cvt.rn.f64.s32 %0, %1;" : "=d"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rn.f64.s64", bits_of(static_cast<double>(static_cast<double>(static_cast<int64_t>(w64)))), double o; asm("cvt.rn.f64.s64 %0, %1;" : "=d"(o) : "l"(w64)); d = bits_of(o)) \
    FORM("cvt.rn.f64.u64", bits_of(static_cast<double>(static_cast<double>(static_cast<uint64_t>(w64)))), double o; asm("cvt.rn.f64.u64 %0, %1;" : "=d"(o) : "l"(w64)); d = bits_of(o))

// ---------------------------------------------------------------- floats to floats
#define FLOAT_FORMS(FORM) \
    FORM("cvt.rn.f32.f64", bits_of(static_cast<float>(float_of(of_double(kSingle, e, D::nearest)))), float o; asm("cvt.rn.f32.f64 %0, %1;" : "=f"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rn.f16.f32", bits_of(static_cast<uint16_t>(of(kHalf, f, D::nearest))), uint16_t o; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rn.bf16.f32", bits_of(static_cast<uint16_t>(of(kBfloat, f, D::nearest))), uint16_t o; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rni.f32.f32", bits_of(static_cast<float>(float_of(of(kSingle, rni(f))))), float o; asm("cvt.rni.f32.f32 %0, %1;" : "=f"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rz.f32.f64", bits_of(static_cast<float>(float_of(of_double(kSingle, e, D::zero)))), float o; asm("cvt.rz.f32.f64 %0, %1;" : "=f"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rz.f16.f32", bits_of(static_cast<uint16_t>(of(kHalf, f, D::zero))), uint16_t o; asm("cvt.rz.f16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rz.bf16.f32", bits_of(static_cast<uint16_t>(of(kBfloat, f, D::zero))), uint16_t o; asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rzi.f32.f32", bits_of(static_cast<float>(float_of(of(kSingle, rzi(f))))), float o; asm("cvt.rzi.f32.f32 %0, %1;" : "=f"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rm.f32.f64", bits_of(static_cast<float>(float_of(of_double(kSingle, e, D::down)))), float o; asm("cvt.rm.f32.f64 %0, %1;" : "=f"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rm.f16.f32", bits_of(static_cast<uint16_t>(of(kHalf, f, D::down))), uint16_t o; asm("cvt.rm.f16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rm.bf16.f32", bits_of(static_cast<uint16_t>(of(kBfloat, f, D::down))), uint16_t o; asm("cvt.rm.bf16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rmi.f32.f32", bits_of(static_cast<float>(float_of(of(kSingle, rmi(f))))), float o; asm("cvt.rmi.f32.f32 %0, %1;" : "=f"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rp.f32.f64", bits_of(static_cast<float>(float_of(of_double(kSingle, e, D::up)))), float o; asm("cvt.rp.f32.f64 %0, %1;" : "=f"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rp.f16.f32", bits_of(static_cast<uint16_t>(of(kHalf, f, D::up))), uint16_t o; asm("cvt.rp.f16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rp.bf16.f32", bits_of(static_cast<uint16_t>(of(kBfloat, f, D::up))), uint16_t o; asm("cvt.rp.bf16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rpi.f32.f32", bits_of(static_cast<float>(float_of(of(kSingle, rpi(f))))), float o; asm("cvt.rpi.f32.f32 %0, %1;" : "=f"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rn.f16.f64", bits_of(static_cast<uint16_t>(of_double(kHalf, e))), uint16_t o; asm("cvt.rn.f16.f64 %0, %1;" : "=h"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.rz.bf16.f64", bits_of(static_cast<uint16_t>(of_double(kBfloat, e, D::zero))), uint16_t o; asm("cvt.rz.bf16.f64 %0, %1;" : "=h"(o) : "d"(e)); d = bits_of(o)) \
    FORM("cvt.f64.f32", bits_of(static_cast<double>(static_cast<double>(finite_f))), double o; asm("cvt.f64.f32 %0, %1;" : "=d"(o) : "f"(finite_f)); d = bits_of(o)) \
    FORM("cvt.ftz.f64.f32", bits_of(static_cast<double>(flushed(finite_f))), double o; asm("cvt.ftz.f64.f32 %0, %1;" : "=d"(o) : "f"(finite_f)); d = bits_of(o)) \
    FORM("cvt.f32.f16 of 32 bits", bits_of(static_cast<float>(value(kHalf, finite16))), float o; asm("cvt.f32.f16 %0, %1;" : "=f"(o) : "r"(w32 & 0xffffbfff)); d = bits_of(o)) \
    FORM("cvt.f32.f16", bits_of(static_cast<float>(static_cast<float>(value(kHalf, finite16)))), float o; asm("cvt.f32.f16 %0, %1;" : "=f"(o) : "h"(finite16)); d = bits_of(o)) \
    FORM("cvt.f32.bf16", bits_of(static_cast<float>(static_cast<float>(value(kBfloat, finite16)))), float o; asm("cvt.f32.bf16 %0, %1;" : "=f"(o) : "h"(finite16)); d = bits_of(o)) \
    FORM("cvt.f64.f16", bits_of(static_cast<double>(value(kHalf, finite16))), double o; asm("cvt.f64.f16 %0, %1;" : "=d"(o) : "h"(finite16)); d = bits_of(o)) \
    FORM("cvt.rn.f16.bf16", bits_of(static_cast<uint16_t>(of(kHalf, value(kBfloat, w16)))), uint16_t o; asm("cvt.rn.f16.bf16 %0, %1;" : "=h"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rz.bf16.f16", bits_of(static_cast<uint16_t>(of(kBfloat, value(kHalf, w16), D::zero))), uint16_t o; asm("cvt.rz.bf16.f16 %0, %1;" : "=h"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.f16.f32.relu.rn", bits_of(static_cast<uint16_t>(of(kHalf, without_negative(f)))), uint16_t o; asm("cvt.f16.f32.relu.rn %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rn.relu.f16.f32", bits_of(static_cast<uint16_t>(of(kHalf, without_negative(f)))), uint16_t o; asm("cvt.rn.relu.f16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rz.relu.bf16.f32", bits_of(static_cast<uint16_t>(of(kBfloat, without_negative(f), D::zero))), uint16_t o; asm("cvt.rz.relu.bf16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rn.satfinite.f16.f32", bits_of(static_cast<uint16_t>(finite(kHalf, f))), uint16_t o; asm("cvt.rn.satfinite.f16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rn.sat.f16.f32", bits_of(static_cast<uint16_t>(of(kHalf, saturated(f)))), uint16_t o; asm("cvt.rn.sat.f16.f32 %0, %1;" : "=h"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.sat.f32.f32", bits_of(static_cast<float>(static_cast<float>(saturated(f)))), float o; asm("cvt.sat.f32.f32 %0, %1;" : "=f"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.ftz.f32.f32", bits_of(static_cast<float>(float_of(of(kSingle, flushed(f))))), float o; asm("cvt.ftz.f32.f32 %0, %1;" : "=f"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rzi.f16.f16", bits_of(static_cast<uint16_t>(of(kHalf, rzi(value(kHalf, w16))))), uint16_t o; asm("cvt.rzi.f16.f16 %0, %1;" : "=h"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rni.bf16.bf16", bits_of(static_cast<uint16_t>(of(kBfloat, rni(value(kBfloat, w16))))), uint16_t o; asm("cvt.rni.bf16.bf16 %0, %1;" : "=h"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rpi.f64.f64", bits_of(static_cast<double>(rpi(finite_e))), double o; asm("cvt.rpi.f64.f64 %0, %1;" : "=d"(o) : "d"(finite_e)); d = bits_of(o)) \
    FORM("cvt.rna.tf32.f32", bits_of(static_cast<uint32_t>(f != f ? tf32_nan(f) : of(kTf32, f, D::away) << 13)), uint32_t o; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rn.tf32.f32", bits_of(static_cast<uint32_t>(f != f ? 0x7fffe000 : of(kTf32, f, D::nearest) << 13)), uint32_t o; asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rz.tf32.f32", bits_of(static_cast<uint32_t>(f != f ? 0x7fffe000 : of(kTf32, f, D::zero) << 13)), uint32_t o; asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rn.relu.tf32.f32", bits_of(static_cast<uint32_t>(f != f ? 0x7fffe000 : of(kTf32, without_negative(f)) << 13)), uint32_t o; asm("cvt.rn.relu.tf32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rna.satfinite.tf32.f32", bits_of(static_cast<uint32_t>(f != f ? tf32_nan(f) - 0x2000 : std::min(of(kTf32, std::fabs(f), D::away), 0x3fbffu) << 13 | (std::signbit(f) ? 0x80000000 : 0))), uint32_t o; asm("cvt.rna.satfinite.tf32.f32 %0, %1;" : "=r"(o) : "f"(f)); d = bits_of(o)) \
    FORM("cvt.rn.satfinite.e4m3x2.f16x2", bits_of(static_cast<uint16_t>(finite(kE4m3, value(kHalf, w32 & 0xffff)) | finite(kE4m3, value(kHalf, w32 >> 16)) << 8)), uint16_t o; asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rn.f16x2.e4m3x2", bits_of(static_cast<uint32_t>(of(kHalf, value(kE4m3, w16 & 0xff)) | of(kHalf, value(kE4m3, w16 >> 8)) << 16)), uint32_t o; asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rn.satfinite.e5m2x2.f16x2", bits_of(static_cast<uint16_t>(finite(kE5m2, value(kHalf, w32 & 0xffff)) | finite(kE5m2, value(kHalf, w32 >> 16)) << 8)), uint16_t o; asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(o) : "r"(w32)); d = bits_of(o)) \
    FORM("cvt.rn.f16x2.e5m2x2", bits_of(static_cast<uint32_t>(of(kHalf, value(kE5m2, w16 & 0xff)) | of(kHalf, value(kE5m2, w16 >> 8)) << 16)), uint32_t o; asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rn.relu.f16x2.e4m3x2", bits_of(static_cast<uint32_t>(of(kHalf, without_negative(value(kE4m3, w16 & 0xff))) | of(kHalf, without_negative(value(kE4m3, w16 >> 8))) << 16)), uint32_t o; asm("cvt.rn.relu.f16x2.e4m3x2 %0, %1;" : "=r"(o) : "h"(w16)); d = bits_of(o)) \
    FORM("cvt.rn.f16x2.f32", bits_of(static_cast<uint32_t>(of(kHalf, f) << 16 | of(kHalf, g))), uint32_t o; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(o) : "f"(f), "f"(g)); d = bits_of(o)) \
    FORM("cvt.rz.relu.f16x2.f32", bits_of(static_cast<uint32_t>(of(kHalf, without_negative(f), D::zero) << 16 | of(kHalf, without_negative(g), D::zero))), uint32_t o; asm("cvt.rz.relu.f16x2.f32 %0, %1, %2;" : "=r"(o) : "f"(f), "f"(g)); d = bits_of(o)) \
    FORM("cvt.rn.bf16x2.f32", bits_of(static_cast<uint32_t>(of(kBfloat, f) << 16 | of(kBfloat, g))), uint32_t o; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(o) : "f"(f), "f"(g)); d = bits_of(o)) \
    FORM("cvt.rz.relu.bf16x2.f32", bits_of(static_cast<uint32_t>(of(kBfloat, without_negative(f), D::zero) << 16 | of(kBfloat, without_negative(g), D::zero))), uint32_t o; asm("cvt.rz.relu.bf16x2.f32 %0, %1, %2;" : "=r"(o) : "f"(f), "f"(g)); d = bits_of(o)) \
    FORM("cvt.rn.satfinite.e4m3x2.f32", bits_of(static_cast<uint16_t>(finite(kE4m3, f) << 8 | finite(kE4m3, g))), uint16_t o; asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(o) : "f"(f), "f"(g)); d = bits_of(o)) \
    FORM("cvt.rn.satfinite.e5m2x2.f32", bits_of(static_cast<uint16_t>(finite(kE5m2, f) << 8 | finite(kE5m2, g))), uint16_t o; asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(o) : "f"(f), "f"(g)); d = bits_of(o)) \
    FORM("cvt.rn.satfinite.relu.e4m3x2.f32", bits_of(static_cast<uint16_t>(finite(kE4m3, without_negative(f)) << 8 | finite(kE4m3, without_negative(g)))), uint16_t o; asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;" : "=h"(o) : "f"(f), "f"(g)); d = bits_of(o)) \
    FORM("cvt.pack.sat.s16.s32", bits_of(static_cast<uint32_t>(clamped<int16_t>(int32_t(w32)) * 65536u + (clamped<int16_t>(int32_t(v32)) & 0xffff))), uint32_t o; asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(o) : "r"(w32), "r"(v32)); d = bits_of(o)) \
    FORM("cvt.pack.sat.u16.s32", bits_of(static_cast<uint32_t>(clamped<uint16_t>(int32_t(w32)) * 65536u + (clamped<uint16_t>(int32_t(v32)) & 0xffff))), uint32_t o; asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(o) : "r"(w32), "r"(v32)); d = bits_of(o)) \
    FORM("cvt.pack.sat.s8.s32.b32", bits_of((v32 & 0xffff) << 16 | (clamped<int8_t>(int32_t(w32)) & 0xff) << 8 | (clamped<int8_t>(int32_t(v32)) & 0xff)), uint32_t o; asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %2;" : "=r"(o) : "r"(w32), "r"(v32)); d = bits_of(o)) \
    FORM("cvt.pack.sat.s4.s32.b32", bits_of(v32 << 8 | (std::clamp(int32_t(w32), -8, 7) & 15) << 4 | (std::clamp(int32_t(v32), -8, 7) & 15)), uint32_t o; asm("cvt.pack.sat.s4.s32.b32 %0, %1, %2, %2;" : "=r"(o) : "r"(w32), "r"(v32)); d = bits_of(o)) \
    FORM("cvt.pack.sat.u8.s32.b32", bits_of((v32 & 0xffff) << 16 | (clamped<uint8_t>(int32_t(w32)) & 0xff) << 8 | (clamped<uint8_t>(int32_t(v32)) & 0xff)), uint32_t o; asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %2;" : "=r"(o) : "r"(w32), "r"(v32)); d = bits_of(o))
// clang-format on

// ---------------------------------------------------------------- devices

template <class T = float>
__host__ __device__ T float_of(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof(T));
    return value;
}

#define OPERANDS                                                                     \
    using Result = uint64_t;                                                         \
    [[maybe_unused]] const uint64_t w64 = in.a;                                      \
    [[maybe_unused]] const uint32_t w32 = static_cast<uint32_t>(in.a),               \
                                    v32 = static_cast<uint32_t>(in.b);               \
    [[maybe_unused]] const uint16_t w16 = static_cast<uint16_t>(in.a),               \
                                    finite16 = static_cast<uint16_t>(in.a & 0xbfff); \
    [[maybe_unused]] const float f = float_of(in.a), g = float_of(in.b),             \
                                 finite_f = float_of(in.a & 0xbfffffff);             \
    [[maybe_unused]] const double e = float_of<double>(in.c),                        \
                                  finite_e = float_of<double>(in.c & 0xbfffffffffffffff);
#define KERNEL_BODY(FORMS)                                  \
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= step) return;                                  \
    const Operands in = operands[i];                        \
    OPERANDS                                                \
    results += i;                                           \
    FORMS(PTX_ON_DEVICE)
#define PLAIN_BODY(FORMS)           \
    OPERANDS                        \
    std::vector<Expected> expected; \
    FORMS(PTX_ON_HOST)              \
    return expected;

__global__ void integers_kernel(const Operands* operands, uint64_t* results, size_t step){
    KERNEL_BODY(INTEGER_FORMS)} __global__ void floats_kernel(const Operands* operands,
                                                              uint64_t* results, size_t step){
    KERNEL_BODY(FLOAT_FORMS)} std::vector<Expected> plain_integers(const Operands& in){
    PLAIN_BODY(INTEGER_FORMS)} std::vector<Expected> plain_floats(const Operands& in){
    PLAIN_BODY(FLOAT_FORMS)}

TEST_CASE("PTX's conversions round, clamp and pack as the instruction says") {
    std::vector<uint64_t> special{
        0,          0x80000000,         0x3f800000,         0xbf800000,
        0x7f800000, 0xff800000,         0x7fc00000,         0x00000001,
        0x7f7fffff, 0x4f000000,         0xcf000000,         0x4f7fffff,
        0x5f000000, 0x3f000000,         0x3fc00000,         0xc0200000,
        0x7fff8000, 0x43e00000,         0x477fe000,         0x477ff000,
        0x3f801000, 0x3f808000,         0x33000000,         0x38800000,
        0x7fffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff};
    std::vector<Operands> operands = operands_with(special, 2600);
    for (size_t i = 1000; i < operands.size(); ++i) {
        // Numbers that integers and the narrow formats hold, as floats and as doubles.
        operands[i].a = (operands[i].a & 0xffffffff807fffff) |
                        (0x37800000 + (operands[i].b >> 40) % 0x1d * 0x800000);
        operands[i].c = (operands[i].c & 0x800fffffffffffff) |
                        (0x3f00000000000000 + (operands[i].b >> 48) % 0x52 * 0x10000000000000);
    }
    for (size_t i = 0; i < 1000; i += 3) operands[i].c = special[i % special.size()] << 32;
    for (size_t i = 1; i < 1000; i += 3)
        operands[i].c = bits_of(static_cast<double>(float_of(operands[i].a)));
    check_forms(integers_kernel, plain_integers, operands);
    check_forms(floats_kernel, plain_floats, operands);
}

}  // namespace
}  // namespace ptx_tests
