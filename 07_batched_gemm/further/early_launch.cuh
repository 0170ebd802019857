// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/early_launch, version 1.0
//
// A kernel that begins while the one before it on its stream still runs (programmatic dependent launch): its blocks
// take what places are left, compute where they are, ask for what nobody has just written, and then wait.
//   new here   a launch that need not wait for the end of another; two instructions for who must
//   needs      a GPU of compute capability 9.0; elsewhere launches follow each other as ever
//   source     CUDA programming guide, programmatic dependent launch; PTX ISA, griddepcontrol
#pragma once
#include <cuda_runtime.h>

#include "../../04_warp_softmax/ask_once.cuh"

namespace early_launch {

// Lets the next kernel of the stream begin, if it was launched so, once all blocks have come here.
__device__ inline void let_next_begin() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Waits until the kernel before has ended, and all that it wrote can be read. As that one has waited too, so have all
// before it. A kernel that was launched as ever has nothing to wait for.
__device__ inline void wait_for_earlier() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

inline bool is_possible() {
    return warp_softmax::device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
}

// kernel<<<grid, block, shared, stream>>>(arguments...). early: it may begin before the kernel before it has ended,
// because it calls wait_for_earlier(). cluster: so many blocks along y belong together; 0: as ever.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared,
                   cudaStream_t stream, bool early, unsigned cluster,
                   const Arguments&... arguments) {
    cudaLaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (cluster > 0) {
        attributes[count].id = cudaLaunchAttributeClusterDimension;
        attributes[count++].val.clusterDim = {1, cluster, 1};
    }
    if (early && is_possible()) {
        attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace early_launch
