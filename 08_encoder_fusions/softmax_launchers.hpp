// SPDX-License-Identifier: MIT
// The launchers of further/unfused.cuh that softmax_lesson.cu compiles, also for the encoder and the test. Include it
// after that header.
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
