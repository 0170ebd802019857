// SPDX-License-Identifier: MIT
// What every sampling of the course must hold, whatever its kernel: one call per variant in a stage's test.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/operations/sampling/check.hpp"
#include "common/operations/topk/inputs.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/launcher.hpp"
#include "common/runner/tensors.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/outcome.hpp"

namespace testing::sampling {

using operations::sampling::Kind;
using operations::sampling::kind_of;
using operations::sampling::Options;
using operations::sampling::Shape;
using runner::DType;
using runner::Variant;

// What a variant draws from these rows. probabilities: empty where it does not tell them.
struct SampleResult {
    std::vector<double> columns;
    std::vector<double> probabilities;
    runner::Report report;  // against the reference
};

inline SampleResult result_of(const Variant& variant, const runner::Tensors& inputs,
                              const Shape& shape, DType dtype = DType::float32) {
    const Outcome outcome = outcome_of(variant, inputs, shape, dtype);
    const bool tells_all = kind_of(*variant.operation) == Kind::sample_token_with_probability;
    return {outcome.outputs.values("column"),
            tells_all ? outcome.outputs.values("probability") : std::vector<double>(),
            outcome.report};
}

inline SampleResult result_of(const Variant& variant, const std::vector<double>& x,
                              const Shape& shape, DType dtype = DType::float32) {
    return result_of(variant, inputs_with(*variant.operation, shape, dtype, x, 1), shape, dtype);
}

inline bool takes(const Variant& variant, const Shape& shape, DType dtype = DType::float32) {
    return obstacle_of(variant, shape, dtype).empty();
}

// Each cut alone and all together, those of them that the variant takes.
inline std::vector<Options> options_for(const Variant& variant) {
    std::vector<Options> taken;
    for (const Options& options : std::initializer_list<Options>{{1, 0, 1, 0, 11},
                                                                 {0, 0, 1, 0, 12},
                                                                 {0.6, 0, 1, 0, 13},
                                                                 {1, 1, 1, 0, 14},
                                                                 {0.8, 40, 1, 0, 15},
                                                                 {1, 0, 0.9, 0, 16},
                                                                 {1.3, 0, 0.6, 0, 17},
                                                                 {1, 0, 1, 0.02, 18},
                                                                 {1, 2000, 0.999, 0, 19},
                                                                 {0.9, 1024, 0.95, 0.01, 20},
                                                                 {5, 30, 0.3, 0.9, 21}}) {
        if (takes(variant, {1, 33, options})) taken.push_back(options);
    }
    return taken;
}

// Every named input, at rows shorter than a warp and longer than a list, with each of the cuts in turn.
inline void matches_reference_on_named_inputs(const Variant& variant, DType dtype) {
    const std::vector<Options> all = options_for(variant);
    size_t number = 0;
    for (const auto& [rows, cols] :
         {std::pair<int64_t, int64_t>{5, 1}, {5, 7}, {5, 33}, {3, 1025}, {1, 4100}}) {
        for (const runner::NamedInput& input : variant.operation->inputs())
            matches_reference_where_taken(variant, input.name,
                                          Shape(rows, cols, all[number++ % all.size()]), dtype);
    }
    if (dtype != variant.dtypes.front())
        return;  // long rows are read by the same loops in every type
    for (const Options& options : all)
        matches_reference_where_taken(variant, number++ % 2 == 0 ? "peaked" : "ties",
                                      Shape(1, 20011, options), dtype);
}

// No column where there is no distribution; never one whose probability is 0.
inline void knows_special_rows(const Variant& variant, DType dtype) {
    constexpr int64_t kCols = 50;
    for (const Options& options : options_for(variant)) {
        const Shape shape(7, kCols, options);
        std::vector<double> x(7 * kCols, 1);
        const auto at = [&](int64_t row, int64_t col) -> double& {
            return x[static_cast<size_t>(row * kCols + col)];
        };
        at(0, 17) = NAN;
        at(1, 0) = INFINITY;
        at(2, 49) = -NAN;
        at(2, 3) = INFINITY;
        for (int64_t col = 0; col < kCols; ++col) {
            at(3, col) = at(4, col) = at(5, col) = -INFINITY;
            at(6, col) = -4000;  // of which none is negligible beside another
        }
        at(4, 31) = -60000;  // alone
        at(5, 2) = at(5, 40) = 3;
        const SampleResult result = result_of(variant, x, shape, dtype);
        INFO(text_of(runner::Shape(shape)) << ": " << describe(result.report));
        CHECK(result.report.good());
        for (size_t row = 0; row < 4; ++row) CHECK(result.columns[row] == -1);
        CHECK(result.columns[4] == 31);
        CHECK((result.columns[5] == 2 || result.columns[5] == 40));
        CHECK(result.columns[6] >= 0);
        if (result.probabilities.empty()) continue;
        for (size_t row = 0; row < 4; ++row) CHECK(std::isnan(result.probabilities[row]));
        CHECK(result.probabilities[4] == 1);
    }
}

// The same seed gives the same columns, another one others; so do other rows of the same elements.
inline void depends_on_seed_and_row(const Variant& variant) {
    Shape shape(64, 200);  // all columns alike
    const std::vector<double> x(64 * 200, 0.5);
    shape.options.seed = 5;
    const std::vector<double> once = result_of(variant, x, shape).columns;
    CHECK(once == result_of(variant, x, shape).columns);
    shape.options.seed = 5 + (uint64_t{1} << 32);  // the upper half counts, too
    const std::vector<double> other = result_of(variant, x, shape).columns;
    int equal = 0;
    for (size_t row = 0; row < 64; ++row) equal += once[row] == other[row];
    CHECK(equal < 8);
    std::vector<double> sorted = once;
    std::sort(sorted.begin(), sorted.end());
    CHECK(std::unique(sorted.begin(), sorted.end()) - sorted.begin() > 32);
}

// ---- the distribution of many draws

// How often each column was drawn.
struct Draws {
    std::vector<double> of_column;
    double all = 0;
};

// From rows that are all alike, with some seeds.
inline Draws draws_of(const Variant& variant, const std::vector<double>& row, Options options,
                      int64_t rows_at_once, int seeds) {
    std::vector<double> x;
    for (int64_t i = 0; i < rows_at_once; ++i) x.insert(x.end(), row.begin(), row.end());
    Draws draws{std::vector<double>(row.size()), 0};
    const auto cols = static_cast<int64_t>(row.size());
    const runner::Tensors inputs =
        inputs_with(*variant.operation, Shape(rows_at_once, cols), DType::float32, x, 1);
    for (int seed = 0; seed < seeds; ++seed) {
        options.seed = 1000 + static_cast<uint64_t>(seed);
        const Shape shape(rows_at_once, cols, options);
        runner::Tensors outputs =
            poisoned_outputs(*variant.operation, shape, DType::float32, inputs.view());
        runner::Launcher(variant, shape, DType::float32, inputs.view(), outputs.view())();
        runner::check_cuda(cudaDeviceSynchronize(), "running " + variant.name);
        for (const double col : outputs.values("column")) {
            if (col < 0) FAIL("no column was drawn");
            ++draws.of_column.at(static_cast<size_t>(col));
            ++draws.all;
        }
    }
    return draws;
}

// Pearson's chi-square, and what it exceeds by chance once in 10^9 times (Wilson and Hilferty's approximation:
// its cube root is nearly normal). Infinite where something was drawn that has no probability.
struct ChiSquare {
    double found = 0;
    double limit = 0;
    bool good() const { return found <= limit; }
};
inline ChiSquare chi_square(const Draws& draws, const std::vector<double>& distribution) {
    constexpr double kLeastExpected = 10;
    ChiSquare chi;
    double bins = 0, rare_expected = 0, rare_found = 0;
    const auto add = [&](double expected, double found) {
        chi.found += (found - expected) * (found - expected) / expected;
        ++bins;
    };
    for (size_t col = 0; col < distribution.size(); ++col) {
        const double expected = distribution[col] * draws.all, found = draws.of_column[col];
        if (expected == 0 && found > 0) return {INFINITY, 0};
        if (expected >= kLeastExpected) {
            add(expected, found);
        } else {  // rare columns together
            rare_expected += expected;
            rare_found += found;
        }
    }
    if (rare_expected >= kLeastExpected) add(rare_expected, rare_found);
    const double freedom = std::max(bins - 1, 1.);
    constexpr double kOnceInABillion = 6;  // standard deviations
    const double spread = 2 / (9 * freedom);
    chi.limit = freedom * std::pow(1 - spread + kOnceInABillion * std::sqrt(spread), 3);
    return chi;
}

// 2 % of all draws more for one of the columns, 2 % less for another: those that have least, but enough.
inline std::vector<double> off_by_two_percent(std::vector<double> distribution) {
    std::vector<size_t> order;
    for (size_t col = 0; col < distribution.size(); ++col) {
        if (distribution[col] > 0.02) order.push_back(col);
    }
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return distribution[a] < distribution[b]; });
    REQUIRE(order.size() >= 2);
    distribution[order[0]] -= 0.02;
    distribution[order[1]] += 0.02;
    return distribution;
}

// Of a small row of so many columns. And that the test can tell: the same draws are not those of a distribution that
// is 2 % off. draws: enough for that, on the CPU device; a GPU makes ten times as many.
inline void follows_the_distribution(const Variant& variant, int64_t cols, const Options& options,
                                     int64_t draws) {
    std::vector<double> row;
    for (int64_t col = 0; col < cols; ++col) {
        const auto at = static_cast<float>(col);
        row.push_back(std::sin(3 * at) - 0.03f * at);
    }
    row[1] = row[2];  // a tie
    const std::vector<double> distribution = operations::sampling::distribution_of(row, options);
    constexpr int kSeeds = 8;
    const int64_t rows = draws * (runner::on_gpu() ? 10 : 1) / kSeeds;
    const Draws drawn = draws_of(variant, row, options, rows, kSeeds);
    INFO(variant.name << ", " << text_of(runner::Shape(Shape(1, cols, options))));
    const ChiSquare chi = chi_square(drawn, distribution);
    INFO(chi.found << ", may be " << chi.limit);
    CHECK(chi.good());
    const ChiSquare off = chi_square(drawn, off_by_two_percent(distribution));
    INFO("of one that is 2 % off: " << off.found);
    CHECK_FALSE(off.good());
}

inline void holds_every_sampling_property(const Variant& variant) {
    INFO(variant.name);
    for (const DType dtype : variant.dtypes) {
        INFO(name_of(dtype));
        matches_reference_on_named_inputs(variant, dtype);
        knows_special_rows(variant, dtype);
    }
    depends_on_seed_and_row(variant);
}

}  // namespace testing::sampling
