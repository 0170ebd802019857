// SPDX-License-Identifier: MIT
//
// What the CPU device tells whoever wants to know which memory a kernel touches. At most one
// observer at a time; without one the hooks only check and nothing is recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu_device/launch.h"

namespace cpu_device {

enum class AccessKind : uint8_t {
    global_load,
    global_store,
    shared_load,
    shared_store,
    shared_copy,  // the second half of an asynchronous copy: no store instruction
    global_atomic,
    shared_atomic,
    remote_load,  // shared memory of another block of the cluster
    remote_store,
    remote_atomic,
    constant_load,  // the program's own image: __constant__ and __device__ variables
    constant_store,
    constant_atomic,
    bulk_load,  // of global memory by a bulk copy or tensor copy: see is_bulk()
    bulk_store,
    bulk_reduce,  // reads and writes
    bulk_prefetch,
    shared_bulk_load,  // a bulk copy's other end
    shared_bulk_store,
    remote_bulk_store,  // the same in another block of the cluster
    wgmma,              // at address 0: the lane's share of the bytes of operands in shared memory
    texture_load,  // of the first element that the fetch reads; at address 0 where it reads none
    surface_load,  // the same: outside, where zeros are read and nothing is written
    surface_store,
    mbarrier,  // an operation on one, at its address
    waypoint,  // no access: the lane came past this place, which tells the branches it took
};

// How an access is made: bits of Access::manner.
constexpr uint8_t kSplit =
    1;  // part of a copy that the compiler left whole: widths and count are a best guess
constexpr uint8_t kVolatile = 2;  // where the compiler tells (--param=tsan-distinguish-volatile=1)
constexpr uint8_t kAtomic = 4;    // a store that is atomic, or a load
constexpr uint8_t kThroughCache = 8;  // a copy of 16 bytes that does not by-pass the L1 cache

constexpr uint8_t kAsynchronous =
    16;  // happens later: who may touch the same when, the CPU device judges itself
constexpr uint8_t kOutside =
    32;  // of a bulk load, outside the tensor: counts sectors, accesses no memory

// What a bulk copy does at one of its ends begins with a record of 0 bytes at address 0, which stands for the instruction.
// Then come the pieces, of at most 128 bytes.
inline bool is_bulk(AccessKind kind) {
    return kind >= AccessKind::bulk_load && kind <= AccessKind::remote_bulk_store;
}

// A waypoint whose manner is not 0 but of Ordering's bits is a signal: the lane's access before it, or what it did
// there, can order threads. Its address then tells when: the upper half is not after it was told, the lower half not
// before it observed, in one count for all of the launch. Of accesses to a block's shared memory there are signals only
// once a thread of the block has used a fence or an access that releases. Where it has bytes, the signal is not of the
// access before it, but of the block's barrier of that number less 1.

// One access of one lane, in program order.
struct Access {
    uintptr_t address;  // see address_of() and value_of()
    uintptr_t place;    // return address in the kernel: read its line at place - 1
    uint32_t path;   // hash of the calls from the kernel down to here: one source line, two callers
    uint16_t bytes;  // 1, 2, 4, 8 or 16; of a waypoint 0, as its address, unless it is a signal
    AccessKind kind;
    uint8_t manner;  // of kSplit and those after it

    friend bool same_instruction(const Access& a, const Access& b) {
        return a.place == b.place && a.path == b.path && a.kind == b.kind;
    }
};

// The upper byte of a plain store's address says what was stored: 0 where that is not known, else mostly another number
// for another value.
constexpr unsigned kAddressBits = 56;
inline uintptr_t address_of(const Access& access) {
    return access.address & ((uintptr_t{1} << kAddressBits) - 1);
}
inline uint8_t value_of(const Access& access) {
    return static_cast<uint8_t>(access.address >> kAddressBits);
}

// Accesses of one lane, in order.
struct AccessLog {
    const Access* records;
    size_t count;
};

// What the lanes of one warp did since the observer was last told of that warp.
struct WarpLogs {
    AccessLog lane[32];
    unsigned meeting;  // lanes that meet now; none if the logs have merely grown long
    unsigned
        settled;  // lanes that do nothing more before the next barrier: they wait there or exited
};

struct BulkRun;

// What bulk copies, mbarriers and wgmma do, told when it happens: of one block, in the order in which it did.
struct AsynchronousEvent {
    enum class What : uint8_t {
        copy_begins,
        copy_arrives,  // in shared memory of this block
        waits,         // at an mbarrier whose phase is not over
        waited,        // the phase is over, also where nothing had to be waited for
        arrives,       // a thread, at an mbarrier
        multiplies,    // a warp's wgmma begins
        multiplied,    // all of the warp's up to that `number` have ended, as it now knows
    };
    What what{};
    unsigned thread = 0;  // linear in the block; of a warp's instruction, one of its threads
    uintptr_t place = 0;  // return address in the kernel
    uintptr_t mbarrier = 0;
    uint64_t number = 0;         // of the warp's wgmma, from 1 on
    uintptr_t operands[2] = {};  // of wgmma: where A and B begin in shared memory; 0: in registers

    // Of a copy. `mbarrier` counts its bytes; 0: it reads shared memory.
    const char* instruction = "";
    uintptr_t shared = 0;
    uint32_t bytes = 0;
    uint32_t row_bytes = 0;         // of a tensor copy: of the box's rows
    uint32_t swizzle = 0;           // span in bytes; 0: none
    const BulkRun* runs = nullptr;  // in the order of the box
    size_t run_count = 0;
};

struct ObservedLaunch {
    const char* kernel_name;
    LaunchConfiguration configuration;
};

// begin_launch and end_launch come from the launching thread. The rest comes from the worker that
// runs the block, several workers at once: keep state per worker, and merge it in end_launch.
class Observer {
public:
    virtual ~Observer() = default;

    virtual void begin_launch(const ObservedLaunch& launch) = 0;

    // [shared_low, shared_high) holds every __shared__ variable of the block, dynamic ones
    // included.
    virtual void begin_block(unsigned worker, uint3 block, uintptr_t shared_low,
                             uintptr_t shared_high) = 0;

    // Called for every meeting, before warp_collective for its warp, before block_barrier and
    // end_block for all warps; and now and then where lanes do much without meeting anyone.
    virtual void accesses(unsigned worker, unsigned warp, const WarpLogs& logs) = 0;

    // synchronizes: __syncwarp orders the lanes' memory accesses, other collectives only meet.
    virtual void warp_collective(unsigned worker, unsigned warp, unsigned lanes,
                                 bool synchronizes) = 0;
    // Also at a cluster's barrier, if all of the block's threads wait there.
    virtual void block_barrier(unsigned worker) = 0;
    // An asynchronous copy of a thread, begun at `place`, arrives in shared memory at the thread's wait: the
    // write that was logged as its shared_copy or shared_store, behind a later barrier or meeting than that.
    // Told at once, before what lanes have logged since they met last.
    virtual void copy_arrived(unsigned /*worker*/, unsigned /*thread*/, uintptr_t /*address*/,
                              unsigned /*bytes*/, uintptr_t /*place*/) {}
    virtual void asynchronous(unsigned /*worker*/, const AsynchronousEvent& /*event*/) {}
    virtual void end_block(unsigned worker) = 0;

    // failed: the launch ended early, with an error; what was told of it is incomplete.
    virtual void end_launch(bool failed) = 0;

    // What the host does with the device's memory, between launches. Nothing is known to be written in
    // what is allocated, unless the host may write there itself (managed and pinned memory).
    virtual void memory_allocated(uintptr_t /*low*/, size_t /*bytes*/, bool /*host_may_write*/) {}
    virtual void memory_freed(uintptr_t /*low*/) {}
    // The memory that it takes to follow allocations of so many bytes in all.
    virtual size_t shadow_bytes(size_t /*bytes*/) const { return 0; }
    virtual void written_by_host(uintptr_t /*low*/, size_t /*bytes*/) {}
    // to_host: by a copy to the host's memory, or by the host itself.
    virtual void read_by_host(uintptr_t /*low*/, size_t /*bytes*/, bool /*to_host*/) {}
};

// Installs an observer for the launches that follow; null removes it. Returns the previous one.
Observer* set_observer(Observer* observer);

// Whether what is to be said of a launch that fails goes to standard error, as it does unless told
// otherwise. Either way it is kept until the next one fails, or until it is taken.
void print_errors(bool yes);
// The same of a launch that gets nowhere, which is said while it may still come to an end.
void print_waits(bool yes);
std::string take_last_error();

// How many were said, of launches and of calls.
size_t error_count();
// The first few of these, in words.
const std::vector<std::string>& first_errors();

// What launches did that may be right: sentences, each once.
const std::vector<std::string>& notes();

}  // namespace cpu_device
