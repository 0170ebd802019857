// SPDX-License-Identifier: MIT
#include "common/runner/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <set>

#include "common/io/table.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/check.hpp"
#include "common/runner/device.hpp"
#include "common/runner/device_array.hpp"
#include "common/runner/npy.hpp"
#include "common/runner/operands.hpp"
#include "common/runner/probe.hpp"
#include "common/runner/record.hpp"
#include "common/runner/timing.hpp"

namespace runner {

using io::Align;
using io::Column;
using io::number;
using io::print_heading;
using io::Table;

namespace {

constexpr uint64_t kSeed = 2018;

// Widths at which reductions go wrong: below, at and above a warp, a block, a power of two; primes.
const std::vector<int64_t> kWidths = {1, 7, 31, 32, 33, 255, 1000, 1024, 1025, 4096, 4099, 10007};
const std::vector<int64_t> kQuickWidths = {33, 1000, 4099};

// The same along another axis: an inner one of a few elements, of no whole packs, of many.
const std::vector<Shape> kInnerShapes = {
    {5, 8, 3}, {3, 100, 12}, {2, 33, 33}, {1, 128, 1000}, {2, 1025, 7}};

bool on_gpu() {
    return build_info().backend == "cuda";
}

// One thing to validate on: a shape and what fills it.
struct Case {
    std::string input;
    Shape shape;
    std::optional<Input> named;  // otherwise the user's values
    const std::vector<double>* values = nullptr;
};

std::string text_of(const Case& one, DType dtype) {
    return one.input + ", " + name_of(dtype) + ", " + text_of(one.shape);
}

Operands operands_of(const Case& one, DType dtype, Operation operation) {
    if (one.named) return {operation, one.shape, dtype, *one.named, kSeed};
    DeviceArray x(dtype, static_cast<size_t>(elements(one.shape)));
    x.upload(*one.values);
    return {operation, one.shape, std::move(x), kSeed};
}

// The operands of one case, made anew only where the next operation takes others.
class CaseOperands {
public:
    CaseOperands(Case one, DType dtype) : one_(std::move(one)), dtype_(dtype) {}
    const Operands& for_operation(Operation operation) {
        if (!operands_ || !are_comparable(operation, operation_)) {
            operands_.reset();  // its memory first
            operands_.emplace(operands_of(one_, dtype_, operation));
            operation_ = operation;
        }
        return *operands_;
    }

private:
    Case one_;
    DType dtype_;
    Operation operation_ = Operation::softmax;
    std::optional<Operands> operands_;
};

Roof roof_of(Operation operation) {
    if (operation == Operation::log_sum_exp) return Roof::read;
    return is_plain(operation) ? Roof::copy : Roof::join;
}

// along_any_axis: with shapes (outer, dim, inner), for variants that take them.
std::vector<Case> validation_cases(const RunOptions& options, const std::optional<Array>& array,
                                   bool along_any_axis = false) {
    if (array)
        return {
            {options.input_file, {array->shape[0], array->shape[1]}, std::nullopt, &array->values}};
    std::vector<Shape> shapes = options.shapes;
    if (shapes.empty()) {
        const int64_t rows = on_gpu() ? 300 : 3;
        for (const int64_t cols : options.quick ? kQuickWidths : kWidths)
            shapes.push_back({rows, cols});
        if (!options.quick) {
            shapes.push_back({2, 70001});  // long enough to be split
            shapes.push_back({130, 65});   // two matrices for a causal softmax
        }
    }
    std::vector<Case> cases;
    if (options.shapes.empty() && along_any_axis)
        shapes.insert(shapes.end(), kInnerShapes.begin(), kInnerShapes.end());
    for (const Input input : options.inputs.empty() ? all_inputs() : options.inputs) {
        for (const Shape shape : shapes) cases.push_back({name_of(input), shape, input});
    }
    return cases;
}

// Widths of which every kind comes up in every octave: powers of two and their neighbours, multiples of
// smaller powers, odd numbers.
std::vector<int64_t> grid_of_widths() {
    constexpr int64_t kWidest = int64_t{1} << 20;
    std::set<int64_t> widths = {kWidest};
    for (int64_t octave = 1; octave < kWidest; octave *= 2) {
        widths.insert({octave - 1, octave, octave + 1});
        for (int64_t eighth = 1; eighth < 8; ++eighth)
            widths.insert(octave + eighth * octave / 8 + (octave >= 16 ? eighth % 2 : 0));
    }
    widths.erase(0);
    return {widths.begin(), widths.end()};
}

std::vector<Shape> measured_shapes(const RunOptions& options, const std::optional<Array>& array,
                                   DType dtype) {
    if (array) return {{array->shape[0], array->shape[1]}};
    if (!options.shapes.empty()) return options.shapes;
    if (options.megabytes > 0) {
        const int64_t all =
            options.megabytes * 1000 * 1000 / 2 / static_cast<int64_t>(size_of(dtype));
        std::vector<Shape> shapes;
        for (const int64_t cols : grid_of_widths()) {
            if (cols <= all) shapes.push_back({all / cols, cols});
        }
        return shapes;
    }
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

bool is_chosen(const Variant& variant, const RunOptions& options) {
    return options.variant.empty() || options.variant == variant.name;
}

// The types that are measured: those asked for, or the one of all stages.
std::vector<DType> measured_dtypes(const RunOptions& options) {
    return options.dtypes.empty() ? std::vector<DType>{DType::float32} : options.dtypes;
}

// A variant's scratch and launch, with errors as exceptions.
class Launcher {
public:
    Launcher(const Variant& variant, Shape shape, DType dtype)
        : variant_(variant),
          shape_(shape),
          dtype_(dtype),
          workspace_(workspace_of(variant, shape, dtype)) {}

    void operator()(const Inputs& inputs, void* y, cudaStream_t stream = nullptr) {
        const Call call{
            inputs.x,          y,      dtype_,    shape_.rows, shape_.cols, workspace_.data(),
            workspace_.size(), stream, inputs.x2, 0,           0,           shape_.inner};
        check_cuda(variant_.launch(call), "launching " + variant_.name);
    }

private:
    const Variant& variant_;
    Shape shape_;
    DType dtype_;
    DeviceBuffer<unsigned char> workspace_;
};

// What validating one variant in one type has shown so far.
struct Validation {
    int cases = 0;
    int at_border = 0;   // cases with rows whose result stage 01 leaves open
    int overflowed = 0;  // cases in which rows overflowed, as promised
    Report worst;        // the report with the largest error
    double worst_previous = 0;
    bool compared = false;
    double worst_relative_error = 0;
    std::vector<std::string> failures;

    void add(const std::string& where, const Report& report) {
        ++cases;
        overflowed += report.promised > 0;
        at_border += report.unchecked > 0;
        worst_relative_error = std::max(worst_relative_error, report.worst_relative_error);
        if (report.worst_share > worst.worst_share) worst = report;
        if (!report.good()) failures.push_back(where + ": " + describe(report));
    }
    void add_comparison(const std::string& where, const std::string& previous,
                        const Report& report) {
        if (report.checked == 0) return;  // every row overflows in one of the two
        compared = true;
        worst_previous = std::max(worst_previous, report.worst_share);
        if (!report.good()) {
            failures.push_back(where + ", against " + previous + ": " + describe(report));
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
            if (is_chosen(variant, options)) chosen_.push_back(&variant);
        }
    }

    bool run() {
        const std::vector<DType> validated = validated_dtypes();
        print_heading(stage_.name + ": " + stage_.title,
                      std::string(on_gpu() ? "cuda" : "cpu") + " device, " +
                          (validated.size() == 1 ? name_of(validated.front())
                                                 : std::to_string(validated.size()) + " types"));
        validate();
        print_validation();
        measure();
        print_ways();
        print_left_out();
        for (const std::string& note : stage_.notes) std::printf("  %s\n", note.c_str());
        if (!options_.save_output.empty()) save_output();
        // Where nothing was measured, what an earlier run has left stays.
        std::printf("  records: %s\n\n",
                    records_.empty()
                        ? "none"
                        : write_records(options_.out, records_name(), records_).c_str());
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

    // The nearest earlier one of a comparable operation that takes this shape and type.
    const Variant* previous_of(const Variant& variant, Shape shape, DType dtype) const {
        const Variant* previous = nullptr;
        for (const Variant* each : sequence()) {
            if (each == &variant) return previous;
            if (!are_comparable(each->operation, variant.operation)) continue;
            if (obstacle_of(*each, shape, dtype).empty()) previous = each;
        }
        return nullptr;
    }

    // Unless told otherwise, a full run validates whatever type a variant takes.
    bool is_validated(const Variant& variant, DType dtype) const {
        if (options_.dtypes.empty() && !options_.quick) return takes(variant, dtype);
        const std::vector<DType> measured = measured_dtypes(options_);
        return std::find(measured.begin(), measured.end(), dtype) != measured.end();
    }

    std::vector<DType> validated_dtypes() const {
        std::vector<DType> dtypes;
        for (const DType dtype : all_dtypes()) {
            const auto validated = [&](const Variant* each) { return is_validated(*each, dtype); };
            if (std::any_of(chosen_.begin(), chosen_.end(), validated)) dtypes.push_back(dtype);
        }
        return dtypes;
    }

    bool any_takes_inner() const {
        return std::any_of(chosen_.begin(), chosen_.end(),
                           [](const Variant* each) { return each->takes_inner; });
    }

    // Whether the variant takes it; if not, that is kept for the reader, unless nobody has asked.
    bool takes_or_left_out(const Variant& variant, Shape shape, DType dtype) {
        if (shape.inner > 1 && !variant.takes_inner && options_.shapes.empty()) return false;
        const std::string obstacle = obstacle_of(variant, shape, dtype);
        if (obstacle.empty()) return true;
        LeftOut& left_out = left_out_[variant.name + ": " + obstacle];
        left_out.dtypes.insert(name_of(dtype));
        left_out.shapes.insert(text_of(shape));
        return false;
    }

    void validate() {
        const std::vector<Case> cases = validation_cases(options_, array_, any_takes_inner());
        const std::vector<DType> dtypes = validated_dtypes();
        Progress progress("validating", cases.size() * dtypes.size());
        for (const DType dtype : dtypes) {
            for (const Case& one : cases) {
                validate_case(one, dtype);
                progress.step();
            }
        }
    }

    void validate_case(const Case& one, DType dtype) {
        std::vector<const Variant*> taking;
        for (const Variant* variant : chosen_) {
            if (is_validated(*variant, dtype) && takes_or_left_out(*variant, one.shape, dtype))
                taking.push_back(variant);
        }
        if (taking.empty()) return;
        CaseOperands operands(one, dtype);
        const std::string where = text_of(one, dtype);
        const Variant* before = nullptr;  // whose result is in y_before: mostly the one wanted next
        DeviceArray y_before;
        for (const Variant* variant : taking) {
            Validation& validation = results_[{variant, dtype}];
            try {
                const Inputs inputs = operands.for_operation(variant->operation).inputs();
                DeviceArray y = output_of(*variant, inputs, one.shape, dtype);
                const Result ours{y.data(), rules_of(*variant, one.shape, dtype)};
                validation.add(where, check(inputs, one.shape, ours));
                if (const Variant* previous = previous_of(*variant, one.shape, dtype)) {
                    if (previous != before) {
                        y_before = output_of(*previous, inputs, one.shape, dtype);
                        before = previous;
                    }
                    const Result theirs{y_before.data(), rules_of(*previous, one.shape, dtype)};
                    validation.add_comparison(where, previous->name,
                                              compare(inputs, one.shape, ours, theirs));
                }
                before = variant;
                y_before = std::move(y);
            } catch (const CudaError& error) {
                ++validation.cases;
                validation.failures.push_back(where + ": " + error.what());
                if (on_gpu()) throw;  // the GPU's context does not survive a fault
            }
        }
    }

    static DeviceArray output_of(const Variant& variant, const Inputs& inputs, Shape shape,
                                 DType dtype) {
        DeviceArray y(dtype, static_cast<size_t>(output_elements(variant.operation, shape)));
        y.poison();
        Launcher launch(variant, shape, dtype);
        launch(inputs, y.data());
        check_cuda(cudaDeviceSynchronize(), "running " + variant.name);
        return y;
    }

    Column name_column() const {
        size_t longest = 16;
        for (const Variant* variant : chosen_) longest = std::max(longest, variant->name.size());
        return {"variant", static_cast<int>(longest), Align::left};
    }

    // The columns of a table, and the cells of its row: with the type where there is more than one.
    static std::vector<Column> with_dtype(bool several, std::vector<Column> columns) {
        if (several) columns.insert(columns.begin() + 1, {"dtype", 8, Align::left});
        return columns;
    }
    static std::vector<std::string> with_dtype(bool several, DType dtype,
                                               std::vector<std::string> cells) {
        if (several) cells.insert(cells.begin() + 1, name_of(dtype));
        return cells;
    }

    void print_validation() {
        const bool several = validated_dtypes().size() > 1;
        Table table(with_dtype(several, {name_column(),
                                         {"correct", 10, Align::right},
                                         {"error/bound", several ? 11 : 12, Align::right},
                                         {"vs previous", several ? 11 : 12, Align::right},
                                         {"", several ? 17 : 24, Align::left}}));
        for (const Variant* variant : chosen_) {
            for (const DType dtype : all_dtypes()) {
                const auto found = results_.find({variant, dtype});
                if (found == results_.end()) continue;
                const Validation& result = found->second;
                const bool right = result.failures.empty();
                good_ = good_ && right;
                const std::string cases = std::to_string(result.cases);
                table.row(with_dtype(
                    several, dtype,
                    {variant->name, right ? cases + " of " + cases : "WRONG",
                     number(result.worst.worst_share, 2),
                     result.compared ? number(result.worst_previous, 2) : "-", remark(result)}));
            }
        }
        table.print();
        for (const auto& [key, result] : results_) print_failures(*key.first, result);
    }

    void print_ways() {
        for_each_measured([&](const auto& variants, Shape shape, DType dtype) {
            for (const Variant* variant : variants) {
                if (!variant->way) continue;
                const std::string type =
                    dtype == DType::float32 ? "" : std::string(", ") + name_of(dtype);
                std::printf("  %s %s%s: %s\n", variant->name.c_str(), text_of(shape).c_str(),
                            type.c_str(), variant->way(shape, dtype).c_str());
            }
        });
    }

    void print_left_out() const {
        const auto one_or_many = [](const std::set<std::string>& all, const char* what) {
            return all.size() == 1 ? *all.begin() : std::to_string(all.size()) + what;
        };
        for (const auto& [what, where] : left_out_) {
            std::printf("  left out: %s (%s, %s)\n", what.c_str(),
                        one_or_many(where.dtypes, " types").c_str(),
                        one_or_many(where.shapes, " shapes").c_str());
        }
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
        std::printf("\n");
        if (on_gpu()) {
            measure_times();
        } else {
            measure_counts();
        }
    }

    // Of the types that were asked for, the shapes and variants that take part in a measurement.
    template <class Measure>
    void for_each_measured(Measure measure) {
        for (const DType dtype : measured_dtypes(options_)) {
            const std::vector<Shape> shapes = measured_shapes(options_, array_, dtype);
            const bool own = shapes_are_the_courses();
            for (const Shape shape : shapes) {
                std::vector<const Variant*> taking;
                for (const Variant* variant : chosen_) {
                    const bool in_grid =
                        options_.megabytes == 0 || variant->operation == chosen_.front()->operation;
                    const bool elsewhere = own && !variant->measured_at.empty();
                    if (in_grid && !elsewhere && takes_or_left_out(*variant, shape, dtype))
                        taking.push_back(variant);
                }
                if (!taking.empty()) measure(taking, shape, dtype);
            }
            if (own) for_each_own_shape(measure, dtype);
        }
    }

    bool shapes_are_the_courses() const {
        return !array_ && options_.shapes.empty() && options_.megabytes == 0;
    }

    // The same of variants that have shapes of their own, in the order in which they name them.
    template <class Measure>
    void for_each_own_shape(Measure measure, DType dtype) {
        std::vector<Shape> shapes;
        const auto is_in = [](const std::vector<Shape>& all, Shape shape) {
            return std::find(all.begin(), all.end(), shape) != all.end();
        };
        for (const Variant* variant : chosen_) {
            for (const Shape shape : variant->measured_at) {
                if (!is_in(shapes, shape)) shapes.push_back(shape);
            }
        }
        for (const Shape shape : shapes) {
            std::vector<const Variant*> taking;
            for (const Variant* variant : chosen_) {
                if (is_in(variant->measured_at, shape) && takes_or_left_out(*variant, shape, dtype))
                    taking.push_back(variant);
            }
            if (!taking.empty()) measure(taking, shape, dtype);
        }
    }

    void measure_times() {
        const std::vector<DType> dtypes = measured_dtypes(options_);
        const bool several = dtypes.size() > 1;
        Table table(with_dtype(several, {name_column(),
                                         {"shape", several ? 13 : 16, Align::right},
                                         {"us", several ? 8 : 10, Align::right},
                                         {"GB/s", 7, Align::right},
                                         {"of roof", 8, Align::right},
                                         {"speed-up", several ? 8 : 9, Align::right}}));
        double empty_us = std::numeric_limits<double>::infinity();
        for_each_measured([&](const auto& variants, Shape shape, DType dtype) {
            for (const Record& record : measure_shape(variants, shape, dtype)) {
                const Timing& time = record.timed->work;
                table.row(with_dtype(several, dtype,
                                     {record.variant, text_of(shape), number(time.us_median, 1),
                                      number(gigabytes_per_second(record.bytes, time.us_median), 0),
                                      number(record.timed->roof.us_median / time.us_median, 3),
                                      record.speedup ? number(*record.speedup, 2) : "-"}));
                empty_us = std::min(empty_us, record.timed->empty.us_median);
                records_.push_back(record);
            }
        });
        table.print();
        for (const std::string& warning : warnings_) std::printf("  %s\n", warning.c_str());
        std::printf(
            "  GB/s: bytes of the inputs and the result over the median time, caches flushed.\n"
            "  roof: a copy of the same bytes, timed in turn. speed-up: over the variant\n"
            "  before that computes the same.\n");
        if (std::isfinite(empty_us)) {
            std::printf(
                "  A kernel that does nothing takes %s us here: no small shape can be faster.\n",
                number(empty_us, 1).c_str());
        }
    }

    // Every one of the variants that the memory has room for, timed beside the last before it that
    // computes the same.
    std::vector<Record> measure_shape(const std::vector<const Variant*>& variants, Shape shape,
                                      DType dtype) {
        std::vector<Record> records;
        std::vector<const Variant*> taking;
        for (const Variant* variant : variants) {
            if (fits(variant->operation, shape, dtype)) {
                taking.push_back(variant);
            } else {
                std::printf("  %s, %s, %s left out: the GPU has too little memory free\n",
                            variant->name.c_str(), text_of(shape).c_str(), name_of(dtype));
            }
        }
        if (taking.empty()) return records;
        CaseOperands operands(measured_case(shape), dtype);
        std::vector<Timed> times;
        if (stage_.baseline && obstacle_of(*stage_.baseline, shape, dtype).empty()) {
            times.push_back({stage_.baseline->operation, stage_.baseline->name,
                             timed(*stage_.baseline, operands, shape, dtype).work.us_median});
        }
        for (const Variant* variant : taking) {
            ask("How many GB/s will " + variant->name + " reach at " + text_of(shape) + "?");
            Validation& validation = results_[{variant, dtype}];
            const TimedVariant time = timed(*variant, operands, shape, dtype, &validation);
            Record record = record_of(*variant, shape, dtype);
            record.timed = time;
            for (const Timed& earlier : times) {  // the last that computes the same counts
                if (earlier.operation != variant->operation) continue;
                record.baseline = earlier.name;
                record.speedup = earlier.us / time.work.us_median;
            }
            times.push_back(
                {variant->operation, stage_.name + "/" + variant->name, time.work.us_median});
            answer(number(gigabytes_per_second(record.bytes, time.work.us_median), 0) + " GB/s");
            for (const std::string& oddity : oddities(time)) {
                warnings_.push_back("careful: " + variant->name + " at " + text_of(shape) + " " +
                                    oddity);
            }
            records.push_back(record);
        }
        return records;
    }

    // Times the variant and holds what the last launch left to the reference.
    TimedVariant timed(const Variant& variant, CaseOperands& operands, Shape shape, DType dtype,
                       Validation* result = nullptr) {
        const Inputs inputs = operands.for_operation(variant.operation).inputs();
        DeviceArray y(dtype, static_cast<size_t>(output_elements(variant.operation, shape)));
        y.poison();
        Launcher launch(variant, shape, dtype);
        const TimedVariant time = time_with_roof(
            [&](cudaStream_t stream) { launch(inputs, y.data(), stream); },
            roof_of(variant.operation), inputs, footprint_of(variant.operation, shape, dtype));
        if (result != nullptr) {
            const Report report = check(inputs, shape, {y.data(), rules_of(variant, shape, dtype)});
            if (!report.good()) {
                std::printf("  WRONG after timing %s at %s, %s: %s\n", variant.name.c_str(),
                            text_of(shape).c_str(), name_of(dtype), describe(report).c_str());
                good_ = false;
            }
            result->worst_relative_error =
                std::max(result->worst_relative_error, report.worst_relative_error);
        }
        return time;
    }

    void measure_counts() {
        const std::vector<DType> dtypes = measured_dtypes(options_);
        const bool several = dtypes.size() > 1;
        const bool long_names = name_column().width > 16;
        Table table(
            with_dtype(several, {name_column(),
                                 {"shape", 14, Align::right},
                                 {"loads",
                                  long_names ? 11
                                  : several  ? 9
                                             : 12,
                                  Align::right},
                                 {"stores",
                                  several      ? 9
                                  : long_names ? 11
                                               : 12,
                                  Align::right},
                                 {"sectors", several || long_names ? 7 : 8, Align::right},
                                 {"conflicts", several || long_names ? 9 : 10, Align::right}}));
        for_each_measured([&](const auto& variants, Shape shape, DType dtype) {
            for (const Variant* variant : variants) {
                const std::vector<std::string> cells = count(*variant, shape, dtype);
                if (!cells.empty()) table.row(with_dtype(several, dtype, cells));
            }
        });
        table.print();
        std::printf(
            "  Counted on the CPU device, not timed. loads, stores: accesses per element (in\n"
            "  brackets: as the lesson claims). sectors: of 32 bytes, per request of a warp.\n"
            "  conflicts: of banks of shared memory.\n");
    }

    // Counts and records one launch: the cells of its row, none where nothing was counted.
    std::vector<std::string> count(const Variant& variant, Shape shape, DType dtype) {
        const Operands operands = operands_of(measured_case(shape), dtype, variant.operation);
        ask("How many loads and stores per element will " + variant.name + " make?");
        probe().start();
        const DeviceArray y = output_of(variant, operands.inputs(), shape, dtype);
        const std::optional<Counts> counts = probe().stop();
        Record record = record_of(variant, shape, dtype);
        record.counts = counts;
        records_.push_back(record);
        if (!counts) return {};
        const auto total = static_cast<double>(operands.x().bytes());
        const Traffic declared = traffic_of(variant, shape, dtype);
        const auto claimed = [](double accesses) {  // "(1)", but "(1.25)" where a mask counts
            return " (" + number(accesses, accesses == std::round(accesses) ? 0 : 2) + ")";
        };
        const auto requests =
            static_cast<double>(counts->global_load_requests + counts->global_store_requests);
        const auto sectors =
            static_cast<double>(counts->global_load_sectors + counts->global_store_sectors);
        const std::string loads = number(static_cast<double>(counts->global_load_bytes) / total, 2);
        const std::string stores =
            number(static_cast<double>(counts->global_store_bytes) / total, 2);
        answer(loads + " loads and " + stores + " stores");
        return {variant.name,
                text_of(shape),
                loads + claimed(declared.loads),
                stores + claimed(declared.stores),
                number(sectors / requests, 1),
                std::to_string(counts->shared_bank_conflicts)};
    }

    Case measured_case(Shape shape) const {
        const Input input = options_.inputs.empty() ? Input::normal : options_.inputs.front();
        return array_ ? Case{options_.input_file, shape, std::nullopt, &array_->values}
                      : Case{name_of(input), shape, input};
    }

    Record record_of(const Variant& variant, Shape shape, DType dtype) const {
        Record record;
        record.stage = stage_.name;
        record.variant = variant.name;
        record.operation = variant.operation;
        record.overflows = variant.overflows;
        record.dtype = dtype;
        record.input =
            array_ ? options_.input_file
                   : name_of(options_.inputs.empty() ? Input::normal : options_.inputs.front());
        record.shape = shape;
        record.bytes = footprint_of(variant.operation, shape, dtype).total();
        record.declared = traffic_of(variant, shape, dtype);
        if (variant.way) record.way = variant.way(shape, dtype);
        const auto validation = results_.find({&variant, dtype});
        if (validation != results_.end())
            record.max_relative_error = validation->second.worst_relative_error;
        return record;
    }

    // x, x2, the result, and what the roof writes.
    static bool fits(Operation operation, Shape shape, DType dtype) {
        size_t free_bytes = 0;
        size_t total = 0;
        check_cuda(cudaMemGetInfo(&free_bytes, &total), "asking for free memory");
        const double of_x =
            static_cast<double>(elements(shape)) * static_cast<double>(size_of(dtype));
        const double of_x2 =
            static_cast<double>(elements(shape)) * static_cast<double>(x2_size(operation, dtype));
        return 3.1 * of_x + of_x2 < static_cast<double>(free_bytes);
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

    // A grid of widths stands beside the records of the course's shapes.
    std::string records_name() const {
        return stage_.name + (options_.megabytes > 0 ? ".widths" : "");
    }

    void save_output() const {
        const Case one = validation_cases(options_, array_).front();
        const Variant& variant = *chosen_.front();
        const DType dtype = measured_dtypes(options_).front();
        const Operands operands = operands_of(one, dtype, variant.operation);
        const DeviceArray y = output_of(variant, operands.inputs(), one.shape, dtype);
        std::vector<int64_t> shape = {one.shape.rows, one.shape.cols};
        if (one.shape.inner > 1) shape.push_back(one.shape.inner);
        if (variant.operation == Operation::log_sum_exp) shape = {one.shape.rows};
        write_npy(options_.save_output, {shape, y.values(), dtype});
        std::printf("  output of %s on %s: %s\n", variant.name.c_str(), text_of(one, dtype).c_str(),
                    options_.save_output.c_str());
        if (dtype == DType::bfloat16) std::printf("  (as float32: NumPy has no bfloat16)\n");
    }

    const Stage& stage_;
    const RunOptions& options_;
    const std::optional<Array>& array_;
    std::vector<const Variant*> chosen_;
    std::map<std::pair<const Variant*, DType>, Validation> results_;
    struct LeftOut {
        std::set<std::string> dtypes, shapes;
    };
    std::map<std::string, LeftOut> left_out_;  // by what and why
    std::vector<Record> records_;
    std::vector<std::string> warnings_;
    bool good_ = true;
};

void check_options(const std::vector<const Stage*>& stages, const RunOptions& options) {
    require_variant(stages, options.variant);
    if (!options.input_file.empty() && !options.shapes.empty()) {
        throw UsageError(
            "--shape and an input file exclude each other: the file has its own shape");
    }
    if (options.megabytes > 0 && (!options.input_file.empty() || !options.shapes.empty()))
        throw UsageError("--megabytes chooses the shapes: it excludes --shape and an input file");
    if (options.megabytes > 0 && !on_gpu())
        throw UsageError("--megabytes is for timing, which needs a GPU");
    if (!options.save_output.empty()) {
        const bool one_variant = stages.size() == 1 &&
                                 (!options.variant.empty() || stages.front()->variants.size() == 1);
        const bool one_input = !options.input_file.empty() ||
                               (options.shapes.size() == 1 && options.inputs.size() == 1);
        if (!one_variant || !one_input || options.dtypes.size() > 1) {
            throw UsageError(
                "--save-output needs one stage, one --variant, and one input: a file, or one "
                "--shape and one --input; and no more than one --dtype");
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
    std::printf("%s: %s, taken as float32\n\n", options.input_file.c_str(), name_of(array.dtype));
    return DType::float32;
}

// Each shape and type that was asked for must be taken by some variant that was chosen.
void check_taken(const std::vector<const Stage*>& stages, const RunOptions& options,
                 const std::optional<Array>& array) {
    std::vector<Shape> shapes = options.shapes;
    if (array) shapes = {{array->shape[0], array->shape[1]}};
    for (const DType dtype : measured_dtypes(options)) {
        const auto reason_of = [&](const Variant& variant, const Shape* shape) {
            if (shape != nullptr || !takes(variant, dtype))
                return obstacle_of(variant, shape == nullptr ? Shape{1, 1} : *shape, dtype);
            return std::string();
        };
        const auto check = [&](const Shape* shape) {
            std::map<std::string, std::vector<std::string>> reasons;
            for (const Stage* stage : stages) {
                for (const Variant& variant : stage->variants) {
                    if (!is_chosen(variant, options)) continue;
                    const std::string reason = reason_of(variant, shape);
                    if (reason.empty()) return;
                    reasons[reason].push_back(stage->name + "/" + variant.name);
                }
            }
            std::string words = name_of(dtype) + (shape == nullptr ? "" : ", " + text_of(*shape)) +
                                " is taken by none of what was chosen";
            for (const auto& [reason, variants] : reasons) {
                words += "; " + variants.front();
                if (variants.size() > 1)
                    words += " and " + std::to_string(variants.size() - 1) + " more";
                words += ": " + reason;
            }
            throw UsageError(words);
        };
        if (shapes.empty()) check(nullptr);
        for (const Shape& shape : shapes) check(&shape);
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
    const auto size = [&](const std::string& digits) {
        constexpr size_t kDigits = 12;
        const bool number = !digits.empty() && digits.size() <= kDigits &&
                            digits.find_first_not_of("0123456789") == std::string::npos;
        if (!number || std::stoll(digits) == 0) {
            throw UsageError("--shape " + text +
                             ": ROWSxCOLS is wanted, both at least 1, as in 4000x1000; or "
                             "OUTERxDIMxINNER, as in 4x1000x64");
        }
        return static_cast<int64_t>(std::stoll(digits));
    };
    const size_t first = std::min(text.find('x'), text.size());
    const size_t second = std::min(text.find('x', first + 1), text.size());
    const auto part = [&](size_t from, size_t to) {
        return size(from < text.size() ? text.substr(from + 1, to - from - 1) : "");
    };
    const Shape shape{size(text.substr(0, first)), part(first, second),
                      second == text.size() ? 1 : part(second, text.size())};
    constexpr int64_t kMostElements = int64_t{1} << 40;  // 4 TB of floats
    if (shape.cols > kMostElements / shape.rows ||
        shape.inner > kMostElements / (shape.rows * shape.cols)) {
        throw UsageError("--shape " + text + ": more elements than any device holds");
    }
    return shape;
}

DType parse_dtype(const std::string& text) {
    const std::optional<DType> dtype = dtype_named(text);
    if (!dtype) throw UsageError("--dtype " + text + ": one of " + names_of(all_dtypes()));
    return *dtype;
}

std::vector<const Stage*> chosen_stages(const std::vector<Stage>& all,
                                        const std::vector<std::string>& words) {
    std::vector<const Stage*> stages;
    for (const std::string& word : words) stages.push_back(&find_stage(all, word));
    if (stages.empty()) {
        for (const Stage& stage : all) stages.push_back(&stage);
    }
    return stages;
}

void require_variant(const std::vector<const Stage*>& stages, const std::string& variant) {
    std::string known;
    for (const Stage* stage : stages) {
        for (const Variant& each : stage->variants) {
            if (variant.empty() || each.name == variant) return;
            known += " " + each.name;
        }
    }
    throw UsageError("no variant is called '" + variant + "'; here are:" + known);
}

void require_taken(const Variant& variant, Shape shape, DType dtype) {
    const std::string obstacle = obstacle_of(variant, shape, dtype);
    if (obstacle.empty()) return;
    throw UsageError(variant.name + ", " + name_of(dtype) + ", " + text_of(shape) + ": " +
                     obstacle);
}

ExitCode run(const std::vector<Stage>& all, RunOptions options) {
    const std::vector<const Stage*> stages = chosen_stages(all, options.stages);
    check_options(stages, options);
    std::optional<Array> array;
    if (!options.input_file.empty()) {
        array = read_npy(options.input_file, 2);
        if (array->values.empty()) throw FileError(options.input_file + ": it holds no elements");
        if (options.dtypes.empty()) options.dtypes = {dtype_of_file(*array, stages, options)};
    }

    check_taken(stages, options, array);
    prepare_outputs(options);

    bool good = true;
    for (const Stage* stage : stages) {
        const bool has_variant =
            std::any_of(stage->variants.begin(), stage->variants.end(),
                        [&](const Variant& variant) { return is_chosen(variant, options); });
        if (has_variant) good = StageRun(*stage, options, array).run() && good;
    }
    std::printf(good ? "All good.\n" : "Something is WRONG: see above.\n");
    return good ? kGood : kWrong;
}

}  // namespace runner
