// SPDX-License-Identifier: MIT
// CUDA's integer functions.
#pragma once
#include "cpu_device/integers.h"

#include "cpu_device/qualifiers.h"
#include "cpu_device/traits.h"
#include "vector_types.h"

// ---------------------------------------------------------------- smaller and larger
// An overload set as CUDA's rather than templates: it must win against std::min and std::max in a
// file that says `using namespace std`. A macro, because the sixteen differ in their types alone.
#define CPU_DEVICE_MIN_MAX(Result, A, B)                 \
    __host__ __device__ constexpr Result min(A a, B b) { \
        const Result left = static_cast<Result>(a);      \
        const Result right = static_cast<Result>(b);     \
        return right < left ? right : left;              \
    }                                                    \
    __host__ __device__ constexpr Result max(A a, B b) { \
        const Result left = static_cast<Result>(a);      \
        const Result right = static_cast<Result>(b);     \
        return left < right ? right : left;              \
    }
CPU_DEVICE_MIN_MAX(int, int, int)
CPU_DEVICE_MIN_MAX(unsigned, unsigned, unsigned)
CPU_DEVICE_MIN_MAX(unsigned, int, unsigned)
CPU_DEVICE_MIN_MAX(unsigned, unsigned, int)
CPU_DEVICE_MIN_MAX(long, long, long)
CPU_DEVICE_MIN_MAX(unsigned long, unsigned long, unsigned long)
CPU_DEVICE_MIN_MAX(unsigned long, long, unsigned long)
CPU_DEVICE_MIN_MAX(unsigned long, unsigned long, long)
CPU_DEVICE_MIN_MAX(long long, long long, long long)
CPU_DEVICE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CPU_DEVICE_MIN_MAX(unsigned long long, long long, unsigned long long)
CPU_DEVICE_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef CPU_DEVICE_MIN_MAX

// The same by names of their own.
#define CPU_DEVICE_MIN_MAX(T, prefix)                    \
    __host__ __device__ inline T prefix##min(T a, T b) { \
        return min(a, b);                                \
    }                                                    \
    __host__ __device__ inline T prefix##max(T a, T b) { \
        return max(a, b);                                \
    }
CPU_DEVICE_MIN_MAX(unsigned, u)
CPU_DEVICE_MIN_MAX(long long, ll)
CPU_DEVICE_MIN_MAX(unsigned long long, ull)
#undef CPU_DEVICE_MIN_MAX

// ---------------------------------------------------------------- bits

__host__ __device__ inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
__host__ __device__ inline int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}

__host__ __device__ inline int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}

__host__ __device__ inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}

// Position of the lowest bit, counted from 1; 0 for none.
__host__ __device__ inline int __ffs(int x) {
    return __builtin_ffs(x);
}
__host__ __device__ inline int __ffsll(long long x) {
    return __builtin_ffsll(x);
}

__host__ __device__ inline unsigned __brev(unsigned x) {
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    return __builtin_bswap32(x);
}

__host__ __device__ inline unsigned long long __brevll(unsigned long long x) {
    const unsigned long long low = __brev(static_cast<unsigned>(x));
    return low << 32 | __brev(static_cast<unsigned>(x >> 32));
}

// Position of the n-th bit of mask, counted from base upwards (n > 0) or downwards (n < 0);
// all bits set for none.
__device__ inline unsigned __fns(unsigned mask, unsigned base, int n) {
    const int step = n < 0 ? -1 : 1;
    int left = n < 0 ? -n : n;
    if (left == 0) return (mask >> (base & 31) & 1) != 0 ? base : ~0u;
    for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
        if ((mask >> bit & 1) != 0 && --left == 0) return static_cast<unsigned>(bit);
    }
    return ~0u;
}

// Four of the eight bytes of (high, low), chosen by three bits of each nibble of selector.
__host__ __device__ inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    const cpu_device::uint64_t bytes = static_cast<cpu_device::uint64_t>(high) << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned chosen = selector >> 4 * i & 7;
        result |= (static_cast<unsigned>(bytes >> 8 * chosen) & 0xffu) << 8 * i;
    }
    return result;
}

// The 64 bits (high, low) shifted; _l gives the upper half, _r the lower. A shift of more than 32
// wraps around, or with c stays ("clamps") at 32.
__host__ __device__ inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    const cpu_device::uint64_t bits = static_cast<cpu_device::uint64_t>(high) << 32 | low;
    return static_cast<unsigned>(bits << (shift & 31) >> 32);
}

__host__ __device__ inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}

__host__ __device__ inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    const cpu_device::uint64_t bits = static_cast<cpu_device::uint64_t>(high) << 32 | low;
    return static_cast<unsigned>(bits >> (shift & 31));
}

__host__ __device__ inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// ---------------------------------------------------------------- products, sums, averages

__host__ __device__ inline int __mul24(int a, int b) {
    const auto extend = [](int x) { return static_cast<int>(static_cast<unsigned>(x) << 8) >> 8; };
    return static_cast<int>(static_cast<cpu_device::int64_t>(extend(a)) * extend(b));
}

__host__ __device__ inline unsigned __umul24(unsigned a, unsigned b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
}

__host__ __device__ inline int __mulhi(int a, int b) {
    return static_cast<int>(static_cast<cpu_device::int64_t>(a) * b >> 32);
}

__host__ __device__ inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<cpu_device::uint64_t>(a) * b >> 32);
}

__host__ __device__ inline long long __mul64hi(long long a, long long b) {
    return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}

__host__ __device__ inline unsigned long long __umul64hi(unsigned long long a,
                                                         unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}

// |a - b| + c
__host__ __device__ inline unsigned __usad(unsigned a, unsigned b, unsigned c) {
    return (a > b ? a - b : b - a) + c;
}

__host__ __device__ inline unsigned __sad(int a, int b, unsigned c) {
    const cpu_device::int64_t difference = static_cast<cpu_device::int64_t>(a) - b;
    return static_cast<unsigned>(difference < 0 ? -difference : difference) + c;
}

// Averages without overflow; with r the half is rounded up.
__host__ __device__ inline int __hadd(int a, int b) {
    return static_cast<int>((static_cast<cpu_device::int64_t>(a) + b) >> 1);
}

__host__ __device__ inline int __rhadd(int a, int b) {
    return static_cast<int>((static_cast<cpu_device::int64_t>(a) + b + 1) >> 1);
}

__host__ __device__ inline unsigned __uhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<cpu_device::uint64_t>(a) + b) >> 1);
}

__host__ __device__ inline unsigned __urhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<cpu_device::uint64_t>(a) + b + 1) >> 1);
}

// ---------------------------------------------------------------- products of packed integers

namespace cpu_device {

// c plus the sum of products of the elements packed in a and b: count of them, those of b beginning
// at element first_b.
template <class ElementA, class ElementB, class Sum>
__device__ inline Sum dot_product(unsigned a, unsigned b, Sum c, int count, int first_b = 0) {
    unsigned sum = static_cast<unsigned>(c);
    for (int i = 0; i < count; ++i) {
        const auto x = static_cast<ElementA>(a >> 8 * sizeof(ElementA) * i);
        const auto y = static_cast<ElementB>(b >> 8 * sizeof(ElementB) * (first_b + i));
        sum += static_cast<unsigned>(x) * static_cast<unsigned>(y);
    }
    return static_cast<Sum>(sum);
}

}  // namespace cpu_device

__device__ inline int __dp4a(int a, int b, int c) {
    return cpu_device::dot_product<cpu_device::int8_t, cpu_device::int8_t>(
        static_cast<unsigned>(a), static_cast<unsigned>(b), c, 4);
}

__device__ inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    return cpu_device::dot_product<cpu_device::uint8_t, cpu_device::uint8_t>(a, b, c, 4);
}

__device__ inline int __dp4a(char4 a, char4 b, int c) {
    return __dp4a(cpu_device::bit_cast<int>(a), cpu_device::bit_cast<int>(b), c);
}

__device__ inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
    return __dp4a(cpu_device::bit_cast<unsigned>(a), cpu_device::bit_cast<unsigned>(b), c);
}

__device__ inline int __dp2a_lo(int a, int b, int c) {
    return cpu_device::dot_product<cpu_device::int16_t, cpu_device::int8_t>(
        static_cast<unsigned>(a), static_cast<unsigned>(b), c, 2);
}

__device__ inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
    return cpu_device::dot_product<cpu_device::uint16_t, cpu_device::uint8_t>(a, b, c, 2);
}

__device__ inline int __dp2a_hi(int a, int b, int c) {
    return cpu_device::dot_product<cpu_device::int16_t, cpu_device::int8_t>(
        static_cast<unsigned>(a), static_cast<unsigned>(b), c, 2, 2);
}

__device__ inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
    return cpu_device::dot_product<cpu_device::uint16_t, cpu_device::uint8_t>(a, b, c, 2, 2);
}
