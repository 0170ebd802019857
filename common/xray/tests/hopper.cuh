// SPDX-License-Identifier: MIT
//
// One kernel for each form of Hopper's bulk copies, tensor copies and wgmma. The test compares the x-ray's counts with
// counts by hand and with a GPU's counters, which record_instructions.sh records.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

namespace xray::hopper {

constexpr unsigned kBlocks = 3, kThreads = 128;
constexpr int kMostBytes = 16384;        // of global memory, and of shared memory
constexpr int kWidth = 128, kRows = 32;  // of the matrix of halves, where a case has no other

__device__ inline uint32_t in_shared(const void* pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void begin_phase(uint64_t* full, uint32_t bytes) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(in_shared(full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(in_shared(full)),
                 "r"(bytes)
                 : "memory");
}

__device__ inline void end_phase(uint64_t* full) {
    asm volatile(
        "{ .reg .pred over; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], 0; @!over "
        "bra "
        "AGAIN; }" ::"r"(in_shared(full))
        : "memory");
}

// Shared memory that the asynchronous proxy may read.
__device__ inline void fill(unsigned char* shared, unsigned bytes) {
    for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        reinterpret_cast<uint32_t*>(shared)[i] = 0;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
}

__device__ inline void end_stores() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// The first `kLanes` threads copy kBytes each, one behind the other, from kAt on.
#define XRAY_BULK_LOAD(name, kBytes, kAt, kLanes)                                              \
    __global__ void __launch_bounds__(kThreads)                                                \
        name([[maybe_unused]] const __grid_constant__ CUtensorMap map,                         \
             [[maybe_unused]] const unsigned char* from, [[maybe_unused]] unsigned char* to) { \
        __shared__ __align__(128) unsigned char tile[kMostBytes];                              \
        __shared__ uint64_t full;                                                              \
        if (threadIdx.x == 0) begin_phase(&full, (kBytes) * (kLanes));                         \
        __syncthreads();                                                                       \
        if (threadIdx.x < (kLanes)) {                                                          \
            asm volatile(                                                                      \
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "     \
                "[%1], %2, [%3];" ::"r"(in_shared(tile + threadIdx.x * (kBytes))),             \
                "l"(from + (kAt) + threadIdx.x * (kBytes)), "r"(kBytes), "r"(in_shared(&full)) \
                : "memory");                                                                   \
        }                                                                                      \
        end_phase(&full);                                                                      \
        if (threadIdx.x == 0) to[blockIdx.x] = tile[0];                                        \
    }
XRAY_BULK_LOAD(bulk_load_16, 16, 0, 1)
XRAY_BULK_LOAD(bulk_load_128, 128, 0, 1)
XRAY_BULK_LOAD(bulk_load_4096, 4096, 0, 1)
XRAY_BULK_LOAD(bulk_load_48_at_16, 48, 16, 1)
XRAY_BULK_LOAD(bulk_load_240_at_112, 240, 112, 1)
XRAY_BULK_LOAD(bulk_load_4096_at_16, 4096, 16, 1)
XRAY_BULK_LOAD(bulk_load_by_32_lanes, 64, 0, 32)
XRAY_BULK_LOAD(bulk_load_48_at_16_by_32_lanes, 48, 16, 32)

#define XRAY_BULK_STORE(name, op, kBytes, kAt)                                                 \
    __global__ void __launch_bounds__(kThreads)                                                \
        name([[maybe_unused]] const __grid_constant__ CUtensorMap map,                         \
             [[maybe_unused]] const unsigned char* from, [[maybe_unused]] unsigned char* to) { \
        __shared__ __align__(128) unsigned char tile[kBytes];                                  \
        fill(tile, kBytes);                                                                    \
        if (threadIdx.x == 0) {                                                                \
            asm volatile(op " [%0], [%1], %2;" ::"l"(to + blockIdx.x * kMostBytes + (kAt)),    \
                         "r"(in_shared(tile)), "r"(kBytes)                                     \
                         : "memory");                                                          \
            end_stores();                                                                      \
        }                                                                                      \
    }
#define XRAY_STORE "cp.async.bulk.global.shared::cta.bulk_group"
#define XRAY_REDUCE "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32"
XRAY_BULK_STORE(bulk_store_16, XRAY_STORE, 16, 0)
XRAY_BULK_STORE(bulk_store_4096, XRAY_STORE, 4096, 0)
XRAY_BULK_STORE(bulk_store_48_at_16, XRAY_STORE, 48, 16)
XRAY_BULK_STORE(bulk_store_4096_at_16, XRAY_STORE, 4096, 16)
XRAY_BULK_STORE(bulk_reduce_1024, XRAY_REDUCE, 1024, 0)
XRAY_BULK_STORE(bulk_reduce_1024_at_16, XRAY_REDUCE, 1024, 16)

// Loads a box of kBytes that begins at column kX of row kY. In a swizzle it may take up twice as many bytes. The blocks of a store write the same.
#define XRAY_TENSOR_LOAD(name, kBytes, kX, kY)                                                 \
    __global__ void __launch_bounds__(kThreads)                                                \
        name([[maybe_unused]] const __grid_constant__ CUtensorMap map,                         \
             [[maybe_unused]] const unsigned char* from, [[maybe_unused]] unsigned char* to) { \
        __shared__ __align__(1024) unsigned char tile[2 * (kBytes)];                           \
        __shared__ uint64_t full;                                                              \
        if (threadIdx.x == 0) {                                                                \
            begin_phase(&full, kBytes);                                                        \
            asm volatile(                                                                      \
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes " \
                "[%0], [%1, {%2, %3}], [%4];" ::"r"(in_shared(tile)),                          \
                "l"(&map), "r"(kX), "r"(kY), "r"(in_shared(&full))                             \
                : "memory");                                                                   \
        }                                                                                      \
        __syncthreads();                                                                       \
        end_phase(&full);                                                                      \
        if (threadIdx.x == 0) to[blockIdx.x] = tile[0];                                        \
    }
XRAY_TENSOR_LOAD(tensor_load_128, 1024, 0, 0)
XRAY_TENSOR_LOAD(tensor_load_128_at_8, 1024, 8, 1)
XRAY_TENSOR_LOAD(tensor_load_128_swizzled, 1024, 0, 0)
XRAY_TENSOR_LOAD(tensor_load_128_swizzled_at_8, 1024, 8, 1)
XRAY_TENSOR_LOAD(tensor_load_64_swizzled, 512, 0, 0)
XRAY_TENSOR_LOAD(tensor_load_32_swizzled, 256, 0, 0)
XRAY_TENSOR_LOAD(tensor_load_rows_of_16, 128, 0, 0)
XRAY_TENSOR_LOAD(tensor_load_rows_of_16_side_by_side, 512, 0, 0)
XRAY_TENSOR_LOAD(tensor_load_rows_of_128_side_by_side, 1024, 0, 0)
XRAY_TENSOR_LOAD(tensor_load_corner, 1024, kWidth - 32, kRows - 4)
XRAY_TENSOR_LOAD(tensor_load_before_it, 1024, -8, 0)
XRAY_TENSOR_LOAD(tensor_load_outside, 1024, kWidth, 0)
XRAY_TENSOR_LOAD(tensor_load_rows_of_256_at_8, 2048, 8, 0)
XRAY_TENSOR_LOAD(tensor_load_rows_of_80_at_24, 640, 24, 0)
XRAY_TENSOR_LOAD(tensor_load_beyond_rows_of_80, 1024, 8, 0)
XRAY_TENSOR_LOAD(tensor_load_rows_of_64_in_128, 512, 8, 0)

#define XRAY_TENSOR_STORE(name, op, kBytes, kX, kY)                                            \
    __global__ void __launch_bounds__(kThreads)                                                \
        name([[maybe_unused]] const __grid_constant__ CUtensorMap map,                         \
             [[maybe_unused]] const unsigned char* from, [[maybe_unused]] unsigned char* to) { \
        __shared__ __align__(1024) unsigned char tile[kBytes];                                 \
        fill(tile, kBytes);                                                                    \
        if (threadIdx.x == 0) {                                                                \
            asm volatile(op " [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(kX),                     \
                         "r"((kY) + static_cast<int>(blockIdx.x) * 8), "r"(in_shared(tile))    \
                         : "memory");                                                          \
            end_stores();                                                                      \
        }                                                                                      \
    }
#define XRAY_TENSOR "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
#define XRAY_TENSOR_REDUCE "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group"
XRAY_TENSOR_STORE(tensor_store_128, XRAY_TENSOR, 1024, 0, 0)
XRAY_TENSOR_STORE(tensor_store_128_swizzled, XRAY_TENSOR, 1024, 0, 0)
XRAY_TENSOR_STORE(tensor_store_128_at_8, XRAY_TENSOR, 1024, 8, 0)
XRAY_TENSOR_STORE(tensor_store_rows_of_16, XRAY_TENSOR, 128, 0, 0)
XRAY_TENSOR_STORE(tensor_store_right_edge, XRAY_TENSOR, 1024, kWidth - 32, 0)
XRAY_TENSOR_STORE(tensor_store_rows_of_16_side_by_side, XRAY_TENSOR, 128, 0, 0)
XRAY_TENSOR_STORE(tensor_store_rows_of_256_at_8, XRAY_TENSOR, 2048, 8, 0)
XRAY_TENSOR_STORE(tensor_reduce_128, XRAY_TENSOR_REDUCE, 1024, 0, 0)

// One product of 64 x 8 or 64 x 64 by k = 16, whose operands of halves have kSpan bytes to a row of the swizzle.
__device__ inline uint64_t descriptor(const void* matrix, int kSpan, uint32_t leading,
                                      uint32_t stride) {
    const uint64_t swizzle = kSpan == 128 ? 1 : kSpan == 64 ? 2 : kSpan == 32 ? 3 : 0;
    return uint64_t{(in_shared(matrix) & 0x3ffff) >> 4} | uint64_t{leading >> 4} << 16 |
           uint64_t{stride >> 4} << 32 | swizzle << 62;
}
// Contiguous core matrices: K-major, rows of a swizzle's span follow each other; MN-major, eight rows of k do.
__device__ inline uint64_t descriptor_of(const void* matrix, int kSpan, bool is_transposed) {
    const auto eight = static_cast<uint32_t>(kSpan == 0 ? 128 : 8 * kSpan);
    if (!is_transposed) return descriptor(matrix, kSpan, eight, kSpan == 0 ? 2 * eight : eight);
    return kSpan == 0 ? descriptor(matrix, 0, 8 * eight, eight)
                      : descriptor(matrix, kSpan, 2 * eight, eight);
}

__device__ inline void begin_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void end_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// Operand A in shared memory, both operands MN-major or neither; or in registers.
template <int kTransposed>
__device__ inline void multiply(float (&d)[32], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, "
        "%9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "
        "%27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, %34, %35;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
          "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
          "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
          "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b), "n"(kTransposed), "n"(kTransposed));
}
__device__ inline void multiply_registers(float (&d)[32], uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, "
        "%9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "
        "%27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
          "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
          "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
          "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "r"(0), "r"(0), "r"(0), "r"(0), "l"(b));
}
__device__ inline void multiply_narrow(float (&d)[4], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "l"(a), "l"(b));
}

#define XRAY_WGMMA(name, kFloats, kSpan, kTransposed, ...)                                     \
    __global__ void __launch_bounds__(kThreads)                                                \
        name([[maybe_unused]] const __grid_constant__ CUtensorMap map,                         \
             [[maybe_unused]] const unsigned char* from, [[maybe_unused]] unsigned char* to) { \
        __shared__ __align__(1024) unsigned char a[8192], b[8192];                             \
        fill(a, sizeof a);                                                                     \
        fill(b, sizeof b);                                                                     \
        [[maybe_unused]] const uint64_t of_a = descriptor_of(a, kSpan, kTransposed);           \
        const uint64_t of_b = descriptor_of(b, kSpan, kTransposed);                            \
        float d[kFloats] = {};                                                                 \
        begin_products();                                                                      \
        __VA_ARGS__;                                                                           \
        end_products();                                                                        \
        reinterpret_cast<float*>(to)[blockIdx.x * kThreads + threadIdx.x] = d[0];              \
    }
#define XRAY_WGMMA_OF(kSpan)                                                        \
    XRAY_WGMMA(wgmma_k_major_##kSpan, 32, kSpan, false, multiply<0>(d, of_a, of_b)) \
    XRAY_WGMMA(wgmma_mn_major_##kSpan, 32, kSpan, true, multiply<1>(d, of_a, of_b))
XRAY_WGMMA_OF(0)
XRAY_WGMMA_OF(32)
XRAY_WGMMA_OF(64)
XRAY_WGMMA_OF(128)
XRAY_WGMMA(wgmma_a_in_registers, 32, 128, false, multiply_registers(d, of_b))
XRAY_WGMMA(wgmma_n_8, 4, 128, false, multiply_narrow(d, of_a, of_b))

// One thread inits it, all arrive once, nobody waits.
__global__ void __launch_bounds__(kThreads)
    mbarrier_arrivals(const __grid_constant__ CUtensorMap, const unsigned char*, unsigned char*) {
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(in_shared(&barrier)),
                     "r"(2 * kThreads)
                     : "memory");
    }
    __syncthreads();
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(in_shared(&barrier)) : "memory");
}

struct Matrix {
    uint32_t width = kWidth, rows = kRows, box_width = 64, box_rows = 8;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
};

// By hand, for each block: instructions, and the sectors of their end in global memory; of wgmma the warps' instructions
// and the bytes of their operands in shared memory.
struct Case {
    const char* name;
    void (*kernel)(CUtensorMap, const unsigned char*, unsigned char*);
    enum class What : uint8_t { load, store, reduce, product, mbarrier } what;
    int instructions;
    int sectors;  // of a product: bytes
    int shared_bytes;
    Matrix matrix = {};
};

// A piece is the part of a row that goes to one line of 128 bytes of shared memory. It counts the sectors of 32 bytes that it
// touches; a load counts those outside the tensor as well. A product's operands have 32 bytes for each of the 64 rows of A and the n columns of B.
inline const std::vector<Case>& cases() {
    using What = Case::What;
    constexpr auto k128 = CU_TENSOR_MAP_SWIZZLE_128B, k64 = CU_TENSOR_MAP_SWIZZLE_64B,
                   k32 = CU_TENSOR_MAP_SWIZZLE_32B, kNone = CU_TENSOR_MAP_SWIZZLE_NONE;
    constexpr Matrix swizzled{kWidth, kRows, 64, 8, k128};
#define XRAY_CASE(kernel, ...) \
    { #kernel, kernel, __VA_ARGS__ }
    static const std::vector<Case> all = {
        XRAY_CASE(bulk_load_16, What::load, 1, 1, 16),
        XRAY_CASE(bulk_load_128, What::load, 1, 4, 128),
        XRAY_CASE(bulk_load_4096, What::load, 1, 128, 4096),
        XRAY_CASE(bulk_load_48_at_16, What::load, 1, 2, 48),
        XRAY_CASE(bulk_load_240_at_112, What::load, 1, 5 + 4, 240),
        XRAY_CASE(bulk_load_4096_at_16, What::load, 1, 32 * 5, 4096),
        XRAY_CASE(bulk_load_by_32_lanes, What::load, 32, 64, 2048),
        XRAY_CASE(bulk_load_48_at_16_by_32_lanes, What::load, 32, 32 * 2 + 8, 32 * 48),
        XRAY_CASE(bulk_store_16, What::store, 1, 1, 16),
        XRAY_CASE(bulk_store_4096, What::store, 1, 128, 4096),
        XRAY_CASE(bulk_store_48_at_16, What::store, 1, 2, 48),
        XRAY_CASE(bulk_store_4096_at_16, What::store, 1, 32 * 5, 4096),
        XRAY_CASE(bulk_reduce_1024, What::reduce, 1, 32, 1024),
        XRAY_CASE(bulk_reduce_1024_at_16, What::reduce, 1, 8 * 5, 1024),
        XRAY_CASE(tensor_load_128, What::load, 1, 8 * 4, 1024),
        XRAY_CASE(tensor_load_128_at_8, What::load, 1, 8 * 5, 1024),
        XRAY_CASE(tensor_load_128_swizzled, What::load, 1, 8 * 4, 1024, swizzled),
        XRAY_CASE(tensor_load_128_swizzled_at_8, What::load, 1, 8 * 5, 1024, swizzled),
        XRAY_CASE(tensor_load_64_swizzled, What::load, 1, 8 * 2, 512, {kWidth, kRows, 32, 8, k64}),
        XRAY_CASE(tensor_load_32_swizzled, What::load, 1, 8, 256, {kWidth, kRows, 16, 8, k32}),
        XRAY_CASE(tensor_load_rows_of_16, What::load, 1, 8, 128, {kWidth, kRows, 8, 8, kNone}),
        XRAY_CASE(tensor_load_rows_of_16_side_by_side, What::load, 1, 32, 512,
                  {8, kRows, 8, 32, kNone}),
        XRAY_CASE(tensor_load_rows_of_128_side_by_side, What::load, 1, 8 * 4, 1024,
                  {64, kRows, 64, 8, kNone}),
        XRAY_CASE(tensor_load_corner, What::load, 1, 8 * 4, 1024),
        XRAY_CASE(tensor_load_before_it, What::load, 1, 8 * 5, 1024),
        XRAY_CASE(tensor_load_outside, What::load, 1, 8 * 4, 1024),
        XRAY_CASE(tensor_load_rows_of_256_at_8, What::load, 1, 8 * 2 * 5, 2048,
                  {kWidth, kRows, 128, 8, kNone}),
        XRAY_CASE(tensor_load_rows_of_80_at_24, What::load, 1, 8 * 3 + 2, 640,
                  {kWidth, kRows, 40, 8, kNone}),
        XRAY_CASE(tensor_load_beyond_rows_of_80, What::load, 1, 4 * (5 + 4), 1024,
                  {40, kRows, 64, 8, kNone}),
        XRAY_CASE(tensor_load_rows_of_64_in_128, What::load, 1, 8 * 3, 512,
                  {kWidth, kRows, 32, 8, k128}),
        XRAY_CASE(tensor_store_128, What::store, 1, 8 * 4, 1024),
        XRAY_CASE(tensor_store_128_swizzled, What::store, 1, 8 * 4, 1024, swizzled),
        XRAY_CASE(tensor_store_128_at_8, What::store, 1, 8 * 5, 1024),
        XRAY_CASE(tensor_store_rows_of_16, What::store, 1, 8, 128, {kWidth, kRows, 8, 8, kNone}),
        XRAY_CASE(tensor_store_right_edge, What::store, 1, 8 * 2, 1024),
        XRAY_CASE(tensor_store_rows_of_16_side_by_side, What::store, 1, 8, 128,
                  {8, kRows, 8, 8, kNone}),
        XRAY_CASE(tensor_store_rows_of_256_at_8, What::store, 1, 8 * (5 + 4), 2048,
                  {kWidth, kRows, 128, 8, kNone}),
        XRAY_CASE(tensor_reduce_128, What::reduce, 1, 8 * 4, 1024),
        XRAY_CASE(wgmma_k_major_0, What::product, 4, (64 + 64) * 32, 0),
        XRAY_CASE(wgmma_k_major_32, What::product, 4, (64 + 64) * 32, 0),
        XRAY_CASE(wgmma_k_major_64, What::product, 4, (64 + 64) * 32, 0),
        XRAY_CASE(wgmma_k_major_128, What::product, 4, (64 + 64) * 32, 0),
        XRAY_CASE(wgmma_mn_major_0, What::product, 4, (64 + 64) * 32, 0),
        XRAY_CASE(wgmma_mn_major_32, What::product, 4, (64 + 64) * 32, 0),
        XRAY_CASE(wgmma_mn_major_64, What::product, 4, (64 + 64) * 32, 0),
        XRAY_CASE(wgmma_mn_major_128, What::product, 4, (64 + 64) * 32, 0),
        XRAY_CASE(wgmma_a_in_registers, What::product, 4, 64 * 32, 0),
        XRAY_CASE(wgmma_n_8, What::product, 4, (64 + 8) * 32, 0),
        XRAY_CASE(mbarrier_arrivals, What::mbarrier, 1 + kThreads / 32, 0, 0)};
#undef XRAY_CASE
    return all;
}

inline CUtensorMap map_of(const Matrix& matrix, void* memory) {
    void* encode = nullptr;
    cudaDriverEntryPointQueryResult found{};
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                     &found);
    const cuuint64_t sizes[] = {matrix.width, matrix.rows}, pitch[] = {matrix.width * 2};
    const cuuint32_t box[] = {matrix.box_width, matrix.box_rows}, steps[] = {1, 1};
    CUtensorMap map{};
    if (encode != nullptr) {
        reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
            &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, memory, sizes, pitch, box, steps,
            CU_TENSOR_MAP_INTERLEAVE_NONE, matrix.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }
    return map;
}

// `from` and `to` have kMostBytes for each block.
inline void launch(const Case& each, unsigned char* from, unsigned char* to) {
    const bool loads = each.what == Case::What::load;
    each.kernel<<<kBlocks, kThreads>>>(map_of(each.matrix, loads ? from : to), from, to);
}

#undef XRAY_BULK_LOAD
#undef XRAY_BULK_STORE
#undef XRAY_STORE
#undef XRAY_REDUCE
#undef XRAY_TENSOR_LOAD
#undef XRAY_TENSOR_STORE
#undef XRAY_TENSOR
#undef XRAY_TENSOR_REDUCE
#undef XRAY_WGMMA
#undef XRAY_WGMMA_OF

}  // namespace xray::hopper
