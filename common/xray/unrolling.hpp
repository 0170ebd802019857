// SPDX-License-Identifier: MIT
//
// A loop as nvcc compiles it, and what lanes did in the loop as written, told as if they had run that.
//
// nvcc unrolls `for (col = threadIdx.x; col < cols; col += kThreads)` by four, as a rule, and puts the
// trips that are left over, n mod 4 of n, before that or behind it. Lanes that make four trips are then
// never where those are that make three: what they load together as written they load apart.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/cpu_device/observer.hpp"
#include "loops.hpp"

namespace xray {

// The parts that a loop was made into, in the order of the compiled code: how many trips of the loop as
// written each of them makes at a time. {4, 1}: four at a time, then the rest. {1, 16, 8, 4}: first what
// four does not divide, one at a time, then sixteen at a time while so many are left, then eight, then four.
using Sections = std::vector<uint32_t>;

// Where a trip of the loop as written is in the compiled code: in a section, the how many-th of its trips.
struct PlaceOfTrip {
    uint32_t section;
    uint32_t position;
};

// Of each of a lane's trips, in order. Empty where the sections leave some of them out.
std::vector<PlaceOfTrip> places_of_trips(const Sections& sections, size_t trips);

// The loops of which it is known.
class UnrolledLoops {
public:
    explicit UnrolledLoops(Loops loops) : loops_(std::move(loops)) {}

    // What nvcc unrolls lies around no other such loop: else the inner one alone counts. `heads`: how often
    // a trip comes past the loop's head.
    void add(Loops::Id loop, Sections sections, uint32_t heads = 1);
    bool empty() const { return unrolled_.empty(); }

    const Loops& loops() const { return loops_; }
    const Sections& sections_of(Loops::Id loop) const { return unrolled_.at(loop).sections; }
    uint32_t heads_of(Loops::Id loop) const { return unrolled_.at(loop).heads; }

    // The unrolled loop in which the step lies, or kNone.
    Loops::Id around(const FlowOrder::Key& step) const;

private:
    struct Unrolled {
        Sections sections;
        uint32_t heads;
    };
    Loops loops_;
    std::unordered_map<Loops::Id, Unrolled> unrolled_;
};

// The lanes of one warp.
class WarpUnroller {
public:
    // Forgets everything, for a new block.
    void begin();

    // What the lanes did, with other paths in each section of an unrolled loop and in each of its trips. A
    // lane in the midst of such a loop is told of later, once it is known how many trips it makes. Valid
    // until the next call.
    cpu_device::WarpLogs add(const cpu_device::WarpLogs& logs, const UnrolledLoops& loops);

private:
    struct Lane {
        Loops::Id loop = Loops::kNone;
        std::vector<cpu_device::Access> in_loop;  // since the lane entered it
        std::vector<cpu_device::Access> told;
    };
    static void leave(Lane& lane, const UnrolledLoops& loops);
    static void tell_of_trips(Lane& lane, const UnrolledLoops& loops);

    Lane lanes_[32];
};

}  // namespace xray
