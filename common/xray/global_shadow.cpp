// SPDX-License-Identifier: MIT
#include "global_shadow.hpp"

#include <algorithm>
#include <utility>

#include "common/cpu_device/padding.hpp"
#include "common/io/memory.hpp"
#include "sizes.hpp"

namespace xray {
namespace {

constexpr size_t kMostSignalsOfLaunch = 1 << 20;  // of a launch

struct Touch {
    bool reads = false, writes = false;
    bool shared = false;  // memory of a block
};

Touch touch_of(AccessKind kind) {
    switch (kind) {
        case AccessKind::global_load:
        case AccessKind::constant_load:
        case AccessKind::bulk_load:
        case AccessKind::texture_load:
        case AccessKind::surface_load:
            return {true, false, false};
        case AccessKind::global_store:
        case AccessKind::constant_store:
        case AccessKind::bulk_store:
        case AccessKind::surface_store:
            return {false, true, false};
        case AccessKind::global_atomic:
        case AccessKind::constant_atomic:
        case AccessKind::bulk_reduce:
            return {true, true, false};
        case AccessKind::shared_load:
        case AccessKind::remote_load:
            return {true, false, true};
        case AccessKind::shared_store:
        case AccessKind::shared_copy:
        case AccessKind::remote_store:
            return {false, true, true};
        case AccessKind::shared_atomic:
        case AccessKind::remote_atomic:
            return {true, true, true};
        case AccessKind::bulk_prefetch:
        case AccessKind::shared_bulk_load:
        case AccessKind::shared_bulk_store:
        case AccessKind::remote_bulk_store:
        case AccessKind::wgmma:
        case AccessKind::mbarrier:
        case AccessKind::waypoint:
            break;
    }
    return {};
}

uint8_t bytes_in_word(uintptr_t address, unsigned bytes) {
    if (bytes >= kWordBytes) return 0xF;
    return static_cast<uint8_t>(((1u << bytes) - 1) << address % kWordBytes);
}

// What may be used to remember who touched what.
size_t most_bytes_of_chunks() {
    constexpr size_t kMost = size_t{2} << 30;
    constexpr size_t kShare = 4;  // of the memory that is free
    static const size_t most = std::min<size_t>(kMost, io::available_memory() / kShare);
    return most;
}

}  // namespace

// ---------------------------------------------------------------- what is written

bool GlobalShadow::Written::all(size_t from, size_t count) const {
    for (size_t i = from; i < from + count; i++) {
        const uint64_t word = __atomic_load_n(&bits[i / 64], __ATOMIC_RELAXED);
        if (word == UINT64_MAX) {
            i |= 63;
        } else if ((word >> i % 64 & 1) == 0) {
            return false;
        }
    }
    return true;
}

bool GlobalShadow::Written::lacks_only_padding(uintptr_t address, size_t from,
                                               unsigned count) const {
    uint32_t unwritten = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!all(from + i, 1)) unwritten |= uint32_t{1} << i;
    }
    return cpu_device::is_padding(address, count, unwritten);
}

void GlobalShadow::Written::set(size_t from, size_t count) {
    for (size_t i = from; i < from + count;) {
        const size_t in_word = std::min(64 - i % 64, from + count - i);
        const uint64_t mask = (in_word == 64 ? UINT64_MAX : (uint64_t{1} << in_word) - 1) << i % 64;
        uint64_t& word = bits[i / 64];
        if ((__atomic_load_n(&word, __ATOMIC_RELAXED) & mask) != mask) {
            __atomic_fetch_or(&word, mask, __ATOMIC_RELAXED);
        }
        i += in_word;
    }
}

std::map<uintptr_t, GlobalShadow::Written>::iterator GlobalShadow::allocation_before(
    uintptr_t address) {
    const auto above = written_.upper_bound(address);
    return above == written_.begin() ? written_.end() : std::prev(above);
}

void GlobalShadow::memory_allocated(uintptr_t low, size_t bytes, bool host_may_write) {
    const std::unique_lock<std::shared_mutex> lock(written_mutex_);
    written_[low] = {bytes, std::vector<uint64_t>(bytes / 64 + 1), host_may_write};
}

// A bit for each byte, and of words that are touched their histories.
size_t GlobalShadow::shadow_bytes(size_t bytes) {
    const size_t most = most_bytes_of_chunks();
    const size_t words = bytes / kWordBytes;
    return bytes / 8 + (words > most / sizeof(Cell) ? most : words * sizeof(Cell));
}

void GlobalShadow::memory_freed(uintptr_t low) {
    const std::unique_lock<std::shared_mutex> lock(written_mutex_);
    written_.erase(low);
}

void GlobalShadow::written_by_host(uintptr_t low, size_t bytes) {
    const std::shared_lock<std::shared_mutex> lock(written_mutex_);
    const auto above = written_.upper_bound(low);
    if (above == written_.begin()) return;
    auto& [begin, written] = *std::prev(above);
    if (low - begin < written.bytes) {
        written.set(low - begin, std::min(bytes, written.bytes - (low - begin)));
    }
}

GlobalShadow::Unwritten GlobalShadow::unwritten(uintptr_t low, size_t bytes) const {
    const std::shared_lock<std::shared_mutex> lock(written_mutex_);
    const auto above = written_.upper_bound(low);
    if (above == written_.begin()) return {};
    const auto& [begin, written] = *std::prev(above);
    const size_t from = low - begin;
    if (from >= written.bytes) return {};
    const size_t count = std::min(bytes, written.bytes - from);
    if (written.all(from, count)) return {};
    const auto is_unwritten = [&written = written, from](size_t at) {
        return !written.all(from + at, 1);
    };
    if (cpu_device::is_padding_of_objects(low, count, is_unwritten)) return {};
    Unwritten found;
    for (size_t at = 0; at < count; at++) {
        if (!is_unwritten(at)) continue;
        if (found.bytes++ == 0) found.first = at;
    }
    found.is_tail = found.bytes == count - found.first;
    found.offset = from;
    found.last_launch = __atomic_load_n(&written.last_launch, __ATOMIC_RELAXED);
    found.host_may_write = written.host_may_write;
    return found;
}

// ---------------------------------------------------------------- a launch

void GlobalShadow::begin_launch(const cpu_device::LaunchConfiguration& configuration) {
    grid_ = configuration.grid;
    gangs_ = Gangs(configuration.cooperative, configuration.grid, configuration.cluster);
    launch_++;
}

void GlobalShadow::begin_block(Block& block, uintptr_t shared_low, uintptr_t shared_high) {
    block.shared_low_ = shared_low;
    block.shared_high_ = shared_high;
    block.signals_.clear();
}

void GlobalShadow::end_interval(Block& block) {
    if (!block.order_.all_known()) all_signals_known_ = false;
    if (!block.order_.since_barrier().all.empty()) {
        block.signals_.append(block.order_.since_barrier());
    }
}

void GlobalShadow::end_block(Block& block) {
    end_interval(block);
    if (block.signals_.all.empty()) return;
    const std::lock_guard<std::mutex> lock(found_mutex_);
    if (signals_.all.size() + block.signals_.all.size() > kMostSignalsOfLaunch) {
        all_signals_known_ = false;
    } else {
        signals_.append(block.signals_);
    }
    block.signals_.clear();
}

GlobalShadow::Chunk* GlobalShadow::chunk_at(Shard& shard, uintptr_t number) {
    std::unique_ptr<Chunk>& chunk = shard.chunks[number];
    if (chunk == nullptr) {
        if (chunk_count_ >= most_bytes_of_chunks() / sizeof(Chunk)) {
            all_watched_ = false;
            return nullptr;
        }
        chunk_count_++;
        chunk = std::make_unique<Chunk>();
    }
    return chunk.get();
}

// Shared memory is what it is while the blocks of a cluster run; global memory, for the launch.
uint64_t GlobalShadow::epoch_of(uint32_t block, bool shared) const {
    return uint64_t{launch_} << 32 | (shared ? gangs_.of(block) + uint64_t{1} : 0);
}

void GlobalShadow::note(Block& block, unsigned warp, const Request& request) {
    const Touch touch = touch_of(request.kind);
    if (!touch.reads && !touch.writes) return;
    if (touch.shared && (request.is_asynchronous || !gangs_.clusters()))
        return;  // a SharedShadow's
    upper_half_.store(request.place >> 32, std::memory_order_relaxed);
    Past now;
    now.block = block.order_.block();
    now.place = static_cast<uint32_t>(request.place);
    now.strength = strength_of(request);
    if (!touch.shared && now.strength == Strength::volatile_data) {
        now.strength = Strength::volatile_flag;  // a warp may look at the flags of many blocks
    }
    Where where{0, epoch_of(now.block, touch.shared), touch.shared, block.order_};

    const std::shared_lock<std::shared_mutex> allocations_stay(written_mutex_);
    auto allocation = written_.end();
    std::unique_lock<std::mutex> lock;
    Chunk* chunk = nullptr;
    uintptr_t locked = UINTPTR_MAX;
    for (unsigned left = request.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        const uintptr_t address = request.address[lane];
        if (address == 0) continue;  // outside of a texture or a surface
        now.thread = static_cast<uint16_t>(warp * 32 + lane);
        now.moment = block.order_.now(now.thread);
        now.value = request.value[lane];
        now.bytes = bytes_in_word(address, request.bytes);
        if (allocation == written_.end() ||
            address - allocation->first >= allocation->second.bytes) {
            allocation = touch.shared ? written_.end() : allocation_before(address);
        }
        if (allocation != written_.end()) {
            note_written(allocation->first, allocation->second, now, address, request.bytes,
                         touch.reads, touch.writes);
        }
        for (uintptr_t at = address / kWordBytes; at * kWordBytes < address + request.bytes; at++) {
            if (at / kWords != locked) {
                locked = at / kWords;
                Shard& shard = shards_[locked % kShards];
                if (lock.owns_lock()) lock.unlock();
                lock = std::unique_lock<std::mutex>(shard.mutex);
                chunk = chunk_at(shard, locked);
            }
            if (chunk == nullptr) continue;
            where.address = at * kWordBytes;
            note_word((*chunk)[at % kWords], now, touch.reads, touch.writes, where);
        }
    }
}

void GlobalShadow::note_word(Cell& cell, const Past& now, bool reads, bool writes,
                             const Where& where) {
    if (cell.epoch != where.epoch) {
        cell = Cell{};
        cell.epoch = where.epoch;
    }
    note_conflict(cell.writer, true, now, writes, where);
    if (!writes) {
        const Past& last = cell.reader;
        if (last.block != now.block || last.thread != now.thread) cell.other_reader = last;
        cell.reader = now;
        return;
    }
    note_conflict(cell.reader, false, now, true, where);
    note_conflict(cell.other_reader, false, now, true, where);
    cell.writer = now;
    if (reads) return;  // an atomic adds to what must be there
    cell.written_by_several |=
        cell.storing_block != Past::kNobody && cell.storing_block != now.block;
    cell.storing_block = now.block;
}

void GlobalShadow::note_conflict(const Past& before, bool before_writes, const Past& now,
                                 bool now_writes, const Where& where) {
    if (before.block == Past::kNobody || (before.bytes & now.bytes) == 0) return;
    if (may_collide(before.strength, now.strength)) return;
    const bool same_block = before.block == now.block;
    if (same_block && where.order.is_before(before.thread, before.moment, now.thread)) return;
    if (gangs_.any()) {  // the logs of blocks come in any order
        const Instant a = instant_of(before, 0), b = instant_of(now, 0);
        if (gangs_.is_before(a, b) || gangs_.is_before(b, a)) return;
    }
    const std::lock_guard<std::mutex> lock(found_mutex_);
    const uint32_t pair = (before_writes ? 2u : 0u) + (now_writes ? 1u : 0u) +
                          (same_block ? 0u : 4u) + (where.shared ? 8u : 0u);
    conflicts_[{before.place, now.place, pair}].add({before, now, before_writes, now_writes,
                                                     where.address, where.shared,
                                                     where.order.interval_in_block()});
}

Instant GlobalShadow::instant_of(const Past& past, uintptr_t word) {
    return {past.block, past.thread, past.moment, word};
}

void GlobalShadow::note_written(uintptr_t begin, Written& written, const Past& now,
                                uintptr_t address, unsigned bytes, bool reads, bool writes) {
    const size_t offset = address - begin;
    if (offset + bytes > written.bytes) return;
    if (reads && !written.host_may_write && !written.all(offset, bytes) &&
        !written.lacks_only_padding(address, offset, bytes)) {
        const std::lock_guard<std::mutex> lock(found_mutex_);
        unwritten_reads_[now.place].add({now, address});
    }
    if (!writes) return;
    written.set(offset, bytes);
    __atomic_store_n(&written.last_launch, launch_, __ATOMIC_RELAXED);
}

// ---------------------------------------------------------------- judgement

// Of each whether signals order it, whichever of the two came first.
std::vector<bool> GlobalShadow::ordered(const std::vector<Candidate>& candidates) const {
    if (!all_signals_known_) return std::vector<bool>(candidates.size(), true);
    std::vector<std::pair<Instant, Instant>> pairs;
    pairs.reserve(candidates.size());
    for (const Candidate& each : candidates) {
        pairs.emplace_back(instant_of(each.before, each.address),
                           instant_of(each.now, each.address));
    }
    return ordered_by(signals_, gangs_, pairs);
}

// The logs of blocks, and of warps between two barriers, come in any order: what another thread stores may have been
// there in time. (If it is not sure to, that is a race.)
bool GlobalShadow::was_stored_elsewhere(const UnwrittenRead& read) {
    const uintptr_t word = read.address / kWordBytes;
    Shard& shard = shards_[word / kWords % kShards];
    const auto chunk = shard.chunks.find(word / kWords);
    if (chunk == shard.chunks.end()) return false;
    const Cell& cell = (*chunk->second)[word % kWords];
    return cell.epoch == epoch_of(read.now.block, false) &&
           (cell.written_by_several ||
            (cell.storing_block != Past::kNobody && cell.storing_block != read.now.block) ||
            (cell.storing_block == read.now.block && cell.writer.block == read.now.block &&
             cell.writer.thread != read.now.thread && cell.writer.strength != Strength::atomic &&
             cell.writer.moment.interval == read.now.moment.interval));
}

Toucher GlobalShadow::toucher(const Past& past, bool writes) const {
    const unsigned in_layer = past.block % (grid_.x * grid_.y);
    return {past.thread,
            upper_half_ << 32 | past.place,
            writes,
            {in_layer % grid_.x, in_layer / grid_.x, past.block / (grid_.x * grid_.y)}};
}

// Which of the two came first is chance: the writer is named first, whichever way it shows.
Hazard GlobalShadow::race_of(const Candidate& found, const Examples<Candidate>& all,
                             size_t not_races) const {
    const bool in_order =
        found.before_writes && (!found.now_writes || found.before.place <= found.now.place);
    Hazard race;
    race.first = in_order ? toucher(found.before, true) : toucher(found.now, true);
    race.second = in_order ? toucher(found.now, found.now_writes)
                           : toucher(found.before, found.before_writes);
    race.block = race.first.block;
    race.offset = found.address;
    race.times = all.times_but(not_races);
    race.global = true;
    race.between_blocks = found.before.block != found.now.block;
    race.in_cluster = found.shared;
    race.interval = found.interval;
    race.same_value = race.second.writes &&
                      std::all_of(all.kept.begin(), all.kept.end(), [](const Candidate& each) {
                          return each.before.value != 0 && each.before.value == each.now.value;
                      });
    return race;
}

void GlobalShadow::end_launch(KernelCounts& kernel, bool failed) {
    if (failed && signals_.release()) conflicts_.clear();  // what else its blocks told is not known
    const auto same_pair = [](const Hazard& a, const Hazard& b) {
        return a.first.place == b.first.place && a.second.place == b.second.place &&
               a.second.writes == b.second.writes && a.between_blocks == b.between_blocks &&
               a.in_cluster == b.in_cluster;
    };
    std::vector<Hazard> races;
    for (const auto& [key, found] : conflicts_) {
        const std::vector<bool> in_order = ordered(found.kept);
        const auto race = std::find(in_order.begin(), in_order.end(), false);
        if (race == in_order.end()) continue;
        const auto not_races =
            static_cast<size_t>(std::count(in_order.begin(), in_order.end(), true));
        const Hazard hazard =
            race_of(found.kept[static_cast<size_t>(race - in_order.begin())], found, not_races);
        const auto known = std::find_if(races.begin(), races.end(), [&](const Hazard& other) {
            return same_pair(hazard, other);
        });
        if (known == races.end()) {
            races.push_back(hazard);
        } else {
            known->times += hazard.times;
            known->same_value = known->same_value && hazard.same_value;
        }
    }
    add_hazards(kernel.races, races);

    std::vector<Hazard> unwritten;
    for (const auto& [place, found] : unwritten_reads_) {
        const auto read = std::find_if(
            found.kept.begin(), found.kept.end(),
            [&](const UnwrittenRead& example) { return !was_stored_elsewhere(example); });
        if (read == found.kept.end()) continue;
        Hazard hazard;
        hazard.second = toucher(read->now, false);
        hazard.block = hazard.second.block;
        hazard.offset = read->address;
        hazard.times = found.times;
        hazard.global = true;
        unwritten.push_back(hazard);
    }
    add_hazards(kernel.uninitialized_reads, unwritten);
    kernel.all_memory_watched = kernel.all_memory_watched && all_watched_;
    kernel.all_signals_known =
        kernel.all_signals_known && (all_signals_known_ || conflicts_.empty());
    conflicts_.clear();
    unwritten_reads_.clear();
    signals_.clear();
    all_signals_known_ = true;
}

}  // namespace xray
