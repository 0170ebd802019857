// SPDX-License-Identifier: MIT
// The next token, a random one of the likeliest columns: nvcc -std=c++17 -arch=native example_sample.cu && ./a.out
#include <cstdio>

#include "sample.cuh"

int main() {
    constexpr int64_t rows = 4, cols = 1000;
    float *x = nullptr, *probabilities = nullptr;
    int32_t* columns = nullptr;
    cudaMallocManaged(&x, rows * cols * sizeof(float));
    cudaMallocManaged(&probabilities, rows * sizeof(float));
    cudaMallocManaged(&columns, rows * sizeof(int32_t));
    if (columns == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int64_t i = 0; i < rows * cols; ++i) x[i] = static_cast<float>(i * 7919 % cols) / 100.f;
    softmax_stages::SampleOptions options;
    options.temperature = 0.8f;
    options.top_p = 0.9f;
    options.seed = 2018;
    void* workspace = nullptr;
    size_t bytes = 0;
    cudaError_t status = softmax_stages::sample_workspace_bytes<float>(&bytes, rows, cols, options);
    if (status == cudaSuccess && bytes > 0) status = cudaMalloc(&workspace, bytes);
    if (status == cudaSuccess)
        status = softmax_stages::sample(x, columns, probabilities, rows, cols, options, workspace,
                                        bytes, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int64_t row = 0; row < rows; ++row)
        std::printf("column %d, probability %.4f\n", static_cast<int>(columns[row]),
                    probabilities[row]);
}
