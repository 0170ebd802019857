// SPDX-License-Identifier: MIT
// The three most likely of eight columns: nvcc -std=c++17 -arch=native example_topk.cu && ./a.out
#include <cstdio>

#include "topk.cuh"

int main() {
    constexpr int64_t rows = 1, cols = 8, k = 3;
    float *x = nullptr, *probabilities = nullptr;
    int32_t* columns = nullptr;
    cudaMallocManaged(&x, rows * cols * sizeof(float));
    cudaMallocManaged(&probabilities, rows * k * sizeof(float));
    cudaMallocManaged(&columns, rows * k * sizeof(int32_t));
    if (columns == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int64_t i = 0; i < rows * cols; ++i) x[i] = static_cast<float>(i * 5 % cols);
    // Few long rows are faster with a workspace; topk_workspace_bytes() returns its size.
    cudaError_t status =
        softmax_stages::topk(x, probabilities, columns, rows, cols, k, {}, nullptr, 0, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int64_t i = 0; i < rows * k; ++i)
        std::printf("column %d: %.4f\n", static_cast<int>(columns[i]), probabilities[i]);
    cudaFree(columns);
    cudaFree(probabilities);
    cudaFree(x);
}
