// SPDX-License-Identifier: MIT
// cuda::ptx: mbarriers. Each function is the instruction of its name (cpu_device/ptx/mbarrier.h).
#pragma once
#include "cpu_device/cuda_ptx/variants.h"

namespace cuda::ptx {

namespace detail {

using OnOwn = isa::mods<isa::dot_shared_cta, isa::dot_b64>;

template <dot_sem sem, dot_scope scope, class Space>
using OnMbarrier = isa::mods<suffix<sem>, suffix<scope>, Space, isa::dot_b64>;
template <dot_sem sem, dot_scope scope>
using OfBlock = OnMbarrier<sem, scope, isa::dot_shared_cta>;
template <dot_sem sem>
using OfCluster = OnMbarrier<sem, dot_scope::cluster, isa::dot_shared_cluster>;

template <dot_sem sem>
inline constexpr bool arrives = is_one_of<sem, dot_sem::release, dot_sem::relaxed>;
template <dot_sem sem>
inline constexpr bool waits = is_one_of<sem, dot_sem::acquire, dot_sem::relaxed>;
template <dot_scope scope>
inline constexpr bool is_near = is_one_of<scope, dot_scope::cta, dot_scope::cluster>;

}  // namespace detail

template <class = void>
__device__ inline void mbarrier_init(uint64_t* at, const uint32_t& count) {
    detail::isa::op_mbarrier_init<detail::OnOwn>(detail::shared(at), count);
}
template <class = void>
__device__ inline void mbarrier_inval(uint64_t* at) {
    detail::isa::op_mbarrier_inval<detail::OnOwn>(detail::shared(at));
}

// ---------------------------------------------------------------- arrivals

template <class = void>
__device__ inline uint64_t mbarrier_arrive(uint64_t* at, const uint32_t& count = 1) {
    uint64_t state = 0;
    detail::isa::op_mbarrier_arrive<detail::OnOwn>(state, detail::shared(at), count);
    return state;
}
template <dot_sem sem, dot_scope scope>
__device__ inline uint64_t mbarrier_arrive(sem_t<sem>, scope_t<scope>, space_shared_t, uint64_t* at,
                                           const uint32_t& count = 1) {
    static_assert(detail::arrives<sem> && detail::is_near<scope>,
                  "mbarrier_arrive is sem_release or sem_relaxed, scope_cta or scope_cluster");
    uint64_t state = 0;
    detail::isa::op_mbarrier_arrive<detail::OfBlock<sem, scope>>(state, detail::shared(at), count);
    return state;
}
template <dot_sem sem>
__device__ inline void mbarrier_arrive(sem_t<sem>, scope_cluster_t, space_cluster_t, uint64_t* at,
                                       const uint32_t& count = 1) {
    static_assert(detail::arrives<sem>, "mbarrier_arrive is sem_release or sem_relaxed");
    detail::isa::op_mbarrier_arrive<detail::OfCluster<sem>>(detail::shared(at), count);
}
template <class = void>
__device__ inline uint64_t mbarrier_arrive_no_complete(uint64_t* at, const uint32_t& count) {
    using M = detail::isa::mods<detail::isa::dot_noComplete, detail::isa::dot_shared_cta,
                                detail::isa::dot_b64>;
    uint64_t state = 0;
    detail::isa::op_mbarrier_arrive<M>(state, detail::shared(at), count);
    return state;
}

template <dot_sem sem, dot_scope scope>
__device__ inline uint64_t mbarrier_arrive_expect_tx(sem_t<sem>, scope_t<scope>, space_shared_t,
                                                     uint64_t* at, const uint32_t& bytes) {
    static_assert(
        detail::arrives<sem> && detail::is_near<scope>,
        "mbarrier_arrive_expect_tx is sem_release or sem_relaxed, scope_cta or scope_cluster");
    uint64_t state = 0;
    detail::isa::op_mbarrier_arrive_expect_tx<detail::OfBlock<sem, scope>>(
        state, detail::shared(at), bytes);
    return state;
}
template <dot_sem sem>
__device__ inline void mbarrier_arrive_expect_tx(sem_t<sem>, scope_cluster_t, space_cluster_t,
                                                 uint64_t* at, const uint32_t& bytes) {
    static_assert(detail::arrives<sem>, "mbarrier_arrive_expect_tx is sem_release or sem_relaxed");
    detail::isa::op_mbarrier_arrive_expect_tx<detail::OfCluster<sem>>(detail::shared(at), bytes);
}

template <dot_scope scope, dot_space space>
__device__ inline void mbarrier_expect_tx(sem_relaxed_t, scope_t<scope>, space_t<space>,
                                          uint64_t* at, uint32_t bytes) {
    static_assert(
        detail::is_near<scope> && space != dot_space::global,
        "mbarrier_expect_tx is scope_cta or scope_cluster, space_shared or space_cluster");
    using M = detail::OnMbarrier<dot_sem::relaxed, scope, detail::suffix<space>>;
    detail::isa::op_mbarrier_expect_tx<M>(detail::shared(at), bytes);
}

template <class = void>
__device__ inline void cp_async_mbarrier_arrive(uint64_t* at) {
    detail::isa::op_cp_async_mbarrier_arrive<detail::OnOwn>(detail::shared(at));
}
template <class = void>
__device__ inline void cp_async_mbarrier_arrive_noinc(uint64_t* at) {
    using detail::isa::dot_noinc;
    using M = detail::isa::mods<dot_noinc, detail::isa::dot_shared_cta, detail::isa::dot_b64>;
    detail::isa::op_cp_async_mbarrier_arrive<M>(detail::shared(at));
}

// ---------------------------------------------------------------- waits
// A time to suspend for is a hint, which is dropped.

#define CPU_DEVICE_CUDA_PTX_WAIT(name, op, Phase, more)                                         \
    template <class = void>                                                                     \
    __device__ inline bool name(uint64_t* at, const Phase& phase) {                             \
        using M = detail::isa::mods<more detail::isa::dot_shared_cta, detail::isa::dot_b64>;    \
        bool over = false;                                                                      \
        detail::isa::op<M>(over, detail::shared(at), phase);                                    \
        return over;                                                                            \
    }                                                                                           \
    template <dot_sem sem, dot_scope scope>                                                     \
    __device__ inline bool name(sem_t<sem>, scope_t<scope>, uint64_t* at, const Phase& phase) { \
        static_assert(detail::waits<sem> && detail::is_near<scope>,                             \
                      #name " is sem_acquire or sem_relaxed, scope_cta or scope_cluster");      \
        using M = detail::isa::mods<more detail::suffix<sem>, detail::suffix<scope>,            \
                                    detail::isa::dot_shared_cta, detail::isa::dot_b64>;         \
        bool over = false;                                                                      \
        detail::isa::op<M>(over, detail::shared(at), phase);                                    \
        return over;                                                                            \
    }
#define CPU_DEVICE_CUDA_PTX_SUSPENDED(name, Phase)                                    \
    template <class = void>                                                           \
    __device__ inline bool name(uint64_t* at, const Phase& phase, const uint32_t&) {  \
        return name(at, phase);                                                       \
    }                                                                                 \
    template <dot_sem sem, dot_scope scope>                                           \
    __device__ inline bool name(sem_t<sem> order, scope_t<scope> range, uint64_t* at, \
                                const Phase& phase, const uint32_t&) {                \
        return name(order, range, at, phase);                                         \
    }
#define CPU_DEVICE_CUDA_PTX_BY_PARITY detail::isa::dot_parity,
CPU_DEVICE_CUDA_PTX_WAIT(mbarrier_test_wait, op_mbarrier_test_wait, uint64_t, )
CPU_DEVICE_CUDA_PTX_WAIT(mbarrier_test_wait_parity, op_mbarrier_test_wait, uint32_t,
                         CPU_DEVICE_CUDA_PTX_BY_PARITY)
CPU_DEVICE_CUDA_PTX_WAIT(mbarrier_try_wait, op_mbarrier_try_wait, uint64_t, )
CPU_DEVICE_CUDA_PTX_WAIT(mbarrier_try_wait_parity, op_mbarrier_try_wait, uint32_t,
                         CPU_DEVICE_CUDA_PTX_BY_PARITY)
CPU_DEVICE_CUDA_PTX_SUSPENDED(mbarrier_try_wait, uint64_t)
CPU_DEVICE_CUDA_PTX_SUSPENDED(mbarrier_try_wait_parity, uint32_t)
#undef CPU_DEVICE_CUDA_PTX_BY_PARITY
#undef CPU_DEVICE_CUDA_PTX_SUSPENDED
#undef CPU_DEVICE_CUDA_PTX_WAIT

}  // namespace cuda::ptx
