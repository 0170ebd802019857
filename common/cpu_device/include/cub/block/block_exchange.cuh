// SPDX-License-Identifier: MIT
// cub::BlockExchange and cub::WarpExchange: items change their arrangement through shared memory. Blocked: each thread's
// items together. Striped: item i of all threads side by side. Warp-striped: the same within each warp's part.
#pragma once
#include "cub/shared_storage.cuh"
#include "cuda_runtime.h"

namespace cub {
namespace detail {

// The shared memory of such an exchange. As CUB does, an item is left out after every 32, where a thread has a power of
// two of more than four items: these would all lie in a few banks.
template <class T, int threads, int items>
struct ExchangeStorage {
    static constexpr bool is_padded = items > 4 && (items & (items - 1)) == 0;
    static constexpr int count = threads * items;
    // Not T, which may have a constructor.
    alignas(
        alignof(T) < 16
            ? 16
            : alignof(T)) unsigned char bytes[(count + (is_padded ? count / 32 : 0)) * sizeof(T)];

    __device__ T& operator[](int item) {
        return reinterpret_cast<T*>(bytes)[is_padded ? item + (item >> 5) : item];
    }
};

}  // namespace detail

template <class T, int BlockDimX, int ItemsPerThread, bool WarpTimeSlicing = false,
          int BlockDimY = 1, int BlockDimZ = 1, int LegacyPtxArch = 0>
class BlockExchange {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    static constexpr int kWarpThreads = kThreads < warpSize ? kThreads : warpSize;
    static constexpr int kItems = ItemsPerThread;

public:
    using TempStorage = detail::ExchangeStorage<T, kThreads, ItemsPerThread>;

    __device__ BlockExchange() : BlockExchange(private_storage()) {}
    __device__ explicit BlockExchange(TempStorage& storage)
        : storage_(storage),
          thread_(detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>("cub::BlockExchange")) {}

    template <class Out>
    __device__ void StripedToBlocked(const T (&input)[kItems], Out (&output)[kItems]) {
        for (int i = 0; i < kItems; ++i) storage_[striped(i)] = input[i];
        __syncthreads();
        for (int i = 0; i < kItems; ++i) output[i] = storage_[blocked(i)];
    }
    template <class Out>
    __device__ void BlockedToStriped(const T (&input)[kItems], Out (&output)[kItems]) {
        for (int i = 0; i < kItems; ++i) storage_[blocked(i)] = input[i];
        __syncthreads();
        for (int i = 0; i < kItems; ++i) output[i] = storage_[striped(i)];
    }
    template <class Out>
    __device__ void WarpStripedToBlocked(const T (&input)[kItems], Out (&output)[kItems]) {
        for (int i = 0; i < kItems; ++i) storage_[warp_striped(i)] = input[i];
        __syncwarp();
        for (int i = 0; i < kItems; ++i) output[i] = storage_[blocked(i)];
    }
    template <class Out>
    __device__ void BlockedToWarpStriped(const T (&input)[kItems], Out (&output)[kItems]) {
        for (int i = 0; i < kItems; ++i) storage_[blocked(i)] = input[i];
        __syncwarp();
        for (int i = 0; i < kItems; ++i) output[i] = storage_[warp_striped(i)];
    }
    // Item i becomes number ranks[i] of the block.
    template <class Out, class Rank>
    __device__ void ScatterToBlocked(const T (&input)[kItems], Out (&output)[kItems],
                                     Rank (&ranks)[kItems]) {
        for (int i = 0; i < kItems; ++i) storage_[static_cast<int>(ranks[i])] = input[i];
        __syncthreads();
        for (int i = 0; i < kItems; ++i) output[i] = storage_[blocked(i)];
    }
    template <class Out, class Rank>
    __device__ void ScatterToStriped(const T (&input)[kItems], Out (&output)[kItems],
                                     Rank (&ranks)[kItems]) {
        for (int i = 0; i < kItems; ++i) storage_[static_cast<int>(ranks[i])] = input[i];
        __syncthreads();
        for (int i = 0; i < kItems; ++i) output[i] = storage_[striped(i)];
    }
    // Without the items of rank -1, or those whose flag is not set.
    template <class Out, class Rank>
    __device__ void ScatterToStripedGuarded(const T (&input)[kItems], Out (&output)[kItems],
                                            Rank (&ranks)[kItems]) {
        for (int i = 0; i < kItems; ++i) {
            if (static_cast<int>(ranks[i]) >= 0) storage_[static_cast<int>(ranks[i])] = input[i];
        }
        __syncthreads();
        for (int i = 0; i < kItems; ++i) output[i] = storage_[striped(i)];
    }
    template <class Out, class Rank, class Flag>
    __device__ void ScatterToStripedFlagged(const T (&input)[kItems], Out (&output)[kItems],
                                            Rank (&ranks)[kItems], Flag (&is_valid)[kItems]) {
        for (int i = 0; i < kItems; ++i) {
            if (is_valid[i]) storage_[static_cast<int>(ranks[i])] = input[i];
        }
        __syncthreads();
        for (int i = 0; i < kItems; ++i) output[i] = storage_[striped(i)];
    }

    // In place.
    __device__ void StripedToBlocked(T (&items)[kItems]) { StripedToBlocked(items, items); }
    __device__ void BlockedToStriped(T (&items)[kItems]) { BlockedToStriped(items, items); }
    __device__ void WarpStripedToBlocked(T (&items)[kItems]) { WarpStripedToBlocked(items, items); }
    __device__ void BlockedToWarpStriped(T (&items)[kItems]) { BlockedToWarpStriped(items, items); }
    template <class Rank>
    __device__ void ScatterToBlocked(T (&items)[kItems], Rank (&ranks)[kItems]) {
        ScatterToBlocked(items, items, ranks);
    }
    template <class Rank>
    __device__ void ScatterToStriped(T (&items)[kItems], Rank (&ranks)[kItems]) {
        ScatterToStriped(items, items, ranks);
    }

private:
    __device__ static TempStorage& private_storage() {
        __shared__ TempStorage storage;
        return storage;
    }
    __device__ int blocked(int i) const { return thread_ * kItems + i; }
    __device__ int striped(int i) const { return i * kThreads + thread_; }
    __device__ int warp_striped(int i) const {
        return thread_ / kWarpThreads * kWarpThreads * kItems + i * kWarpThreads +
               thread_ % kWarpThreads;
    }

    TempStorage& storage_;
    int thread_;
};

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };

// Both algorithms go through shared memory here.
template <class T, int ItemsPerThread, int LogicalThreads = 32,
          WarpExchangeAlgorithm Algorithm = WARP_EXCHANGE_SMEM, int LegacyPtxArch = 0>
class WarpExchange {
    static constexpr int kItems = ItemsPerThread;

public:
    using TempStorage = detail::ExchangeStorage<T, LogicalThreads, ItemsPerThread>;

    __device__ explicit WarpExchange(TempStorage& storage)
        : storage_(storage), lane_(static_cast<int>(cpu_device::lane_id()) % LogicalThreads) {}

    template <class Out>
    __device__ void StripedToBlocked(const T (&input)[kItems], Out (&output)[kItems]) {
        for (int i = 0; i < kItems; ++i) storage_[i * LogicalThreads + lane_] = input[i];
        __syncwarp(mask());
        for (int i = 0; i < kItems; ++i) output[i] = storage_[lane_ * kItems + i];
    }
    template <class Out>
    __device__ void BlockedToStriped(const T (&input)[kItems], Out (&output)[kItems]) {
        for (int i = 0; i < kItems; ++i) storage_[lane_ * kItems + i] = input[i];
        __syncwarp(mask());
        for (int i = 0; i < kItems; ++i) output[i] = storage_[i * LogicalThreads + lane_];
    }
    template <class Out, class Rank>
    __device__ void ScatterToStriped(const T (&input)[kItems], Out (&output)[kItems],
                                     Rank (&ranks)[kItems]) {
        for (int i = 0; i < kItems; ++i) storage_[static_cast<int>(ranks[i])] = input[i];
        __syncwarp(mask());
        for (int i = 0; i < kItems; ++i) output[i] = storage_[i * LogicalThreads + lane_];
    }
    template <class Rank>
    __device__ void ScatterToStriped(T (&items)[kItems], Rank (&ranks)[kItems]) {
        ScatterToStriped(items, items, ranks);
    }

private:
    __device__ static unsigned mask() {
        const unsigned first = cpu_device::lane_id() / LogicalThreads * LogicalThreads;
        return LogicalThreads == 32 ? ~0u : ((1u << LogicalThreads % 32) - 1) << first;
    }

    TempStorage& storage_;
    int lane_;
};

}  // namespace cub
