// SPDX-License-Identifier: MIT
// A BERT as Hugging Face's transformers saves it: model.safetensors, and beside it config.json, which says what
// weights do not.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/operations/encoder/operation.hpp"
#include "common/runner/safetensors.hpp"

namespace operations::encoder {

class Bert {
public:
    // FileError, one line, where that is no BERT: names of layers or of theirs that are missing, shapes that do not
    // fit, in config.json an activation that is none of ours. Without a config.json a head has 64 numbers, and the
    // activation is GELU. Names may begin with "bert."; a norm has a weight and a bias, or a gamma and a beta.
    explicit Bert(const std::string& path);

    // Its problem on so many sequences; lengths: empty where all are full. FileError, of the weights' file, where
    // states have another size; UsageError for lengths that are none.
    Shape shape(const std::vector<int64_t>& dims, const std::vector<int64_t>& lengths) const;

    // One of parameters_of(shape), all layers one behind the other.
    std::vector<double> read(const std::string& parameter) const;

private:
    std::string name_of(int64_t layer, const std::string& part) const;
    void require_all_layers() const;
    void look_at_config();

    runner::Safetensors file_;
    std::string prefix_;
    int64_t layers_ = 0, hidden_ = 0, inner_ = 0, heads_ = 0;
    Activation activation_ = Activation::gelu;
    double epsilon_ = 1e-12;  // transformers' own
};

}  // namespace operations::encoder
