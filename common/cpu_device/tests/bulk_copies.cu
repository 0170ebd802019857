// SPDX-License-Identifier: MIT
// Bulk copies that somebody waits for, and what is said of those that nobody does.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "failures.cuh"

namespace {

constexpr unsigned kThreads = 64;
constexpr unsigned kBytes = kThreads * sizeof(int);
constexpr unsigned kTiles = 5;

__device__ uint32_t at(const void* shared) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}
__device__ void make(uint64_t& barrier) {
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&barrier)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
}
__device__ void expect(uint64_t& barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&barrier)),
                 "r"(bytes)
                 : "memory");
}
__device__ void load(void* tile, const void* from, uint64_t& barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(at(tile)),
        "l"(from), "r"(kBytes), "r"(at(&barrier))
        : "memory");
}
__device__ void wait(uint64_t& barrier, uint32_t parity) {
    asm volatile(
        "{\n.reg .pred over;\nAGAIN:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra AGAIN;\n}" ::"r"(
            at(&barrier)),
        "r"(parity)
        : "memory");
}
__device__ void store(void* to, const void* tile) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(at(tile)), "r"(kBytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ void fence() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ void wait_for_reads() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// Each tile comes by a bulk copy, is changed by the threads and leaves by another one.
__global__ void adds_one(const int* from, int* to) {
    __shared__ alignas(16) int tile[kThreads];
    __shared__ uint64_t full;
    make(full);
    for (unsigned i = 0; i < kTiles; ++i) {
        if (threadIdx.x == 0) {
            expect(full, kBytes);
            load(tile, from + i * kThreads, full);
        }
        wait(full, i % 2);
        tile[threadIdx.x] += 1;
        fence();
        __syncthreads();
        if (threadIdx.x == 0) {
            store(to + i * kThreads, tile);
            wait_for_reads();
        }
        __syncthreads();
    }
}

// One thread waits for all.
__global__ void waits_for_all(const int* from, int* to) {
    __shared__ alignas(16) int tile[kThreads];
    __shared__ uint64_t full;
    make(full);
    for (unsigned i = 0; i < kTiles; ++i) {
        if (threadIdx.x == 32) {
            expect(full, kBytes);
            load(tile, from + i * kThreads, full);
            wait(full, i % 2);
        }
        __syncthreads();
        to[i * kThreads + threadIdx.x] = tile[threadIdx.x] + 1;
        __syncthreads();
    }
}

TEST_CASE("tiles come and leave by bulk copies") {
    std::vector<int> values(kTiles * kThreads), wanted(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<int>(i);
        wanted[i] = static_cast<int>(i) + 1;
    }
    DeviceArray<int> from(values.size()), to(values.size());
    from.fill(values);
    for (const auto kernel : {adds_one, waits_for_all}) {
        to.fill(std::vector<int>(values.size(), -1));
        kernel<<<3, kThreads>>>(from.data(), to.data());
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(to.read() == wanted);
    }
}

// ---------------------------------------------------------------- mistakes

struct Tile {
    alignas(16) int at[kThreads];
    uint64_t full;
};
// A tile that thread 0 has asked for.
__device__ void request(Tile& tile, const int* from) {
    make(tile.full);
    if (threadIdx.x != 0) return;
    expect(tile.full, kBytes);
    load(tile.at, from, tile.full);
}

__global__ void nobody_waits(const int* from, int* to) {
    __shared__ Tile tile;
    request(tile, from);
    to[threadIdx.x] = tile.at[threadIdx.x];
}
constexpr int kNobodyWaits = __LINE__ - 2;

__global__ void waits_for_the_wrong_parity(const int* from, int* to) {
    __shared__ Tile tile;
    request(tile, from);
    wait(tile.full, 1);
    to[threadIdx.x] = tile.at[threadIdx.x];
}
constexpr int kWrongParity = __LINE__ - 2;

__global__ void one_thread_waits(const int* from, int* to) {
    __shared__ Tile tile;
    request(tile, from);
    if (threadIdx.x == 0) {
        wait(tile.full, 0);
    } else {
        for (int i = 0; i < 100; ++i) __nanosleep(100);
    }
    to[threadIdx.x] = tile.at[threadIdx.x];
}
constexpr int kOneWaits = __LINE__ - 2;

__global__ void writes_meanwhile(const int* from, int*) {
    __shared__ Tile tile;
    request(tile, from);
    if (threadIdx.x == 0) tile.at[3] = 7;
    wait(tile.full, 0);
}
constexpr int kWritesMeanwhile = __LINE__ - 3;

__global__ void others_may_still_read(const int* from, int* to) {
    __shared__ Tile tile;
    request(tile, from);
    wait(tile.full, 0);
    to[threadIdx.x] = tile.at[threadIdx.x];
    if (threadIdx.x == 63) {
        expect(tile.full, kBytes);
        load(tile.at, from, tile.full);
    }
    wait(tile.full, 1);
}
constexpr int kStillRead = __LINE__ - 4;

__global__ void stores_without_a_fence(const int*, int* to) {
    __shared__ alignas(16) int tile[kThreads];
    tile[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        store(to, tile);
        wait_for_reads();
    }
}
constexpr int kNoFence = __LINE__ - 4;

__global__ void writes_before_it_is_read(const int*, int* to) {
    __shared__ alignas(16) int tile[kThreads];
    tile[threadIdx.x] = 1;
    fence();
    __syncthreads();
    if (threadIdx.x == 0) store(to, tile);
    __syncthreads();
    tile[threadIdx.x] = 2;
    if (threadIdx.x == 0) wait_for_reads();
}
constexpr int kWritesBefore = __LINE__ - 3;

__global__ void ends_before_it_is_read(const int*, int* to) {
    __shared__ alignas(16) int tile[kThreads];
    tile[threadIdx.x] = 1;
    fence();
    __syncthreads();
    if (threadIdx.x == 0) store(to, tile);
}
constexpr int kEndsBefore = __LINE__ - 2;

__global__ void expects_too_much(const int* from, int*) {
    __shared__ alignas(16) int tile[kThreads];
    __shared__ uint64_t full;
    make(full);
    if (threadIdx.x == 0) {
        expect(full, kBytes + 16);
        load(tile, from, full);
    }
    wait(full, 0);
}
constexpr int kExpectsTooMuch = __LINE__ - 2;

__global__ void ends_meanwhile(const int* from, int*) {
    __shared__ Tile tile;
    request(tile, from);
}
constexpr int kEndsMeanwhile = __LINE__ - 2;

struct Mistake {
    void (*kernel)(const int*, int*);
    int line;
    std::vector<std::string> what;
};

TEST_CASE("who uses a bulk copy's bytes too early, or too late, is named") {
    const Mistake mistakes[] = {
        {nobody_waits,
         kNobodyWaits,
         {"load of 4 bytes from the destination of a bulk copy that is under way"}},
        {waits_for_the_wrong_parity,
         kWrongParity,
         {"its wait for parity 1 ended at once, since that is the parity of the phase before "
          "phase 0"}},
        {one_thread_waits,
         kOneWaits,
         {"what a bulk copy has written, and the thread has not waited for that: for phase 0 "
          "(parity 0) of the mbarrier at byte 256 of `tile`"}},
        {writes_meanwhile,
         kWritesMeanwhile,
         {"store of 4 bytes to the destination of a bulk copy"}},
        {others_may_still_read,
         kStillRead,
         {"thread (63,0,0): cp.async.bulk overwrites what thread (", "may still read"}},
        {stores_without_a_fence,
         kNoFence,
         {"cp.async.bulk reads what thread (0,0,0) has written as threads do",
          "fence.proxy.async"}},
        {writes_before_it_is_read,
         kWritesBefore,
         {"store of 4 bytes to what a bulk copy of thread (0,0,0) may still read"}},
        {ends_before_it_is_read, kEndsBefore, {"cp.async.bulk.wait_group.read is missing"}},
        {expects_too_much, kExpectsTooMuch, {"whose phase 0 lacks 16 bytes that are expected"}},
        {ends_meanwhile, kEndsMeanwhile, {"the block has ended while this bulk copy is under way"}},
    };
    DeviceArray<int> from(kThreads), to(kThreads);
    from.fill(std::vector<int>(kThreads, 5));
    for (const Mistake& mistake : mistakes) {
        INFO("line " << mistake.line);
        mistake.kernel<<<1, kThreads>>>(from.data(), to.data());
        std::vector<std::string> what = mistake.what;
        what.push_back("tests/bulk_copies.cu:" + std::to_string(mistake.line));
        check_failure(cudaErrorLaunchFailure, what);
    }
}

}  // namespace
