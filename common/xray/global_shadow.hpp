// SPDX-License-Identifier: MIT
//
// Watches global memory, and __device__ variables, for threads of one launch that touch the same word
// with nothing to order them, and for reads of what nobody has written.
//
// Nothing orders two blocks of a launch, except what they tell each other through memory (see signals.hpp) and, in
// cooperative launches and within a cluster, barriers of their own. There the blocks' shared memory is watched as well,
// which they may touch mutually.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "block_order.hpp"
#include "counts.hpp"
#include "examples.hpp"
#include "signals.hpp"
#include "warp_requests.hpp"

namespace xray {

class GlobalShadow {
public:
    // One block as it runs. A worker has one, for its blocks one after the other.
    class Block {
    public:
        explicit Block(const BlockOrder& order) : order_(order) {}

    private:
        friend class GlobalShadow;

        const BlockOrder& order_;
        uintptr_t shared_low_ = 0, shared_high_ = 0;
        Signals signals_;
    };

    // What the host did: see cpu_device::Observer.
    void memory_allocated(uintptr_t low, size_t bytes, bool host_may_write);
    void memory_freed(uintptr_t low);
    void written_by_host(uintptr_t low, size_t bytes);
    static size_t shadow_bytes(size_t bytes);

    // What of a range nobody has written.
    struct Unwritten {
        size_t bytes = 0;      // how many; padding between members is none
        size_t first = 0;      // the first of them, from the range's beginning
        bool is_tail = false;  // all from the first to the range's end
        size_t offset = 0;     // of the range in its allocation
        uint32_t last_launch =
            0;  // the last that wrote into the allocation, of the launches begun; 0: none did
        bool host_may_write = false;
    };
    Unwritten unwritten(uintptr_t low, size_t bytes) const;

    void begin_launch(const cpu_device::LaunchConfiguration& configuration);
    // Its shared variables lie at [shared_low, shared_high).
    void begin_block(Block& block, uintptr_t shared_low, uintptr_t shared_high);
    // All of its threads meet, or have ended.
    void end_interval(Block& block);
    void note(Block& block, unsigned warp, const Request& request);
    void end_block(Block& block);
    // failed: it ended early, and what is known of it is incomplete.
    void end_launch(KernelCounts& kernel, bool failed);

private:
    // An access that a later one may conflict with.
    struct Past {
        static constexpr uint32_t kNobody = UINT32_MAX;
        uint32_t block = kNobody;
        Moment moment;
        uint32_t place = 0;  // the lower half
        uint16_t thread = 0;
        uint8_t bytes = 0;  // a bit for each of the word's
        Strength strength = Strength::plain;
        uint8_t value = 0;  // of a store
    };

    // The history of a word in one launch.
    struct Cell {
        uint64_t epoch = 0;               // the rest is of this one
        bool written_by_several = false;  // blocks, by plain stores
        uint32_t storing_block = Past::kNobody;
        Past writer, reader, other_reader;  // the last two readers that are different threads
    };
    static constexpr size_t kWords = 1024;
    using Chunk = std::array<Cell, kWords>;

    struct Shard {
        std::mutex mutex;
        std::unordered_map<uintptr_t, std::unique_ptr<Chunk>> chunks;
    };

    // A bit for each byte of an allocation, once it is written.
    struct Written {
        size_t bytes;
        std::vector<uint64_t> bits;
        bool host_may_write =
            false;  // managed and pinned memory: what kernels read of it is not judged
        uint32_t last_launch = 0;

        bool all(size_t from, size_t count) const;
        // Of these bytes at an address, at most 32, which may be a piece of an object.
        bool lacks_only_padding(uintptr_t address, size_t from, unsigned count) const;
        void set(size_t from, size_t count);
    };

    struct Candidate {
        Past before, now;
        bool before_writes, now_writes;
        uintptr_t address;
        bool shared;
        uint32_t interval;
    };
    struct UnwrittenRead {
        Past now;
        uintptr_t address;
    };
    Chunk* chunk_at(Shard& shard, uintptr_t number);
    struct Where {
        uintptr_t address;
        uint64_t epoch;
        bool shared;
        const BlockOrder& order;
    };
    void note_word(Cell& cell, const Past& now, bool reads, bool writes, const Where& where);
    void note_conflict(const Past& before, bool before_writes, const Past& now, bool now_writes,
                       const Where& where);
    static Instant instant_of(const Past& past, uintptr_t word);
    uint64_t epoch_of(uint32_t block, bool shared) const;
    void note_written(uintptr_t begin, Written& written, const Past& now, uintptr_t address,
                      unsigned bytes, bool reads, bool writes);
    std::vector<bool> ordered(const std::vector<Candidate>& candidates) const;
    bool was_stored_elsewhere(const UnwrittenRead& read);
    Toucher toucher(const Past& past, bool writes) const;
    Hazard race_of(const Candidate& found, const Examples<Candidate>& all, size_t not_races) const;

    static constexpr size_t kShards = 64;
    std::array<Shard, kShards> shards_;
    std::atomic<size_t> chunk_count_{0};
    std::atomic<bool> all_watched_{true};
    dim3 grid_;
    Gangs gangs_;
    uint32_t launch_ = 0;
    std::atomic<uintptr_t> upper_half_{0};  // of all places

    // The allocation at that address or the last before it.
    std::map<uintptr_t, Written>::iterator allocation_before(uintptr_t address);

    mutable std::shared_mutex written_mutex_;
    std::map<uintptr_t, Written> written_;

    std::mutex found_mutex_;
    std::map<std::array<uint32_t, 3>, Examples<Candidate>> conflicts_;
    std::map<uint32_t, Examples<UnwrittenRead>> unwritten_reads_;
    Signals signals_;
    std::atomic<bool> all_signals_known_{true};
};

}  // namespace xray
