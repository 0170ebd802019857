// SPDX-License-Identifier: MIT
// config.json beside a BERT's weights: what tensors do not say, held against what they do.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "common/operations/encoder/operation.hpp"

namespace operations::encoder {

// What the tensors say.
struct BertSizes {
    int64_t layers = 0, hidden = 0, inner = 0;
    std::string family;  // "roberta" where names begin so; empty where they do not say
};

struct BertConfig {
    int64_t heads = 0;
    Activation activation = Activation::gelu;
    double epsilon = 1e-12;  // transformers' own, as the activation
};

// Reads the config.json of a folder. FileError, which names the key, its value and what would be right, where it is
// missing, does not say how many heads there are, contradicts the tensors, or describes another computation than a
// BERT's layers.
BertConfig read_config(const std::filesystem::path& folder, const BertSizes& tensors);

}  // namespace operations::encoder
