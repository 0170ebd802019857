// SPDX-License-Identifier: MIT
#include "common/runner/stage.hpp"

namespace runner {
namespace {

// The first of them.
const Optional* beyond_options(const Variant& variant, const Shape& shape,
                               const std::vector<Optional>& optional) {
    for (const Optional& each : optional) {
        const bool usual = value_of(*variant.operation, shape, each.name, each.usual) == each.usual;
        if (!usual && !takes(variant, each.name)) return &each;
    }
    return nullptr;
}

}  // namespace

bool is_beyond_options(const Variant& variant, const Shape& shape) {
    return beyond_options(variant, shape, variant.operation->optional()) != nullptr;
}

std::string obstacle_of(const Variant& variant, const Shape& shape, DType dtype) {
    if (!takes(variant, dtype)) return "takes " + names_of(variant.dtypes) + " only";
    if (!has(*variant.operation, dtype)) {
        return variant.operation->name() + " has " + names_of(variant.operation->dtypes()) +
               " only";
    }
    if (!variant.operation->has_shape(shape))
        return variant.operation->name() + " has no such shape";
    const std::vector<Optional> optional = variant.operation->optional();
    if (const Optional* beyond = beyond_options(variant, shape, optional)) return beyond->refusal;
    return variant.obstacle ? variant.obstacle(shape, dtype) : "";
}

Traffic traffic_beyond(const Variant& variant, const Shape& shape, DType dtype) {
    const Operation& operation = *variant.operation;
    const auto bytes = static_cast<double>(workspace_of(variant, shape, dtype));
    const double scratch = bytes / static_cast<double>(size_of(dtype)) /
                           static_cast<double>(operation.elements(shape));
    // Scratch is written once, and read by every block of its part of the problem: no more blocks than it
    // has floats there.
    const double scratch_reads =
        scratch * bytes / sizeof(float) / static_cast<double>(operation.parts(shape));
    const Traffic tolerance = operation.tolerance(shape, dtype);
    const Traffic more =
        variant.more_traffic_at ? variant.more_traffic_at(shape, dtype) : Traffic{};
    return {more.loads + tolerance.loads + scratch_reads, more.stores + tolerance.stores + scratch};
}

bool is_traffic_of(const Variant& variant, const Shape& shape, DType dtype,
                   const Traffic& counted) {
    const auto agrees = [](double found, double declared, double beyond) {
        constexpr double kRounding = 1e-9;
        return found >= declared - kRounding && found <= declared + beyond + kRounding;
    };
    const Traffic declared = traffic_of(variant, shape, dtype);
    const Traffic beyond = traffic_beyond(variant, shape, dtype);
    return agrees(counted.loads, declared.loads, beyond.loads) &&
           agrees(counted.stores, declared.stores, beyond.stores);
}

Shape usual_shape_of(const Variant& variant) {
    const Shape usual = variant.operation->usual_shape();
    const DType dtype = variant.dtypes.front();
    if (obstacle_of(variant, usual, dtype).empty()) return usual;
    for (const Shape& shape : variant.operation->held_at()) {
        if (obstacle_of(variant, shape, dtype).empty()) return shape;
    }
    const Shape plain(usual.sizes());
    if (variant.nearest) return variant.nearest(plain);
    return obstacle_of(variant, plain, dtype).empty() ? plain : usual;
}

Shape small_shape_of(const Variant& variant) {
    Extent extent;
    extent.quick = true;
    for (const Shape& shape : variant.operation->validated_at(extent)) {
        if (obstacle_of(variant, shape, variant.dtypes.front()).empty()) return shape;
    }
    return usual_shape_of(variant);
}

std::vector<const Operation*> operations_of(const std::vector<const Stage*>& stages,
                                            const std::string& name) {
    std::vector<const Operation*> operations;
    for (const Stage* stage : stages) {
        for (const Variant& variant : stage->variants) {
            if (!name.empty() && variant.name != name) continue;
            const bool known = std::find(operations.begin(), operations.end(), variant.operation) !=
                               operations.end();
            if (!known) operations.push_back(variant.operation);
        }
    }
    return operations.empty() && !name.empty() ? operations_of(stages) : operations;
}

std::vector<NamedInput> named_inputs(const std::vector<const Stage*>& stages) {
    std::vector<NamedInput> inputs;
    for (const Operation* operation : operations_of(stages)) {
        for (const NamedInput& input : operation->inputs()) {
            const bool known = std::any_of(inputs.begin(), inputs.end(), [&](const auto& each) {
                return each.name == input.name;
            });
            if (!known) inputs.push_back(input);
        }
    }
    return inputs;
}

}  // namespace runner
