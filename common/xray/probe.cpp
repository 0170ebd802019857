// SPDX-License-Identifier: MIT
//
// The runner's probe: on the CPU device it counts.
#include <pthread.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "causes.hpp"
#include "common/cpu_device/failure.hpp"
#include "common/cpu_device/host_faults.hpp"
#include "common/cpu_device/host_line.hpp"
#include "common/cpu_device/launch.hpp"
#include "common/cpu_device/named_arrays.hpp"
#include "common/cpu_device/observer.hpp"
#include "common/cpu_device/strict.hpp"
#include "common/runner/probe.hpp"
#include "counter.hpp"
#include "global_shadow.hpp"
#include "last_writer.hpp"
#include "source_map.hpp"

namespace {

using xray::AccessKind;
using xray::index_of;

runner::Counts sums_of(const std::vector<xray::KernelCounts>& kernels) {
    const auto total = [&](AccessKind kind) { return xray::total(kernels, kind); };
    const xray::Counts loads = xray::global_loads(kernels);
    const xray::Counts stores = xray::global_stores(kernels);
    const xray::Counts shared_loads = total(AccessKind::shared_load);
    const xray::Counts shared_stores = total(AccessKind::shared_store);
    runner::Counts counts;
    counts.global_load_requests = loads.requests;
    counts.global_load_sectors = loads.sectors;
    counts.global_load_bytes = loads.bytes;
    counts.global_store_requests = stores.requests;
    counts.global_store_sectors = stores.sectors;
    counts.global_store_bytes = stores.bytes;
    counts.shared_bank_conflicts = shared_loads.conflicts + shared_stores.conflicts;
    counts.fused_bank_conflicts = shared_loads.fused_conflicts + shared_stores.fused_conflicts;
    return counts;
}

std::string thread_in_words(unsigned thread, dim3 threads) {
    return " by thread " + cpu_device::coordinates(index_of(thread, threads));
}

// In one sentence each.
std::vector<runner::Counts::Hazard> hazards_of(const std::vector<xray::KernelCounts>& kernels) {
    std::vector<runner::Counts::Hazard> found;
    const bool any =
        std::any_of(kernels.begin(), kernels.end(), [](const xray::KernelCounts& kernel) {
            return !kernel.races.empty() || !kernel.uninitialized_reads.empty();
        });
    if (!any) return found;  // looking up lines takes a program of its own
    const xray::SourceMap sources(kernels);
    const auto touch = [&](const xray::Toucher& toucher) {
        return (toucher.writes ? "written at " : "read at ") + sources.text_of(toucher.place);
    };
    for (const xray::KernelCounts& kernel : kernels) {
        const dim3 threads = kernel.configuration.block;
        const auto who = [&](const xray::Hazard& hazard, const xray::Toucher& toucher) {
            return thread_in_words(toucher.thread, threads) + " of block " +
                   cpu_device::coordinates(hazard.global ? toucher.block : hazard.block);
        };
        for (const xray::Cause& cause : xray::causes_of(kernel.races)) {
            const xray::Hazard& race = *cause.races.front();
            const std::string what =
                "race in " + std::string(race.global && !race.in_cluster ? "global" : "shared") +
                " memory: ";
            const size_t more = cause.races.size() - 1;
            const std::string missing = cause.same_value
                                            ? ", the same value, which looks harmless"
                                            : ", " + xray::what_is_missing(cause) +
                                                  (more == 0 ? ""
                                                             : ", as for " + std::to_string(more) +
                                                                   " more pairs of accesses");
            found.push_back({what + touch(race.first) + who(race, race.first) + " and " +
                                 touch(race.second) + who(race, race.second) + missing,
                             what + touch(race.first) + touch(race.second), cause.same_value});
        }
        for (const xray::Hazard& read : kernel.uninitialized_reads) {
            const std::string what = std::string(read.global ? "global" : "shared") +
                                     " memory that nobody has written is " + touch(read.second);
            found.push_back({what + who(read, read.second), what});
        }
    }
    return found;
}

// "3 x 33 = 99 elements".
std::string size_in_words(const std::vector<int64_t>& dims) {
    std::string text;
    int64_t elements = 1;
    for (const int64_t dim : dims) {
        text += (text.empty() ? "" : " x ") + std::to_string(dim);
        elements *= dim;
    }
    return (dims.size() > 1 ? text + " = " : "") + std::to_string(elements) +
           (elements == 1 ? " element" : " elements");
}

bool any_cluster_unwatched(const std::vector<xray::KernelCounts>& kernels) {
    return std::any_of(kernels.begin(), kernels.end(),
                       [](const xray::KernelCounts& kernel) { return !kernel.clusters_watched; });
}

class CountingProbe : public runner::Probe {
public:
    void start() override {
        counting_.reset();
        global_.reset();
        if (watches_global_memory_) global_ = std::make_unique<xray::GlobalShadow>();
        counter_.emplace(writer_.get(), nullptr, global_.get());
        counting_.emplace(*counter_);
    }

    std::optional<runner::Counts> stop() override {
        counting_.reset();
        if (!counter_) return std::nullopt;
        runner::Counts counts = sums_of(counter_->kernels());
        counts.hazards = hazards_of(counter_->kernels());
        counts.global_watched = global_ != nullptr;
        counts.in_clusters = any_cluster_unwatched(counter_->kernels());
        counter_.reset();
        return counts;
    }

    void watch_global_memory() override { watches_global_memory_ = true; }

    void forget_written(const void* low, size_t bytes) override {
        if (global_) global_->memory_allocated(reinterpret_cast<uintptr_t>(low), bytes, false);
    }

    void run_only_ends_of_grids(uint64_t fewest_blocks) override {
        ends_.reset();
        if (fewest_blocks > 0) ends_.emplace(fewest_blocks);
    }

    void name_arrays(const std::vector<Array>& arrays) override {
        std::vector<cpu_device::NamedArray> named;
        for (const Array& each : arrays)
            named.push_back({reinterpret_cast<uintptr_t>(each.low), each.element_bytes, each.name,
                             size_in_words(each.dims)});
        cpu_device::name_arrays(std::move(named));
    }

    void follow(const void* low, size_t bytes) override {
        writer_ = std::make_unique<xray::LastWriter>(reinterpret_cast<uintptr_t>(low), bytes);
    }
    std::string last_writer() override {
        const auto writer = std::move(writer_);
        return writer == nullptr ? "" : writer->text();
    }

    cudaStream_t begin_launcher(cudaStream_t given) override {
        launcher_.emplace();
        calls_launcher_ = pthread_self();
        if (given != nullptr) return given;
        if (stream_ == nullptr) {
            cpu_device::explain_host_faults();
            cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
        }
        return stream_;
    }
    bool end_launcher() override {
        const std::string found = launcher_ ? launcher_->found() : "";
        launcher_.reset();
        if (!found.empty()) cpu_device::tell(found);
        return found.empty();
    }

    Kernels kernels() override {
        return {cpu_device::launches_begun(), cpu_device::is_launch_running()};
    }
    std::string launcher_line() override { return cpu_device::line_of_thread(calls_launcher_); }

    void keep_errors(bool kept) override { cpu_device::print_errors(!kept); }
    std::string take_error() override { return cpu_device::take_last_error(); }

private:
    bool watches_global_memory_ = false;
    std::optional<cpu_device::EndOfGrids> ends_;
    std::optional<cpu_device::LauncherWatch> launcher_;
    pthread_t calls_launcher_{};
    cudaStream_t stream_ = nullptr;  // of the launcher's, once there was one
    std::unique_ptr<xray::LastWriter> writer_;
    std::unique_ptr<xray::GlobalShadow> global_;
    std::optional<xray::Counter> counter_;
    std::optional<xray::Counting> counting_;
};

}  // namespace

runner::Probe& runner::probe() {
    static CountingProbe probe;
    return probe;
}
