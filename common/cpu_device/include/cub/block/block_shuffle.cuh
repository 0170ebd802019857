// SPDX-License-Identifier: MIT
// cub::BlockShuffle: values of other threads of the block, through shared memory.
#pragma once
#include "cub/block/block_discontinuity.cuh"

namespace cub {

template <class T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1, int LegacyPtxArch = 0>
class BlockShuffle {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;

public:
    using TempStorage = detail::ThreadSlots<T, kThreads>;

    __device__ BlockShuffle() : BlockShuffle(private_storage()) {}
    __device__ explicit BlockShuffle(TempStorage& storage)
        : storage_(storage),
          thread_(detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>("cub::BlockShuffle")) {}

    // Of the thread `distance` behind this one, where there is one.
    __device__ void Offset(T input, T& output, int distance = 1) {
        storage_[thread_] = input;
        __syncthreads();
        const int from = thread_ + distance;
        if (from >= 0 && from < kThreads) output = storage_[from];
    }
    // The same around the end.
    __device__ void Rotate(T input, T& output, unsigned distance = 1) {
        storage_[thread_] = input;
        __syncthreads();
        output = storage_[(thread_ + static_cast<int>(distance)) % kThreads];
    }
    // All items move by one place. The first (last) stays as it is.
    template <int items>
    __device__ void Up(T (&input)[items], T (&previous)[items]) {
        storage_[thread_] = input[items - 1];
        __syncthreads();
        for (int i = items - 1; i > 0; --i) previous[i] = input[i - 1];
        if (thread_ > 0) previous[0] = storage_[thread_ - 1];
    }
    template <int items>
    __device__ void Up(T (&input)[items], T (&previous)[items], T& block_suffix) {
        Up(input, previous);
        block_suffix = storage_[kThreads - 1];
    }
    template <int items>
    __device__ void Down(T (&input)[items], T (&next)[items]) {
        storage_[thread_] = input[0];
        __syncthreads();
        for (int i = 0; i + 1 < items; ++i) next[i] = input[i + 1];
        if (thread_ + 1 < kThreads) next[items - 1] = storage_[thread_ + 1];
    }
    template <int items>
    __device__ void Down(T (&input)[items], T (&next)[items], T& block_prefix) {
        Down(input, next);
        block_prefix = storage_[0];
    }

private:
    __device__ static TempStorage& private_storage() {
        __shared__ TempStorage storage;
        return storage;
    }

    TempStorage& storage_;
    int thread_;
};

}  // namespace cub
