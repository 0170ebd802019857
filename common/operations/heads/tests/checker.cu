// SPDX-License-Identifier: MIT
// The checkers of what only moves, by heads and transposed, accept right results and nothing else, on the host and
// by kernels.
#include <cmath>
#include <numeric>
#include <vector>

#include "common/operations/heads/check.hpp"
#include "common/operations/tests/checked.hpp"
#include "common/operations/transpose/operation.hpp"

namespace {

using namespace operations::heads;
using runner::DType;
using runner::Tensors;
using testing::Checked;
using testing::CheckedCase;

size_t at(int64_t index) {
    return static_cast<size_t>(index);
}

// The softmax of the scores that are seen, in long double.
std::vector<double> softmax_of(const std::vector<double>& x, const Shape& shape,
                               const std::vector<int32_t>& lengths) {
    std::vector<double> y(x.size());
    for (int64_t first = 0; first < static_cast<int64_t>(x.size()); first += shape.seq) {
        const int64_t row = first / shape.seq, s = row % shape.seq;
        const int64_t count = lengths[at(row / shape.seq / shape.heads)];
        const int64_t seen = s >= count ? 0 : shape.causal ? s + 1 : count;
        long double max = -INFINITY, sum = 0;
        for (int64_t i = first; i < first + seen; ++i) max = std::max<long double>(max, x[at(i)]);
        const auto share = [&](int64_t i) {
            return std::exp((x[at(i)] - max) * static_cast<long double>(scale_of(shape)));
        };
        for (int64_t i = first; i < first + seen; ++i) sum += share(i);
        for (int64_t i = first; i < first + shape.seq; ++i) {
            const long double own = i < first + seen ? share(i) : 0;
            y[at(i)] = max == -INFINITY ? 0 : static_cast<double>(own / sum);
        }
    }
    return y;
}

// Moved token by token, as the definitions say.
void move_tokens(Kind kind, const Shape& shape, const Tensors& inputs, Tensors& outputs,
                 const std::vector<int32_t>& lengths) {
    const std::vector<double> x = inputs.values(inputs.operands().front().name);
    if (kind == Kind::masked_softmax) return outputs.upload("y", softmax_of(x, shape, lengths));
    const int64_t hidden = shape.hidden();
    const bool splits = kind == Kind::add_qkv_bias_transpose;
    const int64_t padded = shape.batch * shape.seq * hidden;
    std::vector<double> y(at(kind == Kind::rebuild_padding ? padded : shape.rows() * hidden));
    std::vector<std::vector<double>> parts(3, std::vector<double>(at(padded)));
    const std::vector<double> bias = splits ? inputs.values("bias") : std::vector<double>();
    int64_t row = 0;
    for (int64_t b = 0; b < shape.batch; ++b) {
        for (int64_t s = 0; s < lengths[at(b)]; ++s, ++row) {
            for (int64_t h = 0; h < shape.heads; ++h) {
                for (int64_t n = 0; n < shape.size; ++n) {
                    const int64_t col = h * shape.size + n;
                    const int64_t by_head =
                        ((b * shape.heads + h) * shape.seq + s) * shape.size + n;
                    const int64_t by_place = (b * shape.seq + s) * hidden + col;
                    const int64_t by_token = row * hidden + col;
                    if (kind == Kind::transpose_back) y[at(by_token)] = x[at(by_head)];
                    if (kind == Kind::remove_padding) y[at(by_token)] = x[at(by_place)];
                    if (kind == Kind::rebuild_padding) y[at(by_place)] = x[at(by_token)];
                    for (int64_t part = 0; splits && part < 3; ++part)
                        parts[at(part)][at(by_head)] =
                            x[at(3 * row * hidden + part * hidden + col)] +
                            bias[at(part * hidden + col)];
                }
            }
        }
    }
    if (!splits) return outputs.upload("y", y);
    outputs.upload("q", parts[0]);
    outputs.upload("k", parts[1]);
    outputs.upload("v", parts[2]);
}

Checked checked(Kind kind) {
    return {
        operation_of(kind),
        [=](const Shape& shape, const std::string& input, const Tensors& inputs, Tensors& outputs) {
            move_tokens(kind, shape, inputs, outputs, lengths_of(shape, input, 3));
        },
        [=](bool on_device, const Shape& shape, DType dtype, const runner::View& inputs,
            const runner::View& ours, const runner::View* previous) {
            return check_on(on_device, inputs, kind, shape, dtype, ours, previous);
        }};
}

Shape with_causal(Shape shape) {
    shape.causal = true;
    return shape;
}
const std::vector<runner::Shape> kShapes = {Shape(1, 1, 1, 2), Shape(2, 5, 3, 6),
                                            Shape(3, 4, 2, 5, 7), Shape(4, 3, 1, 8, 2),
                                            with_causal({2, 9, 2, 64, 15})};

}  // namespace

TEST_CASE("right results by heads pass, dense and packed, and one wrong element is found") {
    for (const Kind kind : kAllKinds) {
        const Checked of = checked(kind);
        accepts_right_results(
            of, kShapes,
            [](const CheckedCase&, const std::string& input, const runner::Report& report) {
                if (input != "wide") CHECK(report.unchecked == 0);
            });
        finds_one_wrong_element(of, Shape(2, 5, 3, 6, 7), DType::float16, 0.0625);
    }
}

TEST_CASE("lengths add up to the tokens, and none is longer than its sequence") {
    for (const runner::NamedInput& input : all_inputs()) {
        for (const int64_t tokens : {0, 1, 7, 59, 60}) {
            const Shape shape(6, 10, 1, 2, tokens);
            const std::vector<int32_t> lengths = lengths_of(shape, input.name, 2);
            CHECK(lengths.size() == 6);
            CHECK(std::accumulate(lengths.begin(), lengths.end(), 0) ==
                  (tokens == 0 ? 60 : tokens));
            for (const int32_t length : lengths) CHECK((length >= 0 && length <= 10));
        }
    }
}

TEST_CASE("shapes by heads: sizes, and how many tokens there are") {
    const runner::Operation& operation = *operation_of(Kind::transpose_back);
    runner::Shape shape{2, 3, 4, 5};
    CHECK(operation.has_shape(shape));
    CHECK(operation.elements(shape) == 120);
    shape.set_option(kTokens, 4);
    CHECK(operation.has_shape(shape));
    CHECK(operation.elements(shape) == 80);
    CHECK(operation.cost(shape, DType::float16).bytes() == 2 * (80 + 80) + 3 * 4);
    CHECK(operation_of(Kind::remove_padding)->operands(shape, DType::float16).back().dims ==
          std::vector<int64_t>{4, 20});
    shape.set_option(kTokens, 7);
    CHECK_FALSE(operation.has_shape(shape));
    shape.set_option(kTokens, 1.5);
    CHECK_FALSE(operation.has_shape(shape));
}

TEST_CASE("a transposed matrix passes, one with a wrong element does not") {
    using operations::transpose::check_on;
    const Checked of = {
        operations::transpose::operation(),
        [](const runner::Shape& shape, const std::string&, const Tensors& inputs,
           Tensors& outputs) {
            const std::vector<double> x = inputs.values("x");
            std::vector<double> y(x.size());
            for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
                const int64_t col = i % shape[2], row = i / shape[2] % shape[1];
                const int64_t matrix = i / (shape[1] * shape[2]) * (shape[1] * shape[2]);
                y[at(matrix + col * shape[1] + row)] = x[at(i)];
            }
            outputs.upload("y", y);
        },
        [](bool on_device, const runner::Shape& shape, DType dtype, const runner::View& inputs,
           const runner::View& ours, const runner::View* previous) {
            const void* const x = inputs["x"].data;
            const runner::Report report = check_on(on_device, x, ours["y"].data, shape, dtype);
            return previous == nullptr
                       ? report
                       : joined(report,
                                check_on(on_device, x, (*previous)["y"].data, shape, dtype));
        }};
    accepts_right_results(of, {{2, 3, 5}, {1, 33, 70}},
                          [](const CheckedCase&, const std::string&, const runner::Report&) {});
    finds_one_wrong_element(of, {2, 3, 5}, DType::float16, 0.0625);
}
