// SPDX-License-Identifier: MIT
// The softmax kernels of FasterTransformer v1 behind C functions, for peers.py. Compiled by it,
// against a checkout of the user's own: nvcc -I FASTERTRANSFORMER ... No code of it is here.
//
// They work in place on attention scores [batch, head, S, S] and read a mask [batch, S, S]. Here a
// matrix of rows x cols is one batch of rows / cols heads with S = cols, and the mask is all ones.
#include <cassert>
#include <cstdint>
#include <vector>

#include <cuda_runtime.h>

#include "fastertransformer/cuda/open_attention.cu"

namespace {

// A mask of ones for sequences of cols, kept from call to call.
const float* mask_of(int64_t cols) {
    static int64_t known = 0;
    static float* mask = nullptr;
    if (known == cols) return mask;
    cudaFree(mask);
    known = 0;
    mask = nullptr;
    const std::vector<float> ones(static_cast<size_t>(cols * cols), 1.f);
    const size_t bytes = ones.size() * sizeof(float);
    if (cudaMalloc(&mask, bytes) != cudaSuccess) return nullptr;
    if (cudaMemcpy(mask, ones.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess) return nullptr;
    known = cols;
    return mask;
}

}  // namespace

// In place on y. cudaErrorNotSupported above the kernels' limit of 1024 columns, or 2^31 elements.
extern "C" int fastertransformer_softmax(float* y, int64_t rows, int64_t cols, void* stream) {
    if (cols > 1024 || rows * cols > INT32_MAX) return cudaErrorNotSupported;
    const float* mask = mask_of(cols);
    if (mask == nullptr) return cudaErrorMemoryAllocation;
    unsigned threads = 32;
    while (threads < cols) threads *= 2;
    const auto heads = static_cast<int>((rows + cols - 1) / cols);
    const auto sequence = static_cast<int>(cols);
    const auto queue = static_cast<cudaStream_t>(stream);
    // Its own rule: from 121 matrices on a block takes a whole one, below that a row.
    if (heads > 120 && rows % cols == 0) {
        fastertransformer::cuda::softmax_kernel<float>
            <<<static_cast<unsigned>(heads), threads, 0, queue>>>(y, mask, 1, heads, sequence, 1.f);
    } else {
        fastertransformer::cuda::softmax_kernel_v2<float>
            <<<static_cast<unsigned>(rows), threads, 0, queue>>>(y, mask, 1, heads, sequence, 1.f);
    }
    return cudaGetLastError();
}
