// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 04_warp_softmax/further/warp_softmax_backward, version 1.0
//
// The gradient dx of x, for softmax and for log-softmax, from the result y and the gradient dy of y.
//   new here   two rows in registers, one reduction
//   traffic    2 reads + 1 write per element
//   accepts    as row_groups, up to 1024 columns (double: 512); dx may be y or dy if both have
//              the same stride
//   source     softmax: dx = (dy - sum(y * dy)) * y; log-softmax: dx = dy - exp(y) * sum(dy)
#pragma once
#include "row_groups.cuh"

namespace warp_softmax {

// Does the same as row_groups_kernel, with two Load functors and the formulas of the gradient.
template <Algorithm kAlgorithm, int kPack, int kLanes, int kSurePacks, int kPacks, class LoadY,
          class LoadDy, class Store>
__global__ void __launch_bounds__(kBlockThreads<kLanes>)
    warp_softmax_backward_kernel(LoadY load_y, LoadDy load_dy, Store store, int64_t rows,
                                 int64_t cols) {
    using T = typename Store::Element;
    using Compute = ComputeOf<T>;
    constexpr int kGroups = kBlockThreads<kLanes> / kLanes;
    const int lane = threadIdx.x % kLanes;
    const int group = threadIdx.x / kLanes;
    const int width = static_cast<int>(cols);

    const int64_t step = int64_t{gridDim.x} * kGroups;
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < rows; first += step) {
        const int64_t row = first + group;
        if (kLanes == 32 && row >= rows) return;  // a whole warp may return
        const auto col_of = [&](int p) { return (p * kLanes + lane) * kPack; };
        const auto has = [&](int p) {
            return (kLanes == 32 || row < rows) && (p < kSurePacks || col_of(p) < width);
        };

        const auto y_row = load_y.at(row);
        const auto dy_row = load_dy.at(row);
        const T kNothing(0.f);  // adds 0 to the sum
        decltype(y_row.template fetch<kPack>(0, true, kNothing)) y_packs[kPacks];
        decltype(dy_row.template fetch<kPack>(0, true, kNothing)) dy_packs[kPacks];
#pragma unroll
        for (int p = 0; p < kPacks; ++p) {
            y_packs[p] = y_row.template fetch<kPack>(col_of(p), has(p), kNothing);
            dy_packs[p] = dy_row.template fetch<kPack>(col_of(p), has(p), kNothing);
        }
        const auto y = [&](int p, int i) {
            return y_row.template element<Compute>(y_packs[p], i, col_of(p));
        };
        const auto dy = [&](int p, int i) {
            return dy_row.template element<Compute>(dy_packs[p], i, col_of(p));
        };

        Compute sum = 0;
#pragma unroll
        for (int p = 0; p < kPacks; ++p) {
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                sum += kAlgorithm == Algorithm::softmax ? y(p, i) * dy(p, i) : dy(p, i);
            }
        }
        sum = group_sum<kLanes>(sum);
#pragma unroll
        for (int p = 0; p < kPacks; ++p) {
            Compute dx[kPack];
#pragma unroll
            for (int i = 0; i < kPack; ++i) {
                dx[i] = kAlgorithm == Algorithm::softmax
                            ? (dy(p, i) - sum) * y(p, i)
                            : dy(p, i) - lifted_exp<T>(y(p, i)) / kLift<T> * sum;
            }
            if (has(p)) store.template store<kPack>(dx, row, col_of(p));
        }
    }
}

// Maximum number of elements of y in a lane. It holds as many elements of dy: together they take 256 bytes.
template <class T>
constexpr int kMaxHeldBackward = kMaxHeld<T> / 2;

// Computes the gradient of each row. cols: up to 32 * kMaxHeldBackward. Returns the errors of launch.
template <Algorithm kAlgorithm, class LoadY, class LoadDy, class Store>
cudaError_t launch_backward(LoadY load_y, LoadDy load_dy, Store store, int64_t rows, int64_t cols,
                            cudaStream_t stream) {
    using T = typename LoadY::Element;
    constexpr int kWidest = 16 / std::max({sizeof(T), sizeof(typename LoadDy::Element),
                                           sizeof(typename Store::Element)});
    const auto all_take = [&](auto pack) {
        return load_y.template takes<pack.value>(cols) &&
               load_dy.template takes<pack.value>(cols) && store.template takes<pack.value>(cols);
    };
    constexpr std::integral_constant<int, 1> kElement;
    constexpr std::integral_constant<int, kWidest> kWhole;
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (cols > 32 * kMaxHeldBackward<T> || !all_take(kElement)) return cudaErrorInvalidValue;
    const auto with_pack = [&](auto pack) {
        return with_spread<pack.value, kMaxHeldBackward<T>>(
            cols, [&](auto lanes, auto sure, auto packs) {
                return launch_rows<lanes.value>(
                    warp_softmax_backward_kernel<kAlgorithm, pack.value, lanes.value, sure.value,
                                                 packs.value, LoadY, LoadDy, Store>,
                    rows, stream, load_y, load_dy, store, rows, cols);
            });
    };
    return all_take(kWhole) ? with_pack(kWhole) : with_pack(kElement);
}

// Write the gradient of x to dx, for y = softmax(x) and for y = log_softmax(x), from y and the gradient dy of y (rows x
// cols, device memory). Asynchronous on stream. Return the errors of launch_backward.
template <class T>
cudaError_t softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                             cudaStream_t stream) {
    return launch_backward<Algorithm::softmax>(DirectLoad<T>{y, cols}, DirectLoad<T>{dy, cols},
                                               DirectStore<T>{dx, cols}, rows, cols, stream);
}
template <class T>
cudaError_t log_softmax_backward(const T* y, const T* dy, T* dx, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
    return launch_backward<Algorithm::log_softmax>(DirectLoad<T>{y, cols}, DirectLoad<T>{dy, cols},
                                                   DirectStore<T>{dx, cols}, rows, cols, stream);
}

}  // namespace warp_softmax
