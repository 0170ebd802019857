// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/hopper_gemm, version 1.0
//
// Matrix products at the speed of Hopper's tensor cores: a persistent, warp-specialised kernel.
//   new here   after ring.cuh: blocks are persistent, so the next tile's operands arrive while a block writes results; the
//              two blocks of a cluster share their tiles of B: each loads one half and multicasts it; the order of tiles
//              reuses lines in the L2; results leave through stmatrix and tensor stores; an epilogue
//   traffic    loads per element of C: k / 256 + k / 256, because a cluster computes 256 x 256
//   accepts    half and bfloat16, sums in float; A and B each row-major or transposed, lines and matrices of A and B that
//              begin at multiples of 16 bytes, any C; k > 0
//   needs      compute capability 9.0, compiled for sm_90a
//   source     PTX ISA 9.0; CUTLASS's warp-specialised persistent kernels; public worklogs of products on an H100
#pragma once
#include "hopper_instructions.cuh"
#include "mma_gemm.cuh"

namespace batched_gemm {

// A tile of C is 128 x kColumns: 64, 128 or 256. A block has three warpgroups: two multiply 64 rows each, the last one copies.
// Shared memory holds a ring of stages, each a tile of A and a tile of B with 64 elements along k, and a patch per multiplying
// warpgroup for slices of 64 x 64 results. A patch for all 256 columns would cost a stage.
template <int kColumns>
struct HopperTile {
    static constexpr int kRows = 128, kCols = kColumns, kDeep = 64;
    static constexpr int kStages = kCols == 256 ? 4 : kCols == 128 ? 6 : 8;
    static constexpr int kMultipliers = 2, kThreads = (kMultipliers + 1) * 128;
    static constexpr int kOfA = kRows * kDeep, kOfB = kCols * kDeep;  // elements
    static constexpr int kSlice = 64 * 64, kSlices = kCols == 64 ? 1 : 2;
    static constexpr int kPatch = kSlices * kSlice;
    static constexpr int kSums = kCols / 2;  // of a thread
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

// A stage of a ring and the parity of its barriers' current phase.
template <int kStages>
struct RingPlace {
    int stage = 0;
    unsigned parity = 0;
    __device__ void advance() {
        if (++stage == kStages) stage = 0, parity ^= 1;
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

// A thread's results of a tile, rounded and two in a word, and where the tile begins. They leave while the warpgroup
// multiplies the next tile: no result has to wait for shared memory before the tensor cores continue.
template <class T, class Tile>
struct LeavingResults {
    static constexpr int kParts = Tile::kCols / 64 / Tile::kSlices;
    const Problem<T>& g;
    const CUtensorMap* c_map;  // nullptr if TMA cannot store C
    T* patch;                  // the warpgroup's
    int warpgroup;
    uint32_t pairs[Tile::kSums / 2] = {};
    int row = 0, col = 0, batch = 0;

    __device__ void take(const float (&results)[Tile::kSums]) {
#pragma unroll
        for (int i = 0; i < Tile::kSums / 2; ++i)
            pairs[i] = hopper::two_as_word<T>(results[2 * i], results[2 * i + 1]);
    }
    // Writes part `number` of the warpgroup's 64 rows; does nothing if there is none.
    __device__ void leave(int number) const {
        if (number == 0) leave<0>();
        if constexpr (kParts == 2) {
            if (number == 1) leave<1>();
        }
    }

private:
    // stmatrix stores slices of 64 columns in the patch, whose lines are swizzled, and tensor stores copy them to C. The
    // stores skip rows and columns outside C.
    template <int kPart>
    __device__ void leave() const {
        constexpr int kSlice = Tile::kSlice, kSlices = Tile::kSlices;
        const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
        const int line = thread / 32 * 16 + lane % 16;  // the line whose address this lane passes
        if (thread == 0) hopper::wait_for_stores();
        hopper::synchronize_warpgroup(1 + warpgroup);
#pragma unroll
        for (int j = 0; j < 4 * kSlices; ++j) {
            const uint32_t* const of = pairs + (kPart * 4 * kSlices + j) * 4;
            const int chunk = j % 4 * 2 + lane / 16;
            hopper::store_matrices(patch + j / 4 * kSlice + line * 64 + (chunk ^ line % 8) * 8,
                                   {of[0], of[1], of[2], of[3]});
        }
        const int first_col = col + kPart * kSlices * 64;
        if (c_map == nullptr) return write_lines(first_col);
        hopper::order_before_copies();
        hopper::synchronize_warpgroup(1 + warpgroup);
        if (thread == 0) {
            for (int slice = 0; slice < kSlices; ++slice)
                hopper::store(*c_map, first_col + slice * 64, row, batch, patch + slice * kSlice);
            hopper::commit_stores();
        }
    }
    // Each warp writes the 16 lines that it has stored in the patch, element by element.
    __device__ void write_lines(int first_col) const {
        __syncwarp();
        const Matrices<T> c = g.c[batch];
        const int warp = static_cast<int>(threadIdx.x) / 32 % 4,
                  lane = static_cast<int>(threadIdx.x) % 32;
        for (int i = 0; i < 16 * Tile::kSlices; ++i) {
            const int line = warp * 16 + i % 16, slice = i / 16;
            for (int j = lane; j < 64; j += 32) {
                const int64_t to_row = row + line, to_col = first_col + slice * 64 + j;
                if (to_row < g.m && to_col < g.n)
                    c(to_row, to_col) =
                        patch[slice * Tile::kSlice + line * 64 + ((j / 8 ^ line % 8) * 8 + j % 8)];
            }
        }
    }
};
#endif

template <class T, class Tile, class Epilogue>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    hopper_kernel(const __grid_constant__ CUtensorMap a_map,
                  const __grid_constant__ CUtensorMap b_map,
                  const __grid_constant__ CUtensorMap c_map, const Problem<T> g,
                  const TileOrder order, const bool stores_tensors, const Epilogue epilogue) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr int kStages = Tile::kStages, kDeep = Tile::kDeep;
    __shared__ uint64_t full[kStages], empty[kStages];
    T* const tiles =
        reinterpret_cast<T*>(shared_bytes + (1024 - shared_address(shared_bytes) % 1024) % 1024);
    const auto a_of = [&](int stage) { return tiles + stage * (Tile::kOfA + Tile::kOfB); };
    const auto b_of = [&](int stage) { return a_of(stage) + Tile::kOfA; };

    const bool turned_a = g.a.transposed, turned_b = !g.b.transposed;  // lines do not run along k
    const int rank = hopper::rank_in_cluster(), blocks = hopper::blocks_of_cluster();
    if (threadIdx.x == 0) {
        hopper::prefetch(a_map), hopper::prefetch(b_map);
        if (stores_tensors) hopper::prefetch(c_map);
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
    RingPlace<kStages> place;
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
                    if (turned_a) {
                        for (int i = 0; i < Tile::kRows; i += 64)
                            load(a + i * kDeep, a_map, row + i, k, batch_a, barrier);
                    } else {
                        load(a, a_map, k, row, batch_a, barrier);
                    }
                    // Each block loads its part of B for all blocks of the cluster.
                    const int piece = turned_b ? 64 : Tile::kCols / 2;  // columns
                    for (int i = rank * piece; i < Tile::kCols; i += blocks * piece) {
                        if (turned_b) {
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
        // One thread per block of the cluster arrives there, because each block writes to this block's stages.
        const auto release = [&](int stage) {
            const int thread = static_cast<int>(threadIdx.x) % 128;
            if (thread < blocks) hopper::arrive_at(empty[stage], thread);
        };
        float sums[Tile::kSums];
        LeavingResults<T, Tile> results{
            g, stores_tensors ? &c_map : nullptr,
            tiles + kStages * (Tile::kOfA + Tile::kOfB) + warpgroup * Tile::kPatch, warpgroup};
        for (int number = first; number < order.count; number += apart) {
            const ClusterTile tile(order, number);
            const bool are_waiting = number != first;  // results of the tile before
            int previous = 0;
            for (int step = 0; step < steps; ++step) {
                wait(full[place.stage], place.parity);
                constexpr unsigned kApart = 64 * kDeep * sizeof(T);
                const hopper::Operand a(a_of(place.stage) + warpgroup * 64 * kDeep, turned_a,
                                        kApart);
                const hopper::Operand b(b_of(place.stage), turned_b, kApart);
                hopper::multiply<T>(sums, a, b, step != 0);
                // These products keep the tensor cores busy while results leave and the previous stage is released.
                if (are_waiting) results.leave(step);
                if (step != 0) {
                    hopper::wait_for_products<1>();
                    release(previous);
                }
                previous = place.stage;
                place.advance();
            }
            if (are_waiting && steps == 1) results.leave(1);
            hopper::wait_for_products<0>();
            release(previous);
            results.row = (tile.row * blocks + rank) * Tile::kRows + warpgroup * 64;
            results.col = tile.col * Tile::kCols;
            results.batch = tile.batch;
            finish(sums, g, epilogue, results.batch, results.row, results.col);
            results.take(sums);
        }
        if (first < order.count) {
            results.leave(0);
            results.leave(1);
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
    int cols;    // of a tile: 64, 128 or 256
    int blocks;  // of a cluster; they share their tiles of B
    int band;    // rows of tiles, see TileOrder
};
// Returns two blocks per cluster, unless the second would have no rows, and the narrowest tiles that hold all columns.
template <class T>
HopperPlan hopper_plan(const Problem<T>& g) {
    const int cols = g.n <= 64 ? 64 : g.n <= 128 ? 128 : 256;
    return g.m <= 128 ? HopperPlan{cols, 1, 8} : HopperPlan{cols, 2, 4};
}

template <class Tile, class T, class Epilogue>
cudaError_t launch_hopper_tiles(const Problem<T>& g, const HopperPlan& plan, int64_t at_once,
                                const Epilogue& epilogue, cudaStream_t stream) {
    const auto kernel = hopper_kernel<T, Tile, Epilogue>;
    cudaError_t error = hopper::prepare(kernel, Tile::kBytes);
    CUtensorMap a_map, b_map, c_map{};
    if (error == cudaSuccess)
        error = g.a.transposed ? describe(&a_map, g.a, g.k, g.m, g.batch, Tile::kDeep)
                               : describe(&a_map, g.a, g.m, g.k, g.batch, Tile::kRows);
    if (error == cudaSuccess)
        error = g.b.transposed ? describe(&b_map, g.b, g.n, g.k, g.batch, Tile::kCols / 2)
                               : describe(&b_map, g.b, g.k, g.n, g.batch, Tile::kDeep);
    const bool stores_tensors = is_loadable(g.c);
    if (error == cudaSuccess && stores_tensors)
        error = describe(&c_map, g.c, g.m, g.n, g.batch, 64);
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
    return cudaLaunchKernelEx(&config, kernel, a_map, b_map, c_map, g, order, stores_tensors,
                              epilogue);
}

// Computes C = epilogue(alpha A B + beta C) with at most `at_once` blocks. Returns cudaErrorNotSupported for problems outside
// `accepts` above, for 2^30 tiles or more, and without Hopper; cudaErrorInvalidValue for other tiles than the plan may have.
template <class T, class Epilogue>
cudaError_t launch_hopper(const Problem<T>& g, const HopperPlan& plan, int64_t at_once,
                          const Epilogue& epilogue, cudaStream_t stream) {
    const cudaError_t status = status_of(g, HopperTile<64>::kRows, plan.cols);
    if (status != cudaSuccess || is_empty(g)) return status;
    if (softmax_stages::this_chip().capability != 9 || !is_loadable(g.a) || !is_loadable(g.b) ||
        g.k == 0)
        return cudaErrorNotSupported;
    switch (plan.cols) {
        case 64:
            return launch_hopper_tiles<HopperTile<64>>(g, plan, at_once, epilogue, stream);
        case 128:
            return launch_hopper_tiles<HopperTile<128>>(g, plan, at_once, epilogue, stream);
        case 256:
            return launch_hopper_tiles<HopperTile<256>>(g, plan, at_once, epilogue, stream);
        default:
            return cudaErrorInvalidValue;
    }
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
