// SPDX-License-Identifier: MIT
// Matrices that lie in the registers of a warp.
#pragma once
#include "cpu_device/matrix_instructions.h"
#include "cpu_device/ptx/memory.h"

namespace cpu_device::ptx {

// How many matrices of 8 x 8 elements of 16 bits.
template <class M>
inline constexpr unsigned matrix_count = M::template has<dot_x4>   ? 4
                                         : M::template has<dot_x2> ? 2
                                                                   : 1;

template <class T>
inline constexpr bool is_list = false;
template <class... Part>
inline constexpr bool is_list<List<Part...>> = true;
template <class T>
inline constexpr size_t count_of = 1;
template <class... Part>
inline constexpr size_t count_of<List<Part...>> = sizeof...(Part);

// The suffixes of ldmatrix and stmatrix.
template <class M>
inline constexpr bool moves_matrices =
    M::template are_among<dot_sync, dot_aligned, dot_m8n8, dot_x1, dot_x2, dot_x4, dot_trans,
                          dot_shared, dot_shared_cta, dot_b16>&& M::template has<dot_sync>&&
        M::template has<dot_aligned>&& M::template has<dot_m8n8>&& M::template has<dot_b16>;

// A register that stands alone is a list of one.
template <class T>
__device__ inline auto as_list(T& operand) {
    if constexpr (is_list<std::remove_cv_t<T>>) {
        return operand;
    } else {
        return List<T&>{std::tuple<T&>(operand)};
    }
}

template <class Word, class... Part, size_t... i>
__device__ inline void get_words(Word* to, const List<Part...>& from, std::index_sequence<i...>) {
    ((to[i] = read<Word>(part<i>(from))), ...);
}
template <class Word, class... Part, size_t... i>
__device__ inline void set_words(const List<Part...>& to, const Word* from,
                                 std::index_sequence<i...>) {
    (write(part<i>(to), from[i]), ...);
}

// A register with two elements of 16 bits, each the upper or the lower half of a word.
__device__ inline uint32_t halves(uint32_t low_word, bool low_upper, uint32_t high_word,
                                  bool high_upper) {
    return (low_word >> (low_upper ? 16 : 0) & 0xffffu) | (high_word >> (high_upper ? 16 : 0))
                                                              << 16;
}

// ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 {d, ...}, [row];  lanes 8 i to 8 i + 7 give the rows of matrix i.
template <class M, class D>
__device__ inline void op_ldmatrix(D&& d, Address row) {
    static_assert(moves_matrices<M>,
                  "ldmatrix is .sync.aligned.m8n8, .x1, .x2 or .x4, perhaps .trans, .shared.b16");
    constexpr unsigned kCount = matrix_count<M>;
    const auto registers = as_list(d);
    static_assert(count_of<std::decay_t<decltype(registers)>> == kCount,
                  "ldmatrix loads as many registers as .x1, .x2 or .x4 says");
    const unsigned lane = lane_id();
    Whole<16> mine{};
    if (lane < 8 * kCount) mine = *pointer_to<const Whole<16>, mods<dot_shared>>(row);
    const WarpRegisters rows = show_registers(Collective::ldmatrix, &mine, sizeof mine);
    uint32_t words[kCount];
    for (unsigned i = 0; i < kCount; ++i) {
        if constexpr (M::template has<dot_trans>) {
            const unsigned from = 8 * i + lane % 4 * 2, word = lane / 8;
            const bool upper = lane / 4 % 2 != 0;
            words[i] = halves(rows.word(from, word), upper, rows.word(from + 1, word), upper);
        } else {
            words[i] = rows.word(8 * i + lane / 4, lane % 4);
        }
    }
    set_words(registers, words, std::make_index_sequence<kCount>());
}

// stmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 [row], {a, ...};  the other way round.
template <class M, class A>
__device__ inline void op_stmatrix(Address row, const A& a) {
    static_assert(moves_matrices<M>,
                  "stmatrix is .sync.aligned.m8n8, .x1, .x2 or .x4, perhaps .trans, .shared.b16");
    constexpr unsigned kCount = matrix_count<M>;
    const auto registers = as_list(a);
    static_assert(count_of<std::decay_t<decltype(registers)>> == kCount,
                  "stmatrix stores as many registers as .x1, .x2 or .x4 says");
    uint32_t words[kCount];
    get_words(words, registers, std::make_index_sequence<kCount>());
    const WarpRegisters all = show_registers(Collective::stmatrix, words, sizeof words);
    const unsigned lane = lane_id(), number = lane / 8, line = lane % 8;
    if (number >= kCount) return;
    uint32_t mine[4];
    for (unsigned i = 0; i < 4; ++i) {
        if constexpr (M::template has<dot_trans>) {
            const unsigned from = 8 * i + line / 2;
            const bool upper = line % 2 != 0;
            mine[i] = halves(all.word(from, number), upper, all.word(from + 4, number), upper);
        } else {
            mine[i] = all.word(line * 4 + i, number);
        }
    }
    Whole<16> whole;
    __builtin_memcpy(&whole, mine, sizeof whole);
    *pointer_to<Whole<16>, mods<dot_shared>>(row) = whole;
}

template <class M, class D, class A>
__device__ inline void op_movmatrix(D& d, const A& a) {
    static_assert(std::is_same_v<M, mods<dot_sync, dot_aligned, dot_m8n8, dot_trans, dot_b16>>,
                  "movmatrix is .sync.aligned.m8n8.trans.b16");
    const auto mine = read<uint32_t>(a);
    const WarpRegisters all = show_registers(Collective::movmatrix, &mine, sizeof mine);
    const unsigned lane = lane_id(), from = lane % 4 * 8 + lane / 8;
    const bool upper = lane / 4 % 2 != 0;
    write(d, halves(all.word(from, 0), upper, all.word(from + 4, 0), upper));
}

// ---------------------------------------------------------------- mma

template <class Type>
inline constexpr int matrix_element = -1;
#define CPU_DEVICE_PTX_ELEMENT(name) \
    template <>                      \
    inline constexpr int matrix_element<dot_##name> = static_cast<int>(Element::name);
CPU_DEVICE_PTX_ELEMENT(f64)
CPU_DEVICE_PTX_ELEMENT(tf32)
CPU_DEVICE_PTX_ELEMENT(f16)
CPU_DEVICE_PTX_ELEMENT(bf16)
CPU_DEVICE_PTX_ELEMENT(e4m3)
CPU_DEVICE_PTX_ELEMENT(e5m2)
CPU_DEVICE_PTX_ELEMENT(s8)
CPU_DEVICE_PTX_ELEMENT(u8)
CPU_DEVICE_PTX_ELEMENT(s4)
CPU_DEVICE_PTX_ELEMENT(u4)
CPU_DEVICE_PTX_ELEMENT(b1)
#undef CPU_DEVICE_PTX_ELEMENT

template <class Type>
inline constexpr int matrix_element_bits = std::is_same_v<Type, dot_f64>        ? 64
                                           : std::is_same_v<Type, dot_tf32>     ? 32
                                           : mods<dot_f16, dot_bf16>::has<Type> ? 16
                                           : mods<dot_s4, dot_u4>::has<Type>    ? 4
                                           : std::is_same_v<Type, dot_b1>       ? 1
                                                                                : 8;

// m8n8k16 and the like; 0 where it is none.
struct MatrixShape {
    int m, k;
};
template <class M>
constexpr MatrixShape shape_of() {
    if constexpr (M::template has<dot_m8n8k4>) return {8, 4};
    if constexpr (M::template has<dot_m8n8k16>) return {8, 16};
    if constexpr (M::template has<dot_m8n8k32>) return {8, 32};
    if constexpr (M::template has<dot_m8n8k128>) return {8, 128};
    if constexpr (M::template has<dot_m16n8k4>) return {16, 4};
    if constexpr (M::template has<dot_m16n8k8>) return {16, 8};
    if constexpr (M::template has<dot_m16n8k16>) return {16, 16};
    if constexpr (M::template has<dot_m16n8k32>) return {16, 32};
    if constexpr (M::template has<dot_m16n8k64>) return {16, 64};
    if constexpr (M::template has<dot_m16n8k128>) return {16, 128};
    if constexpr (M::template has<dot_m16n8k256>) return {16, 256};
    return {0, 0};
}

// The products that PTX has: k for elements of so many bits.
constexpr bool is_shape(MatrixShape shape, int bits, bool is_float) {
    if (shape.m == 8) return bits == 64 ? shape.k == 4 : !is_float && shape.k * bits == 128;
    if (shape.m != 16) return false;
    if (bits == 64) return shape.k == 4 || shape.k == 8 || shape.k == 16;
    return shape.k * bits == 128 || shape.k * bits == 256;
}

// A sum as it is in registers: one of 32 or 64 bits, or two halves.
template <class Type, class Sum, class... Part, size_t... i>
__device__ inline void read_sums(Sum* to, const List<Part...>& from, std::index_sequence<i...>) {
    if constexpr (std::is_same_v<Type, dot_f16>) {
        ((to[2 * i] = static_cast<float>(read<float16x2>(part<i>(from)).x),
          to[2 * i + 1] = static_cast<float>(read<float16x2>(part<i>(from)).y)),
         ...);
    } else {
        ((to[i] = static_cast<Sum>(read<value_of<Type>>(part<i>(from)))), ...);
    }
}
template <class Type, bool saturates, class Sum>
__device__ inline value_of<Type> sum_as(Sum sum) {
    if constexpr (saturates) {
        constexpr Sum kLeast = -2147483648ll, kMost = 2147483647ll;
        return static_cast<int32_t>(sum < kLeast ? kLeast : sum > kMost ? kMost : sum);
    } else if constexpr (std::is_same_v<Type, dot_s32>) {
        return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum)));
    } else {
        return static_cast<value_of<Type>>(sum);
    }
}
template <class Type, bool saturates, class Sum, class... Part, size_t... i>
__device__ inline void write_sums(const List<Part...>& to, const Sum* from,
                                  std::index_sequence<i...>) {
    if constexpr (std::is_same_v<Type, dot_f16>) {
        (write(part<i>(to),
               float16x2(static_cast<float16>(from[2 * i]), static_cast<float16>(from[2 * i + 1]))),
         ...);
    } else {
        (write(part<i>(to), sum_as<Type, saturates>(from[i])), ...);
    }
}

// The registers of A and B, then those of metadata where there are any; d = a b + c.
template <class M, size_t a_registers, size_t b_registers, class D, class A, class B, class C,
          class... Metadata>
__device__ inline void multiply_and_add(const Product& product, D& d, const A& a, const B& b,
                                        const C& c, const Metadata&... metadata) {
    using OfD = nth_type<M, 0>;
    using OfC = nth_type<M, 3>;
    constexpr unsigned kSums = shape_of<M>().m / 4;
    const auto to = as_list(d);
    const auto of_a = as_list(a);
    const auto of_b = as_list(b);
    const auto of_c = as_list(c);
    constexpr size_t kDRegisters = count_of<std::decay_t<decltype(to)>>,
                     kCRegisters = count_of<std::decay_t<decltype(of_c)>>;
    static_assert(count_of<std::decay_t<decltype(of_a)>> == a_registers &&
                      count_of<std::decay_t<decltype(of_b)>> == b_registers &&
                      kDRegisters == (std::is_same_v<OfD, dot_f16> ? kSums / 2 : kSums) &&
                      kCRegisters == (std::is_same_v<OfC, dot_f16> ? kSums / 2 : kSums),
                  "mma: a list has another number of registers than the shape and its type");
    using RegisterWord = bits_of_size<matrix_element_bits<nth_type<M, 1>> == 64 ? 8 : 4>;
    using Sum = std::conditional_t<std::is_same_v<OfD, dot_s32>, int64_t, double>;
    RegisterWord words[a_registers + b_registers + sizeof...(Metadata)];
    get_words(words, of_a, std::make_index_sequence<a_registers>());
    get_words(words + a_registers, of_b, std::make_index_sequence<b_registers>());
    ((words[a_registers + b_registers] = read<RegisterWord>(metadata)), ...);
    Sum sums[kSums];
    read_sums<OfC>(sums, of_c, std::make_index_sequence<kCRegisters>());
    multiply_registers(product, words, sums);
    write_sums<OfD, M::template has<dot_satfinite>>(to, sums,
                                                    std::make_index_sequence<kDRegisters>());
}

// mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32, with .row or .col of A and of B.
template <class M>
inline constexpr bool is_of_quad_pairs = false;
template <class... M>
inline constexpr bool is_of_quad_pairs<mods<M...>> =
    mods<M...>::template has<dot_m8n8k4>&& mods<M...>::template has<dot_f16>;
template <class M>
struct QuadPairForm {
    static constexpr bool is_known = false, a_by_rows = false, b_by_rows = false;
    using Sum = dot_f32;
};
template <class LayoutA, class LayoutB, class OfSum>
struct QuadPairForm<
    mods<dot_sync, dot_aligned, dot_m8n8k4, LayoutA, LayoutB, OfSum, dot_f16, dot_f16, OfSum>> {
    static constexpr bool is_known = mods<dot_row, dot_col>::has<LayoutA> &&
                                     mods<dot_row, dot_col>::has<LayoutB> &&
                                     mods<dot_f16, dot_f32>::has<OfSum>;
    static constexpr bool a_by_rows = std::is_same_v<LayoutA, dot_row>,
                          b_by_rows = std::is_same_v<LayoutB, dot_row>;
    using Sum = OfSum;
};

template <class M, class D, class A, class B, class C>
__device__ inline void multiply_in_quad_pairs(D& d, const A& a, const B& b, const C& c) {
    using Form = QuadPairForm<M>;
    static_assert(Form::is_known,
                  "mma.m8n8k4 of f16 is .sync.aligned, .row or .col of A and of B, and its sums "
                  "are of f16 or of f32, "
                  "both D and C");
    constexpr bool kInHalves = std::is_same_v<typename Form::Sum, dot_f16>;
    constexpr unsigned kSums = 8, kRegisters = kInHalves ? 4 : 8, kOperands = 2;
    const auto to = as_list(d);
    const auto of_a = as_list(a);
    const auto of_b = as_list(b);
    const auto of_c = as_list(c);
    static_assert(count_of<std::decay_t<decltype(of_a)>> == kOperands &&
                      count_of<std::decay_t<decltype(of_b)>> == kOperands &&
                      count_of<std::decay_t<decltype(to)>> == kRegisters &&
                      count_of<std::decay_t<decltype(of_c)>> == kRegisters,
                  "mma: a list has another number of registers than the shape and its type");
    uint32_t words[2 * kOperands];
    get_words(words, of_a, std::make_index_sequence<kOperands>());
    get_words(words + kOperands, of_b, std::make_index_sequence<kOperands>());
    double sums[kSums];
    read_sums<typename Form::Sum>(sums, of_c, std::make_index_sequence<kRegisters>());
    multiply_quad_pairs({Form::a_by_rows, Form::b_by_rows, kInHalves}, words, sums);
    write_sums<typename Form::Sum, false>(to, sums, std::make_index_sequence<kRegisters>());
}

template <class M, class D, class A, class B, class C>
__device__ inline void multiply_in_warp(D& d, const A& a, const B& b, const C& c) {
    static_assert(M::template has<dot_sync> && M::template has<dot_aligned> &&
                      M::template has<dot_row> && M::template has<dot_col>,
                  "mma is .sync.aligned, a shape, .row.col and four types");
    static_assert(type_count<M> == 4, "mma has four types: of d, a, b and c");
    using OfD = nth_type<M, 0>;
    using OfA = nth_type<M, 1>;
    using OfB = nth_type<M, 2>;
    constexpr int kBits = matrix_element_bits<OfA>;
    constexpr bool kIsFloat =
        mods<dot_f64, dot_tf32, dot_f16, dot_bf16, dot_e4m3, dot_e5m2>::has<OfA>;
    constexpr MatrixShape kShape = shape_of<M>();
    static_assert(matrix_element<OfA> >= 0 && matrix_element<OfB> >= 0 &&
                      kBits == matrix_element_bits<OfB> && is_shape(kShape, kBits, kIsFloat),
                  "mma: there is no product of that shape for elements of these types");
    static_assert(kIsFloat
                      ? (kBits == 64 ? mods<dot_f64>::has<OfD> : mods<dot_f32, dot_f16>::has<OfD>)
                      : mods<dot_s32>::has<OfD>,
                  "mma: products of these types are not added in that type");
    constexpr auto kRegisterBits = kBits == 64 ? 64 : 32;
    constexpr auto kARegisters =
        static_cast<unsigned>(kShape.m * kShape.k * kBits / 32 / kRegisterBits);
    constexpr auto kBRegisters = static_cast<unsigned>(8 * kShape.k * kBits / 32 / kRegisterBits);
    multiply_and_add<M, kARegisters, kBRegisters>(
        {kShape.m, static_cast<Element>(matrix_element<OfA>),
         static_cast<Element>(matrix_element<OfB>), kARegisters, kBRegisters,
         M::template has<dot_xor>},
        d, a, b, c);
}

// mma.sp.sync.aligned.shape.row.col.d.a.b.c d, a, b, c, e, f;  the registers of a keep half of its elements, and e says
// which, in the lanes that f selects.
template <class OfD, class OfA, class OfB>
inline constexpr bool are_types_of_sparse =
    (mods<dot_f16>::has<OfA> && mods<dot_f16>::has<OfB> && mods<dot_f16, dot_f32>::has<OfD>) ||
    (mods<dot_bf16, dot_tf32>::has<OfA> && std::is_same_v<OfA, OfB> && mods<dot_f32>::has<OfD>) ||
    (mods<dot_e4m3, dot_e5m2>::has<OfA> && mods<dot_e4m3, dot_e5m2>::has<OfB> &&
     mods<dot_f32>::has<OfD>) ||
    (mods<dot_s8, dot_u8>::has<OfA> && mods<dot_s8, dot_u8>::has<OfB> && mods<dot_s32>::has<OfD>) ||
    (mods<dot_s4, dot_u4>::has<OfA> && mods<dot_s4, dot_u4>::has<OfB> && mods<dot_s32>::has<OfD>);

// Number of selectors; 1 where all lanes have metadata. A row of A has 256 or 512 bits.
constexpr unsigned selectors_of_sparse(int k, int bits) {
    if (k * bits == 256) return bits >= 16 ? 4 : 2;
    return bits >= 16 ? 2 : 1;
}

template <class M, bool is_ordered, class D, class A, class B, class C, class E, class F>
__device__ inline void multiply_sparse(D& d, const A& a, const B& b, const C& c, const E& e,
                                       const F& f) {
    constexpr bool kIsGood =
        M::template are_among<dot_sync, dot_aligned, dot_row, dot_col, dot_satfinite, dot_m16n8k8,
                              dot_m16n8k16, dot_m16n8k32, dot_m16n8k64, dot_m16n8k128, dot_f16,
                              dot_bf16, dot_tf32, dot_e4m3, dot_e5m2, dot_s8, dot_u8, dot_s4,
                              dot_u4, dot_f32, dot_s32> &&
        M::template has<dot_sync> && M::template has<dot_aligned> && M::template has<dot_row> &&
        M::template has<dot_col> && type_count<M> == 4;
    static_assert(kIsGood, "mma.sp is .sync.aligned, a shape, .row.col and four types");
    if constexpr (kIsGood) {
        using OfD = nth_type<M, 0>;
        using OfA = nth_type<M, 1>;
        using OfB = nth_type<M, 2>;
        constexpr int kBits = matrix_element_bits<OfA>;
        constexpr MatrixShape kShape = shape_of<M>();
        constexpr int kBitsOfRow = kShape.k * kBits;
        constexpr bool kIsByteFloat = mods<dot_e4m3, dot_e5m2>::has<OfA>;
        constexpr bool kIsShape = are_types_of_sparse<OfD, OfA, OfB> &&
                                  std::is_same_v<OfD, nth_type<M, 3>> &&
                                  (kBitsOfRow == 512 || (kBitsOfRow == 256 && !kIsByteFloat));
        static_assert(kIsShape, "mma.sp: there is no product of that shape for these types");
        static_assert(!M::template has<dot_satfinite> || std::is_same_v<OfD, dot_s32>,
                      "mma.sp: .satfinite is for sums of integers");
        static_assert(std::is_same_v<F, Integer>, "mma.sp takes its selector as an immediate");
        if constexpr (kIsShape) {
            constexpr unsigned kSelectors = selectors_of_sparse(kShape.k, kBits);
            const auto selector = static_cast<unsigned>(f.value);
            if (selector >= kSelectors) {
                fail(cudaErrorIllegalInstruction, "mma.sp has the selector %u, which ends at %u",
                     selector, kSelectors - 1);
            }
            constexpr auto kARegisters = static_cast<unsigned>(kShape.m * kBitsOfRow / 2 / 1024);
            constexpr auto kBRegisters = static_cast<unsigned>(8 * kBitsOfRow / 1024);
            multiply_and_add<M, kARegisters, kBRegisters>(
                {kShape.m, static_cast<Element>(matrix_element<OfA>),
                 static_cast<Element>(matrix_element<OfB>), kARegisters, kBRegisters, false, true,
                 selector, is_ordered},
                d, a, b, c, e);
        }
    }
}
template <class M, class D, class A, class B, class C, class E, class F>
__device__ inline void op_mma_sp(D&& d, const A& a, const B& b, const C& c, const E& e,
                                 const F& f) {
    multiply_sparse<M, false>(d, a, b, c, e, f);
}
template <class M, class D, class A, class B, class C, class E, class F>
__device__ inline void op_mma_sp_ordered_metadata(D&& d, const A& a, const B& b, const C& c,
                                                  const E& e, const F& f) {
    multiply_sparse<M, true>(d, a, b, c, e, f);
}

// mma.sync.aligned.shape.row.col.d.a.b.c d, a, b, c;  d = a b + c. Sums of floats are exact as far as a double goes, and
// rounded once; a GPU cuts digits off on the way.
template <class M, class D, class A, class B, class C>
__device__ inline void op_mma(D&& d, const A& a, const B& b, const C& c) {
    if constexpr (is_of_quad_pairs<M>) {
        multiply_in_quad_pairs<M>(d, a, b, c);
    } else {
        multiply_in_warp<M>(d, a, b, c);
    }
}

}  // namespace cpu_device::ptx
