// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/qkv_transpose, version 2.0
//
// From tokens to heads and back: [batch, seq, heads, size] becomes [batch, heads, seq, size].
//   new here   a free transpose: it is only the place where the sum of Q, K, V and bias is stored
//   traffic    unfused 6.75 reads + 6 writes per token's element  ->  version 3: 3.75 + 3. Back: 1 + 1
//   accepts    float, __half, __nv_bfloat16; up to 2^31 tokens of sequences of one length
//   source     FasterTransformer's add_QKV_bias and transpose (2019): rebuilt
#pragma once
#include "../04_warp_softmax/warp_softmax.cuh"

namespace encoder_fusions {

using warp_softmax::Pack, warp_softmax::takes_packs;

// Sizes of a batch whose tokens and heads have whole packs.
struct TokensAndHeads {
    int64_t tokens;  // batch x seq
    int seq, heads, packs;

    __host__ __device__ int row() const { return heads * packs; }  // packs of a token
    // Where pack p of a token's row lies by heads. (32 bits count tokens: they divide faster.)
    __device__ int64_t by_heads(unsigned token, int p) const {
        const int64_t b = token / seq, s = token % seq, head = p / packs;
        return ((b * heads + head) * seq + s) * packs + p % packs;
    }
};
template <class Packs>
struct QueryKeyValue {
    Packs *q, *k, *v;
    __device__ Packs* part(int i) const { return i == 0 ? q : i == 1 ? k : v; }
};
template <class Packs>
__device__ Packs sum_of(const Packs& a, const Packs& b) {
    Packs sum;
    for (int j = 0; j < Packs::kSize; ++j)
        sum.element[j] = typename Packs::Element(float(a.element[j]) + float(b.element[j]));
    return sum;
}

// Version 1, FasterTransformer's: a block for a token's row of Q, of K or of V (blockIdx.y), a thread an element: packs
// are Pack<T, 1>. Version 2: the same kernel with packs of 16 bytes. It still loads a bias for each element of qkv.
template <class Packs>
__global__ void qkv_transpose_by_rows_kernel(const Packs* qkv, const Packs* bias,
                                             QueryKeyValue<Packs> to, TokensAndHeads of) {
    const int64_t token = blockIdx.x;
    const int part = blockIdx.y, row = of.row();
    for (int p = threadIdx.x; p < row; p += blockDim.x) {
        const Packs held = qkv[(3 * token + part) * row + p], row_bias = bias[part * row + p];
        to.part(part)[of.by_heads(token, p)] = sum_of(held, row_bias);
    }
}

// Version 3: a thread has the same pack of four tokens. It loads the bias once for them; its four loads wait together.
constexpr int kTokensOfThread = 4;
template <class Packs>
__global__ void qkv_transpose_four_tokens_kernel(const Packs* qkv, const Packs* bias,
                                                 QueryKeyValue<Packs> to, TokensAndHeads of) {
    const int64_t first = int64_t{blockIdx.x} * kTokensOfThread;
    const int part = blockIdx.y, row = of.row();
    for (int p = threadIdx.x; p < row; p += blockDim.x) {
        const Packs row_bias = bias[part * row + p];
        Packs held[kTokensOfThread];
#pragma unroll
        for (int i = 0; i < kTokensOfThread; ++i)
            if (first + i < of.tokens) held[i] = qkv[(3 * (first + i) + part) * row + p];
#pragma unroll
        for (int i = 0; i < kTokensOfThread; ++i)
            if (first + i < of.tokens)
                to.part(part)[of.by_heads(first + i, p)] = sum_of(held[i], row_bias);
    }
}

// Back, version 1, FasterTransformer's: a block for one head's row of a token, a thread an element: blocks of two warps.
template <class Packs>
__global__ void transpose_back_by_heads_kernel(const Packs* x, Packs* y, TokensAndHeads of) {
    const int64_t s = blockIdx.x % of.seq, head = blockIdx.x / of.seq % of.heads;
    const int64_t token = blockIdx.x / of.seq / of.heads * of.seq + s;
    for (int p = threadIdx.x; p < of.packs; p += blockDim.x)
        y[(token * of.heads + head) * of.packs + p] = x[int64_t{blockIdx.x} * of.packs + p];
}

// Back, version 2: a block for all heads' rows of a token, in packs of 16 bytes.
template <class Packs>
__global__ void transpose_back_by_tokens_kernel(const Packs* x, Packs* y, TokensAndHeads of) {
    const int64_t token = blockIdx.x;
    for (int p = threadIdx.x; p < of.row(); p += blockDim.x)
        y[token * of.row() + p] = x[of.by_heads(token, p)];
}

// What the launchers below refuse: cudaErrorInvalidValue for a null or misaligned pointer, a negative size, heads that
// are no packs, and more than 2^31 blocks or elements of a row.
template <int kPack, class T>
cudaError_t check_heads(std::initializer_list<const T*> addresses, int64_t batch, int64_t seq,
                        int64_t heads, int64_t size) {
    constexpr int64_t kMost = INT32_MAX;
    if (batch < 0 || seq < 0 || heads < 0 || size < 0) return cudaErrorInvalidValue;
    if (batch == 0 || seq == 0 || heads == 0 || size == 0) return cudaSuccess;
    if (seq > kMost / batch || heads > kMost / batch / seq || size > kMost / 3 / heads)
        return cudaErrorInvalidValue;
    for (const T* each : addresses)
        if (each == nullptr || !takes_packs<kPack>(each, size)) return cudaErrorInvalidValue;
    return cudaSuccess;
}
inline unsigned threads_of(int packs) {  // of a block for a row of so many
    return static_cast<unsigned>(std::min((packs + 31) / 32 * 32, 256));
}

// q, k and v = qkv + bias, each [batch, heads, seq, size]. qkv: a row of [3, heads, size] for each token; bias: one such
// row (all device memory). kTokens: 1 for versions 1 and 2, 4 for version 3. Asynchronous on stream.
template <int kPack, int kTokens, class T>
cudaError_t tokens_to_heads(const T* qkv, const T* bias, T* q, T* k, T* v, int64_t batch,
                            int64_t seq, int64_t heads, int64_t size, cudaStream_t stream) {
    const cudaError_t status = check_heads<kPack, T>({qkv, bias, q, k, v}, batch, seq, heads, size);
    if (status != cudaSuccess || batch * seq * heads * size == 0) return status;
    using Packs = Pack<T, kPack>;
    const TokensAndHeads of{batch * seq, int(seq), int(heads), int(size / kPack)};
    const auto kernel = kTokens == 1 ? qkv_transpose_by_rows_kernel<Packs>
                                     : qkv_transpose_four_tokens_kernel<Packs>;
    const dim3 grid(static_cast<unsigned>((of.tokens - 1) / kTokens + 1), 3);
    const QueryKeyValue<Packs> to{reinterpret_cast<Packs*>(q), reinterpret_cast<Packs*>(k),
                                  reinterpret_cast<Packs*>(v)};
    kernel<<<grid, threads_of(of.row()), 0, stream>>>(reinterpret_cast<const Packs*>(qkv),
                                                      reinterpret_cast<const Packs*>(bias), to, of);
    return cudaGetLastError();
}

// y, a row of [heads, size] for each token, from x, [batch, heads, seq, size]. by_tokens: version 2.
template <int kPack, class T>
cudaError_t heads_to_tokens(const T* x, T* y, int64_t batch, int64_t seq, int64_t heads,
                            int64_t size, bool by_tokens, cudaStream_t stream) {
    const cudaError_t status = check_heads<kPack, T>({x, y}, batch, seq, heads, size);
    if (status != cudaSuccess || batch * seq * heads * size == 0) return status;
    using Packs = Pack<T, kPack>;
    const TokensAndHeads of{batch * seq, int(seq), int(heads), int(size / kPack)};
    const auto kernel =
        by_tokens ? transpose_back_by_tokens_kernel<Packs> : transpose_back_by_heads_kernel<Packs>;
    const auto blocks = static_cast<unsigned>(by_tokens ? of.tokens : of.tokens * heads);
    kernel<<<blocks, threads_of(by_tokens ? of.row() : of.packs), 0, stream>>>(
        reinterpret_cast<const Packs*>(x), reinterpret_cast<Packs*>(y), of);
    return cudaGetLastError();
}

}  // namespace encoder_fusions
