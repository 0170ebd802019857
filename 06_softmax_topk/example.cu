// SPDX-License-Identifier: MIT
// The three most likely of eight: nvcc -std=c++17 -arch=native example.cu && ./a.out
#include <cstdio>

#include "softmax_topk.cuh"

int main() {
    const int cols = 8, k = 3;
    const float row[cols] = {1, 7, 3, 4, 7, 6, 0, 5};
    float *x = nullptr, *values = nullptr, value[k];
    int32_t *indices = nullptr, index[k];
    cudaMalloc(&x, sizeof(row));
    cudaMalloc(&values, sizeof(value));
    cudaMalloc(&indices, sizeof(index));
    cudaMemcpy(x, row, sizeof(row), cudaMemcpyHostToDevice);
    cudaError_t status = softmax_topk::online_fused(x, values, indices, 1, cols, k, nullptr);
    if (status == cudaSuccess) {
        status = cudaMemcpy(value, values, sizeof(value), cudaMemcpyDeviceToHost);
        cudaMemcpy(index, indices, sizeof(index), cudaMemcpyDeviceToHost);
    }
    cudaFree(x);
    cudaFree(values);
    cudaFree(indices);
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int i = 0; i < k; ++i) std::printf("column %d: %.4f\n", index[i], value[i]);
}
