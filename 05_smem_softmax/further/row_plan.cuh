// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/row_plan, version 1.0
//
// Divides long rows among blocks, with pure functions of sizes and chip.
//   new here   the choice between a block, a cluster and the whole grid, by rows and by bytes of a row
//   used by    row_launch.cuh and softmax.cuh
#pragma once
#include <optional>

#include "../../04_warp_softmax/front_call.cuh"
#include "row_teams.cuh"

namespace smem_softmax {

using softmax_stages::Chip;
using softmax_stages::this_chip;

// A slice is a block's part of a row: `packs` packs for `threads` threads. If a kernel reads several tensors, a
// thread has packs of each tensor.
struct Slice {
    int64_t packs;
    int threads;
    int tensors;
    int held;  // packs per thread and tensor in registers; 0 for rows in turn
    int kept;  // packs per thread and tensor in shared memory
    bool more() const { return packs > int64_t{held} * threads; }
    int64_t on_chip() const { return int64_t{held + kept} * threads; }  // packs
    size_t shared() const { return static_cast<size_t>(kept) * tensors * threads * 16; }
};

inline int64_t divided_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

// Returns the slice of a block that may use `room` bytes of shared memory.
inline Slice slice_of(int64_t packs, int threads, int tensors, int64_t room) {
    const int held = kHeld / tensors;
    const int64_t kept =
        std::min(divided_up(packs, threads) - held, room / (int64_t{16} * tensors * threads));
    return {packs, threads, tensors, held, static_cast<int>(std::max<int64_t>(0, kept))};
}

// Returns the number of threads, whole warps up to 1024, that hold `packs` packs in registers, `held` each.
inline int threads_for(int64_t packs, int held = kHeld) {
    return static_cast<int>(
        std::min<int64_t>(1024, std::max<int64_t>(1, divided_up(packs, 32 * held)) * 32));
}

// Returns the maximum number of packs in a row.
template <class T>
int64_t packs_of(int64_t cols) {
    return cols / kWidest<T>;
}

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

// Returns the number of threads of a row that have at least one of its packs.
inline int64_t threads_of(const Cut& cut, int64_t packs) {
    return std::clamp<int64_t>(int64_t{cut.blocks} * cut.slice.threads, 1,
                               std::max<int64_t>(1, packs));
}

// Returns how often an element is read, of all tensors together: blocks read the packs that they cannot keep twice.
inline double reads_of(const Cut& cut, int64_t packs) {
    const Slice& slice = cut.slice;
    int64_t again = 0;
    for (int64_t block = 0; block < cut.blocks; ++block) {
        again += std::max<int64_t>(
            0, std::min(slice.packs, packs - block * slice.packs) - slice.on_chip());
    }
    const double share = packs == 0 ? 0 : static_cast<double>(again) / static_cast<double>(packs);
    return slice.tensors * (1 + share);
}

// Returns the bytes of scratch that a cut needs.
inline size_t workspace_bytes_of(const Cut& cut, int64_t rows) {
    return cut.share == Share::grid ? board_bytes(rows * cut.blocks) : 0;
}

// Returns the number of blocks with this slice that fit on a multiprocessor.
inline int64_t blocks_beside(const Slice& slice, const Chip& chip) {
    const int64_t by_memory = chip.room / (static_cast<int64_t>(slice.shared()) + 1024);
    return std::max<int64_t>(1, std::min<int64_t>(1024 / slice.threads, by_memory));
}

// Returns the number of `blocks` places that clusters can use, since a cluster must run within one group of
// multiprocessors: on an H200, 7 clusters of 16 with one block per multiprocessor.
inline int64_t places_for_clusters(int64_t blocks) {
    return blocks * 7 / 8;
}

}  // namespace smem_softmax
