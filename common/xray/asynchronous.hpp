// SPDX-License-Identifier: MIT
//
// What the pictures of bulk copies and wgmma show of one block: a box that a tensor copy moves, and the ring of stages that
// copies fill.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/cpu_device/bulk_copies.hpp"
#include "common/cpu_device/observer.hpp"

namespace xray {

// A tensor copy.
struct CopiedTile {
    uintptr_t place = 0;
    bool loads = false;
    std::string instruction;
    uintptr_t shared = 0;  // where it begins in shared memory
    uint32_t bytes = 0;
    uint32_t row_bytes = 0;
    uint32_t swizzle = 0;                   // span in bytes; 0: none
    std::vector<cpu_device::BulkRun> runs;  // in the order of the box
};

// One chunk of 16 bytes of a box.
struct TileChunk {
    uint32_t row, column;  // in the box; columns of 16 bytes
    uint32_t offset;       // in shared memory, from the copy's beginning
    bool outside;          // of the tensor, all of it
};
// In the order of the box.
std::vector<TileChunk> chunks_of(const CopiedTile& tile);

class AsynchronousScene {
public:
    // Keeps what the pictures need, of very many events the first ones.
    void add(const cpu_device::AsynchronousEvent& event);

    // The copy with the widest swizzle; of equal ones the first.
    const std::optional<CopiedTile>& tile() const { return tile_; }
    const std::vector<cpu_device::AsynchronousEvent>& events() const { return events_; }

private:
    std::optional<CopiedTile> tile_;
    std::vector<cpu_device::AsynchronousEvent> events_;  // without runs
};

// Steps [first, last] of a block: events at which something here begins or ends, neighbours of one kind as one.
struct RingSpan {
    unsigned first = 0, last = 0;
    unsigned warps = 0;  // a bit for each
};

// From the first of the copies that fill a stage together to the next filling.
struct RingFill {
    RingSpan filled;  // until all bytes have arrived
    std::optional<RingSpan>
        held;  // from the end of a wait for them until given back, or until the next filling
    std::optional<RingSpan> multiplied;  // by wgmma that reads them, until a wait covers it
};

// Shared memory whose bulk copies one mbarrier counts.
struct RingStage {
    uintptr_t mbarrier = 0;
    std::vector<RingFill> fills;
    std::vector<RingSpan> waits_for_bytes;  // for that mbarrier
    std::vector<RingSpan> waits_for_space;  // for another one, before it is filled again
};

struct Ring {
    std::vector<RingStage> stages;  // in the order in which they are first filled
    unsigned steps = 0;
};
Ring ring_of(const std::vector<cpu_device::AsynchronousEvent>& events);

}  // namespace xray
