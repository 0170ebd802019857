// SPDX-License-Identifier: MIT
// CUTLASS's batched product of halves, sums in float, as its example 05 calls it, in two tiles. Compiled where
// CUTLASS's headers are.
#pragma once
#include <cuda_runtime.h>

#include "common/operations/gemm/operation.hpp"

namespace peers {

enum class CutlassTile { wide, square };  // 128 x 256, 128 x 128

// C = alpha A B + beta C of halves in device memory, close together; A is not transposed.
cudaError_t cutlass_gemm(CutlassTile tile, const operations::gemm::Shape& shape, const void* a,
                         const void* b, void* c, cudaStream_t stream);

}  // namespace peers
