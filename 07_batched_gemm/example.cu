// SPDX-License-Identifier: MIT
// A product of 2 x 3 by 3 x 2: nvcc -std=c++17 -arch=native example.cu && ./a.out
#include <cstdio>

#include "batched_gemm.cuh"

int main() {
    const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 0, 1, 1, 1};
    float *on_gpu = nullptr, c[4];
    cudaMalloc(&on_gpu, sizeof(a) + sizeof(b) + sizeof(c));
    cudaMemcpy(on_gpu, a, sizeof(a), cudaMemcpyHostToDevice);
    cudaMemcpy(on_gpu + 6, b, sizeof(b), cudaMemcpyHostToDevice);
    batched_gemm::Problem<float> g{};
    g.batch = 1, g.m = 2, g.n = 2, g.k = 3;
    g.a.data = on_gpu, g.a.ld = 3;
    g.b.data = on_gpu + 6, g.b.ld = 2;
    g.c.data = on_gpu + 12, g.c.ld = 2;
    cudaError_t status = batched_gemm::tiled(g, nullptr);
    if (status == cudaSuccess) status = cudaMemcpy(c, g.c.data, sizeof(c), cudaMemcpyDeviceToHost);
    cudaFree(on_gpu);
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    std::printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]);
}
