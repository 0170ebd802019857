// SPDX-License-Identifier: MIT
// How NVIDIA's libraries, which read matrices column by column, see a row-major product.
#include "common/operations/gemm/cublas.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/operations/gemm/cublas_lt.hpp"
#include "common/operations/gemm/cutlass_product.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"

namespace {

using namespace operations::gemm;

// Element (row, col) as BLAS has it: of what the library calls `first`, say, or of its transpose.
double element(const std::vector<double>& of, const CublasMatrix& matrix, int64_t row,
               int64_t col) {
    const int64_t at = matrix.transposed ? row * matrix.rows + col : col * matrix.rows + row;
    return of[static_cast<size_t>(at)];
}

std::vector<double> numbers(int64_t count, int seed) {
    std::vector<double> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(static_cast<double>((i * i + seed) % 7));
    return all;
}

}  // namespace

TEST_CASE("what cuBLAS is told multiplies row-major matrices, transposed or not") {
    for (const bool of_a : {false, true}) {
        for (const bool of_b : {false, true}) {
            INFO("transposed: " << of_a << ", " << of_b);
            const Shape shape = Shape(1, 3, 5, 4).with_transposed(of_a, of_b);
            const std::vector<double> a = numbers(12, 1), b = numbers(20, 2);
            const CublasProduct of(shape);
            REQUIRE(of.first.elements() == 20);
            REQUIRE(of.second.elements() == 12);
            REQUIRE(of.result.elements() == 15);
            for (int64_t row = 0; row < 3; ++row) {
                for (int64_t col = 0; col < 5; ++col) {
                    double ours = 0, theirs = 0;
                    for (int64_t p = 0; p < 4; ++p) {
                        ours += a[static_cast<size_t>(of_a ? p * 3 + row : row * 4 + p)] *
                                b[static_cast<size_t>(of_b ? col * 4 + p : p * 5 + col)];
                        theirs += element(b, of.first, col, p) * element(a, of.second, p, row);
                    }
                    CHECK(theirs == ours);
                    // Its (col, row), column by column, is our (row, col), row by row.
                    CHECK(row * of.result.rows + col == row * 5 + col);
                }
            }
        }
    }
}

TEST_CASE("without cuBLASLt a product has another roof, and it is said why") {
    const Shape shape(1, 8, 8, 8);
    const bool is_here = cublas_lt_obstacle().empty();
    CHECK((operation()->roof() == runner::Roof::own) == is_here);
    if (!runner::on_gpu()) {
        CHECK(cublas_lt_obstacle() == "needs a GPU");
        CHECK(lt_candidates(shape, DType::float16).count() == 0);
        CHECK(lt_candidates(shape, DType::float16)
                  .launch(0, nullptr, nullptr, nullptr, nullptr, nullptr) == cudaErrorNotSupported);
    }
}

// C = f(A I + bias): what f is, is found by its values. NVIDIA's documentation only says GELU.
TEST_CASE("cuBLASLt's GELU is the one by tanh, and a bias is added to each column") {
    if (!cublas_lt_obstacle().empty()) {
        CHECK(lt_candidates(Shape(1, 8, 8, 8), DType::float32, Kind::float_sums, LtEpilogue::bias)
                  .count() == 0);
        return;
    }
    constexpr int64_t kRows = 64, kCols = 8;
    std::vector<float> a, identity, bias;
    for (int64_t i = 0; i < kRows * kCols; ++i)
        a.push_back(static_cast<float>(i) / 64.f - 4.f);  // -4 to 4
    for (int64_t i = 0; i < kCols * kCols; ++i)
        identity.push_back(i % (kCols + 1) == 0 ? 1.f : 0.f);
    for (int64_t i = 0; i < kCols; ++i) bias.push_back(0.125f * static_cast<float>(i));
    using Buffer = runner::DeviceBuffer<float>;
    const Buffer d_a(a), d_b(identity), d_bias(bias);
    runner::DeviceBuffer<unsigned char> workspace(kCublasWorkspace);
    for (const LtEpilogue epilogue : {LtEpilogue::bias, LtEpilogue::bias_gelu}) {
        const Shape shape(1, kRows, kCols, kCols);
        const LtCandidates& ways = lt_candidates(shape, DType::float32, Kind::float_sums, epilogue);
        REQUIRE(ways.count() > 0);
        for (size_t way = 0; way < ways.count(); ++way) {
            Buffer c(a.size());
            REQUIRE(ways.launch(way, d_a.data(), d_b.data(), c.data(), workspace.data(), nullptr,
                                d_bias.data()) == cudaSuccess);
            const std::vector<float> result = c.download();
            double from_sum = 0, from_tanh = 0, from_erf = 0;  // largest distances
            for (size_t i = 0; i < a.size(); ++i) {
                const double x = double{a[i]} + double{bias[i % kCols]}, y = double{result[i]};
                const double by_tanh =
                    0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
                const double by_erf = 0.5 * x * std::erfc(-x / std::sqrt(2.0));
                from_sum = std::max(from_sum, std::abs(y - x));
                from_tanh = std::max(from_tanh, std::abs(y - by_tanh));
                from_erf = std::max(from_erf, std::abs(y - by_erf));
            }
            INFO("way " << way << ": " << from_sum << " from the sum, " << from_tanh
                        << " from GELU by tanh, " << from_erf << " from GELU by erf");
            if (epilogue == LtEpilogue::bias) {
                CHECK(from_sum == 0);
            } else {
                CHECK(from_tanh < 2e-5);
                CHECK(from_erf > 2e-4);
            }
        }
    }
}

// y = a weight^T, + bias, or gelu of it: in rounding's reach of the exact one, of which the one by tanh is out.
TEST_CASE("CUTLASS's products end in a bias and the exact GELU, at any number of rows") {
    struct Ending {
        const char* name;
        CutlassEnding as;
        bool has_bias;
    };
    const auto ending = GENERATE(Ending{"nothing", CutlassEnding::bias, false},
                                 Ending{"a bias", CutlassEnding::bias, true},
                                 Ending{"a bias and GELU", CutlassEnding::bias_gelu, true});
    INFO("ends in " << ending.name);
    constexpr int64_t kCols = 136, kDeep = 72;
    const auto numbers = [](int64_t count, int64_t step, float scale) {
        std::vector<__half> all;
        for (int64_t i = 0; i < count; ++i)
            all.push_back(__float2half(scale * static_cast<float>((i * step + i / 7) % 17 - 8)));
        return all;
    };
    for (const int64_t rows : {1, 40, 300}) {
        const std::vector<__half> a = numbers(rows * kDeep, 5, 0.0625f);
        const std::vector<__half> weight = numbers(kCols * kDeep, 3, 0.0625f);
        const std::vector<__half> bias = numbers(kCols, 1, 0.125f);
        const runner::DeviceBuffer<__half> d_a(a), d_weight(weight), d_bias(bias);
        runner::DeviceBuffer<__half> c(static_cast<size_t>(rows * kCols));
        const auto launch = [&](int way) {
            c.poison();
            return cutlass_product(way, ending.as, DType::float16, rows, kCols, kDeep, d_a.data(),
                                   d_weight.data(), ending.has_bias ? d_bias.data() : nullptr,
                                   c.data(), nullptr);
        };
        CHECK(launch(cutlass_ways()) == cudaErrorNotSupported);
        for (int way = 0; way < cutlass_ways(); ++way) {
            REQUIRE(launch(way) == cudaSuccess);
            const std::vector<__half> result = c.download();
            double worst = 0;  // in halves of a last place
            for (int64_t i = 0; i < rows * kCols; ++i) {
                double x = ending.has_bias
                               ? double{__half2float(bias[static_cast<size_t>(i % kCols)])}
                               : 0;
                for (int64_t p = 0; p < kDeep; ++p)
                    x += double{__half2float(a[static_cast<size_t>(i / kCols * kDeep + p)])} *
                         double{__half2float(weight[static_cast<size_t>(i % kCols * kDeep + p)])};
                const double wanted = ending.as == CutlassEnding::bias_gelu
                                          ? 0.5 * x * std::erfc(-x / std::sqrt(2.0))
                                          : x;
                const double error =
                    std::abs(double{__half2float(result[static_cast<size_t>(i)])} - wanted);
                worst = std::max(worst, error / (0x1p-11 * std::abs(wanted) + 1e-6));
            }
            INFO("way " << way << ", " << rows << " rows");
            CHECK(worst < 1.05);
        }
    }
}
