// SPDX-License-Identifier: MIT
// An encoder whose layers lie on all GPUs of this machine, a pipeline: each GPU computes its layers of one micro-batch
// while the next GPU computes the following layers of the micro-batch before.
//   nvcc -std=c++17 -arch=sm_90a run_split_layers.cu && ./a.out [LAYERS] [MICRO_BATCHES] [REPEATS]
// Elsewhere than on Hopper: -arch=native. With REPEATS it measures a small BERT's throughput, on one GPU and on all.
// Without several GPUs, on the CPU device: split_layers.md says how.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "encoder.cuh"

using Half = __half;
using Layer = softmax_stages::EncoderLayer<Half>;

void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    std::exit(1);
}

struct Sizes {
    int64_t batch, seq, heads, size, inner;  // of a micro-batch
    int64_t hidden() const { return heads * size; }
    int64_t numbers() const { return batch * seq * hidden(); }
    size_t bytes() const { return static_cast<size_t>(numbers()) * sizeof(Half); }
};

// Random numbers in the memory of the current device; the same for the same seed.
Half* random_numbers(int64_t count, float deviation, float mean, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1.7f, 1.7f);
    std::vector<Half> values;
    for (int64_t i = 0; i < count; ++i)
        values.push_back(__float2half(mean + deviation * uniform(random)));
    Half* memory = nullptr;
    check(cudaMalloc(&memory, values.size() * sizeof(Half)));
    check(cudaMemcpy(memory, values.data(), values.size() * sizeof(Half), cudaMemcpyHostToDevice));
    return memory;
}

Layer random_layer(const Sizes& of, unsigned number) {
    const int64_t hidden = of.hidden();
    unsigned seed = 100 * number;
    const auto linear = [&](int64_t rows, int64_t cols) {
        const float deviation = 1.f / std::sqrt(static_cast<float>(cols));
        Half* const weight = random_numbers(rows * cols, deviation, 0.f, ++seed);
        return encoder_layers::Linear<Half>{weight, random_numbers(rows, 0.1f, 0.f, ++seed)};
    };
    const auto norm = [&] {
        Half* const gamma = random_numbers(hidden, 0.1f, 1.f, ++seed);
        return encoder_layers::Norm<Half>{gamma, random_numbers(hidden, 0.1f, 0.f, ++seed)};
    };
    Layer layer{};
    layer.qkv = linear(3 * hidden, hidden);
    layer.output = linear(hidden, hidden);
    layer.attention_norm = norm();
    layer.inner = linear(of.inner, hidden);
    layer.outer = linear(hidden, of.inner);
    layer.feed_forward_norm = norm();
    return layer;
}

// A GPU with some of the layers, and its copy of each micro-batch.
struct Stage {
    int device;
    cudaStream_t stream;
    std::vector<Layer> layers;
    std::vector<Half*> states;          // of each micro-batch
    std::vector<cudaEvent_t> is_ready;  // of each: its layers are done, and the next GPU has them
    void* workspace;
    size_t workspace_bytes;
};

Stage make_stage(const Sizes& of, int device, int64_t first, int64_t end, int64_t micro_batches) {
    Stage stage{};
    stage.device = device;
    check(cudaSetDevice(device));
    check(cudaStreamCreateWithFlags(&stage.stream, cudaStreamNonBlocking));
    for (int64_t i = first; i < end; ++i)
        stage.layers.push_back(random_layer(of, static_cast<unsigned>(i + 1)));
    for (int64_t i = 0; i < micro_batches; ++i) {
        stage.states.push_back(
            random_numbers(of.numbers(), 1.f, 0.f, static_cast<unsigned>(i + 1)));
        stage.is_ready.push_back(nullptr);
        check(cudaEventCreateWithFlags(&stage.is_ready.back(), cudaEventDisableTiming));
    }
    check(softmax_stages::encoder_workspace_bytes<Half>(
        &stage.workspace_bytes, of.batch, of.seq, of.heads, of.size, of.inner, end - first, {}));
    check(cudaMalloc(&stage.workspace, stage.workspace_bytes));
    return stage;
}

// Queues all layers of all micro-batches. A stage waits for the states of a micro-batch, computes its layers in place,
// and copies the states to the next GPU, all on its own stream.
void run(const Sizes& of, std::vector<Stage>& stages) {
    const size_t micro_batches = stages[0].states.size();
    for (size_t i = 0; i < micro_batches; ++i) {
        for (size_t s = 0; s < stages.size(); ++s) {
            const Stage& stage = stages[s];
            check(cudaSetDevice(stage.device));
            if (s > 0) check(cudaStreamWaitEvent(stage.stream, stages[s - 1].is_ready[i], 0));
            check(softmax_stages::encoder<Half>(
                stage.states[i], nullptr, stage.layers.data(), stage.states[i], of.batch, of.seq,
                of.heads, of.size, of.inner, static_cast<int64_t>(stage.layers.size()), {},
                stage.workspace, stage.workspace_bytes, stage.stream));
            if (s + 1 < stages.size()) {
                // In a further run: the next GPU is done with what lies there. (An event never recorded is past.)
                check(cudaStreamWaitEvent(stage.stream, stages[s + 1].is_ready[i], 0));
                check(cudaMemcpyPeerAsync(stages[s + 1].states[i], stages[s + 1].device,
                                          stage.states[i], stage.device, of.bytes(), stage.stream));
            }
            check(cudaEventRecord(stage.is_ready[i], stage.stream));
        }
    }
}

void wait_for(const std::vector<Stage>& stages) {
    for (const Stage& stage : stages) {
        check(cudaSetDevice(stage.device));
        check(cudaStreamSynchronize(stage.stream));
    }
}

std::vector<Half> results_of(const Sizes& of, const Stage& last) {
    check(cudaSetDevice(last.device));
    std::vector<Half> all(last.states.size() * static_cast<size_t>(of.numbers()));
    for (size_t i = 0; i < last.states.size(); ++i)
        check(cudaMemcpy(all.data() + i * static_cast<size_t>(of.numbers()), last.states[i],
                         of.bytes(), cudaMemcpyDeviceToHost));
    return all;
}

double milliseconds(const Sizes& of, std::vector<Stage>& stages, int repeats) {
    run(of, stages);
    wait_for(stages);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) run(of, stages);
    wait_for(stages);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
               .count() /
           repeats;
}

int main(int count, char** words) {
    const int64_t layers = count > 1 ? std::atoll(words[1]) : 4;
    const int64_t micro_batches = count > 2 ? std::atoll(words[2]) : 3;
    const int repeats = count > 3 ? std::atoi(words[3]) : 0;
    int devices = 0;
    check(cudaGetDeviceCount(&devices));
    if (layers < 1 || micro_batches < 1)
        return std::fprintf(stderr, "LAYERS and MICRO_BATCHES must be at least 1\n"), 2;
    if (devices > layers) devices = static_cast<int>(layers);
    const Sizes of = repeats > 0 ? Sizes{8, 128, 12, 64, 3072} : Sizes{1, 5, 2, 16, 64};

    std::vector<Stage> stages, alone;
    for (int s = 0; s < devices; ++s)
        stages.push_back(
            make_stage(of, s, layers * s / devices, layers * (s + 1) / devices, micro_batches));
    alone.push_back(make_stage(of, 0, 0, layers, micro_batches));
    run(of, stages);
    run(of, alone);
    wait_for(stages);
    wait_for(alone);
    const std::vector<Half> all = results_of(of, stages.back()), one = results_of(of, alone[0]);
    const bool are_alike = std::memcmp(all.data(), one.data(), all.size() * sizeof(Half)) == 0;
    std::printf("%lld layers on %d GPUs, %lld micro-batches: %s as on one GPU\n",
                static_cast<long long>(layers), devices, static_cast<long long>(micro_batches),
                are_alike ? "the same bits" : "DIFFERENT bits");
    if (repeats > 0) {
        const double of_all = milliseconds(of, stages, repeats),
                     of_one = milliseconds(of, alone, repeats);
        std::printf("%.3f ms on %d GPUs, %.3f ms on one: %.2f times\n", of_all, devices, of_one,
                    of_one / of_all);
    }
    return are_alike ? 0 : 1;
}
