// SPDX-License-Identifier: MIT
#include "counted_variant.hpp"

#include <cstdlib>
#include <functional>
#include <utility>

#include "count_unrolled.hpp"
#include "counter.hpp"
#include "recorded_loops.hpp"
#include "variant_run.hpp"

namespace xray {

CountedVariant count(const std::string& stage, const runner::Variant& variant,
                     const runner::Shape& shape, runner::DType dtype) {
    VariantRun run(variant, shape, dtype);
    Counter counter;
    {
        const Counting counting(counter);
        run();
    }
    std::vector<KernelCounts> kernels = counter.kernels();
    SourceMap sources(kernels);
    count_unrolled(kernels, counter.loops(), std::ref(run),
                   [&](const KernelCounts&, const Site& site) {
                       return recorded_loops().find(sources, site);
                   });
    return {{std::move(kernels), std::move(sources), variant.shared_accesses_fuse},
            stage,
            &variant,
            shape,
            dtype};
}

runner::Traffic CountedVariant::traffic() const {
    const auto per_element = [&](AccessKind kind) {
        const auto bytes = static_cast<double>(total(kernels, kind).bytes);
        return bytes / static_cast<double>(runner::size_of(dtype)) /
               static_cast<double>(variant->operation->elements(shape));
    };
    return {per_element(AccessKind::global_load), per_element(AccessKind::global_store)};
}

bool traffic_agrees(const CountedVariant& counted) {
    const runner::Variant& variant = *counted.variant;
    const runner::Operation& operation = *variant.operation;
    const auto bytes =
        static_cast<double>(runner::workspace_of(variant, counted.shape, counted.dtype));
    const double scratch = bytes / static_cast<double>(runner::size_of(counted.dtype)) /
                           static_cast<double>(operation.elements(counted.shape));
    // Scratch is written once, and read by every block of its part of the problem: no more blocks than it
    // has floats there.
    const double scratch_reads =
        scratch * bytes / sizeof(float) / static_cast<double>(operation.parts(counted.shape));
    const runner::Traffic more = operation.tolerance(counted.shape, counted.dtype);

    const auto agrees = [](double found, double declared, double beyond) {
        constexpr double kRounding = 1e-9;
        return found >= declared - kRounding && found <= declared + beyond + kRounding;
    };
    const runner::Traffic declared = counted.declared(), found = counted.traffic();
    return agrees(found.loads, declared.loads, scratch_reads + more.loads) &&
           agrees(found.stores, declared.stores, scratch + more.stores);
}

int64_t counted_conflicts(const CountedVariant& counted, AccessKind kind) {
    return counted.compiled(total(counted.kernels, kind)).conflicts;
}

int64_t recorded_conflicts(const RecordedVariant& recorded, const CountedVariant& counted,
                           AccessKind kind) {
    const std::string name = kind == AccessKind::shared_load ? "shared_load" : "shared_store";
    const auto sum = [&](const char* what) {
        return static_cast<int64_t>(recorded.sum(name + what));
    };
    const SharedCost cost = counted.compiled(total(counted.kernels, kind));
    if (cost.requests == 0) return sum("_wavefronts");
    const int64_t fewest = cost.wavefronts - cost.conflicts;
    // The compiled kernel may have other requests than were counted: some of each kind, where it keeps in
    // registers what was written; or a reduction's, of one wavefront each. Taken as what fits better.
    const int64_t of_each = sum("_wavefronts") - sum("_requests") * fewest / cost.requests;
    const int64_t of_one = sum("_wavefronts") - (fewest + sum("_requests") - cost.requests);
    return std::abs(of_each - cost.conflicts) < std::abs(of_one - cost.conflicts) ? of_each
                                                                                  : of_one;
}

}  // namespace xray
