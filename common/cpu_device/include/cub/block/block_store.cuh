// SPDX-License-Identifier: MIT
// cub::BlockStore: each thread's own items, written directly, in packs, or exchanged through shared memory and then
// written by threads side by side; or, striped, the threads' items lie side by side.
#pragma once
#include "cub/block/arrangement.cuh"
#include "cuda_runtime.h"

namespace cub {

enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,  // here with the memory of all warps
};

template <class T, int BlockDimX, int ItemsPerThread,
          BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int BlockDimY = 1, int BlockDimZ = 1,
          int LegacyPtxArch = 0>
class BlockStore {
    using Packs = detail::Packs<T, ItemsPerThread>;
    static constexpr bool kIsPacked = Algorithm == BLOCK_STORE_VECTORIZE && Packs::fit_one_access;
    static constexpr bool kTransposes = Algorithm == BLOCK_STORE_TRANSPOSE;
    static constexpr bool kTransposesWarps = Algorithm > BLOCK_STORE_TRANSPOSE;
    using Exchange = BlockExchange<T, BlockDimX, ItemsPerThread, false, BlockDimY, BlockDimZ>;
    struct Nothing {};

public:
    using TempStorage = std::conditional_t<kTransposes || kTransposesWarps,
                                           typename Exchange::TempStorage, Nothing>;

    __device__ BlockStore() {
        if constexpr (kTransposes || kTransposesWarps) storage_ = &private_storage();
    }
    __device__ explicit BlockStore(TempStorage& storage) : storage_(&storage) {}

    // With BLOCK_STORE_VECTORIZE, a pointer is aligned to a pack of 4 (or 2) items.
    template <class Target>
    __device__ void Store(Target target, T (&items)[ItemsPerThread]) {
        exchange(items);
        if constexpr (kIsPacked && std::is_pointer_v<Target>) {
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
    template <class Target>
    __device__ void Store(Target target, T (&items)[ItemsPerThread], int valid_items) {
        exchange(items);
        for (int i = 0; i < ItemsPerThread; ++i) {
            if (items_.place(i) < valid_items) target[items_.place(i)] = items[i];
        }
    }

private:
    __device__ static TempStorage& private_storage() {
        __shared__ TempStorage storage;
        return storage;
    }
    __device__ void exchange(T (&items)[ItemsPerThread]) {
        if constexpr (kTransposes) Exchange(*storage_).BlockedToStriped(items);
        if constexpr (kTransposesWarps) Exchange(*storage_).BlockedToWarpStriped(items);
    }

    TempStorage* storage_ = nullptr;
    detail::Arrangement<BlockDimX, BlockDimY, BlockDimZ, ItemsPerThread,
                        kTransposesWarps ? detail::Order::warp_striped
                        : kTransposes || Algorithm == BLOCK_STORE_STRIPED ? detail::Order::striped
                                                                          : detail::Order::blocked>
        items_{"cub::BlockStore"};
};

// The same as functions, of a block of one dimension.
template <class T, class Target, int count>
__device__ inline void StoreDirectBlocked(int thread, Target target, T (&items)[count]) {
    for (int i = 0; i < count; ++i) target[thread * count + i] = items[i];
}
template <class T, class Target, int count>
__device__ inline void StoreDirectBlocked(int thread, Target target, T (&items)[count],
                                          int valid_items) {
    for (int i = 0; i < count; ++i) {
        if (thread * count + i < valid_items) target[thread * count + i] = items[i];
    }
}
template <int threads, class T, class Target, int count>
__device__ inline void StoreDirectStriped(int thread, Target target, T (&items)[count]) {
    for (int i = 0; i < count; ++i) target[i * threads + thread] = items[i];
}
template <int threads, class T, class Target, int count>
__device__ inline void StoreDirectStriped(int thread, Target target, T (&items)[count],
                                          int valid_items) {
    for (int i = 0; i < count; ++i) {
        if (i * threads + thread < valid_items) target[i * threads + thread] = items[i];
    }
}
template <class T, class Target, int count>
__device__ inline void StoreDirectWarpStriped(int thread, Target target, T (&items)[count]) {
    const int first = thread / warpSize * warpSize * count + thread % warpSize;
    for (int i = 0; i < count; ++i) target[first + i * warpSize] = items[i];
}

}  // namespace cub
