// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/front_call, version 1.0
//
// The contract of all front calls. A front call NAME of namespace softmax_stages consists of three functions:
//   cudaError_t NAME(inputs, outputs, sizes, options, void* workspace, size_t bytes, cudaStream_t stream)
//   cudaError_t NAME_workspace_bytes<T>(size_t* bytes, the same sizes and options)   bytes that make it fastest
//   NamePlan NAME_plan<T>(the same sizes and options, const Chip&, size_t bytes)     pure: its choice, and why
//   arrays     row-major, in device memory, aligned as their type
//   options    a struct; {} gives safe defaults; optional results are nullptr by default
//   workspace  device memory of any content, 16-byte aligned, for one call at a time. If it is missing, too small or
//              misaligned, the call uses the best kernels that need no workspace; only encoder returns an error
//   stream     gets all of the work; a graph can capture it. The call neither allocates nor waits
//   errors     cudaErrorInvalidValue, without a launch, for a negative or unsupported size, an unsupported option, a
//              null or misaligned pointer to a required operand, bytes == nullptr. cudaSuccess, without a launch, if
//              the result is empty; pointers may then be null. The call returns an error of the runtime and does not
//              leave it for cudaGetLastError()
#pragma once
#include <algorithm>

#include "ask_once.cuh"

namespace softmax_stages {

constexpr int64_t kClose = -1;  // value of a distance in options: contiguous

// The properties of a GPU that a plan depends on.
struct Chip {
    int64_t multiprocessors;
    int64_t room;             // bytes of shared memory that a block may use for data
    int64_t largest_cluster;  // in blocks; 0 if the GPU has no clusters
    double bytes_per_us;      // of a copy, estimated from the device's attributes
    int64_t capability = 9;   // major number of its compute capability
};

// Never launched. find_largest_cluster asks the runtime how large a cluster of these blocks may be; such a block fills
// a multiprocessor.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) cluster_probe_kernel() {}

// Sets *largest to the number of blocks in the largest cluster that the device can run, at most 16. Sets it to 0 if the
// device, or the GPU that the code was compiled for, has no clusters.
inline cudaError_t find_largest_cluster(int64_t* largest, int64_t room, int device) {
    constexpr int kThreads = 1024, kMost = 16;
    const auto kernel = cluster_probe_kernel<kThreads>;
    int has_clusters = 0, blocks = 0;
    cudaFuncAttributes compiled{};
    *largest = 0;
    cudaError_t error = cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, device);
    if (error != cudaSuccess || has_clusters == 0) return error;
    error = cudaFuncGetAttributes(&compiled, kernel);
    if (error != cudaSuccess || compiled.ptxVersion < 90) return error;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(room));
    if (error != cudaSuccess) return error;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(kMost);
    config.blockDim = dim3(kThreads);
    config.dynamicSmemBytes = static_cast<size_t>(room);
    error = cudaOccupancyMaxPotentialClusterSize(&blocks, kernel, &config);
    if (error == cudaSuccess) *largest = std::min(blocks, kMost);
    return error;
}

// Returns the properties of the current device. Without a device, returns values with which a plan can still be made;
// a launch then fails.
inline Chip this_chip() {
    using warp_softmax::device_attribute;
    Chip chip{1, 0, 0, 4.27e6};
    warp_softmax::ask_once(&chip, [](Chip* answer, int device) {
        const double megahertz =
            static_cast<double>(device_attribute(cudaDevAttrMemoryClockRate)) / 1e3;
        const auto bits = static_cast<double>(device_attribute(cudaDevAttrGlobalMemoryBusWidth));
        const double peak = 2 * megahertz * bits / 8;  // bytes a microsecond; a copy gets 87 %
        if (peak > 0) answer->bytes_per_us = 0.87 * peak;
        answer->multiprocessors =
            std::max<int64_t>(1, device_attribute(cudaDevAttrMultiProcessorCount));
        answer->room = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 1024;
        answer->capability = device_attribute(cudaDevAttrComputeCapabilityMajor);
        return find_largest_cluster(&answer->largest_cluster, answer->room, device);
    });
    return chip;
}

// Returns the bytes of a workspace that a call may use: 0 if the workspace is missing or misaligned.
inline size_t usable_bytes(const void* workspace, size_t bytes) {
    return workspace != nullptr && reinterpret_cast<uintptr_t>(workspace) % 16 == 0 ? bytes : 0;
}

// True if a pointer is not null and is aligned for its elements. nullptr_is_good: true for a null pointer as well.
template <class Element>
bool is_placed(const Element* address, bool nullptr_is_good = false) {
    return (nullptr_is_good || address != nullptr) &&
           reinterpret_cast<uintptr_t>(address) % alignof(Element) == 0;
}

}  // namespace softmax_stages
