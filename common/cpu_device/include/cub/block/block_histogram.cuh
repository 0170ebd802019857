// SPDX-License-Identifier: MIT
// cub::BlockHistogram by atomic additions, as CUB's BLOCK_HISTO_ATOMIC. BLOCK_HISTO_SORT, CUB's default, is accepted and
// done the same way: its counts of accesses are not CUB's.
#pragma once
#include "cub/shared_storage.cuh"
#include "cuda_runtime.h"

namespace cub {

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <class T, int BlockDimX, int ItemsPerThread, int Bins,
          BlockHistogramAlgorithm Algorithm = BLOCK_HISTO_SORT, int BlockDimY = 1,
          int BlockDimZ = 1, int LegacyPtxArch = 0>
class BlockHistogram {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;

public:
    struct TempStorage {};

    __device__ BlockHistogram() : BlockHistogram(none()) {}
    __device__ explicit BlockHistogram(TempStorage&)
        : thread_(detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>("cub::BlockHistogram")) {
    }

    template <class Counter>
    __device__ void InitHistogram(Counter (&histogram)[Bins]) {
        for (int bin = thread_; bin < Bins; bin += kThreads) histogram[bin] = 0;
    }
    template <class Counter>
    __device__ void Histogram(T (&items)[ItemsPerThread], Counter (&histogram)[Bins]) {
        InitHistogram(histogram);
        __syncthreads();
        Composite(items, histogram);
    }
    // Adds to what is there.
    template <class Counter>
    __device__ void Composite(T (&items)[ItemsPerThread], Counter (&histogram)[Bins]) {
        for (int i = 0; i < ItemsPerThread; ++i) atomicAdd(&histogram[items[i]], Counter{1});
    }

private:
    __device__ static TempStorage& none() {
        __shared__ TempStorage storage;
        return storage;
    }

    int thread_;
};

}  // namespace cub
