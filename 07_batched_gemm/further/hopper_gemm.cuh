// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/hopper_gemm, version 1.0
//
// Matrix products at the speed of Hopper's tensor cores: a persistent, warp-specialised kernel.
//   new here   after ring.cuh: blocks are persistent, and a tile's results leave, through stmatrix and tensor stores by warps
//              of their own, beside the next tile's products; the two blocks of a cluster share their tiles of B: each loads
//              one half and multicasts it; the order of tiles reuses lines in the L2; an epilogue
//   traffic    loads per element of C: k / 256 + k / 256, because a cluster computes 256 x 256
//   accepts    half and bfloat16, sums in float, of half also in half; A and B each row-major or transposed, lines and matrices
//              of A and B that begin at multiples of 16 bytes, any C; k > 0. With A row-major and B transposed also e4m3 and
//              float (as tf32), and int8_t with sums in int. Results are half, bfloat16, float, e4m3, int8_t or, of int8_t, int
//   needs      compute capability 9.0, compiled for sm_90a
//   source     PTX ISA 9.0; CUTLASS's warp-specialised persistent kernels; public worklogs of products on an H100
#pragma once
#include "early_launch.cuh"
#include "hopper_instructions.cuh"
#include "mma_gemm.cuh"

namespace batched_gemm {
using early_launch::Begin;

// A tile of C is 128 x kColumns: 64, 128 or 256; or 192 x 128. A block has two or three warpgroups that multiply 64 rows each, and
// one more, of which a warp copies tiles of A and B, and a warp for each multiplying warpgroup stores results. Shared memory
// holds a ring of stages, each a tile of A and a tile of B with 128 bytes along k, and two patches per multiplying warpgroup for
// slices of results: 64 rows of 128 bytes. Patches for all 256 columns would cost a stage. Sizes are in bytes.
template <int kColumns, int kWarpgroups = 2>
struct HopperTile {
    static constexpr int kMultipliers = kWarpgroups, kThreads = (kMultipliers + 1) * 128;
    static constexpr int kRows = 64 * kMultipliers, kCols = kColumns, kLine = 128;
    static constexpr int kStages = kRows * kCols > 128 * 128 ? 4 : kCols == 128 ? 6 : 8;
    static constexpr int kRegisters = kMultipliers == 2 ? 232 : 152;  // of a multiplying thread
    static constexpr int kOfA = kRows * kLine, kOfB = kCols * kLine;
    static constexpr int kSlice = 64 * kLine, kPatches = 2;
    static constexpr int kSums = kCols / 2;  // of a thread
    static constexpr unsigned kStageBytes = kOfA + kOfB;
    static constexpr unsigned kBytes = kStages * kStageBytes + kMultipliers * kPatches * kSlice +
                                       1024;  // the last to align the first
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
        row = first + in_band % height, col = in_band / height;
    }
};

// True for an epilogue that has, in place of operator(), a function finish_tile(sums, g, batch, first_row, first_col) for all
// of the thread's sums of a tile. It can therefore reduce them over a row or a tile.
template <class Epilogue, class = void>
constexpr bool kFinishesTiles = false;
template <class Epilogue>
constexpr bool kFinishesTiles<Epilogue, std::enable_if_t<Epilogue::kFinishesTiles>> = true;

// True for an epilogue that adds a number per column, of_columns()[column], and returns activated(sum).
template <class Epilogue, class = void>
constexpr bool kReadsColumns = false;
template <class Epilogue>
constexpr bool kReadsColumns<Epilogue, std::void_t<typename Epilogue::Number>> = true;

// Base of epilogues for products with alpha = 1 and beta = 0 alone. Their kernels have no code for others.
struct ForPlainProducts {};
// Base of epilogues that leave nothing to be written to C.
struct DropsResults {};
template <class Epilogue>
constexpr bool kWritesC = !std::is_base_of_v<DropsResults, Epilogue>;

// Returns x[batch].data. (nvcc 13.0 fails if it may assume that a pointer to __nv_fp8_e4m3 is global.)
template <class T>
__device__ T* first_of(const Matrices<T>& x, int64_t batch) {
    using Bits = std::conditional_t<sizeof(T) == 1, const unsigned char, T>;
    Bits* const first = x.each == nullptr ? reinterpret_cast<Bits*>(x.data) + batch * x.stride
                                          : reinterpret_cast<Bits*>(x.each[batch]);
    __builtin_assume(__isGlobal(first));
    return reinterpret_cast<T*>(const_cast<std::remove_const_t<Bits>*>(first));
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

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

// The numbers of an epilogue's columns that the thread's sums of a tile need, in pairs. They load while the tile's last products
// run, into the registers of the results that have left.
template <class Epilogue, int kSums, bool kHasNumbers = kReadsColumns<Epilogue>>
struct ColumnNumbers {
    __device__ void load(const Epilogue&, int64_t, int) {}
};
template <class Epilogue, int kSums>
struct ColumnNumbers<Epilogue, kSums, true> {
    using Number = typename Epilogue::Number;
    struct alignas(2 * sizeof(Number)) Pair {
        Number number[2];
    };
    Pair pairs[kSums / 4];

    __device__ void load(const Epilogue& epilogue, int64_t cols, int first_col) {
        const int col = first_col + static_cast<int>(threadIdx.x) % 4 * 2;
        const Number* const from = epilogue.of_columns() + col;
        // The address decides for all lanes alike, because col is even.
        const bool is_whole =
            first_col + 2 * kSums <= cols && reinterpret_cast<uintptr_t>(from) % sizeof(Pair) == 0;
        if (is_whole) {
#pragma unroll
            for (int i = 0; i < kSums / 4; ++i)
                pairs[i] = *reinterpret_cast<const Pair*>(from + 8 * i);
        } else {
#pragma unroll
            for (int i = 0; i < kSums / 4; ++i) {
#pragma unroll
                for (int j = 0; j < 2; ++j)
                    pairs[i].number[j] = col + 8 * i + j < cols ? from[8 * i + j] : Number{};
            }
        }
    }
    __device__ float operator[](int sum) const {
        return static_cast<float>(pairs[sum / 4].number[sum % 2]);
    }
};

// Turns sums into results. Products with beta or an epilogue run loops of their own, so plain ones do not pay for them.
template <int kSums, class T, class Result, class Epilogue>
__device__ void finish(float (&sums)[kSums], const Problem<T, Result>& g, const Epilogue& epilogue,
                       const ColumnNumbers<Epilogue, kSums>& numbers, int batch, int first_row,
                       int first_col) {
    if constexpr (std::is_base_of_v<ForPlainProducts, Epilogue>) {
    } else if (g.beta == 0.f) {
        if (g.alpha != 1.f) {
#pragma unroll
            for (int i = 0; i < kSums; ++i) sums[i] *= g.alpha;
        }
    } else {
        const Result* const c = first_of(g.c, batch);
        const int64_t ld = g.c.ld;
        for_each_sum(sums, g, first_row, first_col, [&](float& sum, int row, int col) {
            sum = g.alpha * sum + g.beta * static_cast<float>(c[row * ld + col]);
        });
    }
    if constexpr (kFinishesTiles<Epilogue>) {
        epilogue.finish_tile(sums, g, batch, first_row, first_col);
    } else if constexpr (kReadsColumns<Epilogue>) {
        // Sums beyond the edges of C become numbers that are never stored.
#pragma unroll
        for (int i = 0; i < kSums; ++i) sums[i] = epilogue.activated(sums[i] + numbers[i]);
    } else if constexpr (!std::is_same_v<Epilogue, Plain>) {
        for_each_sum(sums, g, first_row, first_col,
                     [&](float& sum, int row, int col) { sum = epilogue(sum, batch, row, col); });
    }
}

// Two barriers of a patch. A phase of `filled` ends when each of the warpgroup's four warps has stored its part of a slice there,
// a phase of `left` when the tensor store has read it.
struct PatchBarriers {
    uint64_t filled, left;
};

// A thread's results of a tile, as words of one, two or four results. They leave while the warpgroup multiplies the next tile: no
// result has to wait for shared memory before the tensor cores continue.
template <class T, class Result, class Tile>
struct LeavingResults {
    static constexpr int kSize = sizeof(Result);
    static constexpr int kSlices = Tile::kCols * kSize / Tile::kLine;
    static_assert(kSlices > 0, "the tile is narrower than a line of results");
    static constexpr int kWords = Tile::kSums * kSize / 4;
    unsigned char* patches;   // the warpgroup's
    PatchBarriers* barriers;  // of these
    hopper::RingPlace<Tile::kPatches> turn = {};
    uint32_t words[kWords] = {};

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
    // Stores slice `number` in a patch and gives the slice before, if there is one, to the storing warp: until now that slice's
    // writes had time to finish. Called for 0 to kSlices, one after the other.
    template <int kNumber = 0>
    __device__ void leave(int number) {
        if (number == kNumber) {
            if (kNumber > 0) give(turn.stage ^ 1);
            if constexpr (kNumber < kSlices) {
                wait(barriers[turn.stage].left, turn.parity ^ 1);
                fill<kNumber>(patches + turn.stage * Tile::kSlice);
                turn.advance();
            }
        }
        if constexpr (kNumber < kSlices) leave<kNumber + 1>(number);
    }
    // Stores all slices `apart` bytes apart, and gives them to the storing warp as if they were one.
    template <int kNumber = 0>
    __device__ void leave_together(unsigned char* to, unsigned apart) {
        // Otherwise the phase of `filled` could end before the storing warp has seen the end of the one before.
        if (kNumber == 0) wait(barriers[turn.stage].left, turn.parity ^ 1);
        fill<kNumber>(to);
        if constexpr (kNumber + 1 < kSlices) {
            leave_together<kNumber + 1>(to + apart, apart);
        } else {
            give(turn.stage);
        }
    }
    // Writes all slices to C element by element, for a C that TMA cannot store. Each warp writes its 16 lines.
    template <int kNumber = 0>
    __device__ void write(const Problem<T, Result>& g, int first_row, int first_col, int batch) {
        constexpr int kOfChunk = 16 / kSize, kCols = Tile::kLine / kSize;
        fill<kNumber>(patches);
        __syncwarp();
        const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
        const int first_line = thread / 32 * 16;
        const int lines = static_cast<int>(g.m) - first_row - first_line,
                  cols = static_cast<int>(g.n) - first_col - lane;
        using Bits = std::conditional_t<kSize == 1, uint8_t, Result>;  // nvcc 13.0 fails on e4m3
        Bits* to = reinterpret_cast<Bits*>(first_of(g.c, batch)) +
                   (first_row + first_line) * g.c.ld + first_col + lane;
#pragma unroll 4
        for (int i = 0; i < 16; ++i, to += g.c.ld) {
            if constexpr (kSize > 1) {
                __builtin_assume(__isGlobal(to));  // see first_of()
            }
#pragma unroll
            for (int j = 0; j < kCols; j += 32) {
                const auto* const chunk = reinterpret_cast<const Bits*>(
                    in_patch(patches, first_line + i, (j + lane) / kOfChunk));
                if (i < lines && j < cols) to[j] = chunk[lane % kOfChunk];
            }
        }
        __syncwarp();
        if constexpr (kNumber + 1 < kSlices)
            write<kNumber + 1>(g, first_row, first_col + kCols, batch);
    }

private:
    __device__ void give(int patch) const {
        hopper::order_before_copies();
        __syncwarp();
        if (threadIdx.x % 32 == 0) hopper::arrive(barriers[patch].filled);
    }
    static constexpr int kSlice32 = Tile::kSlice / 128 / 4;  // words of a slice that a thread has

    // The place of 16 bytes of a line in a patch, whose lines are swizzled.
    __device__ static unsigned char* in_patch(unsigned char* patch, int line, int chunk) {
        return patch + line * Tile::kLine + (chunk ^ line % 8) * 16;
    }
    template <int kNumber>
    __device__ void fill(unsigned char* patch) const {
        const uint32_t* const of = words + kNumber * kSlice32;
        const int thread = static_cast<int>(threadIdx.x) % 128, lane = thread % 32;
        const int first_line = thread / 32 * 16;
#pragma unroll
        for (int i = 0; i < kSlice32; i += 4) {
            const int group = i / 4;
            if constexpr (kSize == 1) {  // a word has two columns of 8, in two rows
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    const int word = i + j / 2, below = j % 2 * 8;
                    unsigned char* const chunk =
                        in_patch(patch, first_line + lane / 4 + below, word / 2);
                    *reinterpret_cast<uint16_t*>(chunk + word % 2 * 8 + lane % 4 * 2) =
                        static_cast<uint16_t>(of[word] >> (j % 2 * 16));
                }
            } else if constexpr (kSize == 2) {  // a group has 16 columns
                hopper::store_matrices(
                    in_patch(patch, first_line + lane % 16, 2 * group + lane / 16),
                    {of[i], of[i + 1], of[i + 2], of[i + 3]});
            } else {  // 8 columns. Two lines of a pair have their chunks in the same banks, so odd lines take another group.
                const bool is_odd = lane / 4 % 2 != 0;
                const int other = (i ^ 8), chosen_group = is_odd ? group ^ 2 : group;
#pragma unroll
                for (int half = 0; half < 4; half += 2) {
                    unsigned char* const chunk = in_patch(patch, first_line + lane / 4 + 4 * half,
                                                          2 * chosen_group + lane % 4 / 2);
                    *reinterpret_cast<uint2*>(chunk + lane % 2 * 8) =
                        make_uint2(is_odd ? of[other + half] : of[i + half],
                                   is_odd ? of[other + half + 1] : of[i + half + 1]);
                }
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
                  const TileOrder order, const bool stores_tensors, const bool b_is_ready,
                  const Epilogue epilogue) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr int kStages = Tile::kStages, kLine = Tile::kLine, kDeep = kLine / sizeof(T);
    __shared__ uint64_t full[kStages], empty[kStages];
    __shared__ PatchBarriers of_patches[Tile::kMultipliers][Tile::kPatches];
    unsigned char* const tiles = shared_bytes + (1024 - shared_address(shared_bytes) % 1024) % 1024;
    const auto a_of = [&](int stage) { return tiles + stage * Tile::kStageBytes; };
    const auto b_of = [&](int stage) { return a_of(stage) + Tile::kOfA; };
    const auto patches_of = [&](int warpgroup) {
        return tiles + kStages * Tile::kStageBytes + warpgroup * Tile::kPatches * Tile::kSlice;
    };
    // The last tile's slices find room where the warpgroup's rows of A were: no more of them will arrive.
    const auto last_patch = [&](int warpgroup, int slice) {
        return a_of(slice) + warpgroup * Tile::kSlice;
    };

    const bool turned_a = g.a.transposed, turned_b = !g.b.transposed;  // lines do not run along k
    const int rank = hopper::rank_in_cluster(), blocks = hopper::blocks_of_cluster();
    if (threadIdx.x == 0) {
        hopper::prefetch(a_map), hopper::prefetch(b_map);
        if (stores_tensors) hopper::prefetch(c_map);
        for (int i = 0; i < kStages; ++i)
            init(full[i], 1), init(empty[i], Tile::kMultipliers * blocks);
        for (auto& of_warpgroup : of_patches) {
            for (PatchBarriers& barriers : of_warpgroup)
                init(barriers.filled, 4), init(barriers.left, 1);
        }
        order_inits();
    }
    hopper::arrive_at_cluster();
    hopper::wait_for_cluster();
    early_launch::let_next_begin();
    if (!b_is_ready) early_launch::wait_for_earlier();

    const int warpgroup = hopper::uniform(static_cast<int>(threadIdx.x) / 128);
    const int steps = static_cast<int>((g.k + kDeep - 1) / kDeep);
    const int first = static_cast<int>(blockIdx.x), apart = static_cast<int>(gridDim.x);
    hopper::RingPlace<kStages> place;
    if (warpgroup == Tile::kMultipliers) {
        hopper::give_registers<40>();
        const int warp = hopper::uniform(static_cast<int>(threadIdx.x) % 128 / 32);
        if (threadIdx.x % 32 == 0 && warp == 0) {
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
                const auto load_a_of = [&](int stage, int step) {
                    hopper::load_tile(a_of(stage), a_map, turned_a, row, Tile::kRows, step * kDeep,
                                      batch_a, full[stage]);
                };
                // Each block loads its part of B for all blocks of the cluster.
                const auto load_b_of = [&](int stage, int step) {
                    arrive_and_expect(full[stage], Tile::kStageBytes);
                    unsigned char* const b = b_of(stage);
                    const int k = step * kDeep;
                    const int piece = turned_b ? 64 : Tile::kCols / 2;  // columns
                    for (int i = rank * piece; i < Tile::kCols; i += blocks * piece) {
                        if (turned_b) {
                            load_b(b + i * kLine, col + i, k, batch_b, full[stage]);
                        } else {
                            load_b(b + i * kLine, k, col + i, batch_b, full[stage]);
                        }
                    }
                };
                // B fills the empty ring before the kernel waits for the one that writes A.
                const bool is_ahead = b_is_ready && number == first;
                if (is_ahead) {
                    for (int step = 0; step < steps && step < kStages; ++step)
                        load_b_of(step, step);
                    early_launch::wait_for_earlier();
                }
                for (int step = 0; step < steps; ++step, place.advance()) {
                    if (!is_ahead || step >= kStages) {
                        // Wait until all blocks of the cluster have read this stage, because a multicast writes to each.
                        wait(empty[place.stage], place.parity ^ 1);
                        load_b_of(place.stage, step);
                    }
                    load_a_of(place.stage, step);
                }
            }
            // Then all blocks have read what this block has multicast to them, and reported it here.
            for (int i = 0; i < kStages; ++i, place.advance())
                wait(empty[place.stage], place.parity ^ 1);
        } else if (threadIdx.x % 32 == 0 && warp <= Tile::kMultipliers && stores_tensors) {
            const int of = warp - 1;  // the warpgroup
            constexpr int kSlices = LeavingResults<T, Result, Tile>::kSlices;
            hopper::RingPlace<Tile::kPatches> turn;
            for (int number = first; number < order.count; number += apart) {
                const ClusterTile tile(order, number);
                const int row = (tile.row * blocks + rank) * Tile::kRows + of * 64;
                const bool is_last = number + apart >= order.count;
                for (int i = 0; i < kSlices; ++i) {
                    PatchBarriers* const barriers = of_patches[of];
                    if (!is_last || i == 0) wait(barriers[turn.stage].filled, turn.parity);
                    hopper::store(
                        c_map,
                        tile.col * Tile::kCols + i * kLine / static_cast<int>(sizeof(Result)), row,
                        tile.batch,
                        is_last ? last_patch(of, i) : patches_of(of) + turn.stage * Tile::kSlice);
                    hopper::commit_stores();
                    if (is_last) continue;
                    // The store before this one, from the other patch, has read its slice.
                    hopper::wait_for_stores<1>();
                    if (number != first || i != 0) hopper::arrive(barriers[turn.stage ^ 1].left);
                    turn.advance();
                }
            }
            hopper::wait_for_stores<0>();  // shared memory stays until they have read it
        }
        __syncwarp();
    } else {
        hopper::take_registers<Tile::kRegisters>();
        if (b_is_ready) early_launch::wait_for_earlier();  // C may be read and written from here on
        // One thread per block of the cluster arrives there, because each block writes to this block's stages.
        const auto release = [&](int stage) {
            const int thread = static_cast<int>(threadIdx.x) % 128;
            if (thread < blocks) hopper::arrive_at(empty[stage], thread);
        };
        hopper::Sums<Sum, Tile::kSums> sums;
        LeavingResults<T, Result, Tile> results{patches_of(warpgroup), of_patches[warpgroup]};
        constexpr int kSlices = decltype(results)::kSlices;
        const int leave_every = steps > kSlices ? steps / (kSlices + 1) : 1;
        for (int number = first; number < order.count; number += apart) {
            // True if results of the tile before are waiting.
            const bool are_waiting = stores_tensors && number != first;
            int next_leave = are_waiting ? 0 : steps, slice = 0;
            int previous = 0, row = 0, col = 0, batch = 0;
            for (int step = 0; step < steps; ++step) {
                wait(full[place.stage], place.parity);
                const hopper::Operand a(a_of(place.stage) + warpgroup * 64 * kLine, turned_a,
                                        64 * kLine);
                const hopper::Operand b(b_of(place.stage), turned_b, 64 * kLine);
                hopper::multiply<T>(sums, a, b, step != 0);
                // These products keep the tensor cores busy while results leave, evenly over the steps, so that memory is too.
                if (step == next_leave) {
                    results.leave(slice);
                    ++slice;
                    next_leave += leave_every;
                }
                if (step == 0) {
                    // Three divisions take as long as half a step, so they have to run beside products.
                    const ClusterTile tile(order, number);
                    row = (tile.row * blocks + rank) * Tile::kRows + warpgroup * 64;
                    col = tile.col * Tile::kCols;
                    batch = tile.batch;
                    hopper::compute_here(row, col, batch);
                }
                if (step != 0) {
                    hopper::wait_for_products<1>();
                    release(previous);
                }
                previous = place.stage;
                place.advance();
            }
            if (are_waiting) {
#pragma unroll 1
                for (; slice <= kSlices; ++slice) results.leave(slice);
            }
            ColumnNumbers<Epilogue, Tile::kSums> numbers;
            numbers.load(epilogue, g.n, col);
            hopper::wait_for_products<0>();
            release(previous);
            if constexpr (std::is_same_v<Result, int>) {
                results.take(sums);
            } else if constexpr (std::is_same_v<Sum, float>) {
                finish(sums, g, epilogue, numbers, batch, row, col);
                if constexpr (kWritesC<Epilogue>) results.take(sums);
            } else {
                float values[Tile::kSums];
#pragma unroll
                for (int i = 0; i < Tile::kSums; ++i) values[i] = hopper::take_sum(sums, i);
                finish(values, g, epilogue, numbers, batch, row, col);
                results.take(values);
            }
            if (kWritesC<Epilogue> && !stores_tensors) results.write(g, row, col, batch);
        }
        if (stores_tensors && first < order.count)
            results.leave_together(last_patch(warpgroup, 0), Tile::kStageBytes);
    }
    // No block may exit while another one multicasts to its memory or arrives at its barriers.
    hopper::arrive_at_cluster(), hopper::wait_for_cluster();
#else
    __trap();  // compiled for another architecture
#endif
}

// The narrowest tile for results of this type: a line of the patch has 128 results of one byte.
template <class Result>
using NarrowestTile = HopperTile<sizeof(Result) == 1 ? 128 : 64>;

// True if a tile may have 192 columns.
template <class T, class Result>
inline constexpr bool kTakes192 = sizeof(T) == 2 && sizeof(Result) == 2;

struct HopperPlan {
    int cols;  // of a tile: 64 (unless results have one byte), 128, 192 (see kTakes192), 256 (unless they have four)
    int blocks;         // of a cluster; they share their tiles of B
    int band;           // rows of tiles, see TileOrder
    int rows = 128;     // of a tile, or 192 with 128 columns and results of two bytes
    double clocks = 0;  // estimated, see clocks_of_hopper()
};
// Estimates the time of a product in clocks of an H100, fitted to 28 shapes on an H200. A step of a block takes as long as its products
// or as its copies, whichever is longer: each multiprocessor multiplies 128 x 64 x 64 elements of 16 bits in 256 clocks. Boxes of TMA
// that lie wholly beyond the edges cost nothing. See also kClocksPerLine.
template <class T, class Result>
double clocks_of_hopper(const Problem<T, Result>& g, const HopperPlan& plan,
                        int64_t multiprocessors) {
    constexpr double kStart = 3250, kOfBlock = 50, kOfTile = 3200, kOfColumn = 2, kOfStep = 60;
    constexpr int64_t kLine = HopperTile<64>::kLine, kElements = kLine / sizeof(T);
    const double of_product = plan.rows == 192 ? 4.75 : 4.4;
    const int64_t clusters = std::max<int64_t>(1, multiprocessors / plan.blocks);
    const double tiles = count_tiles(g, plan.rows * int64_t{plan.blocks}, plan.cols);
    const double waves = std::ceil(tiles / static_cast<double>(clusters));
    const auto lines = [](int64_t of_tile, int64_t all, int64_t of_box) {
        return static_cast<double>(std::min(of_tile, (all + of_box - 1) / of_box * of_box));
    };
    // Lines of A that cross two lines of the L2 take twice as long (measured; those of B do not). Others than TMA takes are copied.
    const int64_t pitch = static_cast<int64_t>(sizeof(T)) * g.a.ld;
    const bool crosses = !g.a.transposed && pitch % kLine != 0 && pitch % 16 == 0;
    const double of_a = (crosses ? 2 : 1) * hopper::kClocksPerLine;
    const double rows = lines(plan.rows, g.m, g.a.transposed ? 64 : plan.rows),
                 cols = lines(plan.cols, g.n, g.b.transposed ? plan.cols / 2 : 64);
    const double of_products =
        (kOfStep + of_product * plan.rows * plan.cols / HopperTile<64>::kRows) *
        (plan.blocks == 1 ? 1.02 : 1);
    const double of_b =
        hopper::streams_b(g) ? hopper::kClocksPerLineOfMemory : hopper::kClocksPerLine;
    const double of_copies = rows * of_a + cols / plan.blocks * of_b;
    const auto steps = static_cast<double>((g.k - 1) / kElements + 1);
    return kStart + kOfBlock * plan.blocks +
           waves * (steps * std::max(of_products, of_copies) + kOfTile +
                    kOfColumn * std::min<double>(plan.cols, static_cast<double>(g.n)));
}
// Up to this k, writing C limits, and tiles of 128 columns are fastest (measured).
inline constexpr int64_t kShortK = 128;
// Returns the plan with the shortest estimate.
template <class T, class Result>
HopperPlan hopper_plan(const Problem<T, Result>& g,
                       int64_t multiprocessors = softmax_stages::this_chip().multiprocessors) {
    constexpr int kNarrowest = NarrowestTile<Result>::kCols;
    // A tile of 192 rows is chosen if its estimate, which is less accurate, is below this share of the best other one (measured).
    constexpr double kGain = sizeof(T) == 1 ? 1.04 : 0.93;
    const bool is_short = g.k <= kShortK && is_storable(g.c, g.batch, g.n);
    const int widest = is_short || sizeof(Result) == 4 ? 128 : 256;
    const auto faster = [&](HopperPlan best, int rows, int cols) {
        for (int blocks = 1; blocks <= (g.m > rows ? 2 : 1); ++blocks) {
            HopperPlan plan{cols, blocks, 8, rows};
            plan.clocks = clocks_of_hopper(g, plan, multiprocessors);
            if (best.cols == 0 || plan.clocks < best.clocks) best = plan;
        }
        return best;
    };
    HopperPlan best{};
    for (const int cols : {256, 192, 128, 64}) {
        if (cols <= widest && cols >= kNarrowest && (cols != 192 || kTakes192<T, Result>))
            best = faster(best, 128, cols);
    }
    if (sizeof(Result) != 2 || widest < 256) return best;
    const HopperPlan higher = faster({}, 192, 128);
    return higher.clocks < kGain * best.clocks ? higher : best;
}

template <class Tile, class Sum, class T, class Result, class Epilogue>
cudaError_t launch_hopper_tiles(const Problem<T, Result>& g, const HopperPlan& plan,
                                int64_t at_once, const Epilogue& epilogue, cudaStream_t stream,
                                Begin begin) {
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
    const bool stores_tensors = kWritesC<Epilogue> && is_storable(g.c, g.batch, g.n);
    if (error == cudaSuccess && stores_tensors)
        error = describe(&c_map, g.c, g.m, g.n, g.batch, 64);
    if (error != cudaSuccess) return error;

    const int64_t rows = Tile::kRows * plan.blocks;
    const int64_t down = (g.m - 1) / rows + 1, across = (g.n - 1) / Tile::kCols + 1;
    const int64_t count = g.batch * down * across;
    if (count > INT32_MAX / 2) return cudaErrorNotSupported;  // tile numbers and `apart` are added
    const TileOrder order{static_cast<int>(down), static_cast<int>(across), plan.band,
                          static_cast<int>(count)};
    // As many clusters as it takes to compute all tiles in the fewest waves: more would not finish earlier, and the tiles of a wave
    // would share fewer lines.
    const int64_t waves = (count - 1) / std::max<int64_t>(1, at_once / plan.blocks) + 1;
    const int64_t clusters = (count - 1) / waves + 1;
    const auto blocks = static_cast<unsigned>(plan.blocks);
    return early_launch::launch(kernel, dim3(static_cast<unsigned>(clusters), blocks),
                                dim3(Tile::kThreads), Tile::kBytes, stream, begin != Begin::after,
                                blocks, a_map, b_map, c_map, g, order, stores_tensors,
                                begin == Begin::with_b, epilogue);
}

// Computes C = epilogue(alpha A B + beta C) with at most `at_once` blocks. Returns cudaErrorNotSupported for problems outside
// `accepts` above, for 2^30 tiles or more, and without Hopper; cudaErrorInvalidValue for other tiles than the plan may have,
// and for alpha or beta with ints or ForPlainProducts, and for an epilogue with ints. Sum: void for the usual sums, see SumOf.
template <class Sum = void, class T, class Result, class Epilogue>
cudaError_t launch_hopper(const Problem<T, Result>& g, const HopperPlan& plan, int64_t at_once,
                          const Epilogue& epilogue, cudaStream_t stream,
                          Begin begin = Begin::early) {
    using SumType = std::conditional_t<std::is_void_v<Sum>, hopper::SumOf<T>, Sum>;
    static_assert(std::is_same_v<SumType, hopper::SumOf<T>> ||
                      (std::is_same_v<SumType, __half> && std::is_same_v<T, __half>),
                  "only products of half can be summed in half");
    const bool is_low = plan.cols == NarrowestTile<Result>::kCols || plan.cols == 128 ||
                        (plan.cols == 256 && sizeof(Result) < 4);
    const bool is_tile =
        plan.rows == 192
            ? plan.cols == 128 && sizeof(Result) == 2
            : plan.rows == 128 && (is_low || (plan.cols == 192 && kTakes192<T, Result>));
    if (!is_tile || plan.blocks < 1 || plan.blocks > 2 || plan.band < 1)
        return cudaErrorInvalidValue;
    const cudaError_t status = status_of(g, HopperTile<64>::kRows, plan.cols);
    if (status != cudaSuccess || is_empty(g)) return status;
    const bool is_int = std::is_same_v<Result, int>, is_scaled = g.alpha != 1.f || g.beta != 0.f;
    if (((is_int || std::is_base_of_v<ForPlainProducts, Epilogue>)&&is_scaled) ||
        (is_int && !std::is_same_v<Epilogue, Plain>))
        return cudaErrorInvalidValue;
    const bool is_along_k = !g.a.transposed && g.b.transposed;
    if (softmax_stages::this_chip().capability != 9 || !has_coordinates(g) ||
        !is_loadable(g.a, g.batch) || !is_loadable(g.b, g.batch) || g.k == 0 ||
        (sizeof(T) != 2 && !is_along_k))
        return cudaErrorNotSupported;
    const auto launch = [&](auto tile) {
        return launch_hopper_tiles<decltype(tile), SumType>(g, plan, at_once, epilogue, stream,
                                                            begin);
    };
    if constexpr (sizeof(Result) == 2) {
        if (plan.rows == 192) return launch(HopperTile<128, 3>{});
    }
    if constexpr (kTakes192<T, Result>) {
        if (plan.cols == 192) return launch(HopperTile<192>{});
    }
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
