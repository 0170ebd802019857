// SPDX-License-Identifier: MIT
// The order of a stable descending sort, as the reference has it.
#pragma once
#include <cstdint>

#include <cuda_runtime.h>

namespace operations::topk {

// Whether an element comes before another. Of equals the lower column does; -0 equals +0; NaN is largest,
// and equals NaN.
__host__ __device__ inline bool precedes(double x, int64_t col, double other, int64_t other_col) {
    if (x > other || (x != x && other == other)) return true;
    const bool equal = x == other || (x != x && other != other);
    return equal && col < other_col;
}

}  // namespace operations::topk
