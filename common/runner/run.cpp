// SPDX-License-Identifier: MIT
#include "common/runner/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <new>
#include <set>

#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/check.hpp"
#include "common/runner/device.hpp"
#include "common/runner/device_array.hpp"
#include "common/runner/guess.hpp"
#include "common/runner/memory_needed.hpp"
#include "common/runner/npy.hpp"
#include "common/runner/operands.hpp"
#include "common/runner/probe.hpp"
#include "common/runner/record.hpp"
#include "common/runner/timing.hpp"
#include "common/runner/validation.hpp"

namespace runner {

using io::Align;
using io::Column;
using io::number;
using io::print_heading;
using io::Table;

namespace {

constexpr uint64_t kSeed = 2018;
constexpr size_t kQuoted = 60;  // characters of what the user typed that a message repeats

// Widths at which reductions go wrong: below, at and above a warp, a block, a power of two; primes.
const std::vector<int64_t> kWidths = {1, 7, 31, 32, 33, 255, 1000, 1024, 1025, 4096, 4099, 10007};
const std::vector<int64_t> kQuickWidths = {33, 1000, 4099};

// The same along another axis: an inner one of a few elements, of no whole packs, of many.
const std::vector<Shape> kInnerShapes = {
    {5, 8, 3}, {3, 100, 12}, {2, 33, 33}, {1, 128, 1000}, {2, 1025, 7}};

bool on_gpu() {
    return build_info().backend == "cuda";
}

// The user's file, fit to be printed and recorded.
std::string name_of_file(const RunOptions& options) {
    return io::printable(options.input_file);
}

// A line of the report, in several where it is too long.
void say(const std::string& text) {
    io::say(stdout, "  " + text);
}

// One thing to validate on: a shape and what fills it.
struct Case {
    std::string input;
    Shape shape;
    std::optional<Input> named;  // otherwise the user's values
    const std::vector<double>* values = nullptr;
    bool watched = false;  // its launches are looked at for races: they do not depend on the values
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
        return {{name_of_file(options),
                 {array->shape[0], array->shape[1]},
                 std::nullopt,
                 &array->values}};
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
    const std::vector<Input>& inputs = options.inputs.empty() ? all_inputs() : options.inputs;
    for (const Input input : inputs) {
        // Shapes that were asked for are watched when they are counted.
        const bool watched = options.shapes.empty() && input == inputs.front();
        for (const Shape shape : shapes)
            cases.push_back({name_of(input), shape, input, nullptr, watched});
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

// While one exists, the probe counts, and looks for races.
class Observation {
public:
    Observation() { probe().start(); }
    Observation(const Observation&) = delete;
    Observation& operator=(const Observation&) = delete;
    ~Observation() { probe().stop(); }
    std::optional<Counts> counts() { return probe().stop(); }
};

// While one exists, what the device says of a failed kernel is printed by us, once.
class KeptErrors {
public:
    KeptErrors() { probe().keep_errors(true); }
    KeptErrors(const KeptErrors&) = delete;
    KeptErrors& operator=(const KeptErrors&) = delete;
    ~KeptErrors() { probe().keep_errors(false); }
};

// What failures with this text have in common: the line of the source, or all but the numbers.
std::string cause_of(const std::string& text) {
    const size_t place = text.rfind(", at ");
    if (place != std::string::npos) return text.substr(place);
    std::string cause = text;
    const auto is_digit = [](char each) { return each >= '0' && each <= '9'; };
    cause.erase(std::remove_if(cause.begin(), cause.end(), is_digit), cause.end());
    return cause;
}

// Does the work. What keeps it from its end is no end of the run: a lack of memory leaves it out, a kernel
// that failed is wrong. Only a GPU does not survive the latter.
template <class Work>
void attempt(Validation& validation, const std::string& where, Work work) {
    try {
        work();
    } catch (const std::bad_alloc&) {
        validation.add_not_run(where, "memory is short");
    } catch (const CudaError& error) {
        const std::string said = probe().take_error();
        if (error.code() == cudaErrorMemoryAllocation)
            return validation.add_not_run(where, std::string("memory is short: ") + error.what());
        if (on_gpu()) throw;
        const std::string text = said.empty() ? error.what() : said;
        validation.add_failure(where, text, std::to_string(error.code()) + cause_of(text));
        validation.stopped = true;
    }
}

// A result that is kept for the next comparison: mostly it is the one wanted.
struct KeptResult {
    const Variant* of = nullptr;
    DeviceArray y = DeviceArray();
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
    // chosen: the flags that narrow the run.
    StageRun(const Stage& stage, const RunOptions& options, const std::string& chosen,
             const std::optional<Array>& array)
        : stage_(stage), options_(options), chosen_flags_(chosen), array_(array) {
        for (const Variant& variant : stage.variants) {
            if (is_chosen(variant, options)) chosen_.push_back(&variant);
        }
    }

    // UsageError where the memory has no room for a shape that was asked for, or a result cannot be put
    // where it is to lie.
    void require_room() const {
        if (shapes_are_the_courses()) return;
        const std::vector<DType> measured = measured_dtypes(options_);
        for (const DType dtype : all_dtypes()) {
            const bool is_measured =
                std::find(measured.begin(), measured.end(), dtype) != measured.end();
            if (options_.megabytes > 0 && !is_measured) continue;
            for (const Shape shape : measured_shapes(options_, array_, dtype)) {
                for (const Variant* variant : chosen_) {
                    if (!is_validated(*variant, dtype)) continue;
                    const std::string why = shortage_of(*variant, shape, dtype);
                    if (why.empty()) continue;
                    throw UsageError(text_of(shape) + ", " + name_of(dtype) + ": " + variant->name +
                                     " " + why);
                }
            }
        }
    }
    void require_outputs() const {
        io::require_replaceable(records_path(options_.out, records_name()));
    }

    Verdict run() {
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
        for (const std::string& note : stage_.notes) say(note);
        if (!options_.save_output.empty()) save_output();
        // Where nothing was measured, what an earlier run has left stays.
        say("records: " + (records_.empty() ? "none" : io::printable(written_records())));
        std::printf("\n");
        return verdict_;
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

    // Why the memory has no room for the variant beside the one that it is compared with.
    std::string shortage_of(const Variant& variant, Shape shape, DType dtype) const {
        if (!obstacle_of(variant, shape, dtype).empty()) return "";
        size_t workspace = workspace_of(variant, shape, dtype);
        if (const Variant* previous = previous_of(variant, shape, dtype))
            workspace = std::max(workspace, workspace_of(*previous, shape, dtype));
        MemoryNeeded needed = memory_needed(variant, workspace, shape, dtype);
        if (array_) needed.on_host += host_copy_of_input(shape, dtype);
        if (!options_.save_output.empty())
            needed.on_host += host_copy_of_result(variant.operation, shape, dtype);
        return shortage(needed);
    }

    // Whether the variant takes it; if not, that is kept for the reader, unless nobody has asked. So is
    // what the memory has no room for: of the course's shapes, since the others had to have it.
    bool takes_or_left_out(const Variant& variant, Shape shape, DType dtype) {
        if (shape.inner > 1 && !variant.takes_inner && options_.shapes.empty()) return false;
        std::string obstacle = obstacle_of(variant, shape, dtype);
        if (obstacle.empty() && shapes_are_the_courses())
            obstacle = shortage_of(variant, shape, dtype).empty() ? "" : "memory is short";
        if (obstacle.empty()) return true;
        LeftOut& left_out = left_out_[variant.name + ": " + obstacle];
        left_out.dtypes.insert(name_of(dtype));
        left_out.shapes.insert(text_of(shape));
        return false;
    }

    void validate() {
        const std::vector<Case> cases = validation_cases(options_, array_, any_takes_inner());
        const std::vector<DType> dtypes = validated_dtypes();
        const KeptErrors kept_errors;
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
        KeptResult kept;
        for (const Variant* variant : taking) {
            Validation& validation = results_[{variant, dtype}];
            attempt(validation, where, [&] {
                const Inputs inputs = operands.for_operation(variant->operation).inputs();
                DeviceArray y = one.watched ? watched_output_of(*variant, inputs, one, dtype)
                                            : output_of(*variant, inputs, one.shape, dtype);
                const Result ours{y.data(), rules_of(*variant, one.shape, dtype)};
                const Report report = check(inputs, one.shape, ours);
                validation.add(where, report);
                if (report.good()) compare_with_previous(*variant, ours, inputs, one, dtype, kept);
                kept.of = variant;
                kept.y = std::move(y);
            });
        }
    }

    DeviceArray watched_output_of(const Variant& variant, const Inputs& inputs, const Case& one,
                                  DType dtype) {
        Observation observation;
        DeviceArray y = output_of(variant, inputs, one.shape, dtype);
        note_hazards(observation.counts(), results_[{&variant, dtype}], text_of(one, dtype));
        return y;
    }

    // Those that were said before are not said again.
    void note_hazards(const std::optional<Counts>& counts, Validation& validation,
                      const std::string& where, const Validation* said_before = nullptr) {
        if (!counts) return;
        ++watched_launches_;
        watched_clusters_ = watched_clusters_ || counts->in_clusters;
        hazards_found_ = hazards_found_ || !counts->hazards.empty();
        for (const std::string& hazard : counts->hazards) {
            if (said_before == nullptr || !said_before->has_failure(hazard))
                validation.add_failure(where, hazard, hazard);
        }
    }

    // kept: at first the result of the variant before, at the end that of the one compared with.
    void compare_with_previous(const Variant& variant, const Result& ours, const Inputs& inputs,
                               const Case& one, DType dtype, KeptResult& kept) {
        const Variant* previous = previous_of(variant, one.shape, dtype);
        if (previous == nullptr) return;
        Validation& validation = results_[{&variant, dtype}];
        if (previous != kept.of) {
            kept = {};  // its memory first
            Validation of_previous;
            attempt(of_previous, "", [&] {
                kept.y = output_of(*previous, inputs, one.shape, dtype);
                kept.of = previous;
            });
            if (of_previous.verdict() == Verdict::wrong)
                return validation.leave_uncompared(previous->name);
            if (kept.of == nullptr) throw std::bad_alloc();
        }
        const Result theirs{kept.y.data(), rules_of(*previous, one.shape, dtype)};
        const Report report = compare(inputs, one.shape, ours, theirs);
        // A right result that differs from a wrong one is no mistake of its own.
        if (!report.good() && report.checked > 0 && !check(inputs, one.shape, theirs).good())
            return validation.leave_uncompared(previous->name);
        validation.add_comparison(text_of(one, dtype), previous->name, report);
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
        for (const Variant* variant : chosen_)
            longest = std::max(longest, shown_name(*variant).size());
        return {"variant", static_cast<int>(longest), Align::left};
    }
    static std::string shown_name(const Variant& variant) {
        constexpr size_t kLongest = 24;
        return io::printable(variant.name, kLongest);
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
                                         {"error/bound", 12, Align::right},
                                         {"vs previous", 12, Align::right},
                                         {"", 24, Align::left}}));
        for (const Variant* variant : chosen_) {
            for (const DType dtype : all_dtypes()) {
                const auto found = results_.find({variant, dtype});
                if (found == results_.end()) continue;
                const Validation& result = found->second;
                verdict_ = std::max(verdict_, result.verdict());
                table.row(with_dtype(
                    several, dtype,
                    {shown_name(*variant), result.count(), share_text(result.worst_share),
                     result.compared ? share_text(result.worst_previous) : "-", remark(result)}));
            }
        }
        table.print();
        for (const auto& [key, result] : results_) {
            for (const std::string& line : result.remarks(key.first->name)) say(line);
        }
    }

    void print_ways() {
        for_each_measured([&](const auto& variants, Shape shape, DType dtype) {
            for (const Variant* variant : variants) {
                if (!variant->way) continue;
                const std::string type =
                    dtype == DType::float32 ? "" : std::string(", ") + name_of(dtype);
                say(variant->name + " " + text_of(shape) + type + ": " +
                    variant->way(shape, dtype));
            }
        });
    }

    void print_left_out() const {
        const auto one_or_many = [](const std::set<std::string>& all, const char* what) {
            return all.size() == 1 ? *all.begin() : std::to_string(all.size()) + what;
        };
        for (const auto& [what, where] : left_out_) {
            say("left out: " + what + " (" + one_or_many(where.dtypes, " types") + ", " +
                one_or_many(where.shapes, " shapes") + ")");
        }
    }

    static std::string remark(const Validation& result) {
        if (result.at_border > 0) {
            return std::to_string(result.at_border) + " left open: see 01";
        }
        if (result.overflowed == 0) return "";
        return std::to_string(result.overflowed) + " overflow, as promised";
    }

    void measure() {
        const KeptErrors kept_errors;
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
                                         {"shape", 16, Align::right},
                                         {"us", 10, Align::right},
                                         {"GB/s", 7, Align::right},
                                         {"of roof", 8, Align::right},
                                         {"speed-up", 9, Align::right}}));
        double empty_us = std::numeric_limits<double>::infinity();
        for_each_measured([&](const auto& variants, Shape shape, DType dtype) {
            for (const Record& record : measure_shape(variants, shape, dtype)) {
                const Timing& time = record.timed->work;
                table.row(with_dtype(
                    several, dtype,
                    {io::printable(record.variant, 24), text_of(shape), number(time.us_median, 1),
                     number(gigabytes_per_second(record.bytes, time.us_median), 0),
                     number(record.timed->roof.us_median / time.us_median, 3),
                     record.speedup ? number(*record.speedup, 2) : "-"}));
                empty_us = std::min(empty_us, record.timed->empty.us_median);
                records_.push_back(record);
            }
        });
        table.print();
        print_warnings();
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

    // Every one of the variants, timed beside the last before it that computes the same.
    std::vector<Record> measure_shape(const std::vector<const Variant*>& variants, Shape shape,
                                      DType dtype) {
        std::vector<Record> records;
        CaseOperands operands(measured_case(shape), dtype);
        std::vector<Timed> times;
        if (stage_.baseline && obstacle_of(*stage_.baseline, shape, dtype).empty()) {
            attempt_to_measure(*stage_.baseline, shape, dtype, [&](Validation&) {
                times.push_back({stage_.baseline->operation, stage_.baseline->name,
                                 timed(*stage_.baseline, operands, shape, dtype).work.us_median});
            });
        }
        for (const Variant* variant : variants) {
            attempt_to_measure(*variant, shape, dtype, [&](Validation& validation) {
                records.push_back(
                    measure_variant(*variant, operands, shape, dtype, times, validation));
            });
        }
        return records;
    }

    // What goes wrong in it is said below the table.
    template <class Work>
    void attempt_to_measure(const Variant& variant, Shape shape, DType dtype, Work work) {
        Validation validation;
        attempt(validation, "measured, " + text_of(shape) + ", " + name_of(dtype),
                [&] { work(validation); });
        verdict_ = std::max(verdict_, validation.verdict());
        for (const std::string& line : validation.remarks(variant.name)) warnings_.push_back(line);
    }

    void print_warnings() const {
        for (const std::string& warning : warnings_) say(warning);
    }

    // times: of those before it, and at the end its own.
    Record measure_variant(const Variant& variant, CaseOperands& operands, Shape shape, DType dtype,
                           std::vector<Timed>& times, Validation& validation) {
        const std::string guess =
            ask("How many GB/s will " + variant.name + " reach at " + text_of(shape) + "?");
        const TimedVariant time = timed(variant, operands, shape, dtype, &validation);
        Record record = record_of(variant, shape, dtype);
        record.timed = time;
        for (const Timed& earlier : times) {  // the last that computes the same counts
            if (earlier.operation != variant.operation) continue;
            record.baseline = earlier.name;
            record.speedup = earlier.us / time.work.us_median;
        }
        times.push_back({variant.operation, stage_.name + "/" + variant.name, time.work.us_median});
        const double reached = gigabytes_per_second(record.bytes, time.work.us_median);
        answer(guess, reached, number(reached, 0) + " GB/s");
        for (const std::string& oddity : oddities(time))
            warnings_.push_back("careful: " + variant.name + " at " + text_of(shape) + " " +
                                oddity);
        return record;
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
            result->add("after timing, " + text_of(shape) + ", " + name_of(dtype), report);
            Validation& validation = results_[{&variant, dtype}];  // what the records tell
            validation.worst_relative_error =
                std::max(validation.worst_relative_error, report.worst_relative_error);
        }
        return time;
    }

    void measure_counts() {
        const std::vector<DType> dtypes = measured_dtypes(options_);
        const bool several = dtypes.size() > 1;
        Table table(with_dtype(several, {name_column(),
                                         {"shape", 14, Align::right},
                                         {"loads", 12, Align::right},
                                         {"stores", 12, Align::right},
                                         {"moved", 8, Align::right},
                                         {"conflicts", 10, Align::right}}));
        for_each_measured([&](const auto& variants, Shape shape, DType dtype) {
            for (const Variant* variant : variants) {
                const std::vector<std::string> cells = count(*variant, shape, dtype);
                if (!cells.empty()) table.row(with_dtype(several, dtype, cells));
            }
        });
        table.print();
        print_warnings();
        std::printf(
            "  Counted on the CPU device, not timed. loads, stores: accesses per element (in\n"
            "  brackets: as the lesson claims). moved: bytes of global memory moved per byte\n"
            "  asked for; 1 is perfect. conflicts: of banks of shared memory, as compiled.\n");
        print_races_looked_for();
    }

    void print_races_looked_for() const {
        if (hazards_found_ || watched_launches_ == 0) return;
        say("Races in shared memory, looked for in " + std::to_string(watched_launches_) +
            (watched_launches_ == 1 ? " launch" : " launches") + ": none" +
            (watched_clusters_ ? " (not looked for between the blocks of a cluster)" : "") + ".");
    }

    // Counts and records one launch: the cells of its row, none where nothing was counted.
    std::vector<std::string> count(const Variant& variant, Shape shape, DType dtype) {
        if (results_[{&variant, dtype}].stopped) return {};  // it was said why
        const std::string loads_guess =
            ask("How many loads per element will " + variant.name + " make?");
        const std::string stores_guess = ask("And how many stores?");
        std::optional<Counts> counts;
        double bytes_of_x = 0;
        attempt_to_measure(variant, shape, dtype, [&](Validation& validation) {
            const Operands operands = operands_of(measured_case(shape), dtype, variant.operation);
            bytes_of_x = static_cast<double>(operands.x().bytes());
            Observation observation;
            output_of(variant, operands.inputs(), shape, dtype);
            counts = observation.counts();
            note_hazards(counts, validation, text_of(shape) + ", " + name_of(dtype),
                         &results_[{&variant, dtype}]);
        });
        if (!counts) return {};
        Record record = record_of(variant, shape, dtype);
        record.counts = counts;
        // A compiler may or may not fuse neighbouring accesses: the variant knows.
        record.bank_conflicts = variant.shared_accesses_fuse ? counts->fused_bank_conflicts
                                                             : counts->shared_bank_conflicts;
        records_.push_back(record);
        const Traffic declared = traffic_of(variant, shape, dtype);
        const auto claimed = [](double accesses) {  // "(1)", but "(1.25)" where a mask counts
            return " (" + number(accesses, accesses == std::round(accesses) ? 0 : 2) + ")";
        };
        const double loads = static_cast<double>(counts->global_load_bytes) / bytes_of_x;
        const double stores = static_cast<double>(counts->global_store_bytes) / bytes_of_x;
        answer(loads_guess, loads, number(loads, 2) + " loads");
        answer(stores_guess, stores, number(stores, 2) + " stores");
        const std::optional<double> moved = bytes_moved_per_byte(*counts);
        return {shown_name(variant),
                text_of(shape),
                number(loads, 2) + claimed(declared.loads),
                number(stores, 2) + claimed(declared.stores),
                moved ? number(*moved, 2) : "-",
                std::to_string(record.bank_conflicts)};
    }

    Case measured_case(Shape shape) const {
        const Input input = options_.inputs.empty() ? Input::normal : options_.inputs.front();
        return array_ ? Case{name_of_file(options_), shape, std::nullopt, &array_->values}
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
            array_ ? name_of_file(options_)
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

    // What the audience says; nothing where it was not asked.
    std::string ask(const std::string& question) const {
        std::string guess;
        if (!options_.ask) return guess;
        std::printf("%s ", io::wrapped("  " + question).c_str());
        std::fflush(stdout);
        std::getline(std::cin, guess);
        if (isatty(STDIN_FILENO) == 0) std::printf("\n");  // nobody has typed the end of the line
        return guess;
    }
    void answer(const std::string& guess, double truth, const std::string& shown) const {
        if (options_.ask) say("-> " + guess_and_truth(guess, truth, shown));
    }

    // A grid of widths stands beside the records of the course's shapes; what a part of a run gives
    // never takes the place of what a full one gave.
    std::string records_name() const {
        return stage_.name + (options_.megabytes > 0 ? ".widths" : "") +
               (chosen_flags_.empty() ? "" : ".partial");
    }
    std::string written_records() const {
        return write_records(options_.out, records_name(), chosen_flags_, records_);
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
        say("output of " + variant.name + " on " + text_of(one, dtype) + ": " +
            io::printable(options_.save_output));
        if (dtype == DType::bfloat16) say("(as float32: NumPy has no bfloat16)");
    }

    const Stage& stage_;
    const RunOptions& options_;
    const std::string chosen_flags_;
    const std::optional<Array>& array_;
    std::vector<const Variant*> chosen_;
    std::map<std::pair<const Variant*, DType>, Validation> results_;
    struct LeftOut {
        std::set<std::string> dtypes, shapes;
    };
    std::map<std::string, LeftOut> left_out_;  // by what and why
    std::vector<Record> records_;
    std::vector<std::string> warnings_;
    Verdict verdict_ = Verdict::good;
    int watched_launches_ = 0;
    bool watched_clusters_ = false;
    bool hazards_found_ = false;
};

// The flags that leave something out that a full run records, as they are typed; empty for none.
std::string narrowing_flags(const RunOptions& options) {
    std::string flags;
    const auto add = [&](const std::string& flag) { flags += (flags.empty() ? "" : " ") + flag; };
    if (!options.variant.empty()) add("--variant " + options.variant);
    if (options.quick) add("--quick");
    for (const Shape shape : options.shapes) {
        std::string text = text_of(shape);
        text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
        add("--shape " + text);
    }
    const bool measures_usual = std::find(options.dtypes.begin(), options.dtypes.end(),
                                          DType::float32) != options.dtypes.end();
    if (!measures_usual) {
        for (const DType dtype : options.dtypes) add(std::string("--dtype ") + name_of(dtype));
    }
    for (const Input input : options.inputs) add(std::string("--input ") + name_of(input));
    if (!options.input_file.empty()) add("--input " + name_of_file(options));
    return flags;
}

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
    std::printf("%s\n\n", io::wrapped(name_of_file(options) + ": " + name_of(array.dtype) +
                                      ", taken as float32")
                              .c_str());
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

// Finds out before the work whether its results can be kept. A folder is made for the records alone.
void prepare_outputs(const RunOptions& options) {
    std::error_code error;
    std::filesystem::create_directories(options.out, error);
    if (!std::filesystem::is_directory(options.out, error) ||
        access(options.out.c_str(), W_OK | X_OK) != 0)
        io::refuse(options.out, "not a folder that can be written to");
    if (!options.save_output.empty()) io::require_replaceable(options.save_output);
}

// What the run comes to, and what it says nothing of.
ExitCode conclude(Verdict verdict, const std::vector<const Stage*>& stages) {
    if (verdict == Verdict::wrong) {
        std::printf("Something is WRONG: see above.\n");
    } else if (verdict == Verdict::incomplete) {
        std::printf("Nothing that was checked is wrong, but not all was: see above.\n");
    } else if (on_gpu()) {
        const std::string number = stages.size() == 1 ? stages.front()->name.substr(0, 2) : "NN";
        std::printf("All good, but races were not looked for: `./stages xray %s` does that.\n",
                    number.c_str());
    } else {
        std::printf("All good.\n");
    }
    return verdict == Verdict::good ? kGood : kWrong;
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
    throw UsageError("no stage is called '" + io::printable(word, kQuoted) +
                     "'; here are:" + known);
}

uint64_t parse_whole_number(const std::string& flag, const std::string& text, uint64_t least,
                            uint64_t most) {
    uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);  // takes no sign, no blank
    if (error == std::errc() && stop == end && value >= least && value <= most) return value;
    throw UsageError(flag + " " + io::printable(text, kQuoted) + ": a whole number from " +
                     std::to_string(least) + " to " + std::to_string(most) + " is wanted");
}

Shape parse_shape(const std::string& text) {
    const auto size = [&](const std::string& digits) {
        constexpr size_t kDigits = 12;
        const bool number = !digits.empty() && digits.size() <= kDigits &&
                            digits.find_first_not_of("0123456789") == std::string::npos;
        if (!number || std::stoll(digits) == 0) {
            throw UsageError("--shape " + io::printable(text, kQuoted) +
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
    if (!dtype)
        throw UsageError("--dtype " + io::printable(text, kQuoted) + ": one of " +
                         names_of(all_dtypes()));
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
    throw UsageError("no variant is called '" + io::printable(variant, kQuoted) +
                     "'; here are:" + known);
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
    const std::string chosen = narrowing_flags(options);  // as typed: a file may choose more below
    std::optional<Array> array;
    if (!options.input_file.empty()) {
        array = read_npy(options.input_file, 2);
        if (array->values.empty()) throw FileError(options.input_file + ": it holds no elements");
        if (options.dtypes.empty()) options.dtypes = {dtype_of_file(*array, stages, options)};
    }

    check_taken(stages, options, array);
    prepare_outputs(options);

    std::vector<StageRun> runs;
    runs.reserve(stages.size());
    for (const Stage* stage : stages) {
        const bool has_variant =
            std::any_of(stage->variants.begin(), stage->variants.end(),
                        [&](const Variant& variant) { return is_chosen(variant, options); });
        if (!has_variant) continue;
        runs.emplace_back(*stage, options, chosen, array);
        runs.back().require_room();
        runs.back().require_outputs();
    }
    Verdict verdict = Verdict::good;
    for (StageRun& each : runs) verdict = std::max(verdict, each.run());
    return conclude(verdict, stages);
}

}  // namespace runner
