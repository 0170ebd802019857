// SPDX-License-Identifier: MIT
// The reference on the host: not compiled as kernels are, whose every access the CPU device looks at.
#include "common/operations/gemm/check.hpp"

#include <algorithm>
#include <string>

#include "common/operations/gemm/judge.cuh"

namespace operations::gemm {
namespace {

using runner::Report;

// One matrix of a batch as it is multiplied: rows x cols, however it is stored.
template <class T>
std::vector<double> doubles_of(const T* batch, int64_t index, int64_t rows, int64_t cols,
                               bool transposed) {
    std::vector<double> values(static_cast<size_t>(rows * cols));
    const T* const matrix = batch + index * rows * cols;
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t col = 0; col < cols; ++col) {
            const int64_t at = transposed ? col * rows + row : row * cols + col;
            values[static_cast<size_t>(row * cols + col)] = runner::to_double(matrix[at]);
        }
    }
    return values;
}
std::vector<double> of_results(const void* batch, const Shape& shape, DType dtype, int64_t index) {
    std::vector<double> values;
    visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        values = doubles_of(static_cast<const T*>(batch), index, shape.m, shape.n, false);
    });
    return values;
}
std::vector<double> of_operands(const void* batch, DType dtype, Kind kind, int64_t index,
                                int64_t rows, int64_t cols, bool transposed) {
    std::vector<double> values;
    visit_operands(dtype, kind, [&](auto of) {
        using T = typename decltype(of)::type;
        values = doubles_of(static_cast<const T*>(batch), index, rows, cols, transposed);
    });
    return values;
}

// Of a matrix with elements first + i * step + j * stride: count lines i of length elements j.
std::vector<Line> lines_of(const std::vector<double>& values, int64_t count, int64_t step,
                           int64_t length, int64_t stride) {
    std::vector<Line> lines;
    for (int64_t i = 0; i < count; ++i) {
        SquaredLine line;
        for (int64_t j = 0; j < length; ++j)
            line.add(values[static_cast<size_t>(i * step + j * stride)]);
        lines.push_back(line.line());
    }
    return lines;
}

// The products of a row of a, m x k, and a column of b, k x n.
Walk walk_along(const std::vector<double>& a, const std::vector<double>& b, int64_t row,
                int64_t col, const Shape& shape) {
    Walk walk;
    for (int64_t p = 0; p < shape.k; ++p)
        walk.add(a[static_cast<size_t>(row * shape.k + p)] *
                 b[static_cast<size_t>(p * shape.n + col)]);
    return walk;
}

// rows x kCols elements of a product, in registers: kCols columns of b from `b` on.
constexpr int64_t kRows = 4, kCols = 8;
void add_block(const double* a, const double* b, double* c, int64_t rows, int64_t n, int64_t k) {
    double sum[kRows][kCols] = {};
    if (rows == kRows) {
        for (int64_t p = 0; p < k; ++p) {
            for (int64_t i = 0; i < kRows; ++i) {
                for (int64_t j = 0; j < kCols; ++j) sum[i][j] += a[i * k + p] * b[p * n + j];
            }
        }
    } else {
        for (int64_t p = 0; p < k; ++p) {
            for (int64_t i = 0; i < rows; ++i) {
                for (int64_t j = 0; j < kCols; ++j) sum[i][j] += a[i * k + p] * b[p * n + j];
            }
        }
    }
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < kCols; ++j) c[i * n + j] = sum[i][j];
    }
}

}  // namespace

std::string place_of(const Shape& shape, int64_t index) {
    return "batch " + std::to_string(index / (shape.m * shape.n)) + ", row " +
           std::to_string(index / shape.n % shape.m) + ", col " + std::to_string(index % shape.n);
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int64_t m,
                            int64_t n, int64_t k) {
    std::vector<double> c(static_cast<size_t>(m * n));
    const int64_t whole = n / kCols * kCols;
    for (int64_t col = 0; col < whole; col += kCols) {  // b's columns stay in the cache
        for (int64_t row = 0; row < m; row += kRows)
            add_block(a.data() + row * k, b.data() + col, c.data() + row * n + col,
                      std::min(kRows, m - row), n, k);
    }
    for (int64_t row = 0; row < m; ++row) {
        for (int64_t p = 0; p < k; ++p) {
            for (int64_t col = whole; col < n; ++col)
                c[static_cast<size_t>(row * n + col)] +=
                    a[static_cast<size_t>(row * k + p)] * b[static_cast<size_t>(p * n + col)];
        }
    }
    return c;
}

Report check_on_host(const Operands& operands, const Shape& shape, DType dtype, const void* ours,
                     const void* previous, Kind kind) {
    const Rules rules(shape, dtype, kind);
    const int64_t size = shape.m * shape.n;
    Tally tally;
    for (int64_t batch = 0; batch < shape.batch; ++batch) {
        const auto a =
            of_operands(operands.a, dtype, kind, batch, shape.m, shape.k, shape.transpose_a);
        const auto b =
            of_operands(operands.b, dtype, kind, batch, shape.k, shape.n, shape.transpose_b);
        const std::vector<Line> rows = lines_of(a, shape.m, shape.k, shape.k, 1);
        const std::vector<Line> cols = lines_of(b, shape.n, 1, shape.k, shape.n);
        const auto c = of_results(operands.c, shape, dtype, batch);
        const auto got = of_results(ours, shape, dtype, batch);
        const auto reference = previous == nullptr ? product(a, b, shape.m, shape.n, shape.k)
                                                   : of_results(previous, shape, dtype, batch);
        for (int64_t i = 0; i < size; ++i) {
            const auto at = static_cast<size_t>(i);
            const Walk walk =
                kind == Kind::e4m3 ? walk_along(a, b, i / shape.n, i % shape.n, shape) : Walk{};
            const Outlook outlook(rows[static_cast<size_t>(i / shape.n)],
                                  cols[static_cast<size_t>(i % shape.n)], c[at], rules, walk);
            const Expected wanted = previous == nullptr
                                        ? expected(reference[at], c[at], outlook, rules)
                                        : expected_beside(got[at], reference[at], outlook);
            tally.add(verdict_of(got[at], wanted, outlook.precision.smallest_normal),
                      batch * size + i);
        }
    }
    return report_of(tally, [&](int64_t index) { return place_of(shape, index); });
}

}  // namespace operations::gemm
