// SPDX-License-Identifier: MIT
// The launchers of attention.cuh and of its includes that attention_variants.cu compiles, also for the encoder and the
// test. Include it after that header.
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

#undef LAUNCHERS
#undef INSTANCE

}  // namespace fused_attention
