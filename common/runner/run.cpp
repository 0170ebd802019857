// SPDX-License-Identifier: MIT
#include "common/runner/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>

#include "common/runner/build_info.hpp"
#include "common/runner/check.hpp"
#include "common/runner/device.hpp"
#include "common/runner/npy.hpp"
#include "common/runner/probe.hpp"
#include "common/runner/record.hpp"
#include "common/runner/table.hpp"
#include "common/runner/timing.hpp"

namespace runner {
namespace {

constexpr uint64_t kSeed = 2018;

// Widths at which reductions go wrong: below, at and above a warp, a block, a power of two; primes.
const std::vector<int64_t> kWidths = {1, 7, 31, 32, 33, 255, 1000, 1024, 1025, 4096, 4099, 10007};
const std::vector<int64_t> kQuickWidths = {33, 1000, 4099};

bool on_gpu() {
    return build_info().backend == "cuda";
}

std::string text_of(Shape shape) {
    return std::to_string(shape.rows) + " x " + std::to_string(shape.cols);
}

// One thing to validate on: a shape and what fills it.
struct Case {
    std::string input;
    Shape shape;
    std::optional<Input> named;  // otherwise the user's values
    const std::vector<float>* values = nullptr;
};

void fill_case(DeviceBuffer<float>& x, const Case& one) {
    if (one.named) {
        fill(x.data(), one.shape, *one.named, kSeed);
    } else {
        x.upload(*one.values);
    }
}

std::vector<Case> validation_cases(const RunOptions& options, const std::optional<Array>& array) {
    if (array)
        return {
            {options.input_file, {array->shape[0], array->shape[1]}, std::nullopt, &array->values}};
    std::vector<Shape> shapes = options.shapes;
    if (shapes.empty()) {
        const int64_t rows = on_gpu() ? 300 : 3;
        for (const int64_t cols : options.quick ? kQuickWidths : kWidths)
            shapes.push_back({rows, cols});
        if (!options.quick) shapes.push_back({2, 70001});  // long enough to be split
    }
    std::vector<Case> cases;
    for (const Input input : options.inputs.empty() ? all_inputs() : options.inputs) {
        for (const Shape shape : shapes) cases.push_back({name_of(input), shape, input});
    }
    return cases;
}

std::vector<Shape> measured_shapes(const RunOptions& options, const std::optional<Array>& array) {
    if (array) return {{array->shape[0], array->shape[1]}};
    if (!options.shapes.empty()) return options.shapes;
    if (!on_gpu()) return {{256, 1024}};
    if (options.quick) return {{4000, 4000}};
    std::vector<Shape> shapes;
    for (const int64_t rows : {int64_t{4000}, int64_t{10}}) {  // the paper's two batches
        std::vector<int64_t> widths = {10,    100,    1000,   4000,   10000,  // round ones, and
                                       32000, 100000, 128256, 1000000};       // vocabularies
        const int64_t widest = rows == 4000 ? 129024 : 1032192;
        for (int64_t cols = 63; cols <= widest; cols *= 2) widths.push_back(cols);  // the paper's
        std::sort(widths.begin(), widths.end());
        for (const int64_t cols : widths) shapes.push_back({rows, cols});
    }
    return shapes;
}

// A variant's scratch and launch, with errors as exceptions.
class Launcher {
public:
    explicit Launcher(const Variant& variant) : variant_(variant) {}

    void prepare(Shape shape) {
        const size_t bytes = variant_.workspace_bytes ? variant_.workspace_bytes(shape) : 0;
        if (bytes > workspace_.size()) workspace_ = DeviceBuffer<unsigned char>(bytes);
        shape_ = shape;
    }
    void operator()(const float* x, float* y, cudaStream_t stream = nullptr) {
        const Call call{x,     y, shape_.rows, shape_.cols, workspace_.data(), workspace_.size(),
                        stream};
        check_cuda(variant_.launch(call), "launching " + variant_.name);
    }

private:
    const Variant& variant_;
    Shape shape_;
    DeviceBuffer<unsigned char> workspace_;
};

// What validating one variant has shown so far.
struct Validation {
    int cases = 0;
    int at_border = 0;   // cases with rows whose result stage 01 leaves open
    int overflowed = 0;  // cases in which rows overflowed, as promised
    Report worst;        // the report with the largest error
    double worst_previous = 0;
    bool compared = false;
    double worst_relative_error = 0;
    std::vector<std::string> failures;

    void add(const Case& one, const Report& report) {
        ++cases;
        overflowed += report.promised > 0;
        at_border += report.unchecked > 0;
        worst_relative_error = std::max(worst_relative_error, report.worst_relative_error);
        if (report.worst_share > worst.worst_share) worst = report;
        if (!report.good())
            failures.push_back(one.input + ", " + text_of(one.shape) + ": " + describe(report));
    }
    void add_comparison(const Case& one, const std::string& previous, const Report& report) {
        if (report.checked == 0) return;  // every row overflows in one of the two
        compared = true;
        worst_previous = std::max(worst_previous, report.worst_share);
        if (!report.good()) {
            failures.push_back(one.input + ", " + text_of(one.shape) + ", against " + previous +
                               ": " + describe(report));
        }
    }
};

struct Timed {
    Operation operation;
    std::string name;
    double us;
};

// A line that counts up on a terminal and leaves nothing behind.
class Progress {
public:
    Progress(std::string what, size_t total)
        : what_(std::move(what)), total_(total), shown_(isatty(STDERR_FILENO) == 1) {}
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() {
        if (shown_) std::fprintf(stderr, "\r\033[K");
    }
    void step() {
        ++done_;
        if (shown_) std::fprintf(stderr, "\r  %s: %zu of %zu", what_.c_str(), done_, total_);
    }

private:
    std::string what_;
    size_t total_;
    size_t done_ = 0;
    bool shown_;
};

class StageRun {
public:
    StageRun(const Stage& stage, const RunOptions& options, const std::optional<Array>& array)
        : stage_(stage), options_(options), array_(array) {
        for (const Variant& variant : stage.variants) {
            if (options.variant.empty() || options.variant == variant.name)
                chosen_.push_back(&variant);
        }
        results_.resize(chosen_.size());
    }

    bool run() {
        print_heading(stage_.name + ": " + stage_.title,
                      std::string(on_gpu() ? "cuda" : "cpu") + " device, float32");
        validate();
        print_validation();
        measure();
        for (const std::string& note : stage_.notes) std::printf("  %s\n", note.c_str());
        if (!options_.save_output.empty()) save_output();
        std::printf("  records: %s\n\n",
                    write_records(options_.out, stage_.name, records_).c_str());
        return good_;
    }

private:
    // The variants that every chosen one may be compared with, in the order of the lesson: the
    // baseline, then the stage's own.
    std::vector<const Variant*> sequence() const {
        std::vector<const Variant*> all;
        if (stage_.baseline) all.push_back(&*stage_.baseline);
        for (const Variant& variant : stage_.variants) all.push_back(&variant);
        return all;
    }

    const Variant* previous_of(const Variant& variant) const {
        const Variant* previous = nullptr;
        for (const Variant* each : sequence()) {
            if (each == &variant) return previous;
            previous = each;
        }
        return nullptr;
    }

    void validate() {
        const std::vector<Case> cases = validation_cases(options_, array_);
        Progress progress("validating", cases.size());
        for (const Case& one : cases) {
            validate_case(one);
            progress.step();
        }
    }

    void validate_case(const Case& one) {
        DeviceBuffer<float> x(static_cast<size_t>(elements(one.shape)));
        fill_case(x, one);
        const Variant* before = nullptr;  // whose result is in y_before: mostly the one wanted next
        DeviceBuffer<float> y_before;
        for (size_t i = 0; i < chosen_.size(); ++i) {
            const Variant& variant = *chosen_[i];
            try {
                DeviceBuffer<float> y = output_of(variant, x, one.shape);
                const Result ours{y.data(), rules_of(variant, one.shape)};
                results_[i].add(one, check(x.data(), one.shape, ours));
                if (const Variant* previous = previous_of(variant)) {
                    if (previous != before) {
                        y_before = output_of(*previous, x, one.shape);
                        before = previous;
                    }
                    const Result theirs{y_before.data(), rules_of(*previous, one.shape)};
                    results_[i].add_comparison(one, previous->name,
                                               compare(x.data(), one.shape, ours, theirs));
                }
                before = &variant;
                y_before = std::move(y);
            } catch (const CudaError& error) {
                ++results_[i].cases;
                results_[i].failures.push_back(one.input + ", " + text_of(one.shape) + ": " +
                                               error.what());
                if (on_gpu()) throw;  // the GPU's context does not survive a fault
            }
        }
    }

    static DeviceBuffer<float> output_of(const Variant& variant, const DeviceBuffer<float>& x,
                                         Shape shape) {
        DeviceBuffer<float> y(static_cast<size_t>(output_elements(variant.operation, shape)));
        y.poison();
        Launcher launch(variant);
        launch.prepare(shape);
        launch(x.data(), y.data());
        check_cuda(cudaDeviceSynchronize(), "running " + variant.name);
        return y;
    }

    void print_validation() {
        Table table({{"variant", 16, Align::left},
                     {"correct", 10, Align::right},
                     {"error/bound", 12, Align::right},
                     {"vs previous", 12, Align::right},
                     {"", 24, Align::left}});
        for (size_t i = 0; i < chosen_.size(); ++i) {
            const Validation& result = results_[i];
            const auto failed = static_cast<int>(result.failures.size());
            good_ = good_ && failed == 0 && result.cases > 0;
            table.row({chosen_[i]->name,
                       failed == 0
                           ? std::to_string(result.cases) + " of " + std::to_string(result.cases)
                           : "WRONG",
                       number(result.worst.worst_share, 2),
                       result.compared ? number(result.worst_previous, 2) : "-", remark(result)});
        }
        table.print();
        for (size_t i = 0; i < chosen_.size(); ++i) print_failures(*chosen_[i], results_[i]);
    }

    static std::string remark(const Validation& result) {
        if (result.at_border > 0) {
            return std::to_string(result.at_border) + " left open: see 01";
        }
        if (result.overflowed == 0) return "";
        return std::to_string(result.overflowed) + " overflow, as promised";
    }

    static void print_failures(const Variant& variant, const Validation& result) {
        constexpr size_t kShown = 3;
        for (size_t i = 0; i < std::min(kShown, result.failures.size()); ++i) {
            std::printf("  WRONG %s: %s\n", variant.name.c_str(), result.failures[i].c_str());
        }
        if (result.failures.size() > kShown) {
            std::printf("  and %zu more like these\n", result.failures.size() - kShown);
        }
    }

    void measure() {
        const std::vector<Shape> shapes = measured_shapes(options_, array_);
        std::printf("\n");
        if (on_gpu()) {
            measure_times(shapes);
        } else {
            measure_counts(shapes);
        }
    }

    void measure_times(const std::vector<Shape>& shapes) {
        Table table({{"variant", 16, Align::left},
                     {"shape", 16, Align::right},
                     {"us", 10, Align::right},
                     {"GB/s", 7, Align::right},
                     {"of roof", 8, Align::right},
                     {"speed-up", 9, Align::right}});
        double empty_us = std::numeric_limits<double>::infinity();
        for (const Shape shape : shapes) {
            if (!fits(shape)) {
                std::printf("  %s left out: the GPU has too little memory free\n",
                            text_of(shape).c_str());
                continue;
            }
            const DeviceBuffer<float> x = measured_input(shape);
            std::vector<Timed> times;
            if (stage_.baseline) {
                times.push_back({stage_.baseline->operation, stage_.baseline->name,
                                 timed(*stage_.baseline, x, shape).work.us_median});
            }
            for (size_t i = 0; i < chosen_.size(); ++i) {
                const Variant& variant = *chosen_[i];
                ask("How many GB/s will " + variant.name + " reach at " + text_of(shape) + "?");
                const TimedVariant time = timed(variant, x, shape, &results_[i]);
                Record record = record_of(variant, shape, results_[i]);
                record.timed = time;
                for (const Timed& earlier : times) {  // the last that computes the same counts
                    if (earlier.operation != variant.operation) continue;
                    record.baseline = earlier.name;
                    record.speedup = earlier.us / time.work.us_median;
                }
                times.push_back(
                    {variant.operation, stage_.name + "/" + variant.name, time.work.us_median});
                table.row({variant.name, text_of(shape), number(time.work.us_median, 1),
                           number(gigabytes_per_second(record.bytes, time.work.us_median), 0),
                           number(time.roof.us_median / time.work.us_median, 3),
                           record.speedup ? number(*record.speedup, 2) : "-"});
                answer(number(gigabytes_per_second(record.bytes, time.work.us_median), 0) +
                       " GB/s");
                for (const std::string& oddity : oddities(time)) {
                    warnings_.push_back("careful: " + variant.name + " at " + text_of(shape) + " " +
                                        oddity);
                }
                empty_us = std::min(empty_us, time.empty.us_median);
                records_.push_back(record);
            }
        }
        table.print();
        for (const std::string& warning : warnings_) std::printf("  %s\n", warning.c_str());
        std::printf(
            "  GB/s: bytes of x and of the result over the median time, caches flushed. roof:\n"
            "  a copy of the same bytes, timed in turn. speed-up: over the variant before\n"
            "  that computes the same.\n");
        if (std::isfinite(empty_us)) {
            std::printf(
                "  A kernel that does nothing takes %s us here: no small shape can be faster.\n",
                number(empty_us, 1).c_str());
        }
    }

    // Times the variant and holds what the last launch left to the reference.
    TimedVariant timed(const Variant& variant, const DeviceBuffer<float>& x, Shape shape,
                       Validation* result = nullptr) {
        DeviceBuffer<float> y(static_cast<size_t>(output_elements(variant.operation, shape)));
        y.poison();
        Launcher launch(variant);
        launch.prepare(shape);
        const Roof roof = variant.operation == Operation::log_sum_exp ? Roof::read : Roof::copy;
        const TimedVariant time =
            time_with_roof([&](cudaStream_t stream) { launch(x.data(), y.data(), stream); }, roof,
                           x.data(), x.bytes());
        if (result != nullptr) {
            const Report report = check(x.data(), shape, {y.data(), rules_of(variant, shape)});
            if (!report.good()) {
                std::printf("  WRONG after timing %s at %s: %s\n", variant.name.c_str(),
                            text_of(shape).c_str(), describe(report).c_str());
                good_ = false;
            }
            result->worst_relative_error =
                std::max(result->worst_relative_error, report.worst_relative_error);
        }
        return time;
    }

    void measure_counts(const std::vector<Shape>& shapes) {
        Table table({{"variant", 16, Align::left},
                     {"shape", 14, Align::right},
                     {"loads", 12, Align::right},
                     {"stores", 12, Align::right},
                     {"sectors", 8, Align::right},
                     {"conflicts", 10, Align::right}});
        for (const Shape shape : shapes) {
            const DeviceBuffer<float> x = measured_input(shape);
            for (size_t i = 0; i < chosen_.size(); ++i) {
                const Variant& variant = *chosen_[i];
                ask("How many loads and stores per element will " + variant.name + " make?");
                probe().start();
                const DeviceBuffer<float> y = output_of(variant, x, shape);
                const std::optional<Counts> counts = probe().stop();
                Record record = record_of(variant, shape, results_[i]);
                record.counts = counts;
                records_.push_back(record);
                if (!counts) continue;
                const double total = static_cast<double>(elements(shape)) * sizeof(float);
                const double requests = static_cast<double>(counts->global_load_requests +
                                                            counts->global_store_requests);
                const double sectors =
                    static_cast<double>(counts->global_load_sectors + counts->global_store_sectors);
                const std::string loads =
                    number(static_cast<double>(counts->global_load_bytes) / total, 2);
                const std::string stores =
                    number(static_cast<double>(counts->global_store_bytes) / total, 2);
                table.row({variant.name, text_of(shape),
                           loads + " (" + number(variant.traffic.loads, 0) + ")",
                           stores + " (" + number(variant.traffic.stores, 0) + ")",
                           number(sectors / requests, 1),
                           std::to_string(counts->shared_bank_conflicts)});
                answer(loads + " loads and " + stores + " stores");
            }
        }
        table.print();
        std::printf(
            "  Counted on the CPU device, not timed. loads, stores: accesses per element (in\n"
            "  brackets: as the lesson claims). sectors: of 32 bytes, per request of a warp.\n"
            "  conflicts: of banks of shared memory.\n");
    }

    DeviceBuffer<float> measured_input(Shape shape) {
        DeviceBuffer<float> x(static_cast<size_t>(elements(shape)));
        const Input input = options_.inputs.empty() ? Input::normal : options_.inputs.front();
        fill_case(x, array_ ? Case{options_.input_file, shape, std::nullopt, &array_->values}
                            : Case{name_of(input), shape, input});
        return x;
    }

    Record record_of(const Variant& variant, Shape shape, const Validation& validation) const {
        Record record;
        record.stage = stage_.name;
        record.variant = variant.name;
        record.operation = variant.operation;
        record.input =
            array_ ? options_.input_file
                   : name_of(options_.inputs.empty() ? Input::normal : options_.inputs.front());
        record.shape = shape;
        record.bytes = (elements(shape) + output_elements(variant.operation, shape)) *
                       static_cast<int64_t>(sizeof(float));
        record.declared = variant.traffic;
        record.max_relative_error = validation.worst_relative_error;
        return record;
    }

    static bool fits(Shape shape) {
        size_t free_bytes = 0;
        size_t total = 0;
        check_cuda(cudaMemGetInfo(&free_bytes, &total), "asking for free memory");
        return static_cast<double>(elements(shape)) * sizeof(float) * 3.1 <
               static_cast<double>(free_bytes);
    }

    void ask(const std::string& question) const {
        if (!options_.ask) return;
        std::printf("  %s ", question.c_str());
        std::fflush(stdout);
        std::string guess;
        std::getline(std::cin, guess);
    }
    void answer(const std::string& text) const {
        if (options_.ask) std::printf("  -> %s\n", text.c_str());
    }

    void save_output() const {
        const Case one = validation_cases(options_, array_).front();
        const Variant& variant = *chosen_.front();
        DeviceBuffer<float> x(static_cast<size_t>(elements(one.shape)));
        fill_case(x, one);
        const DeviceBuffer<float> y = output_of(variant, x, one.shape);
        std::vector<int64_t> shape = {one.shape.rows, one.shape.cols};
        if (variant.operation == Operation::log_sum_exp) shape = {one.shape.rows};
        write_npy(options_.save_output, shape, y.download());
        std::printf("  output of %s on %s, %s: %s\n", variant.name.c_str(), one.input.c_str(),
                    text_of(one.shape).c_str(), options_.save_output.c_str());
    }

    const Stage& stage_;
    const RunOptions& options_;
    const std::optional<Array>& array_;
    std::vector<const Variant*> chosen_;
    std::vector<Validation> results_;
    std::vector<Record> records_;
    std::vector<std::string> warnings_;
    bool good_ = true;
};

void check_options(const std::vector<const Stage*>& stages, const RunOptions& options) {
    if (!options.variant.empty()) {
        std::string known;
        bool found = false;
        for (const Stage* stage : stages) {
            for (const Variant& variant : stage->variants) {
                found = found || variant.name == options.variant;
                known += " " + variant.name;
            }
        }
        if (!found)
            throw UsageError("no variant is called '" + options.variant + "'; here are:" + known);
    }
    if (!options.input_file.empty() && !options.shapes.empty()) {
        throw UsageError(
            "--shape and an input file exclude each other: the file has its own shape");
    }
    if (!options.save_output.empty()) {
        const bool one_variant = stages.size() == 1 &&
                                 (!options.variant.empty() || stages.front()->variants.size() == 1);
        const bool one_input = !options.input_file.empty() ||
                               (options.shapes.size() == 1 && options.inputs.size() == 1);
        if (!one_variant || !one_input) {
            throw UsageError(
                "--save-output needs one stage, one --variant, and one input: a file, or one "
                "--shape and one --input");
        }
    }
}

// Finds out before the work whether its results can be kept.
void prepare_outputs(const RunOptions& options) {
    const auto require_writable = [](const std::filesystem::path& folder) {
        std::error_code error;
        std::filesystem::create_directories(folder, error);
        if (access(folder.c_str(), W_OK) == 0) return;
        throw FileError(folder.string() + ": not a folder that can be written to");
    };
    require_writable(options.out);
    if (options.save_output.empty()) return;
    const std::filesystem::path folder = std::filesystem::path(options.save_output).parent_path();
    require_writable(folder.empty() ? "." : folder);
}

}  // namespace

const Stage& find_stage(const std::vector<Stage>& all, std::string word) {
    while (!word.empty() && word.back() == '/') word.pop_back();
    for (const Stage& stage : all) {
        const std::string number = stage.name.substr(0, 2);
        const std::string name = stage.name.substr(3);
        const bool is_number = word == number || (number[0] == '0' && word == number.substr(1));
        const bool is_word =
            word == stage.name || word == name || word == name.substr(0, name.find('_'));
        if (is_number || is_word) return stage;
    }
    std::string known;
    for (const Stage& stage : all) known += " " + stage.name;
    throw UsageError("no stage is called '" + word + "'; here are:" + known);
}

Shape parse_shape(const std::string& text) {
    const size_t cross = text.find('x');
    const auto size = [&](const std::string& digits) {
        constexpr size_t kDigits = 12;
        const bool number = !digits.empty() && digits.size() <= kDigits &&
                            digits.find_first_not_of("0123456789") == std::string::npos;
        if (!number || std::stoll(digits) == 0) {
            throw UsageError("--shape " + text +
                             ": ROWSxCOLS is wanted, both at least 1, as in 4000x1000");
        }
        return static_cast<int64_t>(std::stoll(digits));
    };
    const Shape shape{size(text.substr(0, cross)),
                      size(cross == std::string::npos ? "" : text.substr(cross + 1))};
    constexpr int64_t kMostElements = int64_t{1} << 40;  // 4 TB of floats
    if (shape.cols > kMostElements / shape.rows) {
        throw UsageError("--shape " + text + ": more elements than any device holds");
    }
    return shape;
}

ExitCode run(const std::vector<Stage>& all, const RunOptions& options) {
    std::vector<const Stage*> stages;
    for (const std::string& word : options.stages) stages.push_back(&find_stage(all, word));
    if (stages.empty()) {
        for (const Stage& stage : all) stages.push_back(&stage);
    }
    check_options(stages, options);
    std::optional<Array> array;
    if (!options.input_file.empty()) {
        array = read_npy(options.input_file, 2);
        if (array->values.empty()) throw FileError(options.input_file + ": it holds no elements");
    }

    prepare_outputs(options);

    bool good = true;
    for (const Stage* stage : stages) {
        const bool has_variant = std::any_of(
            stage->variants.begin(), stage->variants.end(), [&](const Variant& variant) {
                return options.variant.empty() || variant.name == options.variant;
            });
        if (has_variant) good = StageRun(*stage, options, array).run() && good;
    }
    std::printf(good ? "All good.\n" : "Something is WRONG: see above.\n");
    return good ? kGood : kWrong;
}

}  // namespace runner
