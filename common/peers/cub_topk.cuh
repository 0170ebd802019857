// SPDX-License-Identifier: MIT
// Two selections of CUB's behind the call of a top-k: the k largest elements of each row and their columns.
// Values are those of x, no probabilities. Compiled by nvcc alone.
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
// row, for which CUB has this much room.
constexpr int kMostColsOfBatchedTopk = 8192;
size_t batched_topk_bytes(const operations::topk::Shape& shape, runner::DType dtype);
cudaError_t select_by_batched_topk(const runner::Call& call);

}  // namespace peers
