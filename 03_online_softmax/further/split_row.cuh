// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 03_online_softmax/further/split_row, version 1.0
//
// Few long rows: one block per row would leave most of the GPU idle, so a row is cut into slices.
//   new here   the (m, d) of a row's slices come from many blocks: the paper's batch of 10
//   traffic    2 reads + 1 write per element; the second read comes from L2 where x fits there
//   accepts    rows x cols floats, row-major; y may be x; scratch for one (m, d) per slice
//   source     the merge of Milakov & Gimelshein 2018, section 3.1, across blocks
#pragma once
#include "../online_softmax.cuh"

namespace online_softmax {

// A block per slice, blockIdx.x, of a row, blockIdx.y.
template <int kThreads>
__global__ void slice_normalizer_kernel(const float* x, Normalizer* slices, int64_t cols,
                                        int64_t slice_cols) {
    const int64_t first = blockIdx.x * slice_cols;
    const float* x_slice = x + blockIdx.y * cols + first;

    const Normalizer slice = block_normalizer<kThreads>(x_slice, min(slice_cols, cols - first));
    if (threadIdx.x == 0) slices[blockIdx.y * gridDim.x + blockIdx.x] = slice;
}

// Every block merges the slices of its row, all in the same order, and writes its own slice. The
// second read of x comes from the L2 cache where x fits there.
template <int kThreads, class Output>
__global__ void split_row_kernel(const float* x, float* y, const Normalizer* slices, int64_t cols,
                                 int64_t slice_cols) {
    const int64_t first = blockIdx.x * slice_cols;
    const int64_t last = min(first + slice_cols, cols);
    const float* x_row = x + blockIdx.y * cols;
    float* y_row = y + blockIdx.y * cols;

    const Normalizer* row_slices = slices + blockIdx.y * gridDim.x;
    const Output output(for_division(block_normalizer<kThreads>(row_slices, gridDim.x)));

    for (int64_t col = first + threadIdx.x; col < last; col += kThreads) {
        y_row[col] = output(x_row[col]);
    }
}

// How a row is cut: enough slices that all rows together fill a large GPU, none without need.
struct Split {
    int64_t slices;      // per row
    int64_t slice_cols;  // of each but the last, which may be shorter
};
inline Split split(int64_t rows, int64_t cols) {
    constexpr int64_t kBlocks = 1056;  // 8 of 256 threads on each of 132 multiprocessors
    constexpr int64_t kMinSlice = 4 * kBlockThreads;
    const int64_t wanted = std::max<int64_t>(1, kBlocks / std::max<int64_t>(1, rows));
    const int64_t slice_cols = std::max((cols + wanted - 1) / wanted, kMinSlice);
    const int64_t whole = (slice_cols + kBlockThreads - 1) / kBlockThreads * kBlockThreads;
    return {(cols + whole - 1) / whole, whole};
}

// Bytes of scratch that split_row needs for this shape.
inline size_t split_row_workspace_bytes(int64_t rows, int64_t cols) {
    if (rows <= 0 || cols <= 0) return 0;
    return static_cast<size_t>(rows * split(rows, cols).slices) * sizeof(Normalizer);
}

// Softmax for few long rows. workspace: split_row_workspace_bytes(rows, cols) bytes of device
// memory, 8-byte aligned; cudaErrorInvalidValue where it is null or smaller.
inline cudaError_t split_row(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,
                             size_t workspace_bytes, cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr || workspace == nullptr) return cudaErrorInvalidValue;
    if (workspace_bytes < split_row_workspace_bytes(rows, cols)) return cudaErrorInvalidValue;
    const auto [slices, slice_cols] = split(rows, cols);
    constexpr int64_t kMaxRows = 65535;  // of a grid's y
    auto* normalizers = static_cast<Normalizer*>(workspace);
    for (int64_t row = 0; row < rows; row += kMaxRows) {
        const dim3 grid(static_cast<unsigned>(slices),
                        static_cast<unsigned>(std::min(rows - row, kMaxRows)));
        Normalizer* scratch = normalizers + row * slices;
        slice_normalizer_kernel<kBlockThreads>
            <<<grid, kBlockThreads, 0, stream>>>(x + row * cols, scratch, cols, slice_cols);
        split_row_kernel<kBlockThreads, Softmax><<<grid, kBlockThreads, 0, stream>>>(
            x + row * cols, y + row * cols, scratch, cols, slice_cols);
    }
    return cudaGetLastError();
}

}  // namespace online_softmax
