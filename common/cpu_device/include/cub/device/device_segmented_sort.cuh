// SPDX-License-Identifier: MIT
// cub::DeviceSegmentedRadixSort and cub::DeviceSegmentedSort, on the host: each segment by itself, stable.
#pragma once
#include "cub/device/device_radix_sort.cuh"

namespace cub {
namespace detail {

template <bool is_descending, class Key, class Value, class Begins, class Ends>
cudaError_t sort_segments(const char* call, void* scratch, size_t& bytes, const Key* keys,
                          Key* sorted_keys, const Value* values, Value* sorted_values,
                          long long segments, Begins begins, Ends ends, int begin_bit, int end_bit,
                          cudaStream_t stream) {
    return run(call, scratch, bytes, stream, [=](Transfer& transfer) {
        const auto firsts = transfer.read(begins, static_cast<size_t>(segments));
        const auto lasts = transfer.read(ends, static_cast<size_t>(segments));
        const BeforeByBits<Key, is_descending> before{begin_bit, end_bit};
        for (size_t i = 0; i < lasts.size(); ++i) {
            const auto first = static_cast<ptrdiff_t>(firsts[i]),
                       last = static_cast<ptrdiff_t>(lasts[i]);
            if (last <= first) continue;
            const auto count = static_cast<size_t>(last - first);
            if constexpr (std::is_same_v<Value, NullType>) {
                sort_pairs(transfer, keys + first, sorted_keys + first, nullptr, nullptr, count,
                           before);
            } else {
                sort_pairs(transfer, keys + first, sorted_keys + first, values + first,
                           sorted_values + first, count, before);
            }
        }
    });
}

// Sorts of segments, as both classes have them: by some of the keys' bits, and by whole keys.
template <bool is_descending>
struct SegmentedSort {
    template <class Key, class Value, class Begins, class Ends>
    static cudaError_t pairs(const char* call, void* scratch, size_t& bytes, const Key* keys,
                             Key* sorted_keys, const Value* values, Value* sorted_values,
                             long long segments, Begins begins, Ends ends, int begin, int end,
                             cudaStream_t stream) {
        return sort_segments<is_descending>(call, scratch, bytes, keys, sorted_keys, values,
                                            sorted_values, segments, begins, ends, begin, end,
                                            stream);
    }
    template <class Key, class Value, class Begins, class Ends>
    static cudaError_t pairs(const char* call, void* scratch, size_t& bytes,
                             DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values,
                             long long segments, Begins begins, Ends ends, int begin, int end,
                             cudaStream_t stream) {
        const Value* const before = values.Current();
        const cudaError_t error =
            pairs(call, scratch, bytes, keys.Current(), keys.Alternate(), before,
                  values.Alternate(), segments, begins, ends, begin, end, stream);
        if (scratch != nullptr) {
            keys.selector ^= 1;
            values.selector ^= 1;
        }
        return error;
    }
    template <class Key, class Begins, class Ends>
    static cudaError_t keys(const char* call, void* scratch, size_t& bytes, const Key* keys,
                            Key* sorted_keys, long long segments, Begins begins, Ends ends,
                            int begin, int end, cudaStream_t stream) {
        return sort_segments<is_descending, Key, NullType>(call, scratch, bytes, keys, sorted_keys,
                                                           nullptr, nullptr, segments, begins, ends,
                                                           begin, end, stream);
    }
    template <class Key, class Begins, class Ends>
    static cudaError_t keys(const char* call, void* scratch, size_t& bytes, DoubleBuffer<Key>& both,
                            long long segments, Begins begins, Ends ends, int begin, int end,
                            cudaStream_t stream) {
        const cudaError_t error =
            keys(call, scratch, bytes, static_cast<const Key*>(both.Current()), both.Alternate(),
                 segments, begins, ends, begin, end, stream);
        if (scratch != nullptr) both.selector ^= 1;
        return error;
    }
};

}  // namespace detail

struct DeviceSegmentedRadixSort {
    template <class Key, class Value, class Begins, class Ends>
    static cudaError_t SortPairs(void* scratch, size_t& bytes, const Key* keys, Key* sorted_keys,
                                 const Value* values, Value* sorted_values, long long,
                                 long long segments, Begins begins, Ends ends, int begin = 0,
                                 int end = 8 * sizeof(Key), cudaStream_t stream = nullptr) {
        return detail::SegmentedSort<false>::pairs(
            "cub::DeviceSegmentedRadixSort::SortPairs", scratch, bytes, keys, sorted_keys, values,
            sorted_values, segments, begins, ends, begin, end, stream);
    }
    template <class Key, class Value, class Begins, class Ends>
    static cudaError_t SortPairsDescending(void* scratch, size_t& bytes, const Key* keys,
                                           Key* sorted_keys, const Value* values,
                                           Value* sorted_values, long long, long long segments,
                                           Begins begins, Ends ends, int begin = 0,
                                           int end = 8 * sizeof(Key),
                                           cudaStream_t stream = nullptr) {
        return detail::SegmentedSort<true>::pairs(
            "cub::DeviceSegmentedRadixSort::SortPairsDescending", scratch, bytes, keys, sorted_keys,
            values, sorted_values, segments, begins, ends, begin, end, stream);
    }
    template <class Key, class Value, class Begins, class Ends>
    static cudaError_t SortPairs(void* scratch, size_t& bytes, DoubleBuffer<Key>& keys,
                                 DoubleBuffer<Value>& values, long long, long long segments,
                                 Begins begins, Ends ends, int begin = 0, int end = 8 * sizeof(Key),
                                 cudaStream_t stream = nullptr) {
        return detail::SegmentedSort<false>::pairs("cub::DeviceSegmentedRadixSort::SortPairs",
                                                   scratch, bytes, keys, values, segments, begins,
                                                   ends, begin, end, stream);
    }
    template <class Key, class Value, class Begins, class Ends>
    static cudaError_t SortPairsDescending(void* scratch, size_t& bytes, DoubleBuffer<Key>& keys,
                                           DoubleBuffer<Value>& values, long long,
                                           long long segments, Begins begins, Ends ends,
                                           int begin = 0, int end = 8 * sizeof(Key),
                                           cudaStream_t stream = nullptr) {
        return detail::SegmentedSort<true>::pairs(
            "cub::DeviceSegmentedRadixSort::SortPairsDescending", scratch, bytes, keys, values,
            segments, begins, ends, begin, end, stream);
    }
    template <class Key, class Begins, class Ends>
    static cudaError_t SortKeys(void* scratch, size_t& bytes, const Key* keys, Key* sorted_keys,
                                long long, long long segments, Begins begins, Ends ends,
                                int begin = 0, int end = 8 * sizeof(Key),
                                cudaStream_t stream = nullptr) {
        return detail::SegmentedSort<false>::keys("cub::DeviceSegmentedRadixSort::SortKeys",
                                                  scratch, bytes, keys, sorted_keys, segments,
                                                  begins, ends, begin, end, stream);
    }
    template <class Key, class Begins, class Ends>
    static cudaError_t SortKeysDescending(void* scratch, size_t& bytes, const Key* keys,
                                          Key* sorted_keys, long long, long long segments,
                                          Begins begins, Ends ends, int begin = 0,
                                          int end = 8 * sizeof(Key),
                                          cudaStream_t stream = nullptr) {
        return detail::SegmentedSort<true>::keys(
            "cub::DeviceSegmentedRadixSort::SortKeysDescending", scratch, bytes, keys, sorted_keys,
            segments, begins, ends, begin, end, stream);
    }
};

struct DeviceSegmentedSort {
#define CUB_SEGMENTED_SORT(Name, kind, is_descending)                                             \
    template <class Key, class... Rest>                                                           \
    static cudaError_t Name(void* scratch, size_t& bytes, const Key* keys, Key* sorted_keys,      \
                            Rest... rest) {                                                       \
        return kind##_of<is_descending>("cub::DeviceSegmentedSort::" #Name, scratch, bytes, keys, \
                                        sorted_keys, rest...);                                    \
    }                                                                                             \
    template <class Key, class... Rest>                                                           \
    static cudaError_t Name(void* scratch, size_t& bytes, DoubleBuffer<Key>& keys,                \
                            Rest&&... rest) {                                                     \
        return kind##_of<is_descending>("cub::DeviceSegmentedSort::" #Name, scratch, bytes, keys, \
                                        rest...);                                                 \
    }
    CUB_SEGMENTED_SORT(SortKeys, keys, false)
    CUB_SEGMENTED_SORT(SortKeysDescending, keys, true)
    CUB_SEGMENTED_SORT(StableSortKeys, keys, false)
    CUB_SEGMENTED_SORT(StableSortKeysDescending, keys, true)
    CUB_SEGMENTED_SORT(SortPairs, pairs, false)
    CUB_SEGMENTED_SORT(SortPairsDescending, pairs, true)
    CUB_SEGMENTED_SORT(StableSortPairs, pairs, false)
    CUB_SEGMENTED_SORT(StableSortPairsDescending, pairs, true)
#undef CUB_SEGMENTED_SORT

private:
    template <bool is_descending, class Key, class Begins, class Ends>
    static cudaError_t keys_of(const char* call, void* scratch, size_t& bytes, const Key* keys,
                               Key* sorted_keys, long long, long long segments, Begins begins,
                               Ends ends, cudaStream_t stream = nullptr) {
        return detail::SegmentedSort<is_descending>::keys(call, scratch, bytes, keys, sorted_keys,
                                                          segments, begins, ends, 0,
                                                          8 * sizeof(Key), stream);
    }
    template <bool is_descending, class Key, class Begins, class Ends>
    static cudaError_t keys_of(const char* call, void* scratch, size_t& bytes,
                               DoubleBuffer<Key>& keys, long long, long long segments,
                               Begins begins, Ends ends, cudaStream_t stream = nullptr) {
        return detail::SegmentedSort<is_descending>::keys(call, scratch, bytes, keys, segments,
                                                          begins, ends, 0, 8 * sizeof(Key), stream);
    }
    template <bool is_descending, class Key, class In, class Value, class Begins, class Ends>
    static cudaError_t pairs_of(const char* call, void* scratch, size_t& bytes, const Key* keys,
                                Key* sorted_keys, In* values, Value* sorted_values, long long,
                                long long segments, Begins begins, Ends ends,
                                cudaStream_t stream = nullptr) {
        return detail::SegmentedSort<is_descending>::pairs(
            call, scratch, bytes, keys, sorted_keys, static_cast<const Value*>(values),
            sorted_values, segments, begins, ends, 0, 8 * sizeof(Key), stream);
    }
    template <bool is_descending, class Key, class Value, class Begins, class Ends>
    static cudaError_t pairs_of(const char* call, void* scratch, size_t& bytes,
                                DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values, long long,
                                long long segments, Begins begins, Ends ends,
                                cudaStream_t stream = nullptr) {
        return detail::SegmentedSort<is_descending>::pairs(
            call, scratch, bytes, keys, values, segments, begins, ends, 0, 8 * sizeof(Key), stream);
    }
};

}  // namespace cub
