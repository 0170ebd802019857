// SPDX-License-Identifier: MIT
// The checkers of what only moves, by heads and transposed, accept right results and nothing else, on the host and
// by kernels.
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "common/operations/heads/check.hpp"
#include "common/operations/transpose/operation.hpp"
#include "common/runner/tensors.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/host_copy.hpp"

namespace {

using namespace operations::heads;
using runner::DType;
using runner::Report;
using runner::Tensors;

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

struct Case {
    Case(Kind of, const Shape& sizes, DType type, const std::string& input)
        : kind(of),
          shape(sizes),
          dtype(type),
          inputs(filled_inputs(*operation_of(of), sizes, type, input, 3)),
          outputs(outputs_of(operation_of(of)->operands(sizes, type))) {
        move_tokens(kind, shape, inputs, outputs, lengths_of(shape, input, 3));
    }
    // Host and device must say the same.
    Report checked(const Case* previous = nullptr) const {
        const Case& other = previous == nullptr ? *this : *previous;
        const auto report = [&](bool on_device, const runner::View& read, const runner::View& ours,
                                const runner::View& theirs) {
            return check_on(on_device, read, kind, shape, dtype, ours,
                            previous == nullptr ? nullptr : &theirs);
        };
        const Report host = report(false, HostCopy(inputs).view(), HostCopy(outputs).view(),
                                   HostCopy(other.outputs).view());
        const Report device = report(true, inputs.view(), outputs.view(), other.outputs.view());
        CHECK(host.checked == device.checked);
        CHECK(host.mismatches == device.mismatches);
        CHECK(host.first_place == device.first_place);
        return host;
    }

    Kind kind;
    Shape shape;
    DType dtype;
    Tensors inputs, outputs;
};

Shape with_causal(Shape shape) {
    shape.causal = true;
    return shape;
}
const std::vector<Shape> kShapes = {
    {1, 1, 1, 2}, {2, 5, 3, 6}, {3, 4, 2, 5, 7}, {4, 3, 1, 8, 2}, with_causal({2, 9, 2, 64, 15})};

}  // namespace

TEST_CASE("right results by heads pass, dense and packed") {
    for (const Kind kind : kAllKinds) {
        for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
            for (const runner::NamedInput& input : all_inputs()) {
                for (const Shape& shape : kShapes) {
                    INFO(operation_of(kind)->name()
                         << ", " << input.name << ", " << text_of(runner::Shape(shape)));
                    const Case one(kind, shape, dtype, input.name);
                    const Report report = one.checked();
                    INFO(describe(report));
                    CHECK(report.good());
                    CHECK(one.checked(&one).good());
                    if (input.name != std::string("wide")) CHECK(report.unchecked == 0);
                }
            }
        }
    }
}

TEST_CASE("one wrong element by heads is found, also where there is no token") {
    const Shape shape(2, 5, 3, 6, 7);
    for (const Kind kind : kAllKinds) {
        const Case right(kind, shape, DType::float16, kNormal);
        for (const runner::Operand& output : right.outputs.operands()) {
            const std::vector<double> values = right.outputs.values(output.name);
            for (const size_t which : {size_t{0}, values.size() / 2, values.size() - 1}) {
                for (const double wrong : {double{NAN}, values[which] + 0.0625}) {
                    Case one(kind, shape, DType::float16, kNormal);
                    std::vector<double> changed = values;
                    changed[which] = wrong;
                    one.outputs.upload(output.name, changed);
                    INFO(operation_of(kind)->name() << ", " << output.name << " " << which);
                    CHECK(one.checked().mismatches == 1);
                    CHECK(one.checked(&right).mismatches == 1);
                }
            }
        }
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
    runner::Draws draws(1, 1);
    bool is_packed = false;
    for (int number = 0; number < 300; ++number) {
        const runner::Shape drawn =
            operation.draw(draws, 5000, [](const std::string&) { return true; });
        CHECK(operation.has_shape(drawn));
        CHECK(drawn[0] * drawn[1] * drawn[2] * drawn[3] <= 5000);
        is_packed = is_packed || Shape(drawn).is_packed();
    }
    CHECK(is_packed);
}

TEST_CASE("a transposed matrix passes, one with two elements exchanged does not") {
    const runner::Shape shape{2, 3, 5};
    const runner::Operation& transpose = *operations::transpose::operation();
    for (const runner::NamedInput& input : transpose.inputs()) {
        const Tensors inputs = filled_inputs(transpose, shape, DType::float16, input.name, 1);
        Tensors outputs(outputs_of(transpose.operands(shape, DType::float16)));
        const std::vector<double> x = inputs.values("x");
        std::vector<double> y;
        for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i / 15 * 15 + i % 3 * 5 + i / 3 % 5]);
        const auto mismatches = [&](const std::vector<double>& values) {
            outputs.upload("y", values);
            const auto report = [&](bool on_device, const runner::View& read,
                                    const runner::View& written) {
                return operations::transpose::check_on(on_device, read["x"].data, written["y"].data,
                                                       shape, DType::float16);
            };
            const Report host = report(false, HostCopy(inputs).view(), HostCopy(outputs).view());
            const Report device = report(true, inputs.view(), outputs.view());
            CHECK(host.mismatches == device.mismatches);
            CHECK(device.checked == 30);
            return host.mismatches;
        };
        CHECK(mismatches(y) == 0);
        if (input.name != std::string("normal")) continue;
        std::swap(y[16], y[17]);
        CHECK(mismatches(y) == 2);
    }
}
