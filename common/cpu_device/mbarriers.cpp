// SPDX-License-Identifier: MIT
#include "mbarriers.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "cpu_device/async_copies.h"
#include "cpu_device/core.h"
#include "meetings.hpp"
#include "shared_memory.hpp"
#include "spinning.hpp"

namespace cpu_device {
namespace {

// What stands in shared memory: which entry it is, beside what seldom comes about by chance.
constexpr uint64_t kMark = 0x6d62'6172'7269'0000;
constexpr uint64_t kNumber = 0xffff;
constexpr uint64_t kInvalid = 0x6d62'6172'0000'0000;

// Rounds in which lanes look in vain before it is taken for granted that nothing will come.
constexpr unsigned kVainRounds = 3;

uint64_t word_at(uintptr_t address) {
    uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
    return word;
}
void set_word_at(uintptr_t address, uint64_t word) {
    std::memcpy(reinterpret_cast<void*>(address), &word, sizeof word);
}

// The block of the cluster in whose shared memory it lies.
Worker& owner_of(const void* at, uintptr_t place, bool only_own) {
    const uintptr_t address = as_address(at);
    Worker& worker = *current.worker;
    if (address % sizeof(uint64_t) != 0) {
        Failure failure = failure_of_running_lane(cudaErrorMisalignedAddress);
        failure.set_what("mbarrier at address 0x%" PRIxPTR ": it must be a multiple of 8", address);
        fail_at_instruction(failure, place);
    }
    const Worker* const owner = owner_of_shared(worker, address);
    const bool is_own = owner == &worker;
    if (owner == nullptr || (only_own && !is_own)) {
        Failure failure = failure_of_running_lane(cudaErrorIllegalAddress);
        failure.set_what("mbarrier at %p, which is not shared memory of this block%s", at,
                         owner == nullptr
                             ? " or another one of its cluster"
                             : ": of another block's, a thread may arrive there, and no more");
        fail_at_instruction(failure, place);
    }
    return const_cast<Worker&>(*owner);
}

// The lane has to know of the init: else chance decides which comes first.
bool knows_of(const Mbarrier& barrier) {
    const Worker& worker = *current.worker;
    return !worker.proxy.is_watching() ||
           worker.cluster().clocks.has_seen(thread_in_gang(worker, *current.lane),
                                            barrier.initializer, barrier.initialized);
}

[[noreturn]] void fail_without(const char* what, uintptr_t other_place, const char* other,
                               uintptr_t place) {
    Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
    failure.set_what("%s", what);
    if (other_place != 0) {
        std::snprintf(failure.other, sizeof failure.other, "%s", other);
        failure.other_frame = other_place;
    }
    fail_at_instruction(failure, place);
}

// The barrier at that address, of `owner`. The gang is locked by who calls with what it returns.
Mbarrier& barrier_at(Worker& owner, const void* at, uintptr_t place) {
    Mbarrier* barrier = nullptr;
    bool knows = true;
    {
        const GangLock lock(current.worker->cluster());
        barrier = owner.mbarriers.find(as_address(at));
        knows = barrier == nullptr || knows_of(*barrier);
    }
    if (barrier == nullptr) {
        const bool was_one = word_at(as_address(at)) == kInvalid;
        fail_without(was_one ? "there is no mbarrier here any more: mbarrier.inval has ended it"
                             : "there is no mbarrier here: mbarrier.init has not run, or its 8 "
                               "bytes have been overwritten",
                     0, "", place);
    }
    if (!knows) {
        fail_without(
            "nothing orders the mbarrier's init and this: all threads must meet at a "
            "barrier in between",
            barrier->place, "mbarrier.init", place);
    }
    return *barrier;
}

// Told to whoever observes.
void log_operation(const void* at, uintptr_t place, unsigned ordering, bool waits = false) {
    Lane& lane = *current.lane;
    Worker& worker = *current.worker;
    lane.place = place;
    if (worker.cluster().members.size() > 1) {
        const Worker* const owner = owner_of_shared(worker, as_address(at));
        const Undisturbed container_grows;
        if (waits || owner != &worker) worker.exits.note_signal(as_address(at));
        if (owner != &worker) {
            worker.exits.note_access(lane, *worker.gang, owner->cluster_rank, as_address(at),
                                     sizeof(uint64_t), Direction::atomic, true, place);
        }
    }
    log_mbarrier(as_address(at), place, ordering);
}

void tell_of_mbarrier(AsynchronousEvent::What what, const void* at, uintptr_t place) {
    AsynchronousEvent event;
    event.what = what;
    event.thread = current.lane->linear;
    event.place = place;
    event.mbarrier = as_address(at);
    tell_observer(event);
}

}  // namespace

void wake_waiters(Worker& owner) {
    owner.mbarriers.vain_rounds = 0;
    Gang& gang = owner.cluster();
    if (gang.members.size() == 1) return;
    const std::lock_guard<std::mutex> lock(gang.mutex);
    gang.events++;
    gang.opened.notify_all();
}

uint32_t check_mbarrier(const void* at, uintptr_t place) {
    return barrier_at(owner_of(at, place, false), at, place).agent;
}

void Mbarriers::begin_block() {
    used_ = 0;
    vain_rounds = 0;
}

Mbarrier& Mbarriers::add(uintptr_t address) {
    if (used_ == all_.size()) all_.push_back(std::make_unique<Mbarrier>());
    Mbarrier& barrier = *all_[used_];
    barrier = {};
    barrier.address = address;
    barrier.is_valid = true;
    set_word_at(address, kMark | used_++);
    return barrier;
}

Mbarrier* Mbarriers::find(uintptr_t address) {
    const uint64_t word = word_at(address);
    const size_t number = word & kNumber;
    if ((word & ~kNumber) != kMark || number >= used_) return nullptr;
    Mbarrier& barrier = *all_[number];
    return barrier.is_valid && barrier.address == address ? &barrier : nullptr;
}

void Mbarriers::count(Mbarrier& barrier, uint32_t arrivals, int64_t bytes) {
    barrier.missing -= arrivals;
    barrier.bytes += bytes;
    if (barrier.missing != 0 || barrier.bytes != 0) return;
    barrier.phase++;
    barrier.missing = barrier.arrivals;
    barrier.known.join(barrier.gathering);
    barrier.gathering.clear();
    note_progress(*current.worker);
}

std::string text_of(const Mbarrier& barrier) {
    std::string all =
        "the mbarrier " +
        place_in_shared(*owner_of_shared(*current.worker, barrier.address), barrier.address) +
        ", whose phase " + std::to_string(barrier.phase);
    if (barrier.missing != 0) {
        all += " lacks " + std::to_string(barrier.missing) + " of " +
               std::to_string(barrier.arrivals) + " arrivals";
    }
    if (barrier.bytes > 0) {
        all += (barrier.missing != 0 ? " and " : " lacks ") + std::to_string(barrier.bytes) +
               " bytes that are expected";
    } else if (barrier.bytes < 0) {
        all += (barrier.missing != 0 ? " and has " : " has ") + std::to_string(-barrier.bytes) +
               " bytes more than are expected";
    }
    return all;
}

// ---------------------------------------------------------------- what device code calls

void init_mbarrier(void* at, uint32_t arrivals) {
    const auto place = as_address(__builtin_return_address(0));
    const Undisturbed containers_grow;
    Worker& worker = owner_of(at, place, true);
    worker.launch->uses_proxy = true;
    if (arrivals == 0 || arrivals > kMostArrivals) {
        char what[96];
        std::snprintf(what, sizeof what, "mbarrier.init with %u arrivals: 1 to %u are possible",
                      arrivals, kMostArrivals);
        fail_without(what, 0, "", place);
    }
    judge_access(as_address(at), sizeof(uint64_t), Direction::initialized, place, false);
    uintptr_t before = 0;
    {
        const GangLock lock(worker.cluster());
        if (const Mbarrier* const barrier = worker.mbarriers.find(as_address(at))) {
            before = barrier->place;
        } else {
            Mbarrier& made = worker.mbarriers.add(as_address(at));
            made.arrivals = made.missing = arrivals;
            made.place = place;
            if (worker.proxy.is_watching()) {
                Clocks& clocks = worker.cluster().clocks;
                made.agent = clocks.add({Agent::Kind::mbarrier, as_address(at)});
                made.initializer = thread_in_gang(worker, *current.lane);
                made.initialized = clocks.now(made.initializer);
            }
        }
    }
    if (before != 0) {
        fail_without(
            "mbarrier.init of an mbarrier that is in use: mbarrier.inval has to come "
            "first",
            before, "the init before", place);
    }
}

void invalidate_mbarrier(void* at) {
    const auto place = as_address(__builtin_return_address(0));
    Worker& worker = owner_of(at, place, true);
    Mbarrier& barrier = barrier_at(worker, at, place);
    log_operation(at, place, 0);
    const GangLock lock(worker.cluster());
    barrier.is_valid = false;
    set_word_at(barrier.address, kInvalid);
}

namespace {

void count_bytes(void* at, int64_t bytes, uintptr_t place) {
    const Undisturbed containers_grow;
    Worker& owner = owner_of(at, place, false);
    Mbarrier& barrier = barrier_at(owner, at, place);
    log_operation(at, place, 0);
    bool too_many = false;
    {
        const GangLock lock(owner.cluster());
        too_many = std::abs(barrier.bytes + bytes) > kMostBytes;
        if (!too_many) Mbarriers::count(barrier, 0, bytes);
    }
    if (too_many) fail_without("an mbarrier counts at most 1048575 bytes of a phase", 0, "", place);
    wake_waiters(owner);
}

}  // namespace

void expect_bytes(void* at, uint32_t bytes) {
    count_bytes(at, bytes, as_address(__builtin_return_address(0)));
}

void complete_bytes(void* at, uint32_t bytes) {
    count_bytes(at, -int64_t{bytes}, as_address(__builtin_return_address(0)));
}

uint64_t arrive_at_mbarrier(void* at, const Arrival& arrival) {
    const auto place = as_address(__builtin_return_address(0));
    const Undisturbed containers_grow;
    Worker& owner = owner_of(at, place, false);
    Mbarrier& barrier = barrier_at(owner, at, place);
    log_operation(at, place, arrival.releases ? kTells | kReleases : 0u);
    std::string wrong;
    uint64_t state = 0;
    {
        const GangLock lock(owner.cluster());
        state = barrier.phase << 20 | barrier.missing;
        if (arrival.count == 0 || arrival.count > barrier.missing) {
            wrong =
                "arrival of " + std::to_string(arrival.count) + " too many at " + text_of(barrier);
        } else if (!arrival.completes && arrival.count == barrier.missing) {
            wrong = "mbarrier.arrive.noComplete is the last arrival at " + text_of(barrier);
        } else if (barrier.bytes + arrival.bytes > kMostBytes) {
            wrong = "an mbarrier counts at most 1048575 bytes of a phase";
        } else {
            if (arrival.releases) release_to(barrier.gathering);
            if (arrival.drops) barrier.arrivals -= std::min(barrier.arrivals, arrival.count);
            Mbarriers::count(barrier, 0, arrival.bytes);
            Mbarriers::count(barrier, arrival.count, 0);
        }
    }
    if (!wrong.empty()) fail_without(wrong.c_str(), barrier.place, "mbarrier.init", place);
    if (&owner == current.worker) tell_of_mbarrier(AsynchronousEvent::What::arrives, at, place);
    wake_waiters(owner);
    return state;
}

uint32_t pending_arrivals(uint64_t state) {
    return static_cast<uint32_t>(state & kMostArrivals);
}

bool test_mbarrier(void* at, const MbarrierTest& test) {
    const auto place = as_address(__builtin_return_address(0));
    Worker& worker = owner_of(at, place, true);
    Lane& lane = *current.lane;
    MbarrierWait wait{&barrier_at(worker, at, place), test};
    if (!test.by_parity) wait.test.phase = test.phase >> 20;
    const auto is_over = [&] {
        const GangLock lock(worker.cluster());
        return wait.is_over();
    };
    bool over = is_over();
    if (test.by_parity) {
        lane.last_wait = {wait.at->agent, static_cast<uint32_t>(test.phase & 1), wait.at->phase,
                          over};
    }
    if (!over) {
        lane.place = place;
        tell_of_mbarrier(AsynchronousEvent::What::waits, at, place);
        if (test.suspends) {
            lane.mbarrier_wait = wait;
            lane.warp->at_mbarrier |= bit_of(lane);
            lane.warp->ready &= ~bit_of(lane);
            switch_away(lane);
        } else {
            relax();
        }
        over = is_over();
    }
    log_operation(at, place, over && test.acquires ? kObserves | kAcquires : 0u, over);
    if (!over) return false;
    tell_of_mbarrier(AsynchronousEvent::What::waited, at, place);
    const Undisturbed clocks_grow;
    const GangLock lock(worker.cluster());
    if (worker.proxy.is_watching() && test.acquires) {
        acquire_from(wait.at->known);
        worker.cluster().clocks.learn(thread_in_gang(worker, lane), wait.at->agent,
                                      static_cast<uint32_t>(wait.at->phase));
    }
    return true;
}

void arrive_with_copies(void* at, bool is_counted) {
    const auto place = as_address(__builtin_return_address(0));
    const Undisturbed containers_grow;
    Worker& worker = owner_of(at, place, true);
    Mbarrier& barrier = barrier_at(worker, at, place);
    log_operation(at, place, kTells | kReleases);  // of the copies alone, which is not told here
    if (!is_counted) {
        const GangLock lock(worker.cluster());
        barrier.missing++;
    }
    worker.bulk_copies.begin_arrival(barrier, *current.lane);
}

// ---------------------------------------------------------------- when nobody can go on

namespace {

// Lets lanes that wait at mbarriers go on, of which `may` says so.
template <class May>
bool release(Worker& worker, May may) {
    bool any = false;
    for (unsigned number = 0; number < worker.warp_count; number++) {
        Warp& warp = worker.warps[number];
        for (unsigned left = warp.at_mbarrier; left != 0; left &= left - 1) {
            const Lane& lane = lanes_of_warp(worker, number)[__builtin_ctz(left)];
            if (!may(lane)) continue;
            warp.at_mbarrier &= ~bit_of(lane);
            warp.ready |= bit_of(lane);
            any = true;
        }
    }
    return any;
}

bool any_waits(const Worker& worker) {
    return std::any_of(worker.warps, worker.warps + worker.warp_count,
                       [](const Warp& warp) { return warp.at_mbarrier != 0; });
}

}  // namespace

bool release_from_mbarriers(Worker& worker) {
    const GangLock lock(worker.cluster());
    return release(worker, [&](const Lane& lane) {
        return lane.mbarrier_wait.at != nullptr
                   ? lane.mbarrier_wait.is_over()
                   : worker.wgmmas.have_all_begun(lane, lane.awaited_product);
    });
}

bool wait_at_mbarriers(Worker& worker) {
    if (!any_waits(worker)) return false;
    if (worker.mbarriers.vain_rounds < kVainRounds) {
        worker.mbarriers.vain_rounds++;
        return release(worker, [](const Lane&) { return true; });
    }
    Gang& gang = worker.cluster();
    if (gang.members.size() == 1) return false;
    for (;;) {
        const uint64_t events = gang.events;
        if (release_from_mbarriers(worker) || release_from_cluster(worker)) return true;
        if (worker.launch->stopped) return true;
        if (worker.launch->timed_out) {
            report_timeout(worker);
            return true;
        }
        if (!wait_for_event(worker, events)) return false;
    }
}

}  // namespace cpu_device
