// SPDX-License-Identifier: MIT
#include "counter.hpp"
#include "report.hpp"
#include "variant_run.hpp"

namespace xray {

CountedVariant count(const std::string& stage, const runner::Variant& variant,
                     runner::Shape shape) {
    VariantRun run(variant, shape);
    Counter counter;
    {
        const Counting counting(counter);
        run();
    }
    const std::vector<KernelCounts>& kernels = counter.kernels();
    return {stage, &variant, shape, kernels, SourceMap(kernels)};
}

runner::Traffic CountedVariant::traffic() const {
    const auto per_element = [&](AccessKind kind) {
        return static_cast<double>(total(kernels, kind).bytes) / sizeof(float) /
               static_cast<double>(runner::elements(shape));
    };
    return {per_element(AccessKind::global_load), per_element(AccessKind::global_store)};
}

bool traffic_agrees(const CountedVariant& counted) {
    const runner::Variant& variant = *counted.variant;
    const size_t workspace = variant.workspace_bytes ? variant.workspace_bytes(counted.shape) : 0;
    // Written once, and read by every block of its row: at most as often as there are blocks in it.
    const auto rows = static_cast<double>(counted.shape.rows);
    const double elements = static_cast<double>(runner::elements(counted.shape));
    const double scratch = static_cast<double>(workspace) / sizeof(float);
    const double result_per_row = rows;
    const double blocks_per_row = scratch / rows;
    const double load_slack = scratch * blocks_per_row / elements;
    const double store_slack = (scratch + result_per_row) / elements;
    const runner::Traffic traffic = counted.traffic();
    const auto agrees = [](double counted, double declared, double slack) {
        constexpr double kRounding = 1e-9;
        return counted >= declared - kRounding && counted <= declared + slack + kRounding;
    };
    return agrees(traffic.loads, variant.traffic.loads, load_slack) &&
           agrees(traffic.stores, variant.traffic.stores, store_slack);
}

}  // namespace xray
