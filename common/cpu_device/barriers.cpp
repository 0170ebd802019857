// SPDX-License-Identifier: MIT
//
// The block's barrier, and what is due when no lane of a block can go on by itself.
#include <algorithm>

#include "fast.hpp"
#include "meetings.hpp"

namespace cpu_device {
namespace {

// Whether every warp waits at the barrier as a whole, but for those that have exited as a whole.
bool barrier_is_full(const Worker& worker) {
    for (unsigned number = 0; number < worker.warp_count; number++) {
        const Warp& warp = worker.warps[number];
        if (!warp.has_exited() && warp.at_barrier != warp.existing) return false;
    }
    return true;
}

// Whether all that it lacks are lanes that have exited while others of their warp go on: undefined, and a GPU counts them
// as if they had come.
bool lacks_only_exited(const Worker& worker) {
    return std::all_of(worker.warps, worker.warps + worker.warp_count,
                       [](const Warp& warp) { return warp.at_barrier == warp.alive(); });
}

void complete_barrier(Worker& worker) {
    // Without looking, the compiler may make several copies of a barrier, of which none has a line.
    if (worker.barrier_places_differ && !is_fast() && report_different_barriers(worker)) return;
    note_barrier(worker);
    meet_in_block(worker);
    for (unsigned number = 0; number < worker.warp_count; number++) {
        Warp& warp = worker.warps[number];
        warp.ready |= warp.at_barrier;
        warp.at_barrier = 0;
    }
    worker.barrier_result = worker.barrier_votes;
    worker.barrier_result_threads = worker.barrier_threads;
    worker.barrier_threads = worker.barrier_votes = 0;
    worker.barrier_places_differ = false;
    note_meeting(worker);
}

[[gnu::always_inline]] inline void arrive_at_barrier(uintptr_t place, int predicate,
                                                     unsigned number = 0) {
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    lane.place = place;
    lane.barrier_number = number;
    if (worker.barrier_threads == 0) worker.barrier_place = place;
    worker.barrier_places_differ |= worker.barrier_place != place;
    worker.barrier_threads++;
    worker.barrier_votes += predicate != 0;
    Warp& warp = *lane.warp;
    warp.at_barrier |= bit_of(lane);
    warp.ready &= ~bit_of(lane);
    switch_away(lane);
}

}  // namespace

void note_barrier(Worker& worker) {
    hand_over_all_logs(worker);
    if (Observer* observer = worker.launch->observer) observer->block_barrier(worker.number);
}

BlockMeeting complete_block_meeting(Worker& worker) {
    const bool all_exited = std::all_of(worker.warps, worker.warps + worker.warp_count,
                                        [](const Warp& warp) { return warp.has_exited(); });
    if (all_exited) {
        hand_over_all_logs(worker);
        return BlockMeeting::all_exited;
    }
    if (worker.barrier_threads > 0 && barrier_is_full(worker)) {
        complete_barrier(worker);
        return BlockMeeting::completed;
    }
    if (worker.barrier_threads > 0 && lacks_only_exited(worker) && overlooks_exited(worker)) {
        complete_barrier(worker);
        return BlockMeeting::completed;
    }
    if (release_from_mbarriers(worker) || worker.bulk_copies.land_one(worker))
        return BlockMeeting::completed;
    if (wait_for_cluster(worker) || wait_at_mbarriers(worker)) return BlockMeeting::completed;
    return BlockMeeting::stuck;
}

void block_barrier() {
    arrive_at_barrier(as_address(__builtin_return_address(0)), 0);
}

void block_barrier_of_line(unsigned number) {
    arrive_at_barrier(as_address(__builtin_return_address(0)), 0, number);
}

int block_barrier_vote(BarrierVote vote, int predicate) {
    return vote_at_barrier(as_address(__builtin_return_address(0)), vote, predicate);
}

int vote_at_barrier(uintptr_t place, BarrierVote vote, int predicate) {
    arrive_at_barrier(place, predicate);
    const Worker& worker = *current.worker;
    return result_of(vote, worker.barrier_result, worker.barrier_result_threads);
}

}  // namespace cpu_device
