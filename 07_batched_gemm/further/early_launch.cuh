// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/early_launch, version 1.0
//
// A kernel that begins while the one before it on its stream still runs (programmatic dependent launch): its blocks
// take what places are left, compute where they are, ask for what nobody has just written, and then wait.
//   new here   a launch that need not wait for the end of another; two instructions for who must
//   caution    each kernel of such a chain must wait before it writes anything, and before it reads what any kernel of
//              the chain, or one launched early in front of it, writes: the kernel before the last may still run, too
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

// Asks for the 128 bytes about an address: they will be in the L2 cache when they are loaded. No load, and no wait.
__device__ inline void ask_for(const void* address) {
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#else
    static_cast<void>(address);
#endif
}

// Whether the GPU can, and the kernel was compiled for it: for an older one it would not wait.
template <class Kernel>
bool is_possible(Kernel kernel) {
    bool is = false;
    const auto ask = [kernel](bool* answer, int device) {
        int major = 0;
        cudaFuncAttributes compiled{};
        cudaError_t error =
            cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
        if (error == cudaSuccess) error = cudaFuncGetAttributes(&compiled, kernel);
        *answer = major >= 9 && compiled.ptxVersion >= 90;
        return error;
    };
    return warp_softmax::ask_once(&is, ask, reinterpret_cast<const void*>(kernel)) == cudaSuccess &&
           is;
}

// Has a multiprocessor keep as much of its memory for shared memory as it can while this kernel runs. It changes that
// only when nothing runs on it: kernels that want it otherwise cannot begin beside each other.
template <class Kernel>
cudaError_t prefer_shared_memory(Kernel kernel) {
    int is_set = 0;
    const auto set = [kernel](int*, int) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared);
    };
    return warp_softmax::ask_once(&is_set, set, reinterpret_cast<const void*>(kernel));
}

// kernel<<<grid, block, shared, stream>>>(arguments...). early: it may begin before the kernel before it has ended,
// because it calls wait_for_earlier(). cluster: so many blocks along y belong together; 0: as ever. A launch that is
// refused leaves no error behind.
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
    if (early && is_possible(kernel) && prefer_shared_memory(kernel) == cudaSuccess) {
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
    const cudaError_t status = cudaLaunchKernelEx(&config, kernel, arguments...);
    if (status != cudaSuccess) cudaGetLastError();
    return status;
}

}  // namespace early_launch
