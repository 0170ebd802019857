// SPDX-License-Identifier: MIT
// PTX's special registers.
#pragma once
#include "cpu_device/ptx/operands.h"
#include "cpu_device/synchronization.h"

namespace cpu_device::ptx {

#define CPU_DEVICE_PTX_AXES(name, value)              \
    __device__ inline uint32_t special_##name##_x() { \
        return (value).x;                             \
    }                                                 \
    __device__ inline uint32_t special_##name##_y() { \
        return (value).y;                             \
    }                                                 \
    __device__ inline uint32_t special_##name##_z() { \
        return (value).z;                             \
    }
CPU_DEVICE_PTX_AXES(tid, threadIdx)
CPU_DEVICE_PTX_AXES(ntid, blockDim)
CPU_DEVICE_PTX_AXES(ctaid, blockIdx)
CPU_DEVICE_PTX_AXES(nctaid, gridDim)
CPU_DEVICE_PTX_AXES(cluster_ctaid, cluster_block_index())
CPU_DEVICE_PTX_AXES(cluster_nctaid, cluster_dimensions())
#undef CPU_DEVICE_PTX_AXES

__device__ inline dim3 cluster_of_grid() {
    const dim3 size = cluster_dimensions();
    return dim3(blockIdx.x / size.x, blockIdx.y / size.y, blockIdx.z / size.z);
}
__device__ inline dim3 clusters_of_grid() {
    const dim3 size = cluster_dimensions();
    return dim3(gridDim.x / size.x, gridDim.y / size.y, gridDim.z / size.z);
}
__device__ inline uint32_t special_clusterid_x() {
    return cluster_of_grid().x;
}
__device__ inline uint32_t special_clusterid_y() {
    return cluster_of_grid().y;
}
__device__ inline uint32_t special_clusterid_z() {
    return cluster_of_grid().z;
}
__device__ inline uint32_t special_nclusterid_x() {
    return clusters_of_grid().x;
}
__device__ inline uint32_t special_nclusterid_y() {
    return clusters_of_grid().y;
}
__device__ inline uint32_t special_nclusterid_z() {
    return clusters_of_grid().z;
}
__device__ inline uint32_t special_cluster_ctarank() {
    return cluster_block_rank();
}
__device__ inline uint32_t special_cluster_nctarank() {
    return cluster_block_count();
}
__device__ inline bool special_is_explicit_cluster() {
    return cluster_block_count() > 1;
}

__device__ inline uint32_t special_laneid() {
    return lane_id();
}
__device__ inline uint32_t linear_thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ inline uint32_t special_warpid() {
    return linear_thread() / 32;
}
__device__ inline uint32_t special_lanemask_eq() {
    return 1u << lane_id();
}
__device__ inline uint32_t special_lanemask_lt() {
    return special_lanemask_eq() - 1;
}
__device__ inline uint32_t special_lanemask_le() {
    return (2u << lane_id()) - 1;
}
__device__ inline uint32_t special_lanemask_gt() {
    return ~special_lanemask_le();
}
__device__ inline uint32_t special_lanemask_ge() {
    return ~special_lanemask_lt();
}

// Blocks go over the multiprocessors in turn, each with room for 64 warps.
__device__ inline uint32_t special_nsmid() {
    return multiprocessor_count();
}
__device__ inline uint32_t special_smid() {
    const uint64_t row = uint64_t{gridDim.y} * blockIdx.z + blockIdx.y;
    return static_cast<uint32_t>((row * gridDim.x + blockIdx.x) % multiprocessor_count());
}
__device__ inline uint32_t special_nwarpid() {
    return 64;
}

// Ticks are nanoseconds.
__device__ inline uint64_t special_clock64() {
    return static_cast<uint64_t>(nanoseconds());
}
__device__ inline uint32_t special_clock() {
    return static_cast<uint32_t>(special_clock64());
}
__device__ inline uint32_t special_clock_hi() {
    return static_cast<uint32_t>(special_clock64() >> 32);
}
__device__ inline uint64_t special_globaltimer() {
    return special_clock64();
}
__device__ inline uint32_t special_globaltimer_lo() {
    return special_clock();
}
__device__ inline uint32_t special_globaltimer_hi() {
    return special_clock_hi();
}

}  // namespace cpu_device::ptx
