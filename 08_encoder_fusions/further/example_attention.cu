// SPDX-License-Identifier: MIT
// Causal attention of two heads over four tokens: nvcc -std=c++17 -arch=native example_attention.cu && ./a.out
#include <cstdio>

#include "attention.cuh"

int main() {
    constexpr int64_t batch = 1, heads = 2, tokens = 4, size = 8, count = heads * tokens * size;
    __half *x = nullptr, *o = nullptr;
    cudaMallocManaged(&x, count * sizeof(__half));
    cudaMallocManaged(&o, count * sizeof(__half));
    if (x == nullptr || o == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int64_t i = 0; i < count; ++i) x[i] = __float2half(static_cast<float>(i % 7) / 7.f);
    softmax_stages::AttentionOptions options;  // [batch, heads, tokens, size]; scale 1 / sqrt(size)
    options.causal = true;
    cudaError_t status = softmax_stages::attention(x, x, x, o, batch, heads, tokens, tokens, size,
                                                   options, nullptr, 0, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int64_t i = 0; i < count; ++i)
        std::printf("%.3f%c", __half2float(o[i]), i % size == size - 1 ? '\n' : ' ');
    cudaFree(o);
    cudaFree(x);
}
