// SPDX-License-Identifier: MIT
//
// The main() of a program with a launcher of a learner's, or with an exercise's solution (./stages check):
//   program --verdict FILE [--seed SEED] [--shape SHAPE]   checks results and races, then counts
//   program --verdict - ...                                hands the document over as verdict_channel.hpp says
//   program --verdict FILE --only WORD [--usual|--input NAME] ...   those with that in their name; on one input alone
//   program --counts FILE ...                                            counts alone
// Writes a JSON document: {"seed": ..., "launchers": [{"name", "cases", "launches", "findings", "counts"}]}. Nothing
// is kept from one run to the next, and every run draws its inputs from the seed that it is given.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "common/course/check/count.hpp"
#include "common/course/check/verdict_channel.hpp"
#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"
#include "common/runner/arguments.hpp"
#include "common/runner/choose.hpp"
#include "common/runner/launcher.hpp"
#include "common/runner/stage_run.hpp"
#include "common/runner/validate.hpp"

namespace {

using nlohmann::json;

struct Words {
    std::string verdict, counts, shape, only, input;
    uint64_t seed = runner::kRunSeed;
    bool usual = false;
};

Words words_of(int count, char** values) {
    Words words;
    for (int i = 1; i < count; ++i) {
        const std::string word = values[i];
        if (word == "--usual") {
            words.usual = true;
            continue;
        }
        if (i + 1 == count) throw runner::UsageError(word + " needs a value");
        const std::string value = values[++i];
        if (word == "--verdict") {
            words.verdict = value;
        } else if (word == "--counts") {
            words.counts = value;
        } else if (word == "--shape") {
            words.shape = value;
        } else if (word == "--input") {
            words.input = value;
        } else if (word == "--only") {
            words.only = value;
        } else if (word == "--seed") {
            words.seed = std::strtoull(value.c_str(), nullptr, 10);
        } else {
            throw runner::UsageError("no flag " + word);
        }
    }
    return words;
}

json json_of(const course::Counts& counts) {
    json of_all;
    for (const auto& [name, counted] : counts) {
        json lines = json::array();
        for (const auto& [line, part] : counted.lines) lines.push_back({line, part});
        of_all[name] = {{"value", counted.value}, {"lines", lines}, {"lanes", counted.lanes}};
    }
    return of_all;
}

// Where the variant is counted unless told: where a quick run counts its operation, if it takes that.
runner::Shape counted_at(const runner::Variant& variant) {
    for (const runner::Shape& shape : variant.operation->measured_at({false, true})) {
        if (!is_beyond_options(variant, shape) &&
            obstacle_of(variant, shape, variant.dtypes.front()).empty())
            return shape;
    }
    return usual_shape_of(variant);
}

// The counts of the variant, at the shape asked for or there.
json counted(const runner::Variant& variant, const Words& words) {
    const runner::Shape shape = words.shape.empty()
                                    ? counted_at(variant)
                                    : runner::parse_shape(words.shape, {variant.operation});
    const runner::DType dtype = variant.dtypes.front();
    json result;
    result["shape"] = text_of(shape);
    result["counts"] = json_of(course::count_launch(variant, shape, dtype, words.seed));
    return result;
}

// One thing that is wrong. Its first words name the input, where there is one: "about" says what that is, unless it is the
// first, which every operation has plain.
json finding_of(const runner::Operation& operation, const std::string& cause,
                const std::vector<std::string>& said, int more) {
    json finding = {{"cause", cause}, {"said", said}, {"more", more}, {"input", ""}, {"about", ""}};
    const std::vector<runner::NamedInput> inputs = operation.inputs();
    for (const runner::NamedInput& each : inputs) {
        if (!said.front().starts_with(each.name + ", ")) continue;
        finding["input"] = each.name;
        if (each.name != inputs.front().name) finding["about"] = each.summary;
    }
    return finding;
}

json graded(const runner::Stage& stage, const Words& words) {
    runner::RunOptions options;
    options.quick = true;
    options.seed = words.seed;
    const std::optional<runner::Array> no_array;
    runner::StageRun run{stage, options, "", no_array, {}, true};
    for (const runner::Variant& variant : stage.variants) run.chosen.push_back(&variant);
    if (!words.input.empty()) options.inputs = {words.input};
    if (words.usual) options.inputs = {stage.variants.front().operation->usual_input()};
    validate(run);

    json result;
    json findings = json::array();
    int cases = 0;
    for (const auto& [of, validation] : run.results) {
        cases += validation.cases;
        const runner::Operation& operation = *of.first->operation;
        for (const runner::Validation::Failure& failure : validation.failures())
            findings.push_back(finding_of(operation, failure.cause, failure.shown, failure.more));
        if (findings.empty() && validation.verdict() != runner::Verdict::good)
            findings.push_back(
                finding_of(operation, "not judged", validation.remarks(of.first->name), 0));
        if (findings.empty() && cases == 0)
            findings.push_back(finding_of(operation, "not judged", {"nothing was checked"}, 0));
    }
    result["cases"] = cases;
    result["launches"] = run.watch.launches;
    result["findings"] = findings;
    return result;
}

json refused(const std::string& why) {
    return {{"cases", 0},
            {"launches", 0},
            {"findings", {{{"cause", "launcher"}, {"said", {why}}, {"more", 0}}}}};
}

void write(const std::string& path, const json& document) {
    io::replace_file(path, document.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

int grade(const Words& words) {
    json document;
    document["seed"] = words.seed;
    document["launchers"] = json::array();
    const std::string& path = words.verdict.empty() ? words.counts : words.verdict;
    std::vector<runner::Stage> stages;
    try {
        stages = runner::all_stages();
    } catch (const runner::UsageError& error) {
        document["launchers"].push_back(refused(error.what()));
    }
    for (runner::Stage& stage : stages) {
        if (stage.name.find(words.only) == std::string::npos) continue;
        for (runner::Variant& variant : stage.variants) {
            variant.validated_once_at.clear();  // grids of 65,537 rows take longer than all else
        }
        json result = words.verdict.empty() ? json::object() : graded(stage, words);
        if (words.verdict.empty() || result["findings"].empty()) {
            try {
                result.update(counted(stage.variants.front(), words));
            } catch (const runner::LauncherError& error) {
                result["findings"].push_back(
                    {{"cause", error.cause()}, {"said", {error.what()}}, {"more", 0}});
            }
        }
        result["name"] = stage.name;
        document["launchers"].push_back(result);
    }
    if (path == "-") {
        if (!course::send_verdict(document)) throw std::runtime_error("nobody takes the verdict");
    } else {
        write(path, document);
    }
    return 0;
}

}  // namespace

int main(int count, char** values) {
    try {
        return io::finish_output(grade(words_of(count, values)));
    } catch (const std::exception& error) {
        io::say(stderr, std::string("stages: ") + error.what());
        return 2;
    }
}
