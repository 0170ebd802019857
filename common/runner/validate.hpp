// SPDX-License-Identifier: MIT
// Every chosen variant against the fp64 reference and against the variant before it.
#pragma once
#include "common/runner/stage_run.hpp"
#include "common/runner/tensors.hpp"

namespace runner {

// Fills run.results.
void validate(StageRun& run);

// What the variant makes of the inputs. Waits for the device.
Tensors outputs_of(const Variant& variant, const View& inputs, const Shape& shape, DType dtype,
                   Poison over = Poison::nan);

// That, as it is judged.
Result result_of(const Variant& variant, const Tensors& outputs, const Shape& shape, DType dtype);

}  // namespace runner
