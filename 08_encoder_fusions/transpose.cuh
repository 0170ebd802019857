// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/transpose, version 1.1
//
// y[col, row] = x[row, col] for 16-bit elements, in four steps; the last three differ only in the layout of a tile.
//   new here   two pairs of x, one below the other, become two pairs of y; two layouts without bank conflicts
//   traffic    1 read + 1 write per element; naive: a sector of 32 bytes for each 2 bytes written
//   accepts    __half, __nv_bfloat16; up to 65535 matrices and tile rows; pairs where rows and columns are even
//   source     FasterTransformer's half2 transposes (2019); CUDA's blog on transposition (2013)
#pragma once
#include "../04_warp_softmax/warp_softmax.cuh"

namespace encoder_fusions {

using warp_softmax::takes_packs;

constexpr int kTile = 64;               // rows and columns of a tile
constexpr int kTileWords = 32;          // pairs in a row of a tile: one for each bank
constexpr int kTileThreads = 8;         // threads of a block in y; 32 in x
constexpr int64_t kMostOfGrid = 65535;  // maximum number of blocks of a grid in y, and in z

// ---- step 1: a thread per element; threadIdx.x counts columns of x, which are rows of y

template <class T>
__global__ void naive_transpose_kernel(const T* x, T* y, int64_t rows, int64_t cols) {
    const int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const int64_t col = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    const int64_t matrix = blockIdx.z * rows * cols;
    y[matrix + col * rows + row] = x[matrix + row * cols + col];
}

// ---- steps 2 to 4: a block writes a tile to shared memory row by row, and reads it column by column

// at(row, word) returns the place of pair `word` of row `row`. A lane reads one word of rows 2 lane and 2 lane + 1,
// that is two columns of two rows, and makes two pairs of y from them.
struct Unpadded {  // all lanes read the same bank
    static constexpr int kWords = kTile * kTileWords;
    __device__ static int at(int row, int word) { return row * kTileWords + word; }
};
struct Padded {  // an unused word after every second row: lanes read neighbouring banks
    static constexpr int kWords = kTile * kTileWords + kTile / 2;
    __device__ static int at(int row, int word) { return row * kTileWords + word + row / 2; }
};
struct Swizzled {  // permutes the words of a row: lanes read different banks, no memory is lost
    static constexpr int kWords = kTile * kTileWords;
    __device__ static int at(int row, int word) {
        return row * kTileWords + (word ^ (row / 2 % kTileWords));
    }
};

// Load or store elements (row, col) and (row, col + 1) as one word, the first in its lower half. (nvcc would store a
// struct of two elements one by one.) Outside the matrix: load zeros, store nothing. kPairs: both in one access.
template <bool kPairs>
__device__ uint32_t load_pair(const uint16_t* x, int64_t row, int64_t col, int64_t rows,
                              int64_t cols) {
    if (row >= rows || col >= cols) return 0;
    const uint16_t* const from = x + row * cols + col;
    if (kPairs) return *reinterpret_cast<const uint32_t*>(from);
    const uint32_t first = from[0], second = col + 1 < cols ? from[1] : 0;
    return first | second << 16;
}
template <bool kPairs>
__device__ void store_pair(uint16_t* y, uint32_t pair, int64_t row, int64_t col, int64_t rows,
                           int64_t cols) {
    if (row >= rows || col >= cols) return;
    uint16_t* const to = y + row * cols + col;
    if (kPairs) {
        *reinterpret_cast<uint32_t*>(to) = pair;
    } else {
        to[0] = static_cast<uint16_t>(pair);
        if (col + 1 < cols) to[1] = static_cast<uint16_t>(pair >> 16);
    }
}

template <class Layout, bool kPairs>
__global__ void __launch_bounds__(kTileWords* kTileThreads)
    tiled_transpose_kernel(const uint16_t* x, uint16_t* y, int64_t rows, int64_t cols) {
    __shared__ uint32_t tile[Layout::kWords];
    const int64_t first_row = int64_t{blockIdx.y} * kTile, first_col = int64_t{blockIdx.x} * kTile;
    const uint16_t* const from = x + blockIdx.z * rows * cols;
    uint16_t* const to = y + blockIdx.z * rows * cols;
    const int lane = static_cast<int>(threadIdx.x), line = static_cast<int>(threadIdx.y);

    uint32_t held[kTile / kTileThreads];  // all loads are in flight before the first store
#pragma unroll
    for (int i = 0; i < kTile / kTileThreads; ++i) {
        const int row = line + i * kTileThreads;
        held[i] = load_pair<kPairs>(from, first_row + row, first_col + 2 * lane, rows, cols);
    }
#pragma unroll
    for (int i = 0; i < kTile / kTileThreads; ++i)
        tile[Layout::at(line + i * kTileThreads, lane)] = held[i];
    __syncthreads();  // all warps have written their part of the tile

#pragma unroll
    for (int i = 0; i < kTileWords / kTileThreads; ++i) {
        const int word = line + i * kTileThreads;
        const uint32_t upper = tile[Layout::at(2 * lane, word)];
        const uint32_t lower = tile[Layout::at(2 * lane + 1, word)];
        const uint32_t left = (upper & 0xffffu) | lower << 16;
        const uint32_t right = upper >> 16 | (lower & 0xffff0000u);
        const int64_t y_row = first_col + 2 * word, y_col = first_row + 2 * lane;
        store_pair<kPairs>(to, left, y_row, y_col, cols, rows);
        store_pair<kPairs>(to, right, y_row + 1, y_col, cols, rows);
    }
}

// ---- launchers: y = x transposed, for each of `batch` matrices of rows x cols (device memory, x is not y).
// ---- Asynchronous on stream. Return cudaErrorInvalidValue for a null or misaligned pointer and for sizes that are
// ---- negative or too large for the grid. takes: half, __nv_bfloat16

// Calls launch(grid), with a block for each tile.
template <class T, class Launch>
cudaError_t for_each_tile(const T* x, const T* y, int64_t batch, int64_t rows, int64_t cols,
                          int64_t tile_rows, int64_t tile_cols, Launch launch) {
    static_assert(sizeof(T) == 2, "two elements make a word");
    if (batch < 0 || rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (batch == 0 || rows == 0 || cols == 0) return cudaSuccess;
    const int64_t down = (rows - 1) / tile_rows + 1, across = (cols - 1) / tile_cols + 1;
    if (x == nullptr || y == nullptr || !takes_packs<1>(x, 1) || !takes_packs<1>(y, 1) ||
        batch > kMostOfGrid || down > kMostOfGrid || across > INT32_MAX)
        return cudaErrorInvalidValue;
    launch(dim3(static_cast<unsigned>(across), static_cast<unsigned>(down),
                static_cast<unsigned>(batch)));
    return cudaGetLastError();
}

template <class T>
cudaError_t naive_transpose(const T* x, T* y, int64_t batch, int64_t rows, int64_t cols,
                            cudaStream_t stream) {
    return for_each_tile<T>(x, y, batch, rows, cols, kTileThreads, 32, [&](dim3 grid) {
        naive_transpose_kernel<<<grid, dim3(32, kTileThreads), 0, stream>>>(x, y, rows, cols);
    });
}
template <class Layout = Swizzled, class T>
cudaError_t transpose(const T* x, T* y, int64_t batch, int64_t rows, int64_t cols,
                      cudaStream_t stream) {
    return for_each_tile<T>(x, y, batch, rows, cols, kTile, kTile, [&](dim3 grid) {
        const dim3 block(kTileWords, kTileThreads);
        const auto* const from = reinterpret_cast<const uint16_t*>(x);
        auto* const to = reinterpret_cast<uint16_t*>(y);
        const auto kernel = takes_packs<2>(from, cols) && takes_packs<2>(to, rows)
                                ? tiled_transpose_kernel<Layout, true>
                                : tiled_transpose_kernel<Layout, false>;
        kernel<<<grid, block, 0, stream>>>(from, to, rows, cols);
    });
}

}  // namespace encoder_fusions
