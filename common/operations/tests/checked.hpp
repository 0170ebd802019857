// SPDX-License-Identifier: MIT
// What every family's checker is held to: it accepts what an independent reference computes, and nothing else, and
// says the same on the host and by its kernels.
#pragma once
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/runner/tensors.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/host_copy.hpp"

namespace testing {

// An operation whose checker is tested.
struct Checked {
    const runner::Operation* operation;
    // The right results, straight from the definition.
    std::function<void(const runner::Shape&, const std::string& input,
                       const runner::Tensors& inputs, runner::Tensors& outputs)>
        compute;
    // previous: another's result, or nothing.
    std::function<runner::Report(bool on_device, const runner::Shape&, runner::DType,
                                 const runner::View& inputs, const runner::View& ours,
                                 const runner::View* previous)>
        check_on;
};

// A problem and a result of it, which is right unless it is changed.
struct CheckedCase {
    CheckedCase(const Checked& checked, runner::Shape sizes, runner::DType type,
                const std::string& input)
        : of(checked),
          shape(std::move(sizes)),
          dtype(type),
          inputs(filled_inputs(*of.operation, shape, dtype, input, 3)),
          outputs(outputs_of(of.operation->operands(shape, dtype))) {
        of.compute(shape, input, inputs, outputs);
    }
    void change(const std::string& name, size_t which, double value) {
        std::vector<double> values = outputs.values(name);
        values[which] = value;
        outputs.upload(name, values);
    }
    runner::Report report(const CheckedCase* previous = nullptr) const {
        const CheckedCase& other = previous == nullptr ? *this : *previous;
        const auto by = [&](bool on_device, const runner::View& read, const runner::View& ours,
                            const runner::View& theirs) {
            return of.check_on(on_device, shape, dtype, read, ours,
                               previous == nullptr ? nullptr : &theirs);
        };
        const runner::Report host = by(false, HostCopy(inputs).view(), HostCopy(outputs).view(),
                                       HostCopy(other.outputs).view());
        const runner::Report device = by(true, inputs.view(), outputs.view(), other.outputs.view());
        CHECK(host.checked == device.checked);
        CHECK(host.unchecked == device.unchecked);
        CHECK(host.mismatches == device.mismatches);
        CHECK(host.first_place == device.first_place);
        return host;
    }

    const Checked& of;
    runner::Shape shape;
    runner::DType dtype;
    runner::Tensors inputs, outputs;
};

// At each shape, in each type, on each named input; also against itself. look: at the report of each.
inline void accepts_right_results(
    const Checked& of, const std::vector<runner::Shape>& shapes,
    const std::function<void(const CheckedCase&, const std::string& input, const runner::Report&)>&
        look) {
    using runner::DType;
    for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
        for (const runner::NamedInput& input : of.operation->inputs()) {
            for (const runner::Shape& shape : shapes) {
                INFO(of.operation->name()
                     << ", " << name_of(dtype) << ", " << input.name << ", " << text_of(shape));
                const CheckedCase one(of, shape, dtype, input.name);
                const runner::Report report = one.report();
                INFO(describe(report));
                CHECK(report.mismatches == 0);
                CHECK(one.report(&one).mismatches == 0);
                if (input.name == of.operation->usual_input()) CHECK(report.good());
                look(one, input.name, report);
            }
        }
    }
}

// One element of any output that is NaN, infinite or off by `step`, on the usual input.
inline void finds_one_wrong_element(const Checked& of, const runner::Shape& shape,
                                    runner::DType dtype, double step) {
    const CheckedCase right(of, shape, dtype, of.operation->usual_input());
    CheckedCase one(of, shape, dtype, of.operation->usual_input());
    for (const runner::Operand& output : right.outputs.operands()) {
        const std::vector<double> values = right.outputs.values(output.name);
        for (const size_t which : {size_t{0}, values.size() / 2 + 3, values.size() - 1}) {
            for (const double wrong :
                 {double{NAN}, double{INFINITY}, values[which] + step, values[which] - step}) {
                one.change(output.name, which, wrong);
                INFO(of.operation->name() << ", " << name_of(dtype) << ", " << output.name << " "
                                          << which << ": " << wrong);
                CHECK(one.report().mismatches == 1);
                CHECK(one.report(&right).mismatches == 1);
                CHECK(right.report(&one).mismatches == 1);
                one.change(output.name, which, values[which]);
            }
        }
    }
}

}  // namespace testing
