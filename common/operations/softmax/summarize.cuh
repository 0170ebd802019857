// SPDX-License-Identifier: MIT
// The fp64 reference's view of a row, by all threads of a block.
#pragma once
#include "common/operations/softmax/reference.cuh"

namespace operations::softmax {

// The block's summaries into the first; join adds one to another. Blocks of a power of two.
template <class Join>
__device__ void join_all(RowSummary* summaries, Join join) {
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) join(summaries[threadIdx.x], summaries[threadIdx.x + half]);
    }
    __syncthreads();
}

// The row whose Element at col is element(col). summaries: one for each thread, in shared memory.
template <class At>
__device__ RowSummary summarize_by_block(RowSummary* summaries, int64_t cols, Kind kind,
                                         At element) {
    RowSummary mine = empty_row();
    for (int64_t col = threadIdx.x; col < cols; col += blockDim.x)
        mine.find_max(element(col), kind);
    summaries[threadIdx.x] = mine;
    join_all(summaries, [](RowSummary& to, const RowSummary& from) { to.join_max(from); });

    mine = summaries[0];
    __syncthreads();  // all have the maximum, before sums take its place
    for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) mine.add(element(col), kind);
    summaries[threadIdx.x] = mine;
    join_all(summaries, [](RowSummary& to, const RowSummary& from) { to.join_sum(from); });

    const RowSummary all = summaries[0];
    __syncthreads();  // all have it, before the next row's take its place
    return all;
}

}  // namespace operations::softmax
