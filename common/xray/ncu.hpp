// SPDX-License-Identifier: MIT
//
// The verb `ncu`: has Nsight Compute read a GPU's counters for every variant, and keeps them.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "common/runner/run.hpp"
#include "common/runner/stage.hpp"
#include "recorded.hpp"

namespace xray {

// What `ncu --csv --page raw --print-units base` wrote: a kernel per launch. Metrics that are not
// ours are left out. Throws std::runtime_error, with what ncu said, where there is no table in it.
std::vector<RecordedKernel> parse_ncu_output(const std::string& text);

// Runs `program` once for each variant and type, under ncu, with launch_words() behind it.
runner::ExitCode record_counters(const std::vector<runner::Stage>& stages,
                                 const NcuOptions& options, const std::string& program);

// The command line that makes a program launch one variant, once, with the profiler on.
std::vector<std::string> launch_words(const std::string& stage, const std::string& variant,
                                      const runner::Shape& shape, runner::DType dtype);

// Launches it once, between cudaProfilerStart and cudaProfilerStop.
void launch_profiled(const runner::Variant& variant, const runner::Shape& shape,
                     runner::DType dtype);

}  // namespace xray
