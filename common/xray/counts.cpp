// SPDX-License-Identifier: MIT
#include "counts.hpp"

namespace xray {

Counts& Counts::operator+=(const Counts& other) {
    requests += other.requests;
    accesses += other.accesses;
    bytes += other.bytes;
    useful_bytes += other.useful_bytes;
    sectors += other.sectors;
    split_requests += other.split_requests;
    wavefronts += other.wavefronts;
    conflicts += other.conflicts;
    fused_requests += other.fused_requests;
    fused_wavefronts += other.fused_wavefronts;
    fused_conflicts += other.fused_conflicts;
    return *this;
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

}  // namespace xray
