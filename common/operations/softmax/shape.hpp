// SPDX-License-Identifier: MIT
// The softmaxes: what they are, their sizes and operands, and what they cost.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include "common/runner/dtype.hpp"
#include "common/runner/shape.hpp"

namespace operations::softmax {

using runner::DType;
using runner::dtype_of;
using runner::to_double;
using runner::visit;

// Rows of cols elements, or a tensor (outer, dim, inner) along whose middle axis an operation works:
// rows is outer then, cols is dim.
struct Shape {
    Shape() = default;
    __host__ __device__ constexpr Shape(int64_t all_rows, int64_t all_cols, int64_t all_inner = 1)
        : rows(all_rows), cols(all_cols), inner(all_inner) {}
    Shape(const runner::Shape& shape)
        : rows(shape[0]), cols(shape[1]), inner(shape.rank() > 2 ? shape[2] : 1) {}
    operator runner::Shape() const {
        return inner == 1 ? runner::Shape{rows, cols} : runner::Shape{rows, cols, inner};
    }

    int64_t rows = 0;
    int64_t cols = 0;
    int64_t inner = 1;
};
inline bool operator==(Shape a, Shape b) {
    return a.rows == b.rows && a.cols == b.cols && a.inner == b.inner;
}
inline __host__ __device__ int64_t elements(Shape shape) {
    return shape.rows * shape.cols * shape.inner;
}

// What an operation works along is a slice: a row, or cols elements that lie inner apart. Neighbouring
// slices are neighbours in memory.
inline __host__ __device__ int64_t slices(Shape shape) {
    return shape.rows * shape.inner;
}
inline __host__ __device__ int64_t index_of(Shape shape, int64_t slice, int64_t col) {
    if (shape.inner == 1) return slice * shape.cols + col;
    return (slice / shape.inner * shape.cols + col) * shape.inner + slice % shape.inner;
}

// What becomes of x, and of x2 where there is one, in y. All are rows x cols unless said otherwise.
enum class Kind {
    softmax,
    log_softmax,
    log_sum_exp,           // y has one element per row
    scale_mask_softmax,    // of x * kScale where x2, bools, is true; zeros elsewhere
    causal_softmax,        // of x * kScale in columns 0 to i of a matrix's row i; zeros behind
    softmax_backward,      // x: what softmax gave; x2: the gradient of that; y: the gradient
    log_softmax_backward,  // of what softmax was taken of. The same for log_softmax.
};
const char* name_of(Kind kind);

inline __host__ __device__ bool is_backward(Kind kind) {
    return kind == Kind::softmax_backward || kind == Kind::log_softmax_backward;
}
inline __host__ __device__ bool is_masked(Kind kind) {
    return kind == Kind::scale_mask_softmax || kind == Kind::causal_softmax;
}
// Of x alone. A result of one such operation can be held against that of another.
inline __host__ __device__ bool is_plain(Kind kind) {
    return !is_backward(kind) && !is_masked(kind);
}
inline __host__ __device__ bool are_comparable(Kind a, Kind b) {
    return a == b || (is_plain(a) && is_plain(b));
}

// Attention's, for heads of 64. A power of two: x * kScale is exact, whatever it is computed in.
constexpr double kScale = 0.125;

// The rows of a matrix in causal_softmax, of which there may be several, one below the other: square
// ones, as self-attention has, where they come out even; otherwise all rows are one matrix.
inline __host__ __device__ int64_t causal_rows(Shape shape) {
    return shape.cols > 0 && shape.rows % shape.cols == 0 ? shape.cols : shape.rows;
}

// Elements of x that the operation looks at: in causal_softmax only those up to the diagonal.
inline int64_t visible_elements(Kind kind, Shape shape) {
    if (kind != Kind::causal_softmax || elements(shape) == 0) return elements(shape);
    const int64_t matrix = causal_rows(shape);
    const int64_t corner = std::min(matrix, shape.cols);
    return shape.rows / matrix * (corner * (corner + 1) / 2 + (matrix - corner) * shape.cols);
}

// Elements of the result: one per element of x, or one per slice.
inline int64_t output_elements(Kind kind, Shape shape) {
    return kind == Kind::log_sum_exp ? slices(shape) : elements(shape);
}

// Bytes of an element of x2; 0 where the operation has none.
inline size_t x2_size(Kind kind, DType dtype) {
    if (kind == Kind::scale_mask_softmax) return sizeof(bool);
    return is_backward(kind) ? size_of(dtype) : 0;
}

// What no launch can do without: each visible element of x and x2 read once, each of y written once.
struct Footprint {
    int64_t x_bytes = 0;
    int64_t x2_bytes = 0;
    int64_t y_bytes = 0;
    int64_t total() const { return x_bytes + x2_bytes + y_bytes; }
};
inline Footprint footprint_of(Kind kind, Shape shape, DType dtype) {
    const auto size = static_cast<int64_t>(size_of(dtype));
    return {visible_elements(kind, shape) * size,
            elements(shape) * static_cast<int64_t>(x2_size(kind, dtype)),
            output_elements(kind, shape) * size};
}

// What a launch reads: device memory, or the host's where that is said.
struct Inputs {
    __host__ __device__ Inputs(const void* first, const void* second = nullptr)
        : x(first), x2(second) {}
    const void* x;
    const void* x2;
};

}  // namespace operations::softmax
