// SPDX-License-Identifier: MIT
// The rebuilt kernels of others: each keeps what its description promises, and has the limits that
// its header states.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "common/operations/softmax/properties.hpp"
#include "common/peers/fastertransformer_softmax.cuh"
#include "common/peers/invalid_fastertransformer.cuh"
#include "common/peers/oneflow_block_softmax.cuh"
#include "common/peers/oneflow_warp_softmax.cuh"
#include "common/peers/peers.hpp"

namespace {

namespace ft = ::fastertransformer_softmax;
namespace long_rows = ::oneflow_block_softmax;
namespace of = ::oneflow_warp_softmax;
using operations::softmax::Shape;
using runner::DeviceBuffer;
using runner::to_double;

constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

// ---------------------------------------------------------------- OneFlow

TEMPLATE_TEST_CASE("OneFlow's warp tier is right at every width, in every type", "", float, __half,
                   __nv_bfloat16) {
    for (const runner::Variant& variant : peers::oneflow_warp_softmax().stage.variants) {
        INFO(variant.name);
        if (!testing::has_type<TestType>(variant)) continue;
        // Every number of elements a lane, and of rows that leave a warp and a block unfilled.
        int judged = 0;
        for (int64_t cols = 1; cols <= 1024; cols += cols < 70 ? 1 : 31) {
            for (const int64_t rows : {1, 2, 5, 6}) {
                const Shape shape{rows, cols};
                if (!testing::takes<TestType>(variant, shape)) continue;
                ++judged;
                INFO(rows << " x " << cols);
                const auto values =
                    testing::named_values<TestType>(operations::softmax::Input::normal, shape, 11);
                testing::expect_good(variant, values, testing::result_of(variant, values, shape),
                                     shape);
            }
        }
        testing::matches_reference_on_named_inputs<TestType>(variant);
        testing::obeys_the_laws_of_softmax<TestType>(variant);
        CHECK(judged > 0);
        testing::takes_many_rows<TestType>(variant);
        for (const int64_t cols : {1, 5, 33, 1000})
            testing::contains_special_rows<TestType>(variant, cols);
    }
}

TEST_CASE("OneFlow's warp tier walks over more rows than its blocks take at once, also in place") {
    int multiprocessors = 0;
    int threads = 0;
    runner::check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
                       "asking");
    runner::check_cuda(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0),
                       "asking");
    const int rows_of_block = 8;  // of 9 columns, an odd number of rows
    const int64_t blocks = int64_t{32} * multiprocessors * threads / of::kBlockThreads;
    const Shape shape{blocks * rows_of_block + 3, 9};
    const runner::Variant variant = peers::oneflow_warp_softmax().stage.variants.front();
    DeviceBuffer<float> x(testing::size_of(shape));
    DeviceBuffer<float> y(testing::size_of(shape));
    operations::softmax::fill(x.data(), runner::DType::float32, shape,
                              operations::softmax::Input::normal, 5);
    operations::softmax::fill(y.data(), runner::DType::float32, shape,
                              operations::softmax::Input::normal, 5);
    testing::launch(variant, y.data(), y.data(), shape);
    const runner::Report report = operations::softmax::check(
        x.data(), shape, {y.data(), rules_of(variant, shape, runner::DType::float32)});
    INFO(runner::describe(report));
    CHECK(report.good());
}

TEST_CASE("OneFlow's warp tier has the limits that it states") {
    const DeviceBuffer<float> x(std::vector<float>(1025, 1.f));
    DeviceBuffer<float> y(1025);
    CHECK(of::softmax(x.data(), y.data(), 1, 1024, nullptr) == cudaErrorInvalidValue);
    CHECK(of::log_softmax(x.data(), y.data(), 1, 1025, nullptr) == cudaErrorInvalidValue);
    CHECK(of::softmax(x.data(), y.data(), 1, 0, nullptr) == cudaErrorInvalidValue);
    CHECK(of::softmax(x.data(), y.data(), 0, 7, nullptr) == cudaSuccess);

    // Four columns of rows that are five long: the second row begins at element 5, is read by pairs
    // from element 4 on, and its result is put there, too.
    DeviceBuffer<float> rows(std::vector<float>{0, 1, 2, 3, 50, 0, 0, 0, 0, 60});
    DeviceBuffer<float> result(std::vector<float>(10, -1.f));
    REQUIRE((of::launch_tile<of::Algorithm::softmax, 2, 2, 2, 2>(
                of::DirectLoad<float>{rows.data(), 5}, of::DirectStore<float>{result.data(), 5}, 2,
                4, nullptr)) == cudaSuccess);
    const std::vector<float> found = result.download();
    CHECK_THAT(found[3], WithinAbs(0.6439, 1e-4));  // the first row is as it should be
    CHECK_THAT(found[4], WithinAbs(1., 1e-6));      // of the 50, which is in no row
    CHECK_THAT(found[5], WithinAbs(0., 1e-6));
    CHECK(found[8] == -1.f);
}

TEMPLATE_TEST_CASE("OneFlow's second and third tier are right, in every type", "", float, __half,
                   __nv_bfloat16) {
    for (const runner::Variant& variant : peers::oneflow_block_softmax().stage.variants) {
        INFO(variant.name);
        for (const int64_t cols : {1026, 3000, 8191, 12500, 20001}) {  // shared memory to 12,000
            const Shape shape{3, cols};
            INFO(cols << " columns");
            const auto values =
                testing::named_values<TestType>(operations::softmax::Input::normal, shape, 11);
            const std::vector<TestType> y = testing::result_of(variant, values, shape);
            testing::expect_good(variant, values, y, shape);
            DeviceBuffer<TestType> both(values);
            testing::launch(variant, both.data(), both.data(), shape);
            CHECK(testing::same_bits(y, both.download()));
        }
        testing::matches_reference_on_named_inputs<TestType>(variant);
        testing::obeys_the_laws_of_softmax<TestType>(variant);
        testing::contains_special_rows<TestType>(variant, 3001);
    }
}

TEST_CASE("OneFlow's second tier takes the largest block of which as many are resident as of 128") {
    const auto threads_for = [](int of_128, int of_256, int of_512, int of_1024) {
        return long_rows::threads_for([=](int threads) {
            return threads == 128   ? of_128
                   : threads == 256 ? of_256
                   : threads == 512 ? of_512
                                    : of_1024;
        });
    };
    CHECK(threads_for(2, 2, 2, 2) == 1024);
    CHECK(threads_for(4, 4, 4, 2) == 512);
    CHECK(threads_for(8, 8, 4, 2) == 256);
    CHECK(threads_for(16, 8, 4, 2) == 128);
    CHECK(threads_for(0, 0, 0, 0) == 0);

    // Of a row that does not fit, nothing is launched: the third tier takes it.
    DeviceBuffer<float> row(13000);
    bool taken = true;
    REQUIRE((long_rows::in_shared_memory<of::Algorithm::softmax, 2>(
                of::DirectLoad<float>{row.data(), 13000}, of::DirectStore<float>{row.data(), 13000},
                1, 13000, nullptr, &taken)) == cudaSuccess);
    CHECK_FALSE(taken);
}

// ---------------------------------------------------------------- FasterTransformer

namespace {

struct Scores {
    int64_t batch;
    int64_t heads;
    int64_t length;
    size_t matrix() const { return static_cast<size_t>(length * length); }
    size_t size() const { return static_cast<size_t>(batch * heads) * matrix(); }
    size_t mask_size() const { return static_cast<size_t>(batch) * matrix(); }
};

// What the kernels promise, in double: softmax(x * scale + (1 - mask) * -10000), but for 1e-6 in the
// sum.
template <class T>
std::vector<double> promised(const std::vector<T>& x, const std::vector<T>& mask, Scores scores,
                             double scale) {
    const auto length = static_cast<size_t>(scores.length);
    std::vector<double> y(x.size());
    for (size_t row = 0; row < x.size() / length; ++row) {
        const size_t batch = row / length / static_cast<size_t>(scores.heads);
        const size_t mask_row = batch * length + row % length;
        double max = -1e30;
        for (size_t col = 0; col < length; ++col) {
            double& score = y[row * length + col];
            score = to_double(x[row * length + col]) * scale +
                    (1 - to_double(mask[mask_row * length + col])) * -10000;
            max = std::max(max, score);
        }
        double sum = 1e-6;
        for (size_t col = 0; col < length; ++col) sum += std::exp(y[row * length + col] - max);
        for (size_t col = 0; col < length; ++col)
            y[row * length + col] = std::exp(y[row * length + col] - max) / sum;
    }
    return y;
}

// The largest error, relative to what is wanted, of results that matter; infinity for a NaN.
template <class T>
double worst_error(const std::vector<T>& found, const std::vector<double>& wanted) {
    double worst = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
        const double error = std::fabs(to_double(found[i]) - wanted[i]) / (wanted[i] + 1e-3);
        worst = std::max(worst, std::isnan(error) ? kInf : error);
    }
    return worst;
}

template <class T>
struct Case {
    Scores scores;
    std::vector<T> x;
    std::vector<T> mask;

    // Normal scores; of the mask, three in ten are 0, but not on the diagonal.
    explicit Case(Scores of) : scores(of), x(of.size()), mask(of.mask_size(), T(1.f)) {
        std::mt19937 random(2019);
        std::normal_distribution<float> normal(0.f, 2.f);
        for (T& each : x) each = T(normal(random));
        for (size_t i = 0; i < mask.size(); ++i) {
            const size_t in_matrix = i % of.matrix();
            const bool diagonal = in_matrix % (static_cast<size_t>(of.length) + 1) == 0;
            if (!diagonal && random() % 10 < 3) mask[i] = T(0.f);
        }
    }

    // Launch: like ft::v1.
    template <class Launch>
    std::vector<T> result(Launch launch, float scale, bool in_place = false) const {
        DeviceBuffer<T> from(x);
        const DeviceBuffer<T> masked(mask);
        DeviceBuffer<T> to(x.size());
        to.poison();
        DeviceBuffer<T>& y = in_place ? from : to;
        runner::check_cuda(launch(from.data(), y.data(), masked.data(), scores.batch, scores.heads,
                                  scores.length, scale, nullptr),
                           "launching");
        return y.download();
    }
};

// Relative; half by pairs computes its exponentials in half: scores of up to 8 to half a 128th.
template <class T>
double tolerance(bool pairs) {
    if (pairs) return 0x1p-7;
    return std::is_same_v<T, float> ? 4e-6 : 0x1p-11 + 4e-6;
}

}  // namespace

TEMPLATE_TEST_CASE("FasterTransformer's kernels keep their promise, mask and scale included", "",
                   float, __half) {
    // On both sides of v1's 120 matrices and of v5's 360, batches before heads; odd lengths; one to
    // four elements a thread; four rows of a block, and rows that do not fill them.
    for (const Scores scores :
         {Scores{1, 1, 1}, Scores{2, 3, 7}, Scores{12, 10, 16}, Scores{11, 11, 16},
          Scores{2, 2, 33}, Scores{3, 1, 66}, Scores{2, 61, 31}, Scores{19, 19, 20},
          Scores{1, 2, 128}, Scores{1, 1, 257}, Scores{1, 1, 520}}) {
        INFO(scores.batch << ", " << scores.heads << ", " << scores.length);
        const Case<TestType> one(scores);
        const std::vector<double> wanted = promised(one.x, one.mask, scores, 0.5);
        const std::vector<TestType> v1 = one.result(ft::v1<TestType>, 0.5f);
        CHECK(worst_error(v1, wanted) <= tolerance<TestType>(false));
        CHECK(testing::same_bits(v1, one.result(ft::v1<TestType>, 0.5f, true)));
        const bool pairs = ft::v5_plan<TestType>(scores.batch * scores.heads, scores.length).pairs;
        const std::vector<TestType> v5 = one.result(ft::v5<TestType>, 0.5f);
        CHECK(worst_error(v5, wanted) <= tolerance<TestType>(pairs));
        CHECK(testing::same_bits(v5, one.result(ft::v5<TestType>, 0.5f, true)));
    }
}

TEST_CASE("FasterTransformer's last version has several rows a block, several elements a thread") {
    const Case<__half> rows(Scores{19, 19, 98});  // of 4 of a matrix, the blocks shrink to 1
    CHECK(worst_error(rows.result(ft::v5<__half>, 1.f),
                      promised(rows.x, rows.mask, rows.scores, 1)) <= tolerance<__half>(true));
    for (const int64_t length : {1030, 2050}) {
        INFO(length);
        const Case<float> one(Scores{1, 1, length});
        CHECK(worst_error(one.result(ft::v5<float>, 1.f),
                          promised(one.x, one.mask, one.scores, 1)) <= tolerance<float>(false));
    }
    const Case<__half> one(Scores{1, 1, 2054});
    CHECK(worst_error(one.result(ft::v5<__half>, 1.f), promised(one.x, one.mask, one.scores, 1)) <=
          tolerance<__half>(true));
}

TEST_CASE("FasterTransformer's rules choose what their description says") {
    CHECK(ft::v1_threads(1) == 32);
    CHECK(ft::v1_threads(33) == 64);
    CHECK(ft::v1_threads(1024) == 1024);
    CHECK_FALSE(ft::v1_by_matrix(12, 10));
    CHECK(ft::v1_by_matrix(11, 11));

    const auto plan = [](const ft::V5Plan& it) {
        return std::vector<int>{it.pairs, it.items, it.rows, it.threads, it.blocks};
    };
    CHECK(plan(ft::v5_plan<float>(360, 128)) == std::vector<int>{0, 1, 1, 128, 128});
    CHECK(plan(ft::v5_plan<float>(361, 128)) == std::vector<int>{0, 1, 1, 128, 4});
    CHECK(plan(ft::v5_plan<__half>(361, 128)) == std::vector<int>{1, 1, 4, 64, 1});
    CHECK(plan(ft::v5_plan<__half>(361, 130)) == std::vector<int>{1, 1, 1, 96, 5});
    CHECK(plan(ft::v5_plan<__half>(1, 33)) == std::vector<int>{0, 1, 1, 64, 33});
    CHECK(plan(ft::v5_plan<float>(1, 1025)) == std::vector<int>{0, 2, 1, 544, 1025});
    CHECK(plan(ft::v5_plan<float>(1, 4096)) == std::vector<int>{0, 4, 1, 1024, 4096});
    CHECK(plan(ft::v5_plan<__half>(1, 8192)) == std::vector<int>{1, 4, 4, 1024, 2048});
}

TEST_CASE("FasterTransformer's kernels have the limits that they state") {
    DeviceBuffer<float> x(16);
    DeviceBuffer<__half> h(16);
    const auto v1 = [&](int64_t batch, int64_t heads, int64_t length) {
        return ft::v1(x.data(), x.data(), x.data(), batch, heads, length, 1.f, nullptr);
    };
    CHECK(v1(1, 1, 1025) == cudaErrorInvalidValue);
    CHECK(v1(32, 64, 1024) == cudaErrorInvalidValue);  // 2^31 elements
    CHECK(v1(0, 1, 16) == cudaErrorInvalidValue);
    const auto v5 = [&](auto* of_type, int64_t length) {
        return ft::v5(of_type, of_type, of_type, 1, 1, length, 1.f, nullptr);
    };
    CHECK(v5(x.data(), 4097) == cudaErrorInvalidValue);
    CHECK(v5(h.data(), 4097) == cudaErrorInvalidValue);
    CHECK(v5(h.data(), 8194) == cudaErrorInvalidValue);

    // A row of which the mask leaves nothing: no zeros, but a softmax of what it hides; and the one
    // element of a row is not 1.
    Case<float> hidden(Scores{1, 1, 4});
    std::fill(hidden.mask.begin(), hidden.mask.end(), 0.f);
    hidden.x = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
    const Case<float> alone(Scores{1, 1, 1});
    for (const auto kernel : {ft::v1<float>, ft::v5<float>}) {
        CHECK_THAT(hidden.result(kernel, 1.f)[3], WithinAbs(0.6439, 1e-3));
        CHECK_THAT(alone.result(kernel, 1.f)[0], WithinAbs(1 - 1e-6, 1e-7));
    }
    // In half by pairs, -9999 and -9997 are -10000, and -9998 is halfway and even: all are alike.
    Case<__half> coarse(Scores{1, 1, 4});
    std::fill(coarse.mask.begin(), coarse.mask.end(), __half(0.f));
    for (size_t i = 0; i < 16; ++i) coarse.x[i] = __half(static_cast<float>(i % 4));
    CHECK_THAT(to_double(coarse.result(ft::v5<__half>, 1.f)[3]), WithinAbs(0.25, 1e-3));
}

// ---------------------------------------------------------------- the one that is wrong

TEST_CASE("the kernel of the published comparison gives 1 / length, whatever it is given") {
    const runner::Variant variant = peers::invalid_fastertransformer().stage.variants.front();
    for (const Shape shape : {Shape{4 * 33, 33}, Shape{128 * 16, 16}, Shape{256, 256}}) {
        INFO(shape.rows << " x " << shape.cols);
        const double wanted = 1 / (static_cast<double>(shape.cols) + 1e-6);
        for (const operations::softmax::Input input :
             {operations::softmax::Input::normal, operations::softmax::Input::spike}) {
            const std::vector<float> values = testing::named_values(input, shape);
            const std::vector<float> y = testing::result_of(variant, values, shape);
            CHECK(std::all_of(y.begin(), y.end(), [&](float each) {
                return std::fabs(each - wanted) <= 1e-6 * wanted;
            }));
            const runner::Report report = operations::softmax::check_on_host(
                values.data(), shape, {y.data(), rules_of(variant, shape, runner::DType::float32)});
            CHECK(report.mismatches > report.checked * 9 / 10);
        }
        // Ones hide it.
        const std::vector<float> ones(testing::size_of(shape), 1.f);
        testing::expect_good(variant, ones, testing::result_of(variant, ones, shape), shape);
    }
}
