// SPDX-License-Identifier: MIT
// The checker of encoders accepts right results and nothing else, on the host and by its kernels.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "common/operations/encoder/check.hpp"
#include "common/operations/tests/checked.hpp"

namespace {

using namespace operations::encoder;
using runner::DType;
using runner::Tensors;
using testing::Checked;
using testing::CheckedCase;
using Rows = std::vector<std::vector<double>>;

// An encoder as one writes it down: a sequence at a time, a row at a time.
struct Plain {
    const Tensors& inputs;
    const Shape& s;
    int64_t layer = 0;

    // Number i of a layer's part of a parameter.
    std::function<double(int64_t)> parameter(const std::string& name) const {
        const std::vector<double> all = inputs.values(name);
        const int64_t first = layer * (static_cast<int64_t>(all.size()) / s.layers);
        return [all, first](int64_t i) { return all[static_cast<size_t>(first + i)]; };
    }
    Rows linear(const Rows& x, const std::string& name, int64_t outputs) const {
        const auto weight = parameter(name + "_weight"), bias = parameter(name + "_bias");
        Rows y;
        for (const std::vector<double>& row : x) {
            y.emplace_back();
            const auto inputs_of_row = static_cast<int64_t>(row.size());
            for (int64_t j = 0; j < outputs; ++j) {
                y.back().push_back(bias(j));
                for (int64_t k = 0; k < inputs_of_row; ++k)
                    y.back().back() += row[static_cast<size_t>(k)] * weight(j * inputs_of_row + k);
            }
        }
        return y;
    }
    Rows norm(const Rows& x, const std::string& name) const {
        const auto gamma = parameter(name + "_gamma"), beta = parameter(name + "_beta");
        Rows y = x;
        for (std::vector<double>& row : y) {
            const auto count = static_cast<double>(row.size());
            double mean = 0, variance = 0;
            for (const double each : row) mean += each / count;
            for (const double each : row) variance += (each - mean) * (each - mean) / count;
            for (size_t j = 0; j < row.size(); ++j)
                row[j] = (row[j] - mean) / std::sqrt(variance + s.epsilon) *
                             gamma(static_cast<int64_t>(j)) +
                         beta(static_cast<int64_t>(j));
        }
        return y;
    }
    Rows attention(const Rows& qkv) const {
        const auto hidden = static_cast<size_t>(s.hidden()), size = static_cast<size_t>(s.size);
        Rows y(qkv.size(), std::vector<double>(hidden, 0));
        for (size_t i = 0; i < qkv.size(); ++i) {
            for (size_t head = 0; head < hidden; head += size) {
                std::vector<double> weights;
                double sum = 0;
                for (const std::vector<double>& key : qkv) {
                    double score = 0;
                    for (size_t n = head; n < head + size; ++n)
                        score += qkv[i][n] * key[hidden + n];
                    weights.push_back(score / std::sqrt(static_cast<double>(s.size)));
                }
                const double max = *std::max_element(weights.begin(), weights.end());
                for (double& weight : weights) sum += weight = std::exp(weight - max);
                for (size_t key = 0; key < qkv.size(); ++key) {
                    for (size_t n = head; n < head + size; ++n)
                        y[i][n] += weights[key] / sum * qkv[key][2 * hidden + n];
                }
            }
        }
        return y;
    }
    static Rows sum(Rows x, const Rows& y) {
        for (size_t i = 0; i < x.size(); ++i) {
            for (size_t j = 0; j < x[i].size(); ++j) x[i][j] += y[i][j];
        }
        return x;
    }
    static double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.))); }

    Rows run(Rows x) {
        for (layer = 0; layer < s.layers; ++layer) {
            const auto feed_forward = [&](const Rows& from) {
                Rows wide = linear(from, "inner", s.inner_size());
                for (std::vector<double>& row : wide) {
                    for (double& each : row) each = gelu(each);
                }
                return linear(wide, "outer", s.hidden());
            };
            const auto attended = [&](const Rows& from) {
                return linear(attention(linear(from, "qkv", 3 * s.hidden())), "output", s.hidden());
            };
            if (s.prenorm) {
                x = sum(x, attended(norm(x, "attention")));
                x = sum(x, feed_forward(norm(x, "feed_forward")));
            } else {
                x = norm(sum(x, attended(x)), "attention");
                x = norm(sum(x, feed_forward(x)), "feed_forward");
            }
        }
        return x;
    }
};

// Zeros behind each sequence's end.
std::vector<double> computed(const Shape& shape, const Tensors& inputs) {
    const std::vector<double> x = inputs.values("x"), lengths = inputs.values("lengths");
    std::vector<double> y(x.size(), 0);
    const auto hidden = static_cast<size_t>(shape.hidden());
    for (size_t b = 0; b < lengths.size(); ++b) {
        Rows rows;
        const size_t first = b * static_cast<size_t>(shape.seq) * hidden;
        for (size_t s = 0; s < static_cast<size_t>(lengths[b]); ++s) {
            const auto row = x.begin() + static_cast<std::ptrdiff_t>(first + s * hidden);
            rows.emplace_back(row, row + static_cast<std::ptrdiff_t>(hidden));
        }
        rows = Plain{inputs, shape}.run(rows);
        for (size_t i = 0; i < rows.size() * hidden; ++i)
            y[first + i] = rows[i / hidden][i % hidden];
    }
    return y;
}

const Checked kChecked = {
    operation(),
    [](const Shape& shape, const std::string&, const Tensors& inputs, Tensors& outputs) {
        outputs.upload("y", computed(shape, inputs));
    },
    [](bool on_device, const Shape& shape, DType dtype, const runner::View& inputs,
       const runner::View& ours, const runner::View* previous) {
        return check_on(on_device, inputs, shape, Kind::plain, dtype, ours["y"].data,
                        previous == nullptr ? nullptr : (*previous)["y"].data);
    }};

Shape small(int64_t tokens, bool prenorm) {
    Shape shape(3, 4, 2, 6);
    shape.layers = 2;
    shape.inner = 20;
    shape.tokens = tokens;
    shape.prenorm = prenorm;
    return shape;
}

}  // namespace

TEST_CASE("an encoder written down plainly is right, and one wrong element is found") {
    accepts_right_results(
        kChecked, {small(0, false), small(7, false), small(0, true), small(7, true)},
        [](const CheckedCase&, const std::string& input, const runner::Report& report) {
            if (input != kNormal) return;
            CHECK(report.unchecked == 0);
            CHECK(report.worst_share < 0.2);  // its last rounding alone
        });
    // Its last element is behind a sequence's end.
    finds_one_wrong_element(kChecked, small(7, false), DType::float32, 1e-4);
    finds_one_wrong_element(kChecked, small(7, true), DType::float16, 0.2);
    CheckedCase one(kChecked, small(7, false), DType::float32, kNormal);
    const size_t padding = one.outputs.values("y").size() - 1;
    REQUIRE(one.outputs.values("y")[padding] == 0);
    one.change("y", padding, 1e-7);
    CHECK(one.report().first_place == "sequence 2, token 3, col 11");
}

// Weights with a standard deviation of 10, as an initialisation that went wrong leaves them.
TEST_CASE(
    "where an encoder's weights are so large that no bound is known, NaN is wrong all the same") {
    for (const bool prenorm : {false, true}) {
        CheckedCase one(kChecked, small(7, prenorm), DType::bfloat16, kNormal);
        for (const char* name : {"qkv_weight", "output_weight", "inner_weight", "outer_weight"}) {
            std::vector<double> weights = one.inputs.values(name);
            for (double& weight : weights) weight *= 40;
            one.inputs.upload(name, weights);
        }
        const std::vector<double> right = computed(one.shape, one.inputs);
        one.outputs.upload("y", right);
        const runner::Report report = one.report();
        INFO(describe(report));
        CHECK(report.mismatches == 0);
        CHECK(report.unchecked > 50);
        one.outputs.upload("y", std::vector<double>(right.size(), NAN));
        CHECK(one.report().mismatches == static_cast<int64_t>(right.size()));
    }
}

// Each parameter counts: a number of it that is not as it was makes results wrong. (But for a bias of keys, which
// moves all scores of a query alike.)
TEST_CASE("of an encoder every parameter is looked at") {
    const Shape shape = small(7, false);
    for (const Parameter& each : parameters_of(shape)) {
        CheckedCase one(kChecked, shape, DType::float32, kNormal);
        std::vector<double> values = one.inputs.values(each.name);
        values[1] += 0.25;
        one.inputs.upload(each.name, values);
        INFO(each.name);
        CHECK_FALSE(one.report().good());
    }
}

TEST_CASE("NaN in a token is NaN in its sequence, and nowhere else") {
    CheckedCase one(kChecked, small(0, false), DType::float16, "special_values");
    REQUIRE(std::isnan(one.outputs.values("y")[4 * 12]));
    REQUIRE(std::isnan(one.outputs.values("y")[7 * 12]));
    one.change("y", 4 * 12 + 3, 1);
    CHECK(one.report().mismatches == 1);
}

TEST_CASE("an encoder's shapes: what they say, and what is none") {
    const runner::Operation& of = *operation();
    const auto shape = [](const char* text) { return runner::shape_from(text).value(); };
    CHECK(of.has_shape(shape("2x5x2x8,layers=12,tokens=7,inner=9,prenorm,tanh,epsilon=0.001")));
    for (const char* none : {"2x5x2", "2x5x2x8x1", "2x5x2x8,tokens=11", "2x5x2x8,layers=0",
                             "2x5x2x8,tanh,relu", "2x5x2x8,causal", "2x5x2x8,epsilon=0"})
        CHECK_FALSE(of.has_shape(shape(none)));
    CHECK(word_of(of.plain(shape("2x5x2x8,layers=1,inner=0,tokens=7"))) == "2x5x2x8,tokens=7");
    // A layer of BERT-base: 12 hidden^2 numbers a token, and the pairs of tokens.
    CHECK(of.cost(shape("1x32x12x64"), DType::float16).operations ==
          2. * 32 * 12 * 768 * 768 + 4. * 32 * 32 * 768);
}
