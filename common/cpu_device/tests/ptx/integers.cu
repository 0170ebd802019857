// SPDX-License-Identifier: MIT
// PTX's instructions on integers and bits, against plain C++ on wider ones.
#include <algorithm>
#include <bitset>
#include <climits>
#include <type_traits>

#include "common/cpu_device/tests/ptx/forms.cuh"

namespace ptx_tests {
namespace {

using Wide = __int128;
using UnsignedWide = unsigned __int128;

// ---------------------------------------------------------------- plain definitions

bool bit(Wide value, int place) {
    return (value >> place & 1) != 0;
}
// The number whose bits, from the lowest, are those for which `of` holds.
template <class Of>
uint64_t by_bits(int count, Of of) {
    uint64_t result = 0;
    for (int i = 0; i < count; ++i) {
        if (of(i)) result |= uint64_t(1) << i;
    }
    return result;
}
int highest(Wide value, int bits) {
    for (int i = bits - 1; i >= 0; --i) {
        if (bit(value, i)) return i;
    }
    return -1;
}
// The field of `length` bits from `begin` on, extended with zeros or its highest bit.
uint64_t field(Wide value, int bits, uint32_t begin, uint32_t length, bool has_sign) {
    const int from = static_cast<int>(begin & 255), to = from + static_cast<int>(length & 255);
    const bool sign = has_sign && to > from && bit(value, std::min(to, bits) - 1);
    return by_bits(
        bits, [&](int i) { return from + i < std::min(to, bits) ? bit(value, from + i) : sign; });
}
Wide clamped(Wide value, Wide least, Wide most) {
    return std::clamp(value, least, most);
}
Wide signed24(UnsignedWide value) {
    return (static_cast<Wide>(value) & 0xffffff) -
           (bit(static_cast<Wide>(value), 23) ? 1 << 24 : 0);
}
uint64_t sum_of_bytes(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed) {
    int64_t sum = c;
    for (int i = 0; i < 4; ++i) {
        const int x = static_cast<int>(a >> 8 * i & 255), y = static_cast<int>(b >> 8 * i & 255);
        sum += static_cast<int64_t>(a_signed && x > 127 ? x - 256 : x) *
               (b_signed && y > 127 ? y - 256 : y);
    }
    return static_cast<uint64_t>(sum);
}
uint64_t sum_of_halves(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed,
                       int first) {
    int64_t sum = c;
    for (int i = 0; i < 2; ++i) {
        const int x = static_cast<int>(a >> 16 * i & 65535),
                  y = static_cast<int>(b >> 8 * (first + i) & 255);
        sum += static_cast<int64_t>(a_signed && x > 32767 ? x - 65536 : x) *
               (b_signed && y > 127 ? y - 256 : y);
    }
    return static_cast<uint64_t>(sum);
}
// The bytes of (b, a) with these numbers, from the lowest place on.
uint32_t bytes(uint32_t a, uint32_t b, const std::vector<int>& numbers) {
    const uint64_t all = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (size_t i = 0; i < 4; ++i)
        result |= static_cast<uint32_t>(all >> 8 * numbers[i] & 255) << 8 * i;
    return result;
}
uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
        const uint32_t nibble = selector >> 4 * i & 15;
        const uint32_t byte = bytes(a, b, {static_cast<int>(nibble & 7), 0, 0, 0}) & 255;
        result |= (nibble < 8 ? byte : byte > 127 ? 255u : 0u) << 8 * i;
    }
    return result;
}
uint32_t nth_set(uint32_t mask, uint32_t base, int n) {
    const int step = n < 0 ? -1 : 1;
    if (n == 0) return bit(mask, static_cast<int>(base)) ? base : ~0u;
    int found = 0;
    for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step) {
        if (bit(mask, i) && ++found == n * step) return static_cast<uint32_t>(i);
    }
    return ~0u;
}
template <class Of>
uint32_t by_halves(uint32_t a, uint32_t b, bool has_sign, Of of) {
    const auto half = [&](uint32_t x) {
        return static_cast<int>(has_sign && x > 32767 ? x - 65536 : x);
    };
    return (static_cast<uint32_t>(of(half(a & 65535), half(b & 65535))) & 65535) |
           static_cast<uint32_t>(of(half(a >> 16), half(b >> 16))) << 16;
}

// clang-format off
// ---------------------------------------------------------------- 16, 32 and 64 bits
// L: the constraint. x, y, z are a, b, c as numbers without a sign and p, q, r with one; n is a shift, B the width.
#define INTEGER_FORMS(FORM, U, S, X, L)                                                                                   \
    FORM("add." #U, x + y, asm("add." #U " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                                         \
    FORM("add." #S, p + q, asm("add." #S " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                                         \
    FORM("sub." #U, x - y, asm("sub." #U " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                                         \
    FORM("sub." #S, p - q, asm("sub." #S " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                                         \
    FORM("mul.lo." #U, x * y, asm("mul.lo." #U " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                                   \
    FORM("mul.lo." #S, p * q, asm("mul.lo." #S " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                                   \
    FORM("mul.hi." #U, x * y >> B, asm("mul.hi." #U " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                              \
    FORM("mul.hi." #S, p * q >> B, asm("mul.hi." #S " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                              \
    FORM("mad.lo." #U, x * y + z, asm("mad.lo." #U " %0, %1, %2, %3;" : "=" L(d) : L(a), L(b), L(c)))                     \
    FORM("mad.hi." #U, (x * y >> B) + z, asm("mad.hi." #U " %0, %1, %2, %3;" : "=" L(d) : L(a), L(b), L(c)))              \
    FORM("mad.hi." #S, (p * q >> B) + r, asm("mad.hi." #S " %0, %1, %2, %3;" : "=" L(d) : L(a), L(b), L(c)))              \
    FORM("div." #U, x / (y | 1), asm("div." #U " %0, %1, %2;" : "=" L(d) : L(a), L(odd)))                                 \
    FORM("div." #S, p / (q | 1), asm("div." #S " %0, %1, %2;" : "=" L(d) : L(a), L(odd)))                                 \
    FORM("rem." #U, x % (y | 1), asm("rem." #U " %0, %1, %2;" : "=" L(d) : L(a), L(odd)))                                 \
    FORM("rem." #S, p % (q | 1), asm("rem." #S " %0, %1, %2;" : "=" L(d) : L(a), L(odd)))                                 \
    FORM("min." #U, std::min(x, y), asm("min." #U " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                                \
    FORM("min." #S, std::min(p, q), asm("min." #S " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                                \
    FORM("max." #U, std::max(x, y), asm("max." #U " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                                \
    FORM("max." #S, std::max(p, q), asm("max." #S " %0, %1, %2;" : "=" L(d) : L(a), L(b)))                                \
    FORM("sad." #U, std::max(x, y) - std::min(x, y) + z, asm("sad." #U " %0, %1, %2, %3;" : "=" L(d) : L(a), L(b), L(c))) \
    FORM("sad." #S, std::max(p, q) - std::min(p, q) + r, asm("sad." #S " %0, %1, %2, %3;" : "=" L(d) : L(a), L(b), L(c))) \
    FORM("neg." #S, -p, asm("neg." #S " %0, %1;" : "=" L(d) : L(a)))                                                      \
    FORM("abs." #S, p < 0 ? -p : p, asm("abs." #S " %0, %1;" : "=" L(d) : L(a)))                                          \
    FORM("shl." #X, n < B ? x << n : 0, asm("shl." #X " %0, %1, %2;" : "=" L(d) : L(a), "r"(n)))                          \
    FORM("shr." #X, n < B ? x >> n : 0, asm("shr." #X " %0, %1, %2;" : "=" L(d) : L(a), "r"(n)))                          \
    FORM("shr." #U, n < B ? x >> n : 0, asm("shr." #U " %0, %1, %2;" : "=" L(d) : L(a), "r"(n)))                          \
    FORM("shr." #S, p >> std::min(n, uint32_t(B)), asm("shr." #S " %0, %1, %2;" : "=" L(d) : L(a), "r"(n)))               \
    FORM("and." #X, by_bits(B, [&](int i) { return bit(x, i) && bit(y, i); }), asm("and." #X " %0, %1, %2;" : "=" L(d) : L(a), L(b))) \
    FORM("or." #X, by_bits(B, [&](int i) { return bit(x, i) || bit(y, i); }), asm("or." #X " %0, %1, %2;" : "=" L(d) : L(a), L(b)))   \
    FORM("xor." #X, by_bits(B, [&](int i) { return bit(x, i) != bit(y, i); }), asm("xor." #X " %0, %1, %2;" : "=" L(d) : L(a), L(b))) \
    FORM("not." #X, -x - 1, asm("not." #X " %0, %1;" : "=" L(d) : L(a)))                                                  \
    FORM("cnot." #X, x > 0 ? 0 : 1, asm("cnot." #X " %0, %1;" : "=" L(d) : L(a)))                                         \
    FORM("mov." #X, x, asm("mov." #X " %0, %1;" : "=" L(d) : L(a)))                                                       \
    FORM("selp." #X, x < y ? x : z, asm("{ .reg .pred s; setp.lt." #U " s, %1, %2; selp." #X " %0, %1, %3, s; }" : "=" L(d) : L(a), L(b), L(c)))  \
    FORM("slct." #U ".s32", int32_t(n - 9) >= 0 ? x : y, asm("slct." #U ".s32 %0, %1, %2, %3;" : "=" L(d) : L(a), L(b), "r"(n - 9)))      \
    FORM("add, immediates", 40000 - 3 + x + 0x10, asm("{ .reg ." #X " s; mov." #X " s, 40000; add." #U " s, s, -3; add." #U " s, s, %1; add." #S " %0, s, 0x10; }" : "=" L(d) : L(a)))

// ---------------------------------------------------------------- 32 and 64 bits
// `carries` is 1 where the sum or the difference leaves B bits.
#define LONG_FORMS(FORM, U, S, X, L)                                                                                      \
    FORM("add.cc, addc." #U, z + z + carries(x + y), asm("{ .reg ." #X " s; add.cc." #U " s, %1, %2; addc." #U " %0, %3, %3; }" : "=" L(d) : L(a), L(b), L(c))) \
    FORM("addc.cc." #S, carries(y + z + carries(x + y)), asm("{ .reg ." #X " s; add.cc." #S " s, %1, %2; addc.cc." #S " s, %2, %3; addc." #S " %0, 0, 0; }" : "=" L(d) : L(a), L(b), L(c))) \
    FORM("sub.cc, subc." #U, z - y - carries(x - y), asm("{ .reg ." #X " s; sub.cc." #U " s, %1, %2; subc." #U " %0, %3, %2; }" : "=" L(d) : L(a), L(b), L(c))) \
    FORM("subc.cc." #S, -carries(y - z - carries(x - y)), asm("{ .reg ." #X " s; sub.cc." #S " s, %1, %2; subc.cc." #S " s, %2, %3; subc." #S " %0, 0, 0; }" : "=" L(d) : L(a), L(b), L(c))) \
    FORM("mad.lo.cc, madc.hi." #U, (x * y >> B) + z + carries(low(x * y) + z), asm("{ .reg ." #X " s; mad.lo.cc." #U " s, %1, %2, %3; madc.hi." #U " %0, %1, %2, %3; }" : "=" L(d) : L(a), L(b), L(c))) \
    FORM("mad.hi.cc, madc.lo.cc." #U, carries(low(x * y) + z + carries((x * y >> B) + z)), asm("{ .reg ." #X " s; mad.hi.cc." #U " s, %1, %2, %3; madc.lo.cc." #U " s, %1, %2, %3; addc." #U " %0, 0, 0; }" : "=" L(d) : L(a), L(b), L(c))) \
    FORM("popc." #X, std::bitset<64>(uint64_t(x)).count(), uint32_t found; asm("popc." #X " %0, %1;" : "=r"(found) : L(a)); d = found) \
    FORM("clz." #X, B - 1 - highest(x, B), uint32_t found; asm("clz." #X " %0, %1;" : "=r"(found) : L(a)); d = found)                 \
    FORM("bfind." #U, uint32_t(highest(x, B)), uint32_t found; asm("bfind." #U " %0, %1;" : "=r"(found) : L(a)); d = found)           \
    FORM("bfind." #S, uint32_t(highest(p < 0 ? -1 - p : p, B)), uint32_t found; asm("bfind." #S " %0, %1;" : "=r"(found) : L(a)); d = found) \
    FORM("bfind.shiftamt." #U, uint32_t(x == 0 ? -1 : B - 1 - highest(x, B)), uint32_t found; asm("bfind.shiftamt." #U " %0, %1;" : "=r"(found) : L(a)); d = found) \
    FORM("brev." #X, by_bits(B, [&](int i) { return bit(x, B - 1 - i); }), asm("brev." #X " %0, %1;" : "=" L(d) : L(a)))   \
    FORM("bfe." #U, field(x, B, n, m, false), asm("bfe." #U " %0, %1, %2, %3;" : "=" L(d) : L(a), "r"(n), "r"(m)))        \
    FORM("bfe." #S, field(x, B, n, m, true), asm("bfe." #S " %0, %1, %2, %3;" : "=" L(d) : L(a), "r"(n), "r"(m)))         \
    FORM("bfi." #X, by_bits(B, [&](int i) { return i >= int(n) && i < int(n + m) ? bit(x, i - int(n)) : bit(y, i); }),    \
         asm("bfi." #X " %0, %1, %2, %3, %4;" : "=" L(d) : L(a), L(b), "r"(n), "r"(m)))                                   \
    FORM("setp." #X, (x == y) + 2 * (x != y && p < r), asm("{ .reg .pred s, t; .reg ." #X " u, v; setp.eq." #X " s, %1, %2; selp." #X " u, 1, 0, s; setp.lt.and." #S " t, %1, %3, !s; selp." #X " v, 2, 0, t; add." #U " %0, u, v; }" : "=" L(d) : L(a), L(b), L(c))) \
    FORM("setp.hi, p|q", x > y ? 1 : 2, asm("{ .reg .pred s, t; .reg ." #X " u, v; setp.hi." #U " s|t, %1, %2; selp." #X " u, 1, 0, s; selp." #X " v, 2, 0, t; or." #X " %0, u, v; }" : "=" L(d) : L(a), L(b))) \
    FORM("setp.xor, p|q", ((x <= y) != (p >= r)) + 2 * ((x > y) != (p >= r)), asm("{ .reg .pred s, t, w; .reg ." #X " u, v; setp.ge." #S " w, %1, %3; setp.ls.xor." #U " s|t, %1, %2, w; selp." #X " u, 1, 0, s; selp." #X " v, 2, 0, t; or." #X " %0, u, v; }" : "=" L(d) : L(a), L(b), L(c)))

// ---------------------------------------------------------------- 16 and 32 bits to twice as many
#define WIDE_FORMS(FORM, U, S, L, LL)                                                                                     \
    FORM("mul.wide." #U, x * y, asm("mul.wide." #U " %0, %1, %2;" : "=" LL(d) : L(a), L(b)))                              \
    FORM("mul.wide." #S, p * q, asm("mul.wide." #S " %0, %1, %2;" : "=" LL(d) : L(a), L(b)))                              \
    FORM("mad.wide." #U, x * y + w, asm("mad.wide." #U " %0, %1, %2, %3;" : "=" LL(d) : L(a), L(b), LL(wide)))            \
    FORM("mad.wide." #S, p * q + w, asm("mad.wide." #S " %0, %1, %2, %3;" : "=" LL(d) : L(a), L(b), LL(wide)))

// ---------------------------------------------------------------- 32 bits
#define WORD_FORMS(FORM)                                                                                                  \
    FORM("add.sat.s32", clamped(p + q, INT_MIN, INT_MAX), asm("add.sat.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))      \
    FORM("sub.sat.s32", clamped(p - q, INT_MIN, INT_MAX), asm("sub.sat.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))      \
    FORM("mad.hi.sat.s32", clamped((p * q >> 32) + r, INT_MIN, INT_MAX), asm("mad.hi.sat.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("mul24.lo.u32", (x & 0xffffff) * (y & 0xffffff), asm("mul24.lo.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))     \
    FORM("mul24.lo.s32", signed24(x) * signed24(y), asm("mul24.lo.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))           \
    FORM("mul24.hi.u32", (x & 0xffffff) * (y & 0xffffff) >> 16, asm("mul24.hi.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("mul24.hi.s32", signed24(x) * signed24(y) >> 16, asm("mul24.hi.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))     \
    FORM("mad24.lo.s32", signed24(x) * signed24(y) + z, asm("mad24.lo.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("mad24.hi.u32", ((x & 0xffffff) * (y & 0xffffff) >> 16) + z, asm("mad24.hi.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("mad24.hi.sat.s32", clamped((signed24(x) * signed24(y) >> 16) + r, INT_MIN, INT_MAX), asm("mad24.hi.sat.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("add.u16x2", by_halves(a, b, false, [](int i, int j) { return i + j; }), asm("add.u16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))   \
    FORM("add.s16x2", by_halves(a, b, true, [](int i, int j) { return i + j; }), asm("add.s16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))    \
    FORM("min.u16x2", by_halves(a, b, false, [](int i, int j) { return std::min(i, j); }), asm("min.u16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("min.s16x2", by_halves(a, b, true, [](int i, int j) { return std::min(i, j); }), asm("min.s16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))  \
    FORM("max.u16x2", by_halves(a, b, false, [](int i, int j) { return std::max(i, j); }), asm("max.u16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("max.relu.s16x2", by_halves(a, b, true, [](int i, int j) { return std::max({i, j, 0}); }), asm("max.relu.s16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("min.relu.s32", std::max(std::min(p, q), Wide(0)), asm("min.relu.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))   \
    FORM("fns.b32", nth_set(a, b & 31, int(m & 15) - 8), asm("fns.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b & 31), "r"((m & 15) - 8))) \
    FORM("bmsk.clamp.b32", by_bits(32, [&](int i) { return i >= int(n) && i < int(n + m); }), asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(d) : "r"(n), "r"(m))) \
    FORM("bmsk.wrap.b32", by_bits(32, [&](int i) { return i >= int(n % 32) && i < int(n % 32 + m % 32); }), asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(d) : "r"(n), "r"(m))) \
    FORM("szext.clamp.u32", field(x, 32, 0, std::min(m, 32u), false), asm("szext.clamp.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(m))) \
    FORM("szext.clamp.s32", field(x, 32, 0, std::min(m, 32u), true), asm("szext.clamp.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(m))) \
    FORM("szext.wrap.u32", field(x, 32, 0, m % 32, false), asm("szext.wrap.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(m)))  \
    FORM("szext.wrap.s32", field(x, 32, 0, m % 32, true), asm("szext.wrap.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(m)))   \
    FORM("shf.l.clamp.b32", (y << 32 | x) << std::min(n, 32u) >> 32, asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(n))) \
    FORM("shf.l.wrap.b32", (y << 32 | x) << n % 32 >> 32, asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(n))) \
    FORM("shf.r.clamp.b32", (y << 32 | x) >> std::min(n, 32u), asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(n))) \
    FORM("shf.r.wrap.b32", (y << 32 | x) >> n % 32, asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(n))) \
    FORM("lop3.b32 0xe8", (a & b) | (a & c) | (b & c), asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("lop3.b32 0x17", (~a & ~b) | (~a & ~c) | (~b & ~c), asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(0x17))) \
    FORM("lop3.or, .and", (a & b & c) * 4 + ((a & b & c) != 0 || p < q) * 2 + ((a & b & c) != 0 && p < q), asm("{ .reg .pred s, t, w; .reg .b32 u, v; setp.lt.s32 w, %1, %2; lop3.or.b32 u|s, %1, %2, %3, 0x80, w; lop3.and.b32 _|t, %1, %2, %3, 0x80, w; selp.b32 v, 2, 0, s; mad.lo.u32 v, u, 4, v; selp.b32 u, 1, 0, t; add.u32 %0, u, v; }" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("prmt.b32", permuted(a, b, c), asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)))               \
    FORM("prmt.b32 0x3715", bytes(a, b, {5, 1, 7, 3}), asm("prmt.b32 %0, %1, %2, 0x3715;" : "=r"(d) : "r"(a), "r"(b)))    \
    FORM("prmt.b32.f4e", bytes(a, b, {s, s + 1, s + 2, s + 3}), asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("prmt.b32.b4e", bytes(a, b, {s, (s + 7) % 8, (s + 6) % 8, (s + 5) % 8}), asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("prmt.b32.rc8", bytes(a, b, {s, s, s, s}), asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("prmt.b32.ecl", bytes(a, b, {s, std::max(s, 1), std::max(s, 2), 3}), asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("prmt.b32.ecr", bytes(a, b, {0, std::min(s, 1), std::min(s, 2), s}), asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("prmt.b32.rc16", bytes(a, b, {s % 2 * 2, s % 2 * 2 + 1, s % 2 * 2, s % 2 * 2 + 1}), asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("dp4a.u32.u32", sum_of_bytes(a, b, c, false, false), asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("dp4a.u32.s32", sum_of_bytes(a, b, c, false, true), asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("dp4a.s32.u32", sum_of_bytes(a, b, c, true, false), asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("dp4a.s32.s32", sum_of_bytes(a, b, c, true, true), asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("dp2a.lo.u32.s32", sum_of_halves(a, b, c, false, true, 0), asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("dp2a.hi.s32.u32", sum_of_halves(a, b, c, true, false, 2), asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("mov.b32 {16}", (x & 0xffff) << 16 | x >> 16, asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {h, l}; }" : "=r"(d) : "r"(a))) \
    FORM("mov.b64 {32}", a + 2 * b, asm("{ .reg .b64 s; .reg .b32 l, h; mov.b64 s, {%2, %1}; mov.b64 {l, h}, s; mad.lo.u32 %0, l, 2, h; }" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("mov.b64 {16}", (x >> 16) + (y << 16), asm("{ .reg .b64 s; .reg .b16 f, g; mov.b64 s, {%1, %2}; mov.b64 {_, f, g, _}, s; mov.b32 %0, {f, g}; }" : "=r"(d) : "r"(a), "r"(b))) \
    FORM("predicates", ((p < q) ^ (q < r)) + 2 * !((p < q) && (q < r)) + 4 * ((p < q) || (q < r)), asm("{ .reg .pred s, t, w; .reg .b32 u, v; setp.lt.s32 s, %1, %2; setp.lt.s32 t, %2, %3; xor.pred w, s, t; selp.b32 u, 1, 0, w; and.pred w, s, t; not.pred w, w; selp.b32 v, 2, 0, w; add.u32 u, u, v; or.pred w, s, t; mov.pred s, w; selp.b32 v, 4, 0, s; add.u32 %0, u, v; }" : "=r"(d) : "r"(a), "r"(b), "r"(c))) \
    FORM("set.u32.s32", p < q ? 0xffffffff : 0, asm("set.lt.u32.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)))           \
    FORM("set.or.f32.u32", x >= y || p == r ? 0x3f800000 : 0, asm("{ .reg .pred s; setp.eq.s32 s, %1, %3; set.hs.or.f32.u32 %0, %1, %2, s; }" : "=r"(d) : "r"(a), "r"(b), "r"(c)))
// clang-format on

#define FORMS_16(FORM) INTEGER_FORMS(FORM, u16, s16, b16, "h")
#define FORMS_32(FORM)                      \
    INTEGER_FORMS(FORM, u32, s32, b32, "r") \
    LONG_FORMS(FORM, u32, s32, b32, "r")    \
    WORD_FORMS(FORM)
#define FORMS_64(FORM)                                                      \
    INTEGER_FORMS(FORM, u64, s64, b64, "l")                                 \
    LONG_FORMS(FORM, u64, s64, b64, "l")                                    \
    FORM("mov.b128 {64}", y,                                                \
         asm("{ .reg .b128 s; mov.b128 s, {%1, %2}; mov.b128 {_, %0}, s; }" \
             : "=l"(d)                                                      \
             : "l"(a), "l"(b)))
#define FORMS_16_TO_32(FORM) WIDE_FORMS(FORM, u16, s16, "h", "r")
#define FORMS_32_TO_64(FORM) WIDE_FORMS(FORM, u32, s32, "r", "l")

// ---------------------------------------------------------------- devices

#define OPERANDS(Of, Made)                                                             \
    using Result = Made;                                                               \
    [[maybe_unused]] const Of a = static_cast<Of>(in.a), b = static_cast<Of>(in.b),    \
                              c = static_cast<Of>(in.c), odd = static_cast<Of>(b | 1); \
    [[maybe_unused]] const uint32_t n = static_cast<uint32_t>(in.c >> 3) % 80,         \
                                    m = static_cast<uint32_t>(in.c >> 11) % 80;        \
    [[maybe_unused]] const Result wide = static_cast<Result>(in.c);
#define KERNEL_BODY(Of, Made, FORMS)                        \
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= step) return;                                  \
    const Operands in = operands[i];                        \
    OPERANDS(Of, Made)                                      \
    results += i;                                           \
    FORMS(PTX_ON_DEVICE)
#define PLAIN_BODY(Of, Made, FORMS)                                                          \
    OPERANDS(Of, Made)                                                                       \
    using Signed = std::make_signed_t<Of>;                                                   \
    constexpr int B = 8 * sizeof(Of);                                                        \
    [[maybe_unused]] const UnsignedWide x = a, y = b, z = c;                                 \
    [[maybe_unused]] const Wide p = static_cast<Signed>(a), q = static_cast<Signed>(b),      \
                                r = static_cast<Signed>(c);                                  \
    [[maybe_unused]] const Wide w = wide;                                                    \
    [[maybe_unused]] const int s = static_cast<int>(c & 3);                                  \
    [[maybe_unused]] const auto low = [](UnsignedWide value) {                               \
        return value & ((UnsignedWide(1) << B) - 1);                                         \
    };                                                                                       \
    [[maybe_unused]] const auto carries = [](UnsignedWide value) { return value >> B & 1; }; \
    std::vector<Expected> expected;                                                          \
    FORMS(PTX_ON_HOST)                                                                       \
    return expected;

__global__ void kernel_16(const Operands* operands, uint64_t* results, size_t step){
    KERNEL_BODY(uint16_t, uint16_t, FORMS_16)} __global__ void kernel_32(const Operands* operands,
                                                                         uint64_t* results,
                                                                         size_t step){
    KERNEL_BODY(uint32_t, uint32_t, FORMS_32)} __global__ void kernel_64(const Operands* operands,
                                                                         uint64_t* results,
                                                                         size_t step){
    KERNEL_BODY(uint64_t, uint64_t,
                FORMS_64)} __global__ void kernel_16_to_32(const Operands* operands,
                                                           uint64_t* results, size_t step){
    KERNEL_BODY(uint16_t, uint32_t,
                FORMS_16_TO_32)} __global__ void kernel_32_to_64(const Operands* operands,
                                                                 uint64_t* results, size_t step){
    KERNEL_BODY(uint32_t, uint64_t,
                FORMS_32_TO_64)} std::vector<Expected> plain_16(const Operands& in){
    PLAIN_BODY(uint16_t, uint16_t, FORMS_16)} std::vector<Expected> plain_32(const Operands& in){
    PLAIN_BODY(uint32_t, uint32_t, FORMS_32)} std::vector<Expected> plain_64(const Operands& in){
    PLAIN_BODY(uint64_t, uint64_t,
               FORMS_64)} std::vector<Expected> plain_16_to_32(const Operands& in){
    PLAIN_BODY(uint16_t, uint32_t,
               FORMS_16_TO_32)} std::vector<Expected> plain_32_to_64(const Operands& in){
    PLAIN_BODY(uint32_t, uint64_t, FORMS_32_TO_64)}

TEST_CASE("PTX's integers and bits are those of plain C++") {
    const std::vector<Operands> operands =
        operands_with({0, 1, 2, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000,
                       0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
                       0xffffffffffffffff, 0x5555555555555555},
                      400);
    check_forms(kernel_16, plain_16, operands);
    check_forms(kernel_32, plain_32, operands);
    check_forms(kernel_64, plain_64, operands);
    check_forms(kernel_16_to_32, plain_16_to_32, operands);
    check_forms(kernel_32_to_64, plain_32_to_64, operands);
}

}  // namespace
}  // namespace ptx_tests
