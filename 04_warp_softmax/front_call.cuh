// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/front_call, version 1.0
//
// The contract of all front calls, and what they share. A front call NAME of namespace softmax_stages is three functions:
//   cudaError_t NAME(inputs, outputs, sizes, options, void* workspace, size_t bytes, cudaStream_t stream)
//   cudaError_t NAME_workspace_bytes<T>(size_t* bytes, the same sizes and options)   with so many it is fastest here
//   NamePlan NAME_plan<T>(the same sizes and options, const Chip&, size_t bytes)     pure: what it would do, and why
//   arrays     row-major, in device memory, aligned as their type
//   options    a struct with safe defaults, for which {} is enough; optional results are nullptr there
//   workspace  device memory of any content, 16-byte aligned, of one call at a time. With none, or one that is too small
//              or misaligned, the call takes the best way that needs none; encoder alone cannot do without
//   stream     all work is queued there and nowhere else; a graph can capture it. Nothing is allocated or waited for
//   errors     cudaErrorInvalidValue, with nothing launched: a negative size, sizes or options that the call does not
//              support, a null or misaligned pointer to what it needs, bytes == nullptr. If no result has an element:
//              cudaSuccess, nothing launched, no pointer looked at. What the runtime returns is returned, and not left
//              for cudaGetLastError()
#pragma once
#include <algorithm>

#include "ask_once.cuh"

namespace softmax_stages {

constexpr int64_t kClose = -1;  // of a distance in options: without a gap

// What plans know of a GPU.
struct Chip {
    int64_t multiprocessors;
    int64_t room;             // bytes of shared memory that a block may have for data
    int64_t largest_cluster;  // blocks; 0 where there are no clusters
    double bytes_per_us;      // of a copy, as far as the device tells
    int64_t capability = 9;   // major number of its compute capability
};

// Never launched: large clusters of it fit where those of any kernel do that fills a multiprocessor.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) cluster_probe_kernel() {}

// Blocks in the largest cluster that a device can run, 16 at most: 0 where it has none, or where this was
// compiled for GPUs that have none.
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

// The current device, asked once. Without a device one that is good for a plan; a launch then says what is wrong.
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

// What a call may use of a workspace.
inline size_t usable_bytes(const void* workspace, size_t bytes) {
    return workspace != nullptr && reinterpret_cast<uintptr_t>(workspace) % 16 == 0 ? bytes : 0;
}

// Whether elements can lie there; nullptr_is_good: what is optional may be nowhere.
template <class Element>
bool is_placed(const Element* address, bool nullptr_is_good = false) {
    return (nullptr_is_good || address != nullptr) &&
           reinterpret_cast<uintptr_t>(address) % alignof(Element) == 0;
}

}  // namespace softmax_stages
