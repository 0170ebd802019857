// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/early_launch, version 1.0
//
// Programmatic dependent launch: a kernel starts while the previous kernel of its stream still runs. As multiprocessors
// get room, its blocks start, compute addresses, prefetch data that no running kernel writes, and then wait.
//   new here   a launch attribute, and two instructions: one lets the next kernel start, one waits for the previous one
//   caution    each kernel of such a chain must wait before it writes anything, and before it reads the results of an
//              earlier kernel of the chain: the last kernel but one may still be running
//   needs      a GPU of compute capability 9.0; on others each kernel starts when the previous kernel has ended
//   source     CUDA programming guide, programmatic dependent launch; PTX ISA, griddepcontrol
#pragma once
#include <cuda_runtime.h>

#include "../../04_warp_softmax/ask_once.cuh"

namespace early_launch {

// Once all blocks have made this call, lets the next kernel of the stream start, if that kernel was launched early.
__device__ inline void let_next_begin() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Waits until the previous kernel has ended and its writes are visible. That kernel has waited for its own predecessor,
// so all earlier ones have ended as well. Returns at once in a kernel that was not launched early.
__device__ inline void wait_for_earlier() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

// Prefetches the 128 bytes around an address into the L2 cache. The thread receives no data and does not wait.
__device__ inline void ask_for(const void* address) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

// True if the GPU has early launches and the kernel was compiled for such a GPU. A kernel compiled for another would
// not wait for the previous kernel.
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

// Requests the largest shared-memory carveout for this kernel. A multiprocessor changes its carveout only when it is
// idle, so kernels with different carveouts cannot run on it at the same time.
template <class Kernel>
cudaError_t prefer_shared_memory(Kernel kernel) {
    int is_set = 0;
    const auto set = [kernel](int*, int) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared);
    };
    return warp_softmax::ask_once(&is_set, set, reinterpret_cast<const void*>(kernel));
}

// When a product begins.
enum class Begin {
    after,   // when the kernel before has ended
    early,   // its setup runs while that kernel ends
    with_b,  // B loads as well; so no kernel of the stream that may still run writes B
};

// Launches kernel<<<grid, block, shared, stream>>>(arguments...). early: the kernel may start before the previous
// kernel has ended, because it calls wait_for_earlier(). cluster: the number of blocks along y in a cluster; 0: no
// clusters. Clears the error of a refused launch.
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
