// SPDX-License-Identifier: MIT
// The cross-entropy of rows of logits with a target each, and its gradient, as operations of the runner.
#pragma once
#include <cstdint>
#include <vector>

#include "common/runner/operation.hpp"

namespace operations::cross_entropy {

using runner::DType;

// With x a row of logits, y its target, w the class weights (1 without), s label_smoothing, z z_loss:
//
//     lse    log of the sum of exp(x)
//     loss   (1 - s) w[y] (lse - x[y]) + s / cols * sum over c of w[c] (lse - x[c]) + z lse^2
//
// as PyTorch's cross_entropy, and z as in Liger-Kernel. With soft_cap, x is soft_cap * tanh(logit / soft_cap)
// throughout. A row whose target is ignore_index does not count: its loss, lse and gradient are 0, whatever its logits.
// A row with any other target out of range is NaN throughout: nothing is read out of range, and the mistake shows.
//
// mean: a row's loss is its share of the mean. The first two terms are divided by the weight of the rows that count,
// the sum of their w[y]; the last by their number. (A row whose target is out of range counts with weight 1.) With mean or
// sum, `totals` has the sum of all losses (of mean: NaN where no row counts), that weight, and that number.
//
// cross_entropy_loss: loss and lse. cross_entropy: these, and the gradient of the logits: of the losses times
// grad_output, one a row, or one for mean and sum.
//
// Losses, lse, totals, class weights and grad_output are double for logits in double, else float.
enum class Kind { cross_entropy_loss, cross_entropy };
const char* name_of(Kind kind);

constexpr const char* kTargetBits = "target_bits";  // 64, or 32: of a target
constexpr const char* kIgnoreIndex = "ignore_index";
constexpr const char* kLabelSmoothing = "label_smoothing";
constexpr const char* kZLoss = "z_loss";
constexpr const char* kSoftCap = "soft_cap";            // 0: none
constexpr const char* kClassWeights = "class_weights";  // whether there are any
constexpr const char* kMean = "mean";
constexpr const char* kSum = "sum";

struct Options {
    int64_t target_bits = 64;
    int64_t ignore_index = -100;
    double label_smoothing = 0;
    double z_loss = 0;
    double soft_cap = 0;
    bool class_weights = false;
    bool mean = false;
    bool sum = false;

    bool reduces() const { return mean || sum; }
};

struct Shape {
    Shape(int64_t all_rows, int64_t all_cols, const Options& how = {})
        : rows(all_rows), cols(all_cols), options(how) {}
    Shape(const runner::Shape& shape);
    operator runner::Shape() const;  // without what is as usual

    int64_t rows;
    int64_t cols;
    Options options;
};

// The one object for each; variants point to it.
const runner::Operation* operation_of(Kind kind);

}  // namespace operations::cross_entropy
