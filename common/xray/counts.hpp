// SPDX-License-Identifier: MIT
//
// What the x-ray counts. The words are Nsight Compute's: a request is one memory instruction of one
// warp, a sector 32 bytes of global memory, a wavefront one pass through the banks of shared
// memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/cpu_device/observer.hpp"
#include "warp_requests.hpp"

namespace xray {

using cpu_device::AccessKind;

inline bool is_shared(AccessKind kind) {
    return kind == AccessKind::shared_load || kind == AccessKind::shared_store;
}

// Of these requests and bytes are counted, no sectors: a texture's elements do not lie in rows, and the unit has
// rules of its own.
inline bool is_of_textures(AccessKind kind) {
    return kind == AccessKind::texture_load || kind == AccessKind::surface_load ||
           kind == AccessKind::surface_store;
}

// Only their number and bytes are counted.
inline bool is_without_sectors(AccessKind kind) {
    return is_of_textures(kind) || kind == AccessKind::mbarrier || kind == AccessKind::wgmma;
}

// The ends of bulk copies in global memory. A request is an instruction; sectors are those that each of its pieces touches.
inline bool is_bulk_of_global(AccessKind kind) {
    return kind == AccessKind::bulk_load || kind == AccessKind::bulk_store ||
           kind == AccessKind::bulk_reduce;
}

// What accesses to shared memory take. A conflict is a wavefront beyond the fewest that so many bytes
// need.
struct SharedCost {
    int64_t requests = 0;
    int64_t wavefronts = 0;
    int64_t conflicts = 0;
};

struct Counts {
    int64_t requests = 0;
    int64_t accesses = 0;      // requests times the lanes that took part
    int64_t bytes = 0;         // that those lanes asked for
    int64_t useful_bytes = 0;  // different ones, within each request
    int64_t sectors = 0;
    int64_t split_requests = 0;  // pieces of a copy of unusual size: their widths are a best guess

    // Global memory, if the loops around are unrolled as nvcc was seen to (see unrolling.hpp). Where nothing
    // is known of that, the same as above.
    int64_t unrolled_requests = 0;
    int64_t unrolled_sectors = 0;

    // Shared memory, see SharedCost.
    int64_t wavefronts = 0;
    int64_t conflicts = 0;

    // The same if the compiler fuses neighbouring accesses of a thread, up to 16 bytes.
    int64_t fused_requests = 0;
    int64_t fused_wavefronts = 0;
    int64_t fused_conflicts = 0;

    SharedCost as_written() const { return {requests, wavefronts, conflicts}; }
    SharedCost if_fused() const { return {fused_requests, fused_wavefronts, fused_conflicts}; }

    Counts& operator+=(const Counts& other);
};

// One memory instruction of the compiled kernel.
struct Site {
    uintptr_t place;  // return address of the access
    AccessKind kind;

    friend bool operator==(const Site& a, const Site& b) {
        return a.place == b.place && a.kind == b.kind;
    }
    friend bool operator<(const Site& a, const Site& b) {
        return std::tie(a.place, a.kind) < std::tie(b.place, b.kind);
    }
};

// Of one instruction, the request that does most in vain: bytes of global memory that are moved and that nobody
// asked for, or bank conflicts. Of equal ones that of the first block.
struct WorstRequest {
    Request request;
    uint3 block{};
    unsigned warp = 0;
    unsigned in_vain = 0;
};

// One of the two sides of a hazard.
struct Toucher {
    unsigned thread = 0;  // linear index in its block
    uintptr_t place = 0;
    bool writes = false;
    uint3 block{};  // for global memory; threads that share memory are of one block
};

// Two threads touch the same byte, `first` writes, and nothing orders them: of shared memory two of a
// block, of global memory any two of a launch. Or, where `second` alone counts: it reads what nobody
// (of shared memory: nobody in the block) has written.
struct Hazard {
    Toucher first, second;
    uint3 block{};
    size_t offset = 0;  // of the byte: among the program's shared variables, or its address
    int64_t times = 0;
    bool global = false;
    bool between_blocks = false;
    bool same_value = false;  // both write, and the same
    bool in_cluster = false;  // where it is `global`: in shared memory, of a cluster's blocks
    uint32_t interval = 0;    // how many barriers of the block came before
};

// Those of one cause become one.
void add_hazards(std::vector<Hazard>& to, const std::vector<Hazard>& from);

struct KernelCounts {
    std::string name;
    cpu_device::LaunchConfiguration configuration;  // of the first launch
    int64_t launches = 0;
    int64_t blocks = 0;            // of all launches
    bool launches_differ = false;  // in blocks or threads
    int64_t failed_launches = 0;   // ended early: what was counted of them is incomplete
    std::map<Site, Counts> sites;
    std::map<Site, WorstRequest> worst;       // of those that do anything in vain
    int64_t barriers = 0;                     // per block
    int64_t warp_syncs = 0;                   // __syncwarp, per warp
    int64_t warp_exchanges = 0;               // shuffles, votes and the like, per warp
    std::vector<Hazard> races;                // one per pair of places
    std::vector<Hazard> uninitialized_reads;  // one per place
    bool all_memory_watched = true;           // where global memory is: false if it was too much
    bool all_signals_known = true;  // false: too many atomics or fences to tell what they order
    bool clusters_watched =
        true;  // false: of shared memory that a cluster's blocks share, nothing was looked at

    Counts total(AccessKind kind) const;
};

Counts total(const std::vector<KernelCounts>& kernels, AccessKind kind);

// What leaves global memory and what arrives there, by threads and by bulk copies.
Counts global_loads(const std::vector<KernelCounts>& kernels);
Counts global_stores(const std::vector<KernelCounts>& kernels);

}  // namespace xray
