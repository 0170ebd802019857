// SPDX-License-Identifier: MIT
//
// From what each lane did to what its warp did: which lanes executed an instruction together.
//
// On the CPU device lanes run one after another; on a GPU those on the same way run in step, and
// those that took different branches meet again behind them. So the logs of a warp's lanes, which
// name every access and every branch target, are replayed side by side: lanes that come to the same
// place next go on together; where they differ, FlowOrder says who waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/cpu_device/observer.hpp"
#include "flow_order.hpp"

namespace xray {

using cpu_device::AccessKind;

// One memory instruction as a warp executes it.
struct Request {
    uintptr_t place = 0;
    AccessKind kind{};
    uint16_t bytes = 0;  // per lane
    bool split = false;  // see cpu_device::Access
    bool is_volatile = false;
    bool is_atomic = false;         // though its kind does not say so
    bool is_through_cache = false;  // see cpu_device::kThroughCache
    bool is_asynchronous = false;   // see cpu_device::kAsynchronous
    bool is_outside = false;        // see cpu_device::kOutside
    unsigned lanes = 0;             // a bit for each that takes part
    std::array<uintptr_t, 32> address;
    std::array<uint8_t, 32> value;  // of a store, see cpu_device::value_of()
};

// What of the last access of each of the lanes, or besides, can order threads: see cpu_device/observer.hpp.
struct WarpSignal {
    unsigned lanes = 0;
    unsigned ordering = 0;
    std::array<uint64_t, 32> when;
    const std::array<uintptr_t, 32>* address = nullptr;  // of those accesses
    unsigned barrier = 0;  // not of an access, but of the block's barrier of this number less 1
};

// How a lane touches memory, if another does at the same time.
enum class Strength : uint8_t {
    plain,
    volatile_data,  // each lane another word: steps of a warp, as they were written before __syncwarp
    volatile_flag,  // one word
    atomic
};
Strength strength_of(const Request& request);

// Whether two accesses, one of which writes, are no race whatever their order.
inline bool may_collide(Strength a, Strength b) {
    return a != Strength::plain && b != Strength::plain &&
           !(a == Strength::volatile_data && b == Strength::volatile_data);
}

// Receives what a warp does, in an order in which it may have happened.
class WarpEvents {
public:
    virtual ~WarpEvents() = default;
    virtual void on_request(const Request& request) = 0;
    virtual void on_meeting(unsigned lanes, bool synchronizes) = 0;
    virtual void on_signal(const WarpSignal& /*signal*/) {}
};

// The lanes of one warp of one block.
class WarpRequests {
public:
    // Forgets everything, for a new block whose warp has the lanes in `existing`.
    void begin(unsigned existing);

    // More of what the lanes did. Tells `events` as much as can be decided by now; everything where
    // the whole warp meets. `order` learns the ways, and may have learned from other warps.
    void add(const cpu_device::WarpLogs& logs, FlowOrder& order, WarpEvents& events);

    // The lanes meet, after what was added so far.
    void meet(unsigned lanes, bool synchronizes, WarpEvents& events);

private:
    // What one lane did and nobody has been told yet, in order. A meeting among it is an Access
    // whose place is kMeeting; its path numbers the meeting, its address holds the lanes.
    struct Span {
        const cpu_device::Access* next = nullptr;
        const cpu_device::Access* end = nullptr;

        size_t left() const { return static_cast<size_t>(end - next); }
    };
    static constexpr uintptr_t kMeeting = 0;

    bool learn(const cpu_device::WarpLogs& logs, FlowOrder& order);
    // Replays until a lane of `unsettled` is needed of which nothing more is known.
    void replay(unsigned unsettled, FlowOrder& order, WarpEvents& events);
    unsigned lanes_with_more() const;
    size_t longest_left(unsigned lanes) const;
    size_t shortest_left(unsigned lanes) const;
    size_t common_steps(unsigned lanes) const;
    unsigned lanes_at_same(unsigned first, unsigned lanes) const;
    unsigned choose(unsigned lanes, FlowOrder& order) const;
    uint32_t rank_of(unsigned lanes, const cpu_device::Access& step, FlowOrder& order) const;
    void go_on(unsigned lanes, size_t steps, WarpEvents& events);
    void tell_signal(unsigned lanes, size_t at, const cpu_device::Access& step, WarpEvents& events);
    void keep_the_rest();

    unsigned existing_ = 0;
    uint32_t meetings_ = 0;
    FlowOrder::Node last_[32];                  // where each lane is, as far as order knows
    FlowOrder::Key told_[32];                   // the last step of each that events were told of
    Span spans_[32];                            // during a replay: into the logs, or into kept_
    std::vector<cpu_device::Access> kept_[32];  // between replays
    unsigned keeping_ = 0;                      // lanes whose kept_ is not empty
    Request request_;
    WarpSignal signal_;
};

}  // namespace xray
