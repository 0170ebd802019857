// SPDX-License-Identifier: MIT
// FasterTransformer's way to heads and back, and its padding, with the limits that its header states.
#include "common/operations/heads/operation.hpp"
#include "common/peers/peers.hpp"
#include "common/testing/outcome.hpp"

using operations::heads::Shape;
using runner::DType;

TEST_CASE("FasterTransformer's heads and padding are right wherever it takes them") {
    for (const peers::Peer& peer :
         {peers::fastertransformer_heads(), peers::fastertransformer_padding()}) {
        for (const runner::Variant& variant : peer.stage.variants) {
            for (const DType dtype : variant.dtypes)
                testing::matches_reference_at_all_shapes(variant, dtype, {Shape(2, 3, 4, 64)});
        }
    }
}

TEST_CASE("what FasterTransformer's heads and padding do not take is said") {
    const auto obstacle = [](const peers::Peer& peer, size_t variant, const Shape& shape,
                             DType dtype) {
        return obstacle_of(peer.stage.variants.at(variant), shape, dtype);
    };
    const peers::Peer heads = peers::fastertransformer_heads();
    const peers::Peer padding = peers::fastertransformer_padding();
    constexpr DType kFloat = DType::float32, kHalf = DType::float16;
    CHECK(obstacle(heads, 0, {2, 3, 16, 64}, kFloat).empty());
    CHECK_FALSE(obstacle(heads, 0, {2, 3, 17, 64}, kFloat).empty());
    CHECK(obstacle(heads, 0, {2, 3, 32, 64}, kHalf).empty());
    CHECK_FALSE(obstacle(heads, 0, {2, 3, 33, 64}, kHalf).empty());
    CHECK_FALSE(obstacle(heads, 0, {2, 3, 16, 65}, kHalf).empty());
    CHECK_FALSE(obstacle(heads, 0, {2, 3, 16, 64, 5}, kHalf).empty());
    CHECK_FALSE(obstacle(heads, 0, {0, 3, 16, 64}, kHalf).empty());
    CHECK_FALSE(obstacle(heads, 0, {1 << 20, 1, 1, 1024}, kFloat).empty());
    CHECK(obstacle(heads, 1, {2, 2, 1, 64}, kHalf).empty());
    CHECK_FALSE(obstacle(heads, 1, {2, 3, 1, 64}, kHalf).empty());  // six rows
    CHECK(obstacle(heads, 1, {2, 3, 1, 64}, kFloat).empty());
    CHECK_FALSE(obstacle(heads, 1, {2, 3, 1, 1025}, kFloat).empty());
    CHECK(obstacle(padding, 0, {2, 3, 16, 65, 4}, kHalf).empty());
    CHECK_FALSE(obstacle(padding, 1, {2, 0, 16, 64}, kHalf).empty());
}
