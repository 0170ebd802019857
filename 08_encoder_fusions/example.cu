// SPDX-License-Identifier: MIT
// Adds a bias to two rows and applies GELU: nvcc -std=c++17 -arch=native example.cu && ./a.out
#include <cstdio>

#include "encoder_fusions.cuh"

int main() {
    const float x[] = {-3, -1, 0, 1, 0, 1, 2, 3}, bias[] = {0, 1, 0, 1};
    float *on_gpu = nullptr, y[8];
    cudaMalloc(&on_gpu, sizeof(x) + sizeof(bias));
    cudaMemcpy(on_gpu, x, sizeof(x), cudaMemcpyHostToDevice);
    cudaMemcpy(on_gpu + 8, bias, sizeof(bias), cudaMemcpyHostToDevice);
    cudaError_t status = encoder_fusions::bias_activation_by_columns<4>(
        on_gpu, on_gpu + 8, on_gpu, 2, 4, encoder_fusions::Gelu{}, nullptr);
    if (status == cudaSuccess) status = cudaMemcpy(y, on_gpu, sizeof(y), cudaMemcpyDeviceToHost);
    cudaFree(on_gpu);
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int i = 0; i < 8; ++i) std::printf("%.4f%c", y[i], i % 4 == 3 ? '\n' : ' ');
}
