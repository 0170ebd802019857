// SPDX-License-Identifier: MIT
#include "signals.hpp"

#include <algorithm>
#include <unordered_map>

#include "cpu_device/core.h"
#include "sizes.hpp"

namespace xray {
namespace {

constexpr size_t kPairsAtOnce = 32;  // two instants each, a bit for each instant
constexpr uint32_t kAnywhere = UINT32_MAX;

using Bits = uint64_t;  // of instants that are before something

// The half of a signal that happens at that time.
struct Event {
    uint32_t at;
    uint32_t signal;  // its index
    bool observes;    // else it tells, or is no access
};

// In the order in which they happened. Lanes that synchronize do so after all that they did before.
std::vector<Event> events_of(const Signals& signals) {
    std::vector<Event> events;
    events.reserve(signals.all.size() * 2);
    for (uint32_t i = 0; i < signals.all.size(); i++) {
        const Signal& signal = signals.all[i];
        const bool observes = (signal.ordering & cpu_device::kObserves) != 0;
        const bool tells = (signal.ordering & cpu_device::kTells) != 0;
        if (tells || !observes) events.push_back({signal.told_at, i, false});
        if (observes) events.push_back({signal.observed_at, i, true});
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.at < b.at; });
    return events;
}

// Follows instants along the signals: what each thread knows to be before it.
class Following {
public:
    Following(const Signals& signals, const std::vector<Event>& events, const Gangs& gangs,
              const std::vector<Instant>& instants)
        : signals_(signals), gangs_(gangs), instants_(instants), before_(instants.size()) {
        for (size_t i = 0; i < instants.size(); i++) {
            of_block_[instants[i].block].push_back(i);
            all_.push_back(i);
        }
        for (const Event& event : events) follow(event);
    }

    // The instants that are before that one.
    Bits before(size_t instant) const { return before_[instant]; }

private:
    struct Known {
        uint32_t interval = 0;
        Bits all = 0;              // that are before what the thread does next
        Bits fenced = 0;           // behind which there was a fence since
        Bits fenced_in_block = 0;  // one that other threads of the block notice
        Bits observed = 0;         // and not acquired

        void add(const Known& other) {
            all |= other.all;
            fenced |= other.fenced;
            fenced_in_block |= other.fenced_in_block;
        }
    };
    struct Block {
        Known now, at_barrier;  // all threads together, and when they last met
    };

    Known& thread_at(const Signal& signal) {
        Block& block = blocks_[signal.by.block];
        const uint32_t interval = signal.by.moment.interval;
        if (block.at_barrier.interval < interval) {
            block.at_barrier = block.now;
            block.at_barrier.interval = interval;
        }
        return thread(signal, signal.by.thread, block);
    }
    Known& thread(const Signal& signal, unsigned number, const Block& block) {
        Known& known = threads_[uint64_t{signal.by.block} << 16 | number];
        if (known.interval < signal.by.moment.interval) {
            known.add(block.at_barrier);
            known.interval = signal.by.moment.interval;
        }
        return known;
    }

    bool is_before(const Instant& instant, const Signal& signal) const {
        if (instant.block == signal.by.block) {
            if (instant.moment.interval != signal.by.moment.interval)
                return instant.moment.interval < signal.by.moment.interval;
            if (instant.thread == signal.by.thread)
                return instant.moment.signals <= signal.by.moment.signals;
            const bool same_warp = instant.thread / kWarpSize == signal.by.thread / kWarpSize;
            if (same_warp && signal.known >= 0 &&
                signals_.known[static_cast<size_t>(signal.known)][instant.thread % kWarpSize] >
                    instant.moment.syncs) {
                return true;
            }
        }
        return gangs_.any() && gangs_.is_before(instant, signal.by);
    }

    bool is_after(const Instant& instant, const Signal& signal) const {
        if (instant.block == signal.by.block) {
            if (instant.moment.interval != signal.by.moment.interval)
                return instant.moment.interval > signal.by.moment.interval;
            if ((signal.ordering & Signal::kMeeting) != 0) return took_part(instant, signal);
            if (instant.thread == signal.by.thread)
                return instant.moment.signals > signal.by.moment.signals;
        }
        return gangs_.any() && gangs_.is_before(signal.by, instant);
    }

    // Whether the thread had come from that meeting.
    bool took_part(const Instant& instant, const Signal& signal) const {
        const unsigned lane = instant.thread % kWarpSize;
        return instant.thread / kWarpSize == signal.by.thread / kWarpSize &&
               (signal.lanes >> lane & 1) != 0 &&
               signals_.known[static_cast<size_t>(signal.known)][lane] <= instant.moment.syncs;
    }

    void follow(const Event& event) {
        const Signal& signal = signals_.all[event.signal];
        const unsigned ordering = signal.ordering;
        Known& known = thread_at(signal);
        const std::vector<size_t>& near = near_block(signal.by.block);
        for (const size_t i : near) {
            if (is_before(instants_[i], signal)) known.all |= Bits{1} << i;
        }
        if ((ordering & cpu_device::kFences) != 0) {
            known.all |= std::exchange(known.observed, 0);
            known.fenced_in_block |= known.all;
            if ((ordering & cpu_device::kOfBlock) == 0) known.fenced |= known.all;
        } else if ((ordering & Signal::kMeeting) != 0) {
            meet(signal);
        } else if (event.observes) {
            const Bits heard =
                words_[{signal.by.word, kAnywhere}] | words_[{signal.by.word, signal.by.block}];
            ((ordering & cpu_device::kAcquires) != 0 ? known.all : known.observed) |= heard;
        } else if ((ordering & cpu_device::kTells) != 0) {
            const bool releases = (ordering & cpu_device::kReleases) != 0;
            const bool anywhere = releases && (ordering & cpu_device::kOfBlock) == 0;
            words_[{signal.by.word, kAnywhere}] |=
                (anywhere ? known.all : known.fenced) | itself(signal);
            words_[{signal.by.word, signal.by.block}] |=
                releases ? known.all : known.fenced_in_block;
        }
        blocks_[signal.by.block].now.add(known);
        for (const size_t i : near) {
            if (is_after(instants_[i], signal)) before_[i] |= known.all;
        }
    }

    // Instants that barriers alone may order with what the block does.
    const std::vector<size_t>& near_block(uint32_t block) {
        return gangs_.any() ? all_ : of_block_[block];
    }

    void meet(const Signal& signal) {
        const Block& block = blocks_[signal.by.block];
        const unsigned first = signal.by.thread / kWarpSize * kWarpSize;
        Known together;
        for (unsigned left = signal.lanes; left != 0; left &= left - 1) {
            together.add(thread(signal, first + static_cast<unsigned>(__builtin_ctz(left)), block));
        }
        for (unsigned left = signal.lanes; left != 0; left &= left - 1) {
            thread(signal, first + static_cast<unsigned>(__builtin_ctz(left)), block).add(together);
        }
    }

    // The instant that is this access: who reads the word afterwards knows that it is before, fence or not.
    Bits itself(const Signal& signal) {
        Bits bits = 0;
        for (const size_t i : near_block(signal.by.block)) {
            const Instant& instant = instants_[i];
            const bool is = instant.block == signal.by.block &&
                            instant.thread == signal.by.thread &&
                            instant.moment.signals == signal.by.moment.signals &&
                            instant.word - signal.by.word < sizeof(uint64_t);
            if (is) bits |= Bits{1} << i;
        }
        return bits;
    }

    struct Word {
        uintptr_t address;
        uint32_t block;
        bool operator==(const Word& other) const {
            return address == other.address && block == other.block;
        }
    };
    struct WordHash {
        size_t operator()(const Word& word) const {
            return (word.address ^ uint64_t{word.block} << 48) * 0x9E3779B97F4A7C15u;
        }
    };

    const Signals& signals_;
    const Gangs& gangs_;
    const std::vector<Instant>& instants_;
    std::vector<Bits> before_;
    std::unordered_map<uint32_t, std::vector<size_t>> of_block_;
    std::vector<size_t> all_;
    std::unordered_map<uint32_t, Block> blocks_;
    std::unordered_map<uint64_t, Known> threads_;
    std::unordered_map<Word, Bits, WordHash> words_;
};

}  // namespace

bool Signals::release() const {
    return std::any_of(all.begin(), all.end(), [](const Signal& signal) {
        return (signal.ordering & (cpu_device::kReleases | cpu_device::kFences)) != 0;
    });
}

void Signals::append(const Signals& other) {
    const auto offset = static_cast<int32_t>(known.size());
    for (const Signal& signal : other.all) {
        all.push_back(signal);
        if (signal.known >= 0) all.back().known += offset;
    }
    known.insert(known.end(), other.known.begin(), other.known.end());
}

void Signals::clear() {
    all.clear();
    known.clear();
}

Gangs::Gangs(bool whole_grid, dim3 grid, dim3 cluster)
    : whole_grid_(whole_grid),
      clusters_(!whole_grid && cluster.x * cluster.y * cluster.z > 1),
      grid_(grid),
      cluster_(cluster) {}

uint32_t Gangs::of(uint32_t block) const {
    if (!clusters_) return whole_grid_ ? 0 : block;
    const uint32_t x = block % grid_.x / cluster_.x;
    const uint32_t y = block / grid_.x % grid_.y / cluster_.y;
    const uint32_t z = block / (grid_.x * grid_.y) / cluster_.z;
    return x + grid_.x * (y + grid_.y * z);
}

std::vector<bool> ordered_by(const Signals& signals, const Gangs& gangs,
                             const std::vector<std::pair<Instant, Instant>>& pairs) {
    std::vector<bool> ordered(pairs.size());
    if (!signals.release()) return ordered;
    const std::vector<Event> events = events_of(signals);
    for (size_t first = 0; first < pairs.size(); first += kPairsAtOnce) {
        const size_t count = std::min(kPairsAtOnce, pairs.size() - first);
        std::vector<Instant> instants;
        for (size_t i = 0; i < count; i++) {
            instants.push_back(pairs[first + i].first);
            instants.push_back(pairs[first + i].second);
        }
        const Following following(signals, events, gangs, instants);
        for (size_t i = 0; i < count; i++) {
            const Bits either =
                following.before(2 * i + 1) >> (2 * i) | following.before(2 * i) >> (2 * i + 1);
            ordered[first + i] = (either & 1) != 0;
        }
    }
    return ordered;
}

}  // namespace xray
