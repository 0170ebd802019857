// SPDX-License-Identifier: MIT
#include "common/runner/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "common/io/files.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"
#include "common/runner/choose.hpp"
#include "common/runner/interruption.hpp"
#include "common/runner/measure.hpp"
#include "common/runner/npy.hpp"
#include "common/runner/print.hpp"
#include "common/runner/save.hpp"
#include "common/runner/stage_run.hpp"
#include "common/runner/validate.hpp"
#include "common/runner/weights.hpp"

namespace runner {
namespace {

// A grid of widths stands beside the records of the course's shapes; what a part of a run gives
// never takes the place of what a full one gave.
std::string records_name(const StageRun& run) {
    return run.stage.name + (run.options.megabytes > 0 ? ".widths" : "") +
           (run.narrowed_by.empty() ? "" : ".partial");
}

void note_interruption(StageRun& run) {
    run.is_ended = true;
    run.verdict = std::max(run.verdict, Verdict::incomplete);
    run.narrowed_by += std::string(run.narrowed_by.empty() ? "" : ", ") + "ended by a signal";
    say("ended by a signal: what was not measured by then is left out");
}

Verdict run_stage(StageRun& run) {
    print_title(run);
    validate(run);
    print_validation(run);
    std::printf("\n");
    {
        const Interruption interruption;
        if (run.stage.own && run.verdict == Verdict::wrong) {
            say(on_gpu() ? "not timed: what a wrong kernel takes is no measure"
                         : "not counted: what a wrong kernel does is no measure");
        } else if (on_gpu()) {
            measure_times(run);
        } else {
            measure_counts(run);
        }
        if (Interruption::came()) note_interruption(run);
    }
    print_ways(run);
    print_left_out(run);
    print_left_out_by_quick(run);
    for (const std::string& note : run.stage.notes) say(note);
    if (!run.options.save_output.empty()) save_output(run);
    if (run.stage.own && run.verdict == Verdict::wrong) {
        // Nor of what it was before: no table is to show it as if it were right.
        std::error_code error;
        std::filesystem::remove(records_path(run.options.out, records_name(run)), error);
        say("records: none, of what is wrong");
        std::printf("\n");
        return run.verdict;
    }
    // Where nothing was measured, what an earlier run has left stays.
    say("records: " + (run.records.empty()
                           ? "none"
                           : io::printable(write_records(run.options.out, records_name(run),
                                                         run.narrowed_by, run.records))));
    std::printf("\n");
    return run.verdict;
}

// The flags that leave something out that a full run records, as they are typed; empty for none.
std::string narrowing_flags(const RunOptions& options) {
    std::string flags;
    const auto add = [&](const std::string& flag) { flags += (flags.empty() ? "" : " ") + flag; };
    if (!options.variant.empty()) add("--variant " + options.variant);
    if (options.lesson) add("--lesson");
    if (options.quick) add("--quick");
    for (const Shape& shape : options.shapes) add("--shape " + word_of(shape));
    for (const Words& said : options.said) add("--shape " + text_of(said));
    const bool measures_usual = std::find(options.dtypes.begin(), options.dtypes.end(),
                                          DType::float32) != options.dtypes.end();
    if (!measures_usual) {
        for (const DType dtype : options.dtypes) add(std::string("--dtype ") + name_of(dtype));
    }
    for (const std::string& input : options.inputs) add("--input " + input);
    if (!options.input_file.empty()) add("--input " + io::printable(options.input_file));
    if (!options.weights.empty()) add("--weights " + io::printable(options.weights));
    return flags;
}

void require_lesson(const std::vector<const Stage*>& stages, const std::string& variant) {
    for (const Stage* stage : stages) {
        if (stage->own)
            throw UsageError("--lesson: " + stage->title + " is no stage of the course");
        for (const Variant& each : stage->variants) {
            if (each.name == variant && each.further)
                throw UsageError("--lesson: " + variant + " goes beyond it; run it without");
        }
    }
}

void check_options(const std::vector<const Stage*>& stages, const RunOptions& options) {
    require_variant(stages, options.variant);
    if (options.lesson) require_lesson(stages, options.variant);
    if (!options.input_file.empty() && !options.shapes.empty())
        throw UsageError("--shape: an input file has its own sizes");
    if (options.input_file.empty() && !options.said.empty())
        throw UsageError("--shape: options without sizes are for an input file");
    if (options.megabytes > 0 && (!options.input_file.empty() || !options.shapes.empty()))
        throw UsageError("--megabytes chooses the shapes: it excludes --shape and an input file");
    if (options.megabytes > 0 && !on_gpu())
        throw UsageError("--megabytes is for timing, which needs a GPU");
    if (!options.save_output.empty()) {
        const bool one_variant = stages.size() == 1 &&
                                 (!options.variant.empty() || stages.front()->variants.size() == 1);
        const bool one_input = options.input_file.empty()
                                   ? options.shapes.size() == 1 && options.inputs.size() == 1
                                   : options.said.size() <= 1;
        if (!one_variant || !one_input || options.dtypes.size() > 1) {
            throw UsageError(
                "--save-output needs one stage, one --variant, and one input: a file with at most "
                "one --shape, or one --shape and one --input; and no more than one --dtype");
        }
    }
}

// A file is taken as the type it has or, where no variant that was chosen takes that, as float32.
DType dtype_of_file(const Array& array, const std::vector<const Stage*>& stages,
                    const RunOptions& options) {
    for (const Stage* stage : stages) {
        for (const Variant& variant : stage->variants) {
            if (is_chosen(variant, options) && takes(variant, array.dtype)) return array.dtype;
        }
    }
    std::printf("%s\n\n", io::wrapped(io::printable(options.input_file) + ": " +
                                      name_of(array.dtype) + ", taken as float32")
                              .c_str());
    return DType::float32;
}

// Finds out before the work whether its results can be kept. A folder is made for the records alone.
void prepare_outputs(const RunOptions& options) {
    std::error_code error;
    std::filesystem::create_directories(options.out, error);
    if (!std::filesystem::is_directory(options.out, error) ||
        access(options.out.c_str(), W_OK | X_OK) != 0)
        io::refuse(options.out.empty() ? "--out ''" : options.out,
                   "not a folder that can be written to; --out names another");
}

// Of nothing nobody can say that it is good.
bool is_anything_checked(const std::vector<StageRun>& runs) {
    return std::any_of(runs.begin(), runs.end(), [](const StageRun& run) {
        return std::any_of(run.results.begin(), run.results.end(),
                           [](const auto& each) { return each.second.cases > 0; });
    });
}

// What the run comes to, and what it says nothing of.
ExitCode conclude(Verdict verdict, const std::vector<StageRun>& runs,
                  const std::vector<const Stage*>& stages) {
    if (verdict != Verdict::wrong && !is_anything_checked(runs)) {
        std::printf("Nothing was checked: see above.\n");
        return kWrong;
    }
    if (verdict == Verdict::wrong) {
        std::printf("Something is WRONG: see above.\n");
    } else if (verdict == Verdict::incomplete) {
        std::printf("Nothing that was checked is wrong, but not all was: see above.\n");
    } else if (on_gpu()) {
        const std::string number = stages.size() == 1 ? stages.front()->name.substr(0, 2) : "NN";
        std::printf("All good, but races were not looked for: %s does that.\n",
                    stages.size() == 1 && stages.front()->own
                        ? "the CPU device"
                        : ("`./stages xray " + number + "`").c_str());
    } else {
        std::printf("All good.\n");
    }
    return verdict == Verdict::good ? kGood : kWrong;
}

ExitCode run_stages(const std::vector<Stage>& all, RunOptions options) {
    const std::vector<const Stage*> stages = chosen_stages(all, options.stages);
    check_options(stages, options);
    const std::string narrowed_by =
        narrowing_flags(options);  // as typed: a file may choose more below
    std::optional<Array> array;
    if (!options.input_file.empty()) {
        array = read_npy(options.input_file);
        if (array->values.empty()) io::refuse(options.input_file, "it holds no elements");
        if (options.dtypes.empty()) options.dtypes = {dtype_of_file(*array, stages, options)};
    }

    check_taken(stages, options, array);
    prepare_outputs(options);

    std::vector<StageRun> runs;
    for (const Stage* stage : stages) {
        StageRun run{*stage, options, narrowed_by, array, {}};
        for (const Variant& variant : stage->variants) {
            if (is_chosen(variant, options)) run.chosen.push_back(&variant);
        }
        if (run.chosen.empty()) continue;
        require_room(run);
        io::require_replaceable(records_path(options.out, records_name(run)));
        if (!options.save_output.empty()) {
            for (const auto& [operand, path] : output_files(run)) io::require_replaceable(path);
        }
        runs.push_back(std::move(run));
    }
    Verdict verdict = Verdict::good;
    for (StageRun& each : runs) {
        verdict = std::max(verdict, run_stage(each));
        if (each.is_ended) break;
    }
    return conclude(verdict, runs, stages);
}

}  // namespace

ExitCode run(const std::vector<Stage>& all, RunOptions options) {
    if (options.weights.empty()) {
        if (!options.lengths.empty())
            throw UsageError("--lengths says how long sequences are that --weights are run on");
        return run_stages(all, std::move(options));
    }
    const WeightedStages weighted(all, options);
    options.stages.clear();  // those that are left
    return run_stages(weighted.stages, std::move(options));
}

}  // namespace runner
