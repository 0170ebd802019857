// SPDX-License-Identifier: MIT
// The mean loss of three rows, and its gradient over the logits: nvcc -std=c++17 -arch=native example_cross_entropy.cu && ./a.out
#include <cstdio>

#include "cross_entropy.cuh"

int main() {
    constexpr int64_t rows = 3, cols = 8;
    float *logits = nullptr, *loss = nullptr, *totals = nullptr;
    int64_t* targets = nullptr;
    cudaMallocManaged(&logits, rows * cols * sizeof(float));
    cudaMallocManaged(&loss, rows * sizeof(float));
    cudaMallocManaged(&totals, 3 * sizeof(float));
    cudaMallocManaged(&targets, rows * sizeof(int64_t));
    if (targets == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int64_t i = 0; i < rows * cols; ++i) logits[i] = static_cast<float>(i % 5);
    targets[0] = 4;
    targets[1] = -100;  // does not count
    targets[2] = 2;
    softmax_stages::CrossEntropyOptions<float> options;
    options.reduction = softmax_stages::Reduction::mean;
    options.totals = totals;
    cudaError_t status = softmax_stages::cross_entropy(logits, targets, loss, logits, rows, cols,
                                                       options, nullptr, 0, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    std::printf("loss %.4f, over %.0f rows\n", totals[0], totals[2]);
    for (int64_t i = 0; i < rows * cols; ++i)
        std::printf("%7.4f%c", logits[i], i % cols == cols - 1 ? '\n' : ' ');
    cudaFree(logits);
    cudaFree(loss);
    cudaFree(totals);
    cudaFree(targets);
}
