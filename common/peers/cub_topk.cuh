// SPDX-License-Identifier: MIT
// What CUB has for parts of a top-k, behind its call: selections, the k largest elements of each row and their
// columns (values are those of x, no probabilities), and sums of rows. Compiled by nvcc alone.
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/operations/topk/operation.hpp"
#include "common/runner/call.hpp"

namespace peers {

// All of each row sorted by DeviceSegmentedRadixSort, pairs of an element and its column, of which the first
// k are kept. Columns are numbered anew by each call. DeviceSegmentedSort would treat short rows better, but
// of more than 500 rows it waits for the GPU, and work that waits cannot be timed.
size_t segmented_sort_bytes(const operations::topk::Shape& shape, runner::DType dtype);
cudaError_t select_by_segmented_sort(const runner::Call& call);

// DeviceBatchedTopK: in no order, and of equal elements any. In CCCL since 3.5 (CUDA 13.5). A block holds a
// row, for which CUB has this much room: with twice as much it does not compile, and what spreads a row over
// several blocks is announced in its headers and not there yet.
constexpr int kMostColsOfBatchedTopk = 8192;
size_t batched_topk_bytes(const operations::topk::Shape& shape, runner::DType dtype);
cudaError_t select_by_batched_topk(const runner::Call& call);

// DeviceTopK: of one row of any length, in no order, and of equal elements any. A call of it for each row.
constexpr int kMostRowsOfTopk = 16;
size_t topk_bytes(const operations::topk::Shape& shape, runner::DType dtype);
cudaError_t select_by_topk(const runner::Call& call);

// Sums of rows, no selection: what reading x once takes in CUB. Each row's is left where its first value belongs
// in a matrix of one column. By DeviceSegmentedReduce: of segments of any size, as every CUB has it, and of one size
// for all, as CCCL has it since 3.5, with ways of its own for short ones.
size_t row_sum_bytes(const operations::topk::Shape& shape, runner::DType dtype);
cudaError_t sum_rows(const runner::Call& call);
size_t row_sum_of_fixed_size_bytes(const operations::topk::Shape& shape, runner::DType dtype);
cudaError_t sum_rows_of_fixed_size(const runner::Call& call);

}  // namespace peers
