// SPDX-License-Identifier: MIT
// The checker of sampling accepts the right column and nothing else, on the host and by its kernel.
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "common/operations/sampling/check.hpp"
#include "common/operations/sampling/draw.cuh"
#include "common/operations/topk/inputs.hpp"
#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"

namespace {

using namespace operations::sampling;
using operations::topk::Indices;
using runner::DeviceBuffer;
using runner::Report;

const std::vector<Options>& all_options() {
    static const std::vector<Options> options = {{},
                                                 {0, 0, 1, 0, 1},
                                                 {0.5, 0, 1, 0, 2},
                                                 {1, 7, 1, 0, 3},
                                                 {2, 0, 0.9, 0, 4},
                                                 {1, 0, 1, 0.1, 5},
                                                 {1, 40, 0.8, 0.02, 6},
                                                 {1, 1000, 1e-6, 0, 7},
                                                 {0.9, 0, 0.999, 1, 8}};
    return options;
}

template <class T>
std::vector<T> named(const std::string& input, const Shape& shape) {
    DeviceBuffer<T> x(static_cast<size_t>(shape.rows * shape.cols));
    operations::topk::fill(x.data(), runner::dtype_of<T>, {shape.rows, shape.cols, 1}, input, 1);
    runner::check_cuda(cudaDeviceSynchronize(), "filling x");
    return x.download();
}

struct Choice {
    std::vector<int64_t> columns;
    std::vector<float> probabilities;
};

template <class T>
std::vector<double> distribution_of_row(const std::vector<T>& x, const Shape& shape, int64_t row) {
    std::vector<double> values;
    for (int64_t col = 0; col < shape.cols; ++col)
        values.push_back(runner::to_double(x[static_cast<size_t>(row * shape.cols + col)]));
    return distribution_of(values, shape.options);
}

// By sorting and summing up.
template <class T>
Choice right_choice(const std::vector<T>& x, const Shape& shape) {
    Choice choice;
    for (int64_t row = 0; row < shape.rows; ++row) {
        const std::vector<double> distribution = distribution_of_row(x, shape, row);
        const int64_t col = column_at(unit_of_row(shape.options.seed, row), distribution);
        choice.columns.push_back(col);
        choice.probabilities.push_back(
            col < 0 ? NAN : static_cast<float>(distribution[static_cast<size_t>(col)]));
    }
    return choice;
}

// By both checkers, which must agree; columns in 64 bits there, in 32 here where they fit.
template <class T>
Report judge(const std::vector<T>& x, const Choice& choice, const Shape& shape,
             const Choice* previous = nullptr) {
    constexpr DType kType = runner::dtype_of<T>;
    const std::vector<int32_t> narrow(choice.columns.begin(), choice.columns.end());
    const bool fit = std::equal(narrow.begin(), narrow.end(), choice.columns.begin());
    const Indices columns = fit ? Indices(narrow.data()) : Indices(choice.columns.data());
    Result theirs;
    if (previous != nullptr)
        theirs = {previous->columns.data(), previous->probabilities.data(), kType, 128};
    const Report on_host =
        check_on_host(x.data(), shape, {columns, choice.probabilities.data(), kType, 128},
                      previous != nullptr ? &theirs : nullptr);

    const DeviceBuffer<T> dx(x);
    const DeviceBuffer<int64_t> wide(choice.columns);
    const DeviceBuffer<float> probabilities(choice.probabilities);
    const DeviceBuffer<int64_t> others(previous != nullptr ? previous->columns
                                                           : std::vector<int64_t>());
    theirs.columns = Indices(others.data());
    theirs.probabilities = nullptr;
    const Report on_device =
        check_on_device(dx.data(), shape, {wide.data(), probabilities.data(), kType, 128},
                        previous != nullptr ? &theirs : nullptr);
    CHECK(on_host.checked == on_device.checked);
    CHECK(on_host.mismatches == on_device.mismatches);
    CHECK(on_host.first_place == on_device.first_place);
    return on_host;
}

}  // namespace

TEST_CASE("the reference's Philox gives Random123's known answers") {
    const auto words = [](PhiloxWords counter, uint32_t key0, uint32_t key1) {
        const PhiloxWords found = philox(counter, key0, key1);
        return std::vector<uint32_t>(found.word, found.word + 4);
    };
    CHECK(words({{0, 0, 0, 0}}, 0, 0) ==
          std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(words({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u) ==
          std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(words({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0) ==
          std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    CHECK(unit_of_row(0, 0) == static_cast<double>(0xe169c58d6627e8d5 >> 11) * 0x1p-53);
    std::set<double> units;
    for (int64_t row = 0; row < 1000; ++row) units.insert(unit_of_row(3, row << 22));
    CHECK(units.size() == 1000);
    CHECK((*units.begin() >= 0 && *units.begin() < 0.01));
    CHECK((*units.rbegin() < 1 && *units.rbegin() > 0.99));
}

TEST_CASE("a distribution is cut by top-k, by top-p of what is left, and by min-p") {
    // Probabilities 16, 8, 8, 4, 2, 2 of 40, in another order.
    const std::vector<double> row = {std::log(8.), std::log(2.), std::log(16.),
                                     std::log(8.), std::log(4.), std::log(2.)};
    const auto weights = [&](const Options& options) {
        std::vector<double> found;
        for (const double each : distribution_of(row, options)) found.push_back(each);
        return found;
    };
    const auto near = [](const std::vector<double>& found, std::vector<double> wanted) {
        double sum = 0;
        for (const double each : wanted) sum += each;
        for (size_t i = 0; i < wanted.size(); ++i) {
            if (!(std::fabs(found[i] - wanted[i] / sum) < 1e-12)) return false;
        }
        return true;
    };
    CHECK(near(weights({}), {8, 2, 16, 8, 4, 2}));
    CHECK(near(weights({0}), {0, 0, 1, 0, 0, 0}));
    CHECK(near(weights({0.5}), {64, 4, 256, 64, 16, 4}));
    CHECK(near(weights({1, 2}), {8, 0, 16, 0, 0, 0}));        // of the two 8s the first
    CHECK(near(weights({1, 0, 0.65}), {8, 0, 16, 8, 0, 0}));  // 16 + 8 are 0.6, too few
    CHECK(near(weights({1, 0, 0.41}), {8, 0, 16, 0, 0, 0}));
    CHECK(near(weights({1, 0, 1e-6}), {0, 0, 1, 0, 0, 0}));  // the best always stays
    CHECK(near(weights({1, 3, 0.7}), {8, 0, 16, 0, 0, 0}));  // 24 of 32: renormalised first
    CHECK(near(weights({1, 0, 1, 0.2}), {8, 0, 16, 8, 4, 0}));
    CHECK(near(weights({1, 0, 1, 1}), {0, 0, 1, 0, 0, 0}));
    CHECK(near(weights({1, 0, 0.95, 0.2}), {8, 0, 16, 8, 4, 0}));
    CHECK(std::isnan(distribution_of({1, NAN}, {})[0]));
    CHECK(std::isnan(distribution_of({1, INFINITY}, {})[0]));
    CHECK(std::isnan(distribution_of({-INFINITY, -INFINITY}, {})[0]));
    CHECK(column_at(0.5, {0.25, 0, 0.25, 0.5}) == 3);
    CHECK(column_at(0.49, {0.25, 0, 0.25, 0.5}) == 2);
    CHECK(column_at(0.99, {0.5, 0.4, 0}) == 1);  // what rounding may leave
    CHECK(column_at(0.5, {NAN, NAN}) == -1);
}

TEMPLATE_TEST_CASE("the checker of sampling accepts the right columns of every named input", "",
                   float, __half, __nv_bfloat16) {
    for (const Options& options : all_options()) {
        for (const Shape& shape :
             {Shape(2, 1, options), Shape(3, 40, options), Shape(1, 333, options)}) {
            for (const runner::NamedInput& input : operations::topk::all_inputs()) {
                const std::vector<TestType> x = named<TestType>(input.name, shape);
                const Report report = judge(x, right_choice(x, shape), shape);
                INFO(input.name << ", " << text_of(runner::Shape(shape)) << ": "
                                << describe(report));
                CHECK(report.good());
                CHECK(report.checked == 2 * shape.rows);
                CHECK(report.worst_share < 0.6);
            }
        }
    }
}

TEST_CASE("the checker of sampling rejects whatever else a row may get") {
    for (const Options& options : all_options()) {
        const Shape shape(5, 500, options);
        const std::vector<float> x = named<float>("distinct", shape);
        const Choice right = right_choice(x, shape);
        const auto is_rejected = [&](const char* what, const std::function<void(Choice&)>& spoil,
                                     const char* place) {
            Choice choice = right;
            spoil(choice);
            INFO(what << ", " << text_of(runner::Shape(shape)));
            const Report report = judge(x, choice, shape);
            CHECK(report.mismatches >= 1);
            CHECK(report.first_place == place);
            return report;
        };
        const char* const column = "column, row 3";
        is_rejected(
            "nothing", [](Choice& c) { c.columns[3] = -1; }, column);
        is_rejected(
            "behind the last column", [](Choice& c) { c.columns[3] = 500; }, column);
        is_rejected(
            "too many bits", [](Choice& c) { c.columns[3] += 1ll << 32; }, column);
        const Report report = is_rejected(
            "a column beside", [](Choice& c) { c.columns[3] += c.columns[3] < 498 ? 2 : -2; },
            column);
        CHECK(report.first_wanted == static_cast<double>(right.columns[3]));
        is_rejected(
            "a far one", [](Choice& c) { c.columns[3] = (c.columns[3] + 250) % 500; }, column);
        const char* const probability = "probability, row 3";
        is_rejected(
            "a probability that is off", [](Choice& c) { c.probabilities[3] *= 1.0001f; },
            probability);
        is_rejected(
            "NaN", [](Choice& c) { c.probabilities[3] = NAN; }, probability);
        is_rejected(
            "a logit", [](Choice& c) { c.probabilities[3] = 2.5f; }, probability);
    }
}

TEST_CASE("a row without a distribution has no column, and any other has one") {
    const Shape shape(3, 4);
    const std::vector<float> x = {1, NAN, 2,         3,         INFINITY,  1,
                                  1, 1,   -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    CHECK(judge(x, {{-1, -1, -1}, {NAN, NAN, NAN}}, shape).good());
    for (size_t row = 0; row < 3; ++row) {
        Choice choice{{-1, -1, -1}, {NAN, NAN, NAN}};
        choice.columns[row] = 0;
        CHECK_FALSE(judge(x, choice, shape).good());
        choice.columns[row] = -1;
        choice.probabilities[row] = 0;
        CHECK_FALSE(judge(x, choice, shape).good());
    }
}

TEST_CASE("what has probability 0 is never right, also where rounding comes near it") {
    const Shape shape(1, 3);
    const double u = unit_of_row(0, 0);
    // u points at the first column's end; the second is masked.
    const std::vector<float> x = {static_cast<float>(std::log(u)), -INFINITY,
                                  static_cast<float>(std::log(1 - u))};
    const auto is_right = [&](int64_t col) {
        return judge(x, {{col}, {static_cast<float>(col == 0 ? u : 1 - u)}}, shape).good();
    };
    CHECK(is_right(0));
    CHECK_FALSE(is_right(1));
    CHECK(is_right(2));
}

TEST_CASE("near a border two columns are right, a thousandth off only one is") {
    const Shape shape(1, 2);
    const double u = unit_of_row(0, 0);
    for (const double off : {-1e-3, 0., 1e-3}) {
        const double border = u + off;
        const std::vector<float> x = {static_cast<float>(std::log(border)),
                                      static_cast<float>(std::log(1 - border))};
        const Choice first{{0}, {static_cast<float>(border)}};
        const Choice second{{1}, {static_cast<float>(1 - border)}};
        INFO(off);
        CHECK(judge(x, first, shape).good() == (off >= 0));
        CHECK(judge(x, second, shape).good() == (off <= 0));
        CHECK(judge(x, first, shape, &second).good() == (off == 0));
        CHECK(judge(x, first, shape, &first).good());
    }
}

TEST_CASE("where a cut is as good as any, what follows of either is right, and nothing else") {
    // Half of four equal columns: rounding decides whether two stay or three.
    Shape shape(40, 4, {1, 0, 0.5, 0, 1});
    const std::vector<float> x(160, 1.f);
    Choice two, three, four;
    for (int64_t row = 0; row < shape.rows; ++row) {
        const double u = unit_of_row(1, row);
        two.columns.push_back(static_cast<int64_t>(2 * u));
        three.columns.push_back(static_cast<int64_t>(3 * u));
        four.columns.push_back(static_cast<int64_t>(4 * u));
    }
    two.probabilities.assign(40, 1 / 2.f);
    three.probabilities.assign(40, 1 / 3.f);
    four.probabilities.assign(40, 1 / 4.f);
    CHECK(judge(x, two, shape).good());
    CHECK(judge(x, three, shape).good());
    CHECK(judge(x, four, shape).mismatches > 10);
    shape.options.top_p = 0.501;
    CHECK(judge(x, two, shape).mismatches > 10);
    CHECK(judge(x, three, shape).good());
    shape.options.top_p = 0.499;
    CHECK(judge(x, two, shape).good());
    CHECK(judge(x, three, shape).mismatches > 10);
    // The same of what is as probable as min-p asks for, up to rounding.
    shape.options = {1, 0, 1, 0.25, 1};
    std::vector<float> with_quarter;
    for (int64_t row = 0; row < shape.rows; ++row) {
        for (const double weight : {1., 1., 0.25, 0.1})
            with_quarter.push_back(static_cast<float>(std::log(weight)));
    }
    CHECK(judge(with_quarter, two, shape).good());
    shape.options.min_p = 0.251;
    CHECK(judge(with_quarter, two, shape).good());
    shape.options.min_p = 0.249;
    CHECK(judge(with_quarter, two, shape).mismatches > 3);
}

TEST_CASE("problems of sampling: options by their names, and only those that mean something") {
    const runner::Operation& operation = *operation_of(Kind::sample_token);
    const auto shape = [](const char* word) { return *runner::shape_from(word); };
    CHECK(text_of(operation.plain(shape("4x1000,temperature=1,top_k=0,seed=3"))) ==
          "4 x 1000 seed=3");
    CHECK(operation.has_shape(shape("4x1000,temperature=0.5,top_k=5,top_p=0.9,min_p=0.1,seed=7")));
    CHECK(operation.has_shape(shape("4x1000,temperature=0")));
    for (const char* word : {"4x1000,temperature=-1", "4x1000,top_k=-1", "4x1000,top_k=1.5",
                             "4x1000,top_p=0", "4x1000,top_p=1.5", "4x1000,min_p=-0.1",
                             "4x1000,min_p=2", "4x1000,seed=0.5", "4x1000,k=5", "4x10x10"}) {
        INFO(word);
        CHECK_FALSE(operation.has_shape(shape(word)));
    }
    const runner::Operation& all = *operation_of(Kind::sample_token_with_probability);
    CHECK(operation.operands(shape("7x9"), DType::float16)[1].type == runner::ElementType::int32);
    CHECK(all.operands(shape("7x9"), DType::float16)[1].type == runner::ElementType::int64);
    CHECK(all.operands(shape("7x9"), DType::float16)[2].type == runner::ElementType::float32);
    CHECK(operation.cost(shape("10x100"), DType::float32).bytes() == 4000 + 40);
    int cut = 0, with_seed = 0;
    for (int64_t number = 0; number < 500; ++number) {
        runner::Draws draws(1, number);
        const Shape drawn = operation.draw(draws, 5000, [](const std::string&) { return true; });
        cut += drawn.options.cut();
        with_seed += drawn.options.seed != 0;
    }
    CHECK(cut > 300);
    CHECK(with_seed > 450);
}
