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
void expect(const char* what, const Expected& expected, int blocks, int threads,
            void (*kernel)(Parameters...), Arguments... arguments) {
    INFO(what);
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

    // Four turns with 32, 24, 16 and 8 lanes; every group of eight lanes, a sector, has some
    // of each kind. One store.
    expect("unequal trip counts", {4, 16, 1, 4}, 1, 32, unequal_trips, x, y);
    // Each of three outer turns: a load by all, one by the odd lanes, a store by all.
    expect("nested loops", {6, 24, 3, 12}, 1, 32, nested_loops, x, y);
    // One load of the odd lanes, two of the even ones, four sectors each.
    expect("if and else with a common tail", {3, 12, 1, 4}, 1, 32, common_tail, x, y);
    // Each of four turns: a load by all, one by half of the lanes, a store by all.
    expect("if inside a loop", {8, 32, 4, 16}, 1, 32, if_inside_loop, x, y);
    // Turns with 32 lanes, the 21 with lane % 3 > 0 and the 10 with lane % 3 > 1.
    expect("break", {3, 12, 1, 4}, 1, 32, break_in_loop, x, y);
    // Two calls of one function, by half of the lanes each: two sectors each.
    expect("a call in both branches", {2, 4, 1, 4}, 1, 32, call_in_both_branches, x, y);
    // 8 warps, 256 threads; 1000 = 3 * 256 + 232 elements: 3 * 8 requests and 8 more, the last
    // of them with 8 lanes and one sector.
    expect("the tail of a grid-stride loop", {32, 125, 32, 125}, 2, 128, grid_stride, x, y, 1000);
    // 16 lanes load two sectors, then all load four and store four.
    expect("a half-warp shuffle", {2, 6, 1, 4}, 1, 32, half_warp_shuffle, x, y);
    expect("a half-warp shuffle after a common load", {2, 6, 1, 4}, 1, 32, half_warp_shuffle_later,
           x, y);
    // All load; then 12 lanes store two sectors, twice.
    expect("an exit before the end", {1, 4, 2, 4}, 1, 32, early_exit, x, y, 12);
    // Cases 0, 1 and 2 load by themselves, 2 falls through to where 3 waits.
    expect("switch", {4, 16, 1, 4}, 1, 32, switch_of_four, x, y);
    // Each of four turns: all load and store; 24 lanes, of every sector some, store once more.
    expect("continue", {4, 16, 8, 32}, 1, 32, early_continue, x, y);
    // 40 threads: 32 and 8 lanes.
    expect("a warp that is not whole", {2, 5, 2, 5}, 1, 40, grid_stride, x, y, 40);
}

TEST_CASE("lanes that do much before they meet anyone are grouped all the same") {
    runner::DeviceBuffer<float> input(4096), output(4096);
    float* const x = input.data();
    float* const y = output.data();

    expect("a long loop", {100'000, 400'000, 1, 4}, 1, 32, long_loop, x, y, 100'000);
    // Each turn: a load by all, one by every other lane.
    expect("a long loop whose lanes part", {40'000, 160'000, 1, 4}, 1, 32, long_loop_that_parts, x,
           y, 20'000);
    expect("lane 0 alone, the rest waits", {4000, 4000, 1, 4}, 1, 32, lane_0_works, x, y, 4000);
    // The halves never part on their way, so that each load is one of the whole warp.
    expect("halves that each meet alone", {64, 256, 1, 4}, 1, 32, halves_apart, x, y, 64);
}
