// SPDX-License-Identifier: MIT
// Tests of the cross-entropy loss and its gradient, included by the stage's test.cu.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "05_smem_softmax/variants.hpp"
#include "common/operations/cross_entropy/check.hpp"
#include "common/operations/softmax/properties.hpp"
#include "common/testing/outcome.hpp"
#include "common/testing/random_cases.hpp"
#include "further/cross_entropy.cuh"

namespace cross_entropy_tests {

using runner::DeviceBuffer;
using softmax_stages::CrossEntropyOptions;
using softmax_stages::Reduction;

// The operands of a call, on the host.
struct Problem {
    int64_t rows, cols;
    std::vector<float> logits;
    std::vector<int64_t> targets;
    std::vector<float> class_weights = {};
    std::vector<float> grad_output = {};
    CrossEntropyOptions<float> options = {};
};

struct Outputs {
    std::vector<float> loss, lse, totals, gradient;
};

// The results of the call with the gradient, which may lie over the logits, and with targets of this type.
template <class Target = int64_t>
Outputs results_of(const Problem& problem, bool in_place = false) {
    const auto rows = static_cast<size_t>(problem.rows);
    DeviceBuffer<float> logits(problem.logits);
    const DeviceBuffer<Target> targets(
        std::vector<Target>(problem.targets.begin(), problem.targets.end()));
    const DeviceBuffer<float> weights(problem.class_weights), upstream(problem.grad_output);
    DeviceBuffer<float> loss(rows), lse(rows), totals(3), gradient(problem.logits.size());
    for (DeviceBuffer<float>* each : {&loss, &lse, &totals, &gradient}) each->poison();
    CrossEntropyOptions<float> options = problem.options;
    if (!problem.class_weights.empty()) options.class_weights = weights.data();
    if (!problem.grad_output.empty()) options.grad_output = upstream.data();
    options.lse = lse.data();
    options.totals = totals.data();
    DeviceBuffer<float>& to = in_place ? logits : gradient;
    REQUIRE(softmax_stages::cross_entropy(logits.data(), targets.data(), loss.data(), to.data(),
                                          problem.rows, problem.cols, options, nullptr, 0,
                                          nullptr) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const Outputs all{loss.download(), lse.download(), totals.download(), to.download()};

    // The loss alone is the same.
    loss.poison();
    const DeviceBuffer<float> again(problem.logits);
    REQUIRE(softmax_stages::cross_entropy_loss(again.data(), targets.data(), loss.data(),
                                               problem.rows, problem.cols, options, nullptr, 0,
                                               nullptr) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<float> alone = loss.download();
    for (size_t row = 0; row < rows; ++row) {
        INFO("row " << row << ": " << alone[row] << " alone, " << all.loss[row]);
        CHECK((std::fabs(alone[row] - all.loss[row]) <= 1e-5f * (1 + std::fabs(all.loss[row])) ||
               alone[row] == all.loss[row] ||
               (std::isnan(alone[row]) && std::isnan(all.loss[row]))));
    }
    return all;
}

void check_near(const std::vector<float>& got, const std::vector<double>& wanted, const char* name,
                double tolerance = 2e-6) {
    REQUIRE(got.size() == wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
        INFO(name << " " << i << ": got " << got[i] << ", wanted " << wanted[i]);
        CHECK(std::fabs(double{got[i]} - wanted[i]) <= tolerance * (1 + std::fabs(wanted[i])));
    }
}

// ---- PyTorch's formulas

double log_sum_exp(const std::vector<double>& x) {
    double sum = 0;
    for (const double each : x) sum += std::exp(each);
    return std::log(sum);
}

// A row's loss before any reduction, as torch.nn.functional computes it: log_softmax, nll_loss and the mean over
// classes; and its z-loss.
struct RowLoss {
    double loss, z;
};
RowLoss loss_of_row(const std::vector<double>& logits, size_t target,
                    const std::vector<float>& weights, const CrossEntropyOptions<float>& options) {
    std::vector<double> x = logits;
    if (options.soft_cap > 0)
        for (double& each : x)
            each = double{options.soft_cap} * std::tanh(each / double{options.soft_cap});
    const double lse = log_sum_exp(x), s = double{options.label_smoothing};
    const auto weight = [&](size_t c) { return weights.empty() ? 1. : double{weights[c]}; };
    double smooth = 0;
    for (size_t c = 0; c < x.size(); ++c) smooth -= weight(c) * (x[c] - lse);
    const double hard = -weight(target) * (x[target] - lse);
    return {(1 - s) * hard + s / static_cast<double>(x.size()) * smooth,
            double{options.z_loss} * lse * lse};
}

// The loss of all rows as a function of the logits: what PyTorch's backward pass differentiates.
struct Losses {
    std::vector<double> rows;
    double weight = 0, count = 0;
};
Losses losses_of(const Problem& problem, const std::vector<double>& logits) {
    Losses all;
    std::vector<RowLoss> rows;
    for (size_t row = 0; row < problem.targets.size(); ++row) {
        const int64_t target = problem.targets[row];
        const auto first = logits.begin() + static_cast<std::ptrdiff_t>(row) * problem.cols;
        const bool counts = target != problem.options.ignore_index;
        rows.push_back(counts
                           ? loss_of_row({first, first + problem.cols}, static_cast<size_t>(target),
                                         problem.class_weights, problem.options)
                           : RowLoss{0, 0});
        if (!counts) continue;
        all.count += 1;
        all.weight += problem.class_weights.empty()
                          ? 1
                          : double{problem.class_weights[static_cast<size_t>(target)]};
    }
    const bool mean = problem.options.reduction == Reduction::mean;
    for (const RowLoss& row : rows)
        all.rows.push_back(mean ? row.loss / all.weight + row.z / all.count : row.loss + row.z);
    return all;
}

// The derivative by each logit, as a difference: no formula of the gradient is used.
std::vector<double> gradient_of(const Problem& problem) {
    const std::vector<double> logits(problem.logits.begin(), problem.logits.end());
    constexpr double kStep = 1e-5;
    std::vector<double> gradient;
    for (size_t i = 0; i < logits.size(); ++i) {
        const size_t row = i / static_cast<size_t>(problem.cols);
        std::vector<double> up = logits, down = logits;
        up[i] += kStep;
        down[i] -= kStep;
        const bool one = problem.options.reduction != Reduction::none;
        const double upstream =
            problem.grad_output.empty() ? 1 : double{problem.grad_output[one ? 0 : row]};
        gradient.push_back(upstream *
                           (losses_of(problem, up).rows[row] - losses_of(problem, down).rows[row]) /
                           (2 * kStep));
    }
    return gradient;
}

const std::vector<float> kThreeLogits = {0, std::log(2.f), std::log(3.f)};  // softmax 1/6, 1/3, 1/2

Problem random_problem(int64_t rows, int64_t cols) {
    Problem problem{rows, cols, {}, {}};
    for (int64_t i = 0; i < rows * cols; ++i)
        problem.logits.push_back(static_cast<float>(i * 7919 % 4001) / 500.f - 4.f);
    for (int64_t row = 0; row < rows; ++row) problem.targets.push_back(row * 31 % cols);
    return problem;
}

std::vector<runner::Variant> variants() {
    return smem_softmax::cross_entropy_variants();
}

}  // namespace cross_entropy_tests

TEST_CASE("cross-entropies of three logits, by hand") {
    using namespace cross_entropy_tests;
    const double ln2 = std::log(2.), ln3 = std::log(3.), ln6 = std::log(6.);
    Problem one{1, 3, kThreeLogits, {2}};
    Outputs got = results_of(one);
    check_near(got.loss, {ln2}, "loss");  // -log(1/2)
    check_near(got.lse, {ln6}, "lse");
    check_near(got.gradient, {1. / 6, 1. / 3, -1. / 2}, "gradient");

    SECTION("label smoothing") {
        one.options.label_smoothing = 0.3f;
        got = results_of(one);
        check_near(got.loss, {0.7 * ln2 + 0.1 * (ln6 + ln3 + ln2)}, "loss");
        check_near(got.gradient, {1. / 6 - 0.1, 1. / 3 - 0.1, -1. / 2 + 0.2}, "gradient");
    }
    SECTION("class weights, alone and with label smoothing") {
        one.class_weights = {1, 2, 4};
        got = results_of(one);
        check_near(got.loss, {4 * ln2}, "loss");
        check_near(got.gradient, {4. / 6, 4. / 3, -2}, "gradient");
        one.options.label_smoothing = 0.3f;
        got = results_of(one);
        check_near(got.loss, {0.7 * 4 * ln2 + 0.1 * (1 * ln6 + 2 * ln3 + 4 * ln2)}, "loss");
        // 3.5 = 0.7 * 4 + 0.1 * (1 + 2 + 4)
        check_near(got.gradient, {3.5 / 6 - 0.1, 3.5 / 3 - 0.2, 3.5 / 2 - 0.4 - 2.8}, "gradient");
    }
    SECTION("z-loss") {
        one.options.z_loss = 0.5f;
        got = results_of(one);
        check_near(got.loss, {ln2 + 0.5 * ln6 * ln6}, "loss");
        check_near(got.gradient, {(1 + ln6) / 6, (1 + ln6) / 3, (1 + ln6) / 2 - 1}, "gradient");
    }
    SECTION("soft cap") {
        one.options.soft_cap = 1;  // tanh(log(a)) = (a^2 - 1) / (a^2 + 1): 0, 3/5, 4/5
        got = results_of(one);
        const double lse = std::log(1 + std::exp(0.6) + std::exp(0.8));
        check_near(got.lse, {lse}, "lse");
        check_near(got.loss, {lse - 0.8}, "loss");
        check_near(got.gradient,
                   {std::exp(-lse), (1 - 0.36) * std::exp(0.6 - lse),
                    (1 - 0.64) * (std::exp(0.8 - lse) - 1)},
                   "gradient");
    }
    SECTION("a grad_output scales the gradient alone") {
        one.grad_output = {-3};
        got = results_of(one);
        check_near(got.loss, {ln2}, "loss");
        check_near(got.gradient, {-1. / 2, -1, 3. / 2}, "gradient");
    }
    SECTION("mean and sum, over rows of which one does not count") {
        Problem three{3, 3, {}, {2, -100, 0}};
        for (int row = 0; row < 3; ++row)
            three.logits.insert(three.logits.end(), kThreeLogits.begin(), kThreeLogits.end());
        three.options.reduction = Reduction::sum;
        got = results_of(three);
        check_near(got.loss, {ln2, 0, ln6}, "loss");
        check_near(got.lse, {ln6, 0, ln6}, "lse");
        check_near(got.totals, {ln2 + ln6, 2, 2}, "totals");
        three.options.reduction = Reduction::mean;
        got = results_of(three);
        check_near(got.loss, {ln2 / 2, 0, ln6 / 2}, "loss");
        check_near(got.totals, {(ln2 + ln6) / 2, 2, 2}, "totals");
        check_near(got.gradient, {1. / 12, 1. / 6, -1. / 4, 0, 0, 0, -5. / 12, 1. / 6, 1. / 4},
                   "gradient");
        three.class_weights = {1, 2, 3};
        three.options.z_loss = 0.5f;  // its mean is over rows, not over weights
        got = results_of(three);
        const double z = 0.5 * ln6 * ln6 / 2;
        check_near(got.loss, {3 * ln2 / 4 + z, 0, ln6 / 4 + z}, "loss");
        check_near(got.totals, {(3 * ln2 + ln6) / 4 + 2 * z, 4, 2}, "totals");
    }
}

TEST_CASE(
    "every combination of options gives PyTorch's losses, and gradients as differences show them") {
    using namespace cross_entropy_tests;
    for (int number = 0; number < 3 * 64; ++number) {
        const auto has = [&](int bit) { return (number / 3 >> bit) % 2 == 1; };
        Problem problem = random_problem(5, 9);
        problem.options.reduction = static_cast<Reduction>(number % 3);
        if (has(0)) problem.options.label_smoothing = 0.25f;
        if (has(1)) problem.options.z_loss = 0.125f;
        if (has(2)) problem.options.soft_cap = 5;
        if (has(3)) problem.class_weights = {1, 0.5f, 2, 3, 0, 0.25f, 1.5f, 1, 2};
        if (has(4)) problem.grad_output = {2, -1, 0.5f, 3, 1};
        if (has(5)) problem.options.ignore_index = problem.targets[3];
        INFO("combination " << number);
        const Losses wanted = losses_of(problem, {problem.logits.begin(), problem.logits.end()});
        const Outputs got =
            number % 2 == 0 ? results_of(problem) : results_of<int32_t>(problem, true);
        check_near(got.loss, wanted.rows, "loss", 1e-5);
        check_near(got.gradient, gradient_of(problem), "gradient", 2e-5);
        if (problem.options.reduction == Reduction::none) continue;
        double sum = 0;
        for (const double each : wanted.rows) sum += each;
        check_near(got.totals, {sum, wanted.weight, wanted.count}, "totals", 1e-5);
    }
}

// One case per type, so that the types run side by side.
TEMPLATE_TEST_CASE(
    "cross-entropies match the reference on every input, with every combination of options", "",
    float, __half, __nv_bfloat16, double) {
    using namespace cross_entropy_tests;
    using operations::cross_entropy::Shape;
    constexpr runner::DType kType = runner::dtype_of<TestType>;
    const bool is_float = kType == runner::DType::float32;
    for (const runner::Variant& variant : variants()) {
        INFO(variant.name);
        const std::vector<runner::NamedInput> inputs = variant.operation->inputs();
        size_t next = 0;
        for (int number = 0; number < 3 * 64; ++number) {
            const auto has = [&](int bit) { return (number / 3 >> bit) % 2 == 1; };
            const int64_t cols =
                std::vector<int64_t>{5, 64, 257, 1032}[static_cast<size_t>(number % 4)];
            Shape shape(6, cols);
            shape.options = {has(4) ? 32 : 64,  has(5) ? cols / 2 : -100, has(0) ? 0.1 : 0,
                             has(1) ? 1e-3 : 0, has(2) ? 20. : 0,         has(3),
                             number % 3 == 1,   number % 3 == 2};
            testing::matches_reference(variant, inputs[next++ % inputs.size()].name, shape, kType);
        }
        // Every input at rows of a warp, of a block, and of more than shared memory holds.
        for (const int64_t cols : {1, 7, 100, 1001, 4096, 9001, 70001}) {
            if (cols > 5000 && !is_float && cols % 2 == 0) continue;
            for (const runner::NamedInput& input : inputs) {
                if (cols > 5000 && !is_float && next++ % 3 != 0) continue;
                testing::matches_reference(variant, input.name, Shape(cols > 5000 ? 1 : 3, cols),
                                           kType);
            }
        }
    }
}

TEST_CASE("a row's gradient adds up to zero, or with a z-loss to 2 z lse") {
    using namespace cross_entropy_tests;
    for (int number = 0; number < 8; ++number) {
        Problem problem = random_problem(4, 1000);
        if (number % 2 == 1) problem.options.label_smoothing = 0.1f;
        for (int col = 0; number / 2 % 2 == 1 && col < 1000; ++col)
            problem.class_weights.push_back(static_cast<float>(col % 4));
        if (number / 4 == 1) problem.options.z_loss = 0.25f;
        const Outputs got = results_of(problem);
        for (size_t row = 0; row < 4; ++row) {
            double sum = 0;
            for (size_t col = 0; col < 1000; ++col) sum += double{got.gradient[row * 1000 + col]};
            const double wanted = 2 * double{problem.options.z_loss} * double{got.lse[row]};
            INFO(number << ", row " << row << ": " << sum << ", wanted " << wanted);
            CHECK(std::fabs(sum - wanted) < 1e-5);
        }
    }
}

TEST_CASE(
    "a gradient over the logits has the bits of one beside them, and targets of 32 bits those "
    "of 64") {
    using namespace cross_entropy_tests;
    for (const int64_t cols : {7, 256, 1000, 4099, 70001}) {  // the last one is read twice
        INFO(cols << " columns");
        const Problem problem = random_problem(cols > 5000 ? 2 : 6, cols);
        const Outputs beside = results_of(problem);
        for (const Outputs& over :
             {results_of(problem, true), results_of<int32_t>(problem, true)}) {
            CHECK(testing::same_bits(beside.gradient, over.gradient));
            CHECK(testing::same_bits(beside.loss, over.loss));
            CHECK(testing::same_bits(beside.lse, over.lse));
        }
    }
}

TEST_CASE("targets out of range make their rows NaN, and no others") {
    using namespace cross_entropy_tests;
    for (const int64_t cols : {5, 4099}) {
        Problem problem = random_problem(7, cols);
        problem.targets = {1, -1, cols, int64_t{1} << 32, INT64_MIN, INT64_MAX, 2};
        problem.options.reduction = Reduction::mean;
        const Outputs got = results_of(problem);
        for (size_t row = 0; row < 7; ++row) {
            const bool right = row == 0 || row == 6;
            CHECK(std::isfinite(got.loss[row]) == right);
            CHECK(std::isnan(got.lse[row]) == !right);
            for (size_t col = 0; col < static_cast<size_t>(cols); ++col) {
                const float each = got.gradient[row * static_cast<size_t>(cols) + col];
                if (std::isnan(each) == right) FAIL("row " << row << ", col " << col);
            }
        }
        CHECK(std::isnan(got.totals[0]));
        CHECK(got.totals[2] == 7);
        problem.targets = {1, -100, -100, -100, -100, -100, 2};  // none of these reads its logits
        std::fill(problem.logits.begin() + cols, problem.logits.end() - cols, NAN);
        const Outputs ignored = results_of(problem);
        CHECK(std::isfinite(ignored.totals[0]));
        CHECK(ignored.totals[2] == 2);
        for (size_t i = 0; i < static_cast<size_t>(5 * cols); ++i) {
            if (ignored.gradient[static_cast<size_t>(cols) + i] != 0) FAIL("element " << i);
        }
    }
}

TEST_CASE("special rows of a cross-entropy are as PyTorch's") {
    using namespace cross_entropy_tests;
    constexpr float kInf = std::numeric_limits<float>::infinity();
    Problem problem{5,
                    3,
                    {0, kInf, 0, 0, NAN, 0, -kInf, -kInf, -kInf, 0, -kInf, 0, 0, -kInf, 0},
                    {0, 0, 0, 1, 0}};
    const Outputs got = results_of(problem);
    for (size_t row = 0; row < 3; ++row) {  // with +inf, with NaN, of -inf alone
        CHECK(std::isnan(got.loss[row]));
        for (size_t col = 0; col < 3; ++col) CHECK(std::isnan(got.gradient[row * 3 + col]));
    }
    CHECK(got.lse[2] == -kInf);
    CHECK(got.loss[3] == kInf);  // the target has probability 0
    check_near({got.gradient.begin() + 9, got.gradient.end()}, {0.5, -1, 0.5, -0.5, 0, 0.5},
               "gradient");
    check_near({got.loss[4]}, {std::log(2.)}, "loss");

    problem.targets.assign(5, -100);
    problem.options.reduction = Reduction::mean;
    const Outputs nothing = results_of(problem);
    CHECK(std::isnan(nothing.totals[0]));  // 0 / 0
    for (const float each : nothing.gradient) CHECK(each == 0);
    problem.options.reduction = Reduction::sum;
    CHECK(results_of(problem).totals[0] == 0);
}

TEST_CASE("cross-entropies refuse what they cannot compute") {
    using namespace cross_entropy_tests;
    DeviceBuffer<float> logits(8), loss(2), gradient(8), totals(3);
    const DeviceBuffer<int64_t> targets(std::vector<int64_t>{0, 1});
    gradient.poison();
    const auto call = [&](const CrossEntropyOptions<float>& options, int64_t rows = 2,
                          int64_t cols = 4) {
        const cudaError_t with_gradient = softmax_stages::cross_entropy(
            logits.data(), targets.data(), loss.data(), gradient.data(), rows, cols, options,
            nullptr, 0, nullptr);
        CHECK(softmax_stages::cross_entropy_loss(logits.data(), targets.data(), loss.data(), rows,
                                                 cols, options, nullptr, 0,
                                                 nullptr) == with_gradient);
        return with_gradient;
    };
    const auto with = [](auto change) {
        CrossEntropyOptions<float> options;
        change(options);
        return options;
    };
    for (const float wrong : {-0.1f, 1.1f, NAN})
        CHECK(call(with([&](auto& of) { of.label_smoothing = wrong; })) == cudaErrorInvalidValue);
    for (const float wrong : {-1.f, NAN, INFINITY}) {
        CHECK(call(with([&](auto& of) { of.z_loss = wrong; })) == cudaErrorInvalidValue);
        CHECK(call(with([&](auto& of) { of.soft_cap = wrong; })) == cudaErrorInvalidValue);
    }
    CHECK(call(with([&](auto& of) { of.reduction = Reduction::mean; })) == cudaErrorInvalidValue);
    CHECK(call(with([&](auto& of) { of.reduction = Reduction::sum; })) == cudaErrorInvalidValue);
    CHECK(call(with([&](auto& of) {
              of.reduction = static_cast<Reduction>(3);
              of.totals = totals.data();
          })) == cudaErrorInvalidValue);
    auto* const odd = reinterpret_cast<float*>(reinterpret_cast<char*>(totals.data()) + 1);
    CHECK(call(with([&](auto& of) { of.lse = odd; })) == cudaErrorInvalidValue);
    CHECK(call(with([&](auto& of) { of.class_weights = odd; })) == cudaErrorInvalidValue);
    CHECK(call(with([&](auto& of) { of.grad_output = odd; })) == cudaErrorInvalidValue);
    CHECK(call({}, int64_t{1} << 31, 4) == cudaErrorInvalidValue);
    CHECK(call({}, 2, int64_t{1} << 31) == cudaErrorInvalidValue);
    CHECK(call({}, 0, 4) == cudaSuccess);
    CHECK(call({}, 2, 0) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
    for (const float untouched : gradient.download()) CHECK(std::isnan(untouched));
}

TEST_CASE("a plan of a cross-entropy keeps a row on the chip where it can, with plain options") {
    using namespace softmax_stages;
    using smem_softmax::Share;
    const Chip chip{132, 231424, 16, 4.27e6};
    const auto plan = [&](int64_t cols, const CrossEntropyOptions<__half>& options = {},
                          bool aligned = true) {
        return cross_entropy_plan<__half>(4096, cols, options, chip, 0, aligned);
    };
    CHECK(plan(1000).threads == 0);
    CHECK(plan(1000).cut.share == Share::block);
    CHECK(plan(128256).cut.share == Share::cluster);
    CHECK(plan(128256).reads_once());
    CHECK(plan(10'000'000).cut.share == Share::cluster);
    CHECK_FALSE(plan(10'000'000).reads_once());
    CrossEntropyOptions<__half> smooth, capped;
    smooth.label_smoothing = 0.1f;
    capped.soft_cap = 30;
    for (const auto& options : {smooth, capped}) {
        CHECK(plan(1000, options).threads == 32);
        CHECK(plan(1000, options).pack == 8);
        CHECK(plan(1000, options, false).pack == 1);
        CHECK(plan(1001, options).pack == 1);
        CHECK(plan(50256, options).threads == 256);
        CHECK_FALSE(plan(1000, options).reads_once());
    }
    CHECK(plan(100).threads == 32);
    const auto loss_plan = [&](int64_t rows, int64_t cols) {
        return cross_entropy_loss_plan<__half>(rows, cols, {}, chip);
    };
    CHECK(loss_plan(64, 500'000).cut.blocks == 16);
    CHECK_FALSE(loss_plan(64, 500'000).streams);
    CHECK(loss_plan(4096, 128'256).streams);
    CHECK_FALSE(loss_plan(4096, 1000).streams);
    CHECK_FALSE(plan(128256).streams);
    for (int64_t cols = 1; cols < 300000; cols += cols / 7 + 1) {
        const CrossEntropyPlan of = plan(cols);
        CHECK(static_cast<int64_t>(of.cut.slice.shared()) <= chip.room);
        CHECK(of.reason != nullptr);
    }
}

TEST_CASE("cross-entropies pass hundreds of random cases") {
    runner::Stage stage;
    stage.name = "05_cross_entropy";
    stage.variants = cross_entropy_tests::variants();
    testing::passes_random_cases(stage, 5, 0, 600, [](int64_t) { return 16384; });
}
