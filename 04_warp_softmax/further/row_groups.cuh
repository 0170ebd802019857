// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/row_groups, version 1.0
//
// The lesson's kernel, tuned: a group of 1 to 32 lanes, only as many as the row fills, holds the row in registers.
//   new here   groups of lanes; no test for packs that every lane has; a persistent kernel
//   traffic    1 read + 1 write per element
//   accepts    float, __half, __nv_bfloat16, double; up to 2048 columns (double: 1024); Load and Store
//              functors, so any row stride; y may be x if both have the same stride
//   rows       as in the lesson; a row that is masked everywhere becomes zeros (log-softmax: -inf)
//   source     OneFlow's oneflow/core/cuda/softmax.cuh (2021), warp tier: rebuilt, with wider packs
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../ask_once.cuh"
#include "lifted_exp.cuh"
#include "loads_and_stores.cuh"

namespace warp_softmax {

enum class Algorithm { softmax, log_softmax };

// Return the maximum, or the sum, of the values of a group's lanes to every lane of the group. A group is kLanes
// neighbouring lanes of a warp. All 32 lanes of the warp must call the function.
template <int kLanes, class Compute>
__device__ Compute group_max(Compute value) {
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2) {
        value = fmax(value, __shfl_xor_sync(~0u, value, step));
    }
    return value;
}
template <int kLanes, class Compute>
__device__ Compute group_sum(Compute value) {
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2) {
        value += __shfl_xor_sync(~0u, value, step);
    }
    return value;
}

// Replaces a row in a group's registers by its softmax or log-softmax. A lane has kHeld elements; elements past the
// row's end are -inf. In every lane, the first kSure elements are inside the row and need no test, and the elements
// from `filled` on are past its end and are skipped. kMasks: a row of -inf alone becomes zeros (in log-softmax, it
// stays -inf) instead of NaN.
template <Algorithm kAlgorithm, class T, int kLanes, int kSure, bool kMasks, class Compute,
          int kHeld>
__device__ void normalize(Compute (&held)[kHeld], int filled) {
    Compute max = held[0];
#pragma unroll
    for (const Compute element : held) max = fmax(max, element);
    max = group_max<kLanes>(max);
    if (kMasks && max == -static_cast<Compute>(INFINITY)) max = 0;  // -inf - (-inf) would be NaN

    Compute sum = 0;
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
        if (i < kSure || i < filled) {
            held[i] -= max;
            const Compute share = lifted_exp<T>(held[i]);
            sum += share;
            if (kAlgorithm == Algorithm::softmax) held[i] = share;
        }
    }
    sum = group_sum<kLanes>(sum);

    const bool empty = kMasks && sum == 0;  // a test of max would hide a NaN
    const Compute scale = empty ? 0 : 1 / sum;
    const Compute log_sum = empty ? 0 : std::log(sum / kLift<T>);
#pragma unroll
    for (Compute& element : held) {
        element = kAlgorithm == Algorithm::softmax ? element * scale : element - log_sum;
    }
}

// If a row takes a whole warp, a block has only two warps: the next block starts as soon as two rows are done, not
// four. With these small blocks 1048576 x 512 takes 1% less time, but narrow rows would take 3% more.
template <int kLanes>
constexpr int kBlockThreads = kLanes == 32 ? 64 : 128;

// One group of kLanes lanes per row; a lane holds kPacks packs of kPack neighbouring elements. In every lane, the
// first kSurePacks packs are inside the row.
template <Algorithm kAlgorithm, int kPack, int kLanes, int kSurePacks, int kPacks, class Load,
          class Store>
__global__ void __launch_bounds__(kBlockThreads<kLanes>)
    row_groups_kernel(Load load, Store store, int64_t rows, int64_t cols) {
    using Compute = ComputeOf<typename Load::Element>;
    constexpr Compute kNothing = -static_cast<Compute>(INFINITY);
    constexpr int kGroups = kBlockThreads<kLanes> / kLanes;
    const int lane = threadIdx.x % kLanes;
    const int group = threadIdx.x / kLanes;
    const int width = static_cast<int>(cols);
    const int filled = (width + kLanes * kPack - 1) / (kLanes * kPack) * kPack;

    // The bounds of the loop are the same in the whole block, so no lane leaves while others shuffle.
    const int64_t step = int64_t{gridDim.x} * kGroups;
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < rows; first += step) {
        const int64_t row = first + group;
        if (kLanes == 32 && row >= rows) return;  // a whole warp may leave
        const auto col_of = [&](int p) { return (p * kLanes + lane) * kPack; };
        const auto has = [&](int p) {
            return (kLanes == 32 || row < rows) && (p < kSurePacks || col_of(p) < width);
        };

        const auto x_row = load.at(row);
        decltype(x_row.template fetch<kPack>(0, true, kNothing)) packs[kPacks];
#pragma unroll
        for (int p = 0; p < kPacks; ++p) {
            packs[p] = x_row.template fetch<kPack>(col_of(p), has(p), kNothing);
        }
        Compute held[kPacks * kPack];
#pragma unroll
        for (int i = 0; i < kPacks * kPack; ++i) {
            const int p = i / kPack;
            held[i] = x_row.template element<Compute>(packs[p], i % kPack, col_of(p));
        }
        normalize<kAlgorithm, typename Store::Element, kLanes, kSurePacks * kPack, Load::kMasks>(
            held, filled);
#pragma unroll
        for (int p = 0; p < kPacks; ++p) {
            if (has(p)) store.template store<kPack>(held + p * kPack, row, col_of(p));
        }
    }
}

// ---------------------------------------------------------------- the launch

// Launches one group per row, but at most a thousand waves of blocks; with more rows, each block loops over rows.
// (With 32 waves, as in OneFlow, 1048576 x 512 takes 1% longer on an H200.)
template <int kLanes, class... Arguments>
cudaError_t launch_rows(void (*kernel)(Arguments...), int64_t rows, cudaStream_t stream,
                        Arguments... arguments) {
    constexpr int64_t kWaves = 1000;
    constexpr int kThreads = kBlockThreads<kLanes>;
    constexpr int64_t kRows = kThreads / kLanes;
    int resident = 0;
    const auto ask = [&](int* answer, int) {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(answer, kernel, kThreads, 0);
    };
    const cudaError_t error = ask_once(&resident, ask, reinterpret_cast<const void*>(kernel));
    if (error != cudaSuccess) return error;
    const int64_t wave = device_attribute(cudaDevAttrMultiProcessorCount) * resident;
    const int64_t blocks =
        std::min((rows + kRows - 1) / kRows, std::max<int64_t>(1, kWaves * wave));
    kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(arguments...);
    return cudaGetLastError();
}

// How a row is spread over registers: over `lanes` lanes with `packs` packs in each lane. Kernels exist only for the
// spreads of next_spread. A lane first gets two packs (or eight single elements), so that its loads are in flight
// together. Then the number of lanes doubles. With all 32 lanes, the number of packs grows by a third or a half (the
// number of single elements doubles).
struct Spread {
    int lanes;
    int packs;
};
constexpr Spread next_spread(Spread spread, int pack) {
    if (pack == 1 && spread.packs < 8) return {1, 8};
    if (pack > 1 && spread.packs == 1) return {2, spread.lanes};  // 1 x 1, 2 x 1, 2 x 2
    if (spread.lanes < 32) return {2 * spread.lanes, spread.packs};
    if (pack == 1) return {32, 2 * spread.packs};
    const bool power_of_two = (spread.packs & (spread.packs - 1)) == 0;
    return {32, power_of_two ? spread.packs / 2 * 3 : spread.packs / 3 * 4};
}

// Maximum number of elements of a row in a lane: 256 bytes in registers. With more, too few warps would be resident
// on a multiprocessor to keep the memory busy.
template <class T>
constexpr int kMaxHeld = 256 / sizeof(ComputeOf<T>);
template <class T>
constexpr int64_t kMaxCols = 32 * kMaxHeld<T>;

// Calls launch(lanes, sure packs, packs) with three compile-time constants, for the smallest spread that holds a row
// of packs of kPack. Returns cudaErrorInvalidValue if a lane would have to hold more than kHeld elements.
template <int kPack, int kHeld, int kLanes = 1, int kSure = 0, int kPacks = kPack == 1 ? 4 : 1,
          class Launch>
cudaError_t with_spread(int64_t cols, Launch launch) {
    constexpr Spread kNext = next_spread({kLanes, kPacks}, kPack);
    if (cols <= kLanes * kPacks * kPack) {
        return launch(std::integral_constant<int, kLanes>{}, std::integral_constant<int, kSure>{},
                      std::integral_constant<int, kPacks>{});
    }
    if constexpr (kNext.packs * kPack <= kHeld) {
        constexpr int kNextSure =
            kLanes * kPacks / kNext.lanes;  // rows that fit the smaller spread do not get here
        return with_spread<kPack, kHeld, kNext.lanes, kNextSure, kNext.packs>(cols, launch);
    }
    return cudaErrorInvalidValue;
}

// Computes the softmax or log-softmax of each row that `load` returns, and passes the results to `store`. Both are
// functors as in loads_and_stores.cuh. cols: up to kMaxCols<Load::Element>, 2048 or 1024. Asynchronous on stream.
// Returns cudaErrorInvalidValue for a negative size, too many columns, or a null or misaligned pointer.
template <Algorithm kAlgorithm, class Load, class Store>
cudaError_t launch(Load load, Store store, int64_t rows, int64_t cols, cudaStream_t stream) {
    using T = typename Load::Element;
    constexpr int kWidest = 16 / std::max(sizeof(T), sizeof(typename Store::Element));
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (cols > kMaxCols<T> || !load.template takes<1>(cols) || !store.template takes<1>(cols)) {
        return cudaErrorInvalidValue;
    }
    const auto with_pack = [&](auto pack) {
        return with_spread<pack.value, kMaxHeld<T>>(cols, [&](auto lanes, auto sure, auto packs) {
            return launch_rows<lanes.value>(row_groups_kernel<kAlgorithm, pack.value, lanes.value,
                                                              sure.value, packs.value, Load, Store>,
                                            rows, stream, load, store, rows, cols);
        });
    };
    return load.template takes<kWidest>(cols) && store.template takes<kWidest>(cols)
               ? with_pack(std::integral_constant<int, kWidest>{})
               : with_pack(std::integral_constant<int, 1>{});
}

// Writes the softmax of each row of x to y (rows x cols, device memory, y may be x). cols: up to kMaxCols<T>.
// Asynchronous on stream. Returns the errors of launch.
template <class T>
cudaError_t row_groups_softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch<Algorithm::softmax>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols}, rows, cols,
                                      stream);
}

// Writes log(softmax(x)) of each row of x to y.
template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch<Algorithm::log_softmax>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols}, rows,
                                          cols, stream);
}

}  // namespace warp_softmax
