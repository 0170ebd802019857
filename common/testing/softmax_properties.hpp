// SPDX-License-Identifier: MIT
// What every softmax of the course must hold, whatever its kernel: one call per variant in a
// stage's test.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "common/runner/check.hpp"
#include "common/runner/device.hpp"
#include "common/runner/inputs.cuh"
#include "common/runner/stage.hpp"
#include "common/testing/catch.hpp"

namespace testing {

using runner::DeviceBuffer;
using runner::Operation;
using runner::Shape;
using runner::Variant;

inline size_t size_of(Shape shape) {
    return static_cast<size_t>(runner::elements(shape));
}
inline size_t output_size(const Variant& variant, Shape shape) {
    return static_cast<size_t>(runner::output_elements(variant.operation, shape));
}
using runner::rules_of;

// Launches the variant from x to y (device memory) and waits.
inline void launch(const Variant& variant, const float* x, float* y, Shape shape) {
    DeviceBuffer<unsigned char> workspace(variant.workspace_bytes ? variant.workspace_bytes(shape)
                                                                  : 0);
    const runner::Call call{x,      y, shape.rows, shape.cols, workspace.data(), workspace.size(),
                            nullptr};
    runner::check_cuda(variant.launch(call), "launching " + variant.name);
    runner::check_cuda(cudaDeviceSynchronize(), "running " + variant.name);
}

// The variant's result for these values, on the host.
inline std::vector<float> result_of(const Variant& variant, const std::vector<float>& values,
                                    Shape shape) {
    const DeviceBuffer<float> x(values);
    DeviceBuffer<float> y(output_size(variant, shape));
    y.poison();
    launch(variant, x.data(), y.data(), shape);
    return y.download();
}

inline std::vector<float> named_values(runner::Input input, Shape shape, uint64_t seed = 7) {
    std::vector<float> values(size_of(shape));
    for (int64_t row = 0; row < shape.rows; ++row) {
        for (int64_t col = 0; col < shape.cols; ++col) {
            values[static_cast<size_t>(row * shape.cols + col)] =
                runner::input_value(input, seed, row, col, shape.cols);
        }
    }
    return values;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

inline void expect_good(const Variant& variant, const std::vector<float>& values,
                        const std::vector<float>& result, Shape shape) {
    const runner::Report report =
        runner::check_on_host(values.data(), shape, {result.data(), rules_of(variant, shape)});
    INFO(runner::describe(report));
    CHECK(report.good());
}

inline void matches_reference_on_named_inputs(const Variant& variant) {
    for (const runner::Input input : runner::all_inputs()) {
        for (const int64_t cols :
             {1, 2, 7, 31, 32, 33, 255, 256, 257, 1000, 1024, 1025, 2053, 4096}) {
            const Shape shape{3, cols};
            INFO(runner::name_of(input) << ", " << shape.rows << " x " << shape.cols);
            const std::vector<float> values = named_values(input, shape);
            expect_good(variant, values, result_of(variant, values, shape), shape);
        }
    }
}

// Each row holds one trouble; its neighbours are ordinary and must stay untouched by it.
inline void contains_special_rows(const Variant& variant, int64_t cols) {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Shape shape{9, cols};
    std::vector<float> values = named_values(runner::Input::normal, shape);
    const auto row = [&](int64_t index) { return values.begin() + index * cols; };
    std::fill(row(1), row(2), -inf);  // all masked
    *(row(3) + cols / 2) = nan;       // one NaN
    *(row(5) + cols - 1) = inf;       // one +inf
    std::fill(row(6), row(7), inf);   // all +inf
    *row(7) = nan;                    // NaN and +inf
    *(row(7) + cols - 1) = inf;
    if (cols > 1) std::fill(row(8), row(9) - 1, -inf);  // all masked but one
    INFO("special rows of " << cols << " columns");
    expect_good(variant, values, result_of(variant, values, shape), shape);
}

inline void works_in_place_repeatedly_and_anywhere(const Variant& variant) {
    for (const int64_t cols : {5, 1000, 3001}) {
        const Shape shape{4, cols};
        const std::vector<float> values = named_values(runner::Input::normal, shape);
        const std::vector<float> once = result_of(variant, values, shape);
        INFO(cols << " columns");
        CHECK(same_bits(once, result_of(variant, values, shape)));

        if (variant.operation != Operation::log_sum_exp) {
            DeviceBuffer<float> both(values);
            launch(variant, both.data(), both.data(), shape);
            CHECK(same_bits(once, both.download()));
        }

        // x and y at addresses that no 8- or 16-byte access may use; nothing around y is touched.
        const size_t before = 3;
        const size_t after = 8;
        std::vector<float> padded(before + values.size());
        std::copy(values.begin(), values.end(), padded.begin() + before);
        const DeviceBuffer<float> x(padded);
        DeviceBuffer<float> y(std::vector<float>(1 + once.size() + after, -77.f));
        launch(variant, x.data() + before, y.data() + 1, shape);
        const std::vector<float> around = y.download();
        CHECK(same_bits(once, std::vector<float>(around.begin() + 1, around.end() - after)));
        CHECK(around.front() == -77.f);
        CHECK(std::vector<float>(around.end() - after, around.end()) ==
              std::vector<float>(after, -77.f));
    }
}

// Rows sum to 1; adding a constant to a row changes nothing; permuted columns give permuted
// results.
inline void obeys_the_laws_of_softmax(const Variant& variant) {
    const auto probability = [&](float y) {
        return variant.operation == Operation::log_softmax ? std::exp(double{y}) : double{y};
    };
    for (const int64_t cols : {1, 33, 1000, 4099}) {
        const Shape shape{3, cols};
        std::vector<float> values =
            named_values(runner::Input::ties, shape);  // exact under the shift below
        const std::vector<float> result = result_of(variant, values, shape);
        INFO(cols << " columns");
        for (int64_t row = 0; row < shape.rows; ++row) {
            double sum = 0;
            for (int64_t col = 0; col < cols; ++col)
                sum += probability(result[static_cast<size_t>(row * cols + col)]);
            const double bound = 0x1p-23 * (8 + static_cast<double>(cols) / 2);
            CHECK(std::fabs(sum - 1) <= bound);
        }

        std::vector<float> shifted = values;
        for (float& x : shifted) x += 16.f;
        const std::vector<float> shifted_result = result_of(variant, shifted, shape);
        std::vector<float> reversed(values.rbegin(), values.rend());
        const std::vector<float> reversed_result = result_of(variant, reversed, shape);
        double worst_shift = 0;
        double worst_reversal = 0;
        for (size_t i = 0; i < result.size(); ++i) {
            const double y = probability(result[i]);
            worst_shift = std::max(worst_shift, std::fabs(probability(shifted_result[i]) - y) / y);
            worst_reversal =
                std::max(worst_reversal,
                         std::fabs(probability(reversed_result[result.size() - 1 - i]) - y) / y);
        }
        // Twice what two correct results may lie apart: x up to 19 in magnitude, and the chain of
        // additions.
        const auto chain = static_cast<double>((cols + variant.threads_per_row(shape) - 1) /
                                               variant.threads_per_row(shape));
        const double bound = 2 * 0x1p-24 * (19 + std::log(cols) + chain + 8 + 8);
        CHECK(worst_shift <= bound);
        CHECK(worst_reversal <= bound);
    }
}

inline void refuses_bad_arguments(const Variant& variant) {
    const Shape shape{2, 3};
    DeviceBuffer<float> x(named_values(runner::Input::normal, shape));
    DeviceBuffer<float> y(size_of(shape));
    y.poison();
    DeviceBuffer<unsigned char> workspace(variant.workspace_bytes ? variant.workspace_bytes(shape)
                                                                  : 0);
    const auto status = [&](const float* from, float* to, int64_t rows, int64_t cols) {
        return variant.launch({from, to, rows, cols, workspace.data(), workspace.size(), nullptr});
    };
    CHECK(status(nullptr, y.data(), 2, 3) == cudaErrorInvalidValue);
    CHECK(status(x.data(), nullptr, 2, 3) == cudaErrorInvalidValue);
    CHECK(status(x.data(), y.data(), -1, 3) == cudaErrorInvalidValue);
    CHECK(status(x.data(), y.data(), 2, -3) == cudaErrorInvalidValue);
    CHECK(status(x.data(), y.data(), 0, 3) == cudaSuccess);
    CHECK(status(x.data(), y.data(), 2, 0) == cudaSuccess);
    CHECK(status(nullptr, nullptr, 0, 0) == cudaSuccess);
    if (workspace.size() > 0) {
        CHECK(variant.launch({x.data(), y.data(), 2, 3, nullptr, workspace.size(), nullptr}) ==
              cudaErrorInvalidValue);
        CHECK(variant.launch({x.data(), y.data(), 2, 3, workspace.data(), workspace.size() - 1,
                              nullptr}) == cudaErrorInvalidValue);
    }
    if (variant.workspace_bytes) CHECK(variant.workspace_bytes({0, 5}) == 0);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
    for (const float untouched : y.download()) CHECK(std::isnan(untouched));
}

// More rows than a block has threads, a GPU blocks at once; and than a grid's y holds, where rows
// may lie along it.
inline void takes_many_rows(const Variant& variant) {
    const Shape shape{variant.workspace_bytes ? 65537 : 4099, 2};
    const std::vector<float> values = named_values(runner::Input::normal, shape);
    expect_good(variant, values, result_of(variant, values, shape), shape);
}

inline void holds_every_property(const Variant& variant) {
    SECTION(variant.name + " matches the reference on every named input") {
        matches_reference_on_named_inputs(variant);
    }
    SECTION(variant.name + " keeps special rows to themselves") {
        for (const int64_t cols : {1, 5, 33, 1000, 3001}) contains_special_rows(variant, cols);
    }
    SECTION(variant.name + " works in place, repeatedly, at any address") {
        works_in_place_repeatedly_and_anywhere(variant);
    }
    if (variant.operation != Operation::log_sum_exp) {
        SECTION(variant.name + " obeys the laws of softmax") {
            obeys_the_laws_of_softmax(variant);
        }
    }
    SECTION(variant.name + " refuses bad arguments") {
        refuses_bad_arguments(variant);
    }
    SECTION(variant.name + " takes many rows") {
        takes_many_rows(variant);
    }
}

// For shapes too large for the host, such as of more than 2^31 elements: filled and judged on the
// device. Left out, and said so, where that has not the memory.
inline void holds_where_it_fits(const Variant& variant, Shape shape) {
    size_t free_bytes = 0;
    size_t total = 0;
    runner::check_cuda(cudaMemGetInfo(&free_bytes, &total), "asking for free memory");
    const size_t needed = (size_of(shape) + output_size(variant, shape)) * sizeof(float);
    if (free_bytes < needed + needed / 8) {
        WARN(variant.name << " at " << shape.rows << " x " << shape.cols
                          << " left out: the device has too little memory free");
        return;
    }
    DeviceBuffer<float> x(size_of(shape));
    runner::fill(x.data(), shape, runner::Input::normal, 7);
    DeviceBuffer<float> y(output_size(variant, shape));
    y.poison();
    launch(variant, x.data(), y.data(), shape);
    const runner::Report report =
        runner::check_on_device(x.data(), shape, {y.data(), rules_of(variant, shape)});
    INFO(runner::describe(report));
    CHECK(report.good());
}

}  // namespace testing
