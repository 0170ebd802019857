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

}  // namespace simd_tests
