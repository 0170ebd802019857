// SPDX-License-Identifier: MIT
// A launch of a softmax: the runner's call as its launchers take it.
#pragma once
#include "common/operations/softmax/operation.hpp"
#include "common/operations/softmax/shape.hpp"
#include "common/runner/call.hpp"
#include "common/runner/stage.hpp"

namespace operations::softmax {

// Device memory, x and y of elements of dtype; y may be x, or an x2 of that type, where the operation
// keeps the shape.
struct Call {
    Call() = default;
    Call(const runner::Call& call);
    Call(const void* from, void* to, DType type, int64_t all_rows, int64_t all_cols,
         void* scratch = nullptr, size_t scratch_bytes = 0, cudaStream_t on = nullptr,
         const void* second = nullptr, int64_t from_stride = 0, int64_t to_stride = 0,
         int64_t all_inner = 1)
        : x(from),
          y(to),
          dtype(type),
          rows(all_rows),
          cols(all_cols),
          workspace(scratch),
          workspace_bytes(scratch_bytes),
          stream(on),
          x2(second),
          x_stride(from_stride),
          y_stride(to_stride),
          inner(all_inner) {}

    const void* x = nullptr;
    void* y = nullptr;
    DType dtype = DType::float32;
    int64_t rows = 0;
    int64_t cols = 0;
    void* workspace = nullptr;
    size_t workspace_bytes = 0;
    cudaStream_t stream = nullptr;
    const void* x2 = nullptr;  // a mask, or a gradient

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

// The same as the runner makes it, of a variant of this family.
runner::Call runner_call(Kind kind, const Call& call);

inline cudaError_t launch(const runner::Variant& variant, const Call& call) {
    return variant.launch(runner_call(kind_of(variant), call));
}

}  // namespace operations::softmax
