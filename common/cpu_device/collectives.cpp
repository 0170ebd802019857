// SPDX-License-Identifier: MIT
//
// Warp collectives: the lanes of a mask wait until all of them have come, and exchange values.
#include <cstring>

#include "meetings.hpp"

namespace cpu_device {
namespace {

// Those that have come where `lane` waits, if they are all it waits for; else 0.
unsigned complete_collective(const Warp& warp, const Lane* lanes, const Lane& lane) {
    const unsigned wanted = lane.mask & warp.alive();
    if ((wanted & ~warp.at_collective) != 0) return 0;
    for (unsigned left = wanted; left != 0; left &= left - 1) {
        const Lane& other = lanes[__builtin_ctz(left)];
        if (other.mask != lane.mask || other.kind != lane.kind) return 0;
    }
    return wanted;
}

void hand_out_values(Warp& warp, Lane* lanes, unsigned came) {
    const int leader = __builtin_ctz(came);
    uint64_t* values = warp.values[leader][warp.next_buffer[leader] ^= 1];
    if (came != ~0u) std::memset(values, 0, sizeof warp.values[0][0]);
    for (unsigned left = came; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        values[i] = lanes[i].value;
        lanes[i].received = values;
        lanes[i].mask = came;
    }
}

// Answers those that asked who is active at the same place as the first of them.
void answer_active_mask(Warp& warp, Lane* lanes) {
    const uintptr_t place = lanes[__builtin_ctz(warp.asks_active)].place;
    unsigned together = 0;
    for (unsigned left = warp.asks_active; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        if (lanes[i].place == place) together |= 1u << i;
    }
    for (unsigned left = together; left != 0; left &= left - 1) {
        lanes[__builtin_ctz(left)].mask = together;
    }
    warp.asks_active &= ~together;
    warp.ready |= together;
}

// Always inline, as what it ends with: see switch_away.
[[gnu::always_inline]] inline const uint64_t* exchange(unsigned mask, uint64_t value,
                                                       Collective kind, uintptr_t place) {
    Lane& lane = *current.lane;
    if ((mask & bit_of(lane)) == 0) {
        fail(cudaErrorLaunchFailure, "lane %u calls %s with mask 0x%08x, which does not name it",
             lane_id(), name_of(kind), mask);
    }
    lane.place = place;
    lane.mask = mask;
    lane.kind = kind;
    lane.value = value;
    Warp& warp = warp_of(*current.worker, lane);
    warp.at_collective |= bit_of(lane);
    warp.ready &= ~bit_of(lane);
    switch_away(lane);
    return lane.received;
}

int source_of(Shuffle mode, int lane, int operand, int width) {
    const int segment = lane & ~(width - 1);
    switch (mode) {
        case Shuffle::index:
            return segment + (operand & (width - 1));
        case Shuffle::exclusive_or:
            return (lane ^ operand) < segment + width ? lane ^ operand : lane;
        case Shuffle::down:
            return lane + operand < segment + width ? lane + operand : lane;
        case Shuffle::up:
            return lane - operand >= segment ? lane - operand : lane;
    }
    return lane;
}

}  // namespace

bool complete_warp_meetings(Worker& worker, unsigned number) {
    Warp& warp = worker.warps[number];
    Lane* lanes = lanes_of_warp(worker, number);
    bool any = false;
    for (unsigned left = warp.at_collective; left != 0;) {
        const Lane& lane = lanes[__builtin_ctz(left)];
        left &= left - 1;
        const unsigned came = complete_collective(warp, lanes, lane);
        if (came == 0) continue;
        hand_over_logs(worker, number, came);
        if (Observer* observer = worker.launch->observer) {
            const bool synchronizes = lane.kind == Collective::syncwarp;
            observer->warp_collective(worker.number, number, came, synchronizes);
        }
        hand_out_values(warp, lanes, came);
        warp.at_collective &= ~came;
        warp.ready |= came;
        left &= ~came;
        any = true;
    }
    if (!any && warp.asks_active != 0) {
        answer_active_mask(warp, lanes);
        any = true;
    }
    if (any) note_meeting(worker);
    return any;
}

const uint64_t* warp_exchange(unsigned mask, uint64_t value, Collective kind) {
    return exchange(mask, value, kind, as_address(__builtin_return_address(0)));
}

uint64_t warp_shuffle(unsigned mask, uint64_t value, Shuffle mode, int operand, int width) {
    const int source = source_of(mode, static_cast<int>(lane_id()), operand, width);
    const uint64_t* values =
        exchange(mask, value, Collective::shuffle, as_address(__builtin_return_address(0)));
    if ((mask >> source & 1) == 0) {
        fail(cudaErrorLaunchFailure, "shuffle reads lane %d, which is outside its mask 0x%08x",
             source, mask);
    }
    if ((current.lane->mask >> source & 1) == 0) {
        fail(cudaErrorLaunchFailure, "shuffle reads lane %d, which has exited", source);
    }
    return values[source];
}

unsigned active_mask() {
    Lane& lane = *current.lane;
    lane.place = as_address(__builtin_return_address(0));
    Warp& warp = warp_of(*current.worker, lane);
    warp.asks_active |= bit_of(lane);
    warp.ready &= ~bit_of(lane);
    switch_away(lane);
    return lane.mask;
}

unsigned lane_id() {
    return current.lane->linear % kWarpSize;
}

}  // namespace cpu_device
