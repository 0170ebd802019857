// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/few_rows, version 1.0
//
// Few rows on Hopper: the kernel reads B, such as the weights of a layer, once. That read is the least time it can take.
//   new here   after split_k.cuh and ring.cuh: C^T = B^T A^T. wgmma always multiplies 64 rows; here these are 64 columns of
//              B, and the few rows of A are wgmma's columns. A warp copies by TMA; the blocks of a cluster split k
//   traffic    B once, A once per 128 columns of C
//   accepts    half and bfloat16, sums in float; A and B each row-major or transposed; lines and matrices that begin and end
//              at multiples of 16 bytes; k > 0
//   needs      compute capability 9.0, compiled for sm_90a
//   source     PTX ISA 9.0; the exchanged operands of cuBLAS's and CUTLASS's kernels for few rows
#pragma once
#include "hopper_instructions.cuh"
#include "split_k.cuh"

namespace batched_gemm {

// A tile of C is kTileRows x 128: 16, 32, 64 or 128 rows. Two warpgroups multiply 64 columns each, one more warp copies. A
// multiprocessor holds two blocks, so one loads while the other adds up.
template <int kTileRows>
struct FewRowsTile {
    static constexpr int kRows = kTileRows, kCols = 128, kDeep = 64;
    static constexpr int kMultiplying = 256, kThreads = kMultiplying + 32;
    static constexpr int kOfA =
        (kRows < 64 ? 64 : kRows) * kDeep;  // room for lines of A that run along m
    static constexpr int kOfB = kCols * kDeep;
    static constexpr int kStages = kRows == 128 ? 3 : 4;
    static constexpr int kPitch = kCols + 4;  // floats; two rows of sums begin 8 banks apart
    static constexpr size_t kOfStages = size_t{2} * kStages * (kOfA + kOfB);
    static constexpr size_t kOfSums = sizeof(float) * kRows * kPitch;
    static constexpr size_t kBytes = 1024 + (kOfStages > kOfSums ? kOfStages : kOfSums);
};

// Block (x, y) sums part y of k for tile x. Earlier kernels that still run may write A and C, but not B, because this kernel
// reads B before it waits for them.
template <class T, class Tiles, class Epilogue>
__global__ void __launch_bounds__(Tiles::kThreads, 2)
    few_rows_kernel(const __grid_constant__ CUtensorMap a_map,
                    const __grid_constant__ CUtensorMap b_map, const Problem<T> g,
                    const Epilogue epilogue) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr int kStages = Tiles::kStages, kDeep = Tiles::kDeep;
    __shared__ uint64_t full[kStages], empty[kStages];
    T* const stages =
        reinterpret_cast<T*>(shared_bytes + (1024 - shared_address(shared_bytes) % 1024) % 1024);
    const auto a_of = [&](int stage) { return stages + stage * (Tiles::kOfA + Tiles::kOfB); };
    const auto b_of = [&](int stage) { return a_of(stage) + Tiles::kOfA; };
    if (threadIdx.x == 0) {
        for (int i = 0; i < kStages; ++i) init(full[i], 1), init(empty[i], 2);
    }
    __syncthreads();
    early_launch::let_next_begin();

    const auto cluster = cooperative_groups::this_cluster();
    const Tile tile(g.m, g.n, Tiles::kRows, Tiles::kCols);
    const int parts = static_cast<int>(gridDim.y), part = static_cast<int>(blockIdx.y);
    const int64_t all_steps = (g.k + kDeep - 1) / kDeep, begin = all_steps * part / parts;
    const int steps = static_cast<int>(all_steps * (part + 1) / parts - begin);
    const bool turned_a = g.a.transposed, turned_b = !g.b.transposed;  // lines do not run along k
    float* const own = reinterpret_cast<float*>(stages);
    const int warpgroup = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
    if (warpgroup == 2) {
        if (threadIdx.x % 32 == 0) {
            const int row = static_cast<int>(tile.row), col = static_cast<int>(tile.col),
                      batch_a = g.a.stride == 0 ? 0 : static_cast<int>(tile.batch),
                      batch_b = g.b.stride == 0 ? 0 : static_cast<int>(tile.batch);
            const auto k_of = [&](int step) { return static_cast<int>(begin + step) * kDeep; };
            const auto load_b = [&](int step, int stage) {
                constexpr unsigned kBytes = (Tiles::kRows + Tiles::kCols) * kDeep * sizeof(T);
                constexpr unsigned kOfPanels = (Tiles::kOfA + Tiles::kOfB) * sizeof(T);
                arrive_and_expect(full[stage], turned_a ? kOfPanels : kBytes);
                hopper::load_tile(reinterpret_cast<unsigned char*>(b_of(stage)), b_map, turned_b,
                                  col, Tiles::kCols, k_of(step), batch_b, full[stage]);
            };
            const auto load_a = [&](int step, int stage) {
                hopper::load_tile(reinterpret_cast<unsigned char*>(a_of(stage)), a_map, turned_a,
                                  row, Tiles::kRows, k_of(step), batch_a, full[stage]);
            };
            // B fills the ring before the kernel waits for the one that writes A.
            for (int step = 0; step < steps && step < kStages; ++step) load_b(step, step);
            early_launch::wait_for_earlier();
            for (int step = 0; step < steps && step < kStages; ++step) load_a(step, step);
            for (int step = kStages; step < steps; ++step) {
                const int stage = step % kStages;
                wait(empty[stage], step / kStages % 2 ^ 1);
                load_b(step, stage);
                load_a(step, stage);
            }
        }
        __syncwarp();
        cluster.sync();
    } else {
        early_launch::wait_for_earlier();  // C may be read and written from here on
        float sums[Tiles::kRows / 2] = {};
        for (int step = 0; step < steps; ++step) {
            const int stage = step % kStages;
            wait(full[stage], step / kStages % 2);
            constexpr unsigned kApart = 64 * kDeep * sizeof(T);
            const hopper::Operand weights(b_of(stage) + warpgroup * 64 * kDeep, turned_b, kApart);
            const hopper::Operand rows(a_of(stage), turned_a, kApart);
            hopper::multiply<T>(sums, weights, rows, step != 0);
            hopper::wait_for_products<0>();
            if (threadIdx.x % 128 == 0) hopper::arrive(empty[stage]);
        }
        // The stages have been read: sums take their place. Number i of a thread: columns of C 8 apart by pairs, rows 8
        // apart by fours.
        asm volatile("bar.sync 1, 256;" ::: "memory");
        const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
        const int col = thread / 32 * 16 + lane / 4, row = lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < Tiles::kRows / 2; ++i)
            own[(row + i / 4 * 8 + i % 2) * Tiles::kPitch + col + i / 2 % 2 * 8] = sums[i];
        cluster.sync();  // all blocks have stored their sums
    }
    if (warpgroup == 2) {
        if (parts > 1) cluster.barrier_arrive();
    } else {
        add_up<Tiles::kRows, Tiles::kCols, Tiles::kPitch, Tiles::kMultiplying>(
            cluster, own, static_cast<int>(threadIdx.x), g, epilogue, tile);
    }
    if (parts > 1) cluster.barrier_wait();  // all blocks have read this block's sums
#else
    __trap();  // compiled for another architecture
#endif
}

struct FewRowsPlan {
    int rows;   // of a tile: 16, 32, 64 or 128
    int parts;  // blocks that share k, 1 to kMostParts
};
// The number of clusters of each size that a GPU runs at the same time. A cluster lies in one group of multiprocessors, and
// groups differ in size, so this is less than all places divided by the size.
struct ClustersAtOnce {
    int64_t of[kMostParts + 1];
};

// Returns the rows of the lowest tiles that hold all rows of C.
template <class T>
int few_rows_height(const Problem<T>& g) {
    int rows = g.a.transposed ? 64 : 16;  // lines along m have 64 elements
    while (rows < 128 && rows < g.m) rows *= 2;
    return rows;
}
// Returns the number of parts with which the waves of clusters take the fewest steps.
template <class T>
int few_rows_parts(const Problem<T>& g, int rows, const ClustersAtOnce& clusters) {
    const double tiles = static_cast<double>(g.batch) * static_cast<double>((g.m - 1) / rows + 1) *
                         static_cast<double>((g.n - 1) / FewRowsTile<16>::kCols + 1);
    const auto load = [&](int parts) {
        return std::ceil(tiles / static_cast<double>(std::max<int64_t>(1, clusters.of[parts]))) /
               parts;
    };
    constexpr int64_t kFewestSteps = 4;  // of a part
    constexpr double kGain = 0.9;        // more parts must pay for adding up more sums
    int best = 1;
    for (int parts = 2; parts <= kMostParts; ++parts) {
        if (clusters.of[parts] > 0 && parts * kFewestSteps * 64 <= g.k &&
            load(parts) < kGain * load(best))
            best = parts;
    }
    return best;
}

// Sets *clusters to what the current device runs of tiles of this type.
template <class Tiles, class T, class Epilogue>
cudaError_t find_clusters(ClustersAtOnce* clusters) {
    const auto kernel = few_rows_kernel<T, Tiles, Epilogue>;
    const cudaError_t status = hopper::prepare(kernel, static_cast<unsigned>(Tiles::kBytes));
    if (status != cudaSuccess) return status;
    const auto ask = [=](ClustersAtOnce* answer, int) {
        for (int parts = 1; parts <= kMostParts; ++parts) {
            cudaLaunchAttribute cluster{};
            cluster.id = cudaLaunchAttributeClusterDimension;
            cluster.val.clusterDim.x = cluster.val.clusterDim.z = 1;
            cluster.val.clusterDim.y = static_cast<unsigned>(parts);
            cudaLaunchConfig_t config{};
            config.gridDim = dim3(1, static_cast<unsigned>(parts));
            config.blockDim = dim3(Tiles::kThreads);
            config.dynamicSmemBytes = Tiles::kBytes;
            config.attrs = &cluster;
            config.numAttrs = 1;
            int count = 0;
            const cudaError_t error = cudaOccupancyMaxActiveClusters(&count, kernel, &config);
            if (error != cudaSuccess) return error;
            answer->of[parts] = count;
        }
        return cudaSuccess;
    };
    return warp_softmax::ask_once(clusters, ask, reinterpret_cast<const void*>(kernel));
}

template <class Tiles, class T, class Epilogue>
cudaError_t launch_few_rows(const Problem<T>& g, int parts, const Epilogue& epilogue,
                            cudaStream_t stream, bool early) {
    const auto kernel = few_rows_kernel<T, Tiles, Epilogue>;
    cudaError_t error = hopper::prepare(kernel, static_cast<unsigned>(Tiles::kBytes));
    CUtensorMap a_map, b_map;
    if (error == cudaSuccess)
        error =
            hopper::describe_operand(&a_map, g.a, g.a.transposed, g.m, g.k, g.batch, Tiles::kRows);
    if (error == cudaSuccess)
        error =
            hopper::describe_operand(&b_map, g.b, !g.b.transposed, g.n, g.k, g.batch, Tiles::kCols);
    if (error != cudaSuccess) return error;
    cudaError_t launched = cudaSuccess;
    const cudaError_t refusal = launch_tiles(g, Tiles::kRows, Tiles::kCols, [&](unsigned blocks) {
        const auto of_tile = static_cast<unsigned>(parts);
        launched =
            early_launch::launch(kernel, dim3(blocks, of_tile), dim3(Tiles::kThreads),
                                 Tiles::kBytes, stream, early, of_tile, a_map, b_map, g, epilogue);
    });
    return launched == cudaSuccess ? refusal : launched;
}

// Calls run(FewRowsTile<rows>{}). Returns cudaErrorInvalidValue for other tiles, and for low ones if A is transposed.
template <class T, class Run>
cudaError_t with_few_rows_tile(const Problem<T>& g, int rows, Run run) {
    if (g.a.transposed && rows < 64) return cudaErrorInvalidValue;
    switch (rows) {
        case 16:
            return run(FewRowsTile<16>{});
        case 32:
            return run(FewRowsTile<32>{});
        case 64:
            return run(FewRowsTile<64>{});
        case 128:
            return run(FewRowsTile<128>{});
        default:
            return cudaErrorInvalidValue;
    }
}

// Computes C = epilogue(alpha A B + beta C). Asynchronous on stream. early: see early_launch.cuh; kernels of the stream that
// may still be running must then not write B. Returns cudaErrorNotSupported for problems outside `accepts` above and without
// Hopper; cudaErrorInvalidValue for tiles or parts that a plan may not have.
template <class T, class Epilogue>
cudaError_t few_rows_with(const Problem<T>& g, const FewRowsPlan& plan, const Epilogue& epilogue,
                          cudaStream_t stream, bool early = false) {
    if (plan.parts < 1 || plan.parts > kMostParts || plan.rows < 1) return cudaErrorInvalidValue;
    const cudaError_t status = status_of(g, plan.rows, FewRowsTile<16>::kCols);
    if (status != cudaSuccess || is_empty(g)) return status;
    if (softmax_stages::this_chip().capability != 9 || !consists_of_packs(g) || g.k == 0 ||
        !has_coordinates(g))
        return cudaErrorNotSupported;
    return with_few_rows_tile(g, plan.rows, [&](auto tiles) {
        return launch_few_rows<decltype(tiles)>(g, plan.parts, epilogue, stream, early);
    });
}
// The same with a plan for the current device.
template <class T, class Epilogue>
cudaError_t few_rows_with(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream,
                          bool early = false) {
    FewRowsPlan plan{few_rows_height(g), 1};
    const cudaError_t status = status_of(g, plan.rows, FewRowsTile<16>::kCols);
    if (status != cudaSuccess || is_empty(g)) return status;
    if (softmax_stages::this_chip().capability != 9) return cudaErrorNotSupported;
    ClustersAtOnce clusters{};
    const cudaError_t found = with_few_rows_tile(g, plan.rows, [&](auto tiles) {
        return find_clusters<decltype(tiles), T, Epilogue>(&clusters);
    });
    if (found != cudaSuccess) return found;
    plan.parts = few_rows_parts(g, plan.rows, clusters);
    return few_rows_with(g, plan, epilogue, stream, early);
}

// The same without an epilogue. Calls mma_gemm() for problems that the kernel does not accept.
template <class T>
cudaError_t few_rows_gemm(const Problem<T>& g, cudaStream_t stream) {
    const cudaError_t status = few_rows_with(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? mma_gemm(g, stream) : status;
}

}  // namespace batched_gemm
