// SPDX-License-Identifier: MIT
//
// Calls of the CUDA runtime API that the CPU device cannot do. Each says so once, by its name, and returns
// cudaErrorNotSupported, so that a program which only asks goes on.
#pragma once

#include "cpu_device/types.h"

namespace cpu_device {

cudaError_t refused(const char* call);

}  // namespace cpu_device

// Other processes.
inline cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaIpcCloseMemHandle(void*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaMemPoolExportToShareableHandle(void*, cudaMemPool_t,
                                                      cudaMemAllocationHandleType, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t*, void*,
                                                        cudaMemAllocationHandleType, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData*, void*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaMemPoolImportPointer(void**, cudaMemPool_t, cudaMemPoolPtrExportData*) {
    return cpu_device::refused(__func__);
}

// Memory and semaphores of other programming interfaces.
inline cudaError_t cudaImportExternalMemory(cudaExternalMemory_t*,
                                            const cudaExternalMemoryHandleDesc*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaExternalMemoryGetMappedBuffer(void**, cudaExternalMemory_t,
                                                     const cudaExternalMemoryBufferDesc*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaExternalMemoryGetMappedMipmappedArray(
    cudaMipmappedArray_t*, cudaExternalMemory_t, const cudaExternalMemoryMipmappedArrayDesc*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t*,
                                               const cudaExternalSemaphoreHandleDesc*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t*,
                                                     const cudaExternalSemaphoreSignalParams*,
                                                     unsigned, cudaStream_t = nullptr) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t*,
                                                   const cudaExternalSemaphoreWaitParams*, unsigned,
                                                   cudaStream_t = nullptr) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaDeviceGetNvSciSyncAttributes(void*, int, int) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                                      cudaFlushGPUDirectRDMAWritesScope) {
    return cpu_device::refused(__func__);
}

// Graphics.
inline cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphicsMapResources(int, cudaGraphicsResource_t*, cudaStream_t = nullptr) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphicsUnmapResources(int, cudaGraphicsResource_t*,
                                              cudaStream_t = nullptr) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphicsResourceGetMappedPointer(void**, size_t*, cudaGraphicsResource_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t*, cudaGraphicsResource_t,
                                                         unsigned, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphicsResourceGetMappedMipmappedArray(cudaMipmappedArray_t*,
                                                               cudaGraphicsResource_t) {
    return cpu_device::refused(__func__);
}

// Code that is loaded at run time, and the driver.
inline cudaError_t cudaLibraryLoadData(cudaLibrary_t*, const void*, cudaJitOption*, void**,
                                       unsigned, cudaLibraryOption*, void**, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t*, const char*, cudaJitOption*, void**,
                                           unsigned, cudaLibraryOption*, void**, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLibraryUnload(cudaLibrary_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLibraryGetKernel(cudaKernel_t*, cudaLibrary_t, const char*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLibraryGetGlobal(void**, size_t*, cudaLibrary_t, const char*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLibraryGetManaged(void**, size_t*, cudaLibrary_t, const char*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLibraryGetUnifiedFunction(void**, cudaLibrary_t, const char*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLibraryGetKernelCount(unsigned*, cudaLibrary_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t*, unsigned, cudaLibrary_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t, cudaFuncAttribute, int, int) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGetKernel(cudaKernel_t*, const void*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t*, const void*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGetExportTable(const void**, const cudaUUID_t*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaFuncGetParamInfo(const void*, size_t, size_t*, size_t*) {
    return cpu_device::refused(__func__);
}

// Notifications and logs.
inline cudaError_t cudaDeviceRegisterAsyncNotification(int, cudaAsyncCallback, void*,
                                                       cudaAsyncCallbackHandle_t*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaDeviceUnregisterAsyncNotification(int, cudaAsyncCallbackHandle_t) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t, void*, cudaLogsCallbackHandle*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLogsCurrent(cudaLogIterator*, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLogsDumpToFile(cudaLogIterator*, const char*, unsigned) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaLogsDumpToMemory(cudaLogIterator*, char*, size_t*, unsigned) {
    return cpu_device::refused(__func__);
}

// Copies of many pieces in three dimensions.
inline cudaError_t cudaMemcpy3DBatchAsync(size_t, cudaMemcpy3DBatchOp*, unsigned long long,
                                          cudaStream_t) {
    return cpu_device::refused(__func__);
}

// Nodes of graphs that the device does not run.
inline cudaError_t cudaGraphAddExternalSemaphoresSignalNode(
    cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
    const cudaExternalSemaphoreSignalNodeParams*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphExternalSemaphoresSignalNodeGetParams(
    cudaGraphNode_t, cudaExternalSemaphoreSignalNodeParams*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphExternalSemaphoresSignalNodeSetParams(
    cudaGraphNode_t, const cudaExternalSemaphoreSignalNodeParams*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphAddExternalSemaphoresWaitNode(
    cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
    const cudaExternalSemaphoreWaitNodeParams*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphExternalSemaphoresWaitNodeGetParams(
    cudaGraphNode_t, cudaExternalSemaphoreWaitNodeParams*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphExternalSemaphoresWaitNodeSetParams(
    cudaGraphNode_t, const cudaExternalSemaphoreWaitNodeParams*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphExecExternalSemaphoresSignalNodeSetParams(
    cudaGraphExec_t, cudaGraphNode_t, const cudaExternalSemaphoreSignalNodeParams*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaGraphExecExternalSemaphoresWaitNodeSetParams(
    cudaGraphExec_t, cudaGraphNode_t, const cudaExternalSemaphoreWaitNodeParams*) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t, cudaGraph_t, const cudaGraphNode_t*,
                                                 const cudaGraphEdgeData*, size_t,
                                                 cudaStreamCaptureMode) {
    return cpu_device::refused(__func__);
}
inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t, cudaGraphNode_t*,
                                                       const cudaGraphEdgeData*, size_t,
                                                       unsigned = 0) {
    return cpu_device::refused(__func__);
}
