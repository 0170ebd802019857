// SPDX-License-Identifier: MIT
//
// Blocks that wait for each other across OS threads, as a cluster or as the grid of a cooperative
// launch; and the shared memory of a cluster's blocks.
#include <algorithm>
#include <chrono>

#include "meetings.hpp"
#include "spinning.hpp"

namespace cpu_device {
namespace {

// Opens the barrier if every block has arrived or, in a cluster, exited: a grid's barrier counts all blocks. The
// gang's mutex is held.
void open_if_full(Gang& gang) {
    const uint64_t phase = gang.phase;
    bool any = false;
    for (const Worker* member : gang.members) {
        const bool told = member->cluster_told > phase;
        if (!told && (!member->cluster_left || member->launch->cooperative)) return;
        any |= told;
    }
    if (!any) return;
    gang.phase = phase + 1;
    gang.events++;
    gang.opened.notify_all();
}

// Tells the gang once all of the block's threads that have not exited have arrived.
void tell_gang(Worker& worker) {
    Gang& gang = *worker.gang;
    const uint64_t phase = gang.phase;
    if (worker.cluster_arrivals == 0 || worker.cluster_told > phase) return;
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        const Lane& lane = worker.lanes[i];
        const bool alive = (lane.warp->alive() & bit_of(lane)) != 0;
        if (alive && !(lane.cluster_arrived && lane.cluster_phase == phase)) return;
    }
    worker.cluster_arrivals = 0;
    const Undisturbed lock_is_held;
    const std::lock_guard<std::mutex> lock(gang.mutex);
    worker.cluster_told = phase + 1;
    open_if_full(gang);
}

bool all_wait_for_cluster(const Worker& worker) {
    return std::all_of(worker.warps, worker.warps + worker.warp_count,
                       [](const Warp& warp) { return warp.at_cluster == warp.alive(); });
}

bool any_waits_for_cluster(const Worker& worker) {
    return std::any_of(worker.warps, worker.warps + worker.warp_count,
                       [](const Warp& warp) { return warp.at_cluster != 0; });
}

// Lets those go on that wait for an earlier phase than this. False if there are none.
bool release_from_cluster(Worker& worker, uint64_t phase) {
    const bool whole_block = all_wait_for_cluster(worker);
    bool any = false;
    for (unsigned number = 0; number < worker.warp_count; number++) {
        Warp& warp = worker.warps[number];
        for (unsigned left = warp.at_cluster; left != 0; left &= left - 1) {
            const Lane& lane = lanes_of_warp(worker, number)[__builtin_ctz(left)];
            if (lane.cluster_phase == phase) continue;
            warp.at_cluster &= ~bit_of(lane);
            warp.ready |= bit_of(lane);
            any = true;
        }
    }
    if (any && whole_block) note_barrier(worker);
    return any;
}

// A block for which the grid's barrier waits and that has exited; null if there is none.
const Worker* missing_block(const Worker& worker, uint64_t phase) {
    if (!worker.launch->cooperative) return nullptr;
    const std::lock_guard<std::mutex> lock(worker.gang->mutex);
    for (const Worker* member : worker.gang->members) {
        if (member->cluster_left && member->cluster_told <= phase) return member;
    }
    return nullptr;
}

// As far as their workers know after the last event. The gang's mutex is held.
bool all_are_idle(const Gang& gang) {
    return std::all_of(gang.members.begin(), gang.members.end(), [&](const Worker* member) {
        return member->cluster_left || member->idle_since == gang.events;
    });
}

}  // namespace

// Sleeps rather than looks again and again: the blocks that it waits for need the processors. Not for
// ever, since nobody wakes it when the launch ends early.
bool wait_for_event(Worker& worker, uint64_t events) {
    constexpr std::chrono::milliseconds kLook{20};
    Gang& gang = *worker.gang;
    std::unique_lock<std::mutex> lock(gang.mutex);
    if (gang.events != events) return true;
    worker.idle_since = events;
    if (!worker.launch->cooperative && all_are_idle(gang)) return false;
    gang.opened.wait_for(lock, kLook, [&] { return gang.events != events; });
    return true;
}

bool release_from_cluster(Worker& worker) {
    return any_waits_for_cluster(worker) && release_from_cluster(worker, worker.gang->phase);
}

bool wait_for_cluster(Worker& worker) {
    if (!any_waits_for_cluster(worker)) return false;
    tell_gang(worker);
    for (;;) {
        const uint64_t events = worker.gang->events;
        const uint64_t phase = worker.gang->phase;
        if (release_from_cluster(worker, phase) || release_from_mbarriers(worker)) return true;
        if (worker.cluster_told <= phase) return false;
        if (worker.launch->stopped) return true;
        if (const Worker* const missing = missing_block(worker, phase)) {
            report_missing_block(worker, *missing);
            return true;
        }
        if (worker.launch->timed_out) {
            report_timeout(worker);
            return true;
        }
        note_idle_round(worker);
        if (!wait_for_event(worker, events)) return false;
    }
}

bool is_cooperative() {
    return current.worker->launch->cooperative;
}

void leave_cluster(Worker& worker) {
    const std::lock_guard<std::mutex> lock(worker.gang->mutex);
    worker.cluster_left = true;
    worker.gang->events++;
    open_if_full(*worker.gang);
    worker.gang->opened.notify_all();
}

namespace {

void arrive() {
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    if (lane.cluster_arrived) {
        fail(cudaErrorLaunchFailure, "a second arrival at the %s barrier without a wait",
             is_cooperative() ? "grid's" : "cluster");
    }
    lane.cluster_arrived = true;
    log_signal(0, lane.place, kArrives);
    if (!is_cooperative()) {
        const Undisturbed clocks_grow;
        const GangLock lock(worker.cluster());
        release_to(worker.gang->at_barrier);
    }
    lane.cluster_phase = worker.gang->phase;
    // Early, so that other blocks need not wait for what this one does before it waits.
    if (++worker.cluster_arrivals == worker.launch->threads) tell_gang(worker);
}

void wait() {
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    if (!lane.cluster_arrived) {
        fail(cudaErrorLaunchFailure, "a wait at the %s barrier without an arrival",
             is_cooperative() ? "grid's" : "cluster");
    }
    Warp& warp = *lane.warp;
    warp.at_cluster |= bit_of(lane);
    warp.ready &= ~bit_of(lane);
    const uintptr_t place = lane.place;
    switch_away(lane);
    lane.cluster_arrived = false;
    worker.exits.note_wait(lane.cluster_phase);
    log_signal(0, place, kWaits);
    if (is_cooperative()) return;
    const Undisturbed clocks_grow;
    const GangLock lock(worker.cluster());
    acquire_from(worker.gang->at_barrier);
}

void need_clusters() {
    if (!is_cooperative()) return;
    fail(cudaErrorNotSupported,
         "a cluster barrier in a cooperative launch, which the CPU device does not support");
}

void need_cooperation() {
    if (is_cooperative()) return;
    fail(cudaErrorLaunchFailure,
         "this_grid().sync() in a launch that is not cooperative: its blocks need not run at the "
         "same time; launch with cudaLaunchCooperativeKernel or cudaLaunchAttributeCooperative");
}

}  // namespace

void cluster_arrive() {
    current.lane->place = as_address(__builtin_return_address(0));
    need_clusters();
    arrive();
}

void cluster_wait() {
    current.lane->place = as_address(__builtin_return_address(0));
    need_clusters();
    wait();
}

void cluster_barrier() {
    current.lane->place = as_address(__builtin_return_address(0));
    need_clusters();
    arrive();
    wait();
}

void grid_arrive() {
    current.lane->place = as_address(__builtin_return_address(0));
    need_cooperation();
    arrive();
}

void grid_wait() {
    current.lane->place = as_address(__builtin_return_address(0));
    need_cooperation();
    wait();
}

void grid_barrier() {
    current.lane->place = as_address(__builtin_return_address(0));
    need_cooperation();
    arrive();
    wait();
}

// A cooperative launch has no clusters, or rather: every block is one.
unsigned cluster_block_rank() {
    return is_cooperative() ? 0 : current.worker->cluster_rank;
}

unsigned cluster_block_count() {
    return is_cooperative() ? 1 : current.worker->launch->gang_size;
}

dim3 cluster_dimensions() {
    return current.worker->launch->request->configuration.cluster;
}

dim3 cluster_block_index() {
    return is_cooperative() ? dim3(0, 0, 0) : current.worker->cluster_index;
}

bool is_shared_in_cluster(const void* address) {
    return owner_of_shared(*current.worker, as_address(address)) != nullptr;
}

unsigned rank_of_shared(const void* shared) {
    const Worker* const owner = owner_of_shared(*current.worker, as_address(shared));
    if (owner == nullptr)
        fail(cudaErrorLaunchFailure, "getctarank of %p, which is not shared memory", shared);
    return is_cooperative() ? 0 : owner->cluster_rank;
}

void* map_shared_rank(void* shared, unsigned rank) {
    const Worker& worker = *current.worker;
    if (rank >= cluster_block_count()) {
        fail(cudaErrorLaunchFailure, "block rank %u of a cluster of %u blocks", rank,
             cluster_block_count());
    }
    if (is_cooperative()) return shared;
    const Worker* const owner = owner_of_shared(worker, as_address(shared));
    if (owner == nullptr) {
        fail(cudaErrorLaunchFailure, "map_shared_rank of %p, which is not shared memory", shared);
    }
    const uintptr_t offset = as_address(shared) - owner->thread_locals.low;
    return reinterpret_cast<void*>(worker.gang->members[rank]->thread_locals.low + offset);
}

}  // namespace cpu_device
