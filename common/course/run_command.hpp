// SPDX-License-Identifier: MIT
// What the program of all stages and that of one stage share: the verbs `run` and `fuzz` with their
// flags, and how errors end a program.
#pragma once
#include <cstdint>
#include <functional>
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
    bool ask = false;  // predict, then run: questions before each stage
};

// A flag that takes a whole number from `least` to `most`, and nothing else: CLI11 would wrap -1 around.
void add_number(CLI::App& app, const std::string& flag, const std::string& help, uint64_t least,
                uint64_t most, const std::function<void(uint64_t)>& take);

void add_run_flags(CLI::App& app, runner::RunOptions& options, RunWords& words);
void add_fuzz_flags(CLI::App& app, runner::FuzzOptions& options);

// Runs what the flags ask for, on the stages linked into the program.
runner::ExitCode run_verb(runner::RunOptions options, const RunWords& words);

// The whole of main: parse_and_run's exit code, or what an exception means, with its message.
int guarded(int (*parse_and_run)(int, char**), int argc, char** argv);

}  // namespace course
