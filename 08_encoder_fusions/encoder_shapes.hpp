// SPDX-License-Identifier: MIT
// Returns an encoder's problem in the runner's words as the Config that this stage's encoders take. Include this file after
// forward.cuh.
#pragma once
#include "common/operations/encoder/operation.hpp"

namespace encoder_fusions_variants {

inline encoder_layers::Activation activation_of(operations::encoder::Activation activation) {
    using Named = operations::encoder::Activation;
    switch (activation) {
        case Named::gelu:
            break;
        case Named::gelu_by_tanh:
            return encoder_layers::Activation::gelu_by_tanh;
        case Named::relu:
            return encoder_layers::Activation::relu;
        case Named::silu:
            return encoder_layers::Activation::silu;
    }
    return encoder_layers::Activation::gelu;
}

// Padding is removed if the shape says how many tokens there are.
inline encoder_layers::Config encoder_config_of(const operations::encoder::Shape& s) {
    encoder_layers::Config config{s.batch, s.seq, s.heads, s.size, s.inner_size(), s.layers};
    config.activation = activation_of(s.activation);
    config.prenorm = s.prenorm;
    config.packed = s.tokens > 0;
    config.tokens = s.tokens;
    return config;
}

// A norm of layer `layer`; name: "attention" or "feed_forward".
template <class T>
encoder_layers::Norm<T> norm_of(const Call& call, const operations::encoder::Shape& s,
                                const std::string& name, int64_t layer) {
    const int64_t first = layer * s.hidden();
    return {call.input<T>((name + "_gamma").c_str()) + first,
            call.input<T>((name + "_beta").c_str()) + first, static_cast<float>(s.epsilon)};
}

// Returns the least traffic: hidden states and all parameters once, and each product's results. rounded: bytes of a weight and of an
// inner number, as a share of an element's. rows_written: rows of hidden numbers per token and layer.
inline Traffic least_traffic(const operations::encoder::Shape& s, double rounded = 1,
                             double rows_written = 7) {
    const auto all = static_cast<double>(s.batch * s.seq * s.hidden());
    if (all == 0) return {};
    const auto hidden = static_cast<double>(s.hidden()),
               inner = static_cast<double>(s.inner_size());
    const auto rows = static_cast<double>(s.rows()), layers = static_cast<double>(s.layers);
    const double parameters = layers * (4 * hidden * hidden + 2 * hidden * inner) * rounded;
    const double results = layers * rows * (rows_written * hidden + inner * rounded);
    return {(rows * hidden + parameters + results) / all, results / all};
}

}  // namespace encoder_fusions_variants
