// SPDX-License-Identifier: MIT
//
// The calls of the CUDA runtime API, with the toolkit's names and signatures.
// Everything runs to its end before the call returns, whatever its stream, except what goes into a
// stream that captures: that is kept for a graph.
#pragma once

#include "cpu_device/graph_api.h"
#include "cpu_device/refused_api.h"
#include "cpu_device/types.h"

// ---------------------------------------------------------------- errors

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// ---------------------------------------------------------------- the driver

// <cudaTypedefs.h> has the types of the driver's functions that these find.
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result = nullptr);
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* result = nullptr);

// ---------------------------------------------------------------- device

cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaSetValidDevices(int* devices, int count);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaCtxResetPersistingL2Cache();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);

// ---------------------------------------------------------------- several devices
// How many there are CPU_DEVICE_COUNT says: see devices.cpp.

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to);
cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities,
                                                const cudaAtomicOperation* operations,
                                                unsigned count, int device);
cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned* capabilities,
                                               const cudaAtomicOperation* operations,
                                               unsigned count, int from, int to);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* copy);
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy, cudaStream_t stream = nullptr);

// ---------------------------------------------------------------- memory

cudaError_t cudaMalloc(void** pointer, size_t bytes);
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void** pointer, size_t bytes);
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags);
inline cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned flags) {
    return cudaHostAlloc(pointer, bytes, flags);
}
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer);
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr);
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent);
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr);
// As CUDA 13 has them, and as those before it did.
cudaError_t cudaMemPrefetchAsync(const void* from, size_t bytes, cudaMemLocation to, unsigned flags,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* from, size_t bytes, int device,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* of, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location);
cudaError_t cudaMemAdvise(const void* of, size_t bytes, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemRangeGetAttribute(void* value, size_t value_bytes,
                                     cudaMemRangeAttribute attribute, const void* of, size_t bytes);
cudaError_t cudaMemRangeGetAttributes(void** values, size_t* value_bytes,
                                      cudaMemRangeAttribute* attributes, size_t count,
                                      const void* of, size_t bytes);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes = 0,
                                     unsigned flags = cudaMemAttachSingle);
// Many at once: each piece as a call of its own would do it. `attributes` are hints.
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes,
                                 size_t count, cudaMemcpyAttributes* attributes,
                                 size_t* first_of_attribute, size_t attribute_count,
                                 cudaStream_t stream);
cudaError_t cudaMemPrefetchBatchAsync(void** of, size_t* bytes, size_t count, cudaMemLocation* to,
                                      size_t* first_of_location, size_t location_count,
                                      unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemDiscardBatchAsync(void** of, size_t* bytes, size_t count,
                                     unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** of, size_t* bytes, size_t count,
                                                cudaMemLocation* to, size_t* first_of_location,
                                                size_t location_count, unsigned long long flags,
                                                cudaStream_t stream);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);

// ---------------------------------------------------------------- memory pools
// What they reserve and release is a model: see pools.cpp.

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type);
cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type);
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses,
                                 size_t count);
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location);
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);
inline cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                   cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}

template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
    return cudaMalloc(static_cast<void**>(static_cast<void*>(pointer)), bytes);
}
template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
    return cudaMallocPitch(static_cast<void**>(static_cast<void*>(pointer)), pitch, width, height);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync(static_cast<void**>(static_cast<void*>(pointer)), bytes, stream);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(static_cast<void**>(static_cast<void*>(pointer)), bytes, pool,
                                   stream);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    return cudaMallocFromPoolAsync(static_cast<void**>(static_cast<void*>(pointer)), bytes, pool,
                                   stream);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned flags = cudaHostAllocDefault) {
    return cudaMallocHost(static_cast<void**>(static_cast<void*>(pointer)), bytes, flags);
}
template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, size_t bytes = 0,
                                     unsigned flags = cudaMemAttachSingle) {
    return cudaStreamAttachMemAsync(stream, static_cast<void*>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned flags) {
    return cudaHostAlloc(static_cast<void**>(static_cast<void*>(pointer)), bytes, flags);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags) {
    return cudaHostGetDevicePointer(static_cast<void**>(static_cast<void*>(device)), host, flags);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
    return cudaMallocManaged(static_cast<void**>(static_cast<void*>(pointer)), bytes, flags);
}

// A __device__ or __constant__ variable is an ordinary variable of the program here. As in CUDA the variable itself is
// given, by whose place it is found: &variable is a pointer, which lies elsewhere, and no symbol. Its address as
// a const void* is one.
namespace cpu_device {

// Copies to or from a variable of the device, of so many bytes; 0: of as many as the translation told.
cudaError_t copy_to_symbol(const volatile void* symbol, size_t size, const void* from, size_t bytes,
                           size_t offset, const cudaStream_t* stream);
cudaError_t copy_from_symbol(void* to, const volatile void* symbol, size_t size, size_t bytes,
                             size_t offset, const cudaStream_t* stream);
cudaError_t size_of_symbol(size_t* bytes, const volatile void* symbol, size_t size);
// The address of a variable, from now on known to the host: it may give it to kernels.
cudaError_t address_for_host(void** pointer, const volatile void* symbol);

}  // namespace cpu_device

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
    return cpu_device::copy_to_symbol(&symbol, sizeof(T), from, bytes, offset, nullptr);
}
inline cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes,
                                      size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
    return cpu_device::copy_to_symbol(symbol, 0, from, bytes, offset, nullptr);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    return cpu_device::copy_from_symbol(to, &symbol, sizeof(T), bytes, offset, nullptr);
}
inline cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes,
                                        size_t offset = 0,
                                        cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    return cpu_device::copy_from_symbol(to, symbol, 0, bytes, offset, nullptr);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                    size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
    return cpu_device::copy_to_symbol(&symbol, sizeof(T), from, bytes, offset, &stream);
}
inline cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                           size_t offset = 0,
                                           cudaMemcpyKind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = nullptr) {
    return cpu_device::copy_to_symbol(symbol, 0, from, bytes, offset, &stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
    return cpu_device::copy_from_symbol(to, &symbol, sizeof(T), bytes, offset, &stream);
}
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes,
                                             size_t offset = 0,
                                             cudaMemcpyKind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = nullptr) {
    return cpu_device::copy_from_symbol(to, symbol, 0, bytes, offset, &stream);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
    return cpu_device::address_for_host(pointer, &symbol);
}
inline cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return cpu_device::address_for_host(pointer, symbol);
}
template <class Pointee, class T>
cudaError_t cudaGetSymbolAddress(Pointee** pointer, const T& symbol) {
    return cudaGetSymbolAddress(static_cast<void**>(static_cast<void*>(pointer)), symbol);
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
    return cpu_device::size_of_symbol(bytes, &symbol, sizeof(T));
}
inline cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
    return cpu_device::size_of_symbol(bytes, symbol, 0);
}

// ---------------------------------------------------------------- streams and events

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value);
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value);
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data,
                                  unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                     unsigned flags = cudaEventRecordDefault);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);
cudaError_t cudaEventDestroy(cudaEvent_t event);

// ---------------------------------------------------------------- kernels

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config);
cudaError_t cudaFuncGetName(const char** name, const void* kernel);

template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute,
                                 int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <class... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(Parameters...)) {
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <class... Parameters>
cudaError_t cudaFuncSetCacheConfig(void (*kernel)(Parameters...), cudaFuncCache config) {
    return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}
template <class... Parameters>
cudaError_t cudaFuncGetName(const char** name, void (*kernel)(Parameters...)) {
    return cudaFuncGetName(name, reinterpret_cast<const void*>(kernel));
}

// ---------------------------------------------------------------- occupancy
// By the model in occupancy.cpp: threads, shared memory and an assumed 32 registers a thread.

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int block_threads, size_t shared_bytes);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* kernel, int blocks,
                                                      int block_threads);
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config);
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel,
                                                 const cudaLaunchConfig_t* config);

template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          void (*kernel)(Parameters...),
                                                          int block_threads, size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, reinterpret_cast<const void*>(kernel), block_threads, shared_bytes);
}
template <class Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Function* kernel,
                                                                   int block_threads,
                                                                   size_t shared_bytes, unsigned) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, reinterpret_cast<const void*>(kernel), block_threads, shared_bytes);
}
template <class... Parameters>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, void (*kernel)(Parameters...),
                                                      int blocks, int block_threads) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, reinterpret_cast<const void*>(kernel),
                                                     blocks, block_threads);
}
template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, void (*kernel)(Parameters...),
                                           const cudaLaunchConfig_t* config) {
    return cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void*>(kernel), config);
}
template <class... Parameters>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, void (*kernel)(Parameters...),
                                                 const cudaLaunchConfig_t* config) {
    return cudaOccupancyMaxPotentialClusterSize(blocks, reinterpret_cast<const void*>(kernel),
                                                config);
}

// The block size, a multiple of the warp, at which most threads are resident; ties go to the larger
// block, as in the toolkit. shared_bytes_of tells the dynamic shared memory of a block of n
// threads.
template <class Function, class SharedBytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid, int* block_threads,
                                                           Function* kernel,
                                                           SharedBytes shared_bytes_of,
                                                           int block_limit = 0) {
    cudaDeviceProp device;
    if (const cudaError_t error = cudaGetDeviceProperties(&device, 0)) return error;
    const int largest = block_limit > 0 && block_limit < device.maxThreadsPerBlock
                            ? block_limit
                            : device.maxThreadsPerBlock;
    *min_grid = *block_threads = 0;
    int most_threads = 0;
    const int rounded_down = largest / device.warpSize * device.warpSize;
    for (int threads = rounded_down; threads > 0; threads -= device.warpSize) {
        int blocks = 0;
        const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, reinterpret_cast<const void*>(kernel), threads, shared_bytes_of(threads));
        if (error != cudaSuccess) return error;
        if (blocks * threads > most_threads) {
            most_threads = blocks * threads;
            *block_threads = threads;
            *min_grid = blocks * device.multiProcessorCount;
        }
    }
    return most_threads > 0 ? cudaSuccess : cudaErrorInvalidValue;
}
template <class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* block_threads, Function* kernel,
                                               size_t shared_bytes = 0, int block_limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        min_grid, block_threads, kernel, [shared_bytes](int) { return shared_bytes; }, block_limit);
}
template <class Function, class SharedBytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* min_grid, int* block_threads, Function* kernel, SharedBytes shared_bytes_of,
    int block_limit = 0, unsigned = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(min_grid, block_threads, kernel,
                                                          shared_bytes_of, block_limit);
}
template <class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block_threads,
                                                        Function* kernel, size_t shared_bytes = 0,
                                                        int block_limit = 0, unsigned = 0) {
    return cudaOccupancyMaxPotentialBlockSize(min_grid, block_threads, kernel, shared_bytes,
                                              block_limit);
}
