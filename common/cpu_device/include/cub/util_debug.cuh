// SPDX-License-Identifier: MIT
// CUB's checks of errors: said with file and line, and CubDebugExit ends the program.
#pragma once
#include <cstdio>
#include <cstdlib>

#include "cpu_device/runtime_api.h"
#include "cub/util_macro.cuh"

namespace cub {

inline cudaError_t Debug(cudaError_t error, const char* file, int line) {
    if (error != cudaSuccess) {
        ::std::fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", static_cast<int>(error), file, line,
                       cudaGetErrorString(error));
        ::std::fflush(stderr);
    }
    return error;
}

}  // namespace cub

#ifndef CubDebug
#define CubDebug(error) cub::Debug(static_cast<cudaError_t>(error), __FILE__, __LINE__)
#endif
#ifndef CubDebugExit
#define CubDebugExit(error)                                                                 \
    do {                                                                                    \
        if (cub::Debug(static_cast<cudaError_t>(error), __FILE__, __LINE__) != cudaSuccess) \
            exit(1);                                                                        \
    } while (0)
#endif
