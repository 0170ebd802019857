// SPDX-License-Identifier: MIT
// The command line of every program with stages. That of `stages`, which knows all, and of stages_03_online_softmax and
// its like, of one, begins with a verb. 03_online_softmax and its like, which the first command builds, know `run` and
// `fuzz` alone: they take the flags of `run`, or behind the word `fuzz` those of that.
#include <cstdio>

#include <CLI/CLI.hpp>

#include "common/course/list.hpp"
#include "common/course/run_command.hpp"
#include "common/io/command_line.hpp"
#include "common/runner/fuzz.hpp"
#include "common/runner/run.hpp"
#include "common/xray/verbs.hpp"

namespace {

using namespace runner;

bool is_verb(const CLI::App& app, const std::string& word) {
    return !app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == word; })
                .empty();
}

void add_stages(CLI::App& verb, std::vector<std::string>& stages) {
    verb.add_option("stage", stages, "stages: 03, online or 03_online_softmax; default: all");
}

int parse_and_run(int argc, char** argv) {
    RunOptions options;
    course::RunWords words;
    FuzzOptions fuzz_options;
    std::vector<std::string> listed;
    const std::vector<Stage> stages = all_stages();
    const bool of_verbs = xray::Verbs::are_linked();
    CLI::App app(of_verbs ? "Softmax in stages, from naive to fused: see README.md"
                          : stages.front().name + ": " + stages.front().title);
    app.name(of_verbs ? "./stages" : stages.front().name);
    CLI::App* const run =
        of_verbs ? app.add_subcommand("run", "validate, measure and record stages") : &app;
    CLI::App* const list =
        of_verbs ? app.add_subcommand("list", "the stages, their variants, the named inputs")
                 : nullptr;
    CLI::App* const fuzz = app.add_subcommand("fuzz", "random cases against the fp64 reference");
    xray::Verbs xray(app);
    if (of_verbs) {
        app.require_subcommand(1);
        add_stages(*run, options.stages);
        add_stages(*list, listed);
        add_stages(*fuzz, fuzz_options.stages);
        if (argc > 1 && argv[1][0] != '-' && !is_verb(app, argv[1])) {
            throw UsageError(std::string("no verb is called '") + argv[1] +
                             "'; here are: run list fuzz xray ncu");
        }
    }
    course::add_run_flags(*run, options, words);
    course::add_fuzz_flags(*fuzz, fuzz_options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return io::explained(app, error);
    }
    if (list != nullptr && list->parsed()) {
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
