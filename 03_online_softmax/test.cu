// SPDX-License-Identifier: MIT
#include <algorithm>
#include <random>

#include "common/operations/softmax/properties.hpp"
#include "common/runner/build_info.hpp"
#include "further/split_row.cuh"

runner::Stage describe_03_online_softmax();

namespace {

using online_softmax::lift;
using online_softmax::Merge;
using online_softmax::Normalizer;

bool invalid(Normalizer set) {
    return std::isnan(set.d);
}

Normalizer single(float x) {
    const float one[] = {x};
    return lift(one);
}

// Equal up to the rounding of `merges` merges; sets with a NaN are all alike.
bool alike(Normalizer a, Normalizer b, int merges) {
    if (invalid(a) || invalid(b)) return invalid(a) && invalid(b);
    return a.m == b.m &&
           (a.d == b.d || std::fabs(a.d - b.d) <= 0x1p-22 * merges * std::max(a.d, b.d));
}

// Merges sets[first .. last) in a random binary tree.
Normalizer merge_at_random(const std::vector<Normalizer>& sets, size_t first, size_t last,
                           std::mt19937& random) {
    if (last - first == 1) return sets[first];
    const size_t middle = first + 1 + random() % (last - first - 1);
    return Merge{}(merge_at_random(sets, first, middle, random),
                   merge_at_random(sets, middle, last, random));
}

std::vector<Normalizer> lifted(operations::softmax::Input input, int64_t count, uint64_t seed) {
    std::vector<Normalizer> sets;
    for (const float x : testing::named_values(input, {1, count}, seed)) sets.push_back(single(x));
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
    for (const operations::softmax::Input input : operations::softmax::all_inputs()) {
        for (uint64_t seed = 0; seed < 20; ++seed) {
            const int64_t count = 1 + static_cast<int64_t>(random() % 300);
            std::vector<Normalizer> sets = lifted(input, count, seed);
            const Normalizer one_way = merge_at_random(sets, 0, sets.size(), random);
            std::shuffle(sets.begin(), sets.end(), random);
            const Normalizer another = merge_at_random(sets, 0, sets.size(), random);
            INFO(name_of(input) << ", " << count << " elements, seed " << seed);
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
        {0.f, 1.f},  {1.f, 1.f},           {1.f, 5.f},   {-1000.f, 2.f}, {-INFINITY, 0.f},
        {88.f, 3.f}, {INFINITY, INFINITY}, {3e38f, 1.f}, {-3e38f, 1.f},  {0.5f, 1e30f}};
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
            lifted(operations::softmax::Input::masked, 50, static_cast<uint64_t>(round));
        sets[random() % sets.size()] = single(INFINITY);
        const Normalizer infinite = merge_at_random(sets, 0, sets.size(), random);
        CHECK(infinite.m == INFINITY);
        CHECK(infinite.d == INFINITY);
        sets[random() % sets.size()] = single(NAN);
        CHECK(invalid(merge_at_random(sets, 0, sets.size(), random)));
    }
}

TEST_CASE("a set of several elements is the merge of its elements, whatever they are") {
    std::mt19937 random(5);
    for (const operations::softmax::Input input : operations::softmax::all_inputs()) {
        for (uint64_t seed = 0; seed < 20; ++seed) {
            std::vector<float> values = testing::named_values(input, {1, 8}, seed);
            if (seed == 1) values[random() % 8] = INFINITY;
            if (seed == 2) values[random() % 8] = NAN;
            if (seed == 3) std::fill(values.begin(), values.end(), -INFINITY);
            float eight[8];
            std::copy(values.begin(), values.end(), eight);
            Normalizer merged{-INFINITY, 0.f};
            for (const float x : values) merged = Merge{}(merged, single(x));
            INFO(name_of(input) << ", seed " << seed);
            CHECK(alike(lift(eight), merged, 8));
        }
    }
}

TEST_CASE("rows are cut so that slices cover them and all blocks of a launch fit on the GPU") {
    int multiprocessors = 0;
    REQUIRE(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0) ==
            cudaSuccess);
    for (const int64_t rows : {1, 2, 10, 100, 263, 264, 265, 70000}) {
        for (const int64_t cols :
             {int64_t{1}, int64_t{255}, int64_t{4096}, int64_t{4097}, int64_t{32000},
              int64_t{65537}, int64_t{128256}, int64_t{131073}, int64_t{1} << 33}) {
            const online_softmax::Split cut = online_softmax::split(rows, cols);
            INFO(rows << " x " << cols);
            CHECK(cut.blocks >= 1);
            CHECK(cut.rows_at_once >= 1);
            CHECK(cut.blocks * cut.slice_cols >= cols);
            CHECK((cut.blocks - 1) * cut.slice_cols < cols);  // no empty slice
            const size_t scratch = online_softmax::split_row_workspace_bytes(rows, cols);
            switch (cut.wait) {
                case online_softmax::Wait::cluster:
                    CHECK(cut.blocks <= online_softmax::largest_cluster());
                    CHECK(cut.slice_cols <= online_softmax::kClusterHeld * cut.threads);
                    CHECK(scratch == 0);
                    break;
                case online_softmax::Wait::grid:
                    CHECK(cut.blocks > 1);
                    CHECK(cut.blocks * cut.rows_at_once <= 2 * multiprocessors);
                    CHECK(scratch ==
                          static_cast<size_t>(std::min(rows, cut.rows_at_once) * cut.blocks) *
                              sizeof(Normalizer));
                    break;
                case online_softmax::Wait::nobody:
                    CHECK(cut.blocks == 1);
                    CHECK(scratch == 0);
                    break;
            }
        }
    }
}

// Three ways of sharing a row, a cluster of small blocks, one of large blocks, and a whole grid; each
// by single elements and by packs of four.
TEST_CASE("split_row agrees with one block per row where rows are really split") {
    const std::vector<runner::Variant> variants = describe_03_online_softmax().variants;
    for (const testing::Shape shape :
         {testing::Shape{2, 20011}, testing::Shape{2, 20012}, testing::Shape{2, 70001},
          testing::Shape{2, 70004}, testing::Shape{1, 140003}, testing::Shape{1, 140004}}) {
        const online_softmax::Split cut = online_softmax::split(shape.rows, shape.cols);
        REQUIRE(cut.blocks >= 5);
        const bool fits_cluster =
            shape.cols <= online_softmax::largest_cluster() * online_softmax::kClusterHeld * 512;
        REQUIRE(cut.wait ==
                (fits_cluster ? online_softmax::Wait::cluster : online_softmax::Wait::grid));
        for (const operations::softmax::Input input :
             {operations::softmax::Input::normal, operations::softmax::Input::masked_slice,
              operations::softmax::Input::spike}) {
            const std::vector<float> values = testing::named_values(input, shape);
            const std::vector<float> split = testing::result_of(variants.at(1), values, shape);
            const std::vector<float> whole = testing::result_of(variants.at(0), values, shape);
            testing::expect_good(variants.at(1), values, split, shape);
            const operations::softmax::Result theirs{
                whole.data(), testing::rules_of(variants.at(0), shape, runner::DType::float32)};
            const runner::Report report = operations::softmax::check_on_host(
                values.data(), shape,
                {split.data(), testing::rules_of(variants.at(1), shape, runner::DType::float32)},
                &theirs);
            INFO(shape.cols << " columns: " << runner::describe(report));
            CHECK(report.good());
        }
    }
}

// Each block keeps so much that registers, shared memory and a second read all take part; more rows
// than one launch takes; and so many that a row gets one block.
TEST_CASE("split_row keeps a slice in registers and in shared memory, and reads the rest again") {
    if (runner::build_info().backend != "cuda") return;  // minutes of work without a GPU
    const runner::Variant split_row = describe_03_online_softmax().variants.at(1);
    testing::holds_where_it_fits(split_row, {60, 300007});
    testing::holds_where_it_fits(split_row, {170, 140003});
    testing::holds_where_it_fits(split_row, {300, 140003});
}

TEST_CASE("special rows come out as they should where blocks share them") {
    const runner::Variant split_row = describe_03_online_softmax().variants.at(1);
    for (const int64_t cols : {20011, 140003})
        testing::contains_special_rows<float>(split_row, cols);
}

TEST_CASE("split_row refuses a workspace that is too small, and needs none for clusters") {
    const testing::Shape shape{1, 140003};
    const size_t needed = online_softmax::split_row_workspace_bytes(shape.rows, shape.cols);
    REQUIRE(needed > 0);
    runner::DeviceBuffer<float> x(testing::named_values(operations::softmax::Input::normal, shape));
    runner::DeviceBuffer<unsigned char> scratch(needed);
    CHECK(online_softmax::split_row(x.data(), x.data(), shape.rows, shape.cols, scratch.data(),
                                    needed - 1, nullptr) == cudaErrorInvalidValue);
    CHECK(online_softmax::split_row(x.data(), x.data(), shape.rows, shape.cols, nullptr, needed,
                                    nullptr) == cudaErrorInvalidValue);
    if (online_softmax::largest_cluster() >= 2) {
        CHECK(online_softmax::split_row(x.data(), x.data(), 1, 5000, nullptr, 0, nullptr) ==
              cudaSuccess);
    }
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("03 takes more elements and more rows than 32 bits count", "[.huge]") {
    for (const runner::Variant& variant : describe_03_online_softmax().variants) {
        INFO(variant.name);
        testing::holds_where_it_fits(variant, {3, (int64_t{1} << 30) - 1});
    }
    testing::holds_where_it_fits(describe_03_online_softmax().variants.at(0),
                                 {(int64_t{1} << 31) + 5, 1});
}
