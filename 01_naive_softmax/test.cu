// SPDX-License-Identifier: MIT
#include "common/operations/softmax/properties.hpp"

runner::Stage describe_01_naive_softmax();

TEST_CASE("every variant of 01 is a softmax, and overflows as promised") {
    for (const runner::Variant& variant : describe_01_naive_softmax().variants)
        testing::holds_every_property(variant);
}

TEST_CASE("01 overflows: large and very negative logits give NaN, an infinite sum gives zeros") {
    for (const runner::Variant& variant : describe_01_naive_softmax().variants) {
        INFO(variant.name);
        const std::vector<float> y = testing::result_of(
            variant,
            {1000.f, 1000.f, 1000.f, -200.f, -200.f, -200.f, 87.f, 87.f, 87.f, 89.f, 0.f, 1.f},
            {4, 3});
        for (size_t i = 0; i < 6; ++i) CHECK(std::isnan(y[i]));
        for (size_t i = 6; i < 9; ++i)
            CHECK(std::fabs(y[i] - 1.f / 3) < 1e-7f);  // 3 e^87 still fits
        CHECK(std::isnan(y[9]));
        CHECK(y[10] == 0.f);
        CHECK(y[11] == 0.f);
    }
}

TEST_CASE("01 takes more elements and more rows than 32 bits can count", "[.huge]") {
    const runner::Variant block_per_row = describe_01_naive_softmax().variants.at(1);
    testing::holds_where_it_fits(block_per_row, {3, (int64_t{1} << 30) - 1});
    testing::holds_where_it_fits(block_per_row, {(int64_t{1} << 31) + 5, 1});
    testing::holds_where_it_fits(describe_01_naive_softmax().variants.at(0),
                                 {(int64_t{1} << 31) + 5, 1});
    testing::holds_where_it_fits(describe_01_naive_softmax().variants.at(2),
                                 {3, (int64_t{1} << 30) - 1});
}
