// SPDX-License-Identifier: MIT
// Questions about the device.
#pragma once
#include "cub/util_debug.cuh"

namespace cub {

inline int CurrentDevice() {
    int device = -1;
    return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}
inline int DeviceCount() {
    int count = -1;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : -1;
}
// As compute capability, 900 for 9.0.
inline cudaError_t SmVersion(int& version, int device = CurrentDevice()) {
    int major = 0, minor = 0;
    cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    version = 100 * major + 10 * minor;
    return error;
}
inline cudaError_t PtxVersion(int& version) {
    return SmVersion(version);
}
inline cudaError_t SyncStream(cudaStream_t stream) {
    return cudaStreamSynchronize(stream);
}

}  // namespace cub
