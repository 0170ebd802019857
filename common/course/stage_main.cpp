// SPDX-License-Identifier: MIT
// A stage's own program: it runs that stage and takes the flags of `run`. It is what the first
// command builds, so it knows no other verb and what those need.
#include <CLI/CLI.hpp>

#include "common/course/run_command.hpp"

namespace {

int parse_and_run(int argc, char** argv) {
    const runner::Stage stage = runner::all_stages().front();
    runner::RunOptions options;
    course::RunWords words;
    CLI::App app(stage.name + ": " + stage.title);
    app.name(stage.name);
    course::add_run_flags(app, options, words);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? runner::kGood : runner::kUsage;
    }
    return course::run_verb(options, words);
}

}  // namespace

int main(int argc, char** argv) {
    return course::guarded(parse_and_run, argc, argv);
}
