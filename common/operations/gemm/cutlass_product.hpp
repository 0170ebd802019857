// SPDX-License-Identifier: MIT
// A product in one kernel with what ends it, by CUTLASS and Hopper's own instructions: the exact GELU is in no epilogue
// of cuBLASLt, whose kernels also wait for the end of the one before them. Where CUTLASS's headers were there when the
// course was built, and on a GPU of compute capability 9.0; elsewhere there is no way to go.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <cuda_runtime.h>

#include "common/runner/dtype.hpp"

namespace operations::gemm {

// Ways that this machine has: tiles that differ in size. 0: none.
int cutlass_ways();

// Which CUTLASS the course was built with: "CUTLASS 4.2.0", or "no CUTLASS".
std::string cutlass_version();

enum class CutlassEnding { bias, bias_gelu };

// c = a weight^T + bias, or its GELU: a is m x k, weight n x k, c m x n, rows close together, and bias has n elements,
// or is nullptr, all float16 or bfloat16, at multiples of 16 bytes. Asynchronous on stream; it may begin while kernels
// before it still run, none of which must write weight or bias. cudaErrorNotSupported for what it does not take: other
// types or addresses, and n or k that are no multiples of 8.
cudaError_t cutlass_product(int way, CutlassEnding ending, runner::DType dtype, int64_t m,
                            int64_t n, int64_t k, const void* a, const void* weight,
                            const void* bias, void* c, cudaStream_t stream);

}  // namespace operations::gemm
