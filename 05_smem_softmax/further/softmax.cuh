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
//   needs      nothing but x and y; few long rows take less time with a workspace
#pragma once
#include "../../04_warp_softmax/further/any_width.cuh"
#include "../../04_warp_softmax/further/warp_softmax_backward.cuh"
#include "any_axis_backward.cuh"
#include "any_axis_softmax.cuh"
#include "cluster_softmax.cuh"
#include "softmax_backward.cuh"

namespace softmax_stages {

using smem_softmax::Chip;
using smem_softmax::Cut;
using smem_softmax::Share;
using warp_softmax::Algorithm;

// Who has a row: a few lanes of a warp, in their registers (04); a block, a cluster or the whole grid,
// in registers and shared memory (05).
enum class Tier { lanes, block, cluster, grid };

struct Plan {
    Tier tier;
    Cut cut;    // of the last three
    double us;  // predicted
    const char* reason;
    size_t workspace_bytes;       // that it uses
    size_t more_workspace_bytes;  // with so many it would take us_with_more; else 0
    double us_with_more;
};

// What takes time, in an H200's figures where the chip does not say (medians of the sweeps that are
// recorded in common/recorded): a launch, with the exchange of the blocks that share a row; bytes at the
// speed of a copy, or a little less where a multiprocessor keeps too little to hide the wait for
// memory; and what one multiprocessor can do, where there are fewer rows than it takes to use all.
template <class T>
double predicted_us(Tier tier, const Cut& cut, int64_t rows, int64_t cols, const Chip& chip) {
    constexpr double kStart[] = {2.6, 3.9, 4.7, 6.5};
    constexpr double kBytesOfOne = 36e3;  // a microsecond, of one multiprocessor
    constexpr double kEnough = 120e3;     // bytes on a multiprocessor
    const double row_bytes = 2. * static_cast<double>(cols) * sizeof(T);
    const auto matrix = static_cast<double>(rows) * row_bytes;
    const double start = kStart[static_cast<int>(tier)];
    if (tier == Tier::lanes) return start + matrix / (0.97 * chip.bytes_per_us);
    const smem_softmax::Slice& slice = cut.slice;
    const auto kept = static_cast<double>(
        std::min<int64_t>(slice.packs, int64_t{smem_softmax::kHeld + slice.kept} * slice.threads) *
        16);
    const auto again = static_cast<double>(slice.packs * 16) - kept;  // bytes that are read twice
    const int64_t of_one = std::max<int64_t>(
        1, std::min<int64_t>(1024 / slice.threads,
                             chip.room / (static_cast<int64_t>(slice.shared()) + 1024)));
    double share = 0.975 * std::pow(std::min(1., of_one * kept / kEnough), 0.25);
    if (slice.kept > 0) share *= of_one == 1 ? 0.76 : 0.96;
    if (tier == Tier::grid) share = 0.82;
    const double block_bytes = 2 * static_cast<double>(slice.packs * 16) + again;
    const double total = matrix + static_cast<double>(rows) * cut.blocks * again;
    const auto in_turn = static_cast<double>(smem_softmax::divided_up(
        std::min(rows, cut.rows_at_once) * cut.blocks, chip.multiprocessors));
    return start +
           std::max(total / (share * chip.bytes_per_us), in_turn * block_bytes / kBytesOfOne);
}

// The plan for rows x cols elements, with so much workspace. Pure: it looks at its arguments alone.
template <class T>
Plan plan(int64_t rows, int64_t cols, const Chip& chip, size_t workspace_bytes = 0) {
    const auto with = [&](bool has_scratch) {
        Plan best{};
        best.cut =
            smem_softmax::cut_for(rows, smem_softmax::packs_of<T>(cols), 1, chip, has_scratch);
        best.tier = best.cut.share == Share::block     ? Tier::block
                    : best.cut.share == Share::cluster ? Tier::cluster
                                                       : Tier::grid;
        best.us = predicted_us<T>(best.tier, best.cut, rows, cols, chip);
        best.workspace_bytes =
            smem_softmax::workspace_bytes_of<smem_softmax::Normalizer<warp_softmax::ComputeOf<T>>>(
                best.cut, rows);
        constexpr const char* kReasons[] = {"", "a block has the row on the chip",
                                            "more than a block's registers",
                                            "too few or too long rows for clusters"};
        best.reason = kReasons[static_cast<int>(best.tier)];
        // (04 takes rows twice as long, but not as fast: 17.9 instead of 17.0 us at 4000 x 2016 floats.)
        if (cols * static_cast<int64_t>(sizeof(T)) <= 4096) {
            const double us = predicted_us<T>(Tier::lanes, {}, rows, cols, chip);
            if (us <= best.us) {
                best = {Tier::lanes, {}, us, "a warp has the row in registers", 0, 0, 0};
            }
        }
        return best;
    };
    const Plan most = with(true);
    Plan best = with(false);
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
    const Plan best = plan<T>(rows, cols, smem_softmax::current_chip(),
                              workspace == nullptr ? 0 : workspace_bytes);
    if (best.tier == Tier::lanes) {
        return kAlgorithm == Algorithm::softmax
                   ? warp_softmax::softmax_any_width(x, y, rows, cols, stream)
                   : warp_softmax::log_softmax_any_width(x, y, rows, cols, stream);
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
// memory of any content, 16-byte aligned, or null; used where it is softmax_workspace_bytes() or more.
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
cudaError_t softmax(const T* x, T* y, int64_t outer, int64_t dim, int64_t inner,
                    cudaStream_t stream) {
    return inner == 1 ? softmax(x, y, outer, dim, stream)
                      : smem_softmax::softmax_any_axis(x, y, outer, dim, inner, stream);
}
template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t outer, int64_t dim, int64_t inner,
                        cudaStream_t stream) {
    return inner == 1 ? log_softmax(x, y, outer, dim, stream)
                      : smem_softmax::log_softmax_any_axis(x, y, outer, dim, inner, stream);
}
template <class T>
cudaError_t softmax_backward(const T* y, const T* dy, T* dx, int64_t outer, int64_t dim,
                             int64_t inner, cudaStream_t stream) {
    return inner == 1
               ? softmax_backward(y, dy, dx, outer, dim, stream)
               : smem_softmax::softmax_backward_any_axis(y, dy, dx, outer, dim, inner, stream);
}
template <class T>
cudaError_t log_softmax_backward(const T* y, const T* dy, T* dx, int64_t outer, int64_t dim,
                                 int64_t inner, cudaStream_t stream) {
    return inner == 1
               ? log_softmax_backward(y, dy, dx, outer, dim, stream)
               : smem_softmax::log_softmax_backward_any_axis(y, dy, dx, outer, dim, inner, stream);
}

}  // namespace softmax_stages
