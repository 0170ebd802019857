// SPDX-License-Identifier: MIT
//
// What threads tell each other through memory, and what that orders.
//
// A thread that writes a word by an atomic or volatile access tells those who read it so afterwards, if it releases
// that: by the access itself (memory_order_release), or by a fence before. What was before the fence is then before all
// that such a reader does next, in both threads and, by their barriers, in both blocks. A reader need not fence: so
// it is with the usual locks and counters of CUDA; only cuda::atomic's relaxed accesses acquire nothing by themselves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/cpu_device/observer.hpp"

namespace xray {

// When a thread did something: between which barriers of its block, how often it had synchronized with lanes of its
// warp, how many signals it had given, and how far it was in the barriers of its cluster or grid: 2 for each that it
// went through, and 1 if it has arrived at the next.
struct Moment {
    uint32_t interval = 0;
    uint32_t syncs = 0;
    uint32_t signals = 0;
    uint32_t phase = 0;
};

// Something that a thread did to a word, as far as order is concerned.
struct Instant {
    uint32_t block = 0;
    uint16_t thread = 0;
    Moment moment;
    uintptr_t word = 0;
};

struct Signal {
    static constexpr unsigned kMeeting =
        1u << 8;  // beside cpu_device::Ordering: lanes that synchronize

    Instant by;
    unsigned ordering = 0;
    uint32_t told_at = 0, observed_at = 0;  // in one count for the launch
    uint32_t lanes = 0;                     // of a meeting
    int32_t known = -1;                     // an index in Signals::known
};

// Of the threads of one block or several.
struct Signals {
    // How often, as far as the thread knows, each lane of its warp had synchronized: see BlockOrder.
    using Known = std::array<uint32_t, 32>;

    std::vector<Signal> all;
    std::vector<Known> known;

    bool release() const;  // whether any of them can order anything
    void append(const Signals& other);
    void clear();
};

// Whether blocks wait for each other by barriers of their own: those of one gang.
class Gangs {
public:
    Gangs() = default;
    Gangs(bool whole_grid, dim3 grid, dim3 cluster);

    bool clusters() const { return clusters_; }
    bool any() const { return whole_grid_ || clusters_; }
    uint32_t of(uint32_t block) const;
    // Whether such a barrier puts the one before all that the other's thread did from that moment on.
    bool is_before(const Instant& before, const Instant& now) const {
        return now.moment.phase / 2 > (before.moment.phase + 1) / 2 &&
               of(before.block) == of(now.block);
    }

private:
    bool whole_grid_ = false, clusters_ = false;
    dim3 grid_, cluster_;
};

// Of each pair whether the signals order it, one way or the other.
std::vector<bool> ordered_by(const Signals& signals, const Gangs& gangs,
                             const std::vector<std::pair<Instant, Instant>>& pairs);

}  // namespace xray
