// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax, version 1.0
//
// A row too long for the registers of a warp lives in the shared memory of a block.
//   new here   layouts of a row in shared memory, and their bank conflicts; block size by occupancy
//   traffic    as 04: 1 read + 1 write per element, while the row fits; uncached: 3 reads + 1 write
//   accepts    what 04 accepts, its functors too, up to what shared memory has room for: on an H200
//              57,856 floats or 115,712 halves; uncached takes any row
//   rows       as in 04
//   source     OneFlow's oneflow/core/cuda/softmax.cuh (2021), tiers two and three; x keeps its type
#pragma once
#include <cub/block/block_reduce.cuh>

#include "../04_warp_softmax/warp_softmax.cuh"

extern __shared__ __align__(128) unsigned char shared_bytes[];

namespace smem_softmax {

using warp_softmax::Algorithm;
using warp_softmax::ComputeOf;
using warp_softmax::device_attribute;
using warp_softmax::DirectLoad;
using warp_softmax::DirectStore;
using warp_softmax::kLift;
using warp_softmax::lifted_exp;
using warp_softmax::Pack;

// ---------------------------------------------------------------- layouts of a row

// A layout keeps a row between the loops over it: put() leaves pack p of `packs` in the row's piece of
// shared memory, get() brings it back to the same thread. pack_of: elements that move at once where
// widths and addresses allow it. Threads: how many a row may have, the fewest first.
template <int... kThreads>
using BlockSizes = std::integer_sequence<int, kThreads...>;

// Element by element, packs of two, as in OneFlow. Packed: in the row's order, so that of neighbouring
// lanes element i is two places apart. Interleaved: all elements 0, then all elements 1, side by side.
template <bool kInterleaved>
struct ByElement {
    using Threads = BlockSizes<128, 256, 512, 1024>;
    static constexpr bool kKeeps = true;
    static constexpr int pack_of(size_t /*element_bytes*/) { return 2; }

    template <class T, int kPack>
    __device__ static T& place(unsigned char* kept, int p, int i, int packs) {
        return reinterpret_cast<T*>(kept)[kInterleaved ? i * packs + p : p * kPack + i];
    }
    template <class T, int kPack>
    __device__ static void put(const Pack<T, kPack>& from, unsigned char* kept, int p, int packs) {
        for (int i = 0; i < kPack; ++i) place<T, kPack>(kept, p, i, packs) = from.element[i];
    }
    template <class T, int kPack>
    __device__ static void get(Pack<T, kPack>& to, unsigned char* kept, int p, int packs) {
        for (int i = 0; i < kPack; ++i) to.element[i] = place<T, kPack>(kept, p, i, packs);
    }
};
using Packed = ByElement<false>;
using Interleaved = ByElement<true>;

// 16 bytes as one access. The cast says what nvcc cannot always prove: that they are aligned.
struct Whole {
    using Threads = BlockSizes<128, 256, 512, 1024>;
    static constexpr bool kKeeps = true;
    static constexpr int pack_of(size_t element_bytes) { return 16 / int(element_bytes); }

    template <class Fetched>
    __device__ static void put(const Fetched& from, unsigned char* kept, int p, int /*packs*/) {
        reinterpret_cast<Fetched*>(kept)[p] = from;
    }
    template <class Fetched>
    __device__ static void get(Fetched& to, unsigned char* kept, int p, int /*packs*/) {
        to = reinterpret_cast<Fetched*>(kept)[p];
    }
};

// Nothing is kept: each loop fetches the row again, from the L2 with luck. Few blocks, large ones: the
// fewer rows at a time, the more of them the L2 still has.
struct Uncached {
    using Threads = BlockSizes<1024>;
    static constexpr bool kKeeps = false;
    static constexpr int pack_of(size_t element_bytes) { return 16 / int(element_bytes); }
};

// ---------------------------------------------------------------- the kernel

// What a load fetches at once: a Pack, or whatever its element() wants to see.
template <class Load, int kPack>
using FetchedBy = decltype(std::declval<Load>().at(0).template fetch<kPack>(0, true, {}));

// All threads of a row, a warp or a block, get the reduction of what they bring.
template <int kThreads, class Compute, class Merge>
__device__ Compute reduce_in_row(Compute value, Merge merge) {
    if constexpr (kThreads == 32) {
        for (int step = 16; step > 0; step /= 2) {
            value = merge(value, __shfl_xor_sync(~0u, value, step));
        }
        return value;
    } else {
        using BlockReduce = cub::BlockReduce<Compute, kThreads>;
        __shared__ typename BlockReduce::TempStorage scratch;
        __shared__ Compute of_all;
        value = BlockReduce(scratch).Reduce(value, merge);
        if (threadIdx.x == 0) of_all = value;  // the only thread that has it
        __syncthreads();
        return of_all;
    }
}

// kThreads threads per row, kRows rows per block: threadIdx.y is the row in the block.
template <Algorithm kAlgorithm, class Layout, int kPack, int kThreads, int kRows, class Load,
          class Store>
__global__ void __launch_bounds__(kThreads* kRows)
    rows_kernel(Load load, Store store, int64_t rows, int64_t cols) {
    static_assert(kRows == 1 || kThreads == 32, "rows that share a block must not share barriers");
    using T = typename Store::Element;
    using Compute = ComputeOf<typename Load::Element>;
    using Fetched = FetchedBy<Load, kPack>;
    constexpr Compute kNothing = -static_cast<Compute>(INFINITY);
    const int packs = static_cast<int>(cols / kPack);
    const int row_in_block = kRows == 1 ? 0 : threadIdx.y;
    unsigned char* const kept = shared_bytes + row_in_block * cols * (sizeof(Fetched) / kPack);

    const int64_t step = int64_t{gridDim.x} * kRows;
    for (int64_t row = int64_t{blockIdx.x} * kRows + row_in_block; row < rows; row += step) {
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
        max = reduce_in_row<kThreads>(max, [](Compute a, Compute b) { return fmax(a, b); });
        if (Load::kMasks && max == kNothing) max = 0;  // as in 04

        Compute sum = 0;
        for (int p = threadIdx.x; p < packs; p += kThreads) {
            const Fetched fetched = fetch_again(p);
            for (int i = 0; i < kPack; ++i) sum += lifted_exp<T>(element(fetched, i, p) - max);
        }
        sum = reduce_in_row<kThreads>(sum, [](Compute a, Compute b) { return a + b; });

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
            // 64 bits: of a column in 32, nvcc (13.0) stores the elements one by one.
            store.template store<kPack>(result, row, int64_t{p} * kPack);
        }
    }
}

// ---------------------------------------------------------------- the launch

// Bytes of shared memory for the rows of one block: all that there is but 1 KB, for the reductions.
inline int64_t room_for_rows() {
    return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 1024;
}

// With the largest block of which a multiprocessor holds as many as of the smallest: while one waits at
// a barrier the others go on, and more threads in each come for free, as far as there are packs for
// them. Up to 32 times as many blocks as the GPU holds, as in OneFlow; then each walks over more rows.
template <Algorithm kAlgorithm, class Layout, int kPack, int kRows, class Load, class Store,
          int... kThreads>
cudaError_t launch_blocks(BlockSizes<kThreads...>, Load load, Store store, int64_t rows,
                          int64_t cols, cudaStream_t stream) {
    constexpr int64_t kBytes = Layout::kKeeps ? sizeof(FetchedBy<Load, kPack>) / kPack : 0;
    constexpr int kSizes[] = {kThreads...};
    void (*const kernels[])(Load, Store, int64_t, int64_t) = {
        rows_kernel<kAlgorithm, Layout, kPack, kThreads, kRows, Load, Store>...};
    const auto room = static_cast<int>(room_for_rows());  // of all rows: other threads launch, too
    const auto shared = static_cast<size_t>(kRows * cols * kBytes);
    if (kRows * cols * kBytes > room) return cudaErrorInvalidValue;
    std::pair<size_t, int> best;  // of the sizes, and how many such blocks a multiprocessor has
    const auto choose = [&](std::pair<size_t, int>* answer, int) {
        for (size_t i = 0; i < sizeof...(kThreads) && (i == 0 || kSizes[i] <= cols / kPack); ++i) {
            int resident = 0;
            cudaError_t error =
                cudaFuncSetAttribute(kernels[i], cudaFuncAttributeMaxDynamicSharedMemorySize, room);
            if (error == cudaSuccess)
                error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernels[i],
                                                                      kSizes[i] * kRows, shared);
            if (error != cudaSuccess) return error;
            if (i == 0 || resident == answer->second) *answer = {i, resident};
        }
        return cudaSuccess;
    };
    if (const cudaError_t error = warp_softmax::ask_once(&best, choose, cols)) return error;
    const auto [size, resident] = best;
    const int64_t most = 32 * device_attribute(cudaDevAttrMultiProcessorCount) * resident;
    const auto blocks =
        static_cast<unsigned>(std::min((rows + kRows - 1) / kRows, std::max<int64_t>(1, most)));
    kernels[size]<<<blocks, dim3(kSizes[size], kRows), shared, stream>>>(load, store, rows, cols);
    return cudaGetLastError();
}

// Softmax or log-softmax of each row that `load` gives, into where `store` puts it: functors as in 04.
// kRows: of a block, 1, or more with a warp each. Asynchronous on stream. cudaErrorInvalidValue: a negative
// size, rows that do not fit (or 32 bits, plus a block's threads), an address that is null or no T has.
template <Algorithm kAlgorithm, class Layout = Whole, int kRows = 1, class Load, class Store>
cudaError_t launch(Load load, Store store, int64_t rows, int64_t cols, cudaStream_t stream) {
    constexpr int kPack =
        Layout::pack_of(std::max(sizeof(typename Load::Element), sizeof(typename Store::Element)));
    using Threads = std::conditional_t<kRows == 1, typename Layout::Threads, BlockSizes<32>>;
    if (rows < 0 || cols < 0 || cols > INT32_MAX - 1024) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (!load.template takes<1>(cols) || !store.template takes<1>(cols)) {
        return cudaErrorInvalidValue;
    }
    const bool in_packs = load.template takes<kPack>(cols) && store.template takes<kPack>(cols);
    return in_packs ? launch_blocks<kAlgorithm, Layout, kPack, kRows>(Threads{}, load, store, rows,
                                                                      cols, stream)
                    : launch_blocks<kAlgorithm, Layout, 1, kRows>(Threads{}, load, store, rows,
                                                                  cols, stream);
}

// Softmax of each row of x into y (rows x cols, device memory, y may be x), and its log. As launch.
template <class Layout = Whole, int kRows = 1, class T>
cudaError_t softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch<Algorithm::softmax, Layout, kRows>(DirectLoad<T>{x, cols},
                                                     DirectStore<T>{y, cols}, rows, cols, stream);
}
template <class Layout = Whole, class T>
cudaError_t log_softmax(const T* x, T* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    return launch<Algorithm::log_softmax, Layout>(DirectLoad<T>{x, cols}, DirectStore<T>{y, cols},
                                                  rows, cols, stream);
}

}  // namespace smem_softmax
