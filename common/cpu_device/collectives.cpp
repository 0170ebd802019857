// SPDX-License-Identifier: MIT
//
// Warp collectives: the lanes of a mask wait until all of them have come, and exchange values.
#include <cstring>

#include "cpu_device/matrix_places.h"
#include "meetings.hpp"
#include "undefined.hpp"

namespace cpu_device {
namespace {

// The element of an exchange's values that has a bit for each lane whose value is odd.
constexpr unsigned kVotes = kUndefinedLanes + 1;

// Whether lanes work on a matrix together: they meet, but order no memory and exchange nothing that they
// see.
bool is_of_matrices(Collective kind) {
    return kind >= Collective::matrix_load;
}

// Lanes that wait where `lane` does, with a mask which does not name them.
unsigned unnamed_with(const Warp& warp, const Lane* lanes, const Lane& lane) {
    unsigned together = 0;
    for (unsigned left = warp.unnamed; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const Lane& other = lanes[i];
        if (other.mask == lane.mask && other.kind == lane.kind && other.place == lane.place)
            together |= 1u << i;
    }
    return together;
}

// Those that have come where `lane` waits, if they are all it waits for; else 0.
unsigned complete_collective(const Warp& warp, const Lane* lanes, const Lane& lane) {
    const unsigned wanted = lane.mask & warp.alive();
    if ((wanted & ~warp.at_collective) != 0) return 0;
    for (unsigned left = wanted; left != 0; left &= left - 1) {
        const Lane& other = lanes[__builtin_ctz(left)];
        if (other.mask != lane.mask || other.kind != lane.kind) return 0;
    }
    if (warp.unnamed == 0) return wanted;
    // As on a GPU, whose warp does such a step once for all that have come to it.
    const Lane& named = wanted == 0 ? lane : lanes[__builtin_ctz(wanted)];
    return wanted | unnamed_with(warp, lanes, named);
}

void hand_out_values(Warp& warp, Lane* lanes, unsigned came) {
    const int leader = __builtin_ctz(came);
    uint64_t* values = warp.values[leader][warp.next_buffer[leader] ^= 1];
    if (came != ~0u) std::memset(values, 0, sizeof warp.values[0][0]);
    values[kUndefinedLanes] = values[kVotes] = 0;
    for (unsigned left = came; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        values[i] = lanes[i].value;
        values[kVotes] |= (lanes[i].value & 1) << i;
        if (lanes[i].undefined != 0) values[kUndefinedLanes] |= 1u << i;
        lanes[i].received = values;
        lanes[i].mask = (warp.unnamed >> i & 1) != 0 ? came : came & lanes[i].mask;
    }
}

void meet(Worker& worker, unsigned number, unsigned came) {
    Warp& warp = worker.warps[number];
    Lane* lanes = lanes_of_warp(worker, number);
    const Collective kind = lanes[__builtin_ctz(came)].kind;
    hand_over_logs(worker, number, came);
    Observer* const observer = worker.launch->observer;
    if (observer != nullptr && !is_of_matrices(kind)) {
        observer->warp_collective(worker.number, number, came, kind == Collective::syncwarp);
    }
    if (kind == Collective::syncwarp) meet_in_warp(worker, number, came);
    hand_out_values(warp, lanes, came);
    warp.at_collective &= ~came;
    warp.unnamed &= ~came;
    warp.ready |= came;
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

void overlook_unnamed(const Lane& lane) {
    Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
    failure.set_what("lane %u calls %s with mask 0x%08x, which does not name it", lane_id(),
                     name_of(lane.kind), lane.mask);
    if (!current.worker->launch->overlooked.take(failure, lane.place))
        fail_at_place(failure, lane.place);
}

// Always inline, as what it ends with: see switch_away.
[[gnu::always_inline]] inline const uint64_t* exchange(unsigned mask, uint64_t value,
                                                       Collective kind, uintptr_t place) {
    Lane& lane = *current.lane;
    lane.place = place;
    lane.mask = mask;
    lane.kind = kind;
    lane.value = value;
    Warp& warp = *lane.warp;
    if ((mask & bit_of(lane)) == 0) {
        overlook_unnamed(lane);
        warp.unnamed |= bit_of(lane);
    }
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
        meet(worker, number, came);
        left &= ~came;
        any = true;
    }
    if (!any && warp.asks_active != 0) {
        answer_active_mask(warp, lanes);
        any = true;
    }
    // Lanes that their mask does not name wait for the others only as long as those can still come.
    if (!any && warp.ready == 0 && warp.unnamed != 0) {
        const Lane& first = lanes[__builtin_ctz(warp.unnamed)];
        meet(worker, number, unnamed_with(warp, lanes, first));
        any = true;
    }
    if (any) note_meeting(worker);
    return any;
}

const uint64_t* warp_exchange(unsigned mask, uint64_t value, Collective kind) {
    const uint64_t* values = exchange(mask, value, kind, as_address(__builtin_return_address(0)));
    if (kind != Collective::syncwarp && values[kUndefinedLanes] != 0) {
        inherit_undefined(static_cast<unsigned>(__builtin_ctzll(values[kUndefinedLanes])));
    }
    return values;
}

unsigned lanes_equal(const uint64_t* values, unsigned mask, uint64_t wanted) {
    if (current.lane->kind == Collective::vote && wanted == 1)
        return static_cast<unsigned>(values[kVotes]) & mask;
    unsigned equal = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        equal |= static_cast<unsigned>(values[lane] == wanted) << lane;
    return equal & mask;
}

uint64_t warp_shuffle(unsigned mask, uint64_t value, Shuffle mode, int operand, int width) {
    const auto place = as_address(__builtin_return_address(0));
    const int source = source_of(mode, static_cast<int>(lane_id()), operand, width);
    const uint64_t* values = exchange(mask, value, Collective::shuffle, place);
    if ((current.lane->mask >> source & 1) == 0) return undefined_value(mask, source, place);
    if ((values[kUndefinedLanes] >> source & 1) != 0)
        inherit_undefined(static_cast<unsigned>(source));
    return values[source];
}

namespace {

// A GPU leaves open what happens where a lane of the warp is missing.
void require_all_lanes(Collective kind) {
    const unsigned missing = ~current.lane->mask;
    if (missing == 0) return;
    const int lane = __builtin_ctz(missing);
    const bool existed = (current.lane->warp->existing >> lane & 1) != 0;
    fail(cudaErrorLaunchFailure, "%s needs all 32 lanes of a warp, and lane %d %s", name_of(kind),
         lane, existed ? "has exited" : "is not there: the block's size is no multiple of 32");
}

}  // namespace

const uint64_t* meet_all_lanes(Collective kind, uint64_t value, uintptr_t place) {
    const uint64_t* const values = exchange(~0u, value, kind, place);
    require_all_lanes(kind);
    return values;
}

void meet_at_matrix(Collective kind, const void* address, unsigned ld, size_t element_bytes) {
    const auto place = as_address(__builtin_return_address(0));
    constexpr uintptr_t kAlignment = 32;  // bytes
    constexpr size_t kLineAlignment = 16;
    if (as_address(address) % kAlignment != 0) {
        fail(cudaErrorMisalignedAddress, "%s at %p: the address must be a multiple of 32",
             name_of(kind), address);
    }
    if (ld * element_bytes % kLineAlignment != 0) {
        fail(cudaErrorMisalignedAddress,
             "%s with lines %u elements apart: it must be a multiple of %zu", name_of(kind), ld,
             kLineAlignment / element_bytes);
    }
    constexpr unsigned kAll = ~0u;
    const uint64_t argument = as_address(address) + (uint64_t{ld} << 48);
    const uint64_t* const arguments = exchange(kAll, argument, kind, place);
    require_all_lanes(kind);
    for (unsigned lane = 0; lane < kWarpSize; lane++) {
        if (arguments[lane] == argument) continue;
        fail(cudaErrorLaunchFailure,
             "%s wants one matrix of all lanes: lane %u gives another address or distance of "
             "lines than lane %u",
             name_of(kind), lane, lane_id());
    }
}

void multiply_matrices(const MatrixProduct& mine) {
    const auto place = as_address(__builtin_return_address(0));
    constexpr auto kKind = Collective::matrix_multiply;
    constexpr unsigned kAll = ~0u;
    const uint64_t* const given = exchange(kAll, as_address(&mine), kKind, place);
    require_all_lanes(kKind);
    const auto of_lane = [&](int lane) -> const MatrixProduct& {
        return *reinterpret_cast<const MatrixProduct*>(given[lane]);
    };
    const auto lane = static_cast<int>(lane_id());
    const int count = mine.m * mine.n / static_cast<int>(kWarpSize);
    for (int i = 0; i < count; i++) {
        const MatrixPlace at =
            matrix_place(MatrixUse::accumulator, mine.m, mine.n, mine.k, lane, i);
        double product = 0;
        for (int p = 0; p < mine.k; p++) {
            const MatrixOwner a = owner_in_a(mine.m, mine.k, at.row, p);
            const MatrixOwner b = owner_in_b(mine.k, p, at.col);
            product += static_cast<double>(of_lane(a.lane).a[a.index]) *
                       static_cast<double>(of_lane(b.lane).b[b.index]);
        }
        mine.sum[i] += product;
    }
    exchange(kAll, 0, kKind, place);  // what the others still read stays as it is until then
}

unsigned active_mask() {
    Lane& lane = *current.lane;
    lane.place = as_address(__builtin_return_address(0));
    Warp& warp = *lane.warp;
    warp.asks_active |= bit_of(lane);
    warp.ready &= ~bit_of(lane);
    switch_away(lane);
    return lane.mask;
}

unsigned lane_id() {
    return current.lane->linear % kWarpSize;
}

}  // namespace cpu_device
