// SPDX-License-Identifier: MIT
// The gradient of softmax of two rows, over their result: nvcc -std=c++17 -arch=native example_softmax_backward.cu && ./a.out
#include <cstdio>

#include "softmax.cuh"

int main() {
    constexpr int64_t rows = 2, cols = 8;
    float *y = nullptr, *dy = nullptr;
    cudaMallocManaged(&y, rows * cols * sizeof(float));
    cudaMallocManaged(&dy, rows * cols * sizeof(float));
    if (y == nullptr || dy == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int64_t i = 0; i < rows * cols; ++i) y[i] = 1.f / cols, dy[i] = i % cols == 0 ? 1.f : 0.f;
    // Few rows of hundreds of thousands of columns take less time with a workspace.
    void* workspace = nullptr;
    size_t bytes = 0;
    cudaError_t status =
        softmax_stages::softmax_backward_workspace_bytes<float>(&bytes, rows, cols, {});
    if (status == cudaSuccess && bytes > 0) status = cudaMalloc(&workspace, bytes);
    if (status == cudaSuccess)
        status =
            softmax_stages::softmax_backward(y, dy, y, rows, cols, {}, workspace, bytes, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int64_t i = 0; i < rows * cols; ++i)
        std::printf("%.4f%c", y[i], i % cols == cols - 1 ? '\n' : ' ');
    cudaFree(workspace);
    cudaFree(y);
    cudaFree(dy);
}
