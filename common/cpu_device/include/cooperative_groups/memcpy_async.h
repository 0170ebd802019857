// SPDX-License-Identifier: MIT
// cooperative_groups::memcpy_async and wait. The group's threads copy in turn, each by loads and by stores that the
// memory hooks see where they stand; hardware may copy to shared memory without passing through registers. What goes
// to shared memory arrives when it is waited for; other copies are done at once, as on hardware.
#pragma once
#include "cooperative_groups.h"
#include "cpu_device/async_copies.h"

namespace cooperative_groups {

namespace details {

template <class Word, class Group>
__device__ inline void copy_words(const Group& group, void* to, const void* from, size_t bytes) {
    const bool is_asynchronous = cpu_device::is_shared(to) && !cpu_device::is_shared(from);
    for (size_t i = group.thread_rank(); i < bytes / sizeof(Word); i += group.size()) {
        Word* const there = static_cast<Word*>(to) + i;
        const Word* const here = static_cast<const Word*>(from) + i;
        if (is_asynchronous) {
            const Word loaded = *here;
            cpu_device::begin_copy(there, here, &loaded, sizeof(Word), sizeof(Word),
                                   cpu_device::CopyCount::store);
        } else {
            *there = *here;
        }
    }
}

// In the widest words that both addresses and the size allow.
template <class Group>
__device__ inline void begin_copies(const Group& group, void* to, const void* from, size_t bytes) {
    const uintptr_t alignment =
        reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
    if (alignment % sizeof(uint4) == 0) {
        copy_words<uint4>(group, to, from, bytes);
    } else if (alignment % sizeof(uint2) == 0) {
        copy_words<uint2>(group, to, from, bytes);
    } else if (alignment % sizeof(unsigned) == 0) {
        copy_words<unsigned>(group, to, from, bytes);
    } else {
        copy_words<unsigned char>(group, to, from, bytes);
    }
}

}  // namespace details

// Copies `bytes` bytes: a group of copies of each of the threads.
template <class Group, class T>
__device__ inline void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
    details::begin_copies(group, to, from, bytes);
    cpu_device::commit_copies();
}

// Copies as many elements as both have.
template <class Group, class T>
__device__ inline void memcpy_async(const Group& group, T* to, size_t to_count, const T* from,
                                    size_t from_count) {
    memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T));
}

template <class Group>
__device__ inline void wait(const Group& group) {
    cpu_device::wait_for_groups(0);
    group.sync();
}

// Waits for all but the latest `stages` copies.
template <unsigned stages, class Group>
__device__ inline void wait_prior(const Group& group) {
    cpu_device::wait_for_groups(stages < 8 ? stages : 8);
    group.sync();
}

}  // namespace cooperative_groups
