// SPDX-License-Identifier: MIT
// cub::BlockScan: each thread gets the reduction of the threads up to itself (inclusive) or below
// itself (exclusive). Without an initial value the exclusive result of thread 0 means nothing.
//
// As in CUB's BLOCK_SCAN_WARP_SCANS: each warp scans by shuffles, its last lane leaves the warp's
// result in shared memory, and after a barrier every thread folds the warps below its own. The two
// raking algorithms, of which one is CUB's default, are accepted and done the same way, so their
// sums may round differently than CUB's.
#pragma once
#include "cub/block/block_reduce.cuh"
#include "cub/operators.cuh"
#include "cub/shared_storage.cuh"
#include "cub/warp/warp_scan.cuh"
#include "cuda_runtime.h"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int BlockDimX, BlockScanAlgorithm Algorithm = BLOCK_SCAN_RAKING,
          int BlockDimY = 1, int BlockDimZ = 1, int LegacyPtxArch = 0>
class BlockScan {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    static constexpr int kWarps = (kThreads + warpSize - 1) / warpSize;
    using Slots = detail::WarpSlots<T, kWarps, 0>;
    using Warp = WarpScan<T, warpSize>;

public:
    struct alignas(alignof(T) < 16 ? 16 : alignof(T)) TempStorage {
        unsigned char bytes[Slots::end];
    };

    __device__ BlockScan() : BlockScan(private_storage()) {}
    __device__ explicit BlockScan(TempStorage& storage)
        : storage_(storage.bytes),
          thread_(detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>("cub::BlockScan")) {}

    // ---------------------------------------------------------------- one item a thread

    template <class Operation>
    __device__ void InclusiveScan(T input, T& output, Operation operation) {
        T aggregate = input;
        InclusiveScan(input, output, operation, aggregate);
    }
    template <class Operation>
    __device__ void InclusiveScan(T input, T& output, Operation operation, T& block_aggregate) {
        T inclusive = input;
        warp().InclusiveScan(input, inclusive, operation);
        const T below = fold_warps(inclusive, operation, block_aggregate);
        output = thread_ < warpSize ? inclusive : operation(below, inclusive);
    }

    template <class Operation>
    __device__ void ExclusiveScan(T input, T& output, Operation operation) {
        T aggregate = input;
        ExclusiveScan(input, output, operation, aggregate);
    }
    template <class Operation>
    __device__ void ExclusiveScan(T input, T& output, Operation operation, T& block_aggregate) {
        T inclusive = input;
        T exclusive = input;
        warp().Scan(input, inclusive, exclusive, operation);
        const T below = fold_warps(inclusive, operation, block_aggregate);
        if (thread_ >= warpSize) {
            exclusive = thread_ % warpSize == 0 ? below : operation(below, exclusive);
        }
        output = exclusive;
    }
    template <class Operation>
    __device__ void ExclusiveScan(T input, T& output, T initial_value, Operation operation) {
        T aggregate = input;
        ExclusiveScan(input, output, initial_value, operation, aggregate);
    }
    // The aggregate is that of the inputs, without the initial value.
    template <class Operation>
    __device__ void ExclusiveScan(T input, T& output, T initial_value, Operation operation,
                                  T& block_aggregate) {
        T inclusive = input;
        T exclusive = input;
        warp().Scan(input, inclusive, exclusive, operation);
        T below = fold_warps(inclusive, operation, block_aggregate);
        below = thread_ < warpSize ? initial_value : operation(initial_value, below);
        output = thread_ % warpSize == 0 ? below : operation(below, exclusive);
    }

    __device__ void InclusiveSum(T input, T& output) {
        InclusiveScan(input, output, cuda::std::plus<>{});
    }
    __device__ void InclusiveSum(T input, T& output, T& block_aggregate) {
        InclusiveScan(input, output, cuda::std::plus<>{}, block_aggregate);
    }
    __device__ void ExclusiveSum(T input, T& output) {
        ExclusiveScan(input, output, T{}, cuda::std::plus<>{});
    }
    __device__ void ExclusiveSum(T input, T& output, T& block_aggregate) {
        ExclusiveScan(input, output, T{}, cuda::std::plus<>{}, block_aggregate);
    }

    // ---------------------------------------------------------------- several items a thread

    template <int items, class Operation>
    __device__ void InclusiveScan(T (&input)[items], T (&output)[items], Operation operation) {
        T aggregate = input[0];
        InclusiveScan(input, output, operation, aggregate);
    }
    template <int items, class Operation>
    __device__ void InclusiveScan(T (&input)[items], T (&output)[items], Operation operation,
                                  T& block_aggregate) {
        const T mine = detail::reduce_items(input, operation);
        T below = mine;
        ExclusiveScan(mine, below, operation, block_aggregate);
        T running = thread_ == 0 ? input[0] : operation(below, input[0]);
        output[0] = running;
        for (int i = 1; i < items; ++i) output[i] = running = operation(running, input[i]);
    }

    template <int items, class Operation>
    __device__ void ExclusiveScan(T (&input)[items], T (&output)[items], T initial_value,
                                  Operation operation) {
        T aggregate = input[0];
        ExclusiveScan(input, output, initial_value, operation, aggregate);
    }
    template <int items, class Operation>
    __device__ void ExclusiveScan(T (&input)[items], T (&output)[items], T initial_value,
                                  Operation operation, T& block_aggregate) {
        const T mine = detail::reduce_items(input, operation);
        T running = mine;
        ExclusiveScan(mine, running, initial_value, operation, block_aggregate);
        for (int i = 0; i < items; ++i) {
            const T next = operation(running, input[i]);  // first: output may be input
            output[i] = running;
            running = next;
        }
    }

    template <int items>
    __device__ void InclusiveSum(T (&input)[items], T (&output)[items]) {
        InclusiveScan(input, output, cuda::std::plus<>{});
    }
    template <int items>
    __device__ void InclusiveSum(T (&input)[items], T (&output)[items], T& block_aggregate) {
        InclusiveScan(input, output, cuda::std::plus<>{}, block_aggregate);
    }
    template <int items>
    __device__ void ExclusiveSum(T (&input)[items], T (&output)[items]) {
        ExclusiveScan(input, output, T{}, cuda::std::plus<>{});
    }
    template <int items>
    __device__ void ExclusiveSum(T (&input)[items], T (&output)[items], T& block_aggregate) {
        ExclusiveScan(input, output, T{}, cuda::std::plus<>{}, block_aggregate);
    }

private:
    __device__ static TempStorage& private_storage() {
        __shared__ TempStorage storage;
        return storage;
    }
    __device__ static Warp warp() {
        typename Warp::TempStorage none;
        return Warp(none);
    }

    // From the last lane's inclusive result of each warp: what the warps below this one amount to
    // (nothing sensible for the first), and the whole block.
    template <class Operation>
    __device__ T fold_warps(T inclusive, Operation operation, T& block_aggregate) {
        const int warp_index = thread_ / warpSize;
        const bool is_last = thread_ % warpSize == warpSize - 1 || thread_ == kThreads - 1;
        if (is_last) Slots::store(storage_, warp_index, inclusive);
        __syncthreads();

        const typename Slots::template Loaded<0> results(storage_);
        T below = inclusive;
        results.get(0, block_aggregate);
        for (int other = 1; other < kWarps; ++other) {
            if (other == warp_index) below = block_aggregate;
            T result = inclusive;
            results.get(other, result);
            block_aggregate = operation(block_aggregate, result);
        }
        return below;
    }

    unsigned char* storage_;
    int thread_;
};

}  // namespace cub
