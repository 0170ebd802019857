// SPDX-License-Identifier: MIT
#include <front_calls/encoder.cuh>

#include <vector>

#include "call.hpp"

namespace library {
namespace {

struct EncoderProblem {
    static constexpr bool kDoubles = false;
    int64_t batch, seq, heads, size, inner, layers;
    softmax_stages_encoder_options options;

    EncoderProblem(int64_t batch_, int64_t seq_, int64_t heads_, int64_t size_, int64_t inner_,
                   int64_t layers_, const softmax_stages_encoder_options* given)
        : batch(batch_),
          seq(seq_),
          heads(heads_),
          size(size_),
          inner(inner_),
          layers(layers_),
          options(given != nullptr ? *given : softmax_stages_encoder_defaults()) {}

    bool is_activation() const {
        return options.activation >= SOFTMAX_STAGES_GELU &&
               options.activation <= SOFTMAX_STAGES_SILU;
    }
    softmax_stages::EncoderOptions in_cpp() const {
        return {static_cast<softmax_stages::EncoderActivation>(options.activation),
                options.prenorm != 0, options.q_scaling, options.tokens};
    }
    template <class T>
    cudaError_t bytes(size_t* bytes) const {
        if (!is_activation() || options.tokens < -1 || !(options.epsilon >= 0.f))
            return cudaErrorInvalidValue;
        return softmax_stages::encoder_workspace_bytes<T>(bytes, batch, seq, heads, size, inner,
                                                          layers, in_cpp());
    }
    template <class T>
    auto plan(size_t bytes) const {
        return softmax_stages::encoder_plan<T>(batch, seq, heads, size, inner, layers, in_cpp(),
                                               softmax_stages::this_chip(), bytes);
    }
    bool is_empty() const { return batch == 0 || seq == 0 || heads == 0 || size == 0; }
    void explain(Findings& findings, int /*type*/) const {
        constexpr int64_t kMost = int64_t{1} << 30;
        findings.size("batch", batch, kMost);
        findings.size("seq", seq, kMost);
        findings.size("heads", heads, kMost);
        findings.size("size", size, softmax_stages::kMostHeadSize);
        findings.size("inner", inner, kMost);
        findings.size("layer_count", layers, kMost);
        findings.need(heads * size <= softmax_stages::kMostHidden,
                      "heads * size is %lld; it must be at most %lld",
                      static_cast<long long>(heads * size),
                      static_cast<long long>(softmax_stages::kMostHidden));
        findings.need(batch * seq <= kMost / std::max<int64_t>(heads, 1),
                      "batch * seq * heads must be at most 2^30");
        findings.need(is_activation(),
                      "options.activation is %d; it must be SOFTMAX_STAGES_GELU, _GELU_BY_TANH, "
                      "_RELU or _SILU",
                      options.activation);
        findings.need(options.q_scaling > 0.f, "options.q_scaling is %g; it must be above 0",
                      static_cast<double>(options.q_scaling));
        findings.need(options.epsilon >= 0.f, "options.epsilon is %g; it must be at least 0",
                      static_cast<double>(options.epsilon));
        findings.need(options.tokens >= -1 && options.tokens <= batch * seq,
                      "options.tokens is %lld; it must be -1 (no bound is known) or from 0 to "
                      "batch * seq (%lld)",
                      static_cast<long long>(options.tokens), static_cast<long long>(batch * seq));
    }
};

template <class T>
softmax_stages::EncoderLayer<T> layer_of(const softmax_stages_encoder_layer& of, float epsilon) {
    const auto at = [](const void* weights) { return static_cast<const T*>(weights); };
    return {{at(of.qkv_weight), at(of.qkv_bias)},
            {at(of.output_weight), at(of.output_bias)},
            {at(of.attention_gamma), at(of.attention_beta), epsilon},
            {at(of.inner_weight), at(of.inner_bias)},
            {at(of.outer_weight), at(of.outer_bias)},
            {at(of.feed_forward_gamma), at(of.feed_forward_beta), epsilon}};
}

void explain_layers(Findings& findings, int type, const softmax_stages_encoder_layer* layers,
                    int64_t count) {
    findings.need(layers != nullptr || count == 0, "layers is NULL");
    if (layers == nullptr) return;
    for (int64_t i = 0; i < count; ++i) {
        const softmax_stages_encoder_layer& of = layers[i];
        const struct {
            const char* name;
            const void* address;
        } all[] = {{"qkv_weight", of.qkv_weight},
                   {"qkv_bias", of.qkv_bias},
                   {"output_weight", of.output_weight},
                   {"output_bias", of.output_bias},
                   {"attention_gamma", of.attention_gamma},
                   {"attention_beta", of.attention_beta},
                   {"inner_weight", of.inner_weight},
                   {"inner_bias", of.inner_bias},
                   {"outer_weight", of.outer_weight},
                   {"outer_bias", of.outer_bias},
                   {"feed_forward_gamma", of.feed_forward_gamma},
                   {"feed_forward_beta", of.feed_forward_beta}};
        for (const auto& each : all) {
            findings.need(each.address != nullptr, "layers[%lld].%s is NULL",
                          static_cast<long long>(i), each.name);
            findings.address(each.name, each.address, bytes_of_type(type), true);
        }
    }
}

}  // namespace
}  // namespace library

extern "C" {

softmax_stages_encoder_options softmax_stages_encoder_defaults() {
    return {SOFTMAX_STAGES_GELU, 0, 1.f, -1, 1e-5f};
}

int softmax_stages_encoder(int type, const void* x, const int32_t* lengths,
                           const softmax_stages_encoder_layer* layers, void* y, int64_t batch,
                           int64_t seq, int64_t heads, int64_t size, int64_t inner,
                           int64_t layer_count, const softmax_stages_encoder_options* options,
                           void* workspace, size_t bytes, cudaStream_t stream) {
    const library::EncoderProblem problem(batch, seq, heads, size, inner, layer_count, options);
    return library::call(
        "softmax_stages_encoder", type, problem,
        [&](auto zero) {
            using T = decltype(zero);
            size_t needed = 0;
            const cudaError_t error = problem.bytes<T>(&needed);
            if (error != cudaSuccess || problem.is_empty()) return error;
            if (layers == nullptr && layer_count > 0) return cudaErrorInvalidValue;
            std::vector<softmax_stages::EncoderLayer<T>> in_cpp;
            in_cpp.reserve(static_cast<size_t>(layer_count));
            for (int64_t i = 0; i < layer_count; ++i)
                in_cpp.push_back(library::layer_of<T>(layers[i], problem.options.epsilon));
            return softmax_stages::encoder(
                static_cast<const T*>(x), lengths,
                static_cast<const softmax_stages::EncoderLayer<T>*>(in_cpp.data()),
                static_cast<T*>(y), batch, seq, heads, size, inner, layer_count, problem.in_cpp(),
                workspace, bytes, stream);
        },
        [&](library::Findings& findings) {
            const size_t element = library::bytes_of_type(type);
            size_t needed = 0;
            findings.address("x", x, element);
            findings.address("y", y, element);
            findings.address("lengths", lengths, sizeof(int32_t), true);
            findings.need(lengths != nullptr || problem.options.tokens < 0,
                          "lengths is NULL, but options.tokens needs lengths");
            library::explain_layers(findings, type, layers, layer_count);
            findings.address("workspace", workspace, 16);
            const cudaError_t error = library::with_type(
                type, [&](auto zero) { return problem.bytes<decltype(zero)>(&needed); });
            findings.need(error != cudaSuccess || bytes >= needed,
                          "the workspace has %zu bytes; the encoder needs %zu", bytes, needed);
        });
}

int softmax_stages_encoder_workspace_bytes(int type, size_t* bytes, int64_t batch, int64_t seq,
                                           int64_t heads, int64_t size, int64_t inner,
                                           int64_t layer_count,
                                           const softmax_stages_encoder_options* options) {
    return library::workspace_bytes(
        "softmax_stages_encoder_workspace_bytes", type, bytes,
        library::EncoderProblem(batch, seq, heads, size, inner, layer_count, options));
}

int softmax_stages_encoder_plan(int type, softmax_stages_plan* plan, int64_t batch, int64_t seq,
                                int64_t heads, int64_t size, int64_t inner, int64_t layer_count,
                                const softmax_stages_encoder_options* options, size_t bytes) {
    return library::plan(
        "softmax_stages_encoder_plan", type, plan, bytes,
        library::EncoderProblem(batch, seq, heads, size, inner, layer_count, options));
}

}  // extern "C"
