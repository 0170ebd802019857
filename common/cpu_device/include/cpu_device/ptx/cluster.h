// SPDX-License-Identifier: MIT
// Blocks of a cluster: each other's shared memory, and their barrier.
#pragma once
#include "cpu_device/ptx/memory.h"

namespace cpu_device::ptx {

// mapa.shared::cluster.u32 d, a, rank; of a generic address without the state space.
template <class M, class D, class A, class Rank>
__device__ inline void op_mapa(D& d, const A& a, const Rank& rank) {
    static_assert(M::template are_among<dot_shared_cluster, dot_u32, dot_u64> &&
                      M::template has_one_of<dot_u32, dot_u64>,
                  "mapa is .shared::cluster, then .u32 or .u64");
    using Value = value_of<nth_type<M>>;
    const auto to = read<uint32_t>(rank);
    const auto address = read<Value>(a);
    if constexpr (M::template has<dot_shared_cluster>) {
        write(d, static_cast<Value>(shared_address(map_shared_rank(shared_pointer(address), to))));
    } else {
        void* const pointer = reinterpret_cast<void*>(uint64_t{address});
        write(d, static_cast<Value>(reinterpret_cast<uint64_t>(map_shared_rank(pointer, to))));
    }
}

// getctarank{.shared::cluster}.u32 d, a;
template <class M, class D, class A>
__device__ inline void op_getctarank(D& d, const A& a) {
    static_assert(M::template are_among<dot_shared_cluster, dot_u32, dot_u64>,
                  "getctarank is .shared::cluster, then .u32 or .u64");
    const uint64_t address = read<value_of<nth_type<M>>>(a);
    const void* const pointer = M::template has<dot_shared_cluster>
                                    ? shared_pointer(address)
                                    : reinterpret_cast<const void*>(address);
    write(d, uint32_t{rank_of_shared(pointer)});
}

// barrier.cluster.arrive{.release|.relaxed}{.aligned}; barrier.cluster.wait{.acquire}{.aligned};
template <class M>
__device__ inline void op_barrier_cluster_arrive() {
    static_assert(M::template are_among<dot_release, dot_relaxed, dot_aligned>,
                  "barrier.cluster.arrive is .release or .relaxed, and .aligned");
    cluster_arrive();
}
template <class M>
__device__ inline void op_barrier_cluster_wait() {
    static_assert(M::template are_among<dot_acquire, dot_aligned>,
                  "barrier.cluster.wait is .acquire.aligned");
    cluster_wait();
}

}  // namespace cpu_device::ptx
