// SPDX-License-Identifier: MIT
// Wrong kernels: each ends with one message that names kernel, block, thread and source line, and
// leaves the process healthy. The line of a mistake is the one that carries its number.
#include <pthread.h>
#include <signal.h>

#include <cassert>
#include <cstdint>
#include <vector>

#include "../failure.hpp"
#include "failures.cuh"

namespace {

std::string here(int line) {
    return at_line("tests/errors.cu", line);
}

// ---------------------------------------------------------------- global memory

constexpr int kStoreAtLine = __LINE__ + 2;
__global__ void store_at(float* to, long offset) {
    to[threadIdx.x + offset] = 1.f;
}

constexpr int kLoadAtLine = __LINE__ + 2;
__global__ void load_from(const float* from, float* to, long offset) {
    const float value = from[threadIdx.x + offset];
    to[threadIdx.x] = value;
}

TEST_CASE("a store past the end of an allocation") {
    DeviceArray<float> data(1000);
    store_at<<<dim3(1), 64>>>(data.data(), 960);
    check_failure(cudaErrorIllegalAddress,
                  {"kernel store_at, block (0,0,0), thread (40,0,0): store of 4 bytes",
                   "4 bytes past the end of the allocation of 4000 bytes", here(kStoreAtLine)});
}

TEST_CASE("a load before the start of an allocation, and far from any") {
    DeviceArray<float> data(64);
    load_from<<<1, 32>>>(data.data(), data.data(), -2);
    check_failure(cudaErrorIllegalAddress,
                  {"kernel load_from, block (0,0,0), thread (0,0,0): load of 4 bytes",
                   "8 bytes before the allocation of 256 bytes", here(kLoadAtLine)});
    load_from<<<1, 32>>>(data.data(), data.data(), 1L << 40);
    check_failure(cudaErrorIllegalAddress, {"kernel load_from, block (0,0,0), thread (0,0,0)"});
}

__global__ void load_second_pack(float* data) {
    const float4 pack = reinterpret_cast<const float4*>(data)[1];
    data[0] = pack.x;
}

TEST_CASE("a vector access whose last bytes are outside") {
    DeviceArray<float> data(7);
    load_from<<<1, 7>>>(data.data(), data.data(), 0);
    CHECK(cudaGetLastError() == cudaSuccess);
    load_second_pack<<<1, 1>>>(data.data());
    check_failure(cudaErrorIllegalAddress, {"load of 16 bytes", "4 bytes past the end"});
}

TEST_CASE("use after free") {
    float* freed = nullptr;
    REQUIRE(cudaMalloc(&freed, 400) == cudaSuccess);
    REQUIRE(cudaFree(freed) == cudaSuccess);
    DeviceArray<float> another(100);
    CHECK(another.data() != freed);
    store_at<<<1, 32>>>(freed, 0);
    check_failure(cudaErrorIllegalAddress,
                  {"kernel store_at, block (0,0,0), thread (0,0,0)",
                   "use after free of the allocation of 400 bytes", here(kStoreAtLine)});
}

TEST_CASE("host memory and null pointers") {
    std::vector<float> host(64);
    store_at<<<1, 32>>>(host.data(), 0);
    check_failure(cudaErrorIllegalAddress, {"kernel store_at, block (0,0,0), thread (0,0,0)",
                                            "which is host memory", here(kStoreAtLine)});
    float on_the_stack[64] = {};
    store_at<<<1, 32>>>(on_the_stack, 0);
    check_failure(cudaErrorIllegalAddress, {"which is host memory", here(kStoreAtLine)});
    float* null = nullptr;
    store_at<<<1, 32>>>(null, 0);
    check_failure(cudaErrorIllegalAddress, {"a null pointer", here(kStoreAtLine)});
}

__global__ void use_anothers_variable(float** pointer) {
    float mine[4] = {1, 2, 3, 4};
    if (threadIdx.x == 0) *pointer = mine;
    __syncthreads();
    if (threadIdx.x == 1) (*pointer)[0] += mine[1];
    __syncthreads();
}

TEST_CASE("a local variable of another thread") {
    DeviceArray<float*> pointer(1);
    use_anothers_variable<<<1, 32>>>(pointer.data());
    check_failure(cudaErrorIllegalAddress,
                  {"kernel use_anothers_variable, block (0,0,0), thread (1,0,0)",
                   "a local variable of another thread"});
}

constexpr int kPackLine = __LINE__ + 2;
__global__ void load_pack_at(const float* from, float* to) {
    const float4 pack = *reinterpret_cast<const float4*>(from + threadIdx.x);
    to[threadIdx.x] = pack.x + pack.w;
}

TEST_CASE("a misaligned vector access") {
    DeviceArray<float> data(64);
    load_pack_at<<<1, 32>>>(data.data(), data.data());
    check_failure(
        cudaErrorMisalignedAddress,
        {"kernel load_pack_at, block (0,0,0), thread (1,0,0): misaligned load of 16 bytes",
         here(kPackLine)});
}

constexpr int kLibraryCopyLine = __LINE__ + 2;
__global__ void copy_by_library(char* to, const char* from, size_t bytes) {
    memcpy(to, from, bytes);
}

TEST_CASE("a function of the C library that goes past an allocation") {
    DeviceArray<char> from(100000), to(5000);
    copy_by_library<<<1, 1>>>(to.data(), from.data(), 100000);
    check_failure(cudaErrorIllegalAddress,
                  {"kernel copy_by_library, block (0,0,0), thread (0,0,0)", "past the end",
                   "allocation of 5000 bytes", here(kLibraryCopyLine)});
}

// ---------------------------------------------------------------- shared memory

constexpr int kDynamicLine = __LINE__ + 3;
__global__ void write_dynamic(float* to) {
    extern __shared__ float row[];
    row[threadIdx.x] = 1.f;
    __syncthreads();
    to[threadIdx.x] = row[0];
}

TEST_CASE("dynamic shared memory beyond what the launch asked for") {
    DeviceArray<float> data(64);
    write_dynamic<<<1, 64, 50 * sizeof(float)>>>(data.data());
    check_failure(cudaErrorIllegalAddress,
                  {"kernel write_dynamic, block (0,0,0), thread (50,0,0)",
                   "byte 200 of the 200 bytes of dynamic shared memory", here(kDynamicLine)});
}

constexpr int kIndexLine = __LINE__ + 3;
__global__ void write_static(float* to, int index) {
    __shared__ float tile[33];
    tile[index] = 1.f;
    to[threadIdx.x] = tile[0];
}

TEST_CASE("an index beyond a __shared__ array") {
    DeviceArray<float> data(64);
    write_static<<<2, 32>>>(data.data(), 33);
    check_failure(cudaErrorIllegalAddress,
                  {"kernel write_static, block (", "thread (0,0,0): index 33 is out of bounds",
                   "float [33]", here(kIndexLine)});
}

// ---------------------------------------------------------------- barriers

constexpr int kGuardedBarrierLine = __LINE__ + 3;
__global__ void barrier_for(unsigned threads, int* to) {
    if (threadIdx.x >= threads) return;
    __syncthreads();
    to[threadIdx.x] = 1;
}

TEST_CASE("a barrier that part of a warp never reaches") {
    DeviceArray<int> data(128);
    barrier_for<<<3, 128>>>(40, data.data());
    check_failure(cudaErrorLaunchFailure,
                  {"kernel barrier_for, block (",
                   "thread (0,0,0): divergent barrier: thread "
                   "(40,0,0) has exited, while 40 of 128 threads wait in __syncthreads",
                   here(kGuardedBarrierLine)});
}

TEST_CASE("whole warps that have exited hold up no barrier") {
    DeviceArray<int> data(128);
    barrier_for<<<1, 128>>>(64, data.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(data.read()[63] == 1);
}

constexpr int kFirstBarrierLine = __LINE__ + 3;
__global__ void two_barriers(int* to) {
    if (threadIdx.x < 32) {
        __syncthreads();
        to[threadIdx.x] = 1;
    } else {
        __syncthreads();
        to[threadIdx.x] = 2;
    }
}

TEST_CASE("barriers at different places") {
    DeviceArray<int> data(64);
    two_barriers<<<1, 64>>>(data.data());
    check_failure(cudaErrorLaunchFailure,
                  {"kernel two_barriers, block (0,0,0), thread (0,0,0): threads wait at different "
                   "barriers: thread (32,0,0) at",
                   here(kFirstBarrierLine), here(kFirstBarrierLine + 3)});
}

constexpr int kBarrierOfSomeLine = __LINE__ + 3;
__global__ void barrier_against_shuffle(int* to) {
    if (threadIdx.x < 16) {
        __syncthreads();
    } else {
        to[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
    }
}

TEST_CASE("a barrier and a shuffle wait for each other") {
    DeviceArray<int> data(32);
    barrier_against_shuffle<<<1, 32>>>(data.data());
    check_failure(
        cudaErrorLaunchFailure,
        {"kernel barrier_against_shuffle, block (0,0,0), thread (16,0,0): lane 16 waits in "
         "__shfl_sync for lanes of its mask 0xffffffff that never arrive: lane 0 waits in "
         "__syncthreads at",
         here(kBarrierOfSomeLine), here(kBarrierOfSomeLine + 2)});
}

// ---------------------------------------------------------------- warp collectives

constexpr int kShuffleLine = __LINE__ + 3;
__global__ void shuffle_by(unsigned lanes, unsigned mask, int source, int* to) {
    int value = static_cast<int>(threadIdx.x);
    if (threadIdx.x < lanes) value = __shfl_sync(mask, value, source);
    __syncwarp();
    to[threadIdx.x] = value;
}

TEST_CASE("a warp collective whose mask never arrives") {
    DeviceArray<int> data(32);
    shuffle_by<<<1, 32>>>(16, 0xffffffffu, 0, data.data());
    check_failure(cudaErrorLaunchFailure,
                  {"kernel shuffle_by, block (0,0,0), thread (0,0,0): lane 0 waits in __shfl_sync",
                   "lane 16 waits in __syncwarp (mask 0xffffffff)", here(kShuffleLine)});
}

TEST_CASE("a lane that its own mask does not name") {
    DeviceArray<int> data(32);
    shuffle_by<<<1, 32>>>(32, 0x0000ffffu, 0, data.data());
    check_failure(cudaErrorLaunchFailure,
                  {"kernel shuffle_by, block (0,0,0), thread (16,0,0): lane 16 calls __shfl_sync "
                   "with mask 0x0000ffff, which does not name it",
                   here(kShuffleLine)});
}

TEST_CASE("a shuffle that reads a lane outside its mask") {
    DeviceArray<int> data(32);
    shuffle_by<<<1, 32>>>(16, 0x0000ffffu, 20, data.data());
    check_failure(cudaErrorLaunchFailure,
                  {"kernel shuffle_by, block (0,0,0), thread (0,0,0): stores an undefined value",
                   here(kShuffleLine + 2), "the shuffle at", here(kShuffleLine),
                   "reads lane 20, which is outside its mask 0x0000ffff"});
}

constexpr int kExitedLine = __LINE__ + 3;
__global__ void shuffle_from_exited(int* to) {
    if (threadIdx.x == 3) return;
    to[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 3);
}

TEST_CASE("a shuffle that reads a lane that has exited, or never was") {
    DeviceArray<int> data(32);
    shuffle_from_exited<<<1, 32>>>(data.data());
    check_failure(
        cudaErrorLaunchFailure,
        {"kernel shuffle_from_exited, block (0,0,0), thread (0,0,0): stores an undefined value",
         "reads lane 3, which has exited", here(kExitedLine)});
    shuffle_by<<<1, 20>>>(20, 0xffffffffu, 25, data.data());
    check_failure(cudaErrorLaunchFailure, {"reads lane 25, which is not there"});
}

// ---------------------------------------------------------------- the thread itself

constexpr int kLargeFrameLine = __LINE__ + 1;
__global__ void large_frame(float* to) {
    volatile float large[30000];
    for (int i = 0; i < 30000; i++) large[i] = static_cast<float>(i);
    to[threadIdx.x] = large[threadIdx.x];
}

constexpr int kRecursionLine = __LINE__ + 1;
__device__ int depth_of(volatile int* data, int depth) {
    volatile int frame[32] = {};
    frame[depth % 32] = data[0];
    return depth == 0 ? frame[0] : depth_of(data, depth - 1) + frame[1];
}

__global__ void recurse(int* data, int depth) {
    data[threadIdx.x + 1] = depth_of(data, depth);
}

TEST_CASE("stack overflow") {
    DeviceArray<float> floats(32);
    large_frame<<<1, 32>>>(floats.data());
    check_failure(cudaErrorHardwareStackError,
                  {"kernel large_frame, block (0,0,0), thread (0,0,0): stack overflow",
                   here(kLargeFrameLine)});
    DeviceArray<int> data(33);
    REQUIRE(cudaMemset(data.data(), 0, 33 * sizeof(int)) == cudaSuccess);
    recurse<<<1, 32>>>(data.data(), 20);
    CHECK(cudaGetLastError() == cudaSuccess);
    recurse<<<1, 32>>>(data.data(), 100000);
    check_failure(
        cudaErrorHardwareStackError,
        {"kernel recurse, block (0,0,0), thread (0,0,0): stack overflow", here(kRecursionLine)});
}

constexpr int kAssertLine = __LINE__ + 2;
__global__ void assert_below(int limit) {
    assert(static_cast<int>(threadIdx.x) < limit);
}

TEST_CASE("a device-side assert") {
    assert_below<<<1, 64>>>(64);
    CHECK(cudaGetLastError() == cudaSuccess);
    assert_below<<<1, 64>>>(20);
    check_failure(cudaErrorAssert,
                  {"kernel assert_below, block (0,0,0), thread (20,0,0): assertion `", "` failed",
                   here(kAssertLine)});
}

constexpr int kDivisionLine = __LINE__ + 2;
__global__ void divide(int* data, int divisor) {
    data[threadIdx.x] = data[threadIdx.x] / divisor;
}

TEST_CASE("integer division by zero") {
    DeviceArray<int> data(32);
    divide<<<1, 32>>>(data.data(), 0);
    check_failure(cudaErrorLaunchFailure, {"kernel divide, block (0,0,0), thread (0,0,0): integer "
                                           "division by zero",
                                           here(kDivisionLine)});
}

constexpr int kTrapLine = __LINE__ + 2;
__global__ void trap_in(unsigned thread) {
    if (threadIdx.x == thread) __trap();
}

__global__ void compiler_trap() {
    if (threadIdx.x == 7) __builtin_trap();
}

TEST_CASE("a trap") {
    trap_in<<<dim3(1, 1, 1), dim3(4, 4, 4)>>>(3);
    check_failure(cudaErrorIllegalInstruction,
                  {"kernel trap_in, block (0,0,0), thread (3,0,0)", here(kTrapLine)});
    compiler_trap<<<1, 32>>>();
    check_failure(cudaErrorIllegalInstruction,
                  {"kernel compiler_trap, block (0,0,0), thread (7,0,0)"});
}

__global__ void launches_another(int* data) {
    write_thread_numbers<<<1, 1>>>(data);
}

TEST_CASE("a kernel that launches a kernel") {
    DeviceArray<int> data(32);
    launches_another<<<1, 1>>>(data.data());
    check_failure(cudaErrorNotSupported, {"kernel launches_another", "a launch by a kernel"});
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
    const std::string command =
        "ulimit -c 0; CPU_DEVICE_WATCHDOG_SECONDS=0 "
        "CPU_DEVICE_TIME_LIMIT_SECONDS=2 '" +
        std::string(program) + "' 'spin for ever' 2>&1";
    std::FILE* output = popen(command.c_str(), "r");
    REQUIRE(output != nullptr);
    std::string told;
    for (int next; (next = std::fgetc(output)) != EOF;) told += static_cast<char>(next);
    CHECK(pclose(output) != 0);
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
    const auto check_refusal = [](cudaError_t code, const std::string& why) {
        CHECK(cudaGetLastError() == code);
        CHECK_THAT(std::string(cpu_device::last_error_text()), ContainsSubstring(why));
        check_that_launches_work();
    };
    write_thread_numbers<<<1, 1025>>>(data.data());
    check_refusal(cudaErrorInvalidConfiguration, "blockDim.x is 1025, but must be 1 to 1024");
    write_thread_numbers<<<1, dim3(1, 1025)>>>(data.data());
    check_refusal(cudaErrorInvalidConfiguration, "blockDim.y is 1025, but must be 1 to 1024");
    write_thread_numbers<<<1, dim3(1, 1, 65)>>>(data.data());
    check_refusal(cudaErrorInvalidConfiguration, "blockDim.z is 65, but must be 1 to 64");
    write_thread_numbers<<<1, dim3(64, 32)>>>(data.data());
    check_refusal(cudaErrorInvalidConfiguration,
                  "threads in a block is 2048, but must be 1 to 1024");
    write_thread_numbers<<<1, 0>>>(data.data());
    check_refusal(cudaErrorInvalidConfiguration, "blockDim.x is 0");
    write_thread_numbers<<<0, 32>>>(data.data());
    check_refusal(cudaErrorInvalidConfiguration, "gridDim.x is 0, but must be 1 to 2147483647");
    write_thread_numbers<<<dim3(1, 65536), 32>>>(data.data());
    check_refusal(cudaErrorInvalidConfiguration, "gridDim.y is 65536, but must be 1 to 65535");
    write_thread_numbers<<<dim3(1, 1, 65536), 32>>>(data.data());
    check_refusal(cudaErrorInvalidConfiguration, "gridDim.z is 65536, but must be 1 to 65535");
    write_thread_numbers<<<1, 32, 49153>>>(data.data());
    check_refusal(cudaErrorInvalidValue,
                  "kernel write_thread_numbers cannot be launched: 49153 bytes of dynamic shared "
                  "memory, but this kernel may have 49152; cudaFuncSetAttribute");
}

}  // namespace
