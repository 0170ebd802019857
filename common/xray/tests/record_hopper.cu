// SPDX-License-Identifier: MIT
//
// For a GPU of compute capability 9.0, under ncu: launches each kernel of hopper.cuh once. See record_instructions.sh.
#include <cstdio>

#include "common/xray/tests/hopper.cuh"

int main() {
    using namespace xray::hopper;
    unsigned char *from = nullptr, *to = nullptr;
    cudaMalloc(&from, kBlocks * kMostBytes);
    cudaMalloc(&to, kBlocks * kMostBytes);
    cudaMemset(from, 0, kBlocks * kMostBytes);
    cudaMemset(to, 0, kBlocks * kMostBytes);
    for (const Case& each : cases()) {
        launch(each, from, to);
        const cudaError_t ended = cudaDeviceSynchronize();
        if (ended == cudaSuccess) continue;
        std::printf("%s: %s\n", each.name, cudaGetErrorString(ended));
        return 1;
    }
    std::printf("%zu kernels: no error\n", cases().size());
    return 0;
}
