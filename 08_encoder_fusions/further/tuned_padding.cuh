// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/tuned_padding, version 1.1
//
// The lesson's removal and restoration of padding, with four rows per thread.
//   new here   the scan also returns the offsets in TensorRT's format, and counts lengths that are out of range
//   traffic    1 read + 1 write per element of a token; padding is never read and is restored as zeros
//   accepts    float, __half, __nv_bfloat16; any lengths: a length below 0 counts as 0, a length above seq as seq
//   source     FasterTransformer's and ByteTransformer's padding removal: the idea, rebuilt
#pragma once
#include <cub/block/block_scan.cuh>

#include "packs.cuh"

namespace encoder_fusions {

// Receives the results of the scan; each may be nullptr. removed: batch + 1 numbers, the packed row at which each
// sequence begins. padded: 2 batch + 1 numbers, the padded rows at which each sequence and its padding begin (the
// format of TensorRT's fused attention). wrong: the number of lengths that were out of range.
struct Offsets {
    int32_t* removed;
    int32_t* padded;
    int32_t* wrong;
};

// Clamps a length to the range from 0 to seq.
__device__ inline int32_t length_of(int32_t said, int32_t seq) {
    return said < 0 ? 0 : said < seq ? said : seq;
}

// One block, because lengths are few.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    offsets_kernel(const int32_t* lengths, int64_t batch, int32_t seq, Offsets offsets) {
    using Scan = cub::BlockScan<int32_t, kThreads>;
    __shared__ typename Scan::TempStorage scratch;
    int32_t before = 0;  // tokens
    int32_t wrong = 0;   // lengths
    for (int64_t first = 0; first < batch; first += kThreads) {
        const int64_t b = first + threadIdx.x;
        const bool is_there = b < batch;
        const int32_t said = is_there ? lengths[b] : 0;
        const int32_t length = length_of(said, seq);
        int32_t end = 0, all = 0;
        Scan(scratch).InclusiveSum(length, end, all);
        if (is_there && offsets.removed != nullptr) offsets.removed[b + 1] = before + end;
        if (is_there && offsets.padded != nullptr) {
            const auto start = static_cast<int32_t>(b) * seq;
            offsets.padded[2 * b + 1] = start + length;
            offsets.padded[2 * b + 2] = start + seq;
        }
        before += all;
        wrong += __syncthreads_count(said != length);  // and the next round may reuse scratch
    }
    if (threadIdx.x > 0) return;
    if (offsets.removed != nullptr) offsets.removed[0] = 0;
    if (offsets.padded != nullptr) offsets.padded[0] = 0;
    if (offsets.wrong != nullptr) *offsets.wrong = wrong;
}

// Batch: Sequences, or another type with rows(), which all threads of a block may have to call together.
template <class Pack, class Batch>
__global__ void remove_padding_kernel(const Pack* x, Pack* y, Batch sequences, int packs,
                                      int tiles) {
    const int p = pack_of_thread();
    if (p >= packs && !Batch::kAsksTogether) return;
    const int64_t b = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    const auto rows = sequences.rows(b);
    if (p >= packs) return;
    Pack held[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t s = row_of_thread(tile, i);
        if (s < rows.count) held[i] = x[(b * sequences.seq + s) * packs + p];
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t s = row_of_thread(tile, i);
        if (s < rows.count) y[(rows.first + s) * packs + p] = held[i];
    }
}

template <class Pack, class Batch>
__global__ void rebuild_padding_kernel(const Pack* x, Pack* y, Batch sequences, int packs,
                                       int tiles) {
    const int p = pack_of_thread();
    if (p >= packs && !Batch::kAsksTogether) return;
    const int64_t b = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    const auto rows = sequences.rows(b);
    if (p >= packs) return;
    Pack held[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t s = row_of_thread(tile, i);
        held[i] = Pack{};  // zeros after the sequence's end
        if (s < rows.count) held[i] = x[(rows.first + s) * packs + p];
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int64_t s = row_of_thread(tile, i);
        if (s < sequences.seq) y[(b * sequences.seq + s) * packs + p] = held[i];
    }
}

// Writes the offsets of `batch` sequences with lengths from 0 to seq (device memory). Asynchronous on stream, so only
// the device knows the number of wrong lengths. Returns cudaErrorInvalidValue for a null pointer, a negative size, and
// more rows than 32 bits can count.
inline cudaError_t sequence_offsets(const int32_t* lengths, int64_t batch, int64_t seq,
                                    const Offsets& offsets, cudaStream_t stream) {
    constexpr int kThreads = 256;
    if (batch < 0 || seq < 0 || batch > INT32_MAX / std::max<int64_t>(seq, 1))
        return cudaErrorInvalidValue;
    if (lengths == nullptr && batch > 0) return cudaErrorInvalidValue;
    offsets_kernel<kThreads>
        <<<1, kThreads, 0, stream>>>(lengths, batch, static_cast<int32_t>(seq), offsets);
    return cudaGetLastError();
}

// Copies the rows of tokens from x, [batch, seq, cols], to y, a row of cols elements per token (device memory).
// sequences.offsets: as `removed` above. Asynchronous on stream. Returns cudaErrorInvalidValue for a null or misaligned
// pointer and for sizes that are negative or too large for the grid.
template <class T>
cudaError_t remove_padding(const T* x, T* y, const Sequences& sequences, int64_t cols,
                           cudaStream_t stream) {
    if (!sequences.have_rows_of(1, 1, cols)) return cudaErrorInvalidValue;
    return for_each_sequence<T>({x, y}, sequences, cols, cols,
                                [&](auto pack, dim3 grid, dim3 block, int tiles) {
                                    remove_padding_kernel<<<grid, block, 0, stream>>>(
                                        as_packs<pack.value>(x), as_packs<pack.value>(y), sequences,
                                        static_cast<int>(cols / pack.value), tiles);
                                });
}

// Copies the rows back to y, [batch, seq, cols], with zeros after each sequence's end. Errors as above.
template <class T>
cudaError_t rebuild_padding(const T* x, T* y, const Sequences& sequences, int64_t cols,
                            cudaStream_t stream) {
    if (!sequences.have_rows_of(1, 1, cols)) return cudaErrorInvalidValue;
    return for_each_sequence<T>({x, y}, sequences, cols, cols,
                                [&](auto pack, dim3 grid, dim3 block, int tiles) {
                                    rebuild_padding_kernel<<<grid, block, 0, stream>>>(
                                        as_packs<pack.value>(x), as_packs<pack.value>(y), sequences,
                                        static_cast<int>(cols / pack.value), tiles);
                                });
}

}  // namespace encoder_fusions
