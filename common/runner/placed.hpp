// SPDX-License-Identifier: MIT
#pragma once
#include "common/runner/stage_run.hpp"

namespace runner {

// Checks a learner's launcher where operands lie at odd addresses, and an output over an input: at a few shapes,
// with guards around the memory. Unless shapes were asked for.
void validate_placed(StageRun& run, const Operation& family, DType dtype);

}  // namespace runner
