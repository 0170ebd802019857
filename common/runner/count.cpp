// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>

#include "common/runner/attempt.hpp"
#include "common/runner/choose.hpp"
#include "common/runner/interruption.hpp"
#include "common/runner/measure.hpp"
#include "common/runner/print.hpp"
#include "common/runner/validate.hpp"

namespace runner {

using io::number;

namespace {

// "2.02 (1+)": as counted, and in brackets as declared; with a plus where it is more, as it may be.
std::string counted_beside_claim(double counted, double claimed, bool may_be_more) {
    const auto text = [](double accesses) {  // "1", but "1.25" where a mask counts
        return number(accesses, accesses == std::round(accesses) ? 0 : 2);
    };
    constexpr double kShown = 0.005;
    return number(counted, 2) + " (" + text(claimed) +
           (may_be_more && counted > claimed + kShown ? "+)" : ")");
}

// What is counted of the course's variants is what they declare: otherwise the lesson claims what is not.
void require_declared_traffic(const Record& record, const Variant& variant,
                              Validation& validation) {
    const Traffic found = traffic_of(record), declared = record.declared;
    if (is_traffic_of(variant, record.shape, record.dtype, found)) return;
    const Traffic beyond = traffic_beyond(variant, record.shape, record.dtype);
    const auto range = [](double from, double more) {
        return number(from, 2) + (more < 0.005 ? "" : " to " + number(from + more, 2));
    };
    validation.add_failure(text_of(record.shape) + ", " + name_of(record.dtype),
                           "counted are " + number(found.loads, 2) + " loads and " +
                               number(found.stores, 2) + " stores per element, declared " +
                               range(declared.loads, beyond.loads) + " and " +
                               range(declared.stores, beyond.stores),
                           "traffic");
}

// One launch that was watched; nothing where it came to nothing. error: how far its result was off.
std::optional<Counts> counts_of(StageRun& run, const Variant& variant, const Shape& shape,
                                DType dtype, double& error) {
    std::optional<Counts> counts;
    attempt_to_measure(run, variant, shape, dtype, [&](Validation& validation) {
        CaseInputs case_inputs(measured_case(run, *variant.operation, shape), dtype,
                               run.options.seed);
        const Operation& operation = *variant.operation;
        const View inputs = case_inputs.for_operation(operation).view();
        Tensors outputs;
        {
            Observation observation;
            outputs = outputs_of(variant, inputs, shape, dtype);
            counts = observation.counts();
        }
        const std::string where = text_of(shape) + ", " + name_of(dtype);
        const Validation& said_before = run.results[{&variant, dtype}];
        case_inputs.require_kept(validation, where, &said_before);
        const Report report =
            operation.check(shape, dtype, inputs, result_of(variant, outputs, shape, dtype));
        error = report.worst_relative_error;
        if (said_before.verdict() != Verdict::wrong) validation.add(where, report);
        note_hazards(run, counts, validation, where, &said_before);
    });
    return counts;
}

// Counts and records one launch: the cells of its row, none where nothing was counted.
std::vector<std::string> count(StageRun& run, const Variant& variant, const Shape& shape,
                               DType dtype) {
    if (run.results[{&variant, dtype}].stopped) return {};  // it was said why
    double error = 0;
    const std::optional<Counts> counts = counts_of(run, variant, shape, dtype, error);
    if (!counts) return {};
    Record record = record_of(run, variant, shape, dtype);
    record.counts = counts;
    record.max_relative_error = error;
    // A compiler may or may not fuse neighbouring accesses: the variant knows.
    record.bank_conflicts =
        variant.shared_accesses_fuse ? counts->fused_bank_conflicts : counts->shared_bank_conflicts;
    run.records.push_back(record);
    const Traffic declared = record.declared;
    const Traffic found = traffic_of(record);
    if (!run.stage.own) {
        attempt_to_measure(run, variant, shape, dtype, [&](Validation& validation) {
            require_declared_traffic(record, variant, validation);
        });
    }
    const std::optional<double> moved = bytes_moved_per_byte(*counts);
    return {shown_name(variant.name),
            text_of(shape),
            counted_beside_claim(found.loads, declared.loads, !run.stage.own),
            counted_beside_claim(found.stores, declared.stores, !run.stage.own),
            moved ? number(*moved, 2) : "-",
            std::to_string(record.bank_conflicts)};
}

}  // namespace

void measure_counts(StageRun& run) {
    const KeptErrors kept_errors;
    const bool several = measured_dtypes(run).size() > 1;
    io::Table table(with_dtype(several, {name_column(run),
                                         {"shape", 14, io::Align::right},
                                         {"loads", 12, io::Align::right},
                                         {"stores", 12, io::Align::right},
                                         {"moved", 8, io::Align::right},
                                         {"conflicts", 10, io::Align::right}}));
    for_each_measured(run, [&](const auto& variants, const Shape& shape, DType dtype) {
        for (const Variant* variant : variants) {
            if (Interruption::came()) return;
            const std::vector<std::string> cells = count(run, *variant, shape, dtype);
            if (!cells.empty()) table.row(with_dtype(several, dtype, cells));
        }
    });
    table.print();
    print_warnings(run);
    if (run.records.empty()) return;  // no numbers to explain
    std::printf(
        "  Counted on the CPU device, not timed. loads, stores: accesses per element (in\n"
        "  brackets: %s). moved: bytes of global memory moved per byte\n"
        "  asked for; 1 is perfect. conflicts: of banks of shared memory, as %s.\n",
        run.stage.own ? "each operand once" : "as the lesson claims",
        run.stage.own ? "written" : "compiled");
    print_more_traffic(run);
    print_races_looked_for(run);
}

}  // namespace runner
