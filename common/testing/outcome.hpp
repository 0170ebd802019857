// SPDX-License-Identifier: MIT
// A variant run once on given inputs, and what its operation's checker says of it: what every family's
// properties are made of.
#pragma once
#include <string>
#include <utility>

#include "common/runner/launcher.hpp"
#include "common/runner/tensors.hpp"
#include "common/testing/catch.hpp"

namespace testing {

struct Outcome {
    runner::Tensors outputs;
    runner::Report report;  // against the reference
};

// Outputs are poisoned before.
inline Outcome outcome_of(const runner::Variant& variant, const runner::Tensors& inputs,
                          const runner::Shape& shape, runner::DType dtype) {
    const runner::Operation& operation = *variant.operation;
    runner::Tensors outputs = poisoned_outputs(operation, shape, dtype, inputs.view());
    runner::Launcher(variant, shape, dtype, inputs.view(), outputs.view())();
    runner::check_cuda(cudaDeviceSynchronize(), "running " + variant.name);
    runner::Report report =
        operation.check(shape, dtype, inputs.view(),
                        {&operation, arithmetic_of(variant, shape, dtype), outputs.view()});
    return {std::move(outputs), std::move(report)};
}

// On a named input.
inline void matches_reference(const runner::Variant& variant, const std::string& input,
                              const runner::Shape& shape, runner::DType dtype) {
    INFO(input << ", " << text_of(shape));
    const runner::Report report =
        outcome_of(variant, filled_inputs(*variant.operation, shape, dtype, input, 1), shape, dtype)
            .report;
    INFO(describe(report));
    CHECK((report.good() || (is_open_on(variant, input) && report.mismatches == 0)));
}
// The same where the variant takes it; whether it does.
inline bool matches_reference_where_taken(const runner::Variant& variant, const std::string& input,
                                          const runner::Shape& shape, runner::DType dtype) {
    if (!obstacle_of(variant, shape, dtype).empty()) return false;
    matches_reference(variant, input, shape, dtype);
    return true;
}

// Every named input at the course's shapes and more, as far as the variant takes them; and the same bits again.
inline void matches_reference_at_all_shapes(const runner::Variant& variant, runner::DType dtype,
                                            const std::vector<runner::Shape>& more = {}) {
    INFO(variant.name << ", " << name_of(dtype));
    const runner::Operation& operation = *variant.operation;
    int taken = 0;
    std::vector<runner::Shape> shapes = operation.validated_at({});
    shapes.insert(shapes.end(), more.begin(), more.end());
    for (const runner::Shape& shape : shapes) {
        if (is_beyond_options(variant, shape)) continue;
        for (const runner::NamedInput& input : operation.inputs())
            taken += matches_reference_where_taken(variant, input.name, shape, dtype) ? 1 : 0;
    }
    CHECK(taken > 0);
    const runner::Shape shape = usual_shape_of(variant);
    const runner::Tensors inputs =
        filled_inputs(operation, shape, dtype, operation.usual_input(), 1);
    const Outcome once = outcome_of(variant, inputs, shape, dtype);
    const Outcome again = outcome_of(variant, inputs, shape, dtype);
    for (const runner::Operand& output : once.outputs.operands())
        CHECK(once.outputs.values(output.name) == again.outputs.values(output.name));
}

}  // namespace testing
