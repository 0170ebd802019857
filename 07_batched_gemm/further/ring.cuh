// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/ring, version 1.0
//
// Warp specialisation: one warp only copies, two warpgroups only multiply, so copies and products overlap.
//   new here   after one_tile.cuh: tiles of 128 x 256; a ring of four stages, each a tile of A and a tile of B with two
//              mbarriers: a phase of `full` ends when the bytes have arrived, a phase of `empty` when both warpgroups have
//              read them; setmaxnreg moves registers from the copying warps to the multiplying ones
//   traffic    loads per element of C: k / 256 + k / 128
//   accepts    half and bfloat16, matrices that are not transposed; lines and matrices that begin at multiples of 16 bytes
//   needs      compute capability 9.0, compiled for sm_90a
//   source     CUTLASS's warp-specialised kernels; PTX ISA 9.0
#pragma once
#include "hopper_instructions.cuh"

extern __shared__ __align__(128) unsigned char shared_bytes[];

namespace batched_gemm {

inline constexpr int kRingRows = 128, kRingCols = 256, kRingDeep = 64, kRingStages = 4;
inline constexpr int kRingA = kRingRows * kRingDeep, kRingB = kRingDeep * kRingCols;  // elements
inline constexpr unsigned kRingStageBytes = (kRingA + kRingB) * 2;
inline constexpr unsigned kRingBytes = kRingStages * kRingStageBytes + 1024;  // to align the first

// Block (x, y, z) computes tile (x, y) of C[z].
template <class T>
__global__ void __launch_bounds__(384, 1)
    ring_kernel(const __grid_constant__ CUtensorMap a_map,
                const __grid_constant__ CUtensorMap b_map, const Problem<T> g) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    __shared__ uint64_t full[kRingStages], empty[kRingStages];
    T* const tiles =
        reinterpret_cast<T*>(shared_bytes + (1024 - shared_address(shared_bytes) % 1024) % 1024);
    if (threadIdx.x == 0) {
        for (int i = 0; i < kRingStages; ++i) init(full[i], 1), init(empty[i], 2);
        order_inits();
    }
    __syncthreads();

    const int row = static_cast<int>(blockIdx.x) * kRingRows,
              col = static_cast<int>(blockIdx.y) * kRingCols, batch = static_cast<int>(blockIdx.z);
    const int warpgroup = hopper::uniform(static_cast<int>(threadIdx.x) / 128);
    if (warpgroup == 2) {
        hopper::give_registers<24>();
        if (threadIdx.x % 128 != 0) return;
        int stage = 0;
        unsigned parity = 1;  // the phase before the first has ended, so all stages are empty
        for (int k = 0; k < g.k; k += kRingDeep) {
            wait(empty[stage], parity);
            arrive_and_expect(full[stage], kRingStageBytes);
            T *const a = tiles + stage * (kRingA + kRingB), *const b = a + kRingA;
            load(a, a_map, k, row, g.a.stride == 0 ? 0 : batch, full[stage]);
            for (int i = 0; i < kRingCols; i += 64)
                load(b + i * kRingDeep, b_map, col + i, k, g.b.stride == 0 ? 0 : batch,
                     full[stage]);
            if (++stage == kRingStages) stage = 0, parity ^= 1;
        }
        return;
    }

    hopper::take_registers<240>();
    float sums[kRingCols / 2];
    int stage = 0;
    unsigned parity = 0;
    for (int k = 0; k < g.k; k += kRingDeep) {
        wait(full[stage], parity);
        const T* const of_stage = tiles + stage * (kRingA + kRingB);
        const hopper::Operand a(of_stage + warpgroup * 64 * kRingDeep, false, 0);
        const hopper::Operand b(of_stage + kRingA, true, 64 * kRingDeep * sizeof(T));
        hopper::multiply<T>(sums, a, b, k != 0);
        // The previous stage's products have finished, so the copying warp may fill that stage again.
        hopper::wait_for_products<1>();
        if (k != 0 && threadIdx.x % 128 == 0)
            hopper::arrive(empty[(stage + kRingStages - 1) % kRingStages]);
        if (++stage == kRingStages) stage = 0, parity ^= 1;
    }
    hopper::wait_for_products<0>();

    // Number i of a thread: rows 8 apart by pairs, columns 8 apart by fours.
    const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
    const Matrices<T> c = g.c[batch];
#pragma unroll
    for (int i = 0; i < kRingCols / 2; ++i) {
        write(g, c, row + warpgroup * 64 + thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8,
              col + i / 4 * 8 + lane % 4 * 2 + i % 2, sums[i]);
    }
#else
    __trap();  // compiled for another architecture
#endif
}

// Computes C = alpha A B + beta C. Returns cudaErrorNotSupported for problems outside `accepts` above, for a batch of more
// than 65535, and without Hopper.
template <class T>
cudaError_t ring(const Problem<T>& g, cudaStream_t stream) {
    if (g.batch == 0 || g.m == 0 || g.n == 0) return cudaSuccess;
    if (!is_for_tma(g)) return cudaErrorNotSupported;
    const auto kernel = ring_kernel<T>;
    CUtensorMap a_map, b_map;
    cudaError_t error = hopper::prepare(kernel, kRingBytes);
    if (error == cudaSuccess) error = describe(&a_map, g.a, g.m, g.k, g.batch, kRingRows);
    if (error == cudaSuccess) error = describe(&b_map, g.b, g.k, g.n, g.batch, kRingDeep);
    if (error != cudaSuccess) return error;
    const dim3 grid(static_cast<unsigned>((g.m - 1) / kRingRows + 1),
                    static_cast<unsigned>((g.n - 1) / kRingCols + 1),
                    static_cast<unsigned>(g.batch));
    kernel<<<grid, 384, kRingBytes, stream>>>(a_map, b_map, g);
    return cudaGetLastError();
}

}  // namespace batched_gemm
