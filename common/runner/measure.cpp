// SPDX-License-Identifier: MIT
#include "common/runner/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "common/runner/attempt.hpp"
#include "common/runner/choose.hpp"
#include "common/runner/interruption.hpp"
#include "common/runner/launcher.hpp"
#include "common/runner/print.hpp"
#include "common/runner/progress.hpp"
#include "common/runner/timing.hpp"
#include "common/runner/validate.hpp"

namespace runner {

using io::number;

namespace {

// What was timed at this shape before.
struct Timed {
    const Operation* operation;
    std::string name;
    double us;
};

// The last of them that computes the same; where none does, the last that answers the same question another way: in
// several steps, each of which rounds. Or null.
const Timed* baseline_of(const Operation& operation, const std::vector<Timed>& times) {
    const Timed* found = nullptr;
    for (const Timed& each : times) {
        const bool is_same = each.operation == &operation;
        const bool has_same = found != nullptr && found->operation == &operation;
        if (is_same || (!has_same && each.operation->shown_as() == operation.shown_as()))
            found = &each;
    }
    return found;
}

// What is read and written is no more what it was: it is put back, and a launch more leaves what is held to
// the reference.
void restore(const Operation& operation, const Shape& shape, DType dtype, const View& inputs,
             const Tensors& outputs, Launcher& launch) {
    bool changed = false;
    for (const Operand& each : operation.operands(shape, dtype)) {
        if (each.role != Role::in_out) continue;
        check_cuda(cudaMemcpy(outputs.view()[each.name].data, inputs[each.name].data,
                              static_cast<size_t>(each.bytes()), cudaMemcpyDeviceToDevice),
                   "restoring what is read and written");
        changed = true;
    }
    if (!changed) return;
    launch();
    check_cuda(cudaDeviceSynchronize(), "running a variant once more");
}

// Times the variant.
TimedVariant timed(const Variant& variant, CaseInputs& case_inputs, const Shape& shape, DType dtype,
                   const std::function<void(const Tensors&, Launcher&)>& and_then = nullptr) {
    const Operation& operation = *variant.operation;
    const View inputs = case_inputs.for_operation(operation).view();
    const Tensors outputs = poisoned_outputs(operation, shape, dtype, inputs);
    Launcher launch(variant, shape, dtype, inputs, outputs.view());
    const TimedVariant time =
        time_with_roof([&](cudaStream_t stream) { launch(stream); },
                       roof_for(operation, shape, dtype, inputs, outputs.view()));
    if (and_then) and_then(outputs, launch);
    return time;
}

// Times the variant and holds what the last launch left to the reference: what it came to at this shape is what the
// record says, whatever was found at others.
void time_into(Record& record, const Variant& variant, CaseInputs& case_inputs, const Shape& shape,
               DType dtype, Validation& validation) {
    const auto check = [&](const Tensors& outputs, Launcher& launch) {
        const Operation& operation = *variant.operation;
        const View inputs = case_inputs.for_operation(operation).view();
        const std::string where = "after timing, " + text_of(shape) + ", " + name_of(dtype);
        case_inputs.require_kept(validation, where);
        restore(operation, shape, dtype, inputs, outputs, launch);
        const Report report =
            operation.check(shape, dtype, inputs, result_of(variant, outputs, shape, dtype));
        validation.add(where, report);
        record.max_relative_error = report.worst_relative_error;
    };
    record.timed = timed(variant, case_inputs, shape, dtype, check);
}

// times: of those before it, and at the end its own.
Record measure_variant(StageRun& run, const Variant& variant, CaseInputs& case_inputs,
                       const Shape& shape, DType dtype, std::vector<Timed>& times,
                       Validation& validation) {
    Record record = record_of(run, variant, shape, dtype);
    time_into(record, variant, case_inputs, shape, dtype, validation);
    const double us = record.timed->work.us_median;
    if (const Timed* const earlier = baseline_of(*variant.operation, times)) {
        record.baseline = earlier->name;
        record.speedup = earlier->us / us;
    }
    times.push_back({variant.operation, run.stage.name + "/" + variant.name, us});
    for (const std::string& oddity : oddities(*record.timed))
        run.warnings.push_back("careful: " + variant.name + " at " + text_of(shape) + " " + oddity);
    return record;
}

// Every one of the variants, timed beside the last before it that computes the same.
std::vector<Record> measure_shape(StageRun& run, const std::vector<const Variant*>& variants,
                                  const Shape& shape, DType dtype) {
    const Progress progress;
    std::vector<Record> records;
    const Operation& family = *variants.front()->operation;
    CaseInputs case_inputs(measured_case(run, family, shape), dtype, run.options.seed);
    std::vector<Timed> times;
    const std::optional<Variant>& baseline = run.stage.baseline;
    if (baseline && baseline->operation->family() == family.family() &&
        obstacle_of(*baseline, shape, dtype).empty()) {
        attempt_to_measure(run, *baseline, shape, dtype, [&](Validation& validation) {
            times.push_back({baseline->operation, baseline->name,
                             timed(*baseline, case_inputs, shape, dtype).work.us_median});
            case_inputs.require_kept(validation, "after timing");
        });
    }
    for (const Variant* variant : variants) {
        if (Interruption::came()) break;
        progress.show("timing " + variant->name + ", " + text_of(shape) + ", " + name_of(dtype));
        attempt_to_measure(run, *variant, shape, dtype, [&](Validation& validation) {
            records.push_back(
                measure_variant(run, *variant, case_inputs, shape, dtype, times, validation));
        });
    }
    return records;
}

}  // namespace

Record record_of(const StageRun& run, const Variant& variant, const Shape& shape, DType dtype) {
    const Operation& operation = *variant.operation;
    Record record;
    record.stage = run.stage.name;
    record.variant = variant.name;
    record.operation = &operation;
    record.overflows = variant.overflows;
    record.further = variant.further;
    record.dtype = dtype;
    record.input = measured_case(run, operation, shape).input;
    record.shape = operation.plain(shape);
    record.cost = operation.cost(shape, dtype);
    record.declared = traffic_of(variant, shape, dtype);
    if (variant.way) record.way = variant.way(shape, dtype);
    return record;
}

void measure_times(StageRun& run) {
    const KeptErrors kept_errors;
    const bool several = measured_dtypes(run).size() > 1;
    const std::string unit = name_of(run.chosen.front()->operation->unit());
    io::Table table(with_dtype(several, {name_column(run),
                                         {"shape", 16, io::Align::right},
                                         {"us", 10, io::Align::right},
                                         {unit, 7, io::Align::right},
                                         {"of roof", 8, io::Align::right},
                                         {"speed-up", 9, io::Align::right}}));
    double empty_us = std::numeric_limits<double>::infinity();
    for_each_measured(run, [&](const auto& variants, const Shape& shape, DType dtype) {
        if (Interruption::came()) return;
        for (const Record& record : measure_shape(run, variants, shape, dtype)) {
            const Timing& time = record.timed->work;
            const double speed = speed_of(record, time.us_median);
            table.row(with_dtype(
                several, dtype,
                {shown_name(record.variant), text_of(shape), number(time.us_median, 1),
                 number(speed, speed < 10 && record.operation->unit() != Unit::gigabytes ? 2 : 0),
                 number(record.timed->roof.us_median / time.us_median, 3),
                 record.speedup ? number(*record.speedup, 2) : "-"}));
            empty_us = std::min(empty_us, record.timed->empty.us_median);
            run.records.push_back(record);
        }
    });
    table.print();
    print_warnings(run);
    if (run.records.empty()) return;  // no numbers to explain
    print_legend_of_times(run);
    if (std::isfinite(empty_us)) {
        std::printf(
            "  A kernel that does nothing takes %s us here: no small shape can be faster.\n",
            number(empty_us, 1).c_str());
    }
}

}  // namespace runner
