// SPDX-License-Identifier: MIT
#include "block_order.hpp"

#include <algorithm>

#include "cpu_device/core.h"

namespace xray {
namespace {

constexpr size_t kMostSignalsOfInterval = 1 << 18;  // between two barriers

}  // namespace

void BlockOrder::begin_block(uint32_t block) {
    barrier();
    block_ = block;
    first_interval_ = interval_;
    if (!any_given_) return;
    given_.fill(0);
    phase_.fill(0);
    any_given_ = false;
}

void BlockOrder::barrier() {
    interval_++;
    if (since_barrier_.all.empty()) return;
    for (const Signal& signal : since_barrier_.all) last_[signal.by.thread] = {};
    since_barrier_.clear();
    all_known_ = true;
}

void BlockOrder::warp_sync(unsigned warp, unsigned lanes) {
    WarpClock& known = known_[warp];
    std::array<uint32_t, 32> together{};
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        known[lane][lane]++;
        for (unsigned i = 0; i < 32; i++) together[i] = std::max(together[i], known[lane][i]);
    }
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        known[static_cast<unsigned>(__builtin_ctz(left))] = together;
    }
    last_sync_[warp] = interval_;
    if (last_signal_[warp] != interval_) return;
    // What a lane was told the others now know, too.
    Signal meeting;
    meeting.ordering = Signal::kMeeting;
    meeting.lanes = lanes;
    const unsigned first = warp * 32 + static_cast<unsigned>(__builtin_ctz(lanes));
    meeting.by = {block_, static_cast<uint16_t>(first), now(first), 0};
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        Last& last = last_[warp * 32 + static_cast<unsigned>(__builtin_ctz(left))];
        meeting.told_at = std::max(meeting.told_at, last.at);
        last.signal = Last::kNone;
    }
    meeting.known = static_cast<int32_t>(since_barrier_.known.size());
    since_barrier_.known.push_back(together);
    note(meeting);
}

void BlockOrder::signal(unsigned warp, const WarpSignal& told) {
    any_given_ = true;
    for (unsigned left = told.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        const unsigned thread = warp * 32 + lane;
        if ((told.ordering & (cpu_device::kArrives | cpu_device::kWaits)) != 0) {
            phase_[thread]++;
            continue;
        }
        const bool is_fence = (told.ordering & cpu_device::kFences) != 0;
        const auto told_at = static_cast<uint32_t>(told.when[lane] >> 32);
        const auto observed_at = static_cast<uint32_t>(told.when[lane]);
        const uintptr_t of_access = is_fence ? 0 : (*told.address)[lane];
        const uintptr_t word = told.barrier != 0 ? told.barrier : of_access;
        last_signal_[warp] = interval_;
        Last& last = last_[thread];
        last.at = std::max(told_at, observed_at);
        if (repeats(last, warp, word, told.ordering)) {
            since_barrier_.all[last.signal].observed_at = observed_at;
            last.requests = requests_[warp];
            continue;
        }
        Signal signal;
        signal.by = {block_, static_cast<uint16_t>(thread), now(thread), word};
        signal.ordering = told.ordering;
        signal.told_at = told_at;
        signal.observed_at = observed_at;
        if (last_sync_[warp] == interval_) {
            signal.known = static_cast<int32_t>(since_barrier_.known.size());
            since_barrier_.known.push_back(known_[warp][lane]);
        }
        given_[thread]++;
        last.signal =
            note(signal) ? static_cast<uint32_t>(since_barrier_.all.size() - 1) : Last::kNone;
        last.requests = requests_[warp];
    }
}

// Whether a thread that waits looks once more at the same word, with nothing done since: it told all when it did so
// first, and observes most when it does so last.
bool BlockOrder::repeats(const Last& last, unsigned warp, uintptr_t word, unsigned ordering) const {
    if (last.signal == Last::kNone || word == 0 || requests_[warp] != last.requests + 1)
        return false;
    const Signal& before = since_barrier_.all[last.signal];
    return before.by.word == word && before.ordering == ordering;
}

bool BlockOrder::note(const Signal& signal) {
    all_known_ = all_known_ && since_barrier_.all.size() < kMostSignalsOfInterval;
    if (all_known_) since_barrier_.all.push_back(signal);
    return all_known_;
}

}  // namespace xray
