// SPDX-License-Identifier: MIT
// cub::BlockLoad without shared memory: each thread its own items (direct, vectorized), or the
// threads side by side (striped).
#pragma once
#include "cub/shared_storage.cuh"
#include "cuda_runtime.h"

namespace cub {

enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE };

template <class T, int BlockDimX, int ItemsPerThread,
          BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int BlockDimY = 1, int BlockDimZ = 1>
class BlockLoad {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    static constexpr int kPack = ItemsPerThread % 4 == 0 ? 4 : ItemsPerThread % 2 == 0 ? 2 : 1;
    static constexpr bool kIsPacked = Algorithm == BLOCK_LOAD_VECTORIZE && kPack * sizeof(T) <= 16;

public:
    struct TempStorage {};

    __device__ BlockLoad()
        : thread_(detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>("cub::BlockLoad")) {}
    __device__ explicit BlockLoad(TempStorage&) : BlockLoad() {}

    // With BLOCK_LOAD_VECTORIZE, source is aligned to a pack of 4 (or 2) items.
    __device__ void Load(const T* source, T (&items)[ItemsPerThread]) {
        if constexpr (kIsPacked) {
            struct alignas(kPack * sizeof(T)) Pack {
                T items[kPack];
            };
            const Pack* packs = reinterpret_cast<const Pack*>(source + thread_ * ItemsPerThread);
            for (int i = 0; i < ItemsPerThread / kPack; ++i) {
                const Pack pack = packs[i];
                for (int j = 0; j < kPack; ++j) items[i * kPack + j] = pack.items[j];
            }
        } else {
            for (int i = 0; i < ItemsPerThread; ++i) items[i] = source[place(i)];
        }
    }
    // Only the first valid_items of the block; the other items stay as they are.
    __device__ void Load(const T* source, T (&items)[ItemsPerThread], int valid_items) {
        for (int i = 0; i < ItemsPerThread; ++i) {
            if (place(i) < valid_items) items[i] = source[place(i)];
        }
    }
    __device__ void Load(const T* source, T (&items)[ItemsPerThread], int valid_items,
                         T otherwise) {
        for (int i = 0; i < ItemsPerThread; ++i) {
            items[i] = place(i) < valid_items ? source[place(i)] : otherwise;
        }
    }

private:
    __device__ int place(int item) const {
        return Algorithm == BLOCK_LOAD_STRIPED ? item * kThreads + thread_
                                               : thread_ * ItemsPerThread + item;
    }

    int thread_;
};

}  // namespace cub
