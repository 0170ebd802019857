// SPDX-License-Identifier: MIT
// A top-k of a stage as a variant of the runner: of float, half and bfloat16, with indices of either width.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "common/operations/topk/operation.hpp"
#include "common/runner/stage.hpp"

namespace operations::topk {

// Variant::obstacle of what takes so long a list, and so long a row, at most.
inline std::function<std::string(const runner::Shape&, DType)> at_most(
    int64_t most_k, int64_t most_cols = INT64_MAX) {
    return [most_k, most_cols](const Shape& shape, DType) -> std::string {
        if (shape.k > most_k) return "more than " + std::to_string(most_k) + " best";
        if (shape.cols > most_cols) return "more than " + std::to_string(most_cols) + " columns";
        return "";
    };
}

// Results<T, Index>: {T* probabilities; Index* indices; T* logits; float* log_sum_exp}, of which any may be
// nullptr: not wanted. launcher(x, results, rows, cols, k, workspace, workspace_bytes, stream): for each
// T of the three types, and Index int32_t (where kind is softmax_topk) or int64_t (softmax_topk_lse).
//
// What is left to say: obstacle (see at_most), workspace_bytes, partial_sums, traffic where it is not one read.
template <template <class, class> class Results, class Launcher>
runner::Variant variant_of(Kind kind, const std::string& name, const std::string& summary,
                           Launcher launcher) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.operation = operation_of(kind);
    variant.traffic = {1, 0};
    variant.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    variant.takes = {kOption};
    variant.launch = [kind, launcher](const runner::Call& call) {
        return runner::visit_but_double(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            const Shape shape = call.shape;
            const auto launch = [&](const auto& results) {
                return launcher(call.input<T>("x"), results, shape.rows, shape.cols, shape.k,
                                call.workspace, call.workspace_bytes, call.stream);
            };
            if (kind == Kind::softmax_topk_lse)
                return launch(Results<T, int64_t>{
                    call.output<T>("values"), call.output<int64_t>("indices"),
                    call.output<T>("logits"), call.output<float>("log_sum_exp")});
            return launch(Results<T, int32_t>{call.output<T>("values"),
                                              call.output<int32_t>("indices"), nullptr, nullptr});
        });
    };
    return variant;
}

}  // namespace operations::topk
