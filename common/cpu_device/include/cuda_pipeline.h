// SPDX-License-Identifier: MIT
// The pipeline primitives: copies to shared memory that a thread starts, and waits for later. Here a
// copy is done at once, by a load and a store of the thread: these are what the memory hooks see,
// where hardware copies without passing through registers.
#pragma once
#include <cassert>
#include <cstddef>

#include "cpu_device/qualifiers.h"
#include "vector_types.h"

// bytes: 4, 8 or 16, to which both addresses are aligned.
__device__ inline void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes) {
    assert(bytes == 4 || bytes == 8 || bytes == 16);
    if (bytes == 16) {
        *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
    } else if (bytes == 8) {
        *static_cast<uint2*>(shared) = *static_cast<const uint2*>(global);
    } else {
        *static_cast<unsigned*>(shared) = *static_cast<const unsigned*>(global);
    }
}
__device__ inline void __pipeline_commit() {}
__device__ inline void __pipeline_wait_prior(size_t) {}
