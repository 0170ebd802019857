// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/attention_turns, version 1.0
//
// Two warpgroups in turn (ping-pong): while one computes exponentials, the other uses the tensor cores.
//   new here   after attention_ring.cuh: named barriers let a warpgroup start q k^T only after the other's q k^T has
//              finished, so the two are at different steps. Lines that differ have the comment `turns`
//   traffic    a block reads keys and values once for its 128 queries
//   accepts    as attention_one_warpgroup.cuh
//   rows       as in fused_attention.cuh
//   needs      compute capability 9.0, compiled for sm_90a
//   source     Shah et al. 2024, FlashAttention-3, section 3.1
#pragma once
#include "hopper_heads.cuh"

namespace fused_attention {

// Shared memory holds two tiles of queries, and two stages of keys and of values.
template <int kSize_>
struct AttentionTurns {
    static constexpr int kSize = kSize_, kKeys = 128, kConsumers = 2, kStages = 2;
    static constexpr int kThreads = (kConsumers + 1) * 128, kQueries = kConsumers * kRowsOfQ;
    static constexpr int kOfQ = kRowsOfQ * kBytesOfRow<kSize>, kOfKeys = kKeys * kBytesOfRow<kSize>;
    static constexpr unsigned kBytes = kConsumers * kOfQ + 2 * kStages * kOfKeys + 1024;
};

// Block (x, y, z) computes tile x of head y of sequence z.
template <class T, class Tiles>
__global__ void __launch_bounds__(Tiles::kThreads, 1)
    attention_turns_kernel(const __grid_constant__ HeadMaps maps, const AttentionProblem<T> g) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr int kSize = Tiles::kSize, kKeys = Tiles::kKeys, kConsumers = Tiles::kConsumers;
    constexpr int kStages = Tiles::kStages;
    __shared__ uint64_t q_full[kConsumers];
    __shared__ uint64_t k_full[kStages], k_empty[kStages], v_full[kStages], v_empty[kStages];
    unsigned char* const q_tiles =
        shared_bytes + (1024 - batched_gemm::shared_address(shared_bytes) % 1024) % 1024;
    unsigned char* const k_tiles = q_tiles + kConsumers * Tiles::kOfQ;
    unsigned char* const v_tiles = k_tiles + kStages * Tiles::kOfKeys;
    if (threadIdx.x == 0) {
        for (uint64_t& full : q_full) batched_gemm::init(full, 1);
        for (int i = 0; i < kStages; ++i) {
            batched_gemm::init(k_full[i], 1), batched_gemm::init(k_empty[i], kConsumers);
            batched_gemm::init(v_full[i], 1), batched_gemm::init(v_empty[i], kConsumers);
        }
        batched_gemm::order_inits();
    }
    __syncthreads();

    const int first = static_cast<int>(blockIdx.x) * Tiles::kQueries,
              head = static_cast<int>(blockIdx.y), b = static_cast<int>(blockIdx.z);
    const Sequence sequence = sequence_of_warp(g, b);
    const int seen = sequence.seen_by(min(first + Tiles::kQueries, sequence.queries) - 1, g.causal);
    const int warpgroup = hopper::uniform(static_cast<int>(threadIdx.x) / 128);
    hopper::RingPlace<kStages> place;
    if (warpgroup == kConsumers) {
        hopper::give_registers<40>();
        if (threadIdx.x % 128 >= 32) return;
        const int size = static_cast<int>(g.size), key_head = static_cast<int>(g.key_head(head));
        const bool is_ragged = g.lengths != nullptr;
        for (int i = 0; i < kConsumers; ++i)
            load_rows<kSize, kRowsOfQ>(q_tiles + i * Tiles::kOfQ, maps.q, g.q, nullptr, size,
                                       first + i * kRowsOfQ, sequence.queries, false, head, b,
                                       q_full[i]);
        for (int key = 0; key < seen; key += kKeys, place.advance()) {
            const int at = place.stage * Tiles::kOfKeys;
            wait(k_empty[place.stage], place.parity ^ 1);
            load_rows<kSize, kKeys>(k_tiles + at, maps.k, g.k, nullptr, size, key, sequence.keys,
                                    is_ragged, key_head, b, k_full[place.stage]);
            wait(v_empty[place.stage], place.parity ^ 1);
            load_rows<kSize, kKeys>(v_tiles + at, maps.v, g.v, nullptr, size, key, sequence.keys,
                                    is_ragged, key_head, b, v_full[place.stage]);
        }
        return;
    }

    hopper::take_registers<232>();
    const int thread = static_cast<int>(threadIdx.x) % 128, warp = thread / 32;
    const int first_row = first + warpgroup * kRowsOfQ, query = first_row + 16 * warp;
    const int all_see = sequence.seen_by(first_row, g.causal);
    const auto release = [&](uint64_t& empty) {
        if (thread == 0) hopper::arrive(empty);
    };
    unsigned char* const q_tile = q_tiles + warpgroup * Tiles::kOfQ;
    wait(q_full[warpgroup], 0);
    WarpgroupSets<T, kSize, kKeys> sets;
    if (seen == 0) {
        for (float& sum : sets.sum) sum = 0.f;
    }
    const float scale = g.scale * kLog2e;
    constexpr int kMine = 3;  // turns: the number of the first warpgroup's barrier
    if (warpgroup == 1) hopper::arrive_without_waiting(kMine, 256);  // turns: warpgroup 0 begins
    for (int key = 0; key < seen; key += kKeys, place.advance()) {
        const int at = place.stage * Tiles::kOfKeys;
        wait(k_full[place.stage], place.parity);
        hopper::sync_at(kMine + warpgroup, 256);  // turns
        sets.start_scores(batched_gemm::shared_address(q_tile),
                          batched_gemm::shared_address(k_tiles + at));
        hopper::wait_for_products<0>();
        hopper::arrive_without_waiting(kMine + (warpgroup ^ 1), 256);  // turns
        settle(sets.scores);
        release(k_empty[place.stage]);
        if (key + kKeys > all_see) sets.mask(sequence, g.causal, query, key);
        if (sets.raise_m(scale) && key > 0) sets.rescale();
        sets.weigh(scale);
        sets.round_weights();
        wait(v_full[place.stage], place.parity);
        sets.start_sums(batched_gemm::shared_address(v_tiles + at), key > 0);
        hopper::wait_for_products<0>();
        settle(sets.sum);
        release(v_empty[place.stage]);
    }
    if (warpgroup == 0) hopper::sync_at(kMine, 256);  // turns: matches the last arrival
    const int read = min((seen + kKeys - 1) / kKeys * kKeys, sequence.keys);
    sets.finish(q_tile, g, sequence, b, head, query, all_see < read);
    hopper::sync_at(1 + warpgroup, 128);  // all warps of this warpgroup
    if (warp == 0 && first_row < sequence.queries)
        store_rows<kSize>(q_tile, maps.o, g, first_row, sequence.queries, head, b);
#else
    __trap();  // compiled for another architecture
#endif
}

// Computes what query_per_block() computes. Returns cudaErrorNotSupported for problems outside `accepts` above, for packed
// sequences, for more than 65535 heads or sequences, and without Hopper.
template <class T>
cudaError_t attention_turns(const AttentionProblem<T>& g, cudaStream_t stream) {
    return with_tiles_of_step<AttentionTurns>(g, [&](auto tiles) {
        using Tiles = decltype(tiles);
        return launch_heads<Tiles>(g, attention_turns_kernel<T, Tiles>, stream);
    });
}

}  // namespace fused_attention
