// SPDX-License-Identifier: MIT
#include "async_proxy.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "cpu_device/async_proxy.h"
#include "cpu_device/core.h"
#include "fast.hpp"
#include "shared_memory.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

constexpr unsigned kWordBytes = 4;

// Set before main() by code that has such instructions.
bool program_uses_proxy = false;

// Of the kernels that have run. One launch at a time asks.
std::map<const void*, bool>& known_kernels() {
    static auto* const known = new std::map<const void*, bool>;
    return *known;
}

}  // namespace

bool may_use_proxy(const void* kernel) {
    if (!program_uses_proxy || is_fast()) return false;
    const auto found = known_kernels().find(kernel);
    return found == known_kernels().end() || found->second;
}

void note_proxy_use(const void* kernel, bool uses) {
    bool& known = known_kernels()[kernel];
    known = known || uses;
}

bool is_proxy_watched(const Launch& launch, uint64_t blocks_begun) {
    constexpr uint64_t kLearnedFrom = 64;
    return launch.watches_proxy &&
           (blocks_begun < kLearnedFrom || launch.cooperative || launch.uses_proxy);
}

bool use_async_proxy() {
    return program_uses_proxy = true;
}

// ---------------------------------------------------------------- clocks

void VectorClock::raise(uint32_t agent, uint32_t count) {
    if (agent >= counts_.size()) counts_.resize(agent + 1);
    counts_[agent] = std::max(counts_[agent], count);
}

void VectorClock::join(const VectorClock& other) {
    if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
    uint32_t* const mine = counts_.data();
    const uint32_t* const theirs = other.counts_.data();
    for (size_t i = 0; i < other.counts_.size(); i++) mine[i] = std::max(mine[i], theirs[i]);
}

void Clocks::begin(uint32_t threads) {
    of_.assign(threads, {});
    count_.assign(threads, 1);
    agents_.clear();
}

uint32_t Clocks::add(Agent agent) {
    agents_.push_back(agent);
    return static_cast<uint32_t>(of_.size() + agents_.size() - 1);
}

void Clocks::release(uint32_t thread, Knowledge& to) {
    of_[thread].seen.raise(thread, count_[thread]++);
    to.join(of_[thread]);
}

void Clocks::fence(uint32_t thread) {
    of_[thread].seen.raise(thread, count_[thread]++);
    of_[thread].fenced.join(of_[thread].seen);
}

GangLock::GangLock(Gang& gang) : locked_(gang.members.size() > 1 ? &gang : nullptr) {
    if (locked_ != nullptr) locked_->proxy_mutex.lock();
}

GangLock::~GangLock() {
    if (locked_ != nullptr) locked_->proxy_mutex.unlock();
}

uint32_t thread_in_gang(const Worker& worker, const Lane& lane) {
    const Gang& cluster = worker.cluster();
    const uint32_t rank = cluster.members.size() > 1 ? worker.cluster_rank : 0;
    return rank * worker.launch->threads + lane.linear;
}

namespace {

uint32_t me() {
    return thread_in_gang(*current.worker, *current.lane);
}

Clocks& clocks() {
    return current.worker->cluster().clocks;
}

// "thread (3,0,0)", of another block with that block.
std::string name_of_thread(uint32_t thread) {
    const Worker& worker = *current.worker;
    const uint32_t threads = worker.launch->threads;
    const Worker& of = *worker.cluster().members[thread / threads];
    std::string name = "thread " + coordinates(of.lanes[thread % threads].index);
    if (&of != &worker) name += " of block " + coordinates(of.block);
    return name;
}

std::string name_of_agent(uint32_t index) {
    if (clocks().is_thread(index)) return name_of_thread(index);
    const Agent& agent = clocks().agent(index);
    switch (agent.kind) {
        case Agent::Kind::mbarrier:
            return "the mbarrier " +
                   place_in_shared(*owner_of_shared(*current.worker, agent.number), agent.number);
        case Agent::Kind::warpgroup:
            return "a wgmma of warps " + std::to_string(agent.number) + " to " +
                   std::to_string(agent.number + kWarpsOfGroup - 1);
        case Agent::Kind::bulk_groups:
            return "a bulk copy of " + name_of_thread(static_cast<uint32_t>(agent.number));
    }
    return "";
}

// What the running lane's last wait at that mbarrier has to do with it: it may have asked for the wrong parity.
std::string text_of_vain_wait(uint32_t mbarrier) {
    const LastWait& last = current.lane->last_wait;
    if (last.agent != mbarrier || !last.was_over) return "";
    return "; its wait for parity " + std::to_string(last.parity) +
           " ended at once, since that is the parity of the phase before phase " +
           std::to_string(last.phase);
}

}  // namespace

// ---------------------------------------------------------------- what orders threads

void release_to(Knowledge& to) {
    if (current.worker->proxy.is_watching()) clocks().release(me(), to);
}

void acquire_from(const Knowledge& from) {
    if (current.worker->proxy.is_watching()) clocks().acquire(me(), from);
}

void fence_proxy() {
    current.worker->launch->uses_proxy = true;
    if (!current.worker->proxy.is_watching()) return;
    const Undisturbed clocks_grow;
    const GangLock lock(current.worker->cluster());
    clocks().fence(me());
}

namespace {

// Lanes, as bits by warp, tell each other all.
template <class LanesOf>
void meet(Worker& worker, unsigned first_warp, unsigned warps, LanesOf lanes_of) {
    if (!worker.proxy.is_watching()) return;
    const Undisturbed clocks_grow;
    Gang& cluster = worker.cluster();
    const GangLock lock(cluster);
    Knowledge together;
    const auto each = [&](auto act) {
        for (unsigned warp = first_warp; warp < first_warp + warps; warp++) {
            for (unsigned left = lanes_of(warp); left != 0; left &= left - 1)
                act(thread_in_gang(worker, lanes_of_warp(worker, warp)[__builtin_ctz(left)]));
        }
    };
    each([&](uint32_t thread) { cluster.clocks.release(thread, together); });
    each([&](uint32_t thread) { cluster.clocks.acquire(thread, together); });
}

}  // namespace

void meet_in_block(Worker& worker) {
    meet(worker, 0, worker.warp_count, [&](unsigned warp) { return worker.warps[warp].alive(); });
}

void meet_in_warp(Worker& worker, unsigned warp, unsigned lanes) {
    meet(worker, warp, 1, [&](unsigned) { return lanes; });
}

// ---------------------------------------------------------------- words

void AsyncProxy::begin_block(const Worker& worker) {
    Gang& cluster = worker.cluster();
    const bool is_alone = cluster.members.size() == 1;
    if (is_alone) cluster.is_watched = is_proxy_watched(*worker.launch, worker.launch->next_block);
    watching_ = cluster.is_watched;
    if (!watching_) return;
    worker_ = &worker;
    const AddressRange shared = worker.thread_locals;
    words_.resize((shared.high - shared.low) / kWordBytes + 1);
    if (++block_ == 0) {  // after 2^32 blocks
        words_.assign(words_.size(), {});
        block_ = 1;
    }
    readers_.clear();
    free_reader_ = -1;
    if (is_alone) cluster.clocks.begin(worker.launch->threads);
}

AsyncProxy::Word& AsyncProxy::word_at(uintptr_t address) {
    Word& word = words_[(address - worker_->thread_locals.low) / kWordBytes];
    if (word.block != block_) {
        word = {};
        word.block = block_;
    }
    return word;
}

void AsyncProxy::add_reader(Word& word, uint32_t agent, uint32_t count, uintptr_t place) {
    for (int32_t i = word.readers; i >= 0; i = readers_[static_cast<size_t>(i)].next) {
        Reader& reader = readers_[static_cast<size_t>(i)];
        if (reader.agent != agent) continue;
        reader.count = count;
        reader.place = place;
        return;
    }
    int32_t index = free_reader_;
    if (index >= 0) {
        free_reader_ = readers_[static_cast<size_t>(index)].next;
    } else {
        index = static_cast<int32_t>(readers_.size());
        readers_.emplace_back();
    }
    readers_[static_cast<size_t>(index)] = {agent, count, place, word.readers};
    word.readers = index;
}

void AsyncProxy::forget_readers(Word& word) {
    while (word.readers >= 0) {
        Reader& reader = readers_[static_cast<size_t>(word.readers)];
        const int32_t next = std::exchange(reader.next, free_reader_);
        free_reader_ = std::exchange(word.readers, next);
    }
}

std::string AsyncProxy::Described::text() const {
    if (instruction == nullptr) return text_of(direction, bytes);
    return std::string(instruction) + verb;
}

// Whether a bulk copy to the word has yet to arrive, or the thread has yet to come to know that it has.
AsyncProxy::Complaint AsyncProxy::complaint_of_arrival(const Word& word, uint32_t thread,
                                                       const Described& access) const {
    const std::string a_copy = word.arriving.is_store ? "an asynchronous store" : "a bulk copy";
    const std::string begun = word.arriving.is_store ? "the store was begun" : "the copy was begun";
    if (word.under_way != 0) {
        return {access.text() + " the destination of " + a_copy +
                    " that is under way: no thread has waited for the phase of its mbarrier" +
                    text_of_vain_wait(word.writer),
                begun, word.place};
    }
    if (!word.by_proxy || clocks().has_seen(thread, word.writer, word.written)) return {};
    return {access.text() + " what " + a_copy +
                " has written, and the thread has not waited for that: for phase " +
                std::to_string(word.written - 1) + " (parity " +
                std::to_string((word.written - 1) % 2) + ") of " + name_of_agent(word.writer) +
                text_of_vain_wait(word.writer),
            begun, word.place};
}

// Whether somebody may still read the word that the thread is to write.
AsyncProxy::Complaint AsyncProxy::complaint_of_readers(const Word& word, uint32_t thread,
                                                       bool agents_only,
                                                       const Described& access) const {
    for (int32_t i = word.readers; i >= 0; i = readers_[static_cast<size_t>(i)].next) {
        const Reader& reader = readers_[static_cast<size_t>(i)];
        const bool is_thread = clocks().is_thread(reader.agent);
        if (is_thread && agents_only) continue;
        if (clocks().has_seen(thread, reader.agent, reader.count)) continue;
        return {access.text() + " what " + name_of_agent(reader.agent) +
                    " may still read: nothing that the thread has waited for comes after that",
                "it is read", reader.place};
    }
    return {};
}

// Whether a thread writes the word, and this one may not know of it.
AsyncProxy::Complaint AsyncProxy::complaint_of_order(const Word& word, uint32_t thread,
                                                     const Described& access) const {
    if (word.writer == kNobody || word.by_proxy || word.under_way != 0) return {};
    if (clocks().has_seen(thread, word.writer, word.written)) return {};
    return {access.text() + " what " + name_of_thread(word.writer) +
                " writes, and nothing orders the two: a barrier is missing",
            "it is written", word.place};
}

// Whether what a thread wrote may not have reached the asynchronous proxy.
AsyncProxy::Complaint AsyncProxy::complaint_of_fence(const Word& word, uint32_t thread,
                                                     const Described& access) const {
    if (word.writer == kNobody || word.by_proxy || word.by_thread_copy) return {};
    if (clocks().has_fenced(thread, word.writer, word.written)) return {};
    if (!clocks().has_seen(thread, word.writer, word.written)) {
        return {access.text() + " what " + name_of_thread(word.writer) +
                    " writes, and nothing orders the two: a barrier and fence.proxy.async are "
                    "missing",
                "it is written", word.place};
    }
    return {access.text() + " what " + name_of_thread(word.writer) +
                " has written as threads do: the asynchronous proxy sees that only after a "
                "fence.proxy.async between the two",
            "it was written", word.place};
}

// Whether the word lies where another swizzle has put it.
AsyncProxy::Complaint AsyncProxy::complaint_of_swizzle(const Word& word, uint8_t swizzle,
                                                       const Described& access) const {
    if (!word.by_proxy || word.swizzle == kAnySwizzle || swizzle == kAnySwizzle ||
        word.swizzle == swizzle) {
        return {};
    }
    const auto name = [](uint8_t span) {
        return span == 0 ? std::string("no swizzle")
                         : "a swizzle of " + std::to_string(span) + " bytes";
    };
    return {access.text() + " by a descriptor with " + name(swizzle) +
                " what a tensor copy has written with " + name(word.swizzle) +
                ": the descriptor and the tensor map must name the same",
            "the copy was begun", word.place};
}

void AsyncProxy::end_launch(const Complaint& complaint, uintptr_t place) {
    if (!complaint.is_made()) return;
    Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
    failure.set_what("%s", complaint.what.c_str());
    std::snprintf(failure.other, sizeof failure.other, "%s", complaint.other.c_str());
    failure.other_frame = complaint.other_place;
    fail_at_instruction(failure, place);
}

void AsyncProxy::judge(uintptr_t address, unsigned bytes, Direction direction, uintptr_t place) {
    if (is_asynchronous(direction)) return;
    Complaint complaint;
    {
        const Undisturbed containers_grow;
        const GangLock lock(worker_->cluster());
        const uint32_t thread = me();
        const bool writes = !is_load(direction);
        const Described access{nullptr, "", direction, bytes};
        for (uintptr_t at = address; at < address + bytes; at += kWordBytes) {
            Word& word = word_at(at);
            if (word.under_way != 0 || word.by_proxy)
                complaint = complaint_of_arrival(word, thread, access);
            if (writes && word.readers >= 0 && !complaint.is_made())
                complaint = complaint_of_readers(word, thread, true, access);
            if (complaint.is_made()) break;
            if (!writes) {
                if (word.was_target) add_reader(word, thread, clocks().now(thread), place);
                continue;
            }
            forget_readers(word);
            word.by_proxy = false;
            word.arriving = {};
            word.by_thread_copy =
                direction == Direction::copied || direction == Direction::copied_through_cache;
            word.writer = thread;
            word.written = clocks().now(thread);
            word.place = place;
        }
    }
    end_launch(complaint, place);
}

bool AsyncProxy::judge_read(uintptr_t address, unsigned bytes, uint32_t agent, uint32_t count,
                            uintptr_t place, const char* instruction, uint8_t swizzle) {
    bool any_written = false;
    Complaint complaint;
    {
        const Undisturbed containers_grow;
        const GangLock lock(worker_->cluster());
        const uint32_t thread = me();
        const Described access{instruction, " reads", Direction::bulk_load, bytes};
        for (uintptr_t at = address; at < address + bytes && !complaint.is_made();
             at += kWordBytes) {
            Word& word = word_at(at);
            if (word.under_way != 0 || word.by_proxy)
                complaint = complaint_of_arrival(word, thread, access);
            if (!complaint.is_made()) complaint = complaint_of_fence(word, thread, access);
            if (!complaint.is_made()) complaint = complaint_of_swizzle(word, swizzle, access);
            if (complaint.is_made()) break;
            any_written = any_written || word.writer != kNobody;
            word.was_target = true;
            add_reader(word, agent, count, place);
        }
    }
    end_launch(complaint, place);
    return any_written;
}

void AsyncProxy::judge_copy(uintptr_t address, unsigned bytes, uint32_t mbarrier, uintptr_t place,
                            const char* instruction, Arriving what) {
    Complaint complaint;
    {
        const Undisturbed containers_grow;
        const GangLock lock(worker_->cluster());
        const uint32_t thread = me();
        const Described access{instruction, what.reduces ? " combines with" : " overwrites",
                               Direction::bulk_store, bytes};
        for (uintptr_t at = address; at < address + bytes; at += kWordBytes) {
            Word& word = word_at(at);
            const bool any_order = what.reduces && word.arriving.reduces;
            if ((word.under_way != 0 || word.by_proxy) && !any_order)
                complaint = complaint_of_arrival(word, thread, access);
            if (what.reduces && !complaint.is_made())
                complaint = complaint_of_order(word, thread, access);
            if (word.readers >= 0 && !complaint.is_made())
                complaint = complaint_of_readers(word, thread, false, access);
            if (complaint.is_made()) break;
            forget_readers(word);
            word.under_way++;
            word.was_target = true;
            word.arriving = what;
            word.by_proxy = word.by_thread_copy = false;
            word.writer = mbarrier;
            word.place = place;
        }
    }
    end_launch(complaint, place);
}

void AsyncProxy::note_arrival(uintptr_t address, unsigned bytes, uint32_t mbarrier, uint32_t count,
                              uint8_t swizzle) {
    for (uintptr_t at = address; at < address + bytes; at += kWordBytes) {
        Word& word = word_at(at);
        if (word.under_way != 0) word.under_way--;
        word.by_proxy = true;
        word.writer = mbarrier;
        word.written = count;
        word.swizzle = swizzle;
    }
}

bool AsyncProxy::is_from_copy(uintptr_t address, uint8_t swizzle) {
    const Word& word = word_at(address);
    return word.by_proxy && word.swizzle == swizzle;
}

// ---------------------------------------------------------------- wgmma

namespace {

uint32_t agent_of_warpgroup() {
    Worker& worker = *current.worker;
    const unsigned group = current.lane->linear / (kWarpsOfGroup * kWarpSize);
    uint32_t& agent = worker.warpgroup_agents[group];
    if (agent == 0) agent = clocks().add({Agent::Kind::warpgroup, group * kWarpsOfGroup});
    return agent;
}

}  // namespace

bool read_by_wgmma(uintptr_t address, uint64_t operation, uintptr_t place, uint8_t swizzle) {
    current.worker->launch->uses_proxy = true;
    AsyncProxy& proxy = current.worker->proxy;
    if (!proxy.is_watching()) return true;
    uint32_t agent = 0;
    {
        const Undisturbed clocks_grow;
        const GangLock lock(current.worker->cluster());
        agent = agent_of_warpgroup();
    }
    constexpr unsigned kChunk = 16;
    return proxy.judge_read(address, kChunk, agent, static_cast<uint32_t>(operation), place,
                            "wgmma", swizzle);
}

bool is_from_copy(uintptr_t address, uint8_t swizzle) {
    AsyncProxy& proxy = current.worker->proxy;
    if (!proxy.is_watching()) return true;
    const GangLock lock(current.worker->cluster());
    return proxy.is_from_copy(address, swizzle);
}

void waited_for_wgmma(uint64_t operation) {
    if (!current.worker->proxy.is_watching()) return;
    const Undisturbed clocks_grow;
    const GangLock lock(current.worker->cluster());
    clocks().learn(me(), agent_of_warpgroup(), static_cast<uint32_t>(operation));
}

}  // namespace cpu_device
