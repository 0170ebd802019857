// SPDX-License-Identifier: MIT
//
// Watches a block's shared memory for threads that touch the same byte with nothing to order them,
// and for reads of what nobody in the block has written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "block_order.hpp"
#include "counts.hpp"
#include "examples.hpp"
#include "warp_requests.hpp"

namespace xray {

// One worker's.
class SharedShadow {
public:
    explicit SharedShadow(const BlockOrder& order) : order_(order) {}

    // The block's shared variables lie at [low, high). Nothing in them is written yet.
    void begin_block(uint3 block, uintptr_t low, uintptr_t high);

    // Any access of a warp; what does not go to the block's shared memory is ignored.
    void note(unsigned warp, const Request& request);

    // All threads of the block meet, or have ended.
    void end_interval();

    // The launch ended before the block did: what its threads told each other is not all known.
    void end_early();

    // What was found since the last call.
    std::vector<Hazard> take_races();
    std::vector<Hazard> take_uninitialized_reads();
    // Whether all that was found since the last call could be judged.
    bool take_all_judged() { return std::exchange(all_judged_, true); }

private:
    // An access that a later one may conflict with.
    struct Past {
        static constexpr uint16_t kNobody = UINT16_MAX;
        uint16_t thread = kNobody;
        Strength strength = Strength::plain;
        uint8_t value = 0;   // of a store
        uint32_t place = 0;  // index in places_
        uint32_t syncs = 0, signals = 0;

        unsigned warp() const { return thread / 32u; }
    };

    // The history of a word, or of a byte where accesses of less than a word were seen.
    struct Cell {
        uint32_t interval = 0;       // between two barriers; the rest of the history is of this one
        uint32_t written_block = 0;  // the last block that wrote it
        Past writer;
        // Enough readers that, if any reader conflicts with a writer to come, one of these does:
        // the last, another lane of its warp since they synchronized, and one of another warp.
        Past reader, same_warp_reader, other_warp_reader;
    };

    // Made when first touched.
    struct Chunk {
        static constexpr size_t kWords = 1024;
        std::array<Cell, kWords> words;
        std::unique_ptr<std::array<Cell, 4 * kWords>> bytes;  // null: words are enough
    };

    void note_access(const Past& now, AccessKind kind, uintptr_t address, unsigned bytes);
    struct Access {
        uintptr_t address;
        unsigned bytes;
    };
    void note_cell(Cell& cell, const Past& now, AccessKind kind, uintptr_t address,
                   const Access& whole);
    bool is_padding(const Access& read) const;
    void remember_reader(Cell& cell, const Past& now);
    bool conflict(const Past& before, const Past& now) const;
    bool in_order(const Past& before, const Past& now) const;
    void note_conflict(const Past& before, bool before_writes, const Past& now, bool now_writes,
                       uintptr_t address);
    Instant instant_of(const Past& past, uintptr_t address) const;
    void judge_conflicts();
    void judge_unwritten();
    uint32_t number_of(uintptr_t place);
    Toucher toucher(const Past& past, bool writes) const;

    const BlockOrder& order_;
    uintptr_t low_ = 0;
    uintptr_t high_ = 0;
    uint3 block_{};
    uint32_t block_number_ = 0;
    std::vector<std::unique_ptr<Chunk>> chunks_;

    std::vector<uintptr_t> places_;
    std::unordered_map<uintptr_t, uint32_t> numbers_;
    // Those of one pair of places, since the last barrier: what else may order them is known at the next.
    struct Conflict {
        Past first, second;
        uintptr_t address;
    };
    using Places = std::tuple<uint32_t, uint32_t, bool>;
    std::map<Places, Examples<Conflict>> conflicts_;
    std::map<Places, Hazard> races_;
    bool all_judged_ = true;
    // Of one place, since the last barrier: another thread may yet turn out to have written that.
    struct UnwrittenRead {
        uint16_t thread;
        uintptr_t address;
    };
    std::map<uint32_t, Examples<UnwrittenRead>> unwritten_;
    std::unordered_map<uintptr_t, uint16_t> stored_since_;  // by which thread
    std::map<uint32_t, Hazard> uninitialized_reads_;
};

}  // namespace xray
