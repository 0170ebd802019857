// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/padding_by_lengths, version 1.0
//
// Removes or restores padding in one kernel: each block computes where its sequence begins.
//   new here   all blocks repeat a small sum, so no earlier kernel has to compute it
//   traffic    per element of a token as tuned_padding.cuh; a block of sequence b also reads the b lengths before its
//              own, so for thousands of sequences a scan is better
//   accepts    as tuned_padding.cuh, but does not count lengths that are out of range
//   source     ours
#pragma once
#include "tuned_padding.cuh"

namespace encoder_fusions {

// Replaces Sequences: takes lengths (device memory) instead of offsets, and clamps them to the range from 0 to seq.
struct SequencesByLengths {
    const int32_t* lengths;
    int64_t seq;

    static constexpr bool kAsksTogether =
        true;  // all threads of a block call rows() with the same b
    __device__ int32_t length(int64_t b) const {
        return length_of(lengths[b], static_cast<int32_t>(seq));
    }
    __device__ Sequences::Rows rows(int64_t b) const {
        __shared__ int32_t before;  // tokens of the sequences before b
        const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
        const int threads = static_cast<int>(blockDim.x * blockDim.y);
        if (thread == 0) before = 0;
        __syncthreads();
        int32_t tokens = 0;
#pragma unroll 1  // one trip, or a few
        for (int64_t i = thread; i < b; i += threads) tokens += length(i);
        if (tokens > 0) atomicAdd(&before, tokens);  // integers: the order does not matter
        __syncthreads();
        return {before, length(b)};
    }
};

// Calls launch(pack, grid, block, tiles) as for_each_sequence() does. Errors as below.
template <class T, class Launch>
cudaError_t for_each_length(const T* x, const T* y, const int32_t* lengths, int64_t batch,
                            int64_t seq, int64_t cols, Launch launch) {
    const Sequences sequences{batch, seq, nullptr};
    if (!sequences.have_rows_of(1, 1, cols)) return cudaErrorInvalidValue;
    if (batch > INT32_MAX / std::max<int64_t>(seq, 1)) return cudaErrorInvalidValue;
    if (lengths == nullptr && batch > 0) return cudaErrorInvalidValue;
    return for_each_sequence<T>({x, y}, sequences, cols, cols, launch);
}

// Copies the rows of tokens from x, [batch, seq, cols], to y, a row of cols elements per token (device memory).
// Asynchronous on stream. Returns cudaErrorInvalidValue for a null or misaligned pointer, sizes that are negative or
// too large for the grid, and more rows than 32 bits can count.
template <class T>
cudaError_t remove_padding_by_lengths(const T* x, T* y, const int32_t* lengths, int64_t batch,
                                      int64_t seq, int64_t cols, cudaStream_t stream) {
    return for_each_length(
        x, y, lengths, batch, seq, cols, [&](auto pack, dim3 grid, dim3 block, int tiles) {
            remove_padding_kernel<<<grid, block, 0, stream>>>(
                as_packs<pack.value>(x), as_packs<pack.value>(y), SequencesByLengths{lengths, seq},
                static_cast<int>(cols / pack.value), tiles);
        });
}

// Copies the rows back to y, [batch, seq, cols], with zeros after each sequence's end. Errors as above.
template <class T>
cudaError_t rebuild_padding_by_lengths(const T* x, T* y, const int32_t* lengths, int64_t batch,
                                       int64_t seq, int64_t cols, cudaStream_t stream) {
    return for_each_length(
        x, y, lengths, batch, seq, cols, [&](auto pack, dim3 grid, dim3 block, int tiles) {
            rebuild_padding_kernel<<<grid, block, 0, stream>>>(
                as_packs<pack.value>(x), as_packs<pack.value>(y), SequencesByLengths{lengths, seq},
                static_cast<int>(cols / pack.value), tiles);
        });
}

}  // namespace encoder_fusions
