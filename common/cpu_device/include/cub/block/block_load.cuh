// SPDX-License-Identifier: MIT
// cub::BlockLoad without shared memory: each thread its own items (direct, vectorized), or the
// threads side by side (striped).
#pragma once
#include "cub/block/arrangement.cuh"
#include "cuda_runtime.h"

namespace cub {

enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE };

template <class T, int BlockDimX, int ItemsPerThread,
          BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int BlockDimY = 1, int BlockDimZ = 1>
class BlockLoad {
    using Packs = detail::Packs<T, ItemsPerThread>;
    static constexpr bool kIsPacked = Algorithm == BLOCK_LOAD_VECTORIZE && Packs::fit_one_access;

public:
    struct TempStorage {};

    __device__ BlockLoad() = default;
    __device__ explicit BlockLoad(TempStorage&) {}

    // With BLOCK_LOAD_VECTORIZE, source is aligned to a pack of 4 (or 2) items.
    __device__ void Load(const T* source, T (&items)[ItemsPerThread]) {
        if constexpr (kIsPacked) {
            const auto* packs =
                reinterpret_cast<const typename Packs::Pack*>(source + items_.place(0));
            for (int i = 0; i < ItemsPerThread / Packs::size; ++i) {
                const typename Packs::Pack pack = packs[i];
                for (int j = 0; j < Packs::size; ++j) items[i * Packs::size + j] = pack.elements[j];
            }
        } else {
            for (int i = 0; i < ItemsPerThread; ++i) items[i] = source[items_.place(i)];
        }
    }
    // Only the first valid_items of the block; the other items stay as they are.
    __device__ void Load(const T* source, T (&items)[ItemsPerThread], int valid_items) {
        for (int i = 0; i < ItemsPerThread; ++i) {
            if (items_.place(i) < valid_items) items[i] = source[items_.place(i)];
        }
    }
    __device__ void Load(const T* source, T (&items)[ItemsPerThread], int valid_items,
                         T otherwise) {
        for (int i = 0; i < ItemsPerThread; ++i) {
            items[i] = items_.place(i) < valid_items ? source[items_.place(i)] : otherwise;
        }
    }

private:
    detail::Arrangement<BlockDimX, BlockDimY, BlockDimZ, ItemsPerThread,
                        Algorithm == BLOCK_LOAD_STRIPED>
        items_{"cub::BlockLoad"};
};

// The same as functions, of a block of one dimension.
template <class T, int count>
__device__ inline void LoadDirectBlocked(int thread, const T* source, T (&items)[count]) {
    for (int i = 0; i < count; ++i) items[i] = source[thread * count + i];
}
template <int threads, class T, int count>
__device__ inline void LoadDirectStriped(int thread, const T* source, T (&items)[count]) {
    for (int i = 0; i < count; ++i) items[i] = source[i * threads + thread];
}

}  // namespace cub
