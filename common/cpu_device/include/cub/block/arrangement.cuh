// SPDX-License-Identifier: MIT
// Which items of a block are which thread's: what BlockLoad and BlockStore have in common.
#pragma once
#include "cub/block/block_exchange.cuh"
#include "cub/shared_storage.cuh"
#include "cuda_runtime.h"

namespace cub::detail {

// A thread's items as packs of 4 or 2, moved in one access each.
template <class T, int items>
struct Packs {
    static constexpr int size = items % 4 == 0 ? 4 : items % 2 == 0 ? 2 : 1;
    static constexpr bool fit_one_access = size * sizeof(T) <= 16;

    struct alignas(fit_one_access ? size * sizeof(T) : alignof(T)) Pack {
        T elements[size];
    };
};

// How memory is accessed: each thread its own items, all threads side by side, or those of a warp.
enum class Order { blocked, striped, warp_striped };

template <int x, int y, int z, int items, Order order>
class Arrangement {
    static constexpr int kThreads = x * y * z;
    static constexpr int kWarpThreads = kThreads < warpSize ? kThreads : warpSize;

public:
    __device__ explicit Arrangement(const char* collective)
        : thread_(thread_in_block<x, y, z>(collective)) {}

    // The place in the block's items of this thread's item.
    __device__ int place(int item) const {
        if (order == Order::blocked) return thread_ * items + item;
        if (order == Order::striped) return item * kThreads + thread_;
        return thread_ / kWarpThreads * kWarpThreads * items + item * kWarpThreads +
               thread_ % kWarpThreads;
    }

private:
    int thread_;
};

}  // namespace cub::detail
