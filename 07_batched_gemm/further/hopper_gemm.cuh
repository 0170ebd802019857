// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/hopper_gemm, version 1.0
//
// Matrix products at the speed of Hopper's tensor cores: a persistent, warp-specialised kernel.
//   new here   after ring.cuh: blocks are persistent, so the next tile's operands arrive while a block writes results; the
//              two blocks of a cluster share their tiles of B: each loads one half and multicasts it; the order of tiles
//              reuses lines in the L2; results leave through stmatrix and tensor stores; an epilogue
//   traffic    loads per element of C: k / 256 + k / 256, because a cluster computes 256 x 256
//   accepts    half and bfloat16, sums in float; A and B each row-major or transposed; lines and matrices that begin and end
//              at multiples of 16 bytes; k > 0
//   needs      compute capability 9.0, compiled for sm_90a
//   source     PTX ISA 9.0; CUTLASS's warp-specialised persistent kernels; public worklogs of products on an H100
#pragma once
#include "hopper_instructions.cuh"
#include "mma_gemm.cuh"

namespace batched_gemm {

// A tile of C is 128 x 256. A block has three warpgroups: two multiply 64 rows each, the last one copies. Shared memory holds
// four stages, each a tile of A and a tile of B with 64 elements along k, and a patch per multiplying warpgroup for two slices
// of 64 x 64 results. A patch for all results would cost a stage.
struct HopperTile {
    static constexpr int kRows = 128, kCols = 256, kDeep = 64, kStages = 4;
    static constexpr int kMultipliers = 2, kThreads = (kMultipliers + 1) * 128;
    static constexpr int kOfA = kRows * kDeep, kOfB = kCols * kDeep;  // elements
    static constexpr int kSlice = 64 * 64, kSlices = 2, kPatch = kSlices * kSlice;
    static constexpr unsigned kStageBytes = (kOfA + kOfB) * 2;
    static constexpr unsigned kBytes =
        kStages * kStageBytes + kMultipliers * kPatch * 2 + 1024;  // the last to align the first
};

// The order of the clusters' tiles. Consecutive tiles go down a band of `band` rows of tiles, then to the next column. Clusters
// that run at the same time therefore read few different lines of A and B, which stay in the L2.
struct TileOrder {
    int down, across, band, count;
};
struct ClusterTile {
    int row, col, batch;
    __device__ ClusterTile(const TileOrder& order, int number) {
        const int of_matrix = order.down * order.across;
        batch = number / of_matrix;
        const int within = number % of_matrix;
        const int first = within / (order.band * order.across) * order.band;
        const int height = order.down - first < order.band ? order.down - first : order.band;
        const int in_band = within - first * order.across;
        row = first + in_band % height;
        col = in_band / height;
    }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// A stage of the ring and the parity of its barriers' current phase.
struct RingPlace {
    int stage = 0;
    unsigned parity = 0;
    __device__ void advance() {
        if (++stage == HopperTile::kStages) stage = 0, parity ^= 1;
    }
};

// Calls each(sum, row, column) for each of the thread's sums; the warpgroup's 64 rows begin at first_row.
template <int kSums, class Each>
__device__ void for_each_sum(float (&sums)[kSums], int64_t first_row, int64_t first_col,
                             Each each) {
    const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
    const int64_t row = first_row + thread / 32 * 16 + lane / 4, col = first_col + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kSums; ++i) each(sums[i], row + i / 2 % 2 * 8, col + i / 4 * 8 + i % 2);
}

// Turns sums into results. Products with beta or an epilogue run loops of their own, so plain ones do not pay for them.
template <int kSums, class T, class Epilogue>
__device__ void finish(float (&sums)[kSums], const Problem<T>& g, const Epilogue& epilogue,
                       int batch, int first_row, int first_col) {
    if (g.beta == 0.f) {
        if (g.alpha != 1.f) {
#pragma unroll
            for (int i = 0; i < kSums; ++i) sums[i] *= g.alpha;
        }
    } else {
        const Matrices<T> c = g.c[batch];
        for_each_sum(sums, first_row, first_col, [&](float& sum, int64_t row, int64_t col) {
            if (row < g.m && col < g.n)
                sum = g.alpha * sum + g.beta * static_cast<float>(c(row, col));
        });
    }
    if constexpr (!std::is_same_v<Epilogue, Plain>) {
        for_each_sum(sums, first_row, first_col, [&](float& sum, int64_t row, int64_t col) {
            if (row < g.m && col < g.n) sum = epilogue(sum, batch, row, col);
        });
    }
}

// Rounds a warpgroup's 64 rows of results and writes them, two slices at a time: stmatrix stores a slice in the patch, whose
// lines are swizzled, and a tensor store copies it to C. The store skips rows and columns outside C.
template <class T>
__device__ void write_rows(const float (&results)[HopperTile::kCols / 2], const CUtensorMap& c_map,
                           int batch, int row, int col, T* patch, int warpgroup) {
    constexpr int kSlice = HopperTile::kSlice, kSlices = HopperTile::kSlices;
    const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
    const int line = thread / 32 * 16 + lane % 16;  // the line whose address this lane passes
#pragma unroll
    for (int first = 0; first < HopperTile::kCols / 64; first += kSlices) {
        if (thread == 0) hopper::wait_for_stores();
        hopper::synchronize_warpgroup(1 + warpgroup);
#pragma unroll
        for (int j = 0; j < 4 * kSlices; ++j) {
            const float* const of = results + first * 32 + j * 8;
            const uint32_t pairs[4] = {
                hopper::two_as_word<T>(of[0], of[1]), hopper::two_as_word<T>(of[2], of[3]),
                hopper::two_as_word<T>(of[4], of[5]), hopper::two_as_word<T>(of[6], of[7])};
            const int chunk = j % 4 * 2 + lane / 16;
            hopper::store_matrices(patch + j / 4 * kSlice + line * 64 + (chunk ^ line % 8) * 8,
                                   pairs);
        }
        hopper::order_before_copies();
        hopper::synchronize_warpgroup(1 + warpgroup);
        if (thread == 0) {
            for (int slice = 0; slice < kSlices; ++slice)
                hopper::store(c_map, col + (first + slice) * 64, row, batch,
                              patch + slice * kSlice);
            hopper::commit_stores();
        }
    }
}
#endif

// kTurnedA: lines of A run along m, not along k. kTurnedB: lines of B run along n.
template <class T, bool kTurnedA, bool kTurnedB, class Epilogue>
__global__ void __launch_bounds__(HopperTile::kThreads, 1)
    hopper_kernel(const __grid_constant__ CUtensorMap a_map,
                  const __grid_constant__ CUtensorMap b_map,
                  const __grid_constant__ CUtensorMap c_map, const Problem<T> g,
                  const TileOrder order, const Epilogue epilogue) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    using Tile = HopperTile;
    constexpr int kStages = Tile::kStages, kDeep = Tile::kDeep;
    __shared__ uint64_t full[kStages], empty[kStages];
    T* const tiles =
        reinterpret_cast<T*>(shared_bytes + (1024 - shared_address(shared_bytes) % 1024) % 1024);
    const auto a_of = [&](int stage) { return tiles + stage * (Tile::kOfA + Tile::kOfB); };
    const auto b_of = [&](int stage) { return a_of(stage) + Tile::kOfA; };

    const int rank = hopper::rank_in_cluster(), blocks = hopper::blocks_of_cluster();
    if (threadIdx.x == 0) {
        hopper::prefetch(a_map), hopper::prefetch(b_map), hopper::prefetch(c_map);
        for (int i = 0; i < kStages; ++i) {
            init(full[i], 1);
            init(empty[i], Tile::kMultipliers * blocks);
        }
    }
    hopper::arrive_at_cluster();
    hopper::wait_for_cluster();

    const int warpgroup = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
    const int steps = static_cast<int>((g.k + kDeep - 1) / kDeep);
    const int first = static_cast<int>(blockIdx.x) / blocks,
              apart = static_cast<int>(gridDim.x) / blocks;
    RingPlace place;
    if (warpgroup == Tile::kMultipliers) {
        hopper::give_registers<40>();
        if (threadIdx.x % 128 == 0) {
            const auto load_b = [&](T* to, int column, int row, int batch, uint64_t& barrier) {
                if (blocks == 1) return load(to, b_map, column, row, batch, barrier);
                hopper::load_for((1 << blocks) - 1, to, b_map, column, row, batch, barrier);
            };
            for (int number = first; number < order.count; number += apart) {
                const ClusterTile tile(order, number);
                const int row = (tile.row * blocks + rank) * Tile::kRows,
                          col = tile.col * Tile::kCols;
                const int batch_a = g.a.stride == 0 ? 0 : tile.batch,
                          batch_b = g.b.stride == 0 ? 0 : tile.batch;
                for (int step = 0; step < steps; ++step, place.advance()) {
                    // Wait until all blocks of the cluster have read this stage, because a multicast writes to each.
                    wait(empty[place.stage], place.parity ^ 1);
                    uint64_t& barrier = full[place.stage];
                    arrive_and_expect(barrier, Tile::kStageBytes);
                    T *const a = a_of(place.stage), *const b = b_of(place.stage);
                    const int k = step * kDeep;
                    if constexpr (kTurnedA) {
                        for (int i = 0; i < Tile::kRows; i += 64)
                            load(a + i * kDeep, a_map, row + i, k, batch_a, barrier);
                    } else {
                        load(a, a_map, k, row, batch_a, barrier);
                    }
                    // Each block loads its part of B for all blocks of the cluster.
                    constexpr int kPiece = kTurnedB ? 64 : Tile::kCols / 2;  // columns
                    for (int i = rank * kPiece; i < Tile::kCols; i += blocks * kPiece) {
                        if constexpr (kTurnedB) {
                            load_b(b + i * kDeep, col + i, k, batch_b, barrier);
                        } else {
                            load_b(b + i * kDeep, k, col + i, batch_b, barrier);
                        }
                    }
                }
            }
        }
        __syncwarp();
    } else {
        hopper::take_registers<232>();
        T* const patch = tiles + kStages * (Tile::kOfA + Tile::kOfB) + warpgroup * Tile::kPatch;
        // One thread per block of the cluster arrives there, because each block writes to this block's stages.
        const auto release = [&](int stage) {
            const int thread = static_cast<int>(threadIdx.x) % 128;
            if (thread < blocks) hopper::arrive_at(empty[stage], thread);
        };
        float sums[Tile::kCols / 2];
        for (int number = first; number < order.count; number += apart) {
            const ClusterTile tile(order, number);
            int previous = 0;
            for (int step = 0; step < steps; ++step) {
                wait(full[place.stage], place.parity);
                constexpr unsigned kApart = 64 * kDeep * sizeof(T);
                const hopper::Operand<kTurnedA, kApart> a(a_of(place.stage) +
                                                          warpgroup * 64 * kDeep);
                const hopper::Operand<kTurnedB, kApart> b(b_of(place.stage));
                hopper::begin_products();
#pragma unroll
                for (int i = 0; i < kDeep / 16; ++i)
                    hopper::multiply<T, kTurnedA, kTurnedB>(sums, a[i], b[i], step + i);
                hopper::commit_products();
                // These products keep the tensor cores busy while the previous stage is released.
                if (step != 0) {
                    hopper::wait_for_products<1>();
                    release(previous);
                }
                previous = place.stage;
                place.advance();
            }
            hopper::wait_for_products<0>();
            release(previous);
            const int row = (tile.row * blocks + rank) * Tile::kRows + warpgroup * 64,
                      col = tile.col * Tile::kCols;
            finish(sums, g, epilogue, tile.batch, row, col);
            write_rows(sums, c_map, tile.batch, row, col, patch, warpgroup);
        }
        if (threadIdx.x % 128 == 0)
            hopper::wait_for_stores();  // the stores read this block's patch
        __syncwarp();
    }
    // No block may exit while another one multicasts to its memory or arrives at its barriers.
    hopper::arrive_at_cluster();
    hopper::wait_for_cluster();
#else
    __trap();  // compiled for another architecture
#endif
}

struct HopperPlan {
    int blocks;  // of a cluster; they share their tiles of B
    int band;    // rows of tiles, see TileOrder
};
// Returns two blocks per cluster, unless the second would have no rows.
template <class T>
HopperPlan hopper_plan(const Problem<T>& g) {
    return g.m <= HopperTile::kRows ? HopperPlan{1, 8} : HopperPlan{2, 4};
}

template <bool kTurnedA, bool kTurnedB, class T, class Epilogue>
cudaError_t launch_hopper_kernel(const Problem<T>& g, const HopperPlan& plan, int64_t at_once,
                                 const Epilogue& epilogue, cudaStream_t stream) {
    using Tile = HopperTile;
    const auto kernel = hopper_kernel<T, kTurnedA, kTurnedB, Epilogue>;
    cudaError_t error = hopper::prepare(kernel, Tile::kBytes);
    CUtensorMap a_map, b_map, c_map;
    if (error == cudaSuccess)
        error = kTurnedA ? describe(&a_map, g.a, g.k, g.m, g.batch, Tile::kDeep)
                         : describe(&a_map, g.a, g.m, g.k, g.batch, Tile::kRows);
    if (error == cudaSuccess)
        error = kTurnedB ? describe(&b_map, g.b, g.k, g.n, g.batch, Tile::kDeep)
                         : describe(&b_map, g.b, g.n, g.k, g.batch, Tile::kCols / 2);
    if (error == cudaSuccess) error = describe(&c_map, g.c, g.m, g.n, g.batch, 64);
    if (error != cudaSuccess) return error;

    const int64_t rows = Tile::kRows * plan.blocks;
    const int64_t down = (g.m - 1) / rows + 1, across = (g.n - 1) / Tile::kCols + 1;
    const int64_t count = g.batch * down * across;
    if (count > INT32_MAX / 2) return cudaErrorNotSupported;  // tile numbers and `apart` are added
    const TileOrder order{static_cast<int>(down), static_cast<int>(across), plan.band,
                          static_cast<int>(count)};
    const int64_t clusters = std::min(count, std::max<int64_t>(1, at_once / plan.blocks));
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(plan.blocks);
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(clusters * plan.blocks));
    config.blockDim = dim3(Tile::kThreads);
    config.dynamicSmemBytes = Tile::kBytes;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, a_map, b_map, c_map, g, order, epilogue);
}

// Computes C = epilogue(alpha A B + beta C) with at most `at_once` blocks. Returns cudaErrorNotSupported for problems outside
// `accepts` above, for 2^30 tiles or more, and without Hopper.
template <class T, class Epilogue>
cudaError_t launch_hopper(const Problem<T>& g, const HopperPlan& plan, int64_t at_once,
                          const Epilogue& epilogue, cudaStream_t stream) {
    const cudaError_t status = status_of(g, HopperTile::kRows, HopperTile::kCols);
    if (status != cudaSuccess || is_empty(g)) return status;
    if (softmax_stages::this_chip().capability != 9 || !consists_of_packs(g) || g.k == 0)
        return cudaErrorNotSupported;
    const auto launch = [&](auto turned_a, auto turned_b) {
        return launch_hopper_kernel<decltype(turned_a)::value, decltype(turned_b)::value>(
            g, plan, at_once, epilogue, stream);
    };
    using No = std::false_type;
    using Yes = std::true_type;
    if (g.a.transposed) return g.b.transposed ? launch(Yes{}, No{}) : launch(Yes{}, Yes{});
    return g.b.transposed ? launch(No{}, No{}) : launch(No{}, Yes{});
}
template <class T, class Epilogue>
cudaError_t hopper_with(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream) {
    return launch_hopper(g, hopper_plan(g), softmax_stages::this_chip().multiprocessors, epilogue,
                         stream);
}

// The same without an epilogue. Calls mma_gemm() for problems that the kernel does not accept.
template <class T>
cudaError_t hopper_gemm(const Problem<T>& g, cudaStream_t stream) {
    const cudaError_t status = hopper_with(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? mma_gemm(g, stream) : status;
}

}  // namespace batched_gemm
