// SPDX-License-Identifier: MIT
// Runs the encoder of a BERT that Hugging Face's transformers has saved, on a sequence of random hidden states:
//   nvcc -std=c++17 -arch=sm_90a run_bert.cu && ./a.out model.safetensors [HEADS] [TOKENS]
// Elsewhere than on Hopper: -arch=native. HEADS: num_attention_heads of its config.json, 12 unless named. The activation is GELU,
// and epsilon 1e-12, as in BERT.
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// A file of tensors: 8 bytes, the size of a header; the header, {"NAME": {"dtype": .., "data_offsets":[FIRST,END]}, ..}; the data.
class Model {
public:
    explicit Model(const char* path) : file_(path, std::ios::binary | std::ios::ate) {
        const auto bytes = static_cast<int64_t>(file_.tellg());
        uint64_t size = 0;
        file_.seekg(0);
        file_.read(reinterpret_cast<char*>(&size), sizeof size);
        if (!file_ || static_cast<int64_t>(size) > bytes - kSizeBytes || size > (uint64_t{1} << 27))
            fail(std::string(path) + ": no .safetensors file that can be read");
        header_.resize(size);
        file_.read(&header_[0], static_cast<std::streamsize>(size));
        data_bytes_ = static_cast<uint64_t>(bytes - kSizeBytes) - size;
    }
    // Returns what precedes "encoder.layer." in the names, such as "bert.".
    std::string prefix() const {
        const size_t at = header_.find("encoder.layer.0.attention.self.query.weight\"");
        if (at == std::string::npos)
            fail("there is no tensor encoder.layer.0.attention.self.query.weight: no BERT");
        const size_t quote = header_.rfind('"', at);
        return header_.substr(quote + 1, at - quote - 1);
    }
    bool has_layer(const std::string& layer) const {
        return header_.find("\"" + layer) != std::string::npos;
    }
    // Appends a tensor's numbers.
    void read(const std::string& name, std::vector<Half>& to) {
        const size_t at = header_.find("\"" + name + "\"");
        if (at == std::string::npos) fail("there is no tensor " + name);
        const std::string entry = header_.substr(at, header_.find('}', at) - at);
        const size_t offsets = entry.find("\"data_offsets\"");
        unsigned long long first = 0, end = 0;
        const bool is_found = offsets != std::string::npos &&
                              std::sscanf(entry.c_str() + offsets,
                                          "\"data_offsets\" : [ %llu , %llu", &first, &end) == 2;
        const bool is_float = entry.find("\"F32\"") != std::string::npos;
        if (!is_float && entry.find("\"F16\"") == std::string::npos)
            fail(name + " is neither F32 nor F16");
        const size_t size = is_float ? sizeof(float) : sizeof(Half);
        if (!is_found || end < first || end > data_bytes_ || (end - first) % size != 0)
            fail(name + ": its place is not within the file");
        std::vector<char> bytes(end - first);
        file_.seekg(static_cast<std::streamoff>(kSizeBytes + header_.size() + first));
        if (!file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
            fail(name + " cannot be read");
        for (size_t i = 0; i < bytes.size() / size; ++i) {
            float number = 0;
            Half half;
            std::memcpy(is_float ? static_cast<void*>(&number) : &half, &bytes[i * size], size);
            to.push_back(is_float ? __float2half(number) : half);
        }
    }

private:
    static constexpr int64_t kSizeBytes = 8;
    std::ifstream file_;
    std::string header_;
    uint64_t data_bytes_ = 0;
};

Half* on_device(const std::vector<Half>& numbers) {
    Half* copy = nullptr;
    check(cudaMalloc(&copy, numbers.size() * sizeof(Half)));
    check(cudaMemcpy(copy, numbers.data(), numbers.size() * sizeof(Half), cudaMemcpyHostToDevice));
    return copy;
}

int main(int argc, char** argv) {
    if (argc < 2) fail("run_bert MODEL.safetensors [HEADS] [TOKENS]");
    Model model(argv[1]);
    const int64_t heads = argc > 2 ? std::atoll(argv[2]) : 12,
                  seq = argc > 3 ? std::atoll(argv[3]) : 128;
    const std::string prefix = model.prefix() + "encoder.layer.";
    std::vector<Half> numbers;
    model.read(prefix + "0.output.dense.bias", numbers);
    const auto hidden = static_cast<int64_t>(numbers.size());
    numbers.clear();
    model.read(prefix + "0.intermediate.dense.bias", numbers);
    const auto inner = static_cast<int64_t>(numbers.size());
    if (heads < 1 || hidden % heads != 0 || seq < 1)
        fail(std::to_string(hidden) + " hidden numbers cannot be divided among so many heads");

    std::vector<softmax_stages::EncoderLayer<Half>> layers;
    for (std::string layer;
         layer = prefix + std::to_string(layers.size()) + ".", model.has_layer(layer);) {
        // Returns tensors, one after another, on the device. They must have `count` numbers together.
        const auto joined = [&](int64_t count, const std::vector<std::string>& names) {
            numbers.clear();
            for (const std::string& name : names) model.read(layer + name, numbers);
            if (static_cast<int64_t>(numbers.size()) != count)
                fail(layer + names[0] + " has not as many numbers as layer 0 says");
            return on_device(numbers);
        };
        const auto linear = [&](const std::string& name, int64_t out, int64_t in) {
            return encoder_layers::Linear<Half>{joined(out * in, {name + ".weight"}),
                                                joined(out, {name + ".bias"})};
        };
        const auto norm = [&](const std::string& name) {
            return encoder_layers::Norm<Half>{joined(hidden, {name + ".LayerNorm.weight"}),
                                              joined(hidden, {name + ".LayerNorm.bias"}), 1e-12f};
        };
        const std::string self = "attention.self.";
        softmax_stages::EncoderLayer<Half> of{};
        of.qkv.weight = joined(3 * hidden * hidden,
                               {self + "query.weight", self + "key.weight", self + "value.weight"});
        of.qkv.bias =
            joined(3 * hidden, {self + "query.bias", self + "key.bias", self + "value.bias"});
        of.output = linear("attention.output.dense", hidden, hidden);
        of.attention_norm = norm("attention.output");
        of.inner = linear("intermediate.dense", inner, hidden);
        of.outer = linear("output.dense", hidden, inner);
        of.feed_forward_norm = norm("output");
        layers.push_back(of);
    }

    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<Half> states(static_cast<size_t>(seq * hidden));
    for (Half& each : states) each = __float2half(normal(random));
    Half* const x = on_device(states);
    const int64_t size = hidden / heads, count = static_cast<int64_t>(layers.size());
    void* workspace = nullptr;  // an encoder needs one
    size_t bytes = 0;
    check(softmax_stages::encoder_workspace_bytes<Half>(&bytes, 1, seq, heads, size, inner, count,
                                                        {}));
    check(cudaMalloc(&workspace, bytes));
    // nullptr: the sequence is full
    check(softmax_stages::encoder<Half>(x, nullptr, layers.data(), x, 1, seq, heads, size, inner,
                                        count, {}, workspace, bytes, nullptr));
    check(cudaMemcpy(states.data(), x, states.size() * sizeof(Half), cudaMemcpyDeviceToHost));
    std::printf("%lld layers, %lld hidden numbers; the first token:", static_cast<long long>(count),
                static_cast<long long>(hidden));
    for (int64_t i = 0; i < std::min<int64_t>(8, hidden); ++i)
        std::printf(" %.4f", __half2float(states[static_cast<size_t>(i)]));
    std::printf("\n");
}
