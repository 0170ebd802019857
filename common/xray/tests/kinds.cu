// SPDX-License-Identifier: MIT
//
// What is neither a plain global nor a plain shared access has a column of its own.
#include <cub/block/block_reduce.cuh>
#include <cuda_pipeline.h>

#include "common/cpu_device/tests/clusters.cuh"
#include "common/runner/device.hpp"
#include "common/xray/source_map.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace {

__constant__ float factors[32];
__device__ float offset;

__global__ void scale(const float* x, float* y) {
    y[threadIdx.x] = x[threadIdx.x] * factors[threadIdx.x % 32] + offset;
}

__global__ void copy_in_bulk(const float* x, float* y) {
    __shared__ __align__(16) float row[64];
    if (threadIdx.x == 0) cpu_device::bulk_copy(row, x, sizeof(row));
    __syncthreads();
    y[threadIdx.x] = row[threadIdx.x];
}

__global__ void copy_asynchronously(const float* x, float* y) {
    __shared__ __align__(128) float row[64];
    if (threadIdx.x < 16) __pipeline_memcpy_async(row + 4 * threadIdx.x, x + 4 * threadIdx.x, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[threadIdx.x] = row[threadIdx.x];
}

// Each block reads what the other one of its cluster holds.
__global__ void exchange(float* y) {
    __shared__ float row[32];
    row[threadIdx.x] = static_cast<float>(blockIdx.x);
    cpu_device::cluster_barrier();
    const unsigned other = cpu_device::cluster_block_rank() ^ 1;
    y[blockIdx.x * 32 + threadIdx.x] =
        static_cast<float*>(cpu_device::map_shared_rank(row, other))[threadIdx.x];
    cpu_device::cluster_barrier();
}

__global__ void sum(const float* x, float* y) {
    using BlockReduce = cub::BlockReduce<float, 64>;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ float total;
    const float mine = BlockReduce(scratch).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0) total = mine;
    __syncthreads();
    y[threadIdx.x] = total;
}

// Shared accesses that CUB made for itself, and the others.
struct Shares {
    int64_t cub = 0, own = 0;
};
Shares shares_of(const std::vector<KernelCounts>& kernels, AccessKind kind) {
    const SourceMap sources(kernels);
    Shares shares;
    for (const auto& [site, counts] : kernels.front().sites) {
        if (site.kind != kind) continue;
        (sources.in_cub(site.place) ? shares.cub : shares.own) += counts.requests;
    }
    return shares;
}

}  // namespace

TEST_CASE("kinds of accesses") {
    runner::DeviceBuffer<float> input(68), output(64);
    float* const x = input.data();
    float* const y = output.data();

    SECTION("constants and device variables are not global traffic") {
        const float values[32] = {1, 2, 3};
        REQUIRE(cudaMemcpyToSymbol(factors, values, sizeof(values)) == cudaSuccess);
        REQUIRE(cudaMemcpyToSymbol(offset, values, sizeof(offset)) == cudaSuccess);
        const auto kernels = counted([&] { scale<<<1, 64>>>(x, y); });
        CHECK(requests(kernels, AccessKind::global_load) == 2);
        CHECK(requests(kernels, AccessKind::constant_load) == 4);
    }
    SECTION("bulk copies") {
        const auto kernels = counted([&] { copy_in_bulk<<<1, 64>>>(x, y); });
        CHECK(requests(kernels, AccessKind::global_load) == 0);
        CHECK(requests(kernels, AccessKind::shared_store) == 0);
        CHECK(total(kernels, AccessKind::bulk_load).bytes == 256);
        CHECK(total(kernels, AccessKind::bulk_store).bytes == 256);
        CHECK(kernels.front().uninitialized_reads.empty());
    }
    SECTION("asynchronous copies load, but store without an instruction") {
        const auto kernels = counted([&] { copy_asynchronously<<<1, 64>>>(x, y); });
        CHECK(requests(kernels, AccessKind::global_load) == 1);
        CHECK(total(kernels, AccessKind::global_load).sectors == 8);
        CHECK(requests(kernels, AccessKind::shared_store) == 0);
        CHECK(total(kernels, AccessKind::shared_copy).bytes == 256);
        CHECK(requests(kernels, AccessKind::shared_load) == 2);
        CHECK(kernels.front().uninitialized_reads.empty());
        CHECK(kernels.front().races.empty());
    }
    SECTION("copies between addresses that lie differently in a sector") {
        const auto kernels = counted([&] { copy_asynchronously<<<1, 64>>>(x + 4, y); });
        CHECK(requests(kernels, AccessKind::global_load) == 1);
        CHECK(total(kernels, AccessKind::global_load).sectors == 10);  // it touches nine
        CHECK(total(kernels, AccessKind::global_load).unrolled_sectors == 10);
    }
    SECTION("shared memory of another block of the cluster") {
        const auto kernels = counted([&] { launch_cluster(exchange, 2, 32, 2, 0, y); });
        CHECK(requests(kernels, AccessKind::remote_load) == 2);
        CHECK(requests(kernels, AccessKind::shared_load) == 0);
        CHECK(kernels.front().races.empty());
    }
    SECTION("what CUB does for itself") {
        // Two warps leave their sums; one thread reads what the other left, and gives the total.
        const auto kernels = counted([&] { sum<<<1, 64>>>(x, y); });
        const Shares loads = shares_of(kernels, AccessKind::shared_load);
        const Shares stores = shares_of(kernels, AccessKind::shared_store);
        CHECK(loads.own == 2);
        CHECK(loads.cub == 1);
        CHECK(stores.own == 1);
        CHECK(stores.cub == 2);
    }
}
