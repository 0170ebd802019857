// SPDX-License-Identifier: MIT
// The launchers of any_axis_softmax.cuh that any_axis_variants.cu compiles for the test too. Include it after that
// header and softmax_backward.cuh.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace smem_softmax::any_axis {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define LAUNCHERS_OF(...)                                                                     \
    INSTANCE cudaError_t launch_tiling<__VA_ARGS__>(const Tiling&, const __VA_ARGS__&, Sizes, \
                                                    cudaStream_t);                            \
    INSTANCE cudaError_t launch<__VA_ARGS__>(const __VA_ARGS__&, Sizes, void*, size_t, cudaStream_t)
#define LAUNCHERS(T, kAlgorithm)            \
    LAUNCHERS_OF(SoftmaxOf<kAlgorithm, T>); \
    LAUNCHERS_OF(GradientOf<kAlgorithm, T>)
// NOLINTEND(bugprone-macro-parentheses)

#include "04_warp_softmax/launchers_of_each.hpp"
#undef LAUNCHERS_OF

}  // namespace smem_softmax::any_axis
