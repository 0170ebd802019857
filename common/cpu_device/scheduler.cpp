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
#include "fast.hpp"
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

// The only place that calls a kernel: lanes that come from different places took different paths (Lane::path), and would
// not be taken for one warp that runs together. So it is neither copied nor left by a jump.
[[gnu::noinline]] void run_kernel() {
    Lane& lane = *current.lane;
    lane.path = 0;
    lane.call_depth = 0;
    const LaunchRequest& request = *current.worker->launch->request;
    request.run(request.invocation);
    asm volatile("");
}

// Ends the lane's part in its block, and runs the kernel again for each further block.
void go_on_after_kernel() {
    for (;;) {
        Lane& lane = *current.lane;
        if (current.follows) check_last_store();
        Warp& warp = *lane.warp;
        warp.exited |= bit_of(lane);
        warp.ready &= ~bit_of(lane);
        note_progress(*current.worker);
        switch_away(lane);
        run_kernel();
    }
}

// What every lane's fiber runs: the kernel, once a block, for ever.
void lane_main() {
    current.lane->stack_high = as_address(__builtin_frame_address(0));
    become(*current.lane);
    run_kernel();
    go_on_after_kernel();
}

// The same where nothing is looked for: lanes that have not begun are run one after the other on the same stack, which
// for kernels that never wait comes down to a loop.
void run_on_shared_stack(bool kernel_has_ended) {
    for (;;) {
        Worker& worker = *current.worker;
        const LaunchRequest& request = *worker.launch->request;
        Lane* lane = current.lane;
        const unsigned number = lane->shared_stack;
        Fiber* next = nullptr;
        while (next == nullptr) {
            if (!kernel_has_ended) request.run(request.invocation);
            kernel_has_ended = false;
            Warp& warp = *lane->warp;
            warp.exited |= bit_of(*lane);
            warp.ready &= ~bit_of(*lane);
            lane->forget_block();
            note_progress(worker);
            if (warp.turn == 0 || worker.launch->stopped.load(std::memory_order_relaxed)) {
                become_scheduler();
                next = &worker.home;
                continue;
            }
            Lane& following = (lane - lane->linear % kWarpSize)[__builtin_ctz(warp.turn)];
            warp.turn &= warp.turn - 1;
            if (following.fiber.is_none()) {
                following.shared_stack = number;
                following.stack_low = lane->stack_low;
                following.stack_high = lane->stack_high;
            } else {
                next = &following.fiber;
            }
            become(following);
            lane = &following;
        }
        worker.shared_stacks.free.push_back(number);
        Fiber::switch_over(worker.shared_stacks.fibers[number], *next);
    }
}

void shared_stack_main() {
    run_on_shared_stack(false);
}
void go_on_on_shared_stack() {
    run_on_shared_stack(true);
}

char* stack_top(const Worker& worker, unsigned linear) {
    return worker.stacks + linear * kStackStride + kStackBytes;
}

void start_lanes(Worker& worker) {
    if (current.fast) return;  // each begins when its turn comes
    for (; worker.started < worker.launch->threads; worker.started++) {
        worker.lanes[worker.started].fiber.start(stack_top(worker, worker.started), lane_main);
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
        Fiber& fiber = fiber_of(first);
        become(first);
        Fiber::switch_over(worker.home, fiber);
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
        }
        release_from_mbarriers(worker);
        for (unsigned number = 0; number < worker.warp_count; number++)
            ready |= worker.warps[number].ready;  // also those that a later warp let go on
        if (ready != 0) {                         // those gave others a turn, and want one now
            if (worker.progress == progress) {
                // What they look for may be what a copy brings.
                if (worker.bulk_copies.land_one(worker)) release_from_mbarriers(worker);
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
        warp.turn = warp.at_collective = warp.unnamed = 0;
        warp.at_barrier = warp.at_named = warp.at_cluster = warp.at_mbarrier = 0;
        warp.asks_active = warp.exited = 0;
    }
    if (!current.fast) {
        for (unsigned i = 0; i < worker.launch->threads; i++) worker.lanes[i].begin_block();
    }
    worker.barrier_threads = worker.barrier_votes = 0;
    worker.barrier_places_differ = false;
    worker.named = {};
    worker.warpgroup_agents = {};
    worker.mbarriers.begin_block();
    worker.bulk_copies.begin_block();
    worker.proxy.begin_block(worker);
    if (worker.proxy.is_watching()) {
        worker.known_at_named = {};
        current.dynamic_shared.clear();
        current.static_shared.clear();
    }
    worker.cluster_arrivals = 0;
    worker.copies.begin_block();
    worker.wgmmas.begin_block();
    worker.exits.begin_block(worker.gang->members.size());
    worker.releases = false;
    current.unfinished = nullptr;
    if (!current.fast) poison_shared_memory(worker);
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

Fiber& begin_on_free_stack(Lane& lane) {
    // Larger than others: what a thread of a GPU may have. Their tops lie as those do in the caches' sets.
    constexpr size_t kBytes = 512 * kKilobyte, kStagger = kStackStride - kStackBytes;
    static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    Worker& worker = *current.worker;
    SharedStacks& stacks = worker.shared_stacks;
    if (stacks.memory == nullptr) {
        stacks.fibers = map_array<Fiber>(kMaxThreads);
        stacks.memory = map_array<char>(kMaxThreads * (kBytes + page));
    }
    const bool is_new = stacks.free.empty();
    if (is_new) stacks.free.push_back(stacks.used++);
    lane.shared_stack = stacks.free.back();
    stacks.free.pop_back();
    char* const guard = stacks.memory + lane.shared_stack * (kBytes + page);
    char* const high = guard + page + kBytes - lane.shared_stack * kStagger % page;
    lane.stack_low = as_address(guard) + page;
    lane.stack_high = as_address(high);
    if (is_new) {
        // Each guard costs the system two of the 65530 mappings that a process may have. A cooperative grid may keep more
        // stacks than that.
        static std::atomic<int> guards{0};
        constexpr int kMaxGuards = 20000;
        if (guards.fetch_add(1, std::memory_order_relaxed) < kMaxGuards)
            mprotect(guard, page, PROT_NONE);
        stacks.fibers[lane.shared_stack].start(high, shared_stack_main);
    }
    return stacks.fibers[lane.shared_stack];
}

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

// Abandons the kernel's frames: restarts the stack where it continues after a kernel has returned.
void end_thread() {
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    Fiber left;
    if (current.fast) {
        Fiber& stack = worker.shared_stacks.fibers[lane.shared_stack];
        stack.start(reinterpret_cast<char*>(lane.stack_high), go_on_on_shared_stack);
        Fiber::switch_over(left, stack);
    } else {
        lane.fiber.start(stack_top(worker, lane.linear), go_on_after_kernel);
        Fiber::switch_over(left, lane.fiber);
    }
    __builtin_unreachable();
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
        if (current.fast) return give_turn();
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
    worker.alone.members = {&worker};
    worker.sharing = &worker.alone;
    current.worker = &worker;
    current.fast = is_fast();

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
    if (!worker.launch->stopped) worker.bulk_copies.end_block(worker);
    if (!worker.launch->stopped) worker.wgmmas.end_block(worker);
    if (worker.launch->stopped) {
        worker.started = 0;  // whatever the lanes were doing is never resumed
        worker.shared_stacks.used = 0;
        worker.shared_stacks.free.clear();
        if (current.fast) {
            for (unsigned i = 0; i < kMaxThreads; i++) worker.lanes[i].forget_block();
        }
        return;
    }
    worker.in_block = false;
    if (Observer* observer = worker.launch->observer) observer->end_block(worker.number);
}

}  // namespace cpu_device
