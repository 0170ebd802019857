// SPDX-License-Identifier: MIT
// What right kernels may count on: indices, shared memory, barriers, waiting for each other,
// the same result every time, and a process that does not grow.
#include <cstdint>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "failures.cuh"

namespace {

struct Place {
    uint3 thread, block;
    dim3 threads, blocks;
};

__global__ void note_place(Place* to) {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const Place place{threadIdx, blockIdx, blockDim, gridDim};
    to[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = place;
}

TEST_CASE("every thread of every block runs once, with its own indices") {
    const dim3 grid(3, 2, 2), block(5, 4, 3);
    DeviceArray<Place> places(12 * 60);
    note_place<<<grid, block>>>(places.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    size_t i = 0;
    for (const Place& place : places.read()) {
        const size_t thread = i % 60, at = i / 60;
        CHECK((place.thread.z * 4 + place.thread.y) * 5 + place.thread.x == thread);
        CHECK((place.block.z * 2 + place.block.y) * 3 + place.block.x == at);
        CHECK((place.threads.x == 5 && place.threads.y == 4 && place.threads.z == 3));
        CHECK((place.blocks.x == 3 && place.blocks.y == 2 && place.blocks.z == 2));
        i++;
    }
}

template <int kThreads>
__global__ void block_sum(const float* from, float* to, int cols) {
    extern __shared__ __align__(16) float row[];
    __shared__ float partial[kThreads];
    float mine = 0.f;
    for (int col = threadIdx.x; col < cols; col += kThreads) {
        row[col] = from[blockIdx.x * cols + col];
        mine += row[col];
    }
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (static_cast<int>(threadIdx.x) < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    for (int col = threadIdx.x; col < cols; col += kThreads) {
        to[blockIdx.x * cols + col] = row[col] / partial[0];
    }
}

std::vector<float> some_floats(size_t n) {
    std::vector<float> values(n);
    uint32_t state = 1;
    for (float& value : values) {
        state = state * 1664525u + 1013904223u;
        value = 1.f + static_cast<float>(state >> 8) / 16777216.f;
    }
    return values;
}

std::vector<float> rows_divided_by_sums(const std::vector<float>& values, int rows, int cols) {
    DeviceArray<float> from(values.size()), to(values.size());
    from.fill(values);
    block_sum<256><<<rows, 256, cols * sizeof(float)>>>(from.data(), to.data(), cols);
    CHECK(cudaGetLastError() == cudaSuccess);
    return to.read();
}

TEST_CASE(
    "shared memory belongs to its block, and results do not depend on the number of workers") {
    constexpr int kRows = 100, kCols = 777;
    const std::vector<float> values = some_floats(kRows * kCols);
    const std::vector<float> first = rows_divided_by_sums(values, kRows, kCols);
    for (int row = 0; row < kRows; row++) {
        const auto begin = values.begin() + row * kCols;
        const double sum = std::accumulate(begin, begin + kCols, 0.0);
        CHECK(first[row * kCols + 5] == Approx(values[row * kCols + 5] / sum).epsilon(1e-5));
    }
    for (const char* workers : {"1", "2", "3", "64"}) {
        const Environment threads("CPU_DEVICE_THREADS", workers);
        CHECK(rows_divided_by_sums(values, kRows, kCols) == first);
    }
}

__global__ void read_before_writing(float* to) {
    extern __shared__ float row[];
    __shared__ float once[32];
    const float before = once[threadIdx.x] + row[threadIdx.x];
    once[threadIdx.x] = row[threadIdx.x] = 1.f;
    to[blockIdx.x * 32 + threadIdx.x] = before;
}

TEST_CASE("memory that nobody has written holds NaN") {
    DeviceArray<float> data(20 * 32);
    for (const float value : data.read()) CHECK(value != value);
    REQUIRE(cudaMemset(data.data(), 0, 20 * 32 * sizeof(float)) == cudaSuccess);
    read_before_writing<<<20, 32, 128>>>(data.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    for (const float value : data.read()) CHECK(value != value);
}

__global__ void vote(int* to) {
    const int odd = threadIdx.x % 2;
    to[0] = __syncthreads_count(odd);
    to[1] = __syncthreads_and(odd);
    to[2] = __syncthreads_or(odd);
    to[3] = __syncthreads_and(1);
    to[4] = __syncthreads_or(0);
}

TEST_CASE("barriers that vote") {
    DeviceArray<int> data(5);
    vote<<<1, 100>>>(data.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(data.read() == std::vector<int>{50, 0, 1, 1, 0});
}

// ---------------------------------------------------------------- lanes that meet in groups

__global__ void meet_in_halves(int* to) {
    const int lane = static_cast<int>(threadIdx.x);
    int value = lane;
    if (lane < 16) {
        for (int i = 0; i < 3; i++) value += __shfl_xor_sync(0x0000ffffu, value, 1);
    } else {
        for (int i = 0; i < 4; i++) value += __shfl_xor_sync(0xffff0000u, value, 1);
    }
    value = __shfl_sync(0xffffffffu, value, 31 - lane);  // the halves have met differently often
    to[lane] = value;
}

TEST_CASE("groups of a warp meet independently, then together") {
    DeviceArray<int> data(32);
    meet_in_halves<<<1, 32>>>(data.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    const std::vector<int> values = data.read();
    for (int lane = 0; lane < 32; lane++) {
        const int from = 31 - lane, pair = from / 2 * 2;
        CHECK(values[lane] == (2 * pair + 1) * (from < 16 ? 4 : 8));
    }
}

__global__ void ask_who_is_active(unsigned* to) {
    const unsigned lane = threadIdx.x;
    unsigned mask = __activemask();
    if (lane % 3 == 0) mask = __activemask();
    to[lane] = mask;
}

TEST_CASE("the active mask of a branch holds the lanes of that branch") {
    DeviceArray<unsigned> data(32);
    ask_who_is_active<<<1, 32>>>(data.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    for (unsigned lane = 0; lane < 32; lane++) {
        CHECK(data.read()[lane] == (lane % 3 == 0 ? 0x49249249u : 0xffffffffu));
    }
}

// ---------------------------------------------------------------- waiting in loops

__global__ void hand_over_within_a_warp(volatile int* flag, int* to) {
    if (threadIdx.x == 0) {  // runs first, and waits for a later lane
        while (*flag != 1) {
        }
        to[0] = 7;
    } else if (threadIdx.x == 5) {
        *flag = 1;
    }
}

__global__ void hand_over_between_warps(int* flag, int* to) {
    if (threadIdx.x / 32 == 0) {
        while (!__any_sync(0xffffffffu, atomicAdd(flag, 0) == 1)) {
        }
        to[threadIdx.x] = 8;
    } else {
        __nanosleep(100);
        if (threadIdx.x == 32) atomicExch(flag, 1);
    }
}

__global__ void take_a_lock(int* lock, int* count) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *count = *count + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// Each block but the first waits for the one before it, as a look-back scan does.
__global__ void chain_blocks(volatile int* done) {
    if (blockIdx.x > 0) {
        while (done[blockIdx.x - 1] == 0) {
        }
    }
    __threadfence();
    done[blockIdx.x] = blockIdx.x == 0 ? 1 : done[blockIdx.x - 1] + 1;
}

TEST_CASE("loops that wait for another lane, warp or block come to an end") {
    DeviceArray<int> flag(300), to(32);
    const auto reset = [&] {
        REQUIRE(cudaMemset(flag.data(), 0, 300 * sizeof(int)) == cudaSuccess);
    };
    reset();
    hand_over_within_a_warp<<<1, 32>>>(flag.data(), to.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(to.read()[0] == 7);
    reset();
    hand_over_between_warps<<<1, 64>>>(flag.data(), to.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(to.read()[31] == 8);
    reset();
    take_a_lock<<<20, 64>>>(flag.data(), flag.data() + 1);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(flag.read()[1] == 20 * 64);
    reset();
    chain_blocks<<<300, 1>>>(flag.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(flag.read()[299] == 300);
}

// ---------------------------------------------------------------- the process

size_t count_mappings() {
    std::ifstream maps("/proc/self/maps");
    size_t count = 0;
    for (std::string line; std::getline(maps, line);) count++;
    return count;
}

size_t resident_kilobytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("VmRSS:", 0) == 0) return std::stoul(line.substr(6));
    }
    return 0;
}

TEST_CASE("thousands of launches and allocations leave the process as it was") {
    const std::vector<float> values = some_floats(4 * 500);
    const auto launch_often = [&](int times) {
        for (int i = 0; i < times; i++) rows_divided_by_sums(values, 4, 500);
    };
    launch_often(100);
    const size_t mappings = count_mappings(), kilobytes = resident_kilobytes();
    launch_often(3000);
    CHECK(count_mappings() <= mappings + 8);
    CHECK(resident_kilobytes() <= kilobytes + 4096);
}

struct LargeArgument {
    int values[900];
};

__global__ void store_last(int* to, LargeArgument argument) {
    *to = argument.values[899];
}

void capture_and_drop(cudaStream_t stream, int* to, bool invalid) {
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    store_last<<<1, 1, 0, stream>>>(to, LargeArgument{});
    if (invalid) CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(stream, &graph) ==
          (invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess));
    cudaGetLastError();
    if (graph == nullptr) return;
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
}

TEST_CASE("thousands of captures leave the process as it was") {
    DeviceArray<int> data(1);
    const auto capture_often = [&](int times) {
        for (int i = 0; i < times; i++) {
            cudaStream_t stream = nullptr;
            REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
            capture_and_drop(stream, data.data(), i % 2 == 1);
            CHECK(cudaStreamDestroy(stream) == cudaSuccess);
        }
    };
    capture_often(100);
    const size_t kilobytes = resident_kilobytes();
    capture_often(4000);
    CHECK(resident_kilobytes() <= kilobytes + 4096);  // one copy kept of each would be 14 MB
}

TEST_CASE("64 workers with blocks of 1024 threads stay far below the limit of mappings") {
    const Environment threads("CPU_DEVICE_THREADS", "64");
    DeviceArray<int> data(128 * 1024);
    write_thread_numbers<<<128, 1024>>>(data.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    const std::vector<int> values = data.read();
    for (int i = 0; i < 128 * 1024; i++) REQUIRE(values[i] == i);
    CHECK(count_mappings() < 2000);
}

TEST_CASE("launches from several threads of the host run one after the other") {
    std::vector<std::thread> threads;
    std::vector<int> sums(4);
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&sums, t] {
            int* data = nullptr;
            if (cudaMalloc(&data, 256 * sizeof(int)) != cudaSuccess) return;
            for (int i = 0; i < 50; i++) write_thread_numbers<<<4, 64>>>(data);
            int values[256];
            cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost);
            sums[t] = std::accumulate(values, values + 256, 0);
            cudaFree(data);
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(sums == std::vector<int>(4, 255 * 128));
    CHECK(cudaGetLastError() == cudaSuccess);
}

}  // namespace
