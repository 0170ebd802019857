// SPDX-License-Identifier: MIT
// The peers behind the library: what they take, and the limits of the paper's own kernels.
#include "common/peers/tests/library.hpp"

#include <cmath>
#include <limits>

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
