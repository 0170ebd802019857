// SPDX-License-Identifier: MIT
// What a stage tells the runner about itself: its variants, what each computes, accepts and
// promises.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "common/runner/dtype.hpp"

namespace runner {

// Rows of cols elements, or a tensor (outer, dim, inner) along whose middle axis an operation works:
// rows is outer then, cols is dim.
struct Shape {
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
// "4000 x 1000", or "4 x 1000 x 64".
inline std::string text_of(Shape shape) {
    const std::string text = std::to_string(shape.rows) + " x " + std::to_string(shape.cols);
    return shape.inner == 1 ? text : text + " x " + std::to_string(shape.inner);
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
enum class Operation {
    softmax,
    log_softmax,
    log_sum_exp,           // y has one element per row
    scale_mask_softmax,    // of x * kScale where x2, bools, is true; zeros elsewhere
    causal_softmax,        // of x * kScale in columns 0 to i of a matrix's row i; zeros behind
    softmax_backward,      // x: what softmax gave; x2: the gradient of that; y: the gradient
    log_softmax_backward,  // of what softmax was taken of. The same for log_softmax.
};
const char* name_of(Operation operation);

inline __host__ __device__ bool is_backward(Operation operation) {
    return operation == Operation::softmax_backward || operation == Operation::log_softmax_backward;
}
inline __host__ __device__ bool is_masked(Operation operation) {
    return operation == Operation::scale_mask_softmax || operation == Operation::causal_softmax;
}
// Of x alone. A result of one such operation can be held against that of another.
inline __host__ __device__ bool is_plain(Operation operation) {
    return !is_backward(operation) && !is_masked(operation);
}
inline __host__ __device__ bool are_comparable(Operation a, Operation b) {
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
inline int64_t visible_elements(Operation operation, Shape shape) {
    if (operation != Operation::causal_softmax || elements(shape) == 0) return elements(shape);
    const int64_t matrix = causal_rows(shape);
    const int64_t corner = std::min(matrix, shape.cols);
    return shape.rows / matrix * (corner * (corner + 1) / 2 + (matrix - corner) * shape.cols);
}

// Elements of the result: one per element of x, or one per slice.
inline int64_t output_elements(Operation operation, Shape shape) {
    return operation == Operation::log_sum_exp ? slices(shape) : elements(shape);
}

// Bytes of an element of x2; 0 where the operation has none.
inline size_t x2_size(Operation operation, DType dtype) {
    if (operation == Operation::scale_mask_softmax) return sizeof(bool);
    return is_backward(operation) ? size_of(dtype) : 0;
}

// What no launch can do without: each visible element of x and x2 read once, each of y written once.
struct Footprint {
    int64_t x_bytes = 0;
    int64_t x2_bytes = 0;
    int64_t y_bytes = 0;
    int64_t total() const { return x_bytes + x2_bytes + y_bytes; }
};
inline Footprint footprint_of(Operation operation, Shape shape, DType dtype) {
    const auto size = static_cast<int64_t>(size_of(dtype));
    return {visible_elements(operation, shape) * size,
            elements(shape) * static_cast<int64_t>(x2_size(operation, dtype)),
            output_elements(operation, shape) * size};
}

// What a launch reads: device memory, or the host's where that is said.
struct Inputs {
    __host__ __device__ Inputs(const void* first, const void* second = nullptr)
        : x(first), x2(second) {}
    const void* x;
    const void* x2;
};

// One launch, as the runner asks for it. Device memory, x and y of elements of dtype; y may be x, or
// an x2 of that type, where the operation keeps the shape.
struct Call {
    const void* x = nullptr;
    void* y = nullptr;
    DType dtype = DType::float32;
    int64_t rows = 0;
    int64_t cols = 0;
    void* workspace = nullptr;
    size_t workspace_bytes = 0;
    cudaStream_t stream = nullptr;
    const void* x2 = nullptr;

    // Elements from one row to the next: of x and x2, and of y. Both 0 where rows lie close together;
    // only variants that take strides are asked for others.
    int64_t x_stride = 0;
    int64_t y_stride = 0;
    bool has_strides() const { return x_stride != 0 || y_stride != 0; }

    // More than 1 only for variants that take it: x, x2 and y are (rows, cols, inner).
    int64_t inner = 1;

    // x, x2 and y as what they are. T is the type that dtype names.
    template <class T>
    const T* input() const {
        return static_cast<const T*>(x);
    }
    template <class T>
    const T* second_input() const {
        return static_cast<const T*>(x2);
    }
    const bool* mask() const { return static_cast<const bool*>(x2); }
    template <class T>
    T* output() const {
        return static_cast<T*>(y);
    }
};

// Accesses per element as the lesson claims them: loads of the inputs' elements (of causal_softmax, of
// those that a row sees), stores of the result's. A mask's bytes are counted apart.
struct Traffic {
    double loads = 0;
    double stores = 0;
    double mask_loads = 0;
};

struct Variant {
    std::string name;
    std::string summary;  // what a listing says of it
    Operation operation = Operation::softmax;
    Traffic traffic;
    std::function<cudaError_t(const Call&)> launch;

    // The traffic where it depends on the shape. Ask traffic_of().
    std::function<Traffic(Shape, DType)> traffic_at = {};

    // How many threads add up one row: with the columns, that gives the longest chain of roundings.
    std::function<int64_t(Shape, DType)> threads_per_row;

    // The element types it takes, and what it cannot take of them: why not ("more than 1024
    // columns"), or an empty text. Ask obstacle_of(), which looks at both.
    std::vector<DType> dtypes = {DType::float32};
    std::function<std::string(Shape, DType)> obstacle = {};

    // Whether rows of x and y may lie apart: Call::x_stride and y_stride.
    bool takes_strides = false;

    // Whether it works along any axis: Call::inner. It is then measured at shapes of its own.
    bool takes_inner = false;
    std::vector<Shape> measured_at = {};

    // Scratch bytes a launch needs; empty for none. Ask workspace_of().
    std::function<size_t(Shape, DType)> workspace_bytes = {};

    // Where a variant chooses among several ways: "the way it goes: why". Printed below the times, and
    // marked in the picture of all widths.
    std::function<std::string(Shape, DType)> way = {};

    // Which of the x-ray's two counts of bank conflicts the compiled kernel shows: that of its shared
    // accesses as written, or that of neighbouring ones fused, as nvcc does where it can prove the
    // alignment.
    bool shared_accesses_fuse = false;

    // Stage 01's promise: rows whose exp(x) leaves the range of float come out as NaN or 0. Where
    // true, the runner holds such rows to exactly that.
    bool overflows = false;
};

inline bool takes(const Variant& variant, DType dtype) {
    return std::find(variant.dtypes.begin(), variant.dtypes.end(), dtype) != variant.dtypes.end();
}

// Why the variant cannot be launched with this shape and type; empty where it can.
inline std::string obstacle_of(const Variant& variant, Shape shape, DType dtype) {
    if (!takes(variant, dtype)) return "takes " + names_of(variant.dtypes) + " only";
    if (shape.inner != 1 && !variant.takes_inner) return "works along the last axis only";
    return variant.obstacle ? variant.obstacle(shape, dtype) : "";
}

inline size_t workspace_of(const Variant& variant, Shape shape, DType dtype) {
    return variant.workspace_bytes ? variant.workspace_bytes(shape, dtype) : 0;
}

// The declared traffic as it is counted: bytes per element of x, in units of one.
inline Traffic traffic_of(const Variant& variant, Shape shape, DType dtype) {
    const Traffic declared =
        variant.traffic_at ? variant.traffic_at(shape, dtype) : variant.traffic;
    const auto visible = static_cast<double>(visible_elements(variant.operation, shape));
    return {declared.loads * visible / static_cast<double>(elements(shape)) +
                declared.mask_loads / static_cast<double>(size_of(dtype)),
            declared.stores};
}

struct Stage {
    std::string name;    // the folder's: "03_online_softmax"
    std::string title;   // one line
    std::string header;  // path from the repository's root
    std::vector<Variant>
        variants;  // in the order of the lesson; each is compared with the one before
    std::optional<Variant> baseline =
        {};  // the last of the previous stage: what the first is compared with
    std::vector<std::string> notes = {};  // lines for the reader, printed below the stage's table
};

// Every stage linked into this program, in order. The build generates the definition.
std::vector<Stage> all_stages();

}  // namespace runner
