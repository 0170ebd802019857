// SPDX-License-Identifier: MIT
// A small BERT in a .safetensors file, as Hugging Face's transformers names things, or with something wrong.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_fp8.h>

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
    // Not 0: matrices consist of element() times scale(), and this is the largest element. In a file of 8 bits scales are tensors
    // of their own; in one of floats the elements are multiplied.
    float largest = 0;
    std::string type = "F32";                 // of matrices; or I8, F8_E4M3
    bool has_one_scale = false;               // scale(0) for a whole matrix, and not one per row
    float input_scale = 0, output_scale = 0;  // 0: none

    // Between -1/8 and 1/8, in 16 steps; around 1 for a norm's factors.
    static float value(const std::string& name, size_t i) {
        uint64_t bits = i;
        for (const char each : name) bits = runner::mix(bits ^ static_cast<unsigned char>(each));
        const float small = static_cast<float>(bits % 17) / 64 - 0.125f;
        return name.find("LayerNorm.weight") == std::string::npos ? small : 1 + small;
    }

    static float scale(size_t row) { return (1 + static_cast<float>(row % 5)) / 1024; }
    // A whole number between -8 and 8, but the first of a row is the largest.
    float element(const std::string& name, size_t i, size_t cols) const {
        return i % cols == 0 ? largest : value(name, i) * 64;
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
                if (largest != 0 && shape.size() == 2)
                    return add_scaled(file, name, static_cast<size_t>(shape[0]),
                                      static_cast<size_t>(shape[1]));
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

private:
    void add_scaled(testing::SafetensorsFile& file, const std::string& name, size_t rows,
                    size_t cols) const {
        std::vector<float> scales, values;
        for (size_t row = 0; row < (has_one_scale ? 1 : rows); ++row) scales.push_back(scale(row));
        for (size_t i = 0; i < rows * cols; ++i)
            values.push_back(element(name, i, cols) *
                             (type == "F32" ? scales[has_one_scale ? 0 : i / cols] : 1));
        const std::string whole = prefix + "encoder.layer." + name,
                          module = whole.substr(0, whole.rfind('.') + 1);
        const std::vector<int64_t> shape = {static_cast<int64_t>(rows), static_cast<int64_t>(cols)};
        if (type == "F32") return file.add(whole, shape, values);
        if (type == "I8") {
            file.add(whole, shape, std::vector<int8_t>(values.begin(), values.end()), type);
        } else {
            file.add(whole, shape, std::vector<__nv_fp8_e4m3>(values.begin(), values.end()), type);
        }
        const auto add_scales = [&](const char* scale, const std::vector<int64_t>& sizes,
                                    const std::vector<float>& numbers) {
            if (without != name.substr(0, name.rfind('.') + 1) + scale && numbers.front() != 0)
                file.add(module + scale, sizes, numbers);
        };
        add_scales("weight_scale",
                   has_one_scale ? std::vector<int64_t>{} : std::vector<int64_t>{shape[0], 1},
                   scales);
        add_scales("input_scale", {1}, {input_scale});
        add_scales("output_scale", {1}, {output_scale});
    }
};

}  // namespace encoder_tests
