// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/row_launch, version 1.0
//
// Launches an operation on long rows by the cut that row_plan.cuh chooses.
//   used by    softmax.cuh and short_rows.cuh
#pragma once
#include "row_plan.cuh"

namespace smem_softmax {

using warp_softmax::set_once;

// ---------------------------------------------------------------- the launch

// True if packs of 16 bytes start at the same elements of x and y.
template <class T>
bool have_one_alignment(const T* x, const T* y) {
    return (reinterpret_cast<uintptr_t>(x) - reinterpret_cast<uintptr_t>(y)) % 16 == 0;
}

// Checks pointers and sizes; returns cudaErrorInvalidValue if any is invalid. Sets *empty to true if there is
// nothing to do.
template <class T>
cudaError_t check_rows(const T* x, const T* y, int64_t rows, int64_t cols, bool* empty) {
    constexpr int64_t kMaxCols = INT32_MAX;  // the kernels count packs in 32 bits
    *empty = rows == 0 || cols == 0;
    if (rows < 0 || cols < 0 || cols > kMaxCols) return cudaErrorInvalidValue;
    if (*empty) return cudaSuccess;
    const auto is_no_address = [](const T* p) {
        return p == nullptr || reinterpret_cast<uintptr_t>(p) % sizeof(T) != 0;
    };
    return is_no_address(x) || is_no_address(y) ? cudaErrorInvalidValue : cudaSuccess;
}

// Returns the delay between the starts of two rows: the time to read one row, if nothing else is read. row_bytes:
// bytes read per row.
inline unsigned nanoseconds_apart(double row_bytes) {
    return static_cast<unsigned>(1e3 * row_bytes / this_chip().bytes_per_us);
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

// Launches one kernel, in as many grids as all rows need.
template <class Operation, class Team>
cudaError_t launch_cut(void (*kernel)(Operation, Team, int64_t, int64_t, int),
                       const Operation& operation, Team team, int64_t rows, int64_t cols,
                       const Cut& cut, cudaStream_t stream) {
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
        error = cudaLaunchKernelEx(&config, kernel, operation.at(row, cols), team, cols,
                                   cut.slice.packs, cut.slice.kept);
    }
    if (error != cudaSuccess)
        cudaGetLastError();  // already returned: must not be found again later
    return error;
}

// Returns the kernel for a slice: with the slice's packs per thread, or the next larger number for which there is a
// kernel.
template <class Operation, class Team>
auto kernel_for(const Slice& slice) {
    using T = typename Operation::Element;
    // Gradients, and losses alone, have kernels for all packs only.
    constexpr bool kOne = Operation::kInputs == 1 && kHasResults<Operation>;
    constexpr int kAll = kHeld / Operation::kInputs;
    if (slice.more()) return row_on_chip_kernel<Operation, kAll, true, true, Team>;
    if constexpr (kOne && sizeof(T) <= 4) {
        if (slice.held == kFewHeld)
            return row_on_chip_kernel<Operation, kFewHeld, false, true, Team>;
    }
    if constexpr (kOne && (sizeof(T) == 2 || (sizeof(T) == 4 && !std::is_same_v<Team, Cluster>))) {
        if (slice.held == kSomeHeld)
            return row_on_chip_kernel<Operation, kSomeHeld, false, true, Team>;
    }
    if constexpr (kOne && sizeof(T) == 2) {
        if (slice.held == kMostHeld)
            return row_on_chip_kernel<Operation, kMostHeld, false, true, Team>;
    }
    return row_on_chip_kernel<Operation, kAll, false, true, Team>;
}

// Returns the bytes that the operation reads of a row.
template <class Operation>
double row_bytes_of(int64_t cols) {
    return static_cast<double>(Operation::kInputs * cols) * sizeof(typename Operation::Element);
}

// Launches the operation on each row by a cut for which a block or a cluster has a row.
template <class Operation>
cudaError_t launch_on_chip(const Cut& cut, const Operation& operation, int64_t rows, int64_t cols,
                           cudaStream_t stream) {
    if (cut.share == Share::block) {
        return launch_cut(kernel_for<Operation, Block>(cut.slice), operation, Block{}, rows, cols,
                          cut, stream);
    }
    return launch_cut(kernel_for<Operation, Cluster>(cut.slice), operation,
                      cluster_team(cut, rows, row_bytes_of<Operation>(cols)), rows, cols, cut,
                      stream);
}

// Launches the operation on each row by any cut. workspace: workspace_bytes_of(cut, rows) bytes.
template <class Operation>
cudaError_t launch_as(const Cut& cut, const Operation& operation, int64_t rows, int64_t cols,
                      void* workspace, cudaStream_t stream) {
    using Set = typename Operation::Set;
    if (cut.share != Share::grid) return launch_on_chip(cut, operation, rows, cols, stream);
    const Board<Set> board{static_cast<typename Board<Set>::Word*>(workspace)};
    if (rows <= cut.rows_at_once) {
        return launch_cut(kernel_for<Operation, Grid<Set>>(cut.slice), operation, Grid<Set>{board},
                          rows, cols, cut, stream);
    }
    const cudaError_t error =
        cudaMemsetAsync(workspace, 0xff, workspace_bytes_of(cut, rows), stream);
    if (error != cudaSuccess) {
        cudaGetLastError();  // as above
        return error;
    }
    const unsigned apart =
        rows < kTurns * cut.rows_at_once ? 0 : nanoseconds_apart(row_bytes_of<Operation>(cols));
    return launch_cut(rows_in_turn_kernel<Operation>, operation,
                      Turns<Set>{board, static_cast<int>(rows), apart}, rows, cols, cut, stream);
}

// Checks the operation's tensors and sizes as check_rows does. Sets *alike to false if packs do not start at the same
// elements of all tensors.
template <class Operation>
cudaError_t check_operation(const Operation& operation, int64_t rows, int64_t cols, bool* empty,
                            bool* alike) {
    const typename Operation::Element* const out = operation.out;
    *alike = true;
    for (const auto* in : operation.in) {
        const cudaError_t error = check_rows(in, out, rows, cols, empty);
        if (error != cudaSuccess) return error;
        *alike = *alike && have_one_alignment(in, out);
    }
    return cudaSuccess;
}

// Launches the operation, a block per row, for rows of any length and tensors of any alignment.
template <class Operation>
cudaError_t launch_blocks(const Operation& operation, int64_t rows, int64_t cols,
                          cudaStream_t stream) {
    constexpr int kInputs = Operation::kInputs;
    constexpr int kAll = kHeld / kInputs;
    bool empty = false, alike = true;
    const cudaError_t error = check_operation(operation, rows, cols, &empty, &alike);
    if (error != cudaSuccess || empty) return error;
    const int64_t packs = packs_of<typename Operation::Element>(cols);
    const Slice slice = slice_of(packs, threads_for(packs * kInputs), kInputs, room_for_rows());
    const auto kernel = !alike         ? row_on_chip_kernel<Operation, kAll, true, false, Block>
                        : slice.more() ? row_on_chip_kernel<Operation, kAll, true, true, Block>
                                       : row_on_chip_kernel<Operation, kAll, false, true, Block>;
    return launch_cut(kernel, operation, Block{}, rows, cols,
                      Cut{Share::block, 1, slice, INT32_MAX}, stream);
}

// Launches the operation on each row by the cut that the workspace allows.
template <class Operation>
cudaError_t launch_rows(const Operation& operation, int64_t rows, int64_t cols, void* workspace,
                        size_t workspace_bytes, cudaStream_t stream) {
    bool empty = false, alike = true;
    const cudaError_t error = check_operation(operation, rows, cols, &empty, &alike);
    if (error != cudaSuccess || empty) return error;
    if (!alike) return launch_blocks(operation, rows, cols, stream);
    const Cut cut = cut_within<typename Operation::Element>(rows, cols, Operation::kInputs,
                                                            workspace, workspace_bytes);
    return launch_as(cut, operation, rows, cols, workspace, stream);
}

}  // namespace smem_softmax
