// SPDX-License-Identifier: MIT
#include "common/operations/softmax/properties.hpp"

runner::Stage describe_02_safe_softmax();

TEST_CASE("every variant of 02 is a softmax") {
    for (const runner::Variant& variant : describe_02_safe_softmax().variants)
        testing::holds_every_property(variant);
}

TEST_CASE("02 does not overflow where 01 does") {
    for (const runner::Variant& variant : describe_02_safe_softmax().variants) {
        const std::vector<float> y =
            testing::result_of(variant, {1000.f, 1000.f, -200.f, -200.f, 3e38f, -3e38f}, {3, 2});
        CHECK(y == std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f, 1.f, 0.f});
    }
}

TEST_CASE("02 takes more elements than 32 bits can count", "[.huge]") {
    testing::holds_where_it_fits(describe_02_safe_softmax().variants.at(0),
                                 {3, (int64_t{1} << 30) - 1});
}
