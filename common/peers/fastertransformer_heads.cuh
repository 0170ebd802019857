// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
//
// FasterTransformer's way from tokens to heads and back (version 1.0, 2019), and its padding (since 2.1): written anew
// from their description, to be compared with. A token's row has heads x size elements.
//   to heads   in float a block takes a token's row of Q, of K or of V, an element a thread; in half a block takes
//              all three, a pair a thread, added in half
//   to tokens  in float a block takes one head's row of a token, in half four of them
//   padding    one thread counts, for each token, the padding before it; then a block a token copies its row, an
//              element at a time, into what was set to zeros where padding is put in
//   accepts    float, __half
//   limits     to heads: up to 1024 elements a row, in half 2048; to tokens: up to 1024 elements a head, in half 512,
//              and numbers of heads' rows that four divides. Sequences of one length but for padding; 2^31 elements
//   changed    Q, K and V come side by side, as ours take them, not from three arrays
//   source     the description of cuda_kernels.cu, open_attention.cu (1.0) and bert_preprocess_kernels.cu
#pragma once
#include <cstdint>
#include <type_traits>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace fastertransformer_heads {

struct Sizes {
    int batch, seq, heads, size;
    int tokens() const { return batch * seq; }
    int hidden() const { return heads * size; }
    // Of element or pair `col` of a token's row, of `width` to a head: its place by heads.
    __device__ int place(int token, int col, int width) const {
        const int b = token / seq, s = token % seq;
        return ((b * heads + col / width) * seq + s) * width + col % width;
    }
};

// Grid: 3 x tokens; threads: hidden.
template <class T>
__global__ void row_to_heads(const T* qkv, const T* bias, T* q, T* k, T* v, Sizes of, int tokens) {
    const int hidden = blockDim.x, col = threadIdx.x;
    const int part = blockIdx.x / tokens, token = blockIdx.x % tokens;
    T* const to = part == 0 ? q : part == 1 ? k : v;
    to[of.place(token, col, of.size)] =
        qkv[(token * 3 + part) * hidden + col] + bias[part * hidden + col];
}

// Grid: tokens; threads: hidden / 2.
static __global__ void rows_to_heads(const __half2* qkv, const __half2* bias, __half2* q,
                                     __half2* k, __half2* v, Sizes of) {
    const int hidden = blockDim.x, col = threadIdx.x, token = blockIdx.x;
    const int place = of.place(token, col, of.size / 2);
    const __half2* const row = qkv + token * 3 * hidden + col;
    q[place] = __hadd2(row[0], bias[col]);
    k[place] = __hadd2(row[hidden], bias[hidden + col]);
    v[place] = __hadd2(row[2 * hidden], bias[2 * hidden + col]);
}

// Grid: batch x heads x seq / rows of a block; threads: those rows, of `width` each.
template <class Pack>
__global__ void rows_to_tokens(const Pack* x, Pack* y, Sizes of, int width) {
    const int rows = blockDim.x / width;
    const int row = blockIdx.x * rows + threadIdx.x / width, col = threadIdx.x % width;
    const int s = row % of.seq, h = row / of.seq % of.heads, b = row / of.seq / of.heads;
    y[((b * of.seq + s) * of.heads + h) * width + col] = x[row * width + col];
}

// One thread: for each token the rows of padding before it.
static __global__ void padding_before(const int32_t* lengths, int32_t* padding, Sizes of) {
    int token = 0, before = 0;
    for (int b = 0; b < of.batch; ++b) {
        for (int s = 0; s < lengths[b]; ++s) padding[token++] = before;
        before += of.seq - lengths[b];
    }
}

// Grid: tokens. Out of the padded batch, or into it.
template <class T>
__global__ void copy_rows(const T* x, T* y, const int32_t* padding, int hidden, bool into) {
    const int packed = blockIdx.x, padded = packed + padding[packed];
    const int from = into ? packed : padded, to = into ? padded : packed;
    for (int col = threadIdx.x; col < hidden; col += blockDim.x)
        y[to * hidden + col] = x[from * hidden + col];
}

// ---- launchers. Sizes are within the limits above, and none is 0.

template <class T>
cudaError_t to_heads(const T* qkv, const T* bias, T* q, T* k, T* v, const Sizes& of,
                     cudaStream_t stream) {
    const auto tokens = static_cast<unsigned>(of.tokens());
    const auto hidden = static_cast<unsigned>(of.hidden());
    if constexpr (std::is_same_v<T, __half>) {
        const auto pairs = [](auto* x) { return reinterpret_cast<__half2*>(x); };
        const auto read = [](auto* x) { return reinterpret_cast<const __half2*>(x); };
        rows_to_heads<<<tokens, hidden / 2, 0, stream>>>(read(qkv), read(bias), pairs(q), pairs(k),
                                                         pairs(v), of);
    } else {
        row_to_heads<<<3 * tokens, hidden, 0, stream>>>(qkv, bias, q, k, v, of, of.tokens());
    }
    return cudaGetLastError();
}

template <class T>
cudaError_t to_tokens(const T* x, T* y, const Sizes& of, cudaStream_t stream) {
    const auto rows = static_cast<unsigned>(of.tokens() * of.heads);
    const auto size = static_cast<unsigned>(of.size);
    if constexpr (std::is_same_v<T, __half>) {
        rows_to_tokens<<<rows / 4, 2 * size, 0, stream>>>(
            reinterpret_cast<const __half2*>(x), reinterpret_cast<__half2*>(y), of, of.size / 2);
    } else {
        rows_to_tokens<<<rows, size, 0, stream>>>(x, y, of, of.size);
    }
    return cudaGetLastError();
}

// tokens: the sum of the lengths, which the host knows. padding: room for so many numbers. into: to the padded
// batch.
template <class T>
cudaError_t move_rows(const T* x, T* y, const int32_t* lengths, int32_t* padding, const Sizes& of,
                      int64_t tokens, bool into, cudaStream_t stream) {
    constexpr int kThreads = 256;
    if (into) {
        const auto bytes = sizeof(T) * of.tokens() * of.hidden();
        const cudaError_t status = cudaMemsetAsync(y, 0, bytes, stream);
        if (status != cudaSuccess) return status;
    }
    padding_before<<<1, 1, 0, stream>>>(lengths, padding, of);
    copy_rows<<<static_cast<unsigned>(tokens), kThreads, 0, stream>>>(x, y, padding, of.hidden(),
                                                                      into);
    return cudaGetLastError();
}

}  // namespace fastertransformer_heads
