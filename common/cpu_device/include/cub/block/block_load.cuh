// SPDX-License-Identifier: MIT
// cub::BlockLoad: each thread gets its own items, read directly, in packs, or by threads side by side and then exchanged
// through shared memory; or, striped, the threads' items lie side by side.
#pragma once
#include "cub/block/arrangement.cuh"
#include "cuda_runtime.h"

namespace cub {

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,  // here with the memory of all warps
};

template <class T, int BlockDimX, int ItemsPerThread,
          BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int BlockDimY = 1, int BlockDimZ = 1,
          int LegacyPtxArch = 0>
class BlockLoad {
    using Packs = detail::Packs<T, ItemsPerThread>;
    static constexpr bool kIsPacked = Algorithm == BLOCK_LOAD_VECTORIZE && Packs::fit_one_access;
    static constexpr bool kTransposes = Algorithm == BLOCK_LOAD_TRANSPOSE;
    static constexpr bool kTransposesWarps = Algorithm > BLOCK_LOAD_TRANSPOSE;
    using Exchange = BlockExchange<T, BlockDimX, ItemsPerThread, false, BlockDimY, BlockDimZ>;
    struct Nothing {};

public:
    using TempStorage = std::conditional_t<kTransposes || kTransposesWarps,
                                           typename Exchange::TempStorage, Nothing>;

    __device__ BlockLoad() {
        if constexpr (kTransposes || kTransposesWarps) storage_ = &private_storage();
    }
    __device__ explicit BlockLoad(TempStorage& storage) : storage_(&storage) {}

    // With BLOCK_LOAD_VECTORIZE, a pointer is aligned to a pack of 4 (or 2) items.
    template <class Source>
    __device__ void Load(Source source, T (&items)[ItemsPerThread]) {
        if constexpr (kIsPacked && std::is_pointer_v<Source>) {
            const auto* packs =
                reinterpret_cast<const typename Packs::Pack*>(source + items_.place(0));
            for (int i = 0; i < ItemsPerThread / Packs::size; ++i) {
                const typename Packs::Pack pack = packs[i];
                for (int j = 0; j < Packs::size; ++j) items[i * Packs::size + j] = pack.elements[j];
            }
        } else {
            for (int i = 0; i < ItemsPerThread; ++i) items[i] = source[items_.place(i)];
        }
        exchange(items);
    }
    // Only the first valid_items of the block; the other items stay as they are.
    template <class Source>
    __device__ void Load(Source source, T (&items)[ItemsPerThread], int valid_items) {
        for (int i = 0; i < ItemsPerThread; ++i) {
            if (items_.place(i) < valid_items) items[i] = source[items_.place(i)];
        }
        exchange(items);
    }
    template <class Source, class Otherwise>
    __device__ void Load(Source source, T (&items)[ItemsPerThread], int valid_items,
                         Otherwise otherwise) {
        for (int i = 0; i < ItemsPerThread; ++i) {
            items[i] = items_.place(i) < valid_items ? T(source[items_.place(i)]) : T(otherwise);
        }
        exchange(items);
    }

private:
    __device__ static TempStorage& private_storage() {
        __shared__ TempStorage storage;
        return storage;
    }
    __device__ void exchange(T (&items)[ItemsPerThread]) {
        if constexpr (kTransposes) Exchange(*storage_).StripedToBlocked(items);
        if constexpr (kTransposesWarps) Exchange(*storage_).WarpStripedToBlocked(items);
    }

    TempStorage* storage_ = nullptr;
    detail::Arrangement<BlockDimX, BlockDimY, BlockDimZ, ItemsPerThread,
                        kTransposesWarps ? detail::Order::warp_striped
                        : kTransposes || Algorithm == BLOCK_LOAD_STRIPED ? detail::Order::striped
                                                                         : detail::Order::blocked>
        items_{"cub::BlockLoad"};
};

// The same as functions, of a block of one dimension.
template <class T, class Source, int count>
__device__ inline void LoadDirectBlocked(int thread, Source source, T (&items)[count]) {
    for (int i = 0; i < count; ++i) items[i] = source[thread * count + i];
}
template <class T, class Source, int count>
__device__ inline void LoadDirectBlocked(int thread, Source source, T (&items)[count],
                                         int valid_items) {
    for (int i = 0; i < count; ++i) {
        if (thread * count + i < valid_items) items[i] = source[thread * count + i];
    }
}
template <int threads, class T, class Source, int count>
__device__ inline void LoadDirectStriped(int thread, Source source, T (&items)[count]) {
    for (int i = 0; i < count; ++i) items[i] = source[i * threads + thread];
}
template <int threads, class T, class Source, int count>
__device__ inline void LoadDirectStriped(int thread, Source source, T (&items)[count],
                                         int valid_items) {
    for (int i = 0; i < count; ++i) {
        if (i * threads + thread < valid_items) items[i] = source[i * threads + thread];
    }
}
// By warps: the items of each lie together.
template <class T, class Source, int count>
__device__ inline void LoadDirectWarpStriped(int thread, Source source, T (&items)[count]) {
    const int first = thread / warpSize * warpSize * count + thread % warpSize;
    for (int i = 0; i < count; ++i) items[i] = source[first + i * warpSize];
}

}  // namespace cub
