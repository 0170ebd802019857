// SPDX-License-Identifier: MIT
// Cooperative groups: who is in which group at which rank, and what the groups compute together.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "common/cpu_device/tests/clusters.cuh"
#include "common/cpu_device/tests/device_map.cuh"

namespace cg = cooperative_groups;

namespace cooperative_groups_tests {

constexpr int kThreads = 96;  // 16 x 6

__device__ int thread_number() {
    return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
}

__global__ void block_kernel(unsigned* results) {
    const cg::thread_block block = cg::this_thread_block();
    const cg::grid_group grid = cg::this_grid();
    __shared__ unsigned ranks[kThreads];
    ranks[block.thread_rank()] = block.thread_rank();
    block.sync();
    if (blockIdx.x != 1) return;
    unsigned* row = results + thread_number() * 8;
    row[0] = ranks[kThreads - 1 - block.thread_rank()];
    row[1] = block.size();
    row[2] = block.group_index().x * 10 + block.thread_index().y;
    row[3] = block.group_dim().x;
    row[4] = static_cast<unsigned>(grid.thread_rank());
    row[5] = static_cast<unsigned>(grid.size());
    row[6] = static_cast<unsigned>(grid.num_blocks() * 10 + grid.block_rank());
    row[7] = cg::this_thread().size();
}

TEST_CASE("a block and its grid") {
    DeviceVector<unsigned> results{std::vector<unsigned>(kThreads * 8)};
    block_kernel<<<3, dim3(16, 6)>>>(results.data());
    require_success();
    const auto seen = results.values();
    for (unsigned thread = 0; thread < kThreads; ++thread) {
        const std::vector<unsigned> row(&seen[thread * 8], &seen[thread * 8] + 8);
        CHECK(row == std::vector<unsigned>{kThreads - 1 - thread, kThreads, 10 + thread / 16, 16,
                                           kThreads + thread, 3 * kThreads, 31, 1});
    }
}

template <class Tile>
__device__ int describe(const Tile& tile) {
    return static_cast<int>(tile.thread_rank() + 100 * tile.size() +
                            10000 * tile.meta_group_rank() + 1000000 * tile.meta_group_size());
}

// Takes any tile of 8 threads, whatever it was cut from.
__device__ float sum_of_8(cg::thread_block_tile<8> tile, float x) {
    for (int distance = 4; distance > 0; distance /= 2) x += tile.shfl_down(x, distance);
    return tile.shfl(x, 0);
}

__global__ void tile_kernel(int* descriptions, float* values) {
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    const auto quarter = cg::tiled_partition<4>(tile);
    const auto eight = cg::tiled_partition<8>(block);
    const int thread = thread_number();
    descriptions[3 * thread] = describe(tile);
    descriptions[3 * thread + 1] = describe(quarter);
    descriptions[3 * thread + 2] = static_cast<int>(cg::tiled_partition(block, 8).thread_rank());
    const float x = static_cast<float>(thread);
    float* row = values + 8 * thread;
    row[0] = tile.shfl(x, 3);
    row[1] = tile.shfl_up(x, 2);
    row[2] = quarter.shfl_down(x, 1);
    row[3] = tile.shfl_xor(x, 5);
    row[4] = sum_of_8(eight, x);
    row[5] = static_cast<float>(tile.ballot(thread % 3 == 0));
    row[6] = static_cast<float>(quarter.any(thread == 5) + 2 * quarter.all(thread > 3));
    row[7] = static_cast<float>(tile.match_any(thread % 4));
    tile.sync();
}

TEST_CASE("tiles") {
    DeviceVector<int> descriptions{std::vector<int>(kThreads * 3)};
    DeviceVector<float> values{std::vector<float>(kThreads * 8)};
    tile_kernel<<<1, dim3(16, 6)>>>(descriptions.data(), values.data());
    require_success();
    const auto seen = descriptions.values();
    const auto received = values.values();
    for (int thread = 0; thread < kThreads; ++thread) {
        const int first = thread / 16 * 16, rank = thread % 16;
        const int* text = &seen[size_t{3} * static_cast<size_t>(thread)];
        CHECK(text[0] == rank + 1600 + 10000 * (thread / 16) + 6000000);
        CHECK(text[1] == thread % 4 + 400 + 10000 * (rank / 4) + 4000000);
        CHECK(text[2] == thread % 8);

        unsigned thirds = 0, same = 0;
        for (int other = 0; other < 16; ++other) {
            if ((first + other) % 3 == 0) thirds |= 1u << other;
            if (other % 4 == rank % 4) same |= 1u << other;
        }
        const float* row = &received[size_t{8} * static_cast<size_t>(thread)];
        CHECK(row[0] == static_cast<float>(first + 3));
        CHECK(row[1] == static_cast<float>(rank < 2 ? thread : thread - 2));
        CHECK(row[2] == static_cast<float>(rank % 4 == 3 ? thread : thread + 1));
        CHECK(row[3] == static_cast<float>(first + (rank ^ 5)));
        CHECK(row[4] == static_cast<float>(8 * (thread / 8 * 8) + 28));
        CHECK(row[5] == static_cast<float>(thirds));
        CHECK(row[6] == static_cast<float>((thread / 4 == 1) + 2 * (thread > 3)));
        CHECK(row[7] == static_cast<float>(same));
    }
}

struct Wide {
    double a;
    int b, c, d;
};

__global__ void coalesced_kernel(int* results, double* wide_results) {
    const int lane = static_cast<int>(threadIdx.x);
    if (lane % 3 == 1) {
        const cg::coalesced_group group = cg::coalesced_threads();
        int* row = results + lane * 7;
        row[0] = static_cast<int>(group.thread_rank());
        row[1] = static_cast<int>(group.size());
        row[2] = group.shfl(lane, 4);
        row[3] = group.shfl_up(lane, 1);
        row[4] = static_cast<int>(group.ballot(lane > 20));
        row[5] = cg::reduce(group, lane, cg::plus<int>());
        const cg::coalesced_group odd_or_even = cg::labeled_partition(group, lane % 2);
        row[6] = static_cast<int>(odd_or_even.size() * 10 + odd_or_even.thread_rank());
        const Wide wide = group.shfl(Wide{lane * 0.5, lane, 2 * lane, 3 * lane}, 1);
        wide_results[lane] = wide.a + wide.b + wide.c + wide.d;
        group.sync();
    }
}

TEST_CASE("coalesced threads") {
    DeviceVector<int> results{std::vector<int>(32 * 7)};
    DeviceVector<double> wide{std::vector<double>(32)};
    coalesced_kernel<<<1, 32>>>(results.data(), wide.data());
    require_success();
    const auto seen = results.values();
    std::vector<int> members;
    for (int lane = 1; lane < 32; lane += 3) members.push_back(lane);
    int sum = 0, above_20 = 0;
    for (size_t rank = 0; rank < members.size(); ++rank) {
        sum += members[rank];
        if (members[rank] > 20) above_20 |= 1 << rank;
    }
    for (int rank = 0; rank < static_cast<int>(members.size()); ++rank) {
        const int lane = members[static_cast<size_t>(rank)];
        const int* row = &seen[static_cast<size_t>(lane) * 7];
        CAPTURE(lane);
        CHECK(row[0] == rank);
        CHECK(row[1] == 11);
        CHECK(row[2] == members[4]);
        CHECK(row[3] == members[static_cast<size_t>(std::max(rank - 1, 0))]);
        CHECK(row[4] == above_20);
        CHECK(row[5] == sum);
        // Odd lanes have the even ranks: 6 of 11.
        CHECK(row[6] == (rank % 2 == 0 ? 60 : 50) + rank / 2);
        CHECK(wide.values()[static_cast<size_t>(lane)] == 4 * (0.5 + 1 + 2 + 3));
    }
}

template <unsigned kSize>
__global__ void reduce_kernel(const float* x, float* results, unsigned* bits) {
    const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
    const unsigned thread = threadIdx.x;
    results[3 * thread] = cg::reduce(tile, x[thread], cg::plus<float>());
    results[3 * thread + 1] = cg::reduce(tile, x[thread], cg::less<float>());
    results[3 * thread + 2] = cg::reduce(tile, x[thread], cg::greater<float>());
    const unsigned word = thread * 2654435761u;
    bits[3 * thread] = cg::reduce(tile, word, cg::bit_and<unsigned>());
    bits[3 * thread + 1] = cg::reduce(tile, word, cg::bit_or<unsigned>());
    bits[3 * thread + 2] = cg::reduce(tile, word, cg::bit_xor<unsigned>());
}

template <unsigned kSize>
void check_reduce() {
    std::vector<float> x;
    for (int i = 0; i < 64; ++i)
        x.push_back(std::ldexp(static_cast<float>(i * 37 % 64), i % 20 - 10));
    DeviceVector<float> device_x(x), results{std::vector<float>(192)};
    DeviceVector<unsigned> bits{std::vector<unsigned>(192)};
    reduce_kernel<kSize><<<1, 64>>>(device_x.data(), results.data(), bits.data());
    require_success();
    for (unsigned thread = 0; thread < 64; ++thread) {
        const unsigned first = thread / kSize * kSize;
        // The sum as the toolkit does it, across halves first: equal to the last bit.
        std::vector<float> lanes(x.begin() + first, x.begin() + first + kSize);
        for (unsigned distance = kSize / 2; distance > 0; distance /= 2) {
            std::vector<float> next(lanes);
            for (unsigned i = 0; i < kSize; ++i) next[i] = lanes[i] + lanes[i ^ distance];
            lanes = next;
        }
        unsigned conjunction = ~0u, disjunction = 0, parity = 0;
        for (unsigned i = first; i < first + kSize; ++i) {
            const unsigned word = i * 2654435761u;
            conjunction &= word;
            disjunction |= word;
            parity ^= word;
        }
        const auto begin = x.begin() + first;
        CAPTURE(kSize, thread);
        CHECK(results.values()[3 * thread] == lanes[thread - first]);
        CHECK(results.values()[3 * thread + 1] == *std::min_element(begin, begin + kSize));
        CHECK(results.values()[3 * thread + 2] == *std::max_element(begin, begin + kSize));
        CHECK(bits.values()[3 * thread] == conjunction);
        CHECK(bits.values()[3 * thread + 1] == disjunction);
        CHECK(bits.values()[3 * thread + 2] == parity);
    }
}

TEST_CASE("reductions of a tile reach all its threads") {
    check_reduce<32>();
    check_reduce<16>();
    check_reduce<2>();
}

__global__ void copy_kernel(const float* x, float* y, int count) {
    __shared__ __align__(16) float tile[256];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x, sizeof(float) * static_cast<size_t>(count));
    cg::wait(block);
    for (int i = static_cast<int>(block.thread_rank()); i < count; i += kThreads) {
        y[i] = tile[count - 1 - i];
    }
}

TEST_CASE("a block copies to shared memory together") {
    std::vector<float> x;
    for (int i = 0; i < 256; ++i) x.push_back(static_cast<float>(i));
    for (const int count : {256, 37, 2}) {
        DeviceVector<float> device_x(x), y{std::vector<float>(256)};
        copy_kernel<<<1, kThreads>>>(device_x.data(), y.data(), count);
        require_success();
        std::vector<float> want(x.begin(), x.begin() + count);
        std::reverse(want.begin(), want.end());
        want.resize(256);
        CHECK(y.values() == want);
    }
}

template <class Word>
__global__ void pipeline_kernel(const Word* x, Word* y) {
    __shared__ Word tile[kThreads];
    __pipeline_memcpy_async(tile + threadIdx.x, x + threadIdx.x, sizeof(Word));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

TEMPLATE_TEST_CASE("a thread copies 4, 8 or 16 bytes to shared memory", "", unsigned, uint2,
                   uint4) {
    std::vector<TestType> x(kThreads);
    std::memset(x.data(), 0, sizeof(TestType) * x.size());
    for (unsigned i = 0; i < kThreads; ++i) std::memcpy(&x[i], &i, sizeof(i));
    const DeviceVector<TestType> device_x(x), y{std::vector<TestType>(kThreads)};
    pipeline_kernel<<<1, kThreads>>>(device_x.data(), y.data());
    require_success();
    std::reverse(x.begin(), x.end());
    CHECK(std::memcmp(y.values().data(), x.data(), sizeof(TestType) * x.size()) == 0);
}

__global__ void zfill_kernel(const unsigned* x, uint4* y) {
    __shared__ uint4 tile[kThreads];
    const auto missing = 4 * (threadIdx.x % 5);  // bytes
    __pipeline_memcpy_async(tile + threadIdx.x, x, 16, missing);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}

TEST_CASE("what a copy to shared memory does not read is zeros there") {
    const DeviceVector<unsigned> x(std::vector<unsigned>{1, 2, 3, 4});
    const DeviceVector<uint4> y{std::vector<uint4>(kThreads)};
    zfill_kernel<<<1, kThreads>>>(x.data(), y.data());
    require_success();
    const std::vector<uint4> copied = y.values();
    for (unsigned i = 0; i < kThreads; ++i) {
        INFO(i);
        const unsigned there = 4 - i % 5;
        const std::vector<unsigned> words = {copied[i].x, copied[i].y, copied[i].z, copied[i].w};
        for (unsigned word = 0; word < 4; ++word)
            CHECK(words[word] == (word < there ? word + 1 : 0));
    }
}

// ---------------------------------------------------------------- clusters

__global__ void cluster_kernel(unsigned* results) {
    __shared__ unsigned mine;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) mine = 100 * blockIdx.y + blockIdx.x;
    auto arrived = cluster.barrier_arrive();
    cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token&&>(arrived));
    const unsigned next = *cluster.map_shared_rank(&mine, (rank + 1) % cluster.num_blocks());
    __cluster_barrier_arrive_relaxed();  // nobody leaves while others read
    __cluster_barrier_wait();
    unsigned* row = results + (blockIdx.y * gridDim.x + blockIdx.x) * 6;
    if (threadIdx.x == 3) {
        row[0] = rank;
        row[1] = cluster.num_blocks();
        row[2] = cluster.dim_blocks().x * 10 + cluster.dim_blocks().y;
        row[3] = cluster.block_index().x * 10 + cluster.block_index().y;
        row[4] = cluster.thread_rank() * 1000 + cluster.num_threads();
        row[5] = next;
    }
}

TEST_CASE("a cluster of blocks") {
    DeviceVector<unsigned> results{std::vector<unsigned>(8 * 6)};
    REQUIRE(launch_cluster(cluster_kernel, dim3(4, 2), 32, dim3(2, 2), 0, results.data()) ==
            cudaSuccess);
    require_success();
    const auto seen = results.values();
    for (unsigned y = 0; y < 2; ++y) {
        for (unsigned x = 0; x < 4; ++x) {
            const unsigned rank = y * 2 + x % 2, next = (rank + 1) % 4;
            const unsigned* row = &seen[(y * 4 + x) * 6];
            CHECK(std::vector<unsigned>(row, row + 6) ==
                  std::vector<unsigned>{rank, 4, 22, x % 2 * 10 + y, (32 * rank + 3) * 1000 + 128,
                                        100 * (next / 2) + x / 2 * 2 + next % 2});
        }
    }
}

// Round after round each block adds what its right neighbour wrote in the round before.
__global__ void around_the_grid(unsigned* values, int rounds) {
    const cg::grid_group grid = cg::this_grid();
    __shared__ unsigned seen;
    const unsigned block = static_cast<unsigned>(grid.block_rank());
    const unsigned blocks = static_cast<unsigned>(grid.num_blocks());
    for (int round = 0; round < rounds; ++round) {
        if (threadIdx.x == 0) seen = values[(block + 1) % blocks];
        if (round % 2 == 0) {
            grid.sync();
        } else {
            grid.barrier_wait(grid.barrier_arrive());
        }
        if (threadIdx.x == 0) values[block] += seen;
        grid.sync();
    }
    if (threadIdx.x == 0 && !grid.is_valid()) values[block] = 0;
}

TEST_CASE("the blocks of a cooperative launch wait for each other") {
    constexpr unsigned kBlocks = 37;
    std::vector<unsigned> expected(kBlocks);
    for (unsigned block = 0; block < kBlocks; ++block) expected[block] = block * block;
    DeviceVector<unsigned> values{expected};
    int rounds = 9;
    for (int round = 0; round < rounds; ++round) {
        const std::vector<unsigned> before = expected;
        for (unsigned block = 0; block < kBlocks; ++block) {
            expected[block] += before[(block + 1) % kBlocks];
        }
    }
    unsigned* data = values.data();
    void* arguments[] = {&data, &rounds};
    REQUIRE(cudaLaunchCooperativeKernel(around_the_grid, dim3(kBlocks), dim3(40), arguments) ==
            cudaSuccess);
    require_success();
    CHECK(values.values() == expected);
}

}  // namespace cooperative_groups_tests
