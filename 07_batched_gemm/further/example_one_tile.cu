// SPDX-License-Identifier: MIT
// Multiplies 2 x 8 by 8 x 8 by TMA and wgmma, on Hopper: nvcc -std=c++17 -arch=sm_90a example_one_tile.cu && ./a.out
#include <cstdio>

#include "one_tile.cuh"

int main() {
    constexpr int64_t m = 2, n = 8, k = 8;
    __half *a = nullptr, *b = nullptr, *c = nullptr;
    cudaMallocManaged(&a, m * k * sizeof(__half));
    cudaMallocManaged(&b, k * n * sizeof(__half));
    cudaMallocManaged(&c, m * n * sizeof(__half));
    if (c == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int i = 0; i < m * k; ++i) a[i] = __float2half(static_cast<float>(i));
    for (int i = 0; i < k * n; ++i) b[i] = __float2half(i / n == i % n ? 2.f : 0.f);
    batched_gemm::Problem<__half> g{};
    g.batch = 1, g.m = m, g.n = n, g.k = k;
    g.a.data = a, g.a.ld = k;
    g.b.data = b, g.b.ld = n;
    g.c.data = c, g.c.ld = n;
    cudaError_t status = batched_gemm::one_tile(g, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int i = 0; i < m * n; ++i)
        std::printf("%g%c", static_cast<double>(__half2float(c[i])), i % n == n - 1 ? '\n' : ' ');
    cudaFree(c);
    cudaFree(b);
    cudaFree(a);
}
