// SPDX-License-Identifier: MIT
// cub::BlockMergeSort and cub::WarpMergeSort: stable, by an operator. Each thread sorts its own items; then in each round
// two sorted runs become one of twice the length, in which every thread finds where its items begin and merges them.
#pragma once
#include "cub/shared_storage.cuh"
#include "cub/util_type.cuh"
#include "cuda_runtime.h"

namespace cub {
namespace detail {

template <class Key, int threads, int items, class Value, class Sync>
class MergeSort {
    static constexpr bool kHasValues = !std::is_same_v<Value, NullType>;

public:
    union TempStorage {
        alignas(16) unsigned char keys[threads * items * sizeof(Key)];
        alignas(16) unsigned char values[threads * items * sizeof(Value)];
    };

    template <class Values, class Less>
    __device__ static void sort(TempStorage& storage, int thread, Key (&keys)[items],
                                Values& values, Less less) {
        // Insertion, which is stable and needs no index at run time but in registers.
        for (int i = 1; i < items; ++i) {
            for (int j = i; j > 0; --j) {
                if (!less(keys[j], keys[j - 1])) continue;
                swap_items(keys[j], keys[j - 1]);
                if constexpr (kHasValues) swap_items(values[j], values[j - 1]);
            }
        }
        Key* const shared_keys = reinterpret_cast<Key*>(storage.keys);
        for (int merged = 2; merged <= threads; merged *= 2) {
            Sync()();
            for (int i = 0; i < items; ++i) shared_keys[thread * items + i] = keys[i];
            Sync()();
            const int first = (thread & ~(merged - 1)) * items;
            const int run = merged / 2 * items;
            const int diagonal = thread * items - first;
            int left = diagonal > run ? diagonal - run : 0;
            for (int most = diagonal < run ? diagonal : run; left < most;) {
                const int middle = (left + most) / 2;
                if (less(shared_keys[first + run + diagonal - 1 - middle],
                         shared_keys[first + middle])) {
                    most = middle;
                } else {
                    left = middle + 1;
                }
            }
            int right = diagonal - left;
            int sources[items];
            for (int i = 0; i < items; ++i) {
                const bool takes_right =
                    left >= run || (right < run && less(shared_keys[first + run + right],
                                                        shared_keys[first + left]));
                sources[i] = takes_right ? first + run + right++ : first + left++;
                keys[i] = shared_keys[sources[i]];
            }
            if constexpr (kHasValues) {
                Value* const shared_values = reinterpret_cast<Value*>(storage.values);
                Sync()();
                for (int i = 0; i < items; ++i) shared_values[thread * items + i] = values[i];
                Sync()();
                for (int i = 0; i < items; ++i) values[i] = shared_values[sources[i]];
            }
        }
    }

private:
    template <class T>
    __device__ static void swap_items(T& a, T& b) {
        const T kept = a;
        a = b;
        b = kept;
    }
};

struct SyncBlock {
    __device__ void operator()() const { __syncthreads(); }
};
struct SyncWarp {
    __device__ void operator()() const { __syncwarp(); }
};

// What a block's sort and a warp's have in common. Of `valid` items the rest are as large as `beyond`.
template <class Key, int threads, int items, class Value, class Sync>
class MergeSortOf {
    using Sorting = MergeSort<Key, threads, items, Value, Sync>;
    static_assert((threads & (threads - 1)) == 0, "cub's merge sorts take powers of two threads");

public:
    using TempStorage = typename Sorting::TempStorage;

    template <class Less>
    __device__ void Sort(Key (&keys)[items], Less less) {
        NullType none;
        static_assert(std::is_same_v<Value, NullType>, "this sort has values");
        Sorting::sort(storage_, thread_, keys, none, less);
    }
    template <class Less>
    __device__ void Sort(Key (&keys)[items], Less less, int valid, Key beyond) {
        fill(keys, valid, beyond);
        Sort(keys, less);
    }
    template <class Less>
    __device__ void Sort(Key (&keys)[items], Value (&values)[items], Less less) {
        Sorting::sort(storage_, thread_, keys, values, less);
    }
    template <class Less>
    __device__ void Sort(Key (&keys)[items], Value (&values)[items], Less less, int valid,
                         Key beyond) {
        fill(keys, valid, beyond);
        Sort(keys, values, less);
    }
    template <class... Arguments>
    __device__ void StableSort(Key (&keys)[items], Arguments&&... arguments) {
        Sort(keys, arguments...);
    }

protected:
    __device__ MergeSortOf(TempStorage& storage, int thread) : storage_(storage), thread_(thread) {}

private:
    __device__ void fill(Key (&keys)[items], int valid, const Key& beyond) {
        for (int i = 0; i < items; ++i) {
            if (thread_ * items + i >= valid) keys[i] = beyond;
        }
    }

    TempStorage& storage_;
    int thread_;
};

}  // namespace detail

template <class Key, int BlockDimX, int ItemsPerThread, class Value = NullType, int BlockDimY = 1,
          int BlockDimZ = 1>
class BlockMergeSort : public detail::MergeSortOf<Key, BlockDimX * BlockDimY * BlockDimZ,
                                                  ItemsPerThread, Value, detail::SyncBlock> {
    using Base = detail::MergeSortOf<Key, BlockDimX * BlockDimY * BlockDimZ, ItemsPerThread, Value,
                                     detail::SyncBlock>;

public:
    using typename Base::TempStorage;
    __device__ BlockMergeSort() : BlockMergeSort(private_storage()) {}
    __device__ explicit BlockMergeSort(TempStorage& storage)
        : Base(storage,
               detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>("cub::BlockMergeSort")) {}

private:
    __device__ static TempStorage& private_storage() {
        __shared__ TempStorage storage;
        return storage;
    }
};

template <class Key, int ItemsPerThread, int LogicalThreads = 32, class Value = NullType>
class WarpMergeSort
    : public detail::MergeSortOf<Key, LogicalThreads, ItemsPerThread, Value, detail::SyncWarp> {
    using Base = detail::MergeSortOf<Key, LogicalThreads, ItemsPerThread, Value, detail::SyncWarp>;

public:
    using typename Base::TempStorage;
    __device__ explicit WarpMergeSort(TempStorage& storage)
        : Base(storage, static_cast<int>(cpu_device::lane_id()) % LogicalThreads) {}
};

}  // namespace cub
