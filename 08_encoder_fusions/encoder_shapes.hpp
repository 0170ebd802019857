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

}  // namespace encoder_fusions_variants
