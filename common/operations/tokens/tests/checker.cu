// SPDX-License-Identifier: MIT
// The checker of operations on tokens accepts right results and nothing else, on the host and by its kernels.
#include <cmath>
#include <vector>

#include "common/operations/tests/checked.hpp"
#include "common/operations/tokens/check.hpp"

namespace {

using namespace operations::tokens;
using runner::DType;
using runner::Tensors;
using testing::Checked;
using testing::CheckedCase;

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

Checked checked(Kind kind, Rounding rounding = Rounding::once) {
    const auto compute = [=](const Shape& shape, const std::string&, const Tensors& inputs,
                             Tensors& outputs) {
        const Results results = computed(kind, shape, inputs);
        outputs.upload("y", results.y);
        if (kind == Kind::add_bias_residual_prenorm) outputs.upload("sum", results.sum);
    };
    const auto result_in = [=](const runner::View& written) {
        return Outputs{written["y"].data,
                       kind == Kind::add_bias_residual_prenorm ? written["sum"].data : nullptr,
                       rounding, 32};
    };
    return {operation_of(kind), compute,
            [=](bool on_device, const Shape& shape, DType dtype, const runner::View& inputs,
                const runner::View& ours, const runner::View* previous) {
                const Outputs before = result_in(previous == nullptr ? ours : *previous);
                return check_on(on_device, inputs, kind, shape, dtype, result_in(ours),
                                previous == nullptr ? nullptr : &before);
            }};
}

const std::vector<runner::Shape> kShapes = {
    Shape(1, 1), Shape(5, 7), Shape(4, 66, Activation::relu), Shape(4, 66, Activation::silu),
    Shape(6, 130, Activation::gelu_by_tanh)};

}  // namespace

TEST_CASE("right results on tokens pass, and one wrong element is found") {
    for (const Kind kind : kAllKinds) {
        const Checked of = checked(kind);
        accepts_right_results(
            of, kShapes,
            [](const CheckedCase&, const std::string& input, const runner::Report& report) {
                if (input == kNormal) CHECK(report.unchecked == 0);
            });
        finds_one_wrong_element(of, Shape(4, 66), DType::float32, 1e-4);
        finds_one_wrong_element(of, Shape(4, 66), DType::float16, 0x1p-7);
    }
    const Checked prenorm = checked(Kind::add_bias_residual_prenorm);
    CheckedCase one(prenorm, Shape(4, 66), DType::float32, kNormal);
    one.change("sum", 2 * 66 + 7, NAN);
    CHECK(one.report().first_place == "sum, row 2, col 7");
}

TEST_CASE("what rounds after each step may be off by more than what rounds once") {
    for (const Rounding rounding : {Rounding::once, Rounding::each_step}) {
        const Checked of = checked(Kind::add_bias_activation, rounding);
        CheckedCase one(of, Shape(4, 66), DType::float16, "constant");
        one.change("y", 70, one.outputs.values("y")[70] + 2 * 0x1p-8);  // two last places of 6.5
        CHECK(one.report().good() == (rounding == Rounding::each_step));
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
}
