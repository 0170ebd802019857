// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/warp_softmax_backward, version 1.0
//
// The gradient of softmax and of log-softmax, from the result y and the gradient dy of the result.
//   new here   two rows in registers, one reduction
//   traffic    2 reads + 1 write per element
//   accepts    as the lesson, up to 1024 columns; dx may be dy or y
//   source     softmax: dx = (dy - sum(y * dy)) * y; log-softmax: dx = dy - exp(y) * sum(dy)
#pragma once
#include "../warp_softmax.cuh"

namespace warp_softmax {

// As warp_softmax_kernel, with two loads.
template <Algorithm kAlgorithm, int kPack, int kPacks, int kLanes, class LoadY, class LoadDy,
          class Store>
__global__ void __launch_bounds__(kBlockThreads)
    warp_softmax_backward_kernel(LoadY load_y, LoadDy load_dy, Store store, int64_t rows,
                                 int64_t cols) {
    using Compute = ComputeOf<typename LoadY::Element>;
    constexpr int kGroups = kBlockThreads / kLanes;
    const int lane = threadIdx.x % kLanes;
    const int group = threadIdx.x / kLanes;

    const int64_t step = int64_t{gridDim.x} * kGroups;
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < rows; first += step) {
        const int64_t row = first + group;
        Compute y[kPacks][kPack];
        Compute dy[kPacks][kPack];
#pragma unroll
        for (int p = 0; p < kPacks; ++p) {
            const int64_t col = (p * kLanes + lane) * kPack;
            if (row < rows && col < cols) {
                load_y.template load<kPack>(y[p], row, col);
                load_dy.template load<kPack>(dy[p], row, col);
            } else {  // beyond the row: what adds nothing
#pragma unroll
                for (int i = 0; i < kPack; ++i) y[p][i] = dy[p][i] = 0;
            }
        }
        Compute sum = 0;
#pragma unroll
        for (int p = 0; p < kPacks; ++p) {
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                sum += kAlgorithm == Algorithm::softmax ? y[p][i] * dy[p][i] : dy[p][i];
            }
        }
        sum = group_sum<kLanes>(sum);
#pragma unroll
        for (int p = 0; p < kPacks; ++p) {
            const int64_t col = (p * kLanes + lane) * kPack;
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                dy[p][i] = kAlgorithm == Algorithm::softmax ? (dy[p][i] - sum) * y[p][i]
                                                            : dy[p][i] - exponential(y[p][i]) * sum;
            }
            if (row < rows && col < cols) store.template store<kPack>(dy[p], row, col);
        }
    }
}

constexpr int kMaxHeldBackward = 32;  // of each of y and dy in the registers of a lane

template <Algorithm kAlgorithm, int kPack, int kPacks, int kLanes, class LoadY, class LoadDy,
          class Store>
cudaError_t launch_fitting_backward(LoadY load_y, LoadDy load_dy, Store store, int64_t rows,
                                    int64_t cols, cudaStream_t stream) {
    if (cols <= kLanes * kPacks * kPack) {
        constexpr int kRowsPerBlock = kBlockThreads / kLanes;
        const auto kernel =
            warp_softmax_backward_kernel<kAlgorithm, kPack, kPacks, kLanes, LoadY, LoadDy, Store>;
        unsigned blocks = 0;
        const cudaError_t error = grid_for(reinterpret_cast<const void*>(kernel),
                                           (rows + kRowsPerBlock - 1) / kRowsPerBlock, &blocks);
        if (error != cudaSuccess) return error;
        kernel<<<blocks, kBlockThreads, 0, stream>>>(load_y, load_dy, store, rows, cols);
        return cudaGetLastError();
    }
    if constexpr (kLanes < 32) {
        return launch_fitting_backward<kAlgorithm, kPack, kPacks, 2 * kLanes>(
            load_y, load_dy, store, rows, cols, stream);
    } else if constexpr (next_packs(kPacks) * kPack <= kMaxHeldBackward) {
        return launch_fitting_backward<kAlgorithm, kPack, next_packs(kPacks), 32>(
            load_y, load_dy, store, rows, cols, stream);
    } else {
        return cudaErrorInvalidValue;
    }
}

// The gradient of each row, from functors. cols: up to 32 * kMaxHeldBackward. Errors as launch.
template <Algorithm kAlgorithm, class LoadY, class LoadDy, class Store>
cudaError_t launch_backward(LoadY load_y, LoadDy load_dy, Store store, int64_t rows, int64_t cols,
                            cudaStream_t stream) {
    constexpr int kWidest = 16 / sizeof(typename LoadY::Element);
    if (rows < 0 || cols < 0 || cols > 32 * kMaxHeldBackward) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    const int pack =
        std::min({load_y.widest_pack(cols), load_dy.widest_pack(cols), store.widest_pack(cols)});
    if (pack >= kWidest) {
        return launch_fitting_backward<kAlgorithm, kWidest, 1, 1>(load_y, load_dy, store, rows,
                                                                  cols, stream);
    }
    return launch_fitting_backward<kAlgorithm, 1, 1, 1>(load_y, load_dy, store, rows, cols, stream);
}

// dx of softmax and of log_softmax (rows x cols, device memory), from their result y and its gradient
// dy. Asynchronous on stream. cudaErrorInvalidValue as softmax.
template <class T>
cudaError_t softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                             cudaStream_t stream) {
    if (rows > 0 && cols > 0 && (y == nullptr || dy == nullptr || dx == nullptr)) {
        return cudaErrorInvalidValue;
    }
    return launch_backward<Algorithm::softmax>(DirectLoad<T>{y, cols}, DirectLoad<T>{dy, cols},
                                               DirectStore<T>{dx, cols}, rows, cols, stream);
}
template <class T>
cudaError_t log_softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
    if (rows > 0 && cols > 0 && (y == nullptr || dy == nullptr || dx == nullptr)) {
        return cudaErrorInvalidValue;
    }
    return launch_backward<Algorithm::log_softmax>(DirectLoad<T>{y, cols}, DirectLoad<T>{dy, cols},
                                                   DirectStore<T>{dx, cols}, rows, cols, stream);
}

}  // namespace warp_softmax
