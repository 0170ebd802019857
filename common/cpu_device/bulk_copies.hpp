// SPDX-License-Identifier: MIT
//
// Bulk copies (cp.async.bulk and TMA): one thread begins them, and bytes move without it. Those to shared memory arrive
// as late as can be, and an mbarrier counts their bytes; those from shared memory belong to a bulk group of their thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace cpu_device {

struct Lane;
struct Mbarrier;
struct Worker;

// Neighbouring bytes of a copy: `offset` bytes after the copy's beginning in shared memory, and at `global`. Where that
// is 0 there is nothing in global memory: a load fills up, a store leaves out.
struct BulkRun {
    uint32_t offset;
    uint32_t bytes;
    uintptr_t global;
};

// One request of the copy engine to global memory: the part of a row of the box, or of contiguous bytes, that goes to one line
// of 128 bytes of shared memory (before the swizzle). The bytes from `first` to `last` are in the tensor; there may be none.
struct BulkPiece {
    uintptr_t global;
    uint8_t bytes, first, last;
};

// Combines two elements, both aligned, the first of which is where the copy goes.
using Combine = void (*)(void* there, const void* from);

struct BulkCopy {
    const char* instruction = "";  // as PTX has it, for messages
    uintptr_t place = 0;           // return address in the kernel
    uintptr_t shared = 0;          // where it begins in shared memory
    uint32_t bytes = 0;            // of shared memory: what an mbarrier counts
    uint32_t extent = 0;           // bytes from its first byte in shared memory to its end
    uint16_t fill = 0;             // two bytes, repeated where a load fills up
    std::vector<BulkRun>
        runs;  // each at most 128 bytes, within a line of 128 bytes of global memory
    std::vector<BulkPiece> pieces;
    uint32_t row_bytes = 0;  // of a tensor copy's box
    uint32_t swizzle = 0;    // span in bytes; 0: none
    std::string values;  // of a load, where it is these bytes that arrive, and not what runs name:
                         // of an asynchronous store
    bool rounds_to_tf32 = false;
    Combine combine = nullptr;
    uint32_t element = 0;

    bool is_store() const { return !values.empty(); }
};

// To shared memory of this block, or of another one of the cluster; or to that of the blocks whose bit is set in `blocks`,
// at the same place in each. `mbarrier` lies in the same block's shared memory, and its like in the others'.
void begin_bulk_load(BulkCopy copy, uintptr_t mbarrier, uint16_t blocks = 0);

// From shared memory of this block. It joins the bulk group that the thread has not committed yet.
void begin_bulk_store(BulkCopy copy);

void commit_bulk_group();
// All but the thread's latest `groups` have arrived, or, where only their source matters, have been read.
void wait_for_bulk_groups(size_t groups, bool only_read);

// What one block has begun.
class BulkCopies {
public:
    void begin_block();
    // Ends the launch where a copy is under way that nobody waits for, as far as that is wrong.
    void end_block(Worker& worker);

    // One of the blocks that a load goes to: where it begins in its shared memory, and what counts it.
    struct Destination {
        uintptr_t shared, mbarrier;
    };
    void begin_load(BulkCopy copy, std::vector<Destination> to);
    void begin_store(BulkCopy copy);
    // Of the thread's copies by cp.async.
    void begin_arrival(Mbarrier& barrier, const Lane& lane);

    // The thread's agent in Clocks, and the number of the group that gathers.
    struct Next {
        uint32_t agent, group;
    };
    Next next_group();
    void commit();
    void wait(size_t groups, bool only_read);

    // Lets what was begun first arrive. False if nothing is under way.
    bool land_one(Worker& worker);

private:
    struct Load {
        BulkCopy copy;
        std::vector<Destination> to;
        unsigned thread = 0;
        Mbarrier* arrives_at = nullptr;  // no load, but the arrival of a thread's copies
    };
    struct Source {
        std::string bytes;
    };
    struct Group {
        std::vector<BulkCopy> copies;
        std::vector<Source> sources;  // once they have been read
        bool is_read = false;
    };
    struct OfThread {
        Group gathering;
        std::deque<Group> committed;
        uint32_t done = 0;   // groups that have arrived
        uint32_t read = 0;   // groups whose source has been read
        uint32_t agent = 0;  // in Clocks
    };

    OfThread& mine();
    static void read_source(Group& group);
    static void store(Group& group);

    std::deque<Load> loads_;
    std::unordered_map<unsigned, OfThread> threads_;
};

}  // namespace cpu_device
