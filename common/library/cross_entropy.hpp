// SPDX-License-Identifier: MIT
//
// What cross_entropy and cross_entropy_loss share in the C interface.
#pragma once
#include <front_calls/cross_entropy.cuh>

#include <cmath>

#include "call.hpp"

namespace library {

struct LossProblem {
    static constexpr bool kDoubles = true;
    int64_t rows, cols;
    softmax_stages_cross_entropy_options options;

    LossProblem(int64_t rows_, int64_t cols_, const softmax_stages_cross_entropy_options* given)
        : rows(rows_),
          cols(cols_),
          options(given != nullptr ? *given : softmax_stages_cross_entropy_defaults()) {}

    template <class T>
    softmax_stages::CrossEntropyOptions<T> in_cpp() const {
        using Sum = SumOf<T>;
        return {static_cast<softmax_stages::Reduction>(options.reduction),
                options.ignore_index,
                static_cast<Sum>(options.label_smoothing),
                static_cast<Sum>(options.z_loss),
                static_cast<Sum>(options.soft_cap),
                static_cast<const Sum*>(options.class_weights),
                static_cast<const Sum*>(options.grad_output),
                static_cast<Sum*>(options.lse),
                static_cast<Sum*>(options.totals)};
    }
    bool is_empty() const { return rows == 0 || cols == 0; }
    void explain(Findings& findings, int type) const {
        constexpr int64_t kMost = INT32_MAX - 1024;
        // In the type of the sums, as the call checks them.
        const auto is_finite = [&](double x) {
            return std::isfinite(type == SOFTMAX_STAGES_FLOAT64 ? x : static_cast<float>(x));
        };
        findings.size("rows", rows, kMost);
        findings.size("cols", cols, kMost);
        findings.need(
            options.reduction >= SOFTMAX_STAGES_NONE && options.reduction <= SOFTMAX_STAGES_SUM,
            "options.reduction is %d; it must be SOFTMAX_STAGES_NONE, _MEAN or _SUM",
            options.reduction);
        findings.need(options.label_smoothing >= 0 && options.label_smoothing <= 1,
                      "options.label_smoothing is %g; it must be from 0 to 1",
                      options.label_smoothing);
        findings.need(options.z_loss >= 0 && is_finite(options.z_loss),
                      "options.z_loss is %g; it must be at least 0 and finite", options.z_loss);
        findings.need(options.soft_cap >= 0 && is_finite(options.soft_cap),
                      "options.soft_cap is %g; it must be at least 0 and finite", options.soft_cap);
    }
    // gradient: nullptr if `has_gradient` is false.
    void explain_operands(Findings& findings, int type, const void* logits, int target_type,
                          const void* targets, const void* loss, bool has_gradient,
                          const void* gradient) const {
        const size_t sums = bytes_of_sum(type);
        findings.index_type("targets", target_type);
        findings.address("logits", logits, bytes_of_type(type));
        findings.address("targets", targets, bytes_of_type(target_type));
        findings.address("loss", loss, sums);
        if (has_gradient) findings.address("gradient", gradient, bytes_of_type(type));
        findings.address("options.class_weights", options.class_weights, sums, true);
        findings.address("options.grad_output", options.grad_output, sums, true);
        findings.address("options.lse", options.lse, sums, true);
        findings.need(options.totals != nullptr || options.reduction == SOFTMAX_STAGES_NONE,
                      "options.totals is NULL; a reduction needs a place for 3 numbers");
        findings.address("options.totals", options.totals, sums, true);
    }
};

}  // namespace library
