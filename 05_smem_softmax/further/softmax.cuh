// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/softmax, version 1.0
//
// The front calls: softmax and log-softmax of any rows, along any axis, and their gradients.
//   call       softmax, log_softmax, softmax_backward, log_softmax_backward: see front_call.cuh
//   timed      front_softmax, front_log_softmax, softmax_backward, log_softmax_backward
//   new here   softmax_plan(): a pure function that chooses the fastest kernel and gives the reason
//   traffic    1 read + 1 write per element wherever the chip can keep a row
//   accepts    float, __half, __nv_bfloat16, double; any sizes up to 2^31 - 1 columns; any aligned address;
//              the last axis or, with options.inner, any other axis; y may be x, dx may be y or dy
//   rows       as in 04
//   needs      CUDA 12.5; no workspace, but few long rows are faster with one
#pragma once
#include "../../04_warp_softmax/further/any_width.cuh"
#include "../../04_warp_softmax/further/warp_softmax_backward.cuh"
#include "any_axis_softmax.cuh"
#include "row_launch.cuh"
#include "short_rows.cuh"
#include "softmax_backward.cuh"

namespace softmax_stages {

using smem_softmax::Cut;
using smem_softmax::GradientOf;
using smem_softmax::Share;
using smem_softmax::SoftmaxOf;
using smem_softmax::Tile;
using warp_softmax::Algorithm;

// The options of all four calls.
struct SoftmaxOptions {
    int64_t inner =
        1;  // the tensors are rows x cols x inner: the distance between elements of a row
};

// The threads that compute a row: a few lanes of a warp, in registers (04); the threads of a tile, in registers;
// a block, a cluster or the whole grid, in registers and shared memory. Along another axis, a block computes
// several columns.
enum class Tier { lanes, tile, block, cluster, grid, columns };

struct SoftmaxPlan {
    Tier tier;
    Tile tile;  // for Tier::tile
    Cut cut;    // for block, cluster and grid
    double us;  // predicted microseconds; 0 where there is no prediction
    const char* reason;
    size_t workspace_bytes;       // used by this plan
    size_t more_workspace_bytes;  // if not 0: so much workspace would take us_with_more
    double us_with_more;
    smem_softmax::any_axis::Tiling columns;  // for Tier::columns
};

// The model of time: the time of a launch, which grows with the number of dependent instructions, plus the bytes
// at the speed of a copy, or a lower speed if some threads have no elements. The constants are an H200's where
// `chip` has none (medians of the sweeps recorded in 05_smem_softmax/recorded).
template <class T>
double bytes_of(int64_t rows, int64_t cols) {
    return 2. * static_cast<double>(rows) * static_cast<double>(cols) * sizeof(T);
}
template <class T>
double lanes_us(int64_t rows, int64_t cols, const Chip& chip) {
    return 3.85 + 0.19e-3 * static_cast<double>(cols) * sizeof(T) +
           bytes_of<T>(rows, cols) / (0.97 * chip.bytes_per_us);
}

// A tile also takes issue slots for its warps, most slots for rows of a few elements. Blocks of two warps with
// two packs per thread end too soon for full speed, and elements stored one by one need more of the L2's
// bandwidth.
template <class T>
double tile_us(const Tile& tile, int64_t rows, int64_t cols, const Chip& chip) {
    constexpr double kWarpsOfOne = 22.3;  // per microsecond and multiprocessor
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

// Returns the share of a copy's speed for rows in turn: lower if registers, or places in the last round, stay
// empty; half for doubles, whose exponentials limit the speed.
template <class T>
double share_in_turn(const Cut& cut, int64_t rows) {
    const smem_softmax::Slice& slice = cut.slice;
    const double filled = static_cast<double>(slice.packs) / static_cast<double>(slice.on_chip());
    const int64_t rounds = smem_softmax::divided_up(rows, cut.rows_at_once);
    const double best = sizeof(T) == 8 ? 0.5 : 0.94;
    return best * (0.9 + 0.1 * std::min(1., filled)) * static_cast<double>(rows) /
           static_cast<double>(rounds * cut.rows_at_once);
}

// Returns the predicted time of a cut. A cut is slower if a multiprocessor keeps too few bytes to hide the
// latency of memory. If rows are too few to use all multiprocessors, the speed of a single multiprocessor limits.
template <class T>
double cut_us(const Cut& cut, int64_t rows, int64_t cols, const Chip& chip) {
    constexpr double kStart[] = {4.6, 4.8, 5.8};  // launch of a block, a cluster, the grid
    constexpr double kCleared = 1.5;              // clearing the scratch, for rows in turn
    constexpr double kBytesOfOne = 36e3;          // per microsecond and multiprocessor
    constexpr double kEnough = 120e3;             // bytes on a multiprocessor that hide the latency
    const smem_softmax::Slice& slice = cut.slice;
    const auto kept = static_cast<double>(std::min(slice.packs, slice.on_chip()) * 16);
    const auto again = static_cast<double>(slice.packs * 16) - kept;  // bytes read twice
    const int64_t of_one = smem_softmax::blocks_beside(slice, chip);
    const bool six_warps =  // only filled_slice() gives so many threads six packs
        slice.threads == smem_softmax::kSixWarps && slice.held == smem_softmax::kSomeHeld;
    double share = six_warps ? 0.985 : 0.97 * std::pow(std::min(1., of_one * kept / kEnough), 0.25);
    if (slice.kept > 0) {  // the more a block loads, the later it stores
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
    const double keeps = cut.share == Share::cluster && slice.kept > 0
                             ? 1
                             : 0;  // a cluster that also fills shared memory
    const double cleared = cut.share == Share::grid && rows > cut.rows_at_once ? kCleared : 0;
    return kStart[static_cast<int>(cut.share)] + keeps + cleared +
           std::max(total / (share * chip.bytes_per_us), in_turn * block_bytes / kBytesOfOne);
}

// ---------------------------------------------------------------- plans

// Returns the plan in which the blocks of a cut share a row. The plan of a gradient has no prediction.
template <class Operation>
SoftmaxPlan plan_of_cut(int64_t rows, int64_t cols, const Chip& chip, bool has_scratch) {
    using T = typename Operation::Element;
    constexpr Tier kTiers[] = {Tier::block, Tier::cluster, Tier::grid};
    constexpr const char* kReasons[] = {"a block has the row on the chip",
                                        "more than a block's registers",
                                        "too few or too long rows for clusters"};
    SoftmaxPlan plan{};
    plan.cut =
        smem_softmax::cut_for(rows, smem_softmax::packs_of<T>(cols), smem_softmax::kWidest<T>,
                              Operation::kInputs, chip, has_scratch);
    plan.tier = kTiers[static_cast<int>(plan.cut.share)];
    plan.us = Operation::kInputs == 1 ? cut_us<T>(plan.cut, rows, cols, chip) : 0;
    plan.reason = kReasons[static_cast<int>(plan.cut.share)];
    plan.workspace_bytes = smem_softmax::workspace_bytes_of(plan.cut, rows);
    return plan;
}

// Returns the plan along the middle axis.
template <class Operation>
SoftmaxPlan plan_of_columns(const smem_softmax::any_axis::Sizes& sizes, const Chip& chip,
                            bool has_scratch, bool aligned) {
    namespace any_axis = smem_softmax::any_axis;
    SoftmaxPlan plan{};
    plan.tier = Tier::columns;
    plan.columns = any_axis::tiling_for<typename Operation::Element>(
        sizes, Operation::kInputs, aligned ? 0 : -1, any_axis::device_of(chip), has_scratch);
    plan.workspace_bytes = any_axis::sums_bytes<Operation>(plan.columns, sizes);
    plan.reason = plan.columns.packs > 0   ? "blocks have columns in registers"
                  : plan.columns.held      ? "blocks have columns in shared memory"
                  : plan.columns.parts > 0 ? "more than the chip can keep: sums by a first launch"
                                           : "more than the chip can keep: two reads";
    return plan;
}

// Returns the faster of `best` and of the plan of short rows with the least predicted time. (It omits 03's split_row,
// which does the work of a cluster or the grid, but only for floats. 04 accepts rows twice as long, but is slower there:
// 17.9 instead of 17.0 us at 4000 x 2016 floats.)
template <class T>
SoftmaxPlan plan_of_short_rows(SoftmaxPlan best, int64_t rows, int64_t cols, const Chip& chip,
                               bool aligned) {
    const auto consider = [&](Tier tier, const Tile& tile, double us, const char* reason) {
        if (us <= best.us) best = {tier, tile, {}, us, reason, 0, 0, 0, {}};
    };
    for (const int packs : {2, 4}) {
        if (const auto tile = smem_softmax::tile_for<T>(cols, aligned, packs)) {
            consider(Tier::tile, *tile, tile_us<T>(*tile, rows, cols, chip),
                     tile->threads == 1 ? "a thread has whole rows"
                                        : "a short row: fewest instructions");
        }
    }
    if (cols * static_cast<int64_t>(sizeof(T)) <= 4096) {
        consider(Tier::lanes, {}, lanes_us<T>(rows, cols, chip), "a warp has the row in registers");
    }
    return best;
}

// Returns the plan of an operation. aligned: true if all tensors start at multiples of 16 bytes.
template <class Operation>
SoftmaxPlan plan_of(int64_t rows, int64_t cols, const SoftmaxOptions& options, const Chip& chip,
                    size_t bytes, bool aligned) {
    using T = typename Operation::Element;
    constexpr bool kForward = Operation::kInputs == 1;
    const bool along_rows = options.inner == 1;
    const auto plan_with = [&](bool has_scratch) {
        return along_rows ? plan_of_cut<Operation>(rows, cols, chip, has_scratch)
                          : plan_of_columns<Operation>({rows, cols, options.inner}, chip,
                                                       has_scratch, aligned);
    };
    if (along_rows && !kForward && cols <= 32 * warp_softmax::kMaxHeldBackward<T>)
        return {Tier::lanes, {}, {}, 0, "a warp has the row in registers", 0, 0, 0, {}};
    SoftmaxPlan best = plan_with(false);
    if (along_rows && kForward) best = plan_of_short_rows<T>(best, rows, cols, chip, aligned);
    const SoftmaxPlan most = plan_with(true);
    const bool better =
        along_rows && kForward ? most.us < best.us : most.workspace_bytes > best.workspace_bytes;
    if (!better) return best;
    if (most.workspace_bytes <= bytes) return most;
    best.more_workspace_bytes = most.workspace_bytes;
    best.us_with_more = most.us;
    return best;
}

template <class T>
SoftmaxPlan softmax_plan(int64_t rows, int64_t cols, const SoftmaxOptions& options,
                         const Chip& chip, size_t bytes = 0, bool aligned = true) {
    return plan_of<SoftmaxOf<Algorithm::softmax, T>>(rows, cols, options, chip, bytes, aligned);
}
template <class T>
SoftmaxPlan log_softmax_plan(int64_t rows, int64_t cols, const SoftmaxOptions& options,
                             const Chip& chip, size_t bytes = 0, bool aligned = true) {
    return softmax_plan<T>(rows, cols, options, chip, bytes, aligned);
}
template <class T>
SoftmaxPlan softmax_backward_plan(int64_t rows, int64_t cols, const SoftmaxOptions& options,
                                  const Chip& chip, size_t bytes = 0, bool aligned = true) {
    return plan_of<GradientOf<Algorithm::softmax, T>>(rows, cols, options, chip, bytes, aligned);
}
template <class T>
SoftmaxPlan log_softmax_backward_plan(int64_t rows, int64_t cols, const SoftmaxOptions& options,
                                      const Chip& chip, size_t bytes = 0, bool aligned = true) {
    return softmax_backward_plan<T>(rows, cols, options, chip, bytes, aligned);
}

// ---------------------------------------------------------------- workspaces

// Stores the largest workspace size that a plan uses at any alignment.
template <class Operation>
cudaError_t most_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols,
                                 const SoftmaxOptions& options) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = 0;
    if (rows < 0 || cols < 0 || cols > INT32_MAX || options.inner < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0 || options.inner == 0) return cudaSuccess;
    if (options.inner != 1) {
        *bytes = smem_softmax::any_axis::workspace_bytes<Operation>({rows, cols, options.inner});
        return cudaSuccess;
    }
    for (const bool aligned : {true, false}) {
        const SoftmaxPlan plan =
            plan_of<Operation>(rows, cols, options, this_chip(), SIZE_MAX, aligned);
        *bytes = std::max(*bytes, plan.workspace_bytes);
    }
    return cudaSuccess;
}
template <class T>
cudaError_t softmax_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols,
                                    const SoftmaxOptions& options) {
    return most_workspace_bytes<SoftmaxOf<Algorithm::softmax, T>>(bytes, rows, cols, options);
}
template <class T>
cudaError_t log_softmax_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols,
                                        const SoftmaxOptions& options) {
    return softmax_workspace_bytes<T>(bytes, rows, cols, options);
}
template <class T>
cudaError_t softmax_backward_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols,
                                             const SoftmaxOptions& options) {
    return most_workspace_bytes<GradientOf<Algorithm::softmax, T>>(bytes, rows, cols, options);
}
template <class T>
cudaError_t log_softmax_backward_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols,
                                                 const SoftmaxOptions& options) {
    return softmax_backward_workspace_bytes<T>(bytes, rows, cols, options);
}

// ---------------------------------------------------------------- the calls

// Launches softmax or log-softmax of rows as their plan says.
template <Algorithm kAlgorithm, class T>
cudaError_t launch_along_rows(const SoftmaxOf<kAlgorithm, T>& operation, int64_t rows, int64_t cols,
                              void* workspace, size_t bytes, cudaStream_t stream) {
    const T* const x = operation.in[0];
    T* const y = operation.out;
    bool empty = false;
    const cudaError_t error = smem_softmax::check_rows(x, y, rows, cols, &empty);
    if (error != cudaSuccess || empty) return error;
    const SoftmaxPlan best =
        softmax_plan<T>(rows, cols, {}, this_chip(), bytes, smem_softmax::are_aligned(x, y));
    if (best.tier == Tier::lanes) {
        // If y fits into the L2, the L2 merges the parts of a sector even if they arrive at different times.
        constexpr int64_t kCached = 40'000'000;  // bytes; an H200's L2 has 50 MB
        const bool small = rows * cols * static_cast<int64_t>(sizeof(T)) <= kCached;
        if constexpr (kAlgorithm == Algorithm::softmax) {
            return (small ? warp_softmax::row_groups_softmax<T>
                          : warp_softmax::softmax_any_width<T>)(x, y, rows, cols, stream);
        } else {
            return (small ? warp_softmax::log_softmax<T>
                          : warp_softmax::log_softmax_any_width<T>)(x, y, rows, cols, stream);
        }
    }
    if (best.tier == Tier::tile) {
        return smem_softmax::launch_tile<kAlgorithm>(best.tile, x, y, rows, cols, stream);
    }
    if (!smem_softmax::have_one_alignment(x, y)) {
        return smem_softmax::launch_blocks(operation, rows, cols, stream);
    }
    return smem_softmax::launch_as(best.cut, operation, rows, cols, workspace, stream);
}

// Launches a gradient of rows as its plan says.
template <Algorithm kAlgorithm, class T>
cudaError_t launch_along_rows(const GradientOf<kAlgorithm, T>& operation, int64_t rows,
                              int64_t cols, void* workspace, size_t bytes, cudaStream_t stream) {
    using warp_softmax::DirectLoad;
    if (cols > 32 * warp_softmax::kMaxHeldBackward<T>) {
        return smem_softmax::launch_rows(operation, rows, cols, workspace, bytes, stream);
    }
    return warp_softmax::launch_backward<kAlgorithm>(
        DirectLoad<T>{operation.in[0], cols}, DirectLoad<T>{operation.in[1], cols},
        warp_softmax::DirectStore<T>{operation.out, cols}, rows, cols, stream);
}

template <class Operation>
cudaError_t launch_call(const Operation& operation, int64_t rows, int64_t cols,
                        const SoftmaxOptions& options, void* workspace, size_t bytes,
                        cudaStream_t stream) {
    const size_t usable = usable_bytes(workspace, bytes);
    void* const scratch = usable > 0 ? workspace : nullptr;
    if (cols > INT32_MAX) return cudaErrorInvalidValue;
    if (options.inner == 1)
        return launch_along_rows(operation, rows, cols, scratch, usable, stream);
    return smem_softmax::any_axis::launch(operation, {rows, cols, options.inner}, scratch, usable,
                                          stream);
}

// Computes the softmax of each row of x into y. y may be x. A workspace makes few rows of hundreds of thousands
// of columns faster.
template <class T>
cudaError_t softmax(const T* x, T* y, int64_t rows, int64_t cols, const SoftmaxOptions& options,
                    void* workspace, size_t bytes, cudaStream_t stream) {
    return launch_call(SoftmaxOf<Algorithm::softmax, T>{{x}, y}, rows, cols, options, workspace,
                       bytes, stream);
}

// Computes the log-softmax of each row of x into y. y may be x.
template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t rows, int64_t cols, const SoftmaxOptions& options,
                        void* workspace, size_t bytes, cudaStream_t stream) {
    return launch_call(SoftmaxOf<Algorithm::log_softmax, T>{{x}, y}, rows, cols, options, workspace,
                       bytes, stream);
}

// Computes dx from the result y of softmax and its gradient dy. dx may be y or dy.
template <class T>
cudaError_t softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                             const SoftmaxOptions& options, void* workspace, size_t bytes,
                             cudaStream_t stream) {
    return launch_call(GradientOf<Algorithm::softmax, T>{{y, dy}, dx}, rows, cols, options,
                       workspace, bytes, stream);
}

// Computes dx from the result y of log_softmax and its gradient dy. dx may be y or dy.
template <class T>
cudaError_t log_softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                                 const SoftmaxOptions& options, void* workspace, size_t bytes,
                                 cudaStream_t stream) {
    return launch_call(GradientOf<Algorithm::log_softmax, T>{{y, dy}, dx}, rows, cols, options,
                       workspace, bytes, stream);
}

}  // namespace softmax_stages
