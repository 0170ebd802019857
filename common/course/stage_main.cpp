// SPDX-License-Identifier: MIT
// A stage's own program: it runs that stage and takes the flags of `run`; behind the word `fuzz` it
// takes those of `fuzz`. It is what the first command builds, so it knows no verb that needs more.
#include <CLI/CLI.hpp>

#include "common/course/run_command.hpp"
#include "common/io/command_line.hpp"

namespace {

int parse_and_run(int argc, char** argv) {
    const std::vector<runner::Stage> stages = runner::all_stages();
    const runner::Stage& stage = stages.front();
    runner::RunOptions options;
    course::RunWords words;
    CLI::App app(stage.name + ": " + stage.title);
    app.name(stage.name);
    course::add_run_flags(app, options, words);
    runner::FuzzOptions fuzz_options;
    CLI::App* const fuzz = app.add_subcommand("fuzz", "random cases against the fp64 reference");
    course::add_fuzz_flags(*fuzz, fuzz_options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return io::explained(app, error);
    }
    if (fuzz->parsed()) return runner::fuzz(stages, fuzz_options);
    return course::run_verb(options, words);
}

}  // namespace

int main(int argc, char** argv) {
    return course::guarded(parse_and_run, argc, argv);
}
