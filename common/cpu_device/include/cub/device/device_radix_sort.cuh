// SPDX-License-Identifier: MIT
// cub::DeviceRadixSort and its like for segments, on the host: stable, by bits of the keys.
#pragma once
#include <algorithm>
#include <numeric>

#include "cub/device/staged.cuh"
#include "cub/radix_key.cuh"
#include "cub/util_type.cuh"

namespace cub {
namespace detail {

// The places of the keys in order. `before(a, b)` compares two of them.
template <class Keys, class Before>
std::vector<size_t> sorted_places(const Keys& keys, Before before) {
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return before(keys[a], keys[b]); });
    return order;
}

template <class Values>
Values in_order(const Values& values, const std::vector<size_t>& order) {
    Values sorted;
    sorted.reserve(values.size());
    for (const size_t i : order) {
        if (i < values.size()) sorted.push_back(values[i]);
    }
    return sorted;
}

// Sorts keys, and values where they are not nullptr.
template <class Keys, class SortedKeys, class Values, class SortedValues, class Before>
void sort_pairs(Transfer& transfer, Keys keys, SortedKeys sorted_keys, Values values,
                SortedValues sorted_values, size_t count, Before before) {
    const auto all_keys = transfer.read(keys, count);
    const std::vector<size_t> order = sorted_places(all_keys, before);
    if constexpr (std::is_same_v<Values, std::nullptr_t>) {
        transfer.write(sorted_keys, in_order(all_keys, order));
    } else {
        const auto all_values = transfer.read(values, count);
        transfer.write(sorted_keys, in_order(all_keys, order));
        transfer.write(sorted_values, in_order(all_values, order));
    }
}

template <class Key, bool is_descending>
struct BeforeByBits {
    int begin, end;
    bool operator()(const Key& a, const Key& b) const {
        const auto x = bits_of_key(a, begin, end), y = bits_of_key(b, begin, end);
        return is_descending ? y < x : x < y;
    }
};

}  // namespace detail

struct DeviceRadixSort {
    template <class Key, class Value>
    static cudaError_t SortPairs(void* scratch, size_t& bytes, const Key* keys, Key* sorted_keys,
                                 const Value* values, Value* sorted_values, long long count,
                                 int begin = 0, int end = 8 * sizeof(Key),
                                 cudaStream_t stream = nullptr) {
        return sort<false>("cub::DeviceRadixSort::SortPairs", scratch, bytes, keys, sorted_keys,
                           values, sorted_values, count, begin, end, stream);
    }
    template <class Key, class Value>
    static cudaError_t SortPairsDescending(void* scratch, size_t& bytes, const Key* keys,
                                           Key* sorted_keys, const Value* values,
                                           Value* sorted_values, long long count, int begin = 0,
                                           int end = 8 * sizeof(Key),
                                           cudaStream_t stream = nullptr) {
        return sort<true>("cub::DeviceRadixSort::SortPairsDescending", scratch, bytes, keys,
                          sorted_keys, values, sorted_values, count, begin, end, stream);
    }
    template <class Key>
    static cudaError_t SortKeys(void* scratch, size_t& bytes, const Key* keys, Key* sorted,
                                long long count, int begin = 0, int end = 8 * sizeof(Key),
                                cudaStream_t stream = nullptr) {
        return sort<false>("cub::DeviceRadixSort::SortKeys", scratch, bytes, keys, sorted, nullptr,
                           nullptr, count, begin, end, stream);
    }
    template <class Key>
    static cudaError_t SortKeysDescending(void* scratch, size_t& bytes, const Key* keys,
                                          Key* sorted, long long count, int begin = 0,
                                          int end = 8 * sizeof(Key),
                                          cudaStream_t stream = nullptr) {
        return sort<true>("cub::DeviceRadixSort::SortKeysDescending", scratch, bytes, keys, sorted,
                          nullptr, nullptr, count, begin, end, stream);
    }

    // Between the two halves of a buffer.
    template <class Key, class Value>
    static cudaError_t SortPairs(void* scratch, size_t& bytes, DoubleBuffer<Key>& keys,
                                 DoubleBuffer<Value>& values, long long count, int begin = 0,
                                 int end = 8 * sizeof(Key), cudaStream_t stream = nullptr) {
        return sort<false>("cub::DeviceRadixSort::SortPairs", scratch, bytes, keys, values, count,
                           begin, end, stream);
    }
    template <class Key, class Value>
    static cudaError_t SortPairsDescending(void* scratch, size_t& bytes, DoubleBuffer<Key>& keys,
                                           DoubleBuffer<Value>& values, long long count,
                                           int begin = 0, int end = 8 * sizeof(Key),
                                           cudaStream_t stream = nullptr) {
        return sort<true>("cub::DeviceRadixSort::SortPairsDescending", scratch, bytes, keys, values,
                          count, begin, end, stream);
    }
    template <class Key>
    static cudaError_t SortKeys(void* scratch, size_t& bytes, DoubleBuffer<Key>& keys,
                                long long count, int begin = 0, int end = 8 * sizeof(Key),
                                cudaStream_t stream = nullptr) {
        return sort<false>("cub::DeviceRadixSort::SortKeys", scratch, bytes, keys, count, begin,
                           end, stream);
    }
    template <class Key>
    static cudaError_t SortKeysDescending(void* scratch, size_t& bytes, DoubleBuffer<Key>& keys,
                                          long long count, int begin = 0, int end = 8 * sizeof(Key),
                                          cudaStream_t stream = nullptr) {
        return sort<true>("cub::DeviceRadixSort::SortKeysDescending", scratch, bytes, keys, count,
                          begin, end, stream);
    }

private:
    template <bool is_descending, class Key, class Values, class SortedValues>
    static cudaError_t sort(const char* call, void* scratch, size_t& bytes, const Key* keys,
                            Key* sorted_keys, Values values, SortedValues sorted_values,
                            long long count, int begin, int end, cudaStream_t stream) {
        return detail::run(call, scratch, bytes, stream, [=](detail::Transfer& transfer) {
            detail::sort_pairs(transfer, keys, sorted_keys, values, sorted_values,
                               static_cast<size_t>(count),
                               detail::BeforeByBits<Key, is_descending>{begin, end});
        });
    }
    template <bool is_descending, class Key, class Value>
    static cudaError_t sort(const char* call, void* scratch, size_t& bytes, DoubleBuffer<Key>& keys,
                            DoubleBuffer<Value>& values, long long count, int begin, int end,
                            cudaStream_t stream) {
        const cudaError_t error =
            sort<is_descending, Key>(call, scratch, bytes, keys.Current(), keys.Alternate(),
                                     static_cast<const Value*>(values.Current()),
                                     values.Alternate(), count, begin, end, stream);
        if (scratch != nullptr) {
            keys.selector ^= 1;
            values.selector ^= 1;
        }
        return error;
    }
    template <bool is_descending, class Key>
    static cudaError_t sort(const char* call, void* scratch, size_t& bytes, DoubleBuffer<Key>& keys,
                            long long count, int begin, int end, cudaStream_t stream) {
        const cudaError_t error =
            sort<is_descending, Key>(call, scratch, bytes, keys.Current(), keys.Alternate(),
                                     nullptr, nullptr, count, begin, end, stream);
        if (scratch != nullptr) keys.selector ^= 1;
        return error;
    }
};

}  // namespace cub
