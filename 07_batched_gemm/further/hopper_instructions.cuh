// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/hopper_instructions, version 1.0
//
// Hopper's asynchronous instructions, one function each, beyond those in one_tile.cuh. ring.cuh and hopper_gemm.cuh use them.
//   new here   no idea of its own; one_tile.md explains the instructions
//   accepts    half and bfloat16, with sums in float
//   needs      compute capability 9.0, compiled for sm_90a; the device functions exist only there
//   source     PTX ISA 9.0: mbarrier, cp.async.bulk.tensor, wgmma.mma_async, stmatrix, setmaxnreg
#pragma once
#include "one_tile.cuh"

namespace batched_gemm {
namespace hopper {

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
// Waits until this thread's stores have read their shared memory.
__device__ inline void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
// Orders this thread's writes to shared memory before later reads by tensor copies.
__device__ inline void order_before_copies() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void prefetch(const CUtensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// ---- warps

// Synchronises the 128 threads of a warpgroup at one of the block's named barriers.
__device__ inline void synchronize_warpgroup(int number) {
    asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory");
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

// ---- wgmma

__device__ inline void begin_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void commit_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until all but the latest kGroups groups have finished.
template <int kGroups>
__device__ inline void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
}

// Descriptors of an operand in swizzled tiles whose lines have 64 elements. Lines run along k, or, if kTurned, along m or n;
// then the next 64 rows or columns begin kApart bytes further. operator[] returns the descriptor of a step of 16 along k.
template <bool kTurned, unsigned kApart>
struct Operand {
    static constexpr uint64_t kNext = (kTurned ? 16 * 128 : 16 * 2) >> 4;
    uint64_t descriptor;
    __device__ explicit Operand(const void* first)
        : descriptor((shared_address(first) & 0x3ffffu) >> 4 |
                     uint64_t{(kTurned ? kApart : 16) >> 4} << 16 | uint64_t{1024 >> 4} << 32 |
                     uint64_t{1} << 62) {}
    __device__ uint64_t operator[](int step) const { return descriptor + step * kNext; }
};

// Starts d = A B, or d += A B if `adds`, for 64 x 16 elements of A and 16 x 256 of B.
#define F4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define F16(i) F4(i), F4((i) + 4), F4((i) + 8), F4((i) + 12)
#define F64(i) F16(i), F16((i) + 16), F16((i) + 32), F16((i) + 48)
#define WGMMA_256(type)                                                                           \
    asm volatile(                                                                                 \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %130, 0;\n"                                       \
        "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type                              \
        " {"                                                                                      \
        " %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"                  \
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"        \
        " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"        \
        " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,"        \
        " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,"        \
        " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,"        \
        " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, " \
        "%111,"                                                                                   \
        " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "   \
        "%126, %127"                                                                              \
        "}, %128, %129, adds, 1, 1, %131, %132;\n}"                                               \
        : F64(0), F64(64)                                                                         \
        : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA), "n"(kTurnedB))
template <class T, bool kTurnedA, bool kTurnedB>
__device__ inline void multiply(float (&d)[128], uint64_t a, uint64_t b, int adds) {
    if constexpr (std::is_same_v<T, __half>) {
        WGMMA_256("f16");
    } else {
        WGMMA_256("bf16");
    }
}
#undef F4
#undef F16
#undef F64
#undef WGMMA_256
#endif

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
