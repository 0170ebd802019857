// SPDX-License-Identifier: MIT
//
// Races are told by cause, and what would order them.
#include "common/runner/device.hpp"
#include "common/testing/page.hpp"
#include "common/xray/causes.hpp"
#include "common/xray/global_shadow.hpp"
#include "common/xray/kernel_page.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace {

__global__ void lacks_one_barrier(int* x) {
    __shared__ int a[64], b[64], c[64];
    const unsigned i = threadIdx.x;
    a[i] = x[i];
    b[i] = x[i];
    c[i] = x[i];
    int sum = a[63 - i];
    sum += b[63 - i];
    sum += c[63 - i];
    sum += a[(i + 1) % 64];
    x[i] = sum;
}
// The second lacks one, too, with a barrier between the two.
__global__ void lacks_two_barriers(int* x) {
    __shared__ int a[64];
    const unsigned i = threadIdx.x;
    a[i] = x[i];
    x[i] = a[63 - i];
    __syncthreads();
    a[i] = x[i] + 1;
    x[i] = a[63 - i];
}
__global__ void finds(int* x) {
    __shared__ bool any;
    if (threadIdx.x == 0) any = false;
    __syncthreads();
    if (x[threadIdx.x] == 0) any = true;
    __syncthreads();
    if (any) x[threadIdx.x] = 0;
}
__global__ void leaves_its_number(int* x) {
    x[0] = static_cast<int>(threadIdx.x);
}
__global__ void reads_its_neighbour(int* x) {
    x[blockIdx.x] = x[(blockIdx.x + 1) % gridDim.x] + 1;
}

struct Told {
    std::vector<Hazard> races;
    std::string text;
};
Told told_of(void (*kernel)(int*), unsigned blocks, unsigned threads) {
    runner::DeviceBuffer<int> x(64);
    REQUIRE(cudaMemset(x.data(), 0, 64 * sizeof(int)) == cudaSuccess);
    GlobalShadow global;
    Counter counter(nullptr, nullptr, &global);
    {
        const Counting counting(counter);
        kernel<<<blocks, threads>>>(x.data());
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    const KernelCounts& counts = counter.kernels().front();
    return {counts.races, hazards_text(counts, SourceMap({counts}))};
}

}  // namespace

TEST_CASE("what one barrier would mend is told once") {
    const Told one = told_of(lacks_one_barrier, 1, 64);
    CHECK(one.races.size() == 4);
    CHECK(causes_of(one.races).size() == 1);
    CHECK(testing::count_of("RACE", one.text) == 2);
    CHECK_THAT(one.text, ContainsSubstring("2 more pairs") && ContainsSubstring("__syncthreads"));
    CHECK_THAT(one.text, !ContainsSubstring("READ"));
    testing::expect_80_columns(one.text);
    CHECK(causes_of(told_of(lacks_two_barriers, 1, 64).races).size() == 2);
}

TEST_CASE("threads that write the same value are told in one line") {
    const Told same = told_of(finds, 1, 64);
    REQUIRE(same.races.size() == 1);
    CHECK(same.races.front().same_value);
    CHECK_THAT(same.text, ContainsSubstring("looks harmless"));
    CHECK_FALSE(told_of(leaves_its_number, 1, 64).races.front().same_value);
}

TEST_CASE("no barrier of a block is asked for where blocks race") {
    const Told told = told_of(reads_its_neighbour, 8, 1);
    REQUIRE_FALSE(told.races.empty());
    CHECK_THAT(told.text, ContainsSubstring("nothing orders two blocks") &&
                              !ContainsSubstring("with no __syncthreads"));
}
