// SPDX-License-Identifier: MIT
// Shuffles that read a lane which gives no value. The value is undefined, which is no fault where it
// is dropped.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "../observer.hpp"
#include "failures.cuh"

namespace undefined_shuffles_tests {

// From `first` on, downwards: right with half as many as lanes, where stray values reach no lane that
// stores.
template <class T>
__global__ void sum_of_lanes(T* sum, unsigned lanes, int first) {
    if (threadIdx.x >= lanes) return;
    const unsigned mask = (1u << lanes) - 1;
    T value = static_cast<T>(1.f);
    for (int d = first; d > 0; d /= 2) value = value + __shfl_down_sync(mask, value, d);
    if (threadIdx.x == 0) *sum = value;
}

TEST_CASE("stray values that no storing lane reads are no fault, and are not noted") {
    const size_t notes = cpu_device::notes().size();
    DeviceArray<float> sum(1);
    sum_of_lanes<<<1, 32>>>(sum.data(), 8, 4);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(sum.read()[0] == 8.f);
    CHECK(cpu_device::notes().size() == notes);
}

template <class T>
void check_stray_sum() {
    DeviceArray<T> sum(1);
    sum_of_lanes<<<1, 32>>>(sum.data(), 8, 16);
    check_failure(cudaErrorLaunchFailure,
                  {"thread (0,0,0): stores an undefined value", ": the shuffle at",
                   "reads lane 16, which is outside its mask 0x000000ff"});
}

TEST_CASE("a sum of stray values is a fault where it is stored, in each type") {
    check_stray_sum<float>();
    check_stray_sum<double>();
    check_stray_sum<int>();
    check_stray_sum<unsigned long long>();
}

__global__ void neighbours(float* to, int lanes) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= lanes) return;
    const float mine = static_cast<float>(i);
    const float right = __shfl_down_sync((1u << lanes) - 1, mine, 1);
    to[i] = i + 1 < lanes ? mine + right : mine;
}

TEST_CASE("a value that a select drops is noted, once, and no fault") {
    const size_t notes = cpu_device::notes().size();
    DeviceArray<float> to(20);
    for (int i = 0; i < 2; i++) neighbours<<<2, 32>>>(to.data(), 20);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(to.read()[18] == 37.f);
    CHECK(to.read()[19] == 19.f);
    REQUIRE(cpu_device::notes().size() == notes + 1);
    CHECK_THAT(cpu_device::notes().back(), ContainsSubstring("thread (19,0,0): the shuffle at"));
    CHECK_THAT(cpu_device::notes().back(),
               ContainsSubstring("reads lane 20, which is outside its mask"));
}

__global__ void through_shared(float* to, const float* from) {
    __shared__ float row[32];
    const float mine = from[threadIdx.x];
    row[threadIdx.x] = mine;
    if (threadIdx.x < 8) row[threadIdx.x] = mine + __shfl_down_sync(0xffu, mine, 1);
    __syncwarp();
    to[threadIdx.x] = row[31 - threadIdx.x];
}

TEST_CASE("an undefined value is followed through shared memory, and no further than the block") {
    DeviceArray<float> from(32), to(32);
    from.fill(std::vector<float>(32, 1.f));
    through_shared<<<1, 32>>>(to.data(), from.data());
    check_failure(cudaErrorLaunchFailure, {"thread (24,0,0): stores an undefined value"});
    const size_t notes = cpu_device::notes().size();
    sum_of_lanes<<<4, 32>>>(to.data(), 8, 4);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cpu_device::notes().size() == notes);
}

__global__ void add_up(int* sum) {
    if (threadIdx.x < 20) atomicAdd(sum, __shfl_down_sync(0xfffffu, 1, 4));
}

TEST_CASE("an undefined value that an atomic adds is a fault") {
    DeviceArray<int> sum(1);
    sum.fill({0});
    add_up<<<1, 32>>>(sum.data());
    check_failure(cudaErrorLaunchFailure,
                  {"kernel add_up, block (0,0,0), thread (16,0,0): stores an undefined value"});
}

}  // namespace undefined_shuffles_tests
