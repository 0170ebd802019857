// SPDX-License-Identifier: MIT
// CUDA's integer, float and conversion functions against plain definitions of what they compute.
#include <cuda_runtime.h>
#include <math_constants.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "common/cpu_device/tests/device_map.cuh"

namespace intrinsics_tests {

std::vector<unsigned> random_words(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<unsigned> words{0, 1, 2, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0x55555555u};
    while (words.size() < count) words.push_back(static_cast<unsigned>(random()) >> random() % 32);
    return words;
}

std::vector<int> as_ints(const std::vector<unsigned>& words) {
    return {words.begin(), words.end()};
}

int bit(unsigned long long x, int position) {
    return static_cast<int>(x >> position & 1);
}

DEVICE_FUNCTION(PopulationCount, __popc);
DEVICE_FUNCTION(LeadingZeros, __clz);
DEVICE_FUNCTION(FirstSet, __ffs);
DEVICE_FUNCTION(BitReverse, __brev);
DEVICE_FUNCTION(PopulationCount64, __popcll);
DEVICE_FUNCTION(LeadingZeros64, __clzll);
DEVICE_FUNCTION(FirstSet64, __ffsll);
DEVICE_FUNCTION(BitReverse64, __brevll);

TEST_CASE("bits are counted, found and reversed") {
    const auto words = random_words(500, 1);
    const auto population = map_on_device<int, PopulationCount>(words);
    const auto zeros = map_on_device<int, LeadingZeros>(as_ints(words));
    const auto first = map_on_device<int, FirstSet>(as_ints(words));
    const auto reversed = map_on_device<unsigned, BitReverse>(words);
    for (size_t i = 0; i < words.size(); ++i) {
        int set = 0, leading = 32, lowest = 0;
        unsigned mirror = 0;
        for (int position = 31; position >= 0; --position) {
            if (!bit(words[i], position)) continue;
            ++set;
            if (leading == 32) leading = 31 - position;
            lowest = position + 1;
            mirror |= 1u << (31 - position);
        }
        CAPTURE(words[i]);
        CHECK(population[i] == set);
        CHECK(zeros[i] == leading);
        CHECK(first[i] == lowest);
        CHECK(reversed[i] == mirror);
    }
}

TEST_CASE("64 bits are counted, found and reversed") {
    const std::vector<unsigned long long> words{0, 1, 1ull << 40, ~0ull, 0x8000000000000001ull};
    const std::vector<long long> integers(words.begin(), words.end());
    CHECK(map_on_device<int, PopulationCount64>(words) == std::vector<int>{0, 1, 1, 64, 2});
    CHECK(map_on_device<int, LeadingZeros64>(integers) == std::vector<int>{64, 63, 23, 0, 0});
    CHECK(map_on_device<int, FirstSet64>(integers) == std::vector<int>{0, 1, 41, 1, 1});
    CHECK(map_on_device<unsigned long long, BitReverse64>(words) ==
          std::vector<unsigned long long>{0, 1ull << 63, 1ull << 23, ~0ull, 0x8000000000000001ull});
}

DEVICE_FUNCTION(BytePermute, __byte_perm);
DEVICE_FUNCTION(FunnelLeft, __funnelshift_l);
DEVICE_FUNCTION(FunnelLeftClamped, __funnelshift_lc);
DEVICE_FUNCTION(FunnelRight, __funnelshift_r);
DEVICE_FUNCTION(FunnelRightClamped, __funnelshift_rc);

TEST_CASE("bytes and double words are picked and shifted") {
    const auto low = random_words(1000, 2), high = random_words(1000, 3);
    auto amount = random_words(1000, 4);
    const auto permuted = map_on_device<unsigned, BytePermute>(low, high, amount);
    for (unsigned& shift : amount) shift %= 80;
    const auto left = map_on_device<unsigned, FunnelLeft>(low, high, amount);
    const auto left_clamped = map_on_device<unsigned, FunnelLeftClamped>(low, high, amount);
    const auto right = map_on_device<unsigned, FunnelRight>(low, high, amount);
    const auto right_clamped = map_on_device<unsigned, FunnelRightClamped>(low, high, amount);
    const auto selector = random_words(1000, 4);
    for (size_t i = 0; i < low.size(); ++i) {
        unsigned char bytes[8];
        std::memcpy(bytes, &low[i], 4);
        std::memcpy(bytes + 4, &high[i], 4);
        unsigned want = 0;
        for (int j = 0; j < 4; ++j) want += unsigned{bytes[selector[i] >> 4 * j & 7]} << 8 * j;
        CAPTURE(low[i], high[i], selector[i], amount[i]);
        CHECK(permuted[i] == want);

        // The result's bit j, found in the pair by counting.
        const unsigned long long pair = (static_cast<unsigned long long>(high[i]) << 32) + low[i];
        const auto shifted = [pair](int by, bool to_left) {
            unsigned result = 0;
            for (int j = 0; j < 32; ++j) {
                const int from = to_left ? j + 32 - by : j + by;
                if (from < 64 && bit(pair, from)) result += 1u << j;
            }
            return result;
        };
        const int wrapped = static_cast<int>(amount[i]) % 32;
        const int clamped = amount[i] > 32 ? 32 : static_cast<int>(amount[i]);
        CHECK(left[i] == shifted(wrapped, true));
        CHECK(left_clamped[i] == shifted(clamped, true));
        CHECK(right[i] == shifted(wrapped, false));
        CHECK(right_clamped[i] == shifted(clamped, false));
    }
}

DEVICE_FUNCTION(MultiplyHigh, __mulhi);
DEVICE_FUNCTION(UnsignedMultiplyHigh, __umulhi);
DEVICE_FUNCTION(Multiply24, __mul24);
DEVICE_FUNCTION(UnsignedMultiply24, __umul24);
DEVICE_FUNCTION(SumOfDifference, __sad);
DEVICE_FUNCTION(UnsignedSumOfDifference, __usad);
DEVICE_FUNCTION(Average, __hadd);
DEVICE_FUNCTION(RoundedAverage, __rhadd);
DEVICE_FUNCTION(UnsignedAverage, __uhadd);
DEVICE_FUNCTION(UnsignedRoundedAverage, __urhadd);
DEVICE_FUNCTION(DotProduct, __dp4a);

long long floor_half(long long x) {
    return x >= 0 ? x / 2 : -((1 - x) / 2);
}

TEST_CASE("integer products, differences and averages do not overflow") {
    const auto a = random_words(1000, 5), b = random_words(1000, 6), c = random_words(1000, 7);
    const auto ia = as_ints(a), ib = as_ints(b);
    const auto high = map_on_device<int, MultiplyHigh>(ia, ib);
    const auto unsigned_high = map_on_device<unsigned, UnsignedMultiplyHigh>(a, b);
    const auto product = map_on_device<int, Multiply24>(ia, ib);
    const auto unsigned_product = map_on_device<unsigned, UnsignedMultiply24>(a, b);
    const auto sad = map_on_device<unsigned, SumOfDifference>(ia, ib, c);
    const auto unsigned_sad = map_on_device<unsigned, UnsignedSumOfDifference>(a, b, c);
    const auto average = map_on_device<int, Average>(ia, ib);
    const auto rounded = map_on_device<int, RoundedAverage>(ia, ib);
    const auto unsigned_average = map_on_device<unsigned, UnsignedAverage>(a, b);
    const auto unsigned_rounded = map_on_device<unsigned, UnsignedRoundedAverage>(a, b);
    const auto dot = map_on_device<unsigned, DotProduct>(a, b, c);
    const auto signed_dot = map_on_device<int, DotProduct>(ia, ib, as_ints(c));
    for (size_t i = 0; i < a.size(); ++i) {
        CAPTURE(a[i], b[i], c[i]);
        const long long x = ia[i], y = ib[i];
        const unsigned long long ux = a[i], uy = b[i];
        CHECK(high[i] == (x * y - (x * y & 0xffffffffll)) / (1ll << 32));
        CHECK(unsigned_high[i] == ux * uy / (1ull << 32));
        const auto low24 = [](long long n) {
            const long long low = n & 0xffffff;
            return low >= 1 << 23 ? low - (1 << 24) : low;
        };
        CHECK(static_cast<unsigned>(product[i]) == static_cast<unsigned>(low24(x) * low24(y)));
        CHECK(unsigned_product[i] == static_cast<unsigned>(ux % (1 << 24) * (uy % (1 << 24))));
        CHECK(sad[i] == static_cast<unsigned>(std::llabs(x - y) + c[i]));
        CHECK(unsigned_sad[i] ==
              static_cast<unsigned>(std::llabs(static_cast<long long>(ux - uy)) + c[i]));
        CHECK(average[i] == floor_half(x + y));
        CHECK(rounded[i] == floor_half(x + y + 1));
        CHECK(unsigned_average[i] == (ux + uy) / 2);
        CHECK(unsigned_rounded[i] == (ux + uy + 1) / 2);

        unsigned char bytes_a[4], bytes_b[4];
        std::memcpy(bytes_a, &a[i], 4);
        std::memcpy(bytes_b, &b[i], 4);
        long long sum = c[i], signed_sum = static_cast<int>(c[i]);
        for (int j = 0; j < 4; ++j) {
            sum += bytes_a[j] * bytes_b[j];
            signed_sum +=
                static_cast<signed char>(bytes_a[j]) * static_cast<signed char>(bytes_b[j]);
        }
        CHECK(dot[i] == static_cast<unsigned>(sum));
        CHECK(static_cast<unsigned>(signed_dot[i]) == static_cast<unsigned>(signed_sum));
    }
}

DEVICE_FUNCTION(MultiplyHigh64, __mul64hi);
DEVICE_FUNCTION(UnsignedMultiplyHigh64, __umul64hi);

TEST_CASE("upper halves of 128-bit products") {
    const std::vector<long long> a{1ll << 62, -1, -(1ll << 62), 3}, b{8, 1, 12, 5};
    CHECK(map_on_device<long long, MultiplyHigh64>(a, b) == std::vector<long long>{2, -1, -3, 0});
    const std::vector<unsigned long long> c{~0ull, 1ull << 63}, d{~0ull, 6};
    CHECK(map_on_device<unsigned long long, UnsignedMultiplyHigh64>(c, d) ==
          std::vector<unsigned long long>{~0ull - 1, 3});
}

struct MinMax {
    __device__ float operator()(float a, float b) const { return max(a, b) - min(a, b); }
};

TEST_CASE("min and max have CUDA's overloads") {
    STATIC_REQUIRE(std::is_same<decltype(min(1, 2u)), unsigned>::value);
    STATIC_REQUIRE(std::is_same<decltype(max(1l, 2ul)), unsigned long>::value);
    STATIC_REQUIRE(std::is_same<decltype(max(1ll, 2ll)), long long>::value);
    STATIC_REQUIRE(std::is_same<decltype(min(1.f, 2.)), double>::value);
    STATIC_REQUIRE(std::is_same<decltype(max(1.f, 2.f)), float>::value);
    CHECK(max(-1, 2) == 2);
    CHECK(max(-1, 2u) == 0xffffffffu);
    CHECK(min(-1ll, 2ll) == -1);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    // Of a number and NaN both are the number.
    CHECK(map_on_device<float, MinMax>(std::vector<float>{nan, 3, 1},
                                       std::vector<float>{3, nan, 5}) ==
          std::vector<float>{0, 0, 4});
}

// ---------------------------------------------------------------- rounding

// Floats whose exponents are so near that sums and products are exact in a long double.
std::vector<float> random_floats(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> numbers;
    while (numbers.size() < count) {
        const int mantissa = static_cast<int>(random() % (1 << 24)) + 1;
        const float sign = random() % 2 == 0 ? 1.f : -1.f;
        numbers.push_back(
            sign * std::ldexp(static_cast<float>(mantissa), static_cast<int>(random() % 12) - 24));
    }
    return numbers;
}

// Whether `rounded` is what rounding gives in a direction, of which `side` tells where the exact
// value lies: its sign is that of (exact - x) for any float x.
enum class Direction { nearest, zero, up, down };

template <class Side>
bool is_rounded(float rounded, Direction direction, bool exact_is_negative, Side side) {
    if (direction == Direction::zero) {
        direction = exact_is_negative ? Direction::up : Direction::down;
    }
    if (side(rounded) == 0) return true;
    const float above = std::nextafter(rounded, INFINITY);
    const float below = std::nextafter(rounded, -INFINITY);
    if (direction == Direction::down) return side(rounded) > 0 && side(above) < 0;
    if (direction == Direction::up) return side(rounded) < 0 && side(below) > 0;
    // The halves between neighbours are doubles.
    const double upper = (static_cast<double>(rounded) + above) / 2;
    const double lower = (static_cast<double>(rounded) + below) / 2;
    int bits;
    std::memcpy(&bits, &rounded, sizeof bits);
    const bool is_even = bits % 2 == 0;
    return is_even ? side(lower) >= 0 && side(upper) <= 0 : side(lower) > 0 && side(upper) < 0;
}

#define FOUR_ROUNDINGS(Class, name)              \
    DEVICE_FUNCTION(Class##nearest_, name##_rn); \
    DEVICE_FUNCTION(Class##zero_, name##_rz);    \
    DEVICE_FUNCTION(Class##up_, name##_ru);      \
    DEVICE_FUNCTION(Class##down_, name##_rd)

FOUR_ROUNDINGS(Add, __fadd);
FOUR_ROUNDINGS(Subtract, __fsub);
FOUR_ROUNDINGS(Multiply, __fmul);
FOUR_ROUNDINGS(Divide, __fdiv);
FOUR_ROUNDINGS(FusedMultiplyAdd, __fmaf);
FOUR_ROUNDINGS(SquareRoot, __fsqrt);
FOUR_ROUNDINGS(Reciprocal, __frcp);

int sign_of(long double x) {
    return (x > 0) - (x < 0);
}

TEST_CASE("float arithmetic rounds in the direction that its name says") {
    const auto a = random_floats(2000, 11), b = random_floats(2000, 12),
               c = random_floats(2000, 13);
    std::vector<float> positive = a;
    for (float& x : positive) x = std::fabs(x);

    const auto check = [&](Direction direction, const std::vector<float>& sums,
                           const std::vector<float>& differences,
                           const std::vector<float>& products, const std::vector<float>& quotients,
                           const std::vector<float>& fused, const std::vector<float>& roots,
                           const std::vector<float>& reciprocals) {
        int wrong = 0;
        for (size_t i = 0; i < a.size(); ++i) {
            const long double x = a[i], y = b[i], z = c[i];
            const auto exact = [&](float rounded, long double value) {
                return is_rounded(rounded, direction, value < 0,
                                  [value](double at) { return sign_of(value - at); });
            };
            const auto ratio = [&](float rounded, long double over, long double under) {
                return is_rounded(rounded, direction, (over < 0) != (under < 0), [=](double at) {
                    return sign_of(over - at * under) * sign_of(under);
                });
            };
            wrong += !exact(sums[i], x + y) + !exact(differences[i], x - y) +
                     !exact(products[i], x * y) + !exact(fused[i], x * y + z) +
                     !ratio(quotients[i], x, y) + !ratio(reciprocals[i], 1, x);
            wrong += !is_rounded(roots[i], direction, false, [&](double at) {
                return sign_of(positive[i] - static_cast<long double>(at) * at);
            });
        }
        CAPTURE(static_cast<int>(direction));
        CHECK(wrong == 0);
    };
#define CHECK_DIRECTION(direction)                                             \
    check(Direction::direction, map_on_device<float, Add##direction##_>(a, b), \
          map_on_device<float, Subtract##direction##_>(a, b),                  \
          map_on_device<float, Multiply##direction##_>(a, b),                  \
          map_on_device<float, Divide##direction##_>(a, b),                    \
          map_on_device<float, FusedMultiplyAdd##direction##_>(a, b, c),       \
          map_on_device<float, SquareRoot##direction##_>(positive),            \
          map_on_device<float, Reciprocal##direction##_>(a))
    CHECK_DIRECTION(nearest);
    CHECK_DIRECTION(zero);
    CHECK_DIRECTION(up);
    CHECK_DIRECTION(down);
#undef CHECK_DIRECTION
}

FOUR_ROUNDINGS(AddDouble, __dadd);
FOUR_ROUNDINGS(MultiplyDouble, __dmul);
FOUR_ROUNDINGS(DivideDouble, __ddiv);
FOUR_ROUNDINGS(FusedMultiplyAddDouble, __fma);
FOUR_ROUNDINGS(SquareRootDouble, __dsqrt);

TEST_CASE("double arithmetic rounds in the direction that its name says") {
    // For one positive and one negative case each: the neighbours of the exact value.
    const double step = 0x1p-52;
    const std::vector<double> a{1, -1}, tiny{0x1p-60, -0x1p-60}, three{3, 3}, one{1, 1};
    using Pair = std::vector<double>;
    CHECK(map_on_device<double, AddDoublenearest_>(a, tiny) == Pair{1, -1});
    CHECK(map_on_device<double, AddDoublezero_>(a, tiny) == Pair{1, -1});
    CHECK(map_on_device<double, AddDoubleup_>(a, tiny) == Pair{1 + step, -1});
    CHECK(map_on_device<double, AddDoubledown_>(a, tiny) == Pair{1, -1 - step});

    // (1 + 2^-52)^2 = 1 + 2^-51 + 2^-104
    const std::vector<double> x{1 + step, -1 - step}, y{1 + step, 1 + step};
    CHECK(map_on_device<double, MultiplyDoublezero_>(x, y) == Pair{1 + 2 * step, -1 - 2 * step});
    CHECK(map_on_device<double, MultiplyDoubleup_>(x, y) == Pair{1 + 3 * step, -1 - 2 * step});
    CHECK(map_on_device<double, MultiplyDoubledown_>(x, y) == Pair{1 + 2 * step, -1 - 3 * step});
    CHECK(map_on_device<double, FusedMultiplyAddDoublenearest_>(x, y, Pair{-1 - 2 * step, 0}) ==
          Pair{0x1p-104, -1 - 2 * step});
    CHECK(map_on_device<double, FusedMultiplyAddDoubleup_>(x, y, tiny) ==
          Pair{1 + 3 * step, -1 - 2 * step});

    const double third = 0x1.5555555555555p-2;  // below 1/3
    CHECK(map_on_device<double, DivideDoubledown_>(a, three) == Pair{third, -third - step / 4});
    CHECK(map_on_device<double, DivideDoubleup_>(a, three) == Pair{third + step / 4, -third});
    CHECK(map_on_device<double, DivideDoublezero_>(a, three) == Pair{third, -third});

    const double root = 0x1.6a09e667f3bccp0;  // below the root of 2
    CHECK(map_on_device<double, SquareRootDoubledown_>(Pair{2}) == Pair{root});
    CHECK(map_on_device<double, SquareRootDoubleup_>(Pair{2}) == Pair{root + step});
}

// ---------------------------------------------------------------- conversions

FOUR_ROUNDINGS(FloatToInt, __float2int);
FOUR_ROUNDINGS(FloatToUnsigned, __float2uint);
FOUR_ROUNDINGS(FloatToLong, __float2ll);
FOUR_ROUNDINGS(FloatToUnsignedLong, __float2ull);
FOUR_ROUNDINGS(DoubleToInt, __double2int);
FOUR_ROUNDINGS(DoubleToLong, __double2ll);
FOUR_ROUNDINGS(IntToFloat, __int2float);
FOUR_ROUNDINGS(UnsignedToFloat, __uint2float);
FOUR_ROUNDINGS(LongToFloat, __ll2float);
FOUR_ROUNDINGS(UnsignedLongToFloat, __ull2float);
FOUR_ROUNDINGS(DoubleToFloat, __double2float);
FOUR_ROUNDINGS(LongToDouble, __ll2double);

TEST_CASE("floats become integers: rounded, and the nearest end where out of range") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x{0.5f, 1.5f, -0.5f, -1.5f, 2.75f, -2.75f, 3e9f, -3e9f, 1e20f, nan};
    const int top = INT32_MAX, bottom = INT32_MIN;
    using Ints = std::vector<int>;
    CHECK(map_on_device<int, FloatToIntnearest_>(x) ==
          Ints{0, 2, 0, -2, 3, -3, top, bottom, top, 0});
    CHECK(map_on_device<int, FloatToIntzero_>(x) == Ints{0, 1, 0, -1, 2, -2, top, bottom, top, 0});
    CHECK(map_on_device<int, FloatToIntup_>(x) == Ints{1, 2, 0, -1, 3, -2, top, bottom, top, 0});
    CHECK(map_on_device<int, FloatToIntdown_>(x) == Ints{0, 1, -1, -2, 2, -3, top, bottom, top, 0});
    CHECK(map_on_device<unsigned, FloatToUnsignednearest_>(x) ==
          std::vector<unsigned>{0, 2, 0, 0, 3, 0, 3000000000u, 0, UINT32_MAX, 0});

    const long long nan_as_long = INT64_MIN;
    CHECK(map_on_device<long long, FloatToLongdown_>(x) ==
          std::vector<long long>{0, 1, -1, -2, 2, -3, 3000000000, -3000000000, INT64_MAX,
                                 nan_as_long});
    CHECK(
        map_on_device<unsigned long long, FloatToUnsignedLongup_>(x) ==
        std::vector<unsigned long long>{1, 2, 0, 0, 3, 0, 3000000000u, 0, UINT64_MAX, 1ull << 63});
    const std::vector<double> y{2147483647.5, -2147483648.5, 0.5, NAN};
    CHECK(map_on_device<int, DoubleToIntzero_>(y) == Ints{top, bottom, 0, bottom});
    CHECK(map_on_device<long long, DoubleToLongnearest_>(y) ==
          std::vector<long long>{2147483648, -2147483648, 0, nan_as_long});
}

TEST_CASE("integers become floats: rounded") {
    // 2^24 + 1 and 2^24 + 3 lie halfway between two floats, 2^30 + 1 near the lower of two.
    const std::vector<int> x{16777217, 16777219, -16777217, 1073741825};
    using Floats = std::vector<float>;
    CHECK(map_on_device<float, IntToFloatnearest_>(x) ==
          Floats{16777216, 16777220, -16777216, 1073741824});
    CHECK(map_on_device<float, IntToFloatzero_>(x) ==
          Floats{16777216, 16777218, -16777216, 1073741824});
    CHECK(map_on_device<float, IntToFloatup_>(x) ==
          Floats{16777218, 16777220, -16777216, 1073741952});
    CHECK(map_on_device<float, IntToFloatdown_>(x) ==
          Floats{16777216, 16777218, -16777218, 1073741824});
    CHECK(map_on_device<float, UnsignedToFloatup_>(std::vector<unsigned>{UINT32_MAX}) ==
          Floats{4294967296.f});
    CHECK(map_on_device<float, LongToFloatdown_>(std::vector<long long>{-(1ll << 40) - 1}) ==
          Floats{-1099511758848.f});
    CHECK(map_on_device<float, UnsignedLongToFloatzero_>(
              std::vector<unsigned long long>{UINT64_MAX}) == Floats{18446742974197923840.f});
    CHECK(map_on_device<float, DoubleToFloatup_>(std::vector<double>{1 + 0x1p-40, 1e300}) ==
          Floats{1 + 0x1p-23f, INFINITY});
    CHECK(map_on_device<float, DoubleToFloatzero_>(std::vector<double>{1 + 0x1p-40, 1e300}) ==
          Floats{1, std::numeric_limits<float>::max()});
    CHECK(map_on_device<double, LongToDoubleup_>(std::vector<long long>{(1ll << 53) + 1}) ==
          std::vector<double>{9007199254740994.});
}

DEVICE_FUNCTION(FloatBits, __float_as_uint);
DEVICE_FUNCTION(BitsToFloat, __int_as_float);
DEVICE_FUNCTION(UpperHalf, __double2hiint);
DEVICE_FUNCTION(LowerHalf, __double2loint);
DEVICE_FUNCTION(FromHalves, __hiloint2double);

TEST_CASE("numbers are looked at as bits") {
    CHECK(map_on_device<unsigned, FloatBits>(std::vector<float>{1, -2}) ==
          std::vector<unsigned>{0x3f800000u, 0xc0000000u});
    CHECK(map_on_device<float, BitsToFloat>(std::vector<int>{0x3f800000, 0x40400000}) ==
          std::vector<float>{1, 3});
    const std::vector<double> x{1.5, -1e-300, 12345.678};
    const auto high = map_on_device<int, UpperHalf>(x), low = map_on_device<int, LowerHalf>(x);
    CHECK(high[0] == 0x3ff80000);
    CHECK(map_on_device<double, FromHalves>(high, low) == x);
}

// ---------------------------------------------------------------- functions

DEVICE_FUNCTION(FastExp, __expf);
DEVICE_FUNCTION(FastLog, __logf);
DEVICE_FUNCTION(FastLog2, __log2f);
DEVICE_FUNCTION(FastPow, __powf);
DEVICE_FUNCTION(FastSin, __sinf);
DEVICE_FUNCTION(FastDivide, __fdividef);
DEVICE_FUNCTION(ReciprocalRoot, rsqrtf);
DEVICE_FUNCTION(Exp10, exp10f);
DEVICE_FUNCTION(NormalDistribution, normcdff);
DEVICE_FUNCTION(InverseNormalDistribution, normcdfinv);
DEVICE_FUNCTION(InverseErrorFunction, erfinv);
DEVICE_FUNCTION(ScaledErrorFunction, erfcx);
DEVICE_FUNCTION(SinPi, sinpif);
DEVICE_FUNCTION(CosPi, cospif);
DEVICE_FUNCTION(Saturate, __saturatef);

// How far off the worst is, relative to the size of what was wanted and at least `scale`.
template <class Wanted>
double worst_error(const std::vector<float>& x, const std::vector<float>& results, double scale,
                   Wanted wanted) {
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double want = wanted(static_cast<double>(x[i]));
        const double error = std::fabs(results[i] - want) / std::fmax(std::fabs(want), scale);
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

TEST_CASE("the inverses of the error function and of the normal distribution lead back") {
    const std::vector<double> sizes{1e-300, 1e-12, 1e-5, 0.0011, 0.3, 0.5, 0.7, 0.9999};
    const std::vector<double> quantiles = map_on_device<double, InverseNormalDistribution>(sizes);
    const std::vector<double> inverses = map_on_device<double, InverseErrorFunction>(sizes);
    for (size_t i = 0; i < sizes.size(); ++i) {
        CHECK(std::fabs(0.5 * std::erfc(-quantiles[i] * M_SQRT1_2) / sizes[i] - 1) < 1e-12);
        CHECK(std::fabs(std::erf(inverses[i]) / sizes[i] - 1) < 1e-14);
    }
    CHECK(map_on_device<double, InverseNormalDistribution>(std::vector<double>{0, 1}) ==
          std::vector<double>{-HUGE_VAL, HUGE_VAL});
    // Where one way of computing it ends and the other begins.
    const std::vector<double> scaled =
        map_on_device<double, ScaledErrorFunction>(std::vector<double>{1, 10 - 1e-12, 10});
    CHECK(std::fabs(scaled[0] / (std::exp(1) * std::erfc(1)) - 1) < 1e-15);
    CHECK(std::fabs(scaled[1] / scaled[2] - 1) < 1e-12);
}

TEST_CASE("math functions compute what they are named for") {
    std::vector<float> x, positive;
    for (int i = -200; i <= 200; ++i) x.push_back(0.05f * static_cast<float>(i));
    for (int i = 1; i <= 400; ++i) positive.push_back(0.37f * static_cast<float>(i));
    // The fast versions are approximations on a GPU: __expf(10) may be off by 2 + 11 units.
    const double fast = 2e-6, accurate = 3e-7;
    CHECK(worst_error(x, map_on_device<float, FastExp>(x), 0,
                      [](double v) { return std::exp(v); }) < fast);
    CHECK(worst_error(positive, map_on_device<float, FastLog>(positive), 1,
                      [](double v) { return std::log(v); }) < fast);
    CHECK(worst_error(positive, map_on_device<float, FastLog2>(positive), 1,
                      [](double v) { return std::log2(v); }) < fast);
    const std::vector<float> quarter(positive.size(), 0.25f);
    CHECK(worst_error(positive, map_on_device<float, FastPow>(positive, quarter), 0,
                      [](double v) { return std::pow(v, 0.25); }) < fast);
    std::vector<float> near_zero;
    for (const float v : x) near_zero.push_back(v * 0.3f);
    CHECK(worst_error(near_zero, map_on_device<float, FastSin>(near_zero), 1,
                      [](double v) { return std::sin(v); }) < fast);
    CHECK(worst_error(positive, map_on_device<float, FastDivide>(quarter, positive), 0,
                      [](double v) { return 0.25 / v; }) < fast);
    CHECK(worst_error(positive, map_on_device<float, ReciprocalRoot>(positive), 0,
                      [](double v) { return 1 / std::sqrt(v); }) < accurate);
    CHECK(worst_error(x, map_on_device<float, Exp10>(x), 0,
                      [](double v) { return std::pow(10., v); }) < accurate);
    CHECK(worst_error(x, map_on_device<float, NormalDistribution>(x), 1e-30,
                      [](double v) { return 0.5 * std::erfc(-v / std::sqrt(2.)); }) < 1e-6);
    CHECK(map_on_device<float, SinPi>(std::vector<float>{0.5f, 1, -1.5f, 1e7f + 1}) ==
          std::vector<float>{1, 0, 1, 0});
    CHECK(map_on_device<float, CosPi>(std::vector<float>{0, 0.5f, 1, -2}) ==
          std::vector<float>{1, 0, -1, 1});
    CHECK(map_on_device<float, Saturate>(std::vector<float>{-1, 0.25f, 7, NAN}) ==
          std::vector<float>{0, 0.25f, 1, 0});
}

// What kernels write without thinking of a header: each must mean CUDA's function.
struct Idioms {
    __device__ float operator()(float x) const {
        float sine, cosine;
        sincosf(x, &sine, &cosine);
        float sum = exp(x) + log(x) + sqrt(x) + fabs(-x) + abs(-x) + pow(x, 2.f) + rsqrt(x);
        sum += expf(x) + fmaxf(x, NAN) + fminf(x, CUDART_INF_F) + max(x, 0.f) + sine + cosine;
        return isnan(x) || isinf(x) || !isfinite(x) || isnan(CUDART_NAN_F) == 0 ? -1 : sum;
    }
};

TEST_CASE("plain math names work in kernels") {
    const double e = std::exp(1.);
    CHECK(map_on_device<float, Idioms>(std::vector<float>{1})[0] ==
          Approx(2 * e + 5 + 3 + std::sin(1.) + std::cos(1.)));
    CHECK(map_on_device<float, Idioms>(std::vector<float>{NAN})[0] == -1);
}

}  // namespace intrinsics_tests
