// SPDX-License-Identifier: MIT
#include "counts.hpp"

#include <algorithm>

namespace xray {
namespace {

// A kernel with more different hazards than this has one cause for them all.
constexpr size_t kMostHazards = 64;

bool same_cause(const Hazard& a, const Hazard& b) {
    return a.first.place == b.first.place && a.second.place == b.second.place &&
           a.second.writes == b.second.writes && a.between_blocks == b.between_blocks &&
           a.in_cluster == b.in_cluster;
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
    requests += other.requests;
    accesses += other.accesses;
    bytes += other.bytes;
    useful_bytes += other.useful_bytes;
    sectors += other.sectors;
    split_requests += other.split_requests;
    unrolled_requests += other.unrolled_requests;
    unrolled_sectors += other.unrolled_sectors;
    wavefronts += other.wavefronts;
    conflicts += other.conflicts;
    fused_requests += other.fused_requests;
    fused_wavefronts += other.fused_wavefronts;
    fused_conflicts += other.fused_conflicts;
    return *this;
}

void add_hazards(std::vector<Hazard>& to, const std::vector<Hazard>& from) {
    for (const Hazard& hazard : from) {
        const auto known = std::find_if(
            to.begin(), to.end(), [&](const Hazard& other) { return same_cause(hazard, other); });
        if (known != to.end()) {
            known->times += hazard.times;
            known->same_value = known->same_value && hazard.same_value;
        } else if (to.size() < kMostHazards) {
            to.push_back(hazard);
        }
    }
}

Counts KernelCounts::total(AccessKind kind) const {
    Counts sum;
    for (const auto& [site, counts] : sites) {
        if (site.kind == kind) sum += counts;
    }
    return sum;
}

Counts total(const std::vector<KernelCounts>& kernels, AccessKind kind) {
    Counts sum;
    for (const KernelCounts& kernel : kernels) sum += kernel.total(kind);
    return sum;
}

Counts global_loads(const std::vector<KernelCounts>& kernels) {
    Counts sum = total(kernels, AccessKind::global_load);
    return sum += total(kernels, AccessKind::bulk_load);
}

Counts global_stores(const std::vector<KernelCounts>& kernels) {
    Counts sum = total(kernels, AccessKind::global_store);
    return sum += total(kernels, AccessKind::bulk_store);
}

}  // namespace xray
