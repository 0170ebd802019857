// SPDX-License-Identifier: MIT
// The launchers of any_axis_softmax.cuh and any_axis_backward.cuh that any_axis_variants.cu compiles for the test too.
// Include it after those headers.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace smem_softmax::any_axis {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define LAUNCHERS(T, kAlgorithm)                                                                   \
    INSTANCE cudaError_t launch_tiling<Forward<kAlgorithm>>(const Tiling&, Sizes, cudaStream_t,    \
                                                            const T*, T*);                         \
    INSTANCE cudaError_t launch<Forward<kAlgorithm>>(Sizes, void*, size_t, cudaStream_t, const T*, \
                                                     T*);                                          \
    INSTANCE cudaError_t launch<Backward<kAlgorithm>>(Sizes, void*, size_t, cudaStream_t,          \
                                                      const T*, const T*, T*)
// NOLINTEND(bugprone-macro-parentheses)

#include "04_warp_softmax/launchers_of_each.hpp"

}  // namespace smem_softmax::any_axis
