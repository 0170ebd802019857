// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/tiles, version 2.0
//
// The code that the kernels beyond the lesson share: tiles of C numbered by blockIdx.x alone, and layouts of A and B.
#pragma once
#include <mma.h>

#include "../batched_gemm.cuh"

namespace batched_gemm {

using warp_softmax::Pack;

constexpr int kThreads = 256;    // in a block
constexpr int kBlockTile = 128;  // a tile of C is 128 x 128

// A block's tile of C. Consecutive blocks take tiles along n first, then along m, then of the next matrix.
struct Tile {
    int64_t batch, row, col;
    __device__ Tile(int64_t m, int64_t n, int rows, int cols) {
        const int64_t down = (m + rows - 1) / rows, across = (n + cols - 1) / cols;
        batch = blockIdx.x / across / down;
        row = blockIdx.x / across % down * rows;
        col = blockIdx.x % across * cols;
    }
};

// Returns how many tiles of rows x cols all matrices of C have. A double holds every count, however large.
template <class T, class Result>
double count_tiles(const Problem<T, Result>& g, int64_t rows, int64_t cols) {
    return static_cast<double>(g.batch) * static_cast<double>((g.m - 1) / rows + 1) *
           static_cast<double>((g.n - 1) / cols + 1);
}

// Calls launch(blocks), where blocks is the number of tiles of rows x cols in C, unless C is empty. Returns the error
// of status_of() or of the launch.
template <class T, class Launch>
cudaError_t launch_tiles(const Problem<T>& g, int rows, int cols, Launch launch) {
    const cudaError_t status = status_of(g, rows, cols);
    if (status != cudaSuccess || is_empty(g)) return status;
    const int64_t down = (g.m - 1) / rows + 1, across = (g.n - 1) / cols + 1;
    launch(static_cast<unsigned>(g.batch * down * across));
    return cudaGetLastError();
}

// The layouts of A and B: row_major, or col_major if stored transposed.
template <class OfA, class OfB>
struct Stored {
    using A = OfA;
    using B = OfB;
};

}  // namespace batched_gemm
