// SPDX-License-Identifier: MIT
#include "undefined.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "access.hpp"

namespace cpu_device {
namespace {

// Of each 2, 4 or 8 bytes a quiet NaN in half, bf16, float and double.
constexpr uint64_t kPattern = 0x7FF97FF97FF97FF9;
constexpr size_t kMostShuffles = 200;  // that a worker tells apart in one launch

// NaN keeps most of its bits in arithmetic: of float, and converted from half, bf16 and double.
bool is_of_float(uint32_t bits) {
    bits &= 0x7FFFFFFF;
    return bits == static_cast<uint32_t>(kPattern) || bits == 0x7FFF2000 || bits == 0x7FF90000 ||
           bits == 0x7FCBFFCB;
}

bool is_of_double(uint64_t bits) {
    bits &= 0x7FFFFFFFFFFFFFFF;
    if (bits == kPattern) return true;
    constexpr int kMoreBits = 29;  // of a double's fraction than of a float's
    if (bits >> 52 != 0x7FF || (bits & ((uint64_t{1} << kMoreBits) - 1)) != 0) return false;
    return is_of_float(0x7F800000 | (static_cast<uint32_t>(bits >> kMoreBits) & 0x7FFFFF));
}

// A sum of small numbers and the patterns of some lanes.
bool is_of_integer(uint32_t bits) {
    constexpr uint32_t kSmall = 4096;
    for (uint32_t lanes = 1; lanes < kWarpSize; lanes++) {
        if (bits - lanes * static_cast<uint32_t>(kPattern) + kSmall <= 2 * kSmall) return true;
    }
    return false;
}

template <class Word>
Word word_at(uintptr_t address) {
    Word word;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
    return word;
}

// From now on every access of the block is looked at.
void follow_block() {
    current.follows = current.at_length = true;
    current.loaded.clear();
    current.stored.clear();
    current.static_shared.clear();
    current.dynamic_shared.clear();
}

UndefinedShuffle& shuffle_of(Worker& worker, const Lane& lane) {
    return worker.undefined[lane.undefined - 1U];
}

void describe(UndefinedShuffle& shuffle, unsigned mask, int source) {
    const unsigned existing = current.lane->warp->existing;
    if ((mask >> source & 1) == 0) {
        std::snprintf(shuffle.why, sizeof shuffle.why,
                      "reads lane %d, which is outside its mask 0x%08x", source, mask);
    } else if ((existing >> source & 1) != 0) {
        std::snprintf(shuffle.why, sizeof shuffle.why, "reads lane %d, which has exited", source);
    } else {
        std::snprintf(shuffle.why, sizeof shuffle.why,
                      "reads lane %d, which is not there: the last warp of a block of %u threads "
                      "has %d",
                      source, current.worker->launch->threads, __builtin_popcount(existing));
    }
}

bool is_shared_by_block(const Worker& worker, uintptr_t address) {
    return owner_of_shared(worker, address) != nullptr;
}

}  // namespace

bool holds_undefined(uintptr_t address, unsigned bytes) {
    if (bytes == 2) return word_at<uint16_t>(address) == static_cast<uint16_t>(kPattern);
    if (bytes % 4 != 0) return false;
    for (unsigned at = 0; at < bytes; at += 4) {
        const auto bits = word_at<uint32_t>(address + at);
        if (is_of_float(bits) || is_of_integer(bits)) return true;
    }
    for (unsigned at = 0; at + 8 <= bytes; at += 8) {
        if (is_of_double(word_at<uint64_t>(address + at))) return true;
    }
    return false;
}

uint64_t undefined_value(unsigned mask, int source, uintptr_t place) {
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    const Undisturbed container_grows;
    size_t i = 0;
    while (i < worker.undefined.size() && worker.undefined[i].place != place) i++;
    if (i == worker.undefined.size() && i < kMostShuffles) {
        worker.undefined.push_back({place, worker.block, lane.index, {}, 0});
        describe(worker.undefined.back(), mask, source);
    }
    lane.undefined = static_cast<uint8_t>(std::min(i, kMostShuffles - 1) + 1);
    if (!current.follows) follow_block();
    return kPattern;
}

void inherit_undefined(unsigned source) {
    Lane& lane = *current.lane;
    if (lane.undefined != 0) return;
    lane.undefined = lanes_of_warp(*current.worker, lane.linear / kWarpSize)[source].undefined;
}

void follow_access(uintptr_t address, unsigned bytes, bool is_store, uintptr_t place) {
    check_last_store();
    Lane& lane = *current.lane;
    if (!is_store || lane.undefined == 0) return;
    Worker& worker = *current.worker;
    UndefinedShuffle& shuffle = shuffle_of(worker, lane);
    if (shuffle.stored_at == 0) {
        shuffle.stored_at = place;
        shuffle.block = worker.block;
        shuffle.thread = lane.index;
    }
    if (!is_shared_by_block(worker, address)) {
        lane.last_store = {address, bytes, place};
        return;
    }
    // Who reads it there is not followed: it may be anybody of the block.
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        if (worker.lanes[i].undefined == 0) worker.lanes[i].undefined = lane.undefined;
    }
}

void check_last_store() {
    Lane& lane = *current.lane;
    const LastStore store = lane.last_store;
    lane.last_store = {};
    if (store.bytes == 0 || !holds_undefined(store.address, store.bytes)) return;
    const UndefinedShuffle& shuffle = shuffle_of(*current.worker, lane);
    Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
    failure.set_what("stores an undefined value");
    failure.cause = shuffle.place;
    std::snprintf(failure.cause_text, sizeof failure.cause_text, "%s", shuffle.why);
    if (!current.worker->launch->overlooked.take(failure, store.place))
        fail_at_place(failure, store.place);
}

}  // namespace cpu_device
