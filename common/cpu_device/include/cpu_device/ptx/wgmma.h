// SPDX-License-Identifier: MIT
// wgmma of sm_90a: matrices that four warps multiply together.
#pragma once
#include "cpu_device/async_proxy.h"
#include "cpu_device/ptx/matrix.h"
#include "cpu_device/wgmma.h"

namespace cpu_device::ptx {

struct WgmmaShape {
    int n = 0, k = 0;
};
template <class X>
inline constexpr WgmmaShape wgmma_shape{};
template <int n, int k>
inline constexpr WgmmaShape wgmma_shape<dot_m64<n, k>> = {n, k};
template <class M>
inline constexpr WgmmaShape wgmma_shape_of{};
template <class... X>
inline constexpr WgmmaShape wgmma_shape_of<mods<X...>> = {(wgmma_shape<X>.n + ... + 0),
                                                          (wgmma_shape<X>.k + ... + 0)};
template <class M, class Shape>
inline constexpr bool is_wgmma_form = fits_one_of<
    M, form<one<dot_sync>, one<dot_aligned>, one<Shape>, one<dot_f32>, one<dot_f16>, one<dot_f16>>,
    form<one<dot_sync>, one<dot_aligned>, one<Shape>, one<dot_f16>, one<dot_f16>, one<dot_f16>>,
    form<one<dot_sync>, one<dot_aligned>, one<Shape>, one<dot_f32>, one<dot_bf16>, one<dot_bf16>>,
    form<one<dot_sync>, one<dot_aligned>, one<Shape>, one<dot_f32>, one<dot_tf32>, one<dot_tf32>>,
    form<one<dot_sync>, one<dot_aligned>, one<Shape>, one<dot_f32, dot_f16>,
         one<dot_e4m3, dot_e5m2>, one<dot_e4m3, dot_e5m2>>,
    form<one<dot_sync>, one<dot_aligned>, one<Shape>, one<dot_s32>, one<dot_s8, dot_u8>,
         one<dot_s8, dot_u8>, may<dot_satfinite>>,
    form<one<dot_sync>, one<dot_aligned>, one<Shape>, one<dot_s32>, one<dot_b1>, one<dot_b1>,
         one<dot_and>, one<dot_popc>>>;

// Elements along k are 32 bytes.
constexpr bool is_wgmma_shape(WgmmaShape shape, int bits_of_element, bool is_float) {
    if (shape.k * bits_of_element != 256 || shape.n < 8 || shape.n > 256) return false;
    return shape.n % 8 == 0 && (is_float || shape.n % 16 == 0 || shape.n == 8 || shape.n == 24);
}

template <class T>
inline constexpr bool is_plus_or_minus = constant_of<T> == 1 || constant_of<T> == -1;
template <class T>
inline constexpr bool is_zero_or_one = constant_of<T> == 0 || constant_of<T> == 1;

// The immediates after scale-d: {imm-scale-a, imm-scale-b{, {imm-trans-a,} imm-trans-b}}.
template <class... X>
struct WgmmaImmediates {
    static constexpr bool are_scales = sizeof...(X) == 0;
    static constexpr bool is_negative = false, transposes_a = false, transposes_b = false;
};
template <class ScaleA, class ScaleB, class... Transposes>
struct WgmmaImmediates<ScaleA, ScaleB, Transposes...> {
    static constexpr bool are_scales = is_plus_or_minus<ScaleA> && is_plus_or_minus<ScaleB>;
    static constexpr bool are_transposes = (is_zero_or_one<Transposes> && ...);
    static constexpr bool is_negative = constant_of<ScaleA> != constant_of<ScaleB>;
    static constexpr long long transposes[sizeof...(Transposes) + 2] = {constant_of<Transposes>...,
                                                                        0, 0};
    static constexpr bool transposes_a = sizeof...(Transposes) == 2 && transposes[0] == 1;
    static constexpr bool transposes_b = transposes[sizeof...(Transposes) == 2 ? 1 : 0] == 1;
};

template <class M, bool a_is_in_registers, class Immediates>
inline constexpr WarpgroupProduct wgmma_product = {
    static_cast<uint16_t>(wgmma_shape_of<M>.n),
    static_cast<uint16_t>(wgmma_shape_of<M>.k),
    static_cast<Element>(matrix_element<nth_type<M, 1>>),
    static_cast<Element>(matrix_element<nth_type<M, 2>>),
    std::is_same_v<nth_type<M>, dot_f32>   ? Sums::f32
    : std::is_same_v<nth_type<M>, dot_f16> ? Sums::f16
                                           : Sums::s32,
    a_is_in_registers,
    Immediates::transposes_a,
    Immediates::transposes_b,
    Immediates::is_negative,
    M::template has<dot_satfinite>};

template <class Scale>
__device__ inline int adds_to_old(const Scale& scale) {
    if constexpr (is_constant<Scale>) {
        static_assert(is_zero_or_one<Scale>, "wgmma: scale-d is a predicate, 0 or 1");
        return static_cast<int>(Scale::value);
    } else {
        static_assert(std::is_same_v<Scale, bool>,
                      "wgmma: scale-d is a predicate or an immediate, not a register");
        return scale ? 1 : 0;
    }
}

// The translation passes the operands after d as a list, then pointers to the variables of d.
// wgmma.mma_async.sync.aligned.shape.d.a.b d, a, b, scale-d, ...;
template <class M, class A, class B, class Scale, class... Immediate, class... D>
__device__ inline void op_wgmma_mma_async(const List<A, B, Scale, Immediate...>& operands,
                                          D*... d) {
    constexpr WgmmaShape kShape = wgmma_shape_of<M>;
    (void)AsyncProxyUse<M>::noted;
    static_assert(is_wgmma_form<M, dot_m64<kShape.n, kShape.k>>,
                  "wgmma.mma_async has no such form: .sync.aligned, a shape, then the types f32 or "
                  "f16 .f16.f16, f32.bf16.bf16, f32.tf32.tf32, f32 or f16 of e4m3 and e5m2, s32 of "
                  "s8 and u8 perhaps with .satfinite, or s32.b1.b1.and.popc");
    if constexpr (is_wgmma_form<M, dot_m64<kShape.n, kShape.k>>) {
        using OfA = nth_type<M, 1>;
        constexpr bool kIsFloat = !mods<dot_s32>::has<nth_type<M>>;
        static_assert(is_wgmma_shape(kShape, matrix_element_bits<OfA>, kIsFloat),
                      "wgmma.mma_async has no such shape for these types: k is 16 for 16 bits, 8 "
                      "for tf32, 32 for 8 bits, 256 for b1; n is a multiple of 8 up to 256, or, of "
                      "integers, 8, 24 or a multiple of 16");
        using PlainA = std::decay_t<A>;
        constexpr bool kOfRegisters = is_list<PlainA>;
        constexpr size_t kImmediates = sizeof...(Immediate);
        constexpr bool kHas16Bits = matrix_element_bits<OfA> == 16;
        constexpr size_t kWanted = !kIsFloat ? 0 : !kHas16Bits ? 2 : kOfRegisters ? 3 : 4;
        static_assert(kImmediates == kWanted,
                      "wgmma.mma_async: after scale-d come imm-scale-a and imm-scale-b for floats, "
                      "then, for 16 bits, imm-trans-a (unless A is in registers) and imm-trans-b");
        using Immediates = WgmmaImmediates<std::decay_t<Immediate>...>;
        static_assert(Immediates::are_scales,
                      "wgmma.mma_async: imm-scale-a and imm-scale-b are the immediates 1 or -1");
        if constexpr (kImmediates > 2) {
            static_assert(Immediates::are_transposes,
                          "wgmma.mma_async: imm-trans-a and imm-trans-b are the immediates 0 or 1");
        }
        constexpr const WarpgroupProduct& kProduct = wgmma_product<M, kOfRegisters, Immediates>;
        static_assert(sizeof...(D) == kProduct.accumulators(),
                      "wgmma.mma_async: d has n / 2 registers, or n / 4 where its type is f16");
        static_assert(((sizeof(D) == sizeof(uint32_t)) && ...),
                      "wgmma.mma_async: the accumulators have 32 bits each");
        const auto b = read<uint64_t>(part<1>(operands));
        const int adds = adds_to_old(part<2>(operands));
        if constexpr (kOfRegisters) {
            static_assert(count_of<PlainA> == 4,
                          "wgmma.mma_async: A in registers is a list of four");
            const auto& a = part<0>(operands);
            const uint64_t low = read<uint32_t>(part<0>(a)) |
                                 static_cast<uint64_t>(read<uint32_t>(part<1>(a))) << 32;
            const uint64_t high = read<uint32_t>(part<2>(a)) |
                                  static_cast<uint64_t>(read<uint32_t>(part<3>(a))) << 32;
            multiply_warpgroup(&kProduct, adds, b, low, high, d...);
        } else {
            multiply_warpgroup(&kProduct, adds, b, read<uint64_t>(part<0>(operands)), 0, d...);
        }
    }
}

template <class M>
inline constexpr bool is_sync_aligned = M::template has<dot_sync>&& M::template has<dot_aligned>&&
    M::template are_among<dot_sync, dot_aligned>;

template <class M>
__device__ inline void op_wgmma_fence() {
    static_assert(is_sync_aligned<M>, "wgmma.fence is .sync.aligned");
    fence_products();
}
template <class M>
__device__ inline void op_wgmma_commit_group() {
    static_assert(is_sync_aligned<M>, "wgmma.commit_group is .sync.aligned");
    commit_products();
}
template <class M, class Groups>
__device__ inline void op_wgmma_wait_group(const Groups&) {
    static_assert(is_sync_aligned<M>, "wgmma.wait_group is .sync.aligned");
    static_assert(is_constant<Groups> && constant_of<Groups> >= 0,
                  "wgmma.wait_group takes the number of groups as an immediate, 0 or more");
    wait_for_products(static_cast<size_t>(constant_of<Groups>));
}

}  // namespace cpu_device::ptx
