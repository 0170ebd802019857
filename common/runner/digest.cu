// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include <cuda_runtime.h>

#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"
#include "common/runner/overwritten.hpp"
#include "common/runner/random.cuh"

namespace runner {
namespace {

constexpr int kThreads = 256;
constexpr size_t kWordBytes = 8;

// A sum: threads may add in any order.
__host__ __device__ uint64_t term(uint64_t word, int64_t index) {
    return mix(word ^ mix(static_cast<uint64_t>(index)));
}

__global__ void digest_kernel(const uint64_t* words, int64_t count, unsigned long long* sum) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    uint64_t mine = 0;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step)
        mine += term(words[i], i);
    atomicAdd(sum, static_cast<unsigned long long>(mine));
}

uint64_t digest_of_words(const void* device, int64_t count) {
    if (on_gpu()) {
        DeviceBuffer<unsigned long long> sum(std::vector<unsigned long long>{0});
        const auto blocks =
            static_cast<unsigned>(std::clamp<int64_t>(count / kThreads, 1, int64_t{1} << 12));
        digest_kernel<<<blocks, kThreads>>>(static_cast<const uint64_t*>(device), count,
                                            sum.data());
        check_cuda(cudaGetLastError(), "launching the kernel of a digest");
        return sum.download().front();
    }
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
        uint64_t word = 0;
        std::memcpy(&word, static_cast<const unsigned char*>(device) + i * 8, kWordBytes);
        sum += term(word, i);
    }
    return sum;
}

}  // namespace

uint64_t digest_of(const void* device, size_t bytes) {
    const auto words = static_cast<int64_t>(bytes / kWordBytes);
    const size_t rest = bytes % kWordBytes;
    uint64_t digest = words > 0 ? digest_of_words(device, words) : 0;
    if (rest == 0) return digest;
    uint64_t last = 0;
    check_cuda(cudaMemcpy(&last, static_cast<const unsigned char*>(device) + bytes - rest, rest,
                          cudaMemcpyDeviceToHost),
               "reading an input");
    return digest + term(last, words);
}

}  // namespace runner
