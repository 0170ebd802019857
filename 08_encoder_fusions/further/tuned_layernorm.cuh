// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/tuned_layernorm, version 1.1
//
// The lesson's y = layernorm(x + bias + residual) for rows of up to 16384 columns; returns the sum on request.
//   new here   a table of the number of warps per row and of packs per lane; all packs of a row are in flight before
//              the kernel uses the first
//   traffic    5 reads + 1 write per element (prenorm: 2 writes), as in the lesson
//   accepts    float, __half, __nv_bfloat16; up to 16384 columns; y may be x or residual, sum may be residual
//   rows       all NaN if they contain NaN or an infinity; squares must fit a float: elements below some 1e17
//   source     ours
#pragma once
#include "packs.cuh"

namespace encoder_fusions {

constexpr int64_t kMaxNormCols = 16384;

// Maximum number of packs per lane and of warps per row. With more packs a lane needs more registers, and too few warps
// fit a multiprocessor. Narrow packs (in rows that are not a multiple of 16 bytes) take more instructions, so more
// lanes share a row.
template <class Pack>
struct Most {
    static constexpr bool kIsNarrow = Pack::kSize < 4;
    static constexpr int kPacks = (kIsNarrow ? 16 : 32) / Pack::kSize;
    static constexpr int kWarps = kIsNarrow ? 32 : 16;
    static constexpr int kStep =
        kIsNarrow ? kPacks : kPacks / 4;  // between the numbers of packs compiled
};

// The lesson's block_sum() for a constant number of warps. partials: kWarps floats of shared memory that no other call
// uses.
template <int kWarps>
__device__ float block_sum(float value, float* partials) {
    value = warp_sum(value);
    if (kWarps == 1) return value;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) partials[warp] = value;
    __syncthreads();  // every warp has stored its sum
    if constexpr (kWarps > 4) return warp_sum(lane < kWarps ? partials[lane] : 0.f);
    float sum = 0.f;  // a few loads take less time than five shuffles
#pragma unroll
    for (int i = 0; i < kWarps; ++i) sum += partials[i];
    return sum;
}

// Loads the sums that the kernel normalises. The kernel first fetches all packs of a row and then adds them up, so that
// all loads are in flight together, as with 04's Load functors. at: index of a pack in x; p: its index in the row.
template <class Pack_>
struct SumOfThree {
    using Pack = Pack_;
    const Pack* x;
    const Pack* bias;
    const Pack* residual;

    struct Fetched {
        Pack x, residual;
    };
    __device__ Fetched fetch(int64_t at) const { return {x[at], residual[at]}; }
    __device__ void add_up(float (&held)[Pack::kSize], const Fetched& fetched, int p) const {
        const Pack row_bias = bias[p];
#pragma unroll
        for (int j = 0; j < Pack::kSize; ++j) {
            held[j] = static_cast<float>(fetched.x.element[j]) +
                      static_cast<float>(row_bias.element[j]) +
                      static_cast<float>(fetched.residual.element[j]);
        }
    }
};

// A norm's factor gamma and summand beta for each column; epsilon is added to the variance.
template <class Element>
struct Norm {
    const Element* gamma;
    const Element* beta;
    float epsilon = 1e-5f;
};
template <int kPack, class T>
Norm<Pack<T, kPack>> as_packs(const Norm<T>& norm) {
    return {as_packs<kPack>(norm.gamma), as_packs<kPack>(norm.beta), norm.epsilon};
}

// Stores a row's norm, and the sum that it is of unless `sum` is nullptr.
template <class Pack>
struct NormAndSum {
    Pack* sum;
    Pack* y;
    __device__ void store(int64_t at, const float (&held)[Pack::kSize],
                          const float (&normed)[Pack::kSize]) const {
        using T = typename Pack::Element;
        Pack kept, result;
#pragma unroll
        for (int j = 0; j < Pack::kSize; ++j) {
            kept.element[j] = static_cast<T>(held[j]);
            result.element[j] = static_cast<T>(normed[j]);
        }
        if (sum != nullptr) sum[at] = kept;
        y[at] = result;
    }
};

// kWarps warps share a row of `packs` packs, kPacks per lane. threadIdx.x counts columns, threadIdx.y rows.
template <class From, class To, int kPacks, int kWarps>
__global__ void __launch_bounds__(kWarps == 1 ? 128 : 32 * kWarps)
    layernorm_kernel(From from, Norm<typename From::Pack> norm, To to, int64_t rows, int packs) {
    using Pack = typename From::Pack;
    __shared__ float partials[2][kWarps];
    const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    if (row >= rows) return;  // a whole warp: only with kWarps == 1 has a block several rows
    const auto cols = static_cast<float>(packs * Pack::kSize);

    typename From::Fetched fetched[kPacks];
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const int p = i * 32 * kWarps + threadIdx.x;
        if (p < packs) fetched[i] = from.fetch(row * packs + p);
    }
    float held[kPacks][Pack::kSize] = {};
    float total = 0.f;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const int p = i * 32 * kWarps + threadIdx.x;
        if (p < packs) from.add_up(held[i], fetched[i], p);
#pragma unroll
        for (int j = 0; j < Pack::kSize; ++j) total += held[i][j];
    }
    const float mean = block_sum<kWarps>(total, partials[0]) / cols;

    // E[x^2] - E[x]^2 would save this pass, but subtracts two large numbers with rounding errors. If the deviations are
    // small, these errors exceed the variance.
    float squares = 0.f;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const bool is_there = i * 32 * kWarps + static_cast<int>(threadIdx.x) < packs;
#pragma unroll
        for (int j = 0; j < Pack::kSize; ++j) {
            const float deviation = held[i][j] - mean;
            squares += is_there ? deviation * deviation : 0.f;
        }
    }
    const float scale = rsqrtf(block_sum<kWarps>(squares, partials[1]) / cols + norm.epsilon);

    // nvcc must assume that y aliases gamma and beta, so load both before the first store.
    Pack factors[kPacks], offsets[kPacks];
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const int p = i * 32 * kWarps + threadIdx.x;
        if (p < packs) factors[i] = norm.gamma[p], offsets[i] = norm.beta[p];
    }
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const int p = i * 32 * kWarps + threadIdx.x;
        if (p >= packs) continue;
        float normed[Pack::kSize];
#pragma unroll
        for (int j = 0; j < Pack::kSize; ++j)
            normed[j] = (held[i][j] - mean) * scale * static_cast<float>(factors[i].element[j]) +
                        static_cast<float>(offsets[i].element[j]);
        to.store(row * packs + p, held[i], normed);
    }
}

template <int kPacks, int kWarps, class From, class Pack = typename From::Pack>
cudaError_t launch_kernel(const From& from, const Norm<Pack>& norm, Pack* sum, Pack* y,
                          int64_t rows, int64_t packs, cudaStream_t stream) {
    constexpr int kRowsOfBlock = kWarps == 1 ? 4 : 1;
    const int64_t blocks = (rows - 1) / kRowsOfBlock + 1;
    if (blocks > INT32_MAX) return cudaErrorInvalidValue;
    layernorm_kernel<From, NormAndSum<Pack>, kPacks, kWarps>
        <<<static_cast<unsigned>(blocks), dim3(32 * kWarps, kRowsOfBlock), 0, stream>>>(
            from, norm, {sum, y}, rows, static_cast<int>(packs));
    return cudaGetLastError();
}

// Chooses the fewest warps that hold a row (1, 4, 16 or 32), then the fewest packs per lane. With wide packs it tries 3
// and 2 warps before 4: 768 and 1024 halves fill these, so no lane is idle and fewer warps wait at a barrier.
template <int kPacks, int kWarps, class From, class Pack = typename From::Pack>
cudaError_t launch_norm(const From& from, const Norm<Pack>& norm, Pack* sum, Pack* y, int64_t rows,
                        int64_t packs, cudaStream_t stream) {
    using Limit = Most<Pack>;
    // With wide packs, a single warp per row holds at most half as many packs, so that more rows are in flight.
    constexpr int kMostPacks = kWarps == 1 ? Limit::kPacks / 2 : Limit::kPacks;
    if (packs <= 32 * kWarps * kPacks)
        return launch_kernel<kPacks, kWarps>(from, norm, sum, y, rows, packs, stream);
    if constexpr (kPacks < kMostPacks) {
        return launch_norm<kPacks + Limit::kStep, kWarps>(from, norm, sum, y, rows, packs, stream);
    } else if constexpr (kWarps == 1 && !Limit::kIsNarrow) {
        constexpr int kStep = Limit::kStep;
        if (packs <= 32 * 3 * kStep)
            return launch_kernel<kStep, 3>(from, norm, sum, y, rows, packs, stream);
        if (packs <= 32 * 2 * 2 * kStep)
            return launch_kernel<2 * kStep, 2>(from, norm, sum, y, rows, packs, stream);
        return launch_norm<2 * kStep, 4>(from, norm, sum, y, rows, packs, stream);
    } else if constexpr (kWarps < Limit::kWarps) {
        constexpr int kMore = kWarps < 16 ? 4 * kWarps : 32;
        return launch_norm<Limit::kStep, kMore>(from, norm, sum, y, rows, packs, stream);
    }
    return cudaErrorInvalidValue;
}

// sum = x + bias + residual, unless sum is nullptr, and y = its layernorm: (sum - mean) / sqrt(variance + epsilon) *
// gamma + beta. x, residual, sum and y are rows x cols; bias, gamma and beta have cols elements (device memory).
// Asynchronous on stream. Returns cudaErrorInvalidValue for any other null or misaligned pointer, a negative size, and
// more than 16384 columns.
template <class T>
cudaError_t add_bias_residual_prenorm(const T* x, const T* bias, const T* residual,
                                      const Norm<T>& norm, T* sum, T* y, int64_t rows, int64_t cols,
                                      cudaStream_t stream) {
    if (rows < 0 || cols < 0 || cols > kMaxNormCols) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    return with_widest_pack<T>(
        {x, bias, residual, norm.gamma, norm.beta, sum == nullptr ? y : sum, y}, cols,
        [&](auto pack) {
            constexpr int kPack = pack.value;
            using Pack = encoder_fusions::Pack<T, kPack>;
            return launch_norm<Most<Pack>::kStep, 1>(
                SumOfThree<Pack>{as_packs<kPack>(x), as_packs<kPack>(bias),
                                 as_packs<kPack>(residual)},
                as_packs<kPack>(norm), as_packs<kPack>(sum), as_packs<kPack>(y), rows, cols / kPack,
                stream);
        });
}

// y = layernorm(x + bias + residual) without returning the sum, for a layer whose norms come last.
template <class T>
cudaError_t add_bias_residual_layernorm(const T* x, const T* bias, const T* residual,
                                        const Norm<T>& norm, T* y, int64_t rows, int64_t cols,
                                        cudaStream_t stream) {
    T* const not_wanted = nullptr;
    return add_bias_residual_prenorm(x, bias, residual, norm, not_wanted, y, rows, cols, stream);
}

}  // namespace encoder_fusions
