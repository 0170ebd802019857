// SPDX-License-Identifier: MIT
#include "async_copies.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cpu_device/async_copies.h"
#include "cpu_device/core.h"
#include "worker.hpp"

namespace cpu_device {
namespace {

// Every access to shared memory, and every store, is judged while a copy is under way. Loads of other memory
// need not be, since copies arrive in shared memory alone.
void close_quick_way() {
    current.copies_under_way = true;
    current.dynamic_shared.clear();
    current.static_shared.clear();
    current.stored.clear();
}

void open_quick_way(const Worker& worker) {
    current.copies_under_way = false;
    if (!current.at_length && !worker.proxy.is_watching())
        current.dynamic_shared.set(worker.dynamic_shared);
}

}  // namespace

void AsyncCopies::begin_block() {
    next_ = nullptr;
    if (is_used_) {
        threads_.assign(threads_.size(), CopyQueue{});
        barriers_.clear();
        is_used_ = false;
    }
    if (!any()) return;
    std::fill(marks_.begin(), marks_.end(), 0);
    count_ = 0;
    elsewhere_ = {};
    open_quick_way(*current.worker);
}

CopyQueue& AsyncCopies::of_thread(unsigned thread) {
    is_used_ = true;
    if (threads_.empty()) threads_.resize(kMaxThreads);
    return threads_[thread];
}

void AsyncCopies::begin(CopyQueue& queue, const PendingCopy& copy) {
    if (count_++ == 0) {
        const Worker& worker = *current.worker;
        shared_ = worker.thread_locals;
        marks_.resize(shared_.high - shared_.low);
        close_quick_way();
    }
    mark(copy, true);
    queue.copies.push_back(copy);
}

void AsyncCopies::mark(const PendingCopy& copy, bool under_way) {
    mark(copy.to, copy.bytes, kArrives, under_way);
    mark(copy.from, copy.read, kLeaves, under_way);
}

void AsyncCopies::mark(uintptr_t address, unsigned bytes, uint8_t how, bool under_way) {
    if (bytes == 0) return;
    if (shared_.holds(address)) {
        uint8_t* const marks = &marks_[address - shared_.low];
        for (unsigned i = 0; i < bytes; i++) {
            marks[i] = static_cast<uint8_t>(under_way ? marks[i] | how : marks[i] & ~how);
        }
    } else if (under_way) {
        if (elsewhere_.low == elsewhere_.high) elsewhere_ = {address, address};
        elsewhere_.low = std::min(elsewhere_.low, address);
        elsewhere_.high = std::max(elsewhere_.high, address + bytes);
    }
}

void AsyncCopies::commit(CopyQueue& queue) {
    queue.groups.push_back(queue.begun());
}

void AsyncCopies::arrive(CopyQueue& queue, uint64_t end, Wait wait) {
    if (end <= queue.arrived) return;
    const auto count = static_cast<std::ptrdiff_t>(end - queue.arrived);
    const auto first = queue.copies.begin(), last = first + count;
    for (auto copy = first; copy != last; ++copy) {
        std::memcpy(reinterpret_cast<void*>(copy->to), copy->value, copy->bytes);
        mark(*copy, false);
        const Worker& worker = *current.worker;
        Observer* const observer = worker.launch->observer;
        if (observer == nullptr || wait == Wait::for_phase) continue;
        if (copy->meetings == worker.meetings) continue;  // it is ordered as its beginning is
        observer->copy_arrived(worker.number, copy->thread, copy->to, copy->bytes, copy->place);
    }
    queue.copies.erase(first, last);
    queue.arrived = end;
    count_ -= static_cast<size_t>(count);
    if (count_ != 0) return;
    elsewhere_ = {};
    open_quick_way(*current.worker);
}

void AsyncCopies::arrive_but(CopyQueue& queue, size_t groups) {
    if (queue.groups.size() <= groups) return;
    const auto last = queue.groups.end() - static_cast<std::ptrdiff_t>(groups);
    arrive(queue, *(last - 1), Wait::of_thread);
    queue.groups.erase(queue.groups.begin(), last);
}

void AsyncCopies::bind(CopyQueue& queue, uintptr_t barrier, uint64_t phase) {
    if (queue.copies.empty()) return;
    barriers_[barrier].push_back({phase, &queue, queue.begun()});
}

void AsyncCopies::arrive_with(uintptr_t barrier, uint64_t phase) {
    const auto found = barriers_.find(barrier);
    if (found == barriers_.end()) return;
    std::vector<Bound>& bound = found->second;
    const auto later = std::stable_partition(bound.begin(), bound.end(),
                                             [&](const Bound& each) { return each.phase > phase; });
    for (auto each = later; each != bound.end(); ++each)
        arrive(*each->queue, each->end, Wait::for_phase);
    bound.erase(later, bound.end());
}

const PendingCopy* AsyncCopies::find(uintptr_t address, unsigned bytes, bool writes,
                                     const CopyQueue** queue) const {
    const auto meets = [&](const PendingCopy& copy) {
        return copy.arrives_at(address, bytes) || (writes && copy.leaves(address, bytes));
    };
    const auto found_in = [&](const CopyQueue& in) -> const PendingCopy* {
        const auto found = std::find_if(in.copies.begin(), in.copies.end(), meets);
        if (found == in.copies.end()) return nullptr;
        *queue = &in;
        return &*found;
    };
    for (const CopyQueue& each : threads_) {
        if (const PendingCopy* found = found_in(each)) return found;
    }
    return nullptr;
}

// How `copy`, which is in `queue`, should have been waited for.
const char* AsyncCopies::what_is_missing(const CopyQueue& queue, const PendingCopy& copy) const {
    const auto number = queue.arrived + static_cast<uint64_t>(&copy - queue.copies.data());
    for (const auto& each : barriers_) {
        for (const Bound& bound : each.second) {
            if (bound.queue == &queue && number < bound.end)
                return "no thread has waited for the phase of the barrier, or the stage of the "
                       "pipeline, to which it belongs";
        }
    }
    const bool is_committed = !queue.groups.empty() && number < queue.groups.back();
    return is_committed ? "the thread that began it has committed it, but not waited for its group"
                        : "the thread that began it has neither committed it nor waited for it";
}

void AsyncCopies::judge_at_length(uintptr_t address, unsigned bytes, Direction direction,
                                  bool writes) const {
    const CopyQueue* queue = nullptr;
    const PendingCopy* const copy = find(address, bytes, writes, &queue);
    if (copy == nullptr || (next_ != nullptr && next_->repeats(*copy))) return;
    Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
    failure.set_what("%s the %s of an asynchronous copy that is under way: %s",
                     text_of(direction, bytes).c_str(),
                     copy->arrives_at(address, bytes) ? "destination" : "source",
                     what_is_missing(*queue, *copy));
    std::snprintf(failure.other, sizeof failure.other, "thread %s began the copy",
                  coordinates(current.worker->lanes[copy->thread].index).c_str());
    failure.other_frame = copy->place;
    fail_here(failure);
}

// ---------------------------------------------------------------- what device code calls

namespace {

AsyncCopies& copies() {
    return current.worker->copies;
}

CopyQueue& my_queue() {
    return copies().of_thread(current.lane->linear);
}

PendingCopy pending(void* to, const void* from, const void* value, size_t bytes, size_t read,
                    uintptr_t place) {
    PendingCopy copy;
    copy.to = as_address(to);
    copy.from = as_address(from);
    copy.place = place;
    copy.meetings = current.worker->meetings;
    copy.thread = static_cast<uint16_t>(current.lane->linear);
    copy.bytes = static_cast<uint8_t>(bytes);
    copy.read = static_cast<uint8_t>(read);
    std::memcpy(copy.value, value, bytes);
    return copy;
}

}  // namespace

void begin_copy(void* to, const void* from, const void* value, size_t bytes, size_t read,
                CopyCount counted) {
    const auto place = as_address(__builtin_return_address(0));
    const PendingCopy copy = pending(to, from, value, bytes, read, place);
    copies().prepare(&copy);
    judge_access(as_address(to), static_cast<unsigned>(bytes),
                 counted == CopyCount::copy    ? Direction::copied
                 : counted == CopyCount::store ? Direction::store
                                               : Direction::copied_through_cache,
                 place, false);
    copies().prepare(nullptr);
    if (!is_shared(to)) {
        fail(cudaErrorLaunchFailure,
             "asynchronous copy to %p, which is not shared memory of this block", to);
    }
    const Undisturbed containers_grow;
    copies().begin(my_queue(), copy);
}

void commit_copies() {
    const Undisturbed container_grows;
    copies().commit(my_queue());
}

void wait_for_groups(size_t groups) {
    const Undisturbed copies_arrive;
    copies().arrive_but(my_queue(), groups);
}

void wait_for_all_copies() {
    const Undisturbed copies_arrive;
    copies().commit(my_queue());
    copies().arrive_but(my_queue(), 0);
}

void bind_copies(const void* barrier, uint64_t phase) {
    const Undisturbed container_grows;
    copies().bind(my_queue(), as_address(barrier), phase);
}

void waited_for_phase(const void* barrier, uint64_t phase) {
    const Undisturbed copies_arrive;
    copies().arrive_with(as_address(barrier), phase);
}

}  // namespace cpu_device
