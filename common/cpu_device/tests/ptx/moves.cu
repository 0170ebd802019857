// SPDX-License-Identifier: MIT
// Instructions that move: loads, stores, atomics, copies, what the lanes of a warp exchange, barriers with a number.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/testing/catch.hpp"

namespace ptx_tests {
namespace {

constexpr unsigned kLanes = 32;

__device__ uint32_t in_shared(const void* pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// What a kernel makes of an array of numbers, written back over it.
template <class T>
std::vector<T> after(void (*kernel)(T*), std::vector<T> numbers, unsigned threads = kLanes) {
    T* at = nullptr;
    REQUIRE(cudaMalloc(&at, numbers.size() * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(at, numbers.data(), numbers.size() * sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
    kernel<<<1, threads>>>(at);
    REQUIRE(cudaMemcpy(numbers.data(), at, numbers.size() * sizeof(T), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    cudaFree(at);
    return numbers;
}

std::vector<uint32_t> counted(size_t count) {
    std::vector<uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 1u);
    return numbers;
}

// ---------------------------------------------------------------- loads and stores

__global__ void load_and_store(uint32_t* x) {
    uint32_t a, b, c, d;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(x));
    asm volatile("st.global.v2.b32 [%0+16], {%1, %2};" ::"l"(x), "r"(d), "r"(c) : "memory");
    asm volatile("st.global.cs.b32 [%0 + 24], %1;" ::"l"(x), "r"(a + b) : "memory");
    asm volatile("{ .reg .pred no; setp.ne.u32 no, %1, %1; @no st.global.u32 [%0], %1; }" ::"l"(x),
                 "r"(a)
                 : "memory");
    int32_t narrow;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.s8 %0, [%1+28];" : "=r"(narrow) : "l"(x));
    asm volatile("st.global.s32 [%0+32], %1;" ::"l"(x), "r"(narrow) : "memory");
    uint64_t wide;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1+40];" : "=l"(wide) : "l"(x));
    asm volatile("st.release.gpu.global.u64 [%0+48], %1;" ::"l"(x), "l"(wide) : "memory");
    asm volatile("st.volatile.global.u16 [%0+56], %1;" ::"l"(x), "h"(static_cast<uint16_t>(wide))
                 : "memory");
    asm volatile("prefetch.global.L2 [%0]; membar.gl; fence.acq_rel.gpu;" ::"l"(x));
}

__global__ void through_shared(uint32_t* x) {
    __shared__ __align__(16) uint32_t tile[kLanes];
    const unsigned lane = threadIdx.x;
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(in_shared(&tile[lane])), "r"(x[lane]) : "memory");
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    uint64_t pointer = 0;
    asm("cvta.shared.u64 %0, %1;" : "=l"(pointer) : "l"(__cvta_generic_to_shared(tile)));
    uint32_t turned;
    asm volatile("ld.u32 %0, [%1];" : "=r"(turned) : "l"(pointer + 4 * (31 - lane)));
    uint32_t is_shared;
    asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }"
        : "=r"(is_shared)
        : "l"(pointer));
    x[lane] = turned + 1000 * is_shared;
}

// ---------------------------------------------------------------- atomics

__global__ void atomics(uint32_t* x) {
    const unsigned lane = threadIdx.x;
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(x), "r"(lane) : "memory");
    [[maybe_unused]] uint32_t old;
    asm volatile("atom.global.max.s32 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(x + 1), "r"(lane)
                 : "memory");
    asm volatile("atom.global.inc.u32 %0, [%1], 9;" : "=r"(old) : "l"(x + 2) : "memory");
    asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], 4, 77;"
                 : "=r"(old)
                 : "l"(x + 3)
                 : "memory");
    float sum;
    asm volatile("atom.global.add.f32 %0, [%1], 0f3F000000;" : "=f"(sum) : "l"(x + 4) : "memory");
    asm volatile("red.release.gpu.global.add.f32 [%0], %1;" ::"l"(x + 5), "f"(sum) : "memory");
}

// ---------------------------------------------------------------- copies

__global__ void copies(uint32_t* x) {
    __shared__ __align__(16) uint32_t tile[2][4 * kLanes];
    const unsigned lane = threadIdx.x;
    asm volatile(
        "cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n\tcp.async.commit_group;\n" ::"r"(
            in_shared(&tile[0][4 * lane])),
        "l"(x + 4 * lane)
        : "memory");
    // Of 4 bytes none where the size says so.
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(in_shared(&tile[1][lane])),
                 "l"(x + lane), "n"(4), "r"(lane % 2 == 0 ? 4 : 0)
                 : "memory");
    asm volatile("cp.async.commit_group;\n" ::: "memory");
    asm volatile("cp.async.wait_group %0;\n" ::"n"(1) : "memory");
    __syncthreads();
    const uint32_t first = tile[0][4 * (31 - lane)];
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    x[lane] = first + 1000 * tile[1][lane];
}

// ---------------------------------------------------------------- lanes of a warp

#define SHUFFLE(mode, by, limits)                     \
    asm volatile("{ .reg .pred p; shfl.sync." #mode   \
                 ".b32 %0|p, %2, %3, %4, 0xffffffff;" \
                 " selp.u32 %1, 1, 0, p; }"           \
                 : "=r"(value), "=r"(within)          \
                 : "r"(lane), "r"(by), "r"(limits));  \
    x[count++ * kLanes + lane] = value + 100 * within

__global__ void exchanges(uint32_t* x) {
    const uint32_t lane = threadIdx.x;
    uint32_t value, within;
    int count = 0;
    SHUFFLE(idx, 5, 31);
    SHUFFLE(idx, 5, 31 | 24 << 8);  // in segments of 8
    SHUFFLE(up, 3, 0);
    SHUFFLE(up, 3, 16 << 8);
    SHUFFLE(down, 3, 31);
    SHUFFLE(down, 3, 31 | 16 << 8);
    SHUFFLE(bfly, 9, 31);
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(value)
                 : "r"(lane));
    x[count++ * kLanes + lane] = value;
    asm volatile(
        "{ .reg .pred p, q; setp.lt.u32 p, %1, 5; vote.sync.any.pred q, !p, 0xffffffff;"
        " selp.u32 %0, 7, 8, q; }"
        : "=r"(value)
        : "r"(lane));
    x[count++ * kLanes + lane] = value;
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(value) : "r"(lane / 8));
    x[count++ * kLanes + lane] = value;
    asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(value) : "r"(lane));
    x[count++ * kLanes + lane] = value;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
                 : "=r"(value));
    x[count++ * kLanes + lane] = value;
    asm("mov.u32 %0, %%laneid;" : "=r"(value));
    asm("mov.u32 %0, %lanemask_lt;" : "=r"(within));
    x[count++ * kLanes + lane] = value + __popc(within);
    uint32_t among, warps;
    asm("mov.u32 %0, %%smid; mov.u32 %1, %%nsmid; mov.u32 %2, %%nwarpid;"
        : "=r"(value), "=r"(among), "=r"(warps));
    x[count++ * kLanes + lane] = value < among && warps >= 32;
}

// ---------------------------------------------------------------- matrices

// Rows of 8 numbers of 16 bits, read and written back by matrices: x1 of the first, x4 of all.
__global__ void matrices(uint32_t* x) {
    __shared__ __align__(16) uint16_t tile[32][8], turned[32][8], back[32][8];
    const unsigned lane = threadIdx.x;
    for (int i = 0; i < 8; ++i) tile[lane][i] = static_cast<uint16_t>(lane * 8 + i);
    __syncthreads();
    uint32_t a, b, c, d, one, moved;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(one)
                 : "r"(in_shared(tile[lane % 8])));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(one));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(in_shared(tile[lane])));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     in_shared(turned[lane])),
                 "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     in_shared(back[lane])),
                 "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
    __syncthreads();
    unsigned wrong = one != (lane * 2 | (lane * 2 + 1) << 16);
    wrong += moved != a;
    for (unsigned i = 0; i < 8; ++i) {
        wrong += turned[lane][i] != (lane / 8 * 8 + i) * 8 + lane % 8;
        wrong += back[lane][i] != tile[lane][i];
    }
    x[lane] = wrong;
}

// ---------------------------------------------------------------- barriers

// Warp 0 fills a box that warp 1 empties, by two barriers of 64 threads; the third warp takes no part.
__global__ void producer_and_consumer(uint32_t* x) {
    __shared__ uint32_t box[kLanes];
    const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    for (uint32_t round = 0; round < 4; ++round) {
        if (warp == 0) {
            if (round > 0) asm volatile("bar.sync %0, %1;" ::"r"(2), "r"(64) : "memory");
            box[lane] = round * 100 + lane;
            asm volatile("bar.arrive %0, %1;" ::"n"(1), "n"(64) : "memory");
        } else if (warp == 1) {
            asm volatile("barrier.cta.sync 1, 64;" ::: "memory");
            x[round * kLanes + lane] = box[31 - lane];
            if (round < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
    uint32_t others;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 5; bar.red.popc.u32 %0, 0, p; }"
                 : "=r"(others)
                 : "r"(threadIdx.x));
    if (threadIdx.x == 0) x[4 * kLanes] = others;
}

// A loop within one statement, and one whose wait the C++ around it repeats.
__global__ void loops(uint32_t* x) {
    uint32_t sum = 0;
    asm volatile(
        "{\n\t.reg .pred p;\n\t.reg .u32 i;\n\tmov.u32 i, 10;\n"
        "AGAIN:\n\tadd.u32 %0, %0, i;\n\tsub.u32 i, i, 1;\n\tsetp.ne.u32 p, i, 0;\n\t"
        "@p bra AGAIN;\n\t}"
        : "+r"(sum));
    x[threadIdx.x] = sum;
}

// Threads end within a function, one in a loop, before and after their block's barrier.
__device__ void leave_if(uint32_t leaves) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p exit; }" ::"r"(leaves));
}
__global__ void exits(uint32_t* x) {
    uint32_t* const mine = x + blockIdx.x * blockDim.x + threadIdx.x;
    *mine += 1;
    const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    leave_if(warp == 1 ? 1 : 0);
    __syncthreads();
    for (unsigned i = 0; i < kLanes; ++i) {
        *mine += 10;
        leave_if(lane % 2 == 1 && i == lane ? 1 : 0);
    }
    *mine += __reduce_add_sync(0x55555555u, 1000u);
    asm volatile("exit;");
    *mine = 0;
}

}  // namespace
}  // namespace ptx_tests

using namespace ptx_tests;

TEST_CASE("PTX's loads and stores move what they say, at any width") {
    std::vector<uint32_t> x = counted(16);
    x[7] = 0x1280;
    const auto y = after(load_and_store, x, 1);
    CHECK(std::vector<uint32_t>(y.begin() + 4, y.begin() + 7) == std::vector<uint32_t>{4, 3, 3});
    CHECK(y[0] == 1);
    CHECK(y[8] == 0xffffff80u);
    CHECK((y[12] == y[10] && y[13] == y[11]));
    CHECK(y[14] == 11);
    const auto turned = after(through_shared, counted(kLanes));
    for (unsigned i = 0; i < kLanes; ++i) CHECK(turned[i] == 1000 + 32 - i);
}

TEST_CASE("PTX's atomic operations") {
    const auto y = after(atomics, {5, 7, 0, 4, 0, 0});
    CHECK(y[0] == 5 + 31 * 16);
    CHECK(y[1] == 31);
    CHECK(y[2] == 32 % 10);
    CHECK(y[3] == 77);
    CHECK(y[4] == 0x41800000u);  // 16
    CHECK(y[5] == 0x43780000u);  // 0 + 0.5 + ... + 15.5 = 248
}

TEST_CASE("PTX's asynchronous copies, whole and filled up with zeros") {
    const auto y = after(copies, counted(4 * kLanes));
    for (unsigned lane = 0; lane < kLanes; ++lane)
        CHECK(y[lane] == 4 * (31 - lane) + 1 + (lane % 2 == 0 ? 1000 * (lane + 1) : 0));
}

TEST_CASE("what the lanes of a warp exchange by PTX") {
    const auto y = after(exchanges, std::vector<uint32_t>(14 * kLanes));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const auto of = [&](unsigned number) { return y[number * kLanes + lane]; };
        const auto shuffled = [&](unsigned from, bool within) {
            return (within ? from : lane) + 100 * within;
        };
        CHECK(of(0) == shuffled(5, true));
        CHECK(of(1) == shuffled(lane / 8 * 8 + 5, true));
        CHECK(of(2) == shuffled(lane - 3, lane >= 3));
        CHECK(of(3) == shuffled(lane - 3, lane % 16 >= 3));
        CHECK(of(4) == shuffled(lane + 3, lane + 3 < 32));
        CHECK(of(5) == shuffled(lane + 3, lane % 16 + 3 < 16));
        CHECK(of(6) == shuffled(lane ^ 9, true));
        CHECK(of(7) == 31);
        CHECK(of(8) == 7);
        CHECK(of(9) == 0xffu << lane / 8 * 8);
        CHECK(of(10) == 31 * 16);
        CHECK(of(12) == 2 * lane);
        CHECK(of(13) == 1);
    }
    CHECK(std::accumulate(y.begin() + 11 * kLanes, y.begin() + 12 * kLanes, 0u) == 1);
}

TEST_CASE("ldmatrix, stmatrix and movmatrix move elements where the ISA says") {
    CHECK(after(matrices, std::vector<uint32_t>(kLanes)) == std::vector<uint32_t>(kLanes, 0));
}

TEST_CASE("barriers with a number and a count, and loops in one statement") {
    const auto y = after(producer_and_consumer, std::vector<uint32_t>(4 * kLanes + 1), 96);
    for (unsigned i = 0; i < 4 * kLanes; ++i) CHECK(y[i] == i / kLanes * 100 + 31 - i % kLanes);
    CHECK(y[4 * kLanes] == 95);
    CHECK(after(loops, std::vector<uint32_t>(2), 2) == std::vector<uint32_t>{55, 55});
}

TEST_CASE("exit ends its thread alone, and the next block has all of its threads") {
    constexpr unsigned kThreads = 3 * kLanes, kBlocks = 20;
    uint32_t* x = nullptr;
    REQUIRE(cudaMalloc(&x, kBlocks * kThreads * sizeof(uint32_t)) == cudaSuccess);
    REQUIRE(cudaMemset(x, 0, kBlocks * kThreads * sizeof(uint32_t)) == cudaSuccess);
    for (int launch = 0; launch < 2; ++launch) exits<<<kBlocks, kThreads>>>(x);
    std::vector<uint32_t> y(kBlocks * kThreads);
    REQUIRE(cudaMemcpy(y.data(), x, y.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    cudaFree(x);
    size_t wrong = 0;
    for (unsigned i = 0; i < y.size(); ++i) {
        const unsigned lane = i % kLanes;
        const uint32_t loops = lane % 2 == 1 ? 10 * (lane + 1) : 10 * kLanes + 16000;
        if (y[i] != 2 * (1 + (i % kThreads / kLanes == 1 ? 0 : loops))) ++wrong;
    }
    CHECK(wrong == 0);
}
