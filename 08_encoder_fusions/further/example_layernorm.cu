// SPDX-License-Identifier: MIT
// Layer norm of two rows and a residual, in place: nvcc -std=c++17 -arch=native example_layernorm.cu && ./a.out
#include <cstdio>

#include "layernorm.cuh"

int main() {
    constexpr int64_t rows = 2, cols = 8;
    float *x = nullptr, *gamma = nullptr, *beta = nullptr;
    cudaMallocManaged(&x, rows * cols * sizeof(float));
    cudaMallocManaged(&gamma, cols * sizeof(float));
    cudaMallocManaged(&beta, cols * sizeof(float));
    if (beta == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int64_t i = 0; i < rows * cols; ++i) x[i] = static_cast<float>(i);
    for (int64_t i = 0; i < cols; ++i) gamma[i] = 1.f, beta[i] = 0.f;
    softmax_stages::LayernormOptions<float> options;
    options.residual = x;  // the norm of x + x
    cudaError_t status =
        softmax_stages::layernorm(x, gamma, beta, x, rows, cols, options, nullptr, 0, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int64_t i = 0; i < rows * cols; ++i)
        std::printf("%.4f%c", x[i], i % cols == cols - 1 ? '\n' : ' ');
    cudaFree(beta);
    cudaFree(gamma);
    cudaFree(x);
}
