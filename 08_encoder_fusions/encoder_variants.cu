// SPDX-License-Identifier: MIT
// Describes the variants of further/forward.cuh, early_kernels.cuh, planned_products.cuh and product_norm.cuh.
#include "08_encoder_fusions/variants.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include "further/attention_one_warpgroup.cuh"
#include "further/attention_ring.cuh"
#include "further/attention_turns.cuh"
#include "further/early_kernels.cuh"
#include "further/forward.cuh"
#include "further/product_norm.cuh"
#include "further/tuned_products.hpp"

// After the headers: launchers that other files compile.
#include "08_encoder_fusions/attention_launchers.hpp"
#include "08_encoder_fusions/encoder_shapes.hpp"
#include "08_encoder_fusions/hopper_attention_launchers.hpp"
#include "08_encoder_fusions/product_launchers.hpp"
#include "08_encoder_fusions/softmax_launchers.hpp"
#include "08_encoder_fusions/token_launchers.hpp"

namespace encoder_fusions_variants {

std::map<std::string, Choice>& choices() {
    static std::map<std::string, Choice> all;
    return all;
}

batched_gemm::GemmTuner& tuner() {
    static const auto file = [] {
        const char* const named = std::getenv("STAGES_TUNER_FILE");
        if (named != nullptr) return std::filesystem::path(named);
        std::error_code ignored;  // if the folder cannot be created, the tuner reports it
        std::filesystem::create_directories("results", ignored);
        return std::filesystem::path("results/gemm_tuner.json");
    };
    static batched_gemm::GemmTuner one(
        file(),
        batched_gemm::this_machine("1.4, " + operations::gemm::cublas_lt_version() + ", " +
                                   operations::gemm::cutlass_version()),
        batched_gemm::ClockOfGraphs{},
        [](const std::string& line) { std::fprintf(stderr, "stages: %s\n", line.c_str()); });
    return one;
}

void tune_within(const std::string& whole, const std::function<cudaError_t(cudaStream_t)>& run,
                 cudaStream_t stream) {
    const batched_gemm::ClockOfGraphs clock;
    for (auto& [problem, choice] : choices()) {
        const bool is_part =
            problem.size() > whole.size() &&
            problem.compare(problem.size() - whole.size(), whole.size(), whole) == 0;
        if (!is_part || !choice.is_tuned) continue;
        std::vector<std::string> names;
        for (const Way& way : choice.ways) names.push_back(way.name);
        const size_t alone = choice.fastest;
        const size_t here = tuner().choose(problem, names, [&, &of = choice](size_t i) {
            of.fastest = i;
            return clock(run, stream);
        });
        choice.fastest = here < names.size() ? here : alone;
    }
}

namespace {

using encoder_layers::Attention;
using encoder_layers::Config;
using encoder_layers::Layer;
using operations::encoder::Shape;

// How a variant computes an encoder.
struct EncoderWay {
    Attention attention;
    bool packed;
    bool split_qkv = false;
    bool tuned = false;    // uses the fastest measured products
    bool early = false;    // uses programmatic dependent launch
    bool planned = false;  // uses products by plan
    bool norming = false;  // and ends two of them in their norm
};

Config config_of(const Shape& s, const EncoderWay& way) {
    Config config = encoder_config_of(s);
    config.attention = way.attention;
    config.packed = way.packed && config.packed;
    config.split_qkv = way.split_qkv;
    return config;
}

bool has_norming_plan(const Shape& s) {
    return encoder_layers::product_norm_plan(1, s.hidden(), 1, 1).cols != 0;
}

// Returns the weights of all layers. Each operand of the call holds one kind of weight, layer after layer.
template <class T>
std::vector<Layer<T>> layers_of(const Call& call, const Shape& s) {
    std::vector<Layer<T>> layers;
    const int64_t hidden = s.hidden(), inner = s.inner_size();
    for (int64_t i = 0; i < s.layers; ++i) {
        const auto at = [&](const char* name, int64_t each) {
            return call.input<T>(name) + i * each;
        };
        layers.push_back({{at("qkv_weight", 3 * hidden * hidden), at("qkv_bias", 3 * hidden)},
                          {at("output_weight", hidden * hidden), at("output_bias", hidden)},
                          norm_of<T>(call, s, "attention", i),
                          {at("inner_weight", inner * hidden), at("inner_bias", inner)},
                          {at("outer_weight", hidden * inner), at("outer_bias", hidden)},
                          norm_of<T>(call, s, "feed_forward", i)});
    }
    return layers;
}

// True if tuning, which takes seconds, pays. It does not for tiny encoders and for floats: products of floats take so
// long that the kernels between them hardly count.
bool is_worth_tuning(const Shape& s, DType dtype) {
    return s.hidden() >= 256 && s.layers > 0 && dtype != DType::float32;
}

// Returns an encoder's name in the tuner's file.
std::string whole_text(const Call& call, const std::string& variant) {
    return " within " + variant + " " + runner::word_of(call.shape) + " " +
           runner::name_of(call.dtype);
}

// Calls run(). After the first call it tunes the products within the whole encoder, unless the encoder works in place
// (each run would change the input) or the stream is being captured.
template <class Run>
cudaError_t tuned_as_a_whole(const Call& call, const std::string& whole, const Run& run) {
    static std::set<std::string> done;
    const cudaError_t status = run(call.stream);
    if (status != cudaSuccess || whole.empty() ||
        call.operands["x"].data == call.operands["y"].data)
        return status;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    const cudaError_t asked = cudaStreamIsCapturing(call.stream, &capture);
    if (asked != cudaSuccess || capture != cudaStreamCaptureStatusNone) return asked;
    if (done.insert(whole).second) tune_within(whole, run, call.stream);
    return cudaSuccess;
}

runner::Variant variant(const std::string& name, const std::string& summary,
                        const EncoderWay& way) {
    runner::Variant variant = variant_of(
        operations::encoder::operation(), name, summary, [way, name](const Call& call, auto of) {
            using T = typename decltype(of)::type;
            const Shape s = call.shape;
            const std::vector<Layer<T>> layers = layers_of<T>(call, s);
            const int32_t* const lengths = s.tokens > 0 ? call.input<int32_t>("lengths") : nullptr;
            const auto forward = [&](size_t bytes, const auto& products, cudaStream_t stream) {
                return encoder_layers::forward(config_of(s, way), layers.data(), call.input<T>("x"),
                                               lengths, call.output<T>("y"), call.workspace, bytes,
                                               stream, products);
            };
            if (way.norming)
                return forward(call.workspace_bytes, encoder_layers::NormingKernels{}, call.stream);
            if (way.planned)
                return forward(call.workspace_bytes, encoder_layers::PlannedKernels{}, call.stream);
            if (way.early && !way.tuned)
                return forward(call.workspace_bytes, encoder_layers::EarlyKernels{}, call.stream);
            if (!way.tuned)
                return forward(call.workspace_bytes, encoder_layers::OwnProducts{}, call.stream);
            const size_t of_encoder = call.workspace_bytes - operations::gemm::kCublasWorkspace;
            void* const of_cublas = static_cast<char*>(call.workspace) + of_encoder;
            const std::string whole = is_worth_tuning(s, call.dtype) ? whole_text(call, name) : "";
            return tuned_as_a_whole(call, whole, [&](cudaStream_t stream) {
                if (way.early)
                    return forward(of_encoder,
                                   TunedProducts<encoder_layers::EarlyBetween>(of_cublas, whole),
                                   stream);
                return forward(of_encoder, TunedProducts<encoder_layers::Between>(of_cublas, whole),
                               stream);
            });
        });
    variant.further = true;
    for (const runner::Optional& each : variant.operation->optional())
        variant.takes.push_back(each.name);
    const auto traffic = [way](const Shape& s) {
        // A product that ends in its norm is not written.
        return way.norming ? least_traffic(s, 1, 6) : least_traffic(s);
    };
    variant.traffic_at = [traffic](const runner::Shape& shape, DType) { return traffic(shape); };
    const Traffic usual = traffic(variant.operation->usual_shape());
    variant.traffic = {std::round(usual.loads), std::round(usual.stores)};  // as a listing says it
    variant.workspace_bytes = [way](const runner::Shape& shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) {
            // A multiple of 256; cuBLASLt's workspace begins after it.
            return encoder_layers::workspace_bytes<typename decltype(of)::type>(
                       config_of(shape, way)) +
                   (way.tuned ? operations::gemm::kCublasWorkspace : 0);
        });
    };
    variant.may_use_libraries = way.tuned;
    variant.obstacle = [way](const runner::Shape& shape, DType) -> std::string {
        const Shape s = shape;
        if (s.hidden() > encoder_fusions::kMaxNormCols) return "more than 16384 hidden numbers";
        if (way.norming && !has_norming_plan(s))
            return "hidden numbers are not 1, 2, 4 or 8 times 128, 192 or 256";
        const bool is_wide = s.size > fused_attention::kMostSize;
        return way.attention == Attention::fused && is_wide ? "more than 256 elements a head" : "";
    };
    if (way.norming) {
        variant.nearest = [](const runner::Shape& shape) {
            Shape s = shape;
            // Clusters of one block or of two.
            if (!has_norming_plan(s)) s.heads = s.hidden() < 32 ? 2 : 4, s.size = 64;
            return runner::Shape(s);
        };
        Shape several(2, 70, 8, 48);  // a second tile, two kinds of clusters' sizes
        several.layers = 1;
        variant.validated_once_at = {several};
    }
    return variant;
}

}  // namespace

std::vector<runner::Variant> encoder_variants() {
    // The fp64 reference takes seconds for a dozen layers of 12,288 tokens: only variants in use are checked there.
    const auto small = [](runner::Variant variant) {
        variant.measured_up_to = 1e12;
        return variant;
    };
    const auto of_halves = [](runner::Variant variant) {
        variant.dtypes = {DType::float16, DType::bfloat16};
        return variant;
    };
    return {small(variant("encoder_unfused", "a whole encoder, attention in five kernels",
                          {Attention::unfused, false})),
            small(variant("encoder_unfused_packed", "the same, for packed tokens",
                          {Attention::unfused, true})),
            small(variant("encoder_split_qkv", "fused attention; Q, K, V by three products",
                          {Attention::fused, false, true})),
            variant("encoder_padded", "fused attention; Q, K, V by one product",
                    {Attention::fused, false}),
            variant("encoder_packed", "the same, no padding anywhere", {Attention::fused, true}),
            of_halves(variant("encoder_early", "packed; each kernel begins early",
                              {Attention::fused, true, false, false, true})),
            variant("encoder_planned", "packed; each product by its plan",
                    {Attention::fused, true, false, false, true, true}),
            of_halves(variant("encoder_norming", "planned; products end in their norms",
                              {Attention::fused, true, false, false, true, true, true})),
            variant("encoder_tuned", "padded; the fastest of all products",
                    {Attention::fused, false, false, true}),
            of_halves(variant("encoder_tuned_early", "tuned products, kernels begin early",
                              {Attention::fused, true, false, true, true})),
            // --weights runs this one unless another is named: it takes every type.
            variant("encoder_tuned_packed", "tuned, no padding anywhere",
                    {Attention::fused, true, false, true})};
}

}  // namespace encoder_fusions_variants

// Also for the test.
template cudaError_t encoder_layers::forward(const Config&, const Layer<float>*, const float*,
                                             const int32_t*, float*, void*, size_t, cudaStream_t,
                                             const OwnProducts&);
