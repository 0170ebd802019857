// SPDX-License-Identifier: MIT
//
// From what each lane did to what its warp did: which lanes executed an instruction together.
//
// On the CPU device lanes run one after another; on a GPU those on the same path run in step, and
// those that took different branches meet again behind them. So the logs of a warp's lanes are
// replayed side by side. Where all come to the same instruction next, they execute it together.
// Where they differ, some wait: lanes wait at an instruction that others will still reach. The logs
// do not say which branches lay between two accesses, so where a choice has no consequence in the
// logs (a nested loop whose outer part touches no memory) lanes may be paired otherwise than on a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/cpu_device/observer.hpp"

namespace xray {

// One memory instruction as a warp executes it.
struct Request {
    uintptr_t place = 0;
    cpu_device::AccessKind kind{};
    uint16_t bytes = 0;  // per lane
    bool split = false;  // see cpu_device::Access
    unsigned lanes = 0;  // a bit for each that takes part
    std::array<uintptr_t, 32> address;
};

// Receives what a warp does, in an order in which it may have happened.
class WarpEvents {
  public:
    virtual ~WarpEvents() = default;
    virtual void on_request(const Request& request) = 0;
    virtual void on_meeting(unsigned lanes, bool synchronizes) = 0;
};

// The lanes of one warp of one block.
class WarpRequests {
  public:
    // Forgets everything, for a new block whose warp has the lanes in `existing`.
    void begin(unsigned existing);

    // More of what the lanes did. Tells `events` as much as can be decided by now, and everything
    // where all lanes meet that are not settled.
    void add(const cpu_device::WarpLogs& logs, WarpEvents& events);

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

    // Replays until a decision would need more than is known of the lanes in `unsettled`.
    void replay(unsigned unsettled, WarpEvents& events);
    unsigned lanes_with_more() const;
    unsigned lanes_at_same(unsigned first, unsigned lanes) const;
    unsigned choose(unsigned lanes) const;
    void emit(unsigned lanes, WarpEvents& events);
    void keep_the_rest();

    unsigned existing_ = 0;
    uint32_t meetings_ = 0;
    Span spans_[32];                            // during a replay: into the logs, or into kept_
    std::vector<cpu_device::Access> kept_[32];  // between replays
    unsigned keeping_ = 0;                      // lanes whose kept_ is not empty
    Request request_;
};

}  // namespace xray
