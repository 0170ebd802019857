// SPDX-License-Identifier: MIT
// Copies of a tensor's boxes, which a tensor map describes.
#pragma once
#include <utility>

#include "cpu_device/ptx/bulk.h"

namespace cpu_device::ptx {

// [map, {c0, c1}]
template <class Coordinates>
struct AddressOfBox {
    Address map;
    Coordinates coordinates;
};
template <class T, class... Part>
__device__ inline AddressOfBox<List<Part...>> at(T map, List<Part...> coordinates) {
    return {at(map), coordinates};
}

template <class M>
inline constexpr unsigned tensor_rank = M::template has<dot_1d>   ? 1
                                        : M::template has<dot_2d> ? 2
                                        : M::template has<dot_3d> ? 3
                                        : M::template has<dot_4d> ? 4
                                                                  : 5;

// The instruction's name with its dimensions, for messages.
#define CPU_DEVICE_PTX_TENSOR_NAME(M, name) \
    (tensor_rank<M> == 1   ? name ".1d"     \
     : tensor_rank<M> == 2 ? name ".2d"     \
     : tensor_rank<M> == 3 ? name ".3d"     \
     : tensor_rank<M> == 4 ? name ".4d"     \
                           : name ".5d")

template <class... Part, size_t... i>
__device__ inline TensorPlace place_of(const AddressOfBox<List<Part...>>& box,
                                       std::index_sequence<i...>) {
    return {global_at(box.map),
            static_cast<unsigned>(sizeof...(i)),
            {read<int32_t>(part<i>(box.coordinates))...}};
}
template <class M, class... Part>
__device__ inline TensorPlace place_of(const AddressOfBox<List<Part...>>& box) {
    static_assert(sizeof...(Part) == tensor_rank<M>,
                  "a tensor copy has as many coordinates as its .1d to .5d says");
    return place_of(box, std::make_index_sequence<sizeof...(Part)>());
}

using OfDimension = first<dot_1d, dot_2d, dot_3d, dot_4d, dot_5d>;
using OtherModes = mods<dot_im2col, dot_im2col_w, dot_im2col_w_128, dot_im2col_no_offs,
                        dot_tile_gather4, dot_tile_scatter4, dot_cta_group_1, dot_cta_group_2>;

// Modes that libraries' headers name, and kernels seldom use: they compile, and end the launch that comes to them.
template <class M>
struct HasOtherMode;
template <class... X>
struct HasOtherMode<mods<X...>> {
    static constexpr bool value = (OtherModes::has<X> || ...);
};
template <class M>
__device__ inline void refuse_mode(const char* instruction) {
    refuse_instruction(
        instruction, " with .im2col, .tile::gather4, .tile::scatter4 or .cta_group: it has .tile");
}

// cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [to], [map, {x, y}], [mbarrier]{, mask}
// {, policy};
template <class M, class Box, class... More>
__device__ inline void op_cp_async_bulk_tensor([[maybe_unused]] Address to,
                                               [[maybe_unused]] const Box& from,
                                               [[maybe_unused]] Address mbarrier,
                                               [[maybe_unused]] const More&... more) {
    constexpr const char* kName = CPU_DEVICE_PTX_TENSOR_NAME(M, "cp.async.bulk.tensor");
    if constexpr (HasOtherMode<M>::value) {
        refuse_mode<M>(kName);
    } else {
        static_assert(
            fits_one_of<M,
                        form<OfDimension, one<dot_shared_cluster>, one<dot_global>, may<dot_tile>,
                             one<dot_mbarrier_complete_tx_bytes>, may<dot_multicast_cluster>,
                             may<dot_L2_cache_hint>>,
                        form<OfDimension, one<dot_shared_cta>, one<dot_global>, may<dot_tile>,
                             one<dot_mbarrier_complete_tx_bytes>, may<dot_L2_cache_hint>>>,
            "cp.async.bulk.tensor has no such form");
        (void)AsyncProxyUse<M>::noted;
        const uint16_t blocks = blocks_among<M>(kName, more...);
        tensor_load(kName, shared_at(to), place_of<M>(from), shared_at(mbarrier), blocks);
    }
}

// cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map, {x, y}], [from]{, policy};
template <class M, class Coordinates, class... More>
__device__ inline void op_cp_async_bulk_tensor([[maybe_unused]] const AddressOfBox<Coordinates>& to,
                                               [[maybe_unused]] Address from,
                                               [[maybe_unused]] const More&... more) {
    constexpr const char* kName = CPU_DEVICE_PTX_TENSOR_NAME(M, "cp.async.bulk.tensor");
    if constexpr (HasOtherMode<M>::value) {
        refuse_mode<M>(kName);
    } else {
        static_assert(fits<M, form<OfDimension, one<dot_global>, one<dot_shared_cta>, may<dot_tile>,
                                   one<dot_bulk_group>, may<dot_L2_cache_hint>>>,
                      "cp.async.bulk.tensor has no such form");
        (void)AsyncProxyUse<M>::noted;
        blocks_among<M>(kName, more...);
        tensor_store(kName, place_of<M>(to), shared_at(from));
    }
}

// cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [map, {x, y}], [from]{, policy};
template <class M, class Coordinates, class... More>
__device__ inline void op_cp_reduce_async_bulk_tensor(
    [[maybe_unused]] const AddressOfBox<Coordinates>& to, [[maybe_unused]] Address from,
    [[maybe_unused]] const More&... more) {
    constexpr const char* kName = CPU_DEVICE_PTX_TENSOR_NAME(M, "cp.reduce.async.bulk.tensor");
    if constexpr (HasOtherMode<M>::value) {
        refuse_mode<M>(kName);
    } else {
        static_assert(
            fits<M, form<OfDimension, one<dot_global>, one<dot_shared_cta>,
                         one<dot_add, dot_min, dot_max, dot_inc, dot_dec, dot_and, dot_or, dot_xor>,
                         may<dot_tile>, one<dot_bulk_group>, may<dot_L2_cache_hint>>>,
            "cp.reduce.async.bulk.tensor has no such form");
        (void)AsyncProxyUse<M>::noted;
        blocks_among<M>(kName, more...);
        tensor_reduce(kName, place_of<M>(to), shared_at(from), bulk_reduction_of<M>);
    }
}

// cp.async.bulk.prefetch.tensor.2d.L2.global [map, {x, y}]{, policy};
template <class M, class Coordinates, class... More>
__device__ inline void op_cp_async_bulk_prefetch_tensor(
    [[maybe_unused]] const AddressOfBox<Coordinates>& from, [[maybe_unused]] const More&... more) {
    constexpr const char* kName = CPU_DEVICE_PTX_TENSOR_NAME(M, "cp.async.bulk.prefetch.tensor");
    if constexpr (HasOtherMode<M>::value) {
        refuse_mode<M>(kName);
    } else {
        static_assert(fits<M, form<OfDimension, one<dot_L2>, one<dot_global>, may<dot_tile>,
                                   may<dot_L2_cache_hint>>>,
                      "cp.async.bulk.prefetch.tensor has no such form");
        blocks_among<M>(kName, more...);
        tensor_prefetch(kName, place_of<M>(from));
    }
}

// Maps change on the host alone here, before the launch: there is nothing to order.
template <class M, class... Operand>
__device__ inline void op_fence_proxy_tensormap_generic(const Operand&...) {
    static_assert(
        fits<M, form<one<dot_acquire, dot_release>, one<dot_cta, dot_cluster, dot_gpu, dot_sys>>>,
        "fence.proxy.tensormap::generic is .acquire or .release, then a scope");
}

// A kernel that writes its own maps.
template <class M, class... Operand>
__device__ inline void op_tensormap_replace(const Operand&...) {
    refuse_instruction("tensormap.replace",
                       ": encode a map for each tensor with cuTensorMapEncodeTiled on the host");
}
template <class M, class... Operand>
__device__ inline void op_tensormap_cp_fenceproxy(const Operand&...) {
    refuse_instruction("tensormap.cp_fenceproxy",
                       ": encode a map for each tensor with cuTensorMapEncodeTiled on the host");
}

#undef CPU_DEVICE_PTX_TENSOR_NAME

}  // namespace cpu_device::ptx
