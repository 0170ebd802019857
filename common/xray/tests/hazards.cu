// SPDX-License-Identifier: MIT
//
// Races and reads of unwritten shared memory: found where they are, with both threads and both
// lines; and nothing found where all is in order.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "common/operations/softmax/call.hpp"
#include "common/runner/device.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/redirected.hpp"
#include "common/xray/command.hpp"
#include "common/xray/source_map.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace {

__global__ void missing_barrier(float* x) {
    __shared__ float row[64];
    row[threadIdx.x] = x[threadIdx.x];       // written here
    x[threadIdx.x] = row[63 - threadIdx.x];  // read here
}

__global__ void missing_syncwarp(float* x) {
    __shared__ float row[32];
    row[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = row[31 - threadIdx.x];
}

__global__ void shuffle_is_no_syncwarp(float* x) {
    __shared__ float row[32];
    row[threadIdx.x] = x[threadIdx.x];
    const float other = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
    x[threadIdx.x] = row[31 - threadIdx.x] + other;
}

__global__ void syncwarp(float* x) {
    __shared__ float row[32];
    row[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    const float value = row[31 - threadIdx.x];
    __syncwarp();
    row[threadIdx.x] = value;
    __syncwarp();
    x[threadIdx.x] = row[(threadIdx.x + 1) % 32];
}

// Each half orders itself; the halves do not touch each other's part.
__global__ void half_syncwarp(float* x) {
    __shared__ float row[32];
    const unsigned half = threadIdx.x / 16;
    row[threadIdx.x] = x[threadIdx.x];
    __syncwarp(half == 0 ? 0x0000ffffu : 0xffff0000u);
    x[threadIdx.x] = row[half * 16 + (threadIdx.x + 1) % 16];
}

// Each half orders itself, and then reads what the other wrote.
__global__ void half_syncwarp_is_not_enough(float* x) {
    __shared__ float row[32];
    row[threadIdx.x] = x[threadIdx.x];
    __syncwarp(threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u);
    x[threadIdx.x] = row[(threadIdx.x + 16) % 32];
}

// Lane 0 wrote before it met lane 1, which met lane 2: known to lane 2.
__global__ void passed_on(float* x) {
    __shared__ float value;
    if (threadIdx.x == 0) {
        value = x[0];
        __syncwarp(0b011);
    } else if (threadIdx.x == 1) {
        __syncwarp(0b011);
        __syncwarp(0b110);
    } else if (threadIdx.x == 2) {
        __syncwarp(0b110);
        x[2] = value;
    }
}

// The next turn's write comes while others may still read the last turn's value.
__global__ void reused_too_soon(float* x) {
    __shared__ float value;
    for (int turn = 0; turn < 2; turn++) {
        if (threadIdx.x == 0) value = x[turn];
        __syncthreads();
        x[threadIdx.x] += value;
    }
}

__global__ void reused_after_a_barrier(float* x) {
    __shared__ float value;
    for (int turn = 0; turn < 2; turn++) {
        if (threadIdx.x == 0) value = x[turn];
        __syncthreads();
        x[threadIdx.x] += value;
        __syncthreads();
    }
}

// The bytes of a copy arrive where its thread waits: it is the wait that has to lie before the barrier.
template <bool waits_first>
__global__ void copied_asynchronously(float* x) {
    __shared__ float row[64];
    __pipeline_memcpy_async(row + threadIdx.x, x + threadIdx.x, sizeof(float));
    __pipeline_commit();
    if (waits_first) __pipeline_wait_prior(0);
    __syncthreads();
    __pipeline_wait_prior(0);
    const float left = threadIdx.x == 0 ? 0 : row[threadIdx.x - 1];
    __syncthreads();
    x[threadIdx.x] = left;
}

// Each lane reads what it has copied itself; then all read, after they have met.
__global__ void copied_by_a_warp(float* x) {
    __shared__ float row[32];
    __pipeline_memcpy_async(row + threadIdx.x, x + threadIdx.x, sizeof(float));
    __pipeline_commit();
    __syncwarp();
    __pipeline_wait_prior(0);
    const float mine = row[threadIdx.x];
    __syncwarp();
    x[threadIdx.x] = mine + row[31 - threadIdx.x];
}

// Neighbours' halves share a bank's word, and no byte.
__global__ void neighbouring_halves(half* x) {
    __shared__ half row[64];
    row[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = row[threadIdx.x];
}

__global__ void overlapping_halves(half2* x) {
    __shared__ __align__(4) half row[64];
    row[threadIdx.x] = x[0].x;
    const half2 pair = *reinterpret_cast<half2*>(&row[threadIdx.x & ~1u]);
    x[threadIdx.x] = pair;
}

__global__ void counting_atomics(int* x) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    x[threadIdx.x] = count;
}

__global__ void atomics_read_too_soon(int* x) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    x[threadIdx.x] = count;
}

__global__ void nobody_wrote(float* x) {
    __shared__ float row[64];
    if (threadIdx.x < 63) row[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = row[threadIdx.x];  // thread 63 reads nothing
}

// What the last block of a multiprocessor left is not written, either.
__global__ void first_block_wrote(float* x) {
    __shared__ float value;
    if (blockIdx.x == 0) value = 1;
    __syncthreads();
    x[blockIdx.x] = value;
}

template <class Kernel, class T>
KernelCounts counts_of(Kernel kernel, T* x, int blocks, int threads) {
    return counted([&] { kernel<<<blocks, threads>>>(x); }).front();
}

// The line of this file that an access stands on, as written there.
std::string source(const KernelCounts& kernel, const Toucher& toucher) {
    const SourceMap sources({kernel});
    return sources.source_of(sources.line_of(toucher.place));
}

}  // namespace

TEST_CASE("a race is named with both threads and both lines") {
    runner::DeviceBuffer<float> x(64);
    const KernelCounts kernel = counts_of(missing_barrier, x.data(), 1, 64);
    REQUIRE(kernel.races.size() == 1);
    const Hazard& race = kernel.races.front();
    CHECK(race.times == 64);
    CHECK(race.first.thread + race.second.thread == 63);
    CHECK(race.first.writes);
    CHECK_FALSE(race.second.writes);
    CHECK_THAT(source(kernel, race.first), EndsWith("// written here"));
    CHECK_THAT(source(kernel, race.second), EndsWith("// read here"));
}

TEST_CASE("a race is exit code 1, whether a page tells of it or JSON") {
    runner::Variant variant;
    variant.operation = operations::softmax::operation_of(operations::softmax::Kind::softmax);
    variant.name = "racing";
    variant.launch = [](const operations::softmax::Call& call) {
        missing_barrier<<<1, 64, 0, call.stream>>>(call.output<float>());
        return cudaGetLastError();
    };
    runner::Stage stage;
    stage.name = "99_none";
    stage.variants = {variant};
    for (const std::string json : {"", "counts.json", "-"}) {
        INFO("JSON: " << json);
        const Folder folder;
        XrayOptions options;
        options.shape = {1, 64};
        options.picture = folder.path / "pictures";
        const bool in_file = json == "counts.json";
        options.json = in_file ? std::string(folder.path / json) : json;
        runner::ExitCode code{};
        {
            const Redirected redirected(folder.path / "printed");
            code = run_xray({stage}, options);
        }
        CHECK(code == runner::kWrong);
        CHECK(folder.holds("pictures/99_none_racing_banks.svg"));
        if (json == "-") {
            CHECK_THAT(folder.read("printed"), StartsWith("{") && ContainsSubstring("\"races\""));
        } else {
            CHECK_THAT(folder.read("printed"), ContainsSubstring("RACE in shared memory"));
            CHECK(folder.holds("counts.json") == in_file);
        }
    }
}

TEST_CASE("what orders threads, and what does not") {
    runner::DeviceBuffer<float> buffer(64);
    float* const x = buffer.data();
    CHECK(counts_of(missing_syncwarp, x, 1, 32).races.size() == 1);
    CHECK(counts_of(shuffle_is_no_syncwarp, x, 1, 32).races.size() == 1);
    CHECK(counts_of(syncwarp, x, 1, 32).races.empty());
    CHECK(counts_of(half_syncwarp, x, 1, 32).races.empty());
    CHECK(counts_of(half_syncwarp_is_not_enough, x, 1, 32).races.size() == 1);
    CHECK(counts_of(passed_on, x, 1, 32).races.empty());
    CHECK(counts_of(reused_too_soon, x, 1, 64).races.size() == 1);
    CHECK(counts_of(reused_after_a_barrier, x, 1, 64).races.empty());
    const KernelCounts waits_late = counts_of(copied_asynchronously<false>, x, 1, 64);
    REQUIRE(waits_late.races.size() == 1);
    CHECK(waits_late.races.front().times == 63);
    CHECK(counts_of(copied_asynchronously<true>, x, 1, 64).races.empty());
    CHECK(counts_of(copied_by_a_warp, x, 1, 32).races.empty());
}

TEST_CASE("only threads that touch the same byte race") {
    runner::DeviceBuffer<half2> pairs(64);
    auto* const halves = reinterpret_cast<half*>(pairs.data());
    CHECK(counts_of(neighbouring_halves, halves, 1, 64).races.empty());
    CHECK_FALSE(counts_of(overlapping_halves, pairs.data(), 1, 32).races.empty());
}

TEST_CASE("atomics race with other accesses, not with each other") {
    runner::DeviceBuffer<int> x(64);
    CHECK(counts_of(counting_atomics, x.data(), 1, 64).races.empty());
    CHECK(counts_of(atomics_read_too_soon, x.data(), 1, 64).races.size() == 1);
}

TEST_CASE("reads of what nobody in the block has written") {
    runner::DeviceBuffer<float> x(64);
    const KernelCounts kernel = counts_of(nobody_wrote, x.data(), 1, 64);
    CHECK(kernel.races.empty());
    REQUIRE(kernel.uninitialized_reads.size() == 1);
    const Hazard& read = kernel.uninitialized_reads.front();
    CHECK(read.times == 1);
    CHECK(read.second.thread == 63);
    CHECK_THAT(source(kernel, read.second), EndsWith("// thread 63 reads nothing"));

    const KernelCounts blocks = counts_of(first_block_wrote, x.data(), 8, 32);
    REQUIRE(blocks.uninitialized_reads.size() == 1);
    CHECK(blocks.uninitialized_reads.front().times == 7 * 32);
}
