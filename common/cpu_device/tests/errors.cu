// SPDX-License-Identifier: MIT
// Wrong kernels: each ends with its error code and one message that names kernel, block, thread and source line, and
// leaves the process healthy. What is said of more of them stands in common/course/my/tests/faults.txt. The line of a
// mistake is the one that carries its number.
#include <pthread.h>
#include <signal.h>

#include <cassert>
#include <cstdint>
#include <functional>
#include <vector>

#include "../failure.hpp"
#include "common/testing/shell.hpp"
#include "failures.cuh"

namespace {

std::string here(int line) {
    return at_line("tests/errors.cu", line);
}

// ---------------------------------------------------------------- memory

constexpr int kStoreAtLine = __LINE__ + 2;
__global__ void store_at(float* to, long offset) {
    to[threadIdx.x + offset] = 1.f;
}

constexpr int kPackLine = __LINE__ + 2;
__global__ void load_pack_at(float* data, int first) {
    const float4 pack = *reinterpret_cast<const float4*>(data + first + threadIdx.x);
    data[0] = pack.x;
}

__global__ void use_anothers_variable(float** pointer) {
    float mine[4] = {1, 2, 3, 4};
    if (threadIdx.x == 0) *pointer = mine;
    __syncthreads();
    if (threadIdx.x == 1) (*pointer)[0] += mine[1];
    __syncthreads();
}

constexpr int kLibraryCopyLine = __LINE__ + 2;
__global__ void copy_by_library(float* to, const float* from, size_t bytes) {
    memcpy(to, from, bytes);
}

// ---------------------------------------------------------------- barriers and warp collectives

__global__ void barrier_for(unsigned threads, float* to) {
    if (threadIdx.x >= threads) return;
    __syncthreads();
    to[threadIdx.x] = 1;
}

TEST_CASE("whole warps that have exited hold up no barrier") {
    DeviceArray<float> data(128);
    barrier_for<<<1, 128>>>(64, data.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(data.read()[63] == 1);
}

constexpr int kFirstBarrierLine = __LINE__ + 3;
__global__ void two_barriers(float* to) {
    if (threadIdx.x < 32) {
        __syncthreads();
        to[threadIdx.x] = 1;
    } else {
        __syncthreads();
        to[threadIdx.x] = 2;
    }
}

constexpr int kShuffleLine = __LINE__ + 3;
__global__ void shuffle_by(unsigned lanes, unsigned mask, float* to) {
    float value = static_cast<float>(threadIdx.x);
    if (threadIdx.x < lanes) value = __shfl_sync(mask, value, 0);
    __syncwarp();
    to[threadIdx.x] = value;
}

// ---------------------------------------------------------------- the thread itself

constexpr int kLargeFrameLine = __LINE__ + 1;
__global__ void large_frame(float* to) {
    volatile float large[30000];
    for (int i = 0; i < 30000; i++) large[i] = static_cast<float>(i);
    to[threadIdx.x] = large[threadIdx.x];
}

constexpr int kRecursionLine = __LINE__ + 1;
__device__ float depth_of(volatile float* data, int depth) {
    volatile float frame[32] = {};
    frame[depth % 32] = data[0];
    return depth == 0 ? frame[0] : depth_of(data, depth - 1) + frame[1];
}

__global__ void recurse(float* data, int depth) {
    data[threadIdx.x] = depth_of(data + 32, depth);
}

TEST_CASE("a recursion has room") {
    DeviceArray<float> data(64);
    data.fill(std::vector<float>(64, 1.f));
    recurse<<<1, 32>>>(data.data(), 20);
    CHECK(cudaGetLastError() == cudaSuccess);
}

constexpr int kAssertLine = __LINE__ + 2;
__global__ void assert_below(int limit) {
    assert(static_cast<int>(threadIdx.x) < limit);
}

constexpr int kTrapLine = __LINE__ + 2;
__global__ void trap_in(unsigned thread) {
    if (threadIdx.x == thread) __trap();
}

__global__ void compiler_trap() {
    if (threadIdx.x == 7) __builtin_trap();
}

__global__ void launches_another(int* data) {
    write_thread_numbers<<<1, 1>>>(data);
}

// ---------------------------------------------------------------- the table

struct Mistake {
    std::string kernel;
    cudaError_t code;
    std::vector<std::string> said;
    std::function<void(float* data)> launch;  // data: 64 floats
};

TEST_CASE("a wrong kernel has its code and its place, and the next one works") {
    float* freed = nullptr;
    REQUIRE(cudaMalloc(&freed, 400) == cudaSuccess);
    REQUIRE(cudaFree(freed) == cudaSuccess);
    DeviceArray<float> data(64);
    DeviceArray<float*> pointer(1);
    CHECK(data.data() != freed);
    float on_the_stack[64] = {};
    const auto illegal = cudaErrorIllegalAddress, failure = cudaErrorLaunchFailure;
    const std::vector<Mistake> mistakes = {
        {"store_at",
         illegal,
         {"thread (40,0,0): store of 4 bytes", "4 bytes past the end", here(kStoreAtLine)},
         [](float* x) { store_at<<<dim3(1), 64>>>(x, 24); }},
        {"store_at",
         illegal,
         {"thread (0,0,0)", here(kStoreAtLine)},
         [](float* x) { store_at<<<1, 32>>>(x, 1L << 40); }},
        {"store_at",
         illegal,
         {"use after free of the allocation of 400 bytes", here(kStoreAtLine)},
         [&](float*) { store_at<<<1, 32>>>(freed, 0); }},
        {"store_at",
         illegal,
         {"which is host memory", here(kStoreAtLine)},
         [&](float*) { store_at<<<1, 32>>>(on_the_stack, 0); }},
        {"load_pack_at",
         illegal,
         {"load of 16 bytes", "4 bytes past the end", here(kPackLine)},
         [](float*) {
             DeviceArray<float> seven(7);
             load_pack_at<<<1, 1>>>(seven.data(), 4);
         }},
        {"load_pack_at",
         cudaErrorMisalignedAddress,
         {"thread (1,0,0): misaligned load of 16 bytes", here(kPackLine)},
         [](float* x) { load_pack_at<<<1, 32>>>(x, 0); }},
        {"use_anothers_variable",
         illegal,
         {"thread (1,0,0)", "a local variable of another thread"},
         [&](float*) { use_anothers_variable<<<1, 32>>>(pointer.data()); }},
        {"copy_by_library",
         illegal,
         {"past the end", "allocation of 256 bytes", here(kLibraryCopyLine)},
         [](float* x) {
             DeviceArray<float> from(25000);
             copy_by_library<<<1, 1>>>(x, from.data(), 100000);
         }},
        {"two_barriers",
         failure,
         {"thread (0,0,0): threads wait at different barriers: thread (32,0,0) at",
          here(kFirstBarrierLine), here(kFirstBarrierLine + 3)},
         [](float* x) { two_barriers<<<1, 64>>>(x); }},
        {"shuffle_by",
         failure,
         {"lane 0 waits in __shfl_sync", "lane 16 waits in __syncwarp (mask 0xffffffff)",
          here(kShuffleLine)},
         [](float* x) { shuffle_by<<<1, 32>>>(16, 0xffffffffu, x); }},
        {"shuffle_by",
         failure,
         {"lane 16 calls __shfl_sync with mask 0x0000ffff", here(kShuffleLine)},
         [](float* x) { shuffle_by<<<1, 32>>>(32, 0x0000ffffu, x); }},
        {"large_frame",
         cudaErrorHardwareStackError,
         {"thread (0,0,0): stack overflow", here(kLargeFrameLine)},
         [](float* x) { large_frame<<<1, 32>>>(x); }},
        {"recurse",
         cudaErrorHardwareStackError,
         {"stack overflow", here(kRecursionLine)},
         [](float* x) { recurse<<<1, 32>>>(x, 100000); }},
        {"assert_below",
         cudaErrorAssert,
         {"thread (20,0,0): assertion `", "` failed", here(kAssertLine)},
         [](float*) { assert_below<<<1, 64>>>(20); }},
        {"trap_in",
         cudaErrorIllegalInstruction,
         {"thread (3,0,0)", here(kTrapLine)},
         [](float*) { trap_in<<<dim3(1, 1, 1), dim3(4, 4, 4)>>>(3); }},
        {"compiler_trap",
         cudaErrorIllegalInstruction,
         {"thread (7,0,0)"},
         [](float*) { compiler_trap<<<1, 32>>>(); }},
        {"launches_another",
         cudaErrorNotSupported,
         {"a launch by a kernel"},
         [](float* x) { launches_another<<<1, 1>>>(reinterpret_cast<int*>(x)); }},
    };
    for (const Mistake& each : mistakes) {
        INFO(each.kernel);
        each.launch(data.data());
        std::vector<std::string> said = each.said;
        said.push_back("kernel " + each.kernel + ", block (0,0,0), thread (");
        check_failure(each.code, said);
    }
}

// ---------------------------------------------------------------- loops without end

__global__ void spin_on_nothing() {
    while (true) {
    }
}

__global__ void spin_in_registers(unsigned step) {
    for (unsigned i = 1; i != 0; i += 2 * step) {
    }
}

constexpr int kFlagLine = __LINE__ + 2;
__global__ void spin_on_a_flag(volatile int* flag) {
    while (*flag != 12345) {
    }
}

__global__ void spin_on_an_atomic(int* lock) {
    while (atomicCAS(lock, 1, 2) != 1) {
    }
}

constexpr int kEndlessLine = __LINE__ + 4;
__global__ void endless_row_loop(float* data, int rows) {
    for (int row = 0; row < rows; row += 0) {
        data[threadIdx.x] += 1.f;
        __syncthreads();
    }
}

__global__ void endless_votes() {
    while (!__any_sync(0xffffffffu, 0)) {
    }
}

TEST_CASE("a loop that never ends") {
    const Environment patience("CPU_DEVICE_WATCHDOG_SECONDS", "0.4");
    const auto check_timeout = [](const std::string& kernel, const std::string& place) {
        check_failure(cudaErrorLaunchTimeout, {"kernel " + kernel + ", block (", "thread (",
                                               "a loop that never ends", place});
    };
    DeviceArray<int> data(64);
    REQUIRE(cudaMemset(data.data(), 0, 64 * sizeof(int)) == cudaSuccess);
    spin_on_nothing<<<2, 64>>>();
    check_timeout("spin_on_nothing", "errors.cu");
    spin_in_registers<<<2, 64>>>(2);
    check_timeout("spin_in_registers", "errors.cu");
    spin_on_a_flag<<<2, 64>>>(data.data());
    check_timeout("spin_on_a_flag", here(kFlagLine));
    spin_on_an_atomic<<<2, 64>>>(data.data());
    check_timeout("spin_on_an_atomic", "errors.cu");
    endless_row_loop<<<2, 64>>>(reinterpret_cast<float*>(data.data()), 3);
    check_timeout("endless_row_loop", here(kEndlessLine));
    endless_votes<<<2, 64>>>();
    check_timeout("endless_votes", "errors.cu");
}

// As if the watchdog had called while this worker's thread had no processor.
void be_called_at_once(int times) {
    sigset_t calls;
    sigemptyset(&calls);
    sigaddset(&calls, cpu_device::watchdog_signal());
    pthread_sigmask(SIG_BLOCK, &calls, nullptr);
    for (int i = 0; i < times; i++) pthread_kill(pthread_self(), cpu_device::watchdog_signal());
    pthread_sigmask(SIG_UNBLOCK, &calls, nullptr);
}

__global__ void be_called_and_spin(int times) {
    if (threadIdx.x == 0) ::be_called_at_once(times);  // "::": it is the host's, and meant to be
    while (times > 0) {  // NOLINT(bugprone-infinite-loop): the watchdog ends it
    }
}

TEST_CASE("however often the watchdog calls at once, a worker bears it and goes on listening") {
    constexpr int kCalls = 1000;  // nested, some twenty would fill the signal stack
    be_called_and_spin<<<2, 32>>>(0);
    CHECK(cudaGetLastError() == cudaSuccess);
    const Environment patience("CPU_DEVICE_WATCHDOG_SECONDS", "0.4");
    for (int i = 0; i < 2; i++) {
        be_called_and_spin<<<2, 32>>>(kCalls);
        check_failure(cudaErrorLaunchTimeout, {"kernel be_called_and_spin"});
    }
}

constexpr int kNowhereLine = __LINE__ + 3;
__global__ void barrier_and_spin(volatile int* flag) {
    if (threadIdx.x == 70) return;
    if (threadIdx.x >= 32) __syncthreads();
    while (*flag == 0) {
    }
}

TEST_CASE("a launch that never ends tells where every thread is") {
    DeviceArray<int> flag(1);
    REQUIRE(cudaMemset(flag.data(), 0, sizeof(int)) == cudaSuccess);
    const Environment patience("CPU_DEVICE_WATCHDOG_SECONDS", "0.4");
    const std::string told = standard_error_of([&] { barrier_and_spin<<<1, 96>>>(flag.data()); });
    CHECK_THAT(told, ContainsSubstring("\n  block (0,0,0):\n    thread (0,0,0)"));
    CHECK_THAT(told, ContainsSubstring(": runs, last seen at"));
    CHECK_THAT(told, ContainsSubstring("thread (32,0,0) and 62 more: waits in __syncthreads at"));
    CHECK_THAT(told, ContainsSubstring(here(kNowhereLine)));
    CHECK_THAT(told, ContainsSubstring("thread (70,0,0): has exited"));
    check_failure(cudaErrorLaunchTimeout, {"kernel barrier_and_spin"});
}

TEST_CASE("spin for ever", "[.]") {
    spin_on_nothing<<<1, 32>>>();
}

TEST_CASE("a process whose time is limited ends, and tells where its threads are") {
    char program[4096] = {};
    REQUIRE(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    const testing::Ran ran = testing::ran_in("/",
                                             "ulimit -c 0; CPU_DEVICE_WATCHDOG_SECONDS=0 "
                                             "CPU_DEVICE_TIME_LIMIT_SECONDS=2 '" +
                                                 std::string(program) + "' 'spin for ever'");
    CHECK(ran.exit_code != 0);
    const std::string& told = ran.text;
    CHECK_THAT(told, ContainsSubstring("used up the 2 seconds"));
    CHECK_THAT(told, ContainsSubstring("  block (0,0,0):\n    thread (0,0,0) and 31 more: runs"));
}

__global__ void trap_or_spin() {
    if (blockIdx.x == 1) __trap();
    while (true) {
    }
}

TEST_CASE("a failed launch ends even where other blocks never would") {
    const Environment threads("CPU_DEVICE_THREADS", "2");
    trap_or_spin<<<2, 32>>>();
    check_failure(cudaErrorIllegalInstruction, {"kernel trap_or_spin, block (1,0,0)"});
}

// ---------------------------------------------------------------- launches

TEST_CASE("launches beyond the limits") {
    DeviceArray<int> data(32);
    const struct {
        dim3 grid, block;
        size_t shared_bytes;
        cudaError_t code;
        const char* why;
    } refusals[] = {
        {1, 1025, 0, cudaErrorInvalidConfiguration, "blockDim.x is 1025, but must be 1 to 1024"},
        {1, dim3(1, 1025), 0, cudaErrorInvalidConfiguration,
         "blockDim.y is 1025, but must be 1 to 1024"},
        {1, dim3(1, 1, 65), 0, cudaErrorInvalidConfiguration,
         "blockDim.z is 65, but must be 1 to 64"},
        {1, dim3(64, 32), 0, cudaErrorInvalidConfiguration,
         "threads in a block is 2048, but must be 1 to 1024"},
        {1, 0, 0, cudaErrorInvalidConfiguration, "blockDim.x is 0"},
        {0, 32, 0, cudaErrorInvalidConfiguration, "gridDim.x is 0, but must be 1 to 2147483647"},
        {dim3(1, 65536), 32, 0, cudaErrorInvalidConfiguration,
         "gridDim.y is 65536, but must be 1 to 65535"},
        {dim3(1, 1, 65536), 32, 0, cudaErrorInvalidConfiguration,
         "gridDim.z is 65536, but must be 1 to 65535"},
        {1, 32, 49153, cudaErrorInvalidValue,
         "49153 bytes of dynamic shared memory, but this kernel may have 49152"},
    };
    for (const auto& each : refusals) {
        INFO(each.why);
        write_thread_numbers<<<each.grid, each.block, each.shared_bytes>>>(data.data());
        CHECK(cudaGetLastError() == each.code);
        CHECK_THAT(std::string(cpu_device::last_error_text()), ContainsSubstring(each.why));
        check_that_launches_work();
    }
}

}  // namespace
