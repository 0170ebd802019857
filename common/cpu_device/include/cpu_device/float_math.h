// SPDX-License-Identifier: MIT
// CUDA's float and double functions beyond the C library's. Those whose names promise speed
// (__expf) are the C library's accurate ones: the CPU device does not imitate a GPU's
// approximations, so compare results with a tolerance.
#pragma once
#include "cpu_device/integers.h"
#include <cmath>
#include <cstdlib>

// The C++ library's <math.h> makes the overloads for float and double visible without std::, as
// they are in CUDA.
#include <math.h>

#include "cpu_device/qualifiers.h"
#include "cpu_device/rounding.h"
#include "cpu_device/traits.h"

// ---------------------------------------------------------------- fast versions
// Some versions of the C library declare (and do not define) functions of these names. With C
// linkage and noexcept these definitions agree with such declarations.
extern "C" {

__device__ inline float __expf(float x) noexcept {
    return ::expf(x);
}
__device__ inline float __exp10f(float x) noexcept {
    return ::exp10f(x);
}
__device__ inline float __logf(float x) noexcept {
    return ::logf(x);
}
__device__ inline float __log2f(float x) noexcept {
    return ::log2f(x);
}
__device__ inline float __log10f(float x) noexcept {
    return ::log10f(x);
}
__device__ inline float __powf(float x, float y) noexcept {
    return ::powf(x, y);
}
__device__ inline float __sinf(float x) noexcept {
    return ::sinf(x);
}
__device__ inline float __cosf(float x) noexcept {
    return ::cosf(x);
}
__device__ inline float __tanf(float x) noexcept {
    return ::tanf(x);
}
__device__ inline float __tanhf(float x) noexcept {
    return ::tanhf(x);
}
__device__ inline void __sincosf(float x, float* sine, float* cosine) noexcept {
    ::sincosf(x, sine, cosine);
}

// 1 / sqrt(x). In double first, so that only the last step rounds to float.
__host__ __device__ inline float rsqrtf(float x) noexcept {
    return static_cast<float>(1 / ::sqrt(static_cast<double>(x)));
}
__host__ __device__ inline double rsqrt(double x) noexcept {
    return 1 / ::sqrt(x);
}

// sin(pi x) and cos(pi x). The argument is reduced first: exact, and pi times a large x is not.
__host__ __device__ inline double sinpi(double x) noexcept {
    const double part = ::fmod(x, 2.0);  // in (-2, 2), with the sign of x
    if (part == 0 || ::fabs(part) == 1) return ::copysign(0.0, x);
    return ::sin(M_PI * part);
}
__host__ __device__ inline double cospi(double x) noexcept {
    const double part = ::fmod(::fabs(x), 2.0);
    if (part == 0.5 || part == 1.5) return 0;
    return ::cos(M_PI * part);
}
__host__ __device__ inline float sinpif(float x) noexcept {
    return static_cast<float>(sinpi(x));
}
__host__ __device__ inline float cospif(float x) noexcept {
    return static_cast<float>(cospi(x));
}

}  // extern "C"

__device__ inline float __fdividef(float a, float b) {
    return a / b;
}
__host__ __device__ inline float fdividef(float a, float b) {
    return a / b;
}

// x clamped to [0, 1]; NaN becomes 0.
__device__ inline float __saturatef(float x) {
    return ::fminf(::fmaxf(x, 0.f), 1.f);
}

// ---------------------------------------------------------------- more functions

__host__ __device__ inline float rsqrt(float x) {
    return rsqrtf(x);
}
__host__ __device__ inline float exp10(float x) {
    return ::exp10f(x);
}
__host__ __device__ inline float sinpi(float x) {
    return sinpif(x);
}
__host__ __device__ inline float cospi(float x) {
    return cospif(x);
}
__host__ __device__ inline void sincospif(float x, float* sine, float* cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}
__host__ __device__ inline void sincospi(double x, double* sine, double* cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
__host__ __device__ inline void sincos(float x, float* sine, float* cosine) {
    ::sincosf(x, sine, cosine);
}

__host__ __device__ inline double rcbrt(double x) {
    return 1 / ::cbrt(x);
}
__host__ __device__ inline float rcbrtf(float x) {
    return static_cast<float>(rcbrt(static_cast<double>(x)));
}

// The normal distribution function. By erfc, which keeps the small values of the lower tail.
__host__ __device__ inline double normcdf(double x) {
    return 0.5 * ::erfc(x * -M_SQRT1_2);
}
__host__ __device__ inline float normcdff(float x) {
    return static_cast<float>(normcdf(static_cast<double>(x)));
}
__host__ __device__ inline float normcdf(float x) {
    return normcdff(x);
}

// exp(x^2) erfc(x), which does not underflow.
__host__ __device__ inline double erfcx(double x) {
    if (x < 10) {
        const double square = x * x;
        return ::exp(square) * (1 + ::fma(x, x, -square)) * ::erfc(x);
    }
    // The continued fraction, from its end: 20 terms are exact from 10 on.
    double fraction = x;
    for (int term = 20; term > 0; term--) fraction = x + 0.5 * term / fraction;
    return 0.5 * M_2_SQRTPI / fraction;
}
__host__ __device__ inline float erfcxf(float x) {
    return static_cast<float>(erfcx(static_cast<double>(x)));
}
__host__ __device__ inline float erfcx(float x) {
    return erfcxf(x);
}

namespace cpu_device {

// The x >= 0 where erfc has that value, which is at most 1, by Halley's method on its logarithm's scale.
inline double inverse_of_small_erfc(double value) {
    if (!(value > 0)) return value == 0 ? HUGE_VAL : NAN;
    const double t = ::sqrt(-2 * ::log(value / 2));
    double x = M_SQRT1_2 * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
    for (int step = 0; step < 3; step++) {
        // (erfc(x) - value) / erfc'(x), without erfc, which is not exact near 0.
        const double excess = value > 0.5 ? (1 - value) - ::erf(x) : ::erfc(x) - value;
        const double newton = excess / (M_2_SQRTPI * ::exp(-x * x));
        x += newton / (1 - x * newton);
    }
    return x;
}

}  // namespace cpu_device

__host__ __device__ inline double erfcinv(double y) {
    return y <= 1 ? cpu_device::inverse_of_small_erfc(y)
                  : -cpu_device::inverse_of_small_erfc(2 - y);
}
__host__ __device__ inline float erfcinvf(float y) {
    return static_cast<float>(erfcinv(static_cast<double>(y)));
}
__host__ __device__ inline float erfcinv(float y) {
    return erfcinvf(y);
}
__host__ __device__ inline double erfinv(double y) {
    const double size = ::fabs(y);
    if (size < 1e-10) return y / M_2_SQRTPI;
    double x = cpu_device::inverse_of_small_erfc(1 - size);
    // 1 - size has dropped digits of a small one.
    if (size < 0.5) x -= (::erf(x) - size) / (M_2_SQRTPI * ::exp(-x * x));
    return ::copysign(x, y);
}
__host__ __device__ inline float erfinvf(float y) {
    return static_cast<float>(erfinv(static_cast<double>(y)));
}
__host__ __device__ inline float erfinv(float y) {
    return erfinvf(y);
}

// The inverse of the normal distribution function.
__host__ __device__ inline double normcdfinv(double p) {
    return -M_SQRT2 * erfcinv(2 * p);
}
__host__ __device__ inline float normcdfinvf(float p) {
    return static_cast<float>(normcdfinv(static_cast<double>(p)));
}
__host__ __device__ inline float normcdfinv(float p) {
    return normcdfinvf(p);
}

// Modified Bessel functions of the first kind.
__host__ __device__ inline double cyl_bessel_i0(double x) {
    return ::std::cyl_bessel_i(0., ::fabs(x));
}
__host__ __device__ inline float cyl_bessel_i0f(float x) {
    return static_cast<float>(cyl_bessel_i0(static_cast<double>(x)));
}
__host__ __device__ inline double cyl_bessel_i1(double x) {
    return ::copysign(::std::cyl_bessel_i(1., ::fabs(x)), x);
}
__host__ __device__ inline float cyl_bessel_i1f(float x) {
    return static_cast<float>(cyl_bessel_i1(static_cast<double>(x)));
}

// The length of a vector of any dimension.
__host__ __device__ inline double norm(int dimension, const double* x) {
    double length = 0;
    for (int i = 0; i < dimension; i++) length = ::hypot(length, x[i]);
    return length;
}
__host__ __device__ inline float normf(int dimension, const float* x) {
    double squares = 0;
    for (int i = 0; i < dimension; i++) squares += static_cast<double>(x[i]) * x[i];
    return static_cast<float>(::sqrt(squares));
}
__host__ __device__ inline double rnorm(int dimension, const double* x) {
    return 1 / norm(dimension, x);
}
__host__ __device__ inline float rnormf(int dimension, const float* x) {
    return 1 / normf(dimension, x);
}
__host__ __device__ inline double fdivide(double x, double y) {
    return x / y;
}

__host__ __device__ inline double norm3d(double x, double y, double z) {
    return ::hypot(::hypot(x, y), z);
}
__host__ __device__ inline float norm3df(float x, float y, float z) {
    return static_cast<float>(norm3d(x, y, z));
}
__host__ __device__ inline double norm4d(double x, double y, double z, double w) {
    return ::hypot(::hypot(x, y), ::hypot(z, w));
}
__host__ __device__ inline float norm4df(float x, float y, float z, float w) {
    return static_cast<float>(norm4d(x, y, z, w));
}
__host__ __device__ inline double rhypot(double x, double y) {
    return 1 / ::hypot(x, y);
}
__host__ __device__ inline float rhypotf(float x, float y) {
    return static_cast<float>(rhypot(x, y));
}
__host__ __device__ inline double rnorm3d(double x, double y, double z) {
    return 1 / norm3d(x, y, z);
}
__host__ __device__ inline float rnorm3df(float x, float y, float z) {
    return static_cast<float>(rnorm3d(x, y, z));
}

__host__ __device__ inline double rnorm4d(double x, double y, double z, double w) {
    return 1 / norm4d(x, y, z, w);
}
__host__ __device__ inline float rnorm4df(float x, float y, float z, float w) {
    return static_cast<float>(rnorm4d(x, y, z, w));
}

// Of a number and NaN the number, as fmin and fmax have it.
__host__ __device__ inline float min(float a, float b) {
    return ::fminf(a, b);
}
__host__ __device__ inline float max(float a, float b) {
    return ::fmaxf(a, b);
}
__host__ __device__ inline double min(double a, double b) {
    return ::fmin(a, b);
}
__host__ __device__ inline double max(double a, double b) {
    return ::fmax(a, b);
}
__host__ __device__ inline double min(float a, double b) {
    return ::fmin(a, b);
}
__host__ __device__ inline double max(float a, double b) {
    return ::fmax(a, b);
}
__host__ __device__ inline double min(double a, float b) {
    return ::fmin(a, b);
}
__host__ __device__ inline double max(double a, float b) {
    return ::fmax(a, b);
}

// ---------------------------------------------------------------- bits of a number

__host__ __device__ inline int __float_as_int(float x) {
    return cpu_device::bit_cast<int>(x);
}
__host__ __device__ inline unsigned __float_as_uint(float x) {
    return cpu_device::bit_cast<unsigned>(x);
}
__host__ __device__ inline float __int_as_float(int x) {
    return cpu_device::bit_cast<float>(x);
}
__host__ __device__ inline float __uint_as_float(unsigned x) {
    return cpu_device::bit_cast<float>(x);
}
__host__ __device__ inline long long __double_as_longlong(double x) {
    return cpu_device::bit_cast<long long>(x);
}
__host__ __device__ inline double __longlong_as_double(long long x) {
    return cpu_device::bit_cast<double>(x);
}
__host__ __device__ inline int __double2hiint(double x) {
    return static_cast<int>(__double_as_longlong(x) >> 32);
}
__host__ __device__ inline int __double2loint(double x) {
    return static_cast<int>(__double_as_longlong(x));
}
__host__ __device__ inline double __hiloint2double(int high, int low) {
    const cpu_device::uint64_t upper =
        static_cast<cpu_device::uint64_t>(static_cast<cpu_device::uint32_t>(high)) << 32;
    return cpu_device::bit_cast<double>(upper | static_cast<cpu_device::uint32_t>(low));
}

// ---------------------------------------------------------------- four roundings of one function
// A macro, because it makes four names of one: __fadd_rn, __fadd_rz, __fadd_ru, __fadd_rd. What
// follows the parameters is the expression, and after it the operands.
#define CPU_DEVICE_ROUNDED(Result, name, parameters, ...)                       \
    __device__ inline Result name##_rn parameters {                             \
        return cpu_device::rounded<cpu_device::Rounding::nearest>(__VA_ARGS__); \
    }                                                                           \
    __device__ inline Result name##_rz parameters {                             \
        return cpu_device::rounded<cpu_device::Rounding::zero>(__VA_ARGS__);    \
    }                                                                           \
    __device__ inline Result name##_ru parameters {                             \
        return cpu_device::rounded<cpu_device::Rounding::up>(__VA_ARGS__);      \
    }                                                                           \
    __device__ inline Result name##_rd parameters {                             \
        return cpu_device::rounded<cpu_device::Rounding::down>(__VA_ARGS__);    \
    }

namespace cpu_device {

// The operations that are rounded, as objects.
struct Add {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
struct Subtract {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a - b;
    }
};
struct Multiply {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a * b;
    }
};
struct Divide {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a / b;
    }
};
struct FusedMultiplyAdd {
    template <class T>
    __device__ T operator()(T a, T b, T c) const {
        return std::fma(a, b, c);
    }
};
struct SquareRoot {
    template <class T>
    __device__ T operator()(T a) const {
        return std::sqrt(a);
    }
};
template <class To>
struct Convert {
    template <class T>
    __device__ To operator()(T a) const {
        return static_cast<To>(a);
    }
};

}  // namespace cpu_device

CPU_DEVICE_ROUNDED(float, __fadd, (float a, float b), cpu_device::Add{}, a, b)
CPU_DEVICE_ROUNDED(float, __fsub, (float a, float b), cpu_device::Subtract{}, a, b)
CPU_DEVICE_ROUNDED(float, __fmul, (float a, float b), cpu_device::Multiply{}, a, b)
CPU_DEVICE_ROUNDED(float, __fdiv, (float a, float b), cpu_device::Divide{}, a, b)
CPU_DEVICE_ROUNDED(float, __fmaf, (float a, float b, float c), cpu_device::FusedMultiplyAdd{}, a, b,
                   c)
CPU_DEVICE_ROUNDED(float, __fsqrt, (float a), cpu_device::SquareRoot{}, a)
CPU_DEVICE_ROUNDED(float, __frcp, (float a), cpu_device::Divide{}, 1.f, a)
CPU_DEVICE_ROUNDED(double, __dadd, (double a, double b), cpu_device::Add{}, a, b)
CPU_DEVICE_ROUNDED(double, __dsub, (double a, double b), cpu_device::Subtract{}, a, b)
CPU_DEVICE_ROUNDED(double, __dmul, (double a, double b), cpu_device::Multiply{}, a, b)
CPU_DEVICE_ROUNDED(double, __ddiv, (double a, double b), cpu_device::Divide{}, a, b)
CPU_DEVICE_ROUNDED(double, __fma, (double a, double b, double c), cpu_device::FusedMultiplyAdd{}, a,
                   b, c)
CPU_DEVICE_ROUNDED(double, __dsqrt, (double a), cpu_device::SquareRoot{}, a)
CPU_DEVICE_ROUNDED(double, __drcp, (double a), cpu_device::Divide{}, 1., a)

CPU_DEVICE_ROUNDED(float, __double2float, (double a), cpu_device::Convert<float>{}, a)
CPU_DEVICE_ROUNDED(float, __int2float, (int a), cpu_device::Convert<float>{}, a)
CPU_DEVICE_ROUNDED(float, __uint2float, (unsigned a), cpu_device::Convert<float>{}, a)
CPU_DEVICE_ROUNDED(float, __ll2float, (long long a), cpu_device::Convert<float>{}, a)
CPU_DEVICE_ROUNDED(float, __ull2float, (unsigned long long a), cpu_device::Convert<float>{}, a)
CPU_DEVICE_ROUNDED(double, __ll2double, (long long a), cpu_device::Convert<double>{}, a)
CPU_DEVICE_ROUNDED(double, __ull2double, (unsigned long long a), cpu_device::Convert<double>{}, a)
#undef CPU_DEVICE_ROUNDED

__device__ inline double __int2double_rn(int a) {
    return a;
}
__device__ inline double __uint2double_rn(unsigned a) {
    return a;
}

__device__ inline float __frsqrt_rn(float x) {
    return rsqrtf(x);
}

// ---------------------------------------------------------------- numbers to integers
// A macro, because it makes four names of one. NaN becomes 0 where float meets 32 bits, and the
// number with the top bit alone everywhere else: that is what the instruction does.
#define CPU_DEVICE_TO_INTEGER(Integer, name, Float, of_nan)                               \
    __device__ inline Integer name##_rn(Float x) {                                        \
        return cpu_device::to_integer<Integer>(x, cpu_device::Rounding::nearest, of_nan); \
    }                                                                                     \
    __device__ inline Integer name##_rz(Float x) {                                        \
        return cpu_device::to_integer<Integer>(x, cpu_device::Rounding::zero, of_nan);    \
    }                                                                                     \
    __device__ inline Integer name##_ru(Float x) {                                        \
        return cpu_device::to_integer<Integer>(x, cpu_device::Rounding::up, of_nan);      \
    }                                                                                     \
    __device__ inline Integer name##_rd(Float x) {                                        \
        return cpu_device::to_integer<Integer>(x, cpu_device::Rounding::down, of_nan);    \
    }
CPU_DEVICE_TO_INTEGER(int, __float2int, float, 0)
CPU_DEVICE_TO_INTEGER(unsigned, __float2uint, float, 0u)
CPU_DEVICE_TO_INTEGER(long long, __float2ll, float, LLONG_MIN)
CPU_DEVICE_TO_INTEGER(unsigned long long, __float2ull, float, 1ull << 63)
CPU_DEVICE_TO_INTEGER(int, __double2int, double, INT_MIN)
CPU_DEVICE_TO_INTEGER(unsigned, __double2uint, double, 1u << 31)
CPU_DEVICE_TO_INTEGER(long long, __double2ll, double, LLONG_MIN)
CPU_DEVICE_TO_INTEGER(unsigned long long, __double2ull, double, 1ull << 63)
#undef CPU_DEVICE_TO_INTEGER
