// SPDX-License-Identifier: MIT
// The rebuilt top-k of others, with the limits that its header states.
#include <limits>
#include <vector>

#include "common/operations/topk/properties.hpp"
#include "common/peers/peers.hpp"

using operations::topk::Shape;

TEST_CASE("NVIDIA's top-k finds the best five, where no two elements are equal") {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    int found = 0;
    for (const runner::Variant& variant : peers::nvidia_online_softmax().stage.variants) {
        if (variant.takes.empty()) continue;
        ++found;
        for (const Shape& shape : {Shape(3, 5, 5), {2, 33, 1}, {3, 1030, 4}, {2, 5003, 5}}) {
            const testing::TopkResult result = testing::result_of(
                variant, testing::named_values(variant, operations::topk::kDistinct, shape), shape);
            INFO(variant.name << ": " << describe(result.report));
            CHECK(result.report.good());
        }
        // What is as small as it can be is as good as nothing.
        const testing::TopkResult few =
            testing::result_of(variant, {-kInf, 2, -kInf, 1}, Shape(1, 4, 3));
        CHECK(few.indices == std::vector<double>{1, 3, -1});
        CHECK_FALSE(few.report.good());
    }
    CHECK(found == 2);
}
