// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/masked_softmax, version 2.0
//
// Attention's softmax of scale * x, over the columns that each row may attend to (the columns that it sees).
//   new here   a mask that is never stored: a sequence's length determines which columns a row sees
//   traffic    with a mask 2 reads + 1 write per score, and the mask's own write  ->  1 read per seen score + 1 write
//   accepts    float, __half, __nv_bfloat16; up to 1024 columns; a scale above 0; causal or not; y may be x
//   rows       0 after a sequence's end and if a row sees only -inf; NaN if the row sees NaN or +inf
//   source     FasterTransformer's softmax_kernel_v2 (2019), with -inf where it adds -10000; version 2 is ours
#pragma once
#include <cub/block/block_reduce.cuh>

#include "../04_warp_softmax/warp_softmax.cuh"

namespace encoder_fusions {

using warp_softmax::Pack, warp_softmax::takes_packs, warp_softmax::warp_max, warp_softmax::warp_sum;

// x and y: [batch, heads, seq, seq]. offsets: batch + 1 numbers; sequence b has offsets[b + 1] - offsets[b] tokens. If
// offsets is nullptr, each sequence has seq tokens. (All in device memory.)
template <class T>
struct ScoresArguments {
    const T* x;
    T* y;
    float scale;
    bool causal;
    const int32_t* offsets;
    int batch, heads, seq;
    // Returns the number of columns that row s of sequence b sees. These are the row's first columns.
    __device__ int seen(int b, int s) const {
        const int tokens = offsets == nullptr ? seq : min(offsets[b + 1] - offsets[b], seq);
        return s >= tokens ? 0 : causal ? s + 1 : tokens;
    }
};

// Version 1, FasterTransformer's: a block per row. It reads a mask that another kernel has written, [batch, seq, seq]
// numbers of x's type: 1 where a row sees a column, otherwise 0.
template <class T>
__global__ void mask_of_sequences_kernel(T* mask, ScoresArguments<T> of) {
    const int b = blockIdx.x / of.seq, s = blockIdx.x % of.seq, seen = of.seen(b, s);
    for (int col = threadIdx.x; col < of.seq; col += blockDim.x)
        mask[int64_t{blockIdx.x} * of.seq + col] = T(col < seen ? 1.f : 0.f);
}
template <class T, int kThreads>
__global__ void masked_softmax_block_per_row_kernel(const T* mask, ScoresArguments<T> of) {
    using BlockReduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch[2];
    __shared__ float row_max, row_sum;
    const int64_t row = blockIdx.x, b = blockIdx.x / of.seq / of.heads, s = blockIdx.x % of.seq;
    float held[1024 / kThreads], max = -INFINITY, sum = 0.f;
#pragma unroll
    for (int i = 0; i < 1024 / kThreads; ++i) {
        const int col = i * kThreads + threadIdx.x;
        held[i] = -INFINITY;
        if (col >= of.seq) continue;
        const bool is_seen = float(mask[(b * of.seq + s) * of.seq + col]) > 0.f;
        if (is_seen) held[i] = float(of.x[row * of.seq + col]) * of.scale;
        max = fmaxf(max, held[i]);
    }
    max = BlockReduce(scratch[0]).Reduce(max, [](float a, float c) { return fmaxf(a, c); });
    if (threadIdx.x == 0) row_max = max == -INFINITY ? 0.f : max;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 1024 / kThreads; ++i) {
        held[i] = expf(held[i] - row_max);
        sum += held[i];
    }
    sum = BlockReduce(scratch[1]).Sum(sum);
    if (threadIdx.x == 0) row_sum = sum == 0.f ? 1.f : sum;  // a row that sees nothing: zeros
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 1024 / kThreads; ++i) {
        const int col = i * kThreads + threadIdx.x;
        if (col < of.seq) of.y[row * of.seq + col] = T(held[i] / row_sum);
    }
}

// Version 2: a warp holds a row in registers. It needs no mask, only the sequence's length. Pack is Pack<T, 1>.
// Version 3: the same kernel with packs of 16 bytes.
template <class Pack>
__global__ void masked_softmax_warp_per_row_kernel(ScoresArguments<typename Pack::Element> of,
                                                   int64_t rows) {
    constexpr int kPack = Pack::kSize, kPacks = 32 / kPack;
    const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    if (row >= rows) return;  // the whole warp
    const int head = static_cast<int>(row) / of.seq, s = static_cast<int>(row) % of.seq;
    const int packs = of.seq / kPack, seen = of.seen(head / of.heads, s);
    const auto* const x = reinterpret_cast<const Pack*>(of.x) + row * packs;
    auto* const y = reinterpret_cast<Pack*>(of.y) + row * packs;
    float held[kPacks][kPack], max = -INFINITY, sum = 0.f;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const int p = i * 32 + threadIdx.x;
        Pack pack{};
        if (p * kPack < seen) pack = x[p];
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            held[i][j] = p * kPack + j < seen ? float(pack.element[j]) * of.scale : -INFINITY;
            max = fmaxf(max, held[i][j]);
        }
    }
    max = warp_max(max);
    if (max == -INFINITY) max = 0.f;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            held[i][j] = expf(held[i][j] - max);
            sum += held[i][j];
        }
    }
    sum = warp_sum(sum);
    const float factor = sum == 0.f ? 0.f : 1.f / sum;  // a row that sees nothing: zeros
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const int p = i * 32 + threadIdx.x;
        Pack pack;
#pragma unroll
        for (int j = 0; j < kPack; ++j)
            pack.element[j] = typename Pack::Element(held[i][j] * factor);
        if (p < packs) y[p] = pack;
    }
}

// y = softmax of scale * x, asynchronous on stream. mask: scratch of batch * seq * seq numbers for version 1; nullptr
// selects version 2, or 3 if kPack > 1. cudaErrorInvalidValue for a null or misaligned pointer, a negative size, more
// than 1024 columns or 2^31 rows, columns that packs do not divide, and a scale that is not above 0.
template <int kPack, class T>
cudaError_t softmax_of_scores(const ScoresArguments<T>& of, T* mask, cudaStream_t stream) {
    if (of.batch < 0 || of.heads < 0 || of.seq < 0 || of.seq > 1024 || !(of.scale > 0.f) ||
        int64_t{of.batch} * of.heads > INT32_MAX / std::max(of.seq, 1))
        return cudaErrorInvalidValue;
    const int64_t rows = int64_t{of.batch} * of.heads * of.seq;
    if (rows == 0) return cudaSuccess;
    if (of.x == nullptr || of.y == nullptr || !takes_packs<kPack>(of.x, of.seq) ||
        !takes_packs<kPack>(of.y, of.seq))
        return cudaErrorInvalidValue;
    const auto blocks = static_cast<unsigned>(rows);
    if (mask != nullptr) {
        mask_of_sequences_kernel<<<of.batch * of.seq, 256, 0, stream>>>(mask, of);
        masked_softmax_block_per_row_kernel<T, 256><<<blocks, 256, 0, stream>>>(mask, of);
    } else {
        masked_softmax_warp_per_row_kernel<Pack<T, kPack>>
            <<<(blocks + 3) / 4, dim3(32, 4), 0, stream>>>(of, rows);
    }
    return cudaGetLastError();
}

}  // namespace encoder_fusions
