// SPDX-License-Identifier: MIT
// The suffixes of PTX's instructions, each a type: dot_f32 is .f32, dot_L1_no_allocate is .L1::no_allocate.
#pragma once
#include "cpu_device/integers.h"
#include <cstddef>
#include <type_traits>
#include <utility>

namespace cpu_device::ptx {

struct dot_1d;
struct dot_2d;
struct dot_3d;
struct dot_4d;
struct dot_5d;
struct dot_abs;
struct dot_acq_rel;
struct dot_acquire;
struct dot_add;
struct dot_alias;
struct dot_aligned;
struct dot_all;
struct dot_and;
struct dot_any;
struct dot_approx;
struct dot_arrive;
struct dot_arrive_drop;
struct dot_async;
struct dot_b1024;
struct dot_b1;
struct dot_b128;
struct dot_b16;
struct dot_b32;
struct dot_b4;
struct dot_b4e;
struct dot_b64;
struct dot_b8;
struct dot_ballot;
struct dot_bf16;
struct dot_bf16x2;
struct dot_bfly;
struct dot_box_dim;
struct dot_bulk_group;
struct dot_ca;
struct dot_cas;
struct dot_cc;
struct dot_cg;
struct dot_clamp;
struct dot_cluster;
struct dot_col;
struct dot_const;
struct dot_cp_mask;
struct dot_cs;
struct dot_cta;
struct dot_cta_group_1;
struct dot_cta_group_2;
struct dot_cv;
struct dot_dec;
struct dot_down;
struct dot_e4m3;
struct dot_e4m3x2;
struct dot_e5m2;
struct dot_e5m2x2;
struct dot_ecl;
struct dot_ecr;
struct dot_element_stride;
struct dot_elemtype;
struct dot_eq;
struct dot_equ;
struct dot_exch;
struct dot_f16;
struct dot_f16x2;
struct dot_f32;
struct dot_f4e;
struct dot_f64;
struct dot_fill_mode;
struct dot_finite;
struct dot_fractional;
struct dot_ftz;
struct dot_full;
struct dot_ge;
struct dot_generic;
struct dot_geu;
struct dot_gl;
struct dot_global;
struct dot_global_address;
struct dot_global_dim;
struct dot_global_stride;
struct dot_gpu;
struct dot_gt;
struct dot_gtu;
struct dot_hi;
struct dot_hs;
struct dot_idx;
struct dot_im2col;
struct dot_im2col_no_offs;
struct dot_im2col_w;
struct dot_im2col_w_128;
struct dot_inc;
struct dot_infinite;
struct dot_interleave_layout;
struct dot_l;
struct dot_L1;
struct dot_L1_evict_first;
struct dot_L1_evict_last;
struct dot_L1_evict_normal;
struct dot_L1_evict_unchanged;
struct dot_L1_no_allocate;
struct dot_L2;
struct dot_L2_128B;
struct dot_L2_256B;
struct dot_L2_64B;
struct dot_L2_cache_hint;
struct dot_L2_evict_first;
struct dot_L2_evict_last;
struct dot_L2_evict_normal;
struct dot_le;
struct dot_leu;
struct dot_lo;
struct dot_local;
struct dot_ls;
struct dot_lt;
struct dot_ltu;
struct dot_lu;
struct dot_m16n16;
struct dot_m16n8;
struct dot_m16n8k128;
struct dot_m16n8k16;
struct dot_m16n8k256;
struct dot_m16n8k32;
struct dot_m16n8k4;
struct dot_m16n8k64;
struct dot_m16n8k8;
struct dot_m8n8;
struct dot_m8n8k128;
struct dot_m8n8k16;
struct dot_m8n8k32;
struct dot_m8n8k4;
struct dot_max;
struct dot_mbarrier;
struct dot_mbarrier_complete_tx_bytes;
struct dot_mbarrier_init;
struct dot_min;
struct dot_mode;
struct dot_multicast_cluster;
struct dot_NaN;
struct dot_nan;
struct dot_nc;
struct dot_ne;
struct dot_neu;
struct dot_noinc;
struct dot_noComplete;
struct dot_noftz;
struct dot_normal;
struct dot_not;
struct dot_notanumber;
struct dot_num;
struct dot_number;
struct dot_oob;
struct dot_or;
struct dot_pack;
struct dot_param;
struct dot_parity;
struct dot_po;
struct dot_popc;
struct dot_pred;
struct dot_proxy;
struct dot_r;
struct dot_range;
struct dot_rank;
struct dot_rc16;
struct dot_rc8;
struct dot_read;
struct dot_red;
struct dot_relaxed;
struct dot_release;
struct dot_relu;
struct dot_relu_satfinite;
struct dot_rm;
struct dot_rmi;
struct dot_rn;
struct dot_rna;
struct dot_rni;
struct dot_row;
struct dot_rp;
struct dot_rpi;
struct dot_rz;
struct dot_rzi;
struct dot_s16;
struct dot_s16x2;
struct dot_s32;
struct dot_s4;
struct dot_s64;
struct dot_s8;
struct dot_sat;
struct dot_satfinite;
struct dot_sc;
struct dot_shared;
struct dot_shared_cluster;
struct dot_shared_cta;
struct dot_shiftamt;
struct dot_shr15;
struct dot_shr7;
struct dot_sorted;
struct dot_subnormal;
struct dot_swizzle_atomicity;
struct dot_swizzle_mode;
struct dot_sync;
struct dot_sync_restrict_shared_cluster;
struct dot_sync_restrict_shared_cta;
struct dot_sys;
struct dot_tensormap;
struct dot_tensormap_generic;
struct dot_tf32;
struct dot_tile;
struct dot_tile_gather4;
struct dot_tile_scatter4;
struct dot_to;
struct dot_trans;
struct dot_u16;
struct dot_u16x2;
struct dot_u32;
struct dot_u4;
struct dot_u64;
struct dot_u8;
struct dot_uni;
struct dot_up;
struct dot_v2;
struct dot_v4;
struct dot_v8;
struct dot_volatile;
struct dot_wb;
struct dot_weak;
struct dot_wide;
struct dot_wrap;
struct dot_wt;
struct dot_x1;
struct dot_x2;
struct dot_x4;
struct dot_xor;
struct dot_xorsign;

// .m64n256k16
template <int n, int k>
struct dot_m64;
#define CPU_DEVICE_PTX_SHAPES(n)             \
    using dot_m64n##n##k8 = dot_m64<n, 8>;   \
    using dot_m64n##n##k16 = dot_m64<n, 16>; \
    using dot_m64n##n##k32 = dot_m64<n, 32>; \
    using dot_m64n##n##k256 = dot_m64<n, 256>;
CPU_DEVICE_PTX_SHAPES(8)
CPU_DEVICE_PTX_SHAPES(16)
CPU_DEVICE_PTX_SHAPES(24)
CPU_DEVICE_PTX_SHAPES(32)
CPU_DEVICE_PTX_SHAPES(40)
CPU_DEVICE_PTX_SHAPES(48)
CPU_DEVICE_PTX_SHAPES(56)
CPU_DEVICE_PTX_SHAPES(64)
CPU_DEVICE_PTX_SHAPES(72)
CPU_DEVICE_PTX_SHAPES(80)
CPU_DEVICE_PTX_SHAPES(88)
CPU_DEVICE_PTX_SHAPES(96)
CPU_DEVICE_PTX_SHAPES(104)
CPU_DEVICE_PTX_SHAPES(112)
CPU_DEVICE_PTX_SHAPES(120)
CPU_DEVICE_PTX_SHAPES(128)
CPU_DEVICE_PTX_SHAPES(136)
CPU_DEVICE_PTX_SHAPES(144)
CPU_DEVICE_PTX_SHAPES(152)
CPU_DEVICE_PTX_SHAPES(160)
CPU_DEVICE_PTX_SHAPES(168)
CPU_DEVICE_PTX_SHAPES(176)
CPU_DEVICE_PTX_SHAPES(184)
CPU_DEVICE_PTX_SHAPES(192)
CPU_DEVICE_PTX_SHAPES(200)
CPU_DEVICE_PTX_SHAPES(208)
CPU_DEVICE_PTX_SHAPES(216)
CPU_DEVICE_PTX_SHAPES(224)
CPU_DEVICE_PTX_SHAPES(232)
CPU_DEVICE_PTX_SHAPES(240)
CPU_DEVICE_PTX_SHAPES(248)
CPU_DEVICE_PTX_SHAPES(256)
#undef CPU_DEVICE_PTX_SHAPES

// The suffixes behind an instruction's name, in their order.
template <class... M>
struct mods {
    template <class X>
    static constexpr bool has = (std::is_same_v<X, M> || ...);
    template <class... X>
    static constexpr bool has_one_of = (has<X> || ...);
    // Whether all are among these.
    template <class... X>
    static constexpr bool are_among = (mods<X...>::template has<M> && ...);
};

// The types among the suffixes, in their order: nth_type<mods<dot_rn, dot_f16, dot_f32>, 1> is dot_f32.
template <class M>
inline constexpr bool is_type =
    mods<dot_b8, dot_b16, dot_b32, dot_b64, dot_b128, dot_u8, dot_u16, dot_u32, dot_u64, dot_s8,
         dot_s16, dot_s32, dot_s64, dot_f16, dot_f16x2, dot_bf16, dot_bf16x2, dot_tf32, dot_f32,
         dot_f64, dot_pred, dot_e4m3x2, dot_e5m2x2, dot_u16x2, dot_s16x2, dot_b1, dot_b4, dot_u4,
         dot_s4, dot_e4m3, dot_e5m2>::template has<M>;

template <size_t n, class... M>
struct NthType;
template <class T>
struct Found {
    using type = T;
};
template <size_t n, class First, class... Rest>
struct NthType<n, First, Rest...>
    : std::conditional_t<
          !is_type<First>, NthType<n, Rest...>,
          std::conditional_t<n == 0, Found<First>, NthType<n == 0 ? 0 : n - 1, Rest...>>> {};

template <class Modifiers>
struct TypesOf;
template <class... M>
struct TypesOf<mods<M...>> {
    static constexpr size_t count = (size_t{is_type<M>} + ... + 0);
    template <size_t n>
    using nth = typename NthType<n, M...>::type;
};
template <class M, size_t n = 0>
using nth_type = typename TypesOf<M>::template nth<n>;
template <class M>
inline constexpr size_t type_count = TypesOf<M>::count;

// ---------------------------------------------------------------- forms
// A form says which suffixes an instruction takes: form<may<dot_sat>, one<dot_s32>> is that of ".s32" and ".sat.s32". As
// for ptxas, their order is free, except that of types among each other.
template <class... X>
struct one {};  // one of these
template <class... X>
struct may {};  // one of these, or none
template <class... X>
struct first {};  // one of these, in front of all others
template <class... Slot>
struct form {};

// Takes the first suffix out of M that is among X; where X are types, only the first type.
template <bool is_found, class M>
struct Rest {
    static constexpr bool found = is_found;
    using rest = M;
};
template <class X, class Passed, class M>
struct Take;
template <class... X, class... Passed>
struct Take<mods<X...>, mods<Passed...>, mods<>> : Rest<false, mods<Passed...>> {};
template <class... X, class... Passed, class First, class... M>
struct Take<mods<X...>, mods<Passed...>, mods<First, M...>>
    : std::conditional_t<mods<X...>::template has<First>, Rest<true, mods<Passed..., M...>>,
                         std::conditional_t<is_type<First> && (is_type<X> && ...),
                                            Rest<false, mods<Passed..., First, M...>>,
                                            Take<mods<X...>, mods<Passed..., First>, mods<M...>>>> {
};

template <class M, class Form>
inline constexpr bool fits = false;
template <>
inline constexpr bool fits<mods<>, form<>> = true;
template <class M, class... X, class... Slot>
inline constexpr bool fits<M, form<may<X...>, Slot...>> =
    fits<typename Take<mods<X...>, mods<>, M>::rest, form<Slot...>>;
template <class M, class... X, class... Slot>
inline constexpr bool fits<M, form<one<X...>, Slot...>> = Take<mods<X...>, mods<>, M>::found&&
    fits<typename Take<mods<X...>, mods<>, M>::rest, form<Slot...>>;
template <class First, class... M, class... X, class... Slot>
inline constexpr bool fits<mods<First, M...>, form<first<X...>, Slot...>> =
    mods<X...>::template has<First>&& fits<mods<M...>, form<Slot...>>;
template <class M, class... Form>
inline constexpr bool fits_one_of = (fits<M, Form> || ...);

}  // namespace cpu_device::ptx
