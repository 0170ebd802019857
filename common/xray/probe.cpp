// SPDX-License-Identifier: MIT
//
// The runner's probe: on the CPU device it counts.
#include "common/runner/probe.hpp"

#include "counter.hpp"

namespace {

class CountingProbe : public runner::Probe {
public:
    void start() override {
        counter_.emplace();
        counting_.emplace(*counter_);
    }

    std::optional<runner::Counts> stop() override {
        counting_.reset();
        if (!counter_) return std::nullopt;
        const auto total = [&](xray::AccessKind kind) {
            return xray::total(counter_->kernels(), kind);
        };
        const xray::Counts loads = total(xray::AccessKind::global_load);
        const xray::Counts stores = total(xray::AccessKind::global_store);
        runner::Counts counts;
        counts.global_load_requests = loads.requests;
        counts.global_load_sectors = loads.sectors;
        counts.global_load_bytes = loads.bytes;
        counts.global_store_requests = stores.requests;
        counts.global_store_sectors = stores.sectors;
        counts.global_store_bytes = stores.bytes;
        counts.shared_bank_conflicts = total(xray::AccessKind::shared_load).conflicts +
                                       total(xray::AccessKind::shared_store).conflicts;
        counter_.reset();
        return counts;
    }

private:
    std::optional<xray::Counter> counter_;
    std::optional<xray::Counting> counting_;
};

}  // namespace

runner::Probe& runner::probe() {
    static CountingProbe probe;
    return probe;
}
