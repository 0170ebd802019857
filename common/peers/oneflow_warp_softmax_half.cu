// SPDX-License-Identifier: MIT
#include "oneflow_warp_softmax.cuh"

template cudaError_t oneflow_warp_softmax::softmax(const __half*, __half*, int64_t, int64_t,
                                                   cudaStream_t);
