// SPDX-License-Identifier: MIT
#include "common/operations/encoder/check.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <cuda_fp8.h>

#include "common/operations/elements.cuh"
#include "common/operations/encoder/numbers_of_8_bits.cuh"
#include "common/operations/heads/check.hpp"
#include "common/operations/named_inputs.hpp"
#include "common/operations/softmax/inputs.cuh"

namespace operations::encoder {
namespace {

using runner::mix;
using runner::View;

struct Named {
    const char* name;
    const char* summary;
    double x = 1;        // standard deviation of hidden states
    double queries = 1;  // of queries and keys, as a multiple of what it is otherwise
    bool special = false;
};
constexpr const char *kSharp = "sharp", *kWide = "wide";
constexpr const char* kSpecial = "special_values";
constexpr Named kInputs[] = {
    {kNormal, "mean 0, standard deviation 1 (nearly); sequences of any length"},
    {kFirstFull, "as normal; sequences full or empty, but for one"},
    {kSharp, "queries and keys twice as large: few keys count", 1, 2},
    {kWide, "normal, hidden states times 4", 4},
    {kSpecial, "one sequence of four with NaN in a token", 1, 1, true},
};

struct Value {
    uint64_t seed;
    double mean, deviation;

    __host__ __device__ double operator()(int64_t i) const {
        return mean +
               deviation * softmax::nearly_normal(mix(seed + static_cast<uint64_t>(i)), false);
    }
};

// Hidden states: NaN where there is no token, and in one token of special sequences.
struct StateValue {
    Value value;
    const int32_t* lengths;
    int64_t seq, hidden;
    bool special;

    __host__ __device__ double operator()(int64_t i) const {
        const int64_t s = i / hidden % seq, b = i / hidden / seq;
        const bool is_special = special && b % 4 == 1 && s == 0 && i % hidden == 0;
        return s < lengths[b] && !is_special ? value(i) : NAN;
    }
};

// Of rows of a matrix or a bias: those of queries and keys, the first two thirds, are larger.
struct QkvValue {
    Value value;
    int64_t row, hidden;  // elements of a row; rows of Q, of K, of V
    double factor;

    __host__ __device__ double operator()(int64_t i) const {
        return (i / row % (3 * hidden) < 2 * hidden ? factor : 1) * value(i);
    }
};

// Where a matrix of 8 bits lies in device memory, and the numbers that it is made of.
template <class E, class At>
struct Quantised {
    E* elements;
    const float* steps;
    int64_t cols;
    At at;
    __host__ __device__ void operator()(int64_t i) const {
        elements[i] =
            static_cast<E>(static_cast<float>(Numbers<E>::nearest(at(i) / steps[i / cols])));
    }
};
template <class At>
struct StepOfRow {
    float* steps;
    int64_t cols;
    double largest;  // number of the type
    bool are_given;  // those that are not 0
    At at;
    __host__ __device__ void operator()(int64_t row) const {
        if (are_given && steps[row] != 0) return;
        double most = 0;
        for (int64_t i = 0; i < cols; ++i) most = fmax(most, fabs(at(row * cols + i)));
        steps[row] = most > 0 ? static_cast<float>(most / largest) : 1.f;
    }
};
template <class At>
void fill_in_8_bits(const View& inputs, Kind kind, const Parameter& matrix, const At& at,
                    bool are_given = false) {
    const int64_t rows = matrix.dims[0] * matrix.dims[1], cols = matrix.dims[2];
    auto* const steps = static_cast<float*>(inputs[steps_of(matrix.name)].data);
    const auto fill_as = [&](auto of) {
        using E = typename decltype(of)::type;
        elements::for_each(true, rows,
                           StepOfRow<At>{steps, cols, Numbers<E>::largest(), are_given, at});
        elements::for_each(
            true, rows * cols,
            Quantised<E, At>{static_cast<E*>(inputs[matrix.name].data), steps, cols, at});
    };
    if (kind == Kind::e4m3) fill_as(runner::Type<__nv_fp8_e4m3>{});
    if (kind == Kind::s8) fill_as(runner::Type<int8_t>{});
}

struct ListedValue {
    const double* values;
    __host__ __device__ double operator()(int64_t i) const { return values[i]; }
};

double root_of(int64_t count) {
    return std::sqrt(static_cast<double>(std::max<int64_t>(1, count)));
}

}  // namespace

std::vector<runner::NamedInput> all_inputs(Kind kind) {
    std::vector<runner::NamedInput> all = listed(kInputs);
    const auto is_left_out = [&](const runner::NamedInput& each) {
        return (kind != Kind::plain && (each.name == kSharp || each.name == kWide)) ||
               (kind == Kind::s8 && each.name == kSpecial);
    };
    all.erase(std::remove_if(all.begin(), all.end(), is_left_out), all.end());
    return all;
}

void quantise(const View& inputs, Kind kind, const Parameter& matrix,
              const std::vector<double>& values, const std::vector<float>& steps) {
    const runner::DeviceBuffer<double> on_device(values);
    runner::check_cuda(cudaMemcpy(inputs[steps_of(matrix.name)].data, steps.data(),
                                  steps.size() * sizeof(float), cudaMemcpyHostToDevice),
                       "filling steps");
    fill_in_8_bits(inputs, kind, matrix, ListedValue{on_device.data()}, true);
    runner::check_cuda(cudaDeviceSynchronize(), "rounding weights to 8 bits");
}

void fill(const View& inputs, const Shape& shape, Kind kind, DType dtype, const std::string& input,
          uint64_t seed, bool with_x) {
    const Named& named = input_named(input, kInputs);
    heads::Shape by_heads(shape.batch, shape.seq, shape.heads, shape.size, shape.tokens);
    const std::vector<int32_t> lengths = heads::lengths_of(by_heads, input, seed);
    if (!lengths.empty())
        runner::check_cuda(cudaMemcpy(inputs["lengths"].data, lengths.data(),
                                      lengths.size() * sizeof(int32_t), cudaMemcpyHostToDevice),
                           "filling lengths");
    uint64_t number = 0;
    for (const Parameter& each : parameters_of(shape)) {
        int64_t count = 1;
        for (const int64_t dim : each.dims) count *= dim;
        const bool is_matrix = each.dims.size() == 3;
        const bool is_gamma = each.name.find("gamma") != std::string::npos;
        // So that a product's results are as large as what is multiplied.
        const Value value{mix(seed + ++number), is_gamma ? 1. : 0.,
                          is_matrix ? 1 / root_of(each.dims[2]) : 0.25};
        const double factor = each.name.find("qkv") == 0 ? named.queries : 1;
        const QkvValue at{value, is_matrix ? each.dims[2] : 1, shape.hidden(), factor};
        if (is_matrix && kind != Kind::plain) {
            fill_in_8_bits(inputs, kind, each, at);
        } else {
            elements::fill(inputs[each.name].data, dtype, count, at);
        }
    }
    if (with_x) {
        const Value value{mix(seed), 0, named.x};
        elements::fill(inputs["x"].data, dtype, shape.batch * shape.seq * shape.hidden(),
                       StateValue{value, static_cast<const int32_t*>(inputs["lengths"].data),
                                  shape.seq, shape.hidden(), named.special});
    }
    if (kind != Kind::plain) calibrate(inputs, shape, kind, dtype);
}

}  // namespace operations::encoder
