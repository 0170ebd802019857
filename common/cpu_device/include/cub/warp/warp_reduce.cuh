// SPDX-License-Identifier: MIT
// cub::WarpReduce by shuffles: lane 0 of each logical warp gets the result. What the other lanes
// get is not promised; here, as in CUB, it is the partial result they happen to hold.
#pragma once
#include "cub/operators.cuh"
#include "cuda_runtime.h"

namespace cub {
namespace detail {

// This lane among the `threads` lanes of its logical warp.
template <int threads>
struct LogicalWarp {
    static_assert(threads >= 1 && threads <= warpSize, "a logical warp has 1 to 32 threads");

    int lane;       // in the logical warp
    int first;      // lane of the hardware warp where the logical one begins
    unsigned mask;  // its lanes that exist: a block may end inside a warp

    __device__ LogicalWarp() {
        const int hardware_lane = static_cast<int>(cpu_device::lane_id());
        lane = hardware_lane % threads;
        first = hardware_lane - lane;
        const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        const unsigned left =
            blockDim.x * blockDim.y * blockDim.z - (thread - static_cast<unsigned>(hardware_lane));
        mask = lanes(threads) << first & lanes(left);
    }

    __device__ static unsigned lanes(unsigned count) {
        return count >= warpSize ? ~0u : (1u << count) - 1;
    }

    template <class T>
    __device__ T from_lane(T value, int source) const {
        return cpu_device::value_from_lane(mask, value, first + source);
    }
};

// The lanes up to last_lane, each time combined with the one twice as far above.
template <int threads, class T, class Operation>
__device__ inline T reduce_to_lane_0(const LogicalWarp<threads>& warp, T value, Operation operation,
                                     int last_lane) {
    for (int distance = 1; distance < threads; distance *= 2) {
        const bool has_partner = warp.lane + distance <= last_lane;
        const T partner = warp.from_lane(value, has_partner ? warp.lane + distance : warp.lane);
        if (has_partner) value = operation(value, partner);
    }
    return value;
}

// A full logical warp. Sums, maxima and minima of integers take the hardware's own instruction.
template <int threads, class T, class Operation>
__device__ inline T reduce_full_warp(const LogicalWarp<threads>& warp, T value,
                                     Operation operation) {
    if constexpr (cpu_device::is_one_of<T, int, unsigned>) {
        if constexpr (is_sum<T, Operation>) return __reduce_add_sync(warp.mask, value);
        if constexpr (is_maximum<T, Operation>) return __reduce_max_sync(warp.mask, value);
        if constexpr (is_minimum<T, Operation>) return __reduce_min_sync(warp.mask, value);
    }
    return reduce_to_lane_0(warp, value, operation, threads - 1);
}

}  // namespace detail

template <class T, int LogicalThreads = 32>
class WarpReduce {
public:
    struct TempStorage {};

    __device__ explicit WarpReduce(TempStorage&) {}

    template <class Operation>
    __device__ T Reduce(T input, Operation operation) {
        return detail::reduce_full_warp(warp_, input, operation);
    }

    // The first valid_items lanes.
    template <class Operation>
    __device__ T Reduce(T input, Operation operation, int valid_items) {
        return detail::reduce_to_lane_0(warp_, input, operation, valid_items - 1);
    }

    __device__ T Sum(T input) { return Reduce(input, cuda::std::plus<>{}); }
    __device__ T Sum(T input, int valid_items) {
        return Reduce(input, cuda::std::plus<>{}, valid_items);
    }
    __device__ T Max(T input) { return Reduce(input, cuda::maximum<>{}); }
    __device__ T Max(T input, int valid_items) {
        return Reduce(input, cuda::maximum<>{}, valid_items);
    }
    __device__ T Min(T input) { return Reduce(input, cuda::minimum<>{}); }
    __device__ T Min(T input, int valid_items) {
        return Reduce(input, cuda::minimum<>{}, valid_items);
    }

    // Segments begin where head_flag is set; the first lane of each gets its result.
    template <class Flag, class Operation>
    __device__ T HeadSegmentedReduce(T input, Flag head_flag, Operation operation) {
        const unsigned heads = __ballot_sync(warp_.mask, static_cast<bool>(head_flag));
        return segmented(input, heads >> 1, operation);
    }
    // Segments end where tail_flag is set.
    template <class Flag, class Operation>
    __device__ T TailSegmentedReduce(T input, Flag tail_flag, Operation operation) {
        return segmented(input, __ballot_sync(warp_.mask, static_cast<bool>(tail_flag)), operation);
    }
    template <class Flag>
    __device__ T HeadSegmentedSum(T input, Flag head_flag) {
        return HeadSegmentedReduce(input, head_flag, cuda::std::plus<>{});
    }
    template <class Flag>
    __device__ T TailSegmentedSum(T input, Flag tail_flag) {
        return TailSegmentedReduce(input, tail_flag, cuda::std::plus<>{});
    }

private:
    // last_lanes: lanes of the hardware warp that end a segment.
    template <class Operation>
    __device__ T segmented(T input, unsigned last_lanes, Operation operation) {
        const unsigned here_and_above = last_lanes >> warp_.first >> warp_.lane;
        const int end_of_warp = LogicalThreads - 1;
        const int to_end = here_and_above == 0 ? end_of_warp : __builtin_ctz(here_and_above);
        const int last = warp_.lane + to_end < end_of_warp ? warp_.lane + to_end : end_of_warp;
        return detail::reduce_to_lane_0(warp_, input, operation, last);
    }

    detail::LogicalWarp<LogicalThreads> warp_;
};

}  // namespace cub
