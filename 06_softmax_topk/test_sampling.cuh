// SPDX-License-Identifier: MIT
// Tests of sampling, part of test.cu.
#pragma once
#include "further/sample.cuh"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "common/operations/sampling/draw.cuh"
#include "common/operations/sampling/properties.hpp"
#include "common/runner/attempt.hpp"
#include "common/testing/random_cases.hpp"
#include "common/testing/skip.hpp"

namespace sampling_tests {

using Options = softmax_stages::SampleOptions;
using softmax_topk::sampling::Way;
using Shape = operations::sampling::Shape;

inline runner::Stage sampling_stage() {
    runner::Stage stage = describe_06_softmax_topk();
    std::vector<runner::Variant> of_sampling;
    for (const runner::Variant& variant : stage.variants) {
        if (variant.operation->family() == "sampling") of_sampling.push_back(variant);
    }
    stage.variants = of_sampling;
    return stage;
}
inline runner::Variant variant_named(const std::string& name) {
    for (const runner::Variant& variant : sampling_stage().variants) {
        if (variant.name == name) return variant;
    }
    throw std::out_of_range(name);
}
inline std::vector<double> columns_of(const std::string& name, const std::string& input,
                                      const Shape& shape,
                                      runner::DType dtype = runner::DType::float32) {
    const runner::Variant variant = variant_named(name);
    return testing::sampling::result_of(
               variant, filled_inputs(*variant.operation, shape, dtype, input, 1), shape, dtype)
        .columns;
}

// Returns the columns and probabilities that the front call draws, in the workspace that it asks for or in none.
template <class T>
std::pair<std::vector<int32_t>, std::vector<float>> drawn(const runner::DeviceBuffer<T>& x,
                                                          int64_t rows, int64_t cols,
                                                          const Options& options,
                                                          bool has_workspace) {
    const auto count = static_cast<size_t>(rows);
    runner::DeviceBuffer<int32_t> columns(count);
    runner::DeviceBuffer<float> probabilities(count);
    size_t bytes = 0;
    REQUIRE(softmax_stages::sample_workspace_bytes<T>(&bytes, rows, cols, options) == cudaSuccess);
    if (!has_workspace) bytes = 0;
    runner::DeviceBuffer<unsigned char> workspace(bytes);
    REQUIRE(softmax_stages::sample(x.data(), columns.data(), probabilities.data(), rows, cols,
                                   options, workspace.data(), bytes, nullptr) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    return {columns.download(), probabilities.download()};
}

// The front call on rows of ones, with guards around its outputs.
struct FrontCall {
    FrontCall(int64_t all_rows, int64_t all_cols)
        : rows(all_rows),
          cols(all_cols),
          x(std::vector<float>(static_cast<size_t>(rows * cols), 1.f)),
          columns(std::vector<int64_t>(static_cast<size_t>(rows) + 1, -7)),
          probabilities(std::vector<float>(static_cast<size_t>(rows) + 1, -7.f)) {}
    cudaError_t operator()(const Options& options, void* workspace = nullptr, size_t bytes = 0) {
        return softmax_stages::sample(x.data(), columns.data(), probabilities.data(), rows, cols,
                                      options, workspace, bytes, nullptr);
    }
    std::vector<int64_t> drawn(const Options& options, void* workspace = nullptr,
                               size_t bytes = 0) {
        CHECK((*this)(options, workspace, bytes) == cudaSuccess);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        std::vector<int64_t> found = columns.download();
        CHECK(found.back() == -7);
        CHECK(probabilities.download().back() == -7.f);
        found.pop_back();
        return found;
    }

    int64_t rows, cols;
    runner::DeviceBuffer<float> x;
    runner::DeviceBuffer<int64_t> columns;
    runner::DeviceBuffer<float> probabilities;
};

}  // namespace sampling_tests

TEST_CASE("every way to sample is what it says") {
    for (const runner::Variant& variant : sampling_tests::sampling_stage().variants)
        testing::sampling::holds_every_sampling_property(variant);
}

// Lists and cuts draw the same columns (below), so each cut is counted once.
TEST_CASE("draws from small and odd rows have the right distribution") {
    const auto follows = [](const char* name, int64_t cols, const operations::sampling::Options& o,
                            int64_t draws) {
        testing::sampling::follows_the_distribution(sampling_tests::variant_named(name), cols, o,
                                                    draws);
    };
    follows("sample_whole_row", 37, {}, 8192);
    follows("sample_whole_row", 5, {0.7}, 16384);
    follows("sample_by_cuts", 37, {1.5, 30, 0.9, 0.05}, 8192);
    follows("sample_by_cuts", 37, {1, 0, 0.95}, 8192);
    follows("sample_with_probability", 37, {1, 25}, 8192);
}

TEST_CASE("sampling passes hundreds of random cases") {
    testing::passes_random_cases(sampling_tests::sampling_stage(), 26, 0, 300, [](int64_t number) {
        return number % 16 == 0 ? int64_t{1} << 14 : int64_t{1} << 11;
    });
}

TEST_CASE("thousands of random cases of sampling", "[.more]") {
    testing::passes_random_cases(sampling_tests::sampling_stage(), 27, 0, 4000,
                                 [](int64_t) { return int64_t{1} << 14; });
}

TEST_CASE("the header's Philox gives Random123's known answers, and the reference's numbers") {
    const auto words = [](uint4 counter, uint2 key) {
        const uint4 found = softmax_topk::philox(counter, key);
        return std::vector<uint32_t>{found.x, found.y, found.z, found.w};
    };
    CHECK(words({0, 0, 0, 0}, {0, 0}) ==
          std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(words({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
          std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(words({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    for (const uint64_t seed : {uint64_t{0}, uint64_t{7}, uint64_t{1} << 40}) {
        for (const uint64_t row : {uint64_t{0}, uint64_t{12345}, uint64_t{1} << 33}) {
            CHECK(static_cast<double>(softmax_topk::random_bits(seed, row, 0) >> 11) * 0x1p-53 ==
                  operations::sampling::unit_of_row(seed, static_cast<int64_t>(row)));
            CHECK(softmax_topk::random_bits(seed, row, 1) !=
                  softmax_topk::random_bits(seed, row, 0));
        }
    }
}

// Masses are whole numbers, so every order of addition gives the same sum.
TEST_CASE("a list and the row draw the same columns") {
    using operations::sampling::Options;
    for (const Options& options : std::initializer_list<Options>{{1, 1, 1, 0, 1},
                                                                 {0.7, 50, 0.9, 0, 2},
                                                                 {2, 300, 1, 0.01, 3},
                                                                 {1, 1024, 0.999, 0, 4},
                                                                 {0.8, 0, 0.9, 0, 5},
                                                                 {1.2, 0, 1, 0.1, 6}}) {
        for (const char* input : {"peaked", "ties", "neighbours"}) {
            for (const auto& [rows, cols] :
                 {std::pair<int64_t, int64_t>{10, 37}, {3, 1000}, {2, 5003}}) {
                const runner::DType dtype =
                    cols == 1000 ? runner::DType::bfloat16 : runner::DType::float32;
                const sampling_tests::Shape shape(rows, cols, options);
                INFO(input << ", " << text_of(runner::Shape(shape)));
                const std::vector<double> by_cuts =
                    sampling_tests::columns_of("sample_by_cuts", input, shape, dtype);
                CHECK(sampling_tests::columns_of("sample", input, shape, dtype) == by_cuts);
                CHECK(sampling_tests::columns_of("sample_with_probability", input, shape, dtype) ==
                      by_cuts);
            }
        }
    }
}

// At temperature 1 a list knows the row's sum, but only as a float. If the limit lies at the end of a column, that is
// not exact enough to decide whether the next column stays.
TEST_CASE("a list and the row agree if the limit is the end of a column") {
    for (const auto& [cols, top_p] :
         {std::pair<int64_t, float>{1560, 0.25f}, {4056, 0.25f}, {2048, 0.5f}, {1030, 0.9f}}) {
        const sampling_tests::Options options = [p = top_p] {
            sampling_tests::Options of;
            of.top_p = p;
            of.seed = 11;
            return of;
        }();
        constexpr int64_t kRows = 40;
        INFO(cols << " columns, top_p " << top_p);
        size_t bytes = 0;
        REQUIRE(softmax_stages::sample_workspace_bytes<float>(&bytes, kRows, cols, options) ==
                cudaSuccess);
        runner::DeviceBuffer<unsigned char> workspace(bytes);
        sampling_tests::FrontCall from_list(kRows, cols), from_row(kRows, cols);
        CHECK(from_list.drawn(options, workspace.data(), bytes) == from_row.drawn(options));
        CHECK(from_list.probabilities.download() == from_row.probabilities.download());
    }
}

TEST_CASE("temperature alone reads a row once, and a part of it again") {
    const sampling_tests::Shape shape(4, 20000);
    for (const char* name : {"sample_whole_row", "sample"}) {
        const runner::Variant variant = sampling_tests::variant_named(name);
        const runner::Tensors inputs =
            filled_inputs(*variant.operation, shape, runner::DType::float32, "peaked", 1);
        runner::Observation observation;
        testing::sampling::result_of(variant, inputs, shape);
        const std::optional<runner::Counts> counts = observation.counts();
        if (!counts)
            return testing::skip_on_gpu("a GPU's own counters are held to these elsewhere");
        const double accesses =
            static_cast<double>(counts->global_load_bytes) / (4 * 20000 * sizeof(float));
        CHECK(accesses >= 1);
        CHECK(accesses < 1.05);  // one of 32 parts, and of that a thread's elements
    }
}

// The reads: one for the maximum or the list, a sample of 8192 elements, one for the cut and the masses of the parts,
// and one part of the row.
TEST_CASE("top-p of a broad row takes two reads and a sample, wherever the cut is") {
    constexpr int64_t kCols = 100000;
    const auto accesses = [&](const char* name, const char* input,
                              const operations::sampling::Options& options) {
        const sampling_tests::Shape shape(1, kCols, options);
        const runner::Variant variant = sampling_tests::variant_named(name);
        const runner::Tensors inputs =
            filled_inputs(*variant.operation, shape, runner::DType::float32, input, 1);
        runner::Observation observation;
        testing::sampling::result_of(variant, inputs, shape);
        const std::optional<runner::Counts> counts = observation.counts();
        return counts ? static_cast<double>(counts->global_load_bytes) / (kCols * sizeof(float))
                      : 0;
    };
    for (const char* name : {"sample_by_cuts", "sample"}) {
        for (const double top_p : {0.5, 0.9, 0.99}) {
            for (const double temperature : {0.7, 1.5}) {
                INFO(name << ", top_p " << top_p << ", temperature " << temperature);
                const double reads = accesses(name, "normal", {temperature, 0, top_p, 0, 3});
                if (reads == 0)
                    return testing::skip_on_gpu("a GPU's own counters are held to these elsewhere");
                CHECK(reads > 2);
                CHECK(reads < 2.5);
            }
        }
    }
    CHECK(accesses("sample_by_cuts", "normal", {1, 5000, 1, 0, 3}) < 3.5);
    // With more equal elements than the list has places, one more read counts them by parts, and one adds up the
    // masses.
    CHECK(accesses("sample_by_cuts", "constant", {1, 0, 0.9, 0, 3}) < 4.5);
}

// Every named input, longer than the list, with cuts near the front and near the end of the sorted row.
TEST_CASE("a cut is where the sorted row has it, however wrong the guess") {
    for (const char* name : {"sample_by_cuts", "sample"}) {
        for (const runner::NamedInput& input :
             sampling_tests::variant_named(name).operation->inputs()) {
            for (const runner::DType dtype : {runner::DType::float32, runner::DType::bfloat16}) {
                for (const auto& options : std::initializer_list<operations::sampling::Options>{
                         {1, 0, 0.01, 0, 1}, {1.5, 0, 0.9999, 0, 2}, {1, 3000, 0.6, 0.001, 3}}) {
                    const sampling_tests::Shape shape(1, 20011, options);
                    testing::matches_reference(sampling_tests::variant_named(name), input.name,
                                               shape, dtype);
                }
            }
        }
    }
}

// Short lists make the search guess often, and wrongly. A list with places for the whole row needs no guess.
TEST_CASE("the same column is drawn, however few places the list has") {
    using namespace softmax_topk::sampling;
    using sampling_tests::Options;
    constexpr int kRows = 2, kCols = 1000;
    const auto drawn = [&](const runner::DeviceBuffer<float>& x, const Options& options, int room) {
        runner::DeviceBuffer<int32_t> columns(kRows);
        runner::DeviceBuffer<float> probabilities(kRows);
        cut_row_kernel<kBlockOfCuts, float>
            <<<kRows, kBlockOfCuts, static_cast<size_t>(room) * sizeof(softmax_topk::Key)>>>(
                x.data(), kCols, softmax_stages::draws_of(options, kCols), room, Lists<float>{},
                chosen_to(columns.data(), probabilities.data()));
        REQUIRE(cudaGetLastError() == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        return std::pair{columns.download(), probabilities.download()};
    };
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    // Each function returns element i of a row; the first may be far from all others.
    const std::vector<std::pair<const char*, std::function<float(int)>>> kinds = {
        {"normal", [&](int) { return normal(random); }},
        {"broad", [&](int) { return 30 * normal(random); }},
        {"in order", [](int i) { return static_cast<float>(i) / kCols; }},
        {"neighbours", [](int i) { return 1 + static_cast<float>(i * 7 % kCols) * 0x1p-23f; }},
        {"few values", [&](int) { return std::floor(3 * normal(random)); }},
        {"two values", [](int i) { return i % 3 == 0 ? 1.f : 0.5f; }},
        {"equal", [](int) { return -2.f; }},
        {"one far above", [&](int i) { return i == 0 ? 1e30f : normal(random); }},
        {"one above", [&](int i) { return i == 0 ? 6.f : normal(random); }},
        {"mostly -inf", [&](int i) { return i % 50 == 0 ? normal(random) : -INFINITY; }},
        {"huge", [&](int) { return 1e38f * normal(random) / 4; }},
        {"denormal", [&](int) { return 1e-40f * normal(random); }}};
    for (const auto& [name, element] : kinds) {
        std::vector<float> elements(kRows * kCols);
        for (size_t i = 0; i < elements.size(); ++i)
            elements[i] = element(static_cast<int>(i % kCols));
        const runner::DeviceBuffer<float> x(elements);
        for (const auto& [temperature, top_k, top_p] :
             std::initializer_list<std::tuple<float, int, float>>{{1.f, 0, 0.001f},
                                                                  {1.f, 0, 0.5f},
                                                                  {3.f, 0, 0.97f},
                                                                  {0.1f, 0, 0.9999f},
                                                                  {1.f, 1, 1.f},
                                                                  {2.f, 700, 1.f},
                                                                  {1.f, 999, 0.6f}}) {
            Options options;
            options.temperature = temperature, options.top_k = top_k, options.top_p = top_p;
            const auto expected = drawn(x, options, kCols);
            for (const int32_t column : expected.first) REQUIRE(column >= 0);
            for (const int room : {8, 100}) {
                INFO(name << ", temperature " << temperature << ", top_k " << top_k << ", top_p "
                          << top_p << ", room for " << room);
                CHECK(drawn(x, options, room) == expected);  // and what stays has the same mass
            }
        }
    }
}

// At a temperature other than 1, a sample says whether the list ends before the cut. The sample is wrong for a top_p
// between the list's share of the probability and its estimate of this share. The test tries many top_p near it.
TEST_CASE("a list that a sample takes for too short, or for long enough, draws the same") {
    using sampling_tests::Options;
    constexpr int kCols = 8000, kSteps = 40, kKinds = 4, kRows = kKinds * kSteps;
    constexpr float kTemperature = 0.8f;
    std::mt19937 random(11);
    std::normal_distribution<float> normal;
    std::vector<float> elements, top_ps;
    for (int kind = 0; kind < kKinds; ++kind) {
        std::vector<float> row;
        for (int i = 0; i < kCols; ++i) row.push_back(1.5f * normal(random));
        std::vector<float> sorted = row;
        std::sort(sorted.rbegin(), sorted.rend());
        double listed = 0, all = 0;
        for (int i = 0; i < kCols; ++i) {
            const double weight = std::exp(static_cast<double>(sorted[i]) / kTemperature);
            all += weight;
            if (i < softmax_topk::kMostK) listed += weight;
        }
        for (int step = 0; step < kSteps; ++step) {
            elements.insert(elements.end(), row.begin(), row.end());
            const double off = 0.0005 * (2 * step - kSteps + 1);
            top_ps.push_back(static_cast<float>(listed / all + off));
        }
    }
    const runner::DeviceBuffer<float> x(elements), of_row(top_ps);
    Options options;
    options.temperature = kTemperature, options.top_ps = of_row.data();
    const auto by_list = sampling_tests::drawn(x, kRows, kCols, options, true);
    const auto by_cuts = sampling_tests::drawn(x, kRows, kCols, options, false);
    CHECK(by_list.first == by_cuts.first);
    for (size_t row = 0; row < kRows; ++row) {
        INFO("row " << row << ", top_p " << top_ps[row]);
        CHECK(by_list.second[row] == Approx(by_cuts.second[row]));
    }
}

// Rows with options of their own, in arrays. Each must draw what it draws if all rows have these options.
TEMPLATE_TEST_CASE("a row draws the same with options of its own as if all rows had them", "",
                   float, __nv_bfloat16) {
    using sampling_tests::Options;
    struct OfRow {
        float temperature;
        int32_t top_k;
        float top_p, min_p;
        bool is_valid = true;
    };
    const std::vector<OfRow> of_row = {{1, 0, 1, 0},
                                       {0.7f, 0, 1, 0},
                                       {0, 0, 1, 0},
                                       {1, 1, 1, 0},
                                       {2, 50, 0.9f, 0},
                                       {1, 1024, 0.5f, 0},
                                       {1, 1500, 0.5f, 0},
                                       {1, 1500, 0.01f, 0},
                                       {1, 0, 0.9f, 0},
                                       {0.2f, 0, 0.9f, 0},
                                       {1, 0, 1, 0.2f},
                                       {3, 0, 0.999f, 0.01f},
                                       {1, 99999, 0.8f, 0},
                                       {-1, 0, 1, 0, false},
                                       {NAN, 0, 1, 0, false},
                                       {1, -1, 1, 0, false},
                                       {1, 0, 0, 0, false},
                                       {1, 0, 1.5f, 0, false},
                                       {1, 0, 1, -0.1f, false},
                                       {1, 0, NAN, 0, false},
                                       {1e-40f, 0, 1, 0, false},
                                       {INFINITY, 0, 1, 0, false},
                                       {1, 0, 1, 1.1f, false}};
    const auto rows = static_cast<int64_t>(of_row.size());
    const auto gathered = [&](auto value_of) {
        std::vector<decltype(value_of(of_row[0]))> values;
        for (const OfRow& row : of_row) values.push_back(value_of(row));
        return runner::DeviceBuffer<decltype(value_of(of_row[0]))>(values);
    };
    const auto temperatures = gathered([](const OfRow& row) { return row.temperature; });
    const auto top_ks = gathered([](const OfRow& row) { return row.top_k; });
    const auto top_ps = gathered([](const OfRow& row) { return row.top_p; });
    const auto min_ps = gathered([](const OfRow& row) { return row.min_p; });
    std::vector<uint64_t> numbers;
    for (int64_t row = 0; row < rows; ++row) numbers.push_back(static_cast<uint64_t>(row * row));
    const runner::DeviceBuffer<uint64_t> seeds(numbers), offsets(numbers);

    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (const int64_t cols : {700, 3000}) {
        std::vector<TestType> elements;  // the first row's elements in all rows
        for (int64_t col = 0; col < cols; ++col) {
            const float peaked = -1.5f * std::log(1.f + static_cast<float>(col * 37 % cols));
            elements.push_back(static_cast<TestType>(col % 2 == 0 ? peaked : normal(random) - 3));
        }
        for (int64_t i = cols; i < rows * cols; ++i)
            elements.push_back(elements[static_cast<size_t>(i % cols)]);
        const runner::DeviceBuffer<TestType> x(elements);
        const auto drawn = [&](const Options& options, bool has_workspace) {
            return sampling_tests::drawn(x, rows, cols, options, has_workspace);
        };
        for (const bool has_workspace : {true, false}) {
            Options own;
            own.temperatures = temperatures.data(), own.top_ks = top_ks.data();
            own.top_ps = top_ps.data(), own.min_ps = min_ps.data();
            own.seeds = seeds.data(), own.offsets = offsets.data();
            const auto [columns, probabilities] = drawn(own, has_workspace);
            own.log_probabilities = true;
            const auto [same_columns, logarithms] = drawn(own, has_workspace);
            CHECK(same_columns == columns);
            for (size_t row = 0; row < of_row.size(); ++row) {
                const auto& [temperature, top_k, top_p, min_p, is_valid] = of_row[row];
                INFO(cols << " columns, temperature " << temperature << ", top_k " << top_k
                          << ", top_p " << top_p << ", min_p " << min_p
                          << (has_workspace ? ", workspace" : ""));
                if (!is_valid) {
                    CHECK(columns[row] == -1);
                    CHECK(std::isnan(probabilities[row]));
                    CHECK(std::isnan(logarithms[row]));
                    continue;
                }
                Options all;
                all.temperature = temperature, all.top_k = top_k;
                all.top_p = top_p, all.min_p = min_p;
                all.seed = all.offset = numbers[row];
                const auto expected = drawn(all, has_workspace);
                CHECK(columns[row] == expected.first[row]);
                CHECK(probabilities[row] == Approx(expected.second[row]));
                CHECK(logarithms[row] == Approx(std::log(probabilities[row])).margin(1e-6));
            }
            // One array alone, with a common option beside it.
            Options alone;
            alone.seeds = seeds.data();
            Options all;
            all.seed = numbers[5];
            CHECK(drawn(alone, has_workspace).first[5] == drawn(all, has_workspace).first[5]);
            alone.top_k = all.top_k = 20;
            alone.min_ps = min_ps.data(), all.min_p = of_row[10].min_p, all.seed = numbers[10];
            CHECK(drawn(alone, has_workspace).first[10] == drawn(all, has_workspace).first[10]);
        }
    }
}

TEST_CASE("sampling plans a list if there is a workspace, and repeated reads if there is none") {
    using namespace sampling_tests;
    const auto plan = [](const Options& options, int64_t cols, size_t bytes) {
        return softmax_stages::sample_plan<float>(10, cols, options, {132, 0, 0, 0}, bytes);
    };
    const auto way = [&](const Options& options, int64_t cols = 100000, size_t bytes = SIZE_MAX) {
        return plan(options, cols, bytes).way;
    };
    Options options;
    CHECK(way(options) == Way::whole_row);
    options.temperature = 0;
    CHECK(way(options) == Way::best);
    options = {};
    options.top_k = 50;
    CHECK(way(options) == Way::list);
    CHECK(plan(options, 100000, SIZE_MAX).listed == 50);
    CHECK(way(options, 50) == Way::whole_row);  // nothing to cut
    CHECK(way(options, 100000, 100) == Way::cuts);
    const auto none = plan(options, 100000, 0);
    CHECK(none.more_workspace_bytes == plan(options, 100000, SIZE_MAX).workspace_bytes);
    CHECK(way(options, 100000, none.more_workspace_bytes) == Way::list);
    options.top_k = 1025;
    CHECK(way(options) == Way::cuts);
    options.top_k = 0;
    options.top_p = 0.9f;
    CHECK(way(options) == Way::list);
    CHECK(plan(options, 100000, SIZE_MAX).listed == 1024);
    CHECK(plan(options, 33, SIZE_MAX).listed == 33);
}

TEST_CASE("sampling refuses invalid options, and does nothing for empty rows") {
    using sampling_tests::Options;
    sampling_tests::FrontCall call(2, 40);
    const auto status = [&](auto change) {
        Options options;
        change(options);
        return call(options);
    };
    CHECK(status([](Options& o) { o.temperature = -1; }) == cudaErrorInvalidValue);
    CHECK(status([](Options& o) { o.temperature = NAN; }) == cudaErrorInvalidValue);
    CHECK(status([](Options& o) { o.temperature = INFINITY; }) == cudaErrorInvalidValue);
    CHECK(status([](Options& o) { o.temperature = 1e-40f; }) == cudaErrorInvalidValue);
    CHECK(status([](Options& o) { o.top_k = -1; }) == cudaErrorInvalidValue);
    CHECK(status([](Options& o) { o.top_p = 0; }) == cudaErrorInvalidValue);
    CHECK(status([](Options& o) { o.top_p = 1.5f; }) == cudaErrorInvalidValue);
    CHECK(status([](Options& o) { o.top_p = NAN; }) == cudaErrorInvalidValue);
    CHECK(status([](Options& o) { o.min_p = -0.1f; }) == cudaErrorInvalidValue);
    CHECK(status([](Options& o) { o.min_p = 1.1f; }) == cudaErrorInvalidValue);
    const float* x = call.x.data();
    int64_t* columns = call.columns.data();
    const auto sizes = [&](const float* from, int64_t* to, int64_t rows, int64_t cols) {
        return softmax_stages::sample(from, to, nullptr, rows, cols, Options{}, nullptr, 0,
                                      nullptr);
    };
    CHECK(sizes(nullptr, columns, 2, 40) == cudaErrorInvalidValue);
    CHECK(sizes(x, nullptr, 2, 40) == cudaErrorInvalidValue);
    CHECK(sizes(x, columns, -1, 40) == cudaErrorInvalidValue);
    CHECK(sizes(x, columns, 2, -40) == cudaErrorInvalidValue);
    CHECK(sizes(x, columns, 2, 0) == cudaSuccess);  // no column to choose
    CHECK(sizes(x, columns, 2, int64_t{1} << 31) == cudaErrorInvalidValue);
    CHECK(sizes(shifted(x, 2), columns, 2, 40) == cudaErrorInvalidValue);
    CHECK(sizes(x, shifted(columns, 4), 2, 40) == cudaErrorInvalidValue);
    CHECK(softmax_stages::sample(x, columns, shifted(call.probabilities.data(), 1), 2, 40,
                                 Options{}, nullptr, 0, nullptr) == cudaErrorInvalidValue);
    CHECK(sizes(nullptr, nullptr, 0, 40) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(call.columns.download() == std::vector<int64_t>{-7, -7, -7});
    CHECK(sizes(x, columns, 2, 40) == cudaSuccess);  // without probabilities
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(call.columns.download()[1] >= 0);
    CHECK(call.probabilities.download() == std::vector<float>{-7, -7, -7});
}

TEST_CASE("the workspace size of invalid sampling is an error and 0 bytes") {
    const auto is_refused = [](int64_t rows, int64_t cols, const sampling_tests::Options& options) {
        size_t bytes = 7;
        const cudaError_t status =
            softmax_stages::sample_workspace_bytes<float>(&bytes, rows, cols, options);
        return status == cudaErrorInvalidValue && bytes == 0;
    };
    sampling_tests::Options options;
    options.top_k = 50;
    CHECK_FALSE(is_refused(2, 1000, options));
    CHECK_FALSE(is_refused(0, 1000, options));
    CHECK(is_refused(-2, 1000, options));
    CHECK(is_refused(2, -1000, options));
    CHECK_FALSE(is_refused(2, 0, options));
    CHECK(is_refused(2, int64_t{1} << 31, options));
    options.top_p = NAN;
    CHECK(is_refused(2, 1000, options));
}

TEST_CASE("another offset draws other columns, a workspace draws the same") {
    sampling_tests::FrontCall call(50, 1000);
    sampling_tests::Options options;
    options.top_k = 900;
    size_t needed = 0;
    REQUIRE(softmax_stages::sample_workspace_bytes<float>(&needed, 50, 1000, options) ==
            cudaSuccess);
    runner::DeviceBuffer<unsigned char> workspace(std::vector<unsigned char>(needed + 8, 0x5a));
    const std::vector<int64_t> without = call.drawn(options);
    CHECK(call.drawn(options, workspace.data(), needed) == without);
    CHECK(call.drawn(options, workspace.data(), needed - 1) == without);  // too small, so not used
    CHECK(call.drawn(options, workspace.data() + 8, needed) == without);  // misaligned, so not used
    const std::vector<unsigned char> bytes = workspace.download();
    CHECK(std::all_of(bytes.end() - 8, bytes.end(), [](unsigned char b) { return b == 0x5a; }));
    for (const int64_t col : without) CHECK((col >= 0 && col < 900));  // the first of equal columns
    std::set<std::vector<int64_t>> all = {without};
    for (const uint64_t offset : {uint64_t{1}, uint64_t{2}, uint64_t{1} << 32}) {
        options.offset = offset;
        all.insert(call.drawn(options));
    }
    CHECK(all.size() == 4);
}
