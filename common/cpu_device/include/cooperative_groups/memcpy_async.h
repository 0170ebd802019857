// SPDX-License-Identifier: MIT
// cooperative_groups::memcpy_async and wait. The copy is done at once, by plain loads and stores of
// the group's threads in turn: these are what the memory hooks see, where hardware may copy to
// shared memory without passing through registers.
#pragma once
#include "cooperative_groups.h"

namespace cooperative_groups {

namespace details {

template <class Word, class Group>
__device__ inline void copy_words(const Group& group, void* to, const void* from, size_t bytes) {
    for (size_t i = group.thread_rank(); i < bytes / sizeof(Word); i += group.size()) {
        static_cast<Word*>(to)[i] = static_cast<const Word*>(from)[i];
    }
}

}  // namespace details

// Copies `bytes` bytes, in the widest words that both addresses and the size allow.
template <class Group, class T>
__device__ inline void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
    const uintptr_t alignment =
        reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
    if (alignment % sizeof(uint4) == 0) {
        details::copy_words<uint4>(group, to, from, bytes);
    } else if (alignment % sizeof(uint2) == 0) {
        details::copy_words<uint2>(group, to, from, bytes);
    } else if (alignment % sizeof(unsigned) == 0) {
        details::copy_words<unsigned>(group, to, from, bytes);
    } else {
        details::copy_words<unsigned char>(group, to, from, bytes);
    }
}

template <class Group>
__device__ inline void wait(const Group& group) {
    group.sync();
}

// All but the latest `stages` copies: they are all done by now.
template <unsigned stages, class Group>
__device__ inline void wait_prior(const Group& group) {
    group.sync();
}

}  // namespace cooperative_groups
