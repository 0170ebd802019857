// SPDX-License-Identifier: MIT
// cub::WarpScan by shuffles: each lane gets the reduction of the lanes up to itself (inclusive) or
// below itself (exclusive). Without an initial value the exclusive result of lane 0 means nothing.
#pragma once
#include "cub/operators.cuh"
#include "cub/warp/warp_reduce.cuh"
#include "cuda_runtime.h"

namespace cub {

template <class T, int LogicalThreads = 32>
class WarpScan {
public:
    struct TempStorage {};

    __device__ explicit WarpScan(TempStorage&) {}

    template <class Operation>
    __device__ void InclusiveScan(T input, T& inclusive_output, Operation operation) {
        T value = input;
        for (int distance = 1; distance < LogicalThreads; distance *= 2) {
            const bool has_partner = warp_.lane >= distance;
            const T partner =
                warp_.from_lane(value, has_partner ? warp_.lane - distance : warp_.lane);
            if (has_partner) value = operation(partner, value);
        }
        inclusive_output = value;
    }
    template <class Operation>
    __device__ void InclusiveScan(T input, T& inclusive_output, Operation operation,
                                  T& warp_aggregate) {
        InclusiveScan(input, inclusive_output, operation);
        warp_aggregate = Broadcast(inclusive_output, LogicalThreads - 1);
    }

    template <class Operation>
    __device__ void Scan(T input, T& inclusive_output, T& exclusive_output, Operation operation) {
        InclusiveScan(input, inclusive_output, operation);
        exclusive_output = from_lane_below(inclusive_output);
    }
    template <class Operation>
    __device__ void Scan(T input, T& inclusive_output, T& exclusive_output, T initial_value,
                         Operation operation) {
        InclusiveScan(input, inclusive_output, operation);
        inclusive_output = operation(initial_value, inclusive_output);
        exclusive_output = from_lane_below(inclusive_output);
        if (warp_.lane == 0) exclusive_output = initial_value;
    }

    template <class Operation>
    __device__ void ExclusiveScan(T input, T& exclusive_output, Operation operation) {
        T inclusive = input;
        Scan(input, inclusive, exclusive_output, operation);
    }
    template <class Operation>
    __device__ void ExclusiveScan(T input, T& exclusive_output, T initial_value,
                                  Operation operation) {
        T inclusive = input;
        Scan(input, inclusive, exclusive_output, initial_value, operation);
    }
    // The aggregate is that of the inputs, without the initial value.
    template <class Operation>
    __device__ void ExclusiveScan(T input, T& exclusive_output, Operation operation,
                                  T& warp_aggregate) {
        T inclusive = input;
        Scan(input, inclusive, exclusive_output, operation);
        warp_aggregate = Broadcast(inclusive, LogicalThreads - 1);
    }
    template <class Operation>
    __device__ void ExclusiveScan(T input, T& exclusive_output, T initial_value,
                                  Operation operation, T& warp_aggregate) {
        T inclusive = input;
        InclusiveScan(input, inclusive, operation, warp_aggregate);
        exclusive_output = from_lane_below(operation(initial_value, inclusive));
        if (warp_.lane == 0) exclusive_output = initial_value;
    }

    __device__ void InclusiveSum(T input, T& inclusive_output) {
        InclusiveScan(input, inclusive_output, cuda::std::plus<>{});
    }
    __device__ void InclusiveSum(T input, T& inclusive_output, T& warp_aggregate) {
        InclusiveScan(input, inclusive_output, cuda::std::plus<>{}, warp_aggregate);
    }
    __device__ void ExclusiveSum(T input, T& exclusive_output) {
        ExclusiveScan(input, exclusive_output, T{}, cuda::std::plus<>{});
    }
    __device__ void ExclusiveSum(T input, T& exclusive_output, T& warp_aggregate) {
        ExclusiveScan(input, exclusive_output, T{}, cuda::std::plus<>{}, warp_aggregate);
    }

    __device__ T Broadcast(T input, unsigned source_lane) {
        return warp_.from_lane(input, static_cast<int>(source_lane));
    }

private:
    __device__ T from_lane_below(T value) {
        return warp_.from_lane(value, warp_.lane == 0 ? 0 : warp_.lane - 1);
    }

    detail::LogicalWarp<LogicalThreads> warp_;
};

}  // namespace cub
