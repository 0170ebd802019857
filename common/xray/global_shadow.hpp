// SPDX-License-Identifier: MIT
//
// Watches global memory, and __device__ variables, for threads of one launch that touch the same word
// with nothing to order them, and for reads of what nobody has written.
//
// Nothing orders two blocks of a launch, except what they say to each other through memory: block A touches the
// data, then by an atomic (or volatile) access the word L; block B touches L so, then the data, or tells C
// likewise. That is taken for order, without asking what L said or whether there was a fence. A block with more
// such words than a few is taken to compute with them, as a histogram does, not to speak.
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

        // A word that the block touched by atomic accesses: the first and the last of them.
        struct Signal {
            uint32_t first, last;
        };
        const BlockOrder& order_;
        uint32_t number_ = 0;
        uint32_t signals_ = 0;  // atomic requests so far
        std::map<uintptr_t, Signal> words_;
    };

    // What the host did: see cpu_device::Observer.
    void memory_allocated(uintptr_t low, size_t bytes, bool host_may_write);
    void memory_freed(uintptr_t low);
    void written_by_host(uintptr_t low, size_t bytes);

    // The first byte of the range that nobody has written, as an offset from its beginning; SIZE_MAX if
    // there is none.
    size_t first_unwritten(uintptr_t low, size_t bytes) const;

    // apart: its blocks have no other way to wait for each other, such as a grid's barrier. Where they
    // have, two blocks are not looked at.
    void begin_launch(dim3 grid, bool apart);
    void begin_block(Block& block, uint3 index);
    void note(Block& block, unsigned warp, const Request& request);
    void end_block(Block& block);
    void end_launch(KernelCounts& kernel);

private:
    // An access that a later one may conflict with.
    struct Past {
        static constexpr uint32_t kNobody = UINT32_MAX;
        uint32_t block = kNobody;
        Moment moment;
        uint32_t signals = 0;  // of its block before it
        uint32_t place = 0;    // the lower half
        uint16_t thread = 0;
        uint8_t bytes = 0;  // a bit for each of the word's
        bool atomic = false;
    };

    // The history of a word in one launch.
    struct Cell {
        uint32_t launch = 0;
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

        bool all(size_t from, size_t count) const;
        // Of these bytes at an address, at most 32, which may be a piece of an object.
        bool lacks_only_padding(uintptr_t address, size_t from, unsigned count) const;
        void set(size_t from, size_t count);
    };

    struct Candidate {
        Past before, now;
        bool before_writes, now_writes;
        uintptr_t address;
    };
    struct UnwrittenRead {
        Past now;
        uintptr_t address;
    };
    template <class Example>
    struct Found {
        int64_t times = 0;
        std::vector<Example> examples;
    };

    Chunk* chunk_at(Shard& shard, uintptr_t number);
    void note_word(Cell& cell, const Past& now, bool reads, bool writes, uintptr_t address,
                   const BlockOrder& order);
    void note_conflict(const Past& before, bool before_writes, const Past& now, bool now_writes,
                       uintptr_t address, const BlockOrder& order);
    void note_written(uintptr_t begin, Written& written, const Past& now, uintptr_t address,
                      unsigned bytes, bool reads, bool writes);
    bool ordered(const Past& before, const Past& now) const;
    bool was_stored_elsewhere(const UnwrittenRead& read);
    Toucher toucher(const Past& past, bool writes) const;
    Hazard race_of(const Candidate& found, int64_t times) const;

    static constexpr size_t kShards = 64;
    std::array<Shard, kShards> shards_;
    std::atomic<size_t> chunk_count_{0};
    std::atomic<bool> all_watched_{true};
    dim3 grid_;
    bool apart_ = true;
    uint32_t launch_ = 0;
    std::atomic<uintptr_t> upper_half_{0};  // of all places

    // The allocation at that address or the last before it.
    std::map<uintptr_t, Written>::iterator allocation_before(uintptr_t address);

    mutable std::shared_mutex written_mutex_;
    std::map<uintptr_t, Written> written_;

    std::mutex found_mutex_;
    std::map<std::array<uint32_t, 3>, Found<Candidate>> conflicts_;
    std::map<uint32_t, Found<UnwrittenRead>> unwritten_reads_;
    std::unordered_map<uint32_t, std::map<uintptr_t, Block::Signal>> signals_;  // by block
    // By word: the blocks that touched it so, and their first signal that did.
    std::unordered_map<uintptr_t, std::vector<std::pair<uint32_t, uint32_t>>> listeners_;
};

}  // namespace xray
