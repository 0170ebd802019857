// SPDX-License-Identifier: MIT
// Which items of a block are which thread's: what BlockLoad and BlockStore have in common.
#pragma once
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

template <int x, int y, int z, int items, bool is_striped>
class Arrangement {
public:
    __device__ explicit Arrangement(const char* collective)
        : thread_(thread_in_block<x, y, z>(collective)) {}

    // The place in the block's items of this thread's item: threads side by side if striped,
    // else each thread's items together.
    __device__ int place(int item) const {
        return is_striped ? item * x * y * z + thread_ : thread_ * items + item;
    }

private:
    int thread_;
};

}  // namespace cub::detail
