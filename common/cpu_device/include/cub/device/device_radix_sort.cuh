// SPDX-License-Identifier: MIT
// cub::DeviceRadixSort for pointers, whole keys and on the host.
#pragma once
#include <algorithm>
#include <numeric>

#include "cub/device/staged.cuh"

namespace cub {

struct DeviceRadixSort {
    template <class Key, class Value>
    static cudaError_t SortPairs(void* scratch, size_t& bytes, const Key* keys, Key* sorted_keys,
                                 const Value* values, Value* sorted_values, long long count,
                                 int = 0, int = 8 * sizeof(Key), cudaStream_t = nullptr) {
        return sort(scratch, bytes, keys, sorted_keys, values, sorted_values, count, false);
    }
    template <class Key, class Value>
    static cudaError_t SortPairsDescending(void* scratch, size_t& bytes, const Key* keys,
                                           Key* sorted_keys, const Value* values,
                                           Value* sorted_values, long long count, int = 0,
                                           int = 8 * sizeof(Key), cudaStream_t = nullptr) {
        return sort(scratch, bytes, keys, sorted_keys, values, sorted_values, count, true);
    }
    template <class Key>
    static cudaError_t SortKeys(void* scratch, size_t& bytes, const Key* keys, Key* sorted,
                                long long count, int = 0, int = 8 * sizeof(Key),
                                cudaStream_t = nullptr) {
        return sort<Key, char>(scratch, bytes, keys, sorted, nullptr, nullptr, count, false);
    }
    template <class Key>
    static cudaError_t SortKeysDescending(void* scratch, size_t& bytes, const Key* keys,
                                          Key* sorted, long long count, int = 0,
                                          int = 8 * sizeof(Key), cudaStream_t = nullptr) {
        return sort<Key, char>(scratch, bytes, keys, sorted, nullptr, nullptr, count, true);
    }

private:
    // Stable, as CUB's; values may be none.
    template <class Key, class Value>
    static cudaError_t sort(void* scratch, size_t& bytes, const Key* keys, Key* sorted_keys,
                            const Value* values, Value* sorted_values, long long count,
                            bool descending) {
        if (detail::asks_for_bytes(scratch, bytes)) return cudaSuccess;
        cudaError_t error = cudaSuccess;
        const auto size = static_cast<size_t>(count);
        const std::vector<Key> before = detail::read<Key>(keys, size, error);
        std::vector<size_t> order(size);
        std::iota(order.begin(), order.end(), size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            return descending ? before[b] < before[a] : before[a] < before[b];
        });
        std::vector<Key> after;
        for (const size_t i : order) after.push_back(before[i]);
        detail::write<Key>(sorted_keys, after, error);
        if (values == nullptr) return error;
        const std::vector<Value> values_before = detail::read<Value>(values, size, error);
        std::vector<Value> values_after;
        for (const size_t i : order) values_after.push_back(values_before[i]);
        detail::write<Value>(sorted_values, values_after, error);
        return error;
    }
};

}  // namespace cub
