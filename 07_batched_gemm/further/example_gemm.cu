// SPDX-License-Identifier: MIT
// A product of 2 x 3 by 3 x 2: nvcc -std=c++17 -arch=native example_gemm.cu && ./a.out
#include <cstdio>

#include "gemm.cuh"

int main() {
    constexpr int64_t batch = 1, m = 2, n = 2, k = 3;
    float *a = nullptr, *b = nullptr, *c = nullptr;
    cudaMallocManaged(&a, m * k * sizeof(float));
    cudaMallocManaged(&b, k * n * sizeof(float));
    cudaMallocManaged(&c, m * n * sizeof(float));
    if (c == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int i = 0; i < 6; ++i)
        a[i] = static_cast<float>(i + 1), b[i] = i == 1 || i == 2 ? 0.f : 1.f;
    // {}: alpha is 1, beta 0; nothing is transposed, and lines lie without gaps.
    cudaError_t status = softmax_stages::gemm(a, b, c, batch, m, n, k, {}, nullptr, 0, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    std::printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]);
    cudaFree(c);
    cudaFree(b);
    cudaFree(a);
}
