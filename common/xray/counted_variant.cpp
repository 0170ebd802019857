// SPDX-License-Identifier: MIT
#include "counted_variant.hpp"

#include <cstdlib>

#include "counter.hpp"
#include "variant_run.hpp"

namespace xray {

CountedVariant count(const std::string& stage, const runner::Variant& variant, runner::Shape shape,
                     runner::DType dtype) {
    VariantRun run(variant, shape, dtype);
    Counter counter;
    {
        const Counting counting(counter);
        run();
    }
    const std::vector<KernelCounts>& kernels = counter.kernels();
    return {stage, &variant, shape, dtype, kernels, SourceMap(kernels)};
}

runner::Traffic CountedVariant::traffic() const {
    const auto per_element = [&](AccessKind kind) {
        const auto bytes = static_cast<double>(total(kernels, kind).bytes);
        return bytes / static_cast<double>(runner::size_of(dtype)) /
               static_cast<double>(runner::elements(shape));
    };
    return {per_element(AccessKind::global_load), per_element(AccessKind::global_store)};
}

bool traffic_agrees(const CountedVariant& counted) {
    const runner::Variant& variant = *counted.variant;
    const auto elements = static_cast<double>(runner::elements(counted.shape));
    const auto rows = static_cast<double>(counted.shape.rows);
    const auto bytes =
        static_cast<double>(runner::workspace_of(variant, counted.shape, counted.dtype));
    const double scratch = bytes / static_cast<double>(runner::size_of(counted.dtype)) / elements;
    // Scratch is written once, and read by every block of its row: no more blocks than it has
    // floats there. A result per row is declared as no store at all.
    const double scratch_reads = scratch * bytes / sizeof(float) / rows;
    const double results =
        variant.operation == runner::Operation::log_sum_exp ? rows / elements : 0;
    const double in_pack = 16 / static_cast<double>(runner::size_of(counted.dtype));
    const double behind_diagonal = variant.operation == runner::Operation::causal_softmax
                                       ? rows * (in_pack - 1) / elements
                                       : 0;

    const auto agrees = [](double found, double declared, double more) {
        constexpr double kRounding = 1e-9;
        return found >= declared - kRounding && found <= declared + more + kRounding;
    };
    const runner::Traffic declared = counted.declared(), found = counted.traffic();
    return agrees(found.loads, declared.loads, scratch_reads + behind_diagonal) &&
           agrees(found.stores, declared.stores, scratch + results);
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
