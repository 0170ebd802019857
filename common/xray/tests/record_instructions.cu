// SPDX-License-Identifier: MIT
//
// For a GPU, under ncu: launches each kernel of instructions.cuh once. See record_instructions.sh.
#include <cstdio>

#include "common/xray/tests/instructions.cuh"

int main() {
    using namespace xray::instructions;
    constexpr size_t kIn = kThreads / 32 * kMostBytes, kOut = kBlocks * kThreads * sizeof(uint32_t);
    uint32_t *from = nullptr, *to = nullptr;
    cudaMalloc(&from, kIn);
    cudaMalloc(&to, kOut);
    cudaMemset(from, 0, kIn);
    for (const Case& each : cases()) launch(each, from, to);
    const cudaError_t ended = cudaDeviceSynchronize();
    std::printf("%zu kernels: %s\n", cases().size(), cudaGetErrorString(ended));
    return ended == cudaSuccess ? 0 : 1;
}
