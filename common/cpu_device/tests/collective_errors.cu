// SPDX-License-Identifier: MIT
// Wrong uses of cooperative groups and of cub, of which hardware says nothing or something obscure:
// each ends the launch with a message that says what is wrong.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "common/cpu_device/tests/failures.cuh"

namespace cg = cooperative_groups;

namespace collective_errors_tests {

__global__ void grid_sync() {
    cg::this_grid().sync();
}

TEST_CASE("this_grid().sync() needs a cooperative launch") {
    grid_sync<<<2, 32>>>();
    check_failure(cudaErrorLaunchFailure, {"kernel grid_sync, block (", "this_grid().sync()",
                                           "launch with cudaLaunchCooperativeKernel"});
}

TEST_CASE("a cooperative launch needs room for all of its blocks at once") {
    CHECK(cudaLaunchCooperativeKernel(grid_sync, dim3(132 * 2), dim3(1024), nullptr) ==
          cudaSuccess);
    CHECK(cudaLaunchCooperativeKernel(grid_sync, dim3(132 * 2 + 1), dim3(1024), nullptr) ==
          cudaErrorCooperativeLaunchTooLarge);
    CHECK_THAT(std::string(cpu_device::last_error_text()), ContainsSubstring("must be 1 to 264"));
}

__global__ void some_sync() {
    if (blockIdx.x != 1 || threadIdx.x < 3) cg::this_grid().sync();
}

TEST_CASE("a grid's barrier that some threads of a block never reach") {
    CHECK(cudaLaunchCooperativeKernel(some_sync, dim3(3), dim3(32), nullptr) == cudaSuccess);
}

__global__ void odd_tiles(unsigned* rank) {
    *rank = cg::tiled_partition(cg::this_thread_block(), 7).thread_rank();
}

TEST_CASE("a block is not cut into tiles of 7") {
    DeviceArray<unsigned> rank(1);
    odd_tiles<<<1, 32>>>(rank.data());
    check_failure(cudaErrorInvalidValue,
                  {"tiled_partition into groups of 7 threads; 1, 2, 4, 8, 16 or 32 would do"});
}

template <int kThreads>
__global__ void reduce_block(int* result, int num_valid) {
    using BlockReduce = cub::BlockReduce<int, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    const int sum = BlockReduce(scratch).Sum(1, num_valid);
    if (threadIdx.x == 0) *result = sum;
}

TEST_CASE("cub::BlockReduce in a block of another size") {
    DeviceArray<int> result(1);
    reduce_block<128><<<1, 64>>>(result.data(), 64);
    check_failure(
        cudaErrorInvalidValue,
        {"cub::BlockReduce is made for blocks of (128,1,1) threads, this one has (64,1,1)"});
    reduce_block<64><<<1, dim3(32, 2)>>>(result.data(), 64);
    check_failure(cudaErrorInvalidValue, {"this one has (32,2,1)"});
}

TEST_CASE("cub::BlockReduce of more inputs than threads") {
    DeviceArray<int> result(1);
    reduce_block<64><<<1, 64>>>(result.data(), 80);  // CUB gets this right
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(result.read()[0] == 64);
    reduce_block<48><<<1, 48>>>(result.data(), 53);  // but not where the block ends inside a warp
    check_failure(cudaErrorInvalidValue,
                  {"cub::BlockReduce of the first 53 inputs in a block of 48 threads"});
}

__global__ void scan_block(int* result) {
    using BlockScan = cub::BlockScan<int, 64>;
    __shared__ typename BlockScan::TempStorage scratch;
    int sum;
    BlockScan(scratch).InclusiveSum(1, sum);
    result[threadIdx.x] = sum;
}

TEST_CASE("cub::BlockScan in a block of another size") {
    DeviceArray<int> result(96);
    scan_block<<<1, 96>>>(result.data());
    check_failure(cudaErrorInvalidValue, {"cub::BlockScan is made for blocks of (64,1,1) threads"});
}

}  // namespace collective_errors_tests
