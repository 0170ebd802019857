// SPDX-License-Identifier: MIT
#include "common/operations/encoder/bert_config.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/runner/json_text.hpp"
#include "common/runner/quoted.hpp"

namespace operations::encoder {
namespace {

using nlohmann::json;
using runner::kQuoted;

constexpr size_t kMostBytes = 1 << 20;
constexpr size_t kDeepest = 16;

// Models whose layers compute what a BERT's do, and how the names of their tensors begin.
const std::map<std::string, std::string>& families() {
    static const std::map<std::string, std::string> all = {{"bert", "bert"},
                                                           {"roberta", "roberta"},
                                                           {"xlm-roberta", "roberta"},
                                                           {"camembert", "roberta"},
                                                           {"electra", "electra"}};
    return all;
}

const std::map<std::string, Activation>& activations() {
    static const std::map<std::string, Activation> all = {
        {"gelu", Activation::gelu},
        {"gelu_new", Activation::gelu_by_tanh},
        {"gelu_pytorch_tanh", Activation::gelu_by_tanh},
        {"relu", Activation::relu},
        {"silu", Activation::silu},
        {"swish", Activation::silu}};
    return all;
}

class Config {
public:
    explicit Config(const std::filesystem::path& path)
        : path_(path), content_(runner::read_json_object(path.string(), kMostBytes, kDeepest)) {}

    // Null, in Python None, is as good as nothing.
    bool has(const char* key) const { return content_.contains(key) && !content_[key].is_null(); }
    const json& operator[](const char* key) const { return content_.at(key); }

    [[noreturn]] void refuse(const char* key, const std::string& why) const {
        io::refuse(path_, "its " + std::string(key) + " is " +
                              io::printable(content_.at(key).dump(), kQuoted) + "; " + why);
    }

    int64_t count(const char* key, const std::string& of) const {
        const json& value = content_.at(key);
        if (!value.is_number_unsigned() || value.get<uint64_t>() < 1 ||
            value.get<uint64_t>() > 1 << 24)
            refuse(key, "a whole number of " + of + ", at least 1, is wanted");
        return value.get<int64_t>();
    }

    // A size that the tensors have, too.
    void require_size(const char* key, const std::string& of, int64_t in_tensors) const {
        if (!has(key) || count(key, of) == in_tensors) return;
        refuse(key, "the tensors beside it have " + std::to_string(in_tensors) + " " + of +
                        ": either file belongs to another model, or is not complete");
    }

    // What turns a BERT's layers into another computation unless it is `usual`.
    void require_usual(const char* key, const json& usual, const std::string& otherwise) const {
        if (has(key) && content_[key] != usual)
            refuse(key, otherwise + "; with " + usual.dump() + " it would be a BERT's");
    }

    const std::filesystem::path& path() const { return path_; }

private:
    const std::filesystem::path path_;
    const json content_;
};

void require_same_model(const Config& config, const BertSizes& tensors) {
    if (config.has("model_type")) {
        const json& type = config["model_type"];
        const auto known =
            families().find(type.is_string() ? type.get<std::string>() : std::string());
        if (known == families().end()) {
            std::string all;
            for (const auto& [name, family] : families()) all += (all.empty() ? "" : ", ") + name;
            config.refuse("model_type",
                          "layers of other models compute something else; " + all + " are read");
        }
        if (!tensors.family.empty() && known->second != tensors.family)
            config.refuse("model_type", "the names of the tensors beside it begin with '" +
                                            tensors.family +
                                            ".': either file belongs to another model");
    }
    config.require_size("num_hidden_layers", "layers", tensors.layers);
    config.require_size("hidden_size", "numbers in a hidden state", tensors.hidden);
    config.require_size("intermediate_size", "numbers in the feed-forward part", tensors.inner);
}

void require_same_computation(const Config& config) {
    config.require_usual("position_embedding_type", "absolute",
                         "relative positions are added to a layer's scores, which the encoder "
                         "here does not do");
    config.require_usual("is_decoder", false,
                         "a decoder's tokens see earlier ones alone, an encoder's see all");
    config.require_usual("add_cross_attention", false,
                         "the encoder here has no attention to another sequence");
    config.require_usual("is_encoder_decoder", false,
                         "the encoder here is no part of a pair with a decoder");
    for (const char* key : {"pruned_heads", "quantization_config"}) {
        if (config.has(key) && !config[key].empty())
            config.refuse(key, "only whole models of floating-point weights are read");
    }
}

int64_t heads_in(const Config& config, int64_t hidden) {
    constexpr const char* kKey = "num_attention_heads";
    if (!config.has(kKey))
        io::refuse(config.path(),
                   "it has no num_attention_heads, and the tensors do not say how "
                   "many heads share the " +
                       std::to_string(hidden) + " numbers of a hidden state: add it");
    const int64_t heads = config.count(kKey, "heads");
    if (hidden % heads != 0)
        config.refuse(kKey, "the hidden states of the tensors beside it have " +
                                std::to_string(hidden) + " numbers, which are no " +
                                std::to_string(heads) + " equal heads: a divisor would be right");
    return heads;
}

}  // namespace

BertConfig read_config(const std::filesystem::path& folder, const BertSizes& tensors) {
    const std::filesystem::path path = folder / "config.json";
    if (!std::filesystem::exists(path))
        io::refuse(path,
                   "no such file beside the weights, which do not say how many heads there "
                   "are nor which activation: fetch it from where they are from, or write "
                   "one, such as {\"num_attention_heads\": 12, \"hidden_act\": \"gelu\", "
                   "\"layer_norm_eps\": 1e-12}");
    const Config config(path);
    require_same_model(config, tensors);
    require_same_computation(config);
    BertConfig read;
    read.heads = heads_in(config, tensors.hidden);
    if (config.has("layer_norm_eps")) {
        const json& epsilon = config["layer_norm_eps"];
        if (!epsilon.is_number() || !(epsilon.get<double>() > 0 && epsilon.get<double>() <= 1))
            config.refuse("layer_norm_eps", "a number above 0, at most 1, is wanted");
        read.epsilon = epsilon.get<double>();
    }
    if (config.has("hidden_act")) {
        const json& word = config["hidden_act"];
        const auto found =
            activations().find(word.is_string() ? word.get<std::string>() : std::string());
        if (found == activations().end()) {
            std::string all;
            for (const auto& [name, activation] : activations())
                all += (all.empty() ? "" : ", ") + name;
            config.refuse("hidden_act", all + " are known");
        }
        read.activation = found->second;
    }
    return read;
}

}  // namespace operations::encoder
