// SPDX-License-Identifier: MIT
// What the library makes of the problems and operands of an operation that is like none of the
// course's: three sizes, an option, an operand that is read and written, an output of integers.
#include "common/peers/problem.hpp"

#include <numeric>

#include "common/peers/refusal.hpp"
#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"

namespace {

using library::Operands;
using library::Problem;
using runner::DType;
using runner::ElementType;
using runner::Role;
using runner::Shape;
using runner::View;

class Sums : public runner::Operation {
public:
    std::string name() const override { return "sums"; }
    std::string family() const override { return "sums"; }
    std::vector<std::string> size_names(const Shape&) const override { return {"m", "n", "k"}; }
    std::string shape_help() const override { return "MxNxK is wanted, and beta"; }
    bool has_shape(const Shape& shape) const override {
        return shape.rank() == 3 && shape.options().size() <= 1 && shape.option("beta", 0) >= 0 &&
               (shape.options().empty() || shape.options().count("beta") == 1);
    }
    std::vector<runner::Optional> optional() const override { return {{"beta", 0, "no beta"}}; }
    int64_t elements(const Shape& shape) const override { return shape[0] * shape[1]; }
    std::vector<runner::Operand> operands(const Shape& shape, DType dtype) const override {
        const ElementType type = element_type(dtype);
        return {{"a", Role::in, type, {shape[0], shape[2]}},
                {"c", Role::in_out, type, {shape[0], shape[1]}},
                {"places", Role::out, ElementType::int64, {shape[0]}}};
    }
    std::vector<runner::NamedInput> inputs() const override { return {}; }
    std::string usual_input() const override { return ""; }
    void fill(const Shape&, DType, const std::string&, uint64_t, const View&) const override {}
    void complete(const Shape&, DType, uint64_t, const View&) const override {}
    runner::Report check(const Shape&, DType, const View&, const runner::Result&) const override {
        return {};
    }
    runner::Report compare(const Shape&, DType, const View&, const runner::Result&,
                           const runner::Result&) const override {
        return {};
    }
    runner::Cost cost(const Shape&, DType) const override { return {}; }
    runner::Roof roof() const override { return runner::Roof::own; }
    std::vector<Shape> validated_at(runner::Extent) const override { return {}; }
    std::vector<Shape> measured_at(runner::Extent) const override { return {}; }
    Shape usual_shape() const override { return {4, 5, 6}; }
    Shape draw(runner::Draws&, int64_t,
               const std::function<bool(const std::string&)>&) const override {
        return usual_shape();
    }
};

const stages_size kSizes[] = {{"k", 6}, {"m", 4}, {"n", 5}};

// What is refused, in words; empty where nothing is.
template <class Body>
std::string refusal(Body body) {
    try {
        body();
    } catch (const library::Refusal& refused) {
        return refused.what();
    }
    return "";
}

std::vector<std::string> names_of(const View& view) {
    std::vector<std::string> names;
    for (const runner::Placed& each : view.operands()) names.push_back(each.name);
    return names;
}

}  // namespace

TEST_CASE("sizes and options by name become the operation's shape") {
    const Sums sums;
    CHECK(sums.forms() == std::vector<std::vector<std::string>>{{"m", "n", "k"}});
    const stages_option beta = {"beta", 0.5};
    const stages_problem in_c = {STAGES_BFLOAT16, kSizes, 3, &beta, 1};
    const Problem problem(sums, &in_c);
    CHECK(text_of(problem.shape) == "4 x 5 x 6 beta=0.5");
    CHECK(problem.dtype == DType::bfloat16);
    CHECK(!problem.is_empty);

    const auto refused = [&](const std::vector<stages_option>& options) {
        const stages_problem wrong = {STAGES_FLOAT32, kSizes, 3, options.data(), options.size()};
        return refusal([&] { const Problem posed(sums, &wrong); });
    };
    CHECK(refused({{"alpha", 1}}) == "sums has no option 'alpha': it has beta");
    CHECK_THAT(refused({{"beta", -1}}), ContainsSubstring("the option 'beta' cannot be -1"));
    CHECK_THAT(refused({{"beta", -1}}), ContainsSubstring("MxNxK is wanted, and beta"));
    CHECK(refused({{"beta", 1}, {"beta", 1}}) == "the option 'beta' is given twice");
    CHECK(refused({{"beta", 1}}).empty());
}

TEST_CASE("operands by name become inputs and outputs, and what was there before") {
    const Sums sums;
    const stages_problem in_c = {STAGES_FLOAT32, kSizes, 3, nullptr, 0};
    const Problem problem(sums, &in_c);
    float a[4 * 6];
    float c[4 * 5];
    float before[4 * 5];
    int64_t places[4];
    const stages_operand given[] = {{"places", places}, {"c:before", before}, {"c", c}, {"a", a}};
    const Operands operands(problem, given, 4);
    CHECK(names_of(operands.all()) == std::vector<std::string>{"a", "c", "places"});
    CHECK(names_of(operands.inputs()) == std::vector<std::string>{"a", "c"});
    CHECK(names_of(operands.outputs()) == std::vector<std::string>{"c", "places"});
    CHECK(operands.inputs()["c"].data == c);
    CHECK(operands.inputs_before()["c"].data == before);
    CHECK(operands.inputs_before()["a"].data == a);
    operands.require_apart();

    // Only a check asks for what was there before.
    const Operands without(problem, given + 2, 2);
    CHECK(names_of(without.inputs()) == std::vector<std::string>{"a", "c"});
    CHECK_THAT(
        refusal([&] { without.inputs_before(); }),
        ContainsSubstring("the operand 'c:before' is missing: an array of float32 that is read"));
    CHECK_THAT(
        refusal([&] { without.outputs(); }),
        ContainsSubstring("the operand 'places' is missing: an array of int64 that is written"));
    const stages_operand unknown = {"places:before", a};
    CHECK_THAT(refusal([&] { const Operands none(problem, &unknown, 1); }),
               ContainsSubstring("no operand 'places:before': there are a, c, places"));

    // What is only read may be given as it was, too; under a result it may have changed.
    std::vector<float> numbers(4 * 6);
    std::iota(numbers.begin(), numbers.end(), 0.f);
    runner::DeviceBuffer<float> x(numbers), x_before(numbers);
    const stages_operand kept[] = {{"a", x.data()},
                                   {"a:before", x_before.data()},
                                   {"c", c},
                                   {"c:before", before},
                                   {"places", places}};
    const Operands with_copy(problem, kept, 5);
    CHECK(with_copy.inputs_before()["a"].data == x_before.data());
    CHECK_FALSE(with_copy.overwritten().has_value());
    numbers[7] = -1;
    x.upload(numbers);
    CHECK(with_copy.overwritten()->first == 7);
    const stages_operand in_place[] = {
        {"a", x.data()}, {"a:before", x_before.data()}, {"c", x.data()}, {"places", places}};
    CHECK_FALSE(Operands(problem, in_place, 4).overwritten().has_value());

    const stages_operand over[] = {{"a", a}, {"c", a}, {"places", places}};
    const Operands over_each_other(problem, over, 3);
    over_each_other.all();
    CHECK_THAT(refusal([&] { over_each_other.require_apart(); }),
               ContainsSubstring("'c' lies over 'a'"));
}
