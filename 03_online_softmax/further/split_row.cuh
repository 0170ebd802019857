// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 03_online_softmax/further/split_row, version 4.0
//
// Softmax of few long rows: many blocks share a row, so that the whole GPU works.
//   new here   pairs merge across blocks as well: the first launch computes a pair per slice of a row, the
//              second merges the pairs of each row and writes the results
//   traffic    2 reads + 1 write per element, as in the lesson, plus the pairs of the slices
//   gain       several times the lesson's speed with ten long rows; little or none with many rows
//   accepts    rows x cols floats, row-major; y may be x; a workspace of split_row_workspace_bytes
//   source     the merge of Milakov & Gimelshein 2018, section 3.1, across blocks
#pragma once
#include <cstddef>

#include "../online_softmax.cuh"

namespace online_softmax {

// Returns the number of columns of a slice. All slices of a row are equally long, but the last may be shorter.
// A row has at most 64 slices, because every block reads all pairs of its row. A slice has at least 4096
// columns, 16 per thread, and consists of whole cache lines (32 floats): if the row starts at the start of a
// line, so does every slice.
inline int64_t slice_cols_for(int64_t cols) {
    constexpr int64_t kMostSlices = 64;
    constexpr int64_t kFewestCols = 4096;
    constexpr int64_t kLine = 32;
    const int64_t share = (cols - 1) / kMostSlices + 1;
    return std::max(kFewestCols, ((share - 1) / kLine + 1) * kLine);
}
inline int64_t slices_for(int64_t cols) {
    return (cols - 1) / slice_cols_for(cols) + 1;
}

inline constexpr int64_t kRowsAtOnce = 65535;  // the largest gridDim.y; more rows, more launches

// Returns the bytes of workspace that split_row needs for this shape.
inline size_t split_row_workspace_bytes(int64_t rows, int64_t cols) {
    if (rows <= 0 || cols <= 0) return 0;
    return static_cast<size_t>(std::min(rows, kRowsAtOnce) * slices_for(cols)) * sizeof(Normalizer);
}

// Computes the pair of each slice by the lesson's first loop: one block per slice (blockIdx.x) of a row (blockIdx.y).
template <int kThreads>
__global__ void slices_kernel(const float* x, Normalizer* pairs, int64_t cols, int64_t slice_cols) {
    using BlockReduce = cub::BlockReduce<Normalizer, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;

    const float* x_row = x + blockIdx.y * cols;
    const int64_t first = blockIdx.x * slice_cols;
    const int64_t end = first + slice_cols < cols ? first + slice_cols : cols;

    Normalizer mine{-INFINITY, 0.f};
    for (int64_t col = first + threadIdx.x; col < end; col += kThreads) {
        mine = Merge{}(mine, {x_row[col], 1.f});
    }
    mine = BlockReduce(scratch).Reduce(mine, Merge{});
    if (threadIdx.x == 0) pairs[blockIdx.y * gridDim.x + blockIdx.x] = mine;
}

// Runs on the same grid after all pairs are written. Differs from the lesson's kernel in two ways: the first loop
// merges the row's pairs instead of its elements, and the second loop writes a slice instead of a row.
template <int kThreads>
__global__ void outputs_kernel(const float* x, float* y, const Normalizer* pairs, int64_t cols,
                               int64_t slice_cols) {
    using BlockReduce = cub::BlockReduce<Normalizer, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ Normalizer row;

    const float* x_row = x + blockIdx.y * cols;
    float* y_row = y + blockIdx.y * cols;
    const Normalizer* row_pairs = pairs + blockIdx.y * gridDim.x;
    const int64_t first = blockIdx.x * slice_cols;
    const int64_t end = first + slice_cols < cols ? first + slice_cols : cols;

    Normalizer mine{-INFINITY, 0.f};
    for (unsigned slice = threadIdx.x; slice < gridDim.x; slice += kThreads) {
        mine = Merge{}(mine, row_pairs[slice]);
    }
    mine = BlockReduce(scratch).Reduce(mine, Merge{});
    if (threadIdx.x == 0) row = mine;
    __syncthreads();

    const float m = row.m;
    const float scale = 1.f / row.d;
    for (int64_t col = first + threadIdx.x; col < end; col += kThreads) {
        y_row[col] = expf(x_row[col] - m) * scale;
    }
}

// Writes the softmax of each row of x to y. workspace: split_row_workspace_bytes(rows, cols) bytes of device
// memory, 8-byte aligned, with any content. Returns cudaErrorInvalidValue if the workspace is missing or too
// small. Calls that may overlap in time need separate workspaces.
inline cudaError_t split_row(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,
                             size_t workspace_bytes, cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr || workspace == nullptr) return cudaErrorInvalidValue;
    if (workspace_bytes < split_row_workspace_bytes(rows, cols)) return cudaErrorInvalidValue;
    constexpr int kThreads = 256;
    const int64_t slice_cols = slice_cols_for(cols);
    const auto slices = static_cast<unsigned>(slices_for(cols));
    auto* pairs = static_cast<Normalizer*>(workspace);  // each turn of the loop reuses them
    for (int64_t row = 0; row < rows; row += kRowsAtOnce) {
        const dim3 grid(slices, static_cast<unsigned>(std::min(rows - row, kRowsAtOnce)));
        const float* x_rows = x + row * cols;
        float* y_rows = y + row * cols;
        slices_kernel<kThreads><<<grid, kThreads, 0, stream>>>(x_rows, pairs, cols, slice_cols);
        outputs_kernel<kThreads>
            <<<grid, kThreads, 0, stream>>>(x_rows, y_rows, pairs, cols, slice_cols);
    }
    return cudaGetLastError();
}

}  // namespace online_softmax
