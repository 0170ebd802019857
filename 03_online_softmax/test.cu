// SPDX-License-Identifier: MIT
#include <algorithm>
#include <random>

#include "common/runner/build_info.hpp"
#include "common/testing/softmax_properties.hpp"
#include "further/split_row.cuh"

runner::Stage describe_03_online_softmax();

namespace {

using online_softmax::lift;
using online_softmax::Merge;
using online_softmax::Normalizer;

bool invalid(Normalizer set) {
    return std::isnan(set.d) || std::isnan(set.m);
}

// Equal up to the rounding of `merges` merges; sets with a NaN are all alike.
bool alike(Normalizer a, Normalizer b, int merges) {
    if (invalid(a) || invalid(b)) return invalid(a) && invalid(b);
    return a.m == b.m && std::fabs(a.d - b.d) <= 0x1p-22 * merges * std::max(a.d, b.d);
}

// Merges sets[first .. last) in a random binary tree.
Normalizer merge_at_random(const std::vector<Normalizer>& sets, size_t first, size_t last,
                           std::mt19937& random) {
    if (last - first == 1) return sets[first];
    const size_t middle = first + 1 + random() % (last - first - 1);
    return Merge{}(merge_at_random(sets, first, middle, random),
                   merge_at_random(sets, middle, last, random));
}

std::vector<Normalizer> lifted(runner::Input input, int64_t count, uint64_t seed) {
    std::vector<Normalizer> sets;
    for (const float x : testing::named_values(input, {1, count}, seed)) sets.push_back(lift(x));
    return sets;
}

}  // namespace

TEST_CASE("every variant of 03 is what it says") {
    for (const runner::Variant& variant : describe_03_online_softmax().variants)
        testing::holds_every_property(variant);
}

TEST_CASE(
    "merging (m, d) pairs is associative and commutative: any tree over any order gives the same") {
    std::mt19937 random(3);
    for (const runner::Input input : runner::all_inputs()) {
        for (uint64_t seed = 0; seed < 20; ++seed) {
            const int64_t count = 1 + static_cast<int64_t>(random() % 300);
            std::vector<Normalizer> sets = lifted(input, count, seed);
            const Normalizer one_way = merge_at_random(sets, 0, sets.size(), random);
            std::shuffle(sets.begin(), sets.end(), random);
            const Normalizer another = merge_at_random(sets, 0, sets.size(), random);
            INFO(runner::name_of(input) << ", " << count << " elements, seed " << seed);
            CHECK(alike(one_way, another, static_cast<int>(count)));

            double sum = 0;
            for (const Normalizer& set : sets) sum += set.d * std::exp(double{set.m} - one_way.m);
            if (one_way.m > -INFINITY)
                CHECK(std::fabs(one_way.d - sum) <= 0x1p-22 * static_cast<double>(count) * sum);
        }
    }
}

TEST_CASE("merging commutes to the last bit, and {-inf, 0} is neutral to the last bit") {
    const std::vector<Normalizer> samples = {
        {0.f, 1.f},  {1.f, 1.f},      {1.f, 5.f},   {-1000.f, 2.f}, {-INFINITY, 0.f},
        {88.f, 3.f}, {INFINITY, 1.f}, {3e38f, 1.f}, {-3e38f, 1.f},  {0.5f, 1e30f}};
    const Normalizer neutral{-INFINITY, 0.f};
    for (const Normalizer& a : samples) {
        CHECK(Merge{}(a, neutral).m == a.m);
        CHECK(Merge{}(a, neutral).d == a.d);
        CHECK(Merge{}(neutral, a).m == a.m);
        CHECK(Merge{}(neutral, a).d == a.d);
        for (const Normalizer& b : samples) {
            CHECK(Merge{}(a, b).m == Merge{}(b, a).m);
            CHECK(Merge{}(a, b).d == Merge{}(b, a).d);
        }
    }
}

TEST_CASE("a NaN and a +inf stay visible through every merge") {
    std::mt19937 random(4);
    for (int round = 0; round < 200; ++round) {
        std::vector<Normalizer> sets =
            lifted(runner::Input::masked, 50, static_cast<uint64_t>(round));
        sets[random() % sets.size()] = lift(INFINITY);
        const Normalizer infinite = merge_at_random(sets, 0, sets.size(), random);
        CHECK(infinite.m == INFINITY);
        CHECK(infinite.d == 1.f);
        sets[random() % sets.size()] = lift(NAN);
        CHECK(invalid(merge_at_random(sets, 0, sets.size(), random)));
    }
}

TEST_CASE("rows are cut so that slices cover them and a workspace never exceeds what it must") {
    for (const int64_t rows : {1, 2, 10, 100, 1055, 1056, 1057, 70000}) {
        for (const int64_t cols : {int64_t{1}, int64_t{255}, int64_t{1025}, int64_t{32000},
                                   int64_t{128256}, int64_t{1} << 33}) {
            const online_softmax::Split cut = online_softmax::split(rows, cols);
            INFO(rows << " x " << cols);
            CHECK(cut.slices >= 1);
            CHECK(cut.slices * cut.slice_cols >= cols);
            CHECK((cut.slices - 1) * cut.slice_cols < cols);  // no empty slice
            CHECK((cut.slices == 1 || rows * cut.slices <= 1056));
            CHECK(online_softmax::split_row_workspace_bytes(rows, cols) ==
                  static_cast<size_t>(rows * cut.slices) * sizeof(Normalizer));
        }
    }
}

TEST_CASE("split_row agrees with one block per row where rows are really split") {
    const std::vector<runner::Variant> variants = describe_03_online_softmax().variants;
    for (const runner::Input input :
         {runner::Input::normal, runner::Input::masked_slice, runner::Input::spike}) {
        const testing::Shape shape{2, 70001};
        REQUIRE(online_softmax::split(shape.rows, shape.cols).slices > 30);
        const std::vector<float> values = testing::named_values(input, shape);
        const std::vector<float> split = testing::result_of(variants.at(1), values, shape);
        const std::vector<float> whole = testing::result_of(variants.at(0), values, shape);
        testing::expect_good(variants.at(1), values, split, shape);
        const runner::Result theirs{whole.data(), testing::rules_of(variants.at(0), shape)};
        const runner::Report report = runner::check_on_host(
            values.data(), shape, {split.data(), testing::rules_of(variants.at(1), shape)},
            &theirs);
        INFO(runner::describe(report));
        CHECK(report.good());
    }
}

TEST_CASE("03 takes more elements and more rows than 32 bits count", "[huge]") {
    if (runner::build_info().backend != "cuda") return;  // minutes of work without a GPU
    for (const runner::Variant& variant : describe_03_online_softmax().variants) {
        INFO(variant.name);
        CHECK(testing::takes_huge(variant, {3, (int64_t{1} << 30) - 1}));
    }
    CHECK(testing::takes_huge(describe_03_online_softmax().variants.at(0),
                              {(int64_t{1} << 31) + 5, 1}));
}
