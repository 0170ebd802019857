// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/packs, version 1.1
//
// The code that the tuned kernels share: a thread moves the same pack of four rows.
//   new here   the latencies of a thread's four loads overlap; blocks fit a row's width
//   packs      04's: 16 bytes if rows begin and end at multiples of 16 bytes, otherwise two elements or one
//   threads    threadIdx.x counts the packs of a row, threadIdx.y rows; if a row is wider than a block, blockIdx.y
//              counts its parts
//   source     ours
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "../../04_warp_softmax/warp_softmax.cuh"

namespace encoder_fusions {

using warp_softmax::Pack;
using warp_softmax::takes_packs;
using warp_softmax::warp_sum;

// Number of rows that a thread has in flight: their latencies overlap, and the thread loads a shared bias only once.
constexpr int kRows = 4;

// Returns row i, 0 to kRows - 1, of this thread. Threads that are neighbours in y have neighbouring rows.
__device__ inline int64_t row_of_thread(int64_t block, int i) {
    return (block * kRows + i) * blockDim.y + threadIdx.y;
}
__device__ inline int pack_of_thread() {
    return static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
}

// Cuts rows of `packs` packs into blocks of up to 256 threads.
struct Tiling {
    dim3 block;
    int64_t row_blocks;
    int64_t pack_blocks;

    Tiling(int64_t rows, int64_t packs) {
        constexpr int64_t kThreads = 256;
        pack_blocks = (packs + kThreads - 1) / kThreads;
        const int64_t across = (packs + pack_blocks - 1) / pack_blocks;
        // Cut a row only between warps.
        block.x = static_cast<unsigned>(pack_blocks == 1 ? across : (across + 31) / 32 * 32);
        block.y = static_cast<unsigned>(kThreads / block.x);
        const int64_t of_block = kRows * int64_t{block.y};
        row_blocks = rows == 0 ? 0 : (rows - 1) / of_block + 1;
    }
    // True if a grid has room for `times` sets of these rows, one after another.
    bool fits(int64_t times = 1) const {
        return pack_blocks <= 65535 && row_blocks <= INT32_MAX / std::max<int64_t>(times, 1);
    }
    // Returns the number of threads per pack that own at least one of `rows` rows: each loads the bias once.
    int64_t threads_with_rows(int64_t rows) const {
        const int64_t last = rows - (row_blocks - 1) * kRows * int64_t{block.y};
        if (row_blocks == 0) return 0;
        return (row_blocks - 1) * block.y + std::min<int64_t>(block.y, last);
    }
    dim3 grid(int64_t times = 1) const {
        return dim3(static_cast<unsigned>(row_blocks * times), static_cast<unsigned>(pack_blocks));
    }
};

// The layout of the tokens of a batch of sequences. offsets: batch + 1 numbers, the first token of each sequence
// (device memory); if nullptr, all sequences have `seq` tokens. Blocks take the rows of one sequence after another.
struct Sequences {
    int64_t batch;
    int64_t seq;
    const int32_t* offsets;

    static constexpr bool kAsksTogether = false;  // each thread calls rows() by itself
    struct Rows {
        int64_t first;
        int64_t count;  // at most seq
    };
    __device__ Rows rows(int64_t b) const {
        if (offsets == nullptr) return {b * seq, seq};
        const int64_t first = offsets[b], end = offsets[b + 1];
        return {first, end - first < seq ? end - first : seq};
    }

    // True if these sizes are not negative and 32 bits can count a row of parts * heads * size elements.
    bool have_rows_of(int64_t parts, int64_t heads, int64_t size) const {
        constexpr int64_t kMost = INT32_MAX;
        return batch >= 0 && seq >= 0 && heads >= 0 && size >= 0 && batch <= kMost &&
               seq <= kMost && size <= kMost && heads <= kMost / parts / std::max<int64_t>(size, 1);
    }
};

// Calls launch(pack) with the widest pack, a constant number of elements (16 bytes, two or one), that divides rows of
// `cols` elements at all these addresses. cudaErrorInvalidValue for a null or misaligned pointer.
template <class T, class Launch>
cudaError_t with_widest_pack(std::initializer_list<const T*> addresses, int64_t cols,
                             Launch launch) {
    constexpr std::integral_constant<int, 16 / sizeof(T)> kWhole;
    constexpr std::integral_constant<int, 2> kPair;
    constexpr std::integral_constant<int, 1> kElement;
    const auto all_take = [&](auto pack) {
        return std::all_of(addresses.begin(), addresses.end(), [&](const T* address) {
            return address != nullptr && takes_packs<pack.value>(address, cols);
        });
    };
    if (all_take(kWhole)) return launch(kWhole);
    if (all_take(kPair)) return launch(kPair);
    return all_take(kElement) ? launch(kElement) : cudaErrorInvalidValue;
}

// Calls launch(pack, grid, block, tiles): `tiles` blocks share the rows of a sequence, with `cols` elements per row and
// kRows rows per thread. Packs divide `unit` elements.
template <class T, class Launch>
cudaError_t for_each_sequence(std::initializer_list<const T*> addresses, const Sequences& sequences,
                              int64_t cols, int64_t unit, Launch launch) {
    if (sequences.batch == 0 || sequences.seq == 0 || cols == 0) return cudaSuccess;
    return with_widest_pack<T>(addresses, unit, [&](auto pack) {
        const Tiling tiling(sequences.seq, cols / pack.value);
        if (!tiling.fits(sequences.batch)) return cudaErrorInvalidValue;
        launch(pack, tiling.grid(sequences.batch), tiling.block,
               static_cast<int>(tiling.row_blocks));
        return cudaGetLastError();
    });
}

// Views x as packs.
template <int kPack, class T>
__host__ __device__ const Pack<T, kPack>* as_packs(const T* x) {
    return reinterpret_cast<const Pack<T, kPack>*>(x);
}
template <int kPack, class T>
__host__ __device__ Pack<T, kPack>* as_packs(T* x) {
    return reinterpret_cast<Pack<T, kPack>*>(x);
}

}  // namespace encoder_fusions
