// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/split_k, version 1.0
//
// Split-K for products with few rows: mma_gemm would have fewer tiles than a GPU has multiprocessors, so the blocks of
// a cluster split the k dimension of one tile.
//   new here   each block sums its part of k; then each block adds up one part of the tile, from the shared memory of
//              all blocks. No partial sum goes through global memory, and the order of the additions is fixed. The
//              kernel may request B, such as weights, while earlier kernels still run
//   traffic    as mma with tiles of 64 x 64: 2k / 64 loads per element of C
//   accepts    __half, __nv_bfloat16; lines that begin and end at multiples of 16 bytes
//   needs      a GPU of compute capability 9.0
//   source     CUTLASS's split-K, which adds the partial sums in global memory
#pragma once
#include <cooperative_groups.h>

#include "early_launch.cuh"
#include "mma_gemm.cuh"

namespace batched_gemm {

// Four warps compute 64 x 64 sums. There are four stages, because a multiprocessor has few blocks to hide a wait.
using Few = MmaShape<2, 2, 32, 128, 4, 3, 32>;
constexpr int64_t kMostParts = 8;  // blocks of a cluster on every GPU that has clusters

// The layout of a block's sums in shared memory. Each line begins 8 banks after the line above.
struct SumsOfTile {
    static constexpr int kPitch = Few::kCols + 8;
    static constexpr size_t kBytes = sizeof(float) * Few::kRows * kPitch;
};

// Prefetches the numbers that the epilogue adds to the columns from col on: a bias, which no kernel writes.
template <class Epilogue>
__device__ void ask_for_column(const Epilogue&, int64_t) {}
template <class T, class Activation>
__device__ void ask_for_column(const BiasActivation<T, Activation>& epilogue, int64_t col) {
    early_launch::ask_for(epilogue.bias.bias + col);
}

// Turns four sums of neighbouring columns into results and writes them.
template <class T, class Epilogue>
__device__ void write_four(const float (&sums)[4], const Problem<T>& g, const Epilogue& epilogue,
                           int64_t batch, int64_t row, int64_t col) {
    T* const c = &g.c[batch](row, col);
    Pack<T, 4> pack{};
    if (g.beta != 0.f) pack = *reinterpret_cast<const Pack<T, 4>*>(c);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        float result = g.alpha * sums[j];
        if (g.beta != 0.f) result += g.beta * static_cast<float>(pack.element[j]);
        pack.element[j] = static_cast<T>(epilogue(result, batch, row, col + j));
    }
    *reinterpret_cast<Pack<T, 4>*>(c) = pack;
}

// Adds up the sums that the blocks of a cluster have for one tile of C, in lines as in SumsOfTile, and writes results. Each
// block takes the same share of the tile, in whole warps. All blocks must have stored their sums. If there are several, other
// blocks may exit when cluster.barrier_wait() returns.
// Cluster: cooperative_groups::cluster_group, which is declared for sm_90 and later alone.
template <class Cluster, class T, class Epilogue>
__device__ void add_up(const Cluster& cluster, float* own, const Problem<T>& g,
                       const Epilogue& epilogue, const Tile& tile) {
    constexpr int kPack = 4, kAcross = Few::kCols / kPack, kLanes = 32;
    constexpr int kPitch = SumsOfTile::kPitch;
    const int64_t rows = g.m - tile.row < Few::kRows ? g.m - tile.row : Few::kRows;
    const int packs = static_cast<int>(rows) * kAcross, warps = (packs + kLanes - 1) / kLanes;
    const int parts = static_cast<int>(gridDim.y), part = static_cast<int>(blockIdx.y);
    const int first = warps * part / parts * kLanes + static_cast<int>(threadIdx.x),
              end = warps * (part + 1) / parts * kLanes;
    if (first >= end && parts > 1) cluster.barrier_arrive();
    for (int i = first; i < end; i += Few::kThreads) {
        const int64_t c_row = tile.row + i / kAcross, c_col = tile.col + i % kAcross * kPack;
        const bool is_there = i < packs && c_col < g.n;
        float4 four[kMostParts];
#pragma unroll
        for (int from = 0; from < kMostParts; ++from) {  // all loads are in flight at once
            if (!is_there || from >= parts) continue;
            const float* const theirs = cluster.map_shared_rank(own, from);
            four[from] = *reinterpret_cast<const float4*>(theirs + i / kAcross * kPitch +
                                                          i % kAcross * kPack);
        }
        float total[kPack] = {};
#pragma unroll
        for (int from = 0; from < kMostParts; ++from) {
            if (!is_there || from >= parts) continue;
            total[0] += four[from].x, total[1] += four[from].y;
            total[2] += four[from].z, total[3] += four[from].w;
        }
        // The thread has read its last sums: other blocks may exit while it writes.
        if (i + Few::kThreads >= end && parts > 1) cluster.barrier_arrive();
        if (!is_there) continue;
        write_four(total, g, epilogue, tile.batch, c_row, c_col);
    }
}

// Earlier kernels that still run may write A and C, but not B, because this kernel reads B before it waits for them.
template <class T, class Layouts, class Epilogue>
__global__ void __launch_bounds__(Few::kThreads, Few::kBlocksPerMultiprocessor)
    split_k_kernel(const Problem<T> g, const Epilogue epilogue) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    constexpr int kDeep = MmaTiles<T, Layouts, Few, true>::kDeep, kPitch = SumsOfTile::kPitch;
    early_launch::let_next_begin();
    const auto cluster = cooperative_groups::this_cluster();
    const Tile tile(g.m, g.n, Few::kRows, Few::kCols);
    const int parts = static_cast<int>(gridDim.y), part = static_cast<int>(blockIdx.y);
    const int64_t steps = (g.k + kDeep - 1) / kDeep;
    const int64_t begin = steps * part / parts * kDeep, end = steps * (part + 1) / parts * kDeep;

    WarpSums<float, Few> sums = {};
    multiply_tiles<Layouts, Few, true, float>(sums, g, tile, begin, end < g.k ? end : g.k, [&] {
        if (threadIdx.x == 0) ask_for_column(epilogue, tile.col);
        early_launch::wait_for_earlier();
    });

    float* const own = reinterpret_cast<float*>(shared_bytes);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp / Few::kWarpsAcross * Few::kSumRows + lane / 4;
    const int col = warp % Few::kWarpsAcross * Few::kSumCols + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < Few::kSumRows; i += 8) {
#pragma unroll
        for (int j = 0; j < Few::kSumCols; j += 8) {
            const float* const two = &sums[i / 16][j / 8][i / 8 % 2 * 2];
            *reinterpret_cast<float2*>(own + (row + i) * kPitch + col + j) =
                make_float2(two[0], two[1]);
        }
    }
    cluster.sync();  // all blocks have stored their sums

    add_up(cluster, own, g, epilogue, tile);
    if (parts > 1) cluster.barrier_wait();  // all blocks have read this block's sums
#endif
}

// Returns a good number of parts: as many as the GPU can hold in blocks, each with at least one step along k.
template <class T>
int64_t split_k_parts(const Problem<T>& g, int64_t multiprocessors) {
    const double down = static_cast<double>((g.m + Few::kRows - 1) / Few::kRows);
    const double across = static_cast<double>((g.n + Few::kCols - 1) / Few::kCols);
    const double blocks = static_cast<double>(g.batch) * down * across;
    const auto places = static_cast<double>(Few::kBlocksPerMultiprocessor * multiprocessors);
    int64_t parts = 1;
    while (parts < kMostParts && static_cast<double>(2 * parts) * blocks <= places &&
           2 * parts * 64 <= g.k)
        parts *= 2;
    return parts;
}
// The same for the current device.
template <class T>
int64_t split_k_parts(const Problem<T>& g) {
    return split_k_parts(g, warp_softmax::device_attribute(cudaDevAttrMultiProcessorCount));
}

// C = epilogue(alpha A B + beta C), where `parts` blocks, 1 to 8, share the sums of a tile (split_k_parts() returns a
// good number). Asynchronous on stream. early: see early_launch.cuh; kernels of the stream that may still be running
// must then not write B. Returns cudaErrorNotSupported if lines do not begin and end at multiples of 16 bytes, on GPUs
// without clusters, and if the kernel was compiled for older GPUs; cudaErrorInvalidValue for any other number of parts.
template <class Layouts, class T, class Epilogue>
cudaError_t split_k_with(const Problem<T>& g, int64_t parts, const Epilogue& epilogue,
                         cudaStream_t stream, bool early = false) {
    static_assert(sizeof(T) == 2, "tensor cores would drop bits of floats");
    if (parts < 1 || parts > kMostParts) return cudaErrorInvalidValue;
    const auto kernel = split_k_kernel<T, Layouts, Epilogue>;
    using Tiles = MmaTiles<T, Layouts, Few, true>;
    constexpr size_t kOfTiles = sizeof(T) * Tiles::kStage * Few::kStages;
    constexpr size_t kBytes = kOfTiles > SumsOfTile::kBytes ? kOfTiles : SumsOfTile::kBytes;
    const bool has_clusters = early_launch::is_possible(kernel) &&
                              warp_softmax::device_attribute(cudaDevAttrClusterLaunch) != 0;
    if (!has_clusters || !consists_of_packs(g)) {
        cudaError_t refusal = cudaSuccess;  // empty and invalid problems have a status of their own
        const cudaError_t status = launch_tiles(g, Few::kRows, Few::kCols,
                                                [&](unsigned) { refusal = cudaErrorNotSupported; });
        return status == cudaSuccess ? refusal : status;
    }
    int is_allowed = 0;
    const cudaError_t status = warp_softmax::ask_once(&is_allowed, [=](int*, int) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(kBytes));
    });
    if (status != cudaSuccess) return status;
    cudaError_t launched = cudaSuccess;
    const cudaError_t refusal = launch_tiles(g, Few::kRows, Few::kCols, [&](unsigned blocks) {
        const auto of_tile = static_cast<unsigned>(parts);
        launched = early_launch::launch(kernel, dim3(blocks, of_tile), dim3(Few::kThreads), kBytes,
                                        stream, early, of_tile, g, epilogue);
    });
    return launched == cudaSuccess ? refusal : launched;
}

// The same without an epilogue, for A and B in either layout; calls tensor_core() if split_k_with() is not supported.
template <class T>
cudaError_t split_k_gemm(const Problem<T>& g, int64_t parts, cudaStream_t stream) {
    using Col = nvcuda::wmma::col_major;
    using Row = nvcuda::wmma::row_major;
    const auto launch = [&](auto layouts) {
        return split_k_with<decltype(layouts)>(g, parts, Plain{}, stream);
    };
    const cudaError_t status =
        g.a.transposed   ? g.b.transposed ? launch(Stored<Col, Col>{}) : launch(Stored<Col, Row>{})
          : g.b.transposed ? launch(Stored<Row, Col>{})
                         : launch(Stored<Row, Row>{});
    return status == cudaErrorNotSupported ? tensor_core(g, stream) : status;
}

}  // namespace batched_gemm
