// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/any_axis_tiling, version 1.0
//
// Divides the work along any axis among blocks and threads, with pure functions of sizes, alignment and device.
//   new here   tiles: all rows of a slab, and a number of columns that allows wide accesses and enough blocks
//   used by    any_axis_softmax.cuh and softmax.cuh
#pragma once
#include <algorithm>
#include <numeric>

#include "../../04_warp_softmax/front_call.cuh"
#include "../../04_warp_softmax/further/row_groups.cuh"

namespace smem_softmax {
namespace any_axis {

using warp_softmax::ComputeOf;

// A tensor of `outer` slabs, each of dim rows of inner elements.
struct Sizes {
    int64_t outer;
    int64_t dim;
    int64_t inner;
};

// A tiling divides the work. A tile is `width` columns of all rows of a slab. If the slab has no other columns, its
// tile is contiguous memory, and packs may straddle rows.
struct Tiling {
    int pack;           // elements per access: 16 bytes, or one element
    bool ends;          // true if packs at the ends of a slab reach beyond the slab
    int width;          // columns of a tile
    int64_t tiles;      // per slab
    int threads;        // per tile; threads * pack is a multiple of width
    int lanes;          // lanes of a warp before columns repeat; 0: no repetition in every warp
    int slabs;          // tiles per block: the same columns of neighbouring slabs
    int blocks;         // per tile: of a cluster, or of two launches; if more than 1, slabs is 1
    bool held;          // true if a tile stays on the chip between its read and its write
    int parts;          // parts of a tile in a first launch that computes only sums; or 0
    void* sums;         // device memory for the sums of that first launch
    int packs;          // per thread, in registers; 0: the tile is in shared memory, if held
    size_t tile_bytes;  // shared memory of one tensor's tile, in one block
    size_t join_bytes;  // shared memory for an exchange between threads, in each of two rounds

    size_t shared_bytes(int tensors) const { return 2 * join_bytes + slabs * tensors * tile_bytes; }
    // Returns the bytes for the sums of all tiles, with `of_column` bytes per part and column.
    size_t sums_bytes(Sizes sizes, size_t of_column) const {
        return static_cast<size_t>(sizes.outer * tiles * parts * width) * of_column;
    }
};

// Returns a block's packs per thread if the blocks of a tile share `count` packs per thread.
__host__ __device__ inline int64_t blocks_share(int64_t count, const Tiling& tiling) {
    return (count + tiling.blocks - 1) / tiling.blocks;
}

// Maximum number of threads of a block: half as many for held tiles of 16-bit types, whose packs cover twice as many
// columns.
template <class T, bool kHeld = true>
constexpr int kMostThreads = kHeld && sizeof(T) == 2 ? 512 : 1024;

// Maximum number of threads of a block if each of the two reads is a launch.
inline constexpr int kPartThreads = 512;

// The properties of the GPU on which a tiling depends.
struct Device {
    int shared = 0;  // bytes of shared memory per block
    int multiprocessors = 0;
    int cluster = 1;          // maximum number of blocks of a portable cluster,
    int largest_cluster = 1;  // and of any cluster
};
inline Device device_of(const softmax_stages::Chip& chip) {
    constexpr int kPortableCluster = 8;
    return {static_cast<int>(chip.room) + 1024, static_cast<int>(chip.multiprocessors),
            chip.largest_cluster > 0 ? kPortableCluster : 1,
            static_cast<int>(std::max<int64_t>(1, chip.largest_cluster))};
}

// Returns the tiling for tiles of this width, with up to `blocks` blocks per tile and up to `shared` bytes per block.
// The tiles are held if these bytes are enough. With 0 bytes, the kernel reads tiles twice, with up to
// threads_without threads. Returns width 0 if a block would need too many threads.
template <class T>
Tiling cut(Sizes sizes, int tensors, int pack, bool aligned, int64_t width, int blocks,
           int64_t shared, int threads_without) {
    const int64_t least =
        width / std::gcd<int64_t>(width, pack);  // so that a thread's packs are whole rows apart
    Tiling tiling{};
    if (least > std::min(threads_without, kMostThreads<T>)) return tiling;
    tiling.pack = pack;
    tiling.width = static_cast<int>(width);
    tiling.tiles = (sizes.inner + width - 1) / width;
    tiling.slabs = tiling.blocks = 1;
    const auto divided = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
    const auto join_bytes = [&] {  // with the results of a cluster
        const int64_t of_tile = tiling.lanes == 0
                                    ? tiling.threads * pack
                                    : std::max(1, tiling.threads / 32) * tiling.lanes * pack;
        const int64_t values =
            tiling.slabs * of_tile + (tiling.blocks > 1 ? std::max<int64_t>(width, pack) : 0);
        return divided(values * sizeof(ComputeOf<T>), 16) * 16;
    };

    // Uses few packs per thread if a tile is small, so that neighbouring threads read neighbouring packs.
    tiling.ends = pack > 1 && width == sizes.inner && !aligned;
    const int64_t ends = tiling.ends ? 2 * (pack - 1) : 0;
    const int64_t lanes = std::max<int64_t>(1, width / pack);
    const bool shuffles = std::max<int64_t>(width, pack) % std::min<int64_t>(width, pack) == 0 &&
                          lanes <= 32 && (lanes & (lanes - 1)) == 0;
    tiling.lanes = shuffles ? static_cast<int>(lanes) : 0;
    const int64_t packs = (sizes.dim * width + ends) / pack;
    for (tiling.blocks = 1; tiling.blocks <= blocks; tiling.blocks *= 2) {
        const int64_t of_block = divided(packs, tiling.blocks);
        int64_t each = 1;
        while (each < 8 && 4 * each * each <= of_block) each *= 2;
        const int64_t all = static_cast<int64_t>(sizeof(T)) * sizes.dim * width * tensors;
        const bool alone = all > shared / 2 * tiling.blocks;  // alone on its multiprocessor
        const int64_t enough = shared == 0 ? threads_without : alone ? kMostThreads<T> : 512;
        const int64_t wanted = divided(of_block, each * least);
        int64_t threads =
            least * std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, enough / least));
        if (shuffles) {  // whole warps, or an equal part of one
            int64_t part = lanes;
            while (part < threads && part < 32) part *= 2;
            threads = divided(threads, part) * part;
        } else if (sizes.dim <= 16 && width % pack == 0) {
            threads = least;  // each has its columns alone
        }
        tiling.threads = static_cast<int>(threads);
        const int64_t steps = blocks_share(divided(packs, tiling.threads), tiling);
        const int64_t bytes = divided(steps * tiling.threads * pack * sizeof(T), 16) * 16;
        tiling.held = 2 * join_bytes() + tensors * bytes <= shared;
        if (!tiling.held) continue;
        constexpr int64_t kEnoughThreads = 256;
        constexpr int64_t kEnoughBytes = 32768;
        const int64_t slabs =
            std::min(kEnoughThreads / tiling.threads, kEnoughBytes / (tensors * bytes));
        if (tiling.blocks == 1)
            tiling.slabs = static_cast<int>(std::clamp<int64_t>(slabs, 1, sizes.outer));
        tiling.tile_bytes = static_cast<size_t>(bytes);
        break;
    }
    if (!tiling.held) tiling.blocks = 1;
    tiling.join_bytes = static_cast<size_t>(join_bytes());
    return tiling;
}

// Returns the bytes of the messages that a block of a cluster gets: 16 bytes for their barrier, then a maximum and a sum
// from each block for each column.
template <class Compute>
__host__ __device__ size_t message_bytes(const Tiling& tiling) {
    if (tiling.blocks == 1) return 0;
    return 16 + static_cast<size_t>(tiling.blocks) * tiling.width * 2 * sizeof(Compute);
}

// Returns a tiling in registers: tiles of `lanes` packs per row (a power of two), with `blocks` blocks per tile and up
// to kMostPacks packs per thread, of all tensors together. Returns width 0 if a block would need too many threads.
inline constexpr int64_t kMostPacks = 8;
template <class T>
Tiling in_registers(Sizes sizes, int tensors, int64_t lanes, int64_t most_threads, int blocks) {
    const auto power_of_two = [](int64_t least) {
        int64_t power = 1;
        while (power < least) power *= 2;
        return power;
    };
    constexpr int kWhole = 16 / sizeof(T);
    Tiling tiling{};
    // Uses at least two packs per thread, unless too few neighbouring threads would then read a line of 128 bytes.
    const int64_t each = kMostPacks / tensors, dim = (sizes.dim + blocks - 1) / blocks;
    int64_t rows =
        std::max((dim + each - 1) / each, std::min((dim + 1) / 2, std::max<int64_t>(1, 8 / lanes)));
    if (dim > each * most_threads || lanes * rows > most_threads) return tiling;
    // Uses whole warps, or a power of two of threads within a warp.
    const int64_t of_warp = std::max<int64_t>(1, 32 / lanes);
    rows = rows >= of_warp ? (rows + of_warp - 1) / of_warp * of_warp : power_of_two(rows);
    tiling.pack = kWhole;
    tiling.width = static_cast<int>(lanes * kWhole);
    tiling.tiles = (sizes.inner + tiling.width - 1) / tiling.width;
    tiling.threads = static_cast<int>(lanes * rows);
    tiling.lanes = static_cast<int>(lanes);
    tiling.slabs = blocks > 1 ? 1 : std::clamp(128 / tiling.threads, 1, 64);
    tiling.blocks = blocks;
    tiling.held = true;
    const int64_t packs = std::max<int64_t>(2, tensors * power_of_two((dim + rows - 1) / rows));
    tiling.packs = static_cast<int>(blocks > 1 ? kMostPacks : packs);  // of clusters, one kernel
    if (tiling.threads > std::max<int64_t>(32, lanes)) {  // the maxima and sums of a warp
        const size_t set_bytes = 16 + kWhole * sizeof(ComputeOf<T>);
        const int64_t sets = tiling.slabs * (tiling.threads / 32) * lanes;
        tiling.join_bytes = (sets * set_bytes + message_bytes<ComputeOf<T>>(tiling)) / 2;
    }
    return tiling;
}

// Returns the tiling for a tensor. tensors: 1, or 2 for a gradient; phase: number of elements from a multiple of 16
// bytes to the start of every tensor, or -1 if the tensors differ; has_scratch: true if device memory can hold sums.
// If tiles are parts of rows, whole packs require that rows start with a pack.
template <class T>
Tiling tiling_for(Sizes sizes, int tensors, int phase, Device device, bool has_scratch = false) {
    constexpr int kWhole = 16 / sizeof(T);
    const int quarter = device.shared / 4;  // so that some blocks load while others compute
    const int third = device.shared / 3 - 1024;
    const int cluster = std::min(device.cluster, 4);
    const int64_t row_bytes = sizes.inner * static_cast<int64_t>(sizeof(T));
    const int64_t byte_column = sizes.dim * tensors;  // bytes of a tile one byte wide
    const bool packs_fit_rows = phase == 0 && sizes.inner % kWhole == 0;
    // For large tensors, two launches are faster even if clusters fill the chip: 0.60 instead of 0.54 of a copy's
    // speed at (300, 7000, 64) on an H200. For 16-bit types, whose arithmetic takes longer, they are not.
    const bool large = sizeof(T) > 2 && sizes.outer * byte_column * row_bytes >= 32 << 20;

    // In registers: tile rows are lines of 128 bytes, or half lines for long slabs (a quarter of a line costs a third
    // of the speed). Tiles are narrower if fewer lanes then have no column, except for gradients, which wait for
    // memory anyway.
    constexpr int kMostBlocks = 16;
    const auto registers_of = [&](int blocks) {
        const int64_t row_packs = sizes.inner / kWhole;
        const auto lanes_for_row = [&](int64_t lanes) {
            return (row_packs + lanes - 1) / lanes * lanes;
        };
        // If clusters consist of small blocks, more clusters share a multiprocessor, and some load while others wait:
        // 0.82 instead of 0.76 of the speed of z = x + y for gradients of (16, 8192, 256) floats on an H200.
        const int64_t most = blocks == 1 ? 512 : 256;
        const int64_t most_of_parts = blocks == kMostBlocks && !large ? 1024 : most * tensors;
        int64_t lanes = sizes.dim <= kMostPacks / tensors ? 128 : 8;
        while (lanes / 2 >= row_packs) lanes /= 2;
        Tiling tiling = in_registers<T>(sizes, tensors, lanes, most, blocks);
        if (tiling.width == 0 && lanes >= 4) {
            lanes = 4;
            tiling = in_registers<T>(sizes, tensors, lanes, most_of_parts, blocks);
        }
        if (tiling.width > 0 && lanes >= 4 && (tensors == 1 || lanes == 4) &&
            8 * lanes_for_row(lanes / 2) < 7 * lanes_for_row(lanes)) {
            tiling = in_registers<T>(sizes, tensors, lanes / 2, most, blocks);
        }
        return tiling;
    };
    // A cluster shares a tile if it is too long for a block, or if there are too few tiles for the chip.
    if (packs_fit_rows) {
        constexpr int kEnoughThreads = 128;
        Tiling best{};
        for (int blocks = 1; blocks <= device.largest_cluster; blocks *= 2) {
            const Tiling tiling = registers_of(blocks);
            if (tiling.width == 0) continue;
            if (blocks > 1 && tiling.threads < std::max(kEnoughThreads, 2 * tiling.lanes)) break;
            best = tiling;
            const int64_t slabs = (sizes.outer + tiling.slabs - 1) / tiling.slabs;
            if (slabs * tiling.tiles * blocks >= device.multiprocessors) break;
        }
        if (best.width > 0) return best;
    }

    // Whole rows, if rows are narrow, or cannot be divided between packs, or if the slab is small.
    const int pack_of_rows = phase < 0 ? 1 : kWhole;
    const bool aligned = phase == 0 && sizes.dim * sizes.inner % kWhole == 0;
    const bool narrow = row_bytes < 64 || (!packs_fit_rows && phase >= 0);
    const auto whole_rows = [&](int blocks, int shared, int threads = kMostThreads<T, false>) {
        return cut<T>(sizes, tensors, pack_of_rows, aligned, sizes.inner, blocks, shared, threads);
    };
    if (narrow || row_bytes * byte_column <= 24 * 1024) {
        for (const int blocks : {1, cluster}) {
            const Tiling rows = whole_rows(blocks, third);
            if (rows.width > 0 && rows.held) return rows;
        }
    }

    // Otherwise parts of rows, in whole sectors of 32 bytes: as wide as a block can hold while other blocks share the
    // multiprocessor, or as a small cluster can hold. (Clusters of eight take longer at dim = 10000 than two reads.)
    constexpr int64_t kMostColumns = 256;  // packs, or elements
    const int pack = packs_fit_rows ? kWhole : 1;
    const auto part = [&](int64_t width_bytes, int blocks, int shared,
                          int threads = kMostThreads<T, false>) {
        const int64_t width = std::min<int64_t>(width_bytes / sizeof(T), kMostColumns * pack);
        return cut<T>(sizes, tensors, pack, aligned, std::min(sizes.inner, width), blocks, shared,
                      threads);
    };
    // Two reads; with scratch, in two launches. A tile's blocks then need not run at the same time, so enough blocks
    // to fill the chip can share a tile: 0.61 instead of 0.34 of a copy's speed at (2, 2000000, 16) floats on an
    // H200. Narrow rows stay whole. Returns no parts if clusters also fill the chip and two launches are not faster.
    const auto two_launches = [&] {
        constexpr int64_t kLeast = 64 << 10;  // the fewest bytes for a block to read
        const int64_t there = 2 * device.multiprocessors;
        const bool uneven = row_bytes % 128 != 0 && row_bytes <= 4096 && 32 * sizes.outer >= there;
        const bool whole = row_bytes <= 512 || uneven;
        Tiling tiling = whole ? whole_rows(1, 0, kPartThreads) : Tiling{};
        if (tiling.width == 0) tiling = part(256, 1, 0, kPartThreads);
        const int64_t tiles = sizes.outer * tiling.tiles;
        const int64_t most = std::max<int64_t>(
            1, tiling.width * byte_column * static_cast<int64_t>(sizeof(T)) / kLeast);
        // The fewest parts that leave few multiprocessors without a block in the last round.
        const auto places = [&](int64_t blocks) { return (blocks + there - 1) / there * there; };
        int64_t parts = std::max<int64_t>(1, there / tiles);
        while (parts < most && 10 * parts * tiles < 9 * places(parts * tiles)) ++parts;
        parts = std::min(parts, most);
        const bool few = tiles * device.cluster <
                         device.multiprocessors;  // clusters of these would not fill the chip
        if (parts == 1 || !(few || (large && tiles < 4 * there))) return Tiling{};
        tiling.parts = tiling.blocks = static_cast<int>(parts);
        return tiling;
    };
    const Tiling in_parts = has_scratch ? two_launches() : Tiling{};

    if (!narrow || row_bytes > 64) {
        int64_t wide = 128;
        while (wide < row_bytes && 2 * wide * byte_column <= 24 * 1024) wide *= 2;
        const struct {
            int64_t width_bytes;
            int blocks;
            int shared;
        } ways[] = {{wide, 1, quarter},
                    {128, 1, third},
                    {64, 1, third},
                    {64, cluster, third},
                    {32, 1, device.shared}};
        for (const auto& way : ways) {
            if (way.width_bytes == 32 && in_parts.parts > 0 && large)
                break;  // two launches are faster
            const Tiling tiling = part(way.width_bytes, way.blocks, way.shared);
            if (tiling.held) return tiling;
        }
    }

    if (in_parts.parts > 0) return in_parts;

    // Two reads in one launch, of tiles as wide as possible while at least half of the multiprocessors have work.
    const bool scattered = sizeof(T) == 2 && !packs_fit_rows && phase >= 0;
    const auto is_enough = [&](const Tiling& tiling, int blocks) {
        return 2 * sizes.outer * tiling.tiles * blocks >= device.multiprocessors;
    };
    constexpr int kRoomForAll = 72 << 10;  // bytes that 1024 threads exchange
    const int threads = device.shared < kRoomForAll ? kPartThreads : kMostThreads<T, false>;
    Tiling tiling = row_bytes < 64 || scattered ? whole_rows(1, 0, threads) : Tiling{};
    if (tiling.width == 0) {
        for (const int width_bytes : {256, 128, 64, 32}) {
            tiling = part(width_bytes, 1, 0, threads);
            if (is_enough(tiling, device.cluster)) break;
        }
    }
    while (2 * tiling.blocks <= device.cluster && !is_enough(tiling, tiling.blocks))
        tiling.blocks *= 2;
    const size_t of_cluster = std::max(tiling.width, tiling.pack) * sizeof(ComputeOf<T>);
    tiling.join_bytes += (of_cluster + 15) / 16 * 16;
    return tiling;
}

}  // namespace any_axis
}  // namespace smem_softmax
