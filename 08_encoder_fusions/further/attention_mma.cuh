// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/attention_mma, version 1.0
//
// fused_attention.cuh on tensor cores: a block computes 128 or 64 queries and goes through 64 or 128 keys at a time.
//   new here   both products by mma; weights stay in the registers in which the second product expects them; one merge
//              for all keys of a tile
//   traffic    a block reads keys and values once for all its queries
//   accepts    __half and __nv_bfloat16; up to 128 elements per head; any aligned addresses, any strides
//   rows       as in fused_attention.cuh, but a value that is NaN or infinite also spoils the results of queries of the
//              block that do not see it
//   needs      a GPU of compute capability 8.0
//   source     Dao 2023, FlashAttention-2; FlashAttention-4 (m need not be the maximum)
#pragma once
#include "../../04_warp_softmax/ask_once.cuh"
#include "../../04_warp_softmax/further/lifted_exp.cuh"
#include "../../07_batched_gemm/further/early_launch.cuh"
#include "../../07_batched_gemm/further/mma_instructions.cuh"
#include "../../07_batched_gemm/further/swizzled_tile.cuh"
#include "fused_attention.cuh"

extern __shared__ __align__(128) unsigned char shared_bytes[];

namespace fused_attention {

using batched_gemm::both_of;
using batched_gemm::ldmatrix;
using batched_gemm::mma;
using warp_softmax::fast_exp2;

constexpr int kBlock = 128;  // threads
// Queries per block, 16 or 32 for each of its four warps. With many queries, a tile of keys serves more of them; with
// few, there are more blocks to fill a GPU.
constexpr int kManyQueries = 128, kFewQueries = 64;
// Returns the keys per tile, as many as registers allow: per 16 queries, a lane holds half a score for each key and
// half a sum for each element. (Calls with few queries mostly have few keys.)
template <int kSize, bool kInPacks, int kQueries>
constexpr int kKeysOfTile = !kInPacks || kSize > 64 || kQueries == kFewQueries ? 64 : 128;
constexpr float kLog2e = 1.4426950408889634f;

// Tiles of queries, keys and values, for heads of up to kSize elements.
template <int kSize, bool kInPacks, int kQueries>
struct Tiles {
    using OfQueries = batched_gemm::SwizzledTile<kQueries, kSize>;
    using OfKeys = batched_gemm::SwizzledTile<kKeysOfTile<kSize, kInPacks, kQueries>, kSize>;
    static constexpr size_t kBytes = (OfQueries::kElements + 2 * OfKeys::kElements) * 2;
};

// The sets of a warp's queries, kTimes x 16 rows, in the layout of mma's results: of every eight columns, a lane holds
// lane % 4 * 2 and the next, in rows lane / 4 and lane / 4 + 8. m refers to unscaled scores and is the same in the four
// lanes of a row; d has only the weights that this lane has added.
template <int kSize, int kKeys, int kTimes>
struct KeySetsOfWarp {
    float m[kTimes][2];
    float d[kTimes][2] = {};
    float sum[kTimes][kSize / 8][4] = {};

    __device__ KeySetsOfWarp() {
        for (auto& of_rows : m) of_rows[0] = of_rows[1] = -INFINITY;
    }
    // Merges the keys of a tile and turns their scores into weights. scale: the factor of a score, times log2(e). m
    // need not be the maximum, only near it: the sums are rescaled only when a weight would exceed 2^8.
    __device__ void merge(float (&scores)[kTimes][kKeys / 8][4], float scale) {
        constexpr float kNear = 8.f;
        float max[kTimes][2];
        bool is_far = false;
#pragma unroll
        for (int i = 0; i < 2 * kTimes; ++i) {
            float& best = max[i / 2][i % 2];
            best = m[i / 2][i % 2];
            for (const auto& of : scores[i / 2])
                best = fmaxf(best, fmaxf(of[i % 2 * 2], of[i % 2 * 2 + 1]));
            for (int bit = 1; bit < 4; bit *= 2)
                best = fmaxf(best, __shfl_xor_sync(~0u, best, bit));
            is_far = is_far || best * scale > m[i / 2][i % 2] * scale + kNear;
        }
        if (__any_sync(~0u, is_far)) raise(max, scale);
#pragma unroll
        for (int i = 0; i < 2 * kTimes; ++i) {
            const int rows = i / 2, half = i % 2;
            const float base = m[rows][half] == -INFINITY ? 0.f : m[rows][half] * scale;
#pragma unroll
            for (auto& of : scores[rows]) {
                float& one = of[2 * half];
                float& next = of[2 * half + 1];
                one = fast_exp2(one * scale - base);
                next = fast_exp2(next * scale - base);
                d[rows][half] += one + next;  // halves the chain of dependent additions
            }
        }
    }
    __device__ void raise(const float (&to)[kTimes][2], float scale) {
#pragma unroll
        for (int i = 0; i < 2 * kTimes; ++i) {
            const int rows = i / 2, half = i % 2;
            const float before = m[rows][half];
            m[rows][half] = to[rows][half];
            const float base = to[rows][half] == -INFINITY ? 0.f : to[rows][half] * scale;
            const float of_before = fast_exp2(before * scale - base);
            d[rows][half] *= of_before;
#pragma unroll
            for (auto& of : sum[rows]) of[2 * half] *= of_before, of[2 * half + 1] *= of_before;
        }
    }
};

template <class T, int kSize, bool kInPacks, int kQueries>
__global__ void __launch_bounds__(kBlock, kQueries == kFewQueries ? 3 : 2)
    attention_mma_kernel(const AttentionProblem<T> g, const Partial partial) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    using OfQueries = typename Tiles<kSize, kInPacks, kQueries>::OfQueries;
    using OfKeys = typename Tiles<kSize, kInPacks, kQueries>::OfKeys;
    constexpr int kKeys = kKeysOfTile<kSize, kInPacks, kQueries>;
    constexpr int kOfWarp = kQueries / 4, kTimes = kOfWarp / 16;
    early_launch::let_next_begin();
    early_launch::wait_for_earlier();
    T* const q_tile = reinterpret_cast<T*>(shared_bytes);
    T* const k_tile = q_tile + OfQueries::kElements;
    T* const v_tile = k_tile + OfKeys::kElements;
    const auto warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;

    // With a causal mask the last queries see the most keys, so their blocks begin first.
    const int64_t tiles = (g.queries + kQueries - 1) / kQueries;
    const auto tile = static_cast<int>(tiles - 1 - blockIdx.x % tiles);
    const int64_t head = blockIdx.x / tiles % g.heads, b = blockIdx.x / tiles / g.heads;
    const Sequence sequence(g, b);
    const int first_query = tile * kQueries;
    if (first_query >= sequence.queries) return;  // a short packed sequence
    const int last_query = min(first_query + kQueries, sequence.queries) - 1;
    const int seen = sequence.seen_by(last_query, g.causal);
    const int of_tiles = partial.parts * kKeys;
    const int each = (seen + of_tiles - 1) / of_tiles * kKeys;
    const int begin = min(seen, static_cast<int>(blockIdx.y) * each), end = min(seen, begin + each);

    using Rows = batched_gemm::Matrices<const T>;
    const Rows q{rows_of(g.q, g.first_query, b, head), g.q.row};
    const Rows k{rows_of(g.k, g.first_key, b, g.key_head(head)), g.k.row};
    const Rows v{rows_of(g.v, g.first_key, b, g.key_head(head)), g.v.row};
    const auto fetch_keys = [&](T* tile, const Rows& x, int key) {
        if (key < end) OfKeys::template fetch<kInPacks, kBlock>(tile, x, key, end, 0, g.size);
        __pipeline_commit();
    };
    OfQueries::template fetch<kInPacks, kBlock>(q_tile, q, first_query, sequence.queries, 0,
                                                g.size);
    fetch_keys(k_tile, k, begin);

    // The row of the first 16 x 16 elements that a lane passes to ldmatrix. q and v: 8 columns of 16 rows, then the
    // next 8 columns; k: both halves of 8 keys, then of the next 8 keys.
    const int at_q = OfQueries::at(warp * kOfWarp + lane % 16, lane / 16 * 8);
    const int at_k = OfKeys::at(lane % 8 + lane / 16 * 8, lane / 8 % 2 * 8);
    const int at_v = OfKeys::at(lane % 16, lane / 16 * 8);

    KeySetsOfWarp<kSize, kKeys, kTimes> mine;
    const int my_query = first_query + warp * kOfWarp + lane / 4;  // also + 8, + 16, + 24
    for (int key = begin; key < end; key += kKeys) {
        __pipeline_wait_prior(0);
        __syncthreads();  // all keys have arrived, and no warp reads the last values any more
        fetch_keys(v_tile, v, key);

        float scores[kTimes][kKeys / 8][4] = {};
#pragma unroll
        for (int p = 0; p < kSize; p += 16) {
            uint32_t of_q[kTimes][4];
#pragma unroll
            for (int i = 0; i < kTimes; ++i) {
                ldmatrix<false>(of_q[i], q_tile, OfQueries::further(at_q, 16 * i, p));
            }
#pragma unroll
            for (int j = 0; j < kKeys / 16; ++j) {
                uint32_t of_k[4];  // both halves of p for 8 keys, then for the next 8
                ldmatrix<false>(of_k, k_tile, OfKeys::further(at_k, 16 * j, p));
#pragma unroll
                for (int i = 0; i < 2 * kTimes; ++i) {
                    const uint32_t half[2] = {of_k[i % 2 * 2], of_k[i % 2 * 2 + 1]};
                    mma<T>(scores[i / 2][2 * j + i % 2], of_q[i / 2], half);
                }
            }
        }
        if (end - key < kKeys || (g.causal && key + kKeys > first_query + sequence.offset + 1)) {
#pragma unroll
            for (int i = 0; i < 2 * kTimes; ++i) {  // 8 queries; this lane has one of them
                const int left = min(end, sequence.seen_by(my_query + 8 * i, g.causal)) - key;
#pragma unroll
                for (int j = 0; j < kKeys / 4; ++j) {
                    const int col = j / 2 * 8 + lane % 4 * 2 + j % 2;
                    if (col >= left) scores[i / 2][j / 2][i % 2 * 2 + j % 2] = -INFINITY;
                }
            }
        }

        __pipeline_wait_prior(0);
        __syncthreads();  // all values have arrived, and no warp reads these keys any more
        fetch_keys(k_tile, k, key + kKeys);

        mine.merge(scores, g.scale * kLog2e);
#pragma unroll
        for (int p = 0; p < kKeys / 16; ++p) {
            // Keys 0 to 7 for rows 0 to 7 and 8 to 15; then the same for keys 8 to 15.
            uint32_t weights[kTimes][4];
#pragma unroll
            for (int i = 0; i < 4 * kTimes; ++i) {
                const float* const two = &scores[i / 4][2 * p + i % 4 / 2][i % 2 * 2];
                weights[i / 4][i % 4] = both_of<T>(two[0], two[1]);
            }
#pragma unroll
            for (int j = 0; j < kSize / 16; ++j) {
                uint32_t of_v[4];
                ldmatrix<true>(of_v, v_tile, OfKeys::further(at_v, 16 * p, 16 * j));
#pragma unroll
                for (int i = 0; i < 2 * kTimes; ++i) {
                    const uint32_t half[2] = {of_v[i % 2 * 2], of_v[i % 2 * 2 + 1]};
                    mma<T>(mine.sum[i / 2][2 * j + i % 2], weights[i / 2], half);
                }
            }
        }
    }
    __pipeline_wait_prior(0);

    // A lane holds two neighbouring elements of a row. It exchanges elements through the queries' shared memory (each
    // warp uses only its own part) to get eight neighbours, for stores of 16 bytes.
    T* const o_tile = q_tile + warp * kOfWarp * kSize;
    __syncthreads();  // in a block that sees no key, copies of queries may only now have arrived
#pragma unroll
    for (int i = 0; i < 2 * kTimes; ++i) {
        const int rows = i / 2, half = i % 2;
        float d = mine.d[rows][half];
        for (int bit = 1; bit < 4; bit *= 2) d += __shfl_xor_sync(~0u, d, bit);
        const float share = Query<T>::share_of(d);
#pragma unroll
        for (int j = 0; j < kSize / 8; ++j) {
            const float* const two = &mine.sum[rows][j][2 * half];
            const int at = OfQueries::at(lane / 4 + 8 * i, 8 * j) + lane % 4 * 2;
            *reinterpret_cast<uint32_t*>(o_tile + at) = both_of<T>(two[0] * share, two[1] * share);
        }
        const int query = my_query + 8 * i;
        if (query >= sequence.queries) continue;
        const float m = mine.m[rows][half] * g.scale;
        if (partial.sets == nullptr) {
            if (lane % 4 == 0) Query<T>(g, b, head, query).tell_sum(m, d);
            continue;
        }
        float* const set = partial.of((b * g.heads + head) * g.queries + query, blockIdx.y, g.size);
        if (lane % 4 == 0) set[0] = m, set[1] = d;
#pragma unroll
        for (int j = 0; j < kSize / 8; ++j) {
            for (int one = 0; one < 2; ++one) {
                const int64_t col = 8 * j + lane % 4 * 2 + one;
                if (col < g.size) set[2 + col] = mine.sum[rows][j][2 * half + one];
            }
        }
    }
    if (partial.sets != nullptr) return;
    __syncwarp();
    constexpr int kAcross = kSize / 8;  // lanes that store a row
    const int col = lane % kAcross * 8;
#pragma unroll
    for (int i = lane / kAcross; i < kOfWarp; i += 32 / kAcross) {
        const int query = first_query + warp * kOfWarp + i;
        if (query >= sequence.queries || col >= g.size) continue;
        T* const o = Query<T>(g, b, head, query).o + col;
        const T* const from = o_tile + OfQueries::at(i, col);
        if (kInPacks) {
            *reinterpret_cast<uint4*>(o) = *reinterpret_cast<const uint4*>(from);
        } else {
            for (int one = 0; one < 8 && col + one < g.size; ++one) o[one] = from[one];
        }
    }
#endif
}

// ---- launchers

template <class T>
bool consists_of_packs(const HeadRows<T>& x) {
    const auto distances = static_cast<uint64_t>(x.sequence | x.head | x.row);
    return reinterpret_cast<uintptr_t>(x.data) % 16 == 0 && distances % 8 == 0;
}
template <class T>
bool consists_of_packs(const AttentionProblem<T>& g) {
    return g.size % 8 == 0 && consists_of_packs(g.q) && consists_of_packs(g.k) &&
           consists_of_packs(g.v) && consists_of_packs(g.o);
}

constexpr int64_t kMostSizeOfMma = 128;

template <int kSize, bool kInPacks, int kQueries, class T>
cudaError_t launch_mma(const AttentionProblem<T>& g, const Partial& partial, cudaStream_t stream,
                       bool early) {
    const auto kernel = attention_mma_kernel<T, kSize, kInPacks, kQueries>;
    constexpr size_t kBytes = Tiles<kSize, kInPacks, kQueries>::kBytes;
    int is_allowed = 0;
    const cudaError_t status = warp_softmax::ask_once(&is_allowed, [=](int*, int) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    });
    if (status != cudaSuccess) return status;
    const int64_t tiles = (g.queries + kQueries - 1) / kQueries;
    const dim3 grid(static_cast<unsigned>(g.batch * g.heads * tiles),
                    static_cast<unsigned>(partial.parts));
    return early_launch::launch(kernel, grid, dim3(kBlock), kBytes, stream, early, 0, g, partial);
}

// Computes what query_per_block() computes, for the 16-bit types. queries: per block, kManyQueries or (only if heads
// consist of packs) kFewQueries. early: see early_launch.cuh. Returns cudaErrorNotSupported for more than 128 elements
// per head and on GPUs without mma.
template <class T>
cudaError_t attention_mma(const AttentionProblem<T>& g, int64_t parts, void* workspace,
                          size_t bytes, cudaStream_t stream, int queries = kManyQueries,
                          bool early = false) {
    static_assert(sizeof(T) == 2, "tensor cores multiply half or bfloat16 here");
    bool is_empty = false;
    cudaError_t status = look_at(g, &is_empty);
    if (status != cudaSuccess || is_empty) return status;
    if (!is_shared_by(g, parts, workspace, bytes)) return cudaErrorInvalidValue;
    if (g.size > kMostSizeOfMma || !batched_gemm::has_tensor_cores()) return cudaErrorNotSupported;
    const Partial partial{parts > 1 ? static_cast<float*>(workspace) : nullptr,
                          static_cast<int>(parts)};
    const auto launch = [&](auto size) {
        constexpr int kSize = size.value;
        if (!consists_of_packs(g))
            return launch_mma<kSize, false, kManyQueries>(g, partial, stream, early);
        return queries == kFewQueries
                   ? launch_mma<kSize, true, kFewQueries>(g, partial, stream, early)
                   : launch_mma<kSize, true, kManyQueries>(g, partial, stream, early);
    };
    status = g.size <= 32   ? launch(std::integral_constant<int, 32>{})
             : g.size <= 64 ? launch(std::integral_constant<int, 64>{})
                            : launch(std::integral_constant<int, 128>{});
    if (status == cudaSuccess && parts > 1) {
        merge_parts(g, partial, stream);
        status = cudaGetLastError();
    }
    return status;
}

// Returns 64 queries per block if blocks of 128 queries would not fill the GPU, otherwise 128.
template <class T>
int queries_of_block(const AttentionProblem<T>& g, int multiprocessors) {
    const int64_t tiles = (g.queries + kManyQueries - 1) / kManyQueries;
    return g.batch * g.heads * tiles < 2 * multiprocessors ? kFewQueries : kManyQueries;
}

}  // namespace fused_attention
