// SPDX-License-Identifier: MIT
// The operations with a mask, and the backward ones: their inputs, their reference, and plain
// kernels of them, right and wrong, before the judge.
#include <cmath>
#include <vector>

#include "common/operations/softmax/call.hpp"
#include "common/operations/softmax/check.hpp"
#include "common/operations/softmax/properties.hpp"
#include "common/runner/tensors.hpp"

namespace {

using namespace operations::softmax;
using runner::all_dtypes;
using runner::check_cuda;
using runner::DeviceBuffer;
using runner::Variant;

enum class Fault {
    none,
    dropped_element,   // missing in the sum
    mask_off_by_one,   // the neighbour's
    sum_of_all,        // of the masked elements, too
    no_subtraction,    // of the sum
    wrong_place,       // the sum is taken off after the product, or before it
    float_arithmetic,  // on doubles
};

const std::vector<Kind> kMasked = {Kind::scale_mask_softmax, Kind::causal_softmax};
const std::vector<Kind> kBackward = {Kind::softmax_backward, Kind::log_softmax_backward};

template <class T, class A>
__device__ A value_of(T x) {
    return static_cast<A>(to_double(x));
}
template <class T, class A>
__device__ T rounded(A x) {
    return static_cast<T>(static_cast<double>(x));
}

// One thread per row.
template <class T, class A>
__global__ void masked_kernel(const T* x, const bool* mask, T* y, Shape shape, Kind operation,
                              Fault fault) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= shape.rows) return;
    const int64_t off = fault == Fault::mask_off_by_one ? 1 : 0;
    const auto is_kept = [&](int64_t col) {
        return operation == Kind::causal_softmax
                   ? col <= row % causal_rows(shape) + off
                   : mask[row * shape.cols + (col + off) % shape.cols];
    };
    const auto scaled = [&](int64_t col) {
        return value_of<T, A>(x[row * shape.cols + col]) * static_cast<A>(kScale);
    };
    A max = -INFINITY;
    for (int64_t col = 0; col < shape.cols; ++col) {
        if (is_kept(col) && scaled(col) > max) max = scaled(col);
    }
    const bool empty = operation == Kind::scale_mask_softmax && max == -INFINITY;
    A sum = 0;
    bool has_nan = false;
    for (int64_t col = 0; col < shape.cols; ++col) {
        const bool kept = is_kept(col) || fault == Fault::sum_of_all;
        const bool dropped = fault == Fault::dropped_element && col == shape.cols / 2;
        has_nan = has_nan || (kept && scaled(col) != scaled(col));
        if (kept && !dropped && !empty) sum += exp(scaled(col) - max);
    }
    for (int64_t col = 0; col < shape.cols; ++col) {
        A share = is_kept(col) ? exp(scaled(col) - max) / sum : 0 / sum;
        if (empty && !has_nan) share = 0;
        y[row * shape.cols + col] = rounded<T>(has_nan ? static_cast<A>(NAN) : share);
    }
}

template <class T, class A>
__global__ void backward_kernel(const T* y, const T* dy, T* dx, Shape shape, Kind operation,
                                Fault fault) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= shape.rows) return;
    const bool log = operation == Kind::log_softmax_backward;
    A sum = 0;
    for (int64_t col = 0; col < shape.cols; ++col) {
        if (fault == Fault::dropped_element && col == shape.cols / 2) continue;
        const A gradient = value_of<T, A>(dy[row * shape.cols + col]);
        sum += log ? gradient : value_of<T, A>(y[row * shape.cols + col]) * gradient;
    }
    if (fault == Fault::no_subtraction) sum = 0;
    for (int64_t col = 0; col < shape.cols; ++col) {
        const int64_t index = row * shape.cols + col;
        const A gradient = value_of<T, A>(dy[index]);
        const A result = value_of<T, A>(y[index]);
        const A weight = log ? exp(result) : result;
        const bool product_last = log == (fault == Fault::wrong_place);
        dx[index] = rounded<T>(product_last ? (gradient - sum) * weight
                               : log        ? gradient - weight * sum
                                            : gradient * weight - sum);
    }
}

cudaError_t launch(const Call& call, Kind operation, Fault fault) {
    if (call.rows < 0 || call.cols < 0) return cudaErrorInvalidValue;
    if (call.rows == 0 || call.cols == 0) return cudaSuccess;
    const bool has_x2 = x2_size(operation, call.dtype) > 0;
    if (call.x == nullptr || call.y == nullptr || (has_x2 && call.x2 == nullptr)) {
        return cudaErrorInvalidValue;
    }
    constexpr int kThreads = 64;
    const auto blocks = static_cast<unsigned>((call.rows + kThreads - 1) / kThreads);
    const Shape shape{call.rows, call.cols};
    visit(call.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        using Own = std::conditional_t<std::is_same_v<T, double>, double, float>;
        const bool narrow = fault == Fault::float_arithmetic;
        if (is_backward(operation)) {
            const auto kernel = narrow ? backward_kernel<T, float> : backward_kernel<T, Own>;
            kernel<<<blocks, kThreads, 0, call.stream>>>(call.input<T>(), call.second_input<T>(),
                                                         call.output<T>(), shape, operation, fault);
        } else {
            const auto kernel = narrow ? masked_kernel<T, float> : masked_kernel<T, Own>;
            kernel<<<blocks, kThreads, 0, call.stream>>>(call.input<T>(), call.mask(),
                                                         call.output<T>(), shape, operation, fault);
        }
    });
    return cudaGetLastError();
}

Variant variant_with(Kind operation, Fault fault = Fault::none) {
    Variant variant;
    variant.name = name_of(operation);
    variant.operation = operation_of(operation);
    variant.dtypes = all_dtypes();
    variant.traffic = {2, 1};
    variant.launch = [=](const Call& call) { return launch(call, operation, fault); };
    variant.partial_sums = [](Shape, DType) { return 1; };
    return variant;
}

int64_t mismatches(Kind operation, Fault fault, DType dtype, Input input, Shape shape) {
    const Variant variant = variant_with(operation, fault);
    const runner::Tensors inputs =
        filled_inputs(*variant.operation, shape, dtype, name_of(input), 1);
    const runner::Tensors outputs =
        poisoned_outputs(*variant.operation, shape, dtype, inputs.view());
    void* const y = outputs.view().operands().front().data;
    const std::vector<runner::Placed> in = inputs.view().operands();
    const Inputs of_launch(in.front().data, in.size() > 1 ? in[1].data : nullptr);
    check_cuda(operations::softmax::launch(variant, {of_launch.x, y, dtype, shape.rows, shape.cols,
                                                     nullptr, 0, nullptr, of_launch.x2}),
               "launching");
    return check(of_launch, shape, {y, rules_of(variant, shape, dtype)}).mismatches;
}

template <class Test>
void in_every_type(Test test) {
    for (const DType dtype : all_dtypes()) {
        INFO(name_of(dtype));
        visit(dtype, test);
    }
}

}  // namespace

TEST_CASE("right kernels with a mask and of a gradient hold every property in every type") {
    for (const Kind operation : kMasked) testing::holds_every_property(variant_with(operation));
    for (const Kind operation : kBackward) testing::holds_every_property(variant_with(operation));
}

TEST_CASE("wrong kernels with a mask and of a gradient are caught in every type") {
    const Shape shape{66, 33};  // two matrices for the causal one
    for (const DType dtype : all_dtypes()) {
        for (const Input input : {Input::normal, Input::uniform, Input::large, Input::ties}) {
            for (const Kind operation : kMasked) {
                INFO(name_of(operation) << ", " << name_of(dtype) << ", " << name_of(input));
                const auto count = [&](Fault fault) {
                    return mismatches(operation, fault, dtype, input, shape);
                };
                CHECK(count(Fault::none) == 0);
                CHECK(count(Fault::dropped_element) > shape.rows);
                CHECK(count(Fault::mask_off_by_one) > shape.rows);
                CHECK(count(Fault::sum_of_all) > shape.rows);
                CHECK((count(Fault::float_arithmetic) > 0) == (dtype == DType::float64));
            }
            for (const Kind operation : kBackward) {
                INFO(name_of(operation) << ", " << name_of(dtype) << ", " << name_of(input));
                const auto count = [&](Fault fault) {
                    return mismatches(operation, fault, dtype, input, shape);
                };
                CHECK(count(Fault::none) == 0);
                CHECK(count(Fault::dropped_element) > shape.rows);
                CHECK(count(Fault::no_subtraction) > shape.rows);
                CHECK(count(Fault::wrong_place) > shape.rows);
                CHECK((count(Fault::float_arithmetic) > 0) == (dtype == DType::float64));
            }
        }
    }
}

TEST_CASE("the reference of a gradient is good enough for every type") {
    const int64_t cols = 1031;
    for (const Kind operation : kBackward) {
        for (const Input input : all_inputs()) {
            in_every_type([&](auto of) {
                using T = typename decltype(of)::type;
                const Variant variant = variant_with(operation);
                const std::vector<T> y = testing::operand_values<T>(variant, input, {1, cols});
                const std::vector<T> dy = testing::named_values<T>(Input::normal, {1, cols});
                const bool log = operation == Kind::log_softmax_backward;
                long double sum = 0;
                for (size_t i = 0; i < y.size(); ++i) {
                    sum += log ? static_cast<long double>(to_double(dy[i]))
                               : static_cast<long double>(to_double(dy[i])) * to_double(y[i]);
                }
                std::vector<T> dx;
                for (size_t i = 0; i < y.size(); ++i) {
                    const long double gradient = to_double(dy[i]);
                    const long double result = to_double(y[i]);
                    const long double exact =
                        log ? gradient - std::exp(result) * sum : (gradient - sum) * result;
                    dx.push_back(static_cast<T>(static_cast<double>(exact)));
                }
                // So many threads that hardly an addition is excused.
                const Rules strict{operation, false, cols, dtype_of<T>};
                const Report report =
                    check_on_host({y.data(), dy.data()}, {1, cols}, {dx.data(), strict});
                INFO(name_of(operation) << ", " << name_of(input) << ": " << describe(report));
                CHECK(report.good());
                CHECK(report.checked == cols);
                // The one rounding to a narrow type may take all of its bound.
                const bool narrow = precision_of(dtype_of<T>).narrow;
                CHECK(report.worst_share <= (narrow                          ? 1
                                             : dtype_of<T> == DType::float64 ? 0.5
                                                                             : 0.75));
            });
        }
    }
}

TEST_CASE("the judge on the device agrees with the one on the host on every operation") {
    const Shape shape{9, 301};
    for (const Kind operation : {Kind::scale_mask_softmax, Kind::causal_softmax,
                                 Kind::softmax_backward, Kind::log_softmax_backward}) {
        const Variant variant = variant_with(operation, Fault::dropped_element);
        in_every_type([&](auto of) {
            using T = typename decltype(of)::type;
            const std::vector<T> x = testing::operand_values<T>(variant, Input::normal, shape);
            const std::vector<T> y = testing::result_of(variant, x, shape);
            const DeviceBuffer<unsigned char> x2 = testing::x2_of<T>(variant, shape);
            const std::vector<unsigned char> host_x2 = x2.download();
            const DeviceBuffer<T> device_x(x);
            const DeviceBuffer<T> device_y(y);
            const Rules rules = rules_of(variant, shape, dtype_of<T>);
            const Report host = check_on_host({x.data(), host_x2.data()}, shape, {y.data(), rules});
            const Report device =
                check_on_device({device_x.data(), x2.data()}, shape, {device_y.data(), rules});
            INFO(name_of(operation));
            CHECK(device.checked == host.checked);
            CHECK(device.mismatches == host.mismatches);
            CHECK(device.first_place == host.first_place);
        });
    }
}

TEST_CASE("a gradient of a row with a NaN is NaN, of a row with an infinity open") {
    const float nan = NAN;
    const float inf = INFINITY;
    const auto judged = [](const std::vector<float>& y, const std::vector<float>& dy,
                           const std::vector<float>& dx, Kind operation) {
        return check_on_host({y.data(), dy.data()}, {1, 2}, {dx.data(), {operation, false, 1}});
    };
    const Kind softmax = Kind::softmax_backward;
    const Kind log_softmax = Kind::log_softmax_backward;
    for (const Kind operation : kBackward) {
        CHECK(judged({0.5f, 0.5f}, {nan, 1}, {nan, nan}, operation).good());
        CHECK(judged({0.5f, 0.5f}, {nan, 1}, {nan, 0}, operation).mismatches == 1);
        CHECK(judged({0.5f, 0.5f}, {inf, 1}, {nan, 0}, operation).unchecked == 2);
    }
    CHECK(judged({nan, 0.5f}, {1, 1}, {nan, 0}, softmax).mismatches == 1);
    // The sum of log-softmax does not look at y: a NaN there stays where it is.
    CHECK(judged({nan, -inf}, {1, 1}, {nan, 1}, log_softmax).good());
    CHECK(judged({nan, -inf}, {1, 1}, {nan, nan}, log_softmax).mismatches == 1);
    // Numbers that float's sum cannot hold.
    CHECK(judged({1, 1}, {3e38f, 3e38f}, {0, 0}, softmax).unchecked == 2);
}

TEST_CASE("results of one operation are compared within the sum of their bounds") {
    const Shape shape{3, 100};
    for (const Kind operation : {Kind::softmax_backward, Kind::causal_softmax}) {
        const Variant variant = variant_with(operation);
        const std::vector<float> x = testing::operand_values<float>(variant, Input::normal, shape);
        const std::vector<unsigned char> x2 = testing::x2_of<float>(variant, shape).download();
        const std::vector<float> y = testing::result_of(variant, x, shape);
        std::vector<float> other = y;
        const Rules rules = rules_of(variant, shape, DType::float32);
        const auto differ = [&] {
            const Result previous{other.data(), rules};
            return check_on_host({x.data(), x2.data()}, shape, {y.data(), rules}, &previous)
                .mismatches;
        };
        CHECK(differ() == 0);
        other[100] *= 1 + 0x1p-20f;
        CHECK(differ() == 0);
        other[100] *= 1.001f;
        CHECK(differ() == 1);
        other[100] = NAN;
        CHECK(differ() == 1);
        CHECK_FALSE(are_comparable(operation, Kind::softmax));
    }
    CHECK(are_comparable(Kind::log_softmax, Kind::log_sum_exp));
}

TEST_CASE(
    "a backward operation takes what its forward one gives, and a mask has all kinds of rows") {
    const Shape shape{8, 50};
    in_every_type([&](auto of) {
        using T = typename decltype(of)::type;
        const std::vector<T> x = testing::named_values<T>(Input::masked, shape);
        for (const Kind operation : kBackward) {
            const std::vector<T> y =
                testing::operand_values<T>(variant_with(operation), Input::masked, shape);
            const Rules forward{
                operation == Kind::softmax_backward ? Kind::softmax : Kind::log_softmax, false,
                shape.cols, dtype_of<T>};
            const Report report = check_on_host(x.data(), shape, {y.data(), forward});
            INFO(describe(report));
            CHECK(report.good());
            CHECK(report.worst_share <= (precision_of(dtype_of<T>).narrow ? 1 : 0.5));
        }
    });
    const Variant masked = variant_with(Kind::scale_mask_softmax);
    const std::vector<unsigned char> mask = testing::x2_of<float>(masked, shape).download();
    std::vector<int> kept(8, 0);
    for (size_t i = 0; i < mask.size(); ++i) {
        REQUIRE(mask[i] <= 1);
        kept[i / 50] += mask[i];
    }
    CHECK(kept[1] + kept[5] == 0);
    CHECK(kept[2] + kept[6] == 100);
    for (const size_t row : {0, 3, 4, 7}) CHECK((kept[row] > 20 && kept[row] < 46));
}

TEST_CASE("what an operation has to move, and what a variant declares of it") {
    const Shape shape{6, 3};  // two causal matrices, of 6 elements each
    CHECK(causal_rows(shape) == 3);
    CHECK(causal_rows({4, 3}) == 4);
    CHECK(visible_elements(Kind::causal_softmax, shape) == 12);
    CHECK(visible_elements(Kind::causal_softmax, {4, 3}) == 9);
    CHECK(visible_elements(Kind::causal_softmax, {2, 5}) == 3);
    CHECK(footprint_of(Kind::softmax, shape, DType::float16).total() == 72);
    CHECK(footprint_of(Kind::log_sum_exp, shape, DType::float32).total() == 96);
    CHECK(footprint_of(Kind::scale_mask_softmax, shape, DType::float16).total() == 90);
    CHECK(footprint_of(Kind::softmax_backward, shape, DType::float64).total() == 432);
    CHECK(footprint_of(Kind::causal_softmax, shape, DType::float32).total() == 120);

    Variant variant = variant_with(Kind::scale_mask_softmax);
    variant.traffic = {1, 1};
    CHECK(traffic_of(variant, shape, DType::float32).loads == 1.25);
    CHECK(traffic_of(variant, shape, DType::float16).loads == 1.5);
    variant = variant_with(Kind::causal_softmax);
    variant.traffic = {1, 1};
    CHECK(traffic_of(variant, shape, DType::float32).loads == 12. / 18);
    CHECK(traffic_of(variant, shape, DType::float32).stores == 1);
}
