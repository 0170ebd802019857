// SPDX-License-Identifier: MIT
// cub::BlockReduce: thread 0 gets the reduction of the whole block.
//
// As in CUB's BLOCK_REDUCE_WARP_REDUCTIONS: each warp reduces by shuffles, lane 0 leaves the warp's
// result in shared memory, and after a barrier thread 0 folds the warps in order. The two raking
// algorithms are accepted and done the same way, so their sums may round differently than CUB's.
#pragma once
#include "cub/operators.cuh"
#include "cub/shared_storage.cuh"
#include "cub/warp/warp_reduce.cuh"
#include "cuda_runtime.h"

namespace cub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
};

namespace detail {

// One thread's items: operators that CUB knows by name as a tree, others from first to last.
template <class T, int items, class Operation>
__device__ inline T reduce_items(const T (&input)[items], Operation operation) {
    constexpr bool is_known =
        is_sum<T, Operation> || is_maximum<T, Operation> || is_minimum<T, Operation>;
    if constexpr (is_known && sizeof(T) < 8) {
        T partial[items];
        for (int i = 0; i < items; ++i) partial[i] = input[i];
        for (int distance = 1; distance < items; distance *= 2) {
            for (int i = 0; i + distance < items; i += 2 * distance) {
                partial[i] = operation(partial[i], partial[i + distance]);
            }
        }
        return partial[0];
    } else {
        T result = input[0];
        for (int i = 1; i < items; ++i) result = operation(result, input[i]);
        return result;
    }
}

}  // namespace detail

template <class T, int BlockDimX, BlockReduceAlgorithm Algorithm = BLOCK_REDUCE_WARP_REDUCTIONS,
          int BlockDimY = 1, int BlockDimZ = 1, int LegacyPtxArch = 0>
class BlockReduce {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    static constexpr int kWarps = (kThreads + warpSize - 1) / warpSize;
    static constexpr int kWarpThreads = kThreads < warpSize ? kThreads : warpSize;
    static constexpr bool kWholeWarps = kThreads % kWarpThreads == 0;

    // CUB's layout: a byte for each warp's own reduction, a result of each warp, one more T.
    static constexpr size_t kSlots = detail::round_up(kWarps, alignof(T));
    using Slots = detail::WarpSlots<T, kWarps, kSlots>;

public:
    struct alignas(alignof(T) < 16 ? 16 : alignof(T)) TempStorage {
        unsigned char bytes[Slots::end + sizeof(T)];
    };

    __device__ BlockReduce() : BlockReduce(private_storage()) {}
    __device__ explicit BlockReduce(TempStorage& storage)
        : storage_(storage.bytes),
          thread_(detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>("cub::BlockReduce")) {}

    template <class Operation>
    __device__ T Reduce(T input, Operation operation) {
        return reduce<true>(input, operation, kThreads);
    }
    template <int items, class Operation>
    __device__ T Reduce(T (&inputs)[items], Operation operation) {
        return Reduce(detail::reduce_items(inputs, operation), operation);
    }
    // The first num_valid threads' inputs.
    template <class Operation>
    __device__ T Reduce(T input, Operation operation, int num_valid) {
        if (num_valid > kThreads && !kWholeWarps) {
            // CUB then combines lanes that do not exist (seen on an H200).
            cpu_device::fail(cudaErrorInvalidValue,
                             "cub::BlockReduce of the first %d inputs in a block of %d threads",
                             num_valid, kThreads);
        }
        if (num_valid >= kThreads) return reduce<true>(input, operation, kThreads);
        return reduce<false>(input, operation, num_valid);
    }

    __device__ T Sum(T input) { return Reduce(input, cuda::std::plus<>{}); }
    template <int items>
    __device__ T Sum(T (&inputs)[items]) {
        return Reduce(inputs, cuda::std::plus<>{});
    }
    __device__ T Sum(T input, int num_valid) {
        return Reduce(input, cuda::std::plus<>{}, num_valid);
    }

private:
    __device__ static TempStorage& private_storage() {
        __shared__ TempStorage storage;
        return storage;
    }

    template <bool all_valid, class Operation>
    __device__ T reduce(T value, Operation operation, int num_valid) {
        const detail::LogicalWarp<kWarpThreads> warp;
        const int warp_index = thread_ / warpSize;
        const int valid_here = num_valid - warp_index * kWarpThreads;
        if constexpr (all_valid && kWholeWarps) {
            value = detail::reduce_full_warp(warp, value, operation);
        } else {
            const int valid = valid_here < kWarpThreads ? valid_here : kWarpThreads;
            value = detail::reduce_to_lane_0(warp, value, operation, valid - 1);
        }

        if (warp.lane == 0) Slots::store(storage_, warp_index, value);
        __syncthreads();
        if (thread_ == 0 && kWarps > 1) {
            const typename Slots::template Loaded<1> results(storage_);
            for (int other = 1; other < kWarps; ++other) {
                if (!all_valid && other * kWarpThreads >= num_valid) break;
                T result = value;
                results.get(other, result);
                value = operation(value, result);
            }
        }
        return value;
    }

    unsigned char* storage_;
    int thread_;
};

}  // namespace cub
