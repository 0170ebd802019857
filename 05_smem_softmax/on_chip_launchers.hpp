// SPDX-License-Identifier: MIT
// The launchers of softmax.cuh and of the headers it includes that on_chip_variants.cu compiles for the test too.
// Include it after that header.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace smem_softmax {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define LAUNCHERS(T, kAlgorithm)                                                                  \
    INSTANCE cudaError_t launch_as<kAlgorithm>(const Cut&, const T*, T*, int64_t, int64_t, void*, \
                                               cudaStream_t);                                     \
    INSTANCE cudaError_t launch_tile<kAlgorithm>(const Tile&, const T*, T*, int64_t, int64_t,     \
                                                 cudaStream_t);                                   \
    INSTANCE cudaError_t launch_online_cached<kAlgorithm>(const T*, T*, int64_t, int64_t,         \
                                                          cudaStream_t);                          \
    INSTANCE cudaError_t launch_backward_as<kAlgorithm>(const Cut&, const T*, const T*, T*,       \
                                                        int64_t, int64_t, void*, cudaStream_t);   \
    INSTANCE cudaError_t launch_backward<kAlgorithm>(const T*, const T*, T*, int64_t, int64_t,    \
                                                     void*, size_t, cudaStream_t)
// NOLINTEND(bugprone-macro-parentheses)

#include "04_warp_softmax/launchers_of_each.hpp"

}  // namespace smem_softmax
