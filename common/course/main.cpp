// SPDX-License-Identifier: MIT
// The command line. With every stage linked in this is `stages` and takes a verb; with one stage it
// is that stage's own program and takes the flags of `run`.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include <CLI/CLI.hpp>

#include "common/course/header.hpp"
#include "common/course/readme.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/fuzz.hpp"
#include "common/runner/npy.hpp"
#include "common/runner/run.hpp"
#include "common/xray/command.hpp"

namespace {

using namespace runner;

// A named input, or a path to a .npy file.
void add_input(RunOptions& options, const std::string& text) {
    for (const Input input : all_inputs()) {
        if (text == name_of(input)) return options.inputs.push_back(input);
    }
    if (text.find('.') == std::string::npos && text.find('/') == std::string::npos) {
        std::string known;
        for (const Input input : all_inputs()) known += std::string(" ") + name_of(input);
        throw UsageError("--input " + text + ": a .npy file or one of" + known);
    }
    if (!options.input_file.empty()) throw UsageError("--input: one file at a time");
    options.input_file = text;
}

struct RunWords {  // as typed
    std::vector<std::string> shapes;
    std::vector<std::string> inputs;
    std::string device;
    std::vector<std::string> dtypes;
};

void add_run_flags(CLI::App& app, RunOptions& options, RunWords& words) {
    app.add_option("--variant", options.variant, "only this variant (`list` names them)");
    app.add_option("--device", words.device,
                   "cpu or cuda; default: cuda where nvcc and a GPU are there")
        ->check(CLI::IsMember({"cpu", "cuda"}));
    app.add_flag("--quick", options.quick, "fewer shapes");
    app.add_option("--shape", words.shapes,
                   "ROWSxCOLS instead of the course's shapes; may be repeated");
    app.add_option("--dtype", words.dtypes,
                   "element type: " + names_of(all_dtypes()) +
                       "; may be repeated; default: float32 is measured, all are validated");
    app.add_option("--input", words.inputs,
                   "a named input, or FILE.npy with your own logits (float32, float16 or float64; "
                   "converted if --dtype says so); may be repeated");
    app.add_option("--save-output", options.save_output, "write the result to this .npy file");
    app.add_flag("--ask", options.ask, "ask for a guess before each figure (for a lecture)");
    app.add_option("--out", options.out, "folder for the records (default: results)");
}

void check_device(const std::string& wanted) {
    const std::string backend = build_info().backend;
    if (!wanted.empty() && wanted != backend) {
        throw UsageError("this program was built for the " + backend +
                         " device; `./stages run --device " + wanted +
                         "` builds and runs the other");
    }
}

// Whether there is a GPU to run on; the CPU device is always there.
bool device_is_there() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

ExitCode run_verb(RunOptions options, const RunWords& words) {
    check_device(words.device);
    for (const std::string& shape : words.shapes) options.shapes.push_back(parse_shape(shape));
    for (const std::string& dtype : words.dtypes) options.dtypes.push_back(parse_dtype(dtype));
    for (const std::string& input : words.inputs) add_input(options, input);
    if (!options.input_file.empty() && !options.inputs.empty()) {
        throw UsageError("--input: either named inputs or a file, not both");
    }
    if (!device_is_there()) {
        std::fprintf(
            stderr,
            "stages: this program was built for a GPU and none answers; try --device cpu\n");
        return kNoDevice;
    }
    return runner::run(all_stages(), options);
}

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
        std::ofstream file(readme.path);
        file << readme.text;
        if (!file.flush()) throw FileError(readme.path.string() + ": cannot be written");
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
    RunWords words;
    std::string header_stage;

    const std::vector<Stage> stages = all_stages();
    const bool single = stages.size() == 1;
    CLI::App app(single ? stages.front().name + ": " + stages.front().title
                        : "Softmax in stages, from naive to fused: see README.md");
    app.name(single ? stages.front().name : "./stages");

    CLI::App* run = &app;
    CLI::App* list = nullptr;
    CLI::App* header = nullptr;
    CLI::App* readme = nullptr;
    CLI::App* fuzz = nullptr;
    FuzzOptions fuzz_options;
    bool check_only = false;
    std::optional<xray::Verbs> xray;
    if (!single) {
        app.require_subcommand(1);
        run = app.add_subcommand("run", "validate, measure and record stages");
        run->add_option("stage", options.stages,
                        "stages: 03, online or 03_online_softmax; default: all");
        list = app.add_subcommand("list", "the stages, their variants, the named inputs");
        header = app.add_subcommand("header", "print a stage's header as one self-contained file");
        header->add_option("stage", header_stage, "the stage: 03, online or 03_online_softmax")
            ->required();
        readme = app.add_subcommand("readme", "write the generated figures of the READMEs");
        readme->add_flag("--check", check_only, "only say which are stale; exit 1 if any is");
        fuzz = app.add_subcommand("fuzz", "random cases against the fp64 reference");
        fuzz->add_option("stage", fuzz_options.stages,
                         "stages: 03, online or 03_online_softmax; default: all");
        fuzz->add_option("--variant", fuzz_options.variant, "only this variant");
        fuzz->add_option("--seed", fuzz_options.seed, "another seed, other cases (default: 1)");
        fuzz->add_option("--cases", fuzz_options.cases, "how many (default: 1000)")
            ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
        fuzz->add_option("--case", fuzz_options.only, "only the case of this number")
            ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
        xray.emplace(app);
    }
    add_run_flags(*run, options, words);

    if (!single && argc > 1 && argv[1][0] != '-' && !is_verb(app, argv[1])) {
        throw UsageError(std::string("no verb is called '") + argv[1] +
                         "'; here are: run list header fuzz readme xray ncu");
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? kGood : kUsage;
    }
    if (list != nullptr && list->parsed()) {
        list_verb();
        return kGood;
    }
    if (header != nullptr && header->parsed()) {
        std::cout << course::amalgamate(STAGES_SOURCE_DIRECTORY,
                                        find_stage(stages, header_stage).header);
        return kGood;
    }
    if (readme != nullptr && readme->parsed()) return readme_verb(check_only);
    if (fuzz != nullptr && fuzz->parsed()) return runner::fuzz(stages, fuzz_options);
    if (xray && xray->chosen()) return xray->run(stages);
    return run_verb(options, words);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return parse_and_run(argc, argv);
    } catch (const UsageError& error) {
        std::fprintf(stderr, "stages: %s\n", error.what());
        return kUsage;
    } catch (const FileError& error) {
        std::fprintf(stderr, "stages: %s\n", error.what());
        return kUsage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stages: %s\n", error.what());
        return kWrong;
    }
}
