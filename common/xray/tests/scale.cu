// SPDX-License-Identifier: MIT
//
// Much to count: long rows, many launches, many workers. Memory must stay small, counts exact.
#include <sys/resource.h>

#include <cstdlib>

#include "common/runner/device.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace {

__global__ void thread_per_row(const float* x, float* sums, int64_t cols) {
    const float* row = x + threadIdx.x % 4 * cols;  // a few rows are enough
    float sum = 0;
    for (int64_t col = 0; col < cols; col++) sum += row[col];
    sums[threadIdx.x] = sum;
}

__global__ void add_one(float* x) {
    __shared__ float row[64];
    row[threadIdx.x] = x[threadIdx.x] + 1;
    __syncthreads();
    x[threadIdx.x] = row[63 - threadIdx.x];
}

__global__ void one_of_many(float* x, int number) {
    if (threadIdx.x % 2 == 0) {
        x[threadIdx.x] = static_cast<float>(number);
    } else {
        x[threadIdx.x] = 0;
    }
}

// The most memory that this process ever had, in megabytes.
double peak_megabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

class Workers {
public:
    explicit Workers(const char* count) { setenv("CPU_DEVICE_THREADS", count, 1); }
    ~Workers() { unsetenv("CPU_DEVICE_THREADS"); }
};

}  // namespace

TEST_CASE("a million columns to each thread") {
    constexpr int64_t kCols = 1'000'000;
    runner::DeviceBuffer<float> x(4 * kCols), sums(32);
    const double before = peak_megabytes();
    const auto kernels = counted([&] { thread_per_row<<<1, 32>>>(x.data(), sums.data(), kCols); });
    CHECK(requests(kernels, AccessKind::global_load) == kCols);
    CHECK(sectors(kernels, AccessKind::global_load) == 4 * kCols);  // one in each of four rows
    CHECK(peak_megabytes() - before < 100);
}

TEST_CASE("thousands of launches under one counter") {
    runner::DeviceBuffer<float> x(64);
    constexpr int kLaunches = 5000;
    double before = 0;
    const auto kernels = counted([&] {
        for (int i = 0; i < kLaunches; i++) {
            add_one<<<2, 64>>>(x.data());
            one_of_many<<<1, 64>>>(x.data(), i);
            if (i == 100) before = peak_megabytes();
        }
    });
    REQUIRE(kernels.size() == 2);
    CHECK(kernels[0].launches == kLaunches);
    CHECK(kernels[0].barriers == 2 * kLaunches);
    CHECK(kernels[0].total(AccessKind::global_load).requests == 2 * 2 * kLaunches);
    CHECK(kernels[0].total(AccessKind::shared_store).requests == 2 * 2 * kLaunches);
    CHECK(kernels[1].total(AccessKind::global_store).requests == 2 * 2 * kLaunches);
    CHECK(peak_megabytes() - before < 5);
}

TEST_CASE("counts do not depend on the number of workers") {
    runner::DeviceBuffer<float> x(64);
    for (const char* count : {"1", "2", "64"}) {
        const Workers workers(count);
        const auto kernels = counted([&] { add_one<<<1000, 64>>>(x.data()); });
        CHECK(requests(kernels, AccessKind::global_load) == 2000);
        CHECK(sectors(kernels, AccessKind::global_load) == 8000);
        CHECK(kernels[0].barriers == 1000);
        CHECK(kernels[0].races.empty());
    }
}

TEST_CASE("a kernel that fails is counted as such, and the next one works") {
    runner::DeviceBuffer<float> x(64);
    Counter counter;
    {
        const Counting counting(counter);
        add_one<<<1, 64>>>(nullptr);
        CHECK(cudaGetLastError() != cudaSuccess);
        one_of_many<<<1, 64>>>(x.data(), 1);
        CHECK(cudaGetLastError() == cudaSuccess);
    }
    REQUIRE(counter.kernels().size() == 2);
    CHECK(counter.kernels()[0].failed_launches == 1);
    CHECK(counter.kernels()[1].failed_launches == 0);
    CHECK(counter.kernels()[1].total(AccessKind::global_store).requests == 4);
}
