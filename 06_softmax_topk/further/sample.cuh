// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/sample, version 1.0
//
// The front call: draws a random column of each row by its probability, for example a language model's next token.
//   call       sample: see front_call.cuh
//   timed      sample
//   new here   sample_plan(): a pure function that decides whether to find cuts in a list of the best elements or
//              by reading the row again
//   traffic    one read, plus a second read of one warp's part of the row; with cuts mostly one or two reads, and more
//              for each cut if a list is too short
//   accepts    float, __half, __nv_bfloat16; int32_t and int64_t columns; up to 2^31 - 1 rows and columns
//   rows       with NaN or +inf, or with -inf alone, have no distribution: column -1, probability NaN
#pragma once
#include "sampling.cuh"
#include "topk.cuh"

namespace softmax_stages {

// Options of the choice. With the defaults, every column can be drawn by its softmax probability.
struct SampleOptions {
    float temperature = 1.f;  // divides x; 0: the best column
    int64_t top_k = 0;        // keeps this many best columns; 0: all
    float top_p = 1.f;        // keeps the fewest best columns that together have this probability
    float min_p = 0.f;        // drops columns below this share of the best column's probability
    uint64_t seed = 0;
    uint64_t offset = 0;             // must differ for each token of a sequence
    bool log_probabilities = false;  // stores logarithms instead of probabilities
    // Arrays of [rows] in device memory, each in place of one option above; nullptr: all rows have that option. A row
    // with a value out of range gets column -1 and probability NaN.
    const float* temperatures = nullptr;
    const int32_t* top_ks = nullptr;
    const float* top_ps = nullptr;
    const float* min_ps = nullptr;
    const uint64_t* seeds = nullptr;
    const uint64_t* offsets = nullptr;
};

struct SamplePlan {
    softmax_topk::sampling::Way way;
    int64_t listed;  // for lists: the places of each row's list
    const char* reason;
    size_t workspace_bytes;       // used by this plan
    size_t more_workspace_bytes;  // if not 0: this size would avoid repeated reads of rows
};

inline bool is_valid(const SampleOptions& options) {
    const bool is_best = options.temperature == 0.f;
    const bool is_temperature = options.temperature > 0.f &&
                                softmax_topk::kLog2e / options.temperature <= FLT_MAX &&
                                options.temperature <= FLT_MAX;  // comparisons with NaN are false
    return (is_best || is_temperature) && options.top_k >= 0 && options.top_p > 0.f &&
           options.top_p <= 1.f && options.min_p >= 0.f && options.min_p <= 1.f;
}
inline bool is_possible(int64_t rows, int64_t cols, const SampleOptions& options) {
    return rows >= 0 && rows <= INT32_MAX && cols >= 0 && cols <= INT32_MAX && is_valid(options);
}

// True if rows may have different cuts or temperatures.
inline bool have_own_cuts(const SampleOptions& options) {
    return options.temperatures != nullptr || options.top_ks != nullptr ||
           options.top_ps != nullptr || options.min_ps != nullptr;
}
// True if one top_k applies to all rows and is smaller than the row.
inline bool cuts_top_k(const SampleOptions& options, int64_t cols) {
    return options.top_ks == nullptr && options.top_k > 0 && options.top_k < cols;
}

// Returns the options in the form that kernels take.
inline softmax_topk::sampling::Draws draws_of(const SampleOptions& options, int64_t cols) {
    const int64_t top_k = cuts_top_k(options, cols) ? options.top_k : 0;
    const float scale =
        options.temperature == 0.f ? INFINITY : softmax_topk::kLog2e / options.temperature;
    return {{scale, softmax_topk::sampling::units_of_best(cols), static_cast<uint32_t>(top_k),
             options.top_p, options.min_p},
            options.seed,
            options.offset,
            options.temperatures,
            options.top_ks,
            options.top_ps,
            options.min_ps,
            options.seeds,
            options.offsets};
}

// The workspace holds lists at multiples of 256 bytes, then the workspace of topk().
constexpr size_t list_part(size_t bytes) {
    return (bytes + 255) / 256 * 256;
}
template <class T>
size_t list_bytes(int64_t rows, int64_t length) {
    const auto count = static_cast<size_t>(rows);
    const auto places = count * static_cast<size_t>(length);
    return list_part(places * sizeof(T)) + list_part(places * sizeof(int32_t)) +
           list_part(count * sizeof(float));
}

template <class T>
SamplePlan sample_plan(int64_t rows, int64_t cols, const SampleOptions& options, const Chip& chip,
                       size_t bytes = 0) {
    using softmax_topk::kMostK;
    using softmax_topk::sampling::Way;
    const bool cuts_k = cuts_top_k(options, cols);
    if (!have_own_cuts(options)) {
        if (options.temperature == 0.f) return {Way::best, 0, "the best of one read", 0, 0};
        if (!cuts_k && options.top_p == 1.f && options.min_p == 0.f)
            return {Way::whole_row, 0, "nothing is cut: one read", 0, 0};
    }
    if (cuts_k && options.top_k > kMostK)
        return {Way::cuts, 0, "more than topk() lists: the row is read for each cut", 0, 0};
    const int64_t listed = cuts_k ? options.top_k : std::min(cols, kMostK);
    const size_t lists = list_bytes<T>(rows, listed);
    Chip without_clusters = chip;  // clusters need no workspace; this one is enough for any
    without_clusters.largest_cluster = 0;
    const TopkPlan of_list =
        topk_plan<T>(rows, cols, listed, {}, without_clusters, SIZE_MAX, false);
    if (bytes < lists)
        return {Way::cuts, 0, "no workspace for lists: the row is read for each cut", 0,
                lists + of_list.workspace_bytes};
    return {Way::list, listed, "cuts are looked for among the best",
            lists + of_list.workspace_bytes, 0};
}

template <class T>
cudaError_t sample_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols,
                                   const SampleOptions& options) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = 0;
    if (!is_possible(rows, cols, options)) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    *bytes = sample_plan<T>(rows, cols, options, this_chip(), SIZE_MAX).workspace_bytes;
    return cudaSuccess;
}

template <class T>
cudaError_t sample_from_lists(const T* x, int64_t rows, int64_t cols,
                              const softmax_topk::sampling::Draws& draws, int64_t length,
                              const softmax_topk::sampling::Chosen& chosen, void* workspace,
                              size_t bytes, cudaStream_t stream) {
    auto* at = static_cast<unsigned char*>(workspace);
    const auto take = [&](size_t count) {
        unsigned char* const from = at;
        at += list_part(count);
        return from;
    };
    const auto places = static_cast<size_t>(rows * length);
    const softmax_topk::sampling::Lists<T> lists{
        reinterpret_cast<T*>(take(places * sizeof(T))),
        reinterpret_cast<int32_t*>(take(places * sizeof(int32_t))),
        reinterpret_cast<float*>(take(static_cast<size_t>(rows) * sizeof(float))), length};
    const size_t left = bytes - static_cast<size_t>(at - static_cast<unsigned char*>(workspace));
    const cudaError_t status = topk(x, nullptr, lists.columns, rows, cols, length,
                                    {lists.elements, lists.log_sum_exp}, at, left, stream);
    if (status != cudaSuccess) return status;
    return softmax_topk::sampling::launch_from_list(x, rows, cols, draws, lists, chosen, stream);
}

// Draws a random column of each row of x and writes the column to columns (int32_t or int64_t). Writes the column's
// probability among the columns that stay to probabilities, unless nullptr; with log_probabilities, the logarithm of
// this float. The same x, options and rows give the same columns in every run. Returns cudaErrorInvalidValue for a null
// or misaligned pointer (probabilities and the arrays of options may be nullptr), a temperature that is negative,
// infinite or has an infinite reciprocal, top_k below 0, top_p outside of (0, 1], or min_p outside of [0, 1]. The host
// does not check the values of arrays: see SampleOptions. Does nothing for rows without columns.
template <class T, class Index>
cudaError_t sample(const T* x, Index* columns, float* probabilities, int64_t rows, int64_t cols,
                   const SampleOptions& options, void* workspace, size_t bytes,
                   cudaStream_t stream) {
    namespace sampling = softmax_topk::sampling;
    if (!is_possible(rows, cols, options)) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (!is_placed(x) || !is_placed(columns) || !is_placed(probabilities, true) ||
        !is_placed(options.temperatures, true) || !is_placed(options.top_ks, true) ||
        !is_placed(options.top_ps, true) || !is_placed(options.min_ps, true) ||
        !is_placed(options.seeds, true) || !is_placed(options.offsets, true))
        return cudaErrorInvalidValue;
    const size_t usable = usable_bytes(workspace, bytes);
    const SamplePlan plan = sample_plan<T>(rows, cols, options, this_chip(), usable);
    const sampling::Draws draws = draws_of(options, cols);
    const sampling::Chosen chosen =
        sampling::chosen_to(columns, probabilities, options.log_probabilities);
    if (plan.way == sampling::Way::list)
        return sample_from_lists(x, rows, cols, draws, plan.listed, chosen, workspace, usable,
                                 stream);
    return sampling::launch_rows(plan.way, x, rows, cols, draws, chosen, stream);
}

}  // namespace softmax_stages
