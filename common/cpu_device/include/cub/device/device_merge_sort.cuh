// SPDX-License-Identifier: MIT
// cub::DeviceMergeSort, on the host: stable, by an operator.
#pragma once
#include "cub/device/device_radix_sort.cuh"

namespace cub {

struct DeviceMergeSort {
    template <class Keys, class Values, class Less>
    static cudaError_t SortPairs(void* scratch, size_t& bytes, Keys keys, Values values,
                                 long long count, Less less, cudaStream_t stream = nullptr) {
        return sort("cub::DeviceMergeSort::SortPairs", scratch, bytes, keys, values, keys, values,
                    count, less, stream);
    }
    template <class Keys, class Values, class SortedKeys, class SortedValues, class Less>
    static cudaError_t SortPairsCopy(void* scratch, size_t& bytes, Keys keys, Values values,
                                     SortedKeys sorted_keys, SortedValues sorted_values,
                                     long long count, Less less, cudaStream_t stream = nullptr) {
        return sort("cub::DeviceMergeSort::SortPairsCopy", scratch, bytes, keys, values,
                    sorted_keys, sorted_values, count, less, stream);
    }
    template <class Keys, class Less>
    static cudaError_t SortKeys(void* scratch, size_t& bytes, Keys keys, long long count, Less less,
                                cudaStream_t stream = nullptr) {
        return sort("cub::DeviceMergeSort::SortKeys", scratch, bytes, keys, nullptr, keys, nullptr,
                    count, less, stream);
    }
    template <class Keys, class SortedKeys, class Less>
    static cudaError_t SortKeysCopy(void* scratch, size_t& bytes, Keys keys, SortedKeys sorted_keys,
                                    long long count, Less less, cudaStream_t stream = nullptr) {
        return sort("cub::DeviceMergeSort::SortKeysCopy", scratch, bytes, keys, nullptr,
                    sorted_keys, nullptr, count, less, stream);
    }
    template <class Keys, class Values, class Less>
    static cudaError_t StableSortPairs(void* scratch, size_t& bytes, Keys keys, Values values,
                                       long long count, Less less, cudaStream_t stream = nullptr) {
        return SortPairs(scratch, bytes, keys, values, count, less, stream);
    }
    template <class Keys, class Less>
    static cudaError_t StableSortKeys(void* scratch, size_t& bytes, Keys keys, long long count,
                                      Less less, cudaStream_t stream = nullptr) {
        return SortKeys(scratch, bytes, keys, count, less, stream);
    }
    template <class Keys, class SortedKeys, class Less>
    static cudaError_t StableSortKeysCopy(void* scratch, size_t& bytes, Keys keys,
                                          SortedKeys sorted_keys, long long count, Less less,
                                          cudaStream_t stream = nullptr) {
        return SortKeysCopy(scratch, bytes, keys, sorted_keys, count, less, stream);
    }

private:
    template <class Keys, class Values, class SortedKeys, class SortedValues, class Less>
    static cudaError_t sort(const char* call, void* scratch, size_t& bytes, Keys keys,
                            Values values, SortedKeys sorted_keys, SortedValues sorted_values,
                            long long count, Less less, cudaStream_t stream) {
        return detail::run(call, scratch, bytes, stream, [=](detail::Transfer& transfer) mutable {
            detail::sort_pairs(
                transfer, keys, sorted_keys, values, sorted_values, static_cast<size_t>(count),
                [&](const auto& a, const auto& b) { return static_cast<bool>(less(a, b)); });
        });
    }
};

}  // namespace cub
