// SPDX-License-Identifier: MIT
// The loss of a language model's last layer, without logits in memory, and its gradients: checked, and timed beside the product.
//   nvcc -std=c++17 -arch=sm_90a run_linear_cross_entropy.cu && ./a.out [ROWS HIDDEN VOCABULARY]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "linear_cross_entropy.cuh"

using Element = __nv_bfloat16;

void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    std::exit(1);
}
template <class X>
X* allocate(int64_t count) {
    X* data = nullptr;
    check(cudaMalloc(&data, static_cast<size_t>(count) * sizeof(X)));
    return data;
}
template <class X>
X* on_device(const std::vector<X>& host) {
    X* const data = allocate<X>(static_cast<int64_t>(host.size()));
    check(cudaMemcpy(data, host.data(), host.size() * sizeof(X), cudaMemcpyHostToDevice));
    return data;
}
// Normally distributed numbers, which begin anew after kPeriod of them: a prime, so that no two rows are alike.
constexpr int64_t kPeriod = 1000003;
std::vector<float> numbers(float scale) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.f, scale);
    std::vector<float> all(kPeriod);
    for (float& each : all) each = static_cast<float>(Element(normal(random)));
    return all;
}
// Returns `count` of them on the device.
Element* repeated(const std::vector<float>& numbers, int64_t count) {
    std::vector<Element> once(numbers.begin(), numbers.end());
    Element* const data = allocate<Element>(count);
    int64_t done = std::min(count, kPeriod);
    check(cudaMemcpy(data, once.data(), static_cast<size_t>(done) * sizeof(Element),
                     cudaMemcpyHostToDevice));
    while (done < count) {
        const int64_t more = std::min(done, count - done);
        check(cudaMemcpy(data + done, data, static_cast<size_t>(more) * sizeof(Element),
                         cudaMemcpyDeviceToDevice));
        done += more;
    }
    return data;
}

// Returns the milliseconds of each call: the medians of rounds in which they take turns, because a GPU that has become warm is
// slower. The first rounds, which warm it up, do not count.
std::vector<double> milliseconds_of(const std::vector<std::function<cudaError_t()>>& calls) {
    constexpr int kRounds = 24, kCounted = 12;
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    std::vector<std::vector<float>> times(calls.size());
    for (int round = 0; round < kRounds; ++round) {
        for (size_t i = 0; i < calls.size(); ++i) {
            float ms = 0.f;
            check(cudaEventRecord(start));
            check(calls[i]());
            check(cudaEventRecord(stop));
            check(cudaEventSynchronize(stop));
            check(cudaEventElapsedTime(&ms, start, stop));
            if (round >= kRounds - kCounted) times[i].push_back(ms);
        }
    }
    std::vector<double> medians;
    for (auto& each : times) {
        std::sort(each.begin(), each.end());
        medians.push_back(static_cast<double>(each[kCounted / 2]));
    }
    return medians;
}

int main(int count, char** words) {
    const auto size = [&](int i, int64_t usual) {
        return count > i ? std::max<int64_t>(1, std::atoll(words[i])) : usual;
    };
    const int64_t rows = size(1, 4096), hidden = size(2, 4096), vocabulary = size(3, 128256);
    const std::vector<float> x = numbers(1.f), weight = numbers(0.05f);
    std::vector<int64_t> targets(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) targets[static_cast<size_t>(i)] = i * 7919 % vocabulary;

    const batched_gemm::LinearLoss<Element> g{repeated(x, rows * hidden),
                                              repeated(weight, vocabulary * hidden),
                                              batched_gemm::LossTargets(on_device(targets)),
                                              rows,
                                              hidden,
                                              vocabulary,
                                              allocate<float>(rows),
                                              allocate<float>(rows)};
    const size_t forward_bytes = batched_gemm::linear_loss_workspace_bytes(rows, vocabulary),
                 backward_bytes = batched_gemm::linear_loss_backward_workspace_bytes<Element>(
                     rows, hidden, vocabulary),
                 bytes = std::max(forward_bytes, backward_bytes);
    void* const workspace = allocate<char>(static_cast<int64_t>(bytes));
    const auto forward = [&] {
        return batched_gemm::linear_cross_entropy(g, workspace, bytes, nullptr);
    };
    check(forward());

    // A few rows against fp64.
    std::vector<float> loss(static_cast<size_t>(rows));
    check(cudaMemcpy(loss.data(), g.loss, loss.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int64_t row = 0; row < rows; row += std::max<int64_t>(1, rows / 2)) {
        std::vector<double> logits(static_cast<size_t>(vocabulary));
        int64_t at = 0;  // in weight
        for (double& logit : logits) {
            for (int64_t k = 0; k < hidden; ++k) {
                const float in_x = x[static_cast<size_t>((row * hidden + k) % kPeriod)];
                logit += double{in_x} * double{weight[static_cast<size_t>(at)]};
                at = at + 1 == kPeriod ? 0 : at + 1;
            }
        }
        const double m = *std::max_element(logits.begin(), logits.end());
        double d = 0;
        for (const double logit : logits) d += std::exp(logit - m);
        const double wanted =
            m + std::log(d) - logits[static_cast<size_t>(targets[static_cast<size_t>(row)])];
        worst = std::max(worst, std::fabs(wanted - double{loss[static_cast<size_t>(row)]}) /
                                    (1 + std::fabs(wanted)));
    }
    std::printf("%lld x %lld x %lld in bfloat16: the loss of some rows errs by %.1e of fp64\n",
                static_cast<long long>(rows), static_cast<long long>(hidden),
                static_cast<long long>(vocabulary), worst);
    if (!(worst < 1e-4)) return 1;

    const double logit_bytes = static_cast<double>(rows * vocabulary) * sizeof(Element);
    std::printf(
        "memory: %.0f MB for logits, and as much for their gradients; here %.0f MB forward and "
        "%.0f MB backward\n",
        logit_bytes / 1e6, static_cast<double>(forward_bytes) / 1e6,
        static_cast<double>(backward_bytes) / 1e6);

    // The product alone, which writes its logits, then the loss and the gradients.
    Element* const logits = allocate<Element>(rows * ((vocabulary + 7) / 8 * 8));
    const auto product =
        batched_gemm::logits_of(g, 0, vocabulary, logits, (vocabulary + 7) / 8 * 8);
    Element *const dx = allocate<Element>(rows * hidden), *const dweight = allocate<Element>(
                                                              vocabulary * hidden);
    const std::vector<double> ms =
        milliseconds_of({[&] { return batched_gemm::hopper_gemm(product, nullptr); }, forward,
                         [&] {
                             return batched_gemm::linear_cross_entropy_backward(
                                 g, nullptr, 1.f / static_cast<float>(rows), dx, dweight, workspace,
                                 bytes, nullptr);
                         }});
    const double of_product = ms[0], of_loss = ms[1], of_gradients = ms[2];
    const double teraflop = 2e-12 * static_cast<double>(rows) * static_cast<double>(hidden) *
                            static_cast<double>(vocabulary);
    std::printf("product alone  %7.2f ms  %4.0f TFLOP/s\n", of_product,
                1e3 * teraflop / of_product);
    std::printf("loss           %7.2f ms  %4.0f TFLOP/s, %.2f of the product's speed\n", of_loss,
                1e3 * teraflop / of_loss, of_product / of_loss);
    std::printf("gradients      %7.2f ms  %4.0f TFLOP/s in three products, %.2f of its speed\n",
                of_gradients, 3e3 * teraflop / of_gradients, 3 * of_product / of_gradients);
    return 0;
}
