// SPDX-License-Identifier: MIT
// Describes the variants of further/encoder_eight_bits.cuh.
#include "08_encoder_fusions/variants.hpp"

#include <cmath>

#include "further/attention_one_warpgroup.cuh"
#include "further/attention_ring.cuh"
#include "further/attention_turns.cuh"
#include "further/encoder_eight_bits.cuh"

// After the headers: launchers that other files compile.
#include "08_encoder_fusions/attention_launchers.hpp"
#include "08_encoder_fusions/encoder_shapes.hpp"
#include "08_encoder_fusions/hopper_attention_launchers.hpp"
#include "08_encoder_fusions/softmax_launchers.hpp"
#include "08_encoder_fusions/token_launchers.hpp"

namespace encoder_fusions_variants {
namespace {

using encoder_layers::Results;
using operations::encoder::Kind;
using operations::encoder::Shape;

Results results_of(const Shape& s) {
    return s.has_8_bit_results ? Results::eight_bits : Results::sixteen_bits;
}

static_assert(encoder_layers::kRounded == operations::encoder::kRounded);

// Each operand of the call holds one kind of weight or of steps, layer after layer.
template <class T, class E>
std::vector<encoder_layers::EightBitLayer<T, E>> layers_of(const Call& call, const Shape& s) {
    std::vector<encoder_layers::EightBitLayer<T, E>> layers;
    const int64_t hidden = s.hidden(), inner = s.inner_size();
    for (int64_t i = 0; i < s.layers; ++i) {
        const auto linear = [&](const std::string& name, int64_t out, int64_t in) {
            return encoder_layers::EightBitLinear<T, E>{
                call.input<E>((name + "_weight").c_str()) + i * out * in,
                call.input<float>((name + "_steps").c_str()) + i * out,
                call.input<T>((name + "_bias").c_str()) + i * out};
        };
        layers.push_back({linear("qkv", 3 * hidden, hidden), linear("output", hidden, hidden),
                          norm_of<T>(call, s, "attention", i), linear("inner", inner, hidden),
                          linear("outer", hidden, inner), norm_of<T>(call, s, "feed_forward", i),
                          call.input<float>("steps") + i * operations::encoder::kRounded});
    }
    return layers;
}

// As in mode 1, without the norms' 8-bit copies.
Traffic traffic_of(const Shape& s) {
    constexpr double kOfElement = 0.5;
    return least_traffic(s, kOfElement);
}

// FasterTransformer's modes with int8_t are for half; this file would take twice as long to compile with both types.
template <class T, class E>
constexpr bool kTakes = std::is_same_v<T, __half> ||
                        (sizeof(T) == 2 && std::is_same_v<E, __nv_fp8_e4m3>);

template <class E>
runner::Variant variant(Kind kind, const std::string& name, const std::string& summary) {
    runner::Variant variant = variant_of(
        operations::encoder::operation(kind), name, summary, [](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            if constexpr (kTakes<T, E>) {
                const Shape s = call.shape;
                const auto layers = layers_of<T, E>(call, s);
                return encoder_layers::forward_eight_bits(
                    encoder_config_of(s), results_of(s), layers.data(), call.input<T>("x"),
                    s.tokens > 0 ? call.input<int32_t>("lengths") : nullptr, call.output<T>("y"),
                    call.workspace, call.workspace_bytes, call.stream);
            }
            return cudaErrorNotSupported;
        });
    variant.further = true;
    variant.dtypes = kHalves;
    if (!kTakes<__nv_bfloat16, E>) variant.dtypes = {DType::float16};
    for (const runner::Optional& each : variant.operation->optional())
        variant.takes.push_back(each.name);
    variant.traffic_at = [](const runner::Shape& shape, DType) { return traffic_of(shape); };
    const Traffic usual = traffic_of(variant.operation->usual_shape());
    variant.traffic = {std::round(usual.loads), std::round(usual.stores)};  // as a listing says it
    for (const runner::Operand& each :
         variant.operation->operands(variant.operation->usual_shape(), DType::float16)) {
        if (each.name != "lengths" && each.name != "steps")
            variant.alignments.emplace_back(each.name, 16);
    }
    variant.workspace_bytes = [](const runner::Shape& shape, DType dtype) {
        const Shape s = shape;
        return dtype == DType::bfloat16
                   ? encoder_layers::eight_bit_workspace_bytes<__nv_bfloat16, E>(
                         encoder_config_of(s), results_of(s))
                   : encoder_layers::eight_bit_workspace_bytes<__half, E>(encoder_config_of(s),
                                                                          results_of(s));
    };
    variant.obstacle = [](const runner::Shape& shape, DType) -> std::string {
        return encoder_layers::takes_eight_bits(encoder_config_of(Shape(shape)))
                   ? ""
                   : "more than 4096 hidden numbers, or more than 256 elements a head";
    };
    return variant;
}

}  // namespace

std::vector<runner::Variant> eight_bit_variants() {
    return {variant<__nv_fp8_e4m3>(Kind::e4m3, "encoder_e4m3", "products of e4m3"),
            variant<int8_t>(Kind::s8, "encoder_s8", "products of int8_t, both modes")};
}

}  // namespace encoder_fusions_variants

// Also for the test.
template cudaError_t encoder_layers::forward_eight_bits(const Config&, Results,
                                                        const EightBitLayer<__half, int8_t>*,
                                                        const __half*, const int32_t*, __half*,
                                                        void*, size_t, cudaStream_t);
