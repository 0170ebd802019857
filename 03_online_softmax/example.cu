// SPDX-License-Identifier: MIT
// Softmax of one row of eight logits: nvcc -std=c++17 -arch=native example.cu && ./a.out
// An argument is added to each logit, such as 100.
#include <cstdio>
#include <cstdlib>

#include "online_softmax.cuh"

int main(int count, char** words) {
    const int cols = 8;
    float row[cols] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (float& x : row) x += count > 1 ? std::strtof(words[1], nullptr) : 0.f;
    float* device = nullptr;
    cudaError_t status = cudaMalloc(&device, sizeof(row));
    if (status == cudaSuccess) {
        cudaMemcpy(device, row, sizeof(row), cudaMemcpyHostToDevice);
        status = online_softmax::block_per_row(device, device, 1, cols, nullptr);  // in place
        if (status == cudaSuccess) {
            status = cudaMemcpy(row, device, sizeof(row), cudaMemcpyDeviceToHost);
        }
        cudaFree(device);
    }
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (float y : row) std::printf("%.4f ", y);
    std::printf("\n");
}
