// SPDX-License-Identifier: MIT
//
// What orders the accesses of a block's threads: __syncthreads for the whole block, __syncwarp for the
// lanes in its mask; a shuffle orders nothing.
#pragma once

#include <array>
#include <cstdint>

namespace xray {

// When a thread did something: between which barriers of its block, and how often it had synchronized
// with lanes of its warp.
struct Moment {
    uint32_t interval = 0;
    uint32_t syncs = 0;
};

// One worker's, whose blocks come one after the other.
class BlockOrder {
public:
    void begin_block() { interval_++; }
    void barrier() { interval_++; }
    void warp_sync(unsigned warp, unsigned lanes);

    // Now, for a thread of the block.
    Moment now(unsigned thread) const {
        return {interval_, known_[thread / 32][thread % 32][thread % 32]};
    }

    // Whether what `other` did at that moment, in this block, is before all that `thread` does from now on.
    bool is_before(unsigned other, Moment then, unsigned thread) const {
        if (other == thread || then.interval != interval_) return true;
        if (other / 32 != thread / 32) return false;
        return known_[thread / 32][thread % 32][other % 32] > then.syncs;
    }

private:
    uint32_t interval_ = 0;

    // Vector clocks: known[a][b] is how often, as far as lane a of the warp knows, lane b had
    // synchronized. What b did before that is before what a does now.
    using WarpClock = std::array<std::array<uint32_t, 32>, 32>;
    std::array<WarpClock, 32> known_{};
};

}  // namespace xray
