// SPDX-License-Identifier: MIT
// What CUB has for single instructions.
#pragma once
#include "cub/util_macro.cuh"
#include "cuda_runtime.h"

namespace cub {

__device__ inline unsigned LaneId() {
    return cpu_device::lane_id();
}
__device__ inline int RowMajorTid(int x, int y, int z) {
    return (z == 1 ? 0 : static_cast<int>(threadIdx.z) * x * y) +
           (y == 1 ? 0 : static_cast<int>(threadIdx.y) * x) + static_cast<int>(threadIdx.x);
}
__device__ inline unsigned WarpId() {
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / warpSize;
}
__device__ inline unsigned LaneMaskLt() {
    return (1u << LaneId()) - 1;
}
__device__ inline unsigned LaneMaskLe() {
    return (2u << LaneId()) - 1;
}
__device__ inline unsigned LaneMaskGt() {
    return ~LaneMaskLe();
}
__device__ inline unsigned LaneMaskGe() {
    return ~LaneMaskLt();
}
// `count` bits from `start` on.
template <class T>
__device__ inline unsigned BFE(T bits, unsigned start, unsigned count) {
    return static_cast<unsigned>((static_cast<unsigned long long>(bits) >> start) &
                                 ((1ull << count) - 1));
}

template <int logical_threads, class T>
__device__ inline T ShuffleIndex(T value, int lane, unsigned mask) {
    const int first = static_cast<int>(LaneId()) / logical_threads * logical_threads;
    return cpu_device::value_from_lane(mask, value, first + lane);
}
// From the lane `offset` below, where that is not before `first`; from the lane above, where that is not behind `last`.
template <int logical_threads, class T>
__device__ inline T ShuffleUp(T value, int offset, int first, unsigned mask) {
    const int lane = static_cast<int>(LaneId());
    const int source = lane % logical_threads - offset;
    return cpu_device::value_from_lane(mask, value, source < first ? lane : lane - offset);
}
template <int logical_threads, class T>
__device__ inline T ShuffleDown(T value, int offset, int last, unsigned mask) {
    const int lane = static_cast<int>(LaneId());
    const int source = lane % logical_threads + offset;
    return cpu_device::value_from_lane(mask, value, source > last ? lane : lane + offset);
}

}  // namespace cub
