// SPDX-License-Identifier: MIT
// cooperative_groups::inclusive_scan and exclusive_scan of a tile or coalesced group.
#pragma once
#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

// A group scans upwards: after each step a thread holds the result of twice as many threads.
template <class Group, class T, class Operation>
__device__ inline T inclusive_scan(const Group& group, T value, Operation operation) {
    const unsigned rank = group.thread_rank();
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        const T below = group.shfl_up(value, distance);
        if (rank >= distance) value = operation(below, value);
    }
    return value;
}
template <class Group, class T>
__device__ inline T inclusive_scan(const Group& group, T value) {
    return inclusive_scan(group, value, plus<T>());
}

// The first thread's result is T().
template <class Group, class T, class Operation>
__device__ inline T exclusive_scan(const Group& group, T value, Operation operation) {
    const T below = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? T() : below;
}
template <class Group, class T>
__device__ inline T exclusive_scan(const Group& group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
