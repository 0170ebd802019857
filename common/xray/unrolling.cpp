// SPDX-License-Identifier: MIT
#include "unrolling.hpp"

#include <iterator>
#include <utility>

namespace xray {
namespace {

using cpu_device::Access;
using cpu_device::AccessKind;
using cpu_device::AccessLog;
using cpu_device::WarpLogs;

// A lane that does more than this in one loop is taken to leave it here and to come in again, so that
// logs stay small.
constexpr size_t kMostKeptOfLoop = 1 << 16;

uint32_t path_in(uint32_t path, PlaceOfTrip place) {
    const uint32_t mixed = (place.section + 1) * 0x9E3779B1u ^ (place.position + 1) * 0x85EBCA6Bu;
    return path ^ (mixed | 1);
}

// Where each trip begins. What comes before the first head, if anything, belongs to the first trip.
std::vector<size_t> beginnings_of_trips(const std::vector<Access>& steps,
                                        const FlowOrder::Key& head, uint32_t heads_a_trip) {
    std::vector<size_t> beginnings;
    uint32_t heads = 0;
    for (size_t i = 0; i < steps.size(); i++) {
        if (!(FlowOrder::key_of(steps[i]) == head)) continue;
        if (heads++ % heads_a_trip == 0) beginnings.push_back(i);
    }
    if (beginnings.empty()) return {0};
    beginnings.front() = 0;
    return beginnings;
}

}  // namespace

std::vector<PlaceOfTrip> places_of_trips(const Sections& sections, size_t trips) {
    std::vector<PlaceOfTrip> places;
    size_t left = trips;
    const auto take = [&](uint32_t section, size_t count) {
        for (size_t trip = 0; trip < count; trip++) {
            places.push_back({section, static_cast<uint32_t>(trip % sections[section])});
        }
        left -= count;
    };
    const bool remainder_first = sections.size() > 1 && sections.front() < sections.back();
    uint32_t section = 0;
    if (remainder_first) take(section++, trips % sections.back());
    for (; section < sections.size(); section++) take(section, left - left % sections[section]);
    if (left != 0) return {};
    return places;
}

void UnrolledLoops::add(Loops::Id loop, Sections sections, uint32_t heads) {
    for (auto each = unrolled_.begin(); each != unrolled_.end();) {
        if (each->first != loop && loops_.is_within(each->first, loop)) return;
        const bool is_around = each->first != loop && loops_.is_within(loop, each->first);
        each = is_around ? unrolled_.erase(each) : std::next(each);
    }
    unrolled_.insert({loop, {std::move(sections), heads}});
}

Loops::Id UnrolledLoops::around(const FlowOrder::Key& step) const {
    Loops::Id loop = loops_.around(step);
    while (loop != Loops::kNone && unrolled_.count(loop) == 0) loop = loops_.around(loop);
    return loop;
}

void WarpUnroller::begin() {
    for (Lane& lane : lanes_) {
        lane.loop = Loops::kNone;
        lane.in_loop.clear();
    }
}

WarpLogs WarpUnroller::add(const WarpLogs& logs, const UnrolledLoops& loops) {
    WarpLogs told = logs;
    for (unsigned i = 0; i < 32; i++) {
        Lane& lane = lanes_[i];
        const AccessLog& log = logs.lane[i];
        lane.told.clear();
        for (size_t step = 0; step < log.count; step++) {
            const Loops::Id loop = loops.around(FlowOrder::key_of(log.records[step]));
            if (loop != lane.loop) leave(lane, loops);
            lane.loop = loop;
            (loop == Loops::kNone ? lane.told : lane.in_loop).push_back(log.records[step]);
        }
        // Who meets others in a loop, or waits for them, is in none that nvcc unrolls.
        const bool waits = ((logs.meeting | logs.settled) >> i & 1) != 0;
        if (waits || lane.in_loop.size() > kMostKeptOfLoop) leave(lane, loops);
        told.lane[i] = {lane.told.data(), lane.told.size()};
    }
    return told;
}

void WarpUnroller::leave(Lane& lane, const UnrolledLoops& loops) {
    if (lane.loop != Loops::kNone) tell_of_trips(lane, loops);
    lane.loop = Loops::kNone;
}

void WarpUnroller::tell_of_trips(Lane& lane, const UnrolledLoops& loops) {
    std::vector<Access>& steps = lane.in_loop;
    if (steps.empty()) return;
    std::vector<size_t> beginnings =
        beginnings_of_trips(steps, loops.loops().head(lane.loop), loops.heads_of(lane.loop));
    // A test at the loop's head is passed once more than there are trips.
    const bool ends_in_head =
        beginnings.back() + 1 == steps.size() && steps.back().kind == AccessKind::waypoint;
    const size_t trips = beginnings.size() - (ends_in_head ? 1 : 0);
    const std::vector<PlaceOfTrip> places = places_of_trips(loops.sections_of(lane.loop), trips);
    beginnings.push_back(steps.size());
    for (size_t trip = 0; trip < places.size(); trip++) {
        for (size_t i = beginnings[trip]; i < beginnings[trip + 1]; i++) {
            steps[i].path = path_in(steps[i].path, places[trip]);
        }
    }
    lane.told.insert(lane.told.end(), steps.begin(), steps.end());
    steps.clear();
}

}  // namespace xray
