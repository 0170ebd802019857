// SPDX-License-Identifier: MIT
//
// cuRAND's generators for kernels: XORWOW, Philox4x32-10 and MRG32k3a give the sequences of NVIDIA's library, bit by
// bit for integers and uniform numbers. Normal numbers follow from those by the same formulas, with this machine's
// sine and logarithm. What takes a generator ahead by many steps is no access of the kernel's.
#pragma once
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"

namespace cpu_device {

// `count` times 2^log2_step steps of XORWOW's five words.
void skip_xorwow(unsigned (&words)[5], unsigned long long count, unsigned log2_step);
// The same of MRG32k3a.
void skip_mrg32k3a(unsigned (&first)[3], unsigned (&second)[3], unsigned long long count,
                   unsigned log2_step);

// The second of two normal numbers, which the next call for one of that kind returns.
struct SpareNormals {
    enum Kind { none, normal, log_normal } float_is, double_is;
    float of_float;
    double of_double;
};

}  // namespace cpu_device

struct curandStateXORWOW {
    unsigned d, v[5];
    cpu_device::SpareNormals spare;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned STATE;
    cpu_device::SpareNormals spare;
};
struct curandStateMRG32k3a {
    unsigned s1[3], s2[3];
    cpu_device::SpareNormals spare;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
using curandStateMRG32k3a_t = curandStateMRG32k3a;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

namespace cpu_device {

// ---------------------------------------------------------------- numbers from bits

constexpr float kOf32Bits = 2.3283064e-10F;
constexpr double kOf32BitsInDouble = 2.3283064365386963e-10;
constexpr double kOf53Bits = 1.1102230246251565e-16;
constexpr float kTwoPi = 6.2831855F;
constexpr double kPi = 3.1415926535897932;

// Above 0, up to 1.
__device__ inline float uniform_of(unsigned bits) {
    return static_cast<float>(bits) * kOf32Bits + kOf32Bits / 2;
}
__device__ inline double uniform_of(unsigned low, unsigned high) {
    const unsigned long long bits = low ^ static_cast<unsigned long long>(high) << 21;
    return static_cast<double>(bits) * kOf53Bits + kOf53Bits / 2;
}

// Two normal numbers from two uniform ones: the second an angle, in radians or (of double) in half turns.
__device__ inline float2 normals_of(float uniform, float angle) {
    const float length = sqrtf(-2.0F * logf(uniform));
    return make_float2(sinf(angle) * length, cosf(angle) * length);
}
__device__ inline double2 normals_of(double uniform, double half_turns) {
    const double length = sqrt(-2.0 * log(uniform));
    return make_double2(sin(half_turns * kPi) * length, cos(half_turns * kPi) * length);
}
__device__ inline float2 normals_of(unsigned x, unsigned y) {
    return normals_of(uniform_of(x),
                      static_cast<float>(y) * (kOf32Bits * kTwoPi) + kOf32Bits * kTwoPi / 2);
}
__device__ inline double2 normals_of(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
    return normals_of(uniform_of(x0, x1), 2 * uniform_of(y0, y1));
}

// ---------------------------------------------------------------- Philox's rounds

__device__ inline uint4 philox(uint4 counter, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        const unsigned long long first = 0xD2511F53ull * counter.x,
                                 second = 0xCD9E8D57ull * counter.z;
        counter = make_uint4(
            static_cast<unsigned>(second >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(second),
            static_cast<unsigned>(first >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(first));
        key.x += 0x9E3779B9;
        key.y += 0xBB67AE85;
    }
    return counter;
}

// counter += n, as the library does it: a carry out of the lower half is lost where n's own upper half wraps.
__device__ inline void advance(uint4& counter, unsigned long long n) {
    const auto low = static_cast<unsigned>(n);
    auto high = static_cast<unsigned>(n >> 32);
    counter.x += low;
    if (counter.x < low) ++high;
    counter.y += high;
    if (high <= counter.y) return;
    if (++counter.z == 0) ++counter.w;
}
__device__ inline void advance(uint4& counter) {
    if (++counter.x == 0 && ++counter.y == 0 && ++counter.z == 0) ++counter.w;
}

}  // namespace cpu_device

// ---------------------------------------------------------------- XORWOW

__device__ inline void skipahead(unsigned long long n, curandStateXORWOW* state) {
    cpu_device::skip_xorwow(state->v, n, 0);
    state->d += 362437 * static_cast<unsigned>(n);
}
__device__ inline void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
    cpu_device::skip_xorwow(state->v, n, 67);
}
__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                                   unsigned long long offset, curandStateXORWOW* state) {
    const unsigned low = 1099087573U * (static_cast<unsigned>(seed) ^ 0xaad26b49U),
                   high = 2591861531U * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddU);
    curandStateXORWOW made{
        6615241 + high + low,
        {123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low},
        {}};
    skipahead_sequence(subsequence, &made);
    skipahead(offset, &made);
    *state = made;
}
__device__ inline unsigned curand(curandStateXORWOW* state) {
    const unsigned t = state->v[0] ^ state->v[0] >> 2;
    for (int i = 0; i < 4; ++i) state->v[i] = state->v[i + 1];
    state->v[4] = state->v[4] ^ state->v[4] << 4 ^ t ^ t << 1;
    state->d += 362437;
    return state->v[4] + state->d;
}

// ---------------------------------------------------------------- Philox4x32-10

__device__ inline void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
    state->STATE += n & 3;
    n /= 4;
    if (state->STATE > 3) {
        ++n;
        state->STATE -= 4;
    }
    cpu_device::advance(state->ctr, n);
    state->output = cpu_device::philox(state->ctr, state->key);
}
__device__ inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
    const auto low = static_cast<unsigned>(n);
    state->ctr.z += low;
    state->ctr.w += static_cast<unsigned>(n >> 32) + (state->ctr.z < low);
    state->output = cpu_device::philox(state->ctr, state->key);
}
__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                                   unsigned long long offset, curandStatePhilox4_32_10* state) {
    curandStatePhilox4_32_10 made{};
    made.key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
    skipahead_sequence(subsequence, &made);
    skipahead(offset, &made);
    *state = made;
}
__device__ inline unsigned curand(curandStatePhilox4_32_10* state) {
    const unsigned at = state->STATE++;
    const uint4 output = state->output;
    if (at == 3) {
        cpu_device::advance(state->ctr);
        state->output = cpu_device::philox(state->ctr, state->key);
        state->STATE = 0;
    }
    return at == 1 ? output.y : at == 2 ? output.z : at == 3 ? output.w : output.x;
}
__device__ inline uint4 curand4(curandStatePhilox4_32_10* state) {
    const uint4 now = state->output;
    cpu_device::advance(state->ctr);
    const uint4 next = cpu_device::philox(state->ctr, state->key);
    state->output = next;
    switch (state->STATE) {
        case 1:
            return make_uint4(now.y, now.z, now.w, next.x);
        case 2:
            return make_uint4(now.z, now.w, next.x, next.y);
        case 3:
            return make_uint4(now.w, next.x, next.y, next.z);
        default:
            return now;
    }
}

// ---------------------------------------------------------------- MRG32k3a

__device__ inline void skipahead(unsigned long long n, curandStateMRG32k3a* state) {
    cpu_device::skip_mrg32k3a(state->s1, state->s2, n, 0);
}
__device__ inline void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a* state) {
    cpu_device::skip_mrg32k3a(state->s1, state->s2, n, 76);
}
__device__ inline void skipahead_sequence(unsigned long long n, curandStateMRG32k3a* state) {
    cpu_device::skip_mrg32k3a(state->s1, state->s2, n, 127);
}
__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                                   unsigned long long offset, curandStateMRG32k3a* state) {
    curandStateMRG32k3a made{{12345, 12345, 12345}, {12345, 12345, 12345}, {}};
    if (seed != 0) {
        const unsigned long long by[2] = {static_cast<unsigned>(seed) ^ 0x55555555U,
                                          static_cast<unsigned>(seed >> 32) ^ 0xAAAAAAAAU};
        for (int i = 0; i < 3; ++i) {
            made.s1[i] = static_cast<unsigned>(by[i % 2] * made.s1[i] % 4294967087U);
            made.s2[i] = static_cast<unsigned>(by[1 - i % 2] * made.s2[i] % 4294944443U);
        }
    }
    skipahead_subsequence(subsequence, &made);
    skipahead(offset, &made);
    *state = made;
}
// From 1 to the first modulus.
__device__ inline double curand_MRG32k3a(curandStateMRG32k3a* state) {
    constexpr long long kFirst = 4294967087, kSecond = 4294944443;
    long long p1 = (1403580LL * state->s1[1] - 810728LL * state->s1[0]) % kFirst;
    long long p2 = (527612LL * state->s2[2] - 1370589LL * state->s2[0]) % kSecond;
    if (p1 < 0) p1 += kFirst;
    if (p2 < 0) p2 += kSecond;
    for (int i = 0; i < 2; ++i) {
        state->s1[i] = state->s1[i + 1];
        state->s2[i] = state->s2[i + 1];
    }
    state->s1[2] = static_cast<unsigned>(p1);
    state->s2[2] = static_cast<unsigned>(p2);
    return static_cast<double>(p1 <= p2 ? p1 - p2 + kFirst : p1 - p2);
}
__device__ inline unsigned curand(curandStateMRG32k3a* state) {
    return static_cast<unsigned>(curand_MRG32k3a(state) * 1.000000048662);
}

// ---------------------------------------------------------------- uniform numbers

template <class State>
__device__ inline float curand_uniform(State* state) {
    return cpu_device::uniform_of(curand(state));
}
__device__ inline float curand_uniform(curandStateMRG32k3a* state) {
    return static_cast<float>(curand_MRG32k3a(state) * 2.3283065498378288e-10);
}
__device__ inline double curand_uniform_double(curandStateXORWOW* state) {
    const unsigned low = curand(state);
    return cpu_device::uniform_of(low, curand(state));
}
// From 32 bits alone.
__device__ inline double curand_uniform_double(curandStatePhilox4_32_10* state) {
    return curand(state) * cpu_device::kOf32BitsInDouble + cpu_device::kOf32BitsInDouble;
}
__device__ inline double curand_uniform_double(curandStateMRG32k3a* state) {
    return curand_MRG32k3a(state) * 2.3283065498378288e-10;
}
__device__ inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    const uint4 bits = curand4(state);
    return make_float4(cpu_device::uniform_of(bits.x), cpu_device::uniform_of(bits.y),
                       cpu_device::uniform_of(bits.z), cpu_device::uniform_of(bits.w));
}
__device__ inline double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
    const uint4 bits = curand4(state);
    return make_double2(cpu_device::uniform_of(bits.x, bits.y),
                        cpu_device::uniform_of(bits.z, bits.w));
}
__device__ inline double4 curand_uniform4_double(curandStatePhilox4_32_10* state) {
    const double2 first = curand_uniform2_double(state), second = curand_uniform2_double(state);
    return make_double4(first.x, first.y, second.x, second.y);
}

// ---------------------------------------------------------------- normal numbers

template <class State>
__device__ inline float2 curand_normal2(State* state) {
    const unsigned x = curand(state);
    return cpu_device::normals_of(x, curand(state));
}
__device__ inline float2 curand_normal2(curandStateMRG32k3a* state) {
    const float x = curand_uniform(state);
    return cpu_device::normals_of(x, curand_uniform(state) * cpu_device::kTwoPi);
}
__device__ inline double2 curand_normal2_double(curandStateXORWOW* state) {
    const unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state);
    return cpu_device::normals_of(x0, x1, y0, curand(state));
}
__device__ inline double2 curand_normal2_double(curandStatePhilox4_32_10* state) {
    const uint4 bits = curand4(state);
    return cpu_device::normals_of(bits.x, bits.y, bits.z, bits.w);
}
__device__ inline double2 curand_normal2_double(curandStateMRG32k3a* state) {
    const double x = curand_uniform_double(state);
    return cpu_device::normals_of(x, curand_uniform_double(state) * 2);
}
__device__ inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
    const uint4 bits = curand4(state);
    const float2 first = cpu_device::normals_of(bits.x, bits.y),
                 second = cpu_device::normals_of(bits.z, bits.w);
    return make_float4(first.x, first.y, second.x, second.y);
}
__device__ inline double4 curand_normal4_double(curandStatePhilox4_32_10* state) {
    const double2 first = curand_normal2_double(state), second = curand_normal2_double(state);
    return make_double4(first.x, first.y, second.x, second.y);
}
template <class State>
__device__ inline float curand_normal(State* state) {
    if (state->spare.float_is == cpu_device::SpareNormals::normal) {
        state->spare.float_is = cpu_device::SpareNormals::none;
        return state->spare.of_float;
    }
    const float2 two = curand_normal2(state);
    state->spare.float_is = cpu_device::SpareNormals::normal;
    state->spare.of_float = two.y;
    return two.x;
}
template <class State>
__device__ inline double curand_normal_double(State* state) {
    if (state->spare.double_is == cpu_device::SpareNormals::normal) {
        state->spare.double_is = cpu_device::SpareNormals::none;
        return state->spare.of_double;
    }
    const double2 two = curand_normal2_double(state);
    state->spare.double_is = cpu_device::SpareNormals::normal;
    state->spare.of_double = two.y;
    return two.x;
}

template <class State>
__device__ inline float curand_log_normal(State* state, float mean, float deviation) {
    if (state->spare.float_is == cpu_device::SpareNormals::log_normal) {
        state->spare.float_is = cpu_device::SpareNormals::none;
        return state->spare.of_float;
    }
    const float2 two = curand_normal2(state);
    state->spare.float_is = cpu_device::SpareNormals::log_normal;
    state->spare.of_float = expf(mean + deviation * two.y);
    return expf(mean + deviation * two.x);
}
template <class State>
__device__ inline double curand_log_normal_double(State* state, double mean, double deviation) {
    if (state->spare.double_is == cpu_device::SpareNormals::log_normal) {
        state->spare.double_is = cpu_device::SpareNormals::none;
        return state->spare.of_double;
    }
    const double2 two = curand_normal2_double(state);
    state->spare.double_is = cpu_device::SpareNormals::log_normal;
    state->spare.of_double = exp(mean + deviation * two.y);
    return exp(mean + deviation * two.x);
}
template <class State>
__device__ inline float2 curand_log_normal2(State* state, float mean, float deviation) {
    const float2 normals = curand_normal2(state);
    return make_float2(expf(mean + deviation * normals.x), expf(mean + deviation * normals.y));
}
template <class State>
__device__ inline double2 curand_log_normal2_double(State* state, double mean, double deviation) {
    const double2 normals = curand_normal2_double(state);
    return make_double2(exp(mean + deviation * normals.x), exp(mean + deviation * normals.y));
}
__device__ inline float4 curand_log_normal4(curandStatePhilox4_32_10* state, float mean,
                                            float deviation) {
    const float4 normals = curand_normal4(state);
    return make_float4(expf(mean + deviation * normals.x), expf(mean + deviation * normals.y),
                       expf(mean + deviation * normals.z), expf(mean + deviation * normals.w));
}
