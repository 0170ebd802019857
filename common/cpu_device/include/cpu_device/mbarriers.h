// SPDX-License-Identifier: MIT
//
// Barriers in shared memory that count arrivals and bytes, phase by phase (PTX: mbarrier). Addresses are generic ones, of
// 8 bytes in shared memory of this block; where it says so, of another block of the cluster.
#pragma once

#include "cpu_device/integers.h"
#include <cstddef>

namespace cpu_device {

// Of a phase, and of bytes before they are expected.
constexpr uint32_t kMostArrivals = (1u << 20) - 1;
constexpr int64_t kMostBytes = (1 << 20) - 1;

// Begins phase 0 of a barrier each of whose phases takes so many arrivals. Must not be a barrier already.
void init_mbarrier(void* at, uint32_t arrivals);
void invalidate_mbarrier(void* at);

// The phase also waits for these bytes; or so many have come. Both also of another block.
void expect_bytes(void* at, uint32_t bytes);
void complete_bytes(void* at, uint32_t bytes);

struct Arrival {
    uint32_t count = 1;
    uint32_t bytes = 0;     // expected from now on, before the arrival
    bool drops = false;     // all phases after this one take as many arrivals less
    bool releases = true;   // what the thread did before is known to who waits
    bool completes = true;  // the phase perhaps: else it must not
};
// Also of another block. Returns the phase, for a wait of this block.
uint64_t arrive_at_mbarrier(void* at, const Arrival& arrival);

// Arrives once the asynchronous copies (cp.async) that the thread has begun so far are done; where it is not counted,
// the phase takes this arrival in addition to its own.
void arrive_with_copies(void* at, bool is_counted);

// How many arrivals the phase lacked, of a state that arrive_at_mbarrier() returned.
uint32_t pending_arrivals(uint64_t state);

struct MbarrierTest {
    bool by_parity =
        true;  // of the phase, 0 or 1; otherwise by a state that arrive_at_mbarrier() returned
    uint64_t phase = 0;
    bool suspends = true;  // the thread waits, until it is over or, seldom, in vain
    bool acquires = true;
};
// Whether that phase is over.
bool test_mbarrier(void* at, const MbarrierTest& test);

}  // namespace cpu_device
