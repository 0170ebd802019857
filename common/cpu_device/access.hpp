// SPDX-License-Identifier: MIT
//
// Judges one memory access of a kernel: where it goes, whether it may, and what is said if not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "failure.hpp"
#include "memory.hpp"
#include "observer.hpp"

namespace cpu_device {

enum class Direction : uint8_t {
    load,
    store,
    atomic,
    bulk_load,
    bulk_store,
    copied,
    copied_through_cache,  // through the L1 cache
    sent,                  // an asynchronous store to shared memory of the cluster
    combined,              // the same of a reduction
    initialized,           // mbarrier.init
    bulk_reduced,
    fetched,  // through a texture
    surface_read,
    surface_written
};

inline bool is_load(Direction direction) {
    return direction == Direction::load || direction == Direction::bulk_load ||
           direction == Direction::fetched || direction == Direction::surface_read;
}

inline bool is_bulk(Direction direction) {
    return direction == Direction::bulk_load || direction == Direction::bulk_store ||
           direction == Direction::bulk_reduced;
}

// Whether the engine makes it later, and the thread goes on.
inline bool is_asynchronous(Direction direction) {
    return is_bulk(direction) || direction == Direction::sent || direction == Direction::combined;
}

// "load of 4 bytes from", "store of 16 bytes to" or the like.
std::string text_of(Direction direction, unsigned bytes);

// Everything the hooks' quick test leaves: finds what lies at `address`, ends the launch if the
// running lane must not touch it, and logs the access if someone observes. `split` and the
// like: see Access.
void judge_access(uintptr_t address, unsigned bytes, Direction direction, uintptr_t place,
                  bool split, bool is_volatile = false, bool is_atomic = false);

// Does the same for a piece of a bulk copy, of at most 128 bytes.
void judge_bulk_access(uintptr_t address, unsigned bytes, Direction direction, uintptr_t place);
// Logs bytes outside a tensor, whose sectors a GPU counts for a bulk load. Logs nothing unless begin < end.
void log_outside(uintptr_t begin, uintptr_t end, uintptr_t place);

// Tells whoever observes of a bulk copy, before its pieces at that end, or of a lane's part in a wgmma.
void log_instruction(AccessKind kind, uintptr_t place, unsigned bytes = 0);

// The same of what happens to copies, mbarriers and wgmma, at once.
void tell_observer(const AsynchronousEvent& event);

// Tells whoever observes of an operation on the mbarrier at that address, and how it orders threads.
void log_mbarrier(uintptr_t address, uintptr_t place, unsigned ordering);

// The running lane is about to store what an observer may want to know, at the address that was judged last.
void note_stored(uintptr_t address);

// The block of the cluster in whose shared memory `address` lies, this one included; or null.
const Worker* owner_of_shared(const Worker& worker, uintptr_t address);

// The dynamic array of `owner`, a block of worker's cluster, as long as it could ever be, and what
// lies behind it unused.
AddressRange dynamic_array(const Worker& worker, const Worker& owner);

AddressRange all_stacks(const Worker& worker);

// Says what is wrong with touching `address`. `verb` is "load", "store" or the like.
void describe_bad_address(Failure& failure, uintptr_t address, size_t bytes, const char* verb);

// Says that a lane got nowhere for as long as the watchdog waits.
void describe_timeout(Failure& failure);

}  // namespace cpu_device
