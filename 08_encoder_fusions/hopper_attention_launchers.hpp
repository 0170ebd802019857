// SPDX-License-Identifier: MIT
// Declares the launchers of attention on Hopper's tensor cores that hopper_attention_variants.cu compiles; other files use them
// as well. Include this file after attention.cuh and the three steps before attention_hopper.cuh.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace fused_attention {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define LAUNCHERS(T)                                                                        \
    INSTANCE cudaError_t attention_one_warpgroup(const AttentionProblem<T>&, cudaStream_t); \
    INSTANCE cudaError_t attention_ring(const AttentionProblem<T>&, cudaStream_t);          \
    INSTANCE cudaError_t attention_turns(const AttentionProblem<T>&, cudaStream_t);         \
    INSTANCE cudaError_t attention_hopper(const AttentionProblem<T>&, cudaStream_t);        \
    INSTANCE cudaError_t attention_short(const AttentionProblem<T>&, int64_t, cudaStream_t)
// NOLINTEND(bugprone-macro-parentheses)

LAUNCHERS(__half);
LAUNCHERS(__nv_bfloat16);

#undef LAUNCHERS
#undef INSTANCE

}  // namespace fused_attention
