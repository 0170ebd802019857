// SPDX-License-Identifier: MIT
// What every kernel on tokens' rows must hold, whatever it is: one call per variant in a stage's test.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "common/operations/tokens/check.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/outcome.hpp"

namespace testing {

using runner::DType;
using runner::Variant;

// A row's results do not depend on which others there are.
inline void rows_are_independent(const Variant& variant, DType dtype) {
    const runner::Operation& operation = *variant.operation;
    const runner::Shape usual = usual_shape_of(variant);
    runner::Shape one = usual, many = usual;
    const int64_t hidden = usual[1];
    one = operations::tokens::Shape(1, hidden, operations::tokens::Shape(usual).activation);
    many = operations::tokens::Shape(7, hidden, operations::tokens::Shape(usual).activation);
    const runner::Tensors inputs =
        filled_inputs(operation, many, dtype, operations::tokens::kNormal, 1);
    const std::vector<double> all = outcome_of(variant, inputs, many, dtype).outputs.values("y");
    // Row 0 has the same inputs where there is no other.
    const std::vector<double> first = outcome_of(variant, inputs, one, dtype).outputs.values("y");
    CHECK(first == std::vector<double>(all.begin(), all.begin() + hidden));
}

inline void holds_every_tokens_property(const Variant& variant, DType dtype) {
    INFO(variant.name << ", " << name_of(dtype));
    matches_reference_at_all_shapes(variant, dtype);
    rows_are_independent(variant, dtype);
}

}  // namespace testing
