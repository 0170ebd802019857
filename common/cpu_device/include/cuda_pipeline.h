// SPDX-License-Identifier: MIT
// The pipeline primitives: copies to shared memory that a thread starts, and waits for later. A copy
// is a load of the thread, which the memory hooks see and hardware counts as one, and a write to shared
// memory, which hardware does without a store instruction, when the thread waits for it.
#pragma once
#define _CUDA_PIPELINE_H_
#include <cassert>
#include <cstddef>
#include <cstring>

#include "cpu_device/async_copies.h"
#include "cpu_device/qualifiers.h"
#include "vector_functions.h"

// bytes: 4, 8 or 16, to which both addresses are aligned. zfill: so many at the end are not read, but zeros. (Where
// that is all, an H200 counts no request of a warp; but where other lanes read, the sector of the address, too.)
__device__ inline void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes,
                                               size_t zfill = 0) {
    assert(bytes == 4 || bytes == 8 || bytes == 16);
    assert(zfill <= bytes);
    uint4 loaded = make_uint4(0, 0, 0, 0);
    switch (bytes - zfill) {
        case 0:
            break;
        case 4:
            loaded.x = *static_cast<const unsigned*>(global);
            break;
        case 8: {
            const uint2 two = *static_cast<const uint2*>(global);
            loaded.x = two.x, loaded.y = two.y;
            break;
        }
        case 16:
            loaded = *static_cast<const uint4*>(global);
            break;
        default:
            memcpy(&loaded, global, bytes - zfill);
    }
    cpu_device::begin_copy(shared, global, &loaded, bytes, bytes - zfill);
}
__device__ inline void __pipeline_commit() {
    cpu_device::commit_copies();
}
// Waits for all groups but the latest `prior`. A GPU waits for all but 8 at the most.
__device__ inline void __pipeline_wait_prior(size_t prior) {
    cpu_device::wait_for_groups(prior < 8 ? prior : 8);
}
