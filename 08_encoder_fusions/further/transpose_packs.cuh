// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/transpose_packs, version 1.0
//
// The lesson's transpose in packs of 16 bytes.
//   new here   a thread makes two packs of y from a word of eight rows; whole packs change places in shared memory;
//              neither x nor y stays in a cache (__ldcs, __stcs)
//   traffic    as transpose(): 1 read + 1 write per element, with a quarter of the requests
//   accepts    __half, __nv_bfloat16; calls transpose() for sizes that are not multiples of 8
//   source     ours
#pragma once
#include "../transpose.cuh"

namespace encoder_fusions {

constexpr int kPacksAcross = kTile / 8;  // packs of a tile's row, which spans all banks
constexpr int kPackThreads = 256;

// Returns the place of pack `pack` of a row. In one request, eight lanes read one word of the same pack of rows 0, 8,
// 16, ...; four such groups read the pack's four words. The XOR moves the pack to a different place in each of these
// rows, so 32 lanes read 32 banks.
__device__ inline int place_of_pack(int row, int pack) {
    return row * kPacksAcross + (pack ^ (row / 8 % kPacksAcross));
}

template <class T>  // of 16 bits
__global__ void __launch_bounds__(kPackThreads)
    pack_transpose_kernel(const T* x, T* y, int64_t rows, int64_t cols) {
    __shared__ uint4 tile[kTile * kPacksAcross];
    const int64_t first_row = int64_t{blockIdx.y} * kTile, first_col = int64_t{blockIdx.x} * kTile;
    const T* const from = x + blockIdx.z * rows * cols;
    T* const to = y + blockIdx.z * rows * cols;
    const int thread = static_cast<int>(threadIdx.x);

    constexpr int kHeld = kTile * kPacksAcross / kPackThreads;
    uint4 held[kHeld] = {};  // all loads are in flight before the first store
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
        const int at = thread + i * kPackThreads;
        const int64_t row = first_row + at / kPacksAcross, col = first_col + at % kPacksAcross * 8;
        if (row < rows && col < cols)
            held[i] = __ldcs(reinterpret_cast<const uint4*>(from + row * cols + col));
    }
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
        const int at = thread + i * kPackThreads;
        tile[place_of_pack(at / kPacksAcross, at % kPacksAcross)] = held[i];
    }
    __syncthreads();  // all threads have stored their packs

    // Read the same word, that is two columns, of eight rows: eight elements of each of two rows of y.
    const int row = thread % 8 * 8, word = thread / 8;
    uint32_t left[4], right[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const auto word_of = [&](int r) {
            return reinterpret_cast<const uint32_t*>(&tile[place_of_pack(r, word / 4)])[word % 4];
        };
        const uint32_t upper = word_of(row + 2 * i), lower = word_of(row + 2 * i + 1);
        left[i] = (upper & 0xffffu) | lower << 16;
        right[i] = upper >> 16 | (lower & 0xffff0000u);
    }
    const int64_t y_row = first_col + 2 * word, y_col = first_row + row;
    if (y_row >= cols || y_col >= rows) return;
    T* const out = to + y_row * rows + y_col;
    __stcs(reinterpret_cast<uint4*>(out), uint4{left[0], left[1], left[2], left[3]});
    __stcs(reinterpret_cast<uint4*>(out + rows), uint4{right[0], right[1], right[2], right[3]});
}

// Takes the arguments of transpose(), with the same limits and errors.
template <class T>
cudaError_t transpose_packs(const T* x, T* y, int64_t batch, int64_t rows, int64_t cols,
                            cudaStream_t stream) {
    if (!takes_packs<8>(x, cols) || !takes_packs<8>(y, rows))
        return transpose(x, y, batch, rows, cols, stream);
    return for_each_tile<T>(x, y, batch, rows, cols, kTile, kTile, [&](dim3 grid) {
        pack_transpose_kernel<<<grid, kPackThreads, 0, stream>>>(x, y, rows, cols);
    });
}

}  // namespace encoder_fusions
