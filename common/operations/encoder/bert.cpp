// SPDX-License-Identifier: MIT
#include "common/operations/encoder/bert.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "common/io/text.hpp"
#include "common/runner/quoted.hpp"
#include "common/runner/run.hpp"

namespace operations::encoder {
namespace {

using io::refuse;
using runner::in_quotes;
using runner::kQuoted;

constexpr const char* kLayer = "encoder.layer.";
constexpr const char* kQuery = "attention.self.query.weight";
constexpr const char *kWeightScale = "weight_scale", *kInputScale = "input_scale",
                     *kOutputScale = "output_scale";
constexpr const char* kScales[] = {kWeightScale, kInputScale, kOutputScale};

// What each parameter is called in a layer; more than one name where it is made of several tensors.
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

bool is_matrix(const std::string& parameter) {
    return parameter.find("_weight") != std::string::npos;
}

// "output.dense." of "output.dense.weight".
std::string module_of(const std::string& part) {
    return part.substr(0, part.rfind('.') + 1);
}

bool has_8_bits(const runner::SavedTensor& tensor) {
    return tensor.type == "I8" || tensor.type == "F8_E4M3";
}
std::string type_in_file(runner::ElementType type) {
    return type == runner::ElementType::int8 ? "I8" : "F8_E4M3";
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

std::string in_words(const std::vector<int64_t>& dims) {
    std::string text;
    for (const int64_t each : dims) text += (text.empty() ? "" : ", ") + std::to_string(each);
    return io::printable("[" + text + "]", kQuoted);
}

bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

// Where the name of a layer's tensor has "encoder.layer.N."; npos in other names.
size_t layer_in(const std::string& name) {
    const std::string layer = kLayer;
    for (size_t at = name.find(layer); at != std::string::npos; at = name.find(layer, at + 1)) {
        const size_t number = at + layer.size();
        if ((at == 0 || name[at - 1] == '.') && number < name.size() && is_digit(name[number]))
            return at;
    }
    return std::string::npos;
}

// What a prefix says of its model: nothing but words of wrappers, or a family that computes as a BERT does.
// False for any other.
bool is_known(const std::string& prefix, std::string& family) {
    static const std::set<std::string> kWrappers = {"module",     "model",      "_orig_mod",
                                                    "base_model", "auto_model", "encoder_model"};
    static const std::set<std::string> kFamilies = {"bert", "roberta", "electra"};
    for (size_t begin = 0; begin < prefix.size();) {
        const size_t end = prefix.find('.', begin);
        const std::string word = prefix.substr(begin, end - begin);
        const bool is_family = kFamilies.count(word) > 0;
        if (!family.empty() || (!is_family && kWrappers.count(word) == 0)) return false;
        if (is_family) family = word;
        begin = end + 1;
    }
    return true;
}

// What else the names of a file look like.
std::string looks_like(const std::map<std::string, const runner::SavedTensor*>& tensors) {
    const std::vector<std::pair<const char*, const char*>> kMarks = {
        {"lora_A", "an adapter (LoRA), to be merged into its model first"},
        {"self_attn.q_proj", "a decoder such as Llama's or OPT's"},
        {"attn.c_attn", "GPT-2's"},
        {"attention.query_key_value", "GPT-NeoX's"},
        {"attention.q_lin", "DistilBERT's"},
        {"attention.self.query_proj", "DeBERTa's"},
        {"SelfAttention.q", "T5's"},
        {"attention.attention.query", "a vision transformer's"},
        {"self_attn.in_proj_weight", "torch.nn.TransformerEncoder's"},
        {"albert_layer", "ALBERT's"}};
    for (const auto& [mark, whose] : kMarks) {
        for (const auto& [name, tensor] : tensors) {
            if (name.find(mark) != std::string::npos)
                return "; " + in_quotes(name) + " is a name of " + whose;
        }
    }
    return tensors.empty() ? "; it has no tensors"
                           : "; its " + std::to_string(tensors.size()) + " tensors begin with " +
                                 in_quotes(tensors.begin()->first);
}

// The one prefix of all layers' tensors. FileError where there are none, or several.
std::string prefix_of(const runner::Checkpoint& saved) {
    std::map<std::string, std::string> examples;  // a name for each prefix
    for (const auto& [name, tensor] : saved.tensors()) {
        const size_t layer = layer_in(name);
        if (layer != std::string::npos) examples.emplace(name.substr(0, layer), name);
    }
    if (examples.empty())
        refuse(saved.path(), std::string("no weights of a BERT: there is no tensor '") + kLayer +
                                 "0." + kQuery + "', nor one with 'bert.' or 'roberta.' before it" +
                                 looks_like(saved.tensors()));
    if (examples.size() > 1)
        refuse(saved.path(),
               "it has layers under two names, " + in_quotes(examples.begin()->second) + " and " +
                   in_quotes(std::next(examples.begin())->second) + ": keep the tensors of one");
    return examples.begin()->first;
}

}  // namespace

Bert::Bert(const std::string& path) : saved_(path), prefix_(prefix_of(saved_)) {
    if (!is_known(prefix_, sizes_.family))
        refuse(saved_.path(), "the names of its layers begin with " + in_quotes(prefix_) +
                                  ", a model whose layers may compute something else; 'bert.', "
                                  "'roberta.' and 'electra.' are read, also after 'module.' or "
                                  "'model.': rename them if that is right");
    const auto& tensors = saved_.tensors();
    while (tensors.count(layer_name(sizes_.layers, kQuery)) > 0) ++sizes_.layers;
    require_layers_alone();
    const std::vector<int64_t>& query = tensors.at(layer_name(0, kQuery))->shape;
    if (query.size() != 2 || query[0] != query[1] || query[0] < 1)
        refuse(saved_.path(), "its tensor " + in_quotes(layer_name(0, kQuery)) +
                                  " is no square matrix, which a BERT's is");
    sizes_.hidden = query[0];
    const auto inner = tensors.find(layer_name(0, "intermediate.dense.bias"));
    if (inner == tensors.end() || inner->second->shape.size() != 1 || inner->second->shape[0] < 1)
        refuse(saved_.path(), "there is no list " +
                                  in_quotes(layer_name(0, "intermediate.dense.bias")) +
                                  ", which a BERT has");
    sizes_.inner = inner->second->shape[0];
    require_whole_layers();
    config_ = read_config(saved_.folder(), sizes_);
}

std::string Bert::layer_name(int64_t layer, const std::string& part) const {
    return prefix_ + kLayer + std::to_string(layer) + "." + part;
}

std::string Bert::tensor_name(int64_t layer, const std::string& part) const {
    const std::string name = layer_name(layer, part), old = layer_name(layer, old_name(part));
    const bool has_old = old != name && saved_.tensors().count(old) > 0;
    if (has_old && saved_.tensors().count(name) > 0)
        refuse(saved_.path(), "it has both " + in_quotes(name) + " and, as older files call it, " +
                                  in_quotes(old) + ": keep the one that is right");
    return has_old ? old : name;
}

std::vector<int64_t> Bert::dims_of(const std::string& parameter) const {
    Shape one_layer(1, 1, 1, sizes_.hidden);
    one_layer.inner = sizes_.inner;
    for (const Parameter& each : parameters_of(one_layer)) {
        if (each.name != parameter) continue;
        std::vector<int64_t> dims(each.dims.begin() + 1, each.dims.end());
        dims.at(0) /= static_cast<int64_t>(names().at(parameter).size());
        return dims;
    }
    throw std::out_of_range("there is no parameter called " + parameter);
}

std::string Bert::scale_name(int64_t layer, const std::string& part, const char* scale) const {
    return layer_name(layer, module_of(part) + scale);
}

std::vector<double> Bert::read_scales(const std::string& name, int64_t rows) const {
    const runner::SavedTensor& tensor = *saved_.tensors().at(name);
    const bool is_one = tensor.shape.empty() || tensor.shape == std::vector<int64_t>{1};
    const bool is_list =
        tensor.shape == std::vector<int64_t>{rows} || tensor.shape == std::vector<int64_t>{rows, 1};
    if ((!is_one && !is_list) || has_8_bits(tensor))
        refuse(saved_.path(), "its tensor " + in_quotes(name) + " is " + in_words(tensor.shape) +
                                  " of " + tensor.type + "; scales are floating-point numbers, " +
                                  (rows == 1 ? "" : in_words({rows, 1}) + " of them or ") + "one");
    std::vector<double> scales = saved_.file_of(name).read(name, tensor.shape);
    for (const double scale : scales) {
        if (!(scale >= 0) || !std::isfinite(static_cast<float>(scale)))
            refuse(saved_.path(), "its tensor " + in_quotes(name) +
                                      " has a scale that is negative, infinite or no number");
    }
    if (is_one) scales.assign(static_cast<size_t>(rows), scales.front());
    return scales;
}

// Elements of 8 bits have scales, and others have none.
void Bert::require_scales(int64_t layer, const std::string& part, int64_t rows) const {
    const auto& tensors = saved_.tensors();
    const std::string name = tensor_name(layer, part);
    const std::string& type = tensors.at(name)->type;
    for (const char* scale : kScales) {
        const std::string scales = scale_name(layer, part, scale);
        const bool is_there = tensors.count(scales) > 0;
        if (!has_8_bits(*tensors.at(name))) {
            if (is_there)
                refuse(saved_.path(), "it has " + in_quotes(scales) + ", and its tensor " +
                                          in_quotes(name) + " has elements of " + type +
                                          "; scales belong to elements of I8 or F8_E4M3");
        } else if (is_there) {
            read_scales(scales, scale == kWeightScale ? rows : 1);
        } else if (scale == kWeightScale) {
            refuse(saved_.path(), "its tensor " + in_quotes(name) + " has elements of " + type +
                                      ", and there is no " + in_quotes(scales) +
                                      ", by which they are multiplied");
        }
    }
}

// A layer that is missing among others is no end, and a tensor that no BERT has computes something.
void Bert::require_layers_alone() const {
    std::set<std::string> parts;
    for (const auto& [parameter, of_layer] : names()) {
        for (const std::string& part : of_layer) {
            parts.insert({part, old_name(part)});
            if (!is_matrix(parameter)) continue;
            for (const char* scale : kScales) parts.insert(module_of(part) + scale);
        }
    }
    const std::string encoder = prefix_ + "encoder.", start = prefix_ + kLayer;
    for (auto each = saved_.tensors().lower_bound(encoder);
         each != saved_.tensors().end() && each->first.compare(0, encoder.size(), encoder) == 0;
         ++each) {
        const std::string& name = each->first;
        const bool is_layers = name.compare(0, start.size(), start) == 0;
        const size_t number = start.size();
        const size_t dot = is_layers ? name.find('.', number) : std::string::npos;
        constexpr size_t kMostDigits = 6;
        const bool is_number = dot != std::string::npos && dot > number &&
                               dot - number <= kMostDigits &&
                               std::all_of(name.begin() + static_cast<ptrdiff_t>(number),
                                           name.begin() + static_cast<ptrdiff_t>(dot), is_digit) &&
                               (name[number] != '0' || dot == number + 1);
        if (is_number && std::stoll(name.substr(number, dot - number)) >= sizes_.layers)
            refuse(saved_.path(), "it has a layer " + name.substr(number, dot - number) +
                                      ", and no " + in_quotes(layer_name(sizes_.layers, kQuery)) +
                                      ": a part of it is missing");
        if (!is_number || parts.count(name.substr(dot + 1)) == 0)
            refuse(saved_.path(), "it has a tensor " + in_quotes(name) +
                                      ", which is no part of a BERT's encoder: what it adds would "
                                      "be left out");
    }
}

// All tensors, before anything is run.
void Bert::require_whole_layers() const {
    const std::string why = "; " + in_quotes(layer_name(0, kQuery)) + " has " +
                            std::to_string(sizes_.hidden) + " columns, " +
                            in_quotes(layer_name(0, "intermediate.dense.bias")) + " " +
                            std::to_string(sizes_.inner) + " numbers";
    for (int64_t layer = 0; layer < sizes_.layers; ++layer) {
        for (const auto& [parameter, of_layer] : names()) {
            for (const std::string& part : of_layer) {
                const std::string name = tensor_name(layer, part);
                if (saved_.tensors().count(name) == 0)
                    refuse(saved_.path(), "there is no tensor " + in_quotes(name) +
                                              ", which each layer of a BERT has");
                saved_.file_of(name).require(name, dims_of(parameter), why);
                if (is_matrix(parameter)) {
                    require_scales(layer, part, dims_of(parameter).front());
                } else if (has_8_bits(*saved_.tensors().at(name))) {
                    refuse(saved_.path(), "its tensor " + in_quotes(name) + " has elements of " +
                                              saved_.tensors().at(name)->type +
                                              "; only matrices are read in 8 bits");
                }
            }
        }
    }
}

Shape Bert::shape(const std::vector<int64_t>& dims, const std::vector<int64_t>& lengths) const {
    if (dims.size() != 3 || dims[2] != sizes_.hidden)
        refuse(saved_.path(), "its weights are for hidden states of " +
                                  std::to_string(sizes_.hidden) + " numbers, [batch, seq, " +
                                  std::to_string(sizes_.hidden) + "], and the input is " +
                                  in_words(dims));
    Shape shape(dims[0], dims[1], config_.heads, sizes_.hidden / config_.heads);
    shape.layers = sizes_.layers;
    shape.inner = sizes_.inner == 4 * sizes_.hidden ? 0 : sizes_.inner;
    shape.activation = config_.activation;
    shape.epsilon = config_.epsilon;
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
    const std::vector<int64_t> dims = dims_of(parameter);
    std::vector<double> all;
    for (int64_t layer = 0; layer < sizes_.layers; ++layer) {
        for (const std::string& part : names().at(parameter)) {
            const std::string name = tensor_name(layer, part);
            std::vector<double> values = saved_.file_of(name).read(name, dims);
            if (has_8_bits(*saved_.tensors().at(name))) {
                const std::vector<double> scales =
                    read_scales(scale_name(layer, part, kWeightScale), dims.at(0));
                const auto cols = static_cast<size_t>(dims.at(1));
                for (size_t i = 0; i < values.size(); ++i) values[i] *= scales[i / cols];
            }
            all.insert(all.end(), values.begin(), values.end());
        }
    }
    return all;
}

std::vector<float> Bert::steps_of_rows(const std::string& matrix, runner::ElementType type) const {
    const int64_t rows = dims_of(matrix).at(0);
    std::vector<float> steps;
    for (int64_t layer = 0; layer < sizes_.layers; ++layer) {
        for (const std::string& part : names().at(matrix)) {
            std::vector<double> scales(static_cast<size_t>(rows), 0);
            if (saved_.tensors().at(tensor_name(layer, part))->type == type_in_file(type))
                scales = read_scales(scale_name(layer, part, kWeightScale), rows);
            for (const double scale : scales) steps.push_back(static_cast<float>(scale));
        }
    }
    return steps;
}

std::vector<float> Bert::steps_of_tensors(runner::ElementType type) const {
    const struct {
        Rounded input, result;
        const char* matrix;
    } kProducts[] = {{kQkvInput, kQkvResult, "qkv_weight"},
                     {kOutputInput, kOutputResult, "output_weight"},
                     {kInnerInput, kInnerResult, "inner_weight"},
                     {kOuterInput, kOuterResult, "outer_weight"}};
    std::vector<float> steps(static_cast<size_t>(sizes_.layers * kRounded), 0.f);
    for (int64_t layer = 0; layer < sizes_.layers; ++layer) {
        const auto add = [&](Rounded which, const std::string& part, const char* scale) {
            const std::string name = scale_name(layer, part, scale);
            if (saved_.tensors().count(name) == 0 ||
                saved_.tensors().at(tensor_name(layer, part))->type != type_in_file(type))
                return;
            float& step = steps.at(static_cast<size_t>(layer * kRounded + which));
            step = std::max(step, static_cast<float>(read_scales(name, 1).front()));
        };
        for (const auto& product : kProducts) {
            for (const std::string& part : names().at(product.matrix)) {
                add(product.input, part, kInputScale);
                add(product.result, part, kOutputScale);
            }
        }
    }
    return steps;
}

}  // namespace operations::encoder
