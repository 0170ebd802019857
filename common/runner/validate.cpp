// SPDX-License-Identifier: MIT
#include "common/runner/validate.hpp"

#include <algorithm>

#include "common/runner/attempt.hpp"
#include "common/runner/choose.hpp"
#include "common/runner/far.hpp"
#include "common/runner/launcher.hpp"
#include "common/runner/placed.hpp"
#include "common/runner/progress.hpp"
#include "common/runner/quick.hpp"

namespace runner {
namespace {

void launch_into(const Tensors& outputs, const Variant& variant, const View& inputs,
                 const Shape& shape, DType dtype) {
    Launcher launch(variant, shape, dtype, inputs, outputs.view());
    launch();
    check_cuda(cudaDeviceSynchronize(), "running " + variant.name);
}

// One variant on one case.
struct Trial {
    const Variant& variant;
    const Case& one;
    DType dtype;
    CaseInputs& case_inputs;
    Validation& validation;

    View inputs() const { return case_inputs.for_operation(*variant.operation).view(); }
    std::string where() const { return text_of(one, dtype); }
};

// Who wrote an element last, of an input or of the outputs: found out by a launch more into these, while the
// element is followed. Empty where nobody can know.
std::string writer_of(const Trial& trial, const Tensors& outputs, const Operand& operand,
                      const void* data, int64_t element) {
    if (on_gpu() || element < 0 || element >= operand.elements()) return "";
    const size_t bytes = size_of(operand.type);
    probe().follow(static_cast<const char*>(data) + static_cast<size_t>(element) * bytes, bytes);
    {
        const Observation observation;
        launch_into(outputs, trial.variant, trial.inputs(), trial.one.shape, trial.dtype);
    }
    trial.case_inputs.put_back();
    return probe().last_writer();
}

// That of the first wrong element.
std::string writer_of_first(const Report& report, const Trial& trial) {
    if (on_gpu()) return "";
    const Tensors outputs =
        poisoned_outputs(*trial.variant.operation, trial.one.shape, trial.dtype, trial.inputs());
    for (const Operand& operand : outputs.operands()) {
        if (report.first_output.empty() || report.first_output == operand.name)
            return writer_of(trial, outputs, operand, outputs.view()[operand.name].data,
                             report.first_element);
    }
    return "";
}

// Puts back what the launch has overwritten of its inputs: a failure, with the line that did it.
void require_kept_inputs(const Trial& trial) {
    const std::optional<Overwritten> found = trial.case_inputs.put_back();
    if (!found) return;
    std::string text = found->text;
    if (!on_gpu() && !trial.validation.has_failure(cause_of(*found))) {
        const Operation& operation = *trial.variant.operation;
        const View inputs = trial.inputs();
        const Tensors outputs = poisoned_outputs(operation, trial.one.shape, trial.dtype, inputs);
        for (const Operand& each : operation.operands(trial.one.shape, trial.dtype)) {
            if (each.name == found->operand)
                text +=
                    "; " + writer_of(trial, outputs, each, inputs[each.name].data, found->first);
        }
    }
    trial.validation.add_failure(trial.where(), text, cause_of(*found));
}

// Launches once more, over another poison: what was right over NaN is right over any other numbers.
void require_unread_outputs(const Trial& trial) {
    const Shape& shape = trial.one.shape;
    const View inputs = trial.inputs();
    const Tensors outputs = outputs_of(trial.variant, inputs, shape, trial.dtype, Poison::large);
    trial.case_inputs.put_back();
    const Report report = trial.variant.operation->check(
        shape, trial.dtype, inputs, result_of(trial.variant, outputs, shape, trial.dtype));
    if (report.mismatches == 0) return;
    trial.validation.add_failure(
        trial.where(),
        "the result depends on what lay in the output before: over NaN it is right, over large "
        "numbers " +
            describe(report),
        "reads its output");
}

// A result that is kept for the next comparison: mostly it is the one wanted.
struct KeptResult {
    const Variant* of = nullptr;
    Tensors outputs = Tensors();
};

Tensors watched_outputs_of(StageRun& run, const Trial& trial) {
    Observation observation;
    Tensors outputs = outputs_of(trial.variant, trial.inputs(), trial.one.shape, trial.dtype);
    note_hazards(run, observation.counts(), trial.validation, trial.where());
    return outputs;
}

// kept: at first the result of the variant before, at the end that of the one compared with.
void compare_with_previous(StageRun& run, const Trial& trial, const Result& ours,
                           KeptResult& kept) {
    const Variant& variant = trial.variant;
    const Case& one = trial.one;
    const DType dtype = trial.dtype;
    CaseInputs& case_inputs = trial.case_inputs;
    Validation& validation = trial.validation;
    const Variant* previous = previous_of(run, variant, one.shape, dtype);
    if (previous == nullptr) return;
    const View inputs = trial.inputs();
    if (previous != kept.of) {
        kept = {};  // its memory first
        Validation of_previous;
        attempt(of_previous, "", [&] {
            kept.outputs = outputs_of(*previous, inputs, one.shape, dtype);
            kept.of = previous;
            case_inputs.require_kept(of_previous, "");
        });
        if (of_previous.verdict() == Verdict::wrong) {
            kept = {};
            return validation.leave_uncompared(previous->name);
        }
        if (kept.of == nullptr) throw std::bad_alloc();
    }
    const Operation& operation = *variant.operation;
    const Result theirs = result_of(*previous, kept.outputs, one.shape, dtype);
    const Report report = operation.compare(one.shape, dtype, inputs, ours, theirs);
    // A right result that differs from a wrong one is no mistake of its own.
    if (!report.good() && report.checked > 0 &&
        !previous->operation->check(one.shape, dtype, inputs, theirs).good())
        return validation.leave_uncompared(previous->name);
    validation.add_comparison(text_of(one, dtype), previous->name, report);
}

void validate_case(StageRun& run, const Operation& family, const Case& one, DType dtype,
                   const Sample& sample) {
    std::vector<const Variant*> taking;
    for (const Variant* variant : run.chosen) {
        if (variant->operation->family() == family.family() && is_validated(run, *variant, dtype) &&
            sample.has(*variant, dtype, one) && takes_or_left_out(run, *variant, one.shape, dtype))
            taking.push_back(variant);
    }
    if (taking.empty()) return;
    const bool watched = is_watched(run, family, one, dtype);
    CaseInputs case_inputs(one, dtype, run.options.seed);
    KeptResult kept;
    for (const Variant* variant : taking) {
        Validation& validation = run.results[{variant, dtype}];
        // Nobody sits through that a hundred times.
        if (run.stage.own && validation.timed_out) continue;
        const Trial trial{*variant, one, dtype, case_inputs, validation};
        attempt(validation, trial.where(), [&] {
            const View inputs = trial.inputs();
            Tensors outputs = watched ? watched_outputs_of(run, trial)
                                      : outputs_of(*variant, inputs, one.shape, dtype);
            require_kept_inputs(trial);
            const Result ours = result_of(*variant, outputs, one.shape, dtype);
            Report report = variant->operation->check(one.shape, dtype, inputs, ours);
            if (report.mismatches > 0 && validation.shows_more_reports())
                report.first_writer = writer_of_first(report, trial);
            if (is_open_on(*variant, one.input)) {
                validation.add_declared_open(trial.where(), report, variant->why_open);
            } else {
                validation.add(trial.where(), report);
            }
            const bool reads_are_found = watched && run.watch.global;
            if (report.good() && one.repeated && !reads_are_found) require_unread_outputs(trial);
            if (report.good()) compare_with_previous(run, trial, ours, kept);
            kept.of = variant;
            kept.outputs = std::move(outputs);
        });
    }
}

bool is_wrong(const StageRun& run, DType dtype) {
    return std::any_of(run.results.begin(), run.results.end(), [&](const auto& each) {
        return each.first.second == dtype && each.second.verdict() == Verdict::wrong;
    });
}

}  // namespace

Tensors outputs_of(const Variant& variant, const View& inputs, const Shape& shape, DType dtype,
                   Poison over) {
    Tensors outputs = poisoned_outputs(*variant.operation, shape, dtype, inputs, over);
    launch_into(outputs, variant, inputs, shape, dtype);
    return outputs;
}

Result result_of(const Variant& variant, const Tensors& outputs, const Shape& shape, DType dtype) {
    return {variant.operation, arithmetic_of(variant, shape, dtype), outputs.view()};
}

void validate(StageRun& run) {
    const std::vector<DType> dtypes = validated_dtypes(run);
    const Sample sample(run);
    const KeptErrors kept_errors;
    const Progress progress;
    for (const Operation* family : families(run)) {
        const std::vector<Case> cases = validation_cases(run, *family);
        size_t done = 0;
        const std::string of_all = " of " + std::to_string(cases.size() * dtypes.size());
        for (const DType dtype : dtypes) {
            for (const Case& one : cases) {
                validate_case(run, *family, one, dtype, sample);
                progress.show("validating " + family->family() + ": " + std::to_string(++done) +
                              of_all);
            }
            if (!run.stage.own) continue;
            validate_placed(run, *family, dtype);
            for (const Case& one : further_cases(run, *family)) {
                if (!is_wrong(run, dtype)) validate_case(run, *family, one, dtype, sample);
            }
            validate_far(run, *family, dtype);
        }
    }
}

}  // namespace runner
