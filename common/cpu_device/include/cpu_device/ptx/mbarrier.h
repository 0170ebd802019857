// SPDX-License-Identifier: MIT
// Barriers in shared memory that count arrivals and bytes.
#pragma once
#include "cpu_device/async_copies.h"
#include "cpu_device/mbarriers.h"
#include "cpu_device/ptx/memory.h"

namespace cpu_device::ptx {

// An mbarrier's address: in shared memory, where the instruction names that state space, else generic.
template <class M>
__device__ inline void* mbarrier_at(Address address) {
    return pointer_to<void, M>(address);
}

template <class M>
inline constexpr bool is_mbarrier_of_block =
    M::template are_among<dot_shared, dot_shared_cta, dot_b64>&& M::template has<dot_b64>;

// mbarrier.init{.shared{::cta}}.b64 [a], count;
template <class M, class Count>
__device__ inline void op_mbarrier_init(Address at, const Count& count) {
    static_assert(is_mbarrier_of_block<M>, "mbarrier.init is .shared::cta.b64");
    (void)AsyncProxyUse<M>::noted;
    init_mbarrier(mbarrier_at<M>(at), read<uint32_t>(count));
}
template <class M>
__device__ inline void op_mbarrier_inval(Address at) {
    static_assert(is_mbarrier_of_block<M>, "mbarrier.inval is .shared::cta.b64");
    invalidate_mbarrier(mbarrier_at<M>(at));
}

template <class M>
inline constexpr bool is_mbarrier_operation =
    M::template are_among<dot_release, dot_acquire, dot_relaxed, dot_cta, dot_cluster, dot_shared,
                          dot_shared_cta, dot_shared_cluster, dot_b64>&& M::template has<dot_b64>;

// mbarrier.expect_tx{.relaxed}{.scope}{.space}.b64 [a], bytes; mbarrier.complete_tx
template <class M, class Bytes>
__device__ inline void op_mbarrier_expect_tx(Address at, const Bytes& bytes) {
    static_assert(is_mbarrier_operation<M>, "mbarrier.expect_tx is .relaxed.scope.space.b64");
    expect_bytes(mbarrier_at<M>(at), read<uint32_t>(bytes));
}
template <class M, class Bytes>
__device__ inline void op_mbarrier_complete_tx(Address at, const Bytes& bytes) {
    static_assert(is_mbarrier_operation<M>, "mbarrier.complete_tx is .relaxed.scope.space.b64");
    complete_bytes(mbarrier_at<M>(at), read<uint32_t>(bytes));
}

// mbarrier.arrive{.release}{.scope}{.space}.b64 state, [a]{, count}; in .shared::cluster the state is _, or is left out.
// With .noComplete it must not be the phase's last.
template <class M, class... More>
__device__ inline uint64_t arrive(Address at, Arrival arrival, const More&... count) {
    constexpr bool kIsForm = is_mbarrier_operation<M> ||
                             fits<M, form<may<dot_release>, may<dot_cta>, one<dot_noComplete>,
                                          may<dot_shared, dot_shared_cta>, one<dot_b64>>>;
    static_assert(kIsForm && sizeof...(More) <= 1, "mbarrier.arrive is .sem.scope.space.b64");
    arrival.completes = !M::template has<dot_noComplete>;
    if constexpr (sizeof...(More) == 1) arrival.count = read<uint32_t>(part<0>(list(count...)));
    arrival.releases = !M::template has<dot_relaxed>;
    return arrive_at_mbarrier(mbarrier_at<M>(at), arrival);
}
template <class M, class D, class... Count>
__device__ inline void op_mbarrier_arrive(D&& state, Address at, const Count&... count) {
    write(state, arrive<M>(at, {}, count...));
}
template <class M, class... Count>
__device__ inline void op_mbarrier_arrive(Address at, const Count&... count) {
    arrive<M>(at, {}, count...);
}
template <class M, class D, class... Count>
__device__ inline void op_mbarrier_arrive_drop(D&& state, Address at, const Count&... count) {
    Arrival arrival;
    arrival.drops = true;
    write(state, arrive<M>(at, arrival, count...));
}
template <class M, class... Count>
__device__ inline void op_mbarrier_arrive_drop(Address at, const Count&... count) {
    op_mbarrier_arrive_drop<M>(Sink{}, at, count...);
}

// mbarrier.arrive.expect_tx{.release}{.scope}{.space}.b64 state, [a], bytes;
template <class M, class D, class Bytes>
__device__ inline void op_mbarrier_arrive_expect_tx(D&& state, Address at, const Bytes& bytes) {
    Arrival arrival;
    arrival.bytes = read<uint32_t>(bytes);
    write(state, arrive<M>(at, arrival));
}
template <class M, class Bytes>
__device__ inline void op_mbarrier_arrive_expect_tx(Address at, const Bytes& bytes) {
    op_mbarrier_arrive_expect_tx<M>(Sink{}, at, bytes);
}
template <class M, class D, class Bytes>
__device__ inline void op_mbarrier_arrive_drop_expect_tx(D&& state, Address at,
                                                         const Bytes& bytes) {
    Arrival arrival;
    arrival.bytes = read<uint32_t>(bytes);
    arrival.drops = true;
    write(state, arrive<M>(at, arrival));
}

// mbarrier.try_wait{.acquire}{.scope}{.space}.b64 done, [a], state{, time}; with .parity: [a], parity
template <class M, class D, class Phase>
__device__ inline void test(D& done, Address at, const Phase& phase, bool suspends) {
    static_assert(M::template are_among<dot_parity, dot_acquire, dot_relaxed, dot_cta, dot_cluster,
                                        dot_shared, dot_shared_cta, dot_b64> &&
                      M::template has<dot_b64>,
                  "mbarrier.try_wait is .parity.sem.scope.shared::cta.b64");
    MbarrierTest test;
    test.by_parity = M::template has<dot_parity>;
    if constexpr (M::template has<dot_parity>) {
        test.phase = read<uint32_t>(phase);
    } else {
        test.phase = read<uint64_t>(phase);
    }
    test.suspends = suspends;
    test.acquires = !M::template has<dot_relaxed>;
    write(done, test_mbarrier(mbarrier_at<M>(at), test));
}
template <class M, class D, class Phase, class... Time>
__device__ inline void op_mbarrier_try_wait(D&& done, Address at, const Phase& phase,
                                            const Time&...) {
    static_assert(sizeof...(Time) <= 1, "mbarrier.try_wait takes at most a time behind the phase");
    test<M>(done, at, phase, true);
}
template <class M, class D, class Phase>
__device__ inline void op_mbarrier_test_wait(D&& done, Address at, const Phase& phase) {
    test<M>(done, at, phase, false);
}

// mbarrier.pending_count.b64 count, state;
template <class M, class D, class State>
__device__ inline void op_mbarrier_pending_count(D&& count, const State& state) {
    static_assert(fits<M, form<one<dot_b64>>>, "mbarrier.pending_count is .b64");
    write(count, pending_arrivals(read<uint64_t>(state)));
}

// cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64 [a];
template <class M>
__device__ inline void op_cp_async_mbarrier_arrive(Address at) {
    static_assert(M::template are_among<dot_noinc, dot_shared, dot_shared_cta, dot_b64> &&
                      M::template has<dot_b64>,
                  "cp.async.mbarrier.arrive is .noinc.shared::cta.b64");
    arrive_with_copies(mbarrier_at<M>(at), M::template has<dot_noinc>);
}

}  // namespace cpu_device::ptx
