// SPDX-License-Identifier: MIT
#include "warp_requests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace xray {
namespace {

using cpu_device::Access;
using cpu_device::WarpLogs;

// Where lanes part, FlowOrder must know how they meet again: that much of their way must be seen.
constexpr size_t kLookAhead = 512;

// A lane may wait long for another (lane 0 works, the rest stands at __syncwarp). From this many
// records on what waits is taken to have nothing more to say, so that logs stay small.
constexpr size_t kMostKept = 4096;

unsigned lowest(unsigned lanes) {
    return static_cast<unsigned>(__builtin_ctz(lanes));
}

// Whether they are the same but for the address: compared as two words, since nothing is done as
// often.
bool same_step(const Access& a, const Access& b) {
    constexpr size_t kBytes = sizeof(Access) - offsetof(Access, place);
    static_assert(kBytes == sizeof(a.place) + sizeof(a.path) + sizeof(a.bytes) + sizeof(a.kind) +
                                sizeof(a.manner),
                  "what is compared has neither gaps nor an address in it");
    return std::memcmp(&a.place, &b.place, kBytes) == 0;
}

bool is_of_atomics(AccessKind kind) {
    return kind == AccessKind::global_atomic || kind == AccessKind::shared_atomic ||
           kind == AccessKind::remote_atomic || kind == AccessKind::constant_atomic ||
           kind == AccessKind::bulk_reduce;
}

}  // namespace

Strength strength_of(const Request& request) {
    if (request.is_atomic || is_of_atomics(request.kind)) return Strength::atomic;
    if (!request.is_volatile) return Strength::plain;
    const uintptr_t first = request.address[lowest(request.lanes)];
    for (unsigned left = request.lanes; left != 0; left &= left - 1) {
        if (request.address[lowest(left)] != first) return Strength::volatile_data;
    }
    return Strength::volatile_flag;
}

void WarpRequests::begin(unsigned existing) {
    existing_ = existing;
    std::fill(std::begin(last_), std::end(last_), FlowOrder::kStart);
    std::fill(std::begin(told_), std::end(told_), FlowOrder::Key{});
    for (; keeping_ != 0; keeping_ &= keeping_ - 1) kept_[lowest(keeping_)].clear();
}

void WarpRequests::add(const WarpLogs& logs, FlowOrder& order, WarpEvents& events) {
    const bool alike = learn(logs, order);
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
    // Those that meet go on afterwards. But if the others have nothing to do until the next
    // barrier, and never had, then all there is to say of the time before the meeting is known.
    const unsigned others = existing_ & ~logs.meeting;
    const bool all_known = logs.meeting != 0 && ((~logs.settled | lanes_with_more()) & others) == 0;
    const unsigned unsettled = all_known ? 0 : existing_ & (~logs.settled | logs.meeting);
    const unsigned lanes = lanes_with_more();
    if (in_place && alike && lanes != 0 && (unsettled & ~lanes) == 0) {
        go_on(lanes, spans_[lowest(lanes)].left(), events);
    }
    replay(unsettled, order, events);
    keep_the_rest();
}

// Most often all lanes went the same way: then the first one's is enough. Returns whether they did.
bool WarpRequests::learn(const WarpLogs& logs, FlowOrder& order) {
    bool alike = true;
    const cpu_device::AccessLog* taught = nullptr;
    FlowOrder::Node from = FlowOrder::kStart, to = FlowOrder::kStart;
    for (unsigned left = existing_; left != 0; left &= left - 1) {
        const unsigned lane = lowest(left);
        const cpu_device::AccessLog& log = logs.lane[lane];
        if (log.count == 0) continue;
        const bool known =
            taught != nullptr && last_[lane] == from && log.count == taught->count &&
            std::equal(log.records, log.records + log.count, taught->records, same_step);
        if (known) {
            last_[lane] = to;
            continue;
        }
        alike = taught == nullptr;
        taught = &log;
        from = last_[lane];
        for (size_t i = 0; i < log.count; i++) {
            last_[lane] = order.follow(last_[lane], log.records[i]);
        }
        to = last_[lane];
    }
    return alike;
}

void WarpRequests::meet(unsigned lanes, bool synchronizes, WarpEvents& events) {
    if (keeping_ == 0) return events.on_meeting(lanes, synchronizes);
    Access meeting{};
    meeting.place = kMeeting;
    meeting.path = ++meetings_;
    meeting.address = lanes;
    meeting.manner = synchronizes ? 1 : 0;
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        kept_[lowest(left)].push_back(meeting);
    }
    keeping_ |= lanes;
}

void WarpRequests::replay(unsigned unsettled, FlowOrder& order, WarpEvents& events) {
    while (const unsigned lanes = lanes_with_more()) {
        const bool forced = longest_left(lanes) > kMostKept;
        // Whoever has nothing left may yet turn out to have done the same as the others.
        if ((unsettled & ~lanes) != 0 && !forced) return;
        const size_t steps = common_steps(lanes);
        if (steps != 0) {
            go_on(lanes, steps, events);
            continue;
        }
        if (shortest_left(lanes & unsettled) < kLookAhead && !forced) return;
        const unsigned chosen = choose(lanes, order);
        if (chosen == 0) return;  // all stand at meetings with others of whom too little is known
        go_on(chosen, 1, events);
    }
}

unsigned WarpRequests::lanes_with_more() const {
    unsigned lanes = 0;
    for (unsigned left = existing_; left != 0; left &= left - 1) {
        if (spans_[lowest(left)].next != spans_[lowest(left)].end) lanes |= 1u << lowest(left);
    }
    return lanes;
}

size_t WarpRequests::longest_left(unsigned lanes) const {
    size_t longest = 0;
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        longest = std::max(longest, spans_[lowest(left)].left());
    }
    return longest;
}

size_t WarpRequests::shortest_left(unsigned lanes) const {
    size_t shortest = SIZE_MAX;
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        shortest = std::min(shortest, spans_[lowest(left)].left());
    }
    return shortest;
}

// How far all of `lanes` take the same way, up to the next meeting.
size_t WarpRequests::common_steps(unsigned lanes) const {
    const Span& first = spans_[lowest(lanes)];
    size_t steps = first.left();
    for (unsigned left = lanes & (lanes - 1); left != 0; left &= left - 1) {
        const Span& other = spans_[lowest(left)];
        steps = std::min(steps, other.left());
        size_t equal = 0;
        while (equal < steps && same_step(first.next[equal], other.next[equal])) equal++;
        steps = equal;
    }
    const auto is_meeting = [](const Access& access) { return access.place == kMeeting; };
    return static_cast<size_t>(std::find_if(first.next, first.next + steps, is_meeting) -
                               first.next);
}

// Those of `lanes` that come to the same place next as lane `first`.
unsigned WarpRequests::lanes_at_same(unsigned first, unsigned lanes) const {
    const Access& step = *spans_[first].next;
    unsigned together = 0;
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        if (same_step(*spans_[lowest(left)].next, step)) together |= 1u << lowest(left);
    }
    return together;
}

// Which of `lanes`, who do not all come to the same place next, go on while the rest waits.
unsigned WarpRequests::choose(unsigned lanes, FlowOrder& order) const {
    unsigned chosen = 0;
    uint32_t lowest_rank = UINT32_MAX;
    for (unsigned left = lanes; left != 0;) {
        const unsigned together = lanes_at_same(lowest(left), lanes);
        const Access& step = *spans_[lowest(left)].next;
        left &= ~together;
        if (step.place == kMeeting) {
            if (step.address == together) return together;
            continue;
        }
        const uint32_t rank = rank_of(together, step, order);
        if (rank >= lowest_rank) continue;
        lowest_rank = rank;
        chosen = together;
    }
    return chosen;
}

// Of `lanes`, who come to `step` next, the lowest.
uint32_t WarpRequests::rank_of(unsigned lanes, const Access& step, FlowOrder& order) const {
    uint32_t rank = UINT32_MAX;
    const FlowOrder::Key* known = nullptr;
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        const FlowOrder::Key& key = told_[lowest(left)];
        if (known != nullptr && key == *known) continue;
        known = &key;
        const FlowOrder::Node from =
            key == FlowOrder::Key{} ? FlowOrder::kStart : order.node_of(key);
        rank = std::min(rank, order.rank_of(from, step));
    }
    return rank;
}

// `lanes` do their next `steps` together, which are the same for all.
void WarpRequests::go_on(unsigned lanes, size_t steps, WarpEvents& events) {
    const Access* const way = spans_[lowest(lanes)].next;
    for (size_t i = 0; i < steps; i++) {
        const Access& step = way[i];
        if (step.kind == AccessKind::waypoint) {
            if (step.manner != 0) tell_signal(lanes, i, step, events);
            continue;
        }
        if (step.place == kMeeting) {
            events.on_meeting(lanes, step.manner != 0);
            continue;
        }
        request_.place = step.place;
        request_.kind = step.kind;
        request_.bytes = step.bytes;
        request_.split = (step.manner & cpu_device::kSplit) != 0;
        request_.is_through_cache = (step.manner & cpu_device::kThroughCache) != 0;
        request_.is_asynchronous = (step.manner & cpu_device::kAsynchronous) != 0;
        request_.is_outside = (step.manner & cpu_device::kOutside) != 0;
        request_.is_volatile = (step.manner & cpu_device::kVolatile) != 0;
        request_.is_atomic = (step.manner & cpu_device::kAtomic) != 0;
        request_.lanes = lanes;
        for (unsigned left = lanes; left != 0; left &= left - 1) {
            const unsigned lane = lowest(left);
            const Access& own = spans_[lane].next[i];
            request_.address[lane] = cpu_device::address_of(own);
            request_.value[lane] = cpu_device::value_of(own);
        }
        events.on_request(request_);
    }
    const Access& last = way[steps - 1];
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        const unsigned lane = lowest(left);
        spans_[lane].next += steps;
        if (last.place != kMeeting) told_[lane] = FlowOrder::key_of(last);
    }
}

void WarpRequests::tell_signal(unsigned lanes, size_t at, const Access& step, WarpEvents& events) {
    signal_.lanes = lanes;
    signal_.ordering = step.manner;
    signal_.barrier = step.bytes;
    signal_.address = &request_.address;  // a lane's signal is right behind the access
    for (unsigned left = lanes; left != 0; left &= left - 1) {
        const unsigned lane = lowest(left);
        signal_.when[lane] = spans_[lane].next[at].address;
    }
    events.on_signal(signal_);
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
