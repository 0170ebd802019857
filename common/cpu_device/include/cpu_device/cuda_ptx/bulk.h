// SPDX-License-Identifier: MIT
// cuda::ptx: bulk copies, tensor copies, their reductions and groups, and asynchronous stores. Each function is the
// instruction of its name (cpu_device/ptx/bulk.h, tensor.h).
#pragma once
#include "cpu_device/cuda_ptx/variants.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace cuda::ptx {

namespace detail {

using ByMbarrier = isa::dot_mbarrier_complete_tx_bytes;

template <dot_space space>
inline constexpr bool is_shared = space != dot_space::global;

template <size_t rank>
using dimension = ::std::tuple_element_t<
    rank - 1, ::std::tuple<isa::dot_1d, isa::dot_2d, isa::dot_3d, isa::dot_4d, isa::dot_5d>>;

template <size_t rank, size_t... i>
__device__ inline auto box(const void* map, const int32_t (&coordinates)[rank],
                           ::std::index_sequence<i...>) {
    return isa::at(reinterpret_cast<uint64_t>(map), isa::list(coordinates[i]...));
}
template <size_t rank>
__device__ inline auto box(const void* map, const int32_t (&coordinates)[rank]) {
    return box(map, coordinates, ::std::make_index_sequence<rank>());
}

}  // namespace detail

// ---------------------------------------------------------------- contiguous bytes

// To shared memory, from global memory or from this block's.
template <dot_space to_space, dot_space from_space>
__device__ inline void cp_async_bulk(space_t<to_space>, space_t<from_space>, void* to,
                                     const void* from, const uint32_t& bytes, uint64_t* mbarrier) {
    static_assert(
        detail::is_shared<to_space> &&
            (from_space == dot_space::global ||
             (from_space == dot_space::shared && to_space == dot_space::cluster)),
        "cp_async_bulk with an mbarrier copies from space_global to space_cluster or space_shared, "
        "or from space_shared to space_cluster");
    using M =
        detail::isa::mods<detail::suffix<to_space>, detail::suffix<from_space>, detail::ByMbarrier>;
    const auto source =
        from_space == dot_space::global ? detail::global(from) : detail::shared(from);
    detail::isa::op_cp_async_bulk<M>(detail::shared(to), source, bytes, detail::shared(mbarrier));
}
template <class = void>
__device__ inline void cp_async_bulk(space_cluster_t, space_global_t, void* to, const void* from,
                                     const uint32_t& bytes, uint64_t* mbarrier,
                                     const uint16_t& blocks) {
    using M = detail::isa::mods<detail::isa::dot_shared_cluster, detail::isa::dot_global,
                                detail::ByMbarrier, detail::isa::dot_multicast_cluster>;
    detail::isa::op_cp_async_bulk<M>(detail::shared(to), detail::global(from), bytes,
                                     detail::shared(mbarrier), blocks);
}
template <class = void>
__device__ inline void cp_async_bulk(space_global_t, space_shared_t, void* to, const void* from,
                                     const uint32_t& bytes) {
    using M = detail::isa::mods<detail::isa::dot_global, detail::isa::dot_shared_cta,
                                detail::isa::dot_bulk_group>;
    detail::isa::op_cp_async_bulk<M>(detail::global(to), detail::shared(from), bytes);
}

template <class = void>
__device__ inline void cp_async_bulk_commit_group() {
    detail::isa::op_cp_async_bulk_commit_group<detail::isa::mods<>>();
}
template <int groups>
__device__ inline void cp_async_bulk_wait_group(n32_t<groups>) {
    detail::isa::op_cp_async_bulk_wait_group<detail::isa::mods<>>(detail::isa::Integer{groups});
}
template <int groups>
__device__ inline void cp_async_bulk_wait_group_read(n32_t<groups>) {
    using M = detail::isa::mods<detail::isa::dot_read>;
    detail::isa::op_cp_async_bulk_wait_group<M>(detail::isa::Integer{groups});
}

// ---------------------------------------------------------------- boxes of tensors

template <dot_space space, size_t rank>
__device__ inline void cp_async_bulk_tensor(space_t<space>, space_global_t, void* to,
                                            const void* map, const int32_t (&coordinates)[rank],
                                            uint64_t* mbarrier) {
    static_assert(detail::is_shared<space>,
                  "cp_async_bulk_tensor copies from space_global to space_cluster or space_shared");
    using M = detail::isa::mods<detail::dimension<rank>, detail::suffix<space>,
                                detail::isa::dot_global, detail::isa::dot_tile, detail::ByMbarrier>;
    detail::isa::op_cp_async_bulk_tensor<M>(detail::shared(to), detail::box(map, coordinates),
                                            detail::shared(mbarrier));
}
template <size_t rank>
__device__ inline void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* to,
                                            const void* map, const int32_t (&coordinates)[rank],
                                            uint64_t* mbarrier, const uint16_t& blocks) {
    using M = detail::isa::mods<detail::dimension<rank>, detail::isa::dot_shared_cluster,
                                detail::isa::dot_global, detail::isa::dot_tile, detail::ByMbarrier,
                                detail::isa::dot_multicast_cluster>;
    detail::isa::op_cp_async_bulk_tensor<M>(detail::shared(to), detail::box(map, coordinates),
                                            detail::shared(mbarrier), blocks);
}
template <size_t rank>
__device__ inline void cp_async_bulk_tensor(space_global_t, space_shared_t, const void* map,
                                            const int32_t (&coordinates)[rank], const void* from) {
    using M = detail::isa::mods<detail::dimension<rank>, detail::isa::dot_global,
                                detail::isa::dot_shared_cta, detail::isa::dot_tile,
                                detail::isa::dot_bulk_group>;
    detail::isa::op_cp_async_bulk_tensor<M>(detail::box(map, coordinates), detail::shared(from));
}
template <dot_op op, size_t rank>
__device__ inline void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, op_t<op>,
                                                   const void* map,
                                                   const int32_t (&coordinates)[rank],
                                                   const void* from) {
    using M = detail::isa::mods<detail::dimension<rank>, detail::isa::dot_global,
                                detail::isa::dot_shared_cta, detail::suffix<op>,
                                detail::isa::dot_tile, detail::isa::dot_bulk_group>;
    detail::isa::op_cp_reduce_async_bulk_tensor<M>(detail::box(map, coordinates),
                                                   detail::shared(from));
}

// ---------------------------------------------------------------- reductions

namespace detail {

template <class T>
struct TypeOf;
#define CPU_DEVICE_CUDA_PTX_TYPE(T, suffix) \
    template <>                             \
    struct TypeOf<T> {                      \
        using type = isa::suffix;           \
    };
CPU_DEVICE_CUDA_PTX_TYPE(uint32_t, dot_u32)
CPU_DEVICE_CUDA_PTX_TYPE(int32_t, dot_s32)
CPU_DEVICE_CUDA_PTX_TYPE(uint64_t, dot_u64)
CPU_DEVICE_CUDA_PTX_TYPE(int64_t, dot_s64)
CPU_DEVICE_CUDA_PTX_TYPE(unsigned long long, dot_u64)
CPU_DEVICE_CUDA_PTX_TYPE(long long, dot_s64)
CPU_DEVICE_CUDA_PTX_TYPE(float, dot_f32)
CPU_DEVICE_CUDA_PTX_TYPE(double, dot_f64)
CPU_DEVICE_CUDA_PTX_TYPE(__half, dot_f16)
CPU_DEVICE_CUDA_PTX_TYPE(__nv_bfloat16, dot_bf16)
#undef CPU_DEVICE_CUDA_PTX_TYPE

template <size_t bytes>
using Bits = ::std::conditional_t<bytes == 4, isa::dot_b32, isa::dot_b64>;

// The type's suffix in an instruction with that operation: and, or and xor know bits alone, and a sum does not ask for
// the sign of 64 bits.
template <dot_op op, class T, class = void>
struct Reduced : TypeOf<T> {};
template <dot_op op, class T>
struct Reduced<op, T,
               ::std::enable_if_t<is_one_of<op, dot_op::and_op, dot_op::or_op, dot_op::xor_op>>> {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "and_op, or_op and xor_op take 4 or 8 bytes");
    using type = Bits<sizeof(T)>;
};
template <class T>
struct Reduced<dot_op::add, T, ::std::enable_if_t<::std::is_integral_v<T> && sizeof(T) == 8>> {
    using type = isa::dot_u64;
};
template <dot_op op, class T>
using reduced = typename Reduced<op, T>::type;

template <dot_op op, class T>
inline constexpr bool is_small_sum = op == dot_op::add && sizeof(T) == 2;

}  // namespace detail

template <dot_op op, class T>
__device__ inline void cp_reduce_async_bulk(space_global_t, space_shared_t, op_t<op>, T* to,
                                            const T* from, uint32_t bytes) {
    using namespace detail;
    using M =
        ::std::conditional_t<is_small_sum<op, T>,
                             isa::mods<isa::dot_global, isa::dot_shared_cta, isa::dot_bulk_group,
                                       isa::dot_add, isa::dot_noftz, reduced<op, T>>,
                             isa::mods<isa::dot_global, isa::dot_shared_cta, isa::dot_bulk_group,
                                       detail::suffix<op>, reduced<op, T>>>;
    isa::op_cp_reduce_async_bulk<M>(global(to), shared(from), bytes);
}
template <dot_op op, class T>
__device__ inline void cp_reduce_async_bulk(space_cluster_t, space_shared_t, op_t<op>, T* to,
                                            const T* from, uint32_t bytes, uint64_t* mbarrier) {
    using namespace detail;
    using M = isa::mods<isa::dot_shared_cluster, isa::dot_shared_cta, ByMbarrier,
                        detail::suffix<op>, reduced<op, T>>;
    isa::op_cp_reduce_async_bulk<M>(shared(to), shared(from), bytes, shared(mbarrier));
}

// ---------------------------------------------------------------- single values

namespace detail {

template <class T>
__device__ inline auto bits(const T& value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "st_async stores values of 4 or 8 bytes");
    return ::cpu_device::bit_cast<::cpu_device::Word<sizeof(T)>>(value);
}

}  // namespace detail

template <class T>
__device__ inline void st_async(T* to, const T& value, uint64_t* mbarrier) {
    using namespace detail;
    using M = isa::mods<isa::dot_weak, isa::dot_shared_cluster, ByMbarrier, Bits<sizeof(T)>>;
    isa::op_st_async<M>(shared(to), bits(value), shared(mbarrier));
}
template <class T>
__device__ inline void st_async(T* to, const T (&value)[2], uint64_t* mbarrier) {
    using namespace detail;
    using M =
        isa::mods<isa::dot_weak, isa::dot_shared_cluster, ByMbarrier, isa::dot_v2, Bits<sizeof(T)>>;
    isa::op_st_async<M>(shared(to), isa::list(bits(value[0]), bits(value[1])), shared(mbarrier));
}
template <class T>
__device__ inline void st_async(T* to, const T (&value)[4], uint64_t* mbarrier) {
    using namespace detail;
    using M =
        isa::mods<isa::dot_weak, isa::dot_shared_cluster, ByMbarrier, isa::dot_v4, Bits<sizeof(T)>>;
    isa::op_st_async<M>(shared(to),
                        isa::list(bits(value[0]), bits(value[1]), bits(value[2]), bits(value[3])),
                        shared(mbarrier));
}

template <dot_op op, class T, class Mbarrier>
__device__ inline void red_async(op_t<op>, T* to, const ::cpu_device::not_deduced<T>& value,
                                 Mbarrier* mbarrier) {
    using namespace detail;
    static_assert(sizeof(Mbarrier) == 8, "red_async takes a uint64_t for its mbarrier");
    using M = isa::mods<isa::dot_relaxed, isa::dot_cluster, isa::dot_shared_cluster, ByMbarrier,
                        detail::suffix<op>, reduced<op, T>>;
    isa::op_red_async<M>(shared(to), value, shared(mbarrier));
}

}  // namespace cuda::ptx
