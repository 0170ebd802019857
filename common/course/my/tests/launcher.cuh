// SPDX-License-Identifier: MIT
// A softmax that is right, unless the environment's WAY says how its launcher is to end: at 1,000 columns. launcher.txt
// has what is said of each.
#pragma once
#include <cuda_runtime.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

__global__ void rows_of(const float* x, float* y, int64_t cols) {
    const float* from = x + blockIdx.x * cols;
    float best = -INFINITY, sum = 0;
    for (int64_t i = threadIdx.x; i < cols; i += 32) best = fmaxf(best, from[i]);
    for (int lanes = 16; lanes > 0; lanes /= 2)
        best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, lanes));
    for (int64_t i = threadIdx.x; i < cols; i += 32) sum += expf(from[i] - best);
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    for (int64_t i = threadIdx.x; i < cols; i += 32)
        y[blockIdx.x * cols + i] = expf(from[i] - best) / sum;
}

inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols,
                          cudaStream_t stream) {
    const char* const asked = std::getenv("WAY");
    const std::string way = asked == nullptr ? "" : asked;
    if (way == "narrow" && cols > 1024) return cudaErrorNotSupported;
    if (way == "exit" && cols == 1000) exit(0);
    if (way == "_Exit" && cols == 1000) _Exit(0);
    if (way == "quick_exit" && cols == 1000) quick_exit(3);
    if (way == "free" && cols == 1000) cudaFree(y);
    if (way == "throw" && cols == 1000) throw std::runtime_error("no way");
    if (way == "abort" && cols == 1000) abort();
    if (way == "kill" && cols == 1000) kill(getpid(), SIGKILL);
    if (way == "heap" && cols == 1000) {
        char* volatile bytes = static_cast<char*>(malloc(64));
        for (int i = 0; i < 1 << 16; i++) bytes[i] = 0x5a;
        free(bytes);
    }
    const volatile bool loops = way == "loop" && cols == 1000;
    while (loops) {  // @loop
    }
    while (way == "launches" && cols == 1000) {
        rows_of<<<1, 1, 0, stream>>>(x, y, 0);  // @launches
    }
    rows_of<<<rows, 32, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
