// SPDX-License-Identifier: MIT
// A block of a cluster that ends while another one may still use its shared memory.
#include <vector>

#include "clusters.cuh"
#include "failures.cuh"

namespace {

constexpr unsigned kThreads = 64;

template <class T>
__device__ T* of_next(T* shared) {
    const unsigned next =
        (cpu_device::cluster_block_rank() + 1) % cpu_device::cluster_block_count();
    return static_cast<T*>(cpu_device::map_shared_rank(shared, next));
}

// ---------------------------------------------------------------- who waits

__global__ void meets_before_it_ends(int* to) {
    __shared__ int mine[kThreads];
    mine[threadIdx.x] = static_cast<int>(blockIdx.x);
    cpu_device::cluster_barrier();
    to[blockIdx.x * kThreads + threadIdx.x] = of_next(mine)[threadIdx.x];
    cpu_device::cluster_arrive();
    cpu_device::cluster_wait();
}

// All accesses to other blocks lie before the last barrier.
__global__ void writes_before_the_barrier(int* to) {
    __shared__ int mine[kThreads];
    cpu_device::cluster_barrier();
    of_next(mine)[threadIdx.x] = static_cast<int>(blockIdx.x);
    cpu_device::cluster_arrive();
    cpu_device::cluster_wait();
    to[blockIdx.x * kThreads + threadIdx.x] = mine[threadIdx.x];
}

// By a flag in the shared memory of the block that has to stay.
__global__ void waits_for_a_flag(int* to) {
    __shared__ int mine[kThreads];
    __shared__ int is_read;
    mine[threadIdx.x] = static_cast<int>(blockIdx.x);
    if (threadIdx.x == 0) is_read = 0;
    cpu_device::cluster_barrier();
    to[blockIdx.x * kThreads + threadIdx.x] = of_next(mine)[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicExch(of_next(&is_read), 1);
        while (atomicAdd(&is_read, 0) == 0) __nanosleep(10);
    }
}

TEST_CASE("a block may end when the others have finished with its shared memory") {
    DeviceArray<int> to(8 * kThreads);
    for (const auto kernel : {meets_before_it_ends, writes_before_the_barrier, waits_for_a_flag}) {
        REQUIRE(launch_cluster(kernel, 8, kThreads, 2, 0, to.data()) == cudaSuccess);
        REQUIRE(cudaGetLastError() == cudaSuccess);
        const std::vector<int> values = to.read();
        for (unsigned i = 0; i < values.size(); i++) {
            REQUIRE(values[i] == (static_cast<int>(i / kThreads) ^ 1));
        }
    }
}

// ---------------------------------------------------------------- who does not

__global__ void reads_and_ends(int* to) {
    __shared__ int mine[kThreads];
    mine[threadIdx.x] = static_cast<int>(blockIdx.x);
    cpu_device::cluster_barrier();
    to[blockIdx.x * kThreads + threadIdx.x] = of_next(mine)[threadIdx.x];
}
constexpr int kReads = __LINE__ - 2;

__global__ void counts_and_ends(int*) {
    __shared__ int mine;
    if (threadIdx.x == 0) mine = 0;
    cpu_device::cluster_barrier();
    atomicAdd(of_next(&mine), 1);
}
constexpr int kCounts = __LINE__ - 2;

// Only the block of rank 0 is read, and it alone waits for nobody.
__global__ void arrives_and_ends(int* to) {
    __shared__ int mine[kThreads];
    mine[threadIdx.x] = static_cast<int>(blockIdx.x);
    cpu_device::cluster_barrier();
    if (cpu_device::cluster_block_rank() == 1) {
        to[threadIdx.x] = of_next(mine)[threadIdx.x];
    }
    cpu_device::cluster_arrive();
    if (cpu_device::cluster_block_rank() == 1) cpu_device::cluster_wait();
}
constexpr int kArrives = __LINE__ - 5;

// Between arrival and wait is behind the barrier.
__global__ void reads_after_arrival(int* to) {
    __shared__ int mine[kThreads];
    mine[threadIdx.x] = static_cast<int>(blockIdx.x);
    cpu_device::cluster_barrier();
    cpu_device::cluster_arrive();
    to[blockIdx.x * kThreads + threadIdx.x] = of_next(mine)[threadIdx.x];
    cpu_device::cluster_wait();
}
constexpr int kReadsAfter = __LINE__ - 3;

TEST_CASE("a block that may end too soon is named") {
    DeviceArray<int> to(2 * kThreads);
    const auto check = [&](void (*kernel)(int*), const char* access, int line) {
        INFO("line " << line);
        launch_cluster(kernel, 2, kThreads, 2, 0, to.data());
        check_failure(cudaErrorLaunchFailure,
                      {access, " shared memory of block (", "which may have ended by then",
                       at_line("tests/cluster_exits.cu", line)});
    };
    check(reads_and_ends, "load of 4 bytes from", kReads);
    check(counts_and_ends, "atomic on 4 bytes of", kCounts);
    check(arrives_and_ends, "block (1,0,0), thread (63,0,0): load of 4 bytes from", kArrives);
    check(reads_after_arrival, "load of 4 bytes from", kReadsAfter);
}

}  // namespace
