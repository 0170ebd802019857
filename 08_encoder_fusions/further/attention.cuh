// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/attention, version 1.0
//
// The front call: computes o = softmax(scale q k^T) v for any layout and type; no score goes to memory.
//   call       attention: see front_call.cuh
//   timed      attention
//   new here   attention_plan(): a pure function that chooses the kernel and the number of blocks that share a query's
//              keys
//   traffic    that of the kernel that the plan chooses
//   accepts    float, __half, __nv_bfloat16; up to 256 elements per head; any strides; causal masks and masks by
//              lengths; packed sequences; heads of q that share a head of k and v; on request each query's log-sum-exp
//   rows       0 if a query sees no key or only -inf; NaN if its scores have NaN or +inf
#pragma once
#include "../../04_warp_softmax/front_call.cuh"
#include "attention_hopper.cuh"
#include "attention_short.cuh"
#include "few_queries.cuh"

namespace softmax_stages {

// Strides in elements: from a row of a head to the next row, from a head to the next, from a sequence to the next.
struct AttentionDistances {
    int64_t row = kClose, head = kClose, sequence = kClose;
};

// Without distances, tensors are contiguous: [batch, heads, rows, size], or [rows, heads, size] if packed.
struct AttentionOptions {
    float scale = 0.f;                 // of a score; 0: 1 / sqrt(size)
    bool causal = false;               // query i sees keys 0 to i + keys - queries
    const int32_t* lengths = nullptr;  // number of valid keys in each sequence; nullptr: all
    // For packed sequences: the rows at which each sequence's queries and keys begin, batch + 1 numbers each; give both
    // or neither. `queries` and `keys` are then the maximum over the sequences.
    const int32_t* first_query = nullptr;
    const int32_t* first_key = nullptr;
    float* log_sum_exp = nullptr;  // of a query's scores, [batch, heads, queries] or [rows, heads]
    // Heads of k and v, a divisor of heads: consecutive heads of q share one. 0: as many as q has.
    int64_t key_heads = 0;
    AttentionDistances q, k, v, o;
};

constexpr int64_t kMostHeadSize = fused_attention::kMostSize;  // elements per head

enum class AttentionWay { query_per_block, mma, few_queries, short_keys, hopper };

struct AttentionPlan {
    AttentionWay way;
    int queries;    // per block
    int64_t parts;  // blocks that share a query's keys
    const char* reason;
    size_t workspace_bytes;       // that the call uses
    size_t more_workspace_bytes;  // that would let more blocks share a query's keys; otherwise 0
};

// Returns the call as the problem that this stage's kernels take.
template <class T>
fused_attention::AttentionProblem<T> attention_problem(const T* q, const T* k, const T* v, T* o,
                                                       int64_t batch, int64_t heads,
                                                       int64_t queries, int64_t keys, int64_t size,
                                                       const AttentionOptions& options) {
    const bool packed = options.first_query != nullptr;
    const auto heads_at = [&](auto* data, int64_t count, int64_t rows, int64_t width,
                              const AttentionDistances& apart) {
        const auto or_close = [](int64_t distance, int64_t close) {
            return distance == kClose ? close : distance;
        };
        fused_attention::HeadRows<std::remove_pointer_t<decltype(data)>> all;
        all.data = data;
        all.row = or_close(apart.row, packed ? count * width : width);
        all.head = or_close(apart.head, packed ? width : rows * all.row);
        all.sequence = or_close(apart.sequence, packed ? 0 : count * all.head);
        return all;
    };
    fused_attention::AttentionProblem<T> g{};
    g.batch = batch;
    g.heads = heads;
    g.queries = queries;
    g.keys = keys;
    g.size = size;
    g.key_heads = options.key_heads;
    g.q = heads_at(q, heads, queries, size, options.q);
    g.k = heads_at(k, g.heads_of_keys(), keys, size, options.k);
    g.v = heads_at(v, g.heads_of_keys(), keys, size, options.v);
    g.o = heads_at(o, heads, queries, size, options.o);
    g.scale = options.scale == 0.f ? 1.f / std::sqrt(static_cast<float>(std::max<int64_t>(size, 1)))
                                   : options.scale;
    g.causal = options.causal;
    g.lengths = options.lengths;
    g.first_query = options.first_query;
    g.first_key = options.first_key;
    g.log_sum_exp = heads_at(options.log_sum_exp, heads, queries, 1, {});
    return g;
}

// The plan with mma or query_per_block().
template <class T>
AttentionPlan plan_without_hopper(const fused_attention::AttentionProblem<T>& g, const Chip& chip,
                                  size_t bytes) {
    using fused_attention::kFewQueries;
    using fused_attention::kManyQueries;
    const bool by_mma =
        sizeof(T) == 2 && chip.capability >= 8 && g.size <= fused_attention::kMostSizeOfMma;
    const AttentionWay way = by_mma ? AttentionWay::mma : AttentionWay::query_per_block;
    constexpr int64_t kBlocksForAll = 2, kLeastKeys = 256, kMostParts = 64;
    const int queries = by_mma ? kManyQueries : 1;
    const int64_t tiles = (g.queries + queries - 1) / queries;
    const int64_t blocks = std::max<int64_t>(g.batch * g.heads * tiles, 1);
    const int64_t parts =
        std::min({kBlocksForAll * chip.multiprocessors / blocks, g.keys / kLeastKeys, kMostParts});
    // On a mask's edge a block of 128 queries computes more scores that the mask discards, and takes longer (measured).
    constexpr int64_t kLeastSize = 65, kMostKeys = 1024;
    const bool edge_is_much =
        by_mma && g.causal && g.size >= kLeastSize && g.size % 8 == 0 && g.keys <= kMostKeys;
    if (parts < 2 && edge_is_much)
        return {way, kFewQueries, 1, "few keys and a mask: 64 queries a block", 0, 0};
    if (parts < 2) return {way, queries, 1, "a block has all keys of its queries", 0, 0};
    const size_t needed = fused_attention::workspace_bytes(g, parts);
    if (bytes < needed)
        return {way, queries, 1, "a block has all keys of its queries: no workspace to share them",
                0,   needed};
    return {way, queries, parts, "few queries: several blocks share their keys", needed, 0};
}

template <class T>
AttentionPlan plan_of(const fused_attention::AttentionProblem<T>& g, const Chip& chip,
                      size_t bytes) {
    using fused_attention::kRowsOfQ;
    const AttentionPlan without = plan_without_hopper(g, chip, bytes);
    if constexpr (sizeof(T) == 2) {
        if (chip.capability != 9 || !fused_attention::consists_of_packs(g)) return without;
        const int64_t sms = chip.multiprocessors;
        if (g.queries * (g.heads / g.heads_of_keys()) <= fused_attention::kRowsOfTile) {
            const auto few = fused_attention::few_queries_plan(g, sms);
            if (without.parts > 1 && !few.fills) return without;
            return {AttentionWay::few_queries,
                    static_cast<int>(g.queries),
                    few.parts,
                    "few queries: the blocks of a cluster share their keys",
                    0,
                    few.fills ? 0 : without.more_workspace_bytes};
        }
        // With at most a tile of queries and one of keys per block, mma is faster (measured): it has less to set up.
        if (g.queries <= kRowsOfQ && g.keys <= kRowsOfQ && g.batch * g.heads <= sms &&
            without.way == AttentionWay::mma)
            return without;
        return fused_attention::with_hopper_attention(g.size, [&](auto tiles) -> AttentionPlan {
            const int64_t queries = decltype(tiles)::kQueries;
            const int64_t blocks = g.batch * g.heads * ((g.queries + queries - 1) / queries);
            // A third of the multiprocessors, at twice the speed, is slower than all of them.
            constexpr int64_t kFewest = 3;
            if (without.parts > 1 && kFewest * blocks < sms) return without;
            const size_t more = kFewest * blocks < sms ? without.more_workspace_bytes : 0;
            // Without masks, attention_hopper's blocks are faster if every block of a head is full (measured).
            const bool is_masked = g.causal || g.lengths != nullptr || g.first_query != nullptr;
            constexpr int kConsumers = decltype(tiles)::kConsumers;
            const bool is_full = !is_masked && g.queries > queries &&
                                 (g.queries - 1) / kRowsOfQ % kConsumers == kConsumers - 1;
            if (g.size <= fused_attention::ShortAttention::kSize &&
                g.keys <= fused_attention::kMostShortKeys && !is_full) {
                return {AttentionWay::short_keys,
                        fused_attention::short_queries(g, sms),
                        1,
                        "few keys: a block has all of a head's",
                        0,
                        more};
            }
            return {AttentionWay::hopper,
                    static_cast<int>(queries),
                    1,
                    "a block has all keys of its queries",
                    0,
                    more};
        });
    }
    return without;
}
template <class T>
AttentionPlan attention_plan(int64_t batch, int64_t heads, int64_t queries, int64_t keys,
                             int64_t size, const AttentionOptions& options, const Chip& chip,
                             size_t bytes = 0) {
    const T* const none = nullptr;
    return plan_of(
        attention_problem<T>(none, none, none, nullptr, batch, heads, queries, keys, size, options),
        chip, bytes);
}

template <class T>
cudaError_t attention_workspace_bytes(size_t* bytes, int64_t batch, int64_t heads, int64_t queries,
                                      int64_t keys, int64_t size, const AttentionOptions& options) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = 0;
    const T* const none = nullptr;
    const auto g =
        attention_problem<T>(none, none, none, nullptr, batch, heads, queries, keys, size, options);
    bool is_empty = false;
    if (!fused_attention::is_possible(g, &is_empty) || !(g.scale > 0.f))
        return cudaErrorInvalidValue;
    if (!is_empty) *bytes = plan_of(g, this_chip(), 0).more_workspace_bytes;
    return cudaSuccess;
}

// Launches the kernel that the plan chooses.
template <class T>
cudaError_t attend(const fused_attention::AttentionProblem<T>& g, void* workspace, size_t bytes,
                   cudaStream_t stream) {
    bool is_empty = false;
    const cudaError_t status = fused_attention::look_at(g, &is_empty);
    if (status != cudaSuccess || is_empty) return status;
    AttentionPlan plan = plan_of(g, this_chip(), usable_bytes(workspace, bytes));
    if constexpr (sizeof(T) == 2) {
        cudaError_t status = cudaErrorNotSupported;
        if (plan.way == AttentionWay::few_queries)
            status = fused_attention::few_queries(g, plan.parts, stream);
        if (plan.way == AttentionWay::short_keys)
            status = fused_attention::attention_short(g, plan.queries, stream);
        if (plan.way == AttentionWay::hopper) status = fused_attention::attention_hopper(g, stream);
        if (status != cudaErrorNotSupported) return status;
        // Kernels for Hopper that were not compiled for sm_90a return this error.
        plan = plan_without_hopper(g, this_chip(), usable_bytes(workspace, bytes));
        if (plan.way == AttentionWay::mma)
            return fused_attention::attention_mma(g, plan.parts, workspace, bytes, stream,
                                                  plan.queries);
    }
    return fused_attention::query_per_block(g, plan.parts, workspace, bytes, stream);
}

// o = softmax(scale q k^T) v for each of batch x heads: q and o have `queries` rows of `size` elements, k and v `keys`
// rows. The call also refuses a scale below 0, one list of first rows without the other, and more than 2^30 queries in
// all heads or keys in one head. Without keys o is 0.
template <class T>
cudaError_t attention(const T* q, const T* k, const T* v, T* o, int64_t batch, int64_t heads,
                      int64_t queries, int64_t keys, int64_t size, const AttentionOptions& options,
                      void* workspace, size_t bytes, cudaStream_t stream) {
    if (!is_placed(options.lengths, true) || !is_placed(options.first_query, true) ||
        !is_placed(options.first_key, true) || !is_placed(options.log_sum_exp, true))
        return cudaErrorInvalidValue;
    return attend(attention_problem(q, k, v, o, batch, heads, queries, keys, size, options),
                  workspace, bytes, stream);
}

}  // namespace softmax_stages
