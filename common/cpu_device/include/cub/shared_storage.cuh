// SPDX-License-Identifier: MIT
// How cub's collectives read and write their shared memory: in the accesses that nvcc makes of
// CUB's, so that a kernel's shared loads and stores are counted as on hardware.
//
// What nvcc 13 does for sm_90 (seen in the machine code of BlockReduce for floats, doubles, halves
// and structs, 64 to 1024 threads): neighbouring words that are read by constant offsets become one
// load of up to four words and 16 bytes, aligned to its size; three of such four are loaded as
// four. A store is as wide as its address is surely aligned. One case differs here: where the three
// stand at the end and the fourth was never written (384 and 896 threads), two loads are made of
// them.
#pragma once
#include <cstddef>
#include <type_traits>

#include "cuda_runtime.h"

namespace cub::detail {

constexpr size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

// The largest power of two, at most 16, that divides n.
constexpr size_t access_width(size_t n) {
    return n == 0 ? 16 : smaller(n & (~n + 1), 16);
}

// Memory accessed as `bytes` bytes at once, whatever is stored there.
template <size_t bytes>
struct __attribute__((may_alias, aligned(bytes))) Access {
    unsigned char data[bytes];
};

template <size_t bytes>
__device__ inline void copy_access(unsigned char* to, const unsigned char* from) {
    const Access<bytes> data = *reinterpret_cast<const Access<bytes>*>(from);
    *reinterpret_cast<Access<bytes>*>(to) = data;
}

// Copies the bytes from begin to end of storage, which is aligned to 16 bytes, to the same places
// of copy; widest is the longest access. Before begin, storage has been written.
template <size_t begin, size_t end, size_t widest>
__device__ inline void load_bytes(unsigned char* copy, const unsigned char* storage) {
    if constexpr (begin < end) {
        constexpr size_t line = begin / widest * widest;
        if constexpr (line + widest <= end && begin - line <= widest / 4) {
            copy_access<widest>(copy + line, storage + line);
            load_bytes<line + widest, end, widest>(copy, storage);
        } else {
            constexpr size_t left = end - begin;
            constexpr size_t aligned = smaller(access_width(begin), widest);
            constexpr size_t bytes = aligned <= left ? aligned
                                     : left >= 8     ? 8
                                     : left >= 4     ? 4
                                     : left >= 2     ? 2
                                                     : 1;
            copy_access<bytes>(copy + begin, storage + begin);
            load_bytes<begin + bytes, end, widest>(copy, storage);
        }
    }
}

template <size_t bytes, size_t width>
__device__ inline void store_bytes(unsigned char* to, const unsigned char* from) {
    for (size_t done = 0; done < bytes; done += width) copy_access<width>(to + done, from + done);
}

// One T for each warp, at `offset` of a storage that is aligned to 16 bytes.
template <class T, int warps, size_t offset>
struct WarpSlots {
    static_assert(std::is_trivially_copyable_v<T>,
                  "cub's collectives take types that are copied bit by bit");

    static constexpr size_t end = offset + warps * sizeof(T);

    __device__ static void store(unsigned char* storage, int warp, const T& value) {
        constexpr size_t width = access_width(offset | sizeof(T));
        alignas(16) unsigned char copy[sizeof(T)];
        __builtin_memcpy(copy, &value, sizeof(T));
        store_bytes<sizeof(T), width>(storage + offset + warp * sizeof(T), copy);
    }

    // All slots from `first` on, loaded once.
    template <int first>
    class Loaded {
    public:
        __device__ explicit Loaded(const unsigned char* storage) {
            constexpr size_t widest = smaller(4 * alignof(T), 16);
            load_bytes<offset + first * sizeof(T), end, widest>(copy_, storage);
        }
        // Into value, because T need not have a default constructor.
        __device__ void get(int warp, T& value) const {
            __builtin_memcpy(&value, copy_ + offset + warp * sizeof(T), sizeof(T));
        }

    private:
        alignas(16) unsigned char copy_[end];
    };
};

constexpr size_t round_up(size_t n, size_t alignment) {
    return (n + alignment - 1) / alignment * alignment;
}

// Where this thread stands in the block, x fastest. The block must have the size that the
// collective was made for: on hardware anything may happen otherwise.
template <int x, int y, int z>
__device__ inline int thread_in_block(const char* collective) {
    if (blockDim.x != x || blockDim.y != y || blockDim.z != z) {
        cpu_device::fail(cudaErrorInvalidValue,
                         "%s is made for blocks of (%d,%d,%d) threads, this one has (%u,%u,%u)",
                         collective, x, y, z, blockDim.x, blockDim.y, blockDim.z);
    }
    return static_cast<int>((threadIdx.z * y + threadIdx.y) * x + threadIdx.x);
}

}  // namespace cub::detail
