// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "common/operations/softmax/properties.hpp"
#include "common/testing/random_cases.hpp"
#include "further/any_width.cuh"
#include "further/dropout_store.cuh"
#include "further/masked_loads.cuh"
#include "further/row_groups.cuh"
#include "further/warp_softmax_backward.cuh"

// After the headers: declares what launchers.cu compiles.
#include "04_warp_softmax/launchers.hpp"

runner::Stage describe_04_warp_softmax();

using runner::DeviceBuffer;

TEST_CASE("every variant of 04 has the properties of its operation, in every type") {
    for (const runner::Variant& variant : describe_04_warp_softmax().variants)
        testing::holds_every_property(variant);
}

TEST_CASE("Philox gives the numbers that its authors publish") {
    const auto words = [](uint64_t counter, uint64_t stream, uint64_t key) {
        const warp_softmax::Philox random = warp_softmax::philox(counter, stream, key);
        return std::vector<uint32_t>(random.word, random.word + 4);
    };
    CHECK(words(0, 0, 0) == std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(words(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}) ==
          std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
}

TEST_CASE("dropout depends on seed and position alone, and scales what stays") {
    const int64_t rows = 40;
    for (const int64_t cols : {33, 64, 500}) {
        const auto count = static_cast<size_t>(rows * cols);
        const DeviceBuffer<float> x(
            testing::named_values<float>(operations::softmax::Input::normal, {rows, cols}));
        DeviceBuffer<float> plain(count);
        DeviceBuffer<float> dropped(count);
        REQUIRE(warp_softmax::row_groups_softmax(x.data(), plain.data(), rows, cols, nullptr) ==
                cudaSuccess);
        REQUIRE(warp_softmax::softmax_dropout(x.data(), dropped.data(), 0.25f, 2018, rows, cols,
                                              nullptr) == cudaSuccess);
        const std::vector<float> y = plain.download();
        const std::vector<float> z = dropped.download();
        int zeros = 0;
        for (size_t i = 0; i < count; ++i) {
            const bool gone = warp_softmax::is_dropped(2018, 0.25f, static_cast<int64_t>(i) / cols,
                                                       static_cast<int64_t>(i) % cols);
            zeros += gone;
            CHECK(z[i] == (gone ? 0.f : y[i] / 0.75f));
        }
        const double share = zeros / static_cast<double>(count);  // 5 standard deviations
        CHECK(std::fabs(share - 0.25) < 5 * std::sqrt(0.25 * 0.75 / static_cast<double>(count)));
    }
    DeviceBuffer<float> x(4);
    CHECK(warp_softmax::softmax_dropout(x.data(), x.data(), 1.f, 1, 1, 4, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(warp_softmax::softmax_dropout(x.data(), x.data(), NAN, 1, 1, 4, nullptr) ==
          cudaErrorInvalidValue);
}

TEST_CASE("04 refuses a misaligned pointer") {
    const DeviceBuffer<float> x(64);
    DeviceBuffer<float> y(64);
    const auto* odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(x.data()) + 1);
    CHECK(warp_softmax::softmax(odd, y.data(), 2, 8, nullptr) == cudaErrorInvalidValue);
    CHECK(warp_softmax::softmax(x.data(),
                                reinterpret_cast<float*>(reinterpret_cast<char*>(y.data()) + 2), 2,
                                7, nullptr) == cudaErrorInvalidValue);
    CHECK(warp_softmax::row_groups_softmax(odd, y.data(), 2, 8, nullptr) == cudaErrorInvalidValue);
    CHECK(warp_softmax::softmax_any_width(odd, y.data(), 2, 7, nullptr) == cudaErrorInvalidValue);
    CHECK(warp_softmax::softmax_backward(x.data(), odd, y.data(), 2, 8, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

// A pack is 8 columns of half or 4 of float, and one column where no pack divides the row.
TEMPLATE_TEST_CASE("04's lesson takes rows that the lanes of a warp hold, and refuses longer ones",
                   "", float, __half, __nv_bfloat16) {
    const runner::Variant softmax = describe_04_warp_softmax().variants.front();
    REQUIRE(softmax.name == "softmax");
    for (const int64_t cols : {3, 4, 127, 128, 129, 256, 264, 1016, 2039, 2040, 2047, 2048}) {
        const operations::softmax::Shape shape{5, cols};  // the last block has one row
        const std::vector<TestType> values =
            testing::named_values<TestType>(operations::softmax::Input::normal, shape);
        INFO(cols << " columns");
        testing::expect_good(softmax, values, testing::result_of(softmax, values, shape), shape);
    }
    for (const int64_t cols : {2049, 2056, 4096}) {
        const DeviceBuffer<TestType> x(static_cast<size_t>(cols));
        DeviceBuffer<TestType> y(static_cast<size_t>(cols));
        y.poison();
        CHECK(warp_softmax::softmax(x.data(), y.data(), 1, cols, nullptr) == cudaErrorInvalidValue);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        for (const TestType untouched : y.download())
            CHECK(std::isnan(runner::to_double(untouched)));
    }
}

TEST_CASE("a row that is masked everywhere becomes zeros, and its log-softmax -inf") {
    constexpr int kCols = 40;
    const DeviceBuffer<float> x(
        testing::named_values<float>(operations::softmax::Input::normal, {2, kCols}));
    const DeviceBuffer<unsigned char> mask([] {
        std::vector<unsigned char> kept(2 * kCols, 0);
        kept[kCols + 3] = 1;  // of the second row
        return kept;
    }());
    DeviceBuffer<float> y(2 * kCols);
    const warp_softmax::ScaleMaskLoad<float> load{
        x.data(), reinterpret_cast<const bool*>(mask.data()), 0.5f, kCols};
    const warp_softmax::DirectStore<float> store{y.data(), kCols};
    REQUIRE(warp_softmax::launch<warp_softmax::Algorithm::softmax>(load, store, 2, kCols,
                                                                   nullptr) == cudaSuccess);
    const std::vector<float> shares = y.download();
    REQUIRE(warp_softmax::launch<warp_softmax::Algorithm::log_softmax>(load, store, 2, kCols,
                                                                       nullptr) == cudaSuccess);
    const std::vector<float> logs = y.download();
    for (size_t i = 0; i < shares.size(); ++i) {
        CHECK(shares[i] == (i == kCols + 3 ? 1.f : 0.f));
        CHECK(logs[i] == (i == kCols + 3 ? 0.f : -INFINITY));
    }
}

// Random widths, addresses, strides, masks and gradients in every type, where a variant takes them.
void passes_random_cases(int64_t first, int64_t last) {
    testing::passes_random_cases(describe_04_warp_softmax(), 4, first, last,
                                 [](int64_t) { return 4096; });
}
TEST_CASE("04 passes a thousand random cases") {
    passes_random_cases(0, 1000);
}
TEST_CASE("04 passes thousands of random cases", "[.more]") {
    passes_random_cases(1000, 10000);
}

TEST_CASE("04's causal softmax takes whole matrices") {
    const std::vector<runner::Variant> variants = describe_04_warp_softmax().variants;
    const auto causal = std::find_if(variants.begin(), variants.end(), [](const auto& variant) {
        return operations::softmax::kind_of(variant) == operations::softmax::Kind::causal_softmax;
    });
    REQUIRE(causal != variants.end());
    for (const int64_t cols : {1000, 1025}) {
        testing::holds_where_it_fits<float>(*causal, {cols, cols});
        testing::holds_where_it_fits<__half>(*causal, {cols, cols});
    }
}

TEST_CASE("04 takes more elements and more rows than 32 bits can count", "[.huge]") {
    for (const runner::Variant& variant : describe_04_warp_softmax().variants) {
        testing::holds_where_it_fits(variant, {(int64_t{1} << 31) / 1000 + 7, 1000});
        if (operations::softmax::kind_of(variant) == operations::softmax::Kind::softmax)
            testing::holds_where_it_fits(variant, {(int64_t{1} << 31) + 5, 1});
    }
}
