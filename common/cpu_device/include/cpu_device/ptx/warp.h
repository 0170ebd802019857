// SPDX-License-Identifier: MIT
// What the lanes of a warp do together.
#pragma once
#include "cpu_device/ptx/operands.h"
#include "cpu_device/warp.h"

namespace cpu_device::ptx {

// Writes d, or of d|p both.
template <class D, class T>
__device__ inline void write_both(D& d, T value, bool) {
    write(d, value);
}
template <class D, class P, class T>
__device__ inline void write_both(Pair<D, P>& d, T value, bool flag) {
    write(d.first, value);
    write(d.second, flag);
}

// shfl.sync.mode.b32 d{|p}, a, b, c, mask;  c is a lane to stay within, and above bit 8 the bits of the lane that
// name its segment.
template <class M, class D, class A, class B, class C, class Mask>
__device__ inline void op_shfl(D&& d, const A& a, const B& b, const C& c, const Mask& mask) {
    static_assert(
        M::template has<dot_sync> &&
            M::template are_among<dot_sync, dot_up, dot_down, dot_bfly, dot_idx, dot_b32> &&
            M::template has<dot_b32>,
        "shfl is .sync, then .up, .down, .bfly or .idx, then .b32");
    const int lane = static_cast<int>(lane_id());
    const int by = static_cast<int>(read<uint32_t>(b) & 31u);
    const auto limits = read<uint32_t>(c);
    const int clamp = static_cast<int>(limits & 31u), segment = static_cast<int>(limits >> 8 & 31u);
    const int least = lane & segment, most = least | (clamp & ~segment);
    int from = lane;
    bool is_within = false;
    if constexpr (M::template has<dot_up>) {
        from = lane - by;
        is_within = from >= most;
    } else if constexpr (M::template has<dot_down>) {
        from = lane + by;
        is_within = from <= most;
    } else if constexpr (M::template has<dot_bfly>) {
        from = lane ^ by;
        is_within = from <= most;
    } else {
        from = least | (by & ~segment);
        is_within = from <= most;
    }
    const auto value =
        static_cast<uint32_t>(warp_shuffle(read<uint32_t>(mask), uint64_t{read<uint32_t>(a)},
                                           Shuffle::index, is_within ? from : lane, warpSize));
    write_both(d, value, is_within);
}

template <class M, class D, class A, class Mask>
__device__ inline void op_vote(D& d, const A& a, const Mask& mask) {
    static_assert(
        M::template has<dot_sync> && M::template are_among<dot_sync, dot_all, dot_any, dot_uni,
                                                           dot_ballot, dot_pred, dot_b32>,
        "vote is .sync, then .all.pred, .any.pred, .uni.pred or .ballot.b32");
    const auto lanes = read<uint32_t>(mask);
    const bool mine = read<bool>(a);
    if constexpr (M::template has<dot_ballot>) {
        write(d, uint32_t{__ballot_sync(lanes, mine)});
    } else if constexpr (M::template has<dot_all>) {
        write(d, __all_sync(lanes, mine) != 0);
    } else if constexpr (M::template has<dot_any>) {
        write(d, __any_sync(lanes, mine) != 0);
    } else {
        write(d, __uni_sync(lanes, mine) != 0);
    }
}

template <class M, class D, class A, class Mask>
__device__ inline void op_match(D&& d, const A& a, const Mask& mask) {
    using Value = value_of<nth_type<M>>;
    static_assert(M::template has<dot_sync> && M::template has_one_of<dot_any, dot_all> &&
                      M::template are_among<dot_any, dot_all, dot_sync, dot_b32, dot_b64>,
                  "match is .any or .all, then .sync, then .b32 or .b64");
    const auto lanes = read<uint32_t>(mask);
    const unsigned equal = __match_any_sync(lanes, read<Value>(a));
    if constexpr (M::template has<dot_any>) {
        write(d, uint32_t{equal});
    } else {
        write_both(d, uint32_t{equal == lanes ? equal : 0}, equal == lanes);
    }
}

template <class M, class D>
__device__ inline void op_activemask(D& d) {
    write(d, uint32_t{active_mask()});
}

template <class M, class D, class A, class Mask>
__device__ inline void op_redux(D& d, const A& a, const Mask& mask) {
    static_assert(M::template has<dot_sync> &&
                      M::template are_among<dot_sync, dot_add, dot_min, dot_max, dot_and, dot_or,
                                            dot_xor, dot_u32, dot_s32, dot_b32>,
                  "redux is .sync, then an operation, then .u32, .s32 or .b32");
    using Value = value_of<nth_type<M>>;
    const auto lanes = read<uint32_t>(mask);
    const auto value = read<Value>(a);
    const Value result = reduce_lanes(lanes, value, [](Value x, Value y) {
        if constexpr (M::template has<dot_add>) {
            return static_cast<Value>(static_cast<uint32_t>(x) + static_cast<uint32_t>(y));
        } else if constexpr (M::template has<dot_min>) {
            return y < x ? y : x;
        } else if constexpr (M::template has<dot_max>) {
            return x < y ? y : x;
        } else if constexpr (M::template has<dot_and>) {
            return static_cast<Value>(x & y);
        } else if constexpr (M::template has<dot_or>) {
            return static_cast<Value>(x | y);
        } else {
            return static_cast<Value>(x ^ y);
        }
    });
    write(d, result);
}

// The lowest lane of the mask.
template <class M, class D, class P, class Mask>
__device__ inline void op_elect(Pair<D, P> d, const Mask& mask) {
    static_assert(M::template has<dot_sync> && M::template are_among<dot_sync>,
                  "elect is elect.sync");
    const auto lanes = read<uint32_t>(mask);
    const unsigned voters = __ballot_sync(lanes, 1);
    const auto leader = static_cast<uint32_t>(__builtin_ctz(voters));
    write(d.first, leader);
    write(d.second, leader == lane_id());
}

template <class M, class Mask>
__device__ inline void op_bar_warp_sync(const Mask& mask) {
    warp_exchange(read<uint32_t>(mask), 0, Collective::syncwarp);
}

}  // namespace cpu_device::ptx
