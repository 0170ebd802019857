// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/tuned_heads, version 1.1
//
// The lesson's way from tokens to heads and back, also for packed sequences, with four tokens per thread.
//   new here   the same kernel inserts padding or removes it; blocks fit the row's width
//   traffic    3.75 reads + 3 writes per element of a token to heads, 1 + 1 back
//   packed     tokens have no gaps: sequence b has rows offsets[b] to offsets[b + 1] - 1. In [batch, heads, seq, size]
//              each sequence has `seq` rows, with zeros after its end
//   accepts    float, __half, __nv_bfloat16; any size per head; packs of 16 bytes if they divide a head
//   source     ours; FasterTransformer's later kernels fuse padding in the same way
#pragma once
#include "packs.cuh"

namespace encoder_fusions {

// The places of a token's packs in [batch, heads, seq, size]. `tiles` blocks share the tokens of each sequence.
struct HeadLayout {
    int64_t heads;
    int64_t seq;
    int packs;  // of one head

    // Returns the place in [batch, heads, seq, packs] of pack p of token s in sequence b.
    __device__ int64_t place(int64_t b, int64_t s, int p) const {
        return ((b * heads + p / packs) * seq + s) * packs + p % packs;
    }
};

// The outputs into which a row of 3 x heads x size is split.
template <class Pack>
struct HeadOutputs {
    Pack* q;
    Pack* k;
    Pack* v;
};

template <class Pack>
__global__ void qkv_bias_transpose_kernel(const Pack* qkv, const Pack* bias, HeadOutputs<Pack> to,
                                          Sequences from, HeadLayout by, int tiles) {
    const int packs = static_cast<int>(by.heads) * by.packs;  // of Q, of K, of V
    const int p = pack_of_thread();
    if (p >= 3 * packs) return;
    const int64_t b = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    const Sequences::Rows rows = from.rows(b);
    if (row_of_thread(tile, 0) >= from.seq) return;
    Pack* const part = p < packs ? to.q : p < 2 * packs ? to.k : to.v;
    const Pack its_bias = bias[p];  // loaded once for all rows of the thread

    Pack held[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t s = row_of_thread(tile, i);
        if (s < rows.count) held[i] = qkv[(rows.first + s) * 3 * packs + p];
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t s = row_of_thread(tile, i);
        if (s >= from.seq) return;
        Pack result{};  // zeros where there is no token
#pragma unroll
        for (int j = 0; j < Pack::kSize && s < rows.count; ++j) {
            result.element[j] = static_cast<typename Pack::Element>(
                static_cast<float>(held[i].element[j]) + static_cast<float>(its_bias.element[j]));
        }
        part[by.place(b, s, p % packs)] = result;
    }
}

template <class Pack>
__global__ void transpose_back_kernel(const Pack* x, Pack* y, Sequences to, HeadLayout by,
                                      int tiles) {
    const int packs = static_cast<int>(by.heads) * by.packs;
    const int p = pack_of_thread();
    if (p >= packs) return;
    const int64_t b = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    const Sequences::Rows rows = to.rows(b);

    Pack held[kRows];  // rows after a sequence's end are neither read nor written
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t s = row_of_thread(tile, i);
        if (s < rows.count) held[i] = x[by.place(b, s, p)];
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t s = row_of_thread(tile, i);
        if (s < rows.count) y[(rows.first + s) * packs + p] = held[i];
    }
}

// q, k and v = qkv + bias, each [batch, heads, seq, size]. qkv: a row of [3, heads, size] for each token; bias:
// one such row (all device memory). Asynchronous on stream. cudaErrorInvalidValue for a null or misaligned pointer and
// for sizes that are negative or too large for the grid.
template <class T>
cudaError_t add_qkv_bias_transpose(const T* qkv, const T* bias, T* q, T* k, T* v,
                                   const Sequences& sequences, int64_t heads, int64_t size,
                                   cudaStream_t stream) {
    if (!sequences.have_rows_of(3, heads, size)) return cudaErrorInvalidValue;
    return for_each_sequence<T>(
        {qkv, bias, q, k, v}, sequences, 3 * heads * size, size,
        [&](auto pack, dim3 grid, dim3 block, int tiles) {
            constexpr int kPack = pack.value;
            qkv_bias_transpose_kernel<<<grid, block, 0, stream>>>(
                as_packs<kPack>(qkv), as_packs<kPack>(bias),
                HeadOutputs<Pack<T, kPack>>{as_packs<kPack>(q), as_packs<kPack>(k),
                                            as_packs<kPack>(v)},
                sequences, HeadLayout{heads, sequences.seq, static_cast<int>(size / kPack)}, tiles);
        });
}

// Copies x, [batch, heads, seq, size], to y, a row of [heads, size] for each token. Errors as above.
template <class T>
cudaError_t transpose_back(const T* x, T* y, const Sequences& sequences, int64_t heads,
                           int64_t size, cudaStream_t stream) {
    if (!sequences.have_rows_of(1, heads, size)) return cudaErrorInvalidValue;
    return for_each_sequence<T>(
        {x, y}, sequences, heads * size, size, [&](auto pack, dim3 grid, dim3 block, int tiles) {
            constexpr int kPack = pack.value;
            transpose_back_kernel<<<grid, block, 0, stream>>>(
                as_packs<kPack>(x), as_packs<kPack>(y), sequences,
                HeadLayout{heads, sequences.seq, static_cast<int>(size / kPack)}, tiles);
        });
}

}  // namespace encoder_fusions
