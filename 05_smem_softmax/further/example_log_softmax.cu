// SPDX-License-Identifier: MIT
// The logarithm of softmax of two rows, in place: nvcc -std=c++17 -arch=native example_log_softmax.cu && ./a.out
#include <cstdio>

#include "softmax.cuh"

int main() {
    constexpr int64_t rows = 2, cols = 8;
    float* x = nullptr;
    cudaMallocManaged(&x, rows * cols * sizeof(float));
    if (x == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int64_t i = 0; i < rows * cols; ++i) x[i] = static_cast<float>(i % cols);
    // Few rows of hundreds of thousands of columns take less time with a workspace.
    void* workspace = nullptr;
    size_t bytes = 0;
    cudaError_t status = softmax_stages::log_softmax_workspace_bytes<float>(&bytes, rows, cols, {});
    if (status == cudaSuccess && bytes > 0) status = cudaMalloc(&workspace, bytes);
    if (status == cudaSuccess)
        status = softmax_stages::log_softmax(x, x, rows, cols, {}, workspace, bytes, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int64_t i = 0; i < rows * cols; ++i)
        std::printf("%.4f%c", x[i], i % cols == cols - 1 ? '\n' : ' ');
    cudaFree(workspace);
    cudaFree(x);
}
