// SPDX-License-Identifier: MIT
// What cuda::ptx's functions take in place of an instruction's suffixes: constants, each of a type of its own.
#pragma once
#include <type_traits>

#include "cpu_device/ptx.h"

namespace cuda::ptx {

enum class dot_sem { acq_rel, acquire, relaxed, release, sc, weak };
enum class dot_space { global, cluster, shared };  // .shared::cluster, .shared::cta
enum class dot_scope { cta, cluster, gpu, sys };
enum class dot_op { add, dec, inc, max, min, and_op, or_op, xor_op, cas, exch };
enum class dot_cta_group { cta_group_1, cta_group_2 };
enum class dot_kind { f16, f8f6f4, i8, mxf4, mxf4nvf4, mxf8f6f4, tf32 };

template <dot_sem value>
using sem_t = ::std::integral_constant<dot_sem, value>;
template <dot_space value>
using space_t = ::std::integral_constant<dot_space, value>;
template <dot_scope value>
using scope_t = ::std::integral_constant<dot_scope, value>;
template <dot_op value>
using op_t = ::std::integral_constant<dot_op, value>;
template <dot_cta_group value>
using cta_group_t = ::std::integral_constant<dot_cta_group, value>;
template <dot_kind value>
using kind_t = ::std::integral_constant<dot_kind, value>;
template <int n>
using n32_t = ::std::integral_constant<int, n>;

#define CPU_DEVICE_CUDA_PTX_VARIANT(kind, name)           \
    using kind##_##name##_t = kind##_t<dot_##kind::name>; \
    inline constexpr kind##_##name##_t kind##_##name{};
CPU_DEVICE_CUDA_PTX_VARIANT(sem, acq_rel)
CPU_DEVICE_CUDA_PTX_VARIANT(sem, acquire)
CPU_DEVICE_CUDA_PTX_VARIANT(sem, relaxed)
CPU_DEVICE_CUDA_PTX_VARIANT(sem, release)
CPU_DEVICE_CUDA_PTX_VARIANT(sem, sc)
CPU_DEVICE_CUDA_PTX_VARIANT(sem, weak)
CPU_DEVICE_CUDA_PTX_VARIANT(space, global)
CPU_DEVICE_CUDA_PTX_VARIANT(space, cluster)
CPU_DEVICE_CUDA_PTX_VARIANT(space, shared)
CPU_DEVICE_CUDA_PTX_VARIANT(scope, cta)
CPU_DEVICE_CUDA_PTX_VARIANT(scope, cluster)
CPU_DEVICE_CUDA_PTX_VARIANT(scope, gpu)
CPU_DEVICE_CUDA_PTX_VARIANT(scope, sys)
CPU_DEVICE_CUDA_PTX_VARIANT(op, add)
CPU_DEVICE_CUDA_PTX_VARIANT(op, dec)
CPU_DEVICE_CUDA_PTX_VARIANT(op, inc)
CPU_DEVICE_CUDA_PTX_VARIANT(op, max)
CPU_DEVICE_CUDA_PTX_VARIANT(op, min)
CPU_DEVICE_CUDA_PTX_VARIANT(op, and_op)
CPU_DEVICE_CUDA_PTX_VARIANT(op, or_op)
CPU_DEVICE_CUDA_PTX_VARIANT(op, xor_op)
CPU_DEVICE_CUDA_PTX_VARIANT(op, cas)
CPU_DEVICE_CUDA_PTX_VARIANT(op, exch)
CPU_DEVICE_CUDA_PTX_VARIANT(kind, f16)
CPU_DEVICE_CUDA_PTX_VARIANT(kind, f8f6f4)
CPU_DEVICE_CUDA_PTX_VARIANT(kind, i8)
CPU_DEVICE_CUDA_PTX_VARIANT(kind, mxf4)
CPU_DEVICE_CUDA_PTX_VARIANT(kind, mxf4nvf4)
CPU_DEVICE_CUDA_PTX_VARIANT(kind, mxf8f6f4)
CPU_DEVICE_CUDA_PTX_VARIANT(kind, tf32)
#undef CPU_DEVICE_CUDA_PTX_VARIANT
using cta_group_1_t = cta_group_t<dot_cta_group::cta_group_1>;
using cta_group_2_t = cta_group_t<dot_cta_group::cta_group_2>;
inline constexpr cta_group_1_t cta_group_1{};
inline constexpr cta_group_2_t cta_group_2{};

namespace detail {

namespace isa = ::cpu_device::ptx;

// A constant's suffix.
template <auto value>
struct SuffixOf;
#define CPU_DEVICE_CUDA_PTX_SUFFIX(value, suffix) \
    template <>                                   \
    struct SuffixOf<value> {                      \
        using type = isa::suffix;                 \
    };
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_sem::acq_rel, dot_acq_rel)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_sem::acquire, dot_acquire)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_sem::relaxed, dot_relaxed)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_sem::release, dot_release)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_sem::sc, dot_sc)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_sem::weak, dot_weak)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_space::global, dot_global)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_space::cluster, dot_shared_cluster)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_space::shared, dot_shared_cta)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_scope::cta, dot_cta)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_scope::cluster, dot_cluster)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_scope::gpu, dot_gpu)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_scope::sys, dot_sys)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_op::add, dot_add)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_op::dec, dot_dec)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_op::inc, dot_inc)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_op::max, dot_max)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_op::min, dot_min)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_op::and_op, dot_and)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_op::or_op, dot_or)
CPU_DEVICE_CUDA_PTX_SUFFIX(dot_op::xor_op, dot_xor)
#undef CPU_DEVICE_CUDA_PTX_SUFFIX
template <auto value>
using suffix = typename SuffixOf<value>::type;

template <auto value, auto... allowed>
inline constexpr bool is_one_of = ((value == allowed) || ...);

// Addresses as instructions on shared and on global memory take them.
__device__ inline isa::Address shared(const void* pointer) {
    return isa::at(::cpu_device::shared_address(pointer));
}
__device__ inline isa::Address global(const void* pointer) {
    return isa::at(reinterpret_cast<uint64_t>(pointer));
}

}  // namespace detail

}  // namespace cuda::ptx
