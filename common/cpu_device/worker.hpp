// SPDX-License-Identifier: MIT
//
// One OS thread that runs blocks, one at a time, each CUDA thread ("lane") as a fiber. A block's
// lanes take turns: a lane runs until it waits for others, then the next lane of its warp runs.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <csetjmp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "async_copies.hpp"
#include "async_proxy.hpp"
#include "bulk_copies.hpp"
#include "cluster_exits.hpp"
#include "cpu_device/core.h"
#include "cpu_device/launch.h"
#include "cpu_device/matrix_instructions.h"
#include "failure.hpp"
#include "fiber.hpp"
#include "mbarriers.hpp"
#include "memory.hpp"
#include "observer.hpp"
#include "wgmma.hpp"

// What kernels see as threadIdx. See builtin_variables.cpp.
extern __thread uint3 lane_thread_index asm("threadIdx");

namespace cpu_device {

constexpr unsigned kWarpSize = 32;
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxWarps = kMaxThreads / kWarpSize;
constexpr size_t kStackBytes = 64 * kKilobyte;
// Stacks lie five cache lines off a power of two: otherwise all tops would share a few cache sets.
constexpr size_t kStackStride = kStackBytes + size_t{5} * 64;
constexpr unsigned kRememberedCalls = 64;
constexpr size_t kRecentAllocations = 8;
// A lane whose log for the observer is as long gives others a turn, and the log is handed over.
constexpr size_t kLongLog = 1024;
// After this many memory accesses without waiting a lane gives the others a turn, in case it waits
// for one of them in a loop.
constexpr int kAccessesPerTurn = 1 << 16;
constexpr int kRoundsPerTurn = 256;  // of a warp whose lanes meet only each other
constexpr unsigned kMeetingsPerSample = 1024;
constexpr int kAtomicCost = 1 << 10;  // atomics are what such loops are made of: counted as many

// A store of which the value is yet to be looked at; of 0 bytes: none.
struct LastStore {
    uintptr_t address = 0;
    unsigned bytes = 0;
    uintptr_t place = 0;
};

// A shuffle that read a lane which gave no value: see undefined.hpp.
struct UndefinedShuffle {
    uintptr_t place;
    uint3 block, thread;  // that came to it first; once there is one, that stored first afterwards
    char why[128];        // "reads lane 3, which has exited"
    uintptr_t stored_at;  // where the thread stores what may depend on the value; 0: nowhere
};

// What a lane reads again and again, with the values that it found, and how many branches it took
// since it last read what other threads may change: see spinning.hpp.
struct PolledWords {
    static constexpr unsigned kMost = 8;
    struct {
        uintptr_t address;
        uint64_t value;
    } word[kMost];
    unsigned count = 0;
    size_t branches = 0;
};

// What a lane did since the observer was last told. Nothing is done as often as to append to it, by functions that
// are to need no register for what is seldom.
class LaneLog {
public:
    void append(const Access& access) {
        if (__builtin_expect(is_full(), 0)) grow();
        *end_++ = access;
    }
    bool is_full() const { return end_ == limit_; }
    [[gnu::noinline, gnu::cold]] void grow();

    void clear() { end_ = first_; }
    const Access* data() const { return first_; }
    size_t size() const { return static_cast<size_t>(end_ - first_); }
    Access& operator[](size_t i) { return first_[i]; }

private:
    Access* first_ = nullptr;  // never given back: workers live as long as the process
    Access* end_ = nullptr;
    Access* limit_ = nullptr;
};

// Begins with what every switch touches.
struct alignas(64) Lane {
    Fiber fiber;
    uint3 index{};
    unsigned linear = 0;
    struct Warp* warp = nullptr;  // its own
    uintptr_t stack_low = 0;
    uintptr_t stack_high = 0;  // of what the kernel has of it
    bool accumulates = false;  // a wgmma is to write variables there

    // What it waits for, and where in the kernel.
    uintptr_t place = 0;
    unsigned mask = 0;  // before the meeting the lanes it asks for, afterwards those that came
    Collective kind = Collective::syncwarp;
    uint64_t value = 0;
    const uint64_t* received = nullptr;

    // Registers that the others of its warp see: a pair, as of Warp::values.
    alignas(8) unsigned char shown[2][kShownBytes];
    uint8_t next_shown = 0;

    uint64_t cluster_phase = 0;    // the one it arrived in
    bool cluster_arrived = false;  // it has yet to wait for that phase

    // The range of addresses it was seen at: work comes to new ones, waiting does not.
    uintptr_t lowest_seen = 0, highest_seen = 0;

    unsigned shared_stack = 0;  // where it runs, of such

    unsigned barrier_number = 0;   // of several __syncthreads on one line, or a named barrier's
    MbarrierWait mbarrier_wait;    // of none: for the other warps' part in a product
    uint64_t awaited_product = 0;  // its number
    LastWait last_wait;

    uint8_t undefined = 0;  // 1 + the shuffle in Worker::undefined on which its values may depend
    LastStore last_store;   // of a lane whose values are so

    bool in_kernel = false;  // for kernels that the translation begins so: see begin_kernel

    // What the observer gets.
    LaneLog log;
    uint32_t path = 0;
    unsigned call_depth = 0;
    uint32_t paths[kRememberedCalls];

    void begin_block() {
        last_wait = {};
        place = 0;
        cluster_arrived = in_kernel = accumulates = false;
        undefined = 0;
        last_store = {};
        lowest_seen = UINTPTR_MAX;
        highest_seen = 0;
        log.clear();
    }
    // The same at the end of a block where nothing is looked for, when it is at hand.
    void forget_block() {
        fiber.forget();
        place = 0;
        cluster_arrived = false;
        undefined = 0;
    }
};

// A bit per lane. Every existing lane that has not exited is in exactly one of ready and the waits.
struct Warp {
    unsigned existing = 0;
    unsigned ready = 0;
    unsigned turn = 0;  // of the ready ones, those that have not run in this round
    unsigned at_collective = 0;
    unsigned unnamed = 0;  // of these: their own mask does not name them
    unsigned at_barrier = 0;
    unsigned at_named = 0;  // a barrier with a number of its own
    unsigned at_cluster = 0;
    unsigned at_mbarrier =
        0;  // or at a wgmma.wait_group, before others of their warpgroup have come as far
    unsigned asks_active = 0;
    unsigned exited = 0;

    unsigned alive() const { return existing & ~exited; }
    bool has_exited() const { return alive() == 0; }

    // What the lanes of a collective receive: one pair of buffers per lowest lane of the meeting,
    // since disjoint groups of a warp meet independently; a pair, since a lane may reach the next
    // meeting before another has read the last one's values. Behind those of the lanes stand which
    // of them may be undefined (see undefined.hpp) and, where they vote, which say yes.
    uint64_t values[kWarpSize][2][kWarpSize + 2];
    uint8_t next_buffer[kWarpSize] = {};
};

// The blocks that run at the same time and may wait for each other, those of one cluster or of a
// whole cooperative grid, each on its own worker.
struct Gang {
    std::vector<struct Worker*> members;  // by rank

    // The cluster barrier opens, and the next phase begins, when all of a block's threads have
    // arrived, for every block that has not exited.
    std::mutex mutex;
    std::atomic<uint64_t> phase{0};
    std::condition_variable opened;

    // What the asynchronous proxy of a cluster's blocks is about. The mutex guards it, and each block's mbarriers, bulk
    // copies and proxy: see GangLock.
    std::mutex proxy_mutex;
    bool is_watched = false;  // see AsyncProxy::is_watching()
    Clocks clocks;
    Knowledge at_barrier;             // of those that have arrived at the cluster's barrier
    std::atomic<uint64_t> events{0};  // by which a block may have something to do again

    // Between clusters, since no block may go before its peers have finished with its memory.
    std::condition_variable all_here;
    unsigned here = 0;
    uint64_t meetings = 0;
    uint64_t cluster = 0;  // the one the gang runs
};

struct Launch {
    const LaunchRequest* request = nullptr;
    unsigned threads = 0;
    uint64_t block_count = 0;
    dim3 gang;  // blocks of a gang: a cluster, or the grid of a cooperative launch
    unsigned gang_size = 1;
    bool cooperative = false;
    std::atomic<uint64_t> next_block{0};
    std::atomic<bool> stopped{false};
    std::atomic<bool> timed_out{false};
    double patience = 0;  // of the watchdog, in seconds; 0: without end
    double waited = 0;    // seconds that it did wait, once the time is up

    // Of the watchdog's question whether the threads merely wait: its number, 0 if it does not ask;
    // whether they may read nothing that is new; the answer, if it is no.
    std::atomic<uint64_t> examination{0};
    std::atomic<bool> polled_is_known{false};
    std::atomic<bool> gets_somewhere{false};
    bool only_waits = false;  // the answer was yes, and the time is up

    std::shared_ptr<const AllocationTable> memory;
    AddressRange device_memory;
    int device = 0;        // that the launching thread has chosen
    AddressRange program;  // its code, constants and variables
    Observer* observer = nullptr;
    std::atomic<uint32_t> signals{0};     // counts what signals tell the time by: see observer.hpp
    bool watches_proxy = false;           // see async_proxy.hpp
    std::atomic<bool> uses_proxy{false};  // a block has
    FirstFailure failure;
    Overlooked overlooked;
};

// A stack on which lanes run one after the other, where nothing is looked for: a lane that waits for others keeps its
// own, and the next begins on another one. See fast.hpp.
struct SharedStacks {
    Fiber* fibers = nullptr;  // kMaxThreads: waiting for a lane to begin, those that are free
    char* memory = nullptr;
    unsigned used = 0;           // stacks that were ever begun
    std::vector<unsigned> free;  // of these
};

// Of bar.sync with a count: its threads so far, of how many, and what those brought that came last.
struct NamedBarrier {
    unsigned threads = 0, arrived = 0, votes = 0;
    unsigned result = 0, result_threads = 0;
};

struct Worker {
    unsigned number = 0;
    Lane* lanes = nullptr;  // kMaxThreads
    Warp* warps = nullptr;  // kMaxWarps
    Fiber home;             // the scheduler
    char* stacks = nullptr;
    SharedStacks shared_stacks;
    unsigned started = 0;  // lanes whose fiber is alive, waiting at its kernel's beginning or end
    unsigned warp_count = 0;
    Launch* launch = nullptr;
    Gang* gang = nullptr;  // never null while a launch runs: one of one block outside clusters
    Gang alone;
    // The blocks that see each other's shared memory: of the cluster, or this one.
    Gang& cluster() const { return *sharing; }
    Gang* sharing = nullptr;
    uint3 block{};
    bool in_block = false;  // has begun the block, and not finished it
    bool releases = false;  // a thread of the block has used a fence, or an access that releases
    dim3 cluster_index;     // the block's place in its cluster
    unsigned cluster_rank = 0;

    // The block barrier that is gathering: its threads so far, and what they brought.
    unsigned barrier_threads = 0;
    unsigned barrier_votes = 0;
    unsigned barrier_result = 0;  // votes of the last completed one
    unsigned barrier_result_threads = 0;
    uintptr_t barrier_place = 0;
    bool barrier_places_differ = false;
    std::array<NamedBarrier, 16> named;
    std::array<Knowledge, 16> known_at_named;  // by those that arrived there

    // Threads that arrived at the cluster barrier since the gang was last told that all have; the
    // phase after the one it was told about; whether the block has exited. The gang's mutex guards
    // the last two.
    std::atomic<uint64_t> idle_since{UINT64_MAX};  // Gang::events when no lane could go on
    unsigned cluster_arrivals = 0;
    uint64_t cluster_told = 0;
    bool cluster_left = false;
    ClusterExits exits;

    AddressRange thread_locals;           // the program's, of this OS thread
    AddressRange dynamic_shared;          // as large as this launch asked
    std::vector<uint8_t> shared_is_used;  // by a block since the last poisoning, per variable
    std::vector<unsigned> used_shared;    // the same as a list

    AsyncCopies copies;
    AsyncProxy proxy;
    Mbarriers mbarriers;
    BulkCopies bulk_copies;
    std::array<uint32_t, kMaxWarps / 4> warpgroup_agents{};  // in Clocks; 0: none yet
    Wgmmas wgmmas;

    std::vector<Allocation> recent;           // that accesses went to, latest first
    std::vector<UndefinedShuffle> undefined;  // of this launch, one a place

    // For the watchdog: counts what cannot go on for ever, exits and new addresses.
    std::atomic<uint64_t> progress{0};
    std::atomic<uint64_t> idle_rounds{0};  // see spinning.hpp
    uint64_t examination = 0;              // to which belongs:
    std::vector<PolledWords> polled;       // by lane
    unsigned meetings = 0;
    pthread_t thread{};
    sigjmp_buf landing;  // where a signal that ends the block continues
    Failure fault;       // what the signal handler saw
};

// An address range for the hooks' quick test: offsets 0 to span + 16 - size hold an access of
// `size` bytes. At `low` = kNowhere it matches nothing.
struct QuickRange {
    static constexpr uintptr_t kNowhere = UINTPTR_MAX / 2;
    uintptr_t low = kNowhere;
    uintptr_t span = 0;

    void set(AddressRange range) {
        const bool fits = range.high - range.low >= 16;
        low = fits ? range.low : kNowhere;
        span = fits ? range.high - range.low - 16 : 0;
    }
    void clear() { set({}); }
    bool holds(uintptr_t address, unsigned bytes) const {
        return address - low <= span + 16 - bytes;
    }
};

constexpr QuickRange kEverywhere{0, UINTPTR_MAX - 16};

// What the hooks look at on every access. While no lane runs on a worker all ranges are empty; on the
// host's own threads, whose code carries hooks as well, nothing is ever to be looked at.
struct Current {
    sigjmp_buf* unwinding =
        nullptr;  // where a fault continues that comes while frames are captured
    Lane* lane = nullptr;
    Worker* worker = nullptr;
    bool in_signal = false;
    bool undisturbed = false;  // the watchdog must not end the lane here
    int accesses_left = 0;
    bool fast = false;          // nothing is looked for: see fast.hpp
    bool observed = false;      // whether this launch is
    bool follows = false;       // an undefined value of a lane of this block
    bool at_length = false;     // every access is to be looked at: observed or follows
    bool atomic_noted = false;  // the running lane's next atomic is
    // The lane whose latest record has yet to be told what it stored, or of a signal, when it observed; and which.
    Lane* unfinished = nullptr;
    size_t unfinished_record = 0;
    bool wants_sample = false;      // the next access is to be looked at for progress
    bool copies_under_way = false;  // asynchronous ones, of the block: every access is judged
    QuickRange stack, dynamic_shared, static_shared;
    QuickRange loaded = kEverywhere, stored = kEverywhere;
};
extern constinit thread_local Current current;

// While one exists, the watchdog waits: what the running lane holds, a lock or a container that
// grows, would be left as it is for ever.
class Undisturbed {
public:
    Undisturbed() {
        current.undisturbed = true;
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~Undisturbed() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        current.undisturbed = false;
    }
    Undisturbed(const Undisturbed&) = delete;
    Undisturbed& operator=(const Undisturbed&) = delete;
};

// The first of the warp's lanes, the others behind it.
inline Lane* lanes_of_warp(Worker& worker, unsigned number) {
    return worker.lanes + static_cast<size_t>(number) * kWarpSize;
}

inline unsigned bit_of(const Lane& lane) {
    return 1u << lane.linear % kWarpSize;
}

inline void note_progress(Worker& worker) {
    // The worker alone writes it: no need for a locked instruction.
    worker.progress.store(worker.progress.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
}

// Lanes that meet do not thereby get anywhere: now and then one of them is watched.
inline void note_meeting(Worker& worker) {
    if (++worker.meetings % kMeetingsPerSample == 0) current.wants_sample = true;
}

// Prepares the calling OS thread to run blocks.
void become_worker(Worker& worker);

// Fits the worker to worker.launch.
void prepare_for_launch(Worker& worker);

// Runs worker.block of worker.launch. On return either all its lanes have exited or the launch has
// stopped.
void run_block(Worker& worker);

// While a wgmma is to write local variables of the lane, every access to them is judged.
inline void set_quick_stack(const Lane& lane) {
    if (__builtin_expect(lane.accumulates, 0)) {
        current.stack.clear();
    } else {
        current.stack.set({lane.stack_low, lane.stack_high});
    }
}
inline bool is_on_stack(const Lane& lane, uintptr_t address) {
    return address - lane.stack_low < lane.stack_high - lane.stack_low;
}

inline void become(Lane& lane) {
    current.lane = &lane;
    current.accesses_left = current.wants_sample ? 0 : kAccessesPerTurn;
    set_quick_stack(lane);
    lane_thread_index = lane.index;
}

inline void become_scheduler() {
    current.lane = nullptr;
    current.stack.clear();
}

// Where a lane begins that shares its stack with others: a stack that is free.
Fiber& begin_on_free_stack(Lane& lane);

// What it takes to go on with the lane, or to begin it.
inline Fiber& fiber_of(Lane& lane) {
    return __builtin_expect(lane.fiber.is_none(), 0) ? begin_on_free_stack(lane) : lane.fiber;
}

// Suspends the running lane, and goes on with the next one of this round of its warp or, if there
// is none, with the scheduler. Whoever makes the lane ready again, or leaves it ready, decides when
// it goes on. Always inline: a processor predicts wrongly every return that follows a switch.
[[gnu::always_inline]] inline void switch_away(Lane& lane) {
    Worker& worker = *current.worker;
    Warp& warp = *lane.warp;
    Fiber* to = &worker.home;
    if (warp.turn == 0 || worker.launch->stopped.load(std::memory_order_relaxed)) {
        become_scheduler();
    } else {
        Lane& next_lane = (&lane - lane.linear % kWarpSize)[__builtin_ctz(warp.turn)];
        warp.turn &= warp.turn - 1;
        to = &fiber_of(next_lane);
        become(next_lane);
    }
    Fiber::switch_over(lane.fiber, *to);
}

// Ends the running lane's launch: what it was doing is never resumed.
[[noreturn]] void abandon();

// Gives the other lanes of the warp, and then other warps, a turn. Fails if time is up.
void give_turn();

// What the hooks call when accesses_left is used up, by an access to `address` at `place` in the
// kernel: a sample or a turn is due.
void take_turns(uintptr_t address, uintptr_t place);

// Tells the record that is not finished what has happened by now.
void finish_record();

// Notes an access for the observer. What was noted before has happened by now.
inline void log_access(Lane& lane, const Access& access) {
    if (current.unfinished != nullptr) finish_record();
    lane.log.append(access);
}

// Notes, behind an access of the running lane to `address`, how it can order threads, or what else does.
void log_signal(uintptr_t address, uintptr_t place, unsigned ordering);
// The same of a barrier's number, in place of a word.
void log_signal_of_barrier(unsigned number, uintptr_t place, unsigned ordering);

}  // namespace cpu_device
