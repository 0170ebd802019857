// SPDX-License-Identifier: MIT
// Floats of 8 bits, against a search among all of them. On a GPU the same holds for the toolkit's.
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/testing/catch.hpp"

namespace fp8_tests {
namespace {

template <class Fp8>
float value_of(unsigned bits) {
    Fp8 number;
    number.__x = static_cast<__nv_fp8_storage_t>(bits);
    return static_cast<float>(number);
}

// The nearest finite number, of two the one whose last bit is 0.
template <class Fp8>
unsigned nearest(float x) {
    unsigned best = 0;
    for (unsigned bits = 0; bits < 128; ++bits) {
        const float at = value_of<Fp8>(bits), distance = std::abs(std::abs(x) - at);
        if (!std::isfinite(at)) continue;
        const float least = std::abs(std::abs(x) - value_of<Fp8>(best));
        if (distance < least || (distance == least && bits % 2 == 0)) best = bits;
    }
    return best | (std::signbit(x) ? 128u : 0u);
}

template <class Fp8>
void check(float largest, float least, unsigned not_saturated, __nv_fp8_interpretation_t kind) {
    CHECK(value_of<Fp8>(0x7e - (kind == __NV_E5M2 ? 3 : 0)) == largest);
    CHECK(value_of<Fp8>(1) == least);
    CHECK(std::isnan(value_of<Fp8>(0xff)));
    CHECK(Fp8(INFINITY).__x == nearest<Fp8>(largest));
    CHECK(__nv_cvt_float_to_fp8(-4 * largest, __NV_NOSAT, kind) == (not_saturated | 128u));
    CHECK(Fp8(NAN).__x == 0x7f);
    for (unsigned i = 0; i < 2000; ++i) {
        const float x =
            std::ldexp(static_cast<float>(i * 37 % 1024) - 512.f, static_cast<int>(i / 100) - 18);
        CAPTURE(x);
        CHECK(Fp8(x).__x == nearest<Fp8>(std::min(std::max(x, -largest), largest)));
    }
}

__global__ void convert(const float4* from, float4* to, unsigned* bits) {
    const __nv_fp8x4_e4m3 four(from[threadIdx.x]);
    const __nv_fp8x2_e5m2 two(make_float2(from[threadIdx.x].x, from[threadIdx.x].y));
    const float2 pair = __half22float2(static_cast<__half2>(two));
    to[threadIdx.x] = static_cast<float4>(four);
    to[threadIdx.x].w = pair.x + pair.y;
    bits[threadIdx.x] = four.__x;
}

}  // namespace
}  // namespace fp8_tests

TEST_CASE("floats of 8 bits round to the nearest, saturate, and are the same in kernels") {
    using namespace fp8_tests;
    check<__nv_fp8_e4m3>(448.f, 0x1p-9f, 0x7f, __NV_E4M3);
    check<__nv_fp8_e5m2>(57344.f, 0x1p-16f, 0x7c, __NV_E5M2);
    CHECK(static_cast<int>(__nv_fp8_e4m3(-3)) == -3);
    CHECK(static_cast<bool>(__nv_fp8_e5m2(0.f)) == false);
    const float4 numbers = make_float4(1.0625f, -500.f, 0.001f, 3.f);
    float4 *from = nullptr, *to = nullptr, got;
    unsigned *bits = nullptr, four = 0;
    REQUIRE(cudaMalloc(&from, sizeof(float4)) == cudaSuccess);
    REQUIRE(cudaMalloc(&to, sizeof(float4)) == cudaSuccess);
    REQUIRE(cudaMalloc(&bits, sizeof(unsigned)) == cudaSuccess);
    cudaMemcpy(from, &numbers, sizeof(float4), cudaMemcpyHostToDevice);
    convert<<<1, 1>>>(from, to, bits);
    cudaMemcpy(&got, to, sizeof(float4), cudaMemcpyDeviceToHost);
    REQUIRE(cudaMemcpy(&four, bits, sizeof(four), cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK((got.x == 1.f && got.y == -448.f && got.z == 0x1p-9f));
    CHECK(got.w == 1.f - 512.f);
    CHECK(four == 0x4401fe38u);
    cudaFree(from);
    cudaFree(to);
    cudaFree(bits);
}
