// SPDX-License-Identifier: MIT
// What every softmax of the course must hold, whatever its kernel: one call per variant in a
// stage's test. T is the element type throughout.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "common/operations/softmax/call.hpp"
#include "common/operations/softmax/check.hpp"
#include "common/operations/softmax/inputs.cuh"
#include "common/runner/device.hpp"
#include "common/runner/stage.hpp"
#include "common/testing/catch.hpp"

namespace testing {

using operations::softmax::Call;
using operations::softmax::Input;
using operations::softmax::Kind;
using operations::softmax::kind_of;
using operations::softmax::rules_of;
using operations::softmax::Shape;
using runner::DeviceBuffer;
using runner::dtype_of;
using runner::to_double;
using runner::Variant;

inline size_t size_of(Shape shape) {
    return static_cast<size_t>(operations::softmax::elements(shape));
}
inline size_t output_size(const Variant& variant, Shape shape) {
    return static_cast<size_t>(operations::softmax::output_elements(kind_of(variant), shape));
}
template <class T>
bool takes(const Variant& variant, Shape shape) {
    return runner::obstacle_of(variant, shape, dtype_of<T>).empty();
}

// x2, where the variant's operation has one: always the same for a shape and a type.
constexpr uint64_t kSeed = 7;
template <class T>
DeviceBuffer<unsigned char> x2_of(const Variant& variant, Shape shape) {
    DeviceBuffer<unsigned char> x2(size_of(shape) *
                                   operations::softmax::x2_size(kind_of(variant), dtype_of<T>));
    operations::softmax::fill_x2(x2.data(), kind_of(variant), dtype_of<T>, shape, kSeed);
    return x2;
}

// Launches the variant from x to y (device memory) and waits.
template <class T>
void launch(const Variant& variant, const T* x, T* y, Shape shape) {
    const DeviceBuffer<unsigned char> x2 = x2_of<T>(variant, shape);
    DeviceBuffer<unsigned char> workspace(runner::workspace_of(variant, shape, dtype_of<T>));
    Call call(x, y, dtype_of<T>, shape.rows, shape.cols, workspace.data(), workspace.size(),
              nullptr, x2.data());
    call.inner = shape.inner;
    runner::check_cuda(operations::softmax::launch(variant, call), "launching " + variant.name);
    runner::check_cuda(cudaDeviceSynchronize(), "running " + variant.name);
}

// The variant's result for these values, on the host.
template <class T = float>
std::vector<T> result_of(const Variant& variant, const std::vector<T>& values, Shape shape) {
    const DeviceBuffer<T> x(values);
    DeviceBuffer<T> y(output_size(variant, shape));
    y.poison();
    launch(variant, x.data(), y.data(), shape);
    return y.download();
}

template <class T = float>
std::vector<T> named_values(Input input, Shape shape, uint64_t seed = kSeed) {
    std::vector<T> values(size_of(shape));
    for (int64_t row = 0; row < operations::softmax::slices(shape); ++row) {
        for (int64_t col = 0; col < shape.cols; ++col) {
            values[static_cast<size_t>(operations::softmax::index_of(shape, row, col))] =
                operations::softmax::input_value<T>(input, seed, row, col, shape.cols);
        }
    }
    return values;
}

// What a variant takes of that name: where it is a backward one, the forward's result.
template <class T>
std::vector<T> operand_values(const Variant& variant, Input input, Shape shape) {
    DeviceBuffer<T> x(named_values<T>(input, shape));
    operations::softmax::apply_forward(x.data(), kind_of(variant), dtype_of<T>, shape);
    return x.download();
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Element by element; NaN is like any other NaN.
template <class Values>
bool same_values(const Values& a, const Values& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto one, auto other) {
        return one == other || (one != one && other != other);
    });
}

template <class T>
void expect_good(const Variant& variant, const std::vector<T>& values, const std::vector<T>& result,
                 Shape shape) {
    const std::vector<unsigned char> x2 = x2_of<T>(variant, shape).download();
    const runner::Report report = operations::softmax::check_on_host(
        {values.data(), x2.data()}, shape, {result.data(), rules_of(variant, shape, dtype_of<T>)});
    INFO(runner::describe(report));
    CHECK(report.good());
}

// Float meets every input in every shape; the other types, whose kernels differ from it in loads and
// stores alone, every input in a third of the shapes, and every shape with a third of the inputs.
template <class T>
bool meet(Input input, size_t shape) {
    return std::is_same_v<T, float> || (static_cast<size_t>(input) + shape) % 3 == 0;
}

template <class T>
void matches_reference_on_named_inputs(const Variant& variant) {
    int judged = 0;
    for (const Input input : operations::softmax::all_inputs()) {
        size_t number = 0;
        for (const int64_t cols :
             {1, 2, 7, 31, 32, 33, 255, 256, 257, 1000, 1024, 1025, 2053, 4096}) {
            const Shape shape{3, cols};
            if (!meet<T>(input, number++) || !takes<T>(variant, shape)) continue;
            ++judged;
            INFO(name_of(input) << ", " << shape.rows << " x " << shape.cols);
            const std::vector<T> values = operand_values<T>(variant, input, shape);
            expect_good(variant, values, result_of(variant, values, shape), shape);
        }
    }
    CHECK(judged > 0);
}

// Each row holds one trouble; its neighbours are ordinary and must stay untouched by it.
template <class T>
void contains_special_rows(const Variant& variant, int64_t cols) {
    const T inf(std::numeric_limits<float>::infinity());
    const T nan(std::numeric_limits<float>::quiet_NaN());
    const T masked(-std::numeric_limits<float>::infinity());
    const Shape shape{9, cols};
    if (!takes<T>(variant, shape)) return;
    std::vector<T> values = named_values<T>(Input::normal, shape);
    const auto row = [&](int64_t index) { return values.begin() + index * cols; };
    std::fill(row(1), row(2), masked);  // all masked
    *(row(3) + cols / 2) = nan;         // one NaN
    *(row(5) + cols - 1) = inf;         // one +inf
    std::fill(row(6), row(7), inf);     // all +inf
    *row(7) = nan;                      // NaN and +inf
    *(row(7) + cols - 1) = inf;
    if (cols > 1) std::fill(row(8), row(9) - 1, masked);  // all masked but one
    INFO("special rows of " << cols << " columns");
    expect_good(variant, values, result_of(variant, values, shape), shape);
}

template <class T>
void works_in_place_repeatedly_and_anywhere(const Variant& variant) {
    for (const int64_t cols : {5, 1000, 3001}) {
        const Shape shape{4, cols};
        if (!takes<T>(variant, shape)) continue;
        const std::vector<T> values = operand_values<T>(variant, Input::normal, shape);
        const std::vector<T> once = result_of(variant, values, shape);
        INFO(cols << " columns");
        CHECK(same_bits(once, result_of(variant, values, shape)));

        if (kind_of(variant) != Kind::log_sum_exp) {
            DeviceBuffer<T> both(values);
            launch(variant, both.data(), both.data(), shape);
            CHECK(same_bits(once, both.download()));
        }

        // x and y at addresses that no access of several elements may use: as good a result, though
        // narrower accesses may add in another order; and nothing around y is touched.
        const size_t before = 3;
        const size_t after = 8;
        const T guard(-77.f);
        std::vector<T> padded(before + values.size());
        std::copy(values.begin(), values.end(), padded.begin() + before);
        const DeviceBuffer<T> x(padded);
        DeviceBuffer<T> y(std::vector<T>(1 + once.size() + after, guard));
        launch(variant, x.data() + before, y.data() + 1, shape);
        const std::vector<T> around = y.download();
        expect_good(variant, values, std::vector<T>(around.begin() + 1, around.end() - after),
                    shape);
        CHECK(same_bits({around.front()}, std::vector<T>(1, guard)));
        CHECK(same_bits(std::vector<T>(around.end() - after, around.end()),
                        std::vector<T>(after, guard)));
    }
}

// How far one rounding to a narrow type takes a probability, relative to it: a logarithm loses so
// much of its own value.
template <class T>
double rounding_of(const Variant& variant, double probability) {
    const operations::softmax::Precision precision = operations::softmax::precision_of(dtype_of<T>);
    if (!precision.narrow) return 0;
    const double of_logarithm = kind_of(variant) == Kind::log_softmax ? -std::log(probability) : 1;
    return std::ldexp(std::max(1., of_logarithm), -precision.fraction_bits - 1);
}

// Rows sum to 1; adding a constant to a row changes nothing; permuted columns give permuted
// results.
template <class T>
void obeys_the_laws_of_softmax(const Variant& variant) {
    const operations::softmax::Precision precision = operations::softmax::precision_of(dtype_of<T>);
    const auto probability = [&](T y) {
        return kind_of(variant) == Kind::log_softmax ? std::exp(to_double(y)) : to_double(y);
    };
    for (const int64_t cols : {1, 33, 1000, 4099}) {
        const Shape shape{3, cols};
        if (!takes<T>(variant, shape)) continue;
        // Exact under the shift below, in every type.
        const std::vector<T> values = named_values<T>(Input::ties, shape);
        const std::vector<T> result = result_of(variant, values, shape);
        INFO(cols << " columns");
        for (int64_t row = 0; row < shape.rows; ++row) {
            double sum = 0;
            double bound = 2 * precision.half_ulp * (8 + static_cast<double>(cols) / 2);
            for (int64_t col = 0; col < cols; ++col) {
                const double p = probability(result[static_cast<size_t>(row * cols + col)]);
                sum += p;
                bound += p * rounding_of<T>(variant, p) + precision.subnormal;
            }
            CHECK(std::fabs(sum - 1) <= bound);
        }

        std::vector<T> shifted;
        for (const T x : values) shifted.push_back(static_cast<T>(to_double(x) + 16));
        const std::vector<T> shifted_result = result_of(variant, shifted, shape);
        const std::vector<T> reversed(values.rbegin(), values.rend());
        const std::vector<T> reversed_result = result_of(variant, reversed, shape);
        // Twice what two correct results may lie apart: x up to 19 in magnitude, and the chain of
        // additions.
        const int64_t threads = variant.partial_sums(shape, dtype_of<T>);
        const auto chain = static_cast<double>((cols + threads - 1) / threads);
        const double relative = 2 * precision.half_ulp * (19 + std::log(cols) + chain + 8 + 8);
        double worst_shift = 0;  // as shares of their bounds
        double worst_reversal = 0;
        for (size_t i = 0; i < result.size(); ++i) {
            const double y = probability(result[i]);
            const double bound =
                y * (relative + 2 * rounding_of<T>(variant, y)) + 2 * precision.subnormal;
            const double reversal = probability(reversed_result[result.size() - 1 - i]) - y;
            worst_shift =
                std::max(worst_shift, std::fabs(probability(shifted_result[i]) - y) / bound);
            worst_reversal = std::max(worst_reversal, std::fabs(reversal) / bound);
        }
        CHECK(worst_shift <= 1);
        CHECK(worst_reversal <= 1);
    }
}

template <class T>
void refuses_bad_arguments(const Variant& variant) {
    const Shape shape{2, 3};
    if (!takes<T>(variant, shape)) return;
    DeviceBuffer<T> x(named_values<T>(Input::normal, shape));
    DeviceBuffer<T> y(size_of(shape));
    y.poison();
    const DeviceBuffer<unsigned char> x2 = x2_of<T>(variant, shape);
    DeviceBuffer<unsigned char> workspace(runner::workspace_of(variant, shape, dtype_of<T>));
    const auto status = [&](const T* from, T* to, int64_t rows, int64_t cols) {
        return operations::softmax::launch(
            variant, {from, to, dtype_of<T>, rows, cols, workspace.data(), workspace.size(),
                      nullptr, x2.data()});
    };
    CHECK(status(nullptr, y.data(), 2, 3) == cudaErrorInvalidValue);
    CHECK(status(x.data(), nullptr, 2, 3) == cudaErrorInvalidValue);
    CHECK(status(x.data(), y.data(), -1, 3) == cudaErrorInvalidValue);
    CHECK(status(x.data(), y.data(), 2, -3) == cudaErrorInvalidValue);
    CHECK(status(x.data(), y.data(), 0, 3) == cudaSuccess);
    CHECK(status(x.data(), y.data(), 2, 0) == cudaSuccess);
    CHECK(status(nullptr, nullptr, 0, 0) == cudaSuccess);
    if (x2.size() > 0) {
        CHECK(operations::softmax::launch(
                  variant, {x.data(), y.data(), dtype_of<T>, 2, 3, workspace.data(),
                            workspace.size(), nullptr, nullptr}) == cudaErrorInvalidValue);
    }
    if (workspace.size() > 0) {
        CHECK(operations::softmax::launch(variant, {x.data(), y.data(), dtype_of<T>, 2, 3, nullptr,
                                                    workspace.size(), nullptr}) ==
              cudaErrorInvalidValue);
        CHECK(operations::softmax::launch(
                  variant, {x.data(), y.data(), dtype_of<T>, 2, 3, workspace.data(),
                            workspace.size() - 1, nullptr}) == cudaErrorInvalidValue);
    }
    CHECK(runner::workspace_of(variant, Shape{0, 5}, dtype_of<T>) == 0);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
    for (const T untouched : y.download()) CHECK(std::isnan(to_double(untouched)));
}

inline Shape many_rows_of(const Variant& variant) {
    return {variant.workspace_bytes ? 65537 : 4099, 2};
}

// More rows than a block has threads, a GPU blocks at once; and than a grid's y holds, where rows
// may lie along it. How many there are is no matter of their type: in the variant's first alone.
template <class T>
void takes_many_rows(const Variant& variant) {
    const Shape shape = many_rows_of(variant);
    const std::vector<T> values = named_values<T>(Input::normal, shape);
    expect_good(variant, values, result_of(variant, values, shape), shape);
}

template <class T>
void holds_every_property_in(const Variant& variant) {
    const std::string name = variant.name + ", " + name_of(dtype_of<T>) + ",";
    SECTION(name + " matches the reference on every named input") {
        matches_reference_on_named_inputs<T>(variant);
    }
    SECTION(name + " keeps special rows to themselves") {
        for (const int64_t cols : {1, 5, 33, 1000, 3001}) contains_special_rows<T>(variant, cols);
    }
    SECTION(name + " works in place, repeatedly, at any address") {
        works_in_place_repeatedly_and_anywhere<T>(variant);
    }
    if (kind_of(variant) == Kind::softmax || kind_of(variant) == Kind::log_softmax) {
        SECTION(name + " obeys the laws of softmax") {
            obeys_the_laws_of_softmax<T>(variant);
        }
    }
    SECTION(name + " refuses bad arguments") {
        refuses_bad_arguments<T>(variant);
    }
    if (variant.dtypes.front() == dtype_of<T> && takes<T>(variant, many_rows_of(variant))) {
        SECTION(name + " takes many rows") {
            takes_many_rows<T>(variant);
        }
    }
}

template <class T>
bool has_type(const Variant& variant) {
    return std::find(variant.dtypes.begin(), variant.dtypes.end(), dtype_of<T>) !=
           variant.dtypes.end();
}

// In every type that the variant takes.
inline void holds_every_property(const Variant& variant) {
    for (const runner::DType dtype : variant.dtypes) {
        runner::visit(
            dtype, [&](auto of) { holds_every_property_in<typename decltype(of)::type>(variant); });
    }
}

// For shapes too large for the host, such as of more than 2^31 elements: filled and judged on the
// device. Left out, and said so, where that has not the memory.
template <class T = float>
void holds_where_it_fits(const Variant& variant, Shape shape) {
    size_t free_bytes = 0;
    size_t total = 0;
    runner::check_cuda(cudaMemGetInfo(&free_bytes, &total), "asking for free memory");
    const operations::softmax::Footprint footprint =
        operations::softmax::footprint_of(kind_of(variant), shape, dtype_of<T>);
    const auto needed = static_cast<size_t>(footprint.total());
    if (free_bytes < needed + needed / 8) {
        WARN(variant.name << " at " << shape.rows << " x " << shape.cols
                          << " left out: the device has too little memory free");
        return;
    }
    DeviceBuffer<T> x(size_of(shape));
    operations::softmax::fill(x.data(), dtype_of<T>, shape, Input::normal, kSeed);
    operations::softmax::apply_forward(x.data(), kind_of(variant), dtype_of<T>, shape);
    DeviceBuffer<T> y(output_size(variant, shape));
    y.poison();
    launch(variant, x.data(), y.data(), shape);
    const DeviceBuffer<unsigned char> x2 = x2_of<T>(variant, shape);
    const runner::Report report = operations::softmax::check_on_device(
        {x.data(), x2.data()}, shape, {y.data(), rules_of(variant, shape, dtype_of<T>)});
    INFO(runner::describe(report));
    CHECK(report.good());
}

}  // namespace testing
