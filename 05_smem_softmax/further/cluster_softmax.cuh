// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/cluster_softmax, version 1.0
//
// Several blocks share a row, so that rows of a megabyte stay on the chip and few rows use the whole chip.
//   new here   blocks of a cluster send their pairs (m, d) to each other's shared memory; or all blocks of a grid
//              run at the same time and exchange their pairs in device memory
//   traffic    1 read + 1 write per element while the blocks can keep the row, with 16 blocks up to 1.4 million
//              floats on an H200; 2 reads per other element
//   accepts    as online_cached.cuh
//   needs      CUDA 12.5, for <cuda/ptx>. Clusters need compute capability 9.0; below it a block computes a row
//   source     the merge of Milakov & Gimelshein 2018, section 3.1, across blocks, as in 03's split_row
#pragma once
#if defined(__CUDACC__) && CUDART_VERSION < 12050
#error "CUDA 12.5 is needed: its <cuda/ptx> is the first with mbarrier_init and fence_mbarrier_init"
#endif
#include <optional>

#include <cooperative_groups.h>
#include <cuda/ptx>

#include "../../04_warp_softmax/front_call.cuh"
#include "rows_in_turn.cuh"

namespace smem_softmax {

using softmax_stages::Chip;
using softmax_stages::this_chip;

inline constexpr int kLargestCluster = 16;  // blocks; the most that any GPU offers

// Sends a set to another block's shared memory. The barrier `arrived` of that block counts the bytes.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
template <class Compute>
__device__ void send(Normalizer<Compute> set, Normalizer<Compute>* there, uint64_t* arrived) {
    const Compute numbers[] = {set.m, set.d};
    cuda::ptx::st_async(&there->m, numbers, arrived);
}
#endif

// The team of a cluster: blockIdx.x is the row, blockIdx.y the block's rank in the cluster. A block waits for the
// other blocks' messages, not at a barrier of the cluster: 0.97 instead of 0.87 of a copy's speed at 976 x 65536
// floats on an H200.
struct Cluster {
    int first = 0;       // rows at the start of the launch that start one after another,
    unsigned apart = 0;  // this many nanoseconds apart

    template <class Set>
    struct Scratch {
        Set of_block[kLargestCluster];
        uint64_t arrived;  // counts the bytes of the messages that have arrived
    };
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __device__ static auto cluster() {
        return cooperative_groups::this_cluster();
    }
    __device__ int64_t row() const {
        return blockIdx.x;
    }
    __device__ int rank() const {
        return static_cast<int>(blockIdx.y);
    }

    // No block may send before all blocks have started. So each block arrives at the cluster's barrier here, and
    // waits at this barrier in exchange(), after it has read x.
    template <class Set>
    __device__ void open(Scratch<Set>& scratch) const {
        if (static_cast<int>(blockIdx.x) < first) __nanosleep(blockIdx.x * apart);
        if (threadIdx.x == 0) {
            const unsigned bytes = gridDim.y * sizeof(Set);
            cuda::ptx::mbarrier_init(&scratch.arrived, 1);
            cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
            cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                                 cuda::ptx::space_shared, &scratch.arrived, bytes);
        }
        __cluster_barrier_arrive_relaxed();
    }
    template <class Set>
    __device__ Set exchange(Scratch<Set>& scratch, Set block) {
        const auto blocks = static_cast<int>(gridDim.y);
        const auto to = static_cast<int>(threadIdx.x);  // lane i of the first warp sends to block i
        __cluster_barrier_wait();
        if (to < blocks) {
            send(block, cluster().map_shared_rank(scratch.of_block + rank(), to),
                 cluster().map_shared_rank(&scratch.arrived, to));
        }
        while (!cuda::ptx::mbarrier_try_wait_parity(
            cuda::ptx::sem_acquire, cuda::ptx::scope_cluster, &scratch.arrived, 0)) {
        }
        return merge_in_warp(scratch.of_block, blocks);
    }
#else  // never launched: see largest_cluster
    __device__ int64_t row() const {
        return 0;
    }
    __device__ int rank() const {
        return 0;
    }
    template <class Set>
    __device__ void open(Scratch<Set>&) const {
        __trap();
    }
    template <class Set>
    __device__ Set exchange(Scratch<Set>&, Set block) {
        return block;
    }
#endif
};

// The team of a cooperative launch, in which all blocks run at the same time. The blocks with the same blockIdx.x
// share row blockIdx.x. They write their sets to device memory, wait at a barrier, and read the others' sets.
// This exchange takes longer than messages within a cluster, but can use the whole chip. (For more rows, see
// rows_in_turn.cuh.)
template <class Set>
struct Grid {
    template <class>
    struct Scratch {
        Set of_warp[32];
    };
    Board<Set> board;

    __device__ int64_t row() const { return blockIdx.x; }
    __device__ int rank() const { return static_cast<int>(blockIdx.y); }
    __device__ void open(Scratch<Set>&) const {}
    __device__ Set exchange(Scratch<Set>& scratch, Set block) const {
        if (threadIdx.x == 0) board.say(row(), block);
        cooperative_groups::this_grid().sync();
        const auto other = static_cast<int>(threadIdx.x);  // each thread reads the set of one block
        const bool asks = other < static_cast<int>(gridDim.y);
        return merge_in_block(asks ? bits_as<Set>(board.look(row(), other)) : Set::of_none(),
                              static_cast<int>(gridDim.y), scratch.of_warp);
    }
};

// A cut is a division of rows among blocks: the number of blocks that share a row, and the slice of each block.
enum class Share { block, cluster, grid };  // who shares a row
struct Cut {
    Share share;
    int blocks;  // per row
    Slice slice;
    int64_t rows_at_once;  // rows per launch; on the grid: side by side
};

// Returns the bytes of shared memory for the rows of a block if blocks with 1024 threads in total share a
// multiprocessor.
inline int64_t room_for(int threads, const Chip& chip) {
    return threads == 1024 ? chip.room : chip.room * threads / 1024 - 1024;
}

// Returns the packs of each tensor that such a block keeps on the chip.
inline int64_t packs_kept(int threads, int tensors, const Chip& chip) {
    return threads *
           (kHeld / tensors + room_for(threads, chip) / (int64_t{16} * tensors * threads));
}

// Returns the packs per slice: whole cache lines, so that slices start at a line if the row does.
inline int64_t slice_packs(int64_t packs, int64_t blocks) {
    constexpr int64_t kLine = 128 / 16;
    return divided_up(std::max<int64_t>(1, packs), blocks * kLine) * kLine;
}

// If one block computes a row, it may have six warps with six packs per thread: 0.98 of a copy's speed at 49152 x
// 8192 __half on an H200, against 0.97 with four warps and eight packs per thread. (Four or five warps with six
// packs per thread are not faster.)
inline constexpr int kSixWarps = 192;

// Returns the slice for a row of 16-bit elements over `blocks` blocks, with the fewest packs per thread that hold
// the row: a pack of eight elements takes twice the instructions of a pack of four floats, and a thread executes
// these instructions even for packs that it does not have. If a few elements do not fit into full slices, the
// threads of the first block take them, as they take those before the first pack. Returns nothing if more than a
// seventh of the registers stay empty.
inline std::optional<Slice> filled_slice(int64_t packs, int64_t blocks) {
    constexpr int kElements = kWidest<__half>;
    if (blocks == 1 && threads_for(packs, kSomeHeld) == kSixWarps) {
        return Slice{slice_packs(packs, 1), kSixWarps, 1, kSomeHeld, 0};
    }
    for (const int threads : {128, 256}) {
        for (const int held : {kSomeHeld, kMostHeld, kHeld}) {
            const int64_t full = int64_t{threads} * held;
            const int64_t left_over = std::max<int64_t>(0, packs - blocks * full);
            if ((left_over + 1) * kElements > threads) continue;
            const int64_t each = std::min(full, slice_packs(packs, blocks));
            if (7 * each < 6 * full) return {};
            return Slice{each, threads, 1, held, 0};
        }
    }
    return {};
}

// Returns the cut of a row of `packs` packs over the blocks of a cluster, or over one block. elements: elements
// per pack. tensors: as in Slice. many: true if the rows fill the chip more than once, so that blocks start as
// others end.
inline Cut cluster_cut(int64_t packs, int elements, int tensors, int64_t blocks, const Chip& chip,
                       bool many) {
    const Share share = blocks == 1 ? Share::block : Share::cluster;
    if (many && tensors == 1 && elements == kWidest<__half>) {
        if (const auto slice = filled_slice(packs, blocks)) {
            return {share, static_cast<int>(std::min(blocks, divided_up(packs, slice->packs))),
                    *slice, INT32_MAX};
        }
    }
    const int64_t each = slice_packs(packs, blocks);
    // Takes the fewest threads that hold the slice in registers: a multiple of four warps, for four schedulers.
    // (An H200 holds fewer blocks of five warps.) If these are too many threads, takes the fewest that keep the
    // rest in shared memory while other blocks share the multiprocessor (at least two blocks for a gradient), so
    // that some load while others wait. A gradient also uses shared memory instead of 512 threads with empty
    // registers: 1.03 instead of 0.96 of the speed of z = x + y at 4000 x 100000 floats.
    int threads = threads_for(each * tensors);
    if (threads > 256) threads = (threads + 127) / 128 * 128;
    const bool is_full = 100 * each * tensors >= 95 * int64_t{threads} * kHeld;
    if (threads > (many ? 256 * tensors : 512) || (many && threads == 512 && !is_full)) {
        for (threads = 128 * tensors; threads < 1024; threads *= 2) {
            const int64_t kept = divided_up(each, threads) - kHeld / tensors;
            const int beside = tensors == 1 ? threads : std::max(threads, 512);
            if (kept * tensors * threads * 16 <= room_for(beside, chip)) break;
        }
    }
    Slice slice = slice_of(each, threads, tensors, chip.room);
    if (tensors == 1 && blocks == 1 && each <= int64_t{threads} * kSomeHeld) {
        slice.held = kSomeHeld;
    }
    return {share, static_cast<int>(divided_up(std::max<int64_t>(1, packs), each)), slice,
            INT32_MAX};
}

// Returns the cut over the grid for few rows whose packs all fit into few registers at once, with one block per
// multiprocessor if that is enough. Returns nothing if the packs do not fit. (A thread reads the set of one
// block, so a row has no more blocks than a block has threads.)
inline std::optional<Cut> few_over_grid(int64_t rows, int64_t packs, const Chip& chip) {
    constexpr struct {
        int threads;
        int held;
        int beside;  // blocks per multiprocessor
    } kWays[] = {{256, kFewHeld, 1}, {512, kFewHeld, 1}, {512, kFewHeld, 2}, {512, kSomeHeld, 2}};
    for (const auto& way : kWays) {
        const int64_t of_row =
            std::min<int64_t>(way.threads, way.beside * chip.multiprocessors / rows);
        const int64_t blocks = std::min(of_row, divided_up(packs, int64_t{2} * way.threads));
        if (blocks == 0) continue;
        const int64_t each = slice_packs(packs, blocks);
        if (each <= int64_t{way.threads} * way.held) {
            return Cut{Share::grid, static_cast<int>(divided_up(packs, each)),
                       Slice{each, way.threads, 1, way.held, 0}, rows};
        }
    }
    return {};
}

// Cuts rows over the grid: each of `at_once` simultaneous rows gets an equal share of `there` blocks.
template <class SliceFor>
Cut over_grid(int64_t at_once, int64_t there, int64_t packs, int threads, SliceFor slice_for) {
    const int64_t most = std::min(there / at_once, divided_up(packs, int64_t{threads} * 4));
    const int64_t each = slice_packs(packs, std::min<int64_t>(threads, most));
    return {Share::grid, static_cast<int>(divided_up(packs, each)), slice_for(each), at_once};
}

// Returns the cut for rows in turn on the grid: as many rows at once as the registers hold, or fewer if many
// blocks would otherwise have no row, in all rounds or in the last round. Returns nothing if a multiprocessor has
// too little shared memory to keep a second row.
inline std::optional<Cut> turns_cut(int64_t rows, int64_t packs, int elements, int tensors,
                                    const Chip& chip) {
    const int held = turn_packs(elements, tensors) / tensors;
    const auto slice_for = [&](int64_t each) {
        return Slice{each, kTurnThreads, tensors, 0, held};
    };
    const auto bytes = static_cast<int64_t>(slice_for(0).shared());
    if (bytes > chip.room) return {};
    const int64_t there = (bytes <= room_for(512, chip) ? 2 : 1) * chip.multiprocessors;
    const int64_t of_chip = there / divided_up(packs, int64_t{kTurnThreads} * held);
    int64_t at_once = std::clamp<int64_t>(of_chip, 1, rows);
    while (50 * (there % at_once) > there) --at_once;
    at_once = divided_up(rows, divided_up(rows, at_once));
    return over_grid(at_once, there, packs, kTurnThreads, slice_for);
}

// Returns the cut over the grid: with two blocks per multiprocessor if the chip can keep all rows at once,
// otherwise for rows in turn.
inline std::optional<Cut> grid_cut(int64_t rows, int64_t packs, int elements, int tensors,
                                   const Chip& chip) {
    constexpr int kThreads = 512;
    const int64_t there = 2 * chip.multiprocessors;
    const int64_t rows_kept = there / divided_up(packs, packs_kept(kThreads, tensors, chip));
    if (rows > std::max<int64_t>(1, rows_kept)) {
        return turns_cut(rows, packs, elements, tensors, chip);
    }
    return over_grid(rows, there, packs, kThreads, [&](int64_t each) {
        return slice_of(each, kThreads, tensors, room_for(kThreads, chip));
    });
}

// Returns the cut for few rows: blocks of up to 256 threads that hold a row in as few registers as possible.
// Returns nothing if the row is too long.
inline std::optional<Cut> few_cut(int64_t packs, const Chip& chip) {
    constexpr int64_t kFull = int64_t{256} * kFewHeld;
    const int64_t wanted = packs <= kFull       ? 1
                           : packs <= 8 * kFull ? std::min<int64_t>(8, divided_up(packs, kFull / 2))
                                                : kLargestCluster;
    const int64_t each = slice_packs(packs, wanted);
    if (each > kFull || wanted > std::max<int64_t>(1, chip.largest_cluster)) return {};
    const auto blocks = static_cast<int>(divided_up(std::max<int64_t>(1, packs), each));
    return Cut{blocks == 1 ? Share::block : Share::cluster, blocks,
               Slice{each, threads_for(each, kFewHeld), 1, kFewHeld, 0}, INT32_MAX};
}

// Returns the cut for `rows` rows of `packs` packs of `elements` elements. If rows fill the chip many times over,
// a row gets, with increasing length: one block while the registers of 256 threads hold the row; a cluster of up
// to eight blocks of 128 threads (a multiprocessor holds eight such blocks, each at a different point of the
// program); eight larger blocks, which fill the chip better than sixteen; sixteen blocks. Fewer rows get sixteen
// blocks earlier. With scratch, rows that are too few or too long for clusters go to the grid: if a cluster's
// block would be alone on its multiprocessor, or if rows in turn are faster. On an H200, rows in turn are faster
// from 560,000 floats or 720,000 elements of 16 bits on, for gradients from 240,000 floats on, and hardly ever
// for doubles.
inline Cut cut_for(int64_t rows, int64_t packs, int elements, int tensors, const Chip& chip,
                   bool has_scratch) {
    rows = std::max<int64_t>(1, rows);
    const int64_t full = int64_t{128} * kHeld / tensors;
    const auto fills = [&](int64_t times) {
        return rows * packs > times * full * chip.multiprocessors;
    };
    const bool many = fills(32);
    if (tensors == 1 && !fills(3)) {
        if (const auto few = few_cut(packs, chip)) return *few;
    }
    if (has_scratch && packs > int64_t{448} * kHeld * kLargestCluster) {
        if (tensors == 1) {
            if (const auto few = few_over_grid(rows, packs, chip)) return *few;
        }
        const int64_t longest = tensors == 2                  ? 60'000
                                : elements == kWidest<__half> ? 90'000
                                : elements == kWidest<float>  ? 140'000
                                                              : 450'000;
        const bool cluster_is_alone = packs > int64_t{512} * kHeld * kLargestCluster;
        if (rows <= 2 || packs > longest ||
            (cluster_is_alone && rows * kLargestCluster <= 2 * chip.multiprocessors)) {
            if (const auto cut = grid_cut(rows, packs, elements, tensors, chip)) return *cut;
        }
    }
    if (packs <= 2 * full) return cluster_cut(packs, elements, tensors, 1, chip, many);
    int64_t blocks = divided_up(packs, packs <= (many ? 8 : 16) * full ? full : 2 * full);
    const bool fill_sixteen = packs > 30 * full && packs <= 32 * full;
    if (many && !fill_sixteen && packs <= 40 * full) blocks = std::min<int64_t>(8, blocks);
    // For 16-bit types, uses 9, 11 or 13 small blocks instead of half as many large blocks, of which the last
    // would be half empty: 0.99 instead of 0.95 of a copy's speed at 1736 x 73729 __half on an H200.
    const int64_t small = divided_up(packs, full);
    if (many && tensors == 1 && elements == kWidest<__half> && small % 2 == 1 && small > 8 &&
        small < 15) {
        blocks = small;
    }
    if (!many && packs > 16 * full) blocks = kLargestCluster;
    blocks = std::clamp<int64_t>(blocks, 1, std::max<int64_t>(1, chip.largest_cluster));
    return cluster_cut(packs, elements, tensors, blocks, chip, fills(5));
}

// Returns the bytes of scratch that a cut needs.
inline size_t workspace_bytes_of(const Cut& cut, int64_t rows) {
    return cut.share == Share::grid ? board_bytes(rows * cut.blocks) : 0;
}

// Returns the cut for the current device within the workspace, or without scratch if `workspace` is null.
template <class T>
Cut cut_within(int64_t rows, int64_t cols, int tensors, const void* workspace,
               size_t workspace_bytes) {
    const auto cut_of = [&](bool has_scratch) {
        return cut_for(rows, packs_of<T>(cols), kWidest<T>, tensors, this_chip(), has_scratch);
    };
    const Cut cut = cut_of(workspace != nullptr);
    return workspace_bytes_of(cut, rows) <= workspace_bytes ? cut : cut_of(false);
}

// Returns how many bytes of scratch make rows of this shape faster on the current device, or 0 if scratch does not
// help.
template <class T>
size_t cluster_softmax_workspace_bytes(int64_t rows, int64_t cols) {
    if (rows <= 0 || cols <= 0) return 0;
    return workspace_bytes_of(cut_for(rows, packs_of<T>(cols), kWidest<T>, 1, this_chip(), true),
                              rows);
}

// Returns the number of blocks with this slice that fit on a multiprocessor.
inline int64_t blocks_beside(const Slice& slice, const Chip& chip) {
    const int64_t by_memory = chip.room / (static_cast<int64_t>(slice.shared()) + 1024);
    return std::max<int64_t>(1, std::min<int64_t>(1024 / slice.threads, by_memory));
}

// Returns the delay between the starts of two rows: the time to read one row, if nothing else is read. row_bytes:
// bytes read per row.
inline unsigned nanoseconds_apart(double row_bytes) {
    return static_cast<unsigned>(1e3 * row_bytes / this_chip().bytes_per_us);
}

// Returns the number of `blocks` places that clusters can use, since a cluster must run within one group of
// multiprocessors: on an H200, 7 clusters of 16 with one block per multiprocessor.
inline int64_t places_for_clusters(int64_t blocks) {
    return blocks * 7 / 8;
}

// Rows start with a delay only if each place on the chip gets this many rows, because late starts delay the end.
inline constexpr int64_t kTurns = 4;

// Returns the team for clusters. If a multiprocessor holds only one or two slices and there are many rows, the
// first rows start with delays, as rows in turn do, but with half the delay: 0.88 of a copy's speed at 88 x
// 720897 floats on an H200, against 0.87 with the full delay and 0.855 without delay. (With the full delay,
// gradients of 244 x 262144 reach 0.96 instead of 0.92 of the speed of z = x + y.)
inline Cluster cluster_team(const Cut& cut, int64_t rows, double row_bytes) {
    const Chip chip = this_chip();
    const int64_t beside = blocks_beside(cut.slice, chip);
    const int64_t clusters = places_for_clusters(beside * chip.multiprocessors) / cut.blocks;
    if (cut.slice.kept == 0 || beside > 2 || rows < kTurns * clusters) return {};
    return {static_cast<int>(clusters), nanoseconds_apart(row_bytes / 2)};
}

// Launches one kernel, in as many grids as all rows need. tensors: the tensors that the kernel reads and writes.
template <class Kernel, class Team, class... T>
cudaError_t launch_cut(Kernel kernel, Team team, int64_t rows, int64_t cols, const Cut& cut,
                       cudaStream_t stream, T*... tensors) {
    cudaLaunchAttribute attribute{};
    if (cut.share == Share::cluster) {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {1, static_cast<unsigned>(cut.blocks), 1};
    } else if (cut.share == Share::grid) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
    }
    cudaLaunchConfig_t config{};
    config.blockDim = dim3(static_cast<unsigned>(cut.slice.threads));
    config.dynamicSmemBytes = cut.slice.shared();
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = cut.share == Share::block ? 0 : 1;
    cudaError_t error = cudaSuccess;
    if (cut.slice.shared() > 0) {  // the most that any row needs
        error = set_once(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(room_for_rows()));
    }
    if (error == cudaSuccess &&
        cut.share == Share::cluster) {  // more than 8 blocks need permission
        error = set_once(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    }
    if (error != cudaSuccess) return error;
    const int64_t rows_a_launch = cut.share == Share::grid ? rows : cut.rows_at_once;
    for (int64_t row = 0; row < rows && error == cudaSuccess; row += rows_a_launch) {
        const int64_t now = std::min(rows - row, cut.rows_at_once);
        config.gridDim = dim3(static_cast<unsigned>(now), static_cast<unsigned>(cut.blocks));
        error = cudaLaunchKernelEx(&config, kernel, (tensors + row * cols)..., team, cols,
                                   cut.slice.packs, cut.slice.kept);
    }
    if (error != cudaSuccess)
        cudaGetLastError();  // already returned: must not be found again later
    return error;
}

// Launches a cut over the grid: the kernel at_once, or in_turn if there are more rows than run at once.
// workspace: workspace_bytes_of(cut, rows) bytes. row_bytes: bytes read per row.
template <class Set, class AtOnce, class InTurn, class... T>
cudaError_t launch_grid(AtOnce at_once, InTurn in_turn, int64_t rows, int64_t cols,
                        double row_bytes, const Cut& cut, void* workspace, cudaStream_t stream,
                        T*... tensors) {
    const Board<Set> board{static_cast<typename Board<Set>::Word*>(workspace)};
    if (rows <= cut.rows_at_once) {
        return launch_cut(at_once, Grid<Set>{board}, rows, cols, cut, stream, tensors...);
    }
    const size_t bytes = workspace_bytes_of(cut, rows);
    const cudaError_t error = cudaMemsetAsync(workspace, 0xff, bytes, stream);
    if (error != cudaSuccess) {
        cudaGetLastError();  // as above
        return error;
    }
    const unsigned apart = rows < kTurns * cut.rows_at_once ? 0 : nanoseconds_apart(row_bytes);
    return launch_cut(in_turn, Turns<Set>{board, static_cast<int>(rows), apart}, rows, cols, cut,
                      stream, tensors...);
}

// Returns the kernel for a slice of one tensor: with the slice's packs per thread, or the next larger number for
// which there is a kernel.
template <Algorithm kAlgorithm, class Team, class T>
auto kernel_for(const Slice& slice) {
    if (slice.more()) return row_on_chip_kernel<kAlgorithm, kHeld, true, true, Team, T>;
    if constexpr (sizeof(T) <= 4) {
        if (slice.held == kFewHeld) {
            return row_on_chip_kernel<kAlgorithm, kFewHeld, false, true, Team, T>;
        }
        if constexpr (sizeof(T) == 2 || !std::is_same_v<Team, Cluster>) {
            if (slice.held == kSomeHeld) {
                return row_on_chip_kernel<kAlgorithm, kSomeHeld, false, true, Team, T>;
            }
        }
        if constexpr (sizeof(T) == 2) {
            if (slice.held == kMostHeld) {
                return row_on_chip_kernel<kAlgorithm, kMostHeld, false, true, Team, T>;
            }
        }
    }
    return row_on_chip_kernel<kAlgorithm, kHeld, false, true, Team, T>;
}

// Launches softmax or log-softmax of each row by this cut. workspace: workspace_bytes_of(cut, rows) bytes.
template <Algorithm kAlgorithm, class T>
cudaError_t launch_as(const Cut& cut, const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                      cudaStream_t stream) {
    using Set = Normalizer<ComputeOf<T>>;
    const double row_bytes = static_cast<double>(cols) * sizeof(T);
    if (cut.share == Share::cluster) {
        const Cluster team = cluster_team(cut, rows, row_bytes);
        return launch_cut(kernel_for<kAlgorithm, Cluster, T>(cut.slice), team, rows, cols, cut,
                          stream, x, y);
    }
    if (cut.share == Share::grid) {
        return launch_grid<Set>(kernel_for<kAlgorithm, Grid<Set>, T>(cut.slice),
                                rows_in_turn_kernel<kAlgorithm, T>, rows, cols, row_bytes, cut,
                                workspace, stream, x, y);
    }
    return launch_cut(kernel_for<kAlgorithm, Block, T>(cut.slice), Block{}, rows, cols, cut, stream,
                      x, y);
}

template <Algorithm kAlgorithm, class T>
cudaError_t launch_clusters(const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
    bool empty = false;
    const cudaError_t error = check_rows(x, y, rows, cols, &empty);
    if (error != cudaSuccess || empty) return error;
    if (!have_one_alignment(x, y))
        return launch_online_cached<kAlgorithm>(x, y, rows, cols, stream);
    const Cut cut = cut_within<T>(rows, cols, 1, workspace, workspace_bytes);
    return launch_as<kAlgorithm>(cut, x, y, rows, cols, workspace, stream);
}

// Computes the softmax of each row of x into y (rows x cols, device memory, y may be x), of any width. If the
// device has no clusters, or x and y are misaligned by different amounts, a block computes a row. workspace may
// be null; with cluster_softmax_workspace_bytes() bytes, aligned to 16 bytes, few long rows are faster.
// Concurrent calls need a workspace each, otherwise they mix their sums. Asynchronous on stream. Returns
// cudaErrorInvalidValue for a null or misaligned pointer, a negative size, or more than 2^31 - 1 columns.
template <class T>
cudaError_t cluster_softmax(const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream) {
    return launch_clusters<Algorithm::softmax>(x, y, rows, cols, workspace, workspace_bytes,
                                               stream);
}

// Computes log(softmax(x)) in the same way.
template <class T>
cudaError_t cluster_log_softmax(const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                                size_t workspace_bytes, cudaStream_t stream) {
    return launch_clusters<Algorithm::log_softmax>(x, y, rows, cols, workspace, workspace_bytes,
                                                   stream);
}

}  // namespace smem_softmax
