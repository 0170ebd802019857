// SPDX-License-Identifier: MIT
#include "common/course/run_command.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

#include <CLI/CLI.hpp>

#include "common/course/predictions/ask.hpp"
#include "common/io/standard_output.hpp"
#include "common/io/text.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/npy.hpp"

namespace course {

using namespace runner;

namespace {

// A named input, or a path to a .npy file.
void add_input(RunOptions& options, const std::string& text, const std::vector<NamedInput>& named) {
    std::string known;
    for (const NamedInput& input : named) {
        if (text == input.name) return options.inputs.push_back(text);
        known += " " + input.name;
    }
    if (text.empty()) throw UsageError("--input '': a .npy file or one of" + known);
    if (text.find('.') == std::string::npos && text.find('/') == std::string::npos) {
        throw UsageError("--input " + io::printable(text) + ": a .npy file or one of" + known);
    }
    if (!options.input_file.empty()) throw UsageError("--input: one file at a time");
    options.input_file = text;
}

void check_device(const std::string& wanted) {
    const std::string backend = build_info().backend;
    if (!wanted.empty() && wanted != backend) {
        throw UsageError("this program was built for the " + backend +
                         " device; `./stages run --device " + wanted +
                         "` builds and runs the other");
    }
}

// "7,12,0".
std::vector<int64_t> parse_lengths(const std::string& text) {
    if (text.find_first_not_of(' ') == std::string::npos)
        throw UsageError("--lengths '': the tokens of each sequence are wanted, as in 7,12,0");
    std::vector<int64_t> lengths;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        lengths.push_back(static_cast<int64_t>(
            parse_whole_number("--lengths", text.substr(begin, end - begin), 0, INT32_MAX)));
        begin = end + 1;
    }
    return lengths;
}

// What a shape is, by what the stages of this program compute.
std::string help_on_shapes() {
    std::string help;
    const std::vector<Stage> all = all_stages();
    for (const Operation* operation : operations_of(chosen_stages(all, {}))) {
        const std::string one = " " + operation->family() + ": " + operation->shape_help() + ".";
        if (help.find(one) == std::string::npos) help += one;
    }
    return help;
}

// What stands beside an input file: names, since sizes are the file's.
Words parse_words(const std::string& text, const std::vector<const Operation*>& operations) {
    const std::optional<Words> words = words_from(text);
    if (words) return *words;
    std::string help;
    for (const Operation* operation : operations) {
        const std::string one = operation->name() + " takes " + operation->array_help();
        help += (help.empty() ? "" : "; ") + one;
    }
    throw UsageError("--shape " + io::printable(text, 60) +
                     ": an input file has its own sizes, and what else there is goes by name, as "
                     "in k=5: " +
                     help);
}

// Whether there is a GPU to run on; the CPU device is always there.
bool device_is_there() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

// A flag with one word.
void add_words(CLI::App& app, const std::string& flag, const std::string& help,
               const std::function<void(const std::string&)>& take) {
    app.add_option_function<std::string>(flag, take, help)->type_name("TEXT");
}

// Runs each stage between its questions and their answers.
ExitCode run_and_ask(const std::vector<Stage>& all, const std::vector<const Stage*>& stages,
                     RunOptions options) {
    std::vector<std::vector<Prediction>> predictions;  // of each stage
    for (const Stage* stage : stages) {
        if (stage->own) throw UsageError("--ask is about the stages of the course");
        predictions.push_back(predictions_of(STAGES_SOURCE_DIRECTORY, stage->name));
        if (predictions.back().empty())
            throw UsageError("--ask: nothing is asked about " + stage->name +
                             "; its questions would be in " + stage->name + "/predictions.txt");
    }
    ExitCode code = kGood;
    Facts facts(STAGES_SOURCE_DIRECTORY);
    for (size_t i = 0; i < stages.size(); ++i) {
        Quiz quiz(stages[i]->name, predictions[i]);
        quiz.ask();
        options.stages = {stages[i]->name};
        code = std::max(code, runner::run(all, options));
        facts.add_run(options.out);
        std::printf("\n");
        quiz.answer(facts);
    }
    return code;
}

}  // namespace

void add_number(CLI::App& app, const std::string& flag, const std::string& help, uint64_t least,
                uint64_t most, const std::function<void(uint64_t)>& take) {
    app.add_option_function<std::string>(
           flag,
           [=](const std::string& text) { take(parse_whole_number(flag, text, least, most)); },
           help)
        ->type_name("NUMBER");
}

void add_run_flags(CLI::App& app, RunOptions& options, RunWords& words) {
    app.add_option("--variant", options.variant, "only this variant (`list` names them)");
    app.add_option("--device", words.device,
                   "cpu or cuda; default: cuda where nvcc and a GPU are there")
        ->check(CLI::IsMember({"cpu", "cuda"}));
    app.add_flag("--lesson", options.lesson,
                 "the lesson's variants, without those beyond it; of one stage they are built "
                 "alone");
    app.add_flag("--quick", options.quick, "fewer shapes");
    app.add_option("--shape", words.shapes,
                   "instead of the course's shapes; may be repeated." + help_on_shapes())
        ->allow_extra_args(false);  // what follows may be a stage
    add_number(app, "--megabytes",
               "every width of a fine grid instead, x and the result together of this size, by "
               "what the stage is about",
               1, 1 << 20,
               [&](uint64_t number) { options.megabytes = static_cast<int64_t>(number); });
    app.add_option("--dtype", words.dtypes,
                   "element type: " + names_of(all_dtypes()) +
                       "; may be repeated; default: float32 is measured, all are validated")
        ->allow_extra_args(false);
    app.add_option("--input", words.inputs,
                   "a named input, or FILE.npy with your own logits (float32, float16 or float64; "
                   "converted if --dtype says so), whose options --shape then says by name, as in "
                   "k=5; may be repeated")
        ->allow_extra_args(false);
    add_words(app, "--weights",
              "the weights of a BERT as Hugging Face saves it: a .safetensors file, the index of "
              "several, or their folder; --input is then FILE.npy with hidden states, "
              "[batch, seq, hidden]",
              [&](const std::string& text) {
                  if (text.empty()) throw UsageError("--weights '': a .safetensors file is wanted");
                  options.weights = text;
              });
    add_words(app, "--lengths",
              "tokens of each of its sequences, as in 7,12,0; default: all are full",
              [&](const std::string& text) { options.lengths = parse_lengths(text); });
    app.add_option("--save-output", options.save_output, "write the result to this .npy file");
    app.add_flag("--ask", words.ask,
                 "predict, then run: asks a few questions about each stage, and compares guess and "
                 "fact");
    app.add_option("--out", options.out,
                   "folder for the records (default: results); those of part of a run, by any flag "
                   "that narrows it, are NN_name.partial.json");
}

void add_fuzz_flags(CLI::App& app, FuzzOptions& options) {
    app.add_option("--variant", options.variant, "only this variant");
    constexpr uint64_t kMostCases = uint64_t{1} << 40;
    add_number(app, "--seed", "another seed, other cases (default: 1)", 0, UINT64_MAX,
               [&](uint64_t number) { options.seed = number; });
    add_number(app, "--cases", "how many (default: 1000)", 1, kMostCases,
               [&](uint64_t number) { options.cases = static_cast<int64_t>(number); });
    add_number(app, "--case", "only the case of this number", 0, kMostCases,
               [&](uint64_t number) { options.only = static_cast<int64_t>(number); });
}

ExitCode run_verb(RunOptions options, const RunWords& words) {
    check_device(words.device);
    const std::vector<Stage> all = all_stages();
    const std::vector<const Stage*> stages = chosen_stages(all, options.stages);
    for (const std::string& input : words.inputs) add_input(options, input, named_inputs(stages));
    const std::vector<const Operation*> operations = operations_of(stages, options.variant);
    for (const std::string& shape : words.shapes) {
        if (options.input_file.empty()) {
            options.shapes.push_back(parse_shape(shape, operations));
        } else {
            options.said.push_back(parse_words(shape, operations));
        }
    }
    for (const std::string& dtype : words.dtypes) options.dtypes.push_back(parse_dtype(dtype));
    if (!options.input_file.empty() && !options.inputs.empty()) {
        throw UsageError("--input: either named inputs or a file, not both");
    }
    if (!device_is_there()) {
        if (on_gpu()) {  // the CPU device has said itself what it misses
            std::fprintf(
                stderr,
                "stages: this program was built for a GPU and none answers; try --device cpu\n");
        }
        return kNoDevice;
    }
    return words.ask ? run_and_ask(all, stages, options) : runner::run(all, options);
}

int guarded(int (*parse_and_run)(int, char**), int argc, char** argv) {
    const auto fails = [](const std::exception& error, ExitCode code) {
        io::say(stderr, std::string("stages: ") + error.what());
        return code;
    };
    try {
        return io::finish_output(parse_and_run(argc, argv));
    } catch (const UsageError& error) {
        return fails(error, kUsage);
    } catch (const FileError& error) {
        return fails(error, kUsage);
    } catch (const std::exception& error) {
        return fails(error, kWrong);
    }
}

}  // namespace course
