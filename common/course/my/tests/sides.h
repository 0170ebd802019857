// SPDX-License-Identifier: MIT
#pragma once
#ifndef __CUDA_ARCH__
#include <stdexcept>
#endif

#define BOTH_SIDES __host__ __device__
#define both_sides BOTH_SIDES inline

// Macros outside of functions come out as they do for the device.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define HAS_CLUSTERS 1
#endif
#define ARCHITECTURE_IN_TENS (__CUDA_ARCH__ / 10)

#ifndef __CUDA_ARCH__
inline int of_the_host(int x) {
    if (x < 0) throw std::invalid_argument("negative");
    return x + 1;
}
#endif
