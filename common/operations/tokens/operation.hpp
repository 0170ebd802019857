// SPDX-License-Identifier: MIT
// What an encoder does to each token's row of `hidden` numbers between its matrix products, as operations of the
// runner.
#pragma once
#include <cstdint>

#include "common/runner/operation.hpp"

namespace operations::tokens {

using runner::DType;

// add_bias_activation: y = f(x + bias). f is GELU unless an option names another.
// add_bias_residual_layernorm: y = layernorm(x + bias + residual) * gamma + beta.
// add_bias_residual_prenorm: the same, and the sum is a result, too.
enum class Kind { add_bias_activation, add_bias_residual_layernorm, add_bias_residual_prenorm };
constexpr Kind kAllKinds[] = {Kind::add_bias_activation, Kind::add_bias_residual_layernorm,
                              Kind::add_bias_residual_prenorm};

// Whether arithmetic is in float and each result rounded once, or each step rounds to the element type: as do
// kernels that follow each other, and half2 arithmetic. That has bounds of its own, and is an operation of its
// own, comparable with the other.
enum class Rounding { once, each_step };

enum class Activation { gelu, gelu_by_tanh, relu, silu };
constexpr const char* kByTanh = "tanh";
constexpr const char* kRelu = "relu";
constexpr const char* kSilu = "silu";

constexpr float kEpsilon = 1e-6f;  // what is added to a variance: FasterTransformer's

struct Shape {
    Shape(int64_t tokens, int64_t columns, Activation f = Activation::gelu)
        : rows(tokens), hidden(columns), activation(f) {}
    Shape(const runner::Shape& shape);
    operator runner::Shape() const;

    int64_t rows, hidden;
    Activation activation;
};

// The one object for each; variants point to it.
const runner::Operation* operation_of(Kind kind, Rounding rounding = Rounding::once);

}  // namespace operations::tokens
