// SPDX-License-Identifier: MIT
// A sampling of a stage as a variant of the runner: of float, half and bfloat16, with columns of either width.
#pragma once
#include <cstdint>
#include <string>

#include "common/operations/sampling/operation.hpp"
#include "common/runner/stage.hpp"

namespace operations::sampling {

// launcher(x, columns, probabilities, rows, cols, options, workspace, workspace_bytes, stream): for each of the
// three types of x; columns is an int32_t* and probabilities is nullptr where kind is sample_token, columns an int64_t*
// where it is sample_token_with_probability.
//
// What is left to say: takes, obstacle, workspace_bytes, partial_sums, traffic where it is not one read.
template <class Launcher>
runner::Variant variant_of(Kind kind, const std::string& name, const std::string& summary,
                           Launcher launcher) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.operation = operation_of(kind);
    variant.traffic = {1, 0};
    variant.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    variant.takes = {kTemperature, kTopK, kTopP, kMinP, kSeed};
    variant.launch = [kind, launcher](const runner::Call& call) {
        return runner::visit_but_double(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            const Shape shape = call.shape;
            const auto launch = [&](auto* columns, float* probabilities) {
                return launcher(call.input<T>("x"), columns, probabilities, shape.rows, shape.cols,
                                shape.options, call.workspace, call.workspace_bytes, call.stream);
            };
            return kind == Kind::sample_token
                       ? launch(call.output<int32_t>("column"), nullptr)
                       : launch(call.output<int64_t>("column"), call.output<float>("probability"));
        });
    };
    return variant;
}

}  // namespace operations::sampling
