// SPDX-License-Identifier: MIT
#include "oneflow_warp_softmax.cuh"

template cudaError_t oneflow_warp_softmax::softmax(const __nv_bfloat16*, __nv_bfloat16*, int64_t,
                                                   int64_t, cudaStream_t);
