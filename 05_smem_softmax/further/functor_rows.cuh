// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/functor_rows, version 1.0
//
// The lesson's kernel with 04's functors: long rows of any stride, scaled and masked rows, and log-softmax.
//   new here   shared memory keeps what the Load fetched; for a masked row, these are x and its mask
//   traffic    1 write, and 1 read of each element that the Load fetches; Uncached: 3 reads + 1 write
//   accepts    float, __half, __nv_bfloat16, double, as long as a row fits; Uncached: any row
//   rows       as in 04; the results of a completely masked row are 0 (log-softmax: -inf)
//   source     OneFlow's oneflow/core/cuda/softmax.cuh (2021), tiers two and three
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "../../04_warp_softmax/further/row_groups.cuh"
#include "../smem_softmax.cuh"

namespace smem_softmax {

using warp_softmax::Algorithm;
using warp_softmax::ComputeOf;
using warp_softmax::device_attribute;
using warp_softmax::DirectLoad;
using warp_softmax::DirectStore;
using warp_softmax::kLift;
using warp_softmax::lifted_exp;

// The type that a Load fetches at once: a Pack, or the type that its element() takes.
template <class Load, int kPack>
using FetchedBy = decltype(std::declval<Load>().at(0).template fetch<kPack>(0, true, {}));

// Each block loops over rows. Layout: Whole or Uncached.
template <Algorithm kAlgorithm, class Layout, int kPack, int kThreads, class Load, class Store>
__global__ void __launch_bounds__(kThreads)
    functor_rows_kernel(Load load, Store store, int64_t rows, int64_t cols) {
    using T = typename Store::Element;
    using Compute = ComputeOf<typename Load::Element>;
    using Fetched = FetchedBy<Load, kPack>;
    constexpr Compute kNothing = -static_cast<Compute>(INFINITY);
    const int packs = static_cast<int>(cols / kPack);
    unsigned char* const kept = shared_bytes;
    __shared__ BlockScratch<kThreads, Compute> max_scratch, sum_scratch;
    const auto larger = [](Compute a, Compute b) { return fmax(a, b); };
    const auto total = [](Compute a, Compute b) { return a + b; };

    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const auto x_row = load.at(row);
        const auto fetch = [&](int p) {
            return x_row.template fetch<kPack>(p * kPack, true, kNothing);
        };
        const auto fetch_again = [&](int p) {
            Fetched fetched = Layout::kKeeps ? Fetched{} : fetch(p);
            if constexpr (Layout::kKeeps) Layout::get(fetched, kept, p, packs);
            return fetched;
        };
        const auto element = [&](const Fetched& fetched, int i, int p) {
            return x_row.template element<Compute>(fetched, i, p * kPack);
        };

        Compute max = kNothing;
        for (int p = threadIdx.x; p < packs; p += kThreads) {
            const Fetched fetched = fetch(p);
            if constexpr (Layout::kKeeps) Layout::put(fetched, kept, p, packs);
            for (int i = 0; i < kPack; ++i) max = fmax(max, element(fetched, i, p));
        }
        max = reduce_in_row(max, larger, max_scratch);
        if (Load::kMasks && max == kNothing) max = 0;  // an empty row, as in 04

        Compute sum = 0;
        for (int p = threadIdx.x; p < packs; p += kThreads) {
            const Fetched fetched = fetch_again(p);
            for (int i = 0; i < kPack; ++i) sum += lifted_exp<T>(element(fetched, i, p) - max);
        }
        sum = reduce_in_row(sum, total, sum_scratch);

        const bool empty = Load::kMasks && sum == 0;
        const Compute scale = empty ? 0 : 1 / sum;
        const Compute log_sum = empty ? 0 : std::log(sum / kLift<T>);
        for (int p = threadIdx.x; p < packs; p += kThreads) {
            const Fetched fetched = fetch_again(p);
            Compute result[kPack];
            for (int i = 0; i < kPack; ++i) {
                const Compute below = element(fetched, i, p) - max;
                result[i] = kAlgorithm == Algorithm::softmax ? lifted_exp<T>(below) * scale
                                                             : below - log_sum;
            }
            // 64 bits: with a 32-bit column, nvcc (13.0) stores the elements one by one.
            store.template store<kPack>(result, row, int64_t{p} * kPack);
        }
    }
}

// ---------------------------------------------------------------- the launch

// Chooses the block size as in the lesson. As OneFlow does, launches at most 32 times as many blocks as the GPU
// holds at once; if there are more rows, each block loops over rows.
template <Algorithm kAlgorithm, class Layout, int kPack, class Load, class Store, int... kThreads>
cudaError_t launch_functor_rows(BlockSizes<kThreads...>, Load load, Store store, int64_t rows,
                                int64_t cols, cudaStream_t stream) {
    constexpr int64_t kBytes = Layout::kKeeps ? sizeof(FetchedBy<Load, kPack>) / kPack : 0;
    constexpr int kSizes[] = {kThreads...};
    using Kernel = void (*)(Load, Store, int64_t, int64_t);
    const Kernel kernels[] = {
        functor_rows_kernel<kAlgorithm, Layout, kPack, kThreads, Load, Store>...};
    if (cols * kBytes > room_for_rows()) return cudaErrorInvalidValue;
    const auto shared = static_cast<size_t>(cols * kBytes);
    Choice best{};
    const cudaError_t error = choose(&best, kernels, kSizes, 1, cols / kPack, shared);
    if (error != cudaSuccess) return error;
    const int64_t most = 32 * device_attribute(cudaDevAttrMultiProcessorCount) * best.resident;
    const auto blocks = static_cast<unsigned>(std::min(rows, std::max<int64_t>(1, most)));
    kernels[best.kernel]<<<blocks, kSizes[best.kernel], shared, stream>>>(load, store, rows, cols);
    return cudaGetLastError();
}

// Computes softmax or log-softmax of each row that `load` fetches; `store` writes the results. Functors as in
// 04. Asynchronous on stream. Returns cudaErrorInvalidValue for a null or misaligned pointer, a negative size,
// or rows that do not fit (Uncached: more columns than 2^31 - 1 - 1024).
template <Algorithm kAlgorithm, class Layout = Whole, class Load, class Store>
cudaError_t launch(Load load, Store store, int64_t rows, int64_t cols, cudaStream_t stream) {
    constexpr int kPack = Layout::pack_size(
        std::max(sizeof(typename Load::Element), sizeof(typename Store::Element)));
    constexpr SizesFor<Layout> kSizes{};
    if (rows < 0 || cols < 0 || cols > INT32_MAX - 1024) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (!load.template takes<1>(cols) || !store.template takes<1>(cols)) {
        return cudaErrorInvalidValue;
    }
    return load.template takes<kPack>(cols) && store.template takes<kPack>(cols)
               ? launch_functor_rows<kAlgorithm, Layout, kPack>(kSizes, load, store, rows, cols,
                                                                stream)
               : launch_functor_rows<kAlgorithm, Layout, 1>(kSizes, load, store, rows, cols,
                                                            stream);
}

// Computes log(softmax(x)) of each row into y (rows x cols, device memory, y may be x). Errors as for launch().
template <class Layout = Whole, class T>
cudaError_t log_softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch<Algorithm::log_softmax, Layout>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols},
                                                  rows, cols, stream);
}

}  // namespace smem_softmax
