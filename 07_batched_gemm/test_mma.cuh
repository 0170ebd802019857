// SPDX-License-Identifier: MIT
// Tests what further/mma_gemm.cuh, split_k.cuh and the steps on Hopper add to the lesson: epilogues, parts of k, tile after
// tile, and what they accept.
#pragma once
#include <array>
#include <cmath>
#include <vector>

#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/skip.hpp"
#include "further/eight_bits.cuh"
#include "further/few_rows.cuh"
#include "further/packed_lines.cuh"
#include "further/ring.cuh"
#include "further/split_k.cuh"

namespace mma_tests {

using batched_gemm::Problem;
using runner::DeviceBuffer;

// Returns element i of a batch of plain products.
template <class T>
double product_at(int64_t i, const std::vector<T>& a, const std::vector<T>& b, int64_t m, int64_t n,
                  int64_t k) {
    const int64_t batch = i / (m * n), row = i / n % m, col = i % n;
    double sum = 0;
    for (int64_t p = 0; p < k; ++p)
        sum += double{static_cast<float>(a[static_cast<size_t>((batch * m + row) * k + p)])} *
               double{static_cast<float>(b[static_cast<size_t>((batch * k + p) * n + col)])};
    return sum;
}

// Two products of 72 x 40 (or more rows) by 40 x 136 in small whole numbers, a bias per column, and a residual.
template <class T, int64_t kRows = 72>
struct Case {
    static constexpr int64_t kBatch = 2, kM = kRows, kN = 136, kK = 40;
    static std::vector<T> numbers(int64_t count, int seed, float scale) {
        std::vector<T> all;
        for (int64_t i = 0; i < count; ++i)
            all.push_back(
                static_cast<T>(scale * static_cast<float>((i * i + 3 * i + seed) % 5 - 2)));
        return all;
    }
    Case() {
        g.batch = kBatch;
        g.m = kM;
        g.n = kN;
        g.k = kK;
        g.alpha = 0.125f;
        g.a.data = on_a.data();
        g.a.ld = kK;
        g.a.stride = kM * kK;
        g.b.data = on_b.data();
        g.b.ld = kN;
        g.b.stride = kK * kN;
        g.c.data = on_c.data();
        g.c.ld = kN;
        g.c.stride = kM * kN;
        rest.data = on_residual.data();
        rest.ld = kN;
        rest.stride = kM * kN;
    }

    // Plain and Bias go through mma_with(). For other epilogues only the row-major kernel is compiled, not one for each
    // way in which A and B may be stored.
    template <class Epilogue>
    cudaError_t launch(const Epilogue& epilogue) {
        using Row = nvcuda::wmma::row_major;
        if constexpr (std::is_same_v<Epilogue, batched_gemm::Plain> ||
                      std::is_same_v<Epilogue, batched_gemm::Bias<T>>)
            return batched_gemm::mma_with(g, epilogue, nullptr);
        else
            return batched_gemm::launch_stored<float, batched_gemm::Stored<Row, Row>, true>(
                g, epilogue, nullptr);
    }

    // Returns how many results differ from wanted(product, bias, residual) by more than one rounding.
    template <class Epilogue, class Wanted>
    int wrong(const Epilogue& epilogue, Wanted wanted) {
        return wrong_by([&] { return launch(epilogue); }, wanted);
    }
    template <class Launch, class Wanted>
    int wrong_by(Launch launch, Wanted wanted) {
        on_c.poison();
        REQUIRE(launch() == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        const std::vector<T> c = on_c.download();
        int wrong = 0;
        for (int64_t i = 0; i < kBatch * kM * kN; ++i) {
            const double want = wanted(0.125 * product_at(i, a, b, kM, kN, kK),
                                       runner::to_double(bias[static_cast<size_t>(i % kN)]),
                                       runner::to_double(residual[static_cast<size_t>(i)]));
            const double unit = sizeof(T) == 2 && std::is_same_v<T, __half> ? 0x1p-11 : 0x1p-8;
            const double error = std::fabs(runner::to_double(c[static_cast<size_t>(i)]) - want);
            wrong += !(error <= 1.01 * unit * std::fabs(want) + 1e-5);
        }
        return wrong;
    }

    std::vector<T> a = numbers(kBatch * kM * kK, 1, 1), b = numbers(kBatch * kK * kN, 2, 1);
    std::vector<T> bias = numbers(kN, 3, 0.25f), residual = numbers(kBatch * kM * kN, 4, 3);
    DeviceBuffer<T> on_a{a}, on_b{b}, on_bias{bias}, on_residual{residual};
    DeviceBuffer<T> on_c{static_cast<size_t>(kBatch * kM * kN)};
    Problem<T> g{};
    batched_gemm::Matrices<const T> rest;
};

// Returns how many results differ from a plain loop's, for small whole numbers whose sums half represents exactly.
template <class Launch>
int wrong_sums(int64_t batch, int64_t m, int64_t n, int64_t k, Launch launch) {
    const auto a = Case<__half>::numbers(batch * m * k, 1, 1),
               b = Case<__half>::numbers(batch * k * n, 2, 1);
    const DeviceBuffer<__half> on_a{a}, on_b{b};
    DeviceBuffer<__half> on_c{static_cast<size_t>(batch * m * n)};
    on_c.poison();
    Problem<__half> g{};
    g.batch = batch, g.m = m, g.n = n, g.k = k;
    g.a.data = on_a.data(), g.a.ld = k, g.a.stride = m * k;
    g.b.data = on_b.data(), g.b.ld = n, g.b.stride = k * n;
    g.c.data = on_c.data(), g.c.ld = n, g.c.stride = m * n;
    REQUIRE(launch(g) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<__half> c = on_c.download();
    int wrong = 0;
    for (int64_t i = 0; i < batch * m * n; ++i) {
        wrong += runner::to_double(c[static_cast<size_t>(i)]) != product_at(i, a, b, m, n, k);
    }
    return wrong;
}

// False without a Hopper GPU, or if the tests were not compiled for one.
bool has_hopper() {
    return batched_gemm::one_tile(Case<__half>().g, nullptr) != cudaErrorNotSupported;
}

TEST_CASE("tiles by TMA and wgmma: every size, also where a tile hangs over the edge") {
    Case<__half> one;
    const auto runs = [&] { return batched_gemm::one_tile(one.g, nullptr); };
    if (!has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    const auto wrong_in_one_tile = [](int64_t batch, int64_t m, int64_t n, int64_t k) {
        return wrong_sums(batch, m, n, k,
                          [](const auto& g) { return batched_gemm::one_tile(g, nullptr); });
    };
    CHECK(one.wrong_by(runs, [](double x, double, double) { return x; }) == 0);
    CHECK(wrong_in_one_tile(1, 1, 8, 8) == 0);
    CHECK(wrong_in_one_tile(1, 64, 64, 64) == 0);
    CHECK(wrong_in_one_tile(2, 100, 136, 200) == 0);
    one.g.a.transposed = true;
    CHECK(runs() == cudaErrorNotSupported);
    one.g.a.transposed = false;
    one.g.b.ld = 137;
    CHECK(runs() == cudaErrorNotSupported);
    one.g.b.ld = 136;
    one.g.a.data += 1;
    CHECK(runs() == cudaErrorNotSupported);
}

TEST_CASE("the ring takes more steps along k than it has stages") {
    if (!has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    const auto launch = [](const auto& g) { return batched_gemm::ring(g, nullptr); };
    CHECK(wrong_sums(1, 200, 264, 5 * 64 + 8, launch) == 0);
    CHECK(wrong_sums(2, 8, 8, 8, launch) == 0);
    CHECK(wrong_sums(1, 8, 8, 8 * 64, launch) == 0);
}

cudaError_t wrong_plan(const batched_gemm::HopperPlan& plan) {
    return batched_gemm::launch_hopper(Case<__half>().g, plan, 1, batched_gemm::Plain{}, nullptr);
}
TEST_CASE("persistent blocks compute several tiles, alone or in pairs, in bands of any height") {
    if (!has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    struct Plan {
        int blocks, band, at_once;
    };
    struct Size {
        int rows, cols;
    };
    for (const auto& [rows, cols] :
         {Size{128, 64}, Size{128, 128}, Size{128, 192}, Size{128, 256}, Size{192, 128}}) {
        for (const Plan& plan : {Plan{1, 1, 1}, Plan{1, 2, 3}, Plan{2, 1, 2}, Plan{2, 2, 4}}) {
            const batched_gemm::HopperPlan of{cols, plan.blocks, plan.band, rows};
            INFO(rows << " x " << cols << ", " << plan.blocks << " in a cluster, bands of "
                      << plan.band << ", " << plan.at_once);
            for (const int64_t k : {40, 200}) {
                CHECK(wrong_sums(2, 2 * rows + 14, cols + 8, k, [&](const auto& g) {
                          using batched_gemm::Begin;
                          return batched_gemm::launch_hopper(
                              g, of, plan.at_once, batched_gemm::Plain{}, nullptr,
                              plan.band == 1 ? Begin::with_b : Begin::after);
                      }) == 0);
            }
        }
    }
    for (const batched_gemm::HopperPlan& plan :
         {batched_gemm::HopperPlan{96, 1, 1}, batched_gemm::HopperPlan{0, 1, 1},
          batched_gemm::HopperPlan{64, 0, 1}, batched_gemm::HopperPlan{64, 3, 1},
          batched_gemm::HopperPlan{64, 1, 0}, batched_gemm::HopperPlan{256, 1, 1, 192},
          batched_gemm::HopperPlan{64, 1, 1, 192}, batched_gemm::HopperPlan{128, 1, 1, 64}})
        CHECK(wrong_plan(plan) == cudaErrorInvalidValue);
}

TEST_CASE(
    "Hopper's plan: wide tiles in pairs for large products, tiles that fill the last wave for "
    "others") {
    const auto plan = [](auto of, int64_t batch, int64_t m, int64_t n, int64_t k) {
        Problem<__half, decltype(of)> g{};
        g.batch = batch, g.m = m, g.n = n, g.k = k, g.c.ld = n, g.c.stride = m * n;
        g.a.ld = k, g.b.ld = n;
        const batched_gemm::HopperPlan best = batched_gemm::hopper_plan(g, 132);
        return std::array<int, 3>{best.rows, best.cols, best.blocks};
    };
    CHECK(plan(__half{}, 16, 2048, 2048, 2048) == std::array<int, 3>{128, 256, 2});
    CHECK(plan(__half{}, 384, 512, 512, 64) == std::array<int, 3>{128, 128, 2});  // a short k
    CHECK(plan(__half{}, 1, 16384, 192, 512)[1] == 192);
    // Lines that do not begin at multiples of 128 bytes: the tile that loads the fewest.
    CHECK(plan(__half{}, 1, 3000, 1000, 5000) == std::array<int, 3>{128, 256, 2});
    // 128 tiles of 192 columns for 132 multiprocessors; of 256 columns there are 96.
    CHECK(plan(__half{}, 1, 4096, 768, 3072)[1] == 192);
    CHECK(plan(__half{}, 1, 1024, 3072, 768)[1] == 192);
    // One row of tiles, each of which has C in each of its rows.
    CHECK(plan(__half{}, 1, 192, 16384, 512) == std::array<int, 3>{192, 128, 1});
    CHECK(plan(float{}, 1, 4096, 768, 3072) == std::array<int, 3>{128, 128, 2});
    CHECK(plan(float{}, 1, 4096, 4096, 4096)[1] == 128);
}

// Products whose operands run along k, A as it is and B transposed.
template <class T, class Result>
struct AlongK {
    AlongK(int64_t batch, int64_t m, int64_t n, int64_t k, int64_t c_pitch)
        : a(Case<T>::numbers(batch * m * k, 1, 1)),
          b(Case<T>::numbers(batch * k * n, 2, 1)),
          on_a(a),
          on_c(static_cast<size_t>(batch * m * c_pitch)) {
        std::vector<T> turned(b.size());
        for (int64_t i = 0; i < batch * k * n; ++i)
            turned[static_cast<size_t>((i / (k * n) * n + i % n) * k + i / n % k)] =
                b[static_cast<size_t>(i)];
        on_b = DeviceBuffer<T>(turned);
        g.batch = batch, g.m = m, g.n = n, g.k = k;
        g.a.data = on_a.data(), g.a.ld = k, g.a.stride = m * k;
        g.b.data = on_b.data(), g.b.ld = k, g.b.stride = n * k, g.b.transposed = true;
        g.c.data = on_c.data(), g.c.ld = c_pitch, g.c.stride = m * c_pitch;
    }
    // Returns how many results differ from wanted(product, row, column).
    template <class Launch, class Wanted>
    int wrong(Launch launch, Wanted wanted) {
        on_c.poison();
        REQUIRE(launch(g) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        const std::vector<Result> c = on_c.download();
        int wrong = 0;
        for (int64_t i = 0; i < g.batch * g.m * g.n; ++i) {
            const int64_t row = i / g.n, col = i % g.n;
            const double want = wanted(product_at(i, a, b, g.m, g.n, g.k), row % g.m, col);
            wrong += static_cast<double>(
                         static_cast<float>(c[static_cast<size_t>(row * g.c.ld + col)])) != want;
        }
        return wrong;
    }
    std::vector<T> a, b;
    DeviceBuffer<T> on_a, on_b{size_t{0}};
    DeviceBuffer<Result> on_c;
    Problem<T, Result> g{};
};

template <class T, class Result>
struct Types {
    using Element = T;
    using Of = Result;
};
using EightE4m3 = Types<__nv_fp8_e4m3, __half>;
using WideE4m3 = Types<__nv_fp8_e4m3, float>;
using EightInts = Types<int8_t, __nv_bfloat16>;
using WideInts = Types<int8_t, int>;
using Tf32 = Types<float, float>;
using ToE4m3 = Types<__half, __nv_fp8_e4m3>;
using OfE4m3ToE4m3 = Types<__nv_fp8_e4m3, __nv_fp8_e4m3>;
using ToBytes = Types<int8_t, int8_t>;
TEMPLATE_TEST_CASE(
    "Hopper's kernel multiplies other types, and writes results of one, two and four bytes", "",
    ToE4m3, ToBytes, EightE4m3, WideE4m3, EightInts, WideInts, Tf32) {
    using T = typename TestType::Element;
    using Result = typename TestType::Of;
    if (!has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    const auto product = [](double x, int64_t, int64_t) { return x; };
    for (const int cols : {64, 128, 256}) {
        for (const int64_t c_pitch : {320, 301}) {  // by tensor stores, and by threads
            INFO(cols << " columns, pitch " << c_pitch);
            AlongK<T, Result> one(2, 200, 300, 144, c_pitch);
            if (cols == (sizeof(Result) == 4 ? 256 : sizeof(Result) == 1 ? 64 : 0)) {
                CHECK(batched_gemm::launch_hopper(one.g, batched_gemm::HopperPlan{cols, 2, 1}, 4,
                                                  batched_gemm::Plain{},
                                                  nullptr) == cudaErrorInvalidValue);
                continue;
            }
            CHECK(one.wrong(
                      [&](const auto& g) {
                          return batched_gemm::launch_hopper(g,
                                                             batched_gemm::HopperPlan{cols, 2, 1},
                                                             4, batched_gemm::Plain{}, nullptr);
                      },
                      product) == 0);
        }
    }
    AlongK<T, Result> one(1, 8, 16, 16, 16);
    const auto status = [&] {
        return batched_gemm::hopper_with(one.g, batched_gemm::Plain{}, nullptr);
    };
    CHECK(status() == cudaSuccess);
    one.g.b.transposed = false;
    one.g.b.ld = 16;
    CHECK(status() == (sizeof(T) == 2 ? cudaSuccess : cudaErrorNotSupported));
    one.g.b.transposed = true;
    one.g.alpha = 2;
    CHECK(status() == (std::is_same_v<Result, int> ? cudaErrorInvalidValue : cudaSuccess));
}

struct AddsHalf {
    __device__ float operator()(float x, int64_t, int64_t, int64_t) const { return x + 0.5f; }
};
TEMPLATE_TEST_CASE("results are rounded to 8 bits, and their largest magnitude is kept", "", ToE4m3,
                   OfE4m3ToE4m3, ToBytes) {
    using Result = typename TestType::Of;
    if (!has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    for (const float factor : {0.25f, 100.f}) {  // the second is too large for many results
        AlongK<typename TestType::Element, Result> one(2, 150, 272, 48, factor < 1 ? 272 : 275);
        double most = 0;
        for (int64_t i = 0; i < 2 * 150 * 272; ++i)
            most = std::max(most, std::fabs(product_at(i, one.a, one.b, 150, 272, 48) + 0.5));
        const DeviceBuffer<float> scale(std::vector<float>{factor});
        DeviceBuffer<float> largest(std::vector<float>{0.f});
        const batched_gemm::Quantise<AddsHalf> quantise{scale.data(), largest.data(), {}};
        CHECK(one.wrong(
                  [&](const auto& g) { return batched_gemm::hopper_with(g, quantise, nullptr); },
                  [&](double x, int64_t, int64_t) {
                      const double scaled = factor * (x + 0.5);
                      if (std::is_same_v<Result, int8_t>)
                          return std::nearbyint(std::min(127., std::max(-128., scaled)));
                      return double{static_cast<float>(static_cast<Result>(scaled))};
                  }) == 0);
        CHECK(largest.download()[0] == most);
    }
    // What is there already may be larger. NaN counts as the largest.
    AlongK<typename TestType::Element, Result> one(1, 20, 272, 48, 272);
    const DeviceBuffer<float> scale(std::vector<float>{1.f});
    DeviceBuffer<float> largest(std::vector<float>{1e6f});
    const auto first_result = [&](float alpha, float* largest_of) {
        one.g.alpha = alpha;
        const batched_gemm::Quantise<> quantise{scale.data(), largest_of, {}};
        CHECK(batched_gemm::hopper_with(one.g, quantise, nullptr) == cudaSuccess);
        return static_cast<float>(one.on_c.download()[0]);
    };
    CHECK(first_result(0, largest.data()) == 0);
    CHECK(largest.download()[0] == 1e6f);
    const float nan = first_result(NAN, largest.data());
    CHECK((std::is_same_v<Result, int8_t> ? nan == -128 : std::isnan(nan)));
    CHECK(std::isnan(largest.download()[0]));
    CHECK(first_result(0, nullptr) == 0);
}

TEST_CASE("the sums of C's rows come in parts, one per tile across C") {
    if (!has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    for (const int64_t n : {40, 100, 300}) {
        AlongK<__half, __half> one(2, 150, n, 48, 304);
        const int64_t parts = batched_gemm::row_sum_parts(one.g);
        CHECK(parts == (n == 300 ? 5 : n == 100 ? 2 : 1));  // tiles of 64 columns
        DeviceBuffer<float> sums(static_cast<size_t>(2 * parts * 150));
        sums.poison();
        CHECK(one.wrong(
                  [&](const auto& g) {
                      return batched_gemm::hopper_with(
                          g, batched_gemm::RowSums<AddsHalf>{sums.data(), {}}, nullptr);
                  },
                  [](double x, int64_t, int64_t) { return x + 0.5; }) == 0);
        const std::vector<float> got = sums.download();
        int wrong = 0;
        for (int64_t row = 0; row < 2 * 150; ++row) {
            double want = 0, sum = 0;
            for (int64_t col = 0; col < n; ++col)
                want += product_at(row * n + col, one.a, one.b, 150, n, 48) + 0.5;
            for (int64_t part = 0; part < parts; ++part)
                sum += got[static_cast<size_t>((row / 150 * parts + part) * 150 + row % 150)];
            wrong += sum != want;
        }
        CHECK(wrong == 0);
    }
}

// Both operands are copied by one launch. They end where their memory ends, so reads beyond them would be found.
TEMPLATE_TEST_CASE("lines at any address are copied to multiples of 16 bytes", "", int8_t, __half,
                   float) {
    using T = TestType;
    using Copies = batched_gemm::PackedLines<T>;
    const auto element = [](int64_t i) { return static_cast<T>(static_cast<float>(i % 97)); };
    const auto operand = [](int64_t lines, int64_t length, int64_t offset) {
        const int64_t ld = length % 2 == 0 ? length + 1 : length, stride = lines * ld + 2;
        batched_gemm::Matrices<const T> of;
        of.ld = ld, of.stride = stride;
        return std::pair{of, offset + stride + (lines - 1) * ld + length};  // two matrices
    };
    for (int64_t offset = 0; offset < batched_gemm::kPerPack<T>; ++offset) {
        for (const int64_t length : {1, 9, 100, 4100}) {
            INFO("elements before the first line: " << offset << ", in a line: " << length);
            auto [a, elements_of_a] = operand(3, length, offset);
            auto [b, elements_of_b] = operand(20, 9, 1);
            std::vector<T> values;
            for (int64_t i = 0; i < std::max(elements_of_a, elements_of_b); ++i)
                values.push_back(element(i));
            const auto first_of = [&](int64_t count) {
                return std::vector<T>(values.begin(), values.begin() + count);
            };
            const DeviceBuffer<T> on_a(first_of(elements_of_a)), on_b(first_of(elements_of_b));
            a.data = on_a.data() + offset, b.data = on_b.data() + 1;
            Copies of_a(a, 2, 3, length, true), of_b(b, 2, 20, 9, true);
            const auto count = [](const Copies& of) { return of.bytes() / sizeof(T); };
            DeviceBuffer<T> to_a(count(of_a)), to_b(count(of_b));
            of_a.to = to_a.data(), of_b.to = to_b.data();
            REQUIRE(batched_gemm::pack(of_a, of_b, nullptr) == cudaSuccess);
            REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
            int wrong = 0;
            const auto compare = [&](const Copies& of, const std::vector<T>& got, int64_t before) {
                CHECK(of.pitch % batched_gemm::kPerPack<T> == 0);
                for (int64_t line = 0; line < 2 * of.lines; ++line) {
                    for (int64_t i = 0; i < of.length; ++i) {
                        const int64_t from = before + line / of.lines * of.from.stride +
                                             line % of.lines * of.from.ld + i;
                        wrong += runner::to_double(got[static_cast<size_t>(line * of.pitch + i)]) !=
                                 runner::to_double(element(from));
                    }
                }
            };
            compare(of_a, to_a.download(), offset);
            compare(of_b, to_b.download(), 1);
            CHECK(wrong == 0);
        }
    }
}

TEMPLATE_TEST_CASE("operands that do not run along k are turned on the way to a workspace", "",
                   EightE4m3, OfE4m3ToE4m3, ToE4m3, ToBytes, WideInts, Tf32) {
    using T = typename TestType::Element;
    using Result = typename TestType::Of;
    if (!has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    AlongK<T, Result> one(2, 70, 101, 45, 101);
    // A as k x m, B as k x n.
    std::vector<T> turned(one.a.size());
    for (int64_t i = 0; i < 2 * 70 * 45; ++i)
        turned[static_cast<size_t>((i / (70 * 45) * 45 + i % 45) * 70 + i / 45 % 70)] =
            one.a[static_cast<size_t>(i)];
    const DeviceBuffer<T> a(turned), b(one.b);
    one.g.a.data = a.data(), one.g.a.ld = 70, one.g.a.transposed = true;
    one.g.b.data = b.data(), one.g.b.ld = 101, one.g.b.transposed = false;
    DeviceBuffer<unsigned char> workspace(batched_gemm::PackedOperands<T>(one.g).bytes());
    const auto run = [&](const auto& g) {
        return batched_gemm::packed_with(g, workspace.data(), batched_gemm::Plain{}, nullptr);
    };
    CHECK(one.wrong(run, [](double x, int64_t, int64_t) {
        return double{static_cast<float>(static_cast<Result>(static_cast<float>(x)))};
    }) == 0);
    CHECK(batched_gemm::packed_with(one.g, nullptr, batched_gemm::Plain{}, nullptr) ==
          cudaErrorInvalidValue);
}

TEMPLATE_TEST_CASE("8-bit products are scaled as a whole, by rows and by columns", "", EightE4m3,
                   EightInts) {
    using T = typename TestType::Element;
    if (!has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    AlongK<T, float> one(2, 24, 136, 48, 136);
    std::vector<float> rows, cols;
    for (int i = 0; i < 136; ++i) rows.push_back(1.f + i % 3), cols.push_back(0.5f * (1 + i % 5));
    const DeviceBuffer<float> on_rows(rows), on_cols(cols), quarter(std::vector<float>{0.25f});
    const auto wrong = [&](const batched_gemm::Scales& scales, auto factor) {
        return one.wrong(
            [&](const auto& g) { return batched_gemm::eight_bit_gemm(g, scales, nullptr); },
            [&](double x, int64_t row, int64_t col) { return x * factor(row, col); });
    };
    CHECK(wrong({}, [](int64_t, int64_t) { return 1; }) == 0);
    CHECK(wrong({quarter.data(), on_rows.data(), on_cols.data()}, [&](int64_t row, int64_t col) {
              return 0.25 * rows[static_cast<size_t>(row)] * cols[static_cast<size_t>(col)];
          }) == 0);
}

TEMPLATE_TEST_CASE("each epilogue changes every result of Hopper's kernel", "", __half,
                   __nv_bfloat16) {
    using T = TestType;
    if (!has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    Case<T> one;
    const auto wrong = [&](const auto& epilogue, auto wanted) {
        return one.wrong_by([&] { return batched_gemm::hopper_with(one.g, epilogue, nullptr); },
                            wanted);
    };
    const batched_gemm::Bias<T> bias{one.on_bias.data()};
    CHECK(wrong(bias, [](double x, double b, double) { return x + b; }) == 0);
    CHECK(wrong(batched_gemm::BiasActivation<T, batched_gemm::Relu>{bias, {}},
                [](double x, double b, double) { return x + b > 0 ? x + b : 0; }) == 0);
    CHECK(wrong(batched_gemm::BiasResidual<T>{bias, one.rest},
                [](double x, double b, double r) { return x + b + r; }) == 0);
    one.g.a.data += 1;
    CHECK(batched_gemm::hopper_with(one.g, bias, nullptr) == cudaErrorNotSupported);
    one.g.k = 0;
    CHECK(batched_gemm::hopper_with(one.g, bias, nullptr) == cudaErrorNotSupported);
    one.g.m = -1;
    CHECK(batched_gemm::hopper_with(one.g, bias, nullptr) == cudaErrorInvalidValue);
}

TEST_CASE("few rows: every height of tiles, any number of blocks that share k") {
    if (!has_hopper()) return testing::skip("wgmma is there for sm_90a alone");
    using batched_gemm::FewRowsPlan;
    const auto wrong = [](const FewRowsPlan& plan, int64_t m, int64_t n, int64_t k) {
        return wrong_sums(2, m, n, k, [&](const auto& g) {
            return batched_gemm::few_rows_with(g, plan, batched_gemm::Plain{}, nullptr);
        });
    };
    for (const int rows : {16, 32, 64, 128}) {
        for (const int parts : {1, 2, 3, 8}) {
            INFO(rows << " rows, " << parts << " parts");
            CHECK(wrong({rows, parts}, rows - 7, 136, 40) == 0);    // fewer steps than parts
            CHECK(wrong({rows, parts}, rows + 1, 200, 1032) == 0);  // more steps than stages
        }
    }
    Case<__half> one;
    const batched_gemm::BiasActivation<__half, batched_gemm::Relu> epilogue{{one.on_bias.data()},
                                                                            {}};
    const auto launch = [&](const FewRowsPlan& plan, bool early) {
        return batched_gemm::few_rows_with(one.g, plan, epilogue, nullptr, early);
    };
    for (const bool early : {false, true}) {
        CHECK(one.wrong_by(
                  [&] {
                      return launch({32, 2}, early);
                  },
                  [](double x, double b, double) { return x + b > 0 ? x + b : 0; }) == 0);
    }
    for (const FewRowsPlan& plan :
         {FewRowsPlan{16, 0}, FewRowsPlan{16, 9}, FewRowsPlan{48, 1}, FewRowsPlan{0, 1}})
        CHECK(launch(plan, false) == cudaErrorInvalidValue);
    one.g.a.transposed = true;
    CHECK(launch({16, 1}, false) == cudaErrorInvalidValue);
    one.g.a.transposed = false;
    one.g.a.data += 1;
    CHECK(launch({16, 1}, false) == cudaErrorNotSupported);
    one.g.m = -1;
    CHECK(launch({16, 1}, false) == cudaErrorInvalidValue);
}

TEST_CASE("a plan for few rows fills the GPU and gives each block some steps") {
    const auto problem = [](int64_t batch, int64_t m, int64_t n, int64_t k,
                            bool transposed = false) {
        Problem<__half> g{};
        g.batch = batch, g.m = m, g.n = n, g.k = k, g.a.transposed = transposed;
        return g;
    };
    const auto rows = [](const Problem<__half>& g) { return batched_gemm::few_rows_height(g); };
    const auto parts = [&](const Problem<__half>& g) {
        return batched_gemm::few_rows_plan(g, 132).parts;
    };
    CHECK(rows(problem(1, 1, 8, 8)) == 16);
    CHECK(rows(problem(1, 32, 4096, 4096)) == 32);
    CHECK(rows(problem(1, 17, 128, 4096, true)) == 64);
    CHECK(rows(problem(1000, 500, 4096, 4096)) == 128);
    // 32 tiles: at most 39 clusters of 3 run at once, and 31 of 4
    CHECK(parts(problem(1, 32, 4096, 4096)) == 3);
    CHECK(parts(problem(1, 1, 4096, 64)) == 1);     // a single step
    CHECK(parts(problem(1, 1, 16896, 4096)) == 1);  // a tile for each multiprocessor
    CHECK(parts(problem(1, 1, 128, 4096)) == 8);    // one tile
    CHECK(parts(problem(1000, 500, 4096, 4096)) == 1);

    // Tiles that are lower than C, where sums take longer to send than B to read; never for many rows.
    const auto plan = [](const Problem<__half>& g) {
        return batched_gemm::few_rows_plan(g, 132).rows;
    };
    CHECK(plan(problem(1, 128, 768, 768)) < 128);
    CHECK(plan(problem(1, 128, 768, 768, true)) == 64);  // lines along m have 64 elements
    CHECK(plan(problem(1, 1024, 768, 3072)) == 128);
    CHECK(plan(problem(1, 1, 768, 768)) == 16);
}

template <class Activation>
__global__ void activate_kernel(const float* x, float* y, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) y[i] = static_cast<Activation>(batched_gemm::Gelu{})(x[i]);
}
TEST_CASE("GELU for 16 bits keeps its bound, and what is not finite stays so") {
    std::vector<float> x;
    for (int i = -6000; i <= 6000; ++i) x.push_back(static_cast<float>(i) / 500.f);
    for (const float each : {-1e4f, -60.f, 60.f, 1e4f, 1e30f, -1e30f, 0.f, -0.f}) x.push_back(each);
    const size_t finite = x.size();
    for (const float each : {NAN, INFINITY, -INFINITY}) x.push_back(each);
    const DeviceBuffer<float> on_x{x};
    DeviceBuffer<float> on_y{x.size()};
    const auto count = static_cast<unsigned>(x.size());
    activate_kernel<batched_gemm::ForResult<__half, batched_gemm::Gelu>>
        <<<(count - 1) / 256 + 1, 256>>>(on_x.data(), on_y.data(), static_cast<int>(count));
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<float> y = on_y.download();
    int wrong = 0;
    for (size_t i = 0; i < finite; ++i) {
        const double at = static_cast<double>(x[i]),
                     want = 0.5 * at * std::erfc(-at / std::sqrt(2.)),
                     error = std::fabs(static_cast<double>(y[i]) - want);
        wrong += !(error <= std::fmax(0x1p-13 * std::fabs(want), 0x1p-26));
    }
    CHECK(wrong == 0);
    for (size_t i = finite; i < x.size(); ++i) CHECK(std::isnan(y[i]));
    static_assert(
        std::is_same_v<batched_gemm::ForResult<float, batched_gemm::Gelu>, batched_gemm::Gelu>,
        "float results need the accurate one");
}

TEMPLATE_TEST_CASE("each epilogue changes every result as it should", "", __half, __nv_bfloat16) {
    using T = TestType;
    Case<T> one;
    const batched_gemm::Bias<T> bias{one.on_bias.data()};
    CHECK(one.wrong(batched_gemm::Plain{}, [](double x, double, double) { return x; }) == 0);
    CHECK(one.wrong(bias, [](double x, double b, double) { return x + b; }) == 0);
    CHECK(one.wrong(batched_gemm::BiasActivation<T, batched_gemm::Gelu>{bias, {}},
                    [](double x, double b, double) {
                        return 0.5 * (x + b) * (1 + std::erf((x + b) / std::sqrt(2.)));
                    }) == 0);
    CHECK(one.wrong(
              batched_gemm::BiasActivation<T, batched_gemm::GeluByTanh>{bias, {}},
              [](double x, double b, double) {
                  const double sum = x + b;
                  return 0.5 * sum *
                         (1 + std::tanh(std::sqrt(2 / M_PI) * (sum + 0.044715 * sum * sum * sum)));
              }) == 0);
    CHECK(one.wrong(batched_gemm::BiasResidual<T>{bias, one.rest},
                    [](double x, double b, double r) { return x + b + r; }) == 0);
}

// k = 40 is a single step: the parts after the first have nothing to sum, but still rows to write.
TEST_CASE("the sum is the same for any number of blocks that share k, launched early or not") {
    using Stored = batched_gemm::Stored<nvcuda::wmma::row_major, nvcuda::wmma::row_major>;
    Case<__half> one;
    const batched_gemm::BiasActivation<__half, batched_gemm::Relu> epilogue{{one.on_bias.data()},
                                                                            {}};
    const auto launch = [&](int64_t parts, bool early) {
        return batched_gemm::split_k_with<Stored>(one.g, parts, epilogue, nullptr, early);
    };
    for (const int64_t parts : {1, 2, 3, 8}) {
        for (const bool early : {false, true}) {
            CHECK(one.wrong_by([&] { return launch(parts, early); },
                               [](double x, double b, double) { return x + b > 0 ? x + b : 0; }) ==
                  0);
        }
    }
    for (const int64_t parts : {-1, 0, 9}) CHECK(launch(parts, false) == cudaErrorInvalidValue);
    one.g.c.data = one.on_c.data() + 1;
    one.g.batch = 1;
    CHECK(launch(2, false) == cudaErrorNotSupported);
    CHECK(batched_gemm::split_k_gemm(one.g, 2, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    one.g.m = -1;
    CHECK(launch(2, false) == cudaErrorInvalidValue);
}

TEST_CASE("blocks that walk over several tiles give the same results as one tile each") {
    using Row = nvcuda::wmma::row_major;
    using Col = nvcuda::wmma::col_major;
    using batched_gemm::Plain;
    using batched_gemm::Short;
    using Walked = Case<__half, 200>;  // four tiles, the last one partly filled
    Walked one;
    const auto product = [](double x, double, double) { return x; };
    for (const int tiles : {1, 2, 3, 4, 8}) {
        INFO(tiles);
        CHECK(one.wrong_by(
                  [&] {
                      return batched_gemm::launch_walking<float, batched_gemm::Stored<Row, Row>,
                                                          Short>(one.g, tiles, Plain{}, nullptr);
                  },
                  product) == 0);
    }
    std::vector<__half> across(one.a.size());
    for (int64_t i = 0; i < Walked::kBatch * Walked::kM * Walked::kK; ++i) {
        const int64_t matrix = i / (Walked::kM * Walked::kK), row = i / Walked::kK % Walked::kM;
        across[static_cast<size_t>((matrix * Walked::kK + i % Walked::kK) * Walked::kM + row)] =
            one.a[static_cast<size_t>(i)];
    }
    const DeviceBuffer<__half> on_across(across);
    one.g.a.data = on_across.data();
    one.g.a.ld = Walked::kM;
    one.g.a.transposed = true;
    CHECK(one.wrong_by(
              [&] {
                  return batched_gemm::launch_walking<float, batched_gemm::Stored<Col, Row>, Short>(
                      one.g, 3, Plain{}, nullptr);
              },
              product) == 0);
}

TEST_CASE("blocks walk over several tiles only where enough blocks remain") {
    const auto walked = [](int64_t batch, int64_t m, int64_t n) {
        return batched_gemm::tiles_to_walk(batch, m, n, 64, 128);
    };
    CHECK(walked(384, 128, 128) == 1);
    CHECK(walked(384, 256, 256) == 2);
    CHECK(walked(384, 512, 512) == 8);
    CHECK(walked(384, 1024, 1024) == 8);
    CHECK(walked(2, 128, 128) == 1);
    CHECK(walked(1000000, 64, 8) == 1);  // only one tile down
    CHECK(walked(0, 512, 512) == 1);
    CHECK(walked(INT64_MAX, 512, INT64_MAX - 127) == 8);
}

TEST_CASE("lines without packs go to tensor_core, and with an epilogue they are refused") {
    Case<__half> one;
    one.g.c.data = one.on_c.data() + 1;
    one.g.batch = 1;
    CHECK(batched_gemm::mma_with(one.g, batched_gemm::Plain{}, nullptr) == cudaErrorNotSupported);
    CHECK(batched_gemm::mma_gemm(one.g, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    one.g.m = -1;
    CHECK(batched_gemm::mma_gemm(one.g, nullptr) == cudaErrorInvalidValue);
    one.g.m = 0;
    CHECK(batched_gemm::mma_gemm(one.g, nullptr) == cudaSuccess);
}

}  // namespace mma_tests
