// SPDX-License-Identifier: MIT
//
// Clusters: their barrier, across OS threads, and the shared memory of their blocks.
#include <algorithm>
#include <thread>

#include "meetings.hpp"

namespace cpu_device {
namespace {

// Opens the barrier if every block has arrived or exited. The gang's mutex is held.
void open_if_full(Gang& gang) {
    const uint64_t phase = gang.phase;
    bool any = false;
    for (const Worker* member : gang.members) {
        const bool told = member->cluster_told > phase;
        if (!told && !member->cluster_left) return;
        any |= told;
    }
    if (any) gang.phase = phase + 1;
}

// Tells the gang once all of the block's threads that have not exited have arrived.
void tell_gang(Worker& worker) {
    Gang& gang = *worker.gang;
    const uint64_t phase = gang.phase;
    if (worker.cluster_arrivals == 0 || worker.cluster_told > phase) return;
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        const Lane& lane = worker.lanes[i];
        const bool alive = (warp_of(worker, lane).alive() & bit_of(lane)) != 0;
        if (alive && !(lane.cluster_arrived && lane.cluster_phase == phase)) return;
    }
    worker.cluster_arrivals = 0;
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

}  // namespace

bool wait_for_cluster(Worker& worker) {
    if (!any_waits_for_cluster(worker)) return false;
    tell_gang(worker);
    for (;;) {
        const uint64_t phase = worker.gang->phase;
        if (release_from_cluster(worker, phase)) return true;
        if (worker.cluster_told <= phase) return false;
        if (worker.launch->stopped) return true;
        if (worker.launch->timed_out) {
            report_timeout(worker);
            return true;
        }
        std::this_thread::yield();
    }
}

void leave_cluster(Worker& worker) {
    const std::lock_guard<std::mutex> lock(worker.gang->mutex);
    worker.cluster_left = true;
    open_if_full(*worker.gang);
}

void cluster_arrive() {
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    lane.place = as_address(__builtin_return_address(0));
    if (lane.cluster_arrived) {
        fail(cudaErrorLaunchFailure, "a second arrival at the cluster barrier without a wait");
    }
    lane.cluster_arrived = true;
    lane.cluster_phase = worker.gang->phase;
    // Early, so that other blocks need not wait for what this one does before it waits.
    if (++worker.cluster_arrivals == worker.launch->threads) tell_gang(worker);
}

void cluster_wait() {
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    lane.place = as_address(__builtin_return_address(0));
    if (!lane.cluster_arrived) {
        fail(cudaErrorLaunchFailure, "a wait at the cluster barrier without an arrival");
    }
    Warp& warp = warp_of(worker, lane);
    warp.at_cluster |= bit_of(lane);
    warp.ready &= ~bit_of(lane);
    switch_away(lane);
    lane.cluster_arrived = false;
}

void cluster_barrier() {
    cluster_arrive();
    cluster_wait();
}

unsigned cluster_block_rank() {
    return current.worker->cluster_rank;
}

unsigned cluster_block_count() {
    return current.worker->launch->cluster_size;
}

dim3 cluster_dimensions() {
    return current.worker->launch->request->configuration.cluster;
}

dim3 cluster_block_index() {
    return current.worker->cluster_index;
}

void* map_shared_rank(void* shared, unsigned rank) {
    const Worker& worker = *current.worker;
    if (rank >= worker.gang->members.size()) {
        fail(cudaErrorLaunchFailure, "block rank %u of a cluster of %zu blocks", rank,
             worker.gang->members.size());
    }
    if (!worker.thread_locals.holds(as_address(shared))) {
        fail(cudaErrorLaunchFailure, "map_shared_rank of %p, which is not shared memory", shared);
    }
    const uintptr_t offset = as_address(shared) - worker.thread_locals.low;
    return reinterpret_cast<void*>(worker.gang->members[rank]->thread_locals.low + offset);
}

}  // namespace cpu_device
