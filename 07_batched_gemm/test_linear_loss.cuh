// SPDX-License-Identifier: MIT
// Tests of further/linear_cross_entropy.cuh: the loss and its gradients against fp64, included by the stage's test.cu.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "further/linear_cross_entropy.cuh"
#include "test_mma.cuh"

namespace linear_loss_tests {

using batched_gemm::LinearLoss;
using batched_gemm::LossTargets;
using runner::DeviceBuffer;

constexpr int64_t kIgnored = -100;

// A problem of normal numbers. Some targets are ignored; those of the first and of the last column are there.
template <class T, class Target>
struct Case {
    int64_t rows, hidden, vocabulary;
    std::vector<T> x, weight;
    std::vector<Target> targets;
    DeviceBuffer<T> on_x, on_weight;
    DeviceBuffer<Target> on_targets;
    DeviceBuffer<float> loss, lse;

    Case(int64_t m, int64_t k, int64_t n)
        : rows(m),
          hidden(k),
          vocabulary(n),
          x(numbers(m * k, 1.f, 1)),
          weight(numbers(n * k, 0.3f, 2)),
          targets(some_targets(m, n)),
          on_x(x),
          on_weight(weight),
          on_targets(targets),
          loss(static_cast<size_t>(m)),
          lse(static_cast<size_t>(m)) {
        loss.poison(), lse.poison();
    }
    static std::vector<T> numbers(int64_t count, float scale, unsigned seed) {
        std::mt19937 random(seed);
        std::normal_distribution<float> normal(0.f, scale);
        std::vector<T> all;
        for (int64_t i = 0; i < count; ++i) all.push_back(static_cast<T>(normal(random)));
        return all;
    }
    static std::vector<Target> some_targets(int64_t m, int64_t n) {
        std::vector<Target> all;
        for (int64_t i = 0; i < m; ++i)
            all.push_back(static_cast<Target>(i % 7 == 3   ? kIgnored
                                              : i % 2 == 0 ? n - 1 - i % n
                                                           : i % n));
        return all;
    }
    LinearLoss<T> problem() {
        return {on_x.data(), on_weight.data(), LossTargets(on_targets.data()),
                rows,        hidden,           vocabulary,
                loss.data(), lse.data()};
    }
    cudaError_t forward() {
        DeviceBuffer<unsigned char> workspace(
            batched_gemm::linear_loss_workspace_bytes(rows, vocabulary));
        workspace.poison();
        const cudaError_t status = batched_gemm::linear_cross_entropy(problem(), workspace.data(),
                                                                      workspace.size(), nullptr);
        return status == cudaSuccess ? cudaDeviceSynchronize() : status;
    }
    // Returns the logits of a row.
    std::vector<double> logits_of(int64_t row) const {
        std::vector<double> all;
        for (int64_t c = 0; c < vocabulary; ++c) {
            double sum = 0;
            for (int64_t k = 0; k < hidden; ++k)
                sum += number(x, row * hidden + k) * number(weight, c * hidden + k);
            all.push_back(sum);
        }
        return all;
    }
    static double number(const std::vector<T>& of, int64_t i) {
        return double{static_cast<float>(of[static_cast<size_t>(i)])};
    }
};

inline double lse_of(const std::vector<double>& logits) {
    const double m = *std::max_element(logits.begin(), logits.end());
    double d = 0;
    for (const double logit : logits) d += std::exp(logit - m);
    return m + std::log(d);
}

// Sums of float err by hidden * 2^-24 of the sum of all magnitudes at most; those of these numbers by far less.
constexpr double kBound = 1e-5;

template <class T, class Target>
void losses_hold(int64_t rows, int64_t hidden, int64_t vocabulary) {
    Case<T, Target> one(rows, hidden, vocabulary);
    INFO(rows << " x " << hidden << " x " << vocabulary);
    REQUIRE(one.forward() == cudaSuccess);
    const std::vector<float> loss = one.loss.download(), lse = one.lse.download();
    for (int64_t row = 0; row < rows; ++row) {
        const auto at = static_cast<size_t>(row);
        const std::vector<double> logits = one.logits_of(row);
        const double wanted = lse_of(logits);
        const auto target = static_cast<int64_t>(one.targets[at]);
        INFO("row " << row << ", target " << target);
        CHECK(std::fabs(double{lse[at]} - wanted) <= kBound * (1 + std::fabs(wanted)));
        if (target == kIgnored) {
            CHECK(loss[at] == 0.f);
        } else {
            const double of_row = wanted - logits[static_cast<size_t>(target)];
            CHECK(std::fabs(double{loss[at]} - of_row) <= kBound * (1 + std::fabs(wanted)));
        }
    }
}

// The relative distance of two tensors, by their norms.
template <class T>
double distance(const std::vector<T>& found, const std::vector<double>& wanted) {
    double of_difference = 0, of_wanted = 1e-30;
    for (size_t i = 0; i < wanted.size(); ++i) {
        const double difference = double{static_cast<float>(found[i])} - wanted[i];
        of_difference += difference * difference;
        of_wanted += wanted[i] * wanted[i];
    }
    return std::sqrt(of_difference / of_wanted);
}

template <class T>
void gradients_hold(int64_t rows, int64_t hidden, int64_t vocabulary, int64_t chunk,
                    bool has_grad_output) {
    Case<T, int64_t> one(rows, hidden, vocabulary);
    INFO(rows << " x " << hidden << " x " << vocabulary << ", chunks of " << chunk);
    REQUIRE(one.forward() == cudaSuccess);
    std::vector<float> upstream(static_cast<size_t>(rows));
    for (size_t i = 0; i < upstream.size(); ++i)
        upstream[i] = has_grad_output ? static_cast<float>(i % 5) - 1.5f : 1.f;
    const DeviceBuffer<float> on_upstream(upstream);
    DeviceBuffer<T> dx(one.x.size()), dweight(one.weight.size());
    dx.poison(), dweight.poison();
    DeviceBuffer<unsigned char> workspace(
        batched_gemm::linear_loss_backward_workspace_bytes<T>(rows, hidden, vocabulary, chunk));
    workspace.poison();
    constexpr double kScale = 0.5;
    REQUIRE(batched_gemm::linear_cross_entropy_backward(
                one.problem(), has_grad_output ? on_upstream.data() : nullptr,
                static_cast<float>(kScale), dx.data(), dweight.data(), workspace.data(),
                workspace.size(), nullptr, chunk) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<double> of_x(one.x.size()), of_weight(one.weight.size());
    for (int64_t row = 0; row < rows; ++row) {
        const auto target = one.targets[static_cast<size_t>(row)];
        if (target == kIgnored) continue;
        const std::vector<double> logits = one.logits_of(row);
        const double lse = lse_of(logits);
        for (int64_t c = 0; c < vocabulary; ++c) {
            const double of_logit =
                (std::exp(logits[static_cast<size_t>(c)] - lse) - (c == target ? 1 : 0)) * kScale *
                double{upstream[static_cast<size_t>(row)]};
            for (int64_t k = 0; k < hidden; ++k) {
                of_x[static_cast<size_t>(row * hidden + k)] +=
                    of_logit * one.number(one.weight, c * hidden + k);
                of_weight[static_cast<size_t>(c * hidden + k)] +=
                    of_logit * one.number(one.x, row * hidden + k);
            }
        }
    }
    // Gradients of logits are rounded to T, and the results once more.
    const double bound = std::is_same_v<T, __half> ? 0x1p-10 : 0x1p-7;
    CHECK(distance(dx.download(), of_x) < bound);
    CHECK(distance(dweight.download(), of_weight) < bound);
}

}  // namespace linear_loss_tests

// One tile and several, in both directions; vocabularies that end within a tile and within a pack.
TEMPLATE_TEST_CASE("a loss without logits is that of fp64, and its gradients are", "", __half,
                   __nv_bfloat16) {
    using namespace linear_loss_tests;
    if (!mma_tests::has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    losses_hold<TestType, int64_t>(1, 8, 1);
    losses_hold<TestType, int32_t>(33, 64, 257);
    losses_hold<TestType, int64_t>(130, 136, 700);
    losses_hold<TestType, int32_t>(300, 64, 1000);
    gradients_hold<TestType>(33, 64, 257, 8192, false);
    gradients_hold<TestType>(130, 136, 700, 256, true);
    gradients_hold<TestType>(65, 8, 45, 8, false);
}

TEST_CASE("a loss without logits: NaN reaches its rows alone, and a target out of range is NaN") {
    using namespace linear_loss_tests;
    if (!mma_tests::has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    Case<__half, int32_t> one(70, 16, 300);
    one.x[16 * 5 + 3] = __half(NAN);
    one.targets[9] = 300;
    one.targets[11] = -1;
    one.on_x.upload(one.x);
    one.on_targets.upload(one.targets);
    REQUIRE(one.forward() == cudaSuccess);
    const std::vector<float> loss = one.loss.download(), lse = one.lse.download();
    for (size_t row = 0; row < loss.size(); ++row) {
        INFO("row " << row);
        CHECK(std::isnan(lse[row]) == (row == 5));
        CHECK(std::isnan(loss[row]) == (row == 5 || row == 9 || row == 11));
    }
}

TEST_CASE("a loss without logits refuses what it does not take") {
    using namespace linear_loss_tests;
    Case<__half, int64_t> one(3, 16, 20);
    DeviceBuffer<unsigned char> workspace(1 << 16);
    DeviceBuffer<__half> dx(3 * 16), dweight(20 * 16);
    const auto status = [&](LinearLoss<__half> g, size_t bytes = 1 << 16) {
        return batched_gemm::linear_cross_entropy(g, workspace.data(), bytes, nullptr);
    };
    const auto of_chunk = [&](int64_t chunk, __half* to) {
        return batched_gemm::linear_cross_entropy_backward(one.problem(), nullptr, 1.f, to,
                                                           dweight.data(), workspace.data(),
                                                           workspace.size(), nullptr, chunk);
    };
    LinearLoss<__half> g = one.problem();
    g.hidden = 12;
    CHECK(status(g) == cudaErrorInvalidValue);
    g = one.problem(), g.rows = 0;
    CHECK(status(g) == cudaErrorInvalidValue);
    g = one.problem(), g.lse = nullptr;
    CHECK(status(g) == cudaErrorInvalidValue);
    CHECK(status(one.problem(), 16) == cudaErrorInvalidValue);
    CHECK(of_chunk(12, dx.data()) == cudaErrorInvalidValue);
    CHECK(of_chunk(8, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}
