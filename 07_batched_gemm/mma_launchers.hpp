// SPDX-License-Identifier: MIT
// Declares the launchers of register_tiled.cuh, mma_gemm.cuh and split_k.cuh that mma_variants.cu compiles and the test
// uses as well. Include this file after those three headers.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace batched_gemm {

INSTANCE cudaError_t register_tiled(const Problem<float>&, cudaStream_t);
INSTANCE cudaError_t register_tiled(const Problem<__half>&, cudaStream_t);
INSTANCE cudaError_t register_tiled(const Problem<__nv_bfloat16>&, cudaStream_t);
INSTANCE cudaError_t launch_mma<float, true>(const Problem<__half>&, const Plain&, cudaStream_t);
INSTANCE cudaError_t launch_mma<float, true>(const Problem<__nv_bfloat16>&, const Plain&,
                                             cudaStream_t);
INSTANCE cudaError_t split_k_gemm(const Problem<__half>&, int64_t, cudaStream_t);
INSTANCE cudaError_t split_k_gemm(const Problem<__nv_bfloat16>&, int64_t, cudaStream_t);

#undef INSTANCE

}  // namespace batched_gemm
