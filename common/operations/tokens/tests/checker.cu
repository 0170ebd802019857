// SPDX-License-Identifier: MIT
// The checker of operations on tokens accepts right results and nothing else, on the host and by its kernels.
#include <cmath>
#include <functional>
#include <vector>

#include "common/operations/tokens/check.hpp"
#include "common/runner/tensors.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/host_copy.hpp"

namespace {

using namespace operations::tokens;
using runner::DType;
using runner::Report;
using runner::Tensors;

long double activated(Activation f, long double x) {
    const long double cube = x + 0.044715L * x * x * x;
    switch (f) {
        case Activation::gelu:
            break;
        case Activation::gelu_by_tanh:
            return 0.5L * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0L)) * cube));
        case Activation::relu:
            return x < 0 ? 0 : x;
        case Activation::silu:
            return x / (1 + std::exp(-x));
    }
    return 0.5L * x * (1 + std::erf(x / std::sqrt(2.0L)));
}

struct Results {
    std::vector<double> y, sum;
};

// In long double, straight from the definitions.
Results computed(Kind kind, const Shape& shape, const Tensors& inputs) {
    const auto hidden = static_cast<size_t>(shape.hidden);
    const std::vector<double> x = inputs.values("x"), bias = inputs.values("bias");
    Results results;
    if (kind == Kind::add_bias_activation) {
        for (size_t i = 0; i < x.size(); ++i)
            results.y.push_back(
                static_cast<double>(activated(shape.activation, 0.0L + x[i] + bias[i % hidden])));
        return results;
    }
    const std::vector<double> residual = inputs.values("residual");
    const std::vector<double> gamma = inputs.values("gamma"), beta = inputs.values("beta");
    for (size_t first = 0; first < x.size(); first += hidden) {
        std::vector<long double> sums;
        long double mean = 0, variance = 0;
        for (size_t i = 0; i < hidden; ++i) {
            sums.push_back(0.0L + x[first + i] + bias[i] + residual[first + i]);
            mean += sums.back() / static_cast<long double>(hidden);
        }
        for (const long double each : sums)
            variance += (each - mean) * (each - mean) / static_cast<long double>(hidden);
        for (size_t i = 0; i < hidden; ++i) {
            results.sum.push_back(static_cast<double>(sums[i]));
            results.y.push_back(static_cast<double>(
                (sums[i] - mean) / std::sqrt(variance + kEpsilon) * gamma[i] + beta[i]));
        }
    }
    return results;
}

struct Case {
    Case(Kind of, const Shape& sizes, DType type, const std::string& input,
         Rounding rounds = Rounding::once)
        : kind(of),
          shape(sizes),
          dtype(type),
          rounding(rounds),
          inputs(filled_inputs(*operation_of(of), sizes, type, input, 3)),
          outputs(outputs_of(operation_of(of)->operands(sizes, type))) {
        const Results results = computed(kind, shape, inputs);
        outputs.upload("y", results.y);
        if (kind == Kind::add_bias_residual_prenorm) outputs.upload("sum", results.sum);
    }
    void change(const char* name, size_t which, const std::function<double(double)>& how) {
        std::vector<double> values = outputs.values(name);
        values[which] = how(values[which]);
        outputs.upload(name, values);
    }
    Outputs result_in(const runner::View& written) const {
        return {written["y"].data,
                kind == Kind::add_bias_residual_prenorm ? written["sum"].data : nullptr, rounding,
                32};
    }
    // Host and device must say the same.
    Report checked(const Case* previous = nullptr) const {
        const Case& other = previous == nullptr ? *this : *previous;
        const auto report = [&](bool on_device, const runner::View& read, const runner::View& ours,
                                const runner::View& theirs) {
            const Outputs before = other.result_in(theirs);
            return check_on(on_device, read, kind, shape, dtype, result_in(ours),
                            previous == nullptr ? nullptr : &before);
        };
        const Report host = report(false, HostCopy(inputs).view(), HostCopy(outputs).view(),
                                   HostCopy(other.outputs).view());
        const Report device = report(true, inputs.view(), outputs.view(), other.outputs.view());
        CHECK(host.checked == device.checked);
        CHECK(host.unchecked == device.unchecked);
        CHECK(host.mismatches == device.mismatches);
        CHECK(host.first_place == device.first_place);
        return host;
    }

    Kind kind;
    Shape shape;
    DType dtype;
    Rounding rounding;
    Tensors inputs, outputs;
};

const std::vector<Shape> kShapes = {Shape(1, 1), Shape(5, 7), Shape(4, 66, Activation::relu),
                                    Shape(4, 66, Activation::silu),
                                    Shape(6, 130, Activation::gelu_by_tanh)};

}  // namespace

TEST_CASE("right results on tokens pass, whatever they are made of") {
    for (const Kind kind : kAllKinds) {
        for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
            for (const runner::NamedInput& input : all_inputs()) {
                for (const Shape& shape : kShapes) {
                    INFO(operation_of(kind)->name()
                         << ", " << runner::name_of(dtype) << ", " << input.name << ", "
                         << text_of(runner::Shape(shape)));
                    const Case one(kind, shape, dtype, input.name);
                    const Report report = one.checked();
                    INFO(describe(report));
                    CHECK(report.good());
                    CHECK(one.checked(&one).good());
                    if (input.name == std::string(kNormal)) CHECK(report.unchecked == 0);
                }
            }
        }
    }
}

TEST_CASE("one wrong element on a token's row is found, and where it is") {
    const Shape shape(4, 66);
    const size_t which = 2 * 66 + 7;
    for (const Kind kind : kAllKinds) {
        for (const DType dtype : {DType::float32, DType::float16}) {
            const double step = dtype == DType::float32 ? 1e-4 : 0x1p-7;
            for (const auto& change : std::vector<std::function<double(double)>>{
                     [](double) { return NAN; }, [](double) { return INFINITY; },
                     [&](double x) { return x + step; }, [&](double x) { return x - step; }}) {
                for (const char* name : {"y", "sum"}) {
                    if (name == std::string("sum") && kind != Kind::add_bias_residual_prenorm)
                        continue;
                    Case one(kind, shape, dtype, kNormal);
                    one.change(name, which, change);
                    const Report report = one.checked();
                    INFO(operation_of(kind)->name()
                         << ", " << runner::name_of(dtype) << ": " << describe(report));
                    CHECK(report.mismatches == 1);
                    CHECK(report.first_place == std::string(name) + ", row 2, col 7");
                    const Case right(kind, shape, dtype, kNormal);
                    CHECK(right.checked(&one).mismatches == 1);
                }
            }
        }
    }
}

TEST_CASE("what rounds after each step may be off by more than what rounds once") {
    const Kind kind = Kind::add_bias_activation;
    const size_t which = 70;
    for (const Rounding rounding : {Rounding::once, Rounding::each_step}) {
        Case one(kind, Shape(4, 66), DType::float16, "constant", rounding);
        one.change("y", which, [](double x) { return x + 2 * 0x1p-8; });  // two last places of 6.5
        CHECK(one.checked().good() == (rounding == Rounding::each_step));
    }
    const runner::Operation& once = *operation_of(Kind::add_bias_activation);
    const runner::Operation& steps = *operation_of(Kind::add_bias_activation, Rounding::each_step);
    CHECK(once.is_comparable(steps));
    CHECK(steps.is_comparable(once));
    CHECK_FALSE(once.is_comparable(*operation_of(Kind::add_bias_residual_prenorm)));
    CHECK(steps.name() == "add_bias_activation_in_steps");
    CHECK(steps.shown_as() == once.name());
}

TEST_CASE("shapes of operations on tokens: sizes, and one activation") {
    const runner::Operation& operation = *operation_of(Kind::add_bias_activation);
    runner::Shape shape{4, 6};
    CHECK(operation.has_shape(shape));
    shape.set_option(kRelu, 1);
    shape.set_option(kSilu, 0);
    CHECK(operation.has_shape(shape));
    CHECK(text_of(operation.plain(shape)) == "4 x 6 relu=1");
    shape.set_option(kSilu, 1);
    CHECK_FALSE(operation.has_shape(shape));
    CHECK_FALSE(operation.has_shape({4, 6, 1}));
    CHECK(operation.cost({4, 6}, DType::float16).bytes() == 2 * (24 + 6 + 24));
    runner::Draws draws(1, 1);
    for (int number = 0; number < 300; ++number) {
        const runner::Shape drawn =
            operation.draw(draws, 5000, [](const std::string&) { return true; });
        CHECK(operation.has_shape(drawn));
        CHECK(drawn[0] * drawn[1] <= 5000);
        CHECK(drawn[0] * drawn[1] >= 1);
    }
}
