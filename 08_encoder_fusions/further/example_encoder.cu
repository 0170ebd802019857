// SPDX-License-Identifier: MIT
// Runs the encoder of a BERT that Hugging Face's transformers has saved, on a sequence of random hidden states:
//   nvcc -std=c++17 -arch=sm_90a example_encoder.cu && ./a.out model.safetensors [HEADS] [TOKENS]
// Elsewhere than on Hopper: -arch=native. HEADS: num_attention_heads of its config.json, 12 unless named.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "encoder.cuh"

using Half = __half;

[[noreturn]] void fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
}
void check(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

// A file of tensors: 8 bytes, the size of a header; the header, {"NAME": {"dtype": .., "data_offsets": [FIRST, END]}, ..}; the data.
class Model {
public:
    explicit Model(const char* path) : file_(path, std::ios::binary) {
        uint64_t size = 0;
        if (!file_.read(reinterpret_cast<char*>(&size), sizeof size) || size > (uint64_t{1} << 27))
            fail(std::string(path) + ": no .safetensors file that can be read");
        header_.resize(size);
        file_.read(header_.data(), static_cast<std::streamsize>(size));
    }
    // The prefix of all layers' names, such as "bert.".
    std::string prefix() const {
        const size_t at = header_.find("encoder.layer.0.attention.self.query.weight\"");
        if (at == std::string::npos)
            fail("there is no tensor encoder.layer.0.attention.self.query.weight: no BERT");
        const size_t quote = header_.rfind('"', at);
        return header_.substr(quote + 1, at - quote - 1);
    }
    bool has(const std::string& name) const {
        return header_.find("\"" + name + "\"") != std::string::npos;
    }
    // Appends a tensor's numbers.
    void read(const std::string& name, std::vector<Half>& to) {
        const size_t at = header_.find("\"" + name + "\"");
        if (at == std::string::npos) fail("there is no tensor " + name);
        const std::string entry = header_.substr(at, header_.find('}', at) - at);
        const char* offsets = entry.c_str() + entry.find("data_offsets");
        while (*offsets != '[') ++offsets;
        char* comma = nullptr;
        const uint64_t first = std::strtoull(offsets + 1, &comma, 10),
                       end = std::strtoull(comma + 1, nullptr, 10);
        const bool is_float = entry.find("\"F32\"") != std::string::npos;
        if (!is_float && entry.find("\"F16\"") == std::string::npos)
            fail(name + " is neither F32 nor F16");
        const size_t size = is_float ? sizeof(float) : sizeof(Half), count = (end - first) / size;
        std::vector<char> bytes(end - first);
        file_.seekg(static_cast<std::streamoff>(sizeof(uint64_t) + header_.size() + first));
        if (!file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
            fail(name + " lies beyond the file's end");
        for (size_t i = 0; i < count; ++i)
            to.push_back(is_float ? __float2half(reinterpret_cast<const float*>(bytes.data())[i])
                                  : reinterpret_cast<const Half*>(bytes.data())[i]);
    }

private:
    std::ifstream file_;
    std::string header_;
};

const Half* on_device(const std::vector<Half>& numbers) {
    Half* copy = nullptr;
    check(cudaMalloc(&copy, numbers.size() * sizeof(Half)));
    check(cudaMemcpy(copy, numbers.data(), numbers.size() * sizeof(Half), cudaMemcpyHostToDevice));
    return copy;
}

int main(int argc, char** argv) {
    if (argc < 2) fail("example_encoder MODEL.safetensors [HEADS] [TOKENS]");
    Model model(argv[1]);
    const int64_t heads = argc > 2 ? std::atoll(argv[2]) : 12,
                  seq = argc > 3 ? std::atoll(argv[3]) : 128;
    // Returns the tensors of these names, one after another, on the device.
    size_t count = 0;
    const auto joined = [&](const std::string& layer, std::initializer_list<const char*> names) {
        std::vector<Half> numbers;
        for (const char* name : names) model.read(layer + name, numbers);
        count = numbers.size();
        return on_device(numbers);
    };
    std::vector<softmax_stages::EncoderLayer<Half>> layers;
    int64_t hidden = 0, inner = 0;
    const std::string prefix = model.prefix() + "encoder.layer.";
    for (std::string layer; layer = prefix + std::to_string(layers.size()) + ".",
                            model.has(layer + "output.dense.bias");) {
        softmax_stages::EncoderLayer<Half> of{};
        const auto linear = [&](const std::string& name) {
            return encoder_layers::Linear<Half>{joined(layer, {(name + ".weight").c_str()}),
                                                joined(layer, {(name + ".bias").c_str()})};
        };
        const auto norm = [&](const std::string& name) {
            const auto both = linear(name + ".LayerNorm");
            return encoder_layers::Norm<Half>{both.weight, both.bias, 1e-12f};
        };
        of.qkv.weight = joined(layer, {"attention.self.query.weight", "attention.self.key.weight",
                                       "attention.self.value.weight"});
        of.qkv.bias = joined(layer, {"attention.self.query.bias", "attention.self.key.bias",
                                     "attention.self.value.bias"});
        hidden = static_cast<int64_t>(count) / 3;
        of.output = linear("attention.output.dense");
        of.attention_norm = norm("attention.output");
        of.inner = linear("intermediate.dense");
        inner = static_cast<int64_t>(count);
        of.outer = linear("output.dense");
        of.feed_forward_norm = norm("output");
        layers.push_back(of);
    }
    if (heads < 1 || hidden % heads != 0 || seq < 1)
        fail("the hidden numbers of this model cannot be divided among so many heads");

    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<Half> states(static_cast<size_t>(seq * hidden));
    for (Half& each : states) each = __float2half(normal(random));
    Half* const x = const_cast<Half*>(on_device(states));
    const int64_t size = hidden / heads, count_of_layers = static_cast<int64_t>(layers.size());
    void* workspace = nullptr;  // an encoder needs one
    size_t bytes = 0;
    check(softmax_stages::encoder_workspace_bytes<Half>(&bytes, 1, seq, heads, size, inner,
                                                        count_of_layers, {}));
    check(cudaMalloc(&workspace, bytes));
    // nullptr: the sequence is full
    check(softmax_stages::encoder<Half>(x, nullptr, layers.data(), x, 1, seq, heads, size, inner,
                                        count_of_layers, {}, workspace, bytes, nullptr));
    check(cudaMemcpy(states.data(), x, states.size() * sizeof(Half), cudaMemcpyDeviceToHost));
    std::printf("%lld layers, %lld hidden numbers; the first token:",
                static_cast<long long>(count_of_layers), static_cast<long long>(hidden));
    for (int64_t i = 0; i < std::min<int64_t>(8, hidden); ++i)
        std::printf(" %.4f", __half2float(states[static_cast<size_t>(i)]));
    std::printf("\n");
}
