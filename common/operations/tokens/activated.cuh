// SPDX-License-Identifier: MIT
// An activation in double precision, for references on the host and by kernels.
#pragma once
#include <cmath>

#include <cuda_runtime.h>

#include "common/operations/tokens/operation.hpp"

namespace operations::tokens {

__host__ __device__ inline double activated(Activation f, double x) {
    switch (f) {
        case Activation::gelu:
            break;
        case Activation::gelu_by_tanh:
            return x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
        case Activation::relu:
            return x < 0 ? 0 : x;
        case Activation::silu:
            return x / (1 + exp(-x));
    }
    return 0.5 * x * erfc(-x * 0.70710678118654752440);
}

}  // namespace operations::tokens
