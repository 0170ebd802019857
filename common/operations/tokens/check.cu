// SPDX-License-Identifier: MIT
// What each element must be, and how far it may be off. With u the unit of rounding of float, and t that of the
// element type where each step rounds to it (else 0):
//   - A sum s = x + bias + residual is off by e = (2 u + 2 t) (|x| + |bias| + |residual|) at most.
//   - An activation f passes that on by its slope, 1.13 at most, and is off by 8 u |s| itself (erf and tanh are
//     added to 1: where f is small, the digits of 1 are lost), SiLU by as much of its result.
//   - Of a row of n such sums, added up in chains of n / partial sums: the mean is off by n' u times the mean of
//     |s|, n' the roundings of a chain, and so each deviation from it by D = 2 e + that at most. By Minkowski the
//     root of the variance is off by no more than D. So with S = sqrt(variance + epsilon) a normalised value z is
//     off by (|z| + 1) D / (S - D), and by n' u |z| for sums of squares. Where D >= S nothing is known of z but
//     |z| <= sqrt(n).
#include "common/operations/tokens/check.hpp"

#include <cmath>
#include <limits>

#include "common/operations/elements.cuh"
#include "common/operations/named_inputs.hpp"
#include "common/operations/softmax/inputs.cuh"
#include "common/operations/tokens/activated.cuh"
#include "common/runner/build_info.hpp"

namespace operations::tokens {
namespace {

using elements::kFloatUnit;
using runner::mix;
using runner::to_double;
using runner::View;
using softmax::Precision;
using softmax::precision_of;

// ---------------------------------------------------------------- named inputs

enum class Input { normal, large, nearly_constant, constant, wide, tiny, special };
enum class Which : uint64_t { x, bias, residual, gamma, beta };

struct Named {
    Input input;
    const char* name;
    const char* summary;
};
constexpr Named kInputs[] = {
    {Input::normal, kNormal, "mean 0, standard deviation 1 (nearly)"},
    {Input::large, "large", "normal + 1000: exp overflows"},
    {Input::nearly_constant, kNearlyConstant, "rows of 256 with one 255: a variance of nearly 0"},
    {Input::constant, "constant", "all 3.25"},
    {Input::wide, "wide", "normal times 64: products that leave the range of float16"},
    {Input::tiny, "tiny", "normal times 2^-12: products that are subnormal in float16"},
    {Input::special, "special_values", "rows with NaN, rows with infinities"},
};

struct Value {
    Input input;
    Which which;
    uint64_t seed;
    int64_t hidden;

    __host__ __device__ double operator()(int64_t i) const {
        const int64_t row = i / hidden, col = i % hidden;
        const uint64_t bits =
            mix(mix(seed + static_cast<uint64_t>(which)) + static_cast<uint64_t>(i));
        const double normal = softmax::nearly_normal(bits, false);
        if (which == Which::gamma) return 1 + normal / 4;
        if (which == Which::beta) return normal / 4;
        switch (input) {
            case Input::normal:
                return normal;
            case Input::large:
                return which == Which::x ? normal + 1000 : normal;
            case Input::nearly_constant:
                if (which != Which::x) return 0;
                return col == (row * 7 + 3) % hidden ? 255 : 256;
            case Input::constant:
                return 3.25;
            case Input::wide:  // sums of three that half has, and of which it has no sum
                return (which == Which::bias ? 64 : 8192) * normal;
            case Input::tiny:
                return 0x1p-12 * normal;
            case Input::special:
                break;
        }
        if (which == Which::bias || bits % 8 != 0) return normal;
        if (row % 4 == 1) return NAN;
        return row % 4 == 2 ? (bits % 16 == 0 ? INFINITY : -INFINITY) : normal;
    }
};

// ---------------------------------------------------------------- the reference

// What is added up, and how it was rounded.
template <class T>
struct Sums {
    const T* x;
    const T* bias;
    const T* residual;  // nullptr: there is none
    int64_t hidden;

    struct Sum {
        double value, magnitude;
    };
    __host__ __device__ Sum at(int64_t i) const {
        const double a = to_double(x[i]), b = to_double(bias[i % hidden]);
        const double c = residual == nullptr ? 0 : to_double(residual[i]);
        return {a + b + c, fabs(a) + fabs(b) + fabs(c)};
    }
};

// Of one result.
struct Rules {
    Precision precision;
    double step_unit;  // of what each step rounds to; 0: it does not
    double chain;      // roundings of a row's sum

    Rules(DType dtype, const Outputs& outputs, int64_t hidden) : precision(precision_of(dtype)) {
        const bool rounds = outputs.rounding == Rounding::each_step && precision.narrow;
        step_unit = rounds ? ldexp(1., -precision.fraction_bits - 1) : 0;
        const auto partial_sums = static_cast<double>(std::max<int64_t>(1, outputs.partial_sums));
        chain = std::ceil(static_cast<double>(hidden) / partial_sums) + std::log2(partial_sums) + 4;
    }
    __host__ __device__ double sum_error(double magnitude) const {
        // Steps in between may overflow where the sum does not.
        if (step_unit > 0 && magnitude >= precision.overflow) return INFINITY;
        const double smallest = step_unit > 0 ? 2 * precision.subnormal : 0;
        return 2 * (kFloatUnit + step_unit) * magnitude + smallest;
    }
};

template <class T>
struct WantedActivation {
    Sums<T> sums;
    Activation f;
    Rules rules;

    __host__ __device__ Expected operator()(int64_t i) const {
        const auto sum = sums.at(i);
        const double value = activated(f, sum.value);
        if (!(sum.magnitude < INFINITY)) return {value, 0};
        constexpr double kSlope = 1.13, kRoundings = 8;
        // In half2 a cube is rounded three times, and then the factor of x.
        const double steps = rules.step_unit * (f == Activation::gelu_by_tanh ? 4 : 0) *
                             (sum.magnitude + rules.precision.smallest_normal);
        const double own = f == Activation::relu ? 0 : kRoundings * kFloatUnit * fabs(sum.value);
        return elements::expected(value, kSlope * rules.sum_error(sum.magnitude) + own + steps,
                                  rules.precision);
    }
};

template <class T>
struct WantedSum {
    Sums<T> sums;
    Rules rules;

    __host__ __device__ Expected operator()(int64_t i) const {
        const auto sum = sums.at(i);
        if (!(sum.magnitude < INFINITY)) return {sum.value, 0};
        return elements::expected(sum.value, rules.sum_error(sum.magnitude), rules.precision);
    }
};

// Of a row of sums.
struct RowStatistics {
    double mean;
    double root;       // of the variance and epsilon
    double magnitude;  // the mean of |x| + |bias| + |residual|
    double largest;    // of these
};

template <class T>
struct FindStatistics {
    Sums<T> sums;
    RowStatistics* rows;

    __host__ __device__ void operator()(int64_t row) const {
        const int64_t first = row * sums.hidden;
        const auto count = static_cast<double>(sums.hidden);
        RowStatistics found{};
        for (int64_t i = first; i < first + sums.hidden; ++i) {
            const auto sum = sums.at(i);
            found.mean += sum.value / count;
            found.magnitude += sum.magnitude / count;
            found.largest = fmax(found.largest, sum.magnitude);
        }
        double variance = 0;
        for (int64_t i = first; i < first + sums.hidden; ++i) {
            const double deviation = sums.at(i).value - found.mean;
            variance += deviation * deviation / count;
        }
        found.root = sqrt(variance + double{kEpsilon});
        rows[row] = found;
    }
};

template <class T>
struct WantedNorm {
    Sums<T> sums;
    const T* gamma;
    const T* beta;
    const RowStatistics* rows;
    Rules rules;

    __host__ __device__ Expected operator()(int64_t i) const {
        const RowStatistics& row = rows[i / sums.hidden];
        const double factor = to_double(gamma[i % sums.hidden]);
        const double offset = to_double(beta[i % sums.hidden]);
        const double z = (sums.at(i).value - row.mean) / row.root;
        const double value = z * factor + offset;
        if (value != value) return {value, 0};
        if (row.largest > 1e17) return {value, NAN};  // squares may leave the range of float
        const double deviation =
            2 * rules.sum_error(row.largest) + (rules.chain + 1) * kFloatUnit * row.magnitude;
        if (!(deviation < INFINITY)) return {value, NAN};
        const double roundings = (rules.chain + 8) * kFloatUnit;
        const double of_z =
            deviation < row.root ? (fabs(z) + 1) * deviation / (row.root - deviation) : INFINITY;
        const double most = fabs(z) + 1.01 * sqrt(static_cast<double>(sums.hidden));
        return elements::expected(value,
                                  fabs(factor) * (fmin(of_z, most) + roundings * (fabs(z) + 1)) +
                                      2 * kFloatUnit * (fabs(z * factor) + fabs(offset)),
                                  rules.precision);
    }
};

// The judge of one result by its Wanted, of ours and of the previous one.
template <class T, class Wanted>
runner::Report judged(bool device, const Shape& shape, const char* name, const void* ours,
                      const void* previous, const Wanted& wanted, const Wanted& of_previous,
                      const Precision& precision) {
    const int64_t hidden = shape.hidden;
    const elements::Judge<T, Wanted> judge{static_cast<const T*>(ours),
                                           static_cast<const T*>(previous), wanted, of_previous,
                                           precision};
    runner::Report report = elements::judge(device, shape.rows * hidden, judge, [&](int64_t i) {
        return std::string(name) + ", row " + std::to_string(i / hidden) + ", col " +
               std::to_string(i % hidden);
    });
    report.first_output = name;
    return report;
}

template <class T>
runner::Report check_as(bool device, const View& inputs, Kind kind, const Shape& shape,
                        const Outputs& ours, const Outputs* previous) {
    const DType dtype = runner::dtype_of<T>;
    const auto input = [&](const char* name) { return static_cast<const T*>(inputs[name].data); };
    const bool is_norm = kind != Kind::add_bias_activation;
    const Sums<T> sums{input("x"), input("bias"), is_norm ? input("residual") : nullptr,
                       shape.hidden};
    const Rules rules(dtype, ours, shape.hidden);
    const Rules of_previous(dtype, previous == nullptr ? ours : *previous, shape.hidden);
    const void* const other_y = previous == nullptr ? nullptr : previous->y;
    if (!is_norm) {
        return judged<T>(device, shape, "y", ours.y, other_y,
                         WantedActivation<T>{sums, shape.activation, rules},
                         WantedActivation<T>{sums, shape.activation, of_previous}, rules.precision);
    }
    const auto count = static_cast<size_t>(shape.rows);
    std::vector<RowStatistics> on_host(device ? 0 : count);
    runner::DeviceBuffer<RowStatistics> on_device(device ? count : 0);
    RowStatistics* const rows = device ? on_device.data() : on_host.data();
    elements::for_each(device, shape.rows, FindStatistics<T>{sums, rows});
    const runner::Report of_y = judged<T>(
        device, shape, "y", ours.y, other_y,
        WantedNorm<T>{sums, input("gamma"), input("beta"), rows, rules},
        WantedNorm<T>{sums, input("gamma"), input("beta"), rows, of_previous}, rules.precision);
    if (kind != Kind::add_bias_residual_prenorm) return of_y;
    return joined(
        judged<T>(device, shape, "sum", ours.sum, previous == nullptr ? nullptr : previous->sum,
                  WantedSum<T>{sums, rules}, WantedSum<T>{sums, of_previous}, rules.precision),
        of_y);
}

}  // namespace

std::vector<runner::NamedInput> all_inputs() {
    return listed(kInputs);
}

void fill(const View& inputs, Kind kind, const Shape& shape, DType dtype, const std::string& input,
          uint64_t seed, bool with_x) {
    const Input which = input_named(input, kInputs).input;
    const auto fill_one = [&](const char* name, Which operand, int64_t count) {
        elements::fill(inputs[name].data, dtype, count, Value{which, operand, seed, shape.hidden});
    };
    const int64_t all = shape.rows * shape.hidden;
    if (with_x) fill_one("x", Which::x, all);
    fill_one("bias", Which::bias, shape.hidden);
    if (kind == Kind::add_bias_activation) return;
    fill_one("residual", Which::residual, all);
    fill_one("gamma", Which::gamma, shape.hidden);
    fill_one("beta", Which::beta, shape.hidden);
}

runner::Report check_on(bool device, const View& inputs, Kind kind, const Shape& shape, DType dtype,
                        const Outputs& ours, const Outputs* previous) {
    return runner::visit(dtype, [&](auto of) {
        return check_as<typename decltype(of)::type>(device, inputs, kind, shape, ours, previous);
    });
}

runner::Report check(const View& inputs, Kind kind, const Shape& shape, DType dtype,
                     const Outputs& ours, const Outputs* previous) {
    runner::check_cuda(cudaDeviceSynchronize(), "running the variant");
    return check_on(runner::on_gpu(), inputs, kind, shape, dtype, ours, previous);
}

}  // namespace operations::tokens
