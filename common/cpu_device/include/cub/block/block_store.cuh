// SPDX-License-Identifier: MIT
// cub::BlockStore without shared memory: each thread its own items (direct, vectorized), or the
// threads side by side (striped).
#pragma once
#include "cub/shared_storage.cuh"
#include "cuda_runtime.h"

namespace cub {

enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE };

template <class T, int BlockDimX, int ItemsPerThread,
          BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int BlockDimY = 1, int BlockDimZ = 1>
class BlockStore {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    static constexpr int kPack = ItemsPerThread % 4 == 0 ? 4 : ItemsPerThread % 2 == 0 ? 2 : 1;
    static constexpr bool kIsPacked = Algorithm == BLOCK_STORE_VECTORIZE && kPack * sizeof(T) <= 16;

public:
    struct TempStorage {};

    __device__ BlockStore()
        : thread_(detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>("cub::BlockStore")) {}
    __device__ explicit BlockStore(TempStorage&) : BlockStore() {}

    // With BLOCK_STORE_VECTORIZE, target is aligned to a pack of 4 (or 2) items.
    __device__ void Store(T* target, T (&items)[ItemsPerThread]) {
        if constexpr (kIsPacked) {
            struct alignas(kPack * sizeof(T)) Pack {
                T items[kPack];
            };
            Pack* packs = reinterpret_cast<Pack*>(target + thread_ * ItemsPerThread);
            for (int i = 0; i < ItemsPerThread / kPack; ++i) {
                Pack pack;
                for (int j = 0; j < kPack; ++j) pack.items[j] = items[i * kPack + j];
                packs[i] = pack;
            }
        } else {
            for (int i = 0; i < ItemsPerThread; ++i) target[place(i)] = items[i];
        }
    }
    // Only the first valid_items of the block.
    __device__ void Store(T* target, T (&items)[ItemsPerThread], int valid_items) {
        for (int i = 0; i < ItemsPerThread; ++i) {
            if (place(i) < valid_items) target[place(i)] = items[i];
        }
    }

private:
    __device__ int place(int item) const {
        return Algorithm == BLOCK_STORE_STRIPED ? item * kThreads + thread_
                                                : thread_ * ItemsPerThread + item;
    }

    int thread_;
};

}  // namespace cub
