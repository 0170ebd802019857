// SPDX-License-Identifier: MIT
#include "bulk_copies.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "cpu_device/async_copies.h"
#include "cpu_device/core.h"
#include "cpu_device/mbarriers.h"
#include "meetings.hpp"

namespace cpu_device {
namespace {

constexpr uint32_t kLine = 128;
constexpr int kPoison = 0xff;

// Where the copy begins in shared memory of block `rank`, for an address of the running lane's block.
uintptr_t in_block(const Worker& worker, uintptr_t address, unsigned rank) {
    return address - worker.thread_locals.low + worker.cluster().members[rank]->thread_locals.low;
}

Worker& owner_of(uintptr_t address) {
    return const_cast<Worker&>(*owner_of_shared(*current.worker, address));
}

const char* name_of(const BulkCopy& copy) {
    return copy.is_store() ? "asynchronous store" : "bulk copy";
}

// Calls each(offset, bytes) for what the copy touches in shared memory: all of it at once, unless the rows have gaps.
template <class Each>
void for_each_part(const BulkCopy& copy, Each each) {
    if (copy.extent == copy.bytes) return each(uint32_t{0}, copy.bytes);
    for (const BulkRun& run : copy.runs) each(run.offset, run.bytes);
}

// What lies in shared memory, by lines: checked as the engine's accesses, and told to whoever observes.
void judge_shared(const BulkCopy& copy, uintptr_t shared, Direction direction) {
    for_each_part(copy, [&](uint32_t offset, uint32_t bytes) {
        for (uint32_t done = 0; done < bytes;) {
            const uintptr_t at = shared + offset + done;
            const auto piece =
                static_cast<uint32_t>(std::min<uintptr_t>(bytes - done, kLine - at % kLine));
            judge_bulk_access(at, piece, direction, copy.place);
            done += piece;
        }
    });
}

// As AsyncProxy has it.
uint8_t swizzle_of(const BulkCopy& copy) {
    const bool is_tensor = copy.row_bytes != 0;
    return is_tensor ? static_cast<uint8_t>(copy.swizzle) : kAnySwizzle;
}

// For a load, an H100 counts the sectors outside the tensor as well; for a store, only those inside.
void judge_global(const BulkCopy& copy, Direction direction) {
    constexpr uintptr_t kSector = 32;
    for (const BulkPiece& piece : copy.pieces) {
        const uintptr_t begin = piece.global, end = begin + piece.bytes;
        if (piece.first != piece.last) {
            judge_bulk_access(begin + piece.first, static_cast<unsigned>(piece.last - piece.first),
                              direction, copy.place);
        }
        if (direction != Direction::bulk_load) continue;
        if (piece.first == piece.last) {
            log_outside(begin, end, copy.place);
        } else {
            const uintptr_t first = begin + piece.first, behind = begin + piece.last;
            log_outside(begin, first - first % kSector, copy.place);
            log_outside((behind + kSector - 1) / kSector * kSector, end, copy.place);
        }
    }
}

AsynchronousEvent event_of(AsynchronousEvent::What what, const BulkCopy& copy, unsigned thread) {
    AsynchronousEvent event;
    event.what = what;
    event.thread = thread;
    event.place = copy.place;
    event.instruction = copy.instruction;
    event.shared = copy.shared;
    event.bytes = copy.bytes;
    event.row_bytes = copy.row_bytes;
    event.swizzle = copy.swizzle;
    event.runs = copy.runs.data();
    event.run_count = copy.runs.size();
    return event;
}

void move(const BulkCopy& copy, void* to, const void* from, size_t bytes) {
    if (copy.combine == nullptr) {
        std::memcpy(to, from, bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += copy.element)
        copy.combine(static_cast<char*>(to) + at, static_cast<const char*>(from) + at);
}

void fill_up(void* to, uint16_t with, size_t bytes) {
    for (size_t at = 0; at < bytes; ++at)
        static_cast<unsigned char*>(to)[at] = static_cast<unsigned char>(with >> at % 2 * 8);
}

// Rounds to nearest, ties to even, and replaces every NaN by the same one. The documentation does not mention it; an H100 does.
void round_to_tf32(void* to, size_t bytes) {
    constexpr uint32_t kInfinity = 0x7f800000, kNan = 0x7fffe000, kDropped = 0x1fff;
    for (size_t at = 0; at < bytes; at += sizeof(uint32_t)) {
        uint32_t word;
        std::memcpy(&word, static_cast<char*>(to) + at, sizeof word);
        const bool is_nan = (word & 0x7fffffff) > kInfinity;
        word = is_nan ? kNan : (word + kDropped / 2 + (word >> 13 & 1)) & ~kDropped;
        std::memcpy(static_cast<char*>(to) + at, &word, sizeof word);
    }
}

void put_at(const BulkCopy& copy, uintptr_t shared) {
    if (copy.is_store())
        move(copy, reinterpret_cast<void*>(shared), copy.values.data(), copy.values.size());
    for (const BulkRun& run : copy.runs) {
        void* const to = reinterpret_cast<void*>(shared + run.offset);
        if (run.global == 0) {
            fill_up(to, copy.fill, run.bytes);
        } else {
            move(copy, to, reinterpret_cast<const void*>(run.global), run.bytes);
            if (copy.rounds_to_tf32) round_to_tf32(to, run.bytes);
        }
    }
}

// Overwrites the destination, whose bytes have not arrived yet.
void poison(const BulkCopy& copy, uintptr_t shared) {
    for_each_part(copy, [&](uint32_t offset, uint32_t bytes) {
        std::memset(reinterpret_cast<void*>(shared + offset), kPoison, bytes);
    });
}

}  // namespace

void BulkCopies::begin_block() {
    loads_.clear();
    threads_.clear();
}

void BulkCopies::begin_load(BulkCopy copy, std::vector<Destination> to) {
    loads_.push_back({std::move(copy), std::move(to), current.lane->linear, nullptr});
}

void BulkCopies::begin_arrival(Mbarrier& barrier, const Lane& lane) {
    Load load;
    load.thread = lane.linear;
    load.arrives_at = &barrier;
    loads_.push_back(std::move(load));
    bind_copies(reinterpret_cast<const void*>(barrier.address), barrier.phase);
}

bool BulkCopies::land_one(Worker& worker) {
    if (loads_.empty()) return false;
    const Undisturbed containers_change;
    const Load load = std::move(loads_.front());
    loads_.pop_front();
    if (load.arrives_at != nullptr) {
        Mbarrier& barrier = *load.arrives_at;
        waited_for_phase(reinterpret_cast<const void*>(barrier.address), barrier.phase);
        const GangLock lock(worker.cluster());
        if (worker.proxy.is_watching()) {
            worker.cluster().clocks.release(thread_in_gang(worker, worker.lanes[load.thread]),
                                            barrier.gathering);
        }
        Mbarriers::count(barrier, 1, 0);
        worker.mbarriers.vain_rounds = 0;
        return true;
    }
    for (const Destination& to : load.to) {
        Worker& owner = owner_of(to.shared);
        // Another block's observer is in another thread.
        if (&owner == &worker) {
            AsynchronousEvent event =
                event_of(AsynchronousEvent::What::copy_arrives, load.copy, load.thread);
            event.shared = to.shared;
            event.mbarrier = to.mbarrier;
            tell_observer(event);
        }
        {
            const GangLock lock(owner.cluster());
            put_at(load.copy, to.shared);
            Mbarrier* const barrier = owner.mbarriers.find(to.mbarrier);
            if (barrier == nullptr) continue;  // whoever ended it is named where somebody waits
            if (owner.proxy.is_watching()) {
                owner.proxy.note_arrival(to.shared, load.copy.extent, barrier->agent,
                                         static_cast<uint32_t>(barrier->phase) + 1,
                                         swizzle_of(load.copy));
            }
            Mbarriers::count(*barrier, 0, -int64_t{load.copy.bytes});
        }
        wake_waiters(owner);
    }
    return true;
}

void BulkCopies::end_block(Worker& worker) {
    // What goes to other blocks arrives there; what goes to this one's memory, which is another block's soon, is wrong.
    const auto own = std::find_if(loads_.begin(), loads_.end(), [&](const Load& load) {
        return load.arrives_at == nullptr &&
               std::any_of(load.to.begin(), load.to.end(), [&](const Destination& to) {
                   return worker.thread_locals.holds(to.shared);
               });
    });
    const auto complain = [&](const BulkCopy& copy, unsigned thread, const char* what) {
        Failure failure = failure_of(worker, &worker.lanes[thread], cudaErrorLaunchFailure);
        failure.set_what("%s", what);
        failure.tells_callers = true;
        failure.frames[0] = copy.place;
        failure.frame_count = 1;
        worker.launch->failure.record(failure);
        worker.launch->stopped = true;
    };
    if (own != loads_.end()) {
        const std::string what = std::string("the block has ended while this ") +
                                 name_of(own->copy) +
                                 " is under way: no thread has waited for its mbarrier's phase";
        return complain(own->copy, own->thread, what.c_str());
    }
    while (land_one(worker)) {
    }
    for (auto& [thread, of] : threads_) {
        if (!of.gathering.copies.empty()) {
            return complain(of.gathering.copies.front(), thread,
                            "the block has ended, and this bulk copy belongs to no group: "
                            "cp.async.bulk.commit_group is missing");
        }
        for (Group& group : of.committed) {
            if (!group.is_read && !current.fast) {
                return complain(group.copies.front(), thread,
                                "the block has ended while this bulk copy still reads its shared "
                                "memory: cp.async.bulk.wait_group.read is missing");
            }
            store(group);
        }
    }
}

// ---------------------------------------------------------------- from shared memory

BulkCopies::OfThread& BulkCopies::mine() {
    const Worker& worker = *current.worker;
    OfThread& of = threads_[current.lane->linear];
    if (of.agent == 0 && worker.proxy.is_watching()) {
        of.agent = worker.cluster().clocks.add(
            {Agent::Kind::bulk_groups, thread_in_gang(worker, *current.lane)});
    }
    return of;
}

void BulkCopies::read_source(Group& group) {
    if (std::exchange(group.is_read, true)) return;
    for (const BulkCopy& copy : group.copies) {
        group.sources.push_back(
            {std::string(reinterpret_cast<const char*>(copy.shared), copy.extent)});
    }
}

void BulkCopies::store(Group& group) {
    read_source(group);
    static std::mutex one_at_a_time;  // blocks that reduce into the same element
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    for (size_t i = 0; i < group.copies.size(); i++) {
        const BulkCopy& copy = group.copies[i];
        for (const BulkRun& run : copy.runs) {
            if (run.global == 0) continue;
            move(copy, reinterpret_cast<void*>(run.global),
                 group.sources[i].bytes.data() + run.offset, run.bytes);
        }
    }
}

void BulkCopies::begin_store(BulkCopy copy) {
    OfThread& of = mine();
    if (current.fast) {
        Group now;
        now.copies.push_back(std::move(copy));
        return store(now);
    }
    of.gathering.copies.push_back(std::move(copy));
}

BulkCopies::Next BulkCopies::next_group() {
    const OfThread& of = mine();
    return {of.agent, of.done + static_cast<uint32_t>(of.committed.size()) + 1};
}

void BulkCopies::commit() {
    OfThread& of = mine();
    of.committed.push_back(std::exchange(of.gathering, {}));
}

void BulkCopies::wait(size_t groups, bool only_read) {
    OfThread& of = mine();
    if (of.committed.size() <= groups) return;
    const size_t count = of.committed.size() - groups;
    for (size_t i = 0; i < count; i++) read_source(of.committed[i]);
    of.read = std::max(of.read, of.done + static_cast<uint32_t>(count));
    const Worker& worker = *current.worker;
    if (worker.proxy.is_watching()) {
        const GangLock lock(worker.cluster());
        worker.cluster().clocks.learn(thread_in_gang(worker, *current.lane), of.agent, of.read);
    }
    if (only_read) return;
    for (size_t i = 0; i < count; i++) {
        store(of.committed.front());
        of.committed.pop_front();
        of.done++;
    }
}

void begin_bulk_store(BulkCopy copy) {
    current.worker->launch->uses_proxy = true;
    const Worker& worker = *current.worker;
    const bool reduces = copy.combine != nullptr;
    const Undisturbed containers_grow;
    log_instruction(AccessKind::shared_bulk_load, copy.place);
    judge_shared(copy, copy.shared, Direction::bulk_load);
    log_instruction(reduces ? AccessKind::bulk_reduce : AccessKind::bulk_store, copy.place);
    judge_global(copy, reduces ? Direction::bulk_reduced : Direction::bulk_store);
    tell_observer(event_of(AsynchronousEvent::What::copy_begins, copy, current.lane->linear));
    BulkCopies& copies = current.worker->bulk_copies;
    if (worker.proxy.is_watching()) {
        const auto [agent, group] = copies.next_group();
        current.worker->proxy.judge_read(copy.shared, copy.extent, agent, group, copy.place,
                                         copy.instruction);
    }
    copies.begin_store(std::move(copy));
}

void commit_bulk_group() {
    const Undisturbed containers_grow;
    current.worker->bulk_copies.commit();
}

void wait_for_bulk_groups(size_t groups, bool only_read) {
    const Undisturbed containers_change;
    current.worker->bulk_copies.wait(groups, only_read);
}

// ---------------------------------------------------------------- to shared memory

void begin_bulk_load(BulkCopy copy, uintptr_t mbarrier, uint16_t blocks) {
    Worker& worker = *current.worker;
    worker.launch->uses_proxy = true;
    const Undisturbed containers_grow;
    const uintptr_t place = copy.place;
    const auto there = [&] { return copy.instruction + std::string(": "); };
    const bool is_sent = !copy.runs.empty() && worker.thread_locals.holds(copy.runs[0].global);
    if (!copy.is_store())
        log_instruction(is_sent ? AccessKind::shared_bulk_load : AccessKind::bulk_load, place);
    judge_global(copy, Direction::bulk_load);
    std::vector<BulkCopies::Destination> all;
    if (blocks == 0) all.push_back({copy.shared, mbarrier});
    for (unsigned rank = 0; blocks >> rank != 0; rank++) {
        if ((blocks >> rank & 1) == 0) continue;
        if (rank >= worker.cluster().members.size()) {
            Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
            failure.set_what("%sits mask 0x%x names block %u, and the cluster has %zu",
                             there().c_str(), blocks, rank, worker.cluster().members.size());
            fail_at_instruction(failure, place);
        }
        all.push_back({in_block(worker, copy.shared, rank), in_block(worker, mbarrier, rank)});
    }
    const bool reduces = copy.combine != nullptr;
    const Direction direction = !copy.is_store() ? Direction::bulk_store
                                : reduces        ? Direction::combined
                                                 : Direction::sent;
    bool told_own = false, told_other = false;
    for (const BulkCopies::Destination& to : all) {
        const bool is_own = worker.thread_locals.holds(to.shared);
        // One instruction, however many blocks it writes to.
        if (!copy.is_store() && !std::exchange(is_own ? told_own : told_other, true)) {
            log_instruction(is_own ? AccessKind::shared_bulk_store : AccessKind::remote_bulk_store,
                            place);
        }
        if (is_own) {
            AsynchronousEvent event =
                event_of(AsynchronousEvent::What::copy_begins, copy, current.lane->linear);
            event.shared = to.shared;
            event.mbarrier = to.mbarrier;
            tell_observer(event);
        }
        judge_shared(copy, to.shared, direction);
        const uint32_t agent = check_mbarrier(reinterpret_cast<void*>(to.mbarrier), place);
        Worker& owner = owner_of(to.shared);
        // Whoever waits there waits for these bytes.
        if (&owner != &worker) worker.exits.note_signal(to.mbarrier);
        if (owner.proxy.is_watching()) {
            owner.proxy.judge_copy(to.shared, copy.extent, agent, place, copy.instruction,
                                   {copy.is_store(), reduces});
        }
        if (!current.fast && !reduces) poison(copy, to.shared);
    }
    worker.bulk_copies.begin_load(std::move(copy), std::move(all));
    if (current.fast) worker.bulk_copies.land_one(worker);
}

}  // namespace cpu_device
