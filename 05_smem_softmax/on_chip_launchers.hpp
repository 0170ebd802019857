// SPDX-License-Identifier: MIT
// The launchers of softmax.cuh and of the headers it includes that on_chip_variants.cu compiles for the test too.
// Include it after that header.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace smem_softmax {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define LAUNCHERS_OF(...)                                                                         \
    INSTANCE cudaError_t launch_as<__VA_ARGS__>(const Cut&, const __VA_ARGS__&, int64_t, int64_t, \
                                                void*, cudaStream_t);                             \
    INSTANCE cudaError_t launch_blocks<__VA_ARGS__>(const __VA_ARGS__&, int64_t, int64_t,         \
                                                    cudaStream_t);                                \
    INSTANCE cudaError_t launch_rows<__VA_ARGS__>(const __VA_ARGS__&, int64_t, int64_t, void*,    \
                                                  size_t, cudaStream_t)
#define LAUNCHERS(T, kAlgorithm)                                                              \
    INSTANCE cudaError_t launch_tile<kAlgorithm>(const Tile&, const T*, T*, int64_t, int64_t, \
                                                 cudaStream_t);                               \
    LAUNCHERS_OF(SoftmaxOf<kAlgorithm, T>);                                                   \
    LAUNCHERS_OF(GradientOf<kAlgorithm, T>)
// NOLINTEND(bugprone-macro-parentheses)

#include "04_warp_softmax/launchers_of_each.hpp"
#undef LAUNCHERS_OF

}  // namespace smem_softmax
