// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 03_online_softmax/further/split_vocabulary, version 1.0
//
// Softmax and cross-entropy of rows whose columns lie on several GPUs: each GPU (a rank) has a slice of every row.
//   new here   pairs merge across GPUs as well, by one exchange: 8 bytes per row from each rank; 12 bytes with the
//              target's logit, which is all that a loss needs beside the pair
//   traffic    2 reads + 1 write per element of the slice, as in the lesson; a loss reads once
//   exchange   the caller's, between the two launches: every rank gets the parts of all ranks, in their order
//              (ncclAllGather; or pairs_to_ranks_kernel, which stores a pair at every rank)
//   accepts    rows x cols floats per rank, row-major; ranks may have different numbers of columns, also none; y may
//              be x
//   rows       as in the lesson. Every rank merges in the same order, so all have the same bits
//   source     the merge of Milakov & Gimelshein 2018, section 3.1, across GPUs; vocabulary-parallel cross-entropy:
//              Shoeybi et al. 2019, "Megatron-LM", section 3, which exchanges maximum, sum and logit one after another
#pragma once
#include "../online_softmax.cuh"

namespace online_softmax {

// What a rank knows of a row: the pair of its slice, and the target's logit if the target is among its columns.
struct LossPart {
    float m, d;    // not a Normalizer, whose alignment would make 16 bytes of 12
    float target;  // otherwise 0
};
static_assert(sizeof(LossPart) == 3 * sizeof(float), "an exchange moves three floats per row");

// The pair of a block's row, over the columns of this rank, by the lesson's first loop. Only thread 0 gets it.
template <int kThreads>
__device__ Normalizer pair_of_slice(const float* x_row, int64_t cols) {
    using BlockReduce = cub::BlockReduce<Normalizer, kThreads>;
    __shared__ typename BlockReduce::TempStorage scratch;
    Normalizer mine{-INFINITY, 0.f};
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        mine = Merge{}(mine, {x_row[col], 1.f});
    }
    return BlockReduce(scratch).Reduce(mine, Merge{});
}

// The addresses of the parts at every rank: to[r] is [ranks][rows] in the memory of rank r.
constexpr int kMostRanks = 16;
template <class Part>
struct EveryRank {
    Part* to[kMostRanks];
    int ranks;
};

// Stores the pair of each row's slice at every rank, as the pairs of rank `own`. With one address, that of this rank's
// own pairs, it leaves the exchange to a library.
template <int kThreads>
__global__ void pairs_to_ranks_kernel(const float* x, EveryRank<Normalizer> all, int own,
                                      int64_t cols) {
    const Normalizer pair = pair_of_slice<kThreads>(x + blockIdx.x * cols, cols);
    if (threadIdx.x != 0) return;
    for (int rank = 0; rank < all.ranks; ++rank) {
        all.to[rank][int64_t{own} * gridDim.x + blockIdx.x] = pair;
    }
}

// The same with the logit of the row's target, a column of the whole row. first: the first column of this rank.
template <int kThreads>
__global__ void loss_parts_kernel(const float* x, const int64_t* targets, LossPart* parts,
                                  int64_t first, int64_t cols) {
    const float* x_row = x + blockIdx.x * cols;
    const Normalizer pair = pair_of_slice<kThreads>(x_row, cols);
    if (threadIdx.x != 0) return;
    const int64_t col = targets[blockIdx.x] - first;
    parts[blockIdx.x] = {pair.m, pair.d, col >= 0 && col < cols ? x_row[col] : 0.f};
}

// Merges the pairs of all ranks, [ranks][rows], in the order of the ranks, and writes the rank's slice of the softmax.
template <int kThreads>
__global__ void slice_softmax_kernel(const float* x, float* y, const Normalizer* pairs, int ranks,
                                     int64_t cols) {
    Normalizer row{-INFINITY, 0.f};
    for (int rank = 0; rank < ranks; ++rank) {
        row = Merge{}(row, pairs[int64_t{rank} * gridDim.x + blockIdx.x]);
    }
    const float scale = 1.f / row.d;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
        y[blockIdx.x * cols + col] = expf(x[blockIdx.x * cols + col] - row.m) * scale;
    }
}

// loss[row] = log-sum-exp of the whole row - the target's logit, from the parts of all ranks, [ranks][rows].
template <int kThreads>
__global__ void loss_kernel(const LossPart* parts, int ranks, float* loss, int64_t rows) {
    const int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (at >= rows) return;
    Normalizer row{-INFINITY, 0.f};
    float target = 0.f;  // one rank has it
    for (int rank = 0; rank < ranks; ++rank) {
        const LossPart part = parts[rank * rows + at];
        row = Merge{}(row, {part.m, part.d});
        target += part.target;
    }
    loss[at] = row.m + logf(row.d) - target;
}

// ---- Launchers. All work on the current device, asynchronously on stream. They return cudaErrorInvalidValue for a
// null pointer, a negative size, more than 2^31 - 1 rows, and ranks that are not 1 to kMostRanks.

inline bool are_good_slices(int64_t rows, int64_t cols, int ranks) {
    return rows >= 0 && rows <= INT32_MAX && cols >= 0 && ranks >= 1 && ranks <= kMostRanks;
}

// Before the exchange: stores the pairs of this rank's slice at the ranks that `all` names.
inline cudaError_t pairs_to_ranks(const float* x, const EveryRank<Normalizer>& all, int own,
                                  int64_t rows, int64_t cols, cudaStream_t stream) {
    if (!are_good_slices(rows, cols, all.ranks) || own < 0 || own >= kMostRanks)
        return cudaErrorInvalidValue;
    if (rows == 0) return cudaSuccess;
    if (x == nullptr && cols > 0) return cudaErrorInvalidValue;
    for (int rank = 0; rank < all.ranks; ++rank) {
        if (all.to[rank] == nullptr) return cudaErrorInvalidValue;
    }
    constexpr int kThreads = 256;
    pairs_to_ranks_kernel<kThreads>
        <<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, all, own, cols);
    return cudaGetLastError();
}

// Before the exchange: the pairs of this rank's slice, [rows].
inline cudaError_t slice_pairs(const float* x, Normalizer* pairs, int64_t rows, int64_t cols,
                               cudaStream_t stream) {
    return pairs_to_ranks(x, {{pairs}, 1}, 0, rows, cols, stream);
}

// After the exchange: this rank's slice of the softmax. pairs: [ranks][rows].
inline cudaError_t slice_softmax(const float* x, float* y, const Normalizer* pairs, int ranks,
                                 int64_t rows, int64_t cols, cudaStream_t stream) {
    if (!are_good_slices(rows, cols, ranks)) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr || pairs == nullptr) return cudaErrorInvalidValue;
    constexpr int kThreads = 256;
    slice_softmax_kernel<kThreads>
        <<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, pairs, ranks, cols);
    return cudaGetLastError();
}

// Before the exchange: the parts of the loss, [rows]. targets: columns of the whole rows, the same on every rank.
// first: the column of the whole row at which this rank's slice begins.
inline cudaError_t slice_loss_parts(const float* x, const int64_t* targets, LossPart* parts,
                                    int64_t rows, int64_t first, int64_t cols,
                                    cudaStream_t stream) {
    if (!are_good_slices(rows, cols, 1)) return cudaErrorInvalidValue;
    if (rows == 0) return cudaSuccess;
    if ((x == nullptr && cols > 0) || targets == nullptr || parts == nullptr)
        return cudaErrorInvalidValue;
    constexpr int kThreads = 256;
    loss_parts_kernel<kThreads>
        <<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, targets, parts, first, cols);
    return cudaGetLastError();
}

// After the exchange: the loss of each row, the same on every rank. parts: [ranks][rows].
inline cudaError_t loss_of_parts(const LossPart* parts, int ranks, float* loss, int64_t rows,
                                 cudaStream_t stream) {
    if (!are_good_slices(rows, 0, ranks)) return cudaErrorInvalidValue;
    if (rows == 0) return cudaSuccess;
    if (parts == nullptr || loss == nullptr) return cudaErrorInvalidValue;
    constexpr int kThreads = 256;
    const auto blocks = static_cast<unsigned>((rows + kThreads - 1) / kThreads);
    loss_kernel<kThreads><<<blocks, kThreads, 0, stream>>>(parts, ranks, loss, rows);
    return cudaGetLastError();
}

}  // namespace online_softmax
