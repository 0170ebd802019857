// SPDX-License-Identifier: MIT
// Stage 08: what is done to each token's row, fused, unfused, and in half2.
#include "08_encoder_fusions/variants.hpp"
#include "bias_activation.cuh"
#include "common/operations/tokens/operation.hpp"
#include "further/half2_arithmetic.cuh"
#include "layernorm.cuh"
#include "unfused.cuh"

namespace encoder_fusions_variants {
namespace {

using encoder_fusions::Norm;
using operations::tokens::Activation;
using operations::tokens::kEpsilon;
using operations::tokens::Kind;
using operations::tokens::operation_of;
using operations::tokens::Rounding;
using operations::tokens::Shape;

template <class Launch>
cudaError_t with_activation(Activation activation, Launch launch) {
    switch (activation) {
        case Activation::gelu:
            break;
        case Activation::gelu_by_tanh:
            return launch(encoder_fusions::GeluByTanh{});
        case Activation::relu:
            return launch(encoder_fusions::Relu{});
        case Activation::silu:
            return launch(encoder_fusions::Silu{});
    }
    return launch(encoder_fusions::Gelu{});
}

template <class T>
Norm<T> norm_of(const Call& call) {
    return {call.input<T>("gamma"), call.input<T>("beta"), kEpsilon};
}

// x + bias, for which each thread of bias_activation_kernel has a share of the rows: those of a block are
// together at most four of its rows each.
Traffic bias_once(const Shape& shape, DType dtype) {
    using encoder_fusions::Tiling;
    const auto element = static_cast<int64_t>(runner::size_of(dtype));
    int64_t pack = 16 / element;
    while (pack > 1 && shape.hidden % pack != 0) pack = pack > 2 ? 2 : 1;
    const Tiling tiling(shape.rows, shape.hidden / pack);
    const int64_t all = tiling.threads_with_rows(shape.rows);
    return {1 + static_cast<double>(all) / static_cast<double>(shape.rows), 1};
}

runner::Variant bias_activation() {
    runner::Variant variant =
        variant_of(operation_of(Kind::add_bias_activation), "bias_activation",
                   "x + bias and its activation, in one kernel", [](const Call& call, auto of) {
                       using T = typename decltype(of)::type;
                       const Shape shape = call.shape;
                       return with_activation(shape.activation, [&](auto activation) {
                           return encoder_fusions::add_bias_activation(
                               call.input<T>("x"), call.input<T>("bias"), call.output<T>("y"),
                               shape.rows, shape.hidden, activation, call.stream);
                       });
                   });
    variant.takes = {operations::tokens::kByTanh, operations::tokens::kRelu,
                     operations::tokens::kSilu};
    variant.traffic = {1.25, 1};
    variant.traffic_at = [](const runner::Shape& shape, DType dtype) {
        return bias_once(shape, dtype);
    };
    return variant;
}

runner::Variant unfused_bias_activation() {
    runner::Variant variant = bias_activation();
    variant.operation = operation_of(Kind::add_bias_activation, Rounding::each_step);
    variant.name = "unfused_bias_activation";
    variant.summary = "two kernels: x + bias, then its activation";
    variant.traffic = {2.25, 2};
    variant.traffic_at = [](const runner::Shape& shape, DType dtype) {
        const Traffic one = bias_once(shape, dtype);
        return Traffic{one.loads + 1, 2};
    };
    variant.launch = [](const Call& call) {
        return runner::visit_but_double(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            const Shape shape = call.shape;
            return with_activation(shape.activation, [&](auto activation) {
                return encoder_fusions::unfused_bias_activation(
                    call.input<T>("x"), call.input<T>("bias"), call.output<T>("y"), shape.rows,
                    shape.hidden, activation, call.stream);
            });
        });
    };
    return variant;
}

// The norms, whose rows a lane holds up to 32 elements of.
template <class Launch>
runner::Variant norm(Kind kind, Rounding rounding, const std::string& name,
                     const std::string& summary, Traffic traffic, Launch launch) {
    runner::Variant variant = variant_of(operation_of(kind, rounding), name, summary, launch);
    variant.traffic = traffic;
    variant.partial_sums = [](const runner::Shape& shape, DType) {
        return std::max<int64_t>(1, Shape(shape).hidden / 32);
    };
    variant.obstacle = [](const runner::Shape& shape, DType) {
        return Shape(shape).hidden > encoder_fusions::kMaxNormCols ? "more than 16384 columns" : "";
    };
    variant.shared_accesses_fuse = true;  // of the warps' sums, which lie side by side
    return variant;
}

template <class T>
cudaError_t layernorm_as(const Call& call, bool fused) {
    const Shape shape = call.shape;
    const auto launch = fused ? encoder_fusions::add_bias_residual_layernorm<T>
                              : encoder_fusions::unfused_layernorm<T>;
    return launch(call.input<T>("x"), call.input<T>("bias"), call.input<T>("residual"),
                  norm_of<T>(call), call.output<T>("y"), shape.rows, shape.hidden, call.stream);
}
template <class T>
cudaError_t prenorm_as(const Call& call, bool fused) {
    const Shape shape = call.shape;
    const auto launch =
        fused ? encoder_fusions::add_bias_residual_prenorm<T> : encoder_fusions::unfused_prenorm<T>;
    return launch(call.input<T>("x"), call.input<T>("bias"), call.input<T>("residual"),
                  norm_of<T>(call), call.output<T>("sum"), call.output<T>("y"), shape.rows,
                  shape.hidden, call.stream);
}

// Beyond the lesson: what half2 arithmetic does.
runner::Variant half2(runner::Variant variant, const std::string& name, const std::string& summary,
                      int64_t most_cols) {
    variant.name = name;
    variant.summary = summary;
    variant.further = true;
    variant.dtypes = {DType::float16};
    variant.obstacle = [most_cols](const runner::Shape& shape, DType) -> std::string {
        return Shape(shape).hidden > most_cols ? "more than 4096 columns" : "";
    };
    return variant;
}

}  // namespace

std::vector<runner::Variant> token_variants() {
    const auto unfused_norm_traffic = [](const runner::Shape& shape, DType dtype) {
        const Traffic bias = bias_once(shape, dtype);
        return Traffic{2 + bias.loads + 3,
                       3};  // x, residual; their sum, bias; the sum, gamma, beta
    };
    std::vector<runner::Variant> all = {unfused_bias_activation(), bias_activation()};

    runner::Variant unfused =
        norm(Kind::add_bias_residual_layernorm, Rounding::each_step, "unfused_layernorm",
             "three kernels: two sums, then the norm", {6.25, 3}, [](const Call& call, auto of) {
                 return layernorm_as<typename decltype(of)::type>(call, false);
             });
    unfused.traffic_at = unfused_norm_traffic;
    all.push_back(unfused);
    all.push_back(norm(Kind::add_bias_residual_layernorm, Rounding::once, "layernorm",
                       "bias, residual and norm, a row in registers", {5, 1},
                       [](const Call& call, auto of) {
                           return layernorm_as<typename decltype(of)::type>(call, true);
                       }));
    unfused = norm(Kind::add_bias_residual_prenorm, Rounding::each_step, "unfused_prenorm",
                   "the same, and the sum is kept", {6.25, 3}, [](const Call& call, auto of) {
                       return prenorm_as<typename decltype(of)::type>(call, false);
                   });
    unfused.traffic_at = unfused_norm_traffic;
    all.push_back(unfused);
    all.push_back(norm(Kind::add_bias_residual_prenorm, Rounding::once, "prenorm",
                       "the same in one kernel", {5, 2}, [](const Call& call, auto of) {
                           return prenorm_as<typename decltype(of)::type>(call, true);
                       }));
    return all;
}

std::vector<runner::Variant> half2_variants() {
    runner::Variant gelu =
        variant_of(operation_of(Kind::add_bias_activation, Rounding::each_step), "", "",
                   [](const Call& call, auto of) -> cudaError_t {
                       using T = typename decltype(of)::type;
                       const Shape shape = call.shape;
                       if constexpr (std::is_same_v<T, __half>)
                           return encoder_fusions::half2_bias_gelu(
                               call.input<T>("x"), call.input<T>("bias"), call.output<T>("y"),
                               shape.rows, shape.hidden, call.stream);
                       return cudaErrorInvalidValue;  // none of its types
                   });
    gelu.takes = {operations::tokens::kByTanh};
    gelu.traffic = {2, 1};
    gelu =
        half2(gelu, "half2_bias_gelu", "GELU by tanh in half2, as in FasterTransformer", INT32_MAX);
    gelu.obstacle = [pairs = gelu.obstacle](const runner::Shape& shape,
                                            DType dtype) -> std::string {
        if (Shape(shape).activation != Activation::gelu_by_tanh) return "is GELU by tanh alone";
        return pairs(shape, dtype);
    };
    const runner::Variant layernorm =
        half2(norm(Kind::add_bias_residual_layernorm, Rounding::each_step, "", "", {5, 1},
                   [](const Call& call, auto of) -> cudaError_t {
                       using T = typename decltype(of)::type;
                       const Shape shape = call.shape;
                       if constexpr (std::is_same_v<T, __half>)
                           return encoder_fusions::half2_layernorm(
                               call.input<T>("x"), call.input<T>("bias"), call.input<T>("residual"),
                               norm_of<T>(call), call.output<T>("y"), shape.rows, shape.hidden,
                               call.stream);
                       return cudaErrorInvalidValue;
                   }),
              "half2_layernorm", "sums in half2, as in FasterTransformer", 4096);
    return {gelu, layernorm};
}

}  // namespace encoder_fusions_variants

#define INSTANCE template
#include "08_encoder_fusions/token_launchers.hpp"
