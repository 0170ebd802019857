// SPDX-License-Identifier: MIT
// The checker of matrix products accepts right results and nothing else, on the host and by its kernels.
#include <cmath>
#include <vector>

#include "common/operations/gemm/check.hpp"
#include "common/operations/gemm/inputs.hpp"
#include "common/operations/gemm/judge.cuh"
#include "common/operations/tests/checked.hpp"

namespace {

using namespace operations::gemm;
using runner::DType;
using runner::Report;
using runner::Tensors;
using testing::Checked;
using testing::CheckedCase;

// In long double, straight from the definition.
std::vector<double> multiplied(const Shape& s, const Tensors& inputs) {
    const std::vector<double> a = inputs.values("a"), b = inputs.values("b"),
                              c = inputs.values("c");
    std::vector<double> result;
    const auto alpha = static_cast<float>(s.alpha), beta = static_cast<float>(s.beta);
    for (int64_t batch = 0; batch < s.batch; ++batch) {
        for (int64_t row = 0; row < s.m; ++row) {
            for (int64_t col = 0; col < s.n; ++col) {
                long double sum = 0;
                for (int64_t p = 0; p < s.k; ++p) {
                    const int64_t in_a = s.transpose_a ? p * s.m + row : row * s.k + p;
                    const int64_t in_b = s.transpose_b ? col * s.k + p : p * s.n + col;
                    sum +=
                        static_cast<long double>(a[static_cast<size_t>(batch * s.m * s.k + in_a)]) *
                        b[static_cast<size_t>(batch * s.k * s.n + in_b)];
                }
                long double value = s.k == 0 ? 0 : alpha * sum;
                if (beta != 0) value += static_cast<long double>(beta) * c[result.size()];
                result.push_back(static_cast<double>(value));
            }
        }
    }
    return result;
}

Checked checked(Kind kind) {
    return {operation(kind),
            [](const Shape& shape, const std::string&, const Tensors& inputs, Tensors& outputs) {
                outputs.upload("c", multiplied(shape, inputs));
            },
            [kind](bool on_device, const Shape& shape, DType dtype, const runner::View& inputs,
                   const runner::View& ours, const runner::View* previous) {
                return (on_device ? check_on_device : check_on_host)(
                    {inputs["a"].data, inputs["b"].data, inputs["c"].data}, shape, dtype,
                    ours["c"].data, previous == nullptr ? nullptr : (*previous)["c"].data, kind);
            }};
}
const Checked kChecked = checked(Kind::float_sums);

// The report on a result of matrices that are given; c: NaN.
Report report_of(const Shape& shape, DType dtype, const std::vector<double>& a,
                 const std::vector<double>& b, double result, const Checked& of = kChecked) {
    CheckedCase one(of, shape, dtype, kNormal);
    one.inputs.upload("a", a);
    one.inputs.upload("b", b);
    one.change("c", 0, result);
    return one.report();
}

}  // namespace

TEST_CASE("of four neighbours along k a pruned B has two zeros, however it is stored") {
    for (const bool transposed : {false, true}) {
        const Shape shape = Shape(2, 3, 6, 11).with_transposed(false, transposed);
        const Tensors dense =
                          runner::filled_inputs(*operation(), shape, DType::float32, kNormal, 5),
                      pruned = runner::filled_inputs(*operation(Kind::pruned), shape,
                                                     DType::float32, kNormal, 5);
        const std::vector<double> of_dense = dense.values("b"), of_pruned = pruned.values("b");
        CHECK(dense.values("a") == pruned.values("a"));
        std::vector<int> zeros(2 * 6 * 3);  // by matrix, column and four
        for (size_t i = 0; i < of_pruned.size(); ++i) {
            const size_t in_matrix = i % 66, row = transposed ? in_matrix % 11 : in_matrix / 6,
                         col = transposed ? in_matrix / 11 : in_matrix % 6;
            if (of_pruned[i] == 0) {
                ++zeros[(i / 66 * 6 + col) * 3 + row / 4];
            } else {
                CHECK(of_pruned[i] == of_dense[i]);
            }
        }
        for (size_t i = 0; i < zeros.size(); ++i)
            CHECK((i % 3 < 2 ? zeros[i] == 2 : zeros[i] >= 1));  // of the last three, one or two
    }
}

TEST_CASE("right products pass, whatever is multiplied, and one wrong element is found") {
    accepts_right_results(
        kChecked,
        {Shape(1, 1, 1, 1), Shape(2, 13, 9, 31), Shape(1, 6, 17, 40).with_transposed(true, false),
         Shape(2, 5, 8, 12).with_transposed(false, true).with_scales(-2, 0.5),
         Shape(1, 11, 7, 33).with_transposed(true, true).with_scales(0.3, 0.7),
         Shape(2, 3, 5, 0).with_scales(1, 2)},
        [](const CheckedCase& one, const std::string& input, const Report& report) {
            if (input != kIntegers || Shape(one.shape).alpha == 0.3) return;  // which no float is
            CHECK(report.unchecked == 0);
            CHECK(report.worst_share == 0);
        });
    const Shape shape(2, 7, 9, 20);
    finds_one_wrong_element(kChecked, shape, DType::float32, 1);
    CheckedCase one(kChecked, shape, DType::float32, kNormal);
    one.change("c", 7 * 9 + 3 * 9 + 5, 0);
    CHECK(one.report().first_place == "batch 1, row 3, col 5");
    // Half a last place of an exact sum is too much.
    CheckedCase exact(kChecked, shape, DType::float16, kIntegers);
    exact.change("c", 98, exact.outputs.values("c")[98] + 0.0625);
    CHECK(exact.report().mismatches == 1);
    // NaN where it must be is right, elsewhere not, and the other way round.
    for (const auto& [which, wrong] : {std::pair<size_t, double>{5, 1.}, {0, NAN}}) {
        CheckedCase special(kChecked, Shape(1, 4, 5, 64), DType::float16, kSpecial);
        special.change("c", which, wrong);
        CHECK(special.report().mismatches == 1);
    }
}

TEST_CASE("results have another type than operands of 8 bits, and are judged by their own bound") {
    for (const Kind kind : {Kind::e4m3, Kind::s8}) {
        const Checked of = checked(kind);
        accepts_right_results(
            of,
            {Shape(2, 13, 9, 31), Shape(1, 6, 17, 40).with_transposed(true, false),
             Shape(1, 5, 8, 12).with_transposed(true, true).with_scales(-2, 0.5)},
            [](const CheckedCase&, const std::string& input, const Report& report) {
                if (input == kIntegers) CHECK(report.worst_share == 0);
            });
        finds_one_wrong_element(of, Shape(2, 7, 9, 20), DType::float32, 1);
        const Shape shape(2, 7, 9, 20);
        CHECK(of.operation->operands(shape, DType::float16)[0].bytes() == 2 * 7 * 20);
        CHECK(of.operation->operands(shape, DType::float16)[2].bytes() == 2 * 2 * 7 * 9);
        CHECK(of.operation->cost(shape, DType::float32).bytes() ==
              2 * (7 * 20 + 20 * 9 + 4 * 7 * 9));
        CHECK_FALSE(operation()->is_comparable(*of.operation));
        // A declared load of A or B is one byte: half an element of C.
        CHECK(of.operation->counted({3, 1}, shape, DType::float16).loads == 1.5);
    }
    // 1 + 2^-14, 32 times: sums of 14 bits lose the small terms, sums in float keep them.
    const Shape shape(1, 1, 1, 64);
    std::vector<double> terms, others;
    for (int i = 0; i < 32; ++i) {
        terms.insert(terms.end(), {1, 0x1p-7});
        others.insert(others.end(), {1, 0x1p-7});
    }
    CHECK(report_of(shape, DType::float32, terms, others, 32, checked(Kind::e4m3)).good());
    CHECK(report_of(shape, DType::float32, terms, others, 33, checked(Kind::e4m3)).mismatches == 1);
    // Also after many products the bound tells results from zeros.
    for (const int64_t k : {2048, 8192}) {
        for (const Kind kind : {Kind::e4m3, Kind::s8}) {
            const Checked of = checked(kind);
            CheckedCase zeros(of, Shape(1, 8, 16, k), DType::float32, kNormal);
            CHECK(zeros.report().good());
            zeros.outputs.upload("c", std::vector<double>(8 * 16, 0));
            const Report report = zeros.report();
            CHECK(report.unchecked == 0);
            CHECK(report.mismatches > 8 * 16 / 3);
        }
    }
    const Shape one(1, 1, 1, 1);
    CHECK(report_of(one, DType::float16, {127}, {127}, 16128, checked(Kind::s8)).good());
    CHECK(report_of(one, DType::float16, {127}, {127}, 16112, checked(Kind::s8)).mismatches == 1);
}

TEST_CASE("two products that differ by more than both their bounds are no pair") {
    const Shape shape(1, 7, 9, 20);
    const CheckedCase right(kChecked, shape, DType::float16, kNormal);
    CheckedCase other(kChecked, shape, DType::float16, kNormal);
    // A last place is a rounding that may go either way.
    other.change("c", 20, right.outputs.values("c")[20] * (1 + 0x1.8p-11));
    CHECK(right.report(&other).good());
    other.change("c", 20, right.outputs.values("c")[20] + 0.5);
    CHECK(right.report(&other).mismatches == 1);
}

TEST_CASE("where sums may overflow on the way, nothing is promised") {
    const Shape shape(1, 1, 1, 2);
    CHECK(report_of(shape, DType::float32, {3e38, 3e38}, {2, -2}, NAN).unchecked == 1);
    // In half a result may be too large though no sum is: then it is infinite.
    CHECK(report_of(shape, DType::float16, {300, 300}, {200, 100}, INFINITY).good());
    CHECK(report_of(shape, DType::float16, {300, 300}, {200, 100}, 65504).mismatches == 1);
}

// The errors of sums in float, in several orders and of whole numbers of terms, stay within the bound, and
// it is no more than some times what can happen.
TEST_CASE("the bound holds for sums in any order, and is not much larger than what can happen") {
    const Shape shape(1, 1, 1, 4096);
    // The worst for a serial sum: after a large term each small one is rounded away.
    std::vector<double> ones(4096, 1.), terms(4096, 0x1p-25);
    terms[0] = 1;
    float serial = 0;
    for (const double term : terms) serial += static_cast<float>(term);
    CHECK(serial == 1.f);
    CHECK(report_of(shape, DType::float32, terms, ones, serial).good());
    const double error = 4095 * 0x1p-25;
    const Rules rules(shape, DType::float32);
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
    const auto c = [](const Shape& of) {
        return filled_inputs(*operation(), of, DType::float32, kNormal, 1).values("c");
    };
    for (const double each : c(shape)) CHECK(std::isnan(each));
    for (const double each : c(shape.with_scales(1, 0.5))) CHECK_FALSE(std::isnan(each));
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
    CHECK(gemm.operands(shape, DType::float16)[1].dims == std::vector<int64_t>{2, 4, 5});
    CHECK(gemm.cost(shape, DType::float16).operations == 2 * 2 * 3 * 4 * 5);
    CHECK(gemm.cost(shape, DType::float16).bytes() == 2 * (30 + 40 + 2 * 24));
    runner::Draws draws(1, 1);
    bool has_empty = false, has_transposed = false;
    for (int number = 0; number < 1000; ++number) {
        const runner::Shape drawn = gemm.draw(draws, 5000, [](const std::string&) { return true; });
        has_empty = has_empty || drawn[3] == 0;
        has_transposed = has_transposed || drawn.option("transpose_a", 0) == 1;
    }
    CHECK((has_empty && has_transposed));
}
