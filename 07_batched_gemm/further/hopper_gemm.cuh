// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/hopper_gemm, version 1.0
//
// Matrix products at the speed of Hopper's tensor cores: a persistent, warp-specialised kernel.
//   new here   after ring.cuh: blocks are persistent, and a tile's results leave, through stmatrix and tensor stores, beside
//              the next tile's products; the two blocks of a cluster share their tiles of B: each loads one half and
//              multicasts it; the order of tiles reuses lines in the L2; an epilogue
//   traffic    loads per element of C: k / 256 + k / 256, because a cluster computes 256 x 256
//   accepts    half and bfloat16, sums in float, of half also in half; A and B each row-major or transposed, lines and matrices
//              of A and B that begin at multiples of 16 bytes, any C; k > 0. With A row-major and B transposed also e4m3 and
//              float (as tf32), and int8_t with sums in int. Results are half, bfloat16, float, e4m3, int8_t or, of int8_t, int
//   needs      compute capability 9.0, compiled for sm_90a
//   source     PTX ISA 9.0; CUTLASS's warp-specialised persistent kernels; public worklogs of products on an H100
#pragma once
#include "hopper_instructions.cuh"
#include "mma_gemm.cuh"

namespace batched_gemm {

// A tile of C is 128 x kColumns: 64, 128 or 256. A block has three warpgroups: two multiply 64 rows each, the last one copies.
// Shared memory holds a ring of stages, each a tile of A and a tile of B with 128 bytes along k, and a patch per multiplying
// warpgroup for slices of results: 64 rows of 128 bytes. A patch for all 256 columns would cost a stage. Sizes are in bytes.
template <int kColumns>
struct HopperTile {
    static constexpr int kRows = 128, kCols = kColumns, kLine = 128;
    static constexpr int kStages = kCols == 256 ? 4 : kCols == 128 ? 6 : 8;
    static constexpr int kMultipliers = 2, kThreads = (kMultipliers + 1) * 128;
    static constexpr int kOfA = kRows * kLine, kOfB = kCols * kLine;
    static constexpr int kSlice = 64 * kLine, kSlices = kCols == 64 ? 1 : 2;
    static constexpr int kPatch = kSlices * kSlice;
    static constexpr int kSums = kCols / 2;  // of a thread
    static constexpr unsigned kStageBytes = kOfA + kOfB;
    static constexpr unsigned kBytes =
        kStages * kStageBytes + kMultipliers * kPatch + 1024;  // the last to align the first
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

// True for an epilogue that has, in place of operator(), a function finish_tile(sums, g, batch, first_row, first_col) for all
// of the thread's sums of a tile. It can therefore reduce them over a row or a tile.
template <class Epilogue, class = void>
constexpr bool kFinishesTiles = false;
template <class Epilogue>
constexpr bool kFinishesTiles<Epilogue, std::enable_if_t<Epilogue::kFinishesTiles>> = true;

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

// Returns g.c[batch].data. (nvcc 13.0 fails if it may assume that a pointer to __nv_fp8_e4m3 is global.)
template <class T, class Result>
__device__ Result* results_of(const Problem<T, Result>& g, int batch) {
    Result* const first = g.c.each == nullptr ? g.c.data + batch * g.c.stride : g.c.each[batch];
    if constexpr (sizeof(Result) > 1) {
        __builtin_assume(__isGlobal(first));
    }
    return first;
}

// Calls each(sum, row, column) for each of the thread's sums that C has; the warpgroup's 64 rows begin at first_row.
template <int kSums, class T, class Result, class Each>
__device__ void for_each_sum(float (&sums)[kSums], const Problem<T, Result>& g, int first_row,
                             int first_col, Each each) {
    const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
    const int row = first_row + thread / 32 * 16 + lane / 4, col = first_col + lane % 4 * 2;
    const auto walk = [&](auto is_whole) {
#pragma unroll
        for (int i = 0; i < kSums; ++i) {
            // The compiler moves no load across this, so it needs registers for 16 loads and not for all.
            if (i % 16 == 0) __syncwarp();
            const int at_row = row + i / 2 % 2 * 8, at_col = col + i / 4 * 8 + i % 2;
            if (decltype(is_whole)::value || (at_row < g.m && at_col < g.n))
                each(sums[i], at_row, at_col);
        }
    };
    // A branch per sum would keep loads from overlapping; most tiles need none.
    if (first_row + 64 <= g.m && first_col + 2 * kSums <= g.n) {
        walk(std::true_type{});
    } else {
        walk(std::false_type{});
    }
}

// Turns sums into results. Products with beta or an epilogue run loops of their own, so plain ones do not pay for them.
template <int kSums, class T, class Result, class Epilogue>
__device__ void finish(float (&sums)[kSums], const Problem<T, Result>& g, const Epilogue& epilogue,
                       int batch, int first_row, int first_col) {
    if (g.beta == 0.f) {
        if (g.alpha != 1.f) {
#pragma unroll
            for (int i = 0; i < kSums; ++i) sums[i] *= g.alpha;
        }
    } else {
        const Result* const c = results_of(g, batch);
        const int64_t ld = g.c.ld;
        for_each_sum(sums, g, first_row, first_col, [&](float& sum, int row, int col) {
            sum = g.alpha * sum + g.beta * static_cast<float>(c[row * ld + col]);
        });
    }
    if constexpr (kFinishesTiles<Epilogue>) {
        epilogue.finish_tile(sums, g, batch, first_row, first_col);
    } else if constexpr (!std::is_same_v<Epilogue, Plain>) {
        for_each_sum(sums, g, first_row, first_col,
                     [&](float& sum, int row, int col) { sum = epilogue(sum, batch, row, col); });
    }
}

// A thread's results of a tile, as words of one, two or four results, and where the tile begins. They leave while the warpgroup
// multiplies the next tile: no result has to wait for shared memory before the tensor cores continue.
template <class T, class Result, class Tile>
struct LeavingResults {
    static constexpr int kSize = sizeof(Result);
    static constexpr int kSliceCols = Tile::kLine / kSize;  // of C
    static constexpr int kSlices = Tile::kCols / kSliceCols < Tile::kSlices
                                       ? Tile::kCols / kSliceCols
                                       : Tile::kSlices;  // that leave together
    static_assert(kSlices > 0, "the tile is narrower than a line of results");
    static constexpr int kParts = Tile::kCols / kSliceCols / kSlices;
    static constexpr int kWords = Tile::kSums * kSize / 4;
    static_assert(kParts <= 2, "a part leaves beside each of the next tile's first two steps");
    const Problem<T, Result>& g;
    const CUtensorMap* c_map;  // nullptr if TMA cannot store C
    unsigned char* patch;      // the warpgroup's
    int warpgroup;
    uint32_t words[kWords] = {};
    int row = 0, col = 0, batch = 0;

    template <class Sum>
    __device__ void take(const Sum (&results)[Tile::kSums]) {
#pragma unroll
        for (int i = 0; i < kWords; ++i) {
            if constexpr (kSize == 1) {
                words[i] = hopper::four_as_word<Result>(results[4 * i], results[4 * i + 1],
                                                        results[4 * i + 2], results[4 * i + 3]);
            } else if constexpr (kSize == 2) {
                words[i] = hopper::two_as_word<Result>(results[2 * i], results[2 * i + 1]);
            } else {
                const auto result = static_cast<Result>(results[i]);
                memcpy(&words[i], &result, sizeof result);
            }
        }
    }
    // Writes part `number` of the warpgroup's 64 rows; does nothing if there is none.
    __device__ void leave(int number) const {
        if (number == 0) leave<0>();
        if constexpr (kParts == 2) {
            if (number == 1) leave<1>();
        }
    }

private:
    // Stores slices of results in the patch, whose lines are swizzled; tensor stores copy them to C and skip rows and columns
    // outside C.
    template <int kPart>
    __device__ void leave() const {
        const int thread = static_cast<int>(threadIdx.x) % 128;
        if (thread == 0) hopper::wait_for_stores();
        hopper::synchronize_warpgroup(1 + warpgroup);
        store_in_patch(words + kPart * kSlices * kSlice32);
        const int first_col = col + kPart * kSlices * kSliceCols;
        if (c_map == nullptr) return write_lines(first_col);
        hopper::order_before_copies();
        hopper::synchronize_warpgroup(1 + warpgroup);
        if (thread == 0) {
            for (int slice = 0; slice < kSlices; ++slice)
                hopper::store(*c_map, first_col + slice * kSliceCols, row, batch,
                              patch + slice * Tile::kSlice);
            hopper::commit_stores();
        }
    }
    static constexpr int kSlice32 = Tile::kSlice / 128 / 4;  // words of a slice that a thread has

    // The place of 16 bytes of a slice's line.
    __device__ unsigned char* place(int slice, int line, int chunk) const {
        return patch + slice * Tile::kSlice + line * Tile::kLine + (chunk ^ line % 8) * 16;
    }
    __device__ void store_in_patch(const uint32_t* of) const {
        const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
        const int first_line = thread / 32 * 16;
#pragma unroll
        for (int i = 0; i < kSlices * kSlice32; i += 4) {
            const int slice = i / kSlice32, group = i % kSlice32 / 4;
            if constexpr (kSize == 1) {  // a word has two columns of 8, in two rows
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    const int of_slice = i % kSlice32 + j / 2, below = j % 2 * 8;
                    unsigned char* const chunk =
                        place(slice, first_line + lane / 4 + below, of_slice / 2);
                    *reinterpret_cast<uint16_t*>(chunk + of_slice % 2 * 8 + lane % 4 * 2) =
                        static_cast<uint16_t>(of[i + j / 2] >> (j % 2 * 16));
                }
            } else if constexpr (kSize == 2) {  // a group has 16 columns
                hopper::store_matrices(place(slice, first_line + lane % 16, 2 * group + lane / 16),
                                       {of[i], of[i + 1], of[i + 2], of[i + 3]});
            } else {  // 8 columns. Two lines of a pair have their chunks in the same banks, so odd lines take another group.
                const bool is_odd = lane / 4 % 2 != 0;
                const int other = (i ^ 8), chosen_group = is_odd ? group ^ 2 : group;
#pragma unroll
                for (int half = 0; half < 4; half += 2) {
                    unsigned char* const chunk = place(slice, first_line + lane / 4 + 4 * half,
                                                       2 * chosen_group + lane % 4 / 2);
                    *reinterpret_cast<uint2*>(chunk + lane % 2 * 8) =
                        make_uint2(is_odd ? of[other + half] : of[i + half],
                                   is_odd ? of[other + half + 1] : of[i + half + 1]);
                }
            }
        }
    }
    // Each warp writes the 16 lines that it has stored in the patch, element by element.
    __device__ void write_lines(int first_col) const {
        __syncwarp();
        constexpr int kOfChunk = 16 / kSize;
        const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
        const int first_line = thread / 32 * 16;
        const int lines = static_cast<int>(g.m) - row - first_line,
                  cols = static_cast<int>(g.n) - first_col - lane;
        using Bits = std::conditional_t<kSize == 1, uint8_t, Result>;  // nvcc 13.0 fails on e4m3
        Bits* to = reinterpret_cast<Bits*>(results_of(g, batch)) + (row + first_line) * g.c.ld +
                   first_col + lane;
#pragma unroll 1
        for (int i = 0; i < 16 && i < lines; ++i, to += g.c.ld) {
            __builtin_assume(__isGlobal(to));  // otherwise nvcc emits generic stores
#pragma unroll
            for (int j = 0; j < kSlices * kSliceCols; j += 32) {
                const int slice = j / kSliceCols, in_line = j % kSliceCols + lane;
                const auto* const chunk =
                    reinterpret_cast<const Bits*>(place(slice, first_line + i, in_line / kOfChunk));
                if (j < cols) to[j] = chunk[lane % kOfChunk];
            }
        }
    }
};
#endif

template <class T, class Result, class Tile, class Epilogue, class Sum = hopper::SumOf<T>>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    hopper_kernel(const __grid_constant__ CUtensorMap a_map,
                  const __grid_constant__ CUtensorMap b_map,
                  const __grid_constant__ CUtensorMap c_map, const Problem<T, Result> g,
                  const TileOrder order, const bool stores_tensors, const Epilogue epilogue) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr int kStages = Tile::kStages, kLine = Tile::kLine, kDeep = kLine / sizeof(T);
    __shared__ uint64_t full[kStages], empty[kStages];
    unsigned char* const tiles = shared_bytes + (1024 - shared_address(shared_bytes) % 1024) % 1024;
    const auto a_of = [&](int stage) { return tiles + stage * Tile::kStageBytes; };
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
            const auto load_b = [&](unsigned char* to, int column, int row, int batch,
                                    uint64_t& barrier) {
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
                    unsigned char *const a = a_of(place.stage), *const b = b_of(place.stage);
                    const int k = step * kDeep;
                    hopper::load_tile(a, a_map, turned_a, row, Tile::kRows, k, batch_a, barrier);
                    // Each block loads its part of B for all blocks of the cluster.
                    const int piece = turned_b ? 64 : Tile::kCols / 2;  // columns
                    for (int i = rank * piece; i < Tile::kCols; i += blocks * piece) {
                        if (turned_b) {
                            load_b(b + i * kLine, col + i, k, batch_b, barrier);
                        } else {
                            load_b(b + i * kLine, k, col + i, batch_b, barrier);
                        }
                    }
                }
            }
            // Then all blocks have read what this block has multicast to them, and reported it here.
            for (int i = 0; i < kStages; ++i, place.advance())
                wait(empty[place.stage], place.parity ^ 1);
        }
        __syncwarp();
    } else {
        hopper::take_registers<232>();
        // One thread per block of the cluster arrives there, because each block writes to this block's stages.
        const auto release = [&](int stage) {
            const int thread = static_cast<int>(threadIdx.x) % 128;
            if (thread < blocks) hopper::arrive_at(empty[stage], thread);
        };
        hopper::Sums<Sum, Tile::kSums> sums;
        LeavingResults<T, Result, Tile> results{
            g, stores_tensors ? &c_map : nullptr,
            tiles + kStages * Tile::kStageBytes + warpgroup * Tile::kPatch, warpgroup};
        for (int number = first; number < order.count; number += apart) {
            const ClusterTile tile(order, number);
            const bool are_waiting = number != first;  // results of the tile before
            int previous = 0;
            for (int step = 0; step < steps; ++step) {
                wait(full[place.stage], place.parity);
                const hopper::Operand a(a_of(place.stage) + warpgroup * 64 * kLine, turned_a,
                                        64 * kLine);
                const hopper::Operand b(b_of(place.stage), turned_b, 64 * kLine);
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
            if constexpr (std::is_same_v<Result, int>) {
                results.take(sums);
            } else if constexpr (std::is_same_v<Sum, float>) {
                finish(sums, g, epilogue, results.batch, results.row, results.col);
                results.take(sums);
            } else {
                float values[Tile::kSums];
#pragma unroll
                for (int i = 0; i < Tile::kSums; ++i) values[i] = hopper::take_sum(sums, i);
                finish(values, g, epilogue, results.batch, results.row, results.col);
                results.take(values);
            }
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

// The narrowest tile for results of this type: a line of the patch has 128 results of one byte.
template <class Result>
using NarrowestTile = HopperTile<sizeof(Result) == 1 ? 128 : 64>;

struct HopperPlan {
    int cols;  // of a tile: 64 (not for results of one byte), 128, or 256 (not for results of four bytes)
    int blocks;  // of a cluster; they share their tiles of B
    int band;    // rows of tiles, see TileOrder
};
// Returns two blocks per cluster, unless the second would have no rows, and the narrowest tiles that hold all columns.
template <class T, class Result>
HopperPlan hopper_plan(const Problem<T, Result>& g) {
    const int cols = g.n <= 64 && sizeof(Result) > 1     ? 64
                     : g.n <= 128 || sizeof(Result) == 4 ? 128
                                                         : 256;
    return g.m <= 128 ? HopperPlan{cols, 1, 8} : HopperPlan{cols, 2, 4};
}

template <class Tile, class Sum, class T, class Result, class Epilogue>
cudaError_t launch_hopper_tiles(const Problem<T, Result>& g, const HopperPlan& plan,
                                int64_t at_once, const Epilogue& epilogue, cudaStream_t stream) {
    const auto kernel = hopper_kernel<T, Result, Tile, Epilogue, Sum>;
    // tf32: TMA rounds floats on the way, where wgmma would cut them off.
    const auto type =
        std::is_same_v<T, float> ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : tensor_type<T>();
    cudaError_t error = hopper::prepare(kernel, Tile::kBytes);
    CUtensorMap a_map, b_map, c_map{};
    if (error == cudaSuccess)
        error = hopper::describe_operand(&a_map, g.a, g.a.transposed, g.m, g.k, g.batch,
                                         Tile::kRows, type);
    if (error == cudaSuccess)
        error = hopper::describe_operand(&b_map, g.b, !g.b.transposed, g.n, g.k, g.batch,
                                         Tile::kCols / 2, type);
    const bool stores_tensors = is_loadable(g.c, g.batch);
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
    error = cudaLaunchKernelEx(&config, kernel, a_map, b_map, c_map, g, order, stores_tensors,
                               epilogue);
    if (error != cudaSuccess) cudaGetLastError();
    return error;
}

// Computes C = epilogue(alpha A B + beta C) with at most `at_once` blocks. Returns cudaErrorNotSupported for problems outside
// `accepts` above, for 2^30 tiles or more, and without Hopper; cudaErrorInvalidValue for other tiles than the plan may have,
// and for alpha, beta or an epilogue where results are ints. Sum: void for the usual sums, see SumOf.
template <class Sum = void, class T, class Result, class Epilogue>
cudaError_t launch_hopper(const Problem<T, Result>& g, const HopperPlan& plan, int64_t at_once,
                          const Epilogue& epilogue, cudaStream_t stream) {
    using SumType = std::conditional_t<std::is_void_v<Sum>, hopper::SumOf<T>, Sum>;
    static_assert(std::is_same_v<SumType, hopper::SumOf<T>> ||
                      (std::is_same_v<SumType, __half> && std::is_same_v<T, __half>),
                  "only products of half can be summed in half");
    const bool is_tile = plan.cols == NarrowestTile<Result>::kCols || plan.cols == 128 ||
                         (plan.cols == 256 && sizeof(Result) < 4);
    if (!is_tile || plan.blocks < 1 || plan.blocks > 2 || plan.band < 1)
        return cudaErrorInvalidValue;
    const cudaError_t status = status_of(g, HopperTile<64>::kRows, plan.cols);
    if (status != cudaSuccess || is_empty(g)) return status;
    if (std::is_same_v<Result, int> &&
        (g.alpha != 1.f || g.beta != 0.f || !std::is_same_v<Epilogue, Plain>))
        return cudaErrorInvalidValue;
    const bool is_along_k = !g.a.transposed && g.b.transposed;
    if (softmax_stages::this_chip().capability != 9 || !has_coordinates(g) ||
        !is_loadable(g.a, g.batch) || !is_loadable(g.b, g.batch) || g.k == 0 ||
        (sizeof(T) != 2 && !is_along_k))
        return cudaErrorNotSupported;
    const auto launch = [&](auto tile) {
        return launch_hopper_tiles<decltype(tile), SumType>(g, plan, at_once, epilogue, stream);
    };
    if constexpr (sizeof(Result) < 4) {
        if (plan.cols == 256) return launch(HopperTile<256>{});
    }
    return plan.cols == 128 ? launch(HopperTile<128>{}) : launch(NarrowestTile<Result>{});
}
template <class Sum = void, class T, class Result, class Epilogue>
cudaError_t hopper_with(const Problem<T, Result>& g, const Epilogue& epilogue,
                        cudaStream_t stream) {
    return launch_hopper<Sum>(g, hopper_plan(g), softmax_stages::this_chip().multiprocessors,
                              epilogue, stream);
}

// The same without an epilogue. Calls mma_gemm() for problems that the kernel does not accept.
template <class T>
cudaError_t hopper_gemm(const Problem<T>& g, cudaStream_t stream) {
    const cudaError_t status = hopper_with(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? mma_gemm(g, stream) : status;
}
// The same with sums in half, which are less accurate: see half_sums_and_tf32.md. Calls half_sums_gemm() for other problems.
template <class T>
cudaError_t hopper_half_sums(const Problem<T>& g, cudaStream_t stream) {
    const cudaError_t status = hopper_with<__half>(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? half_sums_gemm(g, stream) : status;
}

}  // namespace batched_gemm
