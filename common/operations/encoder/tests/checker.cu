// SPDX-License-Identifier: MIT
// The checker of encoders accepts right results and nothing else, on the host and by its kernels.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "common/operations/encoder/check.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/tensors.hpp"
#include "common/testing/catch.hpp"

namespace {

using namespace operations::encoder;
using runner::DType;
using runner::Report;
using runner::Tensors;
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

struct Case {
    Shape shape;
    DType dtype;
    Tensors inputs, outputs;
    std::vector<double> right;

    Case(const Shape& sizes, DType type, const std::string& input = kNormal)
        : shape(sizes),
          dtype(type),
          inputs(filled_inputs(*operation(), sizes, type, input, 3)),
          outputs(outputs_of(operation()->operands(sizes, type))),
          right(computed(sizes, inputs)) {
        outputs.upload("y", right);
    }
    // By kernels, which must say what the host does.
    Report report(const void* previous = nullptr) const {
        const void* const y = outputs.view()["y"].data;
        const Report by_kernels = check_on(true, inputs.view(), shape, dtype, y, previous);
        if (!runner::on_gpu()) {
            const Report here = check_on(false, inputs.view(), shape, dtype, y, previous);
            CHECK(describe(here) == describe(by_kernels));
        }
        return by_kernels;
    }
    // Of element i replaced.
    Report report_of(size_t i, double value) {
        std::vector<double> y = right;
        y[i] = value;
        outputs.upload("y", y);
        return report();
    }
};

Shape small(int64_t tokens, bool prenorm) {
    Shape shape(3, 4, 2, 6);
    shape.layers = 2;
    shape.inner = 20;
    shape.tokens = tokens;
    shape.prenorm = prenorm;
    return shape;
}

}  // namespace

TEST_CASE("an encoder written down plainly is right, in any type") {
    for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
        for (const bool prenorm : {false, true}) {
            for (const int64_t tokens : {0, 7}) {
                const Case one(small(tokens, prenorm), dtype);
                const Report report = one.report();
                INFO(describe(report));
                CHECK(report.good());
                CHECK(report.unchecked == 0);
                CHECK(report.worst_share < 0.2);  // its last rounding alone
            }
        }
    }
}

TEST_CASE(
    "of an encoder's results one wrong element is found, and what is no zero behind a sequence's "
    "end") {
    for (const DType dtype : {DType::float32, DType::float16}) {
        Case one(small(7, false), dtype);
        const double step = dtype == DType::float32 ? 1e-4 : 0.2;
        CHECK(one.report_of(5, one.right[5] + step).mismatches == 1);
        CHECK(one.report_of(5, NAN).mismatches == 1);
        const size_t padding = one.right.size() - 1;
        REQUIRE(one.right[padding] == 0);
        CHECK(one.report_of(padding, 1e-7).mismatches == 1);
        CHECK(one.report_of(padding, NAN).mismatches == 1);
        CHECK_THAT(describe(one.report_of(padding, 1)),
                   ContainsSubstring("sequence 2, token 3, col 11"));
    }
}

// Weights with a standard deviation of 10, as an initialisation that went wrong leaves them.
TEST_CASE(
    "where an encoder's weights are so large that no bound is known, NaN is wrong all the same") {
    for (const bool prenorm : {false, true}) {
        Case one(small(7, prenorm), DType::bfloat16);
        for (const char* name : {"qkv_weight", "output_weight", "inner_weight", "outer_weight"}) {
            std::vector<double> weights = one.inputs.values(name);
            for (double& weight : weights) weight *= 40;
            one.inputs.upload(name, weights);
        }
        one.right = computed(one.shape, one.inputs);
        one.outputs.upload("y", one.right);
        const Report report = one.report();
        INFO(describe(report));
        CHECK(report.mismatches == 0);
        CHECK(report.unchecked > 50);
        one.outputs.upload("y", std::vector<double>(one.right.size(), NAN));
        CHECK(one.report().mismatches == static_cast<int64_t>(one.right.size()));
    }
}

// Each parameter counts: a number of it that is not as it was makes results wrong. (But for a bias of keys, which
// moves all scores of a query alike.)
TEST_CASE("of an encoder every parameter is looked at") {
    const Shape shape = small(7, false);
    for (const Parameter& each : parameters_of(shape)) {
        Case one(shape, DType::float32);
        std::vector<double> values = one.inputs.values(each.name);
        values[1] += 0.25;
        one.inputs.upload(each.name, values);
        INFO(each.name);
        CHECK_FALSE(one.report().good());
    }
}

TEST_CASE("NaN in a token is NaN in its sequence, and nowhere else") {
    Case one(small(0, false), DType::float16, "special_values");
    REQUIRE(std::isnan(one.right[4 * 12]));
    REQUIRE(std::isnan(one.right[7 * 12]));
    CHECK(one.report().good());
    CHECK(one.report_of(4 * 12 + 3, 1).mismatches == 1);
}

TEST_CASE("two results of an encoder may differ by both their bounds") {
    Case one(small(7, true), DType::float16), other(small(7, true), DType::float16);
    CHECK(one.report(other.outputs.view()["y"].data).good());
    std::vector<double> far = other.right;
    far[9] += 1;
    other.outputs.upload("y", far);
    CHECK(one.report(other.outputs.view()["y"].data).mismatches == 1);
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
