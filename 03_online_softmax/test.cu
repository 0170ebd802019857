// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

#include "common/operations/softmax/properties.hpp"
#include "further/batched.cuh"
#include "further/split_row.cuh"
#include "further/split_vocabulary.cuh"

runner::Stage describe_03_online_softmax();

namespace {

using online_softmax::Merge;
using online_softmax::Normalizer;

bool invalid(Normalizer set) {
    return std::isnan(set.d);
}

Normalizer single(float x) {
    return {x, 1.f};
}

runner::Variant variant_of_03(const std::string& name) {
    for (const runner::Variant& variant : describe_03_online_softmax().variants) {
        if (variant.name == name) return variant;
    }
    throw std::out_of_range(name);
}

// True if two sets are equal up to the rounding of `merges` merges. All sets with a NaN are alike.
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

std::vector<Normalizer> singles(operations::softmax::Input input, int64_t count, uint64_t seed) {
    std::vector<Normalizer> sets;
    for (const float x : testing::named_values(input, {1, count}, seed)) sets.push_back(single(x));
    return sets;
}

}  // namespace

TEST_CASE("every variant of 03 has the properties of its operation") {
    for (const runner::Variant& variant : describe_03_online_softmax().variants)
        testing::holds_every_property(variant);
}

TEST_CASE(
    "merging (m, d) pairs is associative and commutative: any tree over any order gives the same") {
    std::mt19937 random(3);
    for (const operations::softmax::Input input : operations::softmax::all_inputs()) {
        for (uint64_t seed = 0; seed < 20; ++seed) {
            const int64_t count = 1 + static_cast<int64_t>(random() % 300);
            std::vector<Normalizer> sets = singles(input, count, seed);
            const Normalizer one_way = merge_at_random(sets, 0, sets.size(), random);
            std::shuffle(sets.begin(), sets.end(), random);
            const Normalizer another = merge_at_random(sets, 0, sets.size(), random);
            INFO(name_of(input) << ", " << count << " elements, seed " << seed);
            CHECK(alike(one_way, another, static_cast<int>(count)));

            if (one_way.m == -INFINITY || invalid(one_way)) continue;
            double sum = 0;
            for (const Normalizer& set : sets) sum += std::exp(double{set.m} - one_way.m);
            CHECK(std::fabs(one_way.d - sum) <= 0x1p-22 * static_cast<double>(count) * sum);
        }
    }
}

TEST_CASE("merging commutes to the last bit, and {-inf, 0} is neutral to the last bit") {
    const std::vector<Normalizer> samples = {
        {0.f, 1.f},  {1.f, 1.f},   {1.f, 5.f},   {-1000.f, 2.f}, {-INFINITY, 0.f},
        {88.f, 3.f}, {-60.f, 7.f}, {3e38f, 1.f}, {-3e38f, 1.f},  {0.5f, 1e30f}};
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

TEST_CASE("a NaN or +inf makes d NaN in the first merge, and d stays NaN in all others") {
    std::mt19937 random(4);
    for (const float trouble : {NAN, INFINITY}) {
        CHECK(invalid(Merge{}({-INFINITY, 0.f}, single(trouble))));  // the first merge of a thread
        for (int round = 0; round < 200; ++round) {
            std::vector<Normalizer> sets =
                singles(operations::softmax::Input::masked, 50, static_cast<uint64_t>(round));
            sets[random() % sets.size()] = single(trouble);
            CHECK(invalid(merge_at_random(sets, 0, sets.size(), random)));
        }
    }
}

TEST_CASE("masked elements add nothing, alone or beside others") {
    const Normalizer masked = Merge{}(single(-INFINITY), single(-INFINITY));
    CHECK(masked.m == -INFINITY);
    CHECK(masked.d == 0.f);
    const Normalizer both = Merge{}(single(-INFINITY), {-1000.f, 3.f});
    CHECK(both.m == -1000.f);
    CHECK(both.d == 3.f);
}

TEST_CASE("a batch merges into a set as its elements do, except +inf, which stays infinite") {
    using online_softmax::merge_batch;
    std::mt19937 random(5);
    for (const operations::softmax::Input input : operations::softmax::all_inputs()) {
        for (uint64_t seed = 0; seed < 20; ++seed) {
            std::vector<float> values = testing::named_values(input, {1, 16}, seed);
            if (seed == 1) values[random() % 16] = NAN;
            if (seed == 2) std::fill(values.begin(), values.end(), -INFINITY);
            if (seed == 3) std::fill(values.begin(), values.begin() + 8, -INFINITY);
            const bool has_nan =
                std::any_of(values.begin(), values.end(), [](float x) { return std::isnan(x); });
            float first[8], second[8];
            std::copy(values.begin(), values.begin() + 8, first);
            std::copy(values.begin() + 8, values.end(), second);
            Normalizer merged{-INFINITY, 0.f};
            for (const float x : values) merged = Merge{}(merged, single(x));
            const Normalizer by_batches = merge_batch(merge_batch({-INFINITY, 0.f}, first), second);
            INFO(name_of(input) << ", seed " << seed);
            CHECK(alike(by_batches, merged, 16));

            first[random() % 8] = INFINITY;
            const Normalizer infinite = merge_batch(merge_batch({-INFINITY, 0.f}, first), second);
            CHECK(infinite.m == INFINITY);
            CHECK((infinite.d == INFINITY || (has_nan && invalid(infinite))));
        }
    }
}

TEST_CASE("slices cover a row, none is empty, and the workspace has a pair for each") {
    for (const int64_t cols :
         {int64_t{1}, int64_t{255}, int64_t{4096}, int64_t{4097}, int64_t{32000}, int64_t{262144},
          int64_t{262145}, int64_t{1000003}, int64_t{1} << 33, INT64_MAX}) {
        const int64_t slices = online_softmax::slices_for(cols);
        const int64_t slice_cols = online_softmax::slice_cols_for(cols);
        INFO(cols << " columns");
        CHECK(slices >= 1);
        CHECK(slices <= 64);
        CHECK(slice_cols >= 4096);
        CHECK(slice_cols % 32 == 0);
        CHECK((slices - 1) * slice_cols < cols);
        CHECK(slice_cols >= cols - (slices - 1) * slice_cols);
        for (const int64_t rows : {int64_t{1}, int64_t{10}, int64_t{65535}, int64_t{1} << 40}) {
            CHECK(online_softmax::split_row_workspace_bytes(rows, cols) ==
                  static_cast<size_t>(std::min<int64_t>(rows, 65535) * slices) *
                      sizeof(Normalizer));
        }
    }
}

TEST_CASE("split_row agrees with one block per row, for one slice or many, whole or not") {
    const runner::Variant split_row = variant_of_03("split_row");
    const runner::Variant block_per_row = variant_of_03("block_per_row");
    for (const testing::Shape shape :
         {testing::Shape{3, 4096}, testing::Shape{3, 4097}, testing::Shape{2, 8192},
          testing::Shape{2, 70001}, testing::Shape{1, 262144}, testing::Shape{1, 270001}}) {
        for (const operations::softmax::Input input :
             {operations::softmax::Input::normal, operations::softmax::Input::masked_slice,
              operations::softmax::Input::spike}) {
            const std::vector<float> values = testing::named_values(input, shape);
            const std::vector<float> split = testing::result_of(split_row, values, shape);
            const std::vector<float> whole = testing::result_of(block_per_row, values, shape);
            const operations::softmax::Result theirs{
                whole.data(), testing::rules_of(block_per_row, shape, runner::DType::float32)};
            const runner::Report report = operations::softmax::check_on_host(
                values.data(), shape,
                {split.data(), testing::rules_of(split_row, shape, runner::DType::float32)},
                &theirs);
            INFO(shape.cols << " columns: " << runner::describe(report));
            CHECK(report.good());
        }
    }
}

TEST_CASE("split_row handles special rows, and a slice that is all masked") {
    const runner::Variant split_row = variant_of_03("split_row");
    for (const int64_t cols : {4097, 20011}) testing::contains_special_rows<float>(split_row, cols);
    const testing::Shape shape{1, 3 * 4096 + 5};
    std::vector<float> values = testing::named_values(operations::softmax::Input::normal, shape);
    std::fill(values.begin() + 4096, values.begin() + 2 * 4096, -INFINITY);
    testing::expect_good(split_row, values, testing::result_of(split_row, values, shape), shape);
}

TEST_CASE("split_row refuses a missing or small workspace, and writes nothing beyond it") {
    const testing::Shape shape{2, 9000};
    const size_t needed = online_softmax::split_row_workspace_bytes(shape.rows, shape.cols);
    REQUIRE(needed == 2 * 3 * sizeof(Normalizer));
    const std::vector<float> values =
        testing::named_values(operations::softmax::Input::normal, shape);
    runner::DeviceBuffer<float> x(values);
    runner::DeviceBuffer<float> y(values.size());
    runner::DeviceBuffer<unsigned char> scratch(std::vector<unsigned char>(needed + 8, 0x5a));
    const auto status = [&](void* workspace, size_t bytes) {
        return online_softmax::split_row(x.data(), y.data(), shape.rows, shape.cols, workspace,
                                         bytes, nullptr);
    };
    CHECK(status(scratch.data(), needed - 1) == cudaErrorInvalidValue);
    CHECK(status(nullptr, needed) == cudaErrorInvalidValue);
    CHECK(status(scratch.data(), needed) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    testing::expect_good(variant_of_03("split_row"), values, y.download(), shape);
    const std::vector<unsigned char> bytes = scratch.download();
    CHECK(std::all_of(bytes.end() - 8, bytes.end(), [](unsigned char b) { return b == 0x5a; }));
}

TEST_CASE("03 takes more elements and more rows than 32 bits can count", "[.huge]") {
    for (const runner::Variant& variant : describe_03_online_softmax().variants) {
        INFO(variant.name);
        testing::holds_where_it_fits(variant, {3, (int64_t{1} << 30) - 1});
    }
    testing::holds_where_it_fits(variant_of_03("block_per_row"), {(int64_t{1} << 31) + 5, 1});
}

// ---------------------------------------------------------------- a vocabulary on several GPUs

namespace {

// The columns of rows as they lie on several ranks: here the memory of one device.
class Slices {
public:
    Slices(const std::vector<float>& x, int64_t rows, const std::vector<int64_t>& widths)
        : rows_(rows) {
        int64_t cols = 0, first = 0;
        for (const int64_t width : widths) cols += width;
        for (const int64_t width : widths) {
            std::vector<float> slice;
            for (int64_t row = 0; row < rows; ++row)
                slice.insert(slice.end(), x.begin() + row * cols + first,
                             x.begin() + row * cols + first + width);
            widths_.push_back(width);
            firsts_.push_back(first);
            x_.emplace_back(slice);
            y_.emplace_back(slice.size());
            first += width;
        }
    }
    int ranks() const { return static_cast<int>(widths_.size()); }

    // The softmax of whole rows, of every rank's results. stores: each rank stores its pairs at all, as if each had memory
    // of its own; otherwise the exchange is a copy.
    std::vector<float> softmax(bool stores) {
        const int count = ranks();
        const auto places = static_cast<size_t>(rows_ * count);
        std::vector<runner::DeviceBuffer<Normalizer>> of_ranks;
        online_softmax::EveryRank<Normalizer> everywhere{{}, count};
        for (int r = 0; r < count; ++r) {
            of_ranks.emplace_back(places);
            everywhere.to[r] = of_ranks.back().data();
        }
        for (int r = 0; r < count; ++r) {
            const auto at = static_cast<size_t>(r);
            if (stores) {
                CHECK(online_softmax::pairs_to_ranks(x_[at].data(), everywhere, r, rows_,
                                                     widths_[at], nullptr) == cudaSuccess);
                continue;
            }
            CHECK(online_softmax::slice_pairs(x_[at].data(), everywhere.to[0] + r * rows_, rows_,
                                              widths_[at], nullptr) == cudaSuccess);
        }
        std::vector<float> whole;
        std::vector<std::vector<float>> slices;
        for (int r = 0; r < count; ++r) {
            const auto at = static_cast<size_t>(r);
            CHECK(online_softmax::slice_softmax(x_[at].data(), y_[at].data(),
                                                everywhere.to[stores ? r : 0], count, rows_,
                                                widths_[at], nullptr) == cudaSuccess);
            slices.push_back(y_[at].download());
            y_[at].poison();
        }
        for (int64_t row = 0; row < rows_; ++row)
            for (size_t r = 0; r < slices.size(); ++r)
                whole.insert(whole.end(), slices[r].begin() + row * widths_[r],
                             slices[r].begin() + (row + 1) * widths_[r]);
        return whole;
    }

    std::vector<float> losses(const std::vector<int64_t>& targets) {
        const runner::DeviceBuffer<int64_t> on_device(targets);
        runner::DeviceBuffer<online_softmax::LossPart> parts(static_cast<size_t>(rows_ * ranks()));
        runner::DeviceBuffer<float> loss(static_cast<size_t>(rows_));
        for (int r = 0; r < ranks(); ++r) {
            const auto at = static_cast<size_t>(r);
            CHECK(online_softmax::slice_loss_parts(x_[at].data(), on_device.data(),
                                                   parts.data() + r * rows_, rows_, firsts_[at],
                                                   widths_[at], nullptr) == cudaSuccess);
        }
        CHECK(online_softmax::loss_of_parts(parts.data(), ranks(), loss.data(), rows_, nullptr) ==
              cudaSuccess);
        return loss.download();
    }

private:
    int64_t rows_;
    std::vector<int64_t> widths_, firsts_;
    std::vector<runner::DeviceBuffer<float>> x_, y_;
};

}  // namespace

TEST_CASE(
    "a softmax over slices on several ranks is that of whole rows, whoever exchanges the pairs") {
    const runner::Variant block_per_row = variant_of_03("block_per_row");
    for (const std::vector<int64_t>& widths :
         {std::vector<int64_t>{1000}, {500, 500}, {1, 998, 1}, {300, 0, 331, 369}}) {
        for (const operations::softmax::Input input : operations::softmax::all_inputs()) {
            const testing::Shape shape{5, 1000};
            const std::vector<float> x = testing::named_values(input, shape);
            Slices slices(x, shape.rows, widths);
            const std::vector<float> y = slices.softmax(false);
            const runner::Report report = operations::softmax::check_on_host(
                x.data(), shape,
                {y.data(), testing::rules_of(block_per_row, shape, runner::DType::float32)});
            INFO(name_of(input) << " on " << widths.size()
                                << " ranks: " << runner::describe(report));
            CHECK(report.good());
            CHECK(std::memcmp(y.data(), slices.softmax(true).data(), y.size() * sizeof(float)) ==
                  0);
        }
    }
}

TEST_CASE("a loss over slices takes the target's logit from the rank that has it") {
    constexpr int64_t kRows = 6, kCols = 700;
    const std::vector<float> x =
        testing::named_values(operations::softmax::Input::normal, {kRows, kCols});
    const std::vector<int64_t> targets{0, 699, 299, 300, 350, 631};
    const std::vector<float> losses = Slices(x, kRows, {300, 0, 331, 69}).losses(targets);
    for (size_t row = 0; row < targets.size(); ++row) {
        double sum = 0;
        const float* const of_row = x.data() + row * kCols;
        for (int64_t col = 0; col < kCols; ++col) sum += std::exp(double{of_row[col]});
        CHECK(std::fabs(losses[row] - (std::log(sum) - of_row[targets[row]])) < 1e-5);
    }
}

TEST_CASE("slices refuse what they cannot do") {
    runner::DeviceBuffer<float> x(8);
    runner::DeviceBuffer<Normalizer> pairs(8);
    const runner::DeviceBuffer<int64_t> targets(std::vector<int64_t>{0, 1});
    runner::DeviceBuffer<online_softmax::LossPart> parts(8);
    CHECK(online_softmax::slice_pairs(nullptr, pairs.data(), 2, 4, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(online_softmax::slice_pairs(x.data(), nullptr, 2, 4, nullptr) == cudaErrorInvalidValue);
    CHECK(online_softmax::slice_pairs(x.data(), pairs.data(), -1, 4, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(online_softmax::slice_softmax(x.data(), x.data(), pairs.data(), 0, 2, 4, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(online_softmax::slice_softmax(x.data(), x.data(), pairs.data(),
                                        online_softmax::kMostRanks + 1, 2, 4,
                                        nullptr) == cudaErrorInvalidValue);
    CHECK(online_softmax::slice_softmax(x.data(), nullptr, pairs.data(), 2, 2, 4, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(online_softmax::slice_loss_parts(x.data(), nullptr, parts.data(), 2, 0, 4, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(online_softmax::loss_of_parts(parts.data(), 2, nullptr, 2, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(online_softmax::pairs_to_ranks(x.data(), {{pairs.data(), nullptr}, 2}, 0, 2, 4,
                                         nullptr) == cudaErrorInvalidValue);
    CHECK(online_softmax::slice_pairs(nullptr, nullptr, 0, 4, nullptr) == cudaSuccess);
}
