// SPDX-License-Identifier: MIT
// cuda::ptx: loads and stores of global memory, and small instructions on bits. What a load or store says to the caches is
// for a GPU: it is in the function's name and does nothing here.
#pragma once
#include "cpu_device/cuda_ptx/variants.h"

namespace cuda::ptx {

namespace detail {

template <class T>
__device__ inline T load(const T* from) {
    using M = isa::mods<isa::dot_global>;
    using Bits = ::cpu_device::Word<sizeof(T) == 16 ? 8 : sizeof(T)>;
    const auto bits = isa::load_values<M, Bits, (sizeof(T) + 7) / 8>(global(from));
    return __builtin_bit_cast(T, bits);
}
template <class T>
__device__ inline void store(T* to, const T& value) {
    using M = isa::mods<isa::dot_global>;
    using Bits = ::cpu_device::Word<sizeof(T) == 16 ? 8 : sizeof(T)>;
    using All = isa::Values<Bits, (sizeof(T) + 7) / 8>;
    isa::store_values<M>(global(to), __builtin_bit_cast(All, value));
}

}  // namespace detail

#define CPU_DEVICE_CUDA_PTX_LOAD(name)                                                  \
    template <class T>                                                                  \
    __device__ inline T name(space_global_t, const T* from) {                           \
        return detail::load(from);                                                      \
    }                                                                                   \
    template <class T>                                                                  \
    __device__ inline T name##_L2_cache_hint(space_global_t, const T* from, uint64_t) { \
        return detail::load(from);                                                      \
    }
#define CPU_DEVICE_CUDA_PTX_LOADS(name)      \
    CPU_DEVICE_CUDA_PTX_LOAD(name)           \
    CPU_DEVICE_CUDA_PTX_LOAD(name##_L2_64B)  \
    CPU_DEVICE_CUDA_PTX_LOAD(name##_L2_128B) \
    CPU_DEVICE_CUDA_PTX_LOAD(name##_L2_256B)
#define CPU_DEVICE_CUDA_PTX_STORES(name)                                              \
    template <class T>                                                                \
    __device__ inline void name(space_global_t, T* to,                                \
                                const ::cpu_device::not_deduced<T>& value) {          \
        detail::store(to, value);                                                     \
    }                                                                                 \
    template <class T>                                                                \
    __device__ inline void name##_L2_cache_hint(                                      \
        space_global_t, T* to, const ::cpu_device::not_deduced<T>& value, uint64_t) { \
        detail::store(to, value);                                                     \
    }
#define CPU_DEVICE_CUDA_PTX_CACHED(define, name)                            \
    define(name) define(name##_L1_evict_first) define(name##_L1_evict_last) \
        define(name##_L1_evict_normal) define(name##_L1_evict_unchanged)    \
            define(name##_L1_no_allocate)
CPU_DEVICE_CUDA_PTX_CACHED(CPU_DEVICE_CUDA_PTX_LOADS, ld)
CPU_DEVICE_CUDA_PTX_CACHED(CPU_DEVICE_CUDA_PTX_LOADS, ld_nc)
CPU_DEVICE_CUDA_PTX_CACHED(CPU_DEVICE_CUDA_PTX_STORES, st)
#undef CPU_DEVICE_CUDA_PTX_CACHED
#undef CPU_DEVICE_CUDA_PTX_STORES
#undef CPU_DEVICE_CUDA_PTX_LOADS
#undef CPU_DEVICE_CUDA_PTX_LOAD

// ---------------------------------------------------------------- bits

#define CPU_DEVICE_CUDA_PTX_FIND(T, suffix)                                          \
    template <class = void>                                                          \
    __device__ inline uint32_t bfind(T value) {                                      \
        uint32_t found = 0;                                                          \
        detail::isa::op_bfind<detail::isa::mods<detail::isa::suffix>>(found, value); \
        return found;                                                                \
    }                                                                                \
    template <class = void>                                                          \
    __device__ inline uint32_t bfind_shiftamt(T value) {                             \
        using M = detail::isa::mods<detail::isa::dot_shiftamt, detail::isa::suffix>; \
        uint32_t found = 0;                                                          \
        detail::isa::op_bfind<M>(found, value);                                      \
        return found;                                                                \
    }
CPU_DEVICE_CUDA_PTX_FIND(uint32_t, dot_u32)
CPU_DEVICE_CUDA_PTX_FIND(uint64_t, dot_u64)
CPU_DEVICE_CUDA_PTX_FIND(int32_t, dot_s32)
CPU_DEVICE_CUDA_PTX_FIND(int64_t, dot_s64)
#undef CPU_DEVICE_CUDA_PTX_FIND

template <class = void>
__device__ inline uint32_t bmsk_clamp(uint32_t from, uint32_t count) {
    uint32_t mask = 0;
    detail::isa::op_bmsk<detail::isa::mods<detail::isa::dot_clamp, detail::isa::dot_b32>>(
        mask, from, count);
    return mask;
}
template <class = void>
__device__ inline uint32_t bmsk_wrap(uint32_t from, uint32_t count) {
    uint32_t mask = 0;
    detail::isa::op_bmsk<detail::isa::mods<detail::isa::dot_wrap, detail::isa::dot_b32>>(mask, from,
                                                                                         count);
    return mask;
}

namespace detail {

template <class T>
using bits_suffix = ::std::tuple_element_t<
    sizeof(T) == 2   ? 0
    : sizeof(T) == 4 ? 1
                     : 2,
    ::std::conditional_t<::std::is_signed_v<T>,
                         ::std::tuple<isa::dot_s16, isa::dot_s32, isa::dot_s64>,
                         ::std::tuple<isa::dot_b16, isa::dot_b32, isa::dot_b64>>>;

}  // namespace detail

template <class T>
__device__ inline T shl(T value, uint32_t by) {
    using Unsigned = ::cpu_device::Word<sizeof(T)>;
    auto result = ::cpu_device::bit_cast<Unsigned>(value);
    detail::isa::op_shl<detail::isa::mods<detail::bits_suffix<Unsigned>>>(result, result, by);
    return ::cpu_device::bit_cast<T>(result);
}
template <class T>
__device__ inline T shr(T value, uint32_t by) {
    T result = value;
    detail::isa::op_shr<detail::isa::mods<detail::bits_suffix<T>>>(result, value, by);
    return result;
}

#define CPU_DEVICE_CUDA_PTX_PERMUTE(name, ...)                                                 \
    template <class T, class Other>                                                            \
    __device__ inline uint32_t name(T a, Other b, uint32_t how) {                              \
        static_assert(sizeof(T) == 4 && sizeof(Other) == 4, #name " takes values of 4 bytes"); \
        uint32_t result = 0;                                                                   \
        detail::isa::op_prmt<detail::isa::mods<detail::isa::dot_b32 __VA_ARGS__>>(             \
            result, ::cpu_device::bit_cast<uint32_t>(a), ::cpu_device::bit_cast<uint32_t>(b),  \
            how);                                                                              \
        return result;                                                                         \
    }
CPU_DEVICE_CUDA_PTX_PERMUTE(prmt, )
CPU_DEVICE_CUDA_PTX_PERMUTE(prmt_f4e, , detail::isa::dot_f4e)
CPU_DEVICE_CUDA_PTX_PERMUTE(prmt_b4e, , detail::isa::dot_b4e)
CPU_DEVICE_CUDA_PTX_PERMUTE(prmt_rc8, , detail::isa::dot_rc8)
CPU_DEVICE_CUDA_PTX_PERMUTE(prmt_ecl, , detail::isa::dot_ecl)
CPU_DEVICE_CUDA_PTX_PERMUTE(prmt_ecr, , detail::isa::dot_ecr)
CPU_DEVICE_CUDA_PTX_PERMUTE(prmt_rc16, , detail::isa::dot_rc16)
#undef CPU_DEVICE_CUDA_PTX_PERMUTE

}  // namespace cuda::ptx
