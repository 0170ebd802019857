// SPDX-License-Identifier: MIT
//
// What orders the accesses of a block's threads: __syncthreads for the whole block, __syncwarp for the
// lanes in its mask; a shuffle orders nothing. And what signals its threads give: see signals.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "signals.hpp"
#include "warp_requests.hpp"

namespace xray {

// One worker's, whose blocks come one after the other.
class BlockOrder {
public:
    void begin_block(uint32_t block);
    void barrier();
    void warp_sync(unsigned warp, unsigned lanes);
    void signal(unsigned warp, const WarpSignal& signal);
    // Something that the warp touches, beside which nothing is noted.
    void count_request(unsigned warp) { requests_[warp]++; }

    // Between which barriers, counted on from block to block; and in this block.
    uint32_t interval() const { return interval_; }
    uint32_t interval_in_block() const { return interval_ - first_interval_; }
    uint32_t block() const { return block_; }

    // Now, for a thread of the block.
    Moment now(unsigned thread) const {
        return {interval_, syncs(thread), signals(thread), phase_[thread]};
    }
    uint32_t syncs(unsigned thread) const { return known_[thread / 32][thread % 32][thread % 32]; }
    uint32_t signals(unsigned thread) const { return given_[thread]; }

    // Whether what `other` did at that moment, in this block, is before all that `thread` does from now on.
    bool is_before(unsigned other, const Moment& then, unsigned thread) const {
        return then.interval != interval_ || have_met(other, then.syncs, thread);
    }
    // The same, of what it did since the last barrier.
    bool have_met(unsigned other, uint32_t syncs, unsigned thread) const {
        if (other == thread) return true;
        if (other / 32 != thread / 32) return false;
        return known_[thread / 32][thread % 32][other % 32] > syncs;
    }

    // What its threads have signalled since the last barrier.
    const Signals& since_barrier() const { return since_barrier_; }
    // False if they were too many: then not all are known.
    bool all_known() const { return all_known_; }

private:
    uint32_t block_ = 0;
    uint32_t interval_ = 0, first_interval_ = 0;

    // Vector clocks: known[a][b] is how often, as far as lane a of the warp knows, lane b had
    // synchronized. What b did before that is before what a does now.
    using WarpClock = std::array<std::array<uint32_t, 32>, 32>;
    std::array<WarpClock, 32> known_{};
    std::array<uint32_t, 32> last_sync_{};  // of each warp: the interval

    Signals since_barrier_;
    bool all_known_ = true;
    bool any_given_ = false;              // in this block
    std::array<uint32_t, 1024> given_{};  // by each thread in this block
    std::array<uint32_t, 1024> phase_{};
    std::array<uint32_t, 32> requests_{};
    std::array<uint32_t, 32> last_signal_{};  // of each warp: the interval

    // Of each thread since the last barrier.
    struct Last {
        static constexpr uint32_t kNone = UINT32_MAX;
        uint32_t signal = kNone;  // its last one, in since_barrier_
        uint32_t requests = 0;    // of its warp, when it was given
        uint32_t at = 0;
    };
    std::array<Last, 1024> last_{};

    bool repeats(const Last& last, unsigned warp, uintptr_t word, unsigned ordering) const;
    bool note(const Signal& signal);
};

}  // namespace xray
