// SPDX-License-Identifier: MIT
// The launchers of row_groups.cuh, any_width.cuh and warp_softmax_backward.cuh, which launchers.cu compiles for all
// files of the course. Include it after those headers.
#ifndef INSTANCE
#define INSTANCE extern template
#endif

namespace warp_softmax {

// NOLINTBEGIN(bugprone-macro-parentheses): types stand in none
#define LAUNCHERS(T, kAlgorithm)                                                                   \
    INSTANCE cudaError_t launch<kAlgorithm>(DirectLoad<T>, DirectStore<T>, int64_t, int64_t,       \
                                            cudaStream_t);                                         \
    INSTANCE cudaError_t launch_any_width<kAlgorithm>(const T*, T*, int64_t, int64_t,              \
                                                      cudaStream_t);                               \
    INSTANCE cudaError_t launch_backward<kAlgorithm>(DirectLoad<T>, DirectLoad<T>, DirectStore<T>, \
                                                     int64_t, int64_t, cudaStream_t)
// NOLINTEND(bugprone-macro-parentheses)

#include "04_warp_softmax/launchers_of_each.hpp"

}  // namespace warp_softmax
