// SPDX-License-Identifier: MIT
// The video instructions: arithmetic on bytes, halves and words of registers, followed by a second operation.
#pragma once
#include "cpu_device/integers.h"
#include <type_traits>

#include "cpu_device/ptx/compare.h"
#include "cpu_device/ptx/integer.h"
#include "cpu_device/ptx/operands.h"
#include "cpu_device/simd.h"

namespace cpu_device::ptx {

// ---------------------------------------------------------------- parts of registers

using of_word = one<dot_u32, dot_s32>;
using sum_or_extreme = may<dot_add, dot_min, dot_max>;

// The selector of an operand; void where it stands for the whole register.
template <class Operand>
struct SelectorOf {
    using type = void;
};
template <class Of, class Register>
struct SelectorOf<Selected<Of, Register>> {
    using type = Of;
};
template <class Operand>
using selector_of = typename SelectorOf<std::remove_cv_t<std::remove_reference_t<Operand>>>::type;

template <class Operand>
__device__ inline const Operand& whole(const Operand& operand) {
    return operand;
}
template <class Of, class Register>
__device__ inline const auto& whole(const Selected<Of, Register>& operand) {
    return operand.part;
}

// The type of a selected part of a number of that type.
template <class Type, class Selector>
struct PartOf {
    static constexpr bool kIsByte = Selector::kUnit == 'b';
    static_assert(Selector::kCount == 1 && Selector::kDigits[0] < (kIsByte ? 4 : 2),
                  "a part of a register is .b0 to .b3, .h0 or .h1");
    static constexpr int kBit = static_cast<int>(Selector::kDigits[0]) * (kIsByte ? 8 : 16);
    using Unsigned = std::conditional_t<kIsByte, uint8_t, uint16_t>;
    using type = std::conditional_t<std::is_signed_v<value_of<Type>>, std::make_signed_t<Unsigned>,
                                    Unsigned>;
};
template <class Type>
struct PartOf<Type, void> {
    static constexpr int kBit = 0;
    using type = value_of<Type>;
};

template <class Type, class Operand>
__device__ inline int64_t number_of(const Operand& operand) {
    using Part = PartOf<Type, selector_of<Operand>>;
    if constexpr (is_selected<Operand>) {
        return lane_at<typename Part::type>(read<uint32_t>(operand.part), Part::kBit);
    } else {
        return read<value_of<Type>>(operand);
    }
}

// ---------------------------------------------------------------- scalars

// x with its sign, also where it is a char.
template <class T>
__device__ inline __int128 as_number(T x) {
    return x;  // NOLINT(bugprone-signed-char-misuse)
}

// Saturates the result, then combines it with c by the second operation or inserts it into a part of c.
template <class M, class Type, class D>
__device__ inline void write_number(D&& d, __int128 result) {
    static_assert(!is_selected<std::decay_t<D>>,
                  "a part of the result needs the operand c for the rest");
    static_assert(!M::template has_one_of<dot_add, dot_min, dot_max>,
                  "a second operation needs the operand c");
    using T = value_of<Type>;
    if constexpr (M::template has<dot_sat>) result = as_number(saturated<T>(result));
    write<T>(d, static_cast<T>(result));
}
template <class M, class Type, class D, class C>
__device__ inline void write_number(D&& d, __int128 result, const C& c) {
    using T = value_of<Type>;
    using Part = PartOf<Type, selector_of<D>>;
    constexpr bool kMerges = is_selected<std::decay_t<D>>;
    static_assert(!kMerges || !M::template has_one_of<dot_add, dot_min, dot_max>,
                  "a result has a part or a second operation, not both");
    if constexpr (M::template has<dot_sat>)
        result = as_number(saturated<typename Part::type>(result));
    const __int128 with = as_number(read<T>(c));
    if constexpr (kMerges) {
        using Bits = std::make_unsigned_t<typename Part::type>;
        const uint32_t place = static_cast<uint32_t>(static_cast<Bits>(-1)) << Part::kBit;
        const uint32_t moved = static_cast<uint32_t>(result) << Part::kBit;
        write<uint32_t>(d.part, (moved & place) | (static_cast<uint32_t>(with) & ~place));
    } else {
        if constexpr (M::template has<dot_add>) result += with;
        if constexpr (M::template has<dot_min>) result = operations::Lesser()(result, with);
        if constexpr (M::template has<dot_max>) result = operations::Greater()(result, with);
        write<T>(d, static_cast<T>(result));
    }
}

template <class M>
inline constexpr bool is_scalar_video =
    fits<M, form<of_word, of_word, of_word, may<dot_sat>, sum_or_extreme>>;

#define CPU_DEVICE_PTX_VIDEO(name, Operation)                                             \
    template <class M, class D, class A, class B, class... C>                             \
    __device__ inline void op_##name(D&& d, const A& a, const B& b, const C&... c) {      \
        static_assert(is_scalar_video<M>, #name " has no such form");                     \
        if constexpr (is_scalar_video<M>) {                                               \
            const int64_t result = operations::Operation()(number_of<nth_type<M, 1>>(a),  \
                                                           number_of<nth_type<M, 2>>(b)); \
            write_number<M, nth_type<M, 0>>(d, result, c...);                             \
        }                                                                                 \
    }
CPU_DEVICE_PTX_VIDEO(vadd, Sum)
CPU_DEVICE_PTX_VIDEO(vsub, Difference)
CPU_DEVICE_PTX_VIDEO(vabsdiff, AbsoluteDifference)
CPU_DEVICE_PTX_VIDEO(vmin, Lesser)
CPU_DEVICE_PTX_VIDEO(vmax, Greater)
#undef CPU_DEVICE_PTX_VIDEO

template <class M>
inline constexpr bool is_video_shift = fits<M, form<of_word, of_word, one<dot_u32>, may<dot_sat>,
                                                    one<dot_clamp, dot_wrap>, sum_or_extreme>>;
template <class M, class B>
__device__ inline int distance_of(const B& b) {
    const int64_t by = number_of<dot_u32>(b);
    return static_cast<int>(M::template has<dot_wrap> ? by & 31
                                                      : operations::Lesser()(by, int64_t{32}));
}
template <class M, class D, class A, class B, class... C>
__device__ inline void op_vshl(D&& d, const A& a, const B& b, const C&... c) {
    static_assert(is_video_shift<M>, "vshl has no such form");
    if constexpr (is_video_shift<M>) {
        const __int128 number = number_of<nth_type<M, 1>>(a);
        write_number<M, nth_type<M, 0>>(d, number * (__int128{1} << distance_of<M>(b)), c...);
    }
}
template <class M, class D, class A, class B, class... C>
__device__ inline void op_vshr(D&& d, const A& a, const B& b, const C&... c) {
    static_assert(is_video_shift<M>, "vshr has no such form");
    if constexpr (is_video_shift<M>)
        write_number<M, nth_type<M, 0>>(d, number_of<nth_type<M, 1>>(a) >> distance_of<M>(b), c...);
}

template <class M>
inline constexpr bool is_scalar_vset = fits<M, form<of_word, of_word, order, sum_or_extreme>>;
template <class M, class D, class A, class B, class... C>
__device__ inline void op_vset(D&& d, const A& a, const B& b, const C&... c) {
    static_assert(is_scalar_vset<M>, "vset has no such form");
    if constexpr (is_scalar_vset<M>) {
        const bool result = holds<M>(number_of<nth_type<M, 0>>(a), number_of<nth_type<M, 1>>(b));
        write_number<M, dot_u32>(d, result ? 1 : 0, c...);
    }
}

// d = a b + c, with .po one more, shifted right by 7 or 15 bits. One of a and b, or c, may be negated.
template <class M>
inline constexpr bool is_vmad =
    fits<M, form<of_word, of_word, of_word, may<dot_sat>, may<dot_po>, may<dot_shr7, dot_shr15>>>;

template <class Operand>
__device__ inline const Operand& without_sign(const Operand& operand) {
    return operand;
}
template <class Operand>
__device__ inline const auto& without_sign(const Opposite<Operand>& operand) {
    return operand.of;
}
template <class M, class D, class A, class B, class C>
__device__ inline void op_vmad(D& d, const A& a, const B& b, const C& c) {
    constexpr bool kIsGood = is_vmad<M>;
    static_assert(kIsGood, "vmad has no such form");
    constexpr bool kNegatesProduct = is_opposite<A> != is_opposite<B>, kNegatesC = is_opposite<C>;
    static_assert(!(kNegatesProduct && kNegatesC), "vmad negates one of a and b, or c, not both");
    static_assert(!M::template has<dot_po> || !(is_opposite<A> || is_opposite<B> || kNegatesC),
                  "vmad.po negates nothing");
    if constexpr (kIsGood) {
        using OfA = nth_type<M, 1>;
        using OfB = nth_type<M, 2>;
        constexpr bool kHasSign =
            mods<OfA, OfB>::template has<dot_s32> || kNegatesProduct || kNegatesC;
        using Final = std::conditional_t<kHasSign, int32_t, uint32_t>;
        __int128 product =
            __int128{number_of<OfA>(without_sign(a))} * number_of<OfB>(without_sign(b));
        if constexpr (kNegatesProduct) product = -product;
        // -c is ~c + 1, of the 32 bits.
        const uint32_t word = read<uint32_t>(without_sign(c));
        __int128 sum = product + static_cast<Final>(kNegatesC ? ~word : word);
        if constexpr (kNegatesC || M::template has<dot_po>) sum += 1;
        if constexpr (M::template has<dot_shr7>) sum >>= 7;
        if constexpr (M::template has<dot_shr15>) sum >>= 15;
        if constexpr (M::template has<dot_sat>) sum = saturated<Final>(sum);
        write<uint32_t>(d, static_cast<uint32_t>(sum));
    }
}

// ---------------------------------------------------------------- lanes

// The lanes that a selector takes from the registers a and b, digits from the highest lane down.
template <class Unsigned, class Selector>
__device__ inline uint32_t gathered(uint32_t a, uint32_t b) {
    constexpr int kBits = kLaneBits<Unsigned>;
    constexpr unsigned kLanes = 32 / kBits;
    static_assert(Selector::kUnit == (kLanes == 4 ? 'b' : 'h') && Selector::kCount == kLanes,
                  "a selector names each lane's source: .b7654, or .h32");
    uint32_t result = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const unsigned from = Selector::kDigits[kLanes - 1 - lane];
        const auto value = static_cast<uint32_t>(
            lane_at<Unsigned>(from < kLanes ? a : b, static_cast<int>(from % kLanes) * kBits));
        result |= value << (static_cast<int>(lane) * kBits);
    }
    return result;
}
// All bits of the lanes of the result that the instruction writes.
template <class Unsigned, class Selector>
constexpr uint32_t mask_of() {
    if constexpr (std::is_void_v<Selector>) {
        return ~0u;
    } else {
        constexpr int kBits = kLaneBits<Unsigned>;
        uint32_t mask = 0;
        for (size_t i = 0; i < Selector::kCount; ++i)
            mask |= uint32_t{static_cast<Unsigned>(-1)} << (Selector::kDigits[i] * kBits);
        return mask;
    }
}
template <class Unsigned, class Selector>
constexpr bool is_mask() {
    if constexpr (std::is_void_v<Selector>) {
        return true;
    } else {
        constexpr unsigned kLanes = 32 / kLaneBits<Unsigned>;
        for (size_t i = 0; i < Selector::kCount; ++i) {
            if (Selector::kDigits[i] >= (i == 0 ? kLanes : Selector::kDigits[i - 1])) return false;
        }
        return Selector::kUnit == (kLanes == 4 ? 'b' : 'h');
    }
}

// Combines the selected lanes of a and b. Writes those results that the mask names, and c's lanes elsewhere; with .add,
// writes the sum of c and the named results. OfA and OfB are the types of a and b.
template <class M, class Unsigned, class OfA, class OfB, class D, class A, class B, class C,
          class Operation>
__device__ inline void write_lanes(D&& d, const A& a, const B& b, const C& c, Operation operation) {
    using Mask = selector_of<D>;
    static_assert(is_mask<Unsigned, Mask>(),
                  "the lanes of a result are named in falling order, as .b310 or .h1");
    static_assert(mods<uint32_t>::has<std::decay_t<decltype(whole(a))>> &&
                      mods<uint32_t>::has<std::decay_t<decltype(whole(b))>> &&
                      mods<uint32_t>::has<C>,
                  "instructions on lanes take registers of 32 bits alone");
    constexpr uint32_t kMask = mask_of<Unsigned, Mask>();
    using Signed = std::make_signed_t<Unsigned>;
    using X = std::conditional_t<std::is_same_v<OfA, dot_s32>, Signed, Unsigned>;
    using Y = std::conditional_t<std::is_same_v<OfB, dot_s32>, Signed, Unsigned>;
    const uint32_t of_a = read<uint32_t>(whole(a)), of_b = read<uint32_t>(whole(b)),
                   of_c = read<uint32_t>(c);
    uint32_t x = of_a, y = of_b;
    if constexpr (is_selected<A>) x = gathered<Unsigned, selector_of<A>>(of_a, of_b);
    if constexpr (is_selected<B>) y = gathered<Unsigned, selector_of<B>>(of_a, of_b);
    uint32_t result = of_c;
    if constexpr (M::template has<dot_add>) {
        for_lanes<X, Y>(
            x, y, [&](int at, int i, int j) __attribute__((always_inline)) {
                if ((kMask >> at & 1) != 0) result += static_cast<uint32_t>(operation(i, j));
            });
    } else {
        result = (by_lanes<X, Y>(x, y, operation) & kMask) | (of_c & ~kMask);
    }
    if constexpr (is_selected<std::decay_t<D>>) {
        write<uint32_t>(d.part, result);
    } else {
        write<uint32_t>(d, result);
    }
}

template <class M>
inline constexpr bool is_video_of_lanes =
    fits_one_of<M, form<of_word, of_word, of_word, may<dot_sat>>,
                form<of_word, of_word, of_word, one<dot_add>>>;

#define CPU_DEVICE_PTX_VIDEO_OF(name, Unsigned, Operation)                                   \
    template <class M, class D, class A, class B, class C>                                   \
    __device__ inline void op_##name(D&& d, const A& a, const B& b, const C& c) {            \
        static_assert(is_video_of_lanes<M>, #name " has no such form");                      \
        if constexpr (is_video_of_lanes<M>) {                                                \
            using Lane = std::conditional_t<std::is_same_v<nth_type<M, 0>, dot_s32>,         \
                                            std::make_signed_t<Unsigned>, Unsigned>;         \
            write_lanes<M, Unsigned, nth_type<M, 1>, nth_type<M, 2>>(                        \
                d, a, b, c, [](int x, int y) __attribute__((always_inline)) {                \
                    const int result = operations::Operation()(x, y);                        \
                    return M::template has<dot_sat> ? int{saturated<Lane>(result)} : result; \
                });                                                                          \
        }                                                                                    \
    }
#define CPU_DEVICE_PTX_VIDEO(name, Operation)             \
    CPU_DEVICE_PTX_VIDEO_OF(name##2, uint16_t, Operation) \
    CPU_DEVICE_PTX_VIDEO_OF(name##4, uint8_t, Operation)
CPU_DEVICE_PTX_VIDEO(vadd, Sum)
CPU_DEVICE_PTX_VIDEO(vsub, Difference)
CPU_DEVICE_PTX_VIDEO(vavrg, Average)
CPU_DEVICE_PTX_VIDEO(vabsdiff, AbsoluteDifference)
CPU_DEVICE_PTX_VIDEO(vmin, Lesser)
CPU_DEVICE_PTX_VIDEO(vmax, Greater)
#undef CPU_DEVICE_PTX_VIDEO
#undef CPU_DEVICE_PTX_VIDEO_OF

template <class M>
inline constexpr bool is_vset_of_lanes = fits<M, form<of_word, of_word, order, may<dot_add>>>;

#define CPU_DEVICE_PTX_VSET(name, Unsigned)                                       \
    template <class M, class D, class A, class B, class C>                        \
    __device__ inline void op_##name(D&& d, const A& a, const B& b, const C& c) { \
        static_assert(is_vset_of_lanes<M>, #name " has no such form");            \
        if constexpr (is_vset_of_lanes<M>) {                                      \
            write_lanes<M, Unsigned, nth_type<M, 0>, nth_type<M, 1>>(             \
                d, a, b, c, [](int x, int y) __attribute__((always_inline)) {     \
                    return holds<M>(x, y) ? 1 : 0;                                \
                });                                                               \
        }                                                                         \
    }
CPU_DEVICE_PTX_VSET(vset2, uint16_t)
CPU_DEVICE_PTX_VSET(vset4, uint8_t)
#undef CPU_DEVICE_PTX_VSET

}  // namespace cpu_device::ptx
