// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/row_groups, version 1.0
//
// The lesson, tuned: a row lives in the registers of as many lanes as it fills, 1 to 32.
//   new here   groups of lanes; packs that every lane has are loaded without a test; blocks that walk on
//   traffic    1 read + 1 write per element
//   accepts    float, __half, __nv_bfloat16, double; up to 2048 columns (double: 1024); Load and Store
//              functors, so any row stride; y may be x where their strides are equal
//   rows       as in 04; where a functor masks, a row with nothing left becomes zeros (log: -inf)
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

// All lanes of a group get the largest, or the sum, of what they bring. Groups are aligned parts of
// a warp, and all of a warp's lanes take part.
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

// A row in the registers of a group becomes its softmax or log-softmax. A lane has kHeld elements,
// -inf behind the row's end; those from `filled` on are behind it in every lane and are skipped, the
// first kSure are in the row in every lane and need no test. kMasks: a row of -inf alone becomes
// zeros (its log-softmax stays -inf), not NaN.
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

    const bool empty = kMasks && sum == 0;  // not "max was -inf": a NaN must stay visible
    const Compute scale = empty ? 0 : 1 / sum;
    const Compute log_sum = empty ? 0 : std::log(sum / kLift<T>);
#pragma unroll
    for (Compute& element : held) {
        element = kAlgorithm == Algorithm::softmax ? element * scale : element - log_sum;
    }
}

// Where a row takes a whole warp, small blocks: another starts as soon as two rows are done, not four,
// and 1048576 x 512 takes 1% less. (Narrow rows would take 3% more.)
template <int kLanes>
constexpr int kBlockThreads = kLanes == 32 ? 64 : 128;

// A group of kLanes lanes per row; a lane holds kPacks packs of kPack neighbours, of which the row
// fills the first kSurePacks in every lane.
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

    // The loop's bounds are the block's: no lane leaves the shuffles of the others.
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

// One group per row, up to a thousand waves of blocks; then each walks over more. (With 32 waves, as in
// OneFlow, 1048576 x 512 takes 1% longer on an H200.)
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

// How a row is spread over registers, of which a few ways are compiled: a lane has two packs (or
// eight elements) before more lanes join, so that its loads wait together; with all 32, the packs
// grow by a third or a half, and elements double. What a row leaves empty costs a comparison.
struct Tile {
    int lanes;
    int packs;
};
constexpr Tile next_tile(Tile tile, int pack) {
    if (pack == 1 && tile.packs < 8) return {1, 8};
    if (pack > 1 && tile.packs == 1) return {2, tile.lanes};  // 1 x 1, 2 x 1, 2 x 2
    if (tile.lanes < 32) return {2 * tile.lanes, tile.packs};
    if (pack == 1) return {32, 2 * tile.packs};
    const bool power_of_two = (tile.packs & (tile.packs - 1)) == 0;
    return {32, power_of_two ? tile.packs / 2 * 3 : tile.packs / 3 * 4};
}

// How many elements of a row a lane may hold: 256 bytes in registers. More, and too few warps fit on a
// multiprocessor to keep the memory busy.
template <class T>
constexpr int kMaxHeld = 256 / sizeof(ComputeOf<T>);
template <class T>
constexpr int64_t kMaxCols = 32 * kMaxHeld<T>;

// Calls launch(lanes, sure packs, packs), three constants, for the smallest tile that holds a row of
// packs of kPack. cudaErrorInvalidValue where a lane would have to hold more than kHeld elements.
template <int kPack, int kHeld, int kLanes = 1, int kSure = 0, int kPacks = kPack == 1 ? 4 : 1,
          class Launch>
cudaError_t with_tile(int64_t cols, Launch launch) {
    constexpr Tile kNext = next_tile({kLanes, kPacks}, kPack);
    if (cols <= kLanes * kPacks * kPack) {
        return launch(std::integral_constant<int, kLanes>{}, std::integral_constant<int, kSure>{},
                      std::integral_constant<int, kPacks>{});
    }
    if constexpr (kNext.packs * kPack <= kHeld) {
        constexpr int kNextSure =
            kLanes * kPacks / kNext.lanes;  // a row that fits here is not there
        return with_tile<kPack, kHeld, kNext.lanes, kNextSure, kNext.packs>(cols, launch);
    }
    return cudaErrorInvalidValue;
}

// Softmax or log-softmax of each row that `load` gives, into where `store` puts it: any two functors
// like those above. cols: 1 to kMaxCols<Load::Element>, 2048 or 1024. Asynchronous on stream.
// cudaErrorInvalidValue for a negative size, more columns, and an address that is null or that no T has.
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
        return with_tile<pack.value, kMaxHeld<T>>(cols, [&](auto lanes, auto sure, auto packs) {
            return launch_rows<lanes.value>(row_groups_kernel<kAlgorithm, pack.value, lanes.value,
                                                              sure.value, packs.value, Load, Store>,
                                            rows, stream, load, store, rows, cols);
        });
    };
    return load.template takes<kWidest>(cols) && store.template takes<kWidest>(cols)
               ? with_pack(std::integral_constant<int, kWidest>{})
               : with_pack(std::integral_constant<int, 1>{});
}

// Softmax of each row of x into y (rows x cols, device memory, y may be x). cols: up to kMaxCols<T>.
// Asynchronous on stream. Errors as launch.
template <class T>
cudaError_t row_groups_softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch<Algorithm::softmax>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols}, rows, cols,
                                      stream);
}

// log(softmax(x)) of each row.
template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch<Algorithm::log_softmax>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols}, rows,
                                          cols, stream);
}

}  // namespace warp_softmax
