// SPDX-License-Identifier: MIT
// Two layers of an encoder over one sequence of four tokens: nvcc -std=c++17 -arch=native example_encoder.cu && ./a.out
#include <cstdio>

#include "encoder.cuh"

int main() {
    constexpr int64_t batch = 1, seq = 4, heads = 2, size = 8, inner = 32, layers = 2;
    constexpr int64_t hidden = heads * size, most = 3 * hidden * hidden;
    __half *x = nullptr, *p = nullptr;  // hidden states; numbers for each matrix and each bias
    cudaMallocManaged(&x, batch * seq * hidden * sizeof(__half));
    cudaMallocManaged(&p, most * sizeof(__half));
    if (x == nullptr || p == nullptr) return std::fprintf(stderr, "no memory\n"), 1;
    for (int64_t i = 0; i < batch * seq * hidden; ++i) x[i] = __float2half(0.2f * (i % 5));
    for (int64_t i = 0; i < most; ++i) p[i] = __float2half(0.1f * (i % 7));
    const softmax_stages::EncoderLayer<__half> layer{{p, p}, {p, p}, {p, p},
                                                     {p, p}, {p, p}, {p, p}};
    const softmax_stages::EncoderLayer<__half> weights[layers] = {layer, layer};
    void* workspace = nullptr;  // an encoder needs one
    size_t bytes = 0;
    cudaError_t status = softmax_stages::encoder_workspace_bytes<__half>(&bytes, batch, seq, heads,
                                                                         size, inner, layers, {});
    if (status == cudaSuccess) status = cudaMalloc(&workspace, bytes);
    if (status == cudaSuccess)  // nullptr: all sequences are full
        status = softmax_stages::encoder<__half>(x, nullptr, weights, x, batch, seq, heads, size,
                                                 inner, layers, {}, workspace, bytes, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1;
    for (int64_t i = 0; i < batch * seq * hidden; ++i)
        std::printf("%.3f%c", __half2float(x[i]), i % hidden == hidden - 1 ? '\n' : ' ');
    cudaFree(workspace);
    cudaFree(p);
    cudaFree(x);
}
