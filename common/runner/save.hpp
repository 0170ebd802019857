// SPDX-License-Identifier: MIT
// `--save-output`.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "common/runner/stage_run.hpp"

namespace runner {

// The results of the first chosen variant by their operands' names, and the file for each: the first goes to the
// one that was asked for, others beside it as NAME.OPERAND.npy.
std::vector<std::pair<std::string, std::string>> output_files(const StageRun& run);

// Writes what that variant makes of the first case.
void save_output(StageRun& run);

}  // namespace runner
