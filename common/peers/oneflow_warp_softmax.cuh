// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// OneFlow's softmax of short rows, the first of the three tiers of its softmax.cuh (2021): written
// anew from its description, to be compared with.
//   design     1 to 32 lanes hold a row in registers; packs of 2 where the columns are even; blocks
//              of 128 threads walk over rows, in at most 32 waves; accurate exp, log and division
//   traffic    1 + 1 accesses per element
//   accepts    float, __half, __nv_bfloat16, computed in float; softmax below 1024 columns (from
//              there on the second tier takes over), log-softmax up to 1024; y may be x
//   limits     an access is at (row * row_size + col) / pack, rounded down: with an odd row_size and
//              even columns every other row begins an element early. x and y must be aligned to a
//              pack; nobody looks. No columns are an error, no rows are none
//   kernels    one for each number of elements a lane, padded and not: 140 a type and function, of
//              which those that no shape reaches are not compiled here
//   changed    there a lane whose row is beyond the last leaves the loop, while other lanes of its
//              warp name it in their shuffles; here it stays, repeats a row, and stores nothing
//   source     the description of OneFlow's softmax.cuh, and the article that presents it
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace oneflow_warp_softmax {

enum class Algorithm { softmax, log_softmax };

// Neighbours that move in one access.
template <class T, int kPack>
struct __align__(sizeof(T) * kPack) Pack {
    T element[kPack];
};

// Rows of row_size elements, of which a kernel takes the first cols.
template <class T>
struct DirectLoad {
    using Element = T;
    const T* x;
    int64_t row_size;

    template <int kPack>
    __device__ void load(float* to, int64_t row, int64_t col) const {
        const int64_t offset = (row * row_size + col) / kPack;
        const auto pack = reinterpret_cast<const Pack<T, kPack>*>(x)[offset];
#pragma unroll
        for (int i = 0; i < kPack; ++i) to[i] = static_cast<float>(pack.element[i]);
    }
};

template <class T>
struct DirectStore {
    using Element = T;
    T* y;
    int64_t row_size;

    template <int kPack>
    __device__ void store(const float* from, int64_t row, int64_t col) const {
        Pack<T, kPack> pack;
#pragma unroll
        for (int i = 0; i < kPack; ++i) pack.element[i] = static_cast<T>(from[i]);
        const int64_t offset = (row * row_size + col) / kPack;
        reinterpret_cast<Pack<T, kPack>*>(y)[offset] = pack;
    }
};

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// Every lane of a group of kWidth gets the value of all of them.
template <int kWidth, class Op>
__device__ float all_reduce(float value, Op op) {
#pragma unroll
    for (int step = kWidth / 2; step > 0; step /= 2) {
        value = op(value, __shfl_xor_sync(0xffffffff, value, step));
    }
    return value;
}

constexpr int kBlockThreads = 128;

// A group is a row of the block's threads. It takes kRows neighbouring rows at a time; a lane holds
// kHeld elements of each, in packs.
template <Algorithm kAlgorithm, int kPack, int kHeld, int kWidth, int kRows, bool kPadded,
          class Load, class Store>
__global__ void warp_kernel(Load load, Store store, int64_t rows, int64_t cols) {
    static_assert(kHeld % kPack == 0, "a lane holds whole packs");
    static_assert(kWidth * kHeld <= 1024, "the tier ends at 1024 columns");
    constexpr int kPacks = kHeld / kPack;
    constexpr int kGroupsOfWarp = 32 / kWidth;
    const int lane = threadIdx.x;
    const int group_in_warp = threadIdx.y % kGroupsOfWarp;
    const int64_t group = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    const int64_t step = int64_t{gridDim.x} * blockDim.y * kRows;

    // The loop counts the first row of the warp.
    for (int64_t first = (group - group_in_warp) * kRows; first < rows; first += step) {
        const int64_t own = first + group_in_warp * kRows;
        const bool stores = own < rows;
        const int64_t row = stores ? own : rows - kRows;

        float held[kRows][kHeld];
        float max[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            max[r] = -INFINITY;
#pragma unroll
            for (int p = 0; p < kPacks; ++p) {
                const int col = (p * kWidth + lane) * kPack;
                float* const pack = held[r] + p * kPack;
                if (!kPadded || col < cols) {
                    load.template load<kPack>(pack, row + r, col);
#pragma unroll
                    for (int i = 0; i < kPack; ++i) max[r] = fmaxf(max[r], pack[i]);
                } else {
#pragma unroll
                    for (int i = 0; i < kPack; ++i) pack[i] = -INFINITY;
                }
            }
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) max[r] = all_reduce<kWidth>(max[r], Max{});

        float sum[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            sum[r] = 0.f;
#pragma unroll
            for (int i = 0; i < kHeld; ++i) {
                const float difference = held[r][i] - max[r];
                const float share = expf(difference);
                held[r][i] = kAlgorithm == Algorithm::softmax ? share : difference;
                sum[r] += share;
            }
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) sum[r] = all_reduce<kWidth>(sum[r], Sum{});

#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const float log_sum = kAlgorithm == Algorithm::log_softmax ? logf(sum[r]) : 0.f;
#pragma unroll
            for (int i = 0; i < kHeld; ++i) {
                held[r][i] =
                    kAlgorithm == Algorithm::softmax ? held[r][i] / sum[r] : held[r][i] - log_sum;
            }
#pragma unroll
            for (int p = 0; p < kPacks; ++p) {
                const int col = (p * kWidth + lane) * kPack;
                if (stores && (!kPadded || col < cols)) {
                    store.template store<kPack>(held[r] + p * kPack, row + r, col);
                }
            }
        }
    }
}

// Blocks for 32 waves of all threads that the GPU can hold; each then walks over more rows.
inline cudaError_t blocks_for(int64_t needed, int block_threads, unsigned* blocks) {
    constexpr int64_t kWaves = 32;
    int device = 0;
    int multiprocessors = 0;
    int threads = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
    if (error != cudaSuccess) return error;
    const int64_t most = kWaves * multiprocessors * threads / block_threads;
    *blocks = static_cast<unsigned>(std::max<int64_t>(1, std::min(needed, most)));
    return cudaSuccess;
}

template <Algorithm kAlgorithm, int kPack, int kHeld, int kWidth, int kRows, class Load,
          class Store>
cudaError_t launch_tile(Load load, Store store, int64_t rows, int64_t cols, cudaStream_t stream) {
    constexpr int kGroups = kBlockThreads / kWidth;
    constexpr int kRowsOfBlock = kGroups * kRows;
    unsigned blocks = 0;
    const cudaError_t error =
        blocks_for((rows + kRowsOfBlock - 1) / kRowsOfBlock, kBlockThreads, &blocks);
    if (error != cudaSuccess) return error;
    const dim3 threads(kWidth, kGroups);
    // Only those of OneFlow's 140 kernels that can be reached are compiled: single elements are for
    // odd columns, of which a whole tile is one column alone; two columns are a tile of their own.
    constexpr int kCols = kHeld * kWidth;
    [[maybe_unused]] const auto launch = [&](auto kernel) {
        kernel<<<blocks, threads, 0, stream>>>(load, store, rows, cols);
        return cudaPeekAtLastError();
    };
    if constexpr (kPack == 2 || kCols == 1) {
        if (cols == kCols)
            return launch(warp_kernel<kAlgorithm, kPack, kHeld, kWidth, kRows, false, Load, Store>);
    }
    if constexpr (kCols > 2 * kPack) {
        if (cols < kCols)
            return launch(warp_kernel<kAlgorithm, kPack, kHeld, kWidth, kRows, true, Load, Store>);
    }
    return cudaErrorInvalidValue;
}

// From the narrowest group with a pack a lane to the whole warp, then pack by pack to 32 elements a
// lane. With one pack a lane and an even number of rows, two rows at a time.
template <Algorithm kAlgorithm, int kPack, int kHeld, int kWidth, class Load, class Store>
cudaError_t launch_fitting(Load load, Store store, int64_t rows, int64_t cols,
                           cudaStream_t stream) {
    if (cols <= kWidth * kHeld) {
        if constexpr (kHeld == kPack) {
            if (rows % 2 == 0) {
                return launch_tile<kAlgorithm, kPack, kHeld, kWidth, 2>(load, store, rows, cols,
                                                                        stream);
            }
        }
        return launch_tile<kAlgorithm, kPack, kHeld, kWidth, 1>(load, store, rows, cols, stream);
    }
    if constexpr (kWidth < 32) {
        return launch_fitting<kAlgorithm, kPack, kHeld, 2 * kWidth>(load, store, rows, cols,
                                                                    stream);
    } else if constexpr (kHeld + kPack <= 32) {
        return launch_fitting<kAlgorithm, kPack, kHeld + kPack, kWidth>(load, store, rows, cols,
                                                                        stream);
    } else {
        return cudaErrorInvalidValue;
    }
}

// The widest row that this tier is given.
constexpr int64_t most_cols(Algorithm algorithm) {
    return algorithm == Algorithm::softmax ? 1023 : 1024;
}

// cols: 1 to most_cols. cudaErrorInvalidValue otherwise.
template <Algorithm kAlgorithm, class Load, class Store>
cudaError_t launch(Load load, Store store, int64_t rows, int64_t cols, cudaStream_t stream) {
    if (rows < 0 || cols <= 0 || cols > most_cols(kAlgorithm)) return cudaErrorInvalidValue;
    if (cols % 2 == 0) {
        return launch_fitting<kAlgorithm, 2, 2, 1>(load, store, rows, cols, stream);
    }
    return launch_fitting<kAlgorithm, 1, 1, 1>(load, store, rows, cols, stream);
}

template <class T>
cudaError_t softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch<Algorithm::softmax>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols}, rows, cols,
                                      stream);
}

template <class T>
cudaError_t log_softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch<Algorithm::log_softmax>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols}, rows,
                                          cols, stream);
}

}  // namespace oneflow_warp_softmax
