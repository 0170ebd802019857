// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/few_queries, version 1.0
//
// Attention of few queries over many keys, as when a language model writes its next word: one launch, no workspace.
//   new here   the blocks of a cluster share the keys and merge their sets through distributed shared memory; a tile's 16
//              rows are the queries of all heads that share keys; each warp fills a ring of tiles of its own
//   traffic    keys and values once for 16 rows. That read is the least time the kernel can take
//   accepts    __half and __nv_bfloat16; 8, 16, 24, ... 256 elements per head; rows at multiples of 16 bytes
//   rows       as in fused_attention.cuh: what a query does not see never changes its result
//   needs      compute capability 9.0
//   source     Dao et al. 2023, Flash-Decoding (several blocks share a query's keys); PTX ISA, clusters
#pragma once
#include <cooperative_groups.h>

#include "attention_mma.cuh"

namespace fused_attention {

// ---- what a block keeps in shared memory

constexpr int kRowsOfTile = 16;  // as an mma multiplies
constexpr int kKeysOfWarp = 16;  // that a warp takes at a time

// Each warp copies 16 keys and their values into a stage of its ring while it computes with an earlier stage. Only this
// warp uses the ring, so its lanes wait for each other and never for other warps.
template <int kSize>
struct KeyRing {
    using Tile = batched_gemm::SwizzledTile<kKeysOfWarp, kSize>;
    static constexpr int kTile = Tile::kElements, kOfStage = 2 * kTile;  // keys, then values
    // The rings of this many blocks fill a multiprocessor's shared memory.
    static constexpr int kBlocks = kSize > 128 ? 1 : kSize > 64 ? 2 : 4;
    static constexpr int kOfBlock = 216 * 1024 / kBlocks - 2 * kTile;  // bytes, without the queries
    static constexpr int kStages = kOfBlock / (kWarps * kOfStage * 2);
    static_assert(kStages > 2, "two stages arrive while a warp computes with a third");
    static constexpr size_t kBytes = (kWarps * kStages * kOfStage + kTile) * size_t{2};
};

// The sets of the tile's rows. Lanes of a row read and write whole float4; the padding keeps them in different banks.
template <int kSize>
struct SetsOfRows {
    float m[kRowsOfTile], d[kRowsOfTile];
    float sum[kRowsOfTile][kSize + 8];

    // Returns the set of a row, with four elements of its sum.
    __device__ KeySet<4> at(int row, int col) const {
        const float4 four = *reinterpret_cast<const float4*>(&sum[row][col]);
        return {m[row], d[row], {four.x, four.y, four.z, four.w}};
    }
    __device__ void put(int row, int col, const KeySet<4>& set) {
        *reinterpret_cast<float4*>(&sum[row][col]) =
            make_float4(set.sum[0], set.sum[1], set.sum[2], set.sum[3]);
        if (col == 0) m[row] = set.m, d[row] = set.d;
    }
};

// ---- the rows of a tile

// A sequence has queries x group rows for each head of keys: row i is query i / group of head i % group. A tile has 16
// consecutive rows, or fewer at the end.
struct RowsOfTile {
    int first, count, group;
    int64_t first_head;

    __device__ RowsOfTile(int tile, int queries, int64_t of_group, int64_t key_head)
        : first(tile * kRowsOfTile),
          group(static_cast<int>(of_group)),
          first_head(key_head * of_group) {
        count = min(kRowsOfTile, queries * group - first);
    }
    __device__ int query(int row) const { return (first + row) / group; }
    __device__ int64_t head(int row) const { return first_head + (first + row) % group; }
};

// Adds the weighted values of a tile on a causal mask's edge, one key at a time, so that a row never multiplies a value
// that it does not see: 0 times NaN would be NaN. left: the number of the tile's keys that this lane's rows see.
template <class T, int kSize, class Sets>
__device__ void add_seen_values(Sets& mine, const float (&weights)[2][4], const T* v_tile,
                                const int (&left)[2]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
    for (int holder = 0; holder < 4; ++holder) {  // the lane of each four that holds the weights
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int key = i / 2 * 8 + holder * 2 + i % 2;
            float weight[2];
#pragma unroll
            for (int half = 0; half < 2; ++half)
                weight[half] = __shfl_sync(~0u, weights[i / 2][2 * half + i % 2], holder, 4);
#pragma unroll
            for (int j = 0; j < kSize / 8; ++j) {
                const T* const two = v_tile + KeyRing<kSize>::Tile::at(key, 8 * j) + lane % 4 * 2;
#pragma unroll
                for (int one = 0; one < 4; ++one) {
                    if (key < left[one / 2])
                        mine.sum[0][j][one] += weight[one / 2] * static_cast<float>(two[one % 2]);
                }
            }
        }
    }
}

// ---- the kernel

// Blocks (x, 0), (x, 1), ... are a cluster: they compute tile x, and each takes a part of the keys.
template <class T, int kSize>
__global__ void __launch_bounds__(kBlock, KeyRing<kSize>::kBlocks)
    few_queries_kernel(const AttentionProblem<T> g) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    using Ring = KeyRing<kSize>;
    using Tile = typename Ring::Tile;
    using Sets = SetsOfRows<kSize>;
    static_assert((kWarps + 1) * sizeof(Sets) <= Ring::kBytes, "sets take the place of the ring");
    constexpr int kStages = Ring::kStages, kTurn = kWarps * kKeysOfWarp;
    constexpr int kAcross = kSize / 8;  // chunks of 16 bytes in a row
    early_launch::let_next_begin();
    early_launch::wait_for_earlier();
    const auto cluster = cooperative_groups::this_cluster();
    const int parts = static_cast<int>(gridDim.y), part = static_cast<int>(blockIdx.y);
    const auto warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    T* const q_tile = reinterpret_cast<T*>(shared_bytes);
    T* const ring = q_tile + Ring::kTile + warp * kStages * Ring::kOfStage;

    const int64_t key_heads = g.heads_of_keys(), group = g.heads / key_heads;
    const int64_t tiles = (g.queries * group + kRowsOfTile - 1) / kRowsOfTile;
    const int64_t key_head = blockIdx.x / tiles % key_heads, b = blockIdx.x / tiles / key_heads;
    const Sequence sequence(g, b);
    const RowsOfTile rows(static_cast<int>(blockIdx.x % tiles), sequence.queries, group, key_head);
    if (rows.count <= 0) return;  // a short packed sequence: the whole cluster
    const int seen_by_all = sequence.seen_by(rows.query(0), g.causal);
    const int seen = sequence.seen_by(rows.query(rows.count - 1), g.causal);
    const int each = (seen + parts * kTurn - 1) / (parts * kTurn) * kTurn;
    const int begin = min(seen, part * each), end = min(seen, begin + each);

    const T* const k = rows_of(g.k, g.first_key, b, key_head);
    const T* const v = rows_of(g.v, g.first_key, b, key_head);
    // Starts to copy the chunk of 16 bytes at (row, col) of a tile from column col on; zeros if it is not there.
    const auto fetch_chunk = [&](T* tile, int row, int col, const T* from, bool is_there) {
        __pipeline_memcpy_async(tile + Tile::at(row, col), from + col, 16,
                                is_there && col < g.size ? 0 : 16);
    };
    const auto fetch_keys = [&](int stage, int key) {
        T* const to = ring + stage * Ring::kOfStage;
        if (key < end) {
            const int row = lane / kAcross, col = lane % kAcross * 8;
            const T* from_k = k + int64_t{key + row} * g.k.row;
            const T* from_v = v + int64_t{key + row} * g.v.row;
#pragma unroll
            for (int i = 0; i < kKeysOfWarp; i += 32 / kAcross) {
                const bool is_there = key + row + i < end;
                fetch_chunk(to, row + i, col, from_k, is_there);
                fetch_chunk(to + Ring::kTile, row + i, col, from_v, is_there);
                from_k += 32 / kAcross * g.k.row;
                from_v += 32 / kAcross * g.v.row;
            }
        }
        __pipeline_commit();
    };
    for (auto i = static_cast<int>(threadIdx.x); i < kRowsOfTile * kAcross; i += kBlock) {
        const int row = i / kAcross;
        const T* from = rows_of(g.q, g.first_query, b, rows.head(row));
        fetch_chunk(q_tile, row, i % kAcross * 8, from + rows.query(row) * g.q.row,
                    row < rows.count);
    }
    __pipeline_commit();
    int key = begin + warp * kKeysOfWarp;
    for (int i = 0; i < kStages - 1; ++i) fetch_keys(i, key + i * kTurn);
    __pipeline_wait_prior(kStages - 1);
    __syncthreads();  // all queries have arrived

    const int at_q = Tile::at(lane % 16, lane / 16 * 8), at_v = at_q;
    const int at_k = Tile::at(lane % 8 + lane / 16 * 8, lane / 8 % 2 * 8);
    KeySetsOfWarp<kSize, kKeysOfWarp, 1> mine;
    for (int stage = 0; key < end; key += kTurn) {
        __pipeline_wait_prior(kStages - 2);
        __syncwarp();  // the stage has arrived, and no lane reads the stage before it any more
        fetch_keys(stage == 0 ? kStages - 1 : stage - 1, key + (kStages - 1) * kTurn);
        const T* const k_tile = ring + stage * Ring::kOfStage;
        const T* const v_tile = k_tile + Ring::kTile;

        float scores[1][2][4] = {};
#pragma unroll
        for (int p = 0; p < kSize / 16; ++p) {
            uint32_t of_q[4], of_k[4];
            ldmatrix<false>(of_q, q_tile, Tile::further(at_q, 0, 16 * p));
            ldmatrix<false>(of_k, k_tile, Tile::further(at_k, 0, 16 * p));
            mma<T>(scores[0][0], of_q, {of_k[0], of_k[1]});
            mma<T>(scores[0][1], of_q, {of_k[2], of_k[3]});
        }
        int left[2] = {kKeysOfWarp, kKeysOfWarp};
        if (key + kKeysOfWarp > min(end, seen_by_all)) {
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const int half = i / 4, col = i / 2 % 2 * 8 + lane % 4 * 2 + i % 2;
                const int query = rows.query(lane / 4 + 8 * half);
                left[half] = min(end, sequence.seen_by(query, g.causal)) - key;
                if (col >= left[half]) scores[0][i / 2 % 2][half * 2 + i % 2] = -INFINITY;
            }
        }

        mine.merge(scores, g.scale * kLog2e);
        if (min(end, key + kKeysOfWarp) > seen_by_all) {
            add_seen_values<T, kSize>(mine, scores[0], v_tile, left);
        } else {
            uint32_t weights[4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                weights[i] =
                    both_of<T>(scores[0][i / 2][i % 2 * 2], scores[0][i / 2][i % 2 * 2 + 1]);
#pragma unroll
            for (int j = 0; j < kSize / 16; ++j) {
                uint32_t of_v[4];
                ldmatrix<true>(of_v, v_tile, Tile::further(at_v, 0, 16 * j));
                mma<T>(mine.sum[0][2 * j], weights, {of_v[0], of_v[1]});
                mma<T>(mine.sum[0][2 * j + 1], weights, {of_v[2], of_v[3]});
            }
        }
        stage = stage == kStages - 1 ? 0 : stage + 1;
    }

    // The sets of the block's warps, and then the block's, take the place of the rings.
    __syncthreads();
    Sets* const of_warps = reinterpret_cast<Sets*>(shared_bytes);
    Sets* const of_block = of_warps + kWarps;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float d = mine.d[0][half];
        for (int bit = 1; bit < 4; bit *= 2) d += __shfl_xor_sync(~0u, d, bit);
        const int row = lane / 4 + 8 * half;
        if (row >= rows.count) continue;
        if (lane % 4 == 0)
            of_warps[warp].m[row] = mine.m[0][half] * g.scale, of_warps[warp].d[row] = d;
#pragma unroll
        for (int j = 0; j < kSize / 8; ++j)
            *reinterpret_cast<float2*>(&of_warps[warp].sum[row][8 * j + lane % 4 * 2]) =
                make_float2(mine.sum[0][j][2 * half], mine.sum[0][j][2 * half + 1]);
    }
    __syncthreads();
    const auto size = static_cast<int>(g.size);
    for (int row = warp; row < rows.count; row += kWarps) {
        for (int col = 4 * lane; col < size; col += 128) {
            KeySet<4> all;
#pragma unroll
            for (int i = 0; i < kWarps; ++i) all = merge(all, of_warps[i].at(row, col));
            of_block->put(row, col, all);
        }
    }
    cluster.sync();  // all blocks have their sets
    for (int row = part + parts * warp; row < rows.count; row += parts * kWarps) {
        const Query<T> result(g, b, rows.head(row), rows.query(row));
        for (int col = 4 * lane; col < size; col += 128) {
            KeySet<4> all;
#pragma unroll 4
            for (int i = 0; i < parts; ++i)
                all = merge(all, cluster.map_shared_rank(of_block, i)->at(row, col));
            const float share = Query<T>::share_of(all.d);
            *reinterpret_cast<uint2*>(result.o + col) =
                make_uint2(both_of<T>(all.sum[0] * share, all.sum[1] * share),
                           both_of<T>(all.sum[2] * share, all.sum[3] * share));
            if (col == 0) result.tell_sum(all.m, all.d);
        }
    }
    cluster.sync();  // other blocks have read this block's sets
#endif
}

// ---- launchers

constexpr int kMostBlocksOfCluster = 16;  // more than 8 need permission, and not every GPU has them

// Returns the number of clusters, one per tile of rows.
template <class T>
int64_t tiles_of_rows(const AttentionProblem<T>& g) {
    const int64_t group = g.heads / g.heads_of_keys();
    return g.batch * g.heads_of_keys() * ((g.queries * group + kRowsOfTile - 1) / kRowsOfTile);
}

// If most multiprocessors would have no block, as with a single head, the plan does not fill the GPU. Blocks that write
// their sets to a workspace are faster then, because any number of them can share the keys.
struct FewQueriesPlan {
    int parts;  // blocks that share the keys of a tile
    bool fills;
};

// Returns the fewest parts, up to 8, with which the waves of blocks take nearly the least time.
template <class T>
FewQueriesPlan few_queries_plan(const AttentionProblem<T>& g, int64_t multiprocessors) {
    constexpr int kMostParts = 8;
    constexpr int64_t kLeastKeys = 256;  // of a part
    constexpr double kGain = 0.9;        // more parts must pay for merging more sets
    const int64_t tiles = std::max<int64_t>(tiles_of_rows(g), 1);
    const auto load = [&](int parts) {
        return static_cast<double>((tiles * parts + multiprocessors - 1) / multiprocessors) / parts;
    };
    int best = 1;
    for (int parts = 2; parts <= kMostParts && parts * kLeastKeys <= g.keys; ++parts) {
        if (load(parts) < kGain * load(best)) best = parts;
    }
    return {best, 2 * tiles * best >= multiprocessors};
}

template <int kSize, class T>
cudaError_t launch_few_queries(const AttentionProblem<T>& g, unsigned parts, cudaStream_t stream,
                               bool early) {
    const auto kernel = few_queries_kernel<T, kSize>;
    constexpr size_t kBytes = KeyRing<kSize>::kBytes;
    if (!early_launch::is_possible(kernel)) return cudaErrorNotSupported;
    int is_allowed = 0;
    const cudaError_t status = warp_softmax::ask_once(&is_allowed, [=](int*, int) {
        const cudaError_t error =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
        return error != cudaSuccess
                   ? error
                   : cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed,
                                          1);
    });
    if (status != cudaSuccess) return status;
    const dim3 grid(static_cast<unsigned>(tiles_of_rows(g)), parts);
    return early_launch::launch(kernel, grid, dim3(kBlock), kBytes, stream, early, parts, g);
}

// Computes what query_per_block() computes, for the 16-bit types. Takes any number of queries, but each 16 rows read
// all keys again. parts: blocks that share the keys, 1 to 16, of which a GPU need not have more than 8. early: see
// early_launch.cuh. Returns cudaErrorNotSupported for rows outside `accepts` above and on GPUs without clusters.
template <class T>
cudaError_t few_queries(const AttentionProblem<T>& g, int64_t parts, cudaStream_t stream,
                        bool early = false) {
    static_assert(sizeof(T) == 2, "tensor cores multiply half or bfloat16 here");
    bool is_empty = false;
    const cudaError_t status = look_at(g, &is_empty);
    if (status != cudaSuccess || is_empty) return status;
    if (parts < 1 || parts > kMostBlocksOfCluster) return cudaErrorInvalidValue;
    if (!consists_of_packs(g)) return cudaErrorNotSupported;
    const auto launch = [&](auto size) {
        return launch_few_queries<size.value>(g, static_cast<unsigned>(parts), stream, early);
    };
    return g.size <= 32    ? launch(std::integral_constant<int, 32>{})
           : g.size <= 64  ? launch(std::integral_constant<int, 64>{})
           : g.size <= 128 ? launch(std::integral_constant<int, 128>{})
                           : launch(std::integral_constant<int, 256>{});
}

}  // namespace fused_attention
