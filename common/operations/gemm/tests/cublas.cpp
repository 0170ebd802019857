// SPDX-License-Identifier: MIT
// How NVIDIA's libraries, which read matrices column by column, see a row-major product.
#include "common/operations/gemm/cublas.hpp"

#include <vector>

#include "common/operations/gemm/cublas_lt.hpp"
#include "common/runner/build_info.hpp"
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
