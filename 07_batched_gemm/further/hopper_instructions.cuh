// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/hopper_instructions, version 1.0
//
// Hopper's asynchronous instructions, one function each, beyond those in one_tile.cuh. ring.cuh and hopper_gemm.cuh use them.
//   new here   no idea of its own; one_tile.md explains the instructions
//   accepts    half, bfloat16, e4m3 and float (as tf32) with sums in float, half also with sums in half, int8_t with sums in int
//   needs      compute capability 9.0, compiled for sm_90a; the device functions exist only there
//   source     PTX ISA 9.0: mbarrier, cp.async.bulk.tensor, wgmma.mma_async, stmatrix, setmaxnreg
#pragma once
#include <cuda_fp8.h>

#include "one_tile.cuh"

namespace batched_gemm {
namespace hopper {

// Products of T are summed in this type, those of half also in half.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, int8_t>, int, float>;

// ---- rounding

// Rounds two neighbours to 16 bits each.
template <class T>
__device__ inline uint32_t two_as_word(float low, float high) {
    uint32_t word;
    if constexpr (std::is_same_v<T, __half>) {
        const __half2 two = __floats2half2_rn(low, high);
        memcpy(&word, &two, sizeof word);
    } else {
        const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
        memcpy(&word, &two, sizeof word);
    }
    return word;
}

// Rounds to 8 bits each. Values out of range become the nearest number of the type. NaN stays NaN in e4m3 and becomes -128 in
// int8_t.
template <class T>
__device__ inline uint32_t four_as_word(float first, float second, float third, float fourth) {
    if constexpr (std::is_same_v<T, int8_t>) {
        // A conversion takes eight times as long as a sum, and this sum has the rounded number in its lowest byte.
        const auto byte = [](float x) {
            return __float_as_uint(fminf(fmaxf(x, -128.f), 127.f) + 12582912.f);  // 1.5 * 2^23
        };
        const uint32_t low = __byte_perm(byte(first), byte(second), 0x0040),
                       high = __byte_perm(byte(third), byte(fourth), 0x0040);
        return __byte_perm(low, high, 0x5410);
    } else {
        const auto two = [](float low, float high) {
            return uint32_t{
                __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3)};
        };
        return two(first, second) | two(third, fourth) << 16;
    }
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// ---- mbarriers

__device__ inline void arrive(uint64_t& barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
                 : "memory");
}
// Arrives at the same barrier in block `rank` of the cluster. The default scope, the block, is enough to report reads. With
// .release.cluster, ptxas would first wait until the whole GPU sees all of the thread's writes.
__device__ inline void arrive_at(uint64_t& barrier, int rank) {
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(&barrier)),
        "r"(rank)
        : "memory");
}

// A stage of a ring and the parity of its barriers' current phase.
template <int kStages>
struct RingPlace {
    int stage = 0;
    unsigned parity = 0;
    __device__ void advance() {
        if (++stage == kStages) stage = 0, parity ^= 1;
    }
};

// ---- clusters

__device__ inline int rank_in_cluster() {
    int rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ inline int blocks_of_cluster() {
    int blocks;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
}
// All threads of all blocks arrive, then wait. The relaxed form orders only mbarriers after fence.mbarrier_init; the default
// releases all writes first.
__device__ inline void arrive_at_cluster() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ inline void wait_for_cluster() {
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

// ---- tensor copies. (column, row) of matrix number `batch` is the first element of the map's box.

// Copies to the same place in each block of the cluster whose bit is set in `blocks`; each counts its bytes.
template <class T>
__device__ inline void load_for(int blocks, T* tile, const CUtensorMap& map, int column, int row,
                                int batch, uint64_t& barrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(shared_address(tile)),
        "l"(&map), "r"(column), "r"(row), "r"(batch), "r"(shared_address(&barrier)),
        "h"(static_cast<uint16_t>(blocks))
        : "memory");
}
// Copies a tile of an operand: `count` rows of A or columns of B from `first` on, and 128 bytes along k. Lines that run along
// k are one box. If `turned`, boxes have 64 rows or columns, and each takes up 64 lines of 128 bytes.
__device__ inline void load_tile(unsigned char* tile, const CUtensorMap& map, bool turned,
                                 int first, int count, int k, int batch, uint64_t& barrier) {
    if (!turned) return load(tile, map, k, first, batch, barrier);
    for (int i = 0; i < count; i += 64) load(tile + i * 128, map, first + i, k, batch, barrier);
}
template <class T>
__device__ inline void store(const CUtensorMap& map, int column, int row, int batch,
                             const T* tile) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
            &map),
        "r"(column), "r"(row), "r"(batch), "r"(shared_address(tile))
        : "memory");
}
__device__ inline void commit_stores() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Waits until all groups of this thread's stores, except for the latest kLeft, have read their shared memory.
template <int kLeft>
__device__ inline void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}
// Orders this thread's writes to shared memory before later reads by tensor copies.
__device__ inline void order_before_copies() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void prefetch(const CUtensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// ---- warps

// Returns lane 0's number. It makes the compiler see that all lanes of the warp agree: what depends on the number is then
// computed once, in uniform registers. wgmma takes descriptors from these; moved there each time, they delay its start.
__device__ inline int uniform(int number) {
    return __shfl_sync(~0u, number, 0);
}
// Makes the compiler compute these numbers here, and not where they are used.
__device__ inline void compute_here(int& first, int& second, int& third) {
    asm volatile("" : "+r"(first), "+r"(second), "+r"(third));
}
__device__ inline void compute_here(unsigned& first) {
    asm volatile("" : "+r"(first));
}
// A barrier of the block, number 1 to 15, for `threads` of its threads: those that wait and those that only arrive.
__device__ inline void sync_at(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ inline void arrive_without_waiting(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
template <int kRegisters>
__device__ inline void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ inline void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
// Stores four matrices of 8 x 8 elements of 16 bits; lane l has the address of row l % 8 of matrix l / 8.
template <class T>
__device__ inline void store_matrices(T* row, const uint32_t (&of)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     shared_address(row)),
                 "r"(of[0]), "r"(of[1]), "r"(of[2]), "r"(of[3])
                 : "memory");
}

// ---- wgmma

// Orders this warpgroup's writes to registers before the products that it starts next.
__device__ inline void begin_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
// Makes the products since the last call a group.
__device__ inline void commit_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until all but the latest kGroups groups have finished.
template <int kGroups>
__device__ inline void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
}

// A tile of an operand of wgmma, in lines of 128 swizzled bytes. Lines run along k, or, if `turned`, along m or n; then the next
// 64 rows or columns begin `apart` bytes further. operator[] returns the descriptor of a step of 32 bytes along k, or of 16
// elements if `turned`. Only elements of 16 bits may be turned.
struct Operand {
    bool turned;
    unsigned first, fixed;  // a descriptor's low and high half
    unsigned next;
    __device__ Operand(const void* tile, bool is_turned, unsigned apart)
        : Operand(shared_address(tile), is_turned, apart) {}
    __device__ Operand(unsigned address, bool is_turned, unsigned apart)
        : turned(is_turned),
          first((address & 0x3ffffu) >> 4 | ((turned ? apart : 16) >> 4) << 16),
          fixed(1024 >> 4 | 1u << 30),
          next((turned ? 16 * 128 : 32) >> 4) {}
    __device__ uint64_t operator[](int step) const {
        return uint64_t{fixed} << 32 | (first + step * next);
    }
};

// A thread's kSums sums: a register each, or one for two halves.
template <class Sum, int kSums>
using Sums = std::conditional_t<std::is_same_v<Sum, __half>, uint32_t[kSums / 2], Sum[kSums]>;

// Returns sum i as a float. The last sum of a register frees it: wgmma overwrites it, which the compiler does not know. So call
// this in the order of the sums.
template <class Sum>
__device__ inline float take_sum(Sum* sums, int i) {
    const auto value = static_cast<float>(sums[i]);
    sums[i] = 0;
    return value;
}
__device__ inline float take_sum(uint32_t* pairs, int i) {
    __half2 pair;
    memcpy(&pair, &pairs[i / 2], sizeof pair);
    if (i % 2 == 1) pairs[i / 2] = 0;
    return i % 2 == 0 ? __low2float(pair) : __high2float(pair);
}

// Starts d = A B, or d += A B if `adds`, for 64 rows of A, 2 kSums columns of B and 32 bytes along k.
#define SUMS_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define SUMS_16 SUMS_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define SUMS_32 \
    SUMS_16     \
    ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SUMS_48 \
    SUMS_32     \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define SUMS_64 \
    SUMS_48     \
    ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SUMS_96                                                                        \
    SUMS_64                                                                            \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
    ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define SUMS_128                                                                                   \
    SUMS_96                                                                                        \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
    "%127"
#define D8(as, i)                                                                             \
    as(d[i]), as(d[(i) + 1]), as(d[(i) + 2]), as(d[(i) + 3]), as(d[(i) + 4]), as(d[(i) + 5]), \
        as(d[(i) + 6]), as(d[(i) + 7])
#define D16(as, i) D8(as, i), D8(as, (i) + 8)
#define D32(as, i) D16(as, i), D16(as, (i) + 16)
#define D64(as, i) D32(as, i), D32(as, (i) + 32)
#define D48(as, i) D32(as, i), D16(as, (i) + 32)
#define D96(as, i) D64(as, i), D32(as, (i) + 64)
#define D128(as, i) D64(as, i), D64(as, (i) + 64)
#define WGMMA_16(k, types, rest)                                                             \
    asm volatile(                                                                            \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %10, 0;\n"                                   \
        "wgmma.mma_async.sync.aligned.m64n16" k "." types " {" SUMS_8 "}, %8, %9, adds" rest \
        ";\n}"                                                                               \
        : D8("+f", 0)                                                                        \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_32(k, types, rest)                                                                \
    asm volatile(                                                                               \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %18, 0;\n"                                      \
        "wgmma.mma_async.sync.aligned.m64n32" k "." types " {" SUMS_16 "}, %16, %17, adds" rest \
        ";\n}"                                                                                  \
        : D16("+f", 0)                                                                          \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_64(k, types, rest)                                                                \
    asm volatile(                                                                               \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %34, 0;\n"                                      \
        "wgmma.mma_async.sync.aligned.m64n64" k "." types " {" SUMS_32 "}, %32, %33, adds" rest \
        ";\n}"                                                                                  \
        : D32("+f", 0)                                                                          \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_128(k, types, rest)                                                                \
    asm volatile(                                                                                \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %66, 0;\n"                                       \
        "wgmma.mma_async.sync.aligned.m64n128" k "." types " {" SUMS_64 "}, %64, %65, adds" rest \
        ";\n}"                                                                                   \
        : D64("+f", 0)                                                                           \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_96(k, types, rest)                                                                \
    asm volatile(                                                                               \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %50, 0;\n"                                      \
        "wgmma.mma_async.sync.aligned.m64n96" k "." types " {" SUMS_48 "}, %48, %49, adds" rest \
        ";\n}"                                                                                  \
        : D48("+f", 0)                                                                          \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_192(k, types, rest)                                                                \
    asm volatile(                                                                                \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %98, 0;\n"                                       \
        "wgmma.mma_async.sync.aligned.m64n192" k "." types " {" SUMS_96 "}, %96, %97, adds" rest \
        ";\n}"                                                                                   \
        : D96("+f", 0)                                                                           \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_256(k, types, rest)                                        \
    asm volatile(                                                        \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %130, 0;\n"              \
        "wgmma.mma_async.sync.aligned.m64n256" k "." types " {" SUMS_128 \
        "}, %128, %129, adds" rest ";\n}"                                \
        : D128("+f", 0)                                                  \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_64_OF_HALVES()                                           \
    asm volatile(                                                      \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %18, 0;\n"             \
        "wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {" SUMS_16 \
        "}, %16, %17, adds, 1, 1, %19, %20;\n}"                        \
        : D16("+r", 0)                                                 \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_128_OF_HALVES()                                           \
    asm volatile(                                                       \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %34, 0;\n"              \
        "wgmma.mma_async.sync.aligned.m64n128k16.f16.f16.f16 {" SUMS_32 \
        "}, %32, %33, adds, 1, 1, %35, %36;\n}"                         \
        : D32("+r", 0)                                                  \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_192_OF_HALVES()                                           \
    asm volatile(                                                       \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %50, 0;\n"              \
        "wgmma.mma_async.sync.aligned.m64n192k16.f16.f16.f16 {" SUMS_48 \
        "}, %48, %49, adds, 1, 1, %51, %52;\n}"                         \
        : D48("+r", 0)                                                  \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_256_OF_HALVES()                                           \
    asm volatile(                                                       \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %66, 0;\n"              \
        "wgmma.mma_async.sync.aligned.m64n256k16.f16.f16.f16 {" SUMS_64 \
        "}, %64, %65, adds, 1, 1, %67, %68;\n}"                         \
        : D64("+r", 0)                                                  \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
#define WGMMA_64_OF_INTEGERS()                                                               \
    asm volatile(                                                                            \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %34, 0;\n"                                   \
        "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {" SUMS_32 "}, %32, %33, adds;\n}" \
        : D32("+r", 0)                                                                       \
        : "l"(a), "l"(b), "r"(adds))
#define WGMMA_128_OF_INTEGERS()                                                               \
    asm volatile(                                                                             \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %66, 0;\n"                                    \
        "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {" SUMS_64 "}, %64, %65, adds;\n}" \
        : D64("+r", 0)                                                                        \
        : "l"(a), "l"(b), "r"(adds))
#define WGMMA_256_OF_INTEGERS()                                                                  \
    asm volatile(                                                                                \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %130, 0;\n"                                      \
        "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {" SUMS_128 "}, %128, %129, adds;\n}" \
        : D128("+r", 0)                                                                          \
        : "l"(a), "l"(b), "r"(adds))
#define WGMMA_64_OF_REGISTERS(types)                                     \
    asm volatile(                                                        \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %37, 0;\n"               \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." types " {" SUMS_32 \
        "}, {%32, %33, %34, %35}, %36, adds, 1, 1, 1;\n}"                \
        : D32("+f", 0)                                                   \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds))
#define WGMMA_96_OF_REGISTERS(types)                                     \
    asm volatile(                                                        \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %53, 0;\n"               \
        "wgmma.mma_async.sync.aligned.m64n96k16.f32." types " {" SUMS_48 \
        "}, {%48, %49, %50, %51}, %52, adds, 1, 1, 1;\n}"                \
        : D48("+f", 0)                                                   \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds))
#define WGMMA_128_OF_REGISTERS(types)                                     \
    asm volatile(                                                         \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %69, 0;\n"                \
        "wgmma.mma_async.sync.aligned.m64n128k16.f32." types " {" SUMS_64 \
        "}, {%64, %65, %66, %67}, %68, adds, 1, 1, 1;\n}"                 \
        : D64("+f", 0)                                                    \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds))
#define WGMMA_192_OF_REGISTERS(types)                                     \
    asm volatile(                                                         \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %101, 0;\n"               \
        "wgmma.mma_async.sync.aligned.m64n192k16.f32." types " {" SUMS_96 \
        "}, {%96, %97, %98, %99}, %100, adds, 1, 1, 1;\n}"                \
        : D96("+f", 0)                                                    \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds))
#define WGMMA_256_OF_REGISTERS(types)                                      \
    asm volatile(                                                          \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %133, 0;\n"                \
        "wgmma.mma_async.sync.aligned.m64n256k16.f32." types " {" SUMS_128 \
        "}, {%128, %129, %130, %131}, %132, adds, 1, 1, 1;\n}"             \
        : D128("+f", 0)                                                    \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds))
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(SumOf<T> (&d)[8], uint64_t a, uint64_t b, int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_16("k16", "f32.f16.f16", ", 1, 1, %11, %12");
    if constexpr (std::is_same_v<T, __nv_bfloat16>)
        WGMMA_16("k16", "f32.bf16.bf16", ", 1, 1, %11, %12");
}
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(SumOf<T> (&d)[16], uint64_t a, uint64_t b, int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_32("k16", "f32.f16.f16", ", 1, 1, %19, %20");
    if constexpr (std::is_same_v<T, __nv_bfloat16>)
        WGMMA_32("k16", "f32.bf16.bf16", ", 1, 1, %19, %20");
}
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(SumOf<T> (&d)[32], uint64_t a, uint64_t b, int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_64("k16", "f32.f16.f16", ", 1, 1, %35, %36");
    if constexpr (std::is_same_v<T, __nv_bfloat16>)
        WGMMA_64("k16", "f32.bf16.bf16", ", 1, 1, %35, %36");
    if constexpr (std::is_same_v<T, float>) WGMMA_64("k8", "f32.tf32.tf32", ", 1, 1");
    if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) WGMMA_64("k32", "f32.e4m3.e4m3", ", 1, 1");
    if constexpr (std::is_same_v<T, int8_t>) WGMMA_64_OF_INTEGERS();
}
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(SumOf<T> (&d)[64], uint64_t a, uint64_t b, int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_128("k16", "f32.f16.f16", ", 1, 1, %67, %68");
    if constexpr (std::is_same_v<T, __nv_bfloat16>)
        WGMMA_128("k16", "f32.bf16.bf16", ", 1, 1, %67, %68");
    if constexpr (std::is_same_v<T, float>) WGMMA_128("k8", "f32.tf32.tf32", ", 1, 1");
    if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) WGMMA_128("k32", "f32.e4m3.e4m3", ", 1, 1");
    if constexpr (std::is_same_v<T, int8_t>) WGMMA_128_OF_INTEGERS();
}
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(SumOf<T> (&d)[128], uint64_t a, uint64_t b, int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_256("k16", "f32.f16.f16", ", 1, 1, %131, %132");
    if constexpr (std::is_same_v<T, __nv_bfloat16>)
        WGMMA_256("k16", "f32.bf16.bf16", ", 1, 1, %131, %132");
    if constexpr (std::is_same_v<T, float>) WGMMA_256("k8", "f32.tf32.tf32", ", 1, 1");
    if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) WGMMA_256("k32", "f32.e4m3.e4m3", ", 1, 1");
    if constexpr (std::is_same_v<T, int8_t>) WGMMA_256_OF_INTEGERS();
}
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(SumOf<T> (&d)[48], uint64_t a, uint64_t b, int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_96("k16", "f32.f16.f16", ", 1, 1, %51, %52");
    if constexpr (std::is_same_v<T, __nv_bfloat16>)
        WGMMA_96("k16", "f32.bf16.bf16", ", 1, 1, %51, %52");
}
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(SumOf<T> (&d)[96], uint64_t a, uint64_t b, int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_192("k16", "f32.f16.f16", ", 1, 1, %99, %100");
    if constexpr (std::is_same_v<T, __nv_bfloat16>)
        WGMMA_192("k16", "f32.bf16.bf16", ", 1, 1, %99, %100");
}
// The same with sums in half, two in a register.
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(uint32_t (&d)[16], uint64_t a, uint64_t b, int adds) {
    WGMMA_64_OF_HALVES();
}
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(uint32_t (&d)[32], uint64_t a, uint64_t b, int adds) {
    WGMMA_128_OF_HALVES();
}
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(uint32_t (&d)[48], uint64_t a, uint64_t b, int adds) {
    WGMMA_192_OF_HALVES();
}
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply_32_bytes(uint32_t (&d)[64], uint64_t a, uint64_t b, int adds) {
    WGMMA_256_OF_HALVES();
}
// The same for a turned B, and for A in registers: 64 rows of 16 elements, which warps and lanes hold as they hold results. See
// the layout of `a` in mma_instructions.cuh.
template <class T>
__device__ inline void multiply_registers(float (&d)[32], const uint32_t (&a)[4], uint64_t b,
                                          int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_64_OF_REGISTERS("f16.f16");
    if constexpr (std::is_same_v<T, __nv_bfloat16>) WGMMA_64_OF_REGISTERS("bf16.bf16");
}
template <class T>
__device__ inline void multiply_registers(float (&d)[48], const uint32_t (&a)[4], uint64_t b,
                                          int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_96_OF_REGISTERS("f16.f16");
    if constexpr (std::is_same_v<T, __nv_bfloat16>) WGMMA_96_OF_REGISTERS("bf16.bf16");
}
template <class T>
__device__ inline void multiply_registers(float (&d)[64], const uint32_t (&a)[4], uint64_t b,
                                          int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_128_OF_REGISTERS("f16.f16");
    if constexpr (std::is_same_v<T, __nv_bfloat16>) WGMMA_128_OF_REGISTERS("bf16.bf16");
}
template <class T>
__device__ inline void multiply_registers(float (&d)[96], const uint32_t (&a)[4], uint64_t b,
                                          int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_192_OF_REGISTERS("f16.f16");
    if constexpr (std::is_same_v<T, __nv_bfloat16>) WGMMA_192_OF_REGISTERS("bf16.bf16");
}
template <class T>
__device__ inline void multiply_registers(float (&d)[128], const uint32_t (&a)[4], uint64_t b,
                                          int adds) {
    if constexpr (std::is_same_v<T, __half>) WGMMA_256_OF_REGISTERS("f16.f16");
    if constexpr (std::is_same_v<T, __nv_bfloat16>) WGMMA_256_OF_REGISTERS("bf16.bf16");
}
#undef WGMMA_16
#undef WGMMA_32
#undef WGMMA_64
#undef WGMMA_128
#undef WGMMA_96
#undef WGMMA_192
#undef WGMMA_256
#undef WGMMA_64_OF_HALVES
#undef WGMMA_128_OF_HALVES
#undef WGMMA_192_OF_HALVES
#undef WGMMA_256_OF_HALVES
#undef WGMMA_64_OF_INTEGERS
#undef WGMMA_128_OF_INTEGERS
#undef WGMMA_256_OF_INTEGERS
#undef WGMMA_64_OF_REGISTERS
#undef WGMMA_96_OF_REGISTERS
#undef WGMMA_128_OF_REGISTERS
#undef WGMMA_192_OF_REGISTERS
#undef WGMMA_256_OF_REGISTERS
#undef D8
#undef D16
#undef D32
#undef D64
#undef D48
#undef D96
#undef D128
#undef SUMS_8
#undef SUMS_16
#undef SUMS_32
#undef SUMS_64
#undef SUMS_48
#undef SUMS_96
#undef SUMS_128

// Starts d = A B, or d += A B if `adds`, for 64 rows of A, two columns of B per sum of a thread, and 128 bytes along k, as one
// group of products. The instruction has the layouts as constants, so each pair of layouts is a branch; all threads take the
// same one.
template <class T, class Word, int kWords>
__device__ void multiply(Word (&d)[kWords], const Operand& a, const Operand& b, bool adds) {
    const auto start = [&](auto turned_a, auto turned_b) {
        begin_products();
#pragma unroll
        for (int i = 0; i < 4; ++i)
            multiply_32_bytes<T, decltype(turned_a)::value, decltype(turned_b)::value>(
                d, a[i], b[i], adds || i != 0);
        commit_products();
    };
    using No = std::false_type;
    using Yes = std::true_type;
    if constexpr (sizeof(T) != 2) {
        start(No{}, No{});
    } else if (a.turned) {
        b.turned ? start(Yes{}, Yes{}) : start(Yes{}, No{});
    } else {
        b.turned ? start(No{}, Yes{}) : start(No{}, No{});
    }
}
#endif

// Makes the tensor map for load_tile() of an operand with `count` rows of A or columns of B, in boxes of `box` if its lines run
// along k.
template <class T>
cudaError_t describe_operand(CUtensorMap* map, const Matrices<T>& x, bool turned, int64_t count,
                             int64_t k, int64_t batch, int box,
                             CUtensorMapDataType type = tensor_type<std::remove_const_t<T>>()) {
    return turned ? describe(map, x, k, count, batch, 64, type)
                  : describe(map, x, count, k, batch, box, type);
}

// Estimates, fitted to 21 shapes on an H200, whose multiprocessors are those of an H100. A multiprocessor loads 46 bytes per clock
// from the L2, but 34 of a B that the L2 does not hold; all of them together load 2100 from memory. Clocks of a line of 128 bytes:
inline constexpr double kClocksPerLine = 128. / 46, kClocksPerLineOfMemory = 128. / 34;
inline constexpr double kBytesOfMemoryPerClock = 2100;
template <class T, class Result>
double bytes_of_b(const Problem<T, Result>& g) {
    const double matrices =
        g.b.each == nullptr && g.b.stride == 0 ? 1 : static_cast<double>(g.batch);
    return sizeof(T) * matrices * static_cast<double>(g.n) * static_cast<double>(g.k);
}
// True if B comes from memory: if it is too large for the L2 and so few rows of C need it that it is read about once.
template <class T, class Result>
bool streams_b(const Problem<T, Result>& g) {
    return g.m <= 256 && bytes_of_b(g) > 40 << 20;
}

// Allows a kernel `bytes` of dynamic shared memory. Returns cudaErrorNotSupported if it was not compiled for sm_90a.
template <class Kernel>
cudaError_t prepare(Kernel kernel, unsigned bytes) {
    int is_prepared = 0;
    const auto ask = [=](int*, int) {
        const cudaError_t error = check_compiled(kernel);
        return error == cudaSuccess
                   ? cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(bytes))
                   : error;
    };
    return warp_softmax::ask_once(&is_prepared, ask, reinterpret_cast<const void*>(kernel));
}

}  // namespace hopper
}  // namespace batched_gemm
