// SPDX-License-Identifier: MIT
#include "common/operations/gemm/check.hpp"

#include <algorithm>
#include <string>

#include "common/operations/gemm/judge.cuh"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"

namespace operations::gemm {

using runner::DeviceBuffer;
using runner::Report;
using runner::to_double;

namespace {

constexpr unsigned kThreads = 128;

// Element (row, col) of one of the matrices as they are multiplied.
template <class T>
struct Matrices {
    const T* data;
    int64_t rows, cols;
    bool transposed;
    __device__ double at(int64_t b, int64_t row, int64_t col) const {
        const T* matrix = data + b * rows * cols;
        return to_double(transposed ? matrix[col * rows + row] : matrix[row * cols + col]);
    }
};

// A thread for each row of all matrices, or for each column.
template <class T>
__global__ void lines_kernel(Matrices<T> x, bool of_columns, int64_t count, Line* lines) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int64_t a_matrix = of_columns ? x.cols : x.rows;
    const int64_t length = of_columns ? x.rows : x.cols;
    const int64_t b = i / a_matrix, line = i % a_matrix;
    SquaredLine squared;
    for (int64_t j = 0; j < length; ++j)
        squared.add(of_columns ? x.at(b, j, line) : x.at(b, line, j));
    lines[i] = squared.line();
}

// A thread walks elements, with a tally of its own.
template <class Of, class T>
__global__ void check_kernel(Matrices<Of> a, Matrices<Of> b, const T* c, const T* ours,
                             const T* previous, const Line* rows, const Line* cols, Rules rules,
                             int64_t count, int64_t step, Tally* tallies) {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t m = a.rows, n = b.cols;
    Tally tally;
    for (int64_t i = thread * step; i < count;
         i += static_cast<int64_t>(gridDim.x) * blockDim.x * step) {
        const int64_t batch = i / (m * n), row = i / n % m, col = i % n;
        const double before = to_double(c[i]), got = to_double(ours[i]);
        Walk walk;
        if constexpr (std::is_same_v<Of, __nv_fp8_e4m3>) {
            for (int64_t p = 0; p < rules.k; ++p)
                walk.add(a.at(batch, row, p) * b.at(batch, p, col));
        } else if (previous == nullptr) {
            for (int64_t p = 0; p < rules.k; ++p)
                walk.sum += a.at(batch, row, p) * b.at(batch, p, col);
        }
        const Outlook outlook(rows[batch * m + row], cols[batch * n + col], before, rules, walk);
        const Expected wanted = previous == nullptr
                                    ? expected(walk.sum, before, outlook, rules)
                                    : expected_beside(got, to_double(previous[i]), outlook);
        tally.add(verdict_of(got, wanted, outlook.precision.smallest_normal), i);
    }
    tallies[thread] = tally;
}

unsigned blocks_for(int64_t threads) {
    return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

Report check_on_device(const Operands& operands, const Shape& shape, DType dtype, const void* ours,
                       const void* previous, Kind kind) {
    const int64_t count = shape.batch * shape.m * shape.n;
    if (count == 0) return {};
    const unsigned blocks = std::min(blocks_for(count), 1u << 14);
    const int64_t step = step_of_check(static_cast<double>(count) * static_cast<double>(shape.k));
    const Rules rules(shape, dtype, kind);
    DeviceBuffer<Line> rows(static_cast<size_t>(shape.batch * shape.m));
    DeviceBuffer<Line> cols(static_cast<size_t>(shape.batch * shape.n));
    const auto launch = [&](auto of_operands, auto of_results, Tally* tallies) {
        using Of = typename decltype(of_operands)::type;
        using T = typename decltype(of_results)::type;
        const Matrices<Of> a{static_cast<const Of*>(operands.a), shape.m, shape.k,
                             shape.transpose_a};
        const Matrices<Of> b{static_cast<const Of*>(operands.b), shape.k, shape.n,
                             shape.transpose_b};
        const auto row_count = static_cast<int64_t>(rows.size());
        const auto col_count = static_cast<int64_t>(cols.size());
        lines_kernel<<<blocks_for(row_count), kThreads>>>(a, false, row_count, rows.data());
        lines_kernel<<<blocks_for(col_count), kThreads>>>(b, true, col_count, cols.data());
        check_kernel<<<blocks, kThreads>>>(
            a, b, static_cast<const T*>(operands.c), static_cast<const T*>(ours),
            static_cast<const T*>(previous), rows.data(), cols.data(), rules, count, step, tallies);
    };
    const Tally total = tally_of_kernel(size_t{blocks} * kThreads, [&](Tally* tallies) {
        visit_operands(dtype, kind, [&](auto of) {
            if constexpr (sizeof(typename decltype(of)::type) == 1) {
                visit(dtype, [&](auto of_results) { launch(of, of_results, tallies); });
            } else {
                launch(of, of, tallies);
            }
        });
    });
    return report_of(total, [&](int64_t index) { return place_of(shape, index); });
}

Report check(const Operands& operands, const Shape& shape, DType dtype, const void* ours,
             const void* previous, Kind kind) {
    runner::check_cuda(cudaDeviceSynchronize(), "running the variant");
    return runner::on_gpu() ? check_on_device(operands, shape, dtype, ours, previous, kind)
                            : check_on_host(operands, shape, dtype, ours, previous, kind);
}

}  // namespace operations::gemm
