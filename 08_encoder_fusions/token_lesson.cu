// SPDX-License-Identifier: MIT
// Stage 08: bias, activation and norm of each token's row, fused, unfused, and in half2.
#include <cmath>

#include "08_encoder_fusions/variants.hpp"
#include "bias_activation.cuh"
#include "common/operations/tokens/operation.hpp"
#include "further/half2_arithmetic.cuh"
#include "further/unfused.cuh"
#include "layernorm.cuh"

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
            return launch(batched_gemm::GeluByTanh{});
        case Activation::relu:
            return launch(batched_gemm::Relu{});
        case Activation::silu:
            return launch(batched_gemm::Silu{});
    }
    return launch(batched_gemm::Gelu{});
}
// Calls launch with the lesson's functor for the activation.
template <class Launch>
cudaError_t with_activation_of_lesson(Activation activation, Launch launch) {
    switch (activation) {
        case Activation::gelu:
            return launch(encoder_fusions::Gelu{});
        case Activation::gelu_by_tanh:
            return launch(encoder_fusions::GeluByTanh{});
        case Activation::relu:
            return launch(encoder_fusions::Relu{});
        case Activation::silu:
            break;
    }
    return cudaErrorInvalidValue;  // none of its options
}

template <class T>
Norm<T> norm_of(const Call& call) {
    return {call.input<T>("gamma"), call.input<T>("beta"), kEpsilon};
}

// Returns the traffic of x and of the bias, which each thread of bias_activation_kernel loads once for its rows.
Traffic bias_once(const Shape& shape, DType dtype) {
    using encoder_fusions::Tiling;
    const auto element = static_cast<int64_t>(runner::size_of(dtype));
    int64_t pack = 16 / element;
    while (pack > 1 && shape.hidden % pack != 0) pack = pack > 2 ? 2 : 1;
    const Tiling tiling(shape.rows, shape.hidden / pack);
    const int64_t all = tiling.threads_with_rows(shape.rows);
    return {1 + static_cast<double>(all) / static_cast<double>(shape.rows), 1};
}

runner::Variant bias_activation_by_columns(const std::string& name, const std::string& summary,
                                           bool packs) {
    runner::Variant variant = variant_of(
        operation_of(Kind::add_bias_activation), name, summary, [packs](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            const Shape shape = call.shape;
            const T *const x = call.input<T>("x"), *const bias = call.input<T>("bias");
            T* const y = call.output<T>("y");
            return with_activation_of_lesson(shape.activation, [&](auto activation) {
                return in_packs<T>(packs, shape.hidden, {x, bias, y}, [&](auto pack) {
                    return encoder_fusions::bias_activation_by_columns<pack.value>(
                        x, bias, y, shape.rows, shape.hidden, activation, call.stream);
                });
            });
        });
    variant.takes = {operations::tokens::kByTanh, operations::tokens::kRelu};
    variant.traffic = {1.25, 1};
    variant.traffic_at = [](const runner::Shape& shape, DType) {
        const auto rows = static_cast<double>(Shape(shape).rows);
        return Traffic{1 + std::ceil(rows / 4) / rows, 1};  // a block's rows share a bias
    };
    return variant;
}

runner::Variant bias_activation() {
    runner::Variant variant =
        variant_of(operation_of(Kind::add_bias_activation), "bias_activation",
                   "tuned: a thread loads four rows together", [](const Call& call, auto of) {
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

// Returns a norm of the lesson, which calls launch(arguments, stream).
template <class Launch>
runner::Variant norm_of_lesson(const std::string& name, const std::string& summary,
                               int64_t partial_sums, Launch launch) {
    runner::Variant variant =
        variant_of(operation_of(Kind::add_bias_residual_layernorm), name, summary,
                   [launch](const Call& call, auto of) {
                       using T = typename decltype(of)::type;
                       const Shape shape = call.shape;
                       if (shape.hidden > INT32_MAX) return cudaErrorInvalidValue;
                       return launch(
                           encoder_fusions::LayernormArguments<T>{
                               call.input<T>("x"), call.input<T>("bias"), call.input<T>("residual"),
                               call.input<T>("gamma"), call.input<T>("beta"), call.output<T>("y"),
                               shape.rows, static_cast<int>(shape.hidden), kEpsilon},
                           call.stream);
                   });
    variant.traffic = {5, 1};
    variant.partial_sums = [partial_sums](const runner::Shape&, DType) { return partial_sums; };
    variant.obstacle = [](const runner::Shape& shape, DType) {
        return Shape(shape).hidden > 1024 ? "more than 1024 columns" : "";
    };
    return variant;
}
template <class Statistics, bool kReadOnly>
runner::Variant warp_norm(const std::string& name, const std::string& summary, bool packs,
                          int64_t partial_sums) {
    return norm_of_lesson(
        name, summary, partial_sums, [packs](const auto& of, cudaStream_t stream) {
            using T = std::decay_t<decltype(*of.y)>;
            const auto launch = [&](auto pack) {
                constexpr int kPack = pack.value;
                using Pack = encoder_fusions::Pack<T, kPack>;
                constexpr bool kLdg = kReadOnly && kPack > 1;
                return encoder_fusions::launch_layernorm<kPack>(
                    encoder_fusions::layernorm_warp_per_row_kernel<Pack, Statistics, kLdg>,
                    dim3(32, 4), of, stream);
            };
            return in_packs<T>(packs, of.cols,
                               {of.x, of.bias, of.residual, of.gamma, of.beta, of.y}, launch);
        });
}
std::vector<runner::Variant> norms_of_lesson() {
    using encoder_fusions::TwoPasses;
    using encoder_fusions::Welford;
    constexpr int64_t kLanes = 32;
    // A merge of Welford's update rounds four times, an addition once.
    return {
        norm_of_lesson("layernorm_block_per_row", "FasterTransformer's: two block reductions", 1024,
                       [](const auto& of, cudaStream_t stream) {
                           using T = std::decay_t<decltype(*of.y)>;
                           const auto threads = static_cast<unsigned>((of.cols + 31) / 32 * 32);
                           return encoder_fusions::launch_layernorm<1>(
                               encoder_fusions::layernorm_block_per_row_kernel<T>, dim3(threads),
                               of, stream);
                       }),
        warp_norm<TwoPasses, false>("layernorm_warp_per_row", "a warp a row, in registers", false,
                                    kLanes),
        warp_norm<Welford, false>("layernorm_welford", "the same, in one pass as OneFlow's", false,
                                  kLanes / 4),
        warp_norm<TwoPasses, false>("layernorm_packs", "two passes, 16 bytes an access", true,
                                    kLanes),
        warp_norm<TwoPasses, true>("layernorm_ldg", "the same; __ldg for what rows share", true,
                                   kLanes)};
}

// Returns a tuned norm, in which a lane holds up to 32 elements.
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

// Marks a variant as one beyond the lesson, with half2 arithmetic.
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
    std::vector<runner::Variant> all = {
        unfused_bias_activation(),
        bias_activation_by_columns("bias_activation_elements",
                                   "FasterTransformer's: a bias for four rows", false),
        bias_activation_by_columns("bias_activation_packs", "the same, 16 bytes an access", true),
        beyond(bias_activation())};

    runner::Variant unfused =
        norm(Kind::add_bias_residual_layernorm, Rounding::each_step, "unfused_layernorm",
             "three kernels: two sums, then the norm", {6.25, 3}, [](const Call& call, auto of) {
                 return layernorm_as<typename decltype(of)::type>(call, false);
             });
    unfused.traffic_at = unfused_norm_traffic;
    all.push_back(unfused);
    for (const runner::Variant& each : norms_of_lesson()) all.push_back(each);
    all.push_back(
        beyond(norm(Kind::add_bias_residual_layernorm, Rounding::once, "layernorm",
                    "tuned: warps and packs by a table", {5, 1}, [](const Call& call, auto of) {
                        return layernorm_as<typename decltype(of)::type>(call, true);
                    })));
    unfused = norm(Kind::add_bias_residual_prenorm, Rounding::each_step, "unfused_prenorm",
                   "three kernels; the sum is kept", {6.25, 3}, [](const Call& call, auto of) {
                       return prenorm_as<typename decltype(of)::type>(call, false);
                   });
    unfused.traffic_at = unfused_norm_traffic;
    all.push_back(beyond(unfused));
    all.push_back(beyond(norm(Kind::add_bias_residual_prenorm, Rounding::once, "prenorm",
                              "the same in one kernel", {5, 2}, [](const Call& call, auto of) {
                                  return prenorm_as<typename decltype(of)::type>(call, true);
                              })));
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
