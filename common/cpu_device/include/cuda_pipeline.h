// SPDX-License-Identifier: MIT
// The pipeline primitives: copies to shared memory that a thread starts, and waits for later. Here a
// copy is done at once: a load of the thread, which the memory hooks see and hardware counts as one,
// and a write to shared memory, which hardware does without a store instruction.
#pragma once
#include <cassert>
#include <cstddef>

#include "cpu_device/core.h"
#include "cpu_device/qualifiers.h"
#include "vector_types.h"

// bytes: 4, 8 or 16, to which both addresses are aligned.
__device__ inline void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes) {
    assert(bytes == 4 || bytes == 8 || bytes == 16);
    if (bytes == 16) {
        const uint4 loaded = *static_cast<const uint4*>(global);
        cpu_device::copy_to_shared(shared, &loaded, sizeof(loaded));
    } else if (bytes == 8) {
        const uint2 loaded = *static_cast<const uint2*>(global);
        cpu_device::copy_to_shared(shared, &loaded, sizeof(loaded));
    } else {
        const unsigned loaded = *static_cast<const unsigned*>(global);
        cpu_device::copy_to_shared(shared, &loaded, sizeof(loaded));
    }
}
__device__ inline void __pipeline_commit() {}
__device__ inline void __pipeline_wait_prior(size_t) {}
