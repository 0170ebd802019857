// SPDX-License-Identifier: MIT
// Mistakes around wgmma and setmaxnreg, each of which is named with its line and, where there is one, the other's.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/cpu_device/tests/failures.cuh"

extern __shared__ __align__(1024) unsigned char shared_bytes[];

namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kBytes = 4096;  // A: 64 rows of 32 bytes, then B

// Without a swizzle: chunks of 16 bytes, rows side by side; 8 rows are 128 bytes, all rows of a chunk 1024.
constexpr uint64_t kPlain = uint64_t{1024 / 16} << 16 | uint64_t{128 / 16} << 32;

__device__ uint64_t descriptor(unsigned offset, uint64_t bits = kPlain) {
    return bits | (__cvta_generic_to_shared(shared_bytes) + offset) >> 4;
}

using Sums = float[4];

#define MULTIPLY(d, a, b, adds)                                                        \
    asm volatile(                                                                      \
        "{ .reg .pred p; setp.ne.b32 p, %6, 0; "                                       \
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, " \
        "p, 1, 1, 0, 0; }"                                                             \
        : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])                       \
        : "l"(a), "l"(b), "r"(adds))
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(groups) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory")

__device__ void fill() {
    for (unsigned i = threadIdx.x; i < kBytes / 4; i += blockDim.x)
        reinterpret_cast<uint32_t*>(shared_bytes)[i] = 0x3c003c00;  // ones
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
}

// ---------------------------------------------------------------- accumulators

__global__ void reads_early(float* to) {
    fill();
    Sums d = {};
    FENCE;
    MULTIPLY(d, descriptor(0), descriptor(2048), 0);
    COMMIT;
    asm volatile("" : "+f"(d[1])::"memory");
    if (threadIdx.x == 37) to[37] = d[1];
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kReadsEarly = __LINE__ - 4, kReadMultiplies = __LINE__ - 7;

__global__ void writes_early(float* to) {
    fill();
    Sums d = {}, other = {};
    FENCE;
    MULTIPLY(d, descriptor(0), descriptor(2048), 0);
    COMMIT;
    MULTIPLY(other, descriptor(0), descriptor(2048), 0);
    COMMIT;
    WAIT(1);
    d[2] = to[threadIdx.x];
    other[2] = d[2];
    WAIT(0);
    to[threadIdx.x] = d[0] + other[0];
}
constexpr int kWritesEarly = __LINE__ - 4, kWriteMultiplies = __LINE__ - 8;

__global__ void commits_nothing(float* to) {
    fill();
    Sums d = {};
    FENCE;
    MULTIPLY(d, descriptor(0), descriptor(2048), 0);
    WAIT(0);
    to[threadIdx.x] = d[3];
}
constexpr int kCommitsNothing = __LINE__ - 2;

__global__ void never_waits(float*) {
    fill();
    Sums d = {};
    FENCE;
    for (int i = 0; i < 3; ++i) {
        MULTIPLY(d, descriptor(0), descriptor(2048), 1);
        COMMIT;
    }
}
constexpr int kNeverWaits = __LINE__ - 4;

__global__ void takes_others(float* to) {
    fill();
    float d[6] = {};
    FENCE;
    MULTIPLY(d, descriptor(0), descriptor(2048), 0);
    COMMIT;
    MULTIPLY(d + 2, descriptor(0), descriptor(2048), 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kTakesOthers = __LINE__ - 5;

__global__ void adds_to_shared(float* to) {
    __shared__ float sums[kThreads][4];
    fill();
    FENCE;
    MULTIPLY(sums[threadIdx.x], descriptor(0), descriptor(2048), 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = sums[threadIdx.x][0];
}
constexpr int kAddsToShared = __LINE__ - 5;

// ---------------------------------------------------------------- wgmma.fence

__global__ void has_no_fence(float* to) {
    fill();
    Sums d = {};
    MULTIPLY(d, descriptor(0), descriptor(2048), 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kHasNoFence = __LINE__ - 5;

__global__ void changes_behind_fence(float* to) {
    fill();
    Sums d = {};
    FENCE;
    MULTIPLY(d, descriptor(0), descriptor(2048), 0);
    COMMIT;
    WAIT(0);
    d[1] += 1;
    FENCE;
    MULTIPLY(d, descriptor(0), descriptor(2048), 1);
    COMMIT;
    WAIT(0);
    if (threadIdx.x == 70) d[3] += 1;
    MULTIPLY(d, descriptor(0), descriptor(2048), 1);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kChangesBehindFence = __LINE__ - 5;

// ---------------------------------------------------------------- one instruction of four warps

__global__ void has_other_descriptors(float* to) {
    fill();
    Sums d = {};
    FENCE;
    MULTIPLY(d, descriptor(threadIdx.x / 32 == 2 ? 16 : 0), descriptor(2048), 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kHasOthers = __LINE__ - 5;

__global__ void has_another_lane(float* to) {
    fill();
    Sums d = {};
    FENCE;
    MULTIPLY(d, descriptor(0), descriptor(2048), threadIdx.x == 40 ? 1 : 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kHasAnotherLane = __LINE__ - 5;

__global__ void is_of_three_warps(float* to) {
    fill();
    Sums d = {};
    FENCE;
    if (threadIdx.x >= 32) {
        MULTIPLY(d, descriptor(0), descriptor(2048), 0);
    }
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kIsOfThree = __LINE__ - 6;

__global__ void is_of_one_lane(float* to) {
    fill();
    Sums d = {};
    FENCE;
    MULTIPLY(d, descriptor(0), descriptor(2048), 0);
    if (threadIdx.x % 32 == 0) COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kIsOfOneLane = __LINE__ - 4;

// ---------------------------------------------------------------- descriptors

__global__ void leaves_shared_memory(float* to) {
    fill();
    Sums d = {};
    FENCE;
    MULTIPLY(d, descriptor(2048 + 128), descriptor(0), 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kLeaves = __LINE__ - 5;

__global__ void shifts_nothing(float* to) {
    fill();
    Sums d = {};
    FENCE;
    MULTIPLY(d, descriptor(0), descriptor(2048, uint64_t{1} << 62 | uint64_t{1024} << 36), 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kShiftsNothing = __LINE__ - 5;

__global__ void begins_within_a_swizzle(float* to) {
    fill();
    Sums d = {};
    constexpr uint64_t kSpanOf32 = uint64_t{3} << 62 | uint64_t{256 / 16} << 32;
    FENCE;
    MULTIPLY(d, descriptor(16, kSpanOf32), descriptor(2048 + 32, kSpanOf32), 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kBeginsWithin = __LINE__ - 5;

// The eight columns of B fit; the 64 rows of A would lie on top of each other.
__global__ void has_overlapping_rows(float* to) {
    fill();
    Sums d = {};
    constexpr uint64_t kSpanOf128 = uint64_t{1} << 62 | uint64_t{512 / 16} << 32;
    FENCE;
    MULTIPLY(d, descriptor(0, kSpanOf128), descriptor(2048, kSpanOf128), 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kOverlappingRows = __LINE__ - 5;

__global__ void reads_what_nobody_wrote(float* to) {
    __shared__ alignas(1024) unsigned char unwritten[2048];
    fill();
    Sums d = {};
    FENCE;
    MULTIPLY(d, kPlain | (__cvta_generic_to_shared(unwritten) >> 4 & 0x3fff), descriptor(2048), 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kUnwritten = __LINE__ - 5;

struct Mistake {
    void (*kernel)(float*);
    int line;
    std::vector<std::string> what;
    int other_line = 0;
};
const std::vector<Mistake> kMistakes = {
    {reads_early,
     kReadsEarly,
     {"thread (37,0,0): accumulator used before wgmma.wait_group: load of 4 bytes from accumulator "
      "1 of a wgmma that is under way: no wgmma.wait_group has waited for its group"},
     kReadMultiplies},
    {writes_early,
     kWritesEarly,
     {"accumulator used before wgmma.wait_group: store of 4 bytes to accumulator 2"},
     kWriteMultiplies},
    {commits_nothing, kCommitsNothing, {"accumulator 3", "it is in no group yet"}},
    {never_waits, kNeverWaits, {"the block has ended while this wgmma is under way"}},
    {takes_others, kTakesOthers, {"some of wgmma's accumulators are those of another wgmma"}},
    {adds_to_shared, kAddsToShared, {"it must be a register"}},
    {has_no_fence, kHasNoFence, {"wgmma.mma_async without a wgmma.fence before it"}},
    {changes_behind_fence,
     kChangesBehindFence,
     {"thread (70,0,0): wgmma adds to accumulator 3, which was changed after the last "
      "wgmma.fence"}},
    {has_other_descriptors,
     kHasOthers,
     {"for number 1 in the block warp 2 has another descriptor of A", "than warp 0, which has 0x"},
     kHasOthers},
    {has_another_lane,
     kHasAnotherLane,
     {"lane 8 has another scale-d, 1, than lane 0, which has 0"}},
    {is_of_three_warps, kIsOfThree, {"warp 1 has executed 1 of them, warp 0 0"}},
    {is_of_one_lane,
     kIsOfOneLane,
     {"lane 1 has another instruction, wgmma.wait_group, than lane 0"}},
    {leaves_shared_memory,
     kLeaves,
     {"read by wgmma of 16 bytes", "it is where the descriptor of A, 0x",
      "has row 56 from k = 8 on"}},
    {shifts_nothing, kShiftsNothing, {"has bit 46 set, which must be 0", "descriptor of B"}},
    {begins_within_a_swizzle,
     kBeginsWithin,
     {"descriptor of B", "in row 1 of a swizzle's eight", "after a multiple of 256"}},
    {has_overlapping_rows,
     kOverlappingRows,
     {"descriptor of A",
      "stride byte offset of 512: with a swizzle of 128 bytes eight rows take "
      "1024 bytes"}},
    {reads_what_nobody_wrote, kUnwritten, {"wgmma reads A where nothing in the block has written"}},
};

}  // namespace

TEST_CASE("mistakes around wgmma are named") {
    DeviceArray<float> to(kThreads);
    for (const Mistake& mistake : kMistakes) {
        INFO("line " << mistake.line);
        mistake.kernel<<<1, kThreads, kBytes>>>(to.data());
        std::vector<std::string> parts = mistake.what;
        parts.push_back(at_line("tests/ptx/wgmma_failures.cu", mistake.line));
        if (mistake.other_line != 0)
            parts.push_back(at_line("tests/ptx/wgmma_failures.cu", mistake.other_line));
        const bool is_address = mistake.kernel == leaves_shared_memory,
                   is_alignment = mistake.kernel == begins_within_a_swizzle;
        check_failure(is_address     ? cudaErrorIllegalAddress
                      : is_alignment ? cudaErrorMisalignedAddress
                                     : cudaErrorLaunchFailure,
                      parts);
    }
}

TEST_CASE("wgmma in a block that has no warpgroup") {
    DeviceArray<float> to(kThreads);
    never_waits<<<1, 96, kBytes>>>(to.data());
    check_failure(cudaErrorLaunchFailure,
                  {"wgmma needs a warpgroup", "warps 0 to 3, and the block has 96 threads"});
}

namespace {

// Three stages of two tiles each: products overlap, and what arrives is what a wait waits for.
__global__ void overlaps(float* to) {
    fill();
    Sums c[2] = {};
    for (int step = 0; step < 3; ++step) {
        for (auto& d : c) {
            FENCE;
            MULTIPLY(d, descriptor(0), descriptor(2048), step > 0 ? 1 : 0);
            MULTIPLY(d, descriptor(0), descriptor(2048), 1);
            COMMIT;
        }
        WAIT(1);
        c[0][0] += 1;
    }
    FENCE;
    WAIT(0);
    for (int i = 0; i < 4; ++i) to[threadIdx.x * 8 + i] = c[0][i];
    for (int i = 0; i < 4; ++i) to[threadIdx.x * 8 + 4 + i] = c[1][i];
}

// ---------------------------------------------------------------- setmaxnreg

#define SET_REGISTERS(how, n) asm volatile("setmaxnreg." #how ".sync.aligned.u32 " #n ";")

__global__ void __launch_bounds__(384, 1) adds_up(int* to) {
    if (threadIdx.x < 128) {
        SET_REGISTERS(dec, 24);
    } else {
        SET_REGISTERS(inc, 240);
    }
    to[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(384, 1) asks_for_too_many(int*) {
    if (threadIdx.x < 128) {
        SET_REGISTERS(dec, 40);
    } else {
        SET_REGISTERS(inc, 240);
    }
}
constexpr int kTooMany = __LINE__ - 3;

__global__ void __launch_bounds__(128, 4) goes_the_wrong_way(int*) {
    SET_REGISTERS(inc, 120);
}
constexpr int kWrongWay = __LINE__ - 2;

__global__ void __launch_bounds__(128, 4) leaves_a_warp_out(int*) {
    if (threadIdx.x >= 32) SET_REGISTERS(dec, 40);
}
constexpr int kLeavesOut = __LINE__ - 2;

__global__ void __launch_bounds__(128, 4) asks_for_different_numbers(int*) {
    if (threadIdx.x < 64) {
        SET_REGISTERS(dec, 40);
    } else {
        SET_REGISTERS(dec, 48);
    }
}
constexpr int kDifferent = __LINE__ - 3;

}  // namespace

// ---------------------------------------------------------------- warps that come late

// One thread tells another warp that the operands are free once its own wait is over, which covers the product of all four
// warps. Here the others may not even have issued it.
__global__ void frees_operands(float* to) {
    __shared__ uint64_t is_free, never;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"l"(__cvta_generic_to_shared(&is_free)));
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"l"(__cvta_generic_to_shared(&never)));
    }
    fill();
    if (threadIdx.x >= kThreads) {
        asm volatile(
            "{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra "
            "AGAIN; }" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&is_free)))
            : "memory");
        for (unsigned i = threadIdx.x % 32; i < kBytes / 4; i += 32)
            reinterpret_cast<uint32_t*>(shared_bytes)[i] = 0x40004000;  // twos
        return;
    }
    const unsigned at_never = static_cast<unsigned>(__cvta_generic_to_shared(&never));
    for (int i = 0; i < 100 && threadIdx.x >= 32; ++i) {
        unsigned ends = 0;
        asm volatile(
            "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, "
            "p; }"
            : "=r"(ends)
            : "r"(at_never));
        if (ends != 0) return;
    }
    Sums d = {};
    FENCE;
    MULTIPLY(d, descriptor(0), descriptor(2048), 0);
    COMMIT;
    WAIT(0);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"l"(__cvta_generic_to_shared(&is_free))
                     : "memory");
    to[threadIdx.x] = d[0];
}

// ---------------------------------------------------------------- the swizzle of a copy

__global__ void reads_another_swizzle(float* to, const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(8) uint64_t full;
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(shared_bytes)),
                   barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier));
    fill();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 2048;" ::"r"(barrier));
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
            "[%1, {0, 0}], [%2];" ::"r"(at),
            "l"(&map), "r"(barrier)
            : "memory");
    }
    asm volatile(
        "{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra AGAIN; "
        "}" ::"r"(barrier)
        : "memory");
    Sums d = {};
    FENCE;
    MULTIPLY(d, descriptor(0, uint64_t{256 / 16} << 32 | uint64_t{1024 / 16} << 16),
             descriptor(2048), 0);
    COMMIT;
    WAIT(0);
    to[threadIdx.x] = d[0];
}
constexpr int kOtherSwizzle = __LINE__ - 6, kCopies = __LINE__ - 18;

TEST_CASE("a wait covers the products of all four warps, also of those that issue theirs later") {
    DeviceArray<float> to(kThreads);
    frees_operands<<<1, kThreads + 32, kBytes>>>(to.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for (const float sum : to.read()) CHECK(sum == 16);
}

TEST_CASE("a descriptor with another swizzle than the tensor copy's is named") {
    DeviceArray<float> from(512), to(kThreads);
    const cuuint64_t shape[2] = {16, 64}, stride[1] = {32};
    const cuuint32_t box[2] = {16, 64}, step[2] = {1, 1};
    CUtensorMap map;
    REQUIRE(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, from.data(), shape,
                                   stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    reads_another_swizzle<<<1, kThreads, kBytes>>>(to.data(), map);
    check_failure(cudaErrorLaunchFailure,
                  {"wgmma reads by a descriptor with no swizzle what a tensor copy has written "
                   "with a swizzle of 32 bytes",
                   at_line("tests/ptx/wgmma_failures.cu", kOtherSwizzle),
                   at_line("tests/ptx/wgmma_failures.cu", kCopies)});
}

TEST_CASE("wgmmas that overlap arrive each at its own wait") {
    DeviceArray<float> to(kThreads * 8);
    overlaps<<<1, kThreads, kBytes>>>(to.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<float> got = to.read();
    // Six products of 16 ones by 16 ones, the first of which begins anew; and three times 1.
    for (size_t i = 0; i < got.size(); ++i) {
        CAPTURE(i);
        CHECK(got[i] == 6 * 16 + (i % 8 == 0 ? 3 : 0));
    }
}

TEST_CASE("setmaxnreg: a block's warpgroups can have no more registers than it begins with") {
    DeviceArray<int> to(384);
    adds_up<<<1, 384>>>(to.data());
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    struct Wrong {
        void (*kernel)(int*);
        unsigned threads;
        int line;
        std::vector<std::string> what;
    };
    const std::vector<Wrong> all = {
        {asks_for_too_many,
         384,
         kTooMany,
         {"setmaxnreg does not add up", "168 registers a thread, 504",
          "40, 240, 240, which is 520"}},
        {goes_the_wrong_way,
         128,
         kWrongWay,
         {"setmaxnreg.inc to 120 registers, while each thread of the warp has 128"}},
        {leaves_a_warp_out, 128, kLeavesOut, {"warp 1 has executed 1 of them, warp 0 0"}},
        {asks_for_different_numbers,
         128,
         kDifferent,
         {"warp 2 has another number, 48, than warp 0, which has 40"}},
    };
    for (const Wrong& wrong : all) {
        INFO("line " << wrong.line);
        wrong.kernel<<<1, wrong.threads>>>(to.data());
        std::vector<std::string> parts = wrong.what;
        parts.push_back(at_line("tests/ptx/wgmma_failures.cu", wrong.line));
        check_failure(cudaErrorLaunchFailure, parts);
    }
}
