// SPDX-License-Identifier: MIT
// Declares the launchers of further/unfused.cuh that softmax_lesson.cu compiles; the encoder and the test use them as
// well. Include this file after unfused.cuh.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace encoder_fusions {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define LAUNCHERS(T)                                                                          \
    INSTANCE cudaError_t masked_softmax(const T*, T*, float, bool, const Sequences&, int64_t, \
                                        cudaStream_t);                                        \
    INSTANCE cudaError_t unfused_masked_softmax(const T*, T*, float, bool, const Sequences&,  \
                                                int64_t, bool*, cudaStream_t)
// NOLINTEND(bugprone-macro-parentheses)

LAUNCHERS(float);
LAUNCHERS(__half);
LAUNCHERS(__nv_bfloat16);

#undef LAUNCHERS
#undef INSTANCE

}  // namespace encoder_fusions
