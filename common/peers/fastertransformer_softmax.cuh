// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// FasterTransformer's softmax of attention scores, of version 1.0 (2019) and of its last, 5: written
// anew from their description, to be compared with. x and y are [batch, heads, length, length], the
// mask [batch, length, length], 1 where a score counts: softmax(x * scale + (1 - mask) * -10000).
//   v1         one element a thread, blocks of 32, 64, ... 1024 threads; up to 120 matrices a block
//              takes a row, from 121 on a block takes a whole matrix, row by row
//   v5         one to four elements a thread; a block takes a row or, above 360 matrices, a 32nd of
//              a matrix, in half by pairs and, where a quarter of its blocks is whole, four rows
//              at a time
//   traffic    1 + 1 accesses per element, and a read of the mask
//   accepts    float, __half; y may be x (v1 knows nothing else)
//   limits     v1: length up to 1024 (there a longer row is cut, silently), 2^31 elements.
//              v5: up to 4096, and 8192 in half where even. Both: 1e-6 is added to the sum, so that
//              rows do not sum to 1; __expf; scores that the mask hides are at -10000, not gone: a
//              row without any other is a softmax of them. v5 in half computes all but its sums and
//              the maximum in half: at -10000, scores are 8 apart
//   changed    v1: x may be elsewhere. v5: threads are rounded up to whole warps also for several
//              elements a thread; no slopes, one length for rows and columns, offsets in 64 bits
//   source     the description of open_attention.cu (1.0) and of invokeMaskedSoftmax (5.x)
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace fastertransformer_softmax {

struct Max {
    static constexpr float kNeutral = -1e20f;
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    static constexpr float kNeutral = 0.f;
    __device__ float operator()(float a, float b) const { return a + b; }
};

// The first warp gets the block's values, kValues of them side by side: each warp folds its own, then
// the first folds the warps'; one warp alone is spared that by version 5. The block is of whole warps;
// a barrier must follow before the next.
template <int kValues, class Op>
__device__ void reduce_in_block(float (&values)[kValues], Op op, bool one_warp_alone = false) {
    __shared__ float of_warps[kValues][32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const auto fold = [&] {
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
#pragma unroll
            for (int i = 0; i < kValues; ++i) {
                values[i] = op(values[i], __shfl_xor_sync(0xffffffff, values[i], step));
            }
        }
    };
    fold();
    if (one_warp_alone && blockDim.x <= 32) return;
    if (lane == 0) {
#pragma unroll
        for (int i = 0; i < kValues; ++i) of_warps[i][warp] = values[i];
    }
    __syncthreads();
    const bool is_there = threadIdx.x < blockDim.x / 32;
#pragma unroll
    for (int i = 0; i < kValues; ++i) values[i] = is_there ? of_warps[i][lane] : Op::kNeutral;
    fold();
}

// ---------------------------------------------------------------- version 1.0

template <class T>
__device__ float masked_score(T x, T mask, float scale) {
    return static_cast<float>(x) * scale + (1.f - static_cast<float>(mask)) * -10000.f;
}

// One row by the whole block: each thread has the score of its column.
template <class T>
__device__ void v1_softmax(float score, T* y, int length) {
    __shared__ float m;
    __shared__ float d;
    const int col = threadIdx.x;

    float value[1] = {score};
    reduce_in_block(value, Max{});
    if (col == 0) m = value[0];
    __syncthreads();

    const float share = col < length ? __expf(score - m) : 0.f;
    value[0] = share;
    reduce_in_block(value, Sum{});
    if (col == 0) d = value[0] + 1e-6f;
    __syncthreads();

    if (col < length) y[col] = static_cast<T>(share / d);
}

template <class T>
__device__ void v1_row(const T* x, T* y, const T* mask, int length, float scale) {
    const int col = threadIdx.x;
    v1_softmax(col < length ? masked_score(x[col], mask[col], scale) : -1e20f, y, length);
}

// Grid: batch * heads * length.
template <class T>
__global__ void v1_row_per_block(const T* x, T* y, const T* mask, int heads, int length,
                                 float scale) {
    const int row = blockIdx.x;
    const int batch = row / (heads * length);
    const int mask_row = batch * length + row % length;
    v1_row(x + row * length, y + row * length, mask + mask_row * length, length, scale);
}

// Grid: batch * heads.
template <class T>
__global__ void v1_matrix_per_block(const T* x, T* y, const T* mask, int heads, int length,
                                    float scale) {
    const int matrix = blockIdx.x;
    const int batch = matrix / heads;
    for (int i = 0; i < length; ++i) {
        const int row = matrix * length + i;
        const int mask_row = batch * length + i;
        v1_row(x + row * length, y + row * length, mask + mask_row * length, length, scale);
    }
}

// Threads of a block: 32, 64, ... 1024, as many as the row is long.
inline int v1_threads(int64_t length) {
    int threads = 32;
    while (threads < length) threads *= 2;
    return threads;
}

constexpr int64_t kV1MaxLength = 1024;
constexpr int64_t kV1MaxElements = INT32_MAX;

// Whether a block takes a matrix rather than a row.
inline bool v1_by_matrix(int64_t batch, int64_t heads) {
    return batch * heads > 120;
}

template <class T>
cudaError_t v1(const T* x, T* y, const T* mask, int64_t batch, int64_t heads, int64_t length,
               float scale, cudaStream_t stream) {
    if (batch <= 0 || heads <= 0 || length <= 0 || length > kV1MaxLength ||
        batch > kV1MaxElements / (heads * length * length)) {
        return cudaErrorInvalidValue;
    }
    const int64_t matrices = batch * heads;
    const auto threads = static_cast<unsigned>(v1_threads(length));
    if (v1_by_matrix(batch, heads)) {
        v1_matrix_per_block<<<static_cast<unsigned>(matrices), threads, 0, stream>>>(
            x, y, mask, static_cast<int>(heads), static_cast<int>(length), scale);
    } else {
        v1_row_per_block<<<static_cast<unsigned>(matrices * length), threads, 0, stream>>>(
            x, y, mask, static_cast<int>(heads), static_cast<int>(length), scale);
    }
    return cudaGetLastError();
}

// ---------------------------------------------------------------- version 5

// What a thread holds of a row: an element, or in half a pair of neighbours.
struct OneFloat {
    using Element = float;
    using Packed = float;
    static constexpr int kElements = 1;
    static __device__ float score(float x, float mask, float scale) {
        return scale * x + (1.f - mask) * -10000.f;
    }
    static __device__ float largest(float score) { return score; }
    static __device__ float exponential(float score, float m) { return __expf(score - m); }
    static __device__ float sum(float share) { return share; }
    static __device__ float scaled(float share, float factor) { return share * factor; }
};

struct OneHalf {  // odd lengths: computed in float
    using Element = __half;
    using Packed = __half;
    static constexpr int kElements = 1;
    static __device__ float score(__half x, __half mask, float scale) {
        return OneFloat::score(__half2float(x), __half2float(mask), scale);
    }
    static __device__ float largest(float score) { return score; }
    static __device__ float exponential(float score, float m) { return __expf(score - m); }
    static __device__ float sum(float share) { return share; }
    static __device__ __half scaled(float share, float factor) {
        return __float2half(share * factor);
    }
};

struct PairOfHalves {  // computed in half, but for the maximum and the sum of the pairs
    using Element = __half;
    using Packed = __half2;
    static constexpr int kElements = 2;
    static __device__ __half2 score(__half2 x, __half2 mask, float scale) {
        const __half2 hidden =
            __hmul2(__hsub2(__float2half2_rn(1.f), mask), __float2half2_rn(-10000.f));
        return __hadd2(__hmul2(__float2half2_rn(scale), x), hidden);
    }
    static __device__ float largest(__half2 score) {
        return fmaxf(__low2float(score), __high2float(score));
    }
    static __device__ __half2 exponential(__half2 score, float m) {
        return h2exp(__hsub2(score, __float2half2_rn(m)));
    }
    static __device__ float sum(__half2 share) {
        return __half2float(__hadd(__low2half(share), __high2half(share)));
    }
    static __device__ __half2 scaled(__half2 share, float factor) {
        return __hmul2(share, __float2half2_rn(factor));
    }
};

// Grid: (any, batch, heads). A block takes rows blockIdx.x, + gridDim.x, ... of its matrix, kRows of
// them at a time; a thread holds kItems packs of each. `packs` is the row's length in packs.
template <class Arithmetic, int kItems, int kRows>
__global__ void v5_kernel(const typename Arithmetic::Packed* x, typename Arithmetic::Packed* y,
                          const typename Arithmetic::Packed* mask, int length, int packs,
                          float scale) {
    using Packed = typename Arithmetic::Packed;
    using Score = decltype(Arithmetic::score(Packed{}, Packed{}, 1.f));
    __shared__ float m[kRows];
    __shared__ float factor[kRows];
    const int64_t matrix = int64_t{blockIdx.y} * gridDim.z + blockIdx.z;
    const int step = static_cast<int>(gridDim.x);

    for (int first = blockIdx.x; first < length; first += step * kRows) {
        Score held[kRows][kItems];
        float value[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            value[r] = Max::kNeutral;
            const int row = first + r * step;
            const int64_t x_row = (matrix * length + row) * packs;
            const int64_t mask_row = (int64_t{blockIdx.y} * length + row) * packs;
#pragma unroll
            for (int i = 0; i < kItems; ++i) {
                const int pack = static_cast<int>(i * blockDim.x + threadIdx.x);
                if (row >= length || pack >= packs) continue;
                held[r][i] = Arithmetic::score(x[x_row + pack], mask[mask_row + pack], scale);
                value[r] = fmaxf(value[r], Arithmetic::largest(held[r][i]));
            }
        }
        reduce_in_block(value, Max{}, true);
        if (threadIdx.x == 0) {
#pragma unroll
            for (int r = 0; r < kRows; ++r) m[r] = value[r];
        }
        __syncthreads();

#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            value[r] = 0.f;
#pragma unroll
            for (int i = 0; i < kItems; ++i) {
                const int pack = static_cast<int>(i * blockDim.x + threadIdx.x);
                if (first + r * step >= length || pack >= packs) continue;
                held[r][i] = Arithmetic::exponential(held[r][i], m[r]);
                value[r] += Arithmetic::sum(held[r][i]);
            }
        }
        reduce_in_block(value, Sum{}, true);
        if (threadIdx.x == 0) {
#pragma unroll
            for (int r = 0; r < kRows; ++r) factor[r] = __fdividef(1.f, value[r] + 1e-6f);
        }
        __syncthreads();

#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const int row = first + r * step;
            const int64_t y_row = (matrix * length + row) * packs;
#pragma unroll
            for (int i = 0; i < kItems; ++i) {
                const int pack = static_cast<int>(i * blockDim.x + threadIdx.x);
                if (row >= length || pack >= packs) continue;
                y[y_row + pack] = Arithmetic::scaled(held[r][i], factor[r]);
            }
        }
    }
}

// How version 5 goes about a shape.
struct V5Plan {
    bool pairs = false;  // of halves
    int items = 1;       // packs a thread holds of a row
    int rows = 1;        // that a block takes at a time
    int threads = 32;
    int blocks = 1;  // of a matrix
};

constexpr int64_t kMostOfGrid = 65535;  // batches, and heads

constexpr int64_t v5_max_length(bool pairs) {
    return pairs ? 8192 : 4096;
}

template <class T>
V5Plan v5_plan(int64_t matrices, int64_t length) {
    const auto whole_warps = [](int64_t n) { return static_cast<int>((n + 31) / 32 * 32); };
    V5Plan plan;
    plan.pairs = std::is_same_v<T, __half> && length % 2 == 0;
    plan.blocks = static_cast<int>(matrices > 360 ? (length + 31) / 32 : length);
    if (plan.pairs && plan.blocks % 4 == 0) {
        plan.rows = 4;
        plan.blocks /= 4;
    }
    const int all = whole_warps(plan.pairs ? length / 2 : length);
    plan.items = all > 2048 ? 4 : all > 1024 ? 2 : 1;
    plan.threads = whole_warps(all / plan.items);
    return plan;
}

template <class Arithmetic, int kRows, class T>
cudaError_t v5_launch(const V5Plan& plan, const T* x, T* y, const T* mask, int64_t batch,
                      int64_t heads, int64_t length, float scale, cudaStream_t stream) {
    using Packed = typename Arithmetic::Packed;
    const auto kernel = plan.items == 4   ? v5_kernel<Arithmetic, 4, kRows>
                        : plan.items == 2 ? v5_kernel<Arithmetic, 2, kRows>
                                          : v5_kernel<Arithmetic, 1, kRows>;
    const dim3 grid(static_cast<unsigned>(plan.blocks), static_cast<unsigned>(batch),
                    static_cast<unsigned>(heads));
    kernel<<<grid, static_cast<unsigned>(plan.threads), 0, stream>>>(
        reinterpret_cast<const Packed*>(x), reinterpret_cast<Packed*>(y),
        reinterpret_cast<const Packed*>(mask), static_cast<int>(length),
        static_cast<int>(length / Arithmetic::kElements), scale);
    return cudaGetLastError();
}

template <class T>
cudaError_t v5(const T* x, T* y, const T* mask, int64_t batch, int64_t heads, int64_t length,
               float scale, cudaStream_t stream) {
    if (batch <= 0 || heads <= 0 || batch > kMostOfGrid || heads > kMostOfGrid || length <= 0) {
        return cudaErrorInvalidValue;
    }
    const V5Plan plan = v5_plan<T>(batch * heads, length);
    if (length > v5_max_length(plan.pairs)) return cudaErrorInvalidValue;
    if constexpr (std::is_same_v<T, float>) {
        return v5_launch<OneFloat, 1>(plan, x, y, mask, batch, heads, length, scale, stream);
    } else {
        if (!plan.pairs) {
            return v5_launch<OneHalf, 1>(plan, x, y, mask, batch, heads, length, scale, stream);
        }
        return plan.rows == 4 ? v5_launch<PairOfHalves, 4>(plan, x, y, mask, batch, heads, length,
                                                           scale, stream)
                              : v5_launch<PairOfHalves, 1>(plan, x, y, mask, batch, heads, length,
                                                           scale, stream);
    }
}

}  // namespace fastertransformer_softmax
