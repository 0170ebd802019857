// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/split_k, version 1.0
//
// Products of few rows: mma_gemm's tiles would be too few for a GPU, so the blocks of a cluster share one along k.
//   new here   each block has the sum of its part of k; they add up through each other's shared memory, each a
//              part of the tile. Nothing goes through memory, and the order of the sum is always the same.
//              B may be asked for while kernels before it still run, as weights, which none of them writes
//   traffic    as mma with tiles of 64 x 64: 2k / 64 loads per element of C
//   accepts    __half, __nv_bfloat16; lines that begin and end at multiples of 16 bytes
//   needs      a GPU of compute capability 9.0
//   source     CUTLASS's split-k, whose parts add up in memory
#pragma once
#include <cooperative_groups.h>

#include "early_launch.cuh"
#include "mma_gemm.cuh"

namespace batched_gemm {

// 64 x 64 sums by four warps; four stages, since a block has little else that runs meanwhile.
using Few = MmaShape<2, 2, 32, 128, 4, 3, 32>;
constexpr int64_t kMostParts = 8;  // blocks that every GPU with clusters takes for one

// How a tile's sums lie in shared memory when its products are done. Lines begin 8 banks behind the one above.
struct SumsOfTile {
    static constexpr int kPitch = Few::kCols + 8;
    static constexpr size_t kBytes = sizeof(float) * Few::kRows * kPitch;
};

// Asks for what the epilogue adds to the columns from here on: a bias, which no kernel writes.
template <class Epilogue>
__device__ void ask_for_column(const Epilogue&, int64_t) {}
template <class T, class Activation>
__device__ void ask_for_column(const BiasActivation<T, Activation>& epilogue, int64_t col) {
    early_launch::ask_for(epilogue.bias.bias + col);
}

// Kernels that still run may write A, and C as it is before; not B, for which this one does not wait.
template <class T, class Layouts, class Epilogue>
__global__ void __launch_bounds__(Few::kThreads, Few::kAtOnce)
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
    cluster.sync();  // all parts are there

    constexpr int kPack = 4, kAcross = Few::kCols / kPack, kPacks = Few::kRows * kAcross;
    const int first = part * Few::kThreads + static_cast<int>(threadIdx.x);
    for (int i = first; i < kPacks; i += parts * Few::kThreads) {
        const int64_t c_row = tile.row + i / kAcross, c_col = tile.col + i % kAcross * kPack;
        const bool is_there = c_row < g.m && c_col < g.n;
        float4 four[kMostParts];
#pragma unroll
        for (int from = 0; from < kMostParts; ++from) {  // all under way before the first is needed
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
        // This was the last that the thread wanted: the others may go while it does the rest.
        if (i + parts * Few::kThreads >= kPacks) cluster.barrier_arrive();
        if (!is_there) continue;
        T* const c = &g.c[tile.batch](c_row, c_col);
        Pack<T, kPack> pack{};
        if (g.beta != 0.f) pack = *reinterpret_cast<const Pack<T, kPack>*>(c);
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            float result = g.alpha * total[j];
            if (g.beta != 0.f) result += g.beta * static_cast<float>(pack.element[j]);
            pack.element[j] = static_cast<T>(epilogue(result, tile.batch, c_row, c_col + j));
        }
        *reinterpret_cast<Pack<T, kPack>*>(c) = pack;
    }
    cluster.barrier_wait();  // nobody needs this block's sums any more
#endif
}

// Of so many parts at most: more tiles than the GPU takes at once want none, and each part needs a step along k.
template <class T>
int64_t split_k_parts(const Problem<T>& g, int64_t multiprocessors) {
    const double down = static_cast<double>((g.m + Few::kRows - 1) / Few::kRows);
    const double across = static_cast<double>((g.n + Few::kCols - 1) / Few::kCols);
    const double blocks = static_cast<double>(g.batch) * down * across;
    const auto places = static_cast<double>(Few::kAtOnce * multiprocessors);
    int64_t parts = 1;
    while (parts < kMostParts && static_cast<double>(2 * parts) * blocks <= places &&
           2 * parts * 64 <= g.k)
        parts *= 2;
    return parts;
}
// The same on the current device.
template <class T>
int64_t split_k_parts(const Problem<T>& g) {
    return split_k_parts(g, warp_softmax::device_attribute(cudaDevAttrMultiProcessorCount));
}

// epilogue(alpha A B + beta C), the sums along k shared by `parts` blocks, 1 to 8 (split_k_parts() names a good
// number). Asynchronous on stream. early: see early_launch.cuh; then none of the stream's kernels that may still
// run, as far back as they were launched early one behind the other, may write B. cudaErrorNotSupported where lines
// do not begin and end at multiples of 16 bytes, on GPUs without clusters, and where the kernel was compiled for
// older ones; cudaErrorInvalidValue for other numbers of parts.
template <class Layouts, class T, class Epilogue>
cudaError_t split_k_with(const Problem<T>& g, int64_t parts, const Epilogue& epilogue,
                         cudaStream_t stream, bool early = false) {
    static_assert(sizeof(T) == 2, "of floats tensor cores would drop bits");
    if (parts < 1 || parts > kMostParts) return cudaErrorInvalidValue;
    const auto kernel = split_k_kernel<T, Layouts, Epilogue>;
    using Tiles = MmaTiles<T, Layouts, Few, true>;
    constexpr size_t kOfTiles = sizeof(T) * Tiles::kStage * Few::kTiles;
    constexpr size_t kBytes = kOfTiles > SumsOfTile::kBytes ? kOfTiles : SumsOfTile::kBytes;
    const bool has_clusters = early_launch::is_possible(kernel) &&
                              warp_softmax::device_attribute(cudaDevAttrClusterLaunch) != 0;
    if (!has_clusters || !consists_of_packs(g)) {
        cudaError_t refusal = cudaSuccess;  // of what is empty, or wrong in any case, that is said
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

// The same without an epilogue, of any lines and however A and B are stored.
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
