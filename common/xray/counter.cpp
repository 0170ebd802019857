// SPDX-License-Identifier: MIT
#include "counter.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "global_shadow.hpp"
#include "memory_model.hpp"
#include "shared_shadow.hpp"
#include "sizes.hpp"

namespace xray {
namespace {

constexpr size_t kMostWorkers = 2048;  // more than the CPU device ever has
constexpr unsigned kMostWarps = 32;

struct SiteHash {
    size_t operator()(const Site& site) const {
        return (site.place ^ static_cast<size_t>(site.kind) << 56) * 0x9E3779B97F4A7C15u;
    }
};

bool is_before(uint3 a, uint3 b) {
    return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x);
}

// Which worker has seen it is chance, which block is not.
void keep_worse(WorstRequest& kept, const WorstRequest& other) {
    const bool worse = other.in_vain > kept.in_vain ||
                       (other.in_vain == kept.in_vain && is_before(other.block, kept.block));
    if (worse) kept = other;
}

}  // namespace

// The blocks that one worker runs, one after the other.
class Counter::Worker : private WarpEvents {
public:
    Worker(Listener* listener, const UnrolledLoops* unrolled, GlobalShadow* global)
        : listener_(listener),
          unrolled_(unrolled),
          global_(global),
          shadow_(order_of_block_),
          global_block_(order_of_block_) {
        if (unrolled != nullptr) unrollers_.resize(kMostWarps);
    }

    const FlowOrder& order() const { return order_; }

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
            copies_[warp].begin();
            if (unrolled_ != nullptr) unrollers_[warp].begin();
        }
        // Blocks of a cluster write each other's shared memory: GlobalShadow watches that.
        const dim3 cluster = configuration.cluster;
        shadowed_ = cluster.x * cluster.y * cluster.z == 1;
        const dim3 grid = configuration.grid;
        order_of_block_.begin_block(block.x + grid.x * (block.y + grid.y * block.z));
        if (shadowed_) shadow_.begin_block(block, shared_low, shared_high);
        if (global_ != nullptr) global_->begin_block(global_block_, shared_low, shared_high);
    }

    void accesses(unsigned warp, const cpu_device::WarpLogs& logs) {
        warp_ = warp;
        if (unrolled_ == nullptr) {
            requests_[warp].add(logs, order_, *this);
        } else {
            requests_[warp].add(unrollers_[warp].add(logs, *unrolled_), order_, *this);
        }
        end_fusion();
    }

    void warp_collective(unsigned warp, unsigned lanes, bool synchronizes) {
        warp_ = warp;
        (synchronizes ? warp_syncs_ : warp_exchanges_)++;
        requests_[warp].meet(lanes, synchronizes, *this);
    }

    void block_barrier() {
        barriers_++;
        shadow_.end_interval();
        if (global_ != nullptr) global_->end_interval(global_block_);
        order_of_block_.barrier();
    }

    // Whoever reads what has arrived must come behind the wait, not behind the copy's beginning alone.
    void copy_arrived(unsigned thread, uintptr_t address, unsigned bytes, uintptr_t place) {
        if (!shadowed_) return;
        Request request;
        request.place = place;
        request.kind = AccessKind::shared_copy;
        request.bytes = static_cast<uint16_t>(bytes);
        request.lanes = 1u << thread % kWarpSize;
        request.address[thread % kWarpSize] = address;
        shadow_.note(thread / kWarpSize, request);
    }

    void asynchronous(const cpu_device::AsynchronousEvent& event) {
        if (listener_ != nullptr) listener_->on_asynchronous(block_, event);
    }

    void end_block() {
        shadow_.end_interval();
        if (global_ != nullptr) global_->end_block(global_block_);
    }

    // Adds everything to `kernel`, and forgets it.
    void hand_over(KernelCounts& kernel, bool failed) {
        if (failed) shadow_.end_early();
        for (const auto& [site, of_site] : sites_) {
            kernel.sites[site] += of_site.counts;
            if (of_site.worst.in_vain != 0) keep_worse(kernel.worst[site], of_site.worst);
        }
        sites_.clear();
        last_ = nullptr;
        kernel.barriers += std::exchange(barriers_, 0);
        kernel.warp_syncs += std::exchange(warp_syncs_, 0);
        kernel.warp_exchanges += std::exchange(warp_exchanges_, 0);
        add_hazards(kernel.races, shadow_.take_races());
        kernel.all_signals_known = kernel.all_signals_known && shadow_.take_all_judged();
        add_hazards(kernel.uninitialized_reads, shadow_.take_uninitialized_reads());
    }

private:
    // Of each lane's copy the instruction, or a piece.
    void count_bulk(const Request& request) {
        Counts& counts = counts_of(request);
        if (request.bytes == 0) {
            const auto lanes = __builtin_popcount(request.lanes);
            counts.requests += lanes;
            counts.accesses += lanes;
            counts.unrolled_requests += lanes;
            return;
        }
        for (unsigned left = request.lanes; left != 0; left &= left - 1) {
            const unsigned bytes = request.is_outside ? 0 : request.bytes;
            counts.bytes += bytes;
            counts.useful_bytes += bytes;
            if (!is_bulk_of_global(request.kind)) continue;
            Request one = request;
            one.lanes = left & -left;
            const unsigned sectors = touched_by(one).sectors;
            counts.sectors += sectors;
            counts.unrolled_sectors += sectors;
        }
    }

    void on_request(const Request& request) override {
        if (cpu_device::is_bulk(request.kind)) {
            count_bulk(request);
            fusion_.end(fused_);
            count_fused();
            order_of_block_.count_request(warp_);
            if (request.bytes != 0 && !request.is_outside) tell(request);
            return;
        }
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
            note_worst(request, wavefronts.taken - wavefronts.fewest);
            fusion_.add(request, fused_);
        } else if (is_without_sectors(request.kind)) {
            counts.unrolled_requests++;
            fusion_.end(fused_);
        } else {
            const Touched touched = touched_by(request);
            counts.useful_bytes += touched.bytes;
            counts.sectors += touched.sectors;
            note_worst(request, touched.sectors * kSectorBytes - touched.bytes);
            counts.unrolled_requests++;
            counts.unrolled_sectors += touched.sectors;
            fusion_.end(fused_);
            note_copies(request);
        }
        count_fused();
        order_of_block_.count_request(warp_);
        tell(request);
    }

    void tell(const Request& request) {
        if (shadowed_) shadow_.note(warp_, request);
        if (global_ != nullptr) global_->note(global_block_, warp_, request);
        if (listener_ != nullptr) listener_->on_request(block_, warp_, request);
    }

    void note_worst(const Request& request, unsigned in_vain) {
        if (in_vain == 0 || in_vain <= last_->worst.in_vain) return;
        last_->worst = {request, block_, warp_, in_vain};
    }

    void note_copies(const Request& request) {
        if (request.kind == AccessKind::global_load) copies_[warp_].load(request);
        if (request.kind != AccessKind::shared_copy || request.is_through_cache) return;
        copies_[warp_].copy(request, [&](const Request& load, int more) {
            Counts& counts = counts_of(load);
            counts.sectors += more;
            counts.unrolled_sectors += more;
        });
    }

    void on_meeting(unsigned lanes, bool synchronizes) override {
        end_fusion();
        if (synchronizes) order_of_block_.warp_sync(warp_, lanes);
    }

    void on_signal(const WarpSignal& signal) override { order_of_block_.signal(warp_, signal); }

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
            if (listener_ != nullptr) listener_->on_fused_request(block_, warp_, request);
        }
        fused_.clear();
    }

    Counts& counts_of(const Request& request) {
        const Site site{request.place, request.kind};
        if (last_ == nullptr || !(last_site_ == site)) {
            last_ = &sites_[site];
            last_site_ = site;
        }
        return last_->counts;
    }

    Listener* listener_;
    const UnrolledLoops* unrolled_;
    GlobalShadow* global_;
    std::vector<WarpUnroller> unrollers_;  // by warp
    uint3 block_{};
    unsigned warp_ = 0;
    unsigned warp_count_ = 0;
    WarpRequests requests_[kMostWarps];
    AsynchronousCopies copies_[kMostWarps];
    FlowOrder order_;
    AccessFusion fusion_;
    std::vector<Request> fused_;
    BlockOrder order_of_block_;
    SharedShadow shadow_;
    bool shadowed_ = false;
    GlobalShadow::Block global_block_;
    struct OfSite {
        Counts counts;
        WorstRequest worst;
    };
    std::unordered_map<Site, OfSite, SiteHash> sites_;  // never moves its elements
    Site last_site_{};
    OfSite* last_ = nullptr;
    int64_t barriers_ = 0;
    int64_t warp_syncs_ = 0;
    int64_t warp_exchanges_ = 0;
};

namespace {

bool same_size(dim3 a, dim3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

}  // namespace

Counter::Counter(Listener* listener, const UnrolledLoops* unrolled, GlobalShadow* global)
    : listener_(listener), unrolled_(unrolled), global_(global), workers_(kMostWorkers) {}
Counter::~Counter() = default;

void Counter::begin_launch(const cpu_device::ObservedLaunch& launch) {
    KernelCounts& kernel = kernel_named(launch.kernel_name);
    if (kernel.launches++ == 0) kernel.configuration = launch.configuration;
    const dim3 grid = launch.configuration.grid;
    kernel.blocks += int64_t{grid.x} * grid.y * grid.z;
    kernel.launches_differ |= !same_size(grid, kernel.configuration.grid) ||
                              !same_size(launch.configuration.block, kernel.configuration.block);
    current_ = static_cast<size_t>(&kernel - kernels_.data());
    configuration_ = launch.configuration;
    const dim3 cluster = configuration_.cluster;
    if (global_ != nullptr) {
        global_->begin_launch(configuration_);
    } else if (cluster.x * cluster.y * cluster.z > 1) {
        kernel.clusters_watched = false;
    }
    if (listener_ != nullptr) listener_->on_launch(launch);
}

KernelCounts& Counter::kernel_named(const std::string& name) {
    for (KernelCounts& kernel : kernels_) {
        if (kernel.name == name) return kernel;
    }
    kernels_.emplace_back().name = name;
    return kernels_.back();
}

Loops Counter::loops() const {
    std::vector<const FlowOrder*> orders;
    for (const std::unique_ptr<Worker>& worker : workers_) {
        if (worker != nullptr) orders.push_back(&worker->order());
    }
    return Loops(orders);
}

void Counter::begin_block(unsigned worker, uint3 block, uintptr_t shared_low,
                          uintptr_t shared_high) {
    std::unique_ptr<Worker>& mine = workers_.at(worker);
    if (mine == nullptr) mine = std::make_unique<Worker>(listener_, unrolled_, global_);
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

void Counter::copy_arrived(unsigned worker, unsigned thread, uintptr_t address, unsigned bytes,
                           uintptr_t place) {
    workers_[worker]->copy_arrived(thread, address, bytes, place);
}

void Counter::asynchronous(unsigned worker, const cpu_device::AsynchronousEvent& event) {
    workers_[worker]->asynchronous(event);
}

void Counter::end_block(unsigned worker) {
    workers_[worker]->end_block();
}

void Counter::end_launch(bool failed) {
    KernelCounts& kernel = kernels_[current_];
    kernel.failed_launches += failed;
    for (const std::unique_ptr<Worker>& worker : workers_) {
        if (worker != nullptr) worker->hand_over(kernel, failed);
    }
    if (global_ != nullptr) global_->end_launch(kernel, failed);
}

void Counter::memory_allocated(uintptr_t low, size_t bytes, bool host_may_write) {
    if (global_ != nullptr) global_->memory_allocated(low, bytes, host_may_write);
}

size_t Counter::shadow_bytes(size_t bytes) const {
    return global_ == nullptr ? 0 : xray::GlobalShadow::shadow_bytes(bytes);
}

void Counter::memory_freed(uintptr_t low) {
    if (global_ != nullptr) global_->memory_freed(low);
}

void Counter::written_by_host(uintptr_t low, size_t bytes) {
    if (global_ != nullptr) global_->written_by_host(low, bytes);
}

}  // namespace xray
