// SPDX-License-Identifier: MIT
// Asynchronous copies: their bytes arrive when they are waited for, and who comes too early is named.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <numeric>
#include <vector>

#include "failures.cuh"

namespace {

namespace cg = cooperative_groups;

constexpr int kThreads = 64;
constexpr int kTiles = 6;
constexpr size_t kTileBytes = kThreads * sizeof(int);

__device__ void copy_element(int* to, const int* from) {
    __pipeline_memcpy_async(to, from, sizeof(int));
}

// ---------------------------------------------------------------- programs that wait

// Each thread commits a group for each tile, empty ones at the end, and uses what others have copied.
template <int kStages>
__global__ void tiles_by_groups(const int* from, int* to) {
    __shared__ int tile[kStages][kThreads];
    const unsigned i = threadIdx.x;
    for (int t = 0; t < kStages - 1; t++) {
        copy_element(&tile[t][i], from + t * kThreads + i);
        __pipeline_commit();
    }
    for (int t = 0; t < kTiles; t++) {
        const int next = t + kStages - 1;
        if (next < kTiles) copy_element(&tile[next % kStages][i], from + next * kThreads + i);
        __pipeline_commit();
        __pipeline_wait_prior(kStages - 1);
        __syncthreads();
        to[t * kThreads + i] = tile[t % kStages][kThreads - 1 - i];
        __syncthreads();
    }
}

// One warp copies, four elements a lane at a time, and everybody reads; what is not there is zeros.
__global__ void tiles_by_some(const int* from, int* to) {
    __shared__ __align__(16) int tile[kThreads];
    for (int t = 0; t < kTiles; t++) {
        if (threadIdx.x < kThreads / 4) {
            __pipeline_memcpy_async(tile + 4 * threadIdx.x, from + t * kThreads + 4 * threadIdx.x,
                                    16, t == kTiles - 1 ? 16 : 0);
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        to[t * kThreads + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
        __syncthreads();
        tile[threadIdx.x] = -1;  // it is free again
        __syncthreads();
    }
}

__global__ void tiles_by_block(const int* from, int* to) {
    __shared__ int tile[2][kThreads];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile[0], from, kTileBytes);
    for (int t = 0; t < kTiles; t++) {
        if (t + 1 < kTiles) {
            cg::memcpy_async(block, tile[(t + 1) % 2], from + (t + 1) * kThreads, kTileBytes);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        to[t * kThreads + threadIdx.x] = tile[t % 2][kThreads - 1 - threadIdx.x];
        block.sync();
    }
}

template <int kStages>
__global__ void tiles_by_pipeline(const int* from, int* to) {
    __shared__ int tile[kStages][kThreads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    for (int t = 0, fetched = 0; t < kTiles; t++) {
        for (; fetched < kTiles && fetched < t + kStages; fetched++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tile[fetched % kStages], from + fetched * kThreads,
                               kTileBytes, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        to[t * kThreads + threadIdx.x] = tile[t % kStages][kThreads - 1 - threadIdx.x];
        pipeline.consumer_release();
    }
}

__global__ void tiles_by_threads_pipeline(const int* from, int* to) {
    __shared__ int tile[2][kThreads];
    auto pipeline = cuda::make_pipeline();
    const unsigned i = threadIdx.x;
    for (int t = 0, fetched = 0; t < kTiles; t++) {
        for (; fetched < kTiles && fetched < t + 2; fetched++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(&tile[fetched % 2][i], from + fetched * kThreads + i, sizeof(int),
                               pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        __syncthreads();
        to[t * kThreads + i] = tile[t % 2][kThreads - 1 - i];
        __syncthreads();
        pipeline.consumer_release();
    }
}

// The next phase's copies begin between arrival and wait.
__global__ void tiles_by_barrier(const int* from, int* to) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int tile[2][kThreads];
    if (threadIdx.x == 0) init(&barrier, kThreads);
    __syncthreads();
    const cg::thread_block block = cg::this_thread_block();
    cuda::memcpy_async(block, tile[0], from, kTileBytes, barrier);
    for (int t = 0; t < kTiles; t++) {
        auto token = barrier.arrive();
        if (t + 1 < kTiles) {
            cuda::memcpy_async(block, tile[(t + 1) % 2], from + (t + 1) * kThreads, kTileBytes,
                               barrier);
        }
        barrier.wait(std::move(token));  // NOLINT(performance-move-const-arg): CUDA asks for it
        to[t * kThreads + threadIdx.x] = tile[t % 2][kThreads - 1 - threadIdx.x];
        __syncthreads();
    }
}

// Threads without an element of their own copy the last one again, as the toolkit's cg::memcpy_async does.
__global__ void tiles_by_too_many(const int* from, int* to) {
    __shared__ int tile[kThreads];
    for (int t = 0; t < kTiles; t++) {
        for (unsigned i = threadIdx.x; i < kThreads + 32; i += kThreads) {
            const unsigned at = min(i, unsigned{kThreads} - 1);
            copy_element(tile + at, from + t * kThreads + at);
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        to[t * kThreads + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
        __syncthreads();
    }
}

class Tiles {
public:
    Tiles() : from_(kTiles * kThreads), to_(kTiles * kThreads) {
        values_.resize(kTiles * kThreads);
        std::iota(values_.begin(), values_.end(), 1);
        from_.fill(values_);
    }

    void run(void (*kernel)(const int*, int*)) {
        to_.fill(std::vector<int>(values_.size(), -7));
        kernel<<<3, kThreads>>>(from_.data(), to_.data());
    }

    // Each tile backwards.
    std::vector<int> wanted() const {
        std::vector<int> wanted;
        for (auto tile = values_.begin(); tile != values_.end(); tile += kThreads) {
            wanted.insert(wanted.end(), std::reverse_iterator(tile + kThreads),
                          std::reverse_iterator(tile));
        }
        return wanted;
    }
    std::vector<int> got() const { return to_.read(); }

private:
    std::vector<int> values_;
    DeviceArray<int> from_, to_;
};

TEST_CASE("copies that are waited for arrive") {
    Tiles tiles;
    for (const auto kernel :
         {tiles_by_groups<2>, tiles_by_groups<3>, tiles_by_groups<4>, tiles_by_block,
          tiles_by_pipeline<1>, tiles_by_pipeline<2>, tiles_by_pipeline<4>,
          tiles_by_threads_pipeline, tiles_by_barrier, tiles_by_too_many}) {
        tiles.run(kernel);
        REQUIRE(cudaGetLastError() == cudaSuccess);
        CHECK(tiles.got() == tiles.wanted());
    }
    std::vector<int> wanted = tiles.wanted();
    std::fill(wanted.end() - kThreads, wanted.end(), 0);
    tiles.run(tiles_by_some);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    CHECK(tiles.got() == wanted);
}

// ---------------------------------------------------------------- programs that do not

// The lines of the copy and of what comes too early, counted from where each kernel ends.
constexpr int kNotThere = -1;

__global__ void nobody_waits(int* from, int* to) {
    __shared__ int tile[kThreads];
    copy_element(tile + threadIdx.x, from + threadIdx.x);
    __pipeline_commit();
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x];
}
constexpr int kNobodyWaits = __LINE__ - 2;

__global__ void nobody_commits(int* from, int* to) {
    __shared__ int tile[kThreads];
    copy_element(tile + threadIdx.x, from + threadIdx.x);
    __pipeline_wait_prior(0);
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x];
}
constexpr int kNobodyCommits = __LINE__ - 2;

// The last tile is the latest group.
__global__ void waits_for_all_but_the_last(int* from, int* to) {
    __shared__ int tile[2][kThreads];
    const unsigned i = threadIdx.x;
    copy_element(&tile[0][i], from + i);
    __pipeline_commit();
    for (int t = 0; t < 2; t++) {
        if (t == 0) {
            copy_element(&tile[1][i], from + kThreads + i);
            __pipeline_commit();
        }
        __pipeline_wait_prior(1);
        __syncthreads();
        to[t * kThreads + i] = tile[t][i];
    }
}
constexpr int kLastTile = __LINE__ - 3;

__global__ void waits_after_the_barrier(int* from, int* to) {
    __shared__ int tile[kThreads];
    copy_element(tile + threadIdx.x, from + threadIdx.x);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    to[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}
constexpr int kWaitsAfterBarrier = __LINE__ - 2;

__global__ void adds_too_early(int* from, int*) {
    __shared__ int tile[kThreads];
    copy_element(tile + threadIdx.x, from + threadIdx.x);
    __pipeline_commit();
    atomicAdd(tile + threadIdx.x, 1);
    __pipeline_wait_prior(0);
}
constexpr int kAdds = __LINE__ - 3;

__global__ void writes_the_destination(int* from, int*) {
    extern __shared__ int rows[];
    copy_element(rows + threadIdx.x, from + threadIdx.x);
    __pipeline_commit();
    rows[threadIdx.x] = 1;
    __pipeline_wait_prior(0);
}
constexpr int kWritesDestination = __LINE__ - 3;

__global__ void writes_the_source(int* from, int*) {
    __shared__ int tile[kThreads];
    copy_element(tile + threadIdx.x, from + threadIdx.x);
    __pipeline_commit();
    from[threadIdx.x] = 1;
    __pipeline_wait_prior(0);
}
constexpr int kWritesSource = __LINE__ - 3;

// Three tiles under way in two places.
__global__ void copies_over_a_copy(int* from, int*) {
    __shared__ int tile[2][kThreads];
    for (int t = 0; t < 3; t++) {
        __pipeline_memcpy_async(&tile[t % 2][threadIdx.x], from + t * kThreads + threadIdx.x, 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(0);
}
constexpr int kCopiesOver = __LINE__ - 5;

__global__ void reads_zeros_too_early(int* from, int* to) {
    __shared__ __align__(16) int tile[4 * kThreads];
    __pipeline_memcpy_async(tile + 4 * threadIdx.x, from, 16, 12);
    __pipeline_commit();
    to[threadIdx.x] = tile[4 * threadIdx.x + 3];
    __pipeline_wait_prior(0);
}
constexpr int kReadsZeros = __LINE__ - 3;

__global__ void meets_and_does_not_wait(int* from, int* to) {
    __shared__ int tile[kThreads];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, from, kTileBytes);
    block.sync();
    to[threadIdx.x] = tile[threadIdx.x];
}
constexpr int kMeets = __LINE__ - 2;

__global__ void consumes_without_waiting(int* from, int* to) {
    __shared__ int tile[kThreads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    pipeline.producer_acquire();
    cuda::memcpy_async(block, tile, from, kTileBytes, pipeline);
    pipeline.producer_commit();
    block.sync();
    to[threadIdx.x] = tile[threadIdx.x];
    pipeline.consumer_release();
}
constexpr int kConsumes = __LINE__ - 3;

__global__ void fetches_more_than_there_are_stages(int* from, int*) {
    __shared__ int tile[3][kThreads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    for (auto& each : tile) {
        pipeline.producer_acquire();
        cuda::memcpy_async(block, each, from, kTileBytes, pipeline);
        pipeline.producer_commit();
    }
    for (int t = 0; t < 3; t++) pipeline.consumer_wait();
}
constexpr int kFetchesMore = __LINE__ - 6;

__global__ void waits_at_another_barrier(int* from, int* to) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int tile[kThreads];
    if (threadIdx.x == 0) init(&barrier, kThreads);
    __syncthreads();
    cuda::memcpy_async(tile + threadIdx.x, from + threadIdx.x, sizeof(int), barrier);
    (void)barrier.arrive();
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x];
}
constexpr int kAnotherBarrier = __LINE__ - 2;

struct Mistake {
    void (*kernel)(int*, int*);
    int line;
    const char* what;
};

const Mistake kMistakes[] = {
    {nobody_waits, kNobodyWaits, "load of 4 bytes from the destination of an asynchronous copy"},
    {nobody_commits, kNobodyCommits, "neither committed it nor waited"},
    {waits_for_all_but_the_last, kLastTile, "has committed it, but not waited"},
    {waits_after_the_barrier, kWaitsAfterBarrier, "thread (63,0,0) began the copy"},
    {adds_too_early, kAdds, "atomic on 4 bytes"},
    {writes_the_destination, kWritesDestination, "store of 4 bytes to the destination"},
    {writes_the_source, kWritesSource, "store of 4 bytes to the source"},
    {copies_over_a_copy, kCopiesOver, "asynchronous copy of 4 bytes to the destination"},
    {reads_zeros_too_early, kReadsZeros, "load of 4 bytes from"},
    {meets_and_does_not_wait, kMeets, "has committed it, but not waited"},
    {consumes_without_waiting, kConsumes, "the stage of the pipeline"},
    {fetches_more_than_there_are_stages, kFetchesMore,
     "all 2 stages of the pipeline are committed"},
    {waits_at_another_barrier, kAnotherBarrier, "waited for the phase of the barrier"},
};

TEST_CASE("who does not wait for a copy is named, and does not get its bytes") {
    DeviceArray<int> from(3 * kThreads), to(3 * kThreads);
    for (const Mistake& mistake : kMistakes) {
        INFO("line " << mistake.line);
        from.fill(std::vector<int>(3 * kThreads, 5));
        to.fill(std::vector<int>(3 * kThreads, kNotThere));
        mistake.kernel<<<1, kThreads, kTileBytes>>>(from.data(), to.data());
        check_failure(cudaErrorLaunchFailure, {"block (0,0,0), thread (", mistake.what,
                                               at_line("tests/async_copies.cu", mistake.line)});
    }
}

__global__ void leaves_copies_under_way(const int* from, int*) {
    __shared__ int tile[kThreads];
    copy_element(tile + threadIdx.x, from + threadIdx.x);
    __pipeline_commit();
}

TEST_CASE("a block may end while copies are under way, and the next begins without them") {
    Tiles tiles;
    const Environment one_worker("CPU_DEVICE_THREADS", "1");
    tiles.run(leaves_copies_under_way);
    tiles.run(tiles_by_groups<2>);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    CHECK(tiles.got() == tiles.wanted());
}

}  // namespace
