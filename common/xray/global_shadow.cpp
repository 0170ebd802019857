// SPDX-License-Identifier: MIT
#include "global_shadow.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "common/cpu_device/padding.hpp"
#include "common/io/memory.hpp"

namespace xray {
namespace {

constexpr uintptr_t kWordBytes = 4;
constexpr size_t kMostExamples = 256;  // of one cause, to be judged at the launch's end
constexpr size_t kMostSignals = 64;    // of a block: see global_shadow.hpp

bool reads(AccessKind kind) {
    return kind == AccessKind::global_load || kind == AccessKind::constant_load ||
           kind == AccessKind::bulk_load;
}

bool writes(AccessKind kind) {
    return kind == AccessKind::global_store || kind == AccessKind::constant_store ||
           kind == AccessKind::bulk_store;
}

bool is_atomic(AccessKind kind) {
    return kind == AccessKind::global_atomic || kind == AccessKind::constant_atomic;
}

uint8_t bytes_in_word(uintptr_t address, unsigned bytes) {
    if (bytes >= kWordBytes) return 0xF;
    return static_cast<uint8_t>(((1u << bytes) - 1) << address % kWordBytes);
}

// What may be used to remember who touched what.
size_t most_chunks(size_t bytes_of_chunk) {
    constexpr size_t kMost = size_t{2} << 30;
    constexpr size_t kShare = 4;  // of the memory that is free
    static const size_t most = std::min<size_t>(kMost, io::available_memory() / kShare);
    return most / bytes_of_chunk;
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
    if (host_may_write) return;
    const std::unique_lock<std::shared_mutex> lock(written_mutex_);
    written_[low] = {bytes, std::vector<uint64_t>(bytes / 64 + 1)};
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

size_t GlobalShadow::first_unwritten(uintptr_t low, size_t bytes) const {
    const std::shared_lock<std::shared_mutex> lock(written_mutex_);
    const auto above = written_.upper_bound(low);
    if (above == written_.begin()) return SIZE_MAX;
    const auto& [begin, written] = *std::prev(above);
    if (low - begin >= written.bytes) return SIZE_MAX;
    const size_t count = std::min(bytes, written.bytes - (low - begin));
    if (written.all(low - begin, count)) return SIZE_MAX;
    const size_t from = low - begin;
    const auto is_unwritten = [&written = written, from](size_t at) {
        return !written.all(from + at, 1);
    };
    if (cpu_device::is_padding_of_objects(low, count, is_unwritten)) return SIZE_MAX;
    size_t first = 0;
    while (!is_unwritten(first)) first++;
    return first;
}

// ---------------------------------------------------------------- a launch

void GlobalShadow::begin_launch(dim3 grid, bool apart) {
    grid_ = grid;
    apart_ = apart;
    launch_++;
}

void GlobalShadow::begin_block(Block& block, uint3 index) {
    block.number_ = index.x + grid_.x * (index.y + grid_.y * index.z);
    block.signals_ = 0;
    block.words_.clear();
}

void GlobalShadow::end_block(Block& block) {
    if (block.words_.empty() || block.words_.size() > kMostSignals) return;
    const std::lock_guard<std::mutex> lock(found_mutex_);
    for (const auto& [word, signal] : block.words_) {
        listeners_[word].emplace_back(block.number_, signal.first);
    }
    signals_[block.number_] = std::move(block.words_);
}

GlobalShadow::Chunk* GlobalShadow::chunk_at(Shard& shard, uintptr_t number) {
    std::unique_ptr<Chunk>& chunk = shard.chunks[number];
    if (chunk == nullptr) {
        if (chunk_count_ >= most_chunks(sizeof(Chunk))) {
            all_watched_ = false;
            return nullptr;
        }
        chunk_count_++;
        chunk = std::make_unique<Chunk>();
    }
    return chunk.get();
}

void GlobalShadow::note(Block& block, unsigned warp, const Request& request) {
    const bool atomic = is_atomic(request.kind);
    const bool does_read = reads(request.kind) || atomic;
    const bool does_write = writes(request.kind) || atomic;
    if (!does_read && !does_write) return;
    upper_half_.store(request.place >> 32, std::memory_order_relaxed);
    Past now;
    now.block = block.number_;
    now.place = static_cast<uint32_t>(request.place);
    now.atomic = atomic || request.is_volatile;
    now.signals = block.signals_;

    const std::shared_lock<std::shared_mutex> allocations_stay(written_mutex_);
    auto allocation = written_.end();
    std::unique_lock<std::mutex> lock;
    Chunk* chunk = nullptr;
    uintptr_t locked = UINTPTR_MAX;
    for (unsigned left = request.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        const uintptr_t address = request.address[lane];
        now.thread = static_cast<uint16_t>(warp * 32 + lane);
        now.moment = block.order_.now(now.thread);
        now.bytes = bytes_in_word(address, request.bytes);
        if (allocation == written_.end() ||
            address - allocation->first >= allocation->second.bytes) {
            allocation = allocation_before(address);
        }
        if (allocation != written_.end()) {
            note_written(allocation->first, allocation->second, now, address, request.bytes,
                         does_read, does_write);
        }
        if (now.atomic && block.words_.size() <= kMostSignals) {
            const auto [signal, added] =
                block.words_.try_emplace(address, Block::Signal{block.signals_, 0});
            signal->second.last = block.signals_;
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
            note_word((*chunk)[at % kWords], now, does_read, does_write, at * kWordBytes,
                      block.order_);
        }
    }
    if (now.atomic) block.signals_++;
}

void GlobalShadow::note_word(Cell& cell, const Past& now, bool reads, bool writes,
                             uintptr_t address, const BlockOrder& order) {
    if (cell.launch != launch_) cell = Cell{launch_, false, Past::kNobody, {}, {}, {}};
    note_conflict(cell.writer, true, now, writes, address, order);
    if (!writes) {
        const Past& last = cell.reader;
        if (last.block != now.block || last.thread != now.thread) cell.other_reader = last;
        cell.reader = now;
        return;
    }
    note_conflict(cell.reader, false, now, true, address, order);
    note_conflict(cell.other_reader, false, now, true, address, order);
    cell.writer = now;
    if (reads) return;  // an atomic adds to what must be there
    cell.written_by_several |=
        cell.storing_block != Past::kNobody && cell.storing_block != now.block;
    cell.storing_block = now.block;
}

void GlobalShadow::note_conflict(const Past& before, bool before_writes, const Past& now,
                                 bool now_writes, uintptr_t address, const BlockOrder& order) {
    if (before.block == Past::kNobody || (before.bytes & now.bytes) == 0) return;
    if (before.atomic && now.atomic) return;
    if (before.block != now.block && !apart_) return;
    if (before.block == now.block && order.is_before(before.thread, before.moment, now.thread)) {
        return;
    }
    const std::lock_guard<std::mutex> lock(found_mutex_);
    const uint32_t pair =
        (before_writes ? 2u : 0u) + (now_writes ? 1u : 0u) + (before.block == now.block ? 0u : 4u);
    Found<Candidate>& found = conflicts_[{before.place, now.place, pair}];
    found.times++;
    if (found.examples.size() < kMostExamples) {
        found.examples.push_back({before, now, before_writes, now_writes, address});
    }
}

void GlobalShadow::note_written(uintptr_t begin, Written& written, const Past& now,
                                uintptr_t address, unsigned bytes, bool reads, bool writes) {
    const size_t offset = address - begin;
    if (offset + bytes > written.bytes) return;
    if (reads && !written.all(offset, bytes) &&
        !written.lacks_only_padding(address, offset, bytes)) {
        const std::lock_guard<std::mutex> lock(found_mutex_);
        Found<UnwrittenRead>& found = unwritten_reads_[now.place];
        found.times++;
        if (found.examples.size() < kMostExamples) found.examples.push_back({now, address});
    }
    if (writes) written.set(offset, bytes);
}

// ---------------------------------------------------------------- judgement

// Whether the block of the one told that of the other, perhaps through others.
bool GlobalShadow::ordered(const Past& before, const Past& now) const {
    if (before.block == now.block) return false;  // has been looked at
    if (signals_.count(before.block) == 0 || signals_.count(now.block) == 0) return false;
    // Each block that has heard, with how many signals it had given when it did.
    std::vector<std::pair<uint32_t, uint32_t>> heard = {{before.block, before.signals}};
    std::unordered_set<uint32_t> blocks = {before.block};
    std::unordered_set<uintptr_t> words;
    while (!heard.empty()) {
        const auto [teller, since] = heard.back();
        heard.pop_back();
        for (const auto& [word, told] : signals_.at(teller)) {
            if (told.last < since || !words.insert(word).second) continue;
            for (const auto& [block, at] : listeners_.at(word)) {
                if (block == now.block && at < now.signals) return true;
                if (blocks.insert(block).second) heard.emplace_back(block, at);
            }
        }
    }
    return false;
}

// The logs of blocks come in any order: what another block stores in this launch may have been there in
// time. (If it is not sure to, that is a race.)
bool GlobalShadow::was_stored_elsewhere(const UnwrittenRead& read) {
    const uintptr_t word = read.address / kWordBytes;
    Shard& shard = shards_[word / kWords % kShards];
    const auto chunk = shard.chunks.find(word / kWords);
    if (chunk == shard.chunks.end()) return false;
    const Cell& cell = (*chunk->second)[word % kWords];
    return cell.launch == launch_ &&
           (cell.written_by_several ||
            (cell.storing_block != Past::kNobody && cell.storing_block != read.now.block));
}

Toucher GlobalShadow::toucher(const Past& past, bool writes) const {
    const unsigned in_layer = past.block % (grid_.x * grid_.y);
    return {past.thread,
            upper_half_ << 32 | past.place,
            writes,
            {in_layer % grid_.x, in_layer / grid_.x, past.block / (grid_.x * grid_.y)}};
}

// Which of the two came first is chance: the writer is named first, whichever way it shows.
Hazard GlobalShadow::race_of(const Candidate& found, int64_t times) const {
    const bool in_order =
        found.before_writes && (!found.now_writes || found.before.place <= found.now.place);
    Hazard race;
    race.first = in_order ? toucher(found.before, true) : toucher(found.now, true);
    race.second = in_order ? toucher(found.now, found.now_writes)
                           : toucher(found.before, found.before_writes);
    race.block = race.first.block;
    race.offset = found.address;
    race.times = times;
    race.global = true;
    race.between_blocks = found.before.block != found.now.block;
    return race;
}

void GlobalShadow::end_launch(KernelCounts& kernel) {
    const auto same_pair = [](const Hazard& a, const Hazard& b) {
        return a.first.place == b.first.place && a.second.place == b.second.place &&
               a.second.writes == b.second.writes && a.between_blocks == b.between_blocks;
    };
    std::vector<Hazard> races;
    for (const auto& [key, found] : conflicts_) {
        const auto race = std::find_if(found.examples.begin(), found.examples.end(),
                                       [&](const Candidate& example) {
                                           return !ordered(example.before, example.now) &&
                                                  !ordered(example.now, example.before);
                                       });
        if (race == found.examples.end()) continue;
        const Hazard hazard = race_of(*race, found.times);
        const auto known = std::find_if(races.begin(), races.end(), [&](const Hazard& other) {
            return same_pair(hazard, other);
        });
        if (known == races.end()) {
            races.push_back(hazard);
        } else {
            known->times += hazard.times;
        }
    }
    add_hazards(kernel.races, races);

    std::vector<Hazard> unwritten;
    for (const auto& [place, found] : unwritten_reads_) {
        const auto read = std::find_if(
            found.examples.begin(), found.examples.end(),
            [&](const UnwrittenRead& example) { return !was_stored_elsewhere(example); });
        if (read == found.examples.end()) continue;
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
    conflicts_.clear();
    unwritten_reads_.clear();
    signals_.clear();
    listeners_.clear();
}

}  // namespace xray
