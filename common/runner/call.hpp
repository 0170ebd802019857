// SPDX-License-Identifier: MIT
// One launch, as the runner asks a variant for it.
#pragma once
#include <cstddef>

#include <cuda_runtime.h>

#include "common/runner/dtype.hpp"
#include "common/runner/shape.hpp"
#include "common/runner/view.hpp"

namespace runner {

struct Call {
    Shape shape;
    DType dtype = DType::float32;
    View operands;  // device memory
    void* workspace = nullptr;
    size_t workspace_bytes = 0;
    cudaStream_t stream = nullptr;

    // An operand as what it is: T is the type of its elements.
    template <class T>
    const T* input(const char* name) const {
        return static_cast<const T*>(operands[name].data);
    }
    template <class T>
    T* output(const char* name) const {
        return static_cast<T*>(operands[name].data);
    }
};

}  // namespace runner
