// SPDX-License-Identifier: MIT
// What the program of all stages and that of one stage share: the verbs `run` and `fuzz` with their
// flags, and how errors end a program.
#pragma once
#include <string>
#include <vector>

#include "common/runner/fuzz.hpp"
#include "common/runner/run.hpp"

namespace CLI {
class App;
}

namespace course {

struct RunWords {  // as typed
    std::vector<std::string> shapes;
    std::vector<std::string> inputs;
    std::string device;
    std::vector<std::string> dtypes;
};

void add_run_flags(CLI::App& app, runner::RunOptions& options, RunWords& words);
void add_fuzz_flags(CLI::App& app, runner::FuzzOptions& options);

// Runs what the flags ask for, on the stages linked into the program.
runner::ExitCode run_verb(runner::RunOptions options, const RunWords& words);

// The whole of main: parse_and_run's exit code, or what an exception means, with its message.
int guarded(int (*parse_and_run)(int, char**), int argc, char** argv);

}  // namespace course
