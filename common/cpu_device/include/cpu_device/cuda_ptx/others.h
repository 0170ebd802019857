// SPDX-License-Identifier: MIT
// cuda::ptx: fences, clusters, special registers, and small instructions. Each function is the instruction of its name.
#pragma once
#include "cpu_device/cuda_ptx/variants.h"

namespace cuda::ptx {

// ---------------------------------------------------------------- fences

template <dot_sem sem, dot_scope scope>
__device__ inline void fence(sem_t<sem>, scope_t<scope>) {
    static_assert(sem != dot_sem::relaxed && sem != dot_sem::weak,
                  "fence is sem_sc, sem_acq_rel, sem_acquire or sem_release");
    detail::isa::op_fence<detail::isa::mods<detail::suffix<sem>, detail::suffix<scope>>>();
}
template <class = void>
__device__ inline void fence_mbarrier_init(sem_release_t, scope_cluster_t) {
    detail::isa::op_fence_mbarrier_init<
        detail::isa::mods<detail::isa::dot_release, detail::isa::dot_cluster>>();
}
template <class = void>
__device__ inline void fence_proxy_alias() {
    detail::isa::op_fence_proxy<detail::isa::mods<detail::isa::dot_alias>>();
}
template <class = void>
__device__ inline void fence_proxy_async() {
    detail::isa::op_fence_proxy<detail::isa::mods<detail::isa::dot_async>>();
}
template <dot_space space>
__device__ inline void fence_proxy_async(space_t<space>) {
    detail::isa::op_fence_proxy<detail::isa::mods<detail::isa::dot_async, detail::suffix<space>>>();
}
template <dot_scope scope>
__device__ inline void fence_proxy_tensormap_generic(sem_release_t, scope_t<scope>) {
    detail::isa::op_fence_proxy_tensormap_generic<
        detail::isa::mods<detail::isa::dot_release, detail::suffix<scope>>>();
}
template <int bytes, dot_scope scope>
__device__ inline void fence_proxy_tensormap_generic(sem_acquire_t, scope_t<scope>, const void* map,
                                                     n32_t<bytes>) {
    detail::isa::op_fence_proxy_tensormap_generic<
        detail::isa::mods<detail::isa::dot_acquire, detail::suffix<scope>>>(
        detail::global(map), detail::isa::Integer{bytes});
}

// ---------------------------------------------------------------- clusters

template <class = void>
__device__ inline void barrier_cluster_arrive() {
    detail::isa::op_barrier_cluster_arrive<detail::isa::mods<>>();
}
template <dot_sem sem>
__device__ inline void barrier_cluster_arrive(sem_t<sem>) {
    detail::isa::op_barrier_cluster_arrive<detail::isa::mods<detail::suffix<sem>>>();
}
template <class = void>
__device__ inline void barrier_cluster_wait() {
    detail::isa::op_barrier_cluster_wait<detail::isa::mods<>>();
}
template <class = void>
__device__ inline void barrier_cluster_wait(sem_acquire_t) {
    detail::isa::op_barrier_cluster_wait<detail::isa::mods<detail::isa::dot_acquire>>();
}
template <class = void>
__device__ inline uint32_t getctarank(space_cluster_t, const void* pointer) {
    uint32_t rank = 0;
    detail::isa::op_getctarank<
        detail::isa::mods<detail::isa::dot_shared_cluster, detail::isa::dot_u32>>(
        rank, ::cpu_device::shared_address(pointer));
    return rank;
}
template <class T>
__device__ inline T* mapa(space_cluster_t, const T* pointer, const uint32_t& rank) {
    uint64_t address = 0;
    detail::isa::op_mapa<detail::isa::mods<detail::isa::dot_u64>>(
        address, reinterpret_cast<uint64_t>(pointer), rank);
    return reinterpret_cast<T*>(address);
}

// ---------------------------------------------------------------- warps and threads

template <class = void>
__device__ inline bool elect_sync(const uint32_t& lanes) {
    bool is_elected = false;
    detail::isa::op_elect<detail::isa::mods<detail::isa::dot_sync>>(
        detail::isa::pair(detail::isa::Sink{}, is_elected), lanes);
    return is_elected;
}
template <int registers>
__device__ inline void setmaxnreg_inc(n32_t<registers>) {
    using M = detail::isa::mods<detail::isa::dot_inc, detail::isa::dot_sync,
                                detail::isa::dot_aligned, detail::isa::dot_u32>;
    detail::isa::op_setmaxnreg<M>(detail::isa::Constant<registers>{});
}
template <int registers>
__device__ inline void setmaxnreg_dec(n32_t<registers>) {
    using M = detail::isa::mods<detail::isa::dot_dec, detail::isa::dot_sync,
                                detail::isa::dot_aligned, detail::isa::dot_u32>;
    detail::isa::op_setmaxnreg<M>(detail::isa::Constant<registers>{});
}
template <class = void>
__device__ inline void exit() {
    detail::isa::op_exit<detail::isa::mods<>>();
}
template <class = void>
__device__ inline void trap() {
    detail::isa::op_trap<detail::isa::mods<>>();
}

#define CPU_DEVICE_CUDA_PTX_SHUFFLE(mode)                                                         \
    template <class T>                                                                            \
    __device__ inline T shfl_sync_##mode(T value, bool& is_in_range, uint32_t from,               \
                                         uint32_t clamp_and_segment, uint32_t lanes) {            \
        static_assert(sizeof(T) == 4, "shfl_sync_" #mode " takes values of 4 bytes");             \
        using M = detail::isa::mods<detail::isa::dot_sync, detail::isa::dot_##mode,               \
                                    detail::isa::dot_b32>;                                        \
        uint32_t result = 0;                                                                      \
        detail::isa::op_shfl<M>(detail::isa::pair(result, is_in_range),                           \
                                ::cpu_device::bit_cast<uint32_t>(value), from, clamp_and_segment, \
                                lanes);                                                           \
        return ::cpu_device::bit_cast<T>(result);                                                 \
    }                                                                                             \
    template <class T>                                                                            \
    __device__ inline T shfl_sync_##mode(T value, uint32_t from, uint32_t clamp_and_segment,      \
                                         uint32_t lanes) {                                        \
        bool is_in_range = false;                                                                 \
        return shfl_sync_##mode(value, is_in_range, from, clamp_and_segment, lanes);              \
    }
CPU_DEVICE_CUDA_PTX_SHUFFLE(idx)
CPU_DEVICE_CUDA_PTX_SHUFFLE(up)
CPU_DEVICE_CUDA_PTX_SHUFFLE(down)
CPU_DEVICE_CUDA_PTX_SHUFFLE(bfly)
#undef CPU_DEVICE_CUDA_PTX_SHUFFLE

// ---------------------------------------------------------------- special registers

#define CPU_DEVICE_CUDA_PTX_REGISTER(T, name) \
    template <class = void>                   \
    __device__ inline T get_sreg_##name() {   \
        return detail::isa::special_##name(); \
    }
#define CPU_DEVICE_CUDA_PTX_AXES(name)               \
    CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, name##_x) \
    CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, name##_y) \
    CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, name##_z)
CPU_DEVICE_CUDA_PTX_AXES(tid)
CPU_DEVICE_CUDA_PTX_AXES(ntid)
CPU_DEVICE_CUDA_PTX_AXES(ctaid)
CPU_DEVICE_CUDA_PTX_AXES(nctaid)
CPU_DEVICE_CUDA_PTX_AXES(cluster_ctaid)
CPU_DEVICE_CUDA_PTX_AXES(cluster_nctaid)
CPU_DEVICE_CUDA_PTX_AXES(clusterid)
CPU_DEVICE_CUDA_PTX_AXES(nclusterid)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, cluster_ctarank)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, cluster_nctarank)
CPU_DEVICE_CUDA_PTX_REGISTER(bool, is_explicit_cluster)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, laneid)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, warpid)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, lanemask_eq)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, lanemask_lt)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, lanemask_le)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, lanemask_gt)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, lanemask_ge)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, clock)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, clock_hi)
CPU_DEVICE_CUDA_PTX_REGISTER(uint64_t, clock64)
CPU_DEVICE_CUDA_PTX_REGISTER(uint64_t, globaltimer)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, globaltimer_lo)
CPU_DEVICE_CUDA_PTX_REGISTER(uint32_t, globaltimer_hi)
#undef CPU_DEVICE_CUDA_PTX_AXES
#undef CPU_DEVICE_CUDA_PTX_REGISTER

}  // namespace cuda::ptx
