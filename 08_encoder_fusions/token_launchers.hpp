// SPDX-License-Identifier: MIT
// Declares the launchers of further/unfused.cuh that token_lesson.cu compiles; the encoder and the test use them as
// well. Include this file after unfused.cuh.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace encoder_fusions {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define LAUNCHERS(T)                                                                             \
    INSTANCE cudaError_t add_bias_activation(const T*, const T*, T*, int64_t, int64_t,           \
                                             batched_gemm::Identity, cudaStream_t);              \
    INSTANCE cudaError_t add_bias_activation(const T*, const T*, T*, int64_t, int64_t,           \
                                             batched_gemm::Gelu, cudaStream_t);                  \
    INSTANCE cudaError_t add_bias_activation(const T*, const T*, T*, int64_t, int64_t,           \
                                             batched_gemm::GeluByTanh, cudaStream_t);            \
    INSTANCE cudaError_t add_bias_activation(const T*, const T*, T*, int64_t, int64_t,           \
                                             batched_gemm::Relu, cudaStream_t);                  \
    INSTANCE cudaError_t add_bias_activation(const T*, const T*, T*, int64_t, int64_t,           \
                                             batched_gemm::Silu, cudaStream_t);                  \
    INSTANCE cudaError_t add_bias_residual_prenorm(const T*, const T*, const T*, const Norm<T>&, \
                                                   T*, T*, int64_t, int64_t, cudaStream_t);      \
    INSTANCE cudaError_t layernorm(const T*, const Norm<T>&, T*, int64_t, int64_t, cudaStream_t)
// NOLINTEND(bugprone-macro-parentheses)

LAUNCHERS(float);
LAUNCHERS(__half);
LAUNCHERS(__nv_bfloat16);

#undef LAUNCHERS
#undef INSTANCE

}  // namespace encoder_fusions
