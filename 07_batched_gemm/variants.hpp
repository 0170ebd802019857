// SPDX-License-Identifier: MIT
// Describes stage 07's variants, those of the lesson and those beyond it.
#pragma once
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "07_batched_gemm/problem.cuh"
#include "common/operations/gemm/operation.hpp"
#include "common/runner/stage.hpp"

namespace batched_gemm_variants {

using batched_gemm::Matrices;
using batched_gemm::Problem;
using operations::gemm::Shape;
using runner::Call;
using runner::DType;
using runner::Traffic;

// Returns matrices of `lines` lines with `length` elements each. Lines begin `apart` elements apart; apart = 0:
// contiguous lines.
template <class T>
Matrices<T> matrices(T* data, int64_t lines, int64_t length, int64_t apart, bool transposed) {
    Matrices<T> all;
    all.data = data;
    all.ld = apart == 0 ? length : apart;
    all.stride = lines * all.ld;
    all.transposed = transposed;
    return all;
}

template <class T, class Result = T>
Problem<T, Result> problem_of(const Call& call) {
    const Shape s = call.shape;
    const auto apart = [&](const char* name) { return call.operands[name].stride; };
    Problem<T, Result> g{};
    g.batch = s.batch;
    g.m = s.m;
    g.n = s.n;
    g.k = s.k;
    g.alpha = static_cast<float>(s.alpha);
    g.beta = static_cast<float>(s.beta);
    g.a = matrices(call.input<T>("a"), s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k,
                   apart("a"), s.transpose_a);
    g.b = matrices(call.input<T>("b"), s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n,
                   apart("b"), s.transpose_b);
    g.c = matrices(call.output<Result>("c"), s.m, s.n, apart("c"), false);
    return g;
}

// Returns the loads per element of C if each tile of rows x cols loads its part of A and of B once. A tile that C does
// not fill loads only what exists.
inline Traffic traffic_of_tiles(const Shape& s, int64_t rows, int64_t cols) {
    const auto per_element = [](int64_t loads, int64_t elements) {
        return static_cast<double>(loads) / static_cast<double>(elements);
    };
    const int64_t down = (s.m + rows - 1) / rows, across = (s.n + cols - 1) / cols;
    return {per_element(s.k * across, s.n) + per_element(s.k * down, s.m) + (s.beta == 0 ? 0 : 1),
            1};
}

// Describes a variant with tiles of tile_rows x tile_cols. launch(problem, stream) launches it, for each of its types.
template <class Launch>
runner::Variant rung(const std::string& name, const std::string& summary, int64_t tile_rows,
                     int64_t tile_cols, std::vector<DType> dtypes, Launch launch) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.operation = operations::gemm::operation();
    variant.dtypes = std::move(dtypes);
    variant.takes = {operations::gemm::kTransposeA, operations::gemm::kTransposeB,
                     operations::gemm::kAlpha, operations::gemm::kBeta};
    variant.takes_strides = true;
    variant.traffic_at = [=](const Shape& shape, DType) {
        return traffic_of_tiles(shape, tile_rows, tile_cols);
    };
    variant.traffic = traffic_of_tiles(variant.operation->usual_shape(), tile_rows, tile_cols);
    variant.launch = [launch](const Call& call) {
        return runner::visit_but_double(call.dtype, [&](auto of) {
            return launch(problem_of<typename decltype(of)::type>(call), call.stream);
        });
    };
    return variant;
}

inline const std::vector<DType> kHalves = {DType::float16, DType::bfloat16};
inline const std::vector<DType> kAll = {DType::float16, DType::bfloat16, DType::float32};

// Excludes the largest shapes from measurement: this variant takes a second for them, the others ten milliseconds.
inline runner::Variant slow(runner::Variant variant) {
    variant.measured_up_to = 5e11;
    return variant;
}

std::vector<runner::Variant> mma_variants();

}  // namespace batched_gemm_variants
