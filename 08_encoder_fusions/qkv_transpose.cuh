// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/qkv_transpose, version 2.0
//
// From tokens to heads and back: [batch, seq, heads, size] becomes [batch, heads, seq, size].
//   new here   a free transpose: the kernel that adds the bias stores each sum at its place among the heads
//   traffic    unfused 6.75 reads + 6 writes per element of a token  ->  version 3: 3.75 + 3. Back: 1 + 1
//   accepts    float, __half, __nv_bfloat16; sequences of one length, up to 2^31 tokens
//   source     FasterTransformer's add_QKV_bias and transpose (2019): rebuilt
#pragma once
#include "../04_warp_softmax/warp_softmax.cuh"

namespace encoder_fusions {

using warp_softmax::Pack, warp_softmax::takes_packs;

// The sizes of a batch. The row of a head consists of whole packs.
struct TokensAndHeads {
    int64_t tokens;  // batch x seq
    int seq, heads, packs;

    __host__ __device__ int row() const { return heads * packs; }  // packs of a token
    // Returns where pack p of a token's row lies in [batch, heads, seq, packs]. (Dividing is faster with 32 bits.)
    __device__ int64_t by_heads(unsigned token, int p) const {
        const int64_t b = token / seq, s = token % seq, head = p / packs;
        return ((b * heads + head) * seq + s) * packs + p % packs;
    }
};
template <class Pack>
struct QueryKeyValue {
    Pack *q, *k, *v;
    __device__ Pack* part(int i) const { return i == 0 ? q : i == 1 ? k : v; }
};
template <class Pack>
__device__ Pack sum_of(const Pack& a, const Pack& b) {
    Pack sum;
    for (int j = 0; j < Pack::kSize; ++j)
        sum.element[j] = typename Pack::Element(float(a.element[j]) + float(b.element[j]));
    return sum;
}

// Version 1, FasterTransformer's: a block moves a token's row of Q, K or V (blockIdx.y), a thread an element: Pack is
// Pack<T, 1>. Version 2: the same kernel with packs of 16 bytes. Both load a bias for each element of qkv.
template <class Pack>
__global__ void qkv_transpose_by_rows_kernel(const Pack* qkv, const Pack* bias,
                                             QueryKeyValue<Pack> to, TokensAndHeads of) {
    const int64_t token = blockIdx.x;
    const int part = blockIdx.y, row = of.row();
    for (int p = threadIdx.x; p < row; p += blockDim.x) {
        const Pack held = qkv[(3 * token + part) * row + p], row_bias = bias[part * row + p];
        to.part(part)[of.by_heads(token, p)] = sum_of(held, row_bias);
    }
}

// Version 3: a thread moves the same pack of four tokens. It loads the bias once, and its four loads overlap.
constexpr int kTokensOfThread = 4;
template <class Pack>
__global__ void qkv_transpose_four_tokens_kernel(const Pack* qkv, const Pack* bias,
                                                 QueryKeyValue<Pack> to, TokensAndHeads of) {
    const int64_t first = int64_t{blockIdx.x} * kTokensOfThread;
    const int part = blockIdx.y, row = of.row();
    for (int p = threadIdx.x; p < row; p += blockDim.x) {
        const Pack row_bias = bias[part * row + p];
        Pack held[kTokensOfThread];
#pragma unroll
        for (int i = 0; i < kTokensOfThread; ++i)
            if (first + i < of.tokens) held[i] = qkv[(3 * (first + i) + part) * row + p];
#pragma unroll
        for (int i = 0; i < kTokensOfThread; ++i)
            if (first + i < of.tokens)
                to.part(part)[of.by_heads(first + i, p)] = sum_of(held[i], row_bias);
    }
}

// Back, version 1, FasterTransformer's: a block copies one head's row of a token, a thread an element. A block thus has
// few warps.
template <class Pack>
__global__ void transpose_back_by_heads_kernel(const Pack* x, Pack* y, TokensAndHeads of) {
    const int64_t s = blockIdx.x % of.seq, head = blockIdx.x / of.seq % of.heads;
    const int64_t token = blockIdx.x / of.seq / of.heads * of.seq + s;
    for (int p = threadIdx.x; p < of.packs; p += blockDim.x)
        y[(token * of.heads + head) * of.packs + p] = x[int64_t{blockIdx.x} * of.packs + p];
}

// Back, version 2: a block copies all heads' rows of a token, in packs of 16 bytes.
template <class Pack>
__global__ void transpose_back_by_tokens_kernel(const Pack* x, Pack* y, TokensAndHeads of) {
    const int64_t token = blockIdx.x;
    for (int p = threadIdx.x; p < of.row(); p += blockDim.x)
        y[token * of.row() + p] = x[of.by_heads(token, p)];
}

// Checks arguments of the launchers below. Returns cudaErrorInvalidValue for a null or misaligned pointer, a negative
// size, a head's size that packs do not divide, and more than 2^31 blocks or elements of a row.
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
inline unsigned threads_of(int packs) {  // returns the threads of a block that moves a row of packs
    return static_cast<unsigned>(std::min((packs + 31) / 32 * 32, 256));
}

// q, k and v = qkv + bias, each [batch, heads, seq, size]. qkv: a row of [3, heads, size] for each token; bias: one such
// row (all device memory). kTokens: 1 for versions 1 and 2, 4 for version 3. Asynchronous on stream.
template <int kPack, int kTokens, class T>
cudaError_t tokens_to_heads(const T* qkv, const T* bias, T* q, T* k, T* v, int64_t batch,
                            int64_t seq, int64_t heads, int64_t size, cudaStream_t stream) {
    const cudaError_t status = check_heads<kPack, T>({qkv, bias, q, k, v}, batch, seq, heads, size);
    if (status != cudaSuccess || batch * seq * heads * size == 0) return status;
    using Pack = encoder_fusions::Pack<T, kPack>;
    const TokensAndHeads of{batch * seq, int(seq), int(heads), int(size / kPack)};
    const auto kernel =
        kTokens == 1 ? qkv_transpose_by_rows_kernel<Pack> : qkv_transpose_four_tokens_kernel<Pack>;
    const dim3 grid(static_cast<unsigned>((of.tokens - 1) / kTokens + 1), 3);
    const QueryKeyValue<Pack> to{reinterpret_cast<Pack*>(q), reinterpret_cast<Pack*>(k),
                                 reinterpret_cast<Pack*>(v)};
    kernel<<<grid, threads_of(of.row()), 0, stream>>>(reinterpret_cast<const Pack*>(qkv),
                                                      reinterpret_cast<const Pack*>(bias), to, of);
    return cudaGetLastError();
}

// y, a row of [heads, size] for each token, from x, [batch, heads, seq, size]. by_tokens selects version 2.
template <int kPack, class T>
cudaError_t heads_to_tokens(const T* x, T* y, int64_t batch, int64_t seq, int64_t heads,
                            int64_t size, bool by_tokens, cudaStream_t stream) {
    const cudaError_t status = check_heads<kPack, T>({x, y}, batch, seq, heads, size);
    if (status != cudaSuccess || batch * seq * heads * size == 0) return status;
    using Pack = encoder_fusions::Pack<T, kPack>;
    const TokensAndHeads of{batch * seq, int(seq), int(heads), int(size / kPack)};
    const auto kernel =
        by_tokens ? transpose_back_by_tokens_kernel<Pack> : transpose_back_by_heads_kernel<Pack>;
    const auto blocks = static_cast<unsigned>(by_tokens ? of.tokens : of.tokens * heads);
    kernel<<<blocks, threads_of(by_tokens ? of.row() : of.packs), 0, stream>>>(
        reinterpret_cast<const Pack*>(x), reinterpret_cast<Pack*>(y), of);
    return cudaGetLastError();
}

}  // namespace encoder_fusions
