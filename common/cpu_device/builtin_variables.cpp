// SPDX-License-Identifier: MIT
//
// threadIdx and its companions, writable for the scheduler alone: kernels see them const through
// cpu_device/core.h, which therefore must not be included here.
#include "cpu_device/types.h"

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;
