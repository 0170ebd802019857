// SPDX-License-Identifier: MIT
// Declares the launchers of attention.cuh and of its includes that attention_variants.cu compiles; the encoder and the
// test use them as well. Include this file after attention.cuh.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace fused_attention {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define LAUNCHERS(T)                                                                         \
    INSTANCE cudaError_t query_per_block(const AttentionProblem<T>&, int64_t, void*, size_t, \
                                         cudaStream_t)
// NOLINTEND(bugprone-macro-parentheses)

LAUNCHERS(float);
LAUNCHERS(__half);
LAUNCHERS(__nv_bfloat16);
INSTANCE cudaError_t attention_mma(const AttentionProblem<__half>&, int64_t, void*, size_t,
                                   cudaStream_t, int, bool);
INSTANCE cudaError_t attention_mma(const AttentionProblem<__nv_bfloat16>&, int64_t, void*, size_t,
                                   cudaStream_t, int, bool);
INSTANCE cudaError_t few_queries(const AttentionProblem<__half>&, int64_t, cudaStream_t, bool);
INSTANCE cudaError_t few_queries(const AttentionProblem<__nv_bfloat16>&, int64_t, cudaStream_t,
                                 bool);

#undef LAUNCHERS
#undef INSTANCE

}  // namespace fused_attention
