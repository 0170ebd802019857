// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/one_tile, version 1.0
//
// Hopper's two asynchronous instructions in their smallest kernel: TMA copies tiles, wgmma multiplies them.
//   new here   one thread asks for a whole tile of A and one of B; an mbarrier counts their bytes; four warps together
//              multiply them straight from shared memory. Nothing overlaps yet: a tile arrives, is multiplied, is replaced
//   traffic    as tiled.cuh, with tiles of 64 x 64
//   accepts    half, matrices that are not transposed, of any size; lines that begin at multiples of 16 bytes
//   needs      compute capability 9.0, compiled for sm_90a
//   source     PTX ISA 9.0: cp.async.bulk.tensor, mbarrier, wgmma.mma_async
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../../04_warp_softmax/front_call.cuh"
#include "../problem.cuh"

namespace batched_gemm {

inline constexpr int kOneTile =
    64;  // of a tile; a row of 64 halves has the 128 bytes of the widest swizzle
inline constexpr unsigned kOneTileBytes = kOneTile * kOneTile * sizeof(__half);

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ inline unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// A phase of the barrier ends when `arrivals` threads and all expected bytes have arrived.
__device__ inline void init(uint64_t& barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
                 "r"(arrivals)
                 : "memory");
}
// Lets the copy engine and other blocks see all barriers that this thread has initialised.
__device__ inline void order_inits() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void arrive_and_expect(uint64_t& barrier, unsigned bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
        "r"(bytes)
        : "memory");
}
__device__ inline void wait(uint64_t& barrier, unsigned parity) {
    asm volatile(
        "{\n.reg .pred over;\nAGAIN:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra AGAIN;\n}" ::"r"(
            shared_address(&barrier)),
        "r"(parity)
        : "memory");
}

// Copies the tile whose first element is (row, column) of matrix number `batch`; zeros where the matrix has ended.
template <class T>
__device__ inline void load(T* tile, const CUtensorMap& map, int column, int row, int batch,
                            uint64_t& barrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(tile)),
        "l"(&map), "r"(column), "r"(row), "r"(batch), "r"(shared_address(&barrier))
        : "memory");
}

// Where wgmma finds a tile: its address, 1024 bytes from eight rows to the next eight, the swizzle of 128 bytes.
__device__ inline uint64_t descriptor(const __half* tile) {
    return (shared_address(tile) & 0x3ffffu) >> 4 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

// d += A B for 64 x 16 elements of A, whose rows run along k, and 16 x 64 of B, whose rows run along n.
#define FOUR(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
__device__ inline void multiply(float (&d)[32], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18,"
        " %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, "
        "1;"
        : FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28)
        : "l"(a), "l"(b));
}
#undef FOUR
#endif

// Block (x, y, z) computes tile (x, y) of C[z]. T: __half.
template <class T>
__global__ void __launch_bounds__(128)
    one_tile_kernel(const __grid_constant__ CUtensorMap a_map,
                    const __grid_constant__ CUtensorMap b_map, const Problem<T> g) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    __shared__ alignas(1024) T a[kOneTile * kOneTile], b[kOneTile * kOneTile];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) init(full, 1), order_inits();
    __syncthreads();

    const int row = static_cast<int>(blockIdx.x) * kOneTile,
              column = static_cast<int>(blockIdx.y) * kOneTile;
    const auto batch = static_cast<int>(blockIdx.z);
    float d[32] = {};
    unsigned parity = 0;
    for (int k = 0; k < g.k; k += kOneTile, parity ^= 1) {
        if (threadIdx.x == 0) {
            arrive_and_expect(full, 2 * kOneTileBytes);
            load(a, a_map, k, row, batch, full);
            load(b, b_map, column, k, batch, full);
        }
        wait(full, parity);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < kOneTile / 16; ++i)
            multiply(d, descriptor(a + 16 * i), descriptor(b + 16 * kOneTile * i));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }

    // Number i of a thread: rows 8 apart by pairs, columns 8 apart by fours.
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    for (int i = 0; i < 32; ++i) {
        write(g, g.c[batch], row + 16 * warp + lane / 4 + i / 2 % 2 * 8,
              column + i / 4 * 8 + lane % 4 * 2 + i % 2, d[i]);
    }
#else
    __trap();  // compiled for another architecture
#endif
}

// Finds the driver's function at run time, so that programs need not link the driver.
inline cudaError_t find_encoder(decltype(&cuTensorMapEncodeTiled)* encode) {
    return warp_softmax::ask_once(encode, [](decltype(&cuTensorMapEncodeTiled)* answer, int) {
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found{};
        const cudaError_t error = cudaGetDriverEntryPointByVersion(
            "cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
        *answer = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
        if (error != cudaSuccess) return error;
        return function != nullptr && found == cudaDriverEntryPointSuccess ? cudaSuccess
                                                                           : cudaErrorNotSupported;
    });
}

// A tensor map's word for T. Elements of one byte are copied as they are, whatever they mean.
template <class T>
constexpr CUtensorMapDataType tensor_type() {
    if (std::is_same_v<T, __half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    if (std::is_same_v<T, __nv_bfloat16>) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    if (std::is_same_v<T, float>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    return sizeof(T) == 4 ? CU_TENSOR_MAP_DATA_TYPE_INT32 : CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

// Makes a tensor map of matrices with `lines` lines of `length` elements, in swizzled tiles of box_lines x 128 bytes.
template <class T>
cudaError_t describe(CUtensorMap* map, const Matrices<T>& matrices, int64_t lines, int64_t length,
                     int64_t batch, int box_lines,
                     CUtensorMapDataType type = tensor_type<std::remove_const_t<T>>()) {
    using Element = std::remove_const_t<T>;
    decltype(&cuTensorMapEncodeTiled) encode = nullptr;
    const cudaError_t error = find_encoder(&encode);
    if (error != cudaSuccess) return error;
    const bool is_one = matrices.stride == 0 || batch == 1;  // one matrix for the whole batch
    const cuuint64_t sizes[] = {static_cast<cuuint64_t>(length), static_cast<cuuint64_t>(lines),
                                static_cast<cuuint64_t>(is_one ? 1 : batch)};
    const cuuint64_t pitches[] = {
        sizeof(T) * static_cast<cuuint64_t>(matrices.ld),
        sizeof(T) * static_cast<cuuint64_t>(is_one ? matrices.ld : matrices.stride)};
    const cuuint32_t box[] = {128 / sizeof(T), static_cast<cuuint32_t>(box_lines), 1};
    const cuuint32_t steps[] = {1, 1, 1};
    const CUresult result =
        encode(map, type, 3, const_cast<Element*>(matrices.data), sizes, pitches, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// Returns cudaErrorNotSupported if a kernel was not compiled for sm_90a: without its body it has no shared memory.
template <class Kernel>
cudaError_t check_compiled(Kernel kernel) {
    size_t shared_bytes_of_body = 0;
    const auto ask = [=](size_t* answer, int) {
        cudaFuncAttributes attributes{};
        const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
        *answer = attributes.sharedSizeBytes;
        return error;
    };
    const cudaError_t error =
        warp_softmax::ask_once(&shared_bytes_of_body, ask, reinterpret_cast<const void*>(kernel));
    if (error != cudaSuccess) return error;
    return shared_bytes_of_body == 0 ? cudaErrorNotSupported : cudaSuccess;
}

// True if TMA can load the matrices: lines and matrices begin at multiples of 16 bytes, and the host knows where.
template <class T>
bool is_loadable(const Matrices<T>& x, int64_t batch) {
    const int64_t apart = x.ld | (batch == 1 ? 0 : x.stride);
    return x.each == nullptr && reinterpret_cast<uintptr_t>(x.data) % 16 == 0 &&
           apart % static_cast<int64_t>(16 / sizeof(T)) == 0;
}
// True if TMA can store the matrices, `cols` columns of each line. It writes 16 bytes at once, and so what lies behind a line that
// ends within 16 bytes.
template <class T>
bool is_storable(const Matrices<T>& x, int64_t batch, int64_t cols) {
    return is_loadable(x, batch) && cols % static_cast<int64_t>(16 / sizeof(T)) == 0;
}
// True if no coordinate of a tile, also of one that hangs over the edge, is too large for TMA, which counts in 32 bits.
template <class T, class Result>
bool has_coordinates(const Problem<T, Result>& g) {
    return std::max({g.batch, g.m, g.n, g.k}) <= INT32_MAX - 512;
}

// True on Hopper if TMA can load A and B as they are stored, and the batch fits into a grid's third dimension.
template <class T>
bool is_for_tma(const Problem<T>& g) {
    return softmax_stages::this_chip().capability == 9 && g.k != 0 && !g.a.transposed &&
           !g.b.transposed && is_loadable(g.a, g.batch) && is_loadable(g.b, g.batch) &&
           g.batch <= 65535 && has_coordinates(g);
}

// Computes C = alpha A B + beta C. Returns cudaErrorNotSupported for problems outside `accepts` above, for a batch of more
// than 65535, and without Hopper.
inline cudaError_t one_tile(const Problem<__half>& g, cudaStream_t stream) {
    if (g.batch == 0 || g.m == 0 || g.n == 0) return cudaSuccess;
    if (!is_for_tma(g)) return cudaErrorNotSupported;
    if (g.batch > 1 && (g.a.stride == 0 || g.b.stride == 0)) return cudaErrorNotSupported;
    CUtensorMap a_map, b_map;
    cudaError_t error = check_compiled(one_tile_kernel<__half>);
    if (error == cudaSuccess) error = describe(&a_map, g.a, g.m, g.k, g.batch, kOneTile);
    if (error == cudaSuccess) error = describe(&b_map, g.b, g.k, g.n, g.batch, kOneTile);
    if (error != cudaSuccess) return error;
    const dim3 grid(static_cast<unsigned>((g.m - 1) / kOneTile + 1),
                    static_cast<unsigned>((g.n - 1) / kOneTile + 1),
                    static_cast<unsigned>(g.batch));
    one_tile_kernel<__half><<<grid, 128, 0, stream>>>(a_map, b_map, g);
    return cudaGetLastError();
}

}  // namespace batched_gemm
