// SPDX-License-Identifier: MIT
// cooperative_groups::reduce: every thread of a tile or coalesced group gets the reduction of all.
#pragma once
#include "cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_xor {
    __device__ T operator()(T a, T b) const { return a ^ b; }
};
template <class T>
struct bit_or {
    __device__ T operator()(T a, T b) const { return a | b; }
};

// The order of operands is the toolkit's, so that sums of floats round alike: a tile exchanges
// across halves, then quarters, and so on.
template <unsigned Size, class Parent, class T, class Operation>
__device__ inline T reduce(const thread_block_tile<Size, Parent>& tile, T value,
                           Operation operation) {
    for (unsigned distance = Size / 2; distance > 0; distance /= 2) {
        value = operation(value, tile.shfl_xor(value, distance));
    }
    return value;
}

// A group of any size scans upwards and takes the last thread's result.
template <class T, class Operation>
__device__ inline T reduce(const coalesced_group& group, T value, Operation operation) {
    const unsigned size = group.size();
    if (size == warpSize) {
        return reduce(thread_block_tile<warpSize, void>(0, warpSize), value, operation);
    }
    const unsigned rank = group.thread_rank();
    for (unsigned distance = 1; distance < size; distance *= 2) {
        const T below = group.shfl_up(value, distance);
        if (rank >= distance) value = operation(below, value);
    }
    return group.shfl(value, size - 1);
}

}  // namespace cooperative_groups
