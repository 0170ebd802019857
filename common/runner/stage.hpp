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

struct Shape {
    int64_t rows = 0;
    int64_t cols = 0;
};
inline int64_t elements(Shape shape) {
    return shape.rows * shape.cols;
}

enum class Operation { softmax, log_softmax, log_sum_exp };
const char* name_of(Operation operation);

// Elements of the result: one per element of x, or one per row.
inline int64_t output_elements(Operation operation, Shape shape) {
    return operation == Operation::log_sum_exp ? shape.rows : elements(shape);
}

// One launch, as the runner asks for it. Device memory, x and y of elements of dtype; y may be x
// where the operation keeps the shape.
struct Call {
    const void* x = nullptr;
    void* y = nullptr;
    DType dtype = DType::float32;
    int64_t rows = 0;
    int64_t cols = 0;
    void* workspace = nullptr;
    size_t workspace_bytes = 0;
    cudaStream_t stream = nullptr;

    // x and y as what they are. T is the type that dtype names.
    template <class T>
    const T* input() const {
        return static_cast<const T*>(x);
    }
    template <class T>
    T* output() const {
        return static_cast<T*>(y);
    }
};

// Accesses to x and y per element, as the lesson claims them.
struct Traffic {
    double loads = 0;
    double stores = 0;
};

struct Variant {
    std::string name;
    std::string summary;  // what a listing says of it
    Operation operation = Operation::softmax;
    Traffic traffic;
    std::function<cudaError_t(const Call&)> launch;

    // How many threads add up one row: with the columns, that gives the longest chain of roundings.
    std::function<int64_t(Shape, DType)> threads_per_row;

    // The element types it takes, and what it cannot take of them: why not ("more than 1024
    // columns"), or an empty text. Ask obstacle_of(), which looks at both.
    std::vector<DType> dtypes = {DType::float32};
    std::function<std::string(Shape, DType)> obstacle = {};

    // Scratch bytes a launch needs; empty for none. Ask workspace_of().
    std::function<size_t(Shape, DType)> workspace_bytes = {};

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
    return variant.obstacle ? variant.obstacle(shape, dtype) : "";
}

inline size_t workspace_of(const Variant& variant, Shape shape, DType dtype) {
    return variant.workspace_bytes ? variant.workspace_bytes(shape, dtype) : 0;
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
