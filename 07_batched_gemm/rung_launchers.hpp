// SPDX-License-Identifier: MIT
// Declares the launchers of batched_gemm.cuh that stage.cu compiles; mma_variants.cu and the test use them as well.
// Include this file after batched_gemm.cuh.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace batched_gemm {

#define LAUNCHERS(T)                                                       \
    INSTANCE cudaError_t naive(const Problem<T>&, cudaStream_t);           \
    INSTANCE cudaError_t tiled(const Problem<T>&, cudaStream_t);           \
    INSTANCE cudaError_t register_column(const Problem<T>&, cudaStream_t); \
    INSTANCE cudaError_t register_tile(const Problem<T>&, cudaStream_t);   \
    INSTANCE cudaError_t vector_loads(const Problem<T>&, cudaStream_t)

LAUNCHERS(float);
LAUNCHERS(__half);
LAUNCHERS(__nv_bfloat16);
INSTANCE cudaError_t tensor_core(const Problem<__half>&, cudaStream_t);
INSTANCE cudaError_t tensor_core(const Problem<__nv_bfloat16>&, cudaStream_t);

#undef LAUNCHERS
#undef INSTANCE

}  // namespace batched_gemm
