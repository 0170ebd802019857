// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/hopper_heads, version 1.0
//
// What the attention kernels for Hopper share: TMA copies tiles of heads, and a warpgroup multiplies them twice.
//   new here   the sets of fused_attention.cuh for the 64 queries of a warpgroup; weights stay in the registers in which
//              wgmma left the scores, and are operand A of the second product: see attention_one_warpgroup.md
//   accepts    __half and __nv_bfloat16; rows of heads that begin and end at multiples of 16 bytes
//   needs      compute capability 9.0, compiled for sm_90a
#pragma once
#include "../../07_batched_gemm/further/early_launch.cuh"
#include "../../07_batched_gemm/further/hopper_instructions.cuh"
#include "attention_mma.cuh"

namespace fused_attention {

namespace hopper = batched_gemm::hopper;

// A tile in shared memory consists of panels of 64 elements. A panel has a line of 128 swizzled bytes for each row.
inline constexpr int kLine = 128, kRowsOfQ = 64;
template <int kSize>
inline constexpr int kPanels = (kSize + 63) / 64;
template <int kSize>
inline constexpr int kBytesOfRow = kPanels<kSize>* kLine;

struct HeadMaps {
    CUtensorMap q, k, v, o;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Fetches the descriptors, before the first copies need them.
__device__ inline void prefetch(const HeadMaps& maps) {
    hopper::prefetch(maps.q), hopper::prefetch(maps.k);
    hopper::prefetch(maps.v), hopper::prefetch(maps.o);
}

using batched_gemm::arrive_and_expect;
using batched_gemm::wait;

// Returns sequence b. All lanes of a warp must ask for the same one; see uniform().
template <class T>
__device__ inline Sequence sequence_of_warp(const AttentionProblem<T>& g, int b) {
    Sequence sequence(g, b);
    sequence.queries = hopper::uniform(sequence.queries);
    sequence.keys = hopper::uniform(sequence.keys);
    sequence.offset = hopper::uniform(sequence.offset);
    return sequence;
}

// The two barriers of a tile of queries. A phase of `full` ends when the queries have arrived, one of `empty` when the results,
// which take the queries' place, have been read.
struct QueryBarriers {
    uint64_t full, empty;
    __device__ void init() { batched_gemm::init(full, 1), batched_gemm::init(empty, 1); }
};

// Copies the panel that begins at (row, column) of a head of a sequence to shared memory.
__device__ inline void load_panel(void* panel, const CUtensorMap& map, int column, int row,
                                  int head, int sequence, uint64_t& barrier) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(batched_gemm::shared_address(panel)),
        "l"(&map), "r"(column), "r"(row), "r"(head), "r"(sequence),
        "r"(batched_gemm::shared_address(&barrier))
        : "memory");
}

// Copies a panel from shared memory to the place that begins at (row, column).
__device__ inline void store_panel(const CUtensorMap& map, int column, int row, int head,
                                   int sequence, const void* panel) {
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%1, %2, %3, %4}], [%5];" ::"l"(
            &map),
        "r"(column), "r"(row), "r"(head), "r"(sequence), "r"(batched_gemm::shared_address(panel))
        : "memory");
}
// Returns the offset, in bytes, of a 16-byte chunk of a line in a swizzled tile of kRows rows.
template <int kRows>
__device__ inline int chunk_at(int line, int chunk) {
    return (chunk / 8 * kRows + line) * kLine + (chunk % 8 ^ line % 8) * 16;
}

// Fills a tile of kRows rows with rows `first` to `end` - 1 of a head, and with zeros below them. All threads of a warp
// call it; a phase of `full` ends when the rows have arrived. If `is_ragged`, rows from `end` on are padding or belong to
// the next sequence. TMA would read them, so the warp itself copies a tile that has such rows.
template <int kSize, int kRows, class T>
__device__ inline void load_rows(unsigned char* tile, const CUtensorMap& map,
                                 const HeadRows<const T>& x, const int32_t* packed, int size,
                                 int first, int end, bool is_ragged, int head, int sequence,
                                 uint64_t& full) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = packed == nullptr ? first : packed[sequence] + first;
    if (!is_ragged || first + kRows <= end) {
        if (lane != 0) return;
        arrive_and_expect(full, kRows * kBytesOfRow<kSize>);
        for (int panel = 0; panel < kPanels<kSize>; ++panel)
            load_panel(tile + panel * kRows * kLine, map, panel * 64, row, head,
                       packed == nullptr ? sequence : 0, full);
        return;
    }
    const T* const from = rows_of(x, packed, sequence, head) + first * x.row;
    constexpr int kChunks = kPanels<kSize> * 8;
    for (int i = lane; i < kRows * kChunks; i += 32) {
        const int line = i / kChunks, chunk = i % kChunks;
        const bool is_there = first + line < end && chunk * 8 < size;
        __pipeline_memcpy_async(tile + chunk_at<kRows>(line, chunk),
                                is_there ? from + line * x.row + chunk * 8 : from, 16,
                                is_there ? 0 : 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    hopper::order_before_copies();  // wgmma reads like a copy
    __syncwarp();
    if (lane == 0) hopper::arrive(full);
}

// Starts to write a tile of results, those of queries `first` to `end` - 1 at most. All threads of a warp call it; the tile
// may be overwritten once lane 0 has returned from wait_for_stores<0>() and all lanes have met.
template <int kSize, class T>
__device__ inline void start_store(const unsigned char* tile, const CUtensorMap& map,
                                   const AttentionProblem<T>& g, int first, int end, int head,
                                   int sequence) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int32_t* const packed = g.first_query;
    if (packed == nullptr || first + kRowsOfQ <= end) {
        if (lane == 0) {
            for (int panel = 0; panel < kPanels<kSize>; ++panel)
                store_panel(map, panel * 64, packed == nullptr ? first : packed[sequence] + first,
                            head, packed == nullptr ? sequence : 0,
                            tile + panel * kRowsOfQ * kLine);
            hopper::commit_stores();
        }
    } else {
        T* const o = rows_of(g.o, packed, sequence, head) + first * g.o.row;
        const int chunks = static_cast<int>(g.size) / 8;
#pragma unroll 1
        for (int i = lane; i < (end - first) * chunks; i += 32) {
            const int line = i / chunks, chunk = i % chunks;
            *reinterpret_cast<uint4*>(o + line * g.o.row + chunk * 8) =
                *reinterpret_cast<const uint4*>(tile + chunk_at<kRowsOfQ>(line, chunk));
        }
    }
}

// The same, and waits until the tile may be overwritten.
template <int kSize, class T>
__device__ inline void store_rows(const unsigned char* tile, const CUtensorMap& map,
                                  const AttentionProblem<T>& g, int first, int end, int head,
                                  int sequence) {
    start_store<kSize>(tile, map, g, first, end, head, sequence);
    if (threadIdx.x % 32 == 0) hopper::wait_for_stores<0>();
    __syncwarp();
}

// The latest results of a warpgroup in a persistent kernel. They leave beside the next tile's products.
struct LeavingTile {
    uint64_t* empty = nullptr;  // of the tile where they are

    // Starts to write them when the four warps have put them into the tile. barrier: one of the block's, for this warpgroup.
    template <int kSize, class T>
    __device__ void leave(int barrier, const unsigned char* tile, const CUtensorMap& map,
                          const AttentionProblem<T>& g, int first, int end, int head, int sequence,
                          uint64_t& of_tile) {
        hopper::sync_at(barrier, 128);
        if (hopper::uniform(static_cast<int>(threadIdx.x) % 128 / 32) == 0)
            start_store<kSize>(tile, map, g, first, end, head, sequence);
        __syncwarp();
        empty = &of_tile;
    }
    // The same for a tile whose results each warp has read and stored itself.
    __device__ void leave_read(int barrier, uint64_t& of_tile) {
        hopper::sync_at(barrier, 128);
        empty = &of_tile;
    }
    // Tells the copying warp that it may overwrite the tile, as soon as this is so. thread: the number within the warpgroup.
    __device__ void release(int thread) {
        if (thread == 0 && empty != nullptr) {
            hopper::wait_for_stores<0>();
            hopper::arrive(*empty);
        }
        empty = nullptr;
    }
};

// Keeps the compiler from using these registers before this point: it does not know when wgmma writes them.
template <int kCount>
__device__ inline void settle(float (&values)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

// The sets of a warpgroup's 64 queries, and the scores of kKeys more keys. A thread has two rows, 8 apart. Its scores and
// sums are in wgmma's order: two neighbouring columns of the first row, the same two of the second row, then the columns
// 8 further. m and d: see KeySetsOfWarp in attention_mma.cuh.
template <class T, int kSize, int kKeys>
struct WarpgroupSets {
    float m[2] = {-INFINITY, -INFINITY}, d[2] = {};
    float factor[2];  // by which rescale() multiplies the sums of each row
    float sum[kSize / 2];
    float scores[kKeys / 2];
    uint32_t weights[kKeys / 4];

    // Starts scores = q k^T as a group of products. Tiles are given by their addresses in shared memory.
    __device__ void start_scores(unsigned q_tile, unsigned k_tile) {
        hopper::begin_products();
#pragma unroll
        for (int step = 0; step < kSize / 16; ++step) {
            const hopper::Operand q(q_tile + step / 4 * kRowsOfQ * kLine, false, 0),
                k(k_tile + step / 4 * kKeys * kLine, false, 0);
            hopper::multiply_32_bytes<T, false, false>(scores, q[step % 4], k[step % 4], step != 0);
        }
        hopper::commit_products();
    }
    // Starts sum = weights v, or sum += weights v if `adds`, as a group of products.
    __device__ void start_sums(unsigned v_tile, bool adds) {
        hopper::begin_products();
        const hopper::Operand v(v_tile, true, kKeys * kLine);
#pragma unroll
        for (int step = 0; step < kKeys / 16; ++step) {
            const uint32_t(&four)[4] = *reinterpret_cast<uint32_t(*)[4]>(weights + 4 * step);
            hopper::multiply_registers<T>(sum, four, v[step], adds || step != 0);
        }
        hopper::commit_products();
    }
    // Sets the scores of the keys from `key` on to -inf for queries that do not see them. query: the warp's first.
    __device__ void mask(const Sequence& sequence, bool causal, int query, int key) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            const int left =
                sequence.seen_by(query + lane / 4 + 8 * row, causal) - key - lane % 4 * 2;
#pragma unroll
            for (int i = 0; i < kKeys / 4; ++i) {
                if (i / 2 * 8 + i % 2 >= left) scores[i / 2 * 4 + 2 * row + i % 2] = -INFINITY;
            }
        }
    }
    // Lets m grow to the maximum of the scores, unless it is close to it. Returns true if the sums must be rescaled before
    // new weights are added. scale: the factor of a score, times log2(e).
    __device__ bool raise_m(float scale) {
        constexpr float kNear = 8.f;  // as in KeySetsOfWarp
        float best[2] = {m[0], m[1]};
#pragma unroll
        for (int i = 0; i < kKeys / 2; ++i) best[i / 2 % 2] = fmaxf(best[i / 2 % 2], scores[i]);
        bool is_far = false;
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            for (int bit = 1; bit < 4; bit *= 2)
                best[row] = fmaxf(best[row], __shfl_xor_sync(~0u, best[row], bit));
            is_far = is_far || best[row] * scale > m[row] * scale + kNear;
        }
        if (!__any_sync(~0u, is_far)) return false;
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            const float base = best[row] == -INFINITY ? 0.f : best[row] * scale;
            factor[row] = fast_exp2(m[row] * scale - base);
            m[row] = best[row];
            d[row] *= factor[row];
        }
        return true;
    }
    // Turns the scores into weights and adds them to d.
    __device__ void weigh(float scale) {
        const float base[2] = {m[0] == -INFINITY ? 0.f : m[0] * scale,
                               m[1] == -INFINITY ? 0.f : m[1] * scale};
#pragma unroll
        for (int i = 0; i < kKeys / 2; i += 2) {
            const int row = i / 2 % 2;
            scores[i] = fast_exp2(scores[i] * scale - base[row]);
            scores[i + 1] = fast_exp2(scores[i + 1] * scale - base[row]);
            d[row] += scores[i] + scores[i + 1];
        }
    }
    __device__ void round_weights() {
#pragma unroll
        for (int i = 0; i < kKeys / 4; ++i)
            weights[i] = both_of<T>(scores[2 * i], scores[2 * i + 1]);
    }
    __device__ void rescale() {
#pragma unroll
        for (int i = 0; i < kSize / 2; ++i) sum[i] *= factor[i / 2 % 2];
    }

    // Rounds the results of the warp's 16 queries from `query` on, and stores them in shared memory in place of these
    // queries. has_masked: the products have read keys that some query does not see.
    __device__ void finish(unsigned char* tile, const AttentionProblem<T>& g,
                           const Sequence& sequence, int b, int head, int query, bool has_masked) {
        const int lane = static_cast<int>(threadIdx.x) % 32,
                  first_line = static_cast<int>(threadIdx.x) % 128 / 32 * 16;
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            for (int bit = 1; bit < 4; bit *= 2) d[row] += __shfl_xor_sync(~0u, d[row], bit);
            factor[row] = d[row] == 0.f ? 0.f : __fdividef(1.f, d[row]);
        }
        if (g.log_sum_exp.data != nullptr && lane % 4 == 0) {
            for (int row = 0; row < 2; ++row) {
                const int of_lane = query + lane / 4 + 8 * row;
                if (of_lane < sequence.queries)
                    Query<T>(g, b, head, of_lane).tell_sum(m[row] * g.scale, d[row]);
            }
        }
        rescale();
#pragma unroll
        for (int i = 0; i < kSize / 2; i += 8) {
            hopper::store_matrices(
                tile + chunk_at<kRowsOfQ>(first_line + lane % 16, i / 4 + lane / 16),
                {both_of<T>(sum[i], sum[i + 1]), both_of<T>(sum[i + 2], sum[i + 3]),
                 both_of<T>(sum[i + 4], sum[i + 5]), both_of<T>(sum[i + 6], sum[i + 7])});
        }
        if (has_masked) repair(tile, first_line, g, sequence, b, head, query);
        hopper::order_before_copies();
        __syncwarp();
    }

private:
    // A masked key has weight 0, but 0 times NaN or infinity is NaN. Recomputes each query whose result is not finite
    // although its weights are, one key after the other.
    __device__ void repair(unsigned char* tile, int first_line, const AttentionProblem<T>& g,
                           const Sequence& sequence, int b, int head, int query) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        unsigned spoilt[2];
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            float all = 0.f;  // stays 0 if all are finite
#pragma unroll
            for (int i = 2 * row; i < kSize / 2; i += 4) all += 0.f * sum[i] + 0.f * sum[i + 1];
            const bool is_there = query + lane / 4 + 8 * row < sequence.queries;
            spoilt[row] = __ballot_sync(~0u, all != 0.f && d[row] < INFINITY && is_there);
        }
        if ((spoilt[0] | spoilt[1]) == 0) return;
        __syncwarp();  // the spoilt results have been stored
#pragma unroll 1
        for (int line = 0; line < 16; ++line) {
            const int first_lane = line % 8 * 4;
            if (((line < 8 ? spoilt[0] : spoilt[1]) >> first_lane & 0xf) == 0) continue;
            const float of_m = __shfl_sync(~0u, line < 8 ? m[0] : m[1], first_lane),
                        of_d = __shfl_sync(~0u, line < 8 ? d[0] : d[1], first_lane);
            recompute(tile, first_line + line, g, sequence, b, head, query + line, of_m, of_d);
        }
    }
    __device__ static void recompute(unsigned char* tile, int line, const AttentionProblem<T>& g,
                                     const Sequence& sequence, int b, int head, int query, float m,
                                     float d) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const T* const q = rows_of(g.q, g.first_query, b, head) + query * g.q.row;
        const T* k = rows_of(g.k, g.first_key, b, g.key_head(head));
        const T* v = rows_of(g.v, g.first_key, b, g.key_head(head));
        constexpr int kCount = (kSize + 31) / 32;
        float result[kCount] = {};
        const int seen = sequence.seen_by(query, g.causal);
#pragma unroll 1
        for (int key = 0; key < seen; ++key, k += g.k.row, v += g.v.row) {
            float product = 0.f;
#pragma unroll 1
            for (int i = lane; i < g.size; i += 32)
                product += static_cast<float>(q[i]) * static_cast<float>(k[i]);
            const float weight =
                fast_exp2((warp_softmax::warp_sum(product) - m) * g.scale * kLog2e);
#pragma unroll
            for (int i = 0; i < kCount; ++i) {
                const int col = lane + 32 * i;
                if (col < g.size) result[i] += weight * static_cast<float>(v[col]);
            }
        }
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            const int col = lane + 32 * i;
            T* const chunk = reinterpret_cast<T*>(tile + chunk_at<kRowsOfQ>(line, col / 8));
            if (col < kSize) chunk[col % 8] = static_cast<T>(result[i] * Query<T>::share_of(d));
        }
    }
};
#endif

// Makes the tensor map of a batch of heads, with boxes of box_rows rows of 64 elements. Packed sequences are one tensor.
template <class T>
cudaError_t describe_heads(CUtensorMap* map, const HeadRows<T>& x, bool packed, int64_t size,
                           int64_t rows, int64_t heads, int64_t batch, int box_rows) {
    using Element = std::remove_const_t<T>;
    decltype(&cuTensorMapEncodeTiled) encode = nullptr;
    const cudaError_t error = batched_gemm::find_encoder(&encode);
    if (error != cudaSuccess) return error;
    // The host does not know how many rows packed sequences have; load_rows() never leaves them.
    const cuuint64_t sizes[] = {
        static_cast<cuuint64_t>(size), static_cast<cuuint64_t>(packed ? INT32_MAX : rows),
        static_cast<cuuint64_t>(heads), static_cast<cuuint64_t>(packed ? 1 : batch)};
    const cuuint64_t pitches[] = {sizeof(T) * static_cast<cuuint64_t>(x.row),
                                  sizeof(T) * static_cast<cuuint64_t>(x.head),
                                  sizeof(T) * static_cast<cuuint64_t>(packed ? x.row : x.sequence)};
    const cuuint32_t box[] = {64, static_cast<cuuint32_t>(box_rows), 1, 1};
    const cuuint32_t steps[] = {1, 1, 1, 1};
    const CUresult result =
        encode(map, batched_gemm::tensor_type<Element>(), 4, const_cast<Element*>(x.data), sizes,
               pitches, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorNotSupported;
}

// Prepares a kernel and the maps of its tiles of 64 queries and kKeys keys. Returns cudaErrorNotSupported for problems
// outside `accepts` above, and without Hopper.
template <int kKeys, class T, class Kernel>
cudaError_t prepare_heads(HeadMaps* maps, const AttentionProblem<T>& g, Kernel kernel,
                          unsigned bytes) {
    if (softmax_stages::this_chip().capability != 9 || !consists_of_packs(g))
        return cudaErrorNotSupported;
    cudaError_t error = hopper::prepare(kernel, bytes);
    const bool packed = g.first_query != nullptr;
    if (error == cudaSuccess)
        error =
            describe_heads(&maps->o, g.o, packed, g.size, g.queries, g.heads, g.batch, kRowsOfQ);
    if (error == cudaSuccess)
        error =
            describe_heads(&maps->q, g.q, packed, g.size, g.queries, g.heads, g.batch, kRowsOfQ);
    // Without keys nothing is loaded, but the maps need an address.
    const bool has_keys = g.keys > 0;
    const int64_t keys = has_keys ? g.keys : 1;
    const auto& k = has_keys ? g.k : g.q;
    const auto& v = has_keys ? g.v : g.q;
    if (error == cudaSuccess)
        error =
            describe_heads(&maps->k, k, packed, g.size, keys, g.heads_of_keys(), g.batch, kKeys);
    if (error == cudaSuccess)
        error =
            describe_heads(&maps->v, v, packed, g.size, keys, g.heads_of_keys(), g.batch, kKeys);
    return error;
}

// ---- launching one of the three kernels before attention_hopper()

inline constexpr int64_t kMostSizeOfSteps = 128;  // elements per head

// Launches a kernel whose block (x, y, z) computes tile x, Tiles::kQueries queries, of head y of sequence z.
template <class Tiles, class T, class Kernel>
cudaError_t launch_heads(const AttentionProblem<T>& g, Kernel kernel, cudaStream_t stream) {
    HeadMaps maps;
    const cudaError_t error = prepare_heads<Tiles::kKeys>(&maps, g, kernel, Tiles::kBytes);
    if (error != cudaSuccess) return error;
    const dim3 grid(static_cast<unsigned>((g.queries - 1) / Tiles::kQueries + 1),
                    static_cast<unsigned>(g.heads), static_cast<unsigned>(g.batch));
    kernel<<<grid, Tiles::kThreads, Tiles::kBytes, stream>>>(maps, g);
    return cudaGetLastError();
}
// Checks a problem, and calls launch(Tiles<64>{}) or launch(Tiles<128>{}) for heads of so many elements. Returns the errors of
// look_at(), and cudaErrorNotSupported for problems that the three kernels do not take.
template <template <int> class Tiles, class T, class Launch>
cudaError_t with_tiles_of_step(const AttentionProblem<T>& g, Launch launch) {
    bool is_empty = false;
    const cudaError_t status = look_at(g, &is_empty);
    if (status != cudaSuccess || is_empty) return status;
    if (g.size > kMostSizeOfSteps || g.first_query != nullptr || g.heads > 65535 || g.batch > 65535)
        return cudaErrorNotSupported;
    return g.size <= 64 ? launch(Tiles<64>{}) : launch(Tiles<128>{});
}

}  // namespace fused_attention
