// SPDX-License-Identifier: MIT
#pragma once
#include "common/runner/stage_run.hpp"

namespace runner {

// Whether a learner's launcher finds the last of more than 2^31, and of more than 2^32, elements: on the CPU device,
// where the last block of the grid runs alone on memory that need not be there. An index that has wrapped in 32 bits is a
// failure. Results are not compared, since a block may need those of the blocks before it. Only operations on rows and
// columns, and launchers whose grid grows with the rows; nothing where shapes were asked for.
void validate_far(StageRun& run, const Operation& family, DType dtype);

}  // namespace runner
