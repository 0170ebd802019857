// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/any_axis_registers, version 1.0
//
// Keeps a tile of a slab in the registers of a block, for rows of whole packs. any_axis_softmax.cuh prefers this kernel
// where it is possible.
//   new here   a thread starts all its loads before it uses the first; each of its columns has a pair (m, d), and
//              the block merges the pairs once
//   traffic    1 read + 1 write per element
#pragma once
#include "any_axis_tiling.cuh"
#include "online_cached.cuh"

namespace smem_softmax {
namespace any_axis {

using warp_softmax::Algorithm;
using warp_softmax::kLift;
using warp_softmax::lifted_exp;

// A thread's packs: threadIdx.x selects the pack in a row of the tile, threadIdx.y the row, threadIdx.z the tile of
// the block.
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
        const int row = threadIdx.y;
        const int rows = blockDim.y;
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
    uint4 m;
    ComputeOf<T> d[kWidest<T>];
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

// Merges the sets of all threads with the same columns, first in the warp, then in the block; each of these threads
// gets the result. kMaxima: true if sets have maxima; gradients have only sums.
template <bool kMaxima, class T>
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

    // Each warp stores one set per pack of the tile's row; then one thread per column merges the column's sets.
    const int warps = tiling.threads / 32;
    [[maybe_unused]] constexpr int kUnroll =
        sizeof(T) == 8 ? 1 : 4;  // the exponential of doubles takes many registers
    Sets<T>* const sets =
        reinterpret_cast<Sets<T>*>(shared_bytes) + threadIdx.z * warps * tiling.lanes;
    if (thread % 32 < tiling.lanes) sets[thread / 32 * tiling.lanes + threadIdx.x] = mine;
    __syncthreads();
    for (int col = thread; col < tiling.width; col += tiling.threads) {
        Sets<T>* const column = sets + col / kWidest<T>;
        const int i = col % kWidest<T>;
        const auto max_of = [&](int warp) -> T& {
            return reinterpret_cast<T*>(&column[warp * tiling.lanes].m)[i];
        };
        Compute d = 0;
        if constexpr (kMaxima) {
            auto m = -static_cast<Compute>(INFINITY);
#pragma unroll kUnroll
            for (int w = 0; w < warps; ++w) m = fmax(m, static_cast<Compute>(max_of(w)));
#pragma unroll kUnroll
            for (int w = 0; w < warps; ++w) {
                d += column[w * tiling.lanes].d[i] *
                     factor_of<T>(static_cast<Compute>(max_of(w)), m);
            }
            max_of(0) = static_cast<T>(m);
        } else {
#pragma unroll kUnroll
            for (int w = 0; w < warps; ++w) d += column[w * tiling.lanes].d[i];
        }
        column->d[i] = d;
    }
    __syncthreads();
    mine = sets[threadIdx.x];
}

template <class Operation, int kPacks>
__global__ void __launch_bounds__(1024)
    any_axis_registers_kernel(Operation operation, Sizes sizes, Tiling tiling) {
    using T = typename Operation::Element;
    using Compute = ComputeOf<T>;
    constexpr int kInputs = Operation::kInputs;
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
    merge_columns<Operation::kHasMaximum>(sets, tiling);

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
