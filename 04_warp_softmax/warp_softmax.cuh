// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax, version 1.0
//
// A row lives in the registers of a few lanes: it is read once and written once.
//   new here   groups of 1 to 32 lanes share a row; packs of 16 bytes; types; Load and Store functors
//   traffic    03: 2 reads + 1 write per element  ->  04: 1 read + 1 write
//   accepts    float, __half, __nv_bfloat16, double; up to 2048 columns; any row stride; y may be x
//   rows       as in 03; where a functor masks, a row with nothing left becomes zeros
//   source     OneFlow's oneflow/core/cuda/softmax.cuh (2021), warp tier: rebuilt, with wider packs
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace warp_softmax {

// ---------------------------------------------------------------- types and packs

// What a type is computed in: the small ones in float.
template <class T>
using ComputeOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

// kPack neighbours that move in one access. Their address must be a multiple of their size.
template <class T, int kPack>
struct __align__(sizeof(T) * kPack) Pack {
    T element[kPack];
};

// The largest pack of 16 bytes or less that divides a row's columns, its stride, and its address.
template <class T>
int widest_pack(const void* address, int64_t row_stride, int64_t cols) {
    int pack = static_cast<int>(16 / sizeof(T));
    const auto fits = [&](int n) {
        return cols % n == 0 && row_stride % n == 0 &&
               reinterpret_cast<uintptr_t>(address) % (n * sizeof(T)) == 0;
    };
    while (!fits(pack)) pack /= 2;
    return pack;
}

// ---------------------------------------------------------------- where rows come from and go

// The plain case: element (row, col) is x[row * row_stride + col].
template <class T>
struct DirectLoad {
    using Element = T;
    static constexpr bool kMasks = false;  // whether a row may come out without any element
    const T* x;
    int64_t row_stride;

    int widest_pack(int64_t cols) const {
        return warp_softmax::widest_pack<T>(x, row_stride, cols);
    }

    template <int kPack, class Compute>
    __device__ void load(Compute (&to)[kPack], int64_t row, int64_t col) const {
        const auto pack = *reinterpret_cast<const Pack<T, kPack>*>(x + row * row_stride + col);
#pragma unroll
        for (int i = 0; i < kPack; ++i) to[i] = static_cast<Compute>(pack.element[i]);
    }
};

template <class T>
struct DirectStore {
    using Element = T;
    T* y;
    int64_t row_stride;

    int widest_pack(int64_t cols) const {
        return warp_softmax::widest_pack<T>(y, row_stride, cols);
    }

    template <int kPack, class Compute>
    __device__ void store(const Compute (&from)[kPack], int64_t row, int64_t col) const {
        Pack<T, kPack> pack;
#pragma unroll
        for (int i = 0; i < kPack; ++i) pack.element[i] = static_cast<T>(from[i]);
        *reinterpret_cast<Pack<T, kPack>*>(y + row * row_stride + col) = pack;
    }
};

// ---------------------------------------------------------------- the kernel

enum class Algorithm { softmax, log_softmax };

__device__ inline float exponential(float x) {
    return expf(x);
}
__device__ inline double exponential(double x) {
    return exp(x);
}
__device__ inline float logarithm(float x) {
    return logf(x);
}
__device__ inline double logarithm(double x) {
    return log(x);
}

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

constexpr int kBlockThreads = 128;

// A group of kLanes lanes takes kRows rows at a time; a lane holds kPacks packs of each of them.
template <Algorithm kAlgorithm, int kPack, int kPacks, int kLanes, int kRows, class Load,
          class Store>
__global__ void __launch_bounds__(kBlockThreads)
    warp_softmax_kernel(Load load, Store store, int64_t rows, int64_t cols) {
    using Compute = ComputeOf<typename Load::Element>;
    constexpr int kGroups = kBlockThreads / kLanes;
    constexpr Compute kNothing = -static_cast<Compute>(INFINITY);
    const int lane = threadIdx.x % kLanes;
    const int group = threadIdx.x / kLanes;

    // The loop's bounds are the block's, so that no lane leaves the shuffles of the others.
    const int64_t step = int64_t{gridDim.x} * kGroups * kRows;
    for (int64_t first = int64_t{blockIdx.x} * kGroups * kRows; first < rows; first += step) {
        const int64_t row = first + group * kRows;

        Compute held[kRows][kPacks][kPack];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
            for (int p = 0; p < kPacks; ++p) {
                const int64_t col = (p * kLanes + lane) * kPack;
                if (row + r < rows && col < cols) {
                    load.template load<kPack>(held[r][p], row + r, col);
                } else {  // beyond the row: what adds nothing
                    for (Compute& element : held[r][p]) element = kNothing;
                }
            }
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            Compute max = kNothing;
#pragma unroll
            for (int p = 0; p < kPacks; ++p) {
                for (const Compute element : held[r][p]) max = fmax(max, element);
            }
            max = group_max<kLanes>(max);
            if (Load::kMasks && max == kNothing) max = 0;  // -inf - (-inf) would be NaN

            Compute sum = 0;
#pragma unroll
            for (int p = 0; p < kPacks; ++p) {
                for (Compute& element : held[r][p]) {
                    element -= max;
                    const Compute share = exponential(element);
                    sum += share;
                    if (kAlgorithm == Algorithm::softmax) element = share;
                }
            }
            sum = group_sum<kLanes>(sum);

            const bool empty = Load::kMasks && sum == 0;
            const Compute scale = empty ? 0 : 1 / sum;
            const Compute log_sum = empty ? 0 : logarithm(sum);
#pragma unroll
            for (int p = 0; p < kPacks; ++p) {
                for (Compute& element : held[r][p]) {
                    element =
                        kAlgorithm == Algorithm::softmax ? element * scale : element - log_sum;
                }
                const int64_t col = (p * kLanes + lane) * kPack;
                if (row + r < rows && col < cols) {
                    store.template store<kPack>(held[r][p], row + r, col);
                }
            }
        }
    }
}

// ---------------------------------------------------------------- the launch

// Blocks that keep a GPU busy for 32 waves; each then walks over more rows.
inline cudaError_t grid_for(const void* kernel, int64_t blocks_wanted, unsigned* blocks) {
    constexpr int64_t kWaves = 32;
    int device = 0;
    int multiprocessors = 0;
    int resident = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kBlockThreads, 0);
    if (error != cudaSuccess) return error;
    *blocks = static_cast<unsigned>(
        std::min(blocks_wanted, std::max<int64_t>(1, kWaves * multiprocessors * resident)));
    return cudaSuccess;
}

template <Algorithm kAlgorithm, int kPack, int kPacks, int kLanes, class Load, class Store>
cudaError_t launch_tile(Load load, Store store, int64_t rows, int64_t cols, cudaStream_t stream) {
    constexpr int kRows = kPacks == 1 ? 2 : 1;  // a lane with little of a row takes two of them
    constexpr int kRowsPerBlock = kBlockThreads / kLanes * kRows;
    const auto kernel = warp_softmax_kernel<kAlgorithm, kPack, kPacks, kLanes, kRows, Load, Store>;
    unsigned blocks = 0;
    const cudaError_t error = grid_for(reinterpret_cast<const void*>(kernel),
                                       (rows + kRowsPerBlock - 1) / kRowsPerBlock, &blocks);
    if (error != cudaSuccess) return error;
    kernel<<<blocks, kBlockThreads, 0, stream>>>(load, store, rows, cols);
    return cudaGetLastError();
}

constexpr int kMaxHeld = 64;  // elements of a row in the registers of a lane
constexpr int64_t kMaxCols = 32 * kMaxHeld;

// The next number of packs for which there is a kernel: 1, 2, 3, 4, 6, 8, 12, 16 ...
constexpr int next_packs(int packs) {
    if (packs == 1) return 2;
    return (packs & (packs - 1)) == 0 ? packs / 2 * 3 : packs / 3 * 4;
}

// The smallest tile that holds a row: first more lanes with one pack each, then, with the whole
// warp, more packs. A few sizes only, each kernel of which is compiled: what a row leaves of the
// tile is padding in registers and costs no memory traffic.
template <Algorithm kAlgorithm, int kPack, int kPacks, int kLanes, class Load, class Store>
cudaError_t launch_fitting(Load load, Store store, int64_t rows, int64_t cols,
                           cudaStream_t stream) {
    if (cols <= kLanes * kPacks * kPack) {
        return launch_tile<kAlgorithm, kPack, kPacks, kLanes>(load, store, rows, cols, stream);
    }
    if constexpr (kLanes < 32) {
        return launch_fitting<kAlgorithm, kPack, kPacks, 2 * kLanes>(load, store, rows, cols,
                                                                     stream);
    } else if constexpr (next_packs(kPacks) * kPack <= kMaxHeld) {
        return launch_fitting<kAlgorithm, kPack, next_packs(kPacks), 32>(load, store, rows, cols,
                                                                         stream);
    } else {
        return cudaErrorInvalidValue;
    }
}

// Softmax or log-softmax of each row that `load` gives, into where `store` puts it: any two functors
// like those above. cols: 1 to kMaxCols. Asynchronous on stream. cudaErrorInvalidValue for a negative
// size and for more columns.
template <Algorithm kAlgorithm, class Load, class Store>
cudaError_t launch(Load load, Store store, int64_t rows, int64_t cols, cudaStream_t stream) {
    constexpr int kWidest = 16 / sizeof(typename Load::Element);
    if (rows < 0 || cols < 0 || cols > kMaxCols) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (std::min(load.widest_pack(cols), store.widest_pack(cols)) >= kWidest) {
        return launch_fitting<kAlgorithm, kWidest, 1, 1>(load, store, rows, cols, stream);
    }
    return launch_fitting<kAlgorithm, 1, 1, 1>(load, store, rows, cols, stream);
}

// Softmax of each row of x into y (rows x cols, device memory, y may be x). cols: up to kMaxCols.
// Asynchronous on stream. cudaErrorInvalidValue for a null pointer, a negative size, too many columns.
template <class T>
cudaError_t softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    if (rows > 0 && cols > 0 && (x == nullptr || y == nullptr)) return cudaErrorInvalidValue;
    return launch<Algorithm::softmax>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols}, rows, cols,
                                      stream);
}

// log(softmax(x)) of each row.
template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    if (rows > 0 && cols > 0 && (x == nullptr || y == nullptr)) return cudaErrorInvalidValue;
    return launch<Algorithm::log_softmax>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols}, rows,
                                          cols, stream);
}

}  // namespace warp_softmax
