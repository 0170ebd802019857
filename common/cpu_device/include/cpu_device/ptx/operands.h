// SPDX-License-Identifier: MIT
// The operands of PTX's instructions, as the translation of an asm statement writes them: registers are lvalues of
// unsigned integers (predicates: bool), all else has a class below. An instruction reads bits as its type and writes
// its type as bits; what does not fit by PTX's rules does not compile.
#pragma once
#include "cpu_device/integers.h"
#include <cstddef>
#include <tuple>
#include <type_traits>

#include "cpu_device/core.h"
#include "cpu_device/ptx/modifiers.h"
#include "cpu_device/qualifiers.h"
#include "cpu_device/small_float.h"
#include "cpu_device/traits.h"

namespace cpu_device::ptx {

using uint128_t = unsigned __int128;
using float16 = SmallFloat<Binary16>;
using float16x2 = SmallFloatPair<Binary16>;
using bfloat16 = SmallFloat<BrainFloat16>;
using bfloat16x2 = SmallFloatPair<BrainFloat16>;

template <class...>
inline constexpr bool never = false;

// ---------------------------------------------------------------- types

// What values of a type are in C++. Types without arithmetic here (tf32, two fp8) are their bits.
template <class Type>
struct ValueOf;
#define CPU_DEVICE_PTX_TYPE(name, value) \
    template <>                          \
    struct ValueOf<dot_##name> {         \
        using type = value;              \
    };
CPU_DEVICE_PTX_TYPE(pred, bool)
CPU_DEVICE_PTX_TYPE(b8, uint8_t)
CPU_DEVICE_PTX_TYPE(b16, uint16_t)
CPU_DEVICE_PTX_TYPE(b32, uint32_t)
CPU_DEVICE_PTX_TYPE(b64, uint64_t)
CPU_DEVICE_PTX_TYPE(b128, uint128_t)
CPU_DEVICE_PTX_TYPE(u8, uint8_t)
CPU_DEVICE_PTX_TYPE(u16, uint16_t)
CPU_DEVICE_PTX_TYPE(u32, uint32_t)
CPU_DEVICE_PTX_TYPE(u64, uint64_t)
CPU_DEVICE_PTX_TYPE(s8, int8_t)
CPU_DEVICE_PTX_TYPE(s16, int16_t)
CPU_DEVICE_PTX_TYPE(s32, int32_t)
CPU_DEVICE_PTX_TYPE(s64, int64_t)
CPU_DEVICE_PTX_TYPE(f16, float16)
CPU_DEVICE_PTX_TYPE(f16x2, float16x2)
CPU_DEVICE_PTX_TYPE(bf16, bfloat16)
CPU_DEVICE_PTX_TYPE(bf16x2, bfloat16x2)
CPU_DEVICE_PTX_TYPE(tf32, uint32_t)
CPU_DEVICE_PTX_TYPE(f32, float)
CPU_DEVICE_PTX_TYPE(f64, double)
CPU_DEVICE_PTX_TYPE(e4m3x2, uint16_t)
CPU_DEVICE_PTX_TYPE(e5m2x2, uint16_t)
CPU_DEVICE_PTX_TYPE(u16x2, uint32_t)
CPU_DEVICE_PTX_TYPE(s16x2, uint32_t)
#undef CPU_DEVICE_PTX_TYPE
template <class Type>
using value_of = typename ValueOf<Type>::type;

// The bits of a value of so many bytes.
template <size_t bytes>
using bits_of_size = std::conditional_t<bytes == 16, uint128_t, Word<bytes>>;

// What the translation declares for ".reg .b32 x".
template <class Type>
using Register = std::conditional_t<std::is_same_v<value_of<Type>, bool>, bool,
                                    bits_of_size<sizeof(value_of<Type>)>>;

// ---------------------------------------------------------------- operands that are no registers

struct Integer {
    long long value;
};
template <long long number>
struct Constant {  // an integer that the compiler judges
    static constexpr long long value = number;
};
template <class T>
inline constexpr bool is_constant = false;
template <long long number>
inline constexpr bool is_constant<Constant<number>> = true;
template <class T>
inline constexpr long long constant_of = -1000;  // of what is none
template <long long number>
inline constexpr long long constant_of<Constant<number>> = number;

struct Single {  // 0f3F800000
    uint32_t bits;
};
struct Double {  // 0d3FF0000000000000, or 1.0
    uint64_t bits;
};
__host__ __device__ constexpr Double real(double value) {
    return {bit_cast<uint64_t>(value)};
}
struct FloatForInteger {};  // a float where an instruction on integers has an operand
struct Sink {};

// {a, b}: references to registers, and values of all else.
template <class... Part>
struct List {
    std::tuple<Part...> parts;
    static constexpr size_t count = sizeof...(Part);
};
template <class... Part>
__device__ inline List<Part...> list(Part&&... parts) {
    return {std::tuple<Part...>(static_cast<Part&&>(parts)...)};
}
template <size_t i, class... Part>
__device__ inline decltype(auto) part(const List<Part...>& list) {
    return std::get<i>(list.parts);
}

// a|b
template <class First, class Second>
struct Pair {
    First first;
    Second second;
};
template <class First, class Second>
__device__ inline Pair<First, Second> pair(First&& first, Second&& second) {
    return {static_cast<First&&>(first), static_cast<Second&&>(second)};
}

// a.b0, a.h10: a byte or a half of the register; in an instruction on lanes, where each of its lanes comes from.
template <char unit, unsigned... digit>
struct Selector {
    static constexpr char kUnit = unit;
    static constexpr size_t kCount = sizeof...(digit);
    static constexpr unsigned kDigits[sizeof...(digit)] = {digit...};
};
template <class Of, class Register>
struct Selected {
    Register part;
};
template <char unit, unsigned... digit, class Register>
__device__ inline Selected<Selector<unit, digit...>, Register> selected(Register&& from) {
    return {static_cast<Register&&>(from)};
}
template <class T>
inline constexpr bool is_selected = false;
template <class Of, class Register>
inline constexpr bool is_selected<Selected<Of, Register>> = true;

// -a
template <class Operand>
struct Opposite {
    Operand of;
};
template <class Operand>
__device__ inline Opposite<Operand> opposite(Operand&& of) {
    return {static_cast<Operand&&>(of)};
}
template <class T>
inline constexpr bool is_opposite = false;
template <class Operand>
inline constexpr bool is_opposite<Opposite<Operand>> = true;

// [a], [a + 16]
struct Address {
    uint64_t value;
};
__device__ inline Address at(Integer address) {
    return {static_cast<uint64_t>(address.value)};
}
template <class T>
__device__ inline Address at(T address) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an address has 32 or 64 bits");
    return {address};
}
template <class T>
__device__ inline T sum(T base, Integer offset) {
    return static_cast<T>(base + static_cast<T>(offset.value));
}
template <class T>
__device__ inline T sum(T base, T offset) {
    return static_cast<T>(base + offset);
}

// The carry of add.cc and its like, within one asm statement.
struct Carry {
    bool out = false;
};

// ---------------------------------------------------------------- values

// The value of an operand, as an instruction of that type sees it.
template <class T, class From>
__device__ inline T read(const From& from) {
    static_assert(!is_selected<From> && !is_opposite<From>,
                  "a part of a register, or a sign, where the instruction takes neither");
    if constexpr (is_selected<From> || is_opposite<From>) {
        return {};
    } else if constexpr (std::is_same_v<From, Integer>) {
        static_assert(std::is_integral_v<T> || std::is_same_v<T, uint128_t>,
                      "an integer where the instruction takes a float: write 0f3F800000 or 1.0");
        return static_cast<T>(from.value);
    } else if constexpr (std::is_same_v<From, FloatForInteger>) {
        static_assert(never<T>, "a float where the instruction takes an integer");
        return {};
    } else if constexpr (std::is_same_v<From, Single>) {
        // ptxas takes them for the lower half of a double.
        static_assert(std::is_same_v<T, float> || std::is_same_v<T, uint32_t> ||
                          sizeof(T) != sizeof(from.bits),
                      "0f... is a float, or 32 bits");
        static_assert(sizeof(T) == sizeof(from.bits), "0f... has 32 bits: write 0d... or 1.0");
        return bit_cast<T>(from.bits);
    } else if constexpr (std::is_same_v<From, Double>) {
        if constexpr (std::is_same_v<T, float>)
            return static_cast<float>(bit_cast<double>(from.bits));
        else {
            static_assert(sizeof(T) == sizeof(from.bits), "0d... has 64 bits");
            return bit_cast<T>(from.bits);
        }
    } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<From, bool>) {
        static_assert(std::is_same_v<T, From>,
                      "a predicate where a register must stand, or the other way round");
        return from;
    } else {
        static_assert(sizeof(T) == sizeof(From),
                      "the register has another size than the instruction's type");
        return bit_cast<T>(from);
    }
}

// Stops the compiler where a function that the program uses calls it. nvcc takes such an asm, and library headers have
// some that nobody calls.
[[gnu::error("the instruction writes to an input of the asm")]] void write_to_input();

// Writes an instruction's result.
template <class T, class To>
__device__ inline void write(To& to, T value) {
    static_assert(!is_selected<std::remove_cv_t<To>>,
                  "a part of a register where the instruction writes all of one");
    if constexpr (std::is_same_v<std::remove_cv_t<To>, Sink> || is_selected<std::remove_cv_t<To>>) {
    } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<To, bool>) {
        static_assert(std::is_same_v<T, To>,
                      "a predicate where a register must stand, or the other way round");
        to = value;
    } else {
        static_assert(sizeof(T) == sizeof(To),
                      "the register has another size than the instruction's type");
        if constexpr (std::is_const_v<To>) {
            write_to_input();
        } else {
            to = bit_cast<To>(value);
        }
    }
}

// ---------------------------------------------------------------- what stands between the asm and C++

template <char constraint>
struct OfConstraint {
    static_assert(never<std::integral_constant<char, constraint>>,
                  "the constraints that the CPU device knows are h, r, l, q, f, d and n");
};
template <>
struct OfConstraint<'h'> {
    using type = uint16_t;
};
template <>
struct OfConstraint<'r'> {
    using type = uint32_t;
};
template <>
struct OfConstraint<'l'> {
    using type = uint64_t;
};
template <>
struct OfConstraint<'q'> {
    using type = uint128_t;
};
template <>
struct OfConstraint<'f'> {
    using type = uint32_t;
};
template <>
struct OfConstraint<'d'> {
    using type = uint64_t;
};
template <char constraint>
using register_of = typename OfConstraint<constraint>::type;

// As nvcc: of "r" and the like an integer of that size, of "f" and "d" a float and a double.
template <char constraint, class T>
constexpr bool is_taken_by() {
    using Plain = std::remove_cv_t<std::remove_reference_t<T>>;
    if constexpr (constraint == 'f') return std::is_same_v<Plain, float>;
    if constexpr (constraint == 'd') return std::is_same_v<Plain, double>;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a pointer is an operand of its own size
    return sizeof(Plain) == sizeof(register_of<constraint>) && !std::is_floating_point_v<Plain> &&
           (std::is_scalar_v<Plain> || mods<uint128_t, __int128>::has<Plain>);
}
#define CPU_DEVICE_PTX_CHECK(constraint, T)                                                   \
    static_assert(is_taken_by<constraint, T>(),                                               \
                  "the operand's type is not that of its constraint: h takes integers of 16 " \
                  "bits, r of 32, l "                                                         \
                  "integers and pointers of 64, q integers of 128, f a float, d a double")

template <char constraint, class T>
__device__ inline register_of<constraint> fresh(const volatile T&) {
    CPU_DEVICE_PTX_CHECK(constraint, T);
    return 0;
}
template <char constraint, class T>
__device__ inline register_of<constraint> old(const T& from) {
    CPU_DEVICE_PTX_CHECK(constraint, T);
    return __builtin_bit_cast(register_of<constraint>, from);
}
template <char constraint, class T>
__device__ inline register_of<constraint> take(T from) {
    CPU_DEVICE_PTX_CHECK(constraint, T);
    return __builtin_bit_cast(register_of<constraint>, from);
}
template <char constraint, class T>
__device__ inline void give(T& to, register_of<constraint> bits) {
    to = __builtin_bit_cast(std::remove_volatile_t<T>, bits);
}

// A variable to which a result comes later.
template <char constraint, class T>
__device__ inline T* accumulator(T& variable) {
    CPU_DEVICE_PTX_CHECK(constraint, T);
    return &variable;
}
#undef CPU_DEVICE_PTX_CHECK

}  // namespace cpu_device::ptx
