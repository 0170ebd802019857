// SPDX-License-Identifier: MIT
// The stand-ins' 16-bit floats against the toolkit's own headers, value by value: every bit pattern
// for functions of one argument, half a million pairs for each function of two.
#define HALF_FUNCTIONS standin
#include "common/cpu_device/tests/half_functions.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/testing/catch.hpp"
#include "common/testing/skip.hpp"

#ifdef CPU_DEVICE_TEST_HAS_TOOLKIT

namespace {

using namespace half_test;

constexpr unsigned kPatterns = 1 << 16;

// The second arguments: special values, their neighbours, and others at random.
std::vector<uint16_t> partners(uint16_t infinity, uint16_t one) {
    std::vector<uint16_t> patterns;
    const std::vector<int> special{0,       1,   2,       infinity - 1, infinity, infinity + 1,
                                   one - 1, one, one + 1, 0x0080,       0x007f,   0x0400,
                                   0x03ff};
    for (const int pattern : special) {
        patterns.push_back(static_cast<uint16_t>(pattern));
        patterns.push_back(static_cast<uint16_t>(pattern | 0x8000));
    }
    std::mt19937 random(5);
    while (patterns.size() < 40) patterns.push_back(static_cast<uint16_t>(random()));
    return patterns;
}

// Floats on, between and beyond the 16-bit ones: their upper bits take every value, and the lower
// ones make ties, nearly ties, and anything.
std::vector<float> floats() {
    std::vector<float> numbers;
    std::mt19937 random(6);
    for (unsigned upper = 0; upper < kPatterns; ++upper) {
        const uint32_t anything = static_cast<uint32_t>(random()) & 0xffff;
        for (const uint32_t lower : {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u,
                                     0xffffu, 0x3000u, anything}) {
            numbers.push_back(standin::bits_to<float>(upper << 16 | lower));
        }
    }
    return numbers;
}

std::vector<long long> integers() {
    std::vector<long long> numbers;
    for (long long i = -70000; i <= 70000; ++i) numbers.push_back(i);
    std::mt19937_64 random(7);
    for (int i = 0; i < 100000; ++i) {
        const auto number = static_cast<long long>(random() >> random() % 64);
        numbers.push_back(number);
        numbers.push_back(-number);
    }
    // Just below, on and above the middle between two neighbours, far beyond what a double holds.
    for (int shift = 10; shift < 62; ++shift) {
        for (long long off = -1; off <= 1; ++off) {
            numbers.push_back((1ll << shift) + (1ll << (shift - 8)) + off);
            numbers.push_back((3ll << (shift - 1)) + (1ll << (shift - 8)) + off);
        }
    }
    return numbers;
}

// Of two zeros the toolkit's host code for bfloat16 takes the first in its max and min that let NaN
// through; hardware, and the stand-in, take -0 for the smaller.
bool differs_on_purpose(const std::string& name, std::pair<uint16_t, uint16_t> arguments) {
    return name.find("_nan") != std::string::npos && (arguments.first & 0x7fff) == 0 &&
           (arguments.second & 0x7fff) == 0;
}
template <class Argument>
bool differs_on_purpose(const std::string&, Argument) {
    return false;
}

uint64_t call(const Binary& function, std::pair<uint16_t, uint16_t> arguments) {
    return function.call(arguments.first, arguments.second);
}
template <class Function, class Argument>
uint64_t call(const Function& function, Argument argument) {
    return function.call(argument);
}

// Each function on every argument: says how many results differ, and the first that does.
template <class Function, class Argument>
void check_each(const std::vector<Function>& ours, const std::vector<Function>& theirs,
                const std::vector<Argument>& arguments) {
    REQUIRE(ours.size() == theirs.size());
    for (size_t f = 0; f < ours.size(); ++f) {
        size_t different = 0, first = 0;
        for (size_t i = 0; i < arguments.size(); ++i) {
            if (call(ours[f], arguments[i]) == call(theirs[f], arguments[i])) continue;
            if (differs_on_purpose(ours[f].name, arguments[i])) continue;
            if (different++ == 0) first = i;
        }
        INFO(ours[f].name << ", argument " << first << ": " << call(ours[f], arguments[first])
                          << ", the toolkit " << call(theirs[f], arguments[first]));
        CHECK(different == 0);
    }
}

void check_all(const Functions& ours, const Functions& theirs, uint16_t infinity, uint16_t one) {
    std::vector<uint16_t> patterns;
    for (unsigned pattern = 0; pattern < kPatterns; ++pattern) {
        patterns.push_back(static_cast<uint16_t>(pattern));
    }
    std::vector<std::pair<uint16_t, uint16_t>> pairs;
    for (const uint16_t second : partners(infinity, one)) {
        for (size_t i = 0; i < patterns.size(); i += 5) pairs.emplace_back(patterns[i], second);
    }
    check_each(ours.unary, theirs.unary, patterns);
    check_each(ours.binary, theirs.binary, pairs);
    check_each(ours.from_float, theirs.from_float, floats());
    check_each(ours.from_integer, theirs.from_integer, integers());
}

TEST_CASE("half agrees with the toolkit's headers") {
    check_all(standin::half_functions(), toolkit_half(), 0x7c00, 0x3c00);
}

TEST_CASE("bfloat16 agrees with the toolkit's headers") {
    check_all(standin::bfloat16_functions(), toolkit_bfloat16(), 0x7f80, 0x3f80);
}

}  // namespace

#else

TEST_CASE("half and bfloat16 agree with the toolkit's headers") {
    testing::skip("a CUDA toolkit's cuda_fp16.h was not found when this was built");
}

#endif
