// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/attention_one_warpgroup, version 1.0
//
// Attention with Hopper's two asynchronous instructions: TMA copies tiles of heads, wgmma multiplies them.
//   new here   after attention_mma.cuh: no thread copies tiles or loads operands; the second product takes the weights from
//              the registers in which the first left the scores; nothing overlaps yet
//   traffic    a block reads keys and values once for its 64 queries
//   accepts    __half and __nv_bfloat16; heads of 8, 16, ... 128 elements; rows that begin at multiples of 16 bytes
//   rows       as in fused_attention.cuh
//   needs      compute capability 9.0, compiled for sm_90a
//   source     Dao 2023, FlashAttention-2; PTX ISA 9.0: wgmma.mma_async with A in registers
#pragma once
#include "hopper_heads.cuh"

namespace fused_attention {

// Shared memory holds a tile of queries, one of keys and one of values.
template <int kSize_>
struct OneWarpgroup {
    static constexpr int kSize = kSize_, kKeys = 128;
    static constexpr int kThreads = 128, kQueries = kRowsOfQ;
    static constexpr int kOfQ = kRowsOfQ * kBytesOfRow<kSize>, kOfKeys = kKeys * kBytesOfRow<kSize>;
    static constexpr unsigned kBytes = kOfQ + 2 * kOfKeys + 1024;
};

// Block (x, y, z) computes tile x of head y of sequence z.
template <class T, class Tiles>
__global__ void __launch_bounds__(Tiles::kThreads)
    attention_one_warpgroup_kernel(const __grid_constant__ HeadMaps maps,
                                   const AttentionProblem<T> g) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr int kSize = Tiles::kSize, kKeys = Tiles::kKeys;
    __shared__ uint64_t q_full, k_full, v_full;
    unsigned char* const q_tile =
        shared_bytes + (1024 - batched_gemm::shared_address(shared_bytes) % 1024) % 1024;
    unsigned char *const k_tile = q_tile + Tiles::kOfQ, *const v_tile = k_tile + Tiles::kOfKeys;
    if (threadIdx.x == 0) {
        batched_gemm::init(q_full, 1), batched_gemm::init(k_full, 1), batched_gemm::init(v_full, 1);
        batched_gemm::order_inits();
    }
    __syncthreads();

    const int first = static_cast<int>(blockIdx.x) * kRowsOfQ, head = static_cast<int>(blockIdx.y),
              b = static_cast<int>(blockIdx.z), key_head = static_cast<int>(g.key_head(head));
    const int warp = static_cast<int>(threadIdx.x) / 32, query = first + 16 * warp;
    const int size = static_cast<int>(g.size);
    const Sequence sequence = sequence_of_warp(g, b);
    const int seen = sequence.seen_by(min(first + kRowsOfQ, sequence.queries) - 1, g.causal);
    const int all_see = sequence.seen_by(first, g.causal);
    const bool is_ragged = g.lengths != nullptr;
    if (warp == 0)
        load_rows<kSize, kRowsOfQ>(q_tile, maps.q, g.q, nullptr, size, first, sequence.queries,
                                   false, head, b, q_full);
    wait(q_full, 0);

    WarpgroupSets<T, kSize, kKeys> sets;
    if (seen == 0) {
        for (float& sum : sets.sum) sum = 0.f;
    }
    const float scale = g.scale * kLog2e;
    unsigned parity = 0;
    for (int key = 0; key < seen; key += kKeys, parity ^= 1) {
        if (warp == 0) {
            load_rows<kSize, kKeys>(k_tile, maps.k, g.k, nullptr, size, key, sequence.keys,
                                    is_ragged, key_head, b, k_full);
            load_rows<kSize, kKeys>(v_tile, maps.v, g.v, nullptr, size, key, sequence.keys,
                                    is_ragged, key_head, b, v_full);
        }
        wait(k_full, parity);
        sets.start_scores(batched_gemm::shared_address(q_tile),
                          batched_gemm::shared_address(k_tile));
        hopper::wait_for_products<0>();
        settle(sets.scores);
        if (key + kKeys > all_see) sets.mask(sequence, g.causal, query, key);
        if (sets.raise_m(scale) && key > 0) sets.rescale();
        sets.weigh(scale);
        sets.round_weights();
        wait(v_full, parity);
        sets.start_sums(batched_gemm::shared_address(v_tile), key > 0);
        hopper::wait_for_products<0>();
        settle(sets.sum);
        __syncthreads();  // all warps have read both tiles
    }
    const int read = min((seen + kKeys - 1) / kKeys * kKeys, sequence.keys);
    sets.finish(q_tile, g, sequence, b, head, query, all_see < read);
    __syncthreads();
    if (warp == 0) store_rows<kSize>(q_tile, maps.o, g, first, sequence.queries, head, b);
#else
    __trap();  // compiled for another architecture
#endif
}

// Computes what query_per_block() computes. Returns cudaErrorNotSupported for problems outside `accepts` above, for packed
// sequences, for more than 65535 heads or sequences, and without Hopper.
template <class T>
cudaError_t attention_one_warpgroup(const AttentionProblem<T>& g, cudaStream_t stream) {
    return with_tiles_of_step<OneWarpgroup>(g, [&](auto tiles) {
        using Tiles = decltype(tiles);
        return launch_heads<Tiles>(g, attention_one_warpgroup_kernel<T, Tiles>, stream);
    });
}

}  // namespace fused_attention
