// SPDX-License-Identifier: MIT
//
// What is neither a plain global nor a plain shared access has a column of its own.
#include <cub/block/block_reduce.cuh>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/ptx>

#include "common/cpu_device/tests/clusters.cuh"
#include "common/runner/device.hpp"
#include "common/runner/probe.hpp"
#include "common/xray/source_map.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace {

__constant__ float factors[32];
__device__ float offset;

__global__ void scale(const float* x, float* y) {
    y[threadIdx.x] = x[threadIdx.x] * factors[threadIdx.x % 32] + offset;
}

__device__ uint32_t at(const void* shared) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

__device__ void wait_for_first_phase(uint64_t* mbarrier) {
    asm volatile(
        "{ .reg .pred over; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], 0; @!over "
        "bra AGAIN; }" ::"r"(at(mbarrier))
        : "memory");
}

__global__ void copy_in_bulk(const float* x, float* y) {
    __shared__ __align__(16) float row[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at(&full))
                     : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, "
            "[%2];" ::"r"(at(row)),
            "l"(x), "r"(at(&full))
            : "memory");
    }
    __syncthreads();
    wait_for_first_phase(&full);
    y[threadIdx.x] = row[threadIdx.x];
}

// As a producer and a consumer do it: no barrier of the block lies between the copy and the reads.
__global__ void copy_in_bulk_by_last_warp(const float* x, float* y) {
    __shared__ __align__(16) float row[32];
    __shared__ uint64_t full;
    if (threadIdx.x == 32) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 32) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at(&full))
                     : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, "
            "[%2];" ::"r"(at(row)),
            "l"(x), "r"(at(&full))
            : "memory");
    }
    if (threadIdx.x < 32) {
        wait_for_first_phase(&full);
        y[threadIdx.x] = row[threadIdx.x];
    }
}

__global__ void store_asynchronously(float* y) {
    __shared__ float number;
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4;" ::"r"(at(&full))
                     : "memory");
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                at(&number)),
            "r"(0), "r"(at(&full))
            : "memory");
        wait_for_first_phase(&full);
        y[0] = number;
    }
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

// Each lane sends a value to both blocks of the cluster, which wait for the bytes alone.
__global__ void send(float* y) {
    __shared__ float row[2][32];
    __shared__ uint64_t arrived;
    const unsigned rank = cpu_device::cluster_block_rank();
    if (threadIdx.x == 0) {
        cuda::ptx::mbarrier_init(&arrived, 1);
        cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                             cuda::ptx::space_shared, &arrived, sizeof row);
    }
    cpu_device::cluster_barrier();
    for (unsigned to = 0; to < 2; ++to) {
        auto* const there =
            static_cast<float*>(cpu_device::map_shared_rank(&row[rank][threadIdx.x], to));
        auto* const counts = static_cast<uint64_t*>(cpu_device::map_shared_rank(&arrived, to));
        cuda::ptx::st_async(there, static_cast<float>(threadIdx.x), counts);
    }
    while (!cuda::ptx::mbarrier_try_wait_parity(&arrived, 0)) {
    }
    y[blockIdx.x * 32 + threadIdx.x] = row[rank ^ 1][threadIdx.x];
}

// One warp copies and arrives with its copies, the other one waits for them alone.
__global__ void copy_to_the_other_warp(const float* x, float* y) {
    __shared__ __align__(16) float row[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) cuda::ptx::mbarrier_init(&full, 32);
    __syncthreads();
    if (threadIdx.x < 32) {
        __pipeline_memcpy_async(row + 2 * threadIdx.x, x + 2 * threadIdx.x, 8);
        cuda::ptx::cp_async_mbarrier_arrive_noinc(&full);
        return;
    }
    while (!cuda::ptx::mbarrier_try_wait_parity(&full, 0)) {
    }
    y[threadIdx.x] = row[63 - threadIdx.x];
}

// Two phases of a barrier, and copies that belong to the first: what they order is no race.
__global__ void copy_with_barrier(const float* x, float* y) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ Barrier barrier;
    __shared__ float row[64];
    if (threadIdx.x == 0) init(&barrier, 64);
    __syncthreads();
    cuda::memcpy_async(row + threadIdx.x, x + threadIdx.x, sizeof(float), barrier);
    barrier.arrive_and_wait();
    const float other = row[63 - threadIdx.x];
    barrier.arrive_and_wait();
    row[threadIdx.x] = other;
    barrier.arrive_and_wait();
    y[threadIdx.x] = row[63 - threadIdx.x];
}

// 64 lanes, of which the first 32 fetch nothing but the border.
__global__ void copy_image(cudaTextureObject_t from, cudaSurfaceObject_t to) {
    const int x = static_cast<int>(threadIdx.x);
    surf1Dwrite(tex1D<float>(from, static_cast<float>(x - 32)), to, 4 * x, cudaBoundaryModeZero);
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
        CHECK(requests(kernels, AccessKind::bulk_load) == 1);
        CHECK(sectors(kernels, AccessKind::bulk_load) == 8);
        CHECK(total(kernels, AccessKind::bulk_load).bytes == 256);
        CHECK(requests(kernels, AccessKind::shared_bulk_store) == 1);
        CHECK(total(kernels, AccessKind::shared_bulk_store).bytes == 256);
        CHECK(requests(kernels, AccessKind::bulk_store) == 0);
        runner::probe().start();
        copy_in_bulk<<<1, 64>>>(x, y);
        const auto of_run = runner::probe().stop();
        REQUIRE(of_run);
        CHECK(of_run->global_load_bytes == 256 + total(kernels, AccessKind::global_load).bytes);
        CHECK(of_run->global_load_sectors == 8 + sectors(kernels, AccessKind::global_load));
        CHECK(kernels.front().uninitialized_reads.empty());
        CHECK(counted([&] { copy_in_bulk_by_last_warp<<<1, 64>>>(x, y); })
                  .front()
                  .uninitialized_reads.empty());
    }
    SECTION("asynchronous stores are no bulk copies") {
        const auto kernels = counted([&] { store_asynchronously<<<1, 32>>>(y); });
        for (const AccessKind kind : {AccessKind::bulk_load, AccessKind::shared_bulk_load,
                                      AccessKind::shared_bulk_store, AccessKind::remote_bulk_store})
            CHECK(requests(kernels, kind) == 0);
        CHECK(requests(kernels, AccessKind::global_store) == 1);
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
    SECTION("asynchronous stores to blocks of the cluster, the own one among them") {
        const auto kernels = counted([&] { launch_cluster(send, 2, 32, 2, 0, y); });
        CHECK(requests(kernels, AccessKind::remote_store) == 4);
        CHECK(total(kernels, AccessKind::remote_store).bytes == 512);
        CHECK(requests(kernels, AccessKind::shared_store) == 0);
        CHECK(requests(kernels, AccessKind::bulk_store) == 0);
        CHECK(requests(kernels, AccessKind::shared_load) == 2);
        CHECK(kernels.front().races.empty());
        CHECK(kernels.front().uninitialized_reads.empty());
    }
    SECTION("what an arrival with copies orders") {
        const auto kernels = counted([&] { copy_to_the_other_warp<<<1, 64>>>(x, y); });
        CHECK(requests(kernels, AccessKind::shared_load) == 1);
        CHECK(kernels.front().races.empty());
    }
    SECTION("what a cuda::barrier orders") {
        const auto kernels = counted([&] { copy_with_barrier<<<1, 64>>>(x, y); });
        CHECK(requests(kernels, AccessKind::shared_load) == 4);
        CHECK(kernels.front().races.empty());
        CHECK(kernels.front().uninitialized_reads.empty());
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

TEST_CASE("textures and surfaces are counted apart") {
    const cudaChannelFormatDesc element = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    REQUIRE(cudaMallocArray(&resource.res.array.array, &element, 32, 0,
                            cudaArraySurfaceLoadStore) == cudaSuccess);
    cudaTextureDesc description{};
    description.addressMode[0] = cudaAddressModeBorder;
    cudaTextureObject_t texture = 0;
    cudaSurfaceObject_t surface = 0;
    REQUIRE(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaSuccess);
    REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
    const auto kernels = counted([&] { copy_image<<<1, 64>>>(texture, surface); });
    for (const AccessKind kind : {AccessKind::texture_load, AccessKind::surface_store}) {
        CHECK(requests(kernels, kind) == 2);
        CHECK(total(kernels, kind).bytes == 64 * 4);
        CHECK(sectors(kernels, kind) == 0);
    }
    CHECK(requests(kernels, AccessKind::global_load) == 0);
    CHECK(requests(kernels, AccessKind::global_store) == 0);
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(resource.res.array.array);
}
