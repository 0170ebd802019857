// SPDX-License-Identifier: MIT
// `stages`, the program of all stages: its command line begins with a verb.
#include <cstdio>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>

#include "common/course/header.hpp"
#include "common/course/readme.hpp"
#include "common/course/run_command.hpp"
#include "common/io/files.hpp"
#include "common/runner/fuzz.hpp"
#include "common/runner/npy.hpp"
#include "common/runner/run.hpp"
#include "common/xray/command.hpp"

namespace {

using namespace runner;

void list_verb() {
    for (const Stage& stage : all_stages()) {
        std::printf("%-22s %s\n", stage.name.c_str(), stage.title.c_str());
        for (const Variant& variant : stage.variants) {
            std::printf("    %-20s %g + %g  %s\n", variant.name.c_str(), variant.traffic.loads,
                        variant.traffic.stores, variant.summary.c_str());
            if (variant.dtypes != std::vector<DType>{DType::float32})
                std::printf("    %-20s        %s\n", "", names_of(variant.dtypes).c_str());
        }
    }
    std::printf(
        "\n2 + 1: reads + writes of global memory per element.\n\nNamed inputs (--input):\n");
    for (const Input input : all_inputs())
        std::printf("    %-16s %s\n", name_of(input), summary_of(input));
}

// Writes the READMEs' generated parts anew, or only says which are stale.
ExitCode readme_verb(bool check_only) {
    const std::vector<course::StaleReadme> stale =
        course::stale_readmes(STAGES_SOURCE_DIRECTORY, all_stages());
    for (const course::StaleReadme& readme : stale) {
        std::printf("%s %s\n", check_only ? "stale:" : "written:", readme.path.c_str());
        if (check_only) continue;
        std::filesystem::create_directories(readme.path.parent_path());
        io::replace_file(readme.path, readme.text);
    }
    if (stale.empty()) std::printf("All generated parts are as recorded and counted.\n");
    return check_only && !stale.empty() ? kWrong : kGood;
}

bool is_verb(const CLI::App& app, const std::string& word) {
    return !app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == word; })
                .empty();
}

int parse_and_run(int argc, char** argv) {
    RunOptions options;
    course::RunWords words;
    std::string header_stage;

    const std::vector<Stage> stages = all_stages();
    CLI::App app("Softmax in stages, from naive to fused: see README.md");
    app.name("./stages");
    FuzzOptions fuzz_options;
    bool check_only = false;
    app.require_subcommand(1);
    CLI::App* const run = app.add_subcommand("run", "validate, measure and record stages");
    run->add_option("stage", options.stages,
                    "stages: 03, online or 03_online_softmax; default: all");
    CLI::App* const list =
        app.add_subcommand("list", "the stages, their variants, the named inputs");
    CLI::App* const header =
        app.add_subcommand("header", "print a stage's header as one self-contained file");
    header
        ->add_option("stage", header_stage,
                     "the stage: 03, online or 03_online_softmax; or softmax: the front call")
        ->required();
    CLI::App* const readme =
        app.add_subcommand("readme", "write the generated figures of the READMEs");
    readme->add_flag("--check", check_only, "only say which are stale; exit 1 if any is");
    CLI::App* const fuzz = app.add_subcommand("fuzz", "random cases against the fp64 reference");
    fuzz->add_option("stage", fuzz_options.stages,
                     "stages: 03, online or 03_online_softmax; default: all");
    fuzz->add_option("--variant", fuzz_options.variant, "only this variant");
    constexpr uint64_t kMostCases = uint64_t{1} << 40;
    course::add_number(*fuzz, "--seed", "another seed, other cases (default: 1)", 0, UINT64_MAX,
                       [&](uint64_t number) { fuzz_options.seed = number; });
    course::add_number(*fuzz, "--cases", "how many (default: 1000)", 1, kMostCases,
                       [&](uint64_t number) { fuzz_options.cases = static_cast<int64_t>(number); });
    course::add_number(*fuzz, "--case", "only the case of this number", 0, kMostCases,
                       [&](uint64_t number) { fuzz_options.only = static_cast<int64_t>(number); });
    xray::Verbs xray(app);
    course::add_run_flags(*run, options, words);

    if (argc > 1 && argv[1][0] != '-' && !is_verb(app, argv[1])) {
        throw UsageError(std::string("no verb is called '") + argv[1] +
                         "'; here are: run list header fuzz readme xray ncu");
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? kGood : kUsage;
    }
    if (list->parsed()) {
        list_verb();
        return kGood;
    }
    if (header->parsed()) {
        // The front call is in no stage's lesson; `softmax` alone would be the start of no name.
        const std::string path = header_stage == "softmax"
                                     ? "05_smem_softmax/further/softmax.cuh"
                                     : find_stage(stages, header_stage).header;
        std::cout << course::amalgamate(STAGES_SOURCE_DIRECTORY, path);
        return kGood;
    }
    if (readme->parsed()) return readme_verb(check_only);
    if (fuzz->parsed()) return runner::fuzz(stages, fuzz_options);
    if (xray.chosen()) return xray.run(stages);
    return course::run_verb(options, words);
}

}  // namespace

int main(int argc, char** argv) {
    return course::guarded(parse_and_run, argc, argv);
}
