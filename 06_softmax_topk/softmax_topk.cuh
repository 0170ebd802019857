// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk, version 1.0
//
// The k most likely columns of each row and their probabilities, without writing the softmax.
//   new here   the list of the K best elements, which merges in the same reduction as the normalizer pair (m, d)
//   traffic    accesses per element: safe_unfused 5, online_unfused 4, safe_fused 2, online_fused 1
//   accepts    rows x cols floats, row-major; k up to 32 and up to cols; -inf marks a masked element
//   order      that of a stable descending sort: of equal elements the lower column first; -0 equals +0, NaN is largest
//   rows       rows with NaN, with +inf or with -inf alone get the probability NaN (unfused: and columns 0 to k - 1)
//   source     Milakov & Gimelshein 2018, "Online normalizer calculation for softmax", Algorithm 4
#pragma once
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

#include "../02_safe_softmax/safe_softmax.cuh"
#include "../03_online_softmax/online_softmax.cuh"

namespace softmax_topk {
using online_softmax::Merge;
using online_softmax::Normalizer;

// An element u and its column p: the paper's u_k and p_k.
struct __align__(8) Element {
    float u;
    int32_t p;
};

// True if a comes before b in a stable descending sort. No two columns are equal in this order.
__host__ __device__ inline bool precedes(Element a, Element b) {
    const bool a_is_nan = a.u != a.u;
    const bool equal = a.u == b.u || (a_is_nan && b.u != b.u);
    return equal ? a.p < b.p : a.u > b.u || a_is_nan;
}

// The K best elements so far, the best first. A free place holds -inf and a column number above all others, so every
// element precedes a free place, even -inf. K is a constant, so nvcc unrolls the loops over places: an array that is
// indexed at run time cannot stay in registers.
constexpr int32_t kFree = INT32_MAX;
template <int K>
struct Top {
    Element best[K];

    __host__ __device__ static Top none() {
        Top top;
        for (int k = 0; k < K; ++k) top.best[k] = {-INFINITY, kFree};
        return top;
    }

    // Algorithm 4, lines 8 to 15: append() adds an element with a higher column than all before. So comparing u is
    // enough: of equal elements the first stays. The first comparison rejects most elements. The list starts with NaN
    // instead of the paper's -inf: no number is <= NaN, so masked elements enter.
    __host__ __device__ static Top to_append() {
        Top top = none();
        for (int k = 0; k < K; ++k) top.best[k].u = NAN;
        return top;
    }
    __host__ __device__ void append(Element one) {
        if (one.u <= best[K - 1].u) return;
        best[K - 1] = one;                 // the worst leaves
        for (int k = K - 1; k > 0; --k) {  // the rest is sorted: the new one moves up to its place
            if (one.u <= best[k - 1].u) continue;  // no break: unrolled, every k is a constant
            best[k] = best[k - 1];
            best[k - 1] = one;
        }
    }

    // Inserts an element with any column and any value, also NaN.
    __host__ __device__ void insert(Element one) {
        if (!precedes(one, best[K - 1])) return;
        best[K - 1] = one;
        for (int k = K - 1; k > 0; --k) {
            if (!precedes(one, best[k - 1])) continue;
            best[k] = best[k - 1];
            best[k - 1] = one;
        }
    }

    __host__ __device__ void drop_first() {
        for (int k = 0; k + 1 < K; ++k) best[k] = best[k + 1];
        best[K - 1] = {-INFINITY, kFree};
    }
};

// Returns the K best of two lists: moves b's best into a while it precedes a's worst. The merge order does not matter.
struct MergeTop {
    template <int K>
    __host__ __device__ Top<K> operator()(Top<K> a, Top<K> b) const {
        while (precedes(b.best[0], a.best[K - 1])) {
            a.insert(b.best[0]);
            b.drop_first();
        }
        return a;
    }
};

// Lines 6 and 7: adds an element to the pair. One of the two exponentials is exp(0) = 1: the element's if x is a new
// maximum, else the factor of d. m starts at -FLT_MAX, because -inf - -inf would be NaN.
constexpr Normalizer kNone{-FLT_MAX, 0.f};
__device__ inline void add(Normalizer& pair, float x) {
    const float other = expf(-fabsf(x - pair.m));
    pair.d = x > pair.m ? pair.d * other + 1.f : pair.d + other;
    pair.m = fmaxf(pair.m, x);
}

// The result of one pass: 03's pair and the list of the best elements. They merge independently of each other.
template <int K>
struct PairAndTop {
    Normalizer pair;
    Top<K> top;
};
struct MergeBoth {
    template <int K>
    __host__ __device__ PairAndTop<K> operator()(const PairAndTop<K>& a,
                                                 const PairAndTop<K>& b) const {
        return {Merge{}(a.pair, b.pair), MergeTop{}(a.top, b.top)};
    }
};

// Prepares a thread's list for merging: sets free places to -inf again. If a NaN is among the thread's elements,
// comparing u cannot order them, so the thread builds its list again by precedes().
template <int K>
__device__ void finish(Top<K>& top, const float* row, int64_t cols, bool has_nan) {
    for (int k = 0; k < K; ++k) {
        if (top.best[k].p == kFree) top.best[k].u = -INFINITY;
    }
    if (!has_nan) return;
    top = Top<K>::none();
    for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) {
        top.insert({row[col], static_cast<int32_t>(col)});
    }
}

// Writes the first k elements of a block's list: their probabilities and their columns.
template <int K, class Probability>
__device__ void write(const Top<K>& top, Probability probability, float* values, int32_t* indices,
                      int64_t k) {
    const int64_t first = blockIdx.x * k;
    for (int i = 0; i < K; ++i) {  // Algorithm 4, lines 17 to 20
        if (i >= k) return;
        values[first + i] = probability(top.best[i].u);
        indices[first + i] = top.best[i].p;
    }
}
template <int K>
__device__ void write(const PairAndTop<K>& row, float* values, int32_t* indices, int64_t k) {
    const float m = row.pair.m;
    const float scale =
        m < INFINITY ? 1.f / row.pair.d : NAN;  // +inf makes the row NaN, as in PyTorch
    write(
        row.top, [=](float x) { return expf(x - m) * scale; }, values, indices, k);
}

// All kernels: a block computes one row, a thread reads every kThreads-th column, thread 0 gets the merged result.
constexpr int kThreads = 256;

// Finds the k largest elements of each row of y, the softmax of x: the second half of the unfused variants.
template <int K>
__global__ void topk_kernel(const float* y, float* values, int32_t* indices, int64_t cols,
                            int64_t k) {
    using BlockReduce = cub::BlockReduce<Top<K>, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    const float* y_row = y + blockIdx.x * cols;

    Top<K> mine = Top<K>::to_append();
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        mine.append({y_row[col], static_cast<int32_t>(col)});
    }
    finish(mine, y_row, cols, mine.best[0].u != mine.best[0].u);
    mine = BlockReduce(scratch).Reduce(mine, MergeTop{});
    const auto as_it_is = [](float probability) { return probability; };
    if (threadIdx.x == 0) write(mine, as_it_is, values, indices, k);
}

// Runs the first two passes of 02; the second pass also finds the best elements, so the third pass is not needed.
template <int K>
__global__ void safe_fused_kernel(const float* x, float* values, int32_t* indices, int64_t cols,
                                  int64_t k) {
    using ReduceMax = cub::BlockReduce<float, kThreads>;
    using BlockReduce = cub::BlockReduce<PairAndTop<K>, kThreads>;
    __shared__ typename ReduceMax::TempStorage max_scratch;
    __shared__ typename BlockReduce::TempStorage scratch;
    __shared__ float row_max;
    const float* x_row = x + blockIdx.x * cols;

    float max = -INFINITY;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        max = fmaxf(max, x_row[col]);
    }
    max = ReduceMax(max_scratch).Reduce(max, safe_softmax::Max{});
    if (threadIdx.x == 0) row_max = max;
    __syncthreads();
    max = row_max;

    PairAndTop<K> mine{{max, 0.f},
                       Top<K>::to_append()};  // all threads have the same m, so merging adds d
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        const float x_j = x_row[col];
        mine.pair.d += expf(x_j - max);
        mine.top.append({x_j, static_cast<int32_t>(col)});
    }
    finish(mine.top, x_row, cols, mine.pair.d != mine.pair.d);
    mine = BlockReduce(scratch).Reduce(mine, MergeBoth{});
    if (threadIdx.x == 0) write(mine, values, indices, k);
}

// Algorithm 4: computes the pair and the list in one pass.
template <int K>
__global__ void online_fused_kernel(const float* x, float* values, int32_t* indices, int64_t cols,
                                    int64_t k) {
    using BlockReduce = cub::BlockReduce<PairAndTop<K>, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    const float* x_row = x + blockIdx.x * cols;

    PairAndTop<K> mine{kNone, Top<K>::to_append()};
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        const float x_j = x_row[col];
        add(mine.pair, x_j);                                // lines 6 and 7
        mine.top.append({x_j, static_cast<int32_t>(col)});  // lines 8 to 15
    }
    finish(mine.top, x_row, cols, mine.pair.d != mine.pair.d);
    mine = BlockReduce(scratch).Reduce(mine, MergeBoth{});
    if (threadIdx.x == 0) write(mine, values, indices, k);
}

inline bool is_place(const void* address) {  // true if floats or int32_t can be stored there
    return address != nullptr && reinterpret_cast<uintptr_t>(address) % sizeof(float) == 0;
}
constexpr int64_t kMaxK = 32;  // a merge holds two lists in registers; two of 64 would need all 255
// Calls launch(K, blocks) with the smallest list size K that holds k elements.
template <class Launch>
cudaError_t launch_with_list(const float* x, const float* values, const int32_t* indices,
                             int64_t rows, int64_t cols, int64_t k, Launch launch) {
    if (rows < 0 || rows > INT32_MAX || cols > INT32_MAX || k < 0 || k > cols || k > kMaxK)
        return cudaErrorInvalidValue;
    if (rows == 0 || k == 0) return cudaSuccess;
    if (!is_place(x) || !is_place(values) || !is_place(indices)) return cudaErrorInvalidValue;
    if (k <= 5) return launch(std::integral_constant<int, 5>{}, static_cast<unsigned>(rows));
    if (k <= 8) return launch(std::integral_constant<int, 8>{}, static_cast<unsigned>(rows));
    if (k <= 16) return launch(std::integral_constant<int, 16>{}, static_cast<unsigned>(rows));
    return launch(std::integral_constant<int, 32>{}, static_cast<unsigned>(rows));
}

// Writes the k best of each row of x (rows x cols, device memory), the best first: probabilities and columns, rows x k
// each. Asynchronous. cudaErrorInvalidValue: a null or misaligned pointer, a size below 0 or over 2^31 - 1, k > cols.
// takes: k <= 32
inline cudaError_t online_fused(const float* x, float* values, int32_t* indices, int64_t rows,
                                int64_t cols, int64_t k, cudaStream_t stream) {
    return launch_with_list(x, values, indices, rows, cols, k, [=](auto list, unsigned blocks) {
        constexpr int K = decltype(list)::value;
        online_fused_kernel<K><<<blocks, kThreads, 0, stream>>>(x, values, indices, cols, k);
        return cudaGetLastError();
    });
}
inline cudaError_t safe_fused(const float* x, float* values, int32_t* indices, int64_t rows,
                              int64_t cols, int64_t k, cudaStream_t stream) {
    return launch_with_list(x, values, indices, rows, cols, k, [=](auto list, unsigned blocks) {
        constexpr int K = decltype(list)::value;
        safe_fused_kernel<K><<<blocks, kThreads, 0, stream>>>(x, values, indices, cols, k);
        return cudaGetLastError();
    });
}
// Does the same in two launches, with the softmax in a workspace. Concurrent calls need a workspace each.
inline size_t unfused_workspace_bytes(int64_t rows, int64_t cols) {
    return static_cast<size_t>(rows) * static_cast<size_t>(cols) * sizeof(float);
}
template <class Softmax>
cudaError_t unfused(Softmax softmax, const float* x, float* values, int32_t* indices, int64_t rows,
                    int64_t cols, int64_t k, void* workspace, size_t bytes, cudaStream_t stream) {
    return launch_with_list(x, values, indices, rows, cols, k, [=](auto list, unsigned blocks) {
        constexpr int K = decltype(list)::value;
        if (!is_place(workspace) || bytes < unfused_workspace_bytes(rows, cols))
            return cudaErrorInvalidValue;
        float* y = static_cast<float*>(workspace);
        const cudaError_t status = softmax(x, y, rows, cols, stream);
        if (status != cudaSuccess) return status;
        topk_kernel<K><<<blocks, kThreads, 0, stream>>>(y, values, indices, cols, k);
        return cudaGetLastError();
    });
}
inline cudaError_t safe_unfused(const float* x, float* values, int32_t* indices, int64_t rows,
                                int64_t cols, int64_t k, void* workspace, size_t bytes,
                                cudaStream_t stream) {
    return unfused(safe_softmax::block_per_row, x, values, indices, rows, cols, k, workspace, bytes,
                   stream);
}
inline cudaError_t online_unfused(const float* x, float* values, int32_t* indices, int64_t rows,
                                  int64_t cols, int64_t k, void* workspace, size_t bytes,
                                  cudaStream_t stream) {
    return unfused(online_softmax::block_per_row, x, values, indices, rows, cols, k, workspace,
                   bytes, stream);
}
}  // namespace softmax_topk
