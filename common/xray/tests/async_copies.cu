// SPDX-License-Identifier: MIT
//
// Asynchronous copies: their bytes arrive where a thread waits, so that it is the wait which has to lie
// before the barrier; and they are counted where they begin.
#include <cuda_pipeline.h>

#include "common/runner/device.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace {

// What the left neighbour has copied may not be there yet.
__global__ void barrier_before_the_wait(float* x) {
    __shared__ float row[64];
    __pipeline_memcpy_async(row + threadIdx.x, x + threadIdx.x, sizeof(float));
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    const float left = threadIdx.x == 0 ? 0 : row[threadIdx.x - 1];
    __syncthreads();
    x[threadIdx.x] = left;
}
constexpr unsigned kThreadsOfRow = 64;

__global__ void barrier_after_the_wait(float* x) {
    __shared__ float row[64];
    __pipeline_memcpy_async(row + threadIdx.x, x + threadIdx.x, sizeof(float));
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    __syncthreads();
    x[threadIdx.x] = row[63 - threadIdx.x];
}

// Each lane reads what it has copied itself; then all read, after they have met.
__global__ void one_warp(float* x) {
    __shared__ float row[32];
    __pipeline_memcpy_async(row + threadIdx.x, x + threadIdx.x, sizeof(float));
    __pipeline_commit();
    __syncwarp();
    __pipeline_wait_prior(0);
    const float mine = row[threadIdx.x];
    __syncwarp();
    x[threadIdx.x] = mine + row[31 - threadIdx.x];
}

KernelCounts counts_of(void (*kernel)(float*), unsigned threads) {
    runner::DeviceBuffer<float> x(kThreadsOfRow);
    return counted([&] { kernel<<<1, threads>>>(x.data()); }).front();
}

TEST_CASE("a wait for a copy has to lie before the barrier") {
    const KernelCounts wrong = counts_of(barrier_before_the_wait, kThreadsOfRow);
    REQUIRE(wrong.races.size() == 1);
    CHECK(wrong.races.front().times == 63);
    CHECK(counts_of(barrier_after_the_wait, kThreadsOfRow).races.empty());
    CHECK(counts_of(one_warp, 32).races.empty());
}

TEST_CASE("a copy is counted where it begins, and not where it arrives") {
    for (const auto kernel : {barrier_before_the_wait, barrier_after_the_wait}) {
        const std::vector<KernelCounts> kernels{counts_of(kernel, kThreadsOfRow)};
        CHECK(total(kernels, AccessKind::shared_copy).requests == 2);
        CHECK(total(kernels, AccessKind::shared_copy).bytes == 256);
        CHECK(total(kernels, AccessKind::global_load).requests == 2);
        CHECK(requests(kernels, AccessKind::shared_store) == 0);
    }
}

}  // namespace
