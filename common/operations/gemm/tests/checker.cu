// SPDX-License-Identifier: MIT
// The checker of matrix products accepts right results and nothing else, on the host and by its kernels.
#include <chrono>
#include <cmath>
#include <functional>
#include <vector>

#include "common/operations/gemm/check.hpp"
#include "common/operations/gemm/inputs.hpp"
#include "common/operations/gemm/judge.cuh"
#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"

namespace {

using namespace operations::gemm;
using operations::Expected;
using runner::DeviceBuffer;
using runner::Report;
using runner::to_double;

template <class T>
struct Matrices {
    std::vector<T> a, b, c;
};

template <class T>
Matrices<T> named(const std::string& input, const Shape& shape) {
    DeviceBuffer<T> a(static_cast<size_t>(shape.batch * shape.m * shape.k));
    DeviceBuffer<T> b(static_cast<size_t>(shape.batch * shape.k * shape.n));
    DeviceBuffer<T> c(static_cast<size_t>(shape.batch * shape.m * shape.n));
    fill(a.data(), b.data(), c.data(), runner::dtype_of<T>, shape, input, 1);
    runner::check_cuda(cudaDeviceSynchronize(), "filling matrices");
    return {a.download(), b.download(), c.download()};
}

// An independent product: in long double, straight from the definition.
template <class T>
std::vector<T> multiplied(const Matrices<T>& of, const Shape& s) {
    std::vector<T> result;
    const auto alpha = static_cast<float>(s.alpha), beta = static_cast<float>(s.beta);
    for (int64_t batch = 0; batch < s.batch; ++batch) {
        for (int64_t row = 0; row < s.m; ++row) {
            for (int64_t col = 0; col < s.n; ++col) {
                long double sum = 0;
                for (int64_t p = 0; p < s.k; ++p) {
                    const int64_t in_a = s.transpose_a ? p * s.m + row : row * s.k + p;
                    const int64_t in_b = s.transpose_b ? col * s.k + p : p * s.n + col;
                    sum += static_cast<long double>(
                               to_double(of.a[static_cast<size_t>(batch * s.m * s.k + in_a)])) *
                           to_double(of.b[static_cast<size_t>(batch * s.k * s.n + in_b)]);
                }
                long double value = s.k == 0 ? 0 : alpha * sum;
                if (beta != 0)
                    value += static_cast<long double>(beta) * to_double(of.c[result.size()]);
                result.push_back(static_cast<T>(static_cast<float>(value)));
            }
        }
    }
    return result;
}

// Host and device must say the same.
template <class T>
Report checked(const Matrices<T>& of, const Shape& shape, const std::vector<T>& ours,
               const std::vector<T>* previous = nullptr) {
    const runner::DType dtype = runner::dtype_of<T>;
    const Report host =
        check_on_host({of.a.data(), of.b.data(), of.c.data()}, shape, dtype, ours.data(),
                      previous == nullptr ? nullptr : previous->data());
    const DeviceBuffer<T> a(of.a), b(of.b), c(of.c), got(ours);
    const DeviceBuffer<T> other(previous == nullptr ? std::vector<T>() : *previous);
    const Report device =
        check_on_device({a.data(), b.data(), c.data()}, shape, dtype, got.data(), other.data());
    CHECK(host.checked == device.checked);
    CHECK(host.unchecked == device.unchecked);
    CHECK(host.mismatches == device.mismatches);
    CHECK(host.first_place == device.first_place);
    CHECK(host.checked + host.unchecked == shape.batch * shape.m * shape.n);
    return host;
}

const std::vector<Shape> kShapes = {
    Shape(1, 1, 1, 1),
    Shape(2, 13, 9, 31),
    Shape(1, 6, 17, 40).with_transposed(true, false),
    Shape(2, 5, 8, 12).with_transposed(false, true).with_scales(-2, 0.5),
    Shape(1, 11, 7, 33).with_transposed(true, true).with_scales(0.3, 0.7),
    Shape(2, 3, 5, 0).with_scales(1, 2)};

template <class T>
void check_right_results() {
    for (const Shape& shape : kShapes) {
        for (const runner::NamedInput& input : all_inputs()) {
            const Matrices<T> of = named<T>(input.name, shape);
            const std::vector<T> right = multiplied(of, shape);
            INFO(input.name << ", " << text_of(runner::Shape(shape)));
            const Report report = checked(of, shape, right);
            INFO(describe(report));
            CHECK(report.good());
            CHECK(checked(of, shape, right, &right).good());
            if (input.name == kIntegers && shape.alpha != 0.3) {  // which no float is
                CHECK(report.unchecked == 0);
                CHECK(report.worst_share == 0);
            }
        }
    }
}

// One element changed, which must be found and named.
template <class T>
Report with_one_changed(const std::string& input, const Shape& shape, size_t which,
                        const std::function<double(double)>& change) {
    const Matrices<T> of = named<T>(input, shape);
    std::vector<T> ours = multiplied(of, shape);
    ours[which] = static_cast<T>(change(to_double(ours[which])));
    return checked(of, shape, ours);
}

}  // namespace

TEST_CASE("right products pass, whatever is multiplied") {
    check_right_results<float>();
    check_right_results<__half>();
    check_right_results<__nv_bfloat16>();
}

TEST_CASE("one wrong element of a product is found, and where it is") {
    const Shape shape(2, 7, 9, 20);
    const size_t which = 7 * 9 + 3 * 9 + 5;  // batch 1, row 3, col 5
    for (const auto& change : std::vector<std::function<double(double)>>{
             [](double) { return NAN; }, [](double) { return INFINITY; }, [](double) { return 0.; },
             [](double x) { return x + 1; }, [](double x) { return -x; }}) {
        for (const char* input : {kNormal, kIntegers}) {
            const Report report = with_one_changed<float>(input, shape, which, change);
            INFO(input << ": " << describe(report));
            if (report.first_got == report.first_wanted) continue;  // it was 0, say
            CHECK(report.mismatches == 1);
            CHECK(report.first_place == "batch 1, row 3, col 5");
        }
    }
    // Half a last place of an exact sum is too much.
    const Report near =
        with_one_changed<__half>(kIntegers, shape, which, [](double x) { return x + 0.0625; });
    CHECK(near.mismatches == 1);
    // NaN where it must be is right, elsewhere not, and the other way round.
    CHECK(with_one_changed<__half>(kSpecial, Shape(1, 4, 5, 64), 5, [](double) {
              return 1.;
          }).mismatches == 1);
    CHECK(with_one_changed<__half>(kSpecial, Shape(1, 4, 5, 64), 0, [](double) {
              return NAN;
          }).mismatches == 1);
}

TEST_CASE("two products that differ by more than both their bounds are no pair") {
    const Shape shape(1, 7, 9, 20);
    const Matrices<__half> of = named<__half>(kNormal, shape);
    const std::vector<__half> right = multiplied(of, shape);
    std::vector<__half> other = right;
    other[20] = static_cast<__half>(to_double(right[20]) + 0.5);
    CHECK(checked(of, shape, right, &other).mismatches == 1);
    other[20] = static_cast<__half>(NAN);
    CHECK(checked(of, shape, right, &other).mismatches == 1);
    // A last place is a rounding that may go either way.
    other[20] = static_cast<__half>(to_double(right[20]) * (1 + 0x1p-10));
    CHECK(checked(of, shape, right, &other).good());
}

TEST_CASE("where sums may overflow on the way, nothing is promised") {
    const Shape shape(1, 1, 1, 2);
    Matrices<float> of{{3e38f, 3e38f}, {2, -2}, {NAN}};
    const Report report = checked(of, shape, {NAN});
    CHECK(report.unchecked == 1);
    // In half a result may be too large though no sum is: then it is infinite.
    Matrices<__half> large{
        {__half(300.f), __half(300.f)}, {__half(200.f), __half(100.f)}, {__half(0.f)}};
    CHECK(checked(large, shape, {static_cast<__half>(INFINITY)}).good());
    CHECK(checked(large, shape, {static_cast<__half>(65504.f)}).mismatches == 1);
}

// The errors of sums in float, in several orders and of whole numbers of terms, stay within the bound, and
// it is no more than some times what can happen.
TEST_CASE("the bound holds for sums in any order, and is not much larger than what can happen") {
    const Shape shape(1, 1, 1, 4096);
    // The worst for a serial sum: after a large term each small one is rounded away.
    std::vector<float> ones(4096, 1.f), terms(4096, 0x1p-25f);
    terms[0] = 1.f;
    const Matrices<float> of{terms, ones, {NAN}};
    float serial = 0;
    for (const float term : terms) serial += term;
    CHECK(serial == 1.f);
    const Report report = checked(of, shape, {serial});
    CHECK(report.good());
    const double error = 4095 * 0x1p-25;
    const Rules rules(shape, runner::DType::float32);
    const Outlook outlook({1 + 2e-12, false}, {64, true}, NAN, rules);
    CHECK(outlook.error_at(1) > error);
    CHECK(outlook.error_at(1) < 200 * error);  // 2 of half a place, 64 of Cauchy and Schwarz
}

TEST_CASE(
    "the host's product is right at every remainder, and takes 512 x 512 x 512 in its stride") {
    for (const int64_t m : {1, 3, 4, 9}) {
        for (const int64_t n : {1, 7, 8, 17}) {
            std::vector<double> a, b;
            for (int64_t i = 0; i < m * 5; ++i) a.push_back(static_cast<double>(i % 7) - 3);
            for (int64_t i = 0; i < 5 * n; ++i) b.push_back(static_cast<double>(i % 5) - 2);
            const std::vector<double> c = product(a, b, m, n, 5);
            for (int64_t row = 0; row < m; ++row) {
                for (int64_t col = 0; col < n; ++col) {
                    double want = 0;
                    for (int64_t p = 0; p < 5; ++p)
                        want += a[static_cast<size_t>(row * 5 + p)] *
                                b[static_cast<size_t>(p * n + col)];
                    CHECK(c[static_cast<size_t>(row * n + col)] == want);
                }
            }
        }
    }
    const std::vector<double> ones(512 * 512, 1.);
    const std::vector<double> c = product(ones, ones, 512, 512, 512);
    CHECK(c == std::vector<double>(512 * 512, 512.));
}

TEST_CASE("c that counts for nothing is NaN, and a number where it counts") {
    const Shape shape(1, 3, 4, 5);
    for (const float each : named<float>(kNormal, shape).c) CHECK(std::isnan(each));
    for (const float each : named<float>(kNormal, shape.with_scales(1, 0.5)).c)
        CHECK_FALSE(std::isnan(each));
}

TEST_CASE("shapes of products: sizes and options") {
    const runner::Operation& gemm = *operation();
    CHECK(gemm.has_shape({2, 3, 4, 0}));
    CHECK_FALSE(gemm.has_shape({2, 3, 4}));
    runner::Shape shape{2, 3, 4, 5};
    shape.set_option("transpose_b", 1);
    shape.set_option("alpha", 1);
    shape.set_option("beta", 0.25);
    CHECK(gemm.has_shape(shape));
    CHECK(text_of(gemm.plain(shape)) == "2 x 3 x 4 x 5 beta=0.25 transpose_b=1");
    CHECK(Shape(shape).transpose_b);
    CHECK(runner::Shape(Shape(shape)) == gemm.plain(shape));
    runner::Shape wrong = shape;
    wrong.set_option("transpose_b", 2);
    CHECK_FALSE(gemm.has_shape(wrong));
    wrong = shape;
    wrong.set_option("gamma", 1);
    CHECK_FALSE(gemm.has_shape(wrong));
    CHECK(gemm.operands(shape, runner::DType::float16)[1].dims == std::vector<int64_t>{2, 4, 5});
    CHECK(gemm.cost(shape, runner::DType::float16).operations == 2 * 2 * 3 * 4 * 5);
    CHECK(gemm.cost(shape, runner::DType::float16).bytes() == 2 * (30 + 40 + 2 * 24));
    runner::Draws draws(1, 1);
    bool has_empty = false, has_transposed = false;
    for (int number = 0; number < 1000; ++number) {
        const runner::Shape drawn = gemm.draw(draws, 5000, [](const std::string&) { return true; });
        CHECK(gemm.has_shape(drawn));
        CHECK(drawn[0] * drawn[1] * drawn[3] <= 5000);
        CHECK(drawn[0] * drawn[1] * drawn[2] >= 1);
        has_empty = has_empty || drawn[3] == 0;
        has_transposed = has_transposed || drawn.option("transpose_a", 0) == 1;
    }
    CHECK(has_empty);
    CHECK(has_transposed);
}
