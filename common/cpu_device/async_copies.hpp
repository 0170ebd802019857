// SPDX-License-Identifier: MIT
//
// The asynchronous copies of a block that are under way. See cpu_device/async_copies.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "access.hpp"
#include "memory.hpp"

namespace cpu_device {

struct PendingCopy {
    static constexpr size_t kMostBytes = 16;

    uintptr_t to = 0;
    uintptr_t from = 0;
    uintptr_t place = 0;    // return address in the kernel
    uint16_t thread = 0;    // who began it
    unsigned meetings = 0;  // of the worker's threads before it began
    uint8_t bytes = 0;
    uint8_t read = 0;                      // bytes of `from`
    unsigned char value[kMostBytes] = {};  // what will arrive

    bool arrives_at(uintptr_t address, unsigned count) const {
        return address < to + bytes && to < address + count;
    }
    bool leaves(uintptr_t address, unsigned count) const {
        return address < from + read && from < address + count;
    }
    // Whether both copy the same: then no order of the two matters.
    bool repeats(const PendingCopy& other) const {
        return to == other.to && from == other.from && bytes == other.bytes && read == other.read;
    }
};

// Copies of a thread, which arrive in the order in which they were begun.
struct CopyQueue {
    std::vector<PendingCopy> copies;  // under way
    uint64_t arrived = 0;             // so many before those
    std::vector<uint64_t> groups;  // of each committed group its end, in copies since the beginning

    uint64_t begun() const { return arrived + copies.size(); }
};

// One worker's, of the block that it runs.
class AsyncCopies {
public:
    // Forgets what an earlier block left under way. Its bytes never arrive.
    void begin_block();

    bool any() const { return count_ != 0; }

    void begin(CopyQueue& queue, const PendingCopy& copy);
    void commit(CopyQueue& queue);
    // All but the latest groups arrive, for which their thread has waited.
    void arrive_but(CopyQueue& queue, size_t groups);
    CopyQueue& of_thread(unsigned thread);
    // What `queue` holds now arrives with the phase.
    void bind(CopyQueue& queue, uintptr_t barrier, uint64_t phase);
    void arrive_with(uintptr_t barrier, uint64_t phase);

    // The copy that the running lane begins next, until its destination has been judged.
    void prepare(const PendingCopy* copy) { next_ = copy; }

    // Ends the launch if an access of the running lane, to memory where it may go, meets a copy under way.
    void judge(uintptr_t address, unsigned bytes, Direction direction) {
        const bool writes = !is_load(direction);
        if (is_free(address, bytes, writes)) return;
        judge_at_length(address, bytes, direction, writes);
    }

private:
    enum : uint8_t { kArrives = 1, kLeaves = 2 };
    struct Bound {
        uint64_t phase;
        CopyQueue* queue;
        uint64_t end;
    };

    // Those before number `end` arrive, at a wait of their thread or for a phase.
    enum class Wait : uint8_t { of_thread, for_phase };
    void arrive(CopyQueue& queue, uint64_t end, Wait wait);

    // A quick look, which may be wrong where it says no.
    bool is_free(uintptr_t address, unsigned bytes, bool writes) const {
        const uintptr_t offset = address - shared_.low;
        if (offset >= marks_.size())
            return address >= elsewhere_.high || address + bytes <= elsewhere_.low;
        uint8_t found = 0;
        for (unsigned i = 0; i < bytes; i++) found |= marks_[offset + i];
        return (found & (writes ? kArrives | kLeaves : kArrives)) == 0;
    }
    void judge_at_length(uintptr_t address, unsigned bytes, Direction direction, bool writes) const;
    const char* what_is_missing(const CopyQueue& queue, const PendingCopy& copy) const;
    const PendingCopy* find(uintptr_t address, unsigned bytes, bool writes,
                            const CopyQueue** queue) const;
    void mark(const PendingCopy& copy, bool under_way);
    void mark(uintptr_t address, unsigned bytes, uint8_t how, bool under_way);

    const PendingCopy* next_ = nullptr;
    bool is_used_ = false;   // by the block
    size_t count_ = 0;       // of copies under way
    AddressRange shared_{};  // of the block; a mark for each byte
    std::vector<uint8_t> marks_;
    AddressRange elsewhere_{};  // holds all that copies touch in other memory
    std::vector<CopyQueue> threads_;
    std::unordered_map<uintptr_t, std::vector<Bound>> barriers_;
};

}  // namespace cpu_device
