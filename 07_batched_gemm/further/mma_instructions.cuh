// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/mma_instructions, version 1.0
//
// The instructions to which wmma compiles, each in a function: ldmatrix loads four matrices of 8 x 8, mma.sync
// multiplies 16 x 16 by 16 x 8 (floats: 16 x 8 by 8 x 8), cvt rounds two results at once. They specify which lane holds
// which element. The CPU device emulates ldmatrix and mma.sync: like a GPU it loads 16 bytes per lane, but it then
// exchanges elements by shuffles, which a GPU does not execute.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace batched_gemm {

// Loads four matrices from a tile in shared memory. In `at`, lanes 8 i to 8 i + 7 pass the places where the 8 rows of
// matrix i begin, 16 bytes each. (`at` is an index, not a pointer: indices that differ by constants share a register.)
// Register i of lane l receives two elements of matrix i: (l / 4, l % 4 * 2) and its right neighbour; if transposed,
// (l % 4 * 2, l / 4) and the element below. If T is float, a matrix is 8 x 4, and the register receives (l / 4, l % 4).
template <bool kTransposed, class T>
__device__ void ldmatrix(uint32_t (&to)[4], const T* tile, int at) {
    static_assert(sizeof(T) == 2 || (sizeof(T) == 4 && !kTransposed), "it moves pairs of bytes");
#ifdef __CUDA_ARCH__
    const uint32_t address =
        static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + static_cast<int>(sizeof(T)) * at;
    if constexpr (kTransposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(address)
                     : "memory");
    }
#else
    const uint4 mine = *reinterpret_cast<const uint4*>(tile + at);
    const uint32_t words[] = {mine.x, mine.y, mine.z, mine.w};
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (int i = 0; i < 4; ++i) {
        uint32_t first = 0, second = 0;
        const int from = 8 * i + (kTransposed ? lane % 4 * 2 : lane / 4);
        const int wanted = kTransposed ? lane / 8 : lane % 4;
        for (int word = 0; word < 4; ++word) {
            const uint32_t one = __shfl_sync(~0u, words[word], from);
            const uint32_t next = kTransposed ? __shfl_sync(~0u, words[word], from + 1) : 0;
            if (word == wanted) first = one, second = next;
        }
        const int shift = lane / 4 % 2 * 16;
        to[i] = kTransposed ? (first >> shift & 0xffff) | (second >> shift & 0xffff) << 16 : first;
    }
#endif
}

// Rounds two neighbours to T and returns them in one register, the first in its lower half.
template <class T>
__device__ uint32_t both_of(float first, float second) {
#ifdef __CUDA_ARCH__
    uint32_t both;
    if constexpr (std::is_same_v<T, __half>) {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    } else {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    }
    return both;
#else
    const T elements[] = {static_cast<T>(first), static_cast<T>(second)};
    uint32_t both;
    memcpy(&both, static_cast<const void*>(elements), sizeof(both));
    return both;
#endif
}

// Stores two neighbours with one instruction.
template <class T>
__device__ void put_two(T* to, float first, float second) {
    if constexpr (sizeof(T) == 2)
        *reinterpret_cast<uint32_t*>(to) = both_of<T>(first, second);
    else
        *reinterpret_cast<float2*>(to) = make_float2(first, second);
}

// d += a b, where d is 16 x 8, a 16 x 16 and b 16 x 8. A lane holds these elements, with g = lane / 4 and
// t = lane % 4 * 2; the second element of a register is one column to the right (in b: one row below):
//   a   (g, t), (g + 8, t), (g, t + 8), (g + 8, t + 8)
//   b   (t, g), (t + 8, g)
//   d   (g, t), (g, t + 1), (g + 8, t), (g + 8, t + 1)
// If T is float, it uses 11 bits of each significand and drops the rest (tf32): a is 16 x 8, b 8 x 8, and t = lane % 4:
//   a   (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)
//   b   (t, g), (t + 4, g)
template <class T>
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<T, float>) {
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
            "%7}, "
            "{%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else if constexpr (std::is_same_v<T, __half>) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
            "{%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
            "%7}, "
            "{%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
#else
    const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4 * 2;
    const auto both = [](uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; };
    const auto product = [](uint64_t x,
                            uint64_t y) {  // sums the products of four elements, or of two floats
        constexpr int kCount = 8 / sizeof(T);
        constexpr uint64_t kTaken = sizeof(T) == 4 ? 0xffffe000ffffe000u : ~uint64_t{0};
        x &= kTaken, y &= kTaken;
        T of_x[kCount], of_y[kCount];
        memcpy(static_cast<void*>(of_x), &x, sizeof(x));
        memcpy(static_cast<void*>(of_y), &y, sizeof(y));
        float sum = 0.f;
        for (int i = 0; i < kCount; ++i)
            sum += static_cast<float>(of_x[i]) * static_cast<float>(of_y[i]);
        return sum;
    };
    for (int lane = 0; lane < 4; ++lane) {  // the four lanes that hold a row of a or a column of b
        const uint64_t first = __shfl_sync(~0u, both(a[0], a[2]), g * 4 + lane);
        const uint64_t second = __shfl_sync(~0u, both(a[1], a[3]), g * 4 + lane);
        for (int c = 0; c < 2; ++c) {
            const uint64_t col = __shfl_sync(~0u, both(b[0], b[1]), (t + c) * 4 + lane);
            d[c] += product(first, col);
            d[2 + c] += product(second, col);
        }
    }
#endif
}

// Returns sum i of a lane's four sums, which are floats or pairs of halves.
__device__ inline float sum_of(const float (&d)[4], int i) {
    return d[i];
}
__device__ inline float sum_of(const uint32_t (&d)[2], int i) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(d[i / 2] >> i % 2 * 16)));
}

__device__ inline void set_two(float (&d)[4], int i, float first, float second) {
    d[i] = first, d[i + 1] = second;
}
__device__ inline void set_two(uint32_t (&d)[2], int i, float first, float second) {
    d[i / 2] = both_of<__half>(first, second);
}

// The same for halves, with sums as pairs of halves. Hopper rounds the sums once per instruction; older GPUs round them
// after every 8 or 4 products.
template <class T>
__device__ void mma(uint32_t (&d)[2], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    static_assert(std::is_same_v<T, __half>, "only products of halves have such sums");
#ifdef __CUDA_ARCH__
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
        "{%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    float sums[4] = {sum_of(d, 0), sum_of(d, 1), sum_of(d, 2), sum_of(d, 3)};
    mma<T>(sums, a, b);
    for (int i = 0; i < 2; ++i) d[i] = both_of<T>(sums[2 * i], sums[2 * i + 1]);
#endif
}

}  // namespace batched_gemm
