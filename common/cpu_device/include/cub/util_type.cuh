// SPDX-License-Identifier: MIT
// CUB's small types: buffers of two halves, traits of numbers, constants of the compiler's.
#pragma once
#include <limits>
#include <type_traits>

#include "cub/operators.cuh"
#include "cub/radix_key.cuh"
#include "cub/util_macro.cuh"

namespace cub {

struct NullType {};

template <bool condition, class Then, class Else>
struct If {
    using Type = std::conditional_t<condition, Then, Else>;
};
template <class A, class B>
struct Equals {
    enum { VALUE = std::is_same_v<A, B>, NEGATE = !VALUE };
};
template <int value>
struct Int2Type {
    enum { VALUE = value };
};
template <int n>
struct PowerOfTwo {
    enum { VALUE = (n & (n - 1)) == 0 };
};
// The least power of two's that is at least n.
template <int n>
struct Log2 {
    static constexpr int of(int rest) { return rest <= 1 ? 0 : 1 + of((rest + 1) / 2); }
    enum { VALUE = of(n) };
};

// Two places for data: which of them has it now is the selector's to say.
template <class T>
struct DoubleBuffer {
    T* d_buffers[2] = {nullptr, nullptr};
    int selector = 0;

    __host__ __device__ DoubleBuffer() {}
    __host__ __device__ DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
    __host__ __device__ T* Current() { return d_buffers[selector]; }
    __host__ __device__ T* Alternate() { return d_buffers[selector ^ 1]; }
};

// Memory of a T that no constructor has seen.
template <class T>
struct Uninitialized {
    alignas(T) unsigned char storage[sizeof(T)];
    __host__ __device__ T& Alias() { return reinterpret_cast<T&>(*this); }
};

enum Category { NOT_A_NUMBER, SIGNED_INTEGER, UNSIGNED_INTEGER, FLOATING_POINT };

// Numbers and their bits in the order of a radix sort.
template <class T>
struct NumericTraits {
    static constexpr bool kIsNumber = std::numeric_limits<T>::is_specialized;
    static constexpr Category CATEGORY = !kIsNumber                            ? NOT_A_NUMBER
                                         : !std::numeric_limits<T>::is_integer ? FLOATING_POINT
                                         : std::numeric_limits<T>::is_signed   ? SIGNED_INTEGER
                                                                               : UNSIGNED_INTEGER;
    enum { PRIMITIVE = kIsNumber, NULL_TYPE = std::is_same_v<T, NullType> };
    using UnsignedBits = detail::KeyBits<sizeof(T)>;

    __host__ __device__ static UnsignedBits TwiddleIn(UnsignedBits bits) {
        T key;
        __builtin_memcpy(&key, &bits, sizeof key);
        return detail::ordered_bits(key);
    }
    __host__ __device__ static UnsignedBits TwiddleOut(UnsignedBits bits) {
        const T key = detail::key_of_ordered_bits<T>(bits);
        __builtin_memcpy(&bits, &key, sizeof bits);
        return bits;
    }
    __host__ __device__ static T Max() { return std::numeric_limits<T>::max(); }
    __host__ __device__ static T Lowest() { return std::numeric_limits<T>::lowest(); }
};
template <class T>
struct Traits : NumericTraits<std::remove_cv_t<T>> {};

}  // namespace cub
