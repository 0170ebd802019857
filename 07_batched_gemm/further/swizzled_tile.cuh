// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/swizzled_tile, version 1.0
//
// A tile in shared memory without padding, which ldmatrix reads without bank conflicts.
//   new here   a swizzle: an XOR with the line's number moves each chunk of 16 bytes within its line; cp.async, a copy
//              that runs while the threads go on
//   accepts    lines that begin and end at multiples of 16 bytes; copies other lines element by element
//   source     CUTLASS's swizzled layouts
#pragma once
#include <cstdint>

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "tiles.cuh"

namespace batched_gemm {

// A tile of kRows lines of kCols elements, in chunks of 16 bytes (kChunk elements). ldmatrix reads one chunk from each
// of eight consecutive lines at once. The swizzle puts these chunks into eight different places of 128 bytes. With
// kSwizzled = false the tile has no swizzle, to show the conflicts.
template <int kRows, int kCols, bool kSwizzled = true, int kChunk = 8>
struct SwizzledTile {
    static constexpr int kElements = kRows * kCols;
    static constexpr int kChunks = kCols / kChunk;
    static constexpr int kLinesAt128 = kChunks < 8 ? 8 / kChunks : 1;
    // ldmatrix cannot transpose floats. From long lines of floats a warp therefore reads 8 neighbours, two chunks, in
    // each of 4 lines, so each line moves its chunks by two more places than the line above.
    static constexpr int kTurn = kChunk == 4 && kChunks > 8 ? 2 : 1;
    // Returns where the chunk of (row, col) begins.
    __device__ static int at(int row, int col) {
        const int turn = kSwizzled ? row / kLinesAt128 * kTurn % (kChunks < 8 ? kChunks : 8) : 0;
        return row * kCols + (col / kChunk ^ turn) * kChunk;
    }
    // Returns at(row + rows, col + cols), given at(row, col) with col < 16, where rows and cols are multiples of 16.
    // A lane thus keeps one place in a register and computes its other places from it.
    __device__ static int further(int at, int rows, int cols) { return (at ^ cols) + rows * kCols; }
    // Starts to copy the tile that begins at (line, first) of x, with kBlock threads. x has `lines` lines of `length`
    // elements; elements beyond x are zeros. This thread may read its copies after __pipeline_wait_prior, other threads
    // after a barrier as well.
    template <bool kInPacks = true, int kBlock = kThreads, class T>
    __device__ static void fetch(T* tile, const Matrices<const T>& x, int64_t line, int64_t lines,
                                 int64_t first, int64_t length) {
        // A thread copies the same chunk of every kApart-th line, so each place is the previous place plus a constant.
        constexpr int kApart = kBlock / kChunks;
        static_assert(kBlock % kChunks == 0 && kApart / kLinesAt128 * kTurn % 8 == 0,
                      "all lines of a thread have the same swizzle");
        const int row = static_cast<int>(threadIdx.x) / kChunks;
        const int col = static_cast<int>(threadIdx.x) % kChunks * kChunk;
        const int64_t left = length - first - col;
        const int64_t in_tile = lines - line < kRows ? lines - line : kRows;
        const int below = left > 0 ? static_cast<int>(in_tile) - row : 0;
        const T* from = x.data + (line + row) * x.ld + first + col;
        T* const to = tile + at(row, col);
#pragma unroll(kInPacks ? 16 : 1)  // single elements are slow anyway, and unrolled need registers
        for (int i = 0; i < kRows; i += kApart) {
            if (kRows % kApart != 0 && row + i >= kRows) break;
            const bool is_there = i < below;
            if (kInPacks) {  // beyond x the copy reads nothing and writes 16 zero bytes
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
