// SPDX-License-Identifier: MIT
// cub::BlockStore without shared memory: each thread its own items (direct, vectorized), or the
// threads side by side (striped).
#pragma once
#include "cub/block/arrangement.cuh"
#include "cuda_runtime.h"

namespace cub {

enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE };

template <class T, int BlockDimX, int ItemsPerThread,
          BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int BlockDimY = 1, int BlockDimZ = 1>
class BlockStore {
    using Packs = detail::Packs<T, ItemsPerThread>;
    static constexpr bool kIsPacked = Algorithm == BLOCK_STORE_VECTORIZE && Packs::fit_one_access;

public:
    struct TempStorage {};

    __device__ BlockStore() = default;
    __device__ explicit BlockStore(TempStorage&) {}

    // With BLOCK_STORE_VECTORIZE, target is aligned to a pack of 4 (or 2) items.
    __device__ void Store(T* target, T (&items)[ItemsPerThread]) {
        if constexpr (kIsPacked) {
            auto* packs = reinterpret_cast<typename Packs::Pack*>(target + items_.place(0));
            for (int i = 0; i < ItemsPerThread / Packs::size; ++i) {
                typename Packs::Pack pack;
                for (int j = 0; j < Packs::size; ++j) pack.elements[j] = items[i * Packs::size + j];
                packs[i] = pack;
            }
        } else {
            for (int i = 0; i < ItemsPerThread; ++i) target[items_.place(i)] = items[i];
        }
    }
    // Only the first valid_items of the block.
    __device__ void Store(T* target, T (&items)[ItemsPerThread], int valid_items) {
        for (int i = 0; i < ItemsPerThread; ++i) {
            if (items_.place(i) < valid_items) target[items_.place(i)] = items[i];
        }
    }

private:
    detail::Arrangement<BlockDimX, BlockDimY, BlockDimZ, ItemsPerThread,
                        Algorithm == BLOCK_STORE_STRIPED>
        items_{"cub::BlockStore"};
};

// The same as functions, of a block of one dimension.
template <class T, int count>
__device__ inline void StoreDirectBlocked(int thread, T* target, T (&items)[count]) {
    for (int i = 0; i < count; ++i) target[thread * count + i] = items[i];
}
template <int threads, class T, int count>
__device__ inline void StoreDirectStriped(int thread, T* target, T (&items)[count]) {
    for (int i = 0; i < count; ++i) target[i * threads + thread] = items[i];
}

}  // namespace cub
