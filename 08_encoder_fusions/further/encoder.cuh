// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/encoder, version 1.0
//
// The front call: runs a whole encoder like BERT's, from hidden states to hidden states.
//   call       encoder: see front_call.cuh. The call needs a workspace
//   timed      encoder_planned
//   new here   nothing: forward.cuh with fused attention and planned_products.cuh
//   kernels    7 per layer: three of the four products do the next step in their epilogue
//   accepts    float, __half, __nv_bfloat16; hidden states of up to 16384 numbers, heads of up to 256
#pragma once
#include "../../04_warp_softmax/front_call.cuh"
#include "planned_products.cuh"

namespace softmax_stages {

// A layer's weights; forward.cuh describes the layout of the matrices.
template <class T>
using EncoderLayer = encoder_layers::Layer<T>;
using EncoderActivation = encoder_layers::Activation;

struct EncoderOptions {
    EncoderActivation activation = EncoderActivation::gelu;
    bool prenorm = false;   // norms come before attention and feed-forward, not after
    float q_scaling = 1.f;  // scores are divided by this and by sqrt(size)
    // An upper bound of the sum of all lengths; the encoder then does not compute padding. -1: the host knows no bound.
    int64_t tokens = -1;
};

constexpr int64_t kMostHidden = encoder_fusions::kMaxNormCols;  // numbers of a hidden state

struct EncoderPlan {
    bool packed;  // true if the encoder does not compute padding
    const char* reason;
    size_t workspace_bytes;       // that the call uses
    size_t more_workspace_bytes;  // that the call needs in addition; otherwise 0
};

inline encoder_layers::Config encoder_config(int64_t batch, int64_t seq, int64_t heads,
                                             int64_t size, int64_t inner, int64_t layers,
                                             const EncoderOptions& options) {
    encoder_layers::Config config{batch, seq, heads, size, inner, layers};
    config.activation = options.activation;
    config.prenorm = options.prenorm;
    config.packed = options.tokens >= 0;
    config.tokens = std::max<int64_t>(options.tokens, 0);
    config.q_scaling = options.q_scaling;
    return config;
}

template <class T>
EncoderPlan encoder_plan(int64_t batch, int64_t seq, int64_t heads, int64_t size, int64_t inner,
                         int64_t layers, const EncoderOptions& options, const Chip&,
                         size_t bytes = 0) {
    const encoder_layers::Config config =
        encoder_config(batch, seq, heads, size, inner, layers, options);
    const size_t needed = encoder_layers::workspace_bytes<T>(config);
    if (bytes < needed)
        return {config.packed, "the workspace is too small for the hidden states", 0, needed};
    return {config.packed,
            config.packed ? "tokens are packed, without padding" : "sequences are padded", needed,
            0};
}

template <class T>
cudaError_t encoder_workspace_bytes(size_t* bytes, int64_t batch, int64_t seq, int64_t heads,
                                    int64_t size, int64_t inner, int64_t layers,
                                    const EncoderOptions& options) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    const encoder_layers::Config config =
        encoder_config(batch, seq, heads, size, inner, layers, options);
    *bytes = encoder_layers::workspace_bytes<T>(config);
    return encoder_layers::is_possible(config) ? cudaSuccess : cudaErrorInvalidValue;
}

// Applies all layers to x and writes y, both [batch, seq, heads * size]. y may be x. lengths: tokens of each sequence,
// or nullptr if all are full; rows after a sequence's end are not read and become 0. weights: an array of `layers`
// layers in host memory, which the caller may free after the call. inner: numbers between the two products of the
// feed-forward part. The call also refuses a workspace smaller than encoder_workspace_bytes(), and tokens without
// lengths.
template <class T>
cudaError_t encoder(const T* x, const int32_t* lengths, const EncoderLayer<T>* weights, T* y,
                    int64_t batch, int64_t seq, int64_t heads, int64_t size, int64_t inner,
                    int64_t layers, const EncoderOptions& options, void* workspace, size_t bytes,
                    cudaStream_t stream) {
    const encoder_layers::Config config =
        encoder_config(batch, seq, heads, size, inner, layers, options);
    if (!encoder_layers::is_possible(config)) return cudaErrorInvalidValue;
    if (batch == 0 || seq == 0 || config.hidden() == 0) return cudaSuccess;
    if (!is_placed(x) || !is_placed(y) || !is_placed(lengths, true) ||
        (weights == nullptr && layers > 0))
        return cudaErrorInvalidValue;
    for (int64_t i = 0; i < layers; ++i) {
        const EncoderLayer<T>& each = weights[i];
        const encoder_layers::Linear<T> linears[] = {each.qkv, each.output, each.inner, each.outer};
        for (const auto& linear : linears) {
            if (!is_placed(linear.weight) || !is_placed(linear.bias)) return cudaErrorInvalidValue;
        }
        const encoder_layers::Norm<T> norms[] = {each.attention_norm, each.feed_forward_norm};
        for (const auto& norm : norms) {
            if (!is_placed(norm.gamma) || !is_placed(norm.beta)) return cudaErrorInvalidValue;
        }
    }
    return encoder_layers::forward(config, weights, x, lengths, y, workspace, bytes, stream,
                                   encoder_layers::PlannedKernels{});
}

}  // namespace softmax_stages
