// SPDX-License-Identifier: MIT
//
// Calls and names that CUDA 12 or an earlier toolkit had and CUDA 13 has not, for programs that still use them: each is
// another name of a call of today.
#pragma once

#include "cpu_device/runtime_api.h"

constexpr cudaDeviceAttr cudaDevAttrMaxTimelineSemaphoreInteropSupported =
    cudaDevAttrTimelineSemaphoreInteropSupported;

// ---------------------------------------------------------------- devices by the name of threads

inline cudaError_t cudaThreadSynchronize() {
    return cudaDeviceSynchronize();
}
inline cudaError_t cudaThreadExit() {
    return cudaDeviceReset();
}
inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
    return cudaDeviceSetLimit(limit, value);
}
inline cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) {
    return cudaDeviceGetLimit(value, limit);
}
inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}
inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) {
    return cudaDeviceGetCacheConfig(config);
}
inline cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device) {
    return cudaGetDeviceProperties(properties, device);
}

// ---------------------------------------------------------------- banks of shared memory

inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
    return cudaSuccess;
}
// Banks are 4 bytes wide, on every GPU of today.
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}
template <class Function>
cudaError_t cudaFuncSetSharedMemConfig(Function*, cudaSharedMemConfig) {
    return cudaSuccess;
}

// ---------------------------------------------------------------- second versions, which are the calls of today

inline cudaError_t cudaMemPrefetchAsync_v2(const void* from, size_t bytes, cudaMemLocation to,
                                           unsigned flags, cudaStream_t stream = nullptr) {
    return cudaMemPrefetchAsync(from, bytes, to, flags, stream);
}
inline cudaError_t cudaMemAdvise_v2(const void* of, size_t bytes, cudaMemoryAdvise advice,
                                    cudaMemLocation location) {
    return cudaMemAdvise(of, bytes, advice, location);
}
inline cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start,
                                           cudaEvent_t stop) {
    return cudaEventElapsedTime(milliseconds, start, stop);
}
inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                               unsigned long long* id = nullptr,
                                               cudaGraph_t* graph = nullptr,
                                               const cudaGraphNode_t** dependencies = nullptr,
                                               size_t* dependency_count = nullptr) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr,
                                    dependency_count);
}
inline cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t* from,
                                        cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                                        size_t* count) {
    return cudaGraphGetEdges(graph, from, to, edges, count);
}
inline cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to,
                                               const cudaGraphEdgeData* edges, size_t count) {
    return cudaGraphAddDependencies(graph, from, to, edges, count);
}
inline cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                  const cudaGraphNode_t* to,
                                                  const cudaGraphEdgeData* edges, size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, edges, count);
}
inline cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                   cudaGraphEdgeData* edges, size_t* count) {
    return cudaGraphNodeGetDependencies(node, nodes, edges, count);
}
inline cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                     cudaGraphEdgeData* edges, size_t* count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, edges, count);
}
inline cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies,
                                       const cudaGraphEdgeData* edges, size_t count,
                                       cudaGraphNodeParams* of) {
    return cudaGraphAddNode(node, graph, dependencies, edges, count, of);
}

// ---------------------------------------------------------------- one launch on several devices

struct cudaLaunchParams {
    void* func;
    dim3 gridDim;
    dim3 blockDim;
    void** args;
    size_t sharedMem;
    cudaStream_t stream;
};
constexpr unsigned cudaCooperativeLaunchMultiDeviceNoPreSync = 1;
constexpr unsigned cudaCooperativeLaunchMultiDeviceNoPostSync = 2;
inline cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams*, unsigned,
                                                          unsigned = 0) {
    return cpu_device::refused(__func__);
}
