// SPDX-License-Identifier: MIT
// The launchers of any_axis_softmax.cuh and any_axis_backward.cuh that any_axis_variants.cu compiles for the test as
// well. To be included behind those headers.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace smem_softmax::any_axis {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define LAUNCHERS(T, kAlgorithm)                                                                   \
    INSTANCE cudaError_t launch_plan<Forward<kAlgorithm>>(const Plan&, Sizes, cudaStream_t,        \
                                                          const T*, T*);                           \
    INSTANCE cudaError_t launch<Forward<kAlgorithm>>(Sizes, void*, size_t, cudaStream_t, const T*, \
                                                     T*);                                          \
    INSTANCE cudaError_t launch<Backward<kAlgorithm>>(Sizes, void*, size_t, cudaStream_t,          \
                                                      const T*, const T*, T*)
// NOLINTEND(bugprone-macro-parentheses)

LAUNCHERS(float, Algorithm::softmax);
LAUNCHERS(float, Algorithm::log_softmax);
LAUNCHERS(double, Algorithm::softmax);
LAUNCHERS(double, Algorithm::log_softmax);
LAUNCHERS(__half, Algorithm::softmax);
LAUNCHERS(__half, Algorithm::log_softmax);
LAUNCHERS(__nv_bfloat16, Algorithm::softmax);
LAUNCHERS(__nv_bfloat16, Algorithm::log_softmax);

#undef LAUNCHERS
#undef INSTANCE

}  // namespace smem_softmax::any_axis
