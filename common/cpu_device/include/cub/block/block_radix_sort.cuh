// SPDX-License-Identifier: MIT
// cub::BlockRadixSort: stable, by digits of four bits, the lowest first. For each digit every thread counts its own items
// by value, a scan over all threads' counts ranks them, and the items go to their ranks through shared memory. (CUB packs
// several counts in a word, so its shared accesses are fewer.)
#pragma once
#include "cub/block/block_exchange.cuh"
#include "cub/block/block_scan.cuh"
#include "cub/radix_key.cuh"
#include "cub/util_type.cuh"

namespace cub {

template <class Key, int BlockDimX, int ItemsPerThread, class Value = NullType, int RadixBits = 4,
          bool MemoizeOuterScan = true, BlockScanAlgorithm Algorithm = BLOCK_SCAN_WARP_SCANS,
          int SharedBankWidth = 0, int BlockDimY = 1, int BlockDimZ = 1, int LegacyPtxArch = 0>
class BlockRadixSort {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;
    static constexpr int kItems = ItemsPerThread;
    static constexpr int kDigits = 1 << RadixBits;
    static constexpr bool kHasValues = !std::is_same_v<Value, NullType>;

    using Scan = BlockScan<int, BlockDimX, BLOCK_SCAN_WARP_SCANS, BlockDimY, BlockDimZ>;
    using KeyExchange = BlockExchange<Key, BlockDimX, kItems, false, BlockDimY, BlockDimZ>;
    using ValueExchange = BlockExchange<Value, BlockDimX, kItems, false, BlockDimY, BlockDimZ>;

    struct Ranking {
        unsigned short counts[kDigits * kThreads];  // of each digit by thread
        typename Scan::TempStorage scan;
    };

public:
    union TempStorage {
        Ranking ranking;
        typename KeyExchange::TempStorage keys;
        typename ValueExchange::TempStorage values;
    };

    __device__ BlockRadixSort() : BlockRadixSort(private_storage()) {}
    __device__ explicit BlockRadixSort(TempStorage& storage)
        : storage_(storage),
          thread_(detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>("cub::BlockRadixSort")) {
    }

    __device__ void Sort(Key (&keys)[kItems], int begin = 0, int end = 8 * sizeof(Key)) {
        sort<false, false>(keys, none_, begin, end);
    }
    __device__ void Sort(Key (&keys)[kItems], Value (&values)[kItems], int begin = 0,
                         int end = 8 * sizeof(Key)) {
        sort<false, false>(keys, values, begin, end);
    }
    __device__ void SortDescending(Key (&keys)[kItems], int begin = 0, int end = 8 * sizeof(Key)) {
        sort<true, false>(keys, none_, begin, end);
    }
    __device__ void SortDescending(Key (&keys)[kItems], Value (&values)[kItems], int begin = 0,
                                   int end = 8 * sizeof(Key)) {
        sort<true, false>(keys, values, begin, end);
    }
    __device__ void SortBlockedToStriped(Key (&keys)[kItems], int begin = 0,
                                         int end = 8 * sizeof(Key)) {
        sort<false, true>(keys, none_, begin, end);
    }
    __device__ void SortBlockedToStriped(Key (&keys)[kItems], Value (&values)[kItems],
                                         int begin = 0, int end = 8 * sizeof(Key)) {
        sort<false, true>(keys, values, begin, end);
    }
    __device__ void SortDescendingBlockedToStriped(Key (&keys)[kItems], int begin = 0,
                                                   int end = 8 * sizeof(Key)) {
        sort<true, true>(keys, none_, begin, end);
    }
    __device__ void SortDescendingBlockedToStriped(Key (&keys)[kItems], Value (&values)[kItems],
                                                   int begin = 0, int end = 8 * sizeof(Key)) {
        sort<true, true>(keys, values, begin, end);
    }

private:
    __device__ static TempStorage& private_storage() {
        __shared__ TempStorage storage;
        return storage;
    }

    template <bool is_descending, bool to_striped, class Values>
    __device__ void sort(Key (&keys)[kItems], Values& values, int begin, int end) {
        for (int bit = begin; bit < end; bit += RadixBits) {
            const int digit_bits = end - bit < RadixBits ? end - bit : RadixBits;
            int ranks[kItems];
            rank<is_descending>(keys, ranks, bit, digit_bits);
            __syncthreads();
            const bool is_last = bit + RadixBits >= end;
            move<KeyExchange>(storage_.keys, keys, ranks, to_striped && is_last);
            if constexpr (!std::is_same_v<Values, NullType>) {
                __syncthreads();
                move<ValueExchange>(storage_.values, values, ranks, to_striped && is_last);
            }
            if (!is_last) __syncthreads();
        }
    }
    template <class Exchange, class T>
    __device__ void move(typename Exchange::TempStorage& storage, T (&items)[kItems],
                         int (&ranks)[kItems], bool to_striped) {
        if (to_striped) {
            Exchange(storage).ScatterToStriped(items, items, ranks);
        } else {
            Exchange(storage).ScatterToBlocked(items, items, ranks);
        }
    }

    template <bool is_descending>
    __device__ void rank(const Key (&keys)[kItems], int (&ranks)[kItems], int bit, int digit_bits) {
        unsigned short* const counts = storage_.ranking.counts;
        for (int digit = 0; digit < kDigits; ++digit) counts[digit * kThreads + thread_] = 0;
        int places[kItems];
        for (int i = 0; i < kItems; ++i) {
            int digit = static_cast<int>(detail::bits_of_key(keys[i], bit, bit + digit_bits));
            if (is_descending) digit = kDigits - 1 - digit;
            places[i] = digit * kThreads + thread_;
            ranks[i] = counts[places[i]];
            counts[places[i]] = static_cast<unsigned short>(ranks[i] + 1);
        }
        __syncthreads();
        // Each thread sums neighbours of the whole table, which is in the order of the ranks.
        int sum = 0;
        for (int i = 0; i < kDigits; ++i) sum += counts[thread_ * kDigits + i];
        int below = 0;
        Scan(storage_.ranking.scan).ExclusiveSum(sum, below);
        for (int i = 0; i < kDigits; ++i) {
            const int count = counts[thread_ * kDigits + i];
            counts[thread_ * kDigits + i] = static_cast<unsigned short>(below);
            below += count;
        }
        __syncthreads();
        for (int i = 0; i < kItems; ++i) ranks[i] += counts[places[i]];
    }

    TempStorage& storage_;
    int thread_;
    NullType none_;
};

}  // namespace cub
