// SPDX-License-Identifier: MIT
// Clusters: blocks that run at the same time, meet, and use each other's shared memory.
#include <vector>

#include "clusters.cuh"
#include "failures.cuh"

namespace {

// Each thread adds up what its peers in all blocks of the cluster hold, statically and dynamically.
__global__ void sum_over_cluster(int* to) {
    extern __shared__ int dynamic[];
    __shared__ int fixed[64];
    const unsigned i = threadIdx.x;
    fixed[i] = static_cast<int>(blockIdx.x + 1);
    dynamic[i] = 100 * static_cast<int>(i);
    cpu_device::cluster_barrier();
    int sum = 0;
    for (unsigned rank = 0; rank < cpu_device::cluster_block_count(); rank++) {
        sum += static_cast<int*>(cpu_device::map_shared_rank(fixed, rank))[i];
        sum += static_cast<int*>(cpu_device::map_shared_rank(dynamic, rank))[i];
    }
    cpu_device::cluster_barrier();  // nobody leaves while others read
    to[blockIdx.x * blockDim.x + i] = sum;
}

TEST_CASE("blocks of a cluster read each other's shared memory") {
    for (const unsigned size : {1u, 2u, 4u, 8u}) {
        constexpr unsigned kBlocks = 40;
        DeviceArray<int> data(kBlocks * 64);
        REQUIRE(launch_cluster(sum_over_cluster, kBlocks, 64, size, 64 * sizeof(int),
                               data.data()) == cudaSuccess);
        const std::vector<int> values = data.read();
        for (unsigned block = 0; block < kBlocks; block++) {
            const unsigned first = block / size * size;
            int blocks = 0;
            for (unsigned peer = first; peer < first + size; peer++)
                blocks += static_cast<int>(peer) + 1;
            for (int i = 0; i < 64; i++) {
                REQUIRE(values[block * 64 + i] == blocks + 100 * i * static_cast<int>(size));
            }
        }
    }
}

template <unsigned blocks, class T>
__global__ void __cluster_dims__(blocks) note_cluster(T* to) {
    to[blockIdx.x] = static_cast<T>(cpu_device::cluster_dimensions().x);
}

TEST_CASE("the clusters that a kernel names may depend on its template's parameters") {
    DeviceArray<int> data(8);
    const auto launched = [&](auto kernel) {
        kernel<<<8, 1>>>(data.data());
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        return data.read()[7];
    };
    CHECK(launched(note_cluster<4, int>) == 4);
    CHECK(launched(note_cluster<2, int>) == 2);
    DeviceArray<float> numbers(8);
    note_cluster<8, float><<<8, 1>>>(numbers.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(numbers.read()[0] == 8);
}

TEST_CASE("clusters of 16 blocks must be asked for") {
    DeviceArray<int> data(32 * 64);
    CHECK(launch_cluster(sum_over_cluster, 32, 64, 16, 256, data.data()) ==
          cudaErrorInvalidClusterSize);
    CHECK(cudaGetLastError() == cudaErrorInvalidClusterSize);
    CHECK_THAT(std::string(cpu_device::last_error_text()),
               ContainsSubstring("blocks in a cluster is 16, but must be 1 to 8"));
    REQUIRE(cudaFuncSetAttribute(sum_over_cluster, cudaFuncAttributeNonPortableClusterSizeAllowed,
                                 1) == cudaSuccess);
    REQUIRE(launch_cluster(sum_over_cluster, 32, 64, 16, 256, data.data()) == cudaSuccess);
    CHECK(data.read()[0] == 136);
    REQUIRE(cudaFuncSetAttribute(sum_over_cluster, cudaFuncAttributeNonPortableClusterSizeAllowed,
                                 0) == cudaSuccess);
    CHECK(launch_cluster(sum_over_cluster, 30, 64, 4, 256, data.data()) ==
          cudaErrorInvalidClusterSize);
    CHECK_THAT(std::string(cpu_device::last_error_text()),
               ContainsSubstring("the grid is not a whole number of clusters"));
    cudaGetLastError();
}

__global__ void note_rank(unsigned* to) {
    const dim3 place = cpu_device::cluster_block_index(), extent = cpu_device::cluster_dimensions();
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    to[block] = cpu_device::cluster_block_rank() + 100 * place.x + 1000 * place.y +
                10000 * extent.x + 100000 * extent.y;
}

TEST_CASE("a block knows its place in its cluster") {
    DeviceArray<unsigned> data(6 * 4);
    REQUIRE(launch_cluster(note_rank, dim3(6, 4), 1, dim3(3, 2), 0, data.data()) == cudaSuccess);
    const std::vector<unsigned> ranks = data.read();
    for (unsigned y = 0; y < 4; y++) {
        for (unsigned x = 0; x < 6; x++) {
            const unsigned place_x = x % 3, place_y = y % 2;
            CHECK(ranks[y * 6 + x] ==
                  place_y * 3 + place_x + 100 * place_x + 1000 * place_y + 230000);
        }
    }
}

// Many phases, with work between arrival and wait, and blocks that exit early.
__global__ void many_phases(int* to, int phases) {
    __shared__ int counter;
    const unsigned rank = cpu_device::cluster_block_rank();
    if (threadIdx.x == 0) counter = 0;
    cpu_device::cluster_barrier();
    if (rank == 3) return;  // those that have exited hold up nothing
    for (int phase = 0; phase < phases; phase++) {
        if (threadIdx.x == 0) {
            atomicAdd(static_cast<int*>(cpu_device::map_shared_rank(&counter, (rank + 1) % 3)), 1);
        }
        cpu_device::cluster_arrive();
        __syncthreads();
        cpu_device::cluster_wait();
    }
    if (threadIdx.x == 0) to[blockIdx.x] = counter;
    cpu_device::cluster_barrier();
}

TEST_CASE("cluster barriers: many phases, early exits") {
    DeviceArray<int> data(8);
    REQUIRE(cudaMemset(data.data(), 0, 8 * sizeof(int)) == cudaSuccess);
    REQUIRE(launch_cluster(many_phases, 8, 96, 4, 0, data.data(), 200) == cudaSuccess);
    CHECK(data.read() == std::vector<int>{200, 200, 200, 0, 200, 200, 200, 0});
}

constexpr int kClusterBarrierLine = __LINE__ + 4;
__global__ void divergent_cluster_barrier(int* to) {
    __shared__ int value;
    value = 1;
    if (threadIdx.x < 8) cpu_device::cluster_barrier();
    if (threadIdx.x >= 8) __syncthreads();
    to[threadIdx.x] = value;
}

constexpr int kRemoteLine = __LINE__ + 5;
__global__ void read_past_a_peer(int* to) {
    extern __shared__ int row[];
    row[threadIdx.x] = 1;
    cpu_device::cluster_barrier();
    to[threadIdx.x] = static_cast<int*>(cpu_device::map_shared_rank(row, 1))[threadIdx.x + 1];
    cpu_device::cluster_barrier();
}

__global__ void wait_for_peer_for_ever() {
    __shared__ volatile int flag;
    flag = 0;
    cpu_device::cluster_barrier();
    if (cpu_device::cluster_block_rank() == 0) cpu_device::cluster_barrier();
    while (cpu_device::cluster_block_rank() == 1 && flag == 0) {
    }
}

TEST_CASE("mistakes in clusters") {
    DeviceArray<int> data(64);
    CHECK(launch_cluster(divergent_cluster_barrier, 4, 64, 2, 0, data.data()) ==
          cudaErrorLaunchFailure);
    check_failure(cudaErrorLaunchFailure, {"kernel divergent_cluster_barrier, block (", "divergent",
                                           at_line("tests/cluster.cu", kClusterBarrierLine)});
    CHECK(launch_cluster(read_past_a_peer, 2, 64, 2, 256, data.data()) == cudaErrorIllegalAddress);
    check_failure(cudaErrorIllegalAddress, {"thread (63,0,0): load of 4 bytes",
                                            "byte 256 of the 256 bytes of dynamic shared",
                                            at_line("tests/cluster.cu", kRemoteLine)});
    const Environment patience("CPU_DEVICE_WATCHDOG_SECONDS", "0.4");
    CHECK(launch_cluster(wait_for_peer_for_ever, 2, 32, 2, 0) == cudaErrorLaunchTimeout);
    check_failure(cudaErrorLaunchTimeout, {"kernel wait_for_peer_for_ever"});
}

}  // namespace
