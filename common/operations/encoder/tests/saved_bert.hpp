// SPDX-License-Identifier: MIT
// A small BERT in a .safetensors file, as Hugging Face's transformers names things, or with something wrong.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/runner/random.cuh"
#include "common/testing/safetensors.hpp"

namespace encoder_tests {

struct SavedBert {
    int64_t first = 0, layers = 2;  // those from first on
    int64_t hidden = 64, inner = 96;
    std::string prefix;
    bool old_names = false;         // gamma and beta
    bool transposed = false;        // the feed-forward part's matrices
    std::string without;            // a tensor, from its layer's number on
    std::vector<std::string> more;  // tensors of 3 numbers, their names in full

    // Between -1/8 and 1/8, in 16 steps; around 1 for a norm's factors.
    static float value(const std::string& name, size_t i) {
        uint64_t bits = i;
        for (const char each : name) bits = runner::mix(bits ^ static_cast<unsigned char>(each));
        const float small = static_cast<float>(bits % 17) / 64 - 0.125f;
        return name.find("LayerNorm.weight") == std::string::npos ? small : 1 + small;
    }

    std::string bytes() const {
        testing::SafetensorsFile file;
        if (first == 0)
            file.add("embeddings.word_embeddings.weight", {3, 2}, std::vector<float>(6, 1.f));
        for (const std::string& name : more) file.add(name, {3}, std::vector<float>(3, 1.f));
        for (int64_t layer = first; layer < layers; ++layer) {
            const auto add = [&](const std::string& part, const std::vector<int64_t>& shape) {
                std::string name = std::to_string(layer) + "." + part;
                if (name == without) return;
                std::vector<float> values;
                const int64_t count = shape[0] * (shape.size() > 1 ? shape[1] : 1);
                for (int64_t i = 0; i < count; ++i)
                    values.push_back(value(name, static_cast<size_t>(i)));
                const size_t norm = name.find("LayerNorm.");
                if (old_names && norm != std::string::npos)
                    name = name.substr(0, norm + 10) +
                           (name.back() == 's' ? "beta" : "gamma");  // bias, weight
                file.add(prefix + "encoder.layer." + name, shape, values);
            };
            for (const char* part : {"query", "key", "value"}) {
                add(std::string("attention.self.") + part + ".weight", {hidden, hidden});
                add(std::string("attention.self.") + part + ".bias", {hidden});
            }
            add("attention.output.dense.weight", {hidden, hidden});
            add("attention.output.dense.bias", {hidden});
            add("attention.output.LayerNorm.weight", {hidden});
            add("attention.output.LayerNorm.bias", {hidden});
            add("intermediate.dense.weight", transposed ? std::vector<int64_t>{hidden, inner}
                                                        : std::vector<int64_t>{inner, hidden});
            add("intermediate.dense.bias", {inner});
            add("output.dense.weight", transposed ? std::vector<int64_t>{inner, hidden}
                                                  : std::vector<int64_t>{hidden, inner});
            add("output.dense.bias", {hidden});
            add("output.LayerNorm.weight", {hidden});
            add("output.LayerNorm.bias", {hidden});
        }
        return file.bytes();
    }
};

}  // namespace encoder_tests
