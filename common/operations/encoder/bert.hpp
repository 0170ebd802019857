// SPDX-License-Identifier: MIT
// A BERT as Hugging Face's transformers saves it: one model.safetensors or several shards, and beside them
// config.json, which says what weights do not.
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

    // One of parameters_of(shape), the layers in order.
    std::vector<double> read(const std::string& parameter) const;

private:
    std::string layer_name(int64_t layer, const std::string& part) const;
    // As the file has it: today's name or the old one.
    std::string tensor_name(int64_t layer, const std::string& part) const;
    // What one layer's part of a parameter has.
    std::vector<int64_t> dims_of(const std::string& parameter) const;
    void require_layers_alone() const;
    void require_whole_layers() const;

    runner::Checkpoint saved_;
    std::string prefix_;
    BertSizes sizes_;
    BertConfig config_;
};

}  // namespace operations::encoder
