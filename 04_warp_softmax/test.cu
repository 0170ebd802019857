// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <random>

#include "common/runner/build_info.hpp"
#include "common/runner/fuzz.hpp"
#include "common/testing/softmax_properties.hpp"
#include "further/any_width.cuh"
#include "further/dropout_store.cuh"
#include "further/masked_loads.cuh"
#include "further/warp_softmax_backward.cuh"

runner::Stage describe_04_warp_softmax();

namespace {

using runner::DeviceBuffer;
using runner::to_double;

// Every way of sharing a row: each number of lanes, of packs, with and without padding.
constexpr int64_t kWidths[] = {1,  2,  3,   4,   5,   7,   8,   9,   16,  31,   32,   33,   64,
                               65, 96, 100, 128, 129, 255, 256, 333, 512, 1000, 1024, 1025, 2048};

// How far a result in T may be off, relative to its size and absolutely: a few roundings.
template <class T>
double tolerance() {
    return 4 * std::pow(2., std::is_same_v<T, double>   ? -44
                            : std::is_same_v<T, float>  ? -22
                            : std::is_same_v<T, __half> ? -11
                                                        : -8);
}

template <class T>
std::vector<T> random_values(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.f, 3.f);
    std::vector<T> values;
    for (size_t i = 0; i < count; ++i) values.push_back(T(normal(random)));
    return values;
}

// softmax of a row of which only some elements count; zeros where none does.
std::vector<double> reference(const std::vector<double>& x, const std::vector<bool>& kept) {
    double max = -INFINITY;
    for (size_t i = 0; i < x.size(); ++i) {
        if (kept[i]) max = std::max(max, x[i]);
    }
    double sum = 0;
    std::vector<double> y(x.size(), 0.);
    for (size_t i = 0; i < x.size(); ++i) {
        if (kept[i]) sum += y[i] = std::exp(x[i] - max);
    }
    for (double& share : y) share = sum > 0 ? share / sum : 0;
    return y;
}

template <class T>
void expect_close(const std::vector<T>& found, const std::vector<double>& wanted) {
    double worst = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
        const double error = std::fabs(to_double(found[i]) - wanted[i]);
        worst = std::max(worst, std::isnan(error) ? INFINITY : error / (wanted[i] + 1e-3));
    }
    CHECK(worst <= tolerance<T>());
}

}  // namespace

TEST_CASE("every variant of 04 is what it says, in every type") {
    for (const runner::Variant& variant : describe_04_warp_softmax().variants)
        testing::holds_every_property(variant);
}

TEMPLATE_TEST_CASE("04 holds rows of every width, whatever their address and their stride", "",
                   float, __half, __nv_bfloat16, double) {
    for (const int64_t cols : kWidths) {
        if (cols > warp_softmax::kMaxCols<TestType>) continue;
        for (const int64_t offset : {0, 1, 2}) {  // elements: packs of 16 bytes, or none
            const int64_t rows = 5;
            const int64_t stride = cols + (offset == 2 ? 3 : 0);
            const std::vector<TestType> x =
                random_values<TestType>(static_cast<size_t>(offset + rows * stride), 4);
            const DeviceBuffer<TestType> from(x);
            DeviceBuffer<TestType> to(x.size());
            to.poison();
            REQUIRE(warp_softmax::launch<warp_softmax::Algorithm::softmax>(
                        warp_softmax::DirectLoad<TestType>{from.data() + offset, stride},
                        warp_softmax::DirectStore<TestType>{to.data() + offset, stride}, rows, cols,
                        nullptr) == cudaSuccess);
            const std::vector<TestType> y = to.download();
            INFO(cols << " columns, offset " << offset);
            for (int64_t row = 0; row < rows; ++row) {
                std::vector<double> values;
                std::vector<TestType> found;
                for (int64_t col = 0; col < cols; ++col) {
                    const auto at = static_cast<size_t>(offset + row * stride + col);
                    values.push_back(to_double(x[at]));
                    found.push_back(y[at]);
                }
                expect_close(found, reference(values, std::vector<bool>(values.size(), true)));
                if (stride > cols && row + 1 < rows) {  // the gap belongs to somebody else
                    CHECK(std::isnan(
                        to_double(y[static_cast<size_t>(offset + row * stride + cols)])));
                }
            }
        }
    }
}

TEMPLATE_TEST_CASE("a scaled and masked row counts what the mask keeps; an empty one is zeros", "",
                   float, __half, __nv_bfloat16, double) {
    std::mt19937 random(7);
    for (const int64_t cols : kWidths) {
        if (cols > warp_softmax::kMaxCols<TestType>) continue;
        const int64_t rows = 9;
        const auto count = static_cast<size_t>(rows * cols);
        const std::vector<TestType> x = random_values<TestType>(count, 5);
        std::vector<unsigned char> mask(count);  // bools, one byte each
        for (size_t i = 0; i < count; ++i) {
            const auto row = static_cast<int64_t>(i) / cols;
            mask[i] = row == 0 ? 0 : row == 1 ? 1 : random() % 3 == 0;
        }
        const DeviceBuffer<TestType> from(x);
        const DeviceBuffer<unsigned char> kept(mask);
        DeviceBuffer<TestType> to(count);
        to.poison();
        REQUIRE(warp_softmax::scale_mask_softmax<TestType>(
                    from.data(), reinterpret_cast<const bool*>(kept.data()), to.data(), 0.125f,
                    rows, cols, nullptr) == cudaSuccess);
        const std::vector<TestType> y = to.download();
        INFO(cols << " columns");
        for (int64_t row = 0; row < rows; ++row) {
            std::vector<double> values;
            std::vector<bool> counts;
            std::vector<TestType> found;
            for (int64_t col = 0; col < cols; ++col) {
                const auto at = static_cast<size_t>(row * cols + col);
                values.push_back(to_double(x[at]) * 0.125);
                counts.push_back(mask[at] != 0);
                found.push_back(y[at]);
            }
            expect_close(found, reference(values, counts));
        }
    }
}

TEMPLATE_TEST_CASE("a causal row sees what is not above the diagonal, and reads nothing else", "",
                   float, __half, __nv_bfloat16, double) {
    for (const int64_t cols : {1, 7, 8, 33, 64, 100, 256}) {
        const int64_t rows = 2 * cols;  // two matrices
        std::vector<TestType> x = random_values<TestType>(static_cast<size_t>(rows * cols), 6);
        for (int64_t row = 0; row < rows; ++row) {  // what would show if it were used
            for (int64_t col = row % cols + 1; col < cols; ++col)
                x[static_cast<size_t>(row * cols + col)] = TestType(NAN);
        }
        const DeviceBuffer<TestType> from(x);
        DeviceBuffer<TestType> to(x.size());
        to.poison();
        REQUIRE(warp_softmax::causal_softmax<TestType>(from.data(), to.data(), 0.5f, rows, cols,
                                                       cols, nullptr) == cudaSuccess);
        const std::vector<TestType> y = to.download();
        INFO(cols << " columns");
        for (int64_t row = 0; row < rows; ++row) {
            std::vector<double> values;
            std::vector<bool> counts;
            std::vector<TestType> found;
            for (int64_t col = 0; col < cols; ++col) {
                const auto at = static_cast<size_t>(row * cols + col);
                counts.push_back(col <= row % cols);
                values.push_back(counts.back() ? to_double(x[at]) * 0.5 : 0.);
                found.push_back(y[at]);
            }
            expect_close(found, reference(values, counts));
        }
    }
}

TEMPLATE_TEST_CASE("backward is the gradient of its forward, in place too", "", float, __half,
                   __nv_bfloat16, double) {
    using warp_softmax::Algorithm;
    for (const int64_t cols : kWidths) {
        if (cols > 32 * warp_softmax::kMaxHeldBackward<TestType>) continue;
        const int64_t rows = 6;
        const auto count = static_cast<size_t>(rows * cols);
        for (const bool log : {false, true}) {
            const DeviceBuffer<TestType> x(random_values<TestType>(count, 8));
            DeviceBuffer<TestType> y(count);
            const std::vector<TestType> dy = random_values<TestType>(count, 9);
            DeviceBuffer<TestType> dx(dy);  // in place of dy
            REQUIRE((log ? warp_softmax::log_softmax(x.data(), y.data(), rows, cols, nullptr)
                         : warp_softmax::softmax(x.data(), y.data(), rows, cols, nullptr)) ==
                    cudaSuccess);
            REQUIRE((log ? warp_softmax::log_softmax_backward(y.data(), dx.data(), dx.data(), rows,
                                                              cols, nullptr)
                         : warp_softmax::softmax_backward(y.data(), dx.data(), dx.data(), rows,
                                                          cols, nullptr)) == cudaSuccess);
            const std::vector<TestType> results = y.download();
            const std::vector<TestType> found = dx.download();
            double worst = 0;  // error relative to what goes into the sums
            for (int64_t row = 0; row < rows; ++row) {
                double sum = 0;
                double sizes = 0;
                for (int64_t col = 0; col < cols; ++col) {
                    const auto at = static_cast<size_t>(row * cols + col);
                    const double term = to_double(dy[at]) * (log ? 1 : to_double(results[at]));
                    sum += term;
                    sizes += std::fabs(term);
                }
                for (int64_t col = 0; col < cols; ++col) {
                    const auto at = static_cast<size_t>(row * cols + col);
                    const double result = to_double(results[at]);
                    const double gradient = to_double(dy[at]);
                    const double weight = log ? std::exp(result) : result;
                    const double wanted = log ? gradient - weight * sum : (gradient - sum) * weight;
                    const double size = log ? std::fabs(gradient) + weight * sizes
                                            : (std::fabs(gradient) + sizes) * weight;
                    const double error = std::fabs(to_double(found[at]) - wanted);
                    worst = std::max(worst,
                                     error / (size + 1e-4));  // subnormal results have few digits
                    if (std::isnan(error)) worst = INFINITY;
                }
            }
            INFO(cols << " columns, " << (log ? "log-softmax" : "softmax"));
            CHECK(worst <= tolerance<TestType>());
        }
    }
}

TEST_CASE("Philox gives the numbers that its authors publish") {
    const auto words = [](uint64_t counter, uint64_t stream, uint64_t key) {
        const warp_softmax::Philox random = warp_softmax::philox(counter, stream, key);
        return std::vector<uint32_t>(random.word, random.word + 4);
    };
    CHECK(words(0, 0, 0) == std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(words(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}) ==
          std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
}

TEST_CASE("dropout drops what seed and place say, the same in every type, and scales the rest") {
    const int64_t rows = 40;
    for (const int64_t cols : {33, 64, 500}) {
        const auto count = static_cast<size_t>(rows * cols);
        const DeviceBuffer<float> x(random_values<float>(count, 3));
        DeviceBuffer<float> plain(count);
        DeviceBuffer<float> dropped(count);
        REQUIRE(warp_softmax::softmax(x.data(), plain.data(), rows, cols, nullptr) == cudaSuccess);
        REQUIRE(warp_softmax::softmax_dropout(x.data(), dropped.data(), 0.25f, 2018, rows, cols,
                                              nullptr) == cudaSuccess);
        const std::vector<float> y = plain.download();
        const std::vector<float> z = dropped.download();
        int zeros = 0;
        for (size_t i = 0; i < count; ++i) {
            const bool gone = warp_softmax::is_dropped(2018, 0.25f, static_cast<int64_t>(i) / cols,
                                                       static_cast<int64_t>(i) % cols);
            zeros += gone;
            CHECK(z[i] == (gone ? 0.f : y[i] / 0.75f));
        }
        const double share = zeros / static_cast<double>(count);  // 5 standard deviations
        CHECK(std::fabs(share - 0.25) < 5 * std::sqrt(0.25 * 0.75 / static_cast<double>(count)));
    }
    DeviceBuffer<float> x(4);
    CHECK(warp_softmax::softmax_dropout(x.data(), x.data(), 1.f, 1, 1, 4, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(warp_softmax::softmax_dropout(x.data(), x.data(), NAN, 1, 1, 4, nullptr) ==
          cudaErrorInvalidValue);
}

TEST_CASE("04 passes thousands of random cases") {
    const runner::Stage stage = describe_04_warp_softmax();
    for (int64_t number = 0; number < 2000; ++number) {
        const runner::FuzzCase one = runner::fuzz_case({&stage}, "", 4, number, 4096);
        const std::string wrong = runner::run_case(one);
        if (wrong.empty()) continue;
        FAIL("case " << number << ": " << text_of(one) << ": " << wrong);
    }
}

TEST_CASE("04's causal softmax holds matrices as wide as it takes") {
    const std::vector<runner::Variant> variants = describe_04_warp_softmax().variants;
    const auto causal = std::find_if(variants.begin(), variants.end(), [](const auto& variant) {
        return variant.operation == runner::Operation::causal_softmax;
    });
    REQUIRE(causal != variants.end());
    for (const int64_t cols : {1000, 1025}) {
        testing::holds_where_it_fits<float>(*causal, {cols, cols});
        testing::holds_where_it_fits<__half>(*causal, {cols, cols});
    }
}

TEST_CASE("04 takes more elements and more rows than 32 bits count", "[huge]") {
    if (runner::build_info().backend != "cuda") return;  // minutes of work without a GPU
    for (const runner::Variant& variant : describe_04_warp_softmax().variants) {
        testing::holds_where_it_fits(variant, {(int64_t{1} << 31) / 1000 + 7, 1000});
        testing::holds_where_it_fits(variant, {(int64_t{1} << 31) + 5, 1});
    }
}

// Tiles of many rows and of one, groups that take several, and what no pack covers at both ends.
TEMPLATE_TEST_CASE("rows of any width move as one piece, wherever it begins", "", float, __half,
                   __nv_bfloat16, double) {
    for (const int64_t cols : {1, 3, 9, 12, 17, 24, 33, 63, 100, 129, 257, 333, 513, 777, 1023}) {
        for (const int64_t offset : {0, 1, 3}) {
            const int64_t rows = cols < 40 ? 1000 : 41;
            const auto around = static_cast<size_t>(offset + 8);
            const auto count = static_cast<size_t>(rows * cols);
            const std::vector<TestType> x = random_values<TestType>(around + count, 9);
            const DeviceBuffer<TestType> from(x);
            DeviceBuffer<TestType> to(x.size());
            to.poison();
            INFO(rows << " x " << cols << ", offset " << offset);
            REQUIRE(warp_softmax::softmax_any_width(from.data() + offset, to.data() + offset, rows,
                                                    cols, nullptr) == cudaSuccess);
            const std::vector<TestType> y = to.download();
            DeviceBuffer<TestType> logs(x);  // in place
            REQUIRE(warp_softmax::log_softmax_any_width(logs.data() + offset, logs.data() + offset,
                                                        rows, cols, nullptr) == cudaSuccess);
            const std::vector<TestType> log_y = logs.download();
            for (size_t i = 0; i < x.size(); ++i) {
                const auto inside =
                    i >= static_cast<size_t>(offset) && i < static_cast<size_t>(offset) + count;
                if (!inside) {
                    REQUIRE(std::isnan(to_double(y[i])));
                    REQUIRE(to_double(log_y[i]) == to_double(x[i]));
                }
            }
            for (const int64_t row : {int64_t{0}, rows / 2, rows - 1}) {
                const auto begin = static_cast<std::ptrdiff_t>(offset + row * cols);
                std::vector<double> values;
                std::vector<TestType> found;
                for (int64_t col = 0; col < cols; ++col) {
                    const auto at = static_cast<size_t>(begin + col);
                    values.push_back(to_double(x[at]));
                    found.push_back(y[at]);
                }
                const std::vector<double> wanted =
                    reference(values, std::vector<bool>(values.size(), true));
                expect_close(found, wanted);
                for (int64_t col = 0; col < cols; ++col) {
                    const double log_wanted = std::log(wanted[static_cast<size_t>(col)]);
                    const double log_found = to_double(log_y[static_cast<size_t>(begin + col)]);
                    CHECK(std::fabs(log_found - log_wanted) <=
                          tolerance<TestType>() * (1 + std::fabs(log_wanted)));
                }
            }
        }
    }
}
