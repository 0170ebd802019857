// SPDX-License-Identifier: MIT
// The peers behind the library: what they take, and the limits of the paper's own kernels.
#include "common/peers/tests/library.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace {

constexpr const char* kNvidia = "nvidia_online_softmax/";
constexpr float kInf = std::numeric_limits<float>::infinity();

constexpr int64_t kCols = 300;

// Of one row.
std::vector<float> result_of(const std::string& name, const std::vector<float>& x) {
    Tensors tensors(name, Problem::rows(1, kCols));
    tensors["x"].upload(x);
    tensors.call(name);
    return tensors["y"].download<float>();
}

std::vector<float> wave() {
    std::vector<float> x(kCols);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 4 * std::sin(0.7f * static_cast<float>(i));
    return x;
}

// The largest relative error, against plain loops in double.
double worst_error(const std::vector<float>& x, const std::vector<float>& y) {
    const double max = *std::max_element(x.begin(), x.end());
    double sum = 0;
    for (const float each : x) sum += std::exp(each - max);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double wanted = std::exp(x[i] - max) / sum;
        const double error = std::fabs(y[i] - wanted) / std::max(1e-30, wanted);
        if (!(error <= worst)) worst = std::isnan(error) ? kInf : error;
    }
    return worst;
}

bool all_nan(const std::vector<float>& y) {
    return std::all_of(y.begin(), y.end(), [](float each) { return std::isnan(each); });
}

constexpr const char* kSegmentedSort = "cub_segmented_sort/radix";
constexpr const char* kBatchedTopk = "cub_batched_topk/unsorted";
constexpr const char* kTopk = "cub_topk/unsorted";

// Why it cannot be called on this machine; empty where it can.
std::string obstacle_of(const std::string& name) {
    for (const stages_callable& each : callables()) {
        if (each.name == name) return each.obstacle == nullptr ? "" : each.obstacle;
    }
    return "nothing has that name";
}

Problem topk_problem(int64_t rows, int64_t cols, int64_t k, int dtype = STAGES_FLOAT32) {
    return {{{"rows", rows}, {"cols", cols}}, dtype, {{"k", static_cast<double>(k)}}};
}

// Element i of the numbers that are shuffled: no two are equal, and they are in order. Of half and bfloat16,
// bits of positive numbers, which are in order as integers.
void set_number(float& element, size_t i) {
    element = static_cast<float>(i) - 1000.5f;
}
void set_number(uint16_t& element, size_t i) {
    element = static_cast<uint16_t>(0x0400 + i);
}

// In whichever order they come: the k largest of each row, each with its column.
template <class Element>
void selects_the_largest(const std::string& name, int64_t rows, int64_t cols, int64_t k,
                         int dtype) {
    INFO(name << ", " << rows << " x " << cols << ", k = " << k << ", dtype " << dtype);
    const Problem problem = topk_problem(rows, cols, k, dtype);
    REQUIRE(takes(name, problem));
    std::mt19937 random(11);
    std::vector<Element> x(static_cast<size_t>(rows * cols));
    for (auto row = x.begin(); row != x.end(); row += cols) {
        for (int64_t col = 0; col < cols; ++col) set_number(row[col], static_cast<size_t>(col));
        std::shuffle(row, row + cols, random);
    }
    Tensors tensors(name, problem);
    tensors["x"].upload(x);
    tensors.call(name);
    const std::vector<Element> values = tensors["values"].template download<Element>();
    const std::vector<int32_t> indices = tensors["indices"].template download<int32_t>();
    REQUIRE(indices.size() == static_cast<size_t>(rows * k));
    for (int64_t row = 0; row < rows; ++row) {
        const Element* const x_row = x.data() + row * cols;
        std::vector<int32_t> wanted(static_cast<size_t>(cols));
        std::iota(wanted.begin(), wanted.end(), 0);
        std::partial_sort(wanted.begin(), wanted.begin() + k, wanted.end(),
                          [&](int32_t a, int32_t b) { return x_row[a] > x_row[b]; });
        wanted.resize(static_cast<size_t>(k));
        std::vector<int32_t> found(indices.begin() + row * k, indices.begin() + (row + 1) * k);
        const bool in_order = name == kSegmentedSort;
        if (!in_order) {
            std::sort(wanted.begin(), wanted.end());
            std::sort(found.begin(), found.end());
        }
        INFO("row " << row);
        REQUIRE(found == wanted);
        for (size_t i = static_cast<size_t>(row * k); i < static_cast<size_t>((row + 1) * k); ++i)
            REQUIRE(values[i] == x_row[indices[i]]);
    }
}

}  // namespace

TEST_CASE("the peers take what they promise, and say why they take no more") {
    constexpr const char* kV1 = "fastertransformer_softmax/v1";
    constexpr const char* kV5 = "fastertransformer_softmax/v5";
    constexpr const char* kInvalid = "invalid_fastertransformer/input_unused";
    const auto accepts = [](const char* name, int64_t rows, int64_t cols) {
        return takes(name, Problem::rows(rows, cols));
    };
    const auto refuses = [&](const char* name, int64_t rows, int64_t cols, const char* why) {
        INFO(name << ", " << rows << " x " << cols);
        CHECK(!accepts(name, rows, cols));
        CHECK_THAT(error(), ContainsSubstring(why));
    };
    CHECK(accepts("oneflow_warp_softmax/softmax", 3, 1023));
    refuses("oneflow_warp_softmax/softmax", 3, 1024, "more than 1023 columns");
    CHECK(accepts("oneflow_warp_softmax/log_softmax", 3, 1024));
    refuses("oneflow_warp_softmax/log_softmax", 3, 1025, "more than 1024 columns");
    CHECK(accepts("oneflow_block_softmax/softmax", 3, 1024));
    refuses("oneflow_block_softmax/softmax", 3, 1023, "1023 columns or less");
    CHECK(accepts("oneflow_block_softmax/log_softmax", 3, 1025));
    refuses("oneflow_block_softmax/log_softmax", 3, 1024, "1024 columns or less");

    CHECK(accepts(kV1, 2048 * 512, 512));
    CHECK(accepts(kV1, 1024, 1024));
    refuses(kV1, 1025, 1025, "more than 1024 columns");
    refuses(kV1, 2048 * 1024, 1024, "counts elements in 32 bits");
    refuses(kV1, 100, 16, "rows a multiple of columns");
    CHECK(accepts(kV5, 4096, 4096));
    refuses(kV5, 4098, 4098, "more than 4096 columns");
    refuses(kV5, 100, 16, "rows a multiple of columns");
    CHECK(accepts(kInvalid, 32, 16));
    refuses(kInvalid, 5, 1, "right for one column");
    refuses(kInvalid, 2050, 1025, "more than 1024 columns");
}

TEST_CASE("the reconstruction of NVIDIA/online-softmax has the limits that it states") {
    std::vector<float> x = wave();

    SECTION("a row of -inf alone is NaN, and masked elements among others are 0") {
        std::vector<float> masked(x.size(), -kInf);
        for (const char* variant : {"naive", "safe", "online"}) {
            INFO(variant);
            CHECK(all_nan(result_of(std::string(kNvidia) + variant, masked)));
        }
        masked = x;
        std::fill(masked.begin(), masked.begin() + 150, -kInf);
        for (const char* variant : {"naive", "safe", "online"}) {
            INFO(variant);
            const std::vector<float> y = result_of(std::string(kNvidia) + variant, masked);
            CHECK(std::all_of(y.begin(), y.begin() + 150, [](float each) { return each == 0; }));
            CHECK(worst_error(masked, y) < 3e-6);
        }
    }
    SECTION("where exp overflows naive fails and the others do not") {
        for (float& each : x) each += 1000;
        CHECK(all_nan(result_of(std::string(kNvidia) + "naive", x)));
        for (const char* variant : {"safe", "online"}) {
            INFO(variant);
            CHECK(worst_error(x, result_of(std::string(kNvidia) + variant, x)) < 3e-6);
        }
    }
}

TEST_CASE("CUB's selections need a GPU, and find the largest elements there") {
    for (const std::string name : {kSegmentedSort, kBatchedTopk, kTopk}) {
        INFO(name);
        if (LIBRARY(stages_backend)() != std::string("cuda")) {
            CHECK(obstacle_of(name) == "needs a GPU");
            CHECK(!takes(name, topk_problem(2, 100, 5)));
            CHECK_THAT(error(), ContainsSubstring("needs a GPU"));
            continue;
        }
        if (!obstacle_of(name).empty()) {  // built without its headers
            CHECK(name != kSegmentedSort);
            continue;
        }
        // At and beside the widths at which DeviceBatchedTopK's kernels end; more rows than a wave of blocks.
        for (const auto& [rows, cols, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                                               {3, 7, 7},
                                                                               {5, 256, 8},
                                                                               {5, 257, 1},
                                                                               {700, 1000, 100},
                                                                               {2, 1024, 1024},
                                                                               {2, 2048, 5},
                                                                               {3, 4097, 32},
                                                                               {2, 8192, 300}}) {
            if (name == kTopk && rows > 16) continue;  // a call for each row
            selects_the_largest<float>(name, rows, cols, k, STAGES_FLOAT32);
            selects_the_largest<uint16_t>(name, rows, cols, k, STAGES_FLOAT16);
            selects_the_largest<uint16_t>(name, rows, cols, k, STAGES_BFLOAT16);
        }
        CHECK(!takes(name, topk_problem(2, 100, 5, STAGES_FLOAT64)));
    }
    if (!obstacle_of(kSegmentedSort).empty()) return;
    selects_the_largest<float>(kSegmentedSort, 2, 100003, 1000, STAGES_FLOAT32);
    CHECK(!takes(kSegmentedSort, topk_problem(65536, 32768, 5)));
    CHECK_THAT(error(), ContainsSubstring("counts elements in 32 bits"));
    if (!obstacle_of(kBatchedTopk).empty()) return;
    CHECK(!takes(kBatchedTopk, topk_problem(2, 8193, 5)));
    CHECK_THAT(error(), ContainsSubstring("more than 8192 columns"));
    selects_the_largest<float>(kTopk, 16, 100003, 1000, STAGES_FLOAT32);
    CHECK(!takes(kTopk, topk_problem(17, 100, 5)));
    CHECK_THAT(error(), ContainsSubstring("more than 16 rows"));
}

TEST_CASE("CUB's sums of rows need a GPU, and are sums there") {
    for (const std::string name : {"row_sum/cub", "row_sum/cub_fixed_size"}) {
        INFO(name);
        if (!obstacle_of(name).empty()) {
            CHECK(!takes(name, topk_problem(2, 100, 5)));
            continue;
        }
        for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{1, 1}, {700, 33}, {3, 5003}}) {
            INFO(rows << " x " << cols);
            Tensors tensors(name, topk_problem(rows, cols, 1));
            std::vector<float> x(static_cast<size_t>(rows * cols));
            for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
            tensors["x"].upload(x);
            tensors.call(name);
            const std::vector<float> sums = tensors["values"].download<float>();
            for (int64_t row = 0; row < rows; ++row) {
                const auto first = x.begin() + row * cols;
                REQUIRE(sums[static_cast<size_t>(row)] ==
                        std::accumulate(first, first + cols, 0.f));
            }
        }
    }
}
