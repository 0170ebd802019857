// SPDX-License-Identifier: MIT
// Barriers, waiting, giving up.
#pragma once
#include "cpu_device/ptx/operands.h"
#include "cpu_device/synchronization.h"
#include "cpu_device/wgmma.h"

namespace cpu_device::ptx {

// bar.sync a{, n}; bar.arrive a, n; bar.red.op{.type} d, a{, n}, {!}p;  barrier{.cta} is the same.
template <class M>
inline constexpr bool is_of_block =
    M::template are_among<dot_cta, dot_sync, dot_aligned, dot_arrive, dot_red, dot_popc, dot_and,
                          dot_or, dot_u32, dot_pred>;

template <class M>
__device__ inline BarrierVote vote_of() {
    if constexpr (M::template has<dot_and>) return BarrierVote::all;
    if constexpr (M::template has<dot_or>) return BarrierVote::any;
    return BarrierVote::count;
}

template <class M, class D, class A, class Threads, class P>
__device__ inline void reduce_at_barrier(D& d, const A& number, const Threads& threads,
                                         const P& predicate) {
    const int voted = named_barrier(read<uint32_t>(number), read<uint32_t>(threads), vote_of<M>(),
                                    read<bool>(predicate));
    if constexpr (M::template has<dot_popc>) {
        write(d, static_cast<uint32_t>(voted));
    } else {
        write(d, voted != 0);
    }
}

template <class M, class... Operand>
__device__ inline void op_bar(Operand&&... operands) {
    static_assert(is_of_block<M> && M::template has_one_of<dot_sync, dot_arrive, dot_red>,
                  "bar is .sync, .arrive or .red, of the block");
    const auto all = list(operands...);
    constexpr size_t kCount = sizeof...(Operand);
    if constexpr (M::template has<dot_sync>) {
        static_assert(kCount == 1 || kCount == 2, "bar.sync takes a number, and perhaps a count");
        const auto number = read<uint32_t>(part<0>(all));
        if constexpr (kCount == 1) {
            named_barrier(number, 0);
        } else {
            named_barrier(number, read<uint32_t>(part<1>(all)));
        }
    } else if constexpr (M::template has<dot_arrive>) {
        static_assert(kCount == 2, "bar.arrive takes a number and a count");
        arrive_at_named_barrier(read<uint32_t>(part<0>(all)), read<uint32_t>(part<1>(all)));
    } else if constexpr (kCount == 3) {
        reduce_at_barrier<M>(part<0>(all), part<1>(all), Integer{0}, part<2>(all));
    } else {
        static_assert(kCount == 4,
                      "bar.red takes a result, a number, perhaps a count, a predicate");
        reduce_at_barrier<M>(part<0>(all), part<1>(all), part<2>(all), part<3>(all));
    }
}
template <class M, class... Operand>
__device__ inline void op_barrier(Operand&&... operands) {
    op_bar<M>(static_cast<Operand&&>(operands)...);
}

// setmaxnreg.inc.sync.aligned.u32 n;  from now on each thread of the warpgroup has that many registers.
template <class M, class Registers>
__device__ inline void op_setmaxnreg(const Registers&) {
    static_assert(std::is_same_v<M, mods<dot_inc, dot_sync, dot_aligned, dot_u32>> ||
                      std::is_same_v<M, mods<dot_dec, dot_sync, dot_aligned, dot_u32>>,
                  "setmaxnreg is .inc or .dec, then .sync.aligned.u32");
    constexpr long long kLeast = 24, kMost = 256, kStep = 8;
    constexpr long long kRegisters = constant_of<Registers>;
    static_assert(kRegisters >= kLeast && kRegisters <= kMost && kRegisters % kStep == 0,
                  "setmaxnreg takes an immediate, a multiple of 8 from 24 to 256");
    set_most_registers(static_cast<unsigned>(kRegisters), M::template has<dot_inc>);
}

template <class M, class Time>
__device__ inline void op_nanosleep(const Time&) {
    relax();
}
template <class M>
__device__ inline void op_trap() {
    cpu_device::trap();
}
template <class M>
__device__ inline void op_brkpt() {
    cpu_device::trap();
}

template <class M>
__device__ inline void op_exit() {
    static_assert(std::is_same_v<M, mods<>>, "exit has no suffixes");
    end_thread();
}

// A kernel that may begin while the one before it ends begins behind it here.
template <class M>
__device__ inline void op_griddepcontrol_wait() {}
template <class M>
__device__ inline void op_griddepcontrol_launch_dependents() {}

}  // namespace cpu_device::ptx
