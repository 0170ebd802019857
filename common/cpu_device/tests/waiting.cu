// SPDX-License-Identifier: MIT
// Threads that wait for what never comes, while someone observes: told from threads that are slow.
#include <cuda_runtime.h>

#include "../observer.hpp"
#include "failures.cuh"

namespace waiting_tests {

class Onlooker : public cpu_device::Observer {
public:
    Onlooker() { cpu_device::set_observer(this); }
    ~Onlooker() override { cpu_device::set_observer(nullptr); }
    Onlooker(const Onlooker&) = delete;
    Onlooker& operator=(const Onlooker&) = delete;

    void begin_launch(const cpu_device::ObservedLaunch&) override {}
    void begin_block(unsigned, uint3, uintptr_t, uintptr_t) override {}
    void accesses(unsigned, unsigned, const cpu_device::WarpLogs&) override {}
    void warp_collective(unsigned, unsigned, unsigned, bool) override {}
    void block_barrier(unsigned) override {}
    void end_block(unsigned) override {}
    void end_launch(bool) override {}
};

constexpr const char* kOnlyWaits = "nothing has changed that the threads read again and again";

constexpr int kCountLine = __LINE__ + 4;
__global__ void barrier_of_blocks(int* count) {
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < static_cast<int>(gridDim.x)) {
        }
    }
    __syncthreads();
}

__global__ void wait_for_flag(int* flag) {
    while (atomicOr(flag, 0) != 12345) {
    }
}

__global__ void vote_on_flag(int* flag) {
    while (!__any_sync(0xffffffffu, atomicOr(&flag[threadIdx.x], 0) == 12345)) {
    }
}

__global__ void keep_lock(int* lock) {
    while (atomicExch(lock, 1) != 0) {
    }
}

__global__ void wait_for_each_other(int* flags) {
    while (atomicOr(&flags[1 - blockIdx.x], 0) == 0) __nanosleep(10);
    atomicExch(&flags[blockIdx.x], 1);
}

TEST_CASE(
    "flags and locks that are waited for in vain end a launch as soon as one that nobody "
    "observes") {
    const Environment threads("CPU_DEVICE_THREADS", "2"),
        patience("CPU_DEVICE_WATCHDOG_SECONDS", "0.3");
    DeviceArray<int> data(64);
    REQUIRE(cudaMemset(data.data(), 0, 64 * sizeof(int)) == cudaSuccess);
    const auto check = [](const char* kernel, const std::string& more) {
        check_failure(cudaErrorLaunchTimeout, {std::string("kernel ") + kernel, kOnlyWaits,
                                               "CPU_DEVICE_WATCHDOG_SECONDS sets", more});
    };
    const Onlooker onlooker;
    cpu_device::print_errors(false);
    barrier_of_blocks<<<4, 64>>>(data.data());
    check("barrier_of_blocks",
          "; blocks (2,0,0) and (3,0,0) have not begun, since the launch is not cooperative");
    CHECK_THAT(std::string(cpu_device::last_error_text()),
               ContainsSubstring(at_line("waiting.cu", kCountLine)));
    wait_for_flag<<<1, 32>>>(data.data());
    check("wait_for_flag", "at ");
    vote_on_flag<<<1, 32>>>(data.data());
    check("vote_on_flag", "at ");
    keep_lock<<<4, 1>>>(data.data() + 8);
    check("keep_lock", "; block (3,0,0) has not begun");
    wait_for_each_other<<<2, 1>>>(data.data() + 16);
    check("wait_for_each_other", "thread (0,0,0)");
    cpu_device::print_errors(true);
}

// For `count` times, in so few words that no address is new.
__global__ void work_while_others_wait(volatile unsigned* words, int* flag, unsigned count) {
    if (blockIdx.x == 0) {
        while (atomicOr(flag, 0) == 0) {
        }
        return;
    }
    for (unsigned i = 0; i < count; i++) words[i % 4] = words[(i + 1) % 4] + 1;
    unsigned sum = 0;
    for (unsigned i = 0; i < 4 * count; i++) sum = sum * 1664525u + i;
    words[0] = sum;
    __threadfence();
    atomicExch(flag, 1);
}

TEST_CASE(
    "a kernel that is slow, and others that wait for it, have ten times as long while someone "
    "observes") {
    const Environment threads("CPU_DEVICE_THREADS", "2"),
        patience("CPU_DEVICE_WATCHDOG_SECONDS", "0.1");
    DeviceArray<unsigned> words(4);
    DeviceArray<int> flag(1);
    words.fill({0, 0, 0, 0});
    flag.fill({0});
    const Onlooker onlooker;
    work_while_others_wait<<<2, 1>>>(words.data(), flag.data(), 20000000);
    const bool done = cudaGetLastError() == cudaSuccess;
    // On a busy machine it may take too long even so.
    if (!done)
        CHECK_THAT(std::string(cpu_device::last_error_text()), !ContainsSubstring(kOnlyWaits));
}

}  // namespace waiting_tests
