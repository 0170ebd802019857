// SPDX-License-Identifier: MIT
// Bulk copies of contiguous bytes, and the groups that stores and reductions belong to.
#pragma once
#include "cpu_device/ptx/memory.h"
#include "cpu_device/tensor_map.h"

namespace cpu_device::ptx {

__device__ inline void* shared_at(Address address) {
    return shared_pointer(address.value);
}
__device__ inline void* global_at(Address address) {
    return reinterpret_cast<void*>(address.value);
}

// What follows a load's mbarrier, or a store's last operand: the blocks that get the bytes, and a cache policy, which is
// a hint.
template <class M, class... More>
__device__ inline uint16_t blocks_among([[maybe_unused]] const char* instruction,
                                        const More&... more) {
    constexpr size_t kMask = M::template has<dot_multicast_cluster> ? 1 : 0;
    constexpr size_t kPolicy = M::template has<dot_L2_cache_hint> ? 1 : 0;
    static_assert(
        sizeof...(More) == kMask + kPolicy,
        "a 16-bit mask of blocks stands with .multicast::cluster, a cache policy behind it "
        "with .L2::cache_hint, and nothing else");
    [[maybe_unused]] const auto operands = list(more...);
    if constexpr (kPolicy != 0) {
        [[maybe_unused]] const auto policy = read<uint64_t>(part<kMask>(operands));
    }
    if constexpr (kMask != 0) {
        const auto mask = read<uint16_t>(part<0>(operands));
        if (mask == 0) {
            cpu_device::fail(cudaErrorInvalidValue,
                             "%s with .multicast::cluster gets a mask that names no block",
                             instruction);
        }
        return mask;
    } else {
        return 0;
    }
}

template <class M>
inline constexpr bool is_bulk_load = fits_one_of<
    M,
    form<first<dot_shared_cluster>, one<dot_global>, one<dot_mbarrier_complete_tx_bytes>,
         may<dot_multicast_cluster>, may<dot_L2_cache_hint>>,
    form<first<dot_shared_cta>, one<dot_global>, one<dot_mbarrier_complete_tx_bytes>,
         may<dot_L2_cache_hint>>>;
template <class M>
inline constexpr bool is_bulk_store =
    fits<M, form<first<dot_global>, one<dot_shared_cta>, one<dot_bulk_group>, may<dot_cp_mask>,
                 may<dot_L2_cache_hint>>>;
template <class M>
inline constexpr bool is_from_block_to_block =
    fits<M,
         form<first<dot_shared_cluster>, one<dot_shared_cta>, one<dot_mbarrier_complete_tx_bytes>>>;

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [mbarrier]{, mask}{, policy};
template <class M, class Size, class... More>
__device__ inline void op_cp_async_bulk([[maybe_unused]] Address to, [[maybe_unused]] Address from,
                                        [[maybe_unused]] const Size& size,
                                        [[maybe_unused]] Address mbarrier,
                                        [[maybe_unused]] const More&... more) {
    static_assert(is_bulk_load<M> || is_from_block_to_block<M>, "cp.async.bulk has no such form");
    (void)AsyncProxyUse<M>::noted;
    if constexpr (is_from_block_to_block<M>) {
        static_assert(sizeof...(More) == 0, "a copy from block to block takes nothing more");
        bulk_send("cp.async.bulk", shared_at(to), shared_at(from), read<uint32_t>(size),
                  shared_at(mbarrier));
    } else {
        const uint16_t blocks = blocks_among<M>("cp.async.bulk", more...);
        bulk_load("cp.async.bulk", shared_at(to), global_at(from), read<uint32_t>(size),
                  shared_at(mbarrier), blocks);
    }
}
// cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes{, policy};
template <class M, class Size, class... More>
__device__ inline void op_cp_async_bulk([[maybe_unused]] Address to, [[maybe_unused]] Address from,
                                        [[maybe_unused]] const Size& size,
                                        [[maybe_unused]] const More&... more) {
    static_assert(is_bulk_store<M>, "cp.async.bulk has no such form");
    (void)AsyncProxyUse<M>::noted;
    if constexpr (M::template has<dot_cp_mask>) {
        refuse_instruction("cp.async.bulk with .cp_mask, which is of compute capability 10.0");
    } else {
        blocks_among<M>("cp.async.bulk", more...);
        bulk_store("cp.async.bulk", global_at(to), shared_at(from), read<uint32_t>(size));
    }
}

// cp.async.bulk.prefetch.L2.global [from], bytes{, policy};
template <class M, class Size, class... More>
__device__ inline void op_cp_async_bulk_prefetch(Address from, const Size& size,
                                                 const More&... more) {
    static_assert(fits<M, form<one<dot_L2>, one<dot_global>, may<dot_L2_cache_hint>>>,
                  "cp.async.bulk.prefetch is .L2.global");
    blocks_among<M>("cp.async.bulk.prefetch", more...);
    bulk_prefetch("cp.async.bulk.prefetch", global_at(from), read<uint32_t>(size));
}

template <class M>
__device__ inline void op_cp_async_bulk_commit_group() {
    static_assert(fits<M, form<>>, "cp.async.bulk.commit_group has no suffix");
    commit_bulk_group();
}
template <class M, class Groups>
__device__ inline void op_cp_async_bulk_wait_group(const Groups& groups) {
    static_assert(std::is_same_v<Groups, Integer>,
                  "cp.async.bulk.wait_group takes the number of groups as an immediate");
    static_assert(fits<M, form<may<dot_read>>>, "cp.async.bulk.wait_group takes .read alone");
    wait_for_bulk_groups(read<uint32_t>(groups), M::template has<dot_read>);
}

// ---------------------------------------------------------------- reductions

template <class M>
inline constexpr BulkReduction bulk_reduction_of =
    M::template has<dot_add>   ? BulkReduction::add
    : M::template has<dot_min> ? BulkReduction::min
    : M::template has<dot_max> ? BulkReduction::max
    : M::template has<dot_inc> ? BulkReduction::inc
    : M::template has<dot_dec> ? BulkReduction::dec
    : M::template has<dot_and> ? BulkReduction::bit_and
    : M::template has<dot_or>  ? BulkReduction::bit_or
                               : BulkReduction::bit_xor;

template <class M>
inline constexpr BulkElement bulk_element_of =
    M::template has_one_of<dot_u32, dot_b32>   ? BulkElement::u32
    : M::template has<dot_s32>                 ? BulkElement::s32
    : M::template has_one_of<dot_u64, dot_b64> ? BulkElement::u64
    : M::template has<dot_s64>                 ? BulkElement::s64
    : M::template has<dot_f16>                 ? BulkElement::f16
    : M::template has<dot_bf16>                ? BulkElement::bf16
    : M::template has<dot_f32>                 ? BulkElement::f32
                                               : BulkElement::f64;

// cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [to], [from], bytes{, policy};
template <class M, class Size, class... More>
__device__ inline void op_cp_reduce_async_bulk([[maybe_unused]] Address to,
                                               [[maybe_unused]] Address from,
                                               [[maybe_unused]] const Size& size,
                                               [[maybe_unused]] const More&... more) {
    using To = first<dot_global>;
    using From = one<dot_shared_cta>;
    using By = one<dot_bulk_group>;
    using Hint = may<dot_L2_cache_hint>;
    constexpr bool kToGlobal = fits_one_of<
        M, form<To, From, By, one<dot_add>, one<dot_u32, dot_s32, dot_u64, dot_f32, dot_f64>, Hint>,
        form<To, From, By, one<dot_add>, one<dot_noftz>, one<dot_f16, dot_bf16>, Hint>,
        form<To, From, By, one<dot_min, dot_max>,
             one<dot_u32, dot_s32, dot_u64, dot_s64, dot_f16, dot_bf16>, Hint>,
        form<To, From, By, one<dot_inc, dot_dec>, one<dot_u32>, Hint>,
        form<To, From, By, one<dot_and, dot_or, dot_xor>, one<dot_b32, dot_b64>, Hint>>;
    constexpr bool kToBlock = fits<
        M, form<first<dot_shared_cluster>, one<dot_shared_cta>, one<dot_mbarrier_complete_tx_bytes>,
                one<dot_add, dot_min, dot_max, dot_inc, dot_dec, dot_and, dot_or, dot_xor>,
                one<dot_u32, dot_s32, dot_u64, dot_b32, dot_b64>>>;
    static_assert(kToGlobal || kToBlock, "cp.reduce.async.bulk has no such form");
    (void)AsyncProxyUse<M>::noted;
    if constexpr (kToBlock) {
        static_assert(sizeof...(More) == 1,
                      "cp.reduce.async.bulk from block to block takes an mbarrier, nothing more");
        bulk_send_reduced("cp.reduce.async.bulk", shared_at(to), shared_at(from),
                          read<uint32_t>(size), shared_at(part<0>(list(more...))),
                          bulk_reduction_of<M>, bulk_element_of<M>);
    } else {
        blocks_among<M>("cp.reduce.async.bulk", more...);
        bulk_reduce("cp.reduce.async.bulk", global_at(to), shared_at(from), read<uint32_t>(size),
                    bulk_reduction_of<M>, bulk_element_of<M>);
    }
}

// ---------------------------------------------------------------- single values

// st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2|.v4}.b32 [to], value, [mbarrier];
template <class M, class A>
__device__ inline void op_st_async(Address to, const A& value, Address mbarrier) {
    using Place = may<dot_shared_cluster>;
    using By = one<dot_mbarrier_complete_tx_bytes>;
    using Weak = may<dot_weak>;
    static_assert(
        fits_one_of<
            M,
            form<Weak, Place, By, may<dot_v2>,
                 one<dot_b32, dot_b64, dot_u32, dot_u64, dot_s32, dot_s64, dot_f32, dot_f64>>,
            form<Weak, Place, By, one<dot_v4>, one<dot_b32, dot_u32, dot_s32, dot_f32>>>,
        "st.async is .weak.shared::cluster.mbarrier::complete_tx::bytes, perhaps .v2 or .v4, then "
        "a type "
        "of 32 or 64 bits, of at most 16 bytes together");
    (void)AsyncProxyUse<M>::noted;
    using Value = value_of<nth_type<M>>;
    const auto values = values_of<M, Value>(value, std::make_index_sequence<vector_size<M>>());
    async_store("st.async", pointer_to<void, M>(to), &values, sizeof values,
                pointer_to<void, M>(mbarrier));
}

// red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.add.u32 [to], value, [mbarrier];
template <class M, class A>
__device__ inline void op_red_async(Address to, const A& value, Address mbarrier) {
    using Order = one<dot_relaxed>;
    using Scope = one<dot_cluster>;
    using Place = may<dot_shared_cluster>;
    using By = one<dot_mbarrier_complete_tx_bytes>;
    static_assert(
        fits_one_of<M, form<Order, Scope, Place, By, one<dot_inc, dot_dec>, one<dot_u32>>,
                    form<Order, Scope, Place, By, one<dot_min, dot_max>, one<dot_u32, dot_s32>>,
                    form<Order, Scope, Place, By, one<dot_add>, one<dot_u32, dot_s32, dot_u64>>,
                    form<Order, Scope, Place, By, one<dot_and, dot_or, dot_xor>, one<dot_b32>>>,
        "red.async is .relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes, then .inc or "
        ".dec "
        ".u32, .min or .max .u32 or .s32, .add .u32, .s32 or .u64, or .and, .or, .xor .b32");
    (void)AsyncProxyUse<M>::noted;
    const auto one_value = read<value_of<nth_type<M>>>(value);
    async_reduce("red.async", pointer_to<void, M>(to), &one_value, pointer_to<void, M>(mbarrier),
                 bulk_reduction_of<M>, bulk_element_of<M>);
}

}  // namespace cpu_device::ptx
