// SPDX-License-Identifier: MIT
// half and bfloat16 in kernels, against the exact results of plain integer and double arithmetic: what the toolkit's
// headers compute on the device alone. The rest is compared with them in half_against_toolkit.cpp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "common/cpu_device/tests/device_map.cuh"

namespace half_tests {

using Bits = unsigned short;

template <class T>
__host__ __device__ Bits bits_of(T x) {
    Bits bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

template <class T>
__host__ __device__ T from_bits(Bits bits) {
    T x;
    memcpy(static_cast<void*>(&x), &bits, sizeof x);
    return x;
}

// What a 16-bit pattern means, from the definition of the format.
template <class T>
struct Format;
template <>
struct Format<__half> {
    static constexpr int mantissa_bits = 10, bias = 15, infinity = 0x7c00;
};
template <>
struct Format<__nv_bfloat16> {
    static constexpr int mantissa_bits = 7, bias = 127, infinity = 0x7f80;
};

template <class T>
double meaning(Bits bits) {
    using F = Format<T>;
    const int magnitude = bits & 0x7fff;
    const double sign = bits >= 0x8000 ? -1 : 1;
    if (magnitude > F::infinity) return NAN;
    if (magnitude == F::infinity) return sign * INFINITY;
    const int exponent = magnitude >> F::mantissa_bits;
    const int mantissa = magnitude & ((1 << F::mantissa_bits) - 1);
    const int unit = (exponent == 0 ? 1 : exponent) - F::bias - F::mantissa_bits;
    return sign * std::ldexp(mantissa + (exponent == 0 ? 0 : 1 << F::mantissa_bits), unit);
}

// The pattern to which a positive or negative number rounds, to nearest. Found by searching: the patterns of
// positive numbers stand in the order of the numbers. compare(pattern's value) tells on which side
// of it the exact number lies, so that the number itself need not be representable.
template <class T, class Compare>
Bits rounded(bool negative, Compare compare) {
    using F = Format<T>;
    int low = 0, high = F::infinity;  // value(low) <= number < value(high), or equal to low
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (compare(meaning<T>(static_cast<Bits>(middle))) >= 0 ? low : high) = middle;
    }
    const int sign = negative ? 0x8000 : 0;
    if (compare(meaning<T>(static_cast<Bits>(low))) == 0) return static_cast<Bits>(sign | low);
    // Beyond the largest number lies, for this purpose, the next one of the row: 2^(bias + 1).
    const double next =
        high == F::infinity ? std::ldexp(1., F::bias + 1) : meaning<T>(static_cast<Bits>(high));
    const int side = compare((meaning<T>(static_cast<Bits>(low)) + next) / 2);
    const bool away = side > 0 || (side == 0 && low % 2 != 0);
    return static_cast<Bits>(sign | (away ? high : low));
}

int side(long double number, double of) {
    return (number > of) - (number < of);
}

template <class T>
Bits rounded(double number) {
    if (std::isnan(number)) return 0x7fff;
    const bool negative = std::signbit(number);
    const double magnitude = std::fabs(number);
    if (std::isinf(number)) return static_cast<Bits>(Format<T>::infinity | (negative ? 0x8000 : 0));
    return rounded<T>(negative, [=](double at) { return side(magnitude, at); });
}

std::vector<Bits> all_patterns() {
    std::vector<Bits> patterns;
    for (int pattern = 0; pattern < 0x10000; ++pattern)
        patterns.push_back(static_cast<Bits>(pattern));
    return patterns;
}

// Results equal the wanted bits, where any NaN is as good as another.
template <class T>
int differences(const std::vector<Bits>& got, const std::vector<Bits>& want) {
    int count = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        const bool both_nan =
            (got[i] & 0x7fff) > Format<T>::infinity && (want[i] & 0x7fff) > Format<T>::infinity;
        count += got[i] != want[i] && !both_nan;
    }
    return count;
}

// ---------------------------------------------------------------- conversions

struct HalfToInts {
    __device__ int operator()(Bits bits) const {
        const __half x = from_bits<__half>(bits);
        // Four small results in one: they are in [-8, 7] for the inputs tried.
        return (__half2int_rn(x) & 15) | (__half2int_rz(x) & 15) << 4 |
               (__half2short_ru(x) & 15) << 8 | (__half2int_rd(x) & 15) << 12;
    }
};

struct HalfLimits {
    __device__ long long operator()(Bits bits) const {
        const __half x = from_bits<__half>(bits);
        return __half2ll_rz(x) + __half2ushort_rn(x) + __half2uint_ru(x) + __half2char_rz(x);
    }
};

TEST_CASE("half becomes an integer") {
    const std::vector<double> numbers{0.5, 1.5, 2.5, -0.5, -1.5, -2.75, 3.25, 6, -7};
    std::vector<Bits> patterns;
    for (const double x : numbers) patterns.push_back(rounded<__half>(x));
    const std::vector<int> packed = map_on_device<int, HalfToInts>(patterns);
    for (size_t i = 0; i < numbers.size(); ++i) {
        const double x = numbers[i];
        const int want = (static_cast<int>(std::nearbyint(x)) & 15) |
                         (static_cast<int>(std::trunc(x)) & 15) << 4 |
                         (static_cast<int>(std::ceil(x)) & 15) << 8 |
                         (static_cast<int>(std::floor(x)) & 15) << 12;
        CHECK(packed[i] == want);
    }
    // -3: as it is, 0 where unsigned. 60000: beyond a signed char. NaN: 2^63, and 0 elsewhere.
    const std::vector<Bits> limits{rounded<__half>(-3), rounded<__half>(60000), 0x7fff};
    CHECK(map_on_device<long long, HalfLimits>(limits) ==
          std::vector<long long>{-3 + 0 + 0 - 3, 60000 + 60000 + 60000 + 127, INT64_MIN});
}

// ---------------------------------------------------------------- arithmetic

#define BITWISE(Class, name)                                     \
    template <class T>                                           \
    struct Class {                                               \
        template <class... Patterns>                             \
        __device__ Bits operator()(Patterns... patterns) const { \
            return bits_of(name(from_bits<T>(patterns)...));     \
        }                                                        \
    }
BITWISE(FusedMultiplyAdd, __hfma);
BITWISE(FusedSaturated, __hfma_sat);
BITWISE(FusedRectified, __hfma_relu);

// Patterns whose exponents are so near that sums of products are exact in a long double; for half
// that is not needed, but zeros, subnormals and the largest numbers come with it.
template <class T>
std::vector<Bits> arguments(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Bits> patterns;
    const int lowest = Format<T>::bias - 12, exponents = 24;
    while (patterns.size() < count) {
        const int sign = random() % 2 == 0 ? 0 : 0x8000;
        const int mantissa = static_cast<int>(random() % (1u << Format<T>::mantissa_bits));
        const int exponent = lowest + static_cast<int>(random() % exponents);
        patterns.push_back(
            static_cast<Bits>(sign | exponent << Format<T>::mantissa_bits | mantissa));
    }
    return patterns;
}

template <class T>
void check_arithmetic() {
    const size_t count = 20000;
    const auto a = arguments<T>(count, 21), b = arguments<T>(count, 22),
               c = arguments<T>(count, 23);
    std::vector<Bits> fused, saturated, rectified;
    for (size_t i = 0; i < count; ++i) {
        const auto exact = [](long double number) {
            // An exact difference of equals is +0 when rounding to nearest.
            return rounded<T>(number < 0, [=](double at) { return side(std::fabs(number), at); });
        };
        const long double sum =
            static_cast<long double>(meaning<T>(a[i])) * meaning<T>(b[i]) + meaning<T>(c[i]);
        fused.push_back(exact(sum));
        saturated.push_back(exact(sum < 0 ? 0 : sum > 1 ? 1 : sum));
        rectified.push_back(exact(sum < 0 ? 0 : sum));
    }
    CHECK(differences<T>(map_on_device<Bits, FusedMultiplyAdd<T>>(a, b, c), fused) == 0);
    CHECK(differences<T>(map_on_device<Bits, FusedSaturated<T>>(a, b, c), saturated) == 0);
    CHECK(differences<T>(map_on_device<Bits, FusedRectified<T>>(a, b, c), rectified) == 0);
}

TEST_CASE("a fused multiply-add rounds once") {
    check_arithmetic<__half>();
    check_arithmetic<__nv_bfloat16>();
}

TEST_CASE("a fused multiply-add sees what lies far below a tie") {
    // 1.5 (1 + 2^-7) = 1.5 + 2^-7 + 2^-8 lies in the middle between two bfloat16s.
    const auto pattern = [](double x) { return rounded<__nv_bfloat16>(x); };
    const std::vector<Bits> a(3, pattern(1.5)), b(3, pattern(1 + 0x1p-7));
    const std::vector<Bits> c{pattern(0x1p-100), pattern(0), pattern(-0x1p-100)};
    CHECK(map_on_device<Bits, FusedMultiplyAdd<__nv_bfloat16>>(a, b, c) ==
          std::vector<Bits>{pattern(1.5 + 0x1p-6), pattern(1.5 + 0x1p-6), pattern(1.5 + 0x1p-7)});
    // 3 * 683 = 2049 lies in the middle between two halves; 2^-24 is the smallest half.
    const std::vector<Bits> x(3, rounded<__half>(3)), y(3, rounded<__half>(683));
    const std::vector<Bits> z{0x0001, 0x0000, 0x8001};
    CHECK(map_on_device<Bits, FusedMultiplyAdd<__half>>(x, y, z) ==
          std::vector<Bits>{rounded<__half>(2050), rounded<__half>(2048), rounded<__half>(2048)});
}

// ---------------------------------------------------------------- functions

BITWISE(Exp, hexp);
BITWISE(Exp2, hexp2);
BITWISE(Exp10, hexp10);
BITWISE(Log, hlog);
BITWISE(Log2, hlog2);
BITWISE(Log10, hlog10);
BITWISE(Sqrt, hsqrt);
BITWISE(ReciprocalSqrt, hrsqrt);
BITWISE(Reciprocal, hrcp);
BITWISE(Sin, hsin);
BITWISE(Cos, hcos);
BITWISE(Tanh, htanh);
BITWISE(Ceil, hceil);
BITWISE(Floor, hfloor);
BITWISE(Trunc, htrunc);
BITWISE(Rint, hrint);

// All patterns; within `units` in the last place, since CUDA's functions are approximations.
template <class T, class Function, class Wanted>
void check_function(const char* name, int units, Wanted wanted) {
    const std::vector<Bits> patterns = all_patterns();
    const std::vector<Bits> got = map_on_device<Bits, Function>(patterns);
    int wrong = 0;
    for (size_t i = 0; i < patterns.size(); ++i) {
        const Bits want = rounded<T>(wanted(meaning<T>(patterns[i])));
        const bool want_nan = (want & 0x7fff) > Format<T>::infinity;
        const bool got_nan = (got[i] & 0x7fff) > Format<T>::infinity;
        const bool near = std::abs((got[i] & 0x7fff) - (want & 0x7fff)) <= units &&
                          ((got[i] ^ want) < 0x8000 || units > 0);
        wrong += want_nan ? !got_nan : got_nan || !near;
    }
    CAPTURE(name);
    CHECK(wrong == 0);
}

template <class T>
void check_functions() {
    check_function<T, Exp<T>>("hexp", 2, [](double x) { return std::exp(x); });
    check_function<T, Exp2<T>>("hexp2", 2, [](double x) { return std::exp2(x); });
    check_function<T, Exp10<T>>("hexp10", 2, [](double x) { return std::pow(10., x); });
    check_function<T, Log<T>>("hlog", 2, [](double x) { return std::log(x); });
    check_function<T, Log2<T>>("hlog2", 2, [](double x) { return std::log2(x); });
    check_function<T, Log10<T>>("hlog10", 2, [](double x) { return std::log10(x); });
    check_function<T, Sqrt<T>>("hsqrt", 1, [](double x) { return std::sqrt(x); });
    check_function<T, ReciprocalSqrt<T>>("hrsqrt", 1, [](double x) { return 1 / std::sqrt(x); });
    check_function<T, Reciprocal<T>>("hrcp", 1, [](double x) { return 1 / x; });
    check_function<T, Tanh<T>>("htanh", 1, [](double x) { return std::tanh(x); });
    check_function<T, Ceil<T>>("hceil", 0, [](double x) { return std::ceil(x); });
    check_function<T, Floor<T>>("hfloor", 0, [](double x) { return std::floor(x); });
    check_function<T, Trunc<T>>("htrunc", 0, [](double x) { return std::trunc(x); });
    check_function<T, Rint<T>>("hrint", 0, [](double x) { return std::nearbyint(x); });
}

TEST_CASE("functions of half and bfloat16, on every pattern") {
    check_functions<__half>();
    check_functions<__nv_bfloat16>();
    check_function<__half, Sin<__half>>("hsin", 2, [](double x) { return std::sin(x); });
    check_function<__half, Cos<__half>>("hcos", 2, [](double x) { return std::cos(x); });
}
// ---------------------------------------------------------------- kernels as people write them

__global__ void pairs_kernel(const __half2* x, __half2* y, float* sums) {
    __shared__ __half2 tile[32];
    const unsigned i = threadIdx.x;
    tile[i] = __hfma2(x[i], __float2half2_rn(0.5f), __floats2half2_rn(1.f, -1.f));
    __syncthreads();
    const __half2 other = tile[31 - i];
    y[i] = __hmax2(other, x[i]) + h2exp(__halves2half2(__low2half(other), __float2half(0.f)));
    const float2 both = __half22float2(y[i]);
    __half running = __high2half(y[i]);
    running += __float2half(1.f);
    sums[i] = both.x + both.y + __half2float(running) + (other > x[i] ? 100.f : 0.f) +
              __half2float(__habs(-running)) + __half2float(__hadd_sat(running, running));
}

TEST_CASE("functions of half and bfloat16 may be called by their qualified names") {
    const auto check = [](auto one) {
        using Number = decltype(one);
        const Number two = one + one;
        CHECK(float(::hexp(one)) == float(hexp(one)));
        CHECK(float(::__hfma(two, two, one)) == 5.f);
        CHECK((::__hlt(one, two) && !::__hisnan(one)));
        CHECK(float(__hmax(one, 2.f)) == 2.f);  // converted, as ever
    };
    check(__float2half(1.f));
    check(__float2bfloat16(1.f));
    const __half2 pair = __floats2half2_rn(1.f, 4.f);
    CHECK(__high2float(::h2sqrt(::__hadd2(pair, pair))) == __high2float(h2sqrt(pair + pair)));
    CHECK((::__hbgt2(pair, ::__hneg2(pair)) && ::__hgt2_mask(pair, pair) == 0));
}

TEST_CASE("pairs in a kernel") {
    std::vector<__half2> x;
    for (int i = 0; i < 32; ++i)
        x.push_back(__floats2half2_rn(0.25f * float(i), 2.f - 0.5f * float(i)));
    DeviceVector<__half2> in(x), out{std::vector<__half2>(32)};
    DeviceVector<float> sums{std::vector<float>(32)};
    pairs_kernel<<<1, 32>>>(in.data(), out.data(), sums.data());
    require_success();
    const auto got = out.values();
    const auto got_sums = sums.values();
    const auto narrow = [](double number) { return meaning<__half>(rounded<__half>(number)); };
    for (int i = 0; i < 32; ++i) {
        const double low = 0.25 * i, high = 2 - 0.5 * i;
        const double other_low = narrow(0.25 * (31 - i) * 0.5 + 1);
        const double other_high = narrow((2 - 0.5 * (31 - i)) * 0.5 - 1);
        const double y_low = narrow(std::fmax(other_low, low) + narrow(std::exp(other_low)));
        const double y_high = narrow(std::fmax(other_high, high) + 1);
        CAPTURE(i);
        CHECK(__low2float(got[size_t(i)]) == Approx(y_low).epsilon(0.002));
        CHECK(__high2float(got[size_t(i)]) == y_high);
        const double running = narrow(y_high + 1);
        const double greater = other_low > low && other_high > high ? 100 : 0;
        const double saturated = std::fmin(std::fmax(2 * running, 0.), 1.);
        CHECK(got_sums[size_t(i)] ==
              Approx(y_low + y_high + running + greater + std::fabs(running) + saturated)
                  .epsilon(0.002));
    }
}

}  // namespace half_tests
