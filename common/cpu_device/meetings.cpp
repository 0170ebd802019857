// SPDX-License-Identifier: MIT
#include "meetings.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

#include "access.hpp"
#include "symbolize.hpp"

namespace cpu_device {
namespace {

void hand_over_all_logs(Worker& worker) {
    for (unsigned number = 0; number < worker.warp_count; number++) {
        hand_over_logs(worker, number, worker.warps[number].existing);
    }
}

// ---------------------------------------------------------------- the warp

// Those that have arrived where `lane` waits, if that is all it waits for; else 0.
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
    const unsigned leader = static_cast<unsigned>(__builtin_ctz(came));
    uint64_t* values = warp.values[leader][warp.next_buffer[leader] ^= 1];
    if (came != ~0u) std::memset(values, 0, sizeof warp.values[0][0]);
    for (unsigned left = came; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        values[i] = lanes[i].value;
        lanes[i].received = values;
        lanes[i].mask = came;
    }
}

// Lanes that asked who is active at the same place as the first of them.
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

// ---------------------------------------------------------------- the block

// Whether every warp waits at the barrier as a whole, but for those that have exited as a whole.
bool barrier_is_full(const Worker& worker) {
    for (unsigned number = 0; number < worker.warp_count; number++) {
        const Warp& warp = worker.warps[number];
        if (!warp.has_exited() && warp.at_barrier != warp.existing) return false;
    }
    return true;
}

std::string name_of(const Lane& lane) {
    return "thread (" + std::to_string(lane.index.x) + "," + std::to_string(lane.index.y) + "," +
           std::to_string(lane.index.z) + ")";
}

std::string line_of(const Lane& lane) {
    return user_line({lane.place});
}

Lane& first_lane(Worker& worker, unsigned Warp::*state) {
    for (unsigned number = 0; number < worker.warp_count; number++) {
        const unsigned lanes = worker.warps[number].*state;
        if (lanes != 0) {
            return worker.lanes[number * kWarpSize + static_cast<unsigned>(__builtin_ctz(lanes))];
        }
    }
    return worker.lanes[0];
}

unsigned count_lanes(const Worker& worker, unsigned Warp::*state) {
    unsigned count = 0;
    for (unsigned number = 0; number < worker.warp_count; number++) {
        count += static_cast<unsigned>(__builtin_popcount(worker.warps[number].*state));
    }
    return count;
}

void stop_at(Worker& worker, const Lane& lane, Failure failure) {
    failure.frames[0] = lane.place;
    failure.frame_count = 1;
    worker.launch->failure.record(failure);
    worker.launch->stopped = true;
}

void stop_at(Worker& worker, const Lane& lane, const std::string& what) {
    Failure failure = failure_of(worker, &lane, cudaErrorLaunchFailure);
    failure.set_what("%s", what.c_str());
    stop_at(worker, lane, failure);
}

// The compiler may have made copies of one barrier: only different lines are different places.
bool report_different_places(Worker& worker) {
    const Lane& first = first_lane(worker, &Warp::at_barrier);
    const std::string first_line = line_of(first);
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        const Lane& other = worker.lanes[i];
        if ((warp_of(worker, other).at_barrier & bit_of(other)) == 0 || other.place == first.place)
            continue;
        const std::string line = line_of(other);
        if (line == first_line) continue;
        stop_at(
            worker, first,
            "threads wait at different barriers: " + name_of(other) + " at " + line + ", this one");
        return true;
    }
    return false;
}

bool complete_barrier(Worker& worker) {
    if (worker.barrier_places_differ && report_different_places(worker)) return false;
    hand_over_all_logs(worker);
    if (Observer* observer = worker.launch->observer) observer->block_barrier(worker.number);
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
    return true;
}

[[gnu::always_inline]] inline void arrive_at_barrier(uintptr_t place, int predicate) {
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    lane.place = place;
    if (worker.barrier_threads == 0) worker.barrier_place = place;
    worker.barrier_places_differ |= worker.barrier_place != place;
    worker.barrier_threads++;
    worker.barrier_votes += predicate != 0;
    Warp& warp = warp_of(worker, lane);
    warp.at_barrier |= bit_of(lane);
    warp.ready &= ~bit_of(lane);
    switch_away(lane);
}

// ---------------------------------------------------------------- the cluster

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

// Lets those go on that wait for an earlier phase than this. False if there are none.
bool release_from_cluster(Worker& worker, uint64_t phase) {
    bool any = false;
    for (unsigned number = 0; number < worker.warp_count; number++) {
        Warp& warp = worker.warps[number];
        for (unsigned left = warp.at_cluster; left != 0; left &= left - 1) {
            Lane& lane =
                worker.lanes[number * kWarpSize + static_cast<unsigned>(__builtin_ctz(left))];
            if (lane.cluster_phase == phase) continue;
            warp.at_cluster &= ~bit_of(lane);
            warp.ready |= bit_of(lane);
            any = true;
        }
    }
    return any;
}

// Waits for the other blocks of the cluster, on this OS thread. False if that is in vain, since not
// all threads of this block have arrived.
bool wait_for_cluster(Worker& worker) {
    if (count_lanes(worker, &Warp::at_cluster) == 0) return false;
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
    return true;
}

const char* name_of(Collective kind) {
    switch (kind) {
        case Collective::syncwarp:
            return "__syncwarp";
        case Collective::shuffle:
            return "__shfl_sync";
        case Collective::vote:
            return "__ballot_sync, __any_sync or __all_sync";
        case Collective::match:
            return "__match_sync";
        case Collective::reduce:
            return "__reduce_sync";
    }
    return "a warp collective";
}

std::string where_is(const Worker& worker, const Lane& lane) {
    const Warp& warp = worker.warps[lane.linear / kWarpSize];
    const unsigned bit = bit_of(lane);
    std::string what;
    if ((warp.exited & bit) != 0) return "has exited";
    if ((warp.at_barrier & bit) != 0) what = "__syncthreads";
    if ((warp.at_cluster & bit) != 0) what = "the cluster barrier";
    if ((warp.at_collective & bit) != 0) {
        char mask[32];
        std::snprintf(mask, sizeof mask, " (mask 0x%08x)", lane.mask);
        what = name_of(lane.kind) + std::string(mask);
    }
    return "waits in " + what + " at " + line_of(lane);
}

void report_stuck_collective(Worker& worker) {
    const Lane& lane = first_lane(worker, &Warp::at_collective);
    const unsigned number = lane.linear / kWarpSize;
    const Warp& warp = worker.warps[number];
    unsigned missing = lane.mask & warp.alive() & ~warp.at_collective;
    if (missing == 0) {
        for (unsigned left = lane.mask & warp.at_collective; left != 0; left &= left - 1) {
            const Lane& other =
                worker.lanes[number * kWarpSize + static_cast<unsigned>(__builtin_ctz(left))];
            if (other.mask != lane.mask || other.kind != lane.kind) missing |= bit_of(other);
        }
    }
    const unsigned first = static_cast<unsigned>(__builtin_ctz(missing));
    char what[160];
    std::snprintf(what, sizeof what,
                  "lane %u waits in %s for lanes of its mask 0x%08x that never arrive: lane %u ",
                  lane.linear % kWarpSize, name_of(lane.kind), lane.mask, first);
    stop_at(worker, lane,
            what + where_is(worker, worker.lanes[number * kWarpSize + first]) + ", this one");
}

void report_divergent_barrier(Worker& worker, unsigned Warp::*state, const char* barrier) {
    const Lane& waiting = first_lane(worker, state);
    const unsigned waiting_count = count_lanes(worker, state);
    std::string text;
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        const Lane& other = worker.lanes[i];
        const Warp& warp = warp_of(worker, other);
        if ((warp.*state & bit_of(other)) != 0) continue;
        // Whole warps that have exited hold up nothing.
        if (warp.has_exited() && state == &Warp::at_barrier) continue;
        text = "divergent barrier: " + name_of(other) + " " + where_is(worker, other) + ", while ";
        break;
    }
    text += std::to_string(waiting_count) + " of " + std::to_string(worker.launch->threads) +
            " threads wait in " + barrier;
    stop_at(worker, waiting, text);
}

uintptr_t as_address(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
}

}  // namespace

void hand_over_logs(Worker& worker, unsigned number, unsigned meeting) {
    Observer* observer = worker.launch->observer;
    if (observer == nullptr) return;
    const Warp& warp = worker.warps[number];
    Lane* lanes = &worker.lanes[number * kWarpSize];
    WarpLogs logs{};
    logs.meeting = meeting;
    logs.settled = warp.at_barrier | warp.at_cluster | warp.exited;
    for (unsigned left = warp.existing; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        logs.lane[i] = {lanes[i].log.data(), lanes[i].log.size()};
    }
    observer->accesses(worker.number, number, logs);
    for (unsigned left = warp.existing; left != 0; left &= left - 1) {
        lanes[__builtin_ctz(left)].log.clear();
    }
}

bool complete_warp_meetings(Worker& worker, unsigned number) {
    Warp& warp = worker.warps[number];
    Lane* lanes = &worker.lanes[number * kWarpSize];
    bool any = false;
    for (unsigned left = warp.at_collective; left != 0;) {
        const Lane& lane = lanes[__builtin_ctz(left)];
        left &= left - 1;
        const unsigned came = complete_collective(warp, lanes, lane);
        if (came == 0) continue;
        hand_over_logs(worker, number, came);
        if (Observer* observer = worker.launch->observer) {
            observer->warp_collective(worker.number, number, came,
                                      lane.kind == Collective::syncwarp);
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
    tell_gang(worker);
    return wait_for_cluster(worker) ? BlockMeeting::completed : BlockMeeting::stuck;
}

void report_stuck_block(Worker& worker) {
    if (count_lanes(worker, &Warp::at_collective) > 0) return report_stuck_collective(worker);
    if (worker.barrier_threads > 0) {
        return report_divergent_barrier(worker, &Warp::at_barrier, "__syncthreads");
    }
    report_divergent_barrier(worker, &Warp::at_cluster, "the cluster barrier");
}

void report_timeout(Worker& worker) {
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        const Lane& lane = worker.lanes[i];
        if ((warp_of(worker, lane).exited & bit_of(lane)) != 0) continue;
        Failure failure = failure_of(worker, &lane, cudaErrorLaunchTimeout);
        describe_timeout(failure);
        stop_at(worker, lane, failure);
        return;
    }
}

void leave_cluster(Worker& worker) {
    const std::lock_guard<std::mutex> lock(worker.gang->mutex);
    worker.cluster_left = true;
    open_if_full(*worker.gang);
}

// ---------------------------------------------------------------- what kernels call

namespace {

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

}  // namespace

const uint64_t* warp_exchange(unsigned mask, uint64_t value, Collective kind) {
    return exchange(mask, value, kind, as_address(__builtin_return_address(0)));
}

uint64_t warp_shuffle(unsigned mask, uint64_t value, Shuffle mode, int operand, int width) {
    const int lane = static_cast<int>(lane_id());
    const int segment = lane & ~(width - 1);
    int source = lane;
    switch (mode) {
        case Shuffle::index:
            source = segment + (operand & (width - 1));
            break;
        case Shuffle::exclusive_or:
            source = lane ^ operand;
            if (source >= segment + width) source = lane;
            break;
        case Shuffle::down:
            source = lane + operand;
            if (source >= segment + width) source = lane;
            break;
        case Shuffle::up:
            source = lane - operand;
            if (source < segment) source = lane;
            break;
    }
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

void block_barrier() {
    arrive_at_barrier(as_address(__builtin_return_address(0)), 0);
}

int block_barrier_vote(BarrierVote vote, int predicate) {
    arrive_at_barrier(as_address(__builtin_return_address(0)), predicate);
    const Worker& worker = *current.worker;
    switch (vote) {
        case BarrierVote::count:
            return static_cast<int>(worker.barrier_result);
        case BarrierVote::all:
            return worker.barrier_result == worker.barrier_result_threads;
        case BarrierVote::any:
            break;
    }
    return worker.barrier_result != 0;
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
    if (lane.cluster_phase == worker.gang->phase) {
        Warp& warp = warp_of(worker, lane);
        warp.at_cluster |= bit_of(lane);
        warp.ready &= ~bit_of(lane);
        switch_away(lane);
    }
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

void relax() {
    give_turn();
    std::this_thread::yield();
}

}  // namespace cpu_device
