// SPDX-License-Identifier: MIT
// The reference is the encoder in double precision, one sequence after the other, so that there is no padding.
//
// Beside each number it keeps the variance of what float arithmetic and roundings to the element type have made of it
// by then. A worst case in place of that, each error as bad as it can be, and all of one sign, would grow by the
// sum of a row's weights with every product: after a few layers it says nothing. Errors of roundings are as good as
// independent (Higham & Mary 2019), and so:
//   - a rounding to the type adds (t |x|)^2, t its unit; a sum in float, in whatever order, (u |partial sum|)^2 for each term;
//     every step counts as if it rounded to the type, as kernels do that follow each other
//   - a product adds the variances of what is added up, each times the square of its weight
//   - to a residual the variance of what was made of it is added: of its own errors one in n is among those there
//   - an activation passes on as much as it is steep, and is off by 8 u |x| itself
//   - softmax: the error of a score s moves the result o towards its value v by p (v - o), p its weight; a weight
//     is rounded to the type, too, before it is multiplied
//   - a norm z = (x - mean) / S passes on the error of x by 1 / S, of the mean by 1 / (n S), of S by z / S
//   - a rounding to 8 bits is carried out here as well. Where the value is off by s, two roundings may end at neighbours, q
//     apart: with a probability of about s / q, so the variance grows by s q, and at most by about that of a rounding
// The bound is 6 standard deviations and the last rounding; in 8 bits 9. There numbers of a row round to neighbours together, so after
// many layers some rows are off by more than variances of single numbers show (seen on an H200). All this is of first order: where a score is off by
// more than a quarter, or a row by more than a quarter of its S, nothing is known (an infinite variance), and any
// finite number is accepted. Where a number may have overflowed on the way (a variance of NaN) anything goes.
#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_fp8.h>

#include "common/operations/elements.cuh"
#include "common/operations/encoder/numbers_of_8_bits.cuh"
#include "common/operations/encoder/operation.hpp"
#include "common/operations/softmax/inputs.cuh"
#include "common/operations/tokens/activated.cuh"
#include "common/runner/build_info.hpp"

namespace operations::encoder {

using runner::to_double;
using runner::View;
using softmax::Precision;
using softmax::precision_of;

// variance < 0: there is no token, and 0 alone is right.
struct Uncertain {
    double value, variance;
};

constexpr double kDeviations = 6,
                 kDeviationsIn8Bits = 9;  // of a result from the reference, at most

struct Rules {
    double sum_unit, unit, smallest, largest;

    explicit Rules(DType dtype) {
        const Precision precision = precision_of(dtype);
        sum_unit = precision.narrow ? 0x1p-23 : 0x1p-24;  // tensor cores cut off
        unit = std::ldexp(1., -precision.fraction_bits - 1);
        smallest = precision.subnormal;
        largest = precision.overflow;
    }
    // Rounded so often.
    __host__ __device__ Uncertain stored(double value, double variance, int times = 1) const {
        constexpr double kRoom =
            64;  // for a value of which nothing is known but about how large it is
        const double off = unit * fabs(value) + smallest;
        const bool fits = fabs(value) < (variance < INFINITY ? largest : largest / kRoom);
        return {value, fits ? variance + times * off * off : NAN};
    }
};

struct Sum {
    double unit, value = 0, variance = 0;
    // A term that may be off by so much.
    __host__ __device__ void add(double term, double its_variance) {
        value += term;
        variance += its_variance + unit * unit * value * value;
    }
};

__host__ __device__ inline double square(double x) {
    return x * x;
}

// A variance that is not known stays so, whatever it is multiplied by.
__host__ __device__ inline double scaled(double variance, double factor) {
    return variance < INFINITY ? variance * factor : variance;
}

template <class T>
struct Load {
    const T* x;
    Uncertain* states;
    __host__ __device__ void operator()(int64_t i) const { states[i] = {to_double(x[i]), 0}; }
};

// x, rounded to 8 bits with a step. The kernels divide by the step in float.
template <class E>
__host__ __device__ Uncertain in_8_bits(const Uncertain& x, double step) {
    if (!(fabs(x.value) < INFINITY)) return x;
    const double off = sqrt(x.variance) + 4 * elements::kFloatUnit * fabs(x.value);
    const double apart = Numbers<E>::spacing(x.value / step) * step;
    // The share of values that end at a neighbour is at most 1.
    return {Numbers<E>::nearest(x.value / step) * step,
            x.variance + fmin(apart * off, square(apart) / 4)};
}
template <class E>
struct RoundTo8Bits {
    const float* step;
    Uncertain* x;
    bool is_residual;  // a single one that another kernel rounds to its neighbour stands for itself
    __host__ __device__ void operator()(int64_t i) const {
        const double apart = Numbers<E>::spacing(x[i].value / *step) * *step;
        x[i] = in_8_bits<E>(x[i], *step);
        if (is_residual) x[i].variance += square(apart / kDeviations);
    }
};

// What a product in 8 bits has beside its operands; of other products E is their type, and there are no steps.
template <class E>
struct Steps {
    const float* of_input = nullptr;
    const float* of_weights = nullptr;  // a number for each output
    const float* of_result =
        nullptr;  // not nullptr: the product is rounded to 8 bits before the bias
};

// out = in weight^T + bias, and its activation. i: number of the element. W: the weights' type.
template <class T, class W>
struct Product {
    static constexpr bool kIs8Bits = sizeof(W) == 1;
    const Uncertain* in;
    const W* weight;
    const T* bias;  // nullptr: none
    int64_t inputs, outputs;
    bool is_activated;
    Activation activation;
    Rules rules;
    Uncertain* out;
    Steps<W> steps;

    // Of the activation: the steeper of both sides, as far as x may be off.
    __host__ __device__ double slope(const Uncertain& x) const {
        const double step = fmax(1e-4, sqrt(x.variance)),
                     at = tokens::activated(activation, x.value);
        return fmax(fabs(tokens::activated(activation, x.value + step) - at),
                    fabs(at - tokens::activated(activation, x.value - step))) /
               step;
    }
    __host__ __device__ void operator()(int64_t i) const {
        const Uncertain* const row = in + i / outputs * inputs;
        const W* const weights = weight + i % outputs * inputs;
        // Tensor cores keep 14 bits of a sum of e4m3 products; sums of integers are exact.
        Sum sum{!kIs8Bits ? rules.sum_unit : Numbers<W>::kIsInteger ? 0. : 0x1p-13};
        double widest =
            0;  // what a single input that another kernel rounds to its neighbour changes
        for (int64_t k = 0; k < inputs; ++k) {
            double w = to_double(weights[k]);
            if constexpr (kIs8Bits) {
                const double step = *steps.of_input;
                w *= steps.of_weights[i % outputs];
                widest = fmax(widest, Numbers<W>::spacing(row[k].value / step) * step * fabs(w));
            }
            sum.add(row[k].value * w, scaled(row[k].variance, w * w));
        }
        // Few of them are no normal distribution: two fit into the bound.
        sum.variance += square(2 * widest / kDeviations);
        Uncertain result = rules.stored(sum.value, sum.variance);
        if constexpr (kIs8Bits) {
            if (steps.of_result != nullptr) {
                result = in_8_bits<W>(result, *steps.of_result);
                result.variance += square(*steps.of_result / kDeviations);  // one neighbour
            }
        }
        if (bias != nullptr)
            result = rules.stored(result.value + to_double(bias[i % outputs]), result.variance);
        if (is_activated) {
            constexpr double kRoundings = 8, kOfGeluIn8Bits = 0x1p-9;
            const bool is_in_half = kIs8Bits && activation == Activation::gelu;
            const double own = is_in_half ? kOfGeluIn8Bits * result.value / kDeviations
                                          : kRoundings * elements::kFloatUnit * result.value;
            result = rules.stored(tokens::activated(activation, result.value),
                                  scaled(result.variance, square(slope(result))) + square(own));
        }
        out[i] = result;
    }
};

// Attention within one sequence of so many tokens. Scores: [heads, tokens, tokens].
struct Scores {
    const Uncertain* qkv;  // a row of [3, heads, size] a token
    int64_t tokens, heads, size;
    double scale;
    Rules rules;
    Uncertain* scores;

    __host__ __device__ void operator()(int64_t i) const {
        const int64_t key = i % tokens, query = i / tokens % tokens, head = i / tokens / tokens;
        const Uncertain* const q = qkv + query * 3 * heads * size + head * size;
        const Uncertain* const k = qkv + (key * 3 + 1) * heads * size + head * size;
        Sum sum{rules.sum_unit};
        for (int64_t n = 0; n < size; ++n)
            sum.add(q[n].value * k[n].value, scaled(q[n].variance, square(k[n].value)) +
                                                 scaled(k[n].variance, square(q[n].value)));
        const Uncertain score = rules.stored(scale * sum.value, square(scale) * sum.variance);
        // exp is off by 2^-22 of itself, and so is each factor by which a sum is brought to another maximum.
        scores[i] = {score.value,
                     score.variance + square(0x1p-22) * static_cast<double>(tokens + 8)};
    }
};
struct Weights {  // of a query's scores, in place
    int64_t tokens;
    Uncertain* scores;

    __host__ __device__ void operator()(int64_t i) const {
        Uncertain* const row = scores + i * tokens;
        double max = -INFINITY, sum = 0;
        for (int64_t key = 0; key < tokens; ++key) max = fmax(max, row[key].value);
        for (int64_t key = 0; key < tokens; ++key) sum += exp(row[key].value - max);
        for (int64_t key = 0; key < tokens; ++key) {
            row[key].value = exp(row[key].value - max) / sum;
            if (row[key].variance > square(0.25)) row[key].variance = INFINITY;
        }
    }
};
struct Context {
    const Uncertain* qkv;
    const Uncertain* weights;
    int64_t tokens, heads, size;
    Rules rules;
    Uncertain* context;

    __host__ __device__ void operator()(int64_t i) const {
        const int64_t col = i % (heads * size), query = i / (heads * size), head = col / size;
        const Uncertain* const row = weights + (head * tokens + query) * tokens;
        const auto value = [&](int64_t key) { return qkv[(key * 3 + 2) * heads * size + col]; };
        double mean = 0;
        for (int64_t key = 0; key < tokens; ++key) mean += row[key].value * value(key).value;
        Sum sum{rules.sum_unit};
        for (int64_t key = 0; key < tokens; ++key) {
            const double p = row[key].value;
            const Uncertain v = value(key);
            sum.add(p * v.value, scaled(row[key].variance, square(p * (v.value - mean))) +
                                     scaled(v.variance, square(p)) +
                                     square((rules.unit * p + rules.smallest) * v.value));
        }
        context[i] = rules.stored(mean, sum.variance, 2);
    }
};

// states += product + bias.
template <class T>
struct AddUp {
    const Uncertain* product;
    const T* bias;
    int64_t hidden;
    Rules rules;
    Uncertain* states;

    __host__ __device__ void operator()(int64_t i) const {
        states[i] = rules.stored(product[i].value + to_double(bias[i % hidden]) + states[i].value,
                                 product[i].variance + states[i].variance, 2);
    }
};

struct RowStatistics {
    double mean, root;
    double of_mean, of_root;  // variances: of the mean, and of the root relative to itself
};
struct FindStatistics {
    const Uncertain* states;
    int64_t hidden;
    double epsilon;
    RowStatistics* rows;

    __host__ __device__ void operator()(int64_t row) const {
        const Uncertain* const x = states + row * hidden;
        const auto count = static_cast<double>(hidden);
        double mean = 0, magnitude = 0, variance = 0;
        for (int64_t i = 0; i < hidden; ++i) {
            mean += x[i].value / count;
            magnitude += fabs(x[i].value) / count;
        }
        for (int64_t i = 0; i < hidden; ++i) variance += square(x[i].value - mean) / count;
        const double root = sqrt(variance + epsilon);
        double of_all = 0, of_root = 0;
        for (int64_t i = 0; i < hidden; ++i) {
            of_all += x[i].variance / count;
            of_root += scaled(x[i].variance, square((x[i].value - mean) / root / count));
        }
        const double sums = elements::kFloatUnit * (sqrt(count) + 8);
        const bool is_unknown = of_all >= square(0.25 * root);
        rows[row] = {mean, root, is_unknown ? INFINITY : of_all / count + square(sums * magnitude),
                     of_root / square(root) + square(sums)};
    }
};
template <class T>
struct Normalize {
    const Uncertain* states;
    const T* gamma;
    const T* beta;
    const RowStatistics* rows;
    int64_t hidden;
    Rules rules;
    Uncertain* out;

    __host__ __device__ void operator()(int64_t i) const {
        const RowStatistics of = rows[i / hidden];
        const double factor = to_double(gamma[i % hidden]), offset = to_double(beta[i % hidden]);
        const double z = (states[i].value - of.mean) / of.root;
        const double variance =
            (states[i].variance + of.of_mean) / square(of.root) + scaled(of.of_root, square(z));
        const double own = 4 * elements::kFloatUnit * (fabs(z * factor) + fabs(offset));
        out[i] = rules.stored(z * factor + offset, scaled(variance, square(factor)) + square(own));
    }
};

struct Keep {
    const Uncertain* from;
    Uncertain* to;
    __host__ __device__ void operator()(int64_t i) const { to[i] = from[i]; }
};

// Elements on the device or on the host.
template <class Element>
class Scratch {
public:
    Scratch(bool device, int64_t count)
        : on_host_(device ? 0 : static_cast<size_t>(count)),
          on_device_(device ? static_cast<size_t>(count) : 0),
          data_(device ? on_device_.data() : on_host_.data()) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    Element* data() { return data_; }
    // The first of them. Waits for the device.
    std::vector<Element> values(int64_t count) const {
        const auto wanted = static_cast<size_t>(count);
        if (on_device_.size() == 0) return {on_host_.begin(), on_host_.begin() + count};
        std::vector<Element> all(wanted);
        if (count > 0)
            runner::check_cuda(
                cudaMemcpy(all.data(), data_, wanted * sizeof(Element), cudaMemcpyDeviceToHost),
                "reading what a checker found");
        return all;
    }

private:
    std::vector<Element> on_host_;
    runner::DeviceBuffer<Element> on_device_;
    Element* data_;
};

// All layers, for one sequence after the other. W: the weights' type; 8-bit weights have steps.
template <class W>
constexpr Kind kKindOf = std::is_same_v<W, __nv_fp8_e4m3> ? Kind::e4m3
                         : std::is_same_v<W, int8_t>      ? Kind::s8
                                                          : Kind::plain;
template <class T, class W = T>
class Reference {
public:
    static constexpr bool kIs8Bits = sizeof(W) == 1;

    Reference(bool device, const View& inputs, const Shape& shape)
        : device_(device),
          inputs_(inputs),
          s_(shape),
          states_(device, shape.seq * shape.hidden()),
          normed_(device, shape.seq * shape.hidden()),
          product_(device, shape.seq * shape.hidden()),
          wide_(device, shape.seq * std::max(3 * shape.hidden(), shape.inner_size())),
          scores_(device, shape.heads * shape.seq * shape.seq),
          rows_(device, shape.seq) {}

    // Rounds nothing to 8 bits from here on, but keeps the largest magnitudes of what would be.
    void calibrate() { largest_.assign(static_cast<size_t>(s_.layers * kRounded), 0); }
    const std::vector<double>& largest() const { return largest_; }

    // From x to result, [tokens, hidden] each.
    void run(const T* x, Uncertain* result, int64_t tokens) {
        tokens_ = tokens;
        each(tokens * s_.hidden(), Load<T>{x, states_.data()});
        for (int64_t layer = 0; layer < s_.layers; ++layer) {
            layer_ = layer;
            Uncertain* const from = s_.prenorm ? normed_.data() : states_.data();
            if (s_.prenorm) norm("attention_gamma", "attention_beta", from);
            multiply(input(from, kQkvInput), "qkv", s_.hidden(), 3 * s_.hidden(), wide_.data());
            attend();
            round(kOutputInput, normed_, s_.hidden());
            multiply(normed_.data(), "output", s_.hidden(), s_.hidden(), product_.data(), false);
            add_up("output_bias");
            s_.prenorm ? norm("feed_forward_gamma", "feed_forward_beta", from)
                       : norm("attention_gamma", "attention_beta", from);
            multiply(input(from, kInnerInput), "inner", s_.hidden(), s_.inner_size(), wide_.data(),
                     true, true);
            round(kOuterInput, wide_, s_.inner_size());
            multiply(wide_.data(), "outer", s_.inner_size(), s_.hidden(), product_.data(), false);
            add_up("outer_bias");
            if (!s_.prenorm) norm("feed_forward_gamma", "feed_forward_beta", from);
        }
        each(tokens * s_.hidden(), Keep{states_.data(), result});
    }

private:
    template <class Work>
    void each(int64_t count, const Work& work) {
        elements::for_each(device_, count, work);
    }
    template <class Element>
    const Element* parameter(const std::string& name) const {
        for (const Parameter& each : parameters_of(s_, kKindOf<W>)) {
            if (each.name != name) continue;
            int64_t of_layer = 1;
            for (size_t dim = 1; dim < each.dims.size(); ++dim) of_layer *= each.dims[dim];
            return static_cast<const Element*>(inputs_[name].data) + layer_ * of_layer;
        }
        throw std::out_of_range(name);
    }
    bool is_calibrating() const { return !largest_.empty(); }
    const float* step(Rounded which) const { return parameter<float>("steps") + which; }

    // In 8 bits rounds the first `cols` numbers of each token, which lie one after another.
    void round(Rounded which, Scratch<Uncertain>& x, int64_t cols, bool is_residual = false) {
        if constexpr (kIs8Bits) {
            if (is_calibrating()) return see(which, x, tokens_ * cols);
            each(tokens_ * cols, RoundTo8Bits<W>{step(which), x.data(), is_residual});
        }
    }
    void see(Rounded which, const Scratch<Uncertain>& x, int64_t count) {
        std::vector<double> magnitudes;
        for (const Uncertain& each : x.values(count)) {
            if (std::isfinite(each.value)) magnitudes.push_back(std::abs(each.value));
        }
        if (magnitudes.empty()) return;
        const auto last = static_cast<double>(magnitudes.size() - 1);
        const auto at = magnitudes.begin() + static_cast<int64_t>(s_.percentile / 100 * last);
        std::nth_element(magnitudes.begin(), at, magnitudes.end());
        double& largest = largest_.at(static_cast<size_t>(layer_ * kRounded + which));
        largest = std::max(largest, *at);
    }
    // What the product reads whose input is `from`. With 8-bit results the residual is the rounded input as well; otherwise it is
    // the input before its rounding, and normed_ is free.
    const Uncertain* input(Uncertain* from, Rounded which) {
        if constexpr (kIs8Bits) {
            Scratch<Uncertain>& rounded = s_.has_8_bit_results ? states_ : normed_;
            if (rounded.data() != from) each(tokens_ * s_.hidden(), Keep{from, rounded.data()});
            round(which, rounded, s_.hidden(), s_.has_8_bit_results);
            return rounded.data();
        }
        return from;
    }
    void multiply(const Uncertain* in, const std::string& name, int64_t inputs, int64_t outputs,
                  Uncertain* out, bool with_bias = true, bool is_activated = false) {
        const T* const bias = with_bias ? parameter<T>(name + "_bias") : nullptr;
        Product<T, W> product{in,
                              parameter<W>(name + "_weight"),
                              bias,
                              inputs,
                              outputs,
                              is_activated,
                              s_.activation,
                              rules_,
                              out,
                              {}};
        if constexpr (kIs8Bits) {
            const Rounded which = name == "qkv"      ? kQkvInput
                                  : name == "output" ? kOutputInput
                                  : name == "inner"  ? kInnerInput
                                                     : kOuterInput;
            const auto result = static_cast<Rounded>(which + kQkvResult - kQkvInput);
            product.steps.of_weights = parameter<float>(name + "_steps");
            product.steps.of_input = step(which);
            if (is_calibrating()) {
                product.bias = nullptr;
                product.is_activated = false;
                each(tokens_ * outputs, product);
                see(result, out == wide_.data() ? wide_ : product_, tokens_ * outputs);
                product.bias = bias;
                product.is_activated = is_activated;
            } else if (s_.has_8_bit_results) {
                product.steps.of_result = step(result);
            }
        }
        each(tokens_ * outputs, product);
    }
    // From wide_ to normed_, which is free.
    void attend() {
        const double scale = 1 / std::sqrt(static_cast<double>(s_.size));
        each(s_.heads * tokens_ * tokens_,
             Scores{wide_.data(), tokens_, s_.heads, s_.size, scale, rules_, scores_.data()});
        each(s_.heads * tokens_, Weights{tokens_, scores_.data()});
        each(tokens_ * s_.hidden(), Context{wide_.data(), scores_.data(), tokens_, s_.heads,
                                            s_.size, rules_, normed_.data()});
    }
    void add_up(const std::string& bias) {
        each(tokens_ * s_.hidden(),
             AddUp<T>{product_.data(), parameter<T>(bias), s_.hidden(), rules_, states_.data()});
    }
    void norm(const std::string& gamma, const std::string& beta, Uncertain* out) {
        each(tokens_, FindStatistics{states_.data(), s_.hidden(), s_.epsilon, rows_.data()});
        each(tokens_ * s_.hidden(),
             Normalize<T>{states_.data(), parameter<T>(gamma), parameter<T>(beta), rows_.data(),
                          s_.hidden(), rules_, out});
    }

    const bool device_;
    const View& inputs_;
    const Shape s_;
    const Rules rules_{runner::dtype_of<T>};
    Scratch<Uncertain> states_, normed_, product_, wide_, scores_;
    Scratch<RowStatistics> rows_;
    std::vector<double> largest_;  // of each layer's Rounded; empty unless calibrate() was called
    int64_t tokens_ = 0, layer_ = 0;
};

// Calls visitor(Type<W>) with the weights' type.
template <class T, class Visitor>
decltype(auto) visit_weights(Kind kind, const Visitor& visitor) {
    if constexpr (sizeof(T) == 2) {
        if (kind == Kind::e4m3) return visitor(runner::Type<__nv_fp8_e4m3>{});
        if (kind == Kind::s8) return visitor(runner::Type<int8_t>{});
    } else if (kind != Kind::plain) {
        throw std::invalid_argument("8-bit weights go with 16-bit numbers alone");
    }
    return visitor(runner::Type<T>{});
}

}  // namespace operations::encoder
