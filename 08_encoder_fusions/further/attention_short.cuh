// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/attention_short, version 1.0
//
// Attention of short sequences on Hopper's tensor cores: all keys and values of a head stay on the chip.
//   new here   after attention_hopper.cuh: a ring of pairs of tiles, keys and their values, that holds a whole head; three
//              warpgroups take tiles of 64 queries in turn and compute independently, without turns at the tensor cores and
//              without the next scores: the waits of one are filled by the others
//   traffic    a block reads the keys and values of a head once for all its queries, or for its part of them
//   accepts    as attention_hopper.cuh; heads of up to 64 elements and up to 640 keys
//   rows       as in fused_attention.cuh
//   needs      compute capability 9.0, compiled for sm_90a
#pragma once
#include "hopper_heads.cuh"

namespace fused_attention {

// Shared memory holds two tiles of queries per multiplying warpgroup, and a ring of pairs.
struct ShortAttention {
    static constexpr int kSize = 64, kKeys = 128, kConsumers = 3, kQStages = 2;
    static constexpr int kThreads = (kConsumers + 1) * 128;
    static constexpr int kOfQ = kRowsOfQ * kBytesOfRow<kSize>, kOfKeys = kKeys * kBytesOfRow<kSize>;
    static constexpr int kOfAllQ = kQStages * kConsumers * kOfQ;
    static constexpr int kPairs = (226 * 1024 - kOfAllQ) / (2 * kOfKeys);
    static constexpr unsigned kBytes = kOfAllQ + 2 * kPairs * kOfKeys + 1024;
};
// The number of keys whose tiles fit into the ring.
inline constexpr int64_t kMostShortKeys = ShortAttention::kPairs * ShortAttention::kKeys;

// The units that blocks compute are parts of heads: unit i is part i / (batch * heads) of head i % (batch * heads). A part
// consists of up to `tiles` tiles of 64 queries.
struct HeadParts {
    int count, tiles;
    int apart_parts, apart_sequences, apart_heads;  // from a block's unit to its next one
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
// The unit that a block computes. advance() goes to the block's next unit without divisions.
struct UnitOfBlock {
    int head, b, part;
    template <class T>
    __device__ explicit UnitOfBlock(const AttentionProblem<T>& g) {
        const int heads = static_cast<int>(g.heads), number = static_cast<int>(blockIdx.x);
        head = number % heads;
        b = number / heads % static_cast<int>(g.batch);
        part = number / heads / static_cast<int>(g.batch);
    }
    template <class T>
    __device__ void advance(const AttentionProblem<T>& g, const HeadParts& by) {
        head += by.apart_heads, b += by.apart_sequences, part += by.apart_parts;
        if (head >= static_cast<int>(g.heads)) head -= static_cast<int>(g.heads), ++b;
        if (b >= static_cast<int>(g.batch)) b -= static_cast<int>(g.batch), ++part;
    }
};
// The unit's tiles of queries, and the number of pairs of keys and values that they use.
struct UnitTiles {
    static constexpr int kKeys = ShortAttention::kKeys;
    int first, count, pairs;
    template <class T>
    __device__ UnitTiles(const AttentionProblem<T>& g, const Sequence& sequence,
                         const UnitOfBlock& unit, const HeadParts& by)
        : first(unit.part * by.tiles) {
        count = max(0, min(by.tiles, (sequence.queries + kRowsOfQ - 1) / kRowsOfQ - first));
        const int end = min((first + count) * kRowsOfQ, sequence.queries);
        pairs = count == 0 ? 0 : (sequence.seen_by(end - 1, g.causal) + kKeys - 1) / kKeys;
    }
};
#endif

// Where results go. A struct like this one whose kStoresRows is true has, in place of the tensor store to g.o, a function
// store(tile, first_line, g, query, end, head, sequence) that stores the results of a warp's 16 queries from `query` on, which begin at
// line first_line of a tile.
struct ToTensor {
    static constexpr bool kStoresRows = false;
};

template <class T, class To>
__global__ void __launch_bounds__(ShortAttention::kThreads, 1)
    attention_short_kernel(const __grid_constant__ HeadMaps maps, const AttentionProblem<T> g,
                           const HeadParts by, const To to) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    using Tiles = ShortAttention;
    constexpr int kConsumers = Tiles::kConsumers, kKeys = Tiles::kKeys, kSize = Tiles::kSize;
    constexpr int kPairs = Tiles::kPairs, kQStages = Tiles::kQStages;
    __shared__ QueryBarriers of_queries[kConsumers][kQStages];
    __shared__ uint64_t k_full[kPairs], v_full[kPairs], empty[kPairs];
    unsigned char* const tiles =
        shared_bytes + (1024 - batched_gemm::shared_address(shared_bytes) % 1024) % 1024;
    const auto q_at = [](int warpgroup, int stage) {
        return (warpgroup * kQStages + stage) * Tiles::kOfQ;
    };
    const auto k_at = [=](int pair) { return q_at(kConsumers, 0) + 2 * pair * Tiles::kOfKeys; };
    const auto v_at = [=](int pair) { return k_at(pair) + Tiles::kOfKeys; };
    if (threadIdx.x == 0) {
        prefetch(maps);
        for (auto& of_warpgroup : of_queries) {
            for (QueryBarriers& barriers : of_warpgroup) barriers.init();
        }
        for (int i = 0; i < kPairs; ++i) {
            batched_gemm::init(k_full[i], 1), batched_gemm::init(v_full[i], 1);
            batched_gemm::init(empty[i], kConsumers);
        }
        batched_gemm::order_inits();
    }
    __syncthreads();
    early_launch::let_next_begin();
    early_launch::wait_for_earlier();

    const int warpgroup = hopper::uniform(static_cast<int>(threadIdx.x) / 128);
    const int size = static_cast<int>(g.size), apart = static_cast<int>(gridDim.x);
    UnitOfBlock unit(g);
    if (warpgroup == kConsumers) {
        hopper::give_registers<32>();
        const int warp = hopper::uniform(static_cast<int>(threadIdx.x) % 128 / 32);
        const bool packed = g.first_query != nullptr, is_ragged = packed || g.lengths != nullptr;
        hopper::RingPlace<kPairs> place;
        hopper::RingPlace<kQStages> q_place;
        int next_of = 0;  // the warpgroup whose tile of queries is next
        for (int number = static_cast<int>(blockIdx.x); number < by.count; number += apart) {
            const Sequence sequence = sequence_of_warp(g, unit.b);
            const UnitTiles of(g, sequence, unit, by);
            // One warp loads keys and values, one loads queries, so neither waits for the other's tiles.
            const int key_head = static_cast<int>(g.key_head(unit.head));
            for (int i = 0; warp == 0 && i < of.pairs; ++i, place.advance()) {
                const int pair = place.stage;
                wait(empty[pair], place.parity ^ 1);
                load_rows<kSize, kKeys>(tiles + k_at(pair), maps.k, g.k, g.first_key, size,
                                        i * kKeys, sequence.keys, is_ragged, key_head, unit.b,
                                        k_full[pair]);
                load_rows<kSize, kKeys>(tiles + v_at(pair), maps.v, g.v, g.first_key, size,
                                        i * kKeys, sequence.keys, is_ragged, key_head, unit.b,
                                        v_full[pair]);
            }
            for (int i = 0; warp == 1 && i < of.count; ++i) {
                QueryBarriers& barriers = of_queries[next_of][q_place.stage];
                wait(barriers.empty, q_place.parity ^ 1);
                load_rows<kSize, kRowsOfQ>(tiles + q_at(next_of, q_place.stage), maps.q, g.q,
                                           g.first_query, size, (of.first + i) * kRowsOfQ,
                                           sequence.queries, packed, unit.head, unit.b,
                                           barriers.full);
                if (++next_of == kConsumers) next_of = 0, q_place.advance();
            }
            unit.advance(g, by);
        }
    } else {
        hopper::take_registers<160>();
        const int thread = static_cast<int>(threadIdx.x) % 128;
        const float scale = g.scale * kLog2e;
        const unsigned address = batched_gemm::shared_address(tiles);
        hopper::RingPlace<kQStages> q_place;
        hopper::RingPlace<kPairs> place, first;  // first: the unit's first pair
        const auto release_pair = [&] {
            if (thread == 0) hopper::arrive(empty[place.stage]);
            place.advance();
        };
        LeavingTile leaving;
        // Tiles of queries go to the warpgroups in turn, across units.
        int next = warpgroup;
        for (int number = static_cast<int>(blockIdx.x); number < by.count; number += apart) {
            const Sequence sequence = sequence_of_warp(g, unit.b);
            const UnitTiles of(g, sequence, unit, by);
            place = first;
            int released = 0;
            for (; next < of.count; next += kConsumers) {
                const bool is_last = next + kConsumers >= of.count;
                const int query = (of.first + next) * kRowsOfQ + thread / 32 * 16;
                const int first_query = query - thread / 32 * 16;
                const int seen =
                    sequence.seen_by(min(first_query + kRowsOfQ, sequence.queries) - 1, g.causal);
                const int all_see = sequence.seen_by(first_query, g.causal);
                WarpgroupSets<T, kSize, kKeys> sets;
                QueryBarriers& barriers = of_queries[warpgroup][q_place.stage];
                wait(barriers.full, q_place.parity);
                if (seen == 0) {
                    for (float& sum : sets.sum) sum = 0.f;
                }
                place = first;
                for (int key = 0; key < seen; key += kKeys) {
                    wait(k_full[place.stage], place.parity);
                    sets.start_scores(address + q_at(warpgroup, q_place.stage),
                                      address + k_at(place.stage));
                    leaving.release(thread);
                    hopper::wait_for_products<0>();
                    settle(sets.scores);
                    if (key + kKeys > all_see) sets.mask(sequence, g.causal, query, key);
                    if (sets.raise_m(scale) && key > 0) sets.rescale();
                    sets.weigh(scale);
                    sets.round_weights();
                    wait(v_full[place.stage], place.parity);
                    sets.start_sums(address + v_at(place.stage), key > 0);
                    hopper::wait_for_products<0>();
                    settle(sets.sum);
                    if (is_last) {
                        release_pair(), ++released;
                    } else {
                        place.advance();
                    }
                }
                const int read = min((seen + kKeys - 1) / kKeys * kKeys, sequence.keys);
                leaving.release(thread);
                unsigned char* const tile = tiles + q_at(warpgroup, q_place.stage);
                sets.finish(tile, g, sequence, unit.b, unit.head, query, all_see < read);
                if constexpr (To::kStoresRows) {
                    to.store(tile, thread / 32 * 16, g, query, sequence.queries, unit.head, unit.b);
                    leaving.leave_read(1 + warpgroup, barriers.empty);
                } else {
                    leaving.leave<kSize>(1 + warpgroup, tile, maps.o, g, first_query,
                                         sequence.queries, unit.head, unit.b, barriers.empty);
                }
                q_place.advance();
            }
            next -= of.count;
            // Releases the pairs that this warpgroup does not use, each only after it has arrived.
            for (; released < of.pairs; ++released) {
                wait(v_full[place.stage], place.parity);
                release_pair();
            }
            first = place;
            unit.advance(g, by);
        }
        leaving.release(thread);
    }
#else
    __trap();  // compiled for another architecture
#endif
}

// ---- launchers

// Returns the number of queries of a head per block, whole tiles, with which the busiest block has the shortest estimated time. The
// unit is the time of a tile of queries and a tile of keys; fitted on an H200.
template <class T>
int short_queries(const AttentionProblem<T>& g, int64_t multiprocessors) {
    constexpr double kOfPair = 1.7, kOfUnit = 1.2;
    const int64_t tiles = (g.queries - 1) / kRowsOfQ + 1, heads = g.batch * g.heads;
    const int64_t pairs = (std::max<int64_t>(g.keys, 1) - 1) / ShortAttention::kKeys + 1;
    const auto tiles_of_part = [&](int64_t parts) { return (tiles - 1) / parts + 1; };
    const auto time = [&](int64_t parts) {
        const int64_t units = (heads * parts - 1) / multiprocessors + 1;
        const int64_t turns = (units * tiles_of_part(parts) - 1) / ShortAttention::kConsumers + 1;
        // Each unit loads all keys and values again.
        const double products = static_cast<double>(pairs * turns * ShortAttention::kConsumers),
                     loads = kOfPair * static_cast<double>(pairs * units);
        return std::max(products, loads) + kOfUnit * static_cast<double>(units);
    };
    int64_t best = 1;
    for (int64_t parts = 2; parts <= tiles; ++parts) {
        if (time(parts) <= time(best)) best = parts;  // of equals, that on more multiprocessors
    }
    return static_cast<int>(tiles_of_part(best)) * kRowsOfQ;
}

// Computes what query_per_block() computes, for the 16-bit types, and stores it as `to` says. queries: of a head, per block; a
// multiple of 64. Returns cudaErrorNotSupported for heads outside `accepts` above and without Hopper.
template <class T, class To>
cudaError_t attention_short_to(const To& to, const AttentionProblem<T>& g, int64_t queries,
                               cudaStream_t stream) {
    static_assert(sizeof(T) == 2, "tensor cores multiply half or bfloat16 here");
    using Tiles = ShortAttention;
    bool is_empty = false;
    const cudaError_t status = look_at(g, &is_empty);
    if (status != cudaSuccess || is_empty) return status;
    if (queries < 1 || queries % kRowsOfQ != 0) return cudaErrorInvalidValue;
    const int64_t parts = (g.queries - 1) / queries + 1, heads = g.heads * g.batch;
    if (g.size > Tiles::kSize || g.keys > kMostShortKeys || heads > INT32_MAX / 2 / parts)
        return cudaErrorNotSupported;
    const auto kernel = attention_short_kernel<T, To>;
    HeadMaps maps;
    const cudaError_t error = prepare_heads<Tiles::kKeys>(&maps, g, kernel, Tiles::kBytes);
    if (error != cudaSuccess) return error;
    const int64_t units = heads * parts;
    const int64_t blocks = std::min<int64_t>(units, softmax_stages::this_chip().multiprocessors);
    const HeadParts by{static_cast<int>(units), static_cast<int>(queries / kRowsOfQ),
                       static_cast<int>(blocks / heads), static_cast<int>(blocks % heads / g.heads),
                       static_cast<int>(blocks % g.heads)};
    return early_launch::launch(kernel, dim3(static_cast<unsigned>(blocks)), dim3(Tiles::kThreads),
                                Tiles::kBytes, stream, true, 0, maps, g, by, to);
}
template <class T>
cudaError_t attention_short(const AttentionProblem<T>& g, int64_t queries, cudaStream_t stream) {
    return attention_short_to(ToTensor{}, g, queries, stream);
}

}  // namespace fused_attention
