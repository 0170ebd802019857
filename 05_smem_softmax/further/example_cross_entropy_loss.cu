// SPDX-License-Identifier: MIT
// The losses of two rows: nvcc -std=c++17 -arch=native example_cross_entropy_loss.cu && ./a.out
#include <cstdio>

#include "cross_entropy.cuh"

int main() {
    constexpr int64_t rows = 2, cols = 8;
    float *logits = nullptr, *loss = nullptr;
    int32_t* targets = nullptr;
    cudaMallocManaged(&logits, rows * cols * sizeof(float));
    cudaMallocManaged(&loss, rows * sizeof(float));
    cudaMallocManaged(&targets, rows * sizeof(int32_t));
    if (targets == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int64_t i = 0; i < rows * cols; ++i) logits[i] = static_cast<float>(i % 5);
    targets[0] = 4;
    targets[1] = 2;
    softmax_stages::CrossEntropyOptions<float> options;
    options.label_smoothing = 0.1f;
    cudaError_t status = softmax_stages::cross_entropy_loss(logits, targets, loss, rows, cols,
                                                            options, nullptr, 0, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int64_t row = 0; row < rows; ++row) std::printf("loss %.4f\n", loss[row]);
    cudaFree(logits);
    cudaFree(loss);
    cudaFree(targets);
}
