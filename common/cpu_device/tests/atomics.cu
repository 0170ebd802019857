// SPDX-License-Identifier: MIT
// Atomic functions: nothing is lost between threads, and each returns what was there before.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/cpu_device/tests/device_map.cuh"

namespace atomics_tests {

constexpr int kBlocks = 4;
constexpr int kBlockThreads = 96;
constexpr int kThreads = kBlocks * kBlockThreads;

__device__ int thread_number() {
    return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

template <class T>
__global__ void add_kernel(T* sum, T* before) {
    before[thread_number()] = atomicAdd(sum, static_cast<T>(1));
}

// Every thread adds 1 to what starts at 0: the threads see 0, 1, 2, ... in some order.
template <class T>
void check_add() {
    DeviceVector<T> sum{std::vector<T>(1)}, before{std::vector<T>(kThreads)};
    add_kernel<T><<<kBlocks, kBlockThreads>>>(sum.data(), before.data());
    require_success();
    CHECK(static_cast<double>(sum.values()[0]) == kThreads);
    std::vector<T> seen = before.values();
    std::sort(seen.begin(), seen.end());
    int wrong = 0;
    for (int i = 0; i < kThreads; ++i) wrong += seen[static_cast<size_t>(i)] != static_cast<T>(i);
    CHECK(wrong == 0);
}

TEST_CASE("atomicAdd counts every thread once") {
    check_add<int>();
    check_add<unsigned>();
    check_add<unsigned long long>();
    check_add<float>();
    check_add<double>();
}

__global__ void small_float_kernel(__half* half_sum, __half2* pair_sum, __nv_bfloat16* bfloat_sum,
                                   __nv_bfloat162* bfloat_pair_sum) {
    // Neighbours in one word must not disturb each other.
    atomicAdd(&half_sum[threadIdx.x % 2], __float2half(1.f));
    atomicAdd(pair_sum, __floats2half2_rn(1.f, 2.f));
    atomicAdd(&bfloat_sum[threadIdx.x % 2], __float2bfloat16(1.f));
    atomicAdd(bfloat_pair_sum, __floats2bfloat162_rn(1.f, -1.f));
}

TEST_CASE("atomicAdd of 16-bit floats and pairs") {
    DeviceVector<__half> halves{std::vector<__half>(2, __float2half(0.f))};
    DeviceVector<__half2> pairs{std::vector<__half2>(1, __floats2half2_rn(0.f, 0.f))};
    DeviceVector<__nv_bfloat16> floats{std::vector<__nv_bfloat16>(2, __float2bfloat16(0.f))};
    DeviceVector<__nv_bfloat162> float_pairs{
        std::vector<__nv_bfloat162>(1, __floats2bfloat162_rn(0.f, 0.f))};
    small_float_kernel<<<1, 128>>>(halves.data(), pairs.data(), floats.data(), float_pairs.data());
    require_success();
    CHECK(__half2float(halves.values()[0]) == 64);
    CHECK(__half2float(halves.values()[1]) == 64);
    CHECK(__low2float(pairs.values()[0]) == 128);
    CHECK(__high2float(pairs.values()[0]) == 256);
    CHECK(__bfloat162float(floats.values()[1]) == 64);
    CHECK(__high2float(float_pairs.values()[0]) == -128);
}

template <class T>
__global__ void extremes_kernel(T* smallest, T* largest) {
    const T mine = static_cast<T>((thread_number() * 37) % 101) - static_cast<T>(50);
    atomicMin(smallest, mine);
    atomicMax(largest, mine);
}

template <class T>
void check_extremes() {
    DeviceVector<T> smallest{std::vector<T>{static_cast<T>(7)}};
    DeviceVector<T> largest{std::vector<T>{static_cast<T>(7)}};
    extremes_kernel<T><<<kBlocks, kBlockThreads>>>(smallest.data(), largest.data());
    require_success();
    T low = 7, high = 7;
    for (int i = 0; i < kThreads; ++i) {
        const T mine = static_cast<T>((i * 37) % 101) - static_cast<T>(50);
        low = std::min(low, mine);
        high = std::max(high, mine);
    }
    CHECK(smallest.values()[0] == low);
    CHECK(largest.values()[0] == high);
}

TEST_CASE("atomicMin and atomicMax, signed and unsigned") {
    check_extremes<int>();
    check_extremes<unsigned>();
    check_extremes<long long>();
    check_extremes<unsigned long long>();
}

__global__ void bits_kernel(unsigned* words, unsigned long long* wide) {
    const unsigned bit = 1u << threadIdx.x;
    atomicOr(&words[0], bit);
    atomicAnd(&words[1], ~bit | 0x0000ffffu);
    atomicXor(&words[2], bit | 1u);
    atomicOr(wide, static_cast<unsigned long long>(bit) << 32);
}

TEST_CASE("atomicOr, atomicAnd and atomicXor") {
    DeviceVector<unsigned> words{std::vector<unsigned>{0, 0xffffffffu, 0}};
    DeviceVector<unsigned long long> wide{std::vector<unsigned long long>{5}};
    bits_kernel<<<1, 32>>>(words.data(), wide.data());
    require_success();
    // 31 threads flip bit 0 beside their own, one flips it as its own: 32 flips.
    CHECK(words.values() == std::vector<unsigned>{0xffffffffu, 0x0000ffffu, 0xfffffffeu});
    CHECK(wide.values()[0] == 0xffffffff00000005ull);
}

__global__ void wrap_kernel(unsigned* counters, unsigned* before) {
    before[threadIdx.x] = atomicInc(&counters[0], 9);
    before[threadIdx.x + 32] = atomicDec(&counters[1], 9);
}

TEST_CASE("atomicInc and atomicDec wrap at their limit") {
    DeviceVector<unsigned> counters{std::vector<unsigned>{0, 77}};
    DeviceVector<unsigned> before{std::vector<unsigned>(64)};
    wrap_kernel<<<1, 32>>>(counters.data(), before.data());
    require_success();
    // 32 steps: up from 0 through 9 to 0 again; down from a value beyond the limit to the limit.
    CHECK(counters.values() == std::vector<unsigned>{2, 8});
    std::vector<unsigned> up = before.values(), down(up.begin() + 32, up.end());
    up.resize(32);
    CHECK(*std::max_element(up.begin(), up.end()) == 9);
    CHECK(std::count(up.begin(), up.end(), 0u) == 4);
    CHECK(std::count(down.begin(), down.end(), 77u) == 1);
    CHECK(std::count(down.begin(), down.end(), 9u) == 4);
}

__global__ void exchange_kernel(int* tokens, float* number, int* sums) {
    // Each thread leaves its number and takes another's: every number is taken or remains.
    const int taken = atomicExch(tokens, thread_number() + 1);
    atomicAdd(sums, taken);
    atomicExch(number, 2.5f);
    // The first to find 0 sets its number; all others see that they are late.
    if (atomicCAS(tokens + 1, 0, thread_number() + 1) == 0) atomicAdd(sums + 1, 1);
    atomicSub(sums + 2, 3);
}

TEST_CASE("atomicExch, atomicCAS and atomicSub") {
    DeviceVector<int> tokens{std::vector<int>(2)}, sums{std::vector<int>{0, 0, 10}};
    DeviceVector<float> number{std::vector<float>(1)};
    exchange_kernel<<<kBlocks, kBlockThreads>>>(tokens.data(), number.data(), sums.data());
    require_success();
    CHECK(sums.values()[0] + tokens.values()[0] == kThreads * (kThreads + 1) / 2);
    CHECK(sums.values()[1] == 1);
    CHECK(sums.values()[2] == 10 - 3 * kThreads);
    CHECK(number.values()[0] == 2.5f);
}

__global__ void lock_kernel(int* lock, int* count) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            // A plain read and write: only the lock makes this right.
            volatile int* shared_count = count;
            *shared_count = *shared_count + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

TEST_CASE("a lock held by one thread is given up while others spin") {
    DeviceVector<int> lock{std::vector<int>(1)}, count{std::vector<int>(1)};
    lock_kernel<<<kBlocks, kBlockThreads>>>(lock.data(), count.data());
    require_success();
    CHECK(count.values()[0] == kThreads);
}

__global__ void scopes_kernel(unsigned* words, unsigned short* narrow) {
    __shared__ unsigned in_block;
    if (threadIdx.x == 0) in_block = 0;
    __syncthreads();
    atomicAdd_block(&in_block, 1u);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd_system(&words[0], in_block);
    atomicMax_system(&words[1], threadIdx.x);
    atomicCAS_block(&words[2], 0u, 9u);
    atomicInc_system(&words[3], 1000u);
    atomicCAS(narrow + 1, static_cast<unsigned short>(0), static_cast<unsigned short>(7));
}

TEST_CASE("block and system scopes, shared memory, 16 bits") {
    DeviceVector<unsigned> words{std::vector<unsigned>(4)};
    DeviceVector<unsigned short> narrow{std::vector<unsigned short>(2)};
    scopes_kernel<<<kBlocks, kBlockThreads>>>(words.data(), narrow.data());
    require_success();
    CHECK(words.values() == std::vector<unsigned>{kThreads, kBlockThreads - 1, 9, kThreads});
    CHECK(narrow.values() == std::vector<unsigned short>{0, 7});
}

// What each finds, and what the last of them leaves.
__global__ void builtin_kernel(int* x, int* found, float* sum) {
    __nv_atomic_store_n(x, 12, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    found[0] = __nv_atomic_load_n(x, __NV_ATOMIC_ACQUIRE);
    found[1] = __nv_atomic_fetch_add(x, 3, __NV_ATOMIC_RELAXED);                           // 15
    found[2] = __nv_atomic_fetch_sub(x, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);  // 14
    found[3] = __nv_atomic_fetch_and(x, 7, __NV_ATOMIC_RELAXED);                           // 6
    found[4] = __nv_atomic_fetch_or(x, 9, __NV_ATOMIC_RELAXED);                            // 15
    found[5] = __nv_atomic_fetch_xor(x, 5, __NV_ATOMIC_RELAXED);                           // 10
    found[6] = __nv_atomic_fetch_min(x, 4, __NV_ATOMIC_RELAXED);                           // 4
    found[7] = __nv_atomic_fetch_max(x, 20, __NV_ATOMIC_RELAXED);                          // 20
    found[8] = __nv_atomic_exchange_n(x, 30, __NV_ATOMIC_ACQ_REL);                         // 30
    int expected = 31, value = 40, before;
    found[9] = __nv_atomic_compare_exchange_n(x, &expected, 40, false, __NV_ATOMIC_ACQ_REL,
                                              __NV_ATOMIC_RELAXED);
    found[10] = expected;
    found[11] = __nv_atomic_compare_exchange(x, &expected, &value, true, __NV_ATOMIC_ACQ_REL,
                                             __NV_ATOMIC_RELAXED);  // 40
    __nv_atomic_add(x, 1, __NV_ATOMIC_RELAXED);                     // 41
    __nv_atomic_exchange(x, &value, &before, __NV_ATOMIC_ACQ_REL);  // 40
    found[12] = before;
    value = 50;
    __nv_atomic_store(x, &value, __NV_ATOMIC_RELAXED);
    __nv_atomic_load(x, &before, __NV_ATOMIC_RELAXED);
    found[13] = before;
    __nv_atomic_fetch_add(sum, 0.5f, __NV_ATOMIC_RELAXED);
}

TEST_CASE("nvcc's own atomic functions return what was there before") {
    DeviceVector<int> x{std::vector<int>(1)}, found{std::vector<int>(14)};
    DeviceVector<float> sum{std::vector<float>(1)};
    builtin_kernel<<<1, 1>>>(x.data(), found.data(), sum.data());
    require_success();
    CHECK(found.values() == std::vector<int>{12, 12, 15, 14, 6, 15, 10, 4, 20, 0, 30, 1, 41, 50});
    CHECK(sum.values()[0] == 0.5f);
}

}  // namespace atomics_tests
