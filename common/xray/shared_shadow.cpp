// SPDX-License-Identifier: MIT
#include "shared_shadow.hpp"

#include <algorithm>
#include <utility>

#include "common/cpu_device/padding.hpp"
#include "sizes.hpp"

namespace xray {
namespace {

bool reads(AccessKind kind) {
    return kind == AccessKind::shared_load || kind == AccessKind::shared_atomic;
}

bool writes(AccessKind kind) {
    return kind == AccessKind::shared_store || kind == AccessKind::shared_copy ||
           kind == AccessKind::shared_atomic;
}

template <class Key>
std::vector<Hazard> values_of(std::map<Key, Hazard>& hazards) {
    std::vector<Hazard> values;
    for (const auto& [key, hazard] : hazards) values.push_back(hazard);
    hazards.clear();
    return values;
}

}  // namespace

void SharedShadow::begin_block(uint3 block, uintptr_t low, uintptr_t high) {
    low_ = low;
    high_ = high;
    block_ = block;
    block_number_++;
    chunks_.resize((high - low) / (kWordBytes * Chunk::kWords) + 1);
}

void SharedShadow::note(unsigned warp, const Request& request) {
    const bool later = request.is_asynchronous && request.kind != AccessKind::bulk_load &&
                       request.kind != AccessKind::shared_bulk_load;
    if (!reads(request.kind) && !writes(request.kind) && !later) return;
    Past now;
    now.place = number_of(request.place);
    now.strength = strength_of(request);
    for (unsigned left = request.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        const uintptr_t address = request.address[lane];
        if (address < low_ || address + request.bytes > high_) continue;
        now.thread = static_cast<uint16_t>(warp * 32 + lane);
        now.syncs = order_.syncs(now.thread);
        now.signals = order_.signals(now.thread);
        now.value = request.value[lane];
        note_access(now, later ? AccessKind::shared_bulk_store : request.kind, address,
                    request.bytes);
    }
}

void SharedShadow::note_access(const Past& now, AccessKind kind, uintptr_t address,
                               unsigned bytes) {
    const uintptr_t offset = address - low_;
    // An access is aligned, so it lies in one chunk.
    std::unique_ptr<Chunk>& chunk = chunks_[offset / (kWordBytes * Chunk::kWords)];
    if (chunk == nullptr) chunk = std::make_unique<Chunk>();
    if (bytes < kWordBytes && chunk->bytes == nullptr) {
        chunk->bytes = std::make_unique<std::array<Cell, 4 * Chunk::kWords>>();
        for (size_t i = 0; i < chunk->bytes->size(); i++) {
            (*chunk->bytes)[i] = chunk->words[i / kWordBytes];
        }
    }
    const uintptr_t in_chunk = offset % (kWordBytes * Chunk::kWords);
    if (chunk->bytes != nullptr) {
        for (unsigned i = 0; i < bytes; i++) {
            note_cell((*chunk->bytes)[in_chunk + i], now, kind, address + i, {address, bytes});
        }
        return;
    }
    for (unsigned i = 0; i < bytes; i += kWordBytes) {
        note_cell(chunk->words[(in_chunk + i) / kWordBytes], now, kind, address + i,
                  {address, bytes});
    }
}

void SharedShadow::note_cell(Cell& cell, const Past& now, AccessKind kind, uintptr_t address,
                             const Access& whole) {
    if (kind ==
        AccessKind::shared_bulk_store) {  // its barriers are not known here: take it for ordered
        // Who reads it may have been told of before: the warp that began the copy ran on meanwhile.
        if (!unwritten_.empty()) stored_since_.try_emplace(address, now.thread);
        cell.written_block = block_number_;
        return;
    }
    if (cell.interval != order_.interval()) {  // a barrier ordered all that was before
        cell.interval = order_.interval();
        cell.writer = cell.reader = cell.same_warp_reader = cell.other_warp_reader = Past{};
    }
    if (reads(kind) && cell.written_block != block_number_ && !is_padding(whole)) {
        unwritten_[now.place].add({now.thread, address});
    }
    if (conflict(cell.writer, now)) note_conflict(cell.writer, true, now, writes(kind), address);
    if (writes(kind)) {
        for (const Past* reader : {&cell.reader, &cell.same_warp_reader, &cell.other_warp_reader}) {
            if (!conflict(*reader, now)) continue;
            note_conflict(*reader, false, now, true, address);
            break;
        }
        if (!unwritten_.empty() && !reads(kind)) stored_since_.try_emplace(address, now.thread);
        cell.writer = now;
        cell.written_block = block_number_;
    } else {
        remember_reader(cell, now);
    }
}

// Whether what nobody has written of it lies between members of a class.
bool SharedShadow::is_padding(const Access& read) const {
    const uintptr_t offset = read.address - low_;
    const Chunk& chunk = *chunks_[offset / (kWordBytes * Chunk::kWords)];
    const uintptr_t in_chunk = offset % (kWordBytes * Chunk::kWords);
    uint32_t unwritten = 0;
    for (unsigned i = 0; i < read.bytes; i++) {
        const Cell& cell = chunk.bytes != nullptr ? (*chunk.bytes)[in_chunk + i]
                                                  : chunk.words[(in_chunk + i) / kWordBytes];
        if (cell.written_block != block_number_) unwritten |= uint32_t{1} << i;
    }
    return cpu_device::is_padding(read.address, read.bytes, unwritten);
}

void SharedShadow::remember_reader(Cell& cell, const Past& now) {
    const Past& last = cell.reader;
    if (last.thread != Past::kNobody && last.thread != now.thread) {
        if (last.warp() != now.warp()) {
            cell.other_warp_reader = last;
            cell.same_warp_reader = Past{};
        } else if (!in_order(last, now)) {
            cell.same_warp_reader = last;
        }
    }
    cell.reader = now;
}

// Whether no barrier orders the two, if one of them writes.
bool SharedShadow::conflict(const Past& before, const Past& now) const {
    if (before.thread == Past::kNobody) return false;
    return !may_collide(before.strength, now.strength) && !in_order(before, now);
}

bool SharedShadow::in_order(const Past& before, const Past& now) const {
    return order_.have_met(before.thread, before.syncs, now.thread);
}

// Which of the two came first is chance: one race, the writer named first, whichever way it shows.
void SharedShadow::note_conflict(const Past& before, bool before_writes, const Past& now,
                                 bool now_writes, uintptr_t address) {
    const bool in_order = before_writes && (!now_writes || before.place <= now.place);
    const Past& first = in_order ? before : now;
    const Past& second = in_order ? now : before;
    conflicts_[{first.place, second.place, before_writes && now_writes}].add(
        {first, second, address});
}

Instant SharedShadow::instant_of(const Past& past, uintptr_t address) const {
    return {order_.block(), past.thread, {order_.interval(), past.syncs, past.signals, 0}, address};
}

void SharedShadow::end_interval() {
    if (!conflicts_.empty()) judge_conflicts();
    if (!unwritten_.empty()) judge_unwritten();
}

// What another thread stores between the same barriers may have been there in time: where it is not sure to, that is a
// race.
void SharedShadow::judge_unwritten() {
    for (const auto& [place, found] : unwritten_) {
        const UnwrittenRead* example = nullptr;
        size_t written = 0;
        for (const UnwrittenRead& read : found.kept) {
            const auto stored = stored_since_.find(read.address);
            if (stored != stored_since_.end() && stored->second != read.thread) {
                written++;
            } else if (example == nullptr) {
                example = &read;
            }
        }
        if (example == nullptr) continue;
        Hazard& hazard = uninitialized_reads_[place];
        const bool is_new = hazard.times == 0;
        hazard.times += found.times_but(written);
        if (!is_new) continue;
        hazard.second = {example->thread, places_[place], false, {}};
        hazard.block = block_;
        hazard.offset = example->address - low_;
    }
    unwritten_.clear();
    stored_since_.clear();
}

void SharedShadow::judge_conflicts() {
    all_judged_ = all_judged_ && order_.all_known();
    for (const auto& [places, found] : conflicts_) {
        if (!order_.all_known()) break;
        std::vector<std::pair<Instant, Instant>> pairs;
        for (const Conflict& each : found.kept) {
            pairs.emplace_back(instant_of(each.first, each.address),
                               instant_of(each.second, each.address));
        }
        const std::vector<bool> ordered = ordered_by(order_.since_barrier(), {}, pairs);
        const auto race = std::find(ordered.begin(), ordered.end(), false);
        if (race == ordered.end()) continue;
        Hazard& hazard = races_[places];
        const auto not_races =
            static_cast<size_t>(std::count(ordered.begin(), ordered.end(), true));
        const bool is_new = hazard.times == 0;
        hazard.times += found.times_but(not_races);
        if (!is_new) continue;
        const Conflict& example = found.kept[static_cast<size_t>(race - ordered.begin())];
        hazard.first = toucher(example.first, true);
        hazard.second = toucher(example.second, std::get<2>(places));
        hazard.block = block_;
        hazard.offset = example.address - low_;
        hazard.interval = order_.interval_in_block();
        hazard.same_value =
            std::get<2>(places) &&
            std::all_of(found.kept.begin(), found.kept.end(), [](const auto& each) {
                return each.first.value != 0 && each.first.value == each.second.value;
            });
    }
    conflicts_.clear();
}

Toucher SharedShadow::toucher(const Past& past, bool writes) const {
    return {past.thread, places_[past.place], writes};
}

uint32_t SharedShadow::number_of(uintptr_t place) {
    const auto [found, added] = numbers_.try_emplace(place, static_cast<uint32_t>(places_.size()));
    if (added) places_.push_back(place);
    return found->second;
}

void SharedShadow::end_early() {
    if (order_.since_barrier().release()) conflicts_.clear();
}

std::vector<Hazard> SharedShadow::take_races() {
    end_interval();
    return values_of(races_);
}

std::vector<Hazard> SharedShadow::take_uninitialized_reads() {
    return values_of(uninitialized_reads_);
}

}  // namespace xray
