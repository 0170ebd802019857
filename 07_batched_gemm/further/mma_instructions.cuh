// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/mma_instructions, version 1.0
//
// The instructions to which wmma compiles, each in a function: ldmatrix loads four matrices of 8 x 8, mma.sync
// multiplies 16 x 16 by 16 x 8 (floats: 16 x 8 by 8 x 8), cvt rounds two results at once. They specify which lane holds
// which element.
#pragma once
#include <cstdint>
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
}

// Rounds two neighbours to T and returns them in one register, the first in its lower half.
template <class T>
__device__ uint32_t both_of(float first, float second) {
    uint32_t both;
    if constexpr (std::is_same_v<T, __half>) {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    } else {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    }
    return both;
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
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
        "{%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace batched_gemm
