// SPDX-License-Identifier: MIT
// CUB's iterators over what is computed: whole numbers, a constant, results of an operator, elements with their places;
// and one that forgets what is written.
#pragma once
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include "cub/operators.cuh"

namespace cub {
namespace detail {

// What random access needs of an iterator that knows `at(place)`.
template <class Iterator, class Value, class Reference = Value>
struct ComputedIterator {
    using value_type = Value;
    using reference = Reference;
    using pointer = Value*;
    using difference_type = ptrdiff_t;
    using iterator_category = std::random_access_iterator_tag;

    ptrdiff_t place = 0;

    __host__ __device__ Reference operator*() const { return self().at(place); }
    __host__ __device__ Reference operator[](ptrdiff_t offset) const {
        return self().at(place + offset);
    }
    __host__ __device__ Iterator& operator+=(ptrdiff_t offset) {
        place += offset;
        return static_cast<Iterator&>(*this);
    }
    __host__ __device__ Iterator& operator-=(ptrdiff_t offset) { return *this += -offset; }
    __host__ __device__ Iterator& operator++() { return *this += 1; }
    __host__ __device__ Iterator& operator--() { return *this += -1; }
    __host__ __device__ Iterator operator++(int) {
        const Iterator before = self();
        place += 1;
        return before;
    }
    __host__ __device__ Iterator operator+(ptrdiff_t offset) const {
        Iterator moved = self();
        return moved += offset;
    }
    __host__ __device__ Iterator operator-(ptrdiff_t offset) const { return *this + -offset; }
    __host__ __device__ ptrdiff_t operator-(const ComputedIterator& other) const {
        return place - other.place;
    }
    __host__ __device__ bool operator==(const ComputedIterator& other) const {
        return place == other.place;
    }
    __host__ __device__ bool operator!=(const ComputedIterator& other) const {
        return place != other.place;
    }
    __host__ __device__ bool operator<(const ComputedIterator& other) const {
        return place < other.place;
    }

private:
    __host__ __device__ const Iterator& self() const { return static_cast<const Iterator&>(*this); }
};

}  // namespace detail

template <class T, class Offset = ptrdiff_t>
struct CountingInputIterator : detail::ComputedIterator<CountingInputIterator<T, Offset>, T> {
    T first;
    __host__ __device__ explicit CountingInputIterator(const T& from) : first(from) {}
    __host__ __device__ T at(ptrdiff_t i) const {
        return static_cast<T>(first + static_cast<T>(i));
    }
};

template <class T, class Offset = ptrdiff_t>
struct ConstantInputIterator : detail::ComputedIterator<ConstantInputIterator<T, Offset>, T> {
    T value;
    __host__ __device__ explicit ConstantInputIterator(const T& constant, Offset = 0)
        : value(constant) {}
    __host__ __device__ T at(ptrdiff_t) const { return value; }
};

template <class T, class Operation, class Iterator, class Offset = ptrdiff_t>
struct TransformInputIterator
    : detail::ComputedIterator<TransformInputIterator<T, Operation, Iterator, Offset>, T> {
    Iterator input;
    mutable Operation operation;
    __host__ __device__ TransformInputIterator(Iterator from, Operation by)
        : input(from), operation(by) {}
    __host__ __device__ T at(ptrdiff_t i) const { return static_cast<T>(operation(input[i])); }
};

template <class Iterator, class Offset = ptrdiff_t,
          class T = typename std::iterator_traits<Iterator>::value_type>
struct ArgIndexInputIterator : detail::ComputedIterator<ArgIndexInputIterator<Iterator, Offset, T>,
                                                        KeyValuePair<Offset, T>> {
    Iterator input;
    __host__ __device__ explicit ArgIndexInputIterator(Iterator from) : input(from) {}
    __host__ __device__ KeyValuePair<Offset, T> at(ptrdiff_t i) const {
        return {static_cast<Offset>(i), static_cast<T>(input[i])};
    }
};

namespace detail {

struct Forgets {
    template <class T>
    __host__ __device__ const Forgets& operator=(const T&) const {
        return *this;
    }
};

}  // namespace detail

template <class Offset = ptrdiff_t>
struct DiscardOutputIterator
    : detail::ComputedIterator<DiscardOutputIterator<Offset>, void, detail::Forgets> {
    __host__ __device__ explicit DiscardOutputIterator(Offset = 0) {}
    __host__ __device__ detail::Forgets at(ptrdiff_t) const { return {}; }
};

// Modifiers of caches are hints, and there are no caches here.
enum CacheLoadModifier {
    LOAD_DEFAULT,
    LOAD_CA,
    LOAD_CG,
    LOAD_CS,
    LOAD_CV,
    LOAD_LDG,
    LOAD_VOLATILE
};
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

template <CacheLoadModifier modifier, class Iterator>
__device__ inline auto ThreadLoad(Iterator from) {
    using T = typename std::iterator_traits<Iterator>::value_type;
    if constexpr (modifier == LOAD_VOLATILE && std::is_arithmetic_v<T>) {
        return *static_cast<const volatile T*>(from);
    } else {
        return T(*from);
    }
}
template <CacheStoreModifier modifier, class Iterator, class T>
__device__ inline void ThreadStore(Iterator to, T value) {
    if constexpr (modifier == STORE_VOLATILE && std::is_arithmetic_v<T>) {
        *static_cast<volatile T*>(to) = value;
    } else {
        *to = value;
    }
}

template <CacheLoadModifier modifier, class T, class Offset = ptrdiff_t>
struct CacheModifiedInputIterator
    : detail::ComputedIterator<CacheModifiedInputIterator<modifier, T, Offset>, T> {
    const T* input;
    __host__ __device__ explicit CacheModifiedInputIterator(const T* from) : input(from) {}
    __host__ __device__ T at(ptrdiff_t i) const { return input[i]; }
};
template <CacheStoreModifier modifier, class T, class Offset = ptrdiff_t>
struct CacheModifiedOutputIterator
    : detail::ComputedIterator<CacheModifiedOutputIterator<modifier, T, Offset>, T, T&> {
    T* output;
    __host__ __device__ explicit CacheModifiedOutputIterator(T* to) : output(to) {}
    __host__ __device__ T& at(ptrdiff_t i) const { return output[i]; }
};

}  // namespace cub
