// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/padding, version 2.0
//
// Removes the padding rows that follow shorter sequences of a batch, and restores them.
//   new here   a block computes where each sequence begins, with a running sum of the lengths (a scan); the host need
//              not know these places, so it does not wait for the GPU
//   traffic    1 read + 1 write per element of a token; padding is never read and is restored as zeros
//   accepts    float, __half, __nv_bfloat16; lengths from 0 to seq; up to 2^31 rows
//   source     FasterTransformer's padding removal (2.1, 2020), ByteTransformer's scan (2022): rebuilt
#pragma once
#include <cub/block/block_scan.cuh>

#include "../04_warp_softmax/warp_softmax.cuh"

namespace encoder_fusions {

using warp_softmax::Pack, warp_softmax::takes_packs;

// ---- version 1, FasterTransformer's: one thread counts, for each token, the rows of padding before it; then a block
// ---- copies each token's row, an element per thread. The host has to know the number of tokens.

template <class Int>
__global__ void padding_before_kernel(const Int* lengths, Int* padding, int batch, int seq) {
    int token = 0, before = 0;
    for (int b = 0; b < batch; ++b) {
        const int length = lengths[b];
        for (int s = 0; s < length; ++s) padding[token++] = before;
        before += seq - length;
    }
}
template <class T>
__global__ void move_row_of_token_kernel(const T* x, T* y, const int32_t* padding, int cols,
                                         bool to_padded) {
    const int64_t packed = blockIdx.x, padded = packed + padding[packed];
    const int64_t from = to_padded ? packed : padded, to = to_padded ? padded : packed;
    for (int col = threadIdx.x; col < cols; col += blockDim.x)
        y[to * cols + col] = x[from * cols + col];
}

// ---- version 2: a block adds up the lengths with a scan. Then a block for each row of the padded batch moves its row
// ---- in packs of 16 bytes; a removal has nothing to move for padding. Only the GPU knows the number of tokens.

// Writes offsets: the packed row at which each sequence begins, then the number of tokens. Launch one block.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    offsets_by_scan_kernel(const int32_t* lengths, int32_t* offsets, int64_t batch) {
    using Scan = cub::BlockScan<int32_t, kThreads>;
    __shared__ typename Scan::TempStorage scratch;
    int32_t before = 0;  // tokens of earlier rounds
    for (int64_t first = 0; first < batch; first += kThreads) {
        const int64_t b = first + threadIdx.x;
        int32_t end = 0, all = 0;
        Scan(scratch).InclusiveSum(b < batch ? lengths[b] : 0, end, all);
        if (b < batch) offsets[b + 1] = before + end;
        before += all;
        __syncthreads();  // the next round reuses the scan's memory
    }
    if (threadIdx.x == 0) offsets[0] = 0;
}
template <class Pack>
__global__ void move_row_of_batch_kernel(const Pack* x, Pack* y, const int32_t* offsets, int seq,
                                         int packs, bool to_padded) {
    const int64_t padded = blockIdx.x, b = blockIdx.x / seq, s = blockIdx.x % seq;
    const int64_t packed = offsets[b] + s;
    const bool is_token = packed < offsets[b + 1];
    for (int p = threadIdx.x; p < packs; p += blockDim.x) {
        if (to_padded)
            y[padded * packs + p] = is_token ? x[packed * packs + p] : Pack{};
        else if (is_token)
            y[packed * packs + p] = x[padded * packs + p];
    }
}

// ---- launchers: x is [batch, seq, cols], y has a row of cols elements for each token; if to_padded, the other way
// ---- round (device memory). Asynchronous on stream. cudaErrorInvalidValue for a null or misaligned pointer, a
// ---- negative size, columns that packs do not divide, and more than 2^31 rows.

template <int kPack, class T>
cudaError_t check_rows(const T* x, const T* y, const int32_t* lengths, const int32_t* scratch,
                       int64_t batch, int64_t seq, int64_t cols) {
    if (batch < 0 || seq < 0 || cols < 0 || cols > INT32_MAX || batch > INT32_MAX ||
        seq > INT32_MAX)
        return cudaErrorInvalidValue;
    if (batch == 0 || seq == 0 || cols == 0) return cudaSuccess;
    if (batch * seq > INT32_MAX || lengths == nullptr || scratch == nullptr || x == nullptr ||
        y == nullptr || !takes_packs<kPack>(x, cols) || !takes_packs<kPack>(y, cols))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

// Version 1. tokens: the sum of the lengths. padding: scratch of `tokens` numbers.
template <class T>
cudaError_t move_rows_of_tokens(const T* x, T* y, const int32_t* lengths, int32_t* padding,
                                int64_t batch, int64_t seq, int64_t tokens, int64_t cols,
                                bool to_padded, cudaStream_t stream) {
    cudaError_t status = check_rows<1, T>(x, y, lengths, padding, batch, seq, cols);
    if (status != cudaSuccess || batch * seq * cols == 0) return status;
    if (to_padded) status = cudaMemsetAsync(y, 0, batch * seq * cols * sizeof(T), stream);
    if (status != cudaSuccess || tokens == 0) return status;
    padding_before_kernel<<<1, 1, 0, stream>>>(lengths, padding, int(batch), int(seq));
    const int threads = std::min((int(cols) + 31) / 32 * 32, 256);
    move_row_of_token_kernel<<<static_cast<unsigned>(tokens), threads, 0, stream>>>(
        x, y, padding, int(cols), to_padded);
    return cudaGetLastError();
}

// Version 2. offsets: scratch of batch + 1 numbers.
template <int kPack, class T>
cudaError_t move_rows_of_batch(const T* x, T* y, const int32_t* lengths, int32_t* offsets,
                               int64_t batch, int64_t seq, int64_t cols, bool to_padded,
                               cudaStream_t stream) {
    const cudaError_t status = check_rows<kPack, T>(x, y, lengths, offsets, batch, seq, cols);
    if (status != cudaSuccess || batch * seq * cols == 0) return status;
    using Pack = encoder_fusions::Pack<T, kPack>;
    const int packs = int(cols / kPack), threads = std::min((packs + 31) / 32 * 32, 256);
    offsets_by_scan_kernel<256><<<1, 256, 0, stream>>>(lengths, offsets, batch);
    move_row_of_batch_kernel<<<static_cast<unsigned>(batch * seq), threads, 0, stream>>>(
        reinterpret_cast<const Pack*>(x), reinterpret_cast<Pack*>(y), offsets, int(seq), packs,
        to_padded);
    return cudaGetLastError();
}

}  // namespace encoder_fusions
