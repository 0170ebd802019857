// SPDX-License-Identifier: MIT
//
// Lanes that part and meet again: how often the warp, as a GPU runs it, loads and stores. Each
// kernel is launched with one warp unless its test says otherwise; the counts are derived by hand.
#include "common/runner/device.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace {

constexpr unsigned kAll = 0xffffffffu;
constexpr unsigned kLowerHalf = 0x0000ffffu;
constexpr unsigned kUpperHalf = 0xffff0000u;

// Lane l makes l % 4 + 1 turns.
__global__ void unequal_trips(const float* x, float* y) {
    const int lane = threadIdx.x;
    float sum = 0;
    for (int k = 0; k <= lane % 4; k++) sum += x[k * 32 + lane];
    y[lane] = sum;
}

// Odd lanes make two inner turns, even ones a single one; a store closes each outer turn.
__global__ void nested_loops(const float* x, float* y) {
    const int lane = threadIdx.x;
    for (int outer = 0; outer < 3; outer++) {
        float sum = 0;
        for (int k = 0; k <= lane % 2; k++) sum += x[(outer * 2 + k) * 32 + lane];
        y[outer * 32 + lane] = sum;
    }
}

__global__ void common_tail(const float* x, float* y) {
    const int lane = threadIdx.x;
    float value;
    if (lane & 1) {
        value = x[lane];
    } else {
        value = x[64 + lane] + x[128 + lane];
    }
    y[lane] = value;
}

__global__ void if_inside_loop(const float* x, float* y) {
    const int lane = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        float value = x[k * 32 + lane];
        if ((lane + k) & 1) value += x[256 + k * 32 + lane];
        y[k * 32 + lane] = value;
    }
}

__global__ void break_in_loop(const float* x, float* y) {
    const int lane = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 6; k++) {
        sum += x[k * 32 + lane];
        if (k == lane % 3) break;
    }
    y[lane] = sum;
}

__device__ float twice(const float* p) {
    return *p * 2;
}

__global__ void call_in_both_branches(const float* x, float* y) {
    const int lane = threadIdx.x;
    float value;
    if (lane < 16) {
        value = twice(x + lane);
    } else {
        value = twice(x + 64 + lane) + 1;
    }
    y[lane] = value;
}

__global__ void grid_stride(const float* x, float* y, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        y[i] = x[i];
    }
}

__global__ void half_warp_shuffle(const float* x, float* y) {
    const int lane = threadIdx.x;
    float value = 0;
    if (lane < 16) {
        value = x[lane];
        value += __shfl_xor_sync(kLowerHalf, value, 1);
    }
    y[lane] = value + x[32 + lane];
}

// What all did before one half shuffles was done together all the same.
__global__ void half_warp_shuffle_later(const float* x, float* y) {
    const int lane = threadIdx.x;
    float value = x[lane];
    if (lane < 16) {
        value += __shfl_xor_sync(kLowerHalf, value, 1);
        value += x[32 + lane];
    }
    y[lane] = value;
}

// Each half meets alone, again and again, and does the same as the other.
__global__ void halves_apart(const float* x, float* y, int turns) {
    const int lane = threadIdx.x;
    const unsigned mine = lane < 16 ? kLowerHalf : kUpperHalf;
    float sum = 0;
    for (int k = 0; k < turns; k++) sum += __shfl_xor_sync(mine, x[k * 32 + lane], 1);
    y[lane] = sum;
}

__global__ void early_exit(const float* x, float* y, int count) {
    const int lane = threadIdx.x;
    const float value = x[lane];
    if (lane >= count) return;
    y[lane] = value;
    y[32 + lane] = __shfl_sync((1u << count) - 1, value, 0);
}

__global__ void lane_0_works(const float* x, float* y, int count) {
    const int lane = threadIdx.x;
    __shared__ float total;
    if (lane == 0) {
        float sum = 0;
        for (int i = 0; i < count; i++) sum += x[i];
        total = sum;
    }
    __syncwarp();
    y[lane] = total;
}

__global__ void long_loop(const float* x, float* y, int turns) {
    const int lane = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < turns; k++) sum += x[k % 64 * 32 + lane];
    y[lane] = sum;
}

__global__ void long_loop_that_parts(const float* x, float* y, int turns) {
    const int lane = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < turns; k++) {
        sum += x[k % 64 * 32 + lane];
        if ((lane + k) & 1) sum += x[64 * 32 + lane];
    }
    y[lane] = sum;
}

__global__ void switch_of_four(const float* x, float* y) {
    const int lane = threadIdx.x;
    float value = 0;
    switch (lane % 4) {
        case 0:
            value = x[lane];
            break;
        case 1:
            value = x[32 + lane];
            break;
        case 2:
            value = x[64 + lane];
            [[fallthrough]];
        default:
            value += x[96 + lane];
    }
    y[lane] = value;
}

__global__ void early_continue(const float* x, float* y) {
    const int lane = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        const float value = x[k * 32 + lane];
        y[k * 32 + lane] = value;
        if (lane % 4 == k) continue;
        y[256 + k * 32 + lane] = value;
    }
}

struct Expected {
    int64_t loads, load_sectors, stores, store_sectors;
};

template <class... Parameters, class... Arguments>
void expect(const Expected& expected, int blocks, int threads, void (*kernel)(Parameters...),
            Arguments... arguments) {
    const auto kernels = counted([&] { kernel<<<blocks, threads>>>(arguments...); });
    CHECK(requests(kernels, AccessKind::global_load) == expected.loads);
    CHECK(sectors(kernels, AccessKind::global_load) == expected.load_sectors);
    CHECK(requests(kernels, AccessKind::global_store) == expected.stores);
    CHECK(sectors(kernels, AccessKind::global_store) == expected.store_sectors);
}

}  // namespace

TEST_CASE("lanes that part execute apart, and together where they meet again") {
    runner::DeviceBuffer<float> input(4096), output(4096);
    float* const x = input.data();
    float* const y = output.data();

    SECTION("unequal trip counts") {
        // Four turns with 32, 24, 16 and 8 lanes; every group of eight lanes, a sector, has some
        // of each kind. One store.
        expect({4, 16, 1, 4}, 1, 32, unequal_trips, x, y);
    }
    SECTION("nested loops") {
        // Each of three outer turns: a load by all, one by the odd lanes, a store by all.
        expect({6, 24, 3, 12}, 1, 32, nested_loops, x, y);
    }
    SECTION("if and else with a common tail") {
        // One load of the odd lanes, two of the even ones, four sectors each.
        expect({3, 12, 1, 4}, 1, 32, common_tail, x, y);
    }
    SECTION("if inside a loop") {
        // Each of four turns: a load by all, one by half of the lanes, a store by all.
        expect({8, 32, 4, 16}, 1, 32, if_inside_loop, x, y);
    }
    SECTION("break") {
        // Turns with 32 lanes, the 21 with lane % 3 > 0 and the 10 with lane % 3 > 1.
        expect({3, 12, 1, 4}, 1, 32, break_in_loop, x, y);
    }
    SECTION("a call in both branches") {
        // Two calls of one function, by half of the lanes each: two sectors each.
        expect({2, 4, 1, 4}, 1, 32, call_in_both_branches, x, y);
    }
    SECTION("the tail of a grid-stride loop") {
        // 8 warps, 256 threads; 1000 = 3 * 256 + 232 elements: 3 * 8 requests and 8 more, the last
        // of them with 8 lanes and one sector.
        expect({32, 125, 32, 125}, 2, 128, grid_stride, x, y, 1000);
    }
    SECTION("a half-warp shuffle") {
        // 16 lanes load two sectors, then all load four and store four.
        expect({2, 6, 1, 4}, 1, 32, half_warp_shuffle, x, y);
    }
    SECTION("a half-warp shuffle after a common load") {
        expect({2, 6, 1, 4}, 1, 32, half_warp_shuffle_later, x, y);
    }
    SECTION("an exit before the end") {
        // All load; then 12 lanes store two sectors, twice.
        expect({1, 4, 2, 4}, 1, 32, early_exit, x, y, 12);
    }
    SECTION("switch") {
        // Cases 0, 1 and 2 load by themselves, 2 falls through to where 3 waits.
        expect({4, 16, 1, 4}, 1, 32, switch_of_four, x, y);
    }
    SECTION("continue") {
        // Each of four turns: all load and store; 24 lanes, of every sector some, store once more.
        expect({4, 16, 8, 32}, 1, 32, early_continue, x, y);
    }
    SECTION("a warp that is not whole") {
        // 40 threads: 32 and 8 lanes.
        expect({2, 5, 2, 5}, 1, 40, grid_stride, x, y, 40);
    }
}

TEST_CASE("lanes that do much before they meet anyone are grouped all the same") {
    runner::DeviceBuffer<float> input(4096), output(4096);
    float* const x = input.data();
    float* const y = output.data();

    SECTION("a long loop") {
        expect({100'000, 400'000, 1, 4}, 1, 32, long_loop, x, y, 100'000);
    }
    SECTION("a long loop whose lanes part") {
        // Each turn: a load by all, one by every other lane.
        expect({40'000, 160'000, 1, 4}, 1, 32, long_loop_that_parts, x, y, 20'000);
    }
    SECTION("lane 0 alone, the rest waits") {
        expect({4000, 4000, 1, 4}, 1, 32, lane_0_works, x, y, 4000);
    }
    SECTION("halves that each meet alone") {
        // The halves never part on their way, so that each load is one of the whole warp.
        expect({64, 256, 1, 4}, 1, 32, halves_apart, x, y, 64);
    }
}
