// SPDX-License-Identifier: MIT
// The host-callable functions of cuda_fp16.h and cuda_bf16.h, each as a function from bits to bits.
// This is compiled twice, against the stand-in headers and against a toolkit's, and the results are
// compared; HALF_FUNCTIONS names the namespace that the two copies lie in.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "common/cpu_device/tests/half_function_list.hpp"

namespace HALF_FUNCTIONS {

using namespace half_test;

template <class To, class From>
To bits_to(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "bits can only be kept between types of one size");
    To to;
    // The packed types copy as plain bytes do, though their constructors keep them from saying so.
    std::memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof to);
    return to;
}

inline uint64_t as_bits(__half x) {
    return bits_to<uint16_t>(x);
}
inline uint64_t as_bits(__nv_bfloat16 x) {
    return bits_to<uint16_t>(x);
}
inline uint64_t as_bits(const __half2& x) {
    return bits_to<uint32_t>(x);
}
inline uint64_t as_bits(const __nv_bfloat162& x) {
    return bits_to<uint32_t>(x);
}
inline uint64_t as_bits(float x) {
    return bits_to<uint32_t>(x);
}
inline uint64_t as_bits(float2 x) {
    return bits_to<uint64_t>(x);
}
inline uint64_t as_bits(double x) {
    return bits_to<uint64_t>(x);
}
template <class Integer>
uint64_t as_bits(Integer x) {
    return static_cast<uint64_t>(x);
}

#define UNARY(function)                                                           \
    {                                                                             \
#function, [](uint16_t x) { return as_bits(function(bits_to<Type>(x))); } \
    }
#define BINARY(function)                                                                     \
    {                                                                                        \
#function,                                                                           \
            [](uint16_t x,                                                                   \
               uint16_t y) { return as_bits(function(bits_to<Type>(x), bits_to<Type>(y))); } \
    }
#define PAIRS(function)                                                              \
    {                                                                                \
#function, [](uint16_t x, uint16_t y) {                                            \
         const Type a = bits_to<Type>(x), b = bits_to<Type>(y);                         \
         return as_bits(function(Pair(a, b), Pair(b, a)));                              \
     } \
    }
#define PAIR(function)                                                                             \
    {                                                                                              \
#function,                                                                                 \
            [](uint16_t x,                                                                         \
               uint16_t y) { return as_bits(function(Pair(bits_to<Type>(x), bits_to<Type>(y)))); } \
    }
#define FROM_FLOAT(function)                                    \
    {                                                           \
#function, [](float x) { return as_bits(function(x)); } \
    }
#define FROM_INTEGER(function, Integer)                                                   \
    {                                                                                     \
#function, [](long long x) { return as_bits(function(static_cast<Integer>(x))); } \
    }
#define OPERATOR(name, operation)                                        \
    {                                                                    \
        name, [](uint16_t x, uint16_t y) {                               \
            return as_bits(bits_to<Type>(x) operation bits_to<Type>(y)); \
        }                                                                \
    }

// Those whose names are the same for both types.
template <class Type, class Pair>
void add_common(Functions& all) {
    const std::vector<Unary> unary{
        UNARY(__hneg), UNARY(__habs), UNARY(__hisnan), UNARY(__hisinf), UNARY(float),
        UNARY(short),  UNARY(int),    UNARY(unsigned), UNARY(bool),     UNARY(-),
    };
    const std::vector<Binary> binary{
        BINARY(__hadd),     BINARY(__hsub),     BINARY(__hmul),     BINARY(__hdiv),
        BINARY(__hadd_rn),  BINARY(__hsub_rn),  BINARY(__hmul_rn),  BINARY(__hadd_sat),
        BINARY(__hsub_sat), BINARY(__hmul_sat), BINARY(__hmax),     BINARY(__hmin),
        BINARY(__hmax_nan), BINARY(__hmin_nan), BINARY(__heq),      BINARY(__hne),
        BINARY(__hlt),      BINARY(__hle),      BINARY(__hgt),      BINARY(__hge),
        BINARY(__hequ),     BINARY(__hneu),     BINARY(__hltu),     BINARY(__hleu),
        BINARY(__hgtu),     BINARY(__hgeu),     OPERATOR("+", +),   OPERATOR("-", -),
        OPERATOR("*", *),   OPERATOR("/", /),   OPERATOR("==", ==), OPERATOR("!=", !=),
        OPERATOR("<", <),   OPERATOR("<=", <=), OPERATOR(">", >),   OPERATOR(">=", >=),
        PAIRS(__hadd2),     PAIRS(__hsub2),     PAIRS(__hmul2),     PAIRS(__h2div),
        PAIRS(__hadd2_sat), PAIRS(__hmax2),     PAIRS(__hmin2_nan), PAIRS(__heq2),
        PAIRS(__hneu2),     PAIRS(__hltu2),     PAIRS(__hle2_mask), PAIRS(__hgeu2_mask),
        PAIRS(__hne2_mask), PAIRS(__hbeq2),     PAIRS(__hbne2),     PAIRS(__hbneu2),
        PAIRS(__hblt2),     PAIRS(__hbgtu2),    PAIR(__hneg2),      PAIR(__habs2),
        PAIR(__hisnan2),    PAIR(__low2float),  PAIR(__high2float), PAIR(__lowhigh2highlow),
    };
    all.unary.insert(all.unary.end(), unary.begin(), unary.end());
    all.binary.insert(all.binary.end(), binary.begin(), binary.end());
}

inline Functions half_functions() {
    using Type = __half;
    using Pair = __half2;
    Functions all;
    add_common<Type, Pair>(all);
    const std::vector<Unary> unary{
        UNARY(__half2float),    UNARY(__half_as_short),  UNARY(__half_as_ushort),
        UNARY(__half2half2),    UNARY(__half2char_rz),   UNARY(__half2uchar_rz),
        UNARY(__half2short_rz), UNARY(__half2ushort_rz), UNARY(__half2int_rz),
        UNARY(__half2uint_rz),  UNARY(__half2ll_rz),     UNARY(__half2ull_rz),
    };
    const std::vector<Binary> binary{
        BINARY(__halves2half2), BINARY(make_half2), PAIRS(__lows2half2),
        PAIRS(__highs2half2),   PAIR(__low2half),   PAIR(__high2half),
        PAIR(__low2half2),      PAIR(__high2half2), PAIR(__half22float2),
    };
    const std::vector<FromFloat> from_float{
        FROM_FLOAT(__float2half),
        FROM_FLOAT(__float2half_rn),
        FROM_FLOAT(__float2half_rz),
        FROM_FLOAT(__float2half_ru),
        FROM_FLOAT(__float2half_rd),
        FROM_FLOAT(__float2half2_rn),
        FROM_FLOAT(__half),
        {"__double2half",
         [](float x) {
             // Close to the float, but not one: what the double itself rounds to.
             return as_bits(__double2half(x * (1 + 0x1p-40)));
         }},
    };
    const std::vector<FromInteger> from_integer{
        FROM_INTEGER(__int2half_rn, int),
        FROM_INTEGER(__int2half_rz, int),
        FROM_INTEGER(__int2half_ru, int),
        FROM_INTEGER(__int2half_rd, int),
        FROM_INTEGER(__uint2half_rn, unsigned),
        FROM_INTEGER(__short2half_rn, short),
        FROM_INTEGER(__ushort2half_ru, unsigned short),
        FROM_INTEGER(__ll2half_rn, long long),
        FROM_INTEGER(__ll2half_rd, long long),
        FROM_INTEGER(__ull2half_rn, unsigned long long),
        FROM_INTEGER(__ull2half_rz, unsigned long long),
    };
    all.unary.insert(all.unary.end(), unary.begin(), unary.end());
    all.binary.insert(all.binary.end(), binary.begin(), binary.end());
    all.from_float = from_float;
    all.from_integer = from_integer;
    return all;
}

inline Functions bfloat16_functions() {
    using Type = __nv_bfloat16;
    using Pair = __nv_bfloat162;
    Functions all;
    add_common<Type, Pair>(all);
    const std::vector<Unary> unary{
        UNARY(__bfloat162float),     UNARY(__bfloat16_as_short), UNARY(__bfloat162bfloat162),
        UNARY(__bfloat162char_rz),   UNARY(__bfloat162uchar_rz), UNARY(__bfloat162short_rz),
        UNARY(__bfloat162ushort_rz), UNARY(__bfloat162int_rz),   UNARY(__bfloat162uint_rz),
        UNARY(__bfloat162ll_rz),     UNARY(__bfloat162ull_rz),
    };
    const std::vector<Binary> binary{
        BINARY(__halves2bfloat162), PAIRS(__lows2bfloat162),  PAIR(__low2bfloat16),
        PAIR(__high2bfloat162),     PAIR(__bfloat1622float2),
    };
    const std::vector<FromFloat> from_float{
        FROM_FLOAT(__float2bfloat16),
        FROM_FLOAT(__float2bfloat16_rn),
        FROM_FLOAT(__float2bfloat16_rz),
        FROM_FLOAT(__float2bfloat16_ru),
        FROM_FLOAT(__float2bfloat16_rd),
        FROM_FLOAT(__float2bfloat162_rn),
        FROM_FLOAT(__nv_bfloat16),
        {"__double2bfloat16",
         [](float x) { return as_bits(__double2bfloat16(x * (1 + 0x1p-40))); }},
    };
    const std::vector<FromInteger> from_integer{
        FROM_INTEGER(__int2bfloat16_rn, int),
        FROM_INTEGER(__uint2bfloat16_rn, unsigned),
        FROM_INTEGER(__short2bfloat16_rn, short),
        FROM_INTEGER(__ushort2bfloat16_rn, unsigned short),
        FROM_INTEGER(__ll2bfloat16_rn, long long),
        FROM_INTEGER(__ull2bfloat16_rn, unsigned long long),
    };
    all.unary.insert(all.unary.end(), unary.begin(), unary.end());
    all.binary.insert(all.binary.end(), binary.begin(), binary.end());
    all.from_float = from_float;
    all.from_integer = from_integer;
    return all;
}

#undef UNARY
#undef BINARY
#undef PAIRS
#undef PAIR
#undef FROM_FLOAT
#undef FROM_INTEGER
#undef OPERATOR

}  // namespace HALF_FUNCTIONS
