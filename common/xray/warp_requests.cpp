// SPDX-License-Identifier: MIT
#include "warp_requests.hpp"

#include <algorithm>

namespace xray {
namespace {

using cpu_device::Access;
using cpu_device::WarpLogs;

// How far ahead in a lane's log is looked for the instruction at which another lane may wait.
constexpr size_t kLookAhead = 128;

// A lane may wait long for another (lane 0 works, the rest stands at __syncwarp). From this many
// records on what waits is taken to have nothing more to say, so that logs stay small.
constexpr size_t kMostKept = 4096;

unsigned lowest(unsigned lanes) {
    return static_cast<unsigned>(__builtin_ctz(lanes));
}

bool same(const Access& a, const Access& b) {
    return same_instruction(a, b) && a.bytes == b.bytes;
}

}  // namespace

void WarpRequests::begin(unsigned existing) {
    existing_ = existing;
    for (; keeping_ != 0; keeping_ &= keeping_ - 1) kept_[lowest(keeping_)].clear();
}

void WarpRequests::add(const WarpLogs& logs, WarpEvents& events) {
    const bool in_place = keeping_ == 0;  // the usual case: nothing is copied
    for (unsigned lane = 0; lane < 32; lane++) {
        const cpu_device::AccessLog& log = logs.lane[lane];
        if (in_place) {
            spans_[lane] = {log.records, log.records + log.count};
            continue;
        }
        std::vector<Access>& kept = kept_[lane];
        kept.insert(kept.end(), log.records, log.records + log.count);
        spans_[lane] = {kept.data(), kept.data() + kept.size()};
    }
    const unsigned unsettled = existing_ & ~logs.settled & ~logs.meeting;
    // Who meets goes on afterwards, but if nobody else does anything the meeting is a clean cut.
    replay(unsettled == 0 ? 0 : unsettled | logs.meeting, events);
    keep_the_rest();
}

void WarpRequests::meet(unsigned lanes, bool synchronizes, WarpEvents& events) {
    if (keeping_ == 0) return events.on_meeting(lanes, synchronizes);
    Access meeting{};
    meeting.place = kMeeting;
    meeting.path = ++meetings_;
    meeting.address = lanes;
    meeting.split = synchronizes;
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        kept_[lowest(left)].push_back(meeting);
    }
    keeping_ |= lanes;
}

void WarpRequests::replay(unsigned unsettled, WarpEvents& events) {
    for (;;) {
        const unsigned lanes = lanes_with_more();
        if (lanes == 0) return;
        bool forced = false;
        if ((unsettled & ~lanes) != 0) {  // some may yet do the same as the others did
            size_t longest = 0;
            for (unsigned left = lanes; left != 0; left &= left - 1) {
                longest = std::max(longest, spans_[lowest(left)].left());
            }
            forced = longest > kMostKept;
            if (!forced) return;
        }
        unsigned chosen = lanes_at_same(lowest(lanes), lanes);
        if (chosen != lanes || spans_[lowest(lanes)].next->place == kMeeting) {
            for (unsigned left = lanes & unsettled; left != 0 && !forced; left &= left - 1) {
                if (spans_[lowest(left)].left() < kLookAhead) return;
            }
            chosen = choose(lanes);
            if (chosen == 0) return;  // the rest of a meeting is not known yet
        }
        emit(chosen, events);
    }
}

unsigned WarpRequests::lanes_with_more() const {
    unsigned lanes = 0;
    for (unsigned left = existing_; left != 0; left &= left - 1) {
        if (spans_[lowest(left)].next != spans_[lowest(left)].end) lanes |= 1u << lowest(left);
    }
    return lanes;
}

// Those of `lanes` that come to the same instruction next as lane `first`.
unsigned WarpRequests::lanes_at_same(unsigned first, unsigned lanes) const {
    const Access& instruction = *spans_[first].next;
    unsigned together = 0;
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        if (same(*spans_[lowest(left)].next, instruction)) together |= 1u << lowest(left);
    }
    return together;
}

// Lanes that execute their next instruction now, of those in `lanes`, which come to different ones.
// Of all the instructions take the one that the other lanes will reach last, or never: whoever
// stands at another waits there for company. Of equals take the first in the program.
unsigned WarpRequests::choose(unsigned lanes) const {
    unsigned best = 0;
    size_t best_distance = 0;
    uintptr_t best_place = 0;
    for (unsigned left = lanes; left != 0;) {
        const unsigned first = lowest(left);
        const unsigned together = lanes_at_same(first, lanes);
        left &= ~together;
        const Access& instruction = *spans_[first].next;
        const bool is_meeting = instruction.place == kMeeting;
        if (is_meeting && (instruction.address & ~uintptr_t{together}) != 0) continue;
        size_t distance = kLookAhead;
        for (unsigned others = lanes & ~together; others != 0; others &= others - 1) {
            const Span& other = spans_[lowest(others)];
            const size_t visible = std::min(other.left(), distance);
            for (size_t i = 1; i < visible; i++) {
                if (!same(other.next[i], instruction)) continue;
                distance = i;
                break;
            }
        }
        const bool better = distance > best_distance ||
                            (distance == best_distance && instruction.place < best_place);
        if (best != 0 && !better) continue;
        best = together;
        best_distance = distance;
        best_place = instruction.place;
    }
    return best;
}

void WarpRequests::emit(unsigned lanes, WarpEvents& events) {
    const Access& instruction = *spans_[lowest(lanes)].next;
    if (instruction.place == kMeeting) {
        events.on_meeting(lanes, instruction.split);
    } else {
        request_.place = instruction.place;
        request_.kind = instruction.kind;
        request_.bytes = instruction.bytes;
        request_.split = instruction.split;
        request_.lanes = lanes;
        for (unsigned left = lanes; left != 0; left &= left - 1) {
            request_.address[lowest(left)] = spans_[lowest(left)].next->address;
        }
        events.on_request(request_);
    }
    for (unsigned left = lanes; left != 0; left &= left - 1) spans_[lowest(left)].next++;
}

void WarpRequests::keep_the_rest() {
    keeping_ = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        const Span& rest = spans_[lane];
        std::vector<Access>& kept = kept_[lane];
        if (rest.left() == 0) {
            kept.clear();
            continue;
        }
        keeping_ |= 1u << lane;
        const bool is_kept = kept.data() <= rest.next && rest.next < kept.data() + kept.size();
        if (is_kept) {
            kept.erase(kept.begin(), kept.begin() + (rest.next - kept.data()));
        } else {
            kept.assign(rest.next, rest.end);
        }
    }
}

}  // namespace xray
