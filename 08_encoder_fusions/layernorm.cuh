// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/layernorm, version 2.0
//
// y = layernorm(x + bias + residual), the step after attention and after the feed-forward layer's second product.
//   new here   three kernels become one, in five versions; the first is FasterTransformer's
//   traffic    unfused 6.25 reads + 3 writes per element  ->  5 + 1; caches serve bias, gamma and beta
//   accepts    float, __half, __nv_bfloat16; up to 1024 columns; y may be x or residual; squares must fit a float
//   source     FasterTransformer's add_bias_input_layernorm (2019), OneFlow's layer_norm.cuh (2021): rebuilt
#pragma once
#include "../04_warp_softmax/warp_softmax.cuh"

namespace encoder_fusions {

using warp_softmax::Pack, warp_softmax::takes_packs, warp_softmax::warp_sum;

// x, residual and y are rows x cols; bias, gamma and beta have cols elements (all device memory).
template <class T>
struct LayernormArguments {
    const T *x, *bias, *residual, *gamma, *beta;
    T* y;
    int64_t rows;
    int cols;
    float epsilon;
    __device__ static float sum(T x, T bias, T residual) {
        return float(x) + float(bias) + float(residual);
    }
    __device__ static T result(float normalized, T gamma, T beta) {
        return T(normalized * float(gamma) + float(beta));
    }
};

// Returns the block's sum of value to every thread. partials: 32 floats of shared memory that no other call uses.
__device__ inline float block_sum(float value, float* partials) {
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) partials[threadIdx.x / 32] = value;
    __syncthreads();  // every warp has stored its sum
    return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? partials[threadIdx.x % 32] : 0.f);
}

// Version 1, FasterTransformer's: a block per row, a thread per column. All warps wait in each of two block reductions.
template <class T>
__global__ void layernorm_block_per_row_kernel(LayernormArguments<T> of) {
    __shared__ float partials[2][32];
    const int col = threadIdx.x;
    const int64_t at = int64_t{blockIdx.x} * of.cols + col;
    const bool has_column = col < of.cols;
    const float sum = has_column ? of.sum(of.x[at], of.bias[col], of.residual[at]) : 0.f;
    const float mean = block_sum(sum, partials[0]) / of.cols;
    const float deviation = has_column ? sum - mean : 0.f;
    const float variance = block_sum(deviation * deviation, partials[1]) / of.cols;
    const float scale = rsqrtf(variance + of.epsilon);
    if (has_column) of.y[at] = of.result(deviation * scale, of.gamma[col], of.beta[col]);
}

// Version 2: a warp per row, and no barrier. Its lanes hold the row in registers, so a second pass is nearly free.
constexpr int kHeld = 32;  // maximum number of elements in a lane; the first `count` are valid
struct TwoPasses {
    __device__ static float2 mean_and_variance(const float (&x)[kHeld], int count, int cols) {
        float sum = 0.f, squares = 0.f;
#pragma unroll
        for (int i = 0; i < kHeld; ++i) sum += i < count ? x[i] : 0.f;
        const float mean = warp_sum(sum) / cols;
#pragma unroll
        for (int i = 0; i < kHeld; ++i) squares += i < count ? (x[i] - mean) * (x[i] - mean) : 0.f;
        return {mean, warp_sum(squares) / cols};
    }
};
// Version 3, OneFlow's: one pass with Welford's update. The means and squared deviations of two sets merge like the
// pairs (m, d) of 03, but each merge needs a division, which a second pass does not.
struct Welford {
    float mean, squares, count;
    __device__ void merge(const Welford& b) {
        if (b.count == 0.f) return;
        const float delta = b.mean - mean, share = b.count / (count + b.count);
        mean += delta * share;
        squares += b.squares + delta * delta * count * share;
        count += b.count;
    }
    __device__ static float2 mean_and_variance(const float (&x)[kHeld], int count, int cols) {
        Welford all{};
#pragma unroll
        for (int i = 0; i < kHeld; ++i)
            if (i < count) all.merge({x[i], 0.f, 1.f});
        for (int bit = 16; bit > 0; bit /= 2)
            all.merge({__shfl_xor_sync(~0u, all.mean, bit), __shfl_xor_sync(~0u, all.squares, bit),
                       __shfl_xor_sync(~0u, all.count, bit)});
        return {all.mean, all.squares / cols};
    }
};
// Version 4: the same kernel in packs of 16 bytes. Versions 2 and 3 have Pack<T, 1>: eight times the requests in half.
// Version 5: loads bias, gamma and beta with __ldg. nvcc then knows that y does not alias them and may load them early.
template <bool kReadOnly, class Pack>
__device__ Pack shared_by_rows(const Pack* row, int p) {
    if constexpr (!kReadOnly) return row[p];
    const auto bytes = __ldg(reinterpret_cast<const uint4*>(row + p));
    return reinterpret_cast<const Pack&>(bytes);
}

template <class Pack, class Statistics, bool kReadOnly>
__global__ void layernorm_warp_per_row_kernel(LayernormArguments<typename Pack::Element> of) {
    constexpr int kPack = Pack::kSize;
    const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    if (row >= of.rows) return;  // the whole warp
    const auto packs_at = [](auto* x) { return reinterpret_cast<const Pack*>(x); };
    const int lane = threadIdx.x, packs = of.cols / kPack;
    float held[kHeld];
#pragma unroll
    for (int i = 0; i < kHeld / kPack; ++i) {
        const int p = i * 32 + lane;
        if (p >= packs) continue;
        const Pack x = packs_at(of.x)[row * packs + p];
        const Pack residual = packs_at(of.residual)[row * packs + p];
        const Pack bias = shared_by_rows<kReadOnly>(packs_at(of.bias), p);
        for (int j = 0; j < kPack; ++j)
            held[i * kPack + j] = of.sum(x.element[j], bias.element[j], residual.element[j]);
    }
    const int count = (packs - lane + 31) / 32 * kPack;
    const float2 row_has = Statistics::mean_and_variance(held, count, of.cols);
    const float mean = row_has.x, scale = rsqrtf(row_has.y + of.epsilon);
#pragma unroll
    for (int i = 0; i < kHeld / kPack; ++i) {
        const int p = i * 32 + lane;
        if (p >= packs) continue;
        const Pack gamma = shared_by_rows<kReadOnly>(packs_at(of.gamma), p);
        const Pack beta = shared_by_rows<kReadOnly>(packs_at(of.beta), p);
        Pack y;
        for (int j = 0; j < kPack; ++j)
            y.element[j] =
                of.result((held[i * kPack + j] - mean) * scale, gamma.element[j], beta.element[j]);
        reinterpret_cast<Pack*>(of.y)[row * packs + p] = y;
    }
}

// Launches one of these kernels with block.y rows per block, asynchronously on stream. cudaErrorInvalidValue for a null
// or misaligned pointer, a negative size, more than 1024 columns or 2^31 rows, and columns that packs do not divide.
template <int kPack, class T>
cudaError_t launch_layernorm(void (*kernel)(LayernormArguments<T>), dim3 block,
                             const LayernormArguments<T>& of, cudaStream_t stream) {
    if (of.cols > 32 * kHeld || of.rows > INT32_MAX || of.rows < 0 || of.cols < 0)
        return cudaErrorInvalidValue;
    if (of.rows == 0 || of.cols == 0) return cudaSuccess;
    const T* const all[] = {of.x, of.bias, of.residual, of.gamma, of.beta, of.y};
    for (const T* each : all)
        if (each == nullptr || !takes_packs<kPack>(each, of.cols)) return cudaErrorInvalidValue;
    kernel<<<static_cast<unsigned>((of.rows - 1) / block.y + 1), block, 0, stream>>>(of);
    return cudaGetLastError();
}

}  // namespace encoder_fusions
