// SPDX-License-Identifier: MIT
#include "common/operations/encoder/bert.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/io/text.hpp"
#include "common/runner/run.hpp"

namespace operations::encoder {
namespace {

using io::refuse;
using nlohmann::json;

constexpr const char* kLayer = "encoder.layer.";
constexpr const char* kQuery = "attention.self.query.weight";

// Of each parameter what it is called in a layer; more than one where they lie one behind the other.
const std::map<std::string, std::vector<std::string>>& names() {
    static const std::map<std::string, std::vector<std::string>> all = {
        {"qkv_weight",
         {"attention.self.query.weight", "attention.self.key.weight",
          "attention.self.value.weight"}},
        {"qkv_bias",
         {"attention.self.query.bias", "attention.self.key.bias", "attention.self.value.bias"}},
        {"output_weight", {"attention.output.dense.weight"}},
        {"output_bias", {"attention.output.dense.bias"}},
        {"attention_gamma", {"attention.output.LayerNorm.weight"}},
        {"attention_beta", {"attention.output.LayerNorm.bias"}},
        {"inner_weight", {"intermediate.dense.weight"}},
        {"inner_bias", {"intermediate.dense.bias"}},
        {"outer_weight", {"output.dense.weight"}},
        {"outer_bias", {"output.dense.bias"}},
        {"feed_forward_gamma", {"output.LayerNorm.weight"}},
        {"feed_forward_beta", {"output.LayerNorm.bias"}}};
    return all;
}

// What older files call it: LayerNorm.gamma for LayerNorm.weight, LayerNorm.beta for LayerNorm.bias.
std::string old_name(std::string part) {
    const std::map<std::string, std::string> kOld = {{"LayerNorm.weight", "LayerNorm.gamma"},
                                                     {"LayerNorm.bias", "LayerNorm.beta"}};
    for (const auto& [now, before] : kOld) {
        const size_t at = part.rfind(now);
        if (at != std::string::npos) part.replace(at, now.size(), before);
    }
    return part;
}

}  // namespace

Bert::Bert(const std::string& path) : file_(path) {
    const auto& tensors = file_.tensors();
    for (const char* prefix : {"bert.", ""}) {
        if (tensors.count(std::string(prefix) + kLayer + "0." + kQuery) > 0) prefix_ = prefix;
    }
    while (tensors.count(name_of(layers_, kQuery)) > 0) ++layers_;
    if (layers_ == 0)
        refuse(path, std::string("no weights of a BERT: there is no tensor '") + kLayer + "0." +
                         kQuery + "', nor one with 'bert.' before it");
    require_all_layers();
    const std::vector<int64_t>& query = tensors.at(name_of(0, kQuery)).shape;
    if (query.size() != 2 || query[0] != query[1] || query[0] < 1)
        refuse(path, "its tensor '" + name_of(0, kQuery) + "' is no square matrix");
    hidden_ = query[0];
    const auto inner = tensors.find(name_of(0, "intermediate.dense.bias"));
    if (inner == tensors.end() || inner->second.shape.size() != 1 || inner->second.shape[0] < 1)
        refuse(path, "there is no list '" + name_of(0, "intermediate.dense.bias") + "'");
    inner_ = inner->second.shape[0];
    constexpr int64_t kSizeOfHead = 64;
    heads_ = hidden_ / kSizeOfHead;
    look_at_config();
    if (heads_ < 1 || hidden_ % heads_ != 0)
        refuse(path, "hidden states of " + std::to_string(hidden_) + " numbers are no " +
                         std::to_string(heads_) +
                         " heads; num_attention_heads in a config.json beside it says how many");
}

std::string Bert::name_of(int64_t layer, const std::string& part) const {
    return prefix_ + kLayer + std::to_string(layer) + "." + part;
}

// A layer that is missing between others is no end.
void Bert::require_all_layers() const {
    const std::string start = prefix_ + kLayer;
    for (const auto& [name, tensor] : file_.tensors()) {
        if (name.compare(0, start.size(), start) != 0) continue;
        int64_t layer = -1;
        std::from_chars(name.data() + start.size(), name.data() + name.size(), layer);
        if (layer >= layers_)
            refuse(file_.path(), "it has a layer " + std::to_string(layer) + ", and no '" +
                                     name_of(layers_, kQuery) + "'");
    }
}

void Bert::look_at_config() {
    const std::filesystem::path path =
        std::filesystem::path(file_.path()).replace_filename("config.json");
    if (!std::filesystem::exists(path)) return;
    io::require_readable(path);
    constexpr uintmax_t kMostBytes = 1 << 20;
    if (std::filesystem::file_size(path) > kMostBytes) refuse(path, "it is no config of a model");
    std::ifstream file(path);
    const json config = json::parse(file, nullptr, false);
    if (!config.is_object()) refuse(path, "it is no JSON object");
    const auto has = [&](const char* key) { return config.contains(key); };
    if (has("num_attention_heads")) {
        const json& heads = config["num_attention_heads"];
        if (!heads.is_number_unsigned() || heads.get<uint64_t>() > 1 << 20)
            refuse(path, "its num_attention_heads is no number of heads");
        heads_ = heads.get<int64_t>();
    }
    if (has("layer_norm_eps")) {
        const json& epsilon = config["layer_norm_eps"];
        if (!epsilon.is_number() || !(epsilon.get<double>() > 0 && epsilon.get<double>() <= 1))
            refuse(path, "its layer_norm_eps is no number above 0");
        epsilon_ = epsilon.get<double>();
    }
    if (!has("hidden_act")) return;
    const std::map<std::string, Activation> kActivations = {
        {"gelu", Activation::gelu},
        {"gelu_new", Activation::gelu_by_tanh},
        {"gelu_pytorch_tanh", Activation::gelu_by_tanh},
        {"relu", Activation::relu},
        {"silu", Activation::silu},
        {"swish", Activation::silu}};
    const json& word = config["hidden_act"];
    const std::string activation = word.is_string() ? word.get<std::string>() : "";
    const auto found = kActivations.find(activation);
    if (found == kActivations.end())
        refuse(path, "its hidden_act is '" + io::printable(activation, 40) +
                         "'; gelu, gelu_new, gelu_pytorch_tanh, relu and silu are known");
    activation_ = found->second;
}

Shape Bert::shape(const std::vector<int64_t>& dims, const std::vector<int64_t>& lengths) const {
    if (dims.size() != 3 || dims[2] != hidden_)
        refuse(file_.path(), "its weights are for hidden states of " + std::to_string(hidden_) +
                                 " numbers, and those of the input have " +
                                 std::to_string(dims.empty() ? 0 : dims.back()));
    Shape shape(dims[0], dims[1], heads_, hidden_ / heads_);
    shape.layers = layers_;
    shape.inner = inner_ == 4 * hidden_ ? 0 : inner_;
    shape.activation = activation_;
    shape.epsilon = epsilon_;
    if (lengths.empty()) return shape;
    if (static_cast<int64_t>(lengths.size()) != dims[0])
        throw runner::UsageError("--lengths: " + std::to_string(lengths.size()) + " lengths for " +
                                 std::to_string(dims[0]) + " sequences");
    for (const int64_t length : lengths) {
        if (length > dims[1])
            throw runner::UsageError("--lengths: " + std::to_string(length) +
                                     " tokens in sequences of " + std::to_string(dims[1]));
    }
    const int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    if (tokens == 0) throw runner::UsageError("--lengths: no sequence has a token");
    shape.tokens = tokens == dims[0] * dims[1] ? 0 : tokens;
    return shape;
}

std::vector<double> Bert::read(const std::string& parameter) const {
    Shape one_layer(1, 1, heads_, hidden_ / heads_);
    one_layer.inner = inner_;
    std::vector<int64_t> dims;
    for (const Parameter& each : parameters_of(one_layer)) {
        if (each.name == parameter) dims.assign(each.dims.begin() + 1, each.dims.end());
    }
    const std::vector<std::string>& parts = names().at(parameter);
    dims.at(0) /= static_cast<int64_t>(parts.size());
    std::vector<double> all;
    for (int64_t layer = 0; layer < layers_; ++layer) {
        for (const std::string& part : parts) {
            const std::string old = name_of(layer, old_name(part));
            const bool is_old = file_.tensors().count(old) > 0;
            const std::vector<double> values =
                file_.read(is_old ? old : name_of(layer, part), dims);
            all.insert(all.end(), values.begin(), values.end());
        }
    }
    return all;
}

}  // namespace operations::encoder
