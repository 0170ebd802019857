// SPDX-License-Identifier: MIT
// `--save-output`.
#pragma once
#include "common/runner/stage_run.hpp"

namespace runner {

// Writes what the first chosen variant makes of the first case: its first result to the file that was asked
// for, others beside it as NAME.OPERAND.npy.
void save_output(StageRun& run);

}  // namespace runner
