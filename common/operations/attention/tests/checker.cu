// SPDX-License-Identifier: MIT
// The checker of attention accepts right results and nothing else, on the host and by its kernel.
#include <cmath>
#include <string>
#include <vector>

#include "common/operations/attention/check.hpp"
#include "common/operations/attention/inputs.hpp"
#include "common/operations/tests/checked.hpp"

namespace {

using namespace operations::attention;
using runner::DType;
using runner::Tensors;
using testing::Checked;
using testing::CheckedCase;

// In long double, straight from the definition.
void attend(const Shape& s, const Tensors& inputs, Tensors& outputs) {
    const std::vector<double> q = inputs.values("q"), k = inputs.values("k"),
                              v = inputs.values("v"), lengths = inputs.values("lengths");
    std::vector<double> o, sums;
    const auto at = [&](const std::vector<double>& rows, int64_t row, int64_t col) {
        return static_cast<long double>(rows[static_cast<size_t>(row * s.size + col)]);
    };
    for (int64_t row = 0; row < s.batch * s.heads * s.queries; ++row) {
        const int64_t head = row / s.queries, query = row % s.queries;
        const int64_t key_head = head / (s.heads / s.heads_of_keys());
        auto seen = static_cast<int64_t>(lengths[static_cast<size_t>(head / s.heads)]);
        if (s.causal) seen = std::max<int64_t>(0, std::min(seen, query + s.keys - s.queries + 1));
        std::vector<long double> weights;
        long double max = -INFINITY, d = 0;
        for (int64_t key = 0; key < seen; ++key) {
            long double score = 0;
            for (int64_t col = 0; col < s.size; ++col)
                score += at(q, row, col) * at(k, key_head * s.keys + key, col);
            weights.push_back(score * s.scale_of_scores());
            if (!(weights.back() <= max)) max = weights.back();  // NaN, too
        }
        for (long double& each : weights) d += each = max == -INFINITY ? 0 : std::exp(each - max);
        for (int64_t col = 0; col < s.size; ++col) {
            long double sum = 0;
            for (int64_t key = 0; key < seen; ++key)
                sum += weights[static_cast<size_t>(key)] * at(v, key_head * s.keys + key, col);
            o.push_back(static_cast<double>(d == 0 ? 0 : sum / d));
        }
        sums.push_back(static_cast<double>(d == 0 ? -INFINITY : max + std::log(d)));
    }
    outputs.upload("o", o);
    outputs.upload("log_sum_exp", sums);
}

const Checked kChecked = {
    operation_of(Kind::attention_with_sum),
    [](const Shape& shape, const std::string&, const Tensors& inputs, Tensors& outputs) {
        attend(shape, inputs, outputs);
    },
    [](bool on_device, const Shape& shape, DType dtype, const runner::View& inputs,
       const runner::View& ours, const runner::View* previous) {
        const Operands operands{inputs["q"].data, inputs["k"].data, inputs["v"].data,
                                static_cast<const int32_t*>(inputs["lengths"].data)};
        const auto outputs = [](const runner::View& in) {
            return Outputs{in["o"].data, static_cast<const float*>(in["log_sum_exp"].data)};
        };
        const Outputs before = outputs(previous == nullptr ? ours : *previous);
        return (on_device ? check_on_device : check_on_host)(
            operands, shape, dtype, outputs(ours), previous == nullptr ? nullptr : &before);
    }};

}  // namespace

TEST_CASE("right attention passes, whatever it attends to, and one wrong element is found") {
    accepts_right_results(
        kChecked,
        {Shape(1, 1, 1, 1, 1), Shape(5, 2, 3, 11, 8), Shape(2, 1, 9, 5, 6).with_causal(),
         Shape(1, 1, 3, 150, 16).with_causal(), Shape(1, 2, 2, 7, 130).with_scale(0.5),
         Shape(2, 1, 3, 0, 4), Shape(2, 6, 3, 20, 8).with_key_heads(2),
         Shape(1, 4, 5, 9, 8).with_causal().with_key_heads(1)},
        [](const CheckedCase&, const std::string&, const runner::Report& report) {
            CHECK(report.unchecked == 0);
        });
    const Shape shape(2, 3, 5, 40, 16);
    finds_one_wrong_element(kChecked, shape, DType::float16, 0.02);
    CheckedCase one(kChecked, shape, DType::float16, kNormal);
    one.change("log_sum_exp", 29, 7);
    CHECK(one.report().first_place == "batch 1, head 2, query 4, log_sum_exp");
    one.change("o", ((1 * 3 + 2) * 5 + 4) * 16 + 7, 2);
    CHECK(one.report().first_place == "batch 1, head 2, query 4, col 7");
}

TEST_CASE(
    "attention's mistakes are found: no mask, a key too few, no scale, a weight that was not "
    "rescaled") {
    const Shape shape(1, 1, 20, 24, 16);
    CheckedCase one(kChecked, shape, DType::float32, kAscending);
    const auto mismatches = [&] { return one.report().mismatches; };
    one.shape = shape.with_causal();
    CHECK(mismatches() > 100);
    one.shape = shape;
    attend(shape.with_scale(1), one.inputs, one.outputs);
    CHECK(mismatches() > 100);
    const std::vector<double> v = one.inputs.values("v");
    std::vector<double> without_first = v;  // as if what came before the largest had been lost
    for (size_t i = 0; i < 16; ++i) without_first[i] = 0;
    one.inputs.upload("v", without_first);
    attend(shape, one.inputs, one.outputs);
    one.inputs.upload("v", v);
    CHECK(mismatches() > 100);
    one.inputs.upload("lengths", {23});
    attend(shape, one.inputs, one.outputs);
    one.inputs.upload("lengths", {24});
    CHECK(mismatches() > 100);
}

TEST_CASE("shapes of attention: sizes and options") {
    const runner::Operation& attention = *operation_of(Kind::attention);
    CHECK(attention.has_shape({2, 3, 4, 0, 8}));
    CHECK_FALSE(attention.has_shape({2, 3, 4, 5}));
    CHECK_FALSE(attention.has_shape({2, 3, 4, 5, 0}));
    runner::Shape shape{2, 3, 4, 6, 8};
    shape.set_option("causal", 1);
    CHECK(attention.has_shape(shape));
    CHECK(attention.cost(shape, runner::DType::float16).operations ==
          4. * 2 * 3 * 8 * (3 + 4 + 5 + 6));
    CHECK(runner::Shape(Shape(shape)) == shape);
    shape.set_option("scale", -1);
    CHECK_FALSE(attention.has_shape(shape));
    // Heads of q share the heads of k and v, which are a divisor of them and are read once.
    const auto grouped = [](double key_heads) {
        runner::Shape of{2, 6, 3, 70, 40};
        of.set_option("key_heads", key_heads);
        return of;
    };
    CHECK(attention.has_shape(grouped(2)));
    CHECK_FALSE(attention.has_shape(grouped(4)));
    CHECK_FALSE(attention.has_shape(grouped(-2)));
    CHECK_FALSE(attention.has_shape(grouped(1.5)));
    CHECK(runner::Shape(Shape(grouped(2))) == grouped(2));
    const runner::Cost cost = attention.cost(grouped(2), runner::DType::float16);
    CHECK(cost.read[0] == 2 * 6 * 3 * 40 * 2);
    CHECK(cost.read[1] == 2 * 2 * 70 * 40 * 2);
    CHECK(cost.read[2] == 2 * 2 * 70 * 40 * 2);
    CHECK(cost.operations == attention.cost({2, 6, 3, 70, 40}, runner::DType::float16).operations);
    // Some draws have no keys, some a mask, and some fewer heads of keys.
    runner::Draws draws(1, 1);
    bool has_empty = false, has_causal = false, has_groups = false;
    for (int number = 0; number < 1000; ++number) {
        const runner::Shape drawn =
            attention.draw(draws, 5000, [](const std::string&) { return true; });
        has_empty = has_empty || drawn[3] == 0;
        has_causal = has_causal || drawn.option("causal", 0) == 1;
        const double key_heads = drawn.option("key_heads", 0);
        has_groups = has_groups || (key_heads > 0 && static_cast<double>(drawn[1]) > key_heads);
        CHECK(attention.has_shape(drawn));
    }
    CHECK((has_empty && has_causal && has_groups));
}
