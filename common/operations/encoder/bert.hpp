// SPDX-License-Identifier: MIT
// A BERT as Hugging Face's transformers saves it: one model.safetensors or several shards, and beside them
// config.json, which says what weights do not. Matrices may have 8 bits, I8 or F8_E4M3, with scales as compressed-tensors saves
// them: "….weight_scale", one per row or one for all, and perhaps "….input_scale" and "….output_scale" of the product.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/operations/encoder/bert_config.hpp"
#include "common/operations/encoder/operation.hpp"
#include "common/runner/checkpoint.hpp"

namespace operations::encoder {

class Bert {
public:
    // path: as Checkpoint takes it. Names of tensors may begin with "bert.", "roberta." or "electra.", whose layers
    // compute the same, and before that with "module.", "model." and other words of programs that wrap a model; a norm
    // has a weight and a bias, or a gamma and a beta. FileError where that is no BERT: tensors that are missing, of
    // other shapes or types, under two names, or of another computation; and for what read_config() refuses.
    explicit Bert(const std::string& path);

    // Its problem on so many sequences; lengths: empty where all are full. FileError, of the weights' file, where
    // states have another size; UsageError for lengths that are none.
    Shape shape(const std::vector<int64_t>& dims, const std::vector<int64_t>& lengths) const;

    // One of parameters_of(shape), the layers in order. A matrix of 8 bits is multiplied by its scales.
    std::vector<double> read(const std::string& parameter) const;

    // What a file of 8 bits says of its scales; 0 where it has none, or elements of another type. Of a matrix: one per row, the
    // layers in order.
    std::vector<float> steps_of_rows(const std::string& matrix, runner::ElementType type) const;
    // Of the tensors that are rounded to 8 bits: kRounded per layer. Three products read the same tensor, and the largest of their
    // scales holds the numbers of all.
    std::vector<float> steps_of_tensors(runner::ElementType type) const;

private:
    std::string layer_name(int64_t layer, const std::string& part) const;
    // As the file has it: today's name or the old one.
    std::string tensor_name(int64_t layer, const std::string& part) const;
    // What one layer's part of a parameter has.
    std::vector<int64_t> dims_of(const std::string& parameter) const;
    // "encoder.layer.0.output.dense.weight_scale" for scale = "weight_scale".
    std::string scale_name(int64_t layer, const std::string& part, const char* scale) const;
    // Finite and not negative, one per row or one for all; FileError otherwise.
    std::vector<double> read_scales(const std::string& name, int64_t rows) const;
    void require_scales(int64_t layer, const std::string& part, int64_t rows) const;
    void require_layers_alone() const;
    void require_whole_layers() const;

    runner::Checkpoint saved_;
    std::string prefix_;
    BertSizes sizes_;
    BertConfig config_;
};

}  // namespace operations::encoder
