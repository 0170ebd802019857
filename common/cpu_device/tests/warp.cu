// SPDX-License-Identifier: MIT
// What lanes of a warp and threads of a block do together, against what each should receive.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "common/cpu_device/tests/device_map.cuh"

namespace warp_tests {

constexpr unsigned kAll = 0xffffffffu;

// A value that differs from lane to lane and fills the type.
template <class T>
__host__ __device__ T value_of(int lane) {
    return static_cast<T>(lane * 7 - 100);
}
template <>
__host__ __device__ double value_of<double>(int lane) {
    return 1. / (lane + 3);
}
template <>
__host__ __device__ unsigned long long value_of<unsigned long long>(int lane) {
    return 0x123456789abcdefull * static_cast<unsigned long long>(lane + 1);
}

enum Mode { kIndex, kUp, kDown, kXor };

template <class T>
__global__ void shuffle_kernel(T* results, Mode mode, int operand, int width) {
    const int lane = static_cast<int>(threadIdx.x);
    const T mine = value_of<T>(lane);
    T received = mine;
    if (mode == kIndex) received = __shfl_sync(kAll, mine, operand, width);
    if (mode == kUp) received = __shfl_up_sync(kAll, mine, static_cast<unsigned>(operand), width);
    if (mode == kDown) {
        received = __shfl_down_sync(kAll, mine, static_cast<unsigned>(operand), width);
    }
    if (mode == kXor) received = __shfl_xor_sync(kAll, mine, operand, width);
    results[lane] = received;
}

// The lane from which `lane` receives, as the programming guide has it.
int source(Mode mode, int lane, int operand, int width) {
    const int first = lane / width * width;
    int from = lane;
    if (mode == kIndex) from = first + operand % width;
    if (mode == kUp) from = lane - operand < first ? lane : lane - operand;
    if (mode == kDown) from = lane + operand >= first + width ? lane : lane + operand;
    if (mode == kXor) from = (lane ^ operand) >= first + width ? lane : lane ^ operand;
    return from;
}

template <class T>
void check_shuffles() {
    for (const Mode mode : {kIndex, kUp, kDown, kXor}) {
        for (const int width : {32, 16, 8, 4, 2}) {
            for (const int operand : {0, 1, 3, 5, 16, 31}) {
                DeviceVector<T> results{std::vector<T>(32)};
                shuffle_kernel<T><<<1, 32>>>(results.data(), mode, operand, width);
                require_success();
                const std::vector<T> received = results.values();
                int wrong = 0;
                for (int lane = 0; lane < 32; ++lane) {
                    const T want = value_of<T>(source(mode, lane, operand, width));
                    wrong += !(received[static_cast<size_t>(lane)] == want);
                }
                CAPTURE(mode, width, operand);
                CHECK(wrong == 0);
            }
        }
    }
}

TEST_CASE("shuffles of every type and width") {
    check_shuffles<int>();
    check_shuffles<unsigned long long>();
    check_shuffles<float>();
    check_shuffles<double>();
    check_shuffles<__half>();
    check_shuffles<__nv_bfloat16>();
}

__global__ void pair_shuffle_kernel(float* results) {
    const int lane = static_cast<int>(threadIdx.x);
    const half2 halves = __shfl_xor_sync(kAll, __floats2half2_rn(float(lane), float(-lane)), 3);
    const __nv_bfloat162 floats =
        __shfl_down_sync(kAll, __floats2bfloat162_rn(float(lane), float(2 * lane)), 1);
    results[lane] = __low2float(halves) - __high2float(halves) + 100 * __high2float(floats);
}

TEST_CASE("pairs of 16-bit floats are shuffled whole") {
    DeviceVector<float> results{std::vector<float>(32)};
    pair_shuffle_kernel<<<1, 32>>>(results.data());
    require_success();
    const auto received = results.values();
    for (int lane = 0; lane < 32; ++lane) {
        const int below = std::min(lane + 1, 31);
        CHECK(received[static_cast<size_t>(lane)] == float(2 * (lane ^ 3) + 200 * below));
    }
}

__global__ void vote_kernel(unsigned* results) {
    const unsigned lane = threadIdx.x;
    results[lane * 8 + 0] = __ballot_sync(kAll, lane % 3 == 0);
    results[lane * 8 + 1] = static_cast<unsigned>(__any_sync(kAll, lane == 31));
    results[lane * 8 + 2] = static_cast<unsigned>(__all_sync(kAll, lane < 31));
    results[lane * 8 + 3] = static_cast<unsigned>(__all_sync(kAll, 4));
    results[lane * 8 + 4] = __match_any_sync(kAll, lane % 5);
    int same = 7;
    results[lane * 8 + 5] = __match_all_sync(kAll, 2.5, &same) + static_cast<unsigned>(same);
    results[lane * 8 + 6] = __match_all_sync(kAll, lane / 31, &same) + static_cast<unsigned>(same);
    // Half a warp on its own, and what it is then made of.
    results[lane * 8 + 7] = 0;
    if (lane < 16) results[lane * 8 + 7] = __ballot_sync(0xffffu, lane > 10);
    __syncwarp();
}

TEST_CASE("votes and matches") {
    DeviceVector<unsigned> results{std::vector<unsigned>(256)};
    vote_kernel<<<1, 32>>>(results.data());
    require_success();
    const auto seen = results.values();
    unsigned thirds = 0, fifths[5] = {};
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (lane % 3 == 0) thirds |= 1u << lane;
        fifths[lane % 5] |= 1u << lane;
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned* row = &seen[lane * 8];
        CHECK(row[0] == thirds);
        CHECK(row[1] == 1);
        CHECK(row[2] == 0);
        CHECK(row[3] == 1);
        CHECK(row[4] == fifths[lane % 5]);
        CHECK(row[5] == kAll + 1);
        CHECK(row[6] == 0);
        CHECK(row[7] == (lane < 16 ? 0xf800u : 0));
    }
}

__global__ void reduce_kernel(unsigned* results, int* signed_results) {
    const unsigned lane = threadIdx.x;
    const unsigned x = lane * 2654435761u;
    const int y = static_cast<int>(x) / 64;
    // Odd and even lanes reduce apart.
    const unsigned mask = lane % 2 == 0 ? 0x55555555u : 0xaaaaaaaau;
    unsigned* row = results + lane * 6;
    if (lane % 2 == 0) {  // NOLINT(bugprone-branch-clone): two meetings, in two places
        row[0] = __reduce_add_sync(mask, x);
        signed_results[lane * 3] = __reduce_add_sync(mask, y);
    } else {
        row[0] = __reduce_add_sync(mask, x);
        signed_results[lane * 3] = __reduce_add_sync(mask, y);
    }
    row[1] = __reduce_min_sync(kAll, x);
    row[2] = __reduce_max_sync(kAll, x);
    row[3] = __reduce_and_sync(kAll, x | 0x10u);
    row[4] = __reduce_or_sync(kAll, x & 0xff00u);
    row[5] = __reduce_xor_sync(kAll, x);
    signed_results[lane * 3 + 1] = __reduce_min_sync(kAll, y);
    signed_results[lane * 3 + 2] = __reduce_max_sync(kAll, y);
}

TEST_CASE("reductions over lanes") {
    DeviceVector<unsigned> results{std::vector<unsigned>(32 * 6)};
    DeviceVector<int> signed_results{std::vector<int>(32 * 3)};
    reduce_kernel<<<1, 32>>>(results.data(), signed_results.data());
    require_success();
    unsigned sum[2] = {}, smallest = kAll, largest = 0, conjunction = kAll, disjunction = 0,
             parity = 0;
    int signed_sum[2] = {}, signed_smallest = 1 << 30, signed_largest = -(1 << 30);
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned x = lane * 2654435761u;
        const int y = static_cast<int>(x) / 64;
        sum[lane % 2] += x;
        signed_sum[lane % 2] += y;
        smallest = std::min(smallest, x);
        largest = std::max(largest, x);
        conjunction &= x | 0x10u;
        disjunction |= x & 0xff00u;
        parity ^= x;
        signed_smallest = std::min(signed_smallest, y);
        signed_largest = std::max(signed_largest, y);
    }
    const auto seen = results.values();
    const auto signed_seen = signed_results.values();
    for (unsigned lane = 0; lane < 32; ++lane) {
        CHECK(std::vector<unsigned>(&seen[lane * 6], &seen[lane * 6] + 6) ==
              std::vector<unsigned>{sum[lane % 2], smallest, largest, conjunction, disjunction,
                                    parity});
        CHECK(signed_seen[lane * 3] == signed_sum[lane % 2]);
        CHECK(signed_seen[lane * 3 + 1] == signed_smallest);
        CHECK(signed_seen[lane * 3 + 2] == signed_largest);
    }
}

__global__ void active_kernel(unsigned* results) {
    results[threadIdx.x] = 0;
    if (threadIdx.x < 5) {
        results[threadIdx.x] = __activemask();
    }
    __syncwarp();
}

TEST_CASE("the active mask of a branch holds the lanes that took it") {
    DeviceVector<unsigned> results{std::vector<unsigned>(32)};
    active_kernel<<<1, 32>>>(results.data());
    require_success();
    const auto seen = results.values();
    for (unsigned lane = 0; lane < 32; ++lane) CHECK(seen[lane] == (lane < 5 ? 0x1fu : 0));
}

__global__ void barrier_kernel(int* results) {
    __shared__ int passed[96];
    const int thread = static_cast<int>(threadIdx.x);
    passed[thread] = thread;
    __syncthreads();
    int* row = results + thread * 4;
    row[0] = passed[95 - thread];
    row[1] = __syncthreads_count(thread % 4 == 0);
    row[2] = __syncthreads_and(thread < 95) * 2 + __syncthreads_and(thread >= 0);
    row[3] = __syncthreads_or(thread == 50) * 2 + __syncthreads_or(thread > 100);
}

TEST_CASE("barriers count, and and or") {
    DeviceVector<int> results{std::vector<int>(96 * 4)};
    barrier_kernel<<<1, 96>>>(results.data());
    require_success();
    const auto seen = results.values();
    for (int thread = 0; thread < 96; ++thread) {
        const int* row = &seen[static_cast<size_t>(thread) * 4];
        CHECK(row[0] == 95 - thread);
        CHECK(row[1] == 24);
        CHECK((row[2] & 1) != 0);
        CHECK(row[2] / 2 == 0);
        CHECK(row[3] / 2 != 0);
        CHECK((row[3] & 1) == 0);
    }
}

}  // namespace warp_tests
