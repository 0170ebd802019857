// SPDX-License-Identifier: MIT
// Floats of 8 bits, alone and by two and four, under the names of the toolkit's cuda_fp8.h. (But for e8m0, which only
// scales.)
#pragma once
#define __CUDA_FP8_H__
#include "cpu_device/fp8.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;

typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

// ---------------------------------------------------------------- conversions

__host__ __device__ inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(
    double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
    const bool saturates = saturate == __NV_SATFINITE;
    return interpretation == __NV_E4M3 ? cpu_device::encode_fp8<cpu_device::E4m3>(x, saturates)
                                       : cpu_device::encode_fp8<cpu_device::E5m2>(x, saturates);
}
__host__ __device__ inline __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(
    double2 x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
    return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_fp8(x.x, saturate, interpretation) |
                                             __nv_cvt_double_to_fp8(x.y, saturate, interpretation)
                                                 << 8);
}
__host__ __device__ inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(
    float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
    return __nv_cvt_double_to_fp8(x, saturate, interpretation);
}
__host__ __device__ inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(
    float2 x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
    return __nv_cvt_double2_to_fp8x2(make_double2(x.x, x.y), saturate, interpretation);
}
__host__ __device__ inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(
    __half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
    return __nv_cvt_float_to_fp8(static_cast<float>(__half(x)), saturate, interpretation);
}
__host__ __device__ inline __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(
    __half2_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
    return static_cast<__nv_fp8x2_storage_t>(
        __nv_cvt_halfraw_to_fp8(__half_raw{x.x}, saturate, interpretation) |
        __nv_cvt_halfraw_to_fp8(__half_raw{x.y}, saturate, interpretation) << 8);
}
__host__ __device__ inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(
    __nv_bfloat16_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
    return __nv_cvt_float_to_fp8(static_cast<float>(__nv_bfloat16(x)), saturate, interpretation);
}
__host__ __device__ inline __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(
    __nv_bfloat162_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
    return static_cast<__nv_fp8x2_storage_t>(
        __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.x}, saturate, interpretation) |
        __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.y}, saturate, interpretation) << 8);
}
__host__ __device__ inline __half_raw __nv_cvt_fp8_to_halfraw(
    __nv_fp8_storage_t x, __nv_fp8_interpretation_t interpretation) {
    const float value = interpretation == __NV_E4M3 ? cpu_device::decode_fp8<cpu_device::E4m3>(x)
                                                    : cpu_device::decode_fp8<cpu_device::E5m2>(x);
    return static_cast<__half>(value);
}
__host__ __device__ inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(
    __nv_fp8x2_storage_t x, __nv_fp8_interpretation_t interpretation) {
    return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x), interpretation).x,
            __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), interpretation).x};
}

// ---------------------------------------------------------------- classes

namespace cpu_device {

template <class Format>
struct Fp8 {
    static constexpr auto kKind = std::is_same_v<Format, E4m3> ? __NV_E4M3 : __NV_E5M2;
    __nv_fp8_storage_t __x;

    Fp8() = default;
    // Numbers; integers too large saturate as floats do.
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> || is_small_float<T>>>
    __host__ __device__ explicit Fp8(T value)
        : __x(encode_fp8<Format>(
              static_cast<double>(
                  static_cast<std::conditional_t<is_small_float<T>, float, T>>(value)),
              true)) {}

    __host__ __device__ explicit operator float() const { return decode_fp8<Format>(__x); }
    __host__ __device__ explicit operator double() const { return decode_fp8<Format>(__x); }
    __host__ __device__ explicit operator __half() const { return __half(decode_fp8<Format>(__x)); }
    __host__ __device__ explicit operator __nv_bfloat16() const {
        return __nv_bfloat16(decode_fp8<Format>(__x));
    }
    __host__ __device__ explicit operator bool() const { return (__x & 0x7f) != 0; }
    template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
    __host__ __device__ explicit operator T() const {
        return static_cast<T>(__half(decode_fp8<Format>(__x)));
    }
};

template <class Format>
struct alignas(2) Fp8Pair {
    static constexpr auto kKind = Fp8<Format>::kKind;
    __nv_fp8x2_storage_t __x;

    Fp8Pair() = default;
    __host__ __device__ explicit Fp8Pair(float2 value)
        : __x(__nv_cvt_float2_to_fp8x2(value, __NV_SATFINITE, kKind)) {}
    __host__ __device__ explicit Fp8Pair(double2 value)
        : __x(__nv_cvt_double2_to_fp8x2(value, __NV_SATFINITE, kKind)) {}
    __host__ __device__ explicit Fp8Pair(__half2 value)
        : __x(__nv_cvt_halfraw2_to_fp8x2(value, __NV_SATFINITE, kKind)) {}
    __host__ __device__ explicit Fp8Pair(__nv_bfloat162 value)
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(value, __NV_SATFINITE, kKind)) {}

    __host__ __device__ explicit operator __half2() const {
        return __nv_cvt_fp8x2_to_halfraw2(__x, kKind);
    }
    __host__ __device__ explicit operator float2() const {
        return make_float2(decode_fp8<Format>(static_cast<uint8_t>(__x)),
                           decode_fp8<Format>(static_cast<uint8_t>(__x >> 8)));
    }
};

template <class Format>
struct alignas(4) Fp8Four {
    using Pair = Fp8Pair<Format>;
    __nv_fp8x4_storage_t __x;

    Fp8Four() = default;
    __host__ __device__ explicit Fp8Four(float4 value)
        : Fp8Four(Pair(make_float2(value.x, value.y)), Pair(make_float2(value.z, value.w))) {}
    __host__ __device__ explicit Fp8Four(__half2 low, __half2 high)
        : Fp8Four(Pair(low), Pair(high)) {}
    __host__ __device__ explicit Fp8Four(__nv_bfloat162 low, __nv_bfloat162 high)
        : Fp8Four(Pair(low), Pair(high)) {}

    __host__ __device__ explicit operator float4() const {
        const auto at = [this](int i) {
            return decode_fp8<Format>(static_cast<uint8_t>(__x >> 8 * i));
        };
        return make_float4(at(0), at(1), at(2), at(3));
    }

private:
    __host__ __device__ Fp8Four(Pair low, Pair high)
        : __x(low.__x | static_cast<__nv_fp8x4_storage_t>(high.__x) << 16) {}
};

}  // namespace cpu_device

using __nv_fp8_e4m3 = cpu_device::Fp8<cpu_device::E4m3>;
using __nv_fp8_e5m2 = cpu_device::Fp8<cpu_device::E5m2>;
using __nv_fp8x2_e4m3 = cpu_device::Fp8Pair<cpu_device::E4m3>;
using __nv_fp8x2_e5m2 = cpu_device::Fp8Pair<cpu_device::E5m2>;
using __nv_fp8x4_e4m3 = cpu_device::Fp8Four<cpu_device::E4m3>;
using __nv_fp8x4_e5m2 = cpu_device::Fp8Four<cpu_device::E5m2>;
