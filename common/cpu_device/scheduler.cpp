// SPDX-License-Identifier: MIT
//
// Runs the lanes of a block in turns. Inside a round of a warp, control passes from lane to lane
// directly; the scheduler decides only when all of the warp's lanes wait.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "access.hpp"
#include "meetings.hpp"
#include "shared_memory.hpp"
#include "spinning.hpp"
#include "undefined.hpp"
#include "worker.hpp"

extern __thread uint3 lane_block_index asm("blockIdx");
extern __thread dim3 lane_block_dimensions asm("blockDim");
extern __thread dim3 lane_grid_dimensions asm("gridDim");

namespace cpu_device {

constinit thread_local Current current;

namespace {

// What every lane's fiber runs: the kernel, once a block, for ever.
void lane_main() {
    current.lane->stack_high = as_address(__builtin_frame_address(0));
    become(*current.lane);
    for (;;) {
        Lane& lane = *current.lane;
        Worker& worker = *current.worker;
        lane.path = 0;
        lane.call_depth = 0;
        worker.launch->request->run(worker.launch->request->invocation);
        if (current.follows) check_last_store();
        Warp& warp = *lane.warp;
        warp.exited |= bit_of(lane);
        warp.ready &= ~bit_of(lane);
        note_progress(worker);
        switch_away(lane);
    }
}

void start_lanes(Worker& worker) {
    for (; worker.started < worker.launch->threads; worker.started++) {
        char* low = worker.stacks + worker.started * kStackStride;
        worker.lanes[worker.started].fiber.start(low + kStackBytes, lane_main);
    }
}

// Runs the warp's lanes until each waits for another warp, has exited, or gave others a turn.
void run_warp(Worker& worker, unsigned number) {
    Warp& warp = worker.warps[number];
    const std::atomic<bool>& stopped = worker.launch->stopped;
    int rounds = 0;
    do {
        // It may vote for ever on whether another warp has done something.
        if (++rounds > kRoundsPerTurn) return;
        warp.turn = warp.ready;
        if (warp.turn == 0) return;
        const unsigned bit = static_cast<unsigned>(__builtin_ctz(warp.turn));
        warp.turn &= warp.turn - 1;
        Lane& first = lanes_of_warp(worker, number)[bit];
        become(first);
        Fiber::switch_over(worker.home, first.fiber);
        if (stopped.load(std::memory_order_relaxed)) return;
        if (warp.ready != 0) hand_over_logs(worker, number, 0);
    } while (complete_warp_meetings(worker, number));
}

void run_rounds(Worker& worker) {
    for (;;) {
        const uint64_t progress = worker.progress;
        unsigned ready = 0;
        for (unsigned number = 0; number < worker.warp_count; number++) {
            run_warp(worker, number);
            if (worker.launch->stopped) return;
            if (worker.launch->timed_out) return report_timeout(worker);
            ready |= worker.warps[number].ready;
        }
        if (ready != 0) {  // those gave others a turn, and want one now
            if (worker.progress == progress) {
                note_idle_round(worker);
                std::this_thread::yield();  // perhaps they wait for a block that has no processor
            }
            continue;
        }
        switch (complete_block_meeting(worker)) {
            case BlockMeeting::completed:
                continue;
            case BlockMeeting::all_exited:
                return;
            case BlockMeeting::stuck:
                report_stuck_block(worker);
                return;
        }
    }
}

// Until an undefined value is to be followed.
void look_no_longer_than_needed(Worker& worker) {
    current.follows = false;
    current.at_length = current.observed;
    if (!current.observed) current.dynamic_shared.set(worker.dynamic_shared);
}

void begin_block(Worker& worker) {
    if (current.follows) look_no_longer_than_needed(worker);
    lane_block_index = worker.block;
    for (unsigned number = 0; number < worker.warp_count; number++) {
        Warp& warp = worker.warps[number];
        const unsigned lanes = std::min(worker.launch->threads - number * kWarpSize, kWarpSize);
        warp.existing = warp.ready = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
        warp.turn = warp.at_collective = warp.at_barrier = warp.at_cluster = 0;
        warp.asks_active = warp.exited = 0;
    }
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        Lane& lane = worker.lanes[i];
        lane.place = 0;
        lane.cluster_arrived = lane.in_kernel = false;
        lane.undefined = 0;
        lane.last_store = {};
        lane.lowest_seen = UINTPTR_MAX;
        lane.highest_seen = 0;
        lane.log.clear();
    }
    worker.barrier_threads = worker.barrier_votes = 0;
    worker.barrier_places_differ = false;
    worker.cluster_arrivals = 0;
    worker.copies.begin_block();
    worker.exits.begin_block(worker.gang->members.size());
    worker.releases = false;
    current.unfinished = nullptr;
    poison_shared_memory(worker);
    if (Observer* observer = worker.launch->observer) {
        observer->begin_block(worker.number, worker.block, worker.thread_locals.low,
                              worker.thread_locals.high);
    }
}

// Large zeroed memory that costs nothing until it is touched, and is never given back: workers
// live as long as the process.
template <class T>
T* map_array(size_t count) {
    void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, count * sizeof(T), MADV_NOHUGEPAGE);  // only a few pages of each are touched
    return static_cast<T*>(memory);
}

// Memory for stacks. What grows beyond their low end faults, and overwrites nobody's memory.
char* map_stacks(size_t bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    char* guard = map_array<char>(page + bytes);
    mprotect(guard, page, PROT_NONE);
    return guard + page;
}

}  // namespace

void LaneLog::grow() {
    const Undisturbed container_grows;
    const size_t count = size(), room = 2 * count + 16;
    auto* const larger = new Access[room];
    std::copy(first_, end_, larger);
    delete[] first_;
    first_ = larger;
    end_ = larger + count;
    limit_ = larger + room;
}

void abandon() {
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    worker.launch->stopped = true;
    for (;;) switch_away(lane);
}

void give_turn() {
    current.accesses_left = kAccessesPerTurn;
    if (current.lane == nullptr) return;  // the host's code, which carries hooks as well
    if (current.worker->launch->timed_out) {
        Failure failure = failure_of_running_lane(cudaErrorLaunchTimeout);
        describe_timeout(failure);
        fail_here(failure);
    }
    switch_away(*current.lane);
}

void take_turns(uintptr_t address, uintptr_t place) {
    const bool sample_only = std::exchange(current.wants_sample, false);
    if (Lane* lane = current.lane) {
        lane->place = place;
        if (address < lane->lowest_seen || address > lane->highest_seen) {
            lane->lowest_seen = std::min(lane->lowest_seen, address);
            lane->highest_seen = std::max(lane->highest_seen, address);
            note_progress(*current.worker);
        }
    }
    if (sample_only) {
        current.accesses_left = kAccessesPerTurn;
    } else {
        give_turn();
    }
}

void hand_over_logs(Worker& worker, unsigned number, unsigned meeting) {
    Observer* observer = worker.launch->observer;
    if (observer == nullptr) return;
    if (current.unfinished != nullptr) finish_record();
    const Warp& warp = worker.warps[number];
    Lane* lanes = lanes_of_warp(worker, number);
    WarpLogs logs{};
    logs.meeting = meeting;
    logs.settled = warp.at_barrier | warp.at_cluster | warp.exited;
    for (unsigned left = warp.existing; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        logs.lane[i] = {lanes[i].log.data(), lanes[i].log.size()};
    }
    if (worker.launch->examination != 0) examine(worker, number, logs);
    observer->accesses(worker.number, number, logs);
    for (unsigned left = warp.existing; left != 0; left &= left - 1) {
        lanes[__builtin_ctz(left)].log.clear();
    }
}

void hand_over_all_logs(Worker& worker) {
    for (unsigned number = 0; number < worker.warp_count; number++) {
        hand_over_logs(worker, number, worker.warps[number].existing);
    }
}

long long nanoseconds() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

void relax() {
    if (Lane* const lane = current.lane) lane->place = as_address(__builtin_return_address(0));
    give_turn();
    std::this_thread::yield();
}

void become_worker(Worker& worker) {
    worker.lanes = map_array<Lane>(kMaxThreads);
    worker.warps = map_array<Warp>(kMaxWarps);
    worker.stacks = map_stacks(kMaxThreads * kStackStride);
    for (unsigned i = 0; i < kMaxThreads; i++) {
        Lane* lane = new (&worker.lanes[i]) Lane();
        lane->linear = i;
        lane->warp = &worker.warps[i / kWarpSize];
        lane->stack_low = as_address(worker.stacks) + i * kStackStride;
        lane->stack_high = lane->stack_low + kStackBytes;
    }
    for (unsigned i = 0; i < kMaxWarps; i++) new (&worker.warps[i]) Warp;
    worker.thread_locals.low = thread_local_block();
    worker.thread_locals.high = worker.thread_locals.low + program_image().thread_local_bytes;
    mark_all_shared_used(worker);
    worker.recent.reserve(kRecentAllocations);  // the watchdog may interrupt a lane that adds one
    worker.thread = pthread_self();
    current.worker = &worker;

    // A lane's own stack may be what is broken.
    constexpr size_t kSignalStackBytes = 64 * kKilobyte;
    stack_t stack{};
    stack.ss_sp = map_stacks(kSignalStackBytes);
    stack.ss_size = kSignalStackBytes;
    sigaltstack(&stack, nullptr);
}

void prepare_for_launch(Worker& worker) {
    const LaunchConfiguration& configuration = worker.launch->request->configuration;
    const dim3 block = configuration.block;
    lane_block_dimensions = block;
    lane_grid_dimensions = configuration.grid;
    worker.warp_count = (worker.launch->threads + kWarpSize - 1) / kWarpSize;
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        worker.lanes[i].index = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    }
    const uintptr_t dynamic = as_address(dynamic_shared_memory());
    worker.dynamic_shared = {dynamic, dynamic + configuration.shared_bytes};
    worker.recent.clear();
    current.loaded.clear();
    current.stored.clear();
    current.static_shared.clear();
    current.dynamic_shared.clear();
    // While someone observes, every access is judged at length, where it is also logged.
    current.observed = worker.launch->observer != nullptr;
    worker.undefined.clear();
    look_no_longer_than_needed(worker);
}

void run_block(Worker& worker) {
    start_lanes(worker);
    begin_block(worker);
    worker.in_block = true;
    if (sigsetjmp(worker.landing, 0) == 0) {
        run_rounds(worker);
    } else {
        current.undisturbed = false;
        unblock_watchdog_signal();
        worker.launch->failure.record(worker.fault);
        worker.launch->stopped = true;
    }
    become_scheduler();
    if (!worker.launch->stopped) worker.copies.end_block();
    if (worker.launch->stopped) {
        worker.started = 0;  // whatever the lanes were doing is never resumed
        return;
    }
    worker.in_block = false;
    if (Observer* observer = worker.launch->observer) observer->end_block(worker.number);
}

}  // namespace cpu_device
