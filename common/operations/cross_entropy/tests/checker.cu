// SPDX-License-Identifier: MIT
// The checker of cross-entropies accepts what PyTorch's formulas give, and nothing else, on the host and by kernels.
#include <cmath>
#include <vector>

#include "common/operations/cross_entropy/check.hpp"
#include "common/operations/tests/checked.hpp"

namespace {

using namespace operations::cross_entropy;
using runner::DType;
using runner::Tensors;
using testing::Checked;
using testing::CheckedCase;

size_t at(int64_t index) {
    return static_cast<size_t>(index);
}

// Of one row, as PyTorch composes them: log_softmax, nll_loss, the mean over the classes; and the gradient through
// each of these in turn.
struct RowResult {
    long double loss, z, lse;
    std::vector<long double> of_loss, of_z;  // gradients of the logits
};

RowResult row_of(const std::vector<double>& logits, int64_t target, const Options& options,
                 const std::vector<double>& weights) {
    const size_t cols = logits.size();
    const long double cap = options.soft_cap, s = options.label_smoothing;
    std::vector<long double> x, slope, log_p;
    long double max = -INFINITY, sum = 0;
    for (const double logit : logits) {
        const long double t = cap > 0 ? std::tanh(logit / cap) : 0;
        x.push_back(cap > 0 ? cap * t : logit);
        slope.push_back(1 - t * t);
        max = std::isnan(max) || x.back() <= max ? max : x.back();  // NaN stays
    }
    for (const long double each : x) sum += std::exp(each - max);
    for (const long double each : x) log_p.push_back(each - max - std::log(sum));

    RowResult row{0, 0, max == -INFINITY ? max : max + std::log(sum), {}, {}};
    const auto weight = [&](size_t c) -> long double { return weights.empty() ? 1 : weights[c]; };
    std::vector<long double> of_log_p(cols, 0);
    row.loss = (1 - s) * -weight(at(target)) * log_p[at(target)];
    of_log_p[at(target)] = (1 - s) * -weight(at(target));
    for (size_t c = 0; s > 0 && c < cols; ++c) {
        row.loss += s / static_cast<long double>(cols) * -weight(c) * log_p[c];
        of_log_p[c] += s / static_cast<long double>(cols) * -weight(c);
    }
    if (options.z_loss > 0) row.z = options.z_loss * row.lse * row.lse;
    long double all = 0;
    for (const long double each : of_log_p) all += each;
    for (size_t c = 0; c < cols; ++c) {
        const long double p = std::exp(log_p[c]);
        row.of_loss.push_back((of_log_p[c] - p * all) * slope[c]);
        row.of_z.push_back(2 * options.z_loss * row.lse * p * slope[c]);
    }
    return row;
}

// Options in double are not those that a kernel in float has.
Options as_computed(Options options, DType dtype) {
    if (dtype == DType::float64) return options;
    for (double* each : {&options.label_smoothing, &options.z_loss, &options.soft_cap})
        *each = double{static_cast<float>(*each)};
    return options;
}

void compute(Kind kind, const Shape& shape, const Tensors& inputs, Tensors& outputs) {
    const bool wide = inputs.operands()[0].type == runner::ElementType::float64;
    const Options options = as_computed(shape.options, wide ? DType::float64 : DType::float32);
    const std::vector<double> logits = inputs.values("logits"), targets = inputs.values("targets");
    const std::vector<double> weights =
        options.class_weights ? inputs.values("class_weights") : std::vector<double>();
    const std::vector<double> upstream =
        kind == Kind::cross_entropy ? inputs.values("grad_output") : std::vector<double>();
    const auto target = [&](int64_t row) { return static_cast<int64_t>(targets[at(row)]); };
    const auto is_column = [&](int64_t row) {
        return target(row) >= 0 && target(row) < shape.cols;
    };
    const auto is_ignored = [&](int64_t row) { return target(row) == options.ignore_index; };
    long double weight = 0, count = 0, total = 0;
    for (int64_t row = 0; row < shape.rows; ++row) {
        if (is_ignored(row)) continue;
        weight += weights.empty() || !is_column(row) ? 1 : weights[at(target(row))];
        ++count;
    }
    std::vector<double> loss, lse, gradient;
    for (int64_t row = 0; row < shape.rows; ++row) {
        const auto first = logits.begin() + row * shape.cols;
        const std::vector<double> x(first, first + shape.cols);
        RowResult of{0, 0, 0, std::vector<long double>(x.size(), 0),
                     std::vector<long double>(x.size(), 0)};
        if (!is_ignored(row) && is_column(row)) of = row_of(x, target(row), options, weights);
        if (!is_ignored(row) && !is_column(row))
            of = {NAN, NAN, NAN, std::vector<long double>(x.size(), NAN), of.of_z};
        const long double by = options.mean && !is_ignored(row) ? weight : 1;
        const long double by_rows = options.mean && !is_ignored(row) ? count : 1;
        const long double of_row = of.loss / by + of.z / by_rows;
        total += of_row;
        loss.push_back(static_cast<double>(of_row));
        lse.push_back(static_cast<double>(of.lse));
        for (size_t c = 0; !upstream.empty() && c < x.size(); ++c)
            gradient.push_back(static_cast<double>(upstream[options.reduces() ? 0 : at(row)] *
                                                   (of.of_loss[c] / by + of.of_z[c] / by_rows)));
    }
    outputs.upload("loss", loss);
    outputs.upload("lse", lse);
    if (options.reduces())
        outputs.upload("totals", {static_cast<double>(options.mean && count == 0 ? NAN : total),
                                  static_cast<double>(weight), static_cast<double>(count)});
    if (kind == Kind::cross_entropy) outputs.upload("gradient", gradient);
}

Checked checked(Kind kind) {
    return {operation_of(kind),
            [=](const runner::Shape& shape, const std::string&, const Tensors& inputs,
                Tensors& outputs) { compute(kind, shape, inputs, outputs); },
            [=](bool on_device, const runner::Shape& shape, DType dtype, const runner::View& inputs,
                const runner::View& ours, const runner::View* previous) {
                const Result before{previous == nullptr ? runner::View() : *previous, 1};
                return check_on(on_device, inputs, kind, shape, dtype, {ours, 1},
                                previous == nullptr ? nullptr : &before);
            }};
}

Options with(double smoothing, double z, double cap, bool weights, char reduction,
             int64_t bits = 64, int64_t ignore_index = -100) {
    return {bits, ignore_index, smoothing, z, cap, weights, reduction == 'm', reduction == 's'};
}

const std::vector<runner::Shape> kShapes = {Shape(1, 1),
                                            Shape(6, 5),
                                            Shape(7, 33, with(0.1, 0, 0, false, 'm', 32)),
                                            Shape(9, 12, with(0, 1e-3, 0, true, 's', 64, 3)),
                                            Shape(6, 300, with(0.3, 1e-2, 20, true, 'm', 32, -1)),
                                            Shape(6, 9, with(1, 0, 5, true, 'n'))};

}  // namespace

TEST_CASE("PyTorch's losses and gradients pass, with each option") {
    for (const Kind kind : {Kind::cross_entropy_loss, Kind::cross_entropy}) {
        accepts_right_results(
            checked(kind), kShapes,
            [](const CheckedCase& one, const std::string& input, const runner::Report& report) {
                const Shape shape = one.shape;
                const bool may_weigh_nothing = shape.options.mean && shape.options.class_weights;
                if (!may_weigh_nothing && input != "large") CHECK(report.unchecked == 0);
                CHECK(report.judged());
            });
    }
}

TEST_CASE("a wrong loss, lse, total or gradient is found") {
    const Checked of = checked(Kind::cross_entropy);
    finds_one_wrong_element(of, Shape(8, 33, with(0.1, 1e-3, 10, true, 'n')), DType::float32, 3e-5);
    finds_one_wrong_element(of, Shape(8, 33), DType::bfloat16, 0.25);
    CheckedCase one(of, Shape(8, 33, with(0.1, 1e-3, 10, true, 's')), DType::float32, "normal");
    const std::vector<double> totals = one.outputs.values("totals");
    for (size_t which = 0; which < totals.size(); ++which) {
        for (const double wrong : {totals[which] * 1.001, double{NAN}}) {
            one.change("totals", which, wrong);
            CHECK(one.report().mismatches == 1);
            one.change("totals", which, totals[which]);
        }
    }
}

TEST_CASE(
    "rows that do not count are zeros and those without a column NaN, and neither is left open") {
    const Checked of = checked(Kind::cross_entropy);
    for (const char* input : {kIgnored, kOutOfRange}) {
        CheckedCase one(of, Shape(12, 7), DType::float32, input);
        const std::vector<double> targets = one.inputs.values("targets");
        const std::vector<double> loss = one.outputs.values("loss");
        int special = 0;
        for (size_t row = 0; row < targets.size(); ++row) {
            if (targets[row] >= 0 && targets[row] < 7) continue;
            ++special;
            const bool is_ignored = targets[row] == -100;
            CHECK((is_ignored ? loss[row] == 0 : std::isnan(loss[row])));
            CHECK(one.report().good());
            one.change("gradient", row * 7 + 3, is_ignored ? 1e-30 : 0);
            CHECK(one.report().mismatches == 1);
            one.change("gradient", row * 7 + 3, is_ignored ? 0 : NAN);
        }
        CHECK(special > 0);
        CHECK(special < 12);
    }
}

TEST_CASE("shapes of cross-entropies: options, operands and what they cost") {
    const runner::Operation& operation = *operation_of(Kind::cross_entropy);
    runner::Shape shape{4, 6};
    CHECK(operation.has_shape(shape));
    CHECK(operation.cost(shape, DType::float16).bytes() == 4 * 6 * 2 * 2 + 4 * 8 + 3 * 4 * 4);
    CHECK(operation_of(Kind::cross_entropy_loss)->cost(shape, DType::float16).bytes() ==
          4 * 6 * 2 + 4 * 8 + 2 * 4 * 4);
    shape.set_option(kMean, 1);
    shape.set_option(kTargetBits, 32);
    shape.set_option(kClassWeights, 1);
    CHECK(operation.has_shape(shape));
    CHECK(operation.cost(shape, DType::float64).bytes() ==
          4 * 6 * 8 * 2 + 4 * 4 + 6 * 8 + 8 + 2 * 4 * 8 + 3 * 8);
    for (const auto& [name, value] :
         std::vector<std::pair<const char*, double>>{{kSum, 1},
                                                     {kTargetBits, 16},
                                                     {kLabelSmoothing, 1.5},
                                                     {kZLoss, -1},
                                                     {kSoftCap, -2},
                                                     {kIgnoreIndex, 0.5},
                                                     {kClassWeights, 2},
                                                     {"temperature", 1}}) {
        runner::Shape wrong = shape;
        wrong.set_option(name, value);
        INFO(name);
        CHECK_FALSE(operation.has_shape(wrong));
    }
}
