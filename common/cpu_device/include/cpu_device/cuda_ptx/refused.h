// SPDX-License-Identifier: MIT
// cuda::ptx: functions that the CPU device does not have. Who calls one is told its name at that line.
#pragma once
#include "cpu_device/cuda_ptx/variants.h"

namespace cuda::ptx {

#define CPU_DEVICE_CUDA_PTX_REFUSED(name, why)                                    \
    template <auto..., class... Argument>                                         \
    __device__ inline void name(const Argument&...) {                             \
        static_assert(detail::isa::never<Argument...>,                            \
                      "the CPU device does not have cuda::ptx::" #name ": " why); \
    }
CPU_DEVICE_CUDA_PTX_REFUSED(clusterlaunchcontrol_query_cancel_get_first_ctaid,
                            "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(clusterlaunchcontrol_query_cancel_get_first_ctaid_x,
                            "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(clusterlaunchcontrol_query_cancel_get_first_ctaid_y,
                            "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(clusterlaunchcontrol_query_cancel_get_first_ctaid_z,
                            "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(clusterlaunchcontrol_query_cancel_is_canceled,
                            "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(clusterlaunchcontrol_try_cancel, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(clusterlaunchcontrol_try_cancel_multicast,
                            "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(cp_async_bulk_cp_mask, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(cp_async_bulk_tensor_tile_gather4, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(cp_async_bulk_tensor_tile_scatter4, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(st_bulk, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_swizzle_atomicity, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_alloc, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_commit, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_commit_multicast, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_dealloc, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_fence_after_thread_sync, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_fence_before_thread_sync, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_relinquish_alloc_permit, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_shift_down, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_wait_ld, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_wait_st, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_mma, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_mma_tmem_a, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_cp_128x128b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_cp_128x256b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_cp_32x128b_warpx4, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_cp_4x256b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_cp_64x128b_warpx2_01_23, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_cp_64x128b_warpx2_02_13, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_ld_16x128b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_ld_16x256b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_ld_16x32bx2, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_ld_16x64b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_ld_32x32b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_st_16x128b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_st_16x256b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_st_16x32bx2, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_st_16x64b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tcgen05_st_32x32b, "it is of compute capability 10.0")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_box_dim,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_element_size,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_element_stride,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_elemtype,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_fill_mode,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_global_address,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_global_dim,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_global_stride,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_interleave_layout,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_rank,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_replace_swizzle_mode,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(tensormap_cp_fenceproxy,
                            "encode a map for each tensor with cuTensorMapEncodeTiled on the host")
CPU_DEVICE_CUDA_PTX_REFUSED(multimem_ld_reduce, "it has one GPU")
CPU_DEVICE_CUDA_PTX_REFUSED(multimem_red, "it has one GPU")
CPU_DEVICE_CUDA_PTX_REFUSED(multimem_st, "it has one GPU")
CPU_DEVICE_CUDA_PTX_REFUSED(fence_proxy_async_generic_sync_restrict,
                            "use cuda::ptx::fence with scope_cluster")
CPU_DEVICE_CUDA_PTX_REFUSED(fence_sync_restrict, "use cuda::ptx::fence with scope_cluster")
CPU_DEVICE_CUDA_PTX_REFUSED(get_sreg_aggr_smem_size, "what a kernel does must not depend on it")
CPU_DEVICE_CUDA_PTX_REFUSED(get_sreg_current_graph_exec, "what a kernel does must not depend on it")
CPU_DEVICE_CUDA_PTX_REFUSED(get_sreg_dynamic_smem_size, "what a kernel does must not depend on it")
CPU_DEVICE_CUDA_PTX_REFUSED(get_sreg_gridid, "what a kernel does must not depend on it")
CPU_DEVICE_CUDA_PTX_REFUSED(get_sreg_nsmid, "what a kernel does must not depend on it")
CPU_DEVICE_CUDA_PTX_REFUSED(get_sreg_nwarpid, "what a kernel does must not depend on it")
CPU_DEVICE_CUDA_PTX_REFUSED(get_sreg_smid, "what a kernel does must not depend on it")
CPU_DEVICE_CUDA_PTX_REFUSED(get_sreg_total_smem_size, "what a kernel does must not depend on it")
#undef CPU_DEVICE_CUDA_PTX_REFUSED

}  // namespace cuda::ptx
