// SPDX-License-Identifier: MIT
#include "common/course/check/count.hpp"

#include <algorithm>

#include "common/runner/launcher.hpp"
#include "common/runner/tensors.hpp"
#include "common/xray/counter.hpp"
#include "common/xray/source_map.hpp"

namespace course {
namespace {

using xray::AccessKind;
using xray::KernelCounts;

// Counts what kernels do, and notes what is done without one: nothing of that is counted.
class KernelCounter : public xray::Counter {
public:
    bool has_seen_copies() const { return copies_; }

    void written_by_host(uintptr_t low, size_t bytes) override {
        copies_ = true;
        Counter::written_by_host(low, bytes);
    }
    void read_by_host(uintptr_t, size_t, bool) override { copies_ = true; }

private:
    bool copies_ = false;
};

double ratio(double a, double b) {
    return b == 0 ? 0 : a / b;
}

// The sum over all kernels of what `of` says of one instruction's counts of that kind, with the lines it stands on;
// divided by `by`.
template <class Of>
Counted summed(const std::vector<KernelCounts>& kernels, const xray::SourceMap& sources,
               AccessKind kind, double by, Of of) {
    Counted counted;
    std::map<std::string, double> lines;
    for (const KernelCounts& kernel : kernels) {
        for (const auto& [site, counts] : kernel.sites) {
            if (site.kind != kind) continue;
            const double part = ratio(static_cast<double>(of(counts)), by);
            counted.value += part;
            if (part != 0) lines[sources.text_of(site.place)] += part;
        }
    }
    counted.lines.assign(lines.begin(), lines.end());
    std::stable_sort(counted.lines.begin(), counted.lines.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return counted;
}

Counted joined(Counted one, const Counted& other) {
    one.value += other.value;
    one.lines.insert(one.lines.end(), other.lines.begin(), other.lines.end());
    std::stable_sort(one.lines.begin(), one.lines.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return one;
}

// Sectors per request over all, and the lines by their own ratio.
Counted sectors_per_request(const std::vector<KernelCounts>& kernels,
                            const xray::SourceMap& sources, AccessKind kind) {
    Counted counted;
    std::map<std::string, xray::Counts> lines;
    xray::Counts all;
    for (const KernelCounts& kernel : kernels) {
        for (const auto& [site, counts] : kernel.sites) {
            if (site.kind != kind) continue;
            lines[sources.text_of(site.place)] += counts;
            all += counts;
        }
    }
    const auto of = [](const xray::Counts& counts) {
        return ratio(static_cast<double>(counts.sectors), static_cast<double>(counts.requests));
    };
    counted.value = of(all);
    for (const auto& [line, counts] : lines) counted.lines.emplace_back(line, of(counts));
    std::stable_sort(counted.lines.begin(), counted.lines.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return counted;
}

Counts counts_of(const std::vector<KernelCounts>& kernels, double bytes) {
    const xray::SourceMap sources(kernels);
    const auto sum = [&](AccessKind kind, double by, auto of) {
        return summed(kernels, sources, kind, by, of);
    };
    const auto requests = [](const xray::Counts& each) { return each.requests; };
    const auto asked = [](const xray::Counts& each) { return each.bytes; };
    const auto conflicts = [](const xray::Counts& each) { return each.conflicts; };
    Counts counts;
    for (const Measure& measure : all_measures()) counts[measure.name];
    counts["loads"] = sum(AccessKind::global_load, bytes, asked);
    counts["stores"] = sum(AccessKind::global_store, bytes, asked);
    counts["load_requests"] = sum(AccessKind::global_load, 1, requests);
    counts["store_requests"] = sum(AccessKind::global_store, 1, requests);
    counts["load_sectors"] = sectors_per_request(kernels, sources, AccessKind::global_load);
    counts["store_sectors"] = sectors_per_request(kernels, sources, AccessKind::global_store);
    counts["shared_requests"] = joined(sum(AccessKind::shared_load, 1, requests),
                                       sum(AccessKind::shared_store, 1, requests));
    counts["bank_conflicts"] = joined(sum(AccessKind::shared_load, 1, conflicts),
                                      sum(AccessKind::shared_store, 1, conflicts));
    for (const KernelCounts& kernel : kernels) {
        const auto warps = static_cast<double>(kernel.blocks) *
                           ((kernel.configuration.block.x * kernel.configuration.block.y *
                                 kernel.configuration.block.z +
                             31) /
                            32);
        counts["barriers"].value +=
            ratio(static_cast<double>(kernel.barriers), static_cast<double>(kernel.blocks));
        counts["exchanges"].value += ratio(static_cast<double>(kernel.warp_exchanges), warps);
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
    KernelCounter counter;
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
    return counts_of(counter.kernels(), bytes);
}

}  // namespace course
