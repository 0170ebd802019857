// SPDX-License-Identifier: MIT
//
// The verb `ncu`: has Nsight Compute read a GPU's counters for every variant, and keeps them.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "common/records/counters.hpp"
#include "common/runner/run.hpp"
#include "common/runner/stage.hpp"

namespace xray {

// What `ncu --csv --page raw --print-units base` wrote: a kernel per launch. Metrics that are not
// ours are left out. Throws std::runtime_error, with what ncu said, where there is no table in it.
std::vector<records::Kernel> parse_ncu_output(const std::string& text);

// A launch that is recorded.
struct ProfiledCase {
    std::string stage, variant;
    runner::Shape shape;
    runner::DType dtype;
};

// Where the x-ray is held to a GPU's counters: float at all shapes that the variant's operation names for
// that and the variant takes, the other types that have 16 bits at the small ones.
std::vector<ProfiledCase> held_cases(const std::string& stage, const runner::Variant& variant);

// And where all counters are recorded, those of the caches among them: float at other shapes of its own.
std::vector<ProfiledCase> profiled_cases(const std::string& stage, const runner::Variant& variant);

// A case a line, as text, and back. Throws std::runtime_error for what is none.
std::string text_of(const std::vector<ProfiledCase>& cases);
std::vector<ProfiledCase> cases_from(const std::string& text);

// Which kernels belong to which of `count` cases: before those of each, a marking kernel was launched, with as
// many blocks as cases have begun. Throws std::runtime_error where one of the cases has none.
std::vector<std::vector<records::Kernel>> split_by_case(const std::vector<records::Kernel>& kernels,
                                                        size_t count);

// Runs `program` twice under ncu, with launch_words() behind it: for all cases with all counters, and for
// those with the x-ray's own.
runner::ExitCode record_counters(const std::vector<runner::Stage>& stages,
                                 const NcuOptions& options, const std::string& program);

// A stage's counters, as they are recorded on a GPU.
std::vector<records::Recording> recorded_counters(const std::string& stage, const std::string& gpu);

// The command line that makes a program launch what a file names, case after case, with the profiler on.
std::vector<std::string> launch_words(const std::string& file);

// Launches each case once, between cudaProfilerStart and cudaProfilerStop, behind a marking kernel.
void launch_profiled(const std::vector<runner::Stage>& stages,
                     const std::vector<ProfiledCase>& cases);

// The marking kernel, with so many blocks.
void launch_mark(unsigned blocks);

}  // namespace xray
