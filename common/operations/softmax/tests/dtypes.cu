// SPDX-License-Identifier: MIT
// The checker and the named inputs in every element type, on a kernel that takes them all, and on
// versions of it that are wrong.
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/operations/softmax/check.hpp"
#include "common/operations/softmax/inputs.cuh"
#include "common/operations/softmax/properties.hpp"
#include "common/runner/run.hpp"
#include "common/runner/tensors.hpp"
#include "common/testing/folder.hpp"

namespace {

using namespace operations::softmax;
using runner::all_dtypes;
using runner::check_cuda;
using runner::DeviceBuffer;
using runner::kGood;
using runner::RunOptions;
using runner::Stage;
using runner::Variant;

enum class Fault { none, off_by_steps, cut_off, missing_element, left_over, float_arithmetic };

// What arithmetic on T is done in.
template <class T>
using Arithmetic = std::conditional_t<std::is_same_v<T, double>, double, float>;

// How many steps of T the faulty kernel is off: 1 where the type has few digits, elsewhere more than
// 64 additions excuse.
template <class T>
constexpr int kSteps = sizeof(T) == 2 ? 1 : 256;

// y moved by so many steps of T, away from 0.
template <class T>
__device__ T moved(T y, int steps) {
    const Precision precision = precision_of(dtype_of<T>);
    return static_cast<T>(to_double(y) + steps * precision.ulp(to_double(y)));
}

// One thread per row, three passes.
template <class T, class A>
__global__ void softmax_kernel(const T* x, T* y, int64_t rows, int64_t cols, Kind operation,
                               Fault fault) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    A max = -INFINITY;
    bool has_nan = false;
    for (int64_t col = 0; col < cols; ++col) {
        const A value = static_cast<A>(to_double(x[row * cols + col]));
        has_nan = has_nan || value != value;
        if (value > max) max = value;
    }
    A sum = has_nan ? NAN : 0;
    for (int64_t col = 0; col < cols; ++col) {
        const bool missing = fault == Fault::missing_element && col == cols / 2 && cols > 1;
        if (!missing) sum += exp(static_cast<A>(to_double(x[row * cols + col])) - max);
    }
    if (operation == Kind::log_sum_exp) {
        const A result = fabs(max) == INFINITY && !has_nan ? max : max + log(sum);
        y[row] = static_cast<T>(static_cast<double>(result));
        return;
    }
    const int64_t faulty_col = cols - 1;
    for (int64_t col = 0; col < cols; ++col) {
        const A distance = static_cast<A>(to_double(x[row * cols + col])) - max;
        const A result = operation == Kind::softmax ? exp(distance) / sum : distance - log(sum);
        T rounded = static_cast<T>(static_cast<double>(result));
        if (col == faulty_col && fault == Fault::off_by_steps) rounded = moved(rounded, kSteps<T>);
        const bool up = fabs(to_double(rounded)) > fabs(static_cast<double>(result));
        if (fault == Fault::cut_off && up) rounded = moved(rounded, -1);
        if (col != faulty_col || fault != Fault::left_over) y[row * cols + col] = rounded;
    }
}

cudaError_t launch(const Call& call, Kind operation, Fault fault) {
    if (call.rows < 0 || call.cols < 0) return cudaErrorInvalidValue;
    if (call.rows == 0 || call.cols == 0) return cudaSuccess;
    if (call.x == nullptr || call.y == nullptr) return cudaErrorInvalidValue;
    constexpr int kThreads = 64;
    const auto blocks = static_cast<unsigned>((call.rows + kThreads - 1) / kThreads);
    visit(call.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        const auto kernel = fault == Fault::float_arithmetic ? softmax_kernel<T, float>
                                                             : softmax_kernel<T, Arithmetic<T>>;
        kernel<<<blocks, kThreads, 0, call.stream>>>(call.input<T>(), call.output<T>(), call.rows,
                                                     call.cols, operation, fault);
    });
    return cudaGetLastError();
}

Variant variant_with(Fault fault, Kind operation = Kind::softmax) {
    Variant variant;
    variant.name = std::string("row_") + name_of(operation);
    variant.operation = operation_of(operation);
    variant.dtypes = all_dtypes();
    variant.traffic = {3, 1};
    variant.launch = [=](const Call& call) { return launch(call, operation, fault); };
    variant.partial_sums = [](Shape, DType) { return 1; };
    return variant;
}

Report report_of(const Variant& variant, DType dtype, Input input, Shape shape) {
    runner::Tensors of_variant(variant.operation->operands(shape, dtype));
    of_variant.poison();
    void* const x = of_variant.view()["x"].data;
    void* const y = of_variant.view()["y"].data;
    fill(x, dtype, shape, input, 1);
    const Call call{x, y, dtype, shape.rows, shape.cols, nullptr, 0, nullptr};
    check_cuda(operations::softmax::launch(variant, call), "launching " + variant.name);
    return check(x, shape, {y, rules_of(variant, shape, dtype)});
}

// Two plain passes in long double, of one row.
template <class T>
std::vector<T> exact_softmax(const std::vector<T>& x) {
    long double max = -INFINITY;
    for (const T each : x) max = std::max<long double>(max, to_double(each));
    long double sum = 0;
    for (const T each : x) sum += std::exp(to_double(each) - max);
    std::vector<T> y;
    for (const T each : x) {
        y.push_back(static_cast<T>(static_cast<double>(std::exp(to_double(each) - max) / sum)));
    }
    return y;
}

template <class T>
Report judge(const std::vector<T>& x, const std::vector<T>& y, Kind operation = Kind::softmax) {
    const Shape shape{1, static_cast<int64_t>(x.size())};
    return check_on_host(x.data(), shape, {y.data(), {operation, false, 1, dtype_of<T>}});
}

template <class T>
std::vector<T> typed(const std::vector<double>& values) {
    std::vector<T> all;
    for (const double value : values) all.push_back(static_cast<T>(value));
    return all;
}

// Calls test(Type<T>) for each type.
template <class Test>
void in_every_type(Test test) {
    for (const DType dtype : all_dtypes()) {
        INFO(name_of(dtype));
        visit(dtype, test);
    }
}

const std::vector<Kind> kOperations = {Kind::softmax, Kind::log_softmax, Kind::log_sum_exp};

}  // namespace

TEST_CASE("types have names, sizes, and a way back from the name") {
    CHECK(names_of(all_dtypes()) == "float32 float16 bfloat16 float64");
    const std::vector<size_t> sizes = {4, 2, 2, 8};
    for (size_t i = 0; i < sizes.size(); ++i) {
        const DType dtype = all_dtypes()[i];
        CHECK(size_of(dtype) == sizes[i]);
        CHECK(runner::dtype_named(name_of(dtype)) == dtype);
        CHECK(runner::parse_dtype(name_of(dtype)) == dtype);
        visit(dtype, [&](auto of) { CHECK(dtype_of<typename decltype(of)::type> == dtype); });
    }
    CHECK_FALSE(runner::dtype_named("half"));
    CHECK_THROWS_WITH(runner::parse_dtype("half"),
                      "--dtype half: one of float32 float16 bfloat16 float64");
}

TEST_CASE("a correct kernel holds every property in every type") {
    for (const Kind operation : kOperations)
        testing::holds_every_property(variant_with(Fault::none, operation));
}

TEST_CASE("a wrong kernel is caught in every type") {
    const Shape shape{5, 33};
    for (const DType dtype : all_dtypes()) {
        for (const Input input : {Input::normal, Input::uniform, Input::large, Input::ties}) {
            INFO(name_of(dtype) << ", " << name_of(input));
            const auto mismatches = [&](Fault fault, Kind operation = Kind::softmax) {
                return report_of(variant_with(fault, operation), dtype, input, shape).mismatches;
            };
            CHECK(mismatches(Fault::none) == 0);
            CHECK(mismatches(Fault::off_by_steps) == shape.rows);
            CHECK(mismatches(Fault::left_over) == shape.rows);
            CHECK(mismatches(Fault::left_over, Kind::log_softmax) == shape.rows);
            CHECK(mismatches(Fault::missing_element) > 0);
            CHECK(mismatches(Fault::missing_element, Kind::log_softmax) > 0);
            // One element of 33 moves a logarithm by less than the last digit of a narrow type.
            if (!precision_of(dtype).narrow)
                CHECK(mismatches(Fault::missing_element, Kind::log_sum_exp) > 0);
            if (precision_of(dtype).narrow && (input == Input::normal || input == Input::uniform))
                CHECK(mismatches(Fault::cut_off) > 0);
            const bool is_double = dtype == DType::float64;
            CHECK((mismatches(Fault::float_arithmetic) > 0) == is_double);
        }
    }
}

TEST_CASE("the checker on the device agrees with the one on the host in every type") {
    const Shape shape{7, 301};
    for (const Kind operation : kOperations) {
        const Variant variant = variant_with(Fault::off_by_steps, operation);
        for (const Input input : {Input::normal, Input::large, Input::masked, Input::denormal}) {
            in_every_type([&](auto of) {
                using T = typename decltype(of)::type;
                const std::vector<T> x = testing::named_values<T>(input, shape);
                const std::vector<T> y = testing::result_of(variant, x, shape);
                const DeviceBuffer<T> device_x(x);
                const DeviceBuffer<T> device_y(y);
                const Rules rules = rules_of(variant, shape, dtype_of<T>);
                for (const Rules& each : {rules, Rules{operation, true, 256, dtype_of<T>}}) {
                    const Report host = check_on_host(x.data(), shape, {y.data(), each});
                    const Report device =
                        check_on_device(device_x.data(), shape, {device_y.data(), each});
                    CHECK(device.checked == host.checked);
                    CHECK(device.unchecked == host.unchecked);
                    CHECK(device.promised == host.promised);
                    CHECK(device.mismatches == host.mismatches);
                    CHECK(device.first_place == host.first_place);
                }
            });
        }
    }
}

TEST_CASE("the reference is good enough for every type") {
    for (const Input input : all_inputs()) {
        in_every_type([&](auto of) {
            using T = typename decltype(of)::type;
            const std::vector<T> x = testing::named_values<T>(input, {1, 4099});
            const Shape shape{1, 4099};
            // So many threads that hardly an addition is excused: the bound is at its tightest.
            const Rules strict{Kind::softmax, false, 4099, dtype_of<T>};
            const std::vector<T> y = exact_softmax(x);
            const Report report = check_on_host(x.data(), shape, {y.data(), strict});
            INFO(name_of(input) << ": " << describe(report));
            CHECK(report.good());
            // The one rounding to a narrow type may take all of its bound.
            const bool narrow = precision_of(dtype_of<T>).narrow;
            CHECK(report.worst_share <= (narrow ? 1 : dtype_of<T> == DType::float64 ? 0.5 : 0.75));
        });
    }
}

TEST_CASE("operations of one type are comparable with each other") {
    const Shape shape{3, 257};
    for (const Input input : {Input::normal, Input::large, Input::masked, Input::spike}) {
        in_every_type([&](auto of) {
            using T = typename decltype(of)::type;
            const std::vector<T> x = testing::named_values<T>(input, shape);
            std::vector<std::vector<T>> results;
            std::vector<Rules> rules;
            for (const Kind operation : kOperations) {
                const Variant variant = variant_with(Fault::none, operation);
                results.push_back(testing::result_of(variant, x, shape));
                rules.push_back(rules_of(variant, shape, dtype_of<T>));
            }
            for (size_t i = 0; i < results.size(); ++i) {
                for (size_t j = 0; j < results.size(); ++j) {
                    const Result previous{results[j].data(), rules[j]};
                    const Report report =
                        check_on_host(x.data(), shape, {results[i].data(), rules[i]}, &previous);
                    INFO(name_of(input)
                         << ", " << i << " against " << j << ": " << describe(report));
                    CHECK(report.good());
                }
            }
        });
    }
}

TEST_CASE("named inputs are what they are called in every type") {
    const Shape shape{20, 1003};
    in_every_type([&](auto of) {
        using T = typename decltype(of)::type;
        const auto values = [&](Input input) {
            return filled_inputs(*operation_of(Kind::softmax), shape, dtype_of<T>, name_of(input),
                                 7)
                .values("x");
        };
        for (const Input input : all_inputs()) {
            INFO(name_of(input));
            std::vector<double> on_host;
            for (const T each : testing::named_values<T>(input, shape))
                on_host.push_back(to_double(each));
            CHECK(testing::same_values(values(input), on_host));
        }
        const Precision precision = precision_of(dtype_of<T>);
        for (const double x : values(Input::large)) CHECK(std::fabs(x - 1000) < 8);
        for (const double x : values(Input::all_negative)) CHECK(x < precision.log_smallest);
        for (const double x : values(Input::constant)) CHECK(x == 3.25);
        const std::vector<double> ties = values(Input::ties);
        CHECK(std::set<double>(ties.begin(), ties.end()) == std::set<double>{0, 1, 2, 3});

        // Alone beside the 0 of its row, each of these gives a result that is subnormal, and not 0.
        int zeros = 0;
        for (const double x : values(Input::denormal)) {
            if (x == 0) {
                ++zeros;
                continue;
            }
            const double y = std::exp(x);
            CHECK(y < precision.smallest_normal);
            CHECK(y > precision.subnormal / 2);
        }
        CHECK(zeros == shape.rows);
    });
    // Digits that float does not have.
    for (const double x : testing::named_values<double>(Input::uniform, {1, 10}))
        CHECK(x != static_cast<float>(x));
    for (const double x : testing::named_values<double>(Input::normal, {1, 10}))
        CHECK(x != static_cast<float>(x));
}

TEST_CASE("a result at the border of its type's range is left open, beyond it infinite") {
    const float inf = INFINITY;
    // 65520 and more rounds to infinity in float16; these two are 131008 apart.
    const auto far = typed<__half>({65504, -65504});
    CHECK(judge(far, typed<__half>({0, -inf}), Kind::log_softmax).good());
    CHECK(judge(far, typed<__half>({0, -65504}), Kind::log_softmax).mismatches == 1);
    const auto border = typed<__half>({32768, -32752});  // 65520 apart
    CHECK(judge(border, typed<__half>({0, -inf}), Kind::log_softmax).unchecked == 1);
    // Doubles farther apart than double reaches.
    const std::vector<double> apart = {1.7e308, -1.7e308};
    CHECK(judge(apart, {1, 0}).good());
    CHECK(judge(apart, {1, 1e-300}).mismatches == 1);
    CHECK(judge(apart, {0, -inf}, Kind::log_softmax).good());
}

TEST_CASE("an array on the device rounds what comes and gives it back as it is") {
    const std::vector<double> values = {1, 0.1, 70000, 1e-30, -INFINITY};
    in_every_type([&](auto of) {
        using T = typename decltype(of)::type;
        runner::Tensors array({{"x",
                                runner::Role::in,
                                runner::element_type(dtype_of<T>),
                                {static_cast<int64_t>(values.size())}}});
        CHECK(array.bytes() == static_cast<int64_t>(values.size() * sizeof(T)));
        array.poison();
        for (const double each : array.values("x")) CHECK(std::isnan(each));
        array.upload("x", values);
        std::vector<double> rounded;
        for (const double each : values) rounded.push_back(to_double(static_cast<T>(each)));
        CHECK(array.values("x") == rounded);
    });
}

TEST_CASE("what a variant does not take is said, and refused where it was asked for") {
    Variant variant = variant_with(Fault::none);
    variant.dtypes = {DType::float16, DType::float32};
    variant.obstacle = [](Shape shape, DType) {
        return shape.cols > 1024 ? "more than 1024 columns" : "";
    };
    CHECK(obstacle_of(variant, {3, 1024}, DType::float16).empty());
    CHECK(obstacle_of(variant, {3, 1025}, DType::float16) == "more than 1024 columns");
    CHECK(obstacle_of(variant, {3, 3}, DType::float64) == "takes float16 float32 only");
    CHECK_THROWS_AS(require_taken(variant, {3, 1025}, DType::float32), runner::UsageError);

    Stage stage;
    stage.name = "99_everything";
    stage.title = "a test";
    stage.variants = {variant_with(Fault::none), variant, variant_with(Fault::none)};
    stage.variants[1].name = "narrow";
    stage.variants[2].name = "last";
    RunOptions options;
    const Folder folder;
    options.out = folder.path;
    options.shapes = {{3, 2000}};
    options.dtypes = {DType::float16, DType::float64};
    CHECK(runner::run({stage}, options) == kGood);
    const std::string records = folder.read("99_everything.partial.json");
    for (const char* wanted :
         {"\"dtype\":\"float16\"", "\"bytes\":24000", "\"dtype\":\"float64\"", "\"bytes\":96000"})
        CHECK_THAT(records, ContainsSubstring(wanted));
    CHECK_THAT(records, !ContainsSubstring("narrow"));
    options.dtypes.clear();
    CHECK(runner::run({stage}, options) == kGood);
    Stage other = stage;  // a stage that takes no part leaves what was recorded of it
    other.name = "98_narrow";
    other.variants = {variant};
    folder.write("98_narrow.json", "earlier");
    options.dtypes = {DType::float64};
    CHECK(runner::run({stage, other}, options) == kGood);
    CHECK(folder.read("98_narrow.json") == "earlier");
    options.dtypes.clear();
    options.variant = "narrow";
    CHECK_THROWS_WITH(runner::run({stage}, options), ContainsSubstring("more than 1024 columns"));
    options.shapes.clear();
    options.dtypes = {DType::float64};
    CHECK_THROWS_WITH(runner::run({stage}, options),
                      ContainsSubstring("takes float16 float32 only"));
}
