// SPDX-License-Identifier: MIT
//
// Barriers of a part of the block's threads: bar.sync and bar.arrive with a number and a count.
#include <algorithm>

#include "meetings.hpp"

namespace cpu_device {
namespace {

constexpr unsigned kBarriers = 16;

// Threads of warps that are only a part of one count as whole warps.
unsigned threads_of_block(const Worker& worker) {
    return worker.warp_count * kWarpSize;
}

void check(const Worker& worker, unsigned number, unsigned threads) {
    if (number >= kBarriers) {
        fail(cudaErrorLaunchFailure, "barrier %u: a block has barriers 0 to 15", number);
    }
    if (threads == 0 || threads % kWarpSize != 0) {
        fail(cudaErrorLaunchFailure,
             "barrier %u is to wait for %u threads: the number must be a multiple of 32", number,
             threads);
    }
    if (threads > threads_of_block(worker)) {
        fail(cudaErrorLaunchFailure,
             "barrier %u is to wait for %u threads, and the block has only %u", number, threads,
             worker.launch->threads);
    }
    const NamedBarrier& barrier = worker.named[number];
    if (barrier.arrived != 0 && barrier.threads != threads) {
        fail(cudaErrorLaunchFailure,
             "barrier %u is to wait for %u threads, while %u threads have come for which it is to "
             "wait for %u",
             number, threads, barrier.arrived, barrier.threads);
    }
}

// Counts the running lane; whether it was the last one, for which all others have waited.
bool arrive(Worker& worker, unsigned number, unsigned threads, int predicate) {
    NamedBarrier& barrier = worker.named[number];
    barrier.threads = threads;
    barrier.votes += predicate != 0;
    // The last warp of a block may be a part of one.
    const unsigned missing =
        threads_of_block(worker) == threads ? threads - worker.launch->threads : 0;
    if (++barrier.arrived + missing < threads) return false;
    barrier.result = barrier.votes;
    barrier.result_threads = barrier.arrived;
    barrier.arrived = barrier.votes = 0;
    for (unsigned i = 0; i < worker.warp_count; i++) {
        Warp& warp = worker.warps[i];
        for (unsigned left = warp.at_named; left != 0; left &= left - 1) {
            const unsigned lane = static_cast<unsigned>(__builtin_ctz(left));
            if (lanes_of_warp(worker, i)[lane].barrier_number != number) continue;
            warp.at_named &= ~(1u << lane);
            warp.ready |= 1u << lane;
        }
    }
    note_meeting(worker);
    return true;
}

// What the running lane did comes before what those do that have waited there.
void tell_at(unsigned number) {
    const Undisturbed clocks_grow;
    const GangLock lock(current.worker->cluster());
    release_to(current.worker->known_at_named[number]);
}
void learn_at(unsigned number) {
    const Undisturbed clocks_grow;
    const GangLock lock(current.worker->cluster());
    acquire_from(current.worker->known_at_named[number]);
}

}  // namespace

int named_barrier(unsigned number, unsigned threads, BarrierVote vote, int predicate) {
    const auto place = as_address(__builtin_return_address(0));
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    lane.place = place;
    if (threads == 0) threads = threads_of_block(worker);
    check(worker, number, threads);
    // __syncthreads, and what nvcc makes of it.
    if (number == 0 && threads == threads_of_block(worker))
        return vote_at_barrier(place, vote, predicate);
    // What arrives tells what it did before, and who has waited knows that.
    log_signal_of_barrier(number, place, kTells | kReleases);
    tell_at(number);
    if (!arrive(worker, number, threads, predicate)) {
        lane.barrier_number = number;
        lane.warp->at_named |= bit_of(lane);
        lane.warp->ready &= ~bit_of(lane);
        switch_away(lane);
    }
    log_signal_of_barrier(number, place, kObserves | kAcquires);
    learn_at(number);
    const NamedBarrier& barrier = current.worker->named[number];
    return result_of(vote, barrier.result, barrier.result_threads);
}

void arrive_at_named_barrier(unsigned number, unsigned threads) {
    const auto place = as_address(__builtin_return_address(0));
    Worker& worker = *current.worker;
    current.lane->place = place;
    check(worker, number, threads);
    log_signal_of_barrier(number, place, kTells | kReleases);
    tell_at(number);
    arrive(worker, number, threads, 0);
}

}  // namespace cpu_device
