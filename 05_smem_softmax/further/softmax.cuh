// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/softmax, version 1.0
//
// The front call: softmax and log-softmax of whatever one has, and their gradients.
//   new here   plan(): a pure function that says which of the ways takes the least time, and why
//   traffic    1 read + 1 write per element wherever the chip can keep a row
//   accepts    float, __half, __nv_bfloat16, double; any sizes, any address; along the last axis or
//              along the middle one of (outer, dim, inner); y may be x
//   rows       as in 04
//   needs      CUDA 12.5; nothing but x and y, but few long rows take less time with a workspace
#pragma once
#include "../../04_warp_softmax/further/any_width.cuh"
#include "../../04_warp_softmax/further/warp_softmax_backward.cuh"
#include "any_axis_backward.cuh"
#include "any_axis_softmax.cuh"
#include "cluster_softmax.cuh"
#include "short_rows.cuh"
#include "softmax_backward.cuh"

namespace softmax_stages {

using smem_softmax::Chip;
using smem_softmax::Cut;
using smem_softmax::Share;
using smem_softmax::Tile;
using warp_softmax::Algorithm;

// Who has a row: a few lanes of a warp, in their registers (04); the threads of a tile, in theirs; a
// block, a cluster or the whole grid, in registers and shared memory.
enum class Tier { lanes, tile, block, cluster, grid };

struct Plan {
    Tier tier;
    Tile tile;  // of the second
    Cut cut;    // of the last three
    double us;  // predicted
    const char* reason;
    size_t workspace_bytes;       // that it uses
    size_t more_workspace_bytes;  // with so many it would take us_with_more; else 0
    double us_with_more;
};

// What takes time, in an H200's figures where the chip does not say (medians of the sweeps that are
// recorded in 05_smem_softmax/recorded): a launch, the longer the more instructions it has one behind the other;
// and bytes at the speed of a copy, less where a part of the threads has none.
template <class T>
double bytes_of(int64_t rows, int64_t cols) {
    return 2. * static_cast<double>(rows) * static_cast<double>(cols) * sizeof(T);
}
template <class T>
double lanes_us(int64_t rows, int64_t cols, const Chip& chip) {
    return 3.85 + 0.19e-3 * static_cast<double>(cols) * sizeof(T) +
           bytes_of<T>(rows, cols) / (0.97 * chip.bytes_per_us);
}

// Of a tile, also what its warps take of the multiprocessors: most where rows are a few elements. Blocks of
// two warps with two packs a thread come and go too fast, and elements that are stored one by one use more
// of the L2.
template <class T>
double tile_us(const Tile& tile, int64_t rows, int64_t cols, const Chip& chip) {
    constexpr double kWarpsOfOne = 22.3;  // a microsecond, of one multiprocessor
    const bool in_packs = tile.threads == 1;
    const bool of_two = !in_packs && tile.pack > 1 && tile.packs == 2;
    const double filled = static_cast<double>(cols) / static_cast<double>(tile.cols());
    const double empty = in_packs ? 0 : 1 - filled;
    const double best = tile.pack == 1                 ? 0.88
                        : of_two && tile.threads == 64 ? 0.93
                        : tile.pack * tile.packs > 16  ? 0.972
                                                       : 0.975;
    const double share = best * (1 - (of_two ? 0.22 : 0.05) * empty);
    const double warps = static_cast<double>(rows) * tile.threads / 32 * (in_packs ? filled : 1);
    return 3.45 + 1.1e-3 * tile.threads + 0.0085 * sizeof(T) * tile.pack * tile.packs +
           std::max(bytes_of<T>(rows, cols) / (share * chip.bytes_per_us),
                    warps / (kWarpsOfOne * static_cast<double>(chip.multiprocessors)));
}

// Of the speed of a copy, where rows take turns on the grid: less where registers are not full, or places
// in the last round; of doubles half, as it is their exponentials that take the time.
template <class T>
double share_in_turn(const Cut& cut, int64_t rows) {
    const smem_softmax::Slice& slice = cut.slice;
    const double filled = static_cast<double>(slice.packs) / static_cast<double>(slice.on_chip());
    const int64_t rounds = smem_softmax::divided_up(rows, cut.rows_at_once);
    const double best = sizeof(T) == 8 ? 0.5 : 0.94;
    return best * (0.9 + 0.1 * std::min(1., filled)) * static_cast<double>(rows) /
           static_cast<double>(rounds * cut.rows_at_once);
}

// Of a cut, less speed also where a multiprocessor keeps too little to hide the wait for memory; and what
// one multiprocessor can do, where there are fewer rows than it takes to use all.
template <class T>
double cut_us(const Cut& cut, int64_t rows, int64_t cols, const Chip& chip) {
    constexpr double kStart[] = {4.6, 4.8, 5.8};  // of a block, a cluster, the grid
    constexpr double kCleared = 1.5;              // its scratch, where rows come one behind another
    constexpr double kBytesOfOne = 36e3;          // a microsecond, of one multiprocessor
    constexpr double kEnough = 120e3;             // bytes on a multiprocessor
    const smem_softmax::Slice& slice = cut.slice;
    const auto kept = static_cast<double>(std::min(slice.packs, slice.on_chip()) * 16);
    const auto again = static_cast<double>(slice.packs * 16) - kept;  // bytes that are read twice
    const int64_t of_one = smem_softmax::blocks_beside(slice, chip);
    const bool six_warps =  // only filled_slice() has six packs a thread of as many
        slice.threads == smem_softmax::kSixWarps && slice.held == smem_softmax::kSomeHeld;
    double share = six_warps ? 0.985 : 0.97 * std::pow(std::min(1., of_one * kept / kEnough), 0.25);
    if (slice.kept > 0) {  // the more there is to load, the longer nothing is stored
        const double of_two = sizeof(T) == 2 ? 0.895 : 1 - 0.008 * slice.kept;
        share *= of_one == 1 ? 0.76 : of_one == 2 ? of_two : 0.96;
    }
    if (!slice.more()) {
        share *= 0.95 + 0.05 * kept / 16 / static_cast<double>(slice.on_chip());
    }
    if (cut.share == Share::grid) share = slice.held > 0 ? 0.82 : share_in_turn<T>(cut, rows);
    const double block_bytes = 2 * static_cast<double>(slice.packs * 16) + again;
    const double total = bytes_of<T>(rows, cols) + static_cast<double>(rows) * cut.blocks * again;
    const int64_t places = cut.share == Share::cluster
                               ? smem_softmax::places_for_clusters(chip.multiprocessors)
                               : chip.multiprocessors;
    const auto in_turn = static_cast<double>(smem_softmax::divided_up(
        std::min(rows, cut.rows_at_once) * cut.blocks, std::max<int64_t>(1, places)));
    const double keeps = cut.share == Share::cluster && slice.kept > 0 ? 1 : 0;  // in shared memory
    const double cleared = cut.share == Share::grid && rows > cut.rows_at_once ? kCleared : 0;
    return kStart[static_cast<int>(cut.share)] + keeps + cleared +
           std::max(total / (share * chip.bytes_per_us), in_turn * block_bytes / kBytesOfOne);
}

// The plan for rows x cols elements, with so much workspace. aligned: whether x and y begin at multiples
// of 16 bytes. Pure: it looks at its arguments alone. (03's split_row is not among the ways: it does what
// a cluster or the grid does here, of floats alone.)
template <class T>
Plan plan(int64_t rows, int64_t cols, const Chip& chip, size_t workspace_bytes = 0,
          bool aligned = true) {
    const auto of_cut = [&](bool has_scratch) {
        constexpr Tier kTiers[] = {Tier::block, Tier::cluster, Tier::grid};
        constexpr const char* kReasons[] = {"a block has the row on the chip",
                                            "more than a block's registers",
                                            "too few or too long rows for clusters"};
        Plan one{};
        one.cut = smem_softmax::cut_for(rows, smem_softmax::packs_of<T>(cols),
                                        smem_softmax::kWidest<T>, 1, chip, has_scratch);
        one.tier = kTiers[static_cast<int>(one.cut.share)];
        one.us = cut_us<T>(one.cut, rows, cols, chip);
        one.workspace_bytes = smem_softmax::workspace_bytes_of(one.cut, rows);
        one.reason = kReasons[static_cast<int>(one.cut.share)];
        return one;
    };
    Plan best = of_cut(false);
    const auto consider = [&](Tier tier, const Tile& tile, double us, const char* reason) {
        if (us <= best.us) best = {tier, tile, {}, us, reason, 0, 0, 0};
    };
    for (const int packs : {2, 4}) {
        if (const auto tile = smem_softmax::tile_for<T>(cols, aligned, packs)) {
            consider(Tier::tile, *tile, tile_us<T>(*tile, rows, cols, chip),
                     tile->threads == 1 ? "a thread has whole rows"
                                        : "a short row: fewest instructions");
        }
    }
    // (04 takes rows twice as long, but not as fast: 17.9 instead of 17.0 us at 4000 x 2016 floats.)
    if (cols * static_cast<int64_t>(sizeof(T)) <= 4096) {
        consider(Tier::lanes, {}, lanes_us<T>(rows, cols, chip), "a warp has the row in registers");
    }
    const Plan most = of_cut(true);
    if (most.us >= best.us) return best;
    if (most.workspace_bytes <= workspace_bytes) return most;
    best.more_workspace_bytes = most.workspace_bytes;
    best.us_with_more = most.us;
    return best;
}

template <Algorithm kAlgorithm, class T>
cudaError_t of_rows(const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                    size_t workspace_bytes, cudaStream_t stream) {
    bool empty = false;
    const cudaError_t error = smem_softmax::check_rows(x, y, rows, cols, &empty);
    if (error != cudaSuccess || empty) return error;
    const Plan best =
        plan<T>(rows, cols, smem_softmax::current_chip(),
                workspace == nullptr ? 0 : workspace_bytes, smem_softmax::are_aligned(x, y));
    if (best.tier == Tier::lanes) {
        // While the L2 has room for y it puts the parts of a sector together, however they come.
        constexpr int64_t kCached = 40'000'000;  // bytes; an H200's L2 has 50 MB
        const bool small = rows * cols * static_cast<int64_t>(sizeof(T)) <= kCached;
        const auto way =
            small ? warp_softmax::row_groups_softmax<T> : warp_softmax::softmax_any_width<T>;
        const auto log =
            small ? warp_softmax::log_softmax<T> : warp_softmax::log_softmax_any_width<T>;
        return (kAlgorithm == Algorithm::softmax ? way : log)(x, y, rows, cols, stream);
    }
    if (best.tier == Tier::tile) {
        return smem_softmax::launch_tile<kAlgorithm>(best.tile, x, y, rows, cols, stream);
    }
    if (!smem_softmax::have_one_alignment(x, y)) {
        return smem_softmax::launch_online_cached<kAlgorithm>(x, y, rows, cols, stream);
    }
    return smem_softmax::launch_as<kAlgorithm>(best.cut, x, y, rows, cols, workspace, stream);
}

// ---------------------------------------------------------------- along the last axis

// Bytes of workspace with which softmax and log_softmax of this shape take the least time on the
// current device: 0 for most.
template <class T>
size_t softmax_workspace_bytes(int64_t rows, int64_t cols) {
    if (rows <= 0 || cols <= 0) return 0;
    const Plan best = plan<T>(rows, cols, smem_softmax::current_chip());
    return std::max(best.workspace_bytes, best.more_workspace_bytes);
}

// Softmax of each row of x into y (rows x cols, row-major, device memory; y may be x). workspace: device
// memory of any content, 16-byte aligned, or null; used where it is softmax_workspace_bytes() or more. It
// belongs to one call at a time, on one stream: two calls that may overlap need one each.
// Asynchronous on stream. cudaErrorInvalidValue for a null pointer, a negative size, more than 2^31 - 1
// columns, and an address that no T has.
template <class T>
cudaError_t softmax(const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                    size_t workspace_bytes, cudaStream_t stream) {
    return of_rows<Algorithm::softmax>(x, y, rows, cols, workspace, workspace_bytes, stream);
}
template <class T>
cudaError_t softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return softmax(x, y, rows, cols, nullptr, 0, stream);
}

// log(softmax(x)) of each row.
template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t rows, int64_t cols, void* workspace,
                        size_t workspace_bytes, cudaStream_t stream) {
    return of_rows<Algorithm::log_softmax>(x, y, rows, cols, workspace, workspace_bytes, stream);
}
template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return log_softmax(x, y, rows, cols, nullptr, 0, stream);
}

// dx from y, which softmax or log_softmax gave, and from its gradient dy (rows x cols each); dx may be y
// or dy. workspace as above, with softmax_backward_workspace_bytes(). Errors as softmax.
template <class T>
cudaError_t softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                             void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    return cols <= 32 * warp_softmax::kMaxHeldBackward<T>
               ? warp_softmax::softmax_backward(y, dy, dx, rows, cols, stream)
               : smem_softmax::softmax_backward(y, dy, dx, rows, cols, workspace, workspace_bytes,
                                                stream);
}
template <class T>
cudaError_t log_softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                                 void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    return cols <= 32 * warp_softmax::kMaxHeldBackward<T>
               ? warp_softmax::log_softmax_backward(y, dy, dx, rows, cols, stream)
               : smem_softmax::log_softmax_backward(y, dy, dx, rows, cols, workspace,
                                                    workspace_bytes, stream);
}
template <class T>
cudaError_t softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                             cudaStream_t stream) {
    return softmax_backward(y, dy, dx, rows, cols, nullptr, 0, stream);
}
template <class T>
cudaError_t log_softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
    return log_softmax_backward(y, dy, dx, rows, cols, nullptr, 0, stream);
}
template <class T>
size_t softmax_backward_workspace_bytes(int64_t rows, int64_t cols) {
    return smem_softmax::softmax_backward_workspace_bytes<T>(rows, cols);
}

// ---------------------------------------------------------------- along any axis

// The same along dim of (outer, dim, inner), row-major.
template <class T>
size_t softmax_workspace_bytes(int64_t outer, int64_t dim, int64_t inner) {
    return inner == 1 ? softmax_workspace_bytes<T>(outer, dim)
                      : smem_softmax::any_axis_workspace_bytes<T>(outer, dim, inner);
}
template <class T>
cudaError_t softmax(const T* x, T* y, int64_t outer, int64_t dim, int64_t inner, void* workspace,
                    size_t workspace_bytes, cudaStream_t stream) {
    return inner == 1 ? softmax(x, y, outer, dim, workspace, workspace_bytes, stream)
                      : smem_softmax::softmax_any_axis(x, y, outer, dim, inner, workspace,
                                                       workspace_bytes, stream);
}
template <class T>
cudaError_t softmax(const T* x, T* y, int64_t outer, int64_t dim, int64_t inner,
                    cudaStream_t stream) {
    return softmax(x, y, outer, dim, inner, nullptr, 0, stream);
}
template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t outer, int64_t dim, int64_t inner,
                        void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    return inner == 1 ? log_softmax(x, y, outer, dim, workspace, workspace_bytes, stream)
                      : smem_softmax::log_softmax_any_axis(x, y, outer, dim, inner, workspace,
                                                           workspace_bytes, stream);
}
template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t outer, int64_t dim, int64_t inner,
                        cudaStream_t stream) {
    return log_softmax(x, y, outer, dim, inner, nullptr, 0, stream);
}
template <class T>
size_t softmax_backward_workspace_bytes(int64_t outer, int64_t dim, int64_t inner) {
    return inner == 1 ? softmax_backward_workspace_bytes<T>(outer, dim)
                      : smem_softmax::any_axis_backward_workspace_bytes<T>(outer, dim, inner);
}
template <class T>
cudaError_t softmax_backward(const T* y, const T* dy, T* dx, int64_t outer, int64_t dim,
                             int64_t inner, void* workspace, size_t workspace_bytes,
                             cudaStream_t stream) {
    return inner == 1 ? softmax_backward(y, dy, dx, outer, dim, workspace, workspace_bytes, stream)
                      : smem_softmax::softmax_backward_any_axis(y, dy, dx, outer, dim, inner,
                                                                workspace, workspace_bytes, stream);
}
template <class T>
cudaError_t softmax_backward(const T* y, const T* dy, T* dx, int64_t outer, int64_t dim,
                             int64_t inner, cudaStream_t stream) {
    return softmax_backward(y, dy, dx, outer, dim, inner, nullptr, 0, stream);
}
template <class T>
cudaError_t log_softmax_backward(const T* y, const T* dy, T* dx, int64_t outer, int64_t dim,
                                 int64_t inner, void* workspace, size_t workspace_bytes,
                                 cudaStream_t stream) {
    return inner == 1
               ? log_softmax_backward(y, dy, dx, outer, dim, workspace, workspace_bytes, stream)
               : smem_softmax::log_softmax_backward_any_axis(y, dy, dx, outer, dim, inner,
                                                             workspace, workspace_bytes, stream);
}
template <class T>
cudaError_t log_softmax_backward(const T* y, const T* dy, T* dx, int64_t outer, int64_t dim,
                                 int64_t inner, cudaStream_t stream) {
    return log_softmax_backward(y, dy, dx, outer, dim, inner, nullptr, 0, stream);
}

}  // namespace softmax_stages
