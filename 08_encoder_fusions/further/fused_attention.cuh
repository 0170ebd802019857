// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/fused_attention, version 1.0
//
// o = softmax(scale q k^T) v for each query, in one pass over keys and values: no score goes to memory.
//   new here   03's pair (m, d) gets a third member, the weighted sum of values; these sets merge like pairs
//   merges     a warp's set and one more key; the sets of a block's warps; the sets of several blocks
//   traffic    each query reads all its keys and values once; unfused kernels also write and read each score twice
//   accepts    float, __half, __nv_bfloat16; up to 256 elements per head; any aligned addresses, any strides
//   rows       0 if a query sees no key or only -inf; NaN if its scores have NaN or +inf
//   source     Milakov & Gimelshein 2018 (the pair); Rabe & Staats 2021 and Dao et al. 2022 (the third member)
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "../../04_warp_softmax/warp_softmax.cuh"

namespace fused_attention {

// The rows of all heads. Strides are in elements: row i of head h of sequence b begins at
// data + b * sequence + h * head + i * row.
template <class T>
struct HeadRows {
    T* data = nullptr;
    int64_t sequence = 0, head = 0, row = 0;
};

// Packed sequences lie one after another: sequence b's queries begin at row first_query[b], its keys and values at
// row first_key[b], and `sequence` above is not used.
template <class T>
struct AttentionProblem {
    int64_t batch, heads, queries, keys, size;  // packed: queries and keys of the longest
    HeadRows<const T> q, k, v;
    HeadRows<T> o;
    float scale;                           // of a score, above 0
    bool causal = false;                   // query i sees keys 0 to i + keys - queries
    const int32_t* lengths = nullptr;      // number of valid keys in each sequence; nullptr: all
    const int32_t* first_query = nullptr;  // batch + 1 numbers, both or neither
    const int32_t* first_key = nullptr;
    HeadRows<float> log_sum_exp{};  // of a query's scores; data == nullptr: not returned
    int64_t key_heads =
        0;  // heads of k and v, which divides heads: consecutive heads of q share one; 0: as many as q has

    __host__ __device__ int64_t heads_of_keys() const { return key_heads == 0 ? heads : key_heads; }
    // Returns the head of k and v that head `head` of q uses.
    __host__ __device__ int64_t key_head(int64_t head) const {
        return key_heads == 0 ? head : head / (heads / key_heads);
    }
};

// One sequence of the batch.
struct Sequence {
    int queries, keys, offset;

    template <class T>
    __device__ Sequence(const AttentionProblem<T>& g, int64_t b)
        : queries(static_cast<int>(g.queries)), keys(static_cast<int>(g.keys)) {
        if (g.first_query != nullptr) {
            queries = within(g.first_query[b + 1] - g.first_query[b], queries);
            keys = within(g.first_key[b + 1] - g.first_key[b], keys);
        }
        offset = keys - queries;
        if (g.lengths != nullptr) keys = within(g.lengths[b], keys);
    }
    // Returns the number of keys that a query sees. These are the sequence's first keys.
    __device__ int seen_by(int query, bool causal) const {
        return causal ? within(query + offset + 1, keys) : keys;
    }
    __device__ static int within(int count, int most) { return max(0, min(count, most)); }
};

// Returns the first row of head `head` of sequence b.
template <class T>
__device__ T* rows_of(const HeadRows<T>& all, const int32_t* packed, int64_t b, int64_t head) {
    const int64_t first = packed == nullptr ? b * all.sequence : int64_t{packed[b]} * all.row;
    return all.data + first + head * all.head;
}

// Represents a set of keys: the maximum m of their scores s, d = sum of exp(s - m), and the sum of exp(s - m) v. A lane
// holds elements lane, lane + 32, ... of this sum. A single key is {s, 1, v}.
template <int kCount>
struct KeySet {
    float m = -INFINITY;
    float d = 0.f;
    float sum[kCount] = {};
};

// Merges two sets, as in 03: the factor of each set is exp(its maximum - the common maximum).
template <int kCount>
__device__ KeySet<kCount> merge(const KeySet<kCount>& a, const KeySet<kCount>& b) {
    KeySet<kCount> both;
    both.m = fmaxf(a.m, b.m);
    const float base = both.m == -INFINITY ? 0.f : both.m;
    const float of_a = expf(a.m - base), of_b = expf(b.m - base);
    both.d = a.d * of_a + b.d * of_b;
#pragma unroll
    for (int i = 0; i < kCount; ++i) both.sum[i] = a.sum[i] * of_a + b.sum[i] * of_b;
    return both;
}

// The sets that blocks write for merge 3 if they share a query's keys: m, d and the sum per query and part.
struct Partial {
    float* sets = nullptr;
    int parts = 1;
    __device__ float* of(int64_t query_of_all, int part, int64_t size) const {
        return sets + (query_of_all * parts + part) * (size + 2);
    }
};

// The place of a query's result. The result is sum / d, or 0 if the query saw no key.
template <class T>
struct Query {
    T* o;
    float* log_sum_exp;

    __device__ Query(const AttentionProblem<T>& g, int64_t b, int64_t head, int64_t query)
        : o(rows_of(g.o, g.first_query, b, head) + query * g.o.row), log_sum_exp(nullptr) {
        if (g.log_sum_exp.data == nullptr) return;
        log_sum_exp = rows_of(g.log_sum_exp, g.first_query, b, head) + query * g.log_sum_exp.row;
    }
    __device__ static float share_of(float d) { return d == 0.f ? 0.f : 1.f / d; }
    __device__ void tell_sum(float m, float d) const {
        if (log_sum_exp != nullptr) *log_sum_exp = d == 0.f ? -INFINITY : m + logf(d);
    }
};

constexpr int kWarps = 4;  // of a block, which share its query's keys

// A block computes a query, or each of gridDim.y blocks takes a part of the query's keys. threadIdx.x is the lane,
// threadIdx.y the warp.
template <class T, int kCount>
__global__ void __launch_bounds__(32 * kWarps)
    query_per_block_kernel(const AttentionProblem<T> g, const Partial partial) {
    __shared__ float m_of[kWarps], d_of[kWarps], sum_of[kWarps][kCount][32];
    const auto query = static_cast<int>(blockIdx.x % g.queries);
    const int64_t head = blockIdx.x / g.queries % g.heads, b = blockIdx.x / g.queries / g.heads;
    const Sequence sequence(g, b);
    if (query >= sequence.queries) return;  // a short packed sequence: the whole block
    const auto lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
    const T* q = rows_of(g.q, g.first_query, b, head) + query * g.q.row;
    const T* k = rows_of(g.k, g.first_key, b, g.key_head(head));
    const T* v = rows_of(g.v, g.first_key, b, g.key_head(head));
    const auto element = [&](const T* row, int i) {
        const int64_t col = lane + 32 * i;
        return col < g.size ? static_cast<float>(row[col]) : 0.f;
    };

    float of_q[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) of_q[i] = element(q, i);
    KeySet<kCount> mine;
    const int seen = sequence.seen_by(query, g.causal);
    const int each = (seen + partial.parts - 1) / partial.parts;
    const int end = min(seen, static_cast<int>(blockIdx.y + 1) * each);
    for (int key = static_cast<int>(blockIdx.y) * each + warp; key < end; key += kWarps) {
        KeySet<kCount> one;
        float product = 0.f;
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            product += of_q[i] * element(k + int64_t{key} * g.k.row, i);
            one.sum[i] = element(v + int64_t{key} * g.v.row, i);
        }
        one.m = g.scale * warp_softmax::warp_sum(product);
        one.d = 1.f;
        mine = merge(mine, one);  // 03: mine = Merge{}(mine, {x_row[col], 1.f})
    }

    if (lane == 0) m_of[warp] = mine.m, d_of[warp] = mine.d;
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum_of[warp][i][lane] = mine.sum[i];
    __syncthreads();
    if (warp > 0) return;
    for (int other = 1; other < kWarps; ++other) {
        KeySet<kCount> set;
        set.m = m_of[other];
        set.d = d_of[other];
#pragma unroll
        for (int i = 0; i < kCount; ++i) set.sum[i] = sum_of[other][i][lane];
        mine = merge(mine, set);
    }

    const Query<T> result(g, b, head, query);
    float* const set = partial.of(blockIdx.x, blockIdx.y, g.size);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        const int64_t col = lane + 32 * i;
        if (col >= g.size) continue;
        if (partial.sets != nullptr) set[2 + col] = mine.sum[i];
        if (partial.sets == nullptr)
            result.o[col] = static_cast<T>(mine.sum[i] * Query<T>::share_of(mine.d));
    }
    if (lane > 0) return;
    if (partial.sets != nullptr) set[0] = mine.m, set[1] = mine.d;
    if (partial.sets == nullptr) result.tell_sum(mine.m, mine.d);
}

// Merge 3: a warp merges the sets of all parts of a query.
template <class T, int kCount>
__global__ void __launch_bounds__(32)
    merge_parts_kernel(const AttentionProblem<T> g, const Partial partial) {
    const auto query = static_cast<int>(blockIdx.x % g.queries);
    const int64_t head = blockIdx.x / g.queries % g.heads, b = blockIdx.x / g.queries / g.heads;
    if (query >= Sequence(g, b).queries) return;
    const auto lane = static_cast<int>(threadIdx.x);
    KeySet<kCount> all;
    for (int part = 0; part < partial.parts; ++part) {
        const float* set = partial.of(blockIdx.x, part, g.size);
        KeySet<kCount> one;
        one.m = set[0];
        one.d = set[1];
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            const int64_t col = lane + 32 * i;
            if (col < g.size) one.sum[i] = set[2 + col];
        }
        all = merge(all, one);
    }
    const Query<T> result(g, b, head, query);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        const int64_t col = lane + 32 * i;
        if (col < g.size) result.o[col] = static_cast<T>(all.sum[i] * Query<T>::share_of(all.d));
    }
    if (lane == 0) result.tell_sum(all.m, all.d);
}

// ---- launchers

constexpr int64_t kMostSize = 256;

// True if the sizes are valid. Sets *is_empty to true if there is nothing to do.
template <class T>
bool is_possible(const AttentionProblem<T>& g, bool* is_empty) {
    *is_empty = g.batch == 0 || g.heads == 0 || g.queries == 0 || g.size == 0;
    if (g.batch < 0 || g.heads < 0 || g.queries < 0 || g.keys < 0 || g.size < 0 ||
        g.size > kMostSize)
        return false;
    if (g.key_heads != 0 && (g.key_heads < 0 || g.heads % g.key_heads != 0)) return false;
    constexpr int64_t kMost = int64_t{1} << 30;
    return *is_empty || (g.queries <= kMost / g.heads / g.batch && g.keys <= kMost);
}

// Checks a problem: returns cudaErrorInvalidValue for a null or misaligned pointer, a negative size, more than 256
// elements per head, heads of keys that do not divide those of queries, a scale that is not above 0, one list of first rows without the other, and more than 2^30 queries
// in all heads or keys in one head. Sets *is_empty to true if there is nothing to do.
template <class T>
cudaError_t look_at(const AttentionProblem<T>& g, bool* is_empty) {
    if (!is_possible(g, is_empty) || !(g.scale > 0.f) ||
        (g.first_query == nullptr) != (g.first_key == nullptr))
        return cudaErrorInvalidValue;
    if (*is_empty) return cudaSuccess;
    const auto is_possible_at = [&](const T* address) {
        return address != nullptr && warp_softmax::takes_packs<1>(address, g.size);
    };
    const bool has_keys = g.keys == 0 || (is_possible_at(g.k.data) && is_possible_at(g.v.data));
    return is_possible_at(g.q.data) && is_possible_at(g.o.data) && has_keys ? cudaSuccess
                                                                            : cudaErrorInvalidValue;
}

// Calls launch(count), where count is the number of a row's elements per lane: 1, 2, 4 or 8, as a
// std::integral_constant.
template <class Launch>
void with_count(int64_t size, Launch launch) {
    if (size <= 32) return launch(std::integral_constant<int, 1>{});
    if (size <= 64) return launch(std::integral_constant<int, 2>{});
    if (size <= 128) return launch(std::integral_constant<int, 4>{});
    launch(std::integral_constant<int, 8>{});
}

template <class T>
unsigned queries_of_all(const AttentionProblem<T>& g) {
    return static_cast<unsigned>(g.batch * g.heads * g.queries);
}

template <class T>
void merge_parts(const AttentionProblem<T>& g, const Partial& partial, cudaStream_t stream) {
    with_count(g.size, [&](auto count) {
        constexpr int kCount = decltype(count)::value;
        merge_parts_kernel<T, kCount><<<queries_of_all(g), 32, 0, stream>>>(g, partial);
    });
}

// Returns the bytes of workspace for `parts` blocks per query.
template <class T>
size_t workspace_bytes(const AttentionProblem<T>& g, int64_t parts) {
    return parts < 2
               ? 0
               : static_cast<size_t>(queries_of_all(g) * parts * (g.size + 2)) * sizeof(float);
}

// True if a grid has room for `parts` blocks per query, and the workspace has room for their sets.
template <class T>
bool is_shared_by(const AttentionProblem<T>& g, int64_t parts, const void* workspace,
                  size_t bytes) {
    return parts == 1 || (parts > 1 && parts <= 65535 && workspace != nullptr &&
                          reinterpret_cast<uintptr_t>(workspace) % alignof(float) == 0 &&
                          bytes >= workspace_bytes(g, parts));
}

// Computes the attention that AttentionProblem describes. Asynchronous on stream. parts: blocks that share a query's
// keys; several blocks need a workspace of workspace_bytes(g, parts), aligned as float, which no other call uses at the
// same time. Errors: cudaErrorInvalidValue for a workspace that is too small, and the errors of look_at().
template <class T>
cudaError_t query_per_block(const AttentionProblem<T>& g, int64_t parts, void* workspace,
                            size_t bytes, cudaStream_t stream) {
    bool is_empty = false;
    const cudaError_t status = look_at(g, &is_empty);
    if (status != cudaSuccess || is_empty) return status;
    if (!is_shared_by(g, parts, workspace, bytes)) return cudaErrorInvalidValue;
    const Partial partial{parts > 1 ? static_cast<float*>(workspace) : nullptr,
                          static_cast<int>(parts)};
    const dim3 grid(queries_of_all(g), static_cast<unsigned>(parts)), block(32, kWarps);
    with_count(g.size, [&](auto count) {
        constexpr int kCount = decltype(count)::value;
        query_per_block_kernel<T, kCount><<<grid, block, 0, stream>>>(g, partial);
    });
    if (parts > 1) merge_parts(g, partial, stream);
    return cudaGetLastError();
}

}  // namespace fused_attention
