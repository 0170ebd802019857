// SPDX-License-Identifier: MIT
#include "counter.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "memory_model.hpp"
#include "shared_shadow.hpp"

namespace xray {
namespace {

constexpr size_t kMostWorkers = 2048;  // more than the CPU device ever has
constexpr unsigned kWarpSize = 32;
constexpr unsigned kMostWarps = 32;

// A kernel with more different hazards than this has one cause for them all.
constexpr size_t kMostHazards = 64;

struct SiteHash {
    size_t operator()(const Site& site) const {
        return (site.place ^ static_cast<size_t>(site.kind) << 56) * 0x9E3779B97F4A7C15u;
    }
};

bool same_cause(const Hazard& a, const Hazard& b) {
    return a.first.place == b.first.place && a.second.place == b.second.place &&
           a.second.writes == b.second.writes;
}

void merge(std::vector<Hazard>& into, const std::vector<Hazard>& from) {
    for (const Hazard& hazard : from) {
        const auto known = std::find_if(into.begin(), into.end(), [&](const Hazard& other) {
            return same_cause(hazard, other);
        });
        if (known != into.end()) {
            known->times += hazard.times;
        } else if (into.size() < kMostHazards) {
            into.push_back(hazard);
        }
    }
}

}  // namespace

// The blocks that one worker runs, one after the other.
class Counter::Worker : private WarpEvents {
public:
    explicit Worker(Listener* listener) : listener_(listener) {}

    void begin_block(const cpu_device::LaunchConfiguration& configuration, uint3 block,
                     uintptr_t shared_low, uintptr_t shared_high) {
        block_ = block;
        fusion_ = {};  // of a launch that ended early
        const unsigned threads =
            configuration.block.x * configuration.block.y * configuration.block.z;
        warp_count_ = (threads + kWarpSize - 1) / kWarpSize;
        for (unsigned warp = 0; warp < warp_count_; warp++) {
            const unsigned lanes = std::min(threads - warp * kWarpSize, kWarpSize);
            requests_[warp].begin(lanes == kWarpSize ? ~0u : (1u << lanes) - 1);
        }
        // Blocks of a cluster write each other's shared memory and have barriers of their own.
        const dim3 cluster = configuration.cluster;
        shadowed_ = cluster.x * cluster.y * cluster.z == 1;
        if (shadowed_) shadow_.begin_block(block, shared_low, shared_high);
    }

    void accesses(unsigned warp, const cpu_device::WarpLogs& logs) {
        warp_ = warp;
        requests_[warp].add(logs, order_, *this);
        end_fusion();
    }

    void warp_collective(unsigned warp, unsigned lanes, bool synchronizes) {
        warp_ = warp;
        (synchronizes ? warp_syncs_ : warp_exchanges_)++;
        requests_[warp].meet(lanes, synchronizes, *this);
    }

    void block_barrier() {
        barriers_++;
        if (shadowed_) shadow_.barrier();
    }

    // Adds everything to `kernel`, and forgets it.
    void hand_over(KernelCounts& kernel) {
        for (const auto& [site, counts] : sites_) kernel.sites[site] += counts;
        sites_.clear();
        last_ = nullptr;
        kernel.barriers += std::exchange(barriers_, 0);
        kernel.warp_syncs += std::exchange(warp_syncs_, 0);
        kernel.warp_exchanges += std::exchange(warp_exchanges_, 0);
        merge(kernel.races, shadow_.take_races());
        merge(kernel.uninitialized_reads, shadow_.take_uninitialized_reads());
    }

private:
    void on_request(const Request& request) override {
        Counts& counts = counts_of(request);
        const auto lanes = __builtin_popcount(request.lanes);
        counts.requests++;
        counts.accesses += lanes;
        counts.bytes += lanes * request.bytes;
        counts.split_requests += request.split;
        if (is_shared(request.kind)) {
            const Wavefronts wavefronts = wavefronts_of(request);
            counts.wavefronts += wavefronts.taken;
            counts.conflicts += wavefronts.taken - wavefronts.fewest;
            fusion_.add(request, fused_);
        } else {
            const Touched touched = touched_by(request);
            counts.useful_bytes += touched.bytes;
            counts.sectors += touched.sectors;
            fusion_.end(fused_);
        }
        count_fused();
        if (shadowed_) shadow_.note(warp_, request);
        if (listener_ != nullptr) listener_->on_request(block_, request);
    }

    void on_meeting(unsigned lanes, bool synchronizes) override {
        end_fusion();
        if (shadowed_ && synchronizes) shadow_.warp_sync(warp_, lanes);
    }

    void end_fusion() {
        fusion_.end(fused_);
        fusion_.forget_reads();
        count_fused();
    }

    void count_fused() {
        for (const Request& request : fused_) {
            Counts& counts = counts_of(request);
            const Wavefronts wavefronts = wavefronts_of(request);
            counts.fused_requests++;
            counts.fused_wavefronts += wavefronts.taken;
            counts.fused_conflicts += wavefronts.taken - wavefronts.fewest;
            if (listener_ != nullptr) listener_->on_fused_request(block_, request);
        }
        fused_.clear();
    }

    Counts& counts_of(const Request& request) {
        const Site site{request.place, request.kind};
        if (last_ == nullptr || !(last_site_ == site)) {
            last_ = &sites_[site];
            last_site_ = site;
        }
        return *last_;
    }

    Listener* listener_;
    uint3 block_{};
    unsigned warp_ = 0;
    unsigned warp_count_ = 0;
    WarpRequests requests_[kMostWarps];
    FlowOrder order_;
    AccessFusion fusion_;
    std::vector<Request> fused_;
    SharedShadow shadow_;
    bool shadowed_ = false;
    std::unordered_map<Site, Counts, SiteHash> sites_;  // never moves its elements
    Site last_site_{};
    Counts* last_ = nullptr;
    int64_t barriers_ = 0;
    int64_t warp_syncs_ = 0;
    int64_t warp_exchanges_ = 0;
};

Counter::Counter(Listener* listener) : listener_(listener), workers_(kMostWorkers) {}
Counter::~Counter() = default;

void Counter::begin_launch(const cpu_device::ObservedLaunch& launch) {
    KernelCounts& kernel = kernel_named(launch.kernel_name);
    if (kernel.launches++ == 0) kernel.configuration = launch.configuration;
    current_ = static_cast<size_t>(&kernel - kernels_.data());
    configuration_ = launch.configuration;
    if (listener_ != nullptr) listener_->on_launch(launch);
}

KernelCounts& Counter::kernel_named(const std::string& name) {
    for (KernelCounts& kernel : kernels_) {
        if (kernel.name == name) return kernel;
    }
    kernels_.emplace_back().name = name;
    return kernels_.back();
}

void Counter::begin_block(unsigned worker, uint3 block, uintptr_t shared_low,
                          uintptr_t shared_high) {
    std::unique_ptr<Worker>& mine = workers_.at(worker);
    if (mine == nullptr) mine = std::make_unique<Worker>(listener_);
    mine->begin_block(configuration_, block, shared_low, shared_high);
}

void Counter::accesses(unsigned worker, unsigned warp, const cpu_device::WarpLogs& logs) {
    workers_[worker]->accesses(warp, logs);
}

void Counter::warp_collective(unsigned worker, unsigned warp, unsigned lanes, bool synchronizes) {
    workers_[worker]->warp_collective(warp, lanes, synchronizes);
}

void Counter::block_barrier(unsigned worker) {
    workers_[worker]->block_barrier();
}

void Counter::end_block(unsigned) {}

void Counter::end_launch(bool failed) {
    KernelCounts& kernel = kernels_[current_];
    kernel.failed_launches += failed;
    for (const std::unique_ptr<Worker>& worker : workers_) {
        if (worker != nullptr) worker->hand_over(kernel);
    }
}

}  // namespace xray
