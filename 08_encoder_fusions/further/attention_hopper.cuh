// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/attention_hopper, version 1.0
//
// Attention that keeps Hopper's tensor cores busy.
//   new here   after attention_turns.cuh: a warpgroup starts the products for the next scores before those for these sums,
//              so the sums are computed beside the next exponentials; heads of up to 64 elements have a third warpgroup
//              instead; persistent blocks; the queries of the next tile arrive early, and results leave beside it
//   traffic    a block reads keys and values once for its 128 or 192 queries
//   accepts    __half and __nv_bfloat16; heads of 8, 16, ... 256 elements; rows that begin at multiples of 16 bytes; packed
//              sequences
//   rows       as in fused_attention.cuh
//   needs      compute capability 9.0, compiled for sm_90a
//   source     Shah et al. 2024, FlashAttention-3
#pragma once
#include "hopper_heads.cuh"

namespace fused_attention {

// A block computes 64 queries per multiplying warpgroup. Shared memory holds one or two tiles of queries per warpgroup and
// two stages of keys and values. kSize: elements per head, rounded up. kAhead: the next scores precede the sums.
template <int kSize_, int kKeys_, int kConsumers_, bool kAhead_>
struct HopperAttention {
    static constexpr int kSize = kSize_, kKeys = kKeys_, kConsumers = kConsumers_, kStages = 2;
    static constexpr bool kAhead = kAhead_;
    static constexpr int kThreads = (kConsumers + 1) * 128, kQueries = kRowsOfQ * kConsumers;
    static constexpr int kOfQ = kRowsOfQ * kBytesOfRow<kSize>, kOfKeys = kKeys * kBytesOfRow<kSize>;
    static constexpr int kOfAllKeys = 2 * kStages * kOfKeys;
    static constexpr int kQStages = 2 * kConsumers * kOfQ + kOfAllKeys <= 226 * 1024 ? 2 : 1;
    static constexpr unsigned kBytes = kQStages * kConsumers * kOfQ + kOfAllKeys + 1024;
};

// The order of tiles. It finishes a section, `together` heads whose keys and values fit into the L2, before it begins with the
// next one. With a causal mask the last queries see the most keys. The last section begins with its last queries, the section
// before it with its first queries, and so on in turn. Each block takes every gridDim.x-th tile. So it meets long and short tiles
// equally often, and the shortest come last.
struct HeadOrder {
    int tiles, heads, together, count;
};
struct TileOfHead {
    int tile, head;
    __device__ TileOfHead(const HeadOrder& order, int number) {
        const int of_section = order.tiles * order.together, section = number / of_section;
        const int first = section * order.together, within = number % of_section;
        const int heads = min(order.together, order.heads - first);
        const int sections_after = (order.heads - 1) / order.together - section;
        tile = within / heads;
        if (sections_after % 2 == 0) tile = order.tiles - 1 - tile;
        head = first + within % heads;
    }
};

template <class T, class Tiles>
__global__ void __launch_bounds__(Tiles::kThreads, 1)
    attention_hopper_kernel(const __grid_constant__ HeadMaps maps, const AttentionProblem<T> g,
                            const HeadOrder order) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr int kConsumers = Tiles::kConsumers, kKeys = Tiles::kKeys, kSize = Tiles::kSize;
    constexpr int kStages = Tiles::kStages, kQStages = Tiles::kQStages;
    __shared__ QueryBarriers of_queries[kQStages][kConsumers];
    __shared__ uint64_t k_full[kStages], k_empty[kStages], v_full[kStages], v_empty[kStages];
    unsigned char* const tiles =
        shared_bytes + (1024 - batched_gemm::shared_address(shared_bytes) % 1024) % 1024;
    const auto q_at = [](int stage, int warpgroup) {
        return (stage * kConsumers + warpgroup) * Tiles::kOfQ;
    };
    const auto k_at = [=](int stage) { return q_at(kQStages, 0) + stage * Tiles::kOfKeys; };
    const auto v_at = [=](int stage) { return k_at(kStages + stage); };
    if (threadIdx.x == 0) {
        prefetch(maps);
        for (auto& of_stage : of_queries) {
            for (QueryBarriers& barriers : of_stage) barriers.init();
        }
        for (int i = 0; i < kStages; ++i) {
            batched_gemm::init(k_full[i], 1), batched_gemm::init(k_empty[i], kConsumers);
            batched_gemm::init(v_full[i], 1), batched_gemm::init(v_empty[i], kConsumers);
        }
        batched_gemm::order_inits();
    }
    __syncthreads();
    early_launch::let_next_begin();
    early_launch::wait_for_earlier();

    const int warpgroup = hopper::uniform(static_cast<int>(threadIdx.x) / 128);
    const int apart = static_cast<int>(gridDim.x);
    const int size = static_cast<int>(g.size), heads = static_cast<int>(g.heads);
    hopper::RingPlace<kQStages> q_place;
    hopper::RingPlace<kStages> k_place;
    // Returns the number of keys that the last of so many queries, from `query` on, sees.
    const auto seen_from = [&](const Sequence& sequence, int query, int queries) {
        const int end = min(query + queries, sequence.queries);
        return end <= query ? 0 : sequence.seen_by(end - 1, g.causal);
    };
    if (warpgroup == kConsumers) {
        hopper::give_registers<kConsumers == 2 ? 40 : 32>();
        if (threadIdx.x % 128 >= 32) return;
        const bool packed = g.first_query != nullptr, is_ragged = packed || g.lengths != nullptr;
        for (int number = static_cast<int>(blockIdx.x); number < order.count; number += apart) {
            const TileOfHead at(order, number);
            const int b = at.head / heads, head = at.head % heads;
            const Sequence sequence = sequence_of_warp(g, b);
            const int query = at.tile * Tiles::kQueries;
            if (query >= sequence.queries) continue;  // a short packed sequence
            const auto load_queries = [&] {
                for (int i = 0; i < kConsumers; ++i) {
                    QueryBarriers& barriers = of_queries[q_place.stage][i];
                    wait(barriers.empty, q_place.parity ^ 1);
                    load_rows<kSize, kRowsOfQ>(tiles + q_at(q_place.stage, i), maps.q, g.q,
                                               g.first_query, size, query + i * kRowsOfQ,
                                               sequence.queries, packed, head, b, barriers.full);
                }
                q_place.advance();
            };
            const int seen = seen_from(sequence, query, Tiles::kQueries);
            const int key_head = static_cast<int>(g.key_head(head));
            // The first tile's queries are needed at once. Those of a later tile wait until results have left their place, and its
            // first keys and values need not wait for that.
            const bool begins_with_keys = seen > 0 && number != static_cast<int>(blockIdx.x);
            if (!begins_with_keys) load_queries();
            for (int key = 0; key < seen; key += kKeys, k_place.advance()) {
                const int stage = k_place.stage;
                wait(k_empty[stage], k_place.parity ^ 1);
                load_rows<kSize, kKeys>(tiles + k_at(stage), maps.k, g.k, g.first_key, size, key,
                                        sequence.keys, is_ragged, key_head, b, k_full[stage]);
                wait(v_empty[stage], k_place.parity ^ 1);
                load_rows<kSize, kKeys>(tiles + v_at(stage), maps.v, g.v, g.first_key, size, key,
                                        sequence.keys, is_ragged, key_head, b, v_full[stage]);
                if (key == 0 && begins_with_keys) load_queries();
            }
        }
    } else {
        hopper::take_registers<kConsumers == 2 ? 232 : 160>();
        const int thread = static_cast<int>(threadIdx.x) % 128;
        const float scale = g.scale * kLog2e;
        const unsigned address = batched_gemm::shared_address(tiles);
        unsigned turn = 0;  // counts tiles of keys, which alternate between two stages
        const auto release = [&](uint64_t& empty) {
            if (thread == 0) hopper::arrive(empty);
        };
        // The warpgroups start products in turn: while one computes exponentials, the others use the tensor cores.
        if (warpgroup == kConsumers - 1) hopper::arrive_without_waiting(1, 256);
        const auto wait_for_turn = [&] { hopper::sync_at(1 + warpgroup, 256); };
        const auto end_turn = [&] {
            hopper::arrive_without_waiting(1 + (warpgroup + 1) % kConsumers, 256);
        };
        LeavingTile leaving;
        for (int number = static_cast<int>(blockIdx.x); number < order.count; number += apart) {
            const TileOfHead at(order, number);
            const int b = at.head / heads, head = at.head % heads;
            const Sequence sequence = sequence_of_warp(g, b);
            const int of_tile = at.tile * Tiles::kQueries, first = of_tile + warpgroup * kRowsOfQ;
            if (of_tile >= sequence.queries) continue;
            // The warpgroup's last query sees `seen` keys. Its first query sees all_see keys, so none of these is masked.
            const int seen = seen_from(sequence, first, kRowsOfQ);
            const int all_see = sequence.seen_by(first, g.causal), query = first + thread / 32 * 16;
            const unsigned q_tile = address + hopper::uniform(q_at(q_place.stage, warpgroup));
            WarpgroupSets<T, kSize, kKeys> sets;
            const auto start_scores = [&] {
                wait(k_full[turn % 2], turn / 2 % 2);
                sets.start_scores(q_tile, address + k_at(turn % 2));
            };
            const auto finish_scores = [&](int key) {
                settle(sets.scores);
                release(k_empty[turn % 2]);
                if (key + kKeys > all_see) sets.mask(sequence, g.causal, query, key);
                const bool rescales = sets.raise_m(scale);
                sets.weigh(scale);
                return rescales;
            };
            // Starts the sums with the values of turn `of`.
            const auto start_sums = [&](unsigned of, bool adds) {
                wait(v_full[of % 2], of / 2 % 2);
                sets.start_sums(address + v_at(of % 2), adds);
            };
            const auto finish_sums = [&](unsigned of) {
                hopper::wait_for_products<0>();
                settle(sets.sum);
                release(v_empty[of % 2]);
            };
            QueryBarriers& barriers = of_queries[q_place.stage][warpgroup];
            // With a single stage, these queries arrive only when the results before have left it.
            if (kQStages == 1) leaving.release(thread);
            wait(barriers.full, q_place.parity);
            if (seen == 0) {
                for (float& sum : sets.sum) sum = 0.f;
            } else if (Tiles::kAhead) {
                wait_for_turn();
                start_scores();
                end_turn();
                leaving.release(thread);
                hopper::wait_for_products<0>();
                finish_scores(0);
                sets.round_weights();
                ++turn;
                for (int key = kKeys; key < seen; key += kKeys, ++turn) {
                    wait_for_turn();
                    start_scores();
                    start_sums(turn - 1, key > kKeys);
                    end_turn();
                    hopper::wait_for_products<1>();
                    const bool rescales = finish_scores(key);
                    finish_sums(turn - 1);
                    if (rescales) sets.rescale();
                    sets.round_weights();
                }
                start_sums(turn - 1, seen > kKeys);
                finish_sums(turn - 1);
            } else {
                for (int key = 0; key < seen; key += kKeys, ++turn) {
                    wait_for_turn();
                    start_scores();
                    leaving.release(thread);
                    hopper::wait_for_products<0>();
                    end_turn();
                    const bool rescales = finish_scores(key);
                    if (rescales && key > 0) sets.rescale();
                    sets.round_weights();
                    start_sums(turn, key > 0);
                    finish_sums(turn);
                }
            }
            // Keys that only later warpgroups of the tile see.
            for (int key = (seen + kKeys - 1) / kKeys * kKeys;
                 key < seen_from(sequence, of_tile, Tiles::kQueries); key += kKeys, ++turn) {
                wait_for_turn();
                end_turn();
                wait(k_full[turn % 2], turn / 2 % 2);
                release(k_empty[turn % 2]);
                wait(v_full[turn % 2], turn / 2 % 2);
                release(v_empty[turn % 2]);
            }
            // The keys that products have read, also those that no query of the warpgroup sees.
            const int read = min((seen + kKeys - 1) / kKeys * kKeys, sequence.keys);
            leaving.release(thread);
            unsigned char* const tile = tiles + q_at(q_place.stage, warpgroup);
            sets.finish(tile, g, sequence, b, head, query, all_see < read);
            leaving.leave<kSize>(1 + kConsumers + warpgroup, tile, maps.o, g, first,
                                 sequence.queries, head, b, barriers.empty);
            q_place.advance();
        }
        leaving.release(thread);
    }
#else
    __trap();  // compiled for another architecture
#endif
}

// ---- launchers

// Bytes of keys and values that are expected to stay in the L2 while the tiles of their heads are computed.
inline constexpr int64_t kBytesInL2 = 32 << 20;

template <class Tiles, class T>
cudaError_t launch_attention_hopper(const AttentionProblem<T>& g, cudaStream_t stream) {
    const auto kernel = attention_hopper_kernel<T, Tiles>;
    HeadMaps maps;
    const cudaError_t error = prepare_heads<Tiles::kKeys>(&maps, g, kernel, Tiles::kBytes);
    if (error != cudaSuccess) return error;
    const int64_t tiles = (g.queries - 1) / Tiles::kQueries + 1, heads = g.heads * g.batch,
                  count = tiles * heads;
    if (count > INT32_MAX / 2) return cudaErrorNotSupported;  // tile numbers and `apart` are added
    // Where the host does not know how long tiles take, each is a block: a multiprocessor that is done takes the next one.
    const bool differ = g.lengths != nullptr || g.first_query != nullptr;
    const int64_t of_head = 2 * sizeof(T) * std::max<int64_t>(g.keys, 1) * g.size;
    const int64_t together = g.causal ? std::clamp<int64_t>(kBytesInL2 / of_head, 1, heads) : 1;
    const int64_t at_once = softmax_stages::this_chip().multiprocessors;
    const HeadOrder order{static_cast<int>(tiles), static_cast<int>(heads),
                          static_cast<int>(together), static_cast<int>(count)};
    const auto blocks = static_cast<unsigned>(differ ? count : std::min(count, at_once));
    return early_launch::launch(kernel, dim3(blocks), dim3(Tiles::kThreads), Tiles::kBytes, stream,
                                true, 0, maps, g, order);
}

// Calls launch(HopperAttention<...>{}) with the tiles for heads of `size` elements. Three multiplying warpgroups hide each
// other's exponentials; two have enough registers for the next scores.
template <class Launch>
auto with_hopper_attention(int64_t size, Launch launch) {
    if (size <= 64) return launch(HopperAttention<64, 128, 3, false>{});
    if (size <= 96) return launch(HopperAttention<96, 128, 2, true>{});
    if (size <= 128) return launch(HopperAttention<128, 128, 2, true>{});
    if (size <= 192) return launch(HopperAttention<192, 96, 2, true>{});
    return launch(HopperAttention<256, 64, 2, true>{});
}

// Computes what query_per_block() computes, for the 16-bit types. Returns cudaErrorNotSupported for heads outside `accepts` above
// and without Hopper.
template <class T>
cudaError_t attention_hopper(const AttentionProblem<T>& g, cudaStream_t stream) {
    static_assert(sizeof(T) == 2, "tensor cores multiply half or bfloat16 here");
    bool is_empty = false;
    const cudaError_t status = look_at(g, &is_empty);
    if (status != cudaSuccess || is_empty) return status;
    return with_hopper_attention(
        g.size, [&](auto tiles) { return launch_attention_hopper<decltype(tiles)>(g, stream); });
}

}  // namespace fused_attention
