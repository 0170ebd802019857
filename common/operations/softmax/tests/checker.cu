// SPDX-License-Identifier: MIT
// The checker is what every other test trusts: it must accept the right answer and nothing else.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/operations/softmax/check.hpp"
#include "common/operations/softmax/inputs.cuh"
#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"

namespace {

using namespace operations::softmax;
using runner::DeviceBuffer;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> values_of(Input input, Shape shape) {
    std::vector<float> values;
    for (int64_t row = 0; row < shape.rows; ++row) {
        for (int64_t col = 0; col < shape.cols; ++col)
            values.push_back(input_value<float>(input, 1, row, col, shape.cols));
    }
    return values;
}

// An independent softmax: two plain passes in long double.
std::vector<float> softmax_of(const std::vector<float>& x, Shape shape) {
    std::vector<float> y(x.size());
    for (int64_t row = 0; row < shape.rows; ++row) {
        const float* x_row = x.data() + row * shape.cols;
        long double max = -std::numeric_limits<long double>::infinity();
        for (int64_t col = 0; col < shape.cols; ++col)
            max = std::max(max, static_cast<long double>(x_row[col]));
        long double sum = 0;
        for (int64_t col = 0; col < shape.cols; ++col) sum += std::exp(x_row[col] - max);
        for (int64_t col = 0; col < shape.cols; ++col) {
            y[static_cast<size_t>(row * shape.cols + col)] =
                static_cast<float>(std::exp(x_row[col] - max) / sum);
        }
    }
    return y;
}

Report judge(const std::vector<float>& x, const std::vector<float>& y, Shape shape,
             Rules rules = {}) {
    return check_on_host(x.data(), shape, {y.data(), rules});
}

const Rules kBlock{Kind::softmax, false, 256};

}  // namespace

TEST_CASE("the checker rejects what is wrong") {
    const Shape shape{10, 50257};
    const std::vector<float> x = values_of(Input::uniform, shape);
    const std::vector<float> right = softmax_of(x, shape);
    REQUIRE(judge(x, right, shape, kBlock).good());
    std::vector<float> y = right;
    const auto is_rejected = [&] {
        const Report report = judge(x, y, shape, kBlock);
        return !report.good() && report.mismatches > 0;
    };

    SECTION("all NaN") {
        y.assign(y.size(), kNaN);
        CHECK(is_rejected());
    }
    SECTION("all zeros, though every result is below 1e-4") {
        y.assign(y.size(), 0.f);
        CHECK(is_rejected());
    }
    SECTION("the result of other input: a stale output") {
        y = softmax_of(values_of(Input::normal, shape), shape);
        CHECK(is_rejected());
    }
    SECTION("two rows swapped") {
        std::swap_ranges(y.begin(), y.begin() + shape.cols, y.begin() + shape.cols);
        CHECK(is_rejected());
    }
    SECTION("rows that sum to 1.001") {
        for (float& each : y) each *= 1.001f;
        CHECK(is_rejected());
    }
    SECTION("rows that are uniform") {
        y.assign(y.size(), 1.f / 50257);
        CHECK(is_rejected());
    }
    SECTION("one infinity") {
        y[12345] = kInf;
        CHECK(is_rejected());
    }
    SECTION("a sign") {
        y[12345] = -y[12345];
        CHECK(is_rejected());
    }
}

TEST_CASE("the checker finds one wrong element in a million and says where") {
    const Shape shape{1000, 1000};
    const std::vector<float> x = values_of(Input::normal, shape);
    std::vector<float> y = softmax_of(x, shape);
    y[777 * 1000 + 424] *= 1.0001f;
    const Report report = judge(x, y, shape, kBlock);
    CHECK(report.mismatches == 1);
    CHECK(report.first_place == "row 777, col 424");
    CHECK_THAT(describe(report),
               ContainsSubstring("1 of 1000000 elements wrong; first at row 777, col 424"));
}

TEST_CASE("a NaN is accepted only where NaN is wanted, and is wanted only where it belongs") {
    const Shape shape{3, 2};
    const std::vector<float> x = {1, kNaN, kInf, 2, -kInf, -kInf};
    CHECK(judge(x, std::vector<float>(6, kNaN), shape).good());
    for (size_t i = 0; i < 6; ++i) {
        std::vector<float> y(6, kNaN);
        y[i] = 0.5f;
        CHECK(judge(x, y, shape).mismatches == 1);
    }
}

TEST_CASE("the logarithms of special rows") {
    const Shape shape{4, 2};
    const std::vector<float> x = {kInf, 2, -kInf, -kInf, kNaN, kInf, -kInf, 3};
    CHECK(judge(x, {kInf, -kInf, kNaN, 3}, shape, {Kind::log_sum_exp, false, 1}).good());
    CHECK(judge(x, {kNaN, -kInf, kNaN, 3}, shape, {Kind::log_sum_exp, false, 1}).mismatches == 1);
    CHECK(judge(x, {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, -kInf, 0}, shape,
                {Kind::log_softmax, false, 1})
              .good());
    CHECK(judge(x, {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, -100, 0}, shape,
                {Kind::log_softmax, false, 1})
              .mismatches == 1);
}

TEST_CASE("stage 01's promise is checked, not waved through") {
    const Shape shape{4, 2};
    const Rules naive{Kind::softmax, true, 1};
    const std::vector<float> x = {1000, 1000, -200, -200, 100, 0, 0, 0};
    const std::vector<float> promised = {kNaN, kNaN, kNaN, kNaN, kNaN, 0, 0.5f, 0.5f};
    CHECK(judge(x, promised, shape, naive).good());
    CHECK(judge(x, promised, shape, naive).promised == 6);
    CHECK(judge(x, softmax_of(x, shape), shape, naive).mismatches ==
          6);                                          // right as softmax, wrong as a promise
    CHECK(judge(x, promised, shape).mismatches == 6);  // and the other way round
}

TEST_CASE("a sum that is subnormal is left open and counted, not called right") {
    const Rules naive{Kind::softmax, true, 1};
    const std::vector<float> x(16, -95.f);
    const Report report = judge(x, std::vector<float>(16, kInf), {4, 4}, naive);
    CHECK(report.unchecked == 16);
    CHECK(report.checked == 0);
    const std::vector<float> low(16, -86.f);  // a normal sum: all is checked
    CHECK(judge(low, std::vector<float>(16, 0.25f), {4, 4}, naive).checked == 16);
    CHECK(judge(low, std::vector<float>(16, kInf), {4, 4}, naive).mismatches == 16);
}

TEST_CASE("rows of -inf alone compare as what they are, whatever the operation") {
    const std::vector<float> x(6, -kInf);
    const std::vector<float> nan(6, kNaN);
    const std::vector<float> infinite(2, -kInf);
    const Result log_softmax{nan.data(), {Kind::log_softmax, false, 1}};
    const Result softmax{nan.data(), {Kind::softmax, false, 1}};
    const Result log_sum_exp{infinite.data(), {Kind::log_sum_exp, false, 1}};
    CHECK(check_on_host(x.data(), {2, 3}, log_sum_exp, &log_softmax).good());
    CHECK(check_on_host(x.data(), {2, 3}, log_softmax, &softmax).good());
    const std::vector<float> zeros(2, 0.f);
    const Result wrong{zeros.data(), {Kind::log_sum_exp, false, 1}};
    CHECK_FALSE(check_on_host(x.data(), {2, 3}, wrong, &log_softmax).good());
}

TEST_CASE("a log-probability below the range of float is -inf") {
    const std::vector<float> x = {3e38f, -3e38f};
    CHECK(judge(x, {0, -kInf}, {1, 2}, {Kind::log_softmax, false, 1}).good());
}

TEST_CASE("a comparison passes within the sum of both bounds and fails beyond it") {
    const Shape shape{2, 1000};
    const std::vector<float> x = values_of(Input::normal, shape);
    const std::vector<float> ours = softmax_of(x, shape);
    std::vector<float> theirs = ours;
    const auto compared = [&](Rules rules) {
        const Result previous{theirs.data(), rules};
        return check_on_host(x.data(), shape, {ours.data(), kBlock}, &previous);
    };
    CHECK(compared(kBlock).good());
    theirs[1500] *= 1 + 0x1p-20f;
    CHECK(compared(kBlock).good());
    theirs[1500] *= 1.0001f;
    CHECK(compared(kBlock).mismatches == 1);
    CHECK(compared(kBlock).first_place == "row 1, col 500");

    for (size_t i = 0; i < theirs.size(); ++i) theirs[i] = std::log(ours[i]);
    const Rules log_rules{Kind::log_softmax, false, 256};
    CHECK(compared(log_rules).good());
    theirs[0] = kNaN;
    CHECK(compared(log_rules).mismatches == 1);
}

TEST_CASE("named inputs are distributed as they are called") {
    const std::vector<float> normal = values_of(Input::normal, {100, 1000});
    double sum = 0;
    double squares = 0;
    for (const float x : normal) {
        sum += x;
        squares += double{x} * x;
    }
    CHECK(std::fabs(sum / 1e5) < 0.02);
    CHECK(std::fabs(squares / 1e5 - 1) < 0.03);
    const std::vector<float> masked = values_of(Input::masked, {100, 1000});
    const auto holes = std::count(masked.begin(), masked.end(), -kInf);
    CHECK(holes > 28000);
    CHECK(holes < 32000);
}

TEST_CASE("a poisoned buffer is all NaN") {
    DeviceBuffer<float> y(1001);
    y.poison();
    for (const float each : y.download()) REQUIRE(std::isnan(each));
}
