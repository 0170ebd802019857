// SPDX-License-Identifier: MIT
#include "common/course/check/count.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <mutex>
#include <tuple>

#include "common/runner/launcher.hpp"
#include "common/runner/tensors.hpp"
#include "common/xray/counter.hpp"
#include "common/xray/source_map.hpp"

namespace course {
namespace {

using xray::AccessKind;
using xray::KernelCounts;

double ratio(double a, double b) {
    return b == 0 ? 0 : a / b;
}

// What one line of the source has of a count.
struct Part {
    double value = 0;
    int64_t accesses = 0, requests = 0;
};
using Lines = std::map<std::string, Part>;

// "my/03.3.cuh:44"; of what a collective of CUB does, the line that calls it: "my/03.3.cuh:44 (by CUB)".
std::string line_text(const xray::SourceMap& sources, uintptr_t place) {
    return sources.text_of(place) + (sources.in_cub(place) ? " (by CUB)" : "");
}

// Their sum, and the lines in order.
Counted counted(const Lines& lines) {
    Counted counted;
    double most = 0;
    for (const auto& [line, part] : lines) {
        counted.value += part.value;
        counted.lines.emplace_back(line, part.value);
        if (part.value <= most) continue;
        most = part.value;
        counted.lanes =
            ratio(static_cast<double>(part.accesses), static_cast<double>(part.requests));
    }
    std::stable_sort(counted.lines.begin(), counted.lines.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return counted;
}

// The requests of each warp, by its place in the launch.
class WarpListener : public xray::Listener {
public:
    void on_launch(const cpu_device::ObservedLaunch&) override { ++launch_; }
    void on_request(uint3 block, unsigned warp, const xray::Request& request) override {
        if (request.kind == AccessKind::shared_copy) return;  // the second half of a load
        const std::lock_guard<std::mutex> lock(mutex_);
        Places& places = warps_[{launch_, block.z, block.y, block.x, warp}];
        ++places[request.place];
    }
    void on_fused_request(uint3, unsigned, const xray::Request&) override {}

    // Of the warp that makes the most.
    Counted busiest(const xray::SourceMap& sources) const {
        const Places* most = nullptr;
        int64_t sum = 0;
        for (const auto& [warp, places] : warps_) {
            int64_t of_warp = 0;
            for (const auto& [place, requests] : places) of_warp += requests;
            if (of_warp > sum) most = &places;
            sum = std::max(sum, of_warp);
        }
        Lines lines;
        if (most != nullptr) {
            for (const auto& [place, requests] : *most)
                lines[line_text(sources, place)].value += static_cast<double>(requests);
        }
        return counted(lines);
    }

private:
    using Places = std::map<uintptr_t, int64_t>;
    int launch_ = 0;
    std::mutex mutex_;
    std::map<std::tuple<int, unsigned, unsigned, unsigned, unsigned>, Places> warps_;
};

// Counts what kernels do, and notes what is done without one: nothing of that is counted.
class KernelCounter : public xray::Counter {
public:
    using Counter::Counter;
    bool has_seen_copies() const { return copies_; }

    void written_by_host(uintptr_t low, size_t bytes) override {
        copies_ = true;
        Counter::written_by_host(low, bytes);
    }
    void read_by_host(uintptr_t, size_t, bool) override { copies_ = true; }

private:
    bool copies_ = false;
};

// The sum over all kernels of what `of` says of one instruction's counts of those kinds, divided by `by`, with the lines
// it stands on.
template <class Of>
Counted summed(const std::vector<KernelCounts>& kernels, const xray::SourceMap& sources,
               std::initializer_list<AccessKind> kinds, double by, Of of) {
    Lines lines;
    for (const KernelCounts& kernel : kernels) {
        for (const auto& [site, counts] : kernel.sites) {
            if (std::find(kinds.begin(), kinds.end(), site.kind) == kinds.end()) continue;
            const double part = ratio(static_cast<double>(of(counts)), by);
            if (part == 0) continue;
            Part& line = lines[line_text(sources, site.place)];
            line.value += part;
            line.accesses += counts.accesses;
            line.requests += counts.requests;
        }
    }
    return counted(lines);
}

Counts counts_of(const std::vector<KernelCounts>& kernels, const WarpListener& warps,
                 double bytes) {
    const xray::SourceMap sources(kernels);
    using Kind = AccessKind;
    const auto sum = [&](std::initializer_list<Kind> kinds, auto of, double by = 1) {
        return summed(kernels, sources, kinds, by, of);
    };
    const auto requests = [](const xray::Counts& each) { return each.requests; };
    const auto accesses = [](const xray::Counts& each) { return each.accesses; };
    const auto asked = [](const xray::Counts& each) { return each.bytes; };
    const auto sectors = [](const xray::Counts& each) { return each.sectors; };
    const auto conflicts = [](const xray::Counts& each) { return each.conflicts; };
    Counts counts;
    for (const Measure& measure : all_measures()) counts[measure.name];
    counts["loads"] = sum({Kind::global_load}, asked, bytes);
    counts["stores"] = sum({Kind::global_store}, asked, bytes);
    counts["atomics"] =
        sum({Kind::global_atomic, Kind::shared_atomic, Kind::remote_atomic, Kind::constant_atomic},
            accesses);
    counts["load_requests"] = sum({Kind::global_load}, requests);
    counts["store_requests"] = sum({Kind::global_store}, requests);
    counts["busiest_warp"] = warps.busiest(sources);
    counts["load_sectors"] = sum({Kind::global_load}, sectors);
    counts["store_sectors"] = sum({Kind::global_store}, sectors);
    counts["shared_requests"] = sum({Kind::shared_load, Kind::shared_store}, requests);
    counts["bank_conflicts"] = sum({Kind::shared_load, Kind::shared_store}, conflicts);
    for (const KernelCounts& kernel : kernels) {
        const auto of_kernel = static_cast<double>(kernel.blocks) *
                               ((kernel.configuration.block.x * kernel.configuration.block.y *
                                     kernel.configuration.block.z +
                                 31) /
                                32);
        counts["barriers"].value +=
            ratio(static_cast<double>(kernel.barriers), static_cast<double>(kernel.blocks));
        counts["exchanges"].value += ratio(static_cast<double>(kernel.warp_exchanges), of_kernel);
        counts["launches"].value += static_cast<double>(kernel.launches);
    }
    return counts;
}

}  // namespace

Counts count_launch(const runner::Variant& variant, const runner::Shape& shape, runner::DType dtype,
                    uint64_t seed) {
    const runner::Operation& operation = *variant.operation;
    const runner::Tensors inputs =
        filled_inputs(operation, shape, dtype, operation.usual_input(), seed);
    const runner::Tensors outputs = poisoned_outputs(operation, shape, dtype, inputs.view());
    runner::Launcher launch(variant, shape, dtype, inputs.view(), outputs.view());
    WarpListener warps;
    KernelCounter counter(&warps);
    {
        const xray::Counting counting(counter);
        launch();
        runner::check_cuda(cudaDeviceSynchronize(), "running " + variant.name);
    }
    if (counter.has_seen_copies()) {
        throw runner::LauncherError(
            variant.name +
                "() copies or fills memory without a kernel: here kernels do all the work",
            "copies");
    }
    if (counter.kernels().empty())
        throw runner::LauncherError(variant.name + "() launches no kernel", "no kernel");
    const auto bytes = static_cast<double>(runner::size_of(dtype)) *
                       static_cast<double>(operation.elements(shape));
    return counts_of(counter.kernels(), warps, bytes);
}

}  // namespace course
