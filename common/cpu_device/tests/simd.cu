// SPDX-License-Identifier: MIT
// The functions of packed integers against their definition, lane by lane.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "common/cpu_device/tests/device_map.cuh"

namespace simd_tests {

// Each function as expect(NAME, whether its lanes have a sign, what a lane becomes). Of a and b, the lanes, and the least
// and the most that a lane holds; results outside of them wrap.
#define SIMD_FUNCTIONS(expect)                                                                     \
    expect(__vadd, true, a + b) expect(__vsub, true, a - b) expect(                                \
        __vaddss, true, std::clamp(a + b, least, most)) expect(__vsubss, true,                     \
                                                               std::clamp(a - b, least, most))     \
        expect(__vaddus, false, std::clamp(a + b, least, most)) expect(                            \
            __vsubus, false, std::clamp(a - b, least, most))                                       \
            expect(__vabsdiffs, true, std::abs(a - b)) expect(                                     \
                __vabsdiffu, false, std::abs(a - b)) expect(__vavgs, true,                         \
                                                            std::lround((a + b) / 2.0))            \
                expect(__vavgu, false, std::lround((a + b) / 2.0)) expect(                         \
                    __vhaddu, false,                                                               \
                    std::lround(std::floor((a + b) / 2.0))) expect(__vmaxs, true, std::max(a, b))  \
                    expect(__vmaxu, false, std::max(a, b)) expect(__vmins, true, std::min(a, b))   \
                        expect(__vminu, false, std::min(a, b)) expect(                             \
                            __vcmpeq, false, a == b ? -1 : 0) expect(__vseteq, false, a == b)      \
                            expect(__vcmpne, false, a != b ? -1 : 0) expect(                       \
                                __vsetne, false, a != b) expect(__vcmpges, true, a >= b ? -1 : 0)  \
                                expect(__vsetges, true,                                            \
                                       a >= b) expect(__vcmpgeu, false, a >= b ? -1 : 0)           \
                                    expect(__vsetgeu, false,                                       \
                                           a >= b) expect(__vcmpgts, true, a > b ? -1 : 0)         \
                                        expect(__vsetgts, true,                                    \
                                               a > b) expect(__vcmpgtu, false, a > b ? -1 : 0)     \
                                            expect(__vsetgtu, false, a > b) expect(                \
                                                __vcmples,                                         \
                                                true,                                              \
                                                a <= b ? -1 : 0) expect(__vsetles, true, a <= b)   \
                                                expect(__vcmpleu, false, a <= b ? -1 : 0)          \
                                                    expect(__vsetleu, false, a <= b)               \
                                                        expect(__vcmplts, true, a < b ? -1 : 0)    \
                                                            expect(__vsetlts, true, a < b) expect( \
                                                                __vcmpltu, false, a < b ? -1 : 0)  \
                                                                expect(__vsetltu, false, a < b)
#define SIMD_FUNCTIONS_OF_ONE(expect)                                \
    expect(__vabs, true, std::abs(a)) expect(__vneg, true, -a)       \
        expect(__vabsss, true, std::clamp(std::abs(a), least, most)) \
            expect(__vnegss, true, std::clamp(-a, least, most))
// Here the lanes' values are added up.
#define SIMD_SUMS(expect) \
    expect(__vsads, true, std::abs(a - b)) expect(__vsadu, false, std::abs(a - b))

long lane_of(unsigned word, int bits, int index, bool has_sign) {
    const long value = word >> bits * index & ((1l << bits) - 1);
    return has_sign && value >= 1l << (bits - 1) ? value - (1l << bits) : value;
}

template <class LaneFunction>
unsigned by_lanes(unsigned a, unsigned b, int bits, bool has_sign, bool adds, LaneFunction of) {
    const long least = has_sign ? -(1l << (bits - 1)) : 0, most = least + (1l << bits) - 1;
    unsigned result = 0;
    for (int i = 0; i < 32 / bits; ++i) {
        const long lane =
            of(lane_of(a, bits, i, has_sign), lane_of(b, bits, i, has_sign), least, most);
        result += adds ? static_cast<unsigned>(lane)
                       : static_cast<unsigned>(lane & ((1l << bits) - 1)) << bits * i;
    }
    return result;
}

struct Expected {
    const char* name;
    std::vector<unsigned> got;
    unsigned (*of)(unsigned a, unsigned b);
};

#define CALLS(name, ...)                \
    DEVICE_FUNCTION(name##2_, name##2); \
    DEVICE_FUNCTION(name##4_, name##4);
SIMD_FUNCTIONS(CALLS)
SIMD_FUNCTIONS_OF_ONE(CALLS)
SIMD_SUMS(CALLS)

std::vector<unsigned> words(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<unsigned> result{0,           0xffffffffu, 0x80808080u, 0x7f7f7f7fu,
                                 0x80007fffu, 0x00800080u, 0x01010101u, 0xff01ff01u};
    std::shuffle(result.begin(), result.end(), random);
    while (result.size() < 1000) result.push_back(static_cast<unsigned>(random()));
    // Some lanes are equal, and some nearly.
    for (size_t i = 0; i < 300; ++i)
        result.push_back(static_cast<unsigned>(random() & 0x03010301u));
    return result;
}

TEST_CASE("packed integers are computed lane by lane") {
    const std::vector<unsigned> a = words(1), b = words(2);
#define LANES(bits, has_sign, adds, value)                                               \
    [](unsigned x, unsigned y) {                                                         \
        return by_lanes(x, y, bits, has_sign, adds,                                      \
                        [](long a, [[maybe_unused]] long b, [[maybe_unused]] long least, \
                           [[maybe_unused]] long most) -> long { return value; });       \
    }
#define OF_TWO(name, has_sign, value)                                                          \
    {#name "2", map_on_device<unsigned, name##2_>(a, b), LANES(16, has_sign, false, (value))}, \
        {#name "4", map_on_device<unsigned, name##4_>(a, b), LANES(8, has_sign, false, (value))},
#define OF_ONE(name, has_sign, value)                                                       \
    {#name "2", map_on_device<unsigned, name##2_>(a), LANES(16, has_sign, false, (value))}, \
        {#name "4", map_on_device<unsigned, name##4_>(a), LANES(8, has_sign, false, (value))},
#define SUM_OF_TWO(name, has_sign, value)                                                     \
    {#name "2", map_on_device<unsigned, name##2_>(a, b), LANES(16, has_sign, true, (value))}, \
        {#name "4", map_on_device<unsigned, name##4_>(a, b), LANES(8, has_sign, true, (value))},
    const std::vector<Expected> all = {SIMD_FUNCTIONS(OF_TWO) SIMD_FUNCTIONS_OF_ONE(OF_ONE)
                                           SIMD_SUMS(SUM_OF_TWO)};
    CHECK(all.size() == 2 * 41);
    for (const Expected& each : all) {
        size_t wrong = 0;
        for (size_t i = 0; i < a.size(); ++i) {
            if (each.got[i] == each.of(a[i], b[i])) continue;
            if (wrong++ != 0) continue;
            CAPTURE(each.name, a[i], b[i], each.got[i], each.of(a[i], b[i]));
            CHECK(each.got[i] == each.of(a[i], b[i]));
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("packed integers at the edges") {
    const std::vector<unsigned> a{0x807f0100u}, b{0x80ff01ffu};
    CHECK(map_on_device<unsigned, __vadd4_>(a, b)[0] == 0x007e02ffu);
    CHECK(map_on_device<unsigned, __vaddss4_>(a, b)[0] == 0x807e02ffu);
    CHECK(map_on_device<unsigned, __vaddus4_>(a, b)[0] == 0xffff02ffu);
    CHECK(map_on_device<unsigned, __vavgs4_>(a, b)[0] == 0x803f01ffu);
    CHECK(map_on_device<unsigned, __vabs4_>(a)[0] == 0x807f0100u);
    CHECK(map_on_device<unsigned, __vabsss4_>(a)[0] == 0x7f7f0100u);
    CHECK(map_on_device<unsigned, __vcmpgts4_>(a, b)[0] == 0x00ff00ffu);
    CHECK(map_on_device<unsigned, __vsetgtu4_>(a, b)[0] == 0x00000000u);
    CHECK(map_on_device<unsigned, __vsadu4_>(a, b)[0] == 0x80u + 0xffu);
}

// ---------------------------------------------------------------- sums and extremes of three

// What a lane of so many bits becomes of a, b and c; sums wrap.
struct Triple {
    long a, b, c;
    int bits;
    bool has_sign;

    long wrapped(long value) const {
        return lane_of(static_cast<unsigned>(value), bits, 0, has_sign);
    }
};
#define FUNCTIONS_OF_THREE(expect)                              \
    expect(__viaddmax, std::max(t.wrapped(t.a + t.b), t.c))     \
        expect(__viaddmin, std::min(t.wrapped(t.a + t.b), t.c)) \
            expect(__vimax3, std::max({t.a, t.b, t.c}))         \
                expect(__vimin3, std::min({t.a, t.b, t.c}))
#define CALLS_OF_THREE(name, ...)                       \
    DEVICE_FUNCTION(name##_s32_, name##_s32);           \
    DEVICE_FUNCTION(name##_u32_, name##_u32);           \
    DEVICE_FUNCTION(name##_s16x2_, name##_s16x2);       \
    DEVICE_FUNCTION(name##_u16x2_, name##_u16x2);       \
    DEVICE_FUNCTION(name##_s32_relu_, name##_s32_relu); \
    DEVICE_FUNCTION(name##_s16x2_relu_, name##_s16x2_relu);
FUNCTIONS_OF_THREE(CALLS_OF_THREE)
DEVICE_FUNCTION(__vimax_s32_relu_, __vimax_s32_relu);
DEVICE_FUNCTION(__vimin_s32_relu_, __vimin_s32_relu);
DEVICE_FUNCTION(__vimax_s16x2_relu_, __vimax_s16x2_relu);
DEVICE_FUNCTION(__vimin_s16x2_relu_, __vimin_s16x2_relu);

// Whether a was chosen, above the chosen word: of the low half in bit 32, of the high one in bit 33.
#define CHOICE_OF_WORDS(name)                                                    \
    struct name##_ {                                                             \
        __device__ unsigned long long operator()(unsigned a, unsigned b) const { \
            bool is_first = false;                                               \
            const auto chosen = static_cast<unsigned>(name(a, b, &is_first));    \
            return chosen | (is_first ? 1ull : 0ull) << 32;                      \
        }                                                                        \
    };
#define CHOICE_OF_HALVES(name)                                                      \
    struct name##_ {                                                                \
        __device__ unsigned long long operator()(unsigned a, unsigned b) const {    \
            bool high = false, low = false;                                         \
            const unsigned chosen = name(a, b, &high, &low);                        \
            return chosen | (low ? 1ull : 0ull) << 32 | (high ? 1ull : 0ull) << 33; \
        }                                                                           \
    };
CHOICE_OF_WORDS(__vibmax_s32)
CHOICE_OF_WORDS(__vibmax_u32)
CHOICE_OF_WORDS(__vibmin_s32)
CHOICE_OF_WORDS(__vibmin_u32)
CHOICE_OF_HALVES(__vibmax_s16x2)
CHOICE_OF_HALVES(__vibmax_u16x2)
CHOICE_OF_HALVES(__vibmin_s16x2)
CHOICE_OF_HALVES(__vibmin_u16x2)

template <class Of>
unsigned by_triples(unsigned a, unsigned b, unsigned c, int bits, bool has_sign, Of of) {
    unsigned result = 0;
    for (int i = 0; i < 32 / bits; ++i) {
        const long lane = of(Triple{lane_of(a, bits, i, has_sign), lane_of(b, bits, i, has_sign),
                                    lane_of(c, bits, i, has_sign), bits, has_sign});
        result |= static_cast<unsigned>(lane & ((1l << bits) - 1)) << bits * i;
    }
    return result;
}

TEST_CASE("sums and extremes of three, of words and of halves") {
    const std::vector<unsigned> a = words(1), b = words(2), c = words(3);
    const auto check = [&](const char* name, const std::vector<unsigned>& got, int bits,
                           bool has_sign, auto of) {
        CAPTURE(name);
        std::vector<unsigned> wanted;
        for (size_t i = 0; i < a.size(); ++i)
            wanted.push_back(by_triples(a[i], b[i], c[i], bits, has_sign, of));
        CHECK(got == wanted);
    };
#define CHECK_OF_THREE(name, value)                                                                \
    {                                                                                              \
        const auto of = [](const Triple& t) -> long { return value; };                             \
        const auto relu = [&](const Triple& t) { return std::max(of(t), 0l); };                    \
        check(#name "_s32", map_on_device<unsigned, name##_s32_>(a, b, c), 32, true, of);          \
        check(#name "_u32", map_on_device<unsigned, name##_u32_>(a, b, c), 32, false, of);         \
        check(#name "_s16x2", map_on_device<unsigned, name##_s16x2_>(a, b, c), 16, true, of);      \
        check(#name "_u16x2", map_on_device<unsigned, name##_u16x2_>(a, b, c), 16, false, of);     \
        check(#name "_s32_relu", map_on_device<unsigned, name##_s32_relu_>(a, b, c), 32, true,     \
              relu);                                                                               \
        check(#name "_s16x2_relu", map_on_device<unsigned, name##_s16x2_relu_>(a, b, c), 16, true, \
              relu);                                                                               \
    }
    FUNCTIONS_OF_THREE(CHECK_OF_THREE)
    const auto most = [](const Triple& t) { return std::max({t.a, t.b, 0l}); };
    const auto least = [](const Triple& t) { return std::max(std::min(t.a, t.b), 0l); };
    check("__vimax_s32_relu", map_on_device<unsigned, __vimax_s32_relu_>(a, b), 32, true, most);
    check("__vimax_s16x2_relu", map_on_device<unsigned, __vimax_s16x2_relu_>(a, b), 16, true, most);
    check("__vimin_s32_relu", map_on_device<unsigned, __vimin_s32_relu_>(a, b), 32, true, least);
    check("__vimin_s16x2_relu", map_on_device<unsigned, __vimin_s16x2_relu_>(a, b), 16, true,
          least);
}

TEST_CASE("extremes that tell whether the first was chosen") {
    const std::vector<unsigned> a = words(1), b = words(2);
    const auto check = [&](const char* name, const std::vector<unsigned long long>& got, int bits,
                           bool has_sign, bool is_max) {
        CAPTURE(name);
        std::vector<unsigned long long> wanted;
        for (size_t i = 0; i < a.size(); ++i) {
            unsigned long long word = by_triples(
                a[i], b[i], 0, bits, has_sign,
                [&](const Triple& t) { return is_max ? std::max(t.a, t.b) : std::min(t.a, t.b); });
            for (int lane = 0; lane < 32 / bits; ++lane) {
                const long x = lane_of(a[i], bits, lane, has_sign),
                           y = lane_of(b[i], bits, lane, has_sign);
                if (is_max ? x >= y : x <= y) word |= 1ull << (32 + lane);
            }
            wanted.push_back(word);
        }
        CHECK(got == wanted);
    };
#define CHECK_CHOICE(name, bits, has_sign, is_max) \
    check(#name, map_on_device<unsigned long long, name##_>(a, b), bits, has_sign, is_max)
    CHECK_CHOICE(__vibmax_s32, 32, true, true);
    CHECK_CHOICE(__vibmax_u32, 32, false, true);
    CHECK_CHOICE(__vibmin_s32, 32, true, false);
    CHECK_CHOICE(__vibmin_u32, 32, false, false);
    CHECK_CHOICE(__vibmax_s16x2, 16, true, true);
    CHECK_CHOICE(__vibmax_u16x2, 16, false, true);
    CHECK_CHOICE(__vibmin_s16x2, 16, true, false);
    CHECK_CHOICE(__vibmin_u16x2, 16, false, false);
}

}  // namespace simd_tests
