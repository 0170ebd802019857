// SPDX-License-Identifier: MIT
// Barriers that count: what threads tell each other by them, and what is said where they are used wrongly.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "clusters.cuh"
#include "failures.cuh"

namespace {

constexpr int kThreads = 64;
constexpr int kRounds = 6;

__device__ uint32_t at(const uint64_t& barrier) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
}
__device__ void make(uint64_t& barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)), "r"(arrivals));
}
__device__ void arrive(uint64_t& barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(barrier)) : "memory");
}
__device__ void expect(uint64_t& barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "r"(bytes)
                 : "memory");
}
__device__ void wait(uint64_t& barrier, uint32_t parity) {
    asm volatile(
        "{\n.reg .pred over;\nAGAIN:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra AGAIN;\n}" ::"r"(
            at(barrier)),
        "r"(parity)
        : "memory");
}

struct Ring {
    uint64_t full[2], empty[2];
    int tile[2][kThreads];
};

// The first warp fills, the second one empties.
__device__ void begin(Ring& ring) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) {
            make(ring.full[i], 32);
            make(ring.empty[i], 32);
        }
    }
    __syncthreads();
}
__device__ void fill(Ring& ring, int round, const int* from) {
    int* const tile = ring.tile[round % 2];
    for (unsigned i = threadIdx.x; i < kThreads; i += 32) tile[i] = from[round * kThreads + i];
    arrive(ring.full[round % 2]);
}

__global__ void fills_and_empties(const int* from, int* to) {
    __shared__ Ring ring;
    begin(ring);
    for (int round = 0; round < kRounds; ++round) {
        const uint32_t parity = round / 2 % 2;
        if (threadIdx.x < 32) {
            wait(ring.empty[round % 2], parity ^ 1);
            fill(ring, round, from);
        } else {
            wait(ring.full[round % 2], parity);
            const unsigned lane = threadIdx.x - 32;
            const int* const tile = ring.tile[round % 2];
            to[round * kThreads + lane] = tile[kThreads - 1 - lane];
            to[round * kThreads + lane + 32] = tile[31 - lane];
            arrive(ring.empty[round % 2]);
        }
    }
}

TEST_CASE("a ring between two warps needs no barrier of the block") {
    std::vector<int> values(kRounds * kThreads), wanted(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<int>(i);
        wanted[i] = static_cast<int>(i / kThreads * kThreads + kThreads - 1 - i % kThreads);
    }
    DeviceArray<int> from(values.size()), to(values.size());
    from.fill(values);
    fills_and_empties<<<3, kThreads>>>(from.data(), to.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(to.read() == wanted);
}

// cp.async says itself when it has arrived: the phase takes an arrival of each thread for its copies.
__global__ void waits_for_copies(const int* from, int* to) {
    __shared__ alignas(16) int tile[kThreads];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) make(barrier, kThreads);
    __syncthreads();
    for (int round = 0; round < kRounds; ++round) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                         static_cast<uint32_t>(__cvta_generic_to_shared(tile + threadIdx.x))),
                     "l"(from + round * kThreads + threadIdx.x)
                     : "memory");
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at(barrier))
                     : "memory");
        wait(barrier, round % 2);
        to[round * kThreads + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
        __syncthreads();
    }
}

// Each block hands its numbers to the next one, and that block's barrier counts the threads that have written.
__global__ void hands_over(const int* from, int* to) {
    __shared__ int received[kThreads];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) make(barrier, kThreads);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    uint32_t rank = 0, there = 0, barrier_there = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(there)
                 : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(received + threadIdx.x))),
                   "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(barrier_there)
                 : "r"(at(barrier)), "r"(rank ^ 1));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there),
                 "r"(from[(blockIdx.x ^ 1) * kThreads + kThreads - 1 - threadIdx.x])
                 : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier_there)
                 : "memory");
    wait(barrier, 0);
    to[blockIdx.x * kThreads + threadIdx.x] = received[threadIdx.x];
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

TEST_CASE("mbarriers count copies of threads, and arrivals from other blocks") {
    std::vector<int> values(kRounds * kThreads), wanted(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<int>(i);
        wanted[i] = static_cast<int>(i / kThreads * kThreads + kThreads - 1 - i % kThreads);
    }
    DeviceArray<int> from(values.size()), to(values.size());
    from.fill(values);
    waits_for_copies<<<2, kThreads>>>(from.data(), to.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(to.read() == wanted);
    to.fill(std::vector<int>(values.size(), -1));
    REQUIRE(launch_cluster(hands_over, kRounds, kThreads, 2, 0, from.data(), to.data()) ==
            cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(to.read() == wanted);
}

// ---------------------------------------------------------------- mistakes

__global__ void nobody_empties(const int* from, int* to) {
    __shared__ Ring ring;
    begin(ring);
    for (int round = 0; round < kRounds; ++round) {
        const uint32_t parity = round / 2 % 2;
        if (threadIdx.x < 32) {
            wait(ring.empty[round % 2], parity ^ 1);
            fill(ring, round, from);
        } else {
            wait(ring.full[round % 2], parity);
            to[round * kThreads + threadIdx.x] = ring.tile[round % 2][threadIdx.x];
        }
    }
}
constexpr int kNobodyEmpties = __LINE__ - 8;

__global__ void one_arrives_too_often(const int*, int*) {
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        make(barrier, 1);
        expect(barrier, 64);
        arrive(barrier);
    }
}
constexpr int kArrivesTooOften = __LINE__ - 3;

__global__ void there_is_none(const int*, int*) {
    __shared__ uint64_t barrier;
    barrier = 0;
    arrive(barrier);
}
constexpr int kNone = __LINE__ - 2;

__global__ void init_is_not_waited_for(const int*, int*) {
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) make(barrier, kThreads);
    arrive(barrier);
}
constexpr int kInitNotWaitedFor = __LINE__ - 2;

__global__ void made_twice(const int*, int*) {
    __shared__ uint64_t barrier;
    if (threadIdx.x != 0) return;
    make(barrier, 1);
    make(barrier, 1);
}
constexpr int kMadeTwice = __LINE__ - 2;

__global__ void takes_no_arrivals(const int*, int*) {
    __shared__ uint64_t barrier;
    make(barrier, 0);
}
constexpr int kNoArrivals = __LINE__ - 2;

__global__ void used_after_its_end(const int*, int*) {
    __shared__ uint64_t barrier;
    if (threadIdx.x != 0) return;
    make(barrier, 1);
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(barrier)));
    wait(barrier, 0);
}
constexpr int kUsedAfterEnd = __LINE__ - 2;

__global__ void expects_what_never_comes(const int*, int*) {
    __shared__ uint64_t barrier;
    if (threadIdx.x != 0) return;
    make(barrier, 1);
    expect(barrier, 512);
    wait(barrier, 0);
}
constexpr int kNeverComes = __LINE__ - 2;

__global__ void waits_for_another_block(const int*, int*) {
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) make(barrier, 1);
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (blockIdx.x == 1) wait(barrier, 0);
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

TEST_CASE("a cluster in which nobody can go on ends, and shows each block's barriers") {
    launch_cluster(waits_for_another_block, 2, kThreads, 2, 0, static_cast<const int*>(nullptr),
                   static_cast<int*>(nullptr));
    check_failure(cudaErrorLaunchFailure,
                  {"block (1,0,0), thread (0,0,0): no thread can go on: this one waits in "
                   "mbarrier.try_wait for parity 0 of the mbarrier `barrier`",
                   "mbarriers of block (0,0,0)", "waits in the cluster barrier",
                   "mbarriers of block (1,0,0)"});
}

struct Mistake {
    void (*kernel)(const int*, int*);
    int line;
    std::vector<std::string> what;
};

TEST_CASE("mistakes with mbarriers are named, and who waits for ever is shown") {
    const Mistake mistakes[] = {
        {nobody_empties,
         kNobodyEmpties,
         {"no thread can go on: this one waits in mbarrier.try_wait for parity 0 of the "
          "mbarrier at "
          "byte 16 of `ring`",
          "whose phase 0 lacks 32 of 32 arrivals",
          "thread (32,0,0) and 31 more: waits in mbarrier.try_wait for parity 1"}},
        {one_arrives_too_often, kArrivesTooOften, {"arrival of 1 too many", "lacks 64 bytes"}},
        {there_is_none, kNone, {"there is no mbarrier here: mbarrier.init has not run"}},
        {init_is_not_waited_for,
         kInitNotWaitedFor,
         {"nothing orders the mbarrier's init and this"}},
        {made_twice, kMadeTwice, {"mbarrier.init of an mbarrier that is in use"}},
        {takes_no_arrivals, kNoArrivals, {"with 0 arrivals: 1 to 1048575"}},
        {used_after_its_end, kUsedAfterEnd, {"mbarrier.inval has ended it"}},
        {expects_what_never_comes, kNeverComes, {"lacks 512 bytes that are expected"}},
    };
    DeviceArray<int> from(kRounds * kThreads), to(kRounds * kThreads);
    from.fill(std::vector<int>(kRounds * kThreads, 5));
    for (const Mistake& mistake : mistakes) {
        INFO("line " << mistake.line);
        mistake.kernel<<<1, kThreads>>>(from.data(), to.data());
        std::vector<std::string> what = mistake.what;
        what.push_back(at_line("tests/mbarriers.cu", mistake.line));
        check_failure(cudaErrorLaunchFailure, what);
    }
}

}  // namespace
