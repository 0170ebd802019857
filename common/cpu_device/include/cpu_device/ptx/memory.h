// SPDX-License-Identifier: MIT
// Loads, stores, atomic operations, fences. A load or store is one access of its full width, as the same in C++ is; what it says
// to the caches is for a GPU.
#pragma once
#include "cpu_device/async_proxy.h"
#include "cpu_device/atomics.h"
#include "cpu_device/memory_access.h"
#include "cpu_device/ptx/operands.h"
#include "cpu_device/synchronization.h"
#include "cpu_device/tensor_map.h"

namespace cpu_device::ptx {

// ---------------------------------------------------------------- addresses

template <class M>
inline constexpr bool is_in_shared =
    M::template has_one_of<dot_shared, dot_shared_cta, dot_shared_cluster>;

// What an instruction of that state space means by an address.
template <class T, class M>
__device__ inline T* pointer_to(Address address) {
    if constexpr (is_in_shared<M>) return static_cast<T*>(shared_pointer(address.value));
    return reinterpret_cast<T*>(address.value);
}
// An operand that is no address in brackets is none.
template <class T, class M, class Other>
T* pointer_to(const Other&) {
    static_assert(never<Other>, "the instruction takes an address in brackets: [%0]");
    return nullptr;
}

// cvta.to.shared.u64 a, p; cvta.shared.u64 p, a;
template <class M, class D, class A>
__device__ inline void op_cvta(D& d, const A& a) {
    using Value = value_of<nth_type<M>>;
    static_assert(
        M::template are_among<dot_to, dot_shared, dot_shared_cta, dot_shared_cluster, dot_global,
                              dot_local, dot_const, dot_param, dot_u32, dot_u64>,
        "cvta has no such suffix");
    const auto from = read<Value>(a);
    if constexpr (!is_in_shared<M>) {
        write(d, from);
    } else if constexpr (M::template has<dot_to>) {
        write(d, static_cast<Value>(shared_address(reinterpret_cast<void*>(uint64_t{from}))));
    } else {
        write(d, static_cast<Value>(reinterpret_cast<uint64_t>(shared_pointer(from))));
    }
}

template <class M, class D, class A>
__device__ inline void op_isspacep(D& p, const A& a) {
    const auto* const pointer = reinterpret_cast<const void*>(uint64_t{read<uint64_t>(a)});
    static_assert(M::template are_among<dot_shared, dot_shared_cta, dot_shared_cluster, dot_global,
                                        dot_const, dot_local>,
                  "isspacep has no such suffix");
    if constexpr (M::template has<dot_shared_cluster>) {
        write(p, is_shared_in_cluster(pointer));
    } else if constexpr (is_in_shared<M>) {
        write(p, cpu_device::is_shared(pointer));
    } else if constexpr (M::template has<dot_global>) {
        write(p, cpu_device::is_global(pointer));
    } else {
        write(p, false);
    }
}

// ---------------------------------------------------------------- registers and bytes

// A register may be wider than what a load brings, which is extended by its sign or by zeros.
template <class Value, class D>
__device__ inline void write_loaded(D& d, Value value) {
    if constexpr (std::is_same_v<D, Sink>) {
    } else {
        static_assert(sizeof(D) >= sizeof(Value), "the register is narrower than what is loaded");
        if constexpr (sizeof(D) == sizeof(Value)) {
            d = bit_cast<D>(value);
        } else {
            static_assert(std::is_integral_v<Value>,
                          "the register has another size than the float that is loaded");
            d = static_cast<D>(
                static_cast<std::conditional_t<std::is_signed_v<Value>, int64_t, uint64_t>>(value));
        }
    }
}
// And wider than what a store takes of it.
template <class Value, class A>
__device__ inline Value read_stored(const A& a) {
    if constexpr (std::is_integral_v<A> && sizeof(A) > sizeof(Value)) {
        static_assert(std::is_integral_v<Value>,
                      "the register has another size than the float that is stored");
        return static_cast<Value>(a);
    } else {
        return read<Value>(a);
    }
}

// Values side by side in memory, moved by one access. (An array of 2 to 16 bytes g++ copies as a whole where it is
// aligned so.)
template <size_t bytes>
struct alignas(bytes) Block {
    uint64_t words[bytes / 8];
};
template <size_t bytes>
using Whole =
    std::conditional_t<(bytes > 8), Block<(bytes > 8 ? bytes : 16)>, Word<(bytes > 8 ? 8 : bytes)>>;

template <class M>
inline constexpr size_t vector_size = M::template has<dot_v8>   ? 8
                                      : M::template has<dot_v4> ? 4
                                      : M::template has<dot_v2> ? 2
                                                                : 1;

template <class M>
inline constexpr unsigned scope_of = M::template has<dot_cta> ? kOfBlock : 0;

// Every access that is not weak: how it orders threads.
template <class M>
inline constexpr bool is_strong =
    M::template has_one_of<dot_relaxed, dot_acquire, dot_release, dot_acq_rel>;
template <class M>
inline constexpr unsigned ordering_of =
    (M::template has_one_of<dot_acquire, dot_acq_rel> ? kAcquires : 0u) |
    (M::template has_one_of<dot_release, dot_acq_rel> ? kReleases : 0u) | scope_of<M>;

template <class M>
inline constexpr bool has_cache_suffixes_only = M::template are_among<
    dot_weak, dot_volatile, dot_relaxed, dot_acquire, dot_release, dot_cta, dot_cluster, dot_gpu,
    dot_sys, dot_global, dot_shared, dot_shared_cta, dot_shared_cluster, dot_local, dot_const,
    dot_param, dot_nc, dot_ca, dot_cg, dot_cs, dot_lu, dot_cv, dot_wb, dot_wt, dot_L1_no_allocate,
    dot_L1_evict_first, dot_L1_evict_last, dot_L1_evict_normal, dot_L1_evict_unchanged,
    dot_L2_evict_first, dot_L2_evict_last, dot_L2_evict_normal, dot_L2_cache_hint, dot_L2_64B,
    dot_L2_128B, dot_L2_256B, dot_v2, dot_v4, dot_v8, dot_b8, dot_b16, dot_b32, dot_b64, dot_b128,
    dot_u8, dot_u16, dot_u32, dot_u64, dot_s8, dot_s16, dot_s32, dot_s64, dot_f32, dot_f64>;

// ---------------------------------------------------------------- loads and stores

// A part of a volatile or strong access, of which PTX moves each element for itself.
template <class M, class Value>
__device__ inline Value load_one(Value* from) {
    using Bits = bits_of_size<sizeof(Value)>;
    if constexpr (is_strong<M>) {
        return atomic_update(
            from, [](Value old) { return old; }, kObserves | ordering_of<M>);
    } else {
        return bit_cast<Value>(static_cast<Bits>(*reinterpret_cast<const volatile Bits*>(from)));
    }
}
template <class M, class Value>
__device__ inline void store_one(Value* to, Value value) {
    using Bits = bits_of_size<sizeof(Value)>;
    if constexpr (is_strong<M>) {
        note_atomic_store(to, sizeof(Value), kTells | ordering_of<M>);
        __atomic_store_n(reinterpret_cast<Bits*>(to), bit_cast<Bits>(value), __ATOMIC_RELAXED);
    } else {
        *reinterpret_cast<volatile Bits*>(to) = bit_cast<Bits>(value);
    }
}
template <class M>
inline constexpr bool is_element_by_element = is_strong<M> || M::template has<dot_volatile>;

template <class Value, size_t count>
struct alignas(Whole<sizeof(Value) * count>) Values {
    Value at[count];
};

template <class M, class Value, size_t count>
__device__ inline Values<Value, count> load_values(Address address) {
    auto* const from = pointer_to<Value, M>(address);
    if constexpr (is_element_by_element<M> && sizeof(Value) <= 8) {
        Values<Value, count> values;
        for (size_t i = 0; i < count; ++i) values.at[i] = load_one<M>(from + i);
        return values;
    } else {
        const auto whole = *reinterpret_cast<const Whole<sizeof(Value) * count>*>(from);
        return __builtin_bit_cast(Values<Value, count>, whole);
    }
}

template <class Value, size_t count, class... Part, size_t... i>
__device__ inline void give_values(const List<Part...>& to, const Values<Value, count>& values,
                                   std::index_sequence<i...>) {
    (write_loaded(part<i>(to), values.at[i]), ...);
}

// d is a register, or a list of as many as .v2 and the like say. A cache policy behind the address is dropped.
template <class M, class D>
__device__ inline void load(D& d, Address address) {
    static_assert(has_cache_suffixes_only<M>, "ld has no such suffix on the CPU device");
    static_assert(type_count<M> == 1, "ld has one type");
    using Value = value_of<nth_type<M>>;
    const auto values = load_values<M, Value, vector_size<M>>(address);
    if constexpr (vector_size<M> == 1) {
        write_loaded(d, values.at[0]);
    } else {
        static_assert(D::count == vector_size<M>,
                      "ld with .v2, .v4 or .v8 loads a list of as many");
        give_values(d, values, std::make_index_sequence<vector_size<M>>());
    }
}
template <class M, class D, class... Policy>
__device__ inline void op_ld(D&& d, Address address, const Policy&...) {
    load<M>(d, address);
}
template <class M, class D>
__device__ inline void op_ldu(D&& d, Address address) {
    load<M>(d, address);
}

template <class M, class Value, size_t count>
__device__ inline void store_values(Address address, const Values<Value, count>& values) {
    auto* const to = pointer_to<Value, M>(address);
    if constexpr (is_element_by_element<M> && sizeof(Value) <= 8) {
        for (size_t i = 0; i < count; ++i) store_one<M>(to + i, values.at[i]);
    } else {
        using Bits = Whole<sizeof(Value) * count>;
        *reinterpret_cast<Bits*>(to) = __builtin_bit_cast(Bits, values);
    }
}

template <class M, class Value, class A, size_t... i>
__device__ inline Values<Value, sizeof...(i)> values_of(const A& a, std::index_sequence<i...>) {
    if constexpr (sizeof...(i) == 1) {
        return {{read_stored<Value>(a)}};
    } else {
        static_assert(A::count == sizeof...(i), "st with .v2, .v4 or .v8 stores a list of as many");
        return {{read_stored<Value>(part<i>(a))...}};
    }
}

template <class M, class A, class... Policy>
__device__ inline void op_st(Address address, const A& a, const Policy&...) {
    static_assert(has_cache_suffixes_only<M>, "st has no such suffix on the CPU device");
    static_assert(type_count<M> == 1, "st has one type");
    using Value = value_of<nth_type<M>>;
    constexpr auto kEach = std::make_index_sequence<vector_size<M>>();
    store_values<M>(address, values_of<M, Value>(a, kEach));
}

// ---------------------------------------------------------------- hints

template <class M, class... Operand>
__device__ inline void op_prefetch(const Operand&...) {}
template <class M>
__device__ inline void op_prefetch([[maybe_unused]] Address address) {
    if constexpr (M::template has<dot_tensormap>) {
        tensor_map_prefetch(reinterpret_cast<const void*>(address.value));
    }
}
template <class M, class... Operand>
__device__ inline void op_prefetchu(const Operand&...) {}
template <class M, class... Operand>
__device__ inline void op_applypriority(const Operand&...) {}
template <class M, class D, class... Operand>
__device__ inline void op_createpolicy(D& d, const Operand&...) {
    write(d, uint64_t{0});
}

// ---------------------------------------------------------------- atomic operations

// What an atomic operation writes where `old` stood.
template <class M, class Value>
__device__ inline Value after_update(Value old, Value value, [[maybe_unused]] Value other) {
    using Unsigned = bits_of_size<sizeof(Value)>;
    if constexpr (M::template has<dot_add>) {
        if constexpr (std::is_integral_v<Value>) {
            return static_cast<Value>(static_cast<Unsigned>(old) + static_cast<Unsigned>(value));
        } else {
            return old + value;
        }
    } else if constexpr (M::template has_one_of<dot_min, dot_max>) {
        const bool takes = M::template has<dot_min> ? value < old : old < value;
        return takes ? value : old;
    } else if constexpr (M::template has<dot_inc>) {
        return old >= value ? Value{0} : static_cast<Value>(old + 1);
    } else if constexpr (M::template has<dot_dec>) {
        return old == 0 || old > value ? value : static_cast<Value>(old - 1);
    } else if constexpr (M::template has<dot_exch>) {
        return value;
    } else if constexpr (M::template has<dot_cas>) {
        return bit_cast<Unsigned>(old) == bit_cast<Unsigned>(value) ? other : old;
    } else if constexpr (M::template has<dot_and>) {
        return old & value;
    } else if constexpr (M::template has<dot_or>) {
        return old | value;
    } else {
        static_assert(M::template has<dot_xor>,
                      "atom and red: add, min, max, inc, dec, exch, cas, and, or, xor");
        return old ^ value;
    }
}

template <class M>
inline constexpr unsigned atomic_ordering =
    kObserves | kTells |
    (M::template has_one_of<dot_acquire, dot_release, dot_acq_rel, dot_relaxed>
         ? ordering_of<M>
         : kAcquires | scope_of<M>);

template <class M>
inline constexpr bool has_atomic_suffixes_only =
    M::template are_among<dot_relaxed, dot_acquire, dot_release, dot_acq_rel, dot_cta, dot_cluster,
                          dot_gpu, dot_sys, dot_global, dot_shared, dot_shared_cta,
                          dot_shared_cluster, dot_add, dot_min, dot_max, dot_inc, dot_dec, dot_exch,
                          dot_cas, dot_and, dot_or, dot_xor, dot_noftz, dot_L2_cache_hint, dot_v2,
                          dot_v4, dot_v8, dot_b16, dot_b32, dot_b64, dot_u32, dot_u64, dot_s32,
                          dot_s64, dot_f32, dot_f64, dot_f16, dot_f16x2, dot_bf16, dot_bf16x2>;

template <class M, class A, class C>
__device__ inline auto atomic(Address address, const A& a, const C& c) {
    static_assert(has_atomic_suffixes_only<M>, "atom or red has no such suffix on the CPU device");
    using Value = value_of<nth_type<M>>;
    const auto value = read<Value>(a), other = read<Value>(c);
    return atomic_update(
        pointer_to<Value, M>(address),
        [=](Value old) { return after_update<M>(old, value, other); }, atomic_ordering<M>);
}

template <class M, class A, size_t... i>
__device__ inline void reduce_each(Address address, const A& a, std::index_sequence<i...>) {
    constexpr size_t kBytes = sizeof(value_of<nth_type<M>>);
    ((void)atomic<M>(Address{address.value + i * kBytes}, part<i>(a), part<i>(a)), ...);
}

template <class M, class D, class A, class... More>
__device__ inline void op_atom(D&& d, Address address, const A& a, const More&... more) {
    static_assert(vector_size<M> == 1, "the CPU device's atom has no vectors");
    if constexpr (M::template has<dot_cas>) {
        static_assert(sizeof...(More) >= 1, "atom.cas takes two values");
        write(d, atomic<M>(address, a, part<0>(list(more...))));
    } else {
        write(d, atomic<M>(address, a, a));
    }
}
template <class M, class A, class... Policy>
__device__ inline void op_red(Address address, const A& a, const Policy&...) {
    static_assert(!M::template has_one_of<dot_cas, dot_exch>, "red has neither cas nor exch");
    if constexpr (vector_size < M >> 1) {
        reduce_each<M>(address, a, std::make_index_sequence<vector_size<M>>());
    } else {
        (void)atomic<M>(address, a, a);
    }
}

// ---------------------------------------------------------------- fences

template <class M>
__device__ inline void op_membar() {
    static_assert(M::template are_among<dot_cta, dot_gl, dot_sys>,
                  "membar is .cta, .gl or .sys on the CPU device");
    cpu_device::fence(kFences | scope_of<M>);
}
template <class M>
__device__ inline void op_fence() {
    static_assert(M::template are_among<dot_sc, dot_acq_rel, dot_acquire, dot_release, dot_cta,
                                        dot_cluster, dot_gpu, dot_sys, dot_sync_restrict_shared_cta,
                                        dot_sync_restrict_shared_cluster>,
                  "the CPU device does not know this fence");
    cpu_device::fence(kFences | scope_of<M>);
}

// fence.proxy.async{.space}: what was written as threads write becomes visible to bulk copies and wgmma. Other proxies
// see it as it is.
template <class M>
__device__ inline void op_fence_proxy() {
    static_assert(
        M::template are_among<dot_async, dot_alias, dot_global, dot_shared_cta, dot_shared_cluster>,
        "the CPU device does not know this fence.proxy");
    if constexpr (M::template has<dot_async>) {
        (void)AsyncProxyUse<M>::noted;
        cpu_device::fence_proxy();
    }
}

// fence.mbarrier_init.release.cluster: here another block sees an mbarrier once a cluster barrier follows its init.
template <class M>
__device__ inline void op_fence_mbarrier_init() {
    static_assert(fits<M, form<one<dot_release>, one<dot_cluster>>>,
                  "fence.mbarrier_init is .release.cluster");
}

}  // namespace cpu_device::ptx
