// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/swizzled_tile, version 1.0
//
// A tile in shared memory without gaps, which ldmatrix reads without bank conflicts.
//   new here   cp.async: copies that run while the thread goes on; an XOR in place of padding (a swizzle)
//   accepts    lines that begin and end at multiples of 16 bytes; others element by element
//   source     CUTLASS's swizzled layouts
#pragma once
#include <cstdint>

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "tiles.cuh"

namespace batched_gemm {

// kRows lines of kCols elements, in chunks of 16 bytes: kChunk elements. Chunks change places within their line:
// eight lines that ldmatrix reads at once have the wanted chunk in eight different places of 128 bytes.
// (`kSwizzled`: to see what happens otherwise.)
template <int kRows, int kCols, bool kSwizzled = true, int kChunk = 8>
struct SwizzledTile {
    static constexpr int kElements = kRows * kCols;
    static constexpr int kChunks = kCols / kChunk;
    static constexpr int kLinesAt128 = kChunks < 8 ? 8 / kChunks : 1;
    // Of long lines of floats, which ldmatrix cannot transpose, a warp reads 8 side by side in each of 4 lines: two
    // chunks each, so that every line turns by two.
    static constexpr int kTurn = kChunk == 4 && kChunks > 8 ? 2 : 1;
    // Of the chunk of (row, col).
    __device__ static int at(int row, int col) {
        const int turn = kSwizzled ? row / kLinesAt128 * kTurn % (kChunks < 8 ? kChunks : 8) : 0;
        return row * kCols + (col / kChunk ^ turn) * kChunk;
    }
    // at(row + rows, col + cols) of at(row, col), where col is below 16 and these are multiples of 16: what a lane
    // adds to a place of its own, so that it need not keep all of its places.
    __device__ static int further(int at, int rows, int cols) { return (at ^ cols) + rows * kCols; }
    // By kBlock threads, from (line, first) of the lines in memory, so many of such a length, zeros beyond
    // them. It has arrived when __pipeline_wait_prior says so, and after a barrier for other threads, too.
    template <bool kInPacks = true, int kBlock = kThreads, class T>
    __device__ static void fetch(T* tile, const Matrices<const T>& x, int64_t line, int64_t lines,
                                 int64_t first, int64_t length) {
        // A thread has the same chunk of every kApart-th line: of each it names the place by adding to the one before.
        constexpr int kApart = kBlock / kChunks;
        static_assert(kBlock % kChunks == 0 && kApart / kLinesAt128 * kTurn % 8 == 0,
                      "all lines of a thread turn alike");
        const int row = static_cast<int>(threadIdx.x) / kChunks;
        const int col = static_cast<int>(threadIdx.x) % kChunks * kChunk;
        const int64_t left = length - first - col;
        const int64_t in_tile = lines - line < kRows ? lines - line : kRows;
        const int below = left > 0 ? static_cast<int>(in_tile) - row : 0;
        const T* from = x.data + (line + row) * x.ld + first + col;
        T* const to = tile + at(row, col);
#pragma unroll(kInPacks ? 16 : 1)  // one by one is slow in any case, and all at once take registers
        for (int i = 0; i < kRows; i += kApart) {
            if (kRows % kApart != 0 && row + i >= kRows) break;
            const bool is_there = i < below;
            if (kInPacks) {  // what is not there: 16 zero bytes instead, and nothing is read
                __pipeline_memcpy_async(to + i * kCols, from, 16, is_there ? 0 : 16);
            } else {
                for (int one = 0; one < kChunk; ++one)
                    to[i * kCols + one] = is_there && one < left ? from[one] : T{};
            }
            from += kApart * x.ld;
        }
    }
};

}  // namespace batched_gemm
