// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/split_vocabulary, version 1.0
//
// Top-k and sampling of rows whose columns lie on several GPUs: each GPU (a rank) has a slice of every row.
//   new here   lists merge across GPUs: each rank's k best and its log-sum-exp, 8 k + 4 bytes per row, in one exchange
//   traffic    one read of the slice, as topk()
//   exchange   the caller's, between the two launches: every rank gets the parts of all ranks, in their order (one
//              ncclAllGather of rank_part_floats() floats)
//   accepts    rows x cols floats per rank; ranks may have different numbers of columns, at least k; ranks * k up to
//              4096
//   order      as in the lesson, by the columns of whole rows. Every rank computes the same bits
//   rows       as topk(): with NaN or +inf, all probabilities are NaN. A probability is exp(logit - log-sum-exp), so
//              the last place of the log-sum-exp limits its precision
//   source     ours
#pragma once
#include "philox.cuh"
#include "topk.cuh"

namespace softmax_topk {

constexpr int kMostRanks = 16;
constexpr int kMostCandidates = 4096;  // of all ranks, in shared memory

// A rank's part of the exchange: rows x k logits, rows x k columns (int32_t, of the slice), rows log-sum-exps.
struct RankPart {
    float* logits;
    int32_t* columns;
    float* log_sum_exp;

    __host__ __device__ RankPart(float* part, int64_t rows, int64_t k)
        : logits(part),
          columns(reinterpret_cast<int32_t*>(part + rows * k)),
          log_sum_exp(part + 2 * rows * k) {}
};
inline int64_t rank_part_floats(int64_t rows, int64_t k) {
    return rows * (2 * k + 1);
}

// The column of the whole row at which each rank's slice begins.
struct Firsts {
    int64_t of[kMostRanks];
};

// Merges a row's lists of all ranks, one block per row. A candidate's place in the row's list is the number of better
// candidates.
template <int kThreads>
__global__ void merge_ranks_kernel(float* parts, Firsts firsts, int ranks, int64_t rows, int k,
                                   float* probabilities, int64_t* columns) {
    __shared__ Key keys[kMostCandidates];
    const int64_t row = blockIdx.x, part_floats = rows * (2 * k + 1);
    float m = -INFINITY, d = 0.f;  // of the whole row: a rank's log-sum-exp stands for its slice
    for (int rank = 0; rank < ranks; ++rank) {
        const RankPart part(parts + rank * part_floats, rows, k);
        const float mine = part.log_sum_exp[row];
        const online_softmax::Normalizer all =
            online_softmax::Merge{}({m, d}, {mine, mine == -INFINITY ? 0.f : 1.f});
        m = all.m;
        d = all.d;
        for (int i = threadIdx.x; i < k; i += kThreads) {
            const int64_t col = firsts.of[rank] + part.columns[row * k + i];
            keys[rank * k + i] = key_of(part.logits[row * k + i], static_cast<int32_t>(col));
        }
    }
    __syncthreads();
    const float log_sum_exp = m + logf(d);
    for (int i = threadIdx.x; i < ranks * k; i += kThreads) {
        int place = 0;
        for (int j = 0; j < ranks * k; ++j) place += keys[j] > keys[i];
        if (place >= k) continue;
        probabilities[row * k + place] =
            log_sum_exp < INFINITY ? expf(element_of(keys[i]) - log_sum_exp) : NAN;
        columns[row * k + place] = column_of(keys[i]);
    }
}

// Draws one of the k columns of each row by their probabilities, with the random number of (seed, row, offset): the
// same on every rank. A row without a distribution gets column -1.
template <int kThreads>
__global__ void draw_merged_kernel(const float* probabilities, const int64_t* columns,
                                   int64_t* drawn, int64_t rows, int k, uint64_t seed,
                                   uint64_t offset) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    double total = 0;
    for (int i = 0; i < k; ++i) total += probabilities[row * k + i];
    const uint64_t bits = random_bits(seed, static_cast<uint64_t>(row), offset);
    double target = static_cast<double>(bits >> 11) * 0x1p-53 * total;
    int64_t col = -1;
    for (int i = 0; i < k; ++i) {
        const double p = probabilities[row * k + i];
        if (p > 0) col = columns[row * k + i];  // the last one, if rounding leaves a rest
        if (target < p) break;
        target -= p;
    }
    drawn[row] = total > 0 ? col : -1;
}

// ---- Launchers. All work on the current device, asynchronously on stream. They return cudaErrorInvalidValue for a
// null pointer, a size below 0, and what the card excludes.

inline bool are_good_lists(int64_t rows, int64_t k, int ranks) {
    return rows >= 0 && rows <= INT32_MAX && k >= 1 && ranks >= 1 && ranks <= kMostRanks &&
           ranks * k <= kMostCandidates;
}

// Before the exchange: the k best of this rank's slice, and its log-sum-exp, to part (rank_part_floats() floats).
// workspace: as topk_workspace_bytes<float>(rows, cols, k) says, or none.
inline cudaError_t slice_lists(const float* x, float* part, int64_t rows, int64_t cols, int64_t k,
                               void* workspace, size_t bytes, cudaStream_t stream) {
    if (!are_good_lists(rows, k, 1) || cols < k || part == nullptr) return cudaErrorInvalidValue;
    const RankPart to(part, rows, k);
    return softmax_stages::topk<float, int32_t>(x, nullptr, to.columns, rows, cols, k,
                                                {to.logits, to.log_sum_exp}, workspace, bytes,
                                                stream);
}

// After the exchange: the k best of whole rows, the best first: their softmax and their columns, rows x k each. parts:
// of all ranks, in their order.
inline cudaError_t merge_ranks(float* parts, const Firsts& firsts, int ranks, int64_t rows,
                               int64_t k, float* probabilities, int64_t* columns,
                               cudaStream_t stream) {
    if (!are_good_lists(rows, k, ranks)) return cudaErrorInvalidValue;
    if (rows == 0) return cudaSuccess;
    if (parts == nullptr || probabilities == nullptr || columns == nullptr)
        return cudaErrorInvalidValue;
    constexpr int kThreads = 256;
    merge_ranks_kernel<kThreads><<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(
        parts, firsts, ranks, rows, static_cast<int>(k), probabilities, columns);
    return cudaGetLastError();
}

// Draws one column of each row's list, among its k.
inline cudaError_t draw_merged(const float* probabilities, const int64_t* columns, int64_t* drawn,
                               int64_t rows, int64_t k, uint64_t seed, uint64_t offset,
                               cudaStream_t stream) {
    if (!are_good_lists(rows, k, 1)) return cudaErrorInvalidValue;
    if (rows == 0) return cudaSuccess;
    if (probabilities == nullptr || columns == nullptr || drawn == nullptr)
        return cudaErrorInvalidValue;
    constexpr int kThreads = 256;
    draw_merged_kernel<kThreads>
        <<<static_cast<unsigned>((rows + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
            probabilities, columns, drawn, rows, static_cast<int>(k), seed, offset);
    return cudaGetLastError();
}

}  // namespace softmax_topk
