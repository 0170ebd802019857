// SPDX-License-Identifier: MIT
// `stages`, the program of all stages, and stages_03_online_softmax and its like, of one: their command
// line begins with a verb.
#include <cstdio>

#include <CLI/CLI.hpp>

#include "common/course/list.hpp"
#include "common/course/run_command.hpp"
#include "common/io/command_line.hpp"
#include "common/runner/fuzz.hpp"
#include "common/runner/run.hpp"
#include "common/xray/command.hpp"

namespace {

using namespace runner;

bool is_verb(const CLI::App& app, const std::string& word) {
    return !app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == word; })
                .empty();
}

int parse_and_run(int argc, char** argv) {
    RunOptions options;
    course::RunWords words;
    std::vector<std::string> listed;

    const std::vector<Stage> stages = all_stages();
    CLI::App app("Softmax in stages, from naive to fused: see README.md");
    app.name("./stages");
    FuzzOptions fuzz_options;
    app.require_subcommand(1);
    CLI::App* const run = app.add_subcommand("run", "validate, measure and record stages");
    run->add_option("stage", options.stages,
                    "stages: 03, online or 03_online_softmax; default: all");
    CLI::App* const list =
        app.add_subcommand("list", "the stages, their variants, the named inputs");
    list->add_option("stage", listed, "stages: 03, online or 03_online_softmax; default: all");
    CLI::App* const fuzz = app.add_subcommand("fuzz", "random cases against the fp64 reference");
    fuzz->add_option("stage", fuzz_options.stages,
                     "stages: 03, online or 03_online_softmax; default: all");
    course::add_fuzz_flags(*fuzz, fuzz_options);
    xray::Verbs xray(app);
    course::add_run_flags(*run, options, words);

    if (argc > 1 && argv[1][0] != '-' && !is_verb(app, argv[1])) {
        throw UsageError(std::string("no verb is called '") + argv[1] +
                         "'; here are: run list fuzz xray ncu");
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return io::explained(app, error);
    }
    if (list->parsed()) {
        std::fputs(course::list_of(chosen_stages(stages, listed)).c_str(), stdout);
        return kGood;
    }
    if (fuzz->parsed()) return runner::fuzz(stages, fuzz_options);
    if (xray.chosen()) return xray.run(stages);
    return course::run_verb(options, words);
}

}  // namespace

int main(int argc, char** argv) {
    return course::guarded(parse_and_run, argc, argv);
}
