// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/any_axis_registers, version 1.0
//
// Keeps a tile of a slab in the registers of a block or of a cluster, for rows of whole packs. any_axis_softmax.cuh
// prefers this kernel where it is possible.
//   new here   a thread starts all its loads before it uses the first; each of its columns has a pair (m, d), and
//              the block merges the pairs once. The blocks of a cluster send each other their pairs, as for rows
//   traffic    1 read + 1 write per element
#pragma once
#include "any_axis_tiling.cuh"
#include "row_teams.cuh"

namespace smem_softmax {
namespace any_axis {

using warp_softmax::Algorithm;
using warp_softmax::kLift;
using warp_softmax::lifted_exp;

// ---------------------------------------------------------------- a thread's columns

// A thread's packs: threadIdx.x selects the pack in a row of the tile, threadIdx.y the row, threadIdx.z the tile of
// the block. The blocks of a tile, which blockIdx.y numbers, take its rows in turn.
template <class T>
struct Column {
    int64_t first;  // index of the first pack in the tensor
    int64_t step;   // from one pack to the next
    int count;

    __device__ Column(const Sizes& sizes, const Tiling& tiling) {
        const int64_t packs = sizes.inner / kWidest<T>;
        const auto tiles = static_cast<unsigned>(tiling.tiles);
        const int64_t slab = int64_t{blockIdx.x / tiles} * tiling.slabs + threadIdx.z;
        const int64_t col = int64_t{blockIdx.x % tiles} * blockDim.x + threadIdx.x;
        const auto row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
        const auto rows = static_cast<int>(gridDim.y * blockDim.y);
        first = (slab * sizes.dim + row) * packs + col;
        step = rows * packs;
        const bool is_there = slab < sizes.outer && col < packs;
        count = is_there ? (static_cast<int>(sizes.dim) - row + rows - 1) / rows : 0;
    }

    template <int kPacks>
    __device__ void read(const T* x, uint4 (&held)[kPacks], uint4 nothing) const {
        const uint4* from = reinterpret_cast<const uint4*>(x) + first;
#pragma unroll
        for (int p = 0; p < kPacks; ++p) {
            held[p] = nothing;
            if (p < count) held[p] = *from;
            from += step;
        }
    }
};

// The pairs of a pack's columns, over the rows of one or more threads: the maxima, as a pack, and the sums of
// lifted_exp(x - m).
template <class T>
struct Sets {
    using Pair = Normalizer<ComputeOf<T>>;
    uint4 m;
    ComputeOf<T> d[kWidest<T>];

    // Return and store the pair of column i.
    __device__ Pair pair(int i) const {
        return {static_cast<ComputeOf<T>>(reinterpret_cast<const T*>(&m)[i]), d[i]};
    }
    __device__ void set(int i, Pair pair) {
        reinterpret_cast<T*>(&m)[i] = static_cast<T>(pair.m);
        d[i] = pair.d;
    }
};

// Returns the larger element of each column.
template <class T>
__device__ uint4 larger_of(uint4 a, uint4 b) {
    if constexpr (sizeof(T) == 2) {
        using Two = TwoOf<T>;
        const auto larger = [](unsigned c, unsigned d) {
            return bits_as<unsigned>(__hmax2(bits_as<Two>(c), bits_as<Two>(d)));
        };
        return make_uint4(larger(a.x, b.x), larger(a.y, b.y), larger(a.z, b.z), larger(a.w, b.w));
    } else {
        auto larger = bits_as<WidePack<T>>(a);
        const auto other = bits_as<WidePack<T>>(b);
        for (int i = 0; i < kWidest<T>; ++i) {
            larger.element[i] = fmax(larger.element[i], other.element[i]);
        }
        return words_of<T>(larger);
    }
}
__device__ inline uint4 shuffled(uint4 words, int step) {
    return make_uint4(__shfl_xor_sync(~0u, words.x, step), __shfl_xor_sync(~0u, words.y, step),
                      __shfl_xor_sync(~0u, words.z, step), __shfl_xor_sync(~0u, words.w, step));
}

// Returns the factor that converts a sum relative to m to a sum relative to `larger`.
template <class T, class Compute>
__device__ Compute factor_of(Compute m, Compute larger) {
    return lifted_exp<T>(m - base_of(larger)) / static_cast<Compute>(kLift<T>);
}

// Merges `count` pairs of a column. pair_at(k) returns the k-th. kMaxima: true if pairs have maxima; gradients have
// only sums.
template <bool kMaxima, class T, class PairAt>
__device__ auto merged_pairs(int count, PairAt pair_at) {
    using Compute = ComputeOf<T>;
    [[maybe_unused]] constexpr int kUnroll =
        sizeof(T) == 8 ? 1 : 4;  // the exponential of doubles takes many registers
    Normalizer<Compute> all = Normalizer<Compute>::of_none();
    if constexpr (kMaxima) {
#pragma unroll kUnroll
        for (int k = 0; k < count; ++k) all.m = fmax(all.m, pair_at(k).m);
    }
#pragma unroll kUnroll
    for (int k = 0; k < count; ++k) {
        const Normalizer<Compute> pair = pair_at(k);
        all.d += kMaxima ? pair.d * factor_of<T>(pair.m, all.m) : pair.d;
    }
    return all;
}

// Returns the mbarrier of the tile's messages. In shared memory, the sets come first, then this barrier (16 bytes),
// then the pairs of all columns from each block. (On GPUs without clusters, a tile has one block.)
template <class T>
__device__ uint64_t* arrived_of(const Tiling& tiling) {
    return reinterpret_cast<uint64_t*>(shared_bytes + 2 * tiling.join_bytes -
                                       message_bytes<ComputeOf<T>>(tiling));
}
template <class T>
__device__ void expect_pairs([[maybe_unused]] const Tiling& tiling) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    constexpr unsigned kBytes = sizeof(typename Sets<T>::Pair);
    expect_messages(arrived_of<T>(tiling),
                    static_cast<unsigned>(tiling.width * tiling.blocks) * kBytes);
#endif
}
// Sends each column's pair to all blocks of the tile, and merges those of all blocks. sets: a set per pack of the
// tile's row, with the block's pairs. All threads of the block must call it.
template <bool kMaxima, class T>
__device__ void merge_in_cluster([[maybe_unused]] Sets<T>* sets, [[maybe_unused]] int thread,
                                 [[maybe_unused]] const Tiling& tiling) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    uint64_t* const arrived = arrived_of<T>(tiling);
    auto* const inbox = reinterpret_cast<typename Sets<T>::Pair*>(arrived + 2);
    __cluster_barrier_wait();
    const auto cluster = cooperative_groups::this_cluster();
    const auto rank = static_cast<int>(blockIdx.y);
    for (int i = thread; i < tiling.width * tiling.blocks; i += tiling.threads) {
        const int col = i % tiling.width, to = i / tiling.width;
        send(sets[col / kWidest<T>].pair(col % kWidest<T>),
             cluster.map_shared_rank(inbox + rank * tiling.width + col, to),
             cluster.map_shared_rank(arrived, to));
    }
    wait_for_messages(arrived);
    __syncthreads();  // all threads have sent the block's pairs
    for (int col = thread; col < tiling.width; col += tiling.threads) {
        sets[col / kWidest<T>].set(col % kWidest<T>,
                                   merged_pairs<kMaxima, T>(tiling.blocks, [&](int block) {
                                       return inbox[block * tiling.width + col];
                                   }));
    }
    __syncthreads();
#endif
}

// Merges the sets of all threads with the same columns, first in the warp, then in the block and in the cluster; each
// of these threads gets the result.
template <bool kMaxima, bool kCluster, class T>
__device__ void merge_columns(Sets<T>& mine, const Tiling& tiling) {
    using Compute = ComputeOf<T>;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;  // within the tile
    const int top_step = min(tiling.threads, 32) / 2;
    if constexpr (kMaxima) {
        const auto own = bits_as<WidePack<T>>(mine.m);
        for (int step = top_step; step >= tiling.lanes; step /= 2) {
            mine.m = larger_of<T>(mine.m, shuffled(mine.m, step));
        }
        const auto all = bits_as<WidePack<T>>(mine.m);
#pragma unroll
        for (int i = 0; i < kWidest<T>; ++i) {
            mine.d[i] *= factor_of<T>(static_cast<Compute>(own.element[i]),
                                      static_cast<Compute>(all.element[i]));
        }
    }
    for (int step = top_step; step >= tiling.lanes; step /= 2) {
#pragma unroll
        for (Compute& d : mine.d) d += __shfl_xor_sync(~0u, d, step);
    }
    if (tiling.threads <= max(32, tiling.lanes)) return;

    // Each warp stores one set per pack of the tile's row; then one thread per column merges the column's sets. (Tiles
    // with more than 32 packs per row have one row of threads, so they have returned.)
    const int warps = tiling.threads / 32;
    Sets<T>* const sets =
        reinterpret_cast<Sets<T>*>(shared_bytes) + threadIdx.z * warps * tiling.lanes;
    if (thread % 32 < tiling.lanes) sets[thread / 32 * tiling.lanes + threadIdx.x] = mine;
    __syncthreads();
    for (int col = thread; col < tiling.width; col += tiling.threads) {
        Sets<T>* const column = sets + col / kWidest<T>;
        const int i = col % kWidest<T>;
        column->set(i, merged_pairs<kMaxima, T>(
                           warps, [&](int warp) { return column[warp * tiling.lanes].pair(i); }));
    }
    __syncthreads();
    if constexpr (kCluster) merge_in_cluster<kMaxima>(sets, thread, tiling);
    mine = sets[threadIdx.x];
}

// kCluster: true if a cluster of blocks shares a tile.
template <class Operation, int kPacks, bool kCluster>
__global__ void __launch_bounds__(1024)
    any_axis_registers_kernel(Operation operation, Sizes sizes, Tiling tiling) {
    using T = typename Operation::Element;
    using Compute = ComputeOf<T>;
    constexpr int kInputs = Operation::kInputs;
    if constexpr (kCluster) expect_pairs<T>(tiling);
    const Column<T> column(sizes, tiling);
    const uint4 nothing = filled_pack(Operation::nothing());
    uint4 held[kInputs][kPacks];
#pragma unroll
    for (int t = 0; t < kInputs; ++t) column.read(operation.in[t], held[t], nothing);
    uint4 words[kInputs];
    const auto take = [&](int p, auto as) {
#pragma unroll
        for (int t = 0; t < kInputs; ++t) words[t] = as(held[t][p]);
    };

    Sets<T> sets{nothing, {}};
    if constexpr (Operation::kHasMaximum) {
#pragma unroll
        for (int p = 0; p < kPacks; ++p) sets.m = larger_of<T>(sets.m, held[0][p]);
    }
    const Numbers<T> own = numbers_of<T>(sets.m);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
        take(p, [](uint4 pack) { return pack; });
        for_each_element<T>(words, [&](int i, const auto& x) {
            sets.d[i] += Operation::term(x, base_of(own.of[i]));
        });
    }
    merge_columns<Operation::kHasMaximum, kCluster>(sets, tiling);

    const Numbers<T> all = numbers_of<T>(sets.m);
    Compute last[kWidest<T>];
#pragma unroll
    for (int i = 0; i < kWidest<T>; ++i) last[i] = Operation::last_of(sets.d[i]);
    uint4* to = reinterpret_cast<uint4*>(operation.out) + column.first;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
        take(p, [](uint4 pack) { return as_new<T>(pack); });
        WidePack<T> pack;
        for_each_element<T>(words, [&](int i, const auto& x) {
            pack.element[i] = Operation::result(x, base_of(all.of[i]), last[i]);
        });
        if (p < column.count) *to = words_of<T>(pack);
        to += column.step;
    }
}

}  // namespace any_axis
}  // namespace smem_softmax
