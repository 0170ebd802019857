// SPDX-License-Identifier: MIT
// How a test launches a kernel in clusters.
#pragma once
#include <cuda_runtime.h>

template <class... Parameters, class... Arguments>
cudaError_t launch_cluster(void (*kernel)(Parameters...), dim3 grid, dim3 block, dim3 cluster,
                           size_t shared_bytes, Arguments... arguments) {
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}
