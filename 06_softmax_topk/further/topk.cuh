// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 06_softmax_topk/further/topk, version 1.0
//
// The front call: the k most likely columns of each row.
//   call       topk: see front_call.cuh
//   timed      front_topk
//   new here   topk_plan(): a pure function that chooses who computes a row: a few lanes, a warp, or one or more
//              blocks
//   traffic    1 read per element. For k above 32, and for clusters, thresholds are guessed, which also takes a
//              sample and rarely a second read (block_topk.cuh)
//   accepts    float, __half, __nv_bfloat16; int32_t and int64_t columns; k up to 1024 and up to cols, which are
//              up to 2^31 - 1; any address; on request logits and the logarithm of each row's sum
//   order      that of a stable descending sort of x, as in the lesson; all kernels return the same indices
//   needs      no workspace, but few long rows are faster with one
#pragma once
#include <algorithm>

#include "../../04_warp_softmax/front_call.cuh"
#include "cluster_topk.cuh"
#include "short_rows.cuh"
#include "small_lists.cuh"
#include "warp_topk.cuh"

namespace softmax_topk {

enum class Way { lanes, warp, block_of_warps, block, cluster };

struct TopkPlan {
    Way way;
    int threads;     // per row, for Way::lanes and for blocks
    int64_t slices;  // blocks per row
    const char* reason;
    size_t workspace_bytes;       // used by this plan
    size_t more_workspace_bytes;  // if not 0: so much workspace would let more blocks share a row
};

constexpr int64_t kListed = 32;  // places of a warp's list

// Returns the plan for blocks. If there are too few rows to keep all multiprocessors loading, several blocks share
// a row, each with about one batch or more.
inline TopkPlan plan_of_blocks(Way way, int64_t rows, int64_t cols, int64_t k, int multiprocessors,
                               size_t workspace_bytes) {
    constexpr int64_t kBlocksForAll = 3, kCols = 256 * kBatchElements, kMostSlices = 512;
    const int64_t slices = std::min({kBlocksForAll * multiprocessors / std::max<int64_t>(rows, 1),
                                     (cols + kCols - 1) / kCols, kMostSlices});
    const auto keys = static_cast<size_t>(rows * slices * std::max(k, kListed));
    const size_t needed = keys * sizeof(Key) + static_cast<size_t>(rows * slices) *
                                                   (sizeof(Normalizer) + sizeof(Key) + sizeof(int));
    if (slices < 2) return {way, kBlock, 1, "a block has a row", 0, 0};
    if (workspace_bytes < needed)
        return {way, kBlock, 1, "a block has a row: no workspace to share it", 0, needed};
    return {way, kBlock, slices, "few rows: several blocks share one", needed, 0};
}

constexpr int kLargestCluster = 16;                   // blocks; the most that any GPU offers
constexpr int kClusterElements = 2 * kBatchElements;  // of a cluster's thread in a batch

// Returns the blocks of a row's cluster: the fewest that hold the whole row at once, or 0 where slices with a
// workspace were measured to be faster (on an H200; above k = 256 on an H100). All clusters must fit on the GPU
// together, or nearly. Slices are faster for very short lists of long rows, because their merge costs almost
// nothing. They are also faster for long lists if a row is longer than the cluster's batch, or hardly longer than
// all blocks' lists together.
inline int blocks_of_cluster(int64_t rows, int64_t cols, int64_t k, size_t element_bytes,
                             int multiprocessors, int largest_cluster) {
    constexpr int64_t kCols = 256 * kClusterElements;  // that a block holds
    const int places =
        resident_blocks(element_bytes) == 2 ? multiprocessors * 5 / 4 : multiprocessors;
    const auto fits = [&](int64_t blocks) { return rows * blocks <= places; };
    int blocks = kLargestCluster;
    while (blocks >= 4 && (blocks > largest_cluster || !fits(blocks) || cols <= blocks / 2 * kCols))
        blocks /= 2;
    if (blocks < 4) return 0;
    const int64_t batches = (cols + blocks * kCols - 1) / (blocks * kCols);
    const bool pays = k <= 8     ? batches == 1 && blocks <= 8
                      : k <= 64  ? true
                      : k <= 256 ? batches <= 4
                                 : batches == 1 && cols >= 32 * k;
    return pays ? blocks : 0;
}

// True if these sizes are valid.
inline bool is_possible(int64_t rows, int64_t cols, int64_t k) {
    return rows >= 0 && cols >= 0 && cols <= INT32_MAX && k >= 0 && k <= cols && k <= kMostK;
}

constexpr int64_t kMostRows = int64_t{1} << 30;  // of one launch

// The arguments of all launchers below.
template <class T>
struct Arguments {
    const T* x;
    Outputs<T> outputs;
    int64_t rows, cols, k;
    cudaStream_t stream;
};

template <int kLanes, int kBest, class T>
cudaError_t launch_lanes(const Arguments<T>& p) {
    constexpr int64_t kRows = kShortBlock / kLanes;
    const auto blocks = static_cast<unsigned>((p.rows + kRows - 1) / kRows);
    short_rows_kernel<kLanes, kBest><<<blocks, kShortBlock, 0, p.stream>>>(
        p.x, p.outputs, p.rows, static_cast<int>(p.cols), static_cast<int>(p.k));
    return cudaGetLastError();
}
template <int kBest, class T>
cudaError_t launch_lanes(int lanes, const Arguments<T>& p) {
    switch (lanes) {
        case 2:
            return launch_lanes<2, kBest>(p);
        case 4:
            return launch_lanes<4, kBest>(p);
        case 8:
            return launch_lanes<8, kBest>(p);
        case 16:
            return launch_lanes<16, kBest>(p);
        default:
            return launch_lanes<32, kBest>(p);
    }
}

template <class T>
cudaError_t launch_warps(const TopkPlan& plan, const Arguments<T>& p, Partial partial) {
    if (plan.way == Way::warp) {
        const auto blocks = static_cast<unsigned>((p.rows + kWarps - 1) / kWarps);
        // Short rows need only one or two batches of twice the size, so one threshold serves twice as many
        // elements.
        const auto kernel = p.cols <= 4 * 32 * kBatchElements
                                ? warp_topk_kernel<false, 2 * kBatchElements, T>
                                : warp_topk_kernel<false, kBatchElements, T>;
        kernel<<<blocks, kWarps * 32, 0, p.stream>>>(p.x, p.outputs, partial, p.rows, p.cols, p.k);
        return cudaGetLastError();
    }
    const dim3 blocks(static_cast<unsigned>(p.rows), static_cast<unsigned>(plan.slices));
    warp_topk_kernel<true, kBatchElements>
        <<<blocks, kWarps * 32, 0, p.stream>>>(p.x, p.outputs, partial, p.rows, p.cols, p.k);
    if (plan.slices > 1) {
        merge_lists_kernel<<<blocks.x, kMergingWarps * 32, 0, p.stream>>>(partial, plan.slices,
                                                                          p.outputs, p.k);
    }
    return cudaGetLastError();
}

template <class T>
cudaError_t launch_blocks(const TopkPlan& plan, const Arguments<T>& p, Partial partial) {
    const dim3 blocks(static_cast<unsigned>(p.rows), static_cast<unsigned>(plan.slices));
    const auto launch = [&](auto kernel) {
        kernel<<<blocks, plan.threads, 0, p.stream>>>(p.x, p.outputs, partial, p.cols, p.k);
    };
    if (plan.threads == 32) {
        const auto fours = static_cast<unsigned>((p.rows + kListWarps - 1) / kListWarps);
        warp_list_kernel<<<fours, dim3(32, kListWarps), 0, p.stream>>>(p.x, p.outputs, p.rows,
                                                                       p.cols, p.k);
    } else if (plan.threads == 64) {
        launch(block_topk_kernel<CandidateList<64>, T>);
    } else if (plan.threads == 128) {
        launch(block_topk_kernel<CandidateList<128>, T>);
    } else {
        launch(block_topk_kernel<BlockList, T>);
    }
    if (plan.slices > 1) {
        merge_slices_kernel<<<blocks.x, kBlock, 0, p.stream>>>(p.x, partial, plan.slices, p.outputs,
                                                               p.cols, p.k);
    }
    return cudaGetLastError();
}

template <int kBlocks, int kCount, class T>
cudaError_t launch_cluster(const Arguments<T>& p) {
    const auto kernel = cluster_topk_kernel<kBlocks, kCount, T>;
    bool is_allowed = false;  // more than 8 blocks need permission
    cudaError_t status = warp_softmax::ask_once(
        &is_allowed,
        [=](bool* answer, int) {
            *answer = true;
            return cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        },
        reinterpret_cast<const void*>(kernel));
    if (status != cudaSuccess) return status;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {1, kBlocks, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(p.rows), kBlocks);
    config.blockDim = dim3(kBlock);
    config.stream = p.stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    status = cudaLaunchKernelEx(&config, kernel, p.x, p.outputs, p.cols, p.k);
    if (status != cudaSuccess)
        cudaGetLastError();  // already returned: must not be found again later
    return status;
}
template <class T>
cudaError_t launch_cluster(int64_t blocks, const Arguments<T>& p) {
    if (blocks == 4) return launch_cluster<4, kClusterElements>(p);
    if (blocks == 8) return launch_cluster<8, kClusterElements>(p);
    return launch_cluster<kLargestCluster, kClusterElements>(p);
}

template <class T>
cudaError_t launch(const TopkPlan& plan, const Arguments<T>& p, void* workspace) {
    if (plan.way == Way::cluster) return launch_cluster(plan.slices, p);
    Partial partial{};
    if (plan.slices > 1) {
        const int64_t places = std::max(p.k, kListed) * p.rows * plan.slices;
        partial.best = static_cast<Key*>(workspace);
        partial.cuts = partial.best + places;
        partial.normalizers = reinterpret_cast<Normalizer*>(partial.cuts + p.rows * plan.slices);
        partial.counts = reinterpret_cast<int*>(partial.normalizers + p.rows * plan.slices);
    }
    if (plan.way == Way::lanes) {
        return p.k <= 8 ? launch_lanes<8>(plan.threads, p) : launch_lanes<32>(plan.threads, p);
    }
    if (plan.way != Way::block) return launch_warps(plan, p, partial);
    return launch_blocks(plan, p, partial);
}

// Where results are stored: rows x k values each, and one log_sum_exp per row. Any pointer may be nullptr. Index:
// int32_t or int64_t.
template <class T, class Index>
struct Results {
    T* probabilities;
    Index* indices;
    T* logits;
    float* log_sum_exp;
};
template <class T, class Index>
Outputs<T> outputs_of(const Results<T, Index>& results) {
    static_assert(std::is_same_v<Index, int32_t> || std::is_same_v<Index, int64_t>,
                  "columns are numbers of 32 or 64 bits");
    Outputs<T> outputs{results.probabilities, nullptr, nullptr, results.logits,
                       results.log_sum_exp};
    if constexpr (sizeof(Index) == sizeof(int64_t)) {
        outputs.wide_columns = results.indices;
    } else {
        outputs.columns = results.indices;
    }
    return outputs;
}

}  // namespace softmax_topk

namespace softmax_stages {

// Optional results; nullptr: not requested.
template <class T>
struct TopkOptions {
    T* logits = nullptr;           // rows x k: the elements of x
    float* log_sum_exp = nullptr;  // one per row
};

using TopkPlan = softmax_topk::TopkPlan;
constexpr int64_t kMostOfTopk = softmax_topk::kMostK;  // the largest k

// Returns the plan for these sizes. aligned: true if x starts at a multiple of 16 bytes.
template <class T>
TopkPlan topk_plan(int64_t rows, int64_t cols, int64_t k, const TopkOptions<T>&, const Chip& chip,
                   size_t bytes = 0, bool aligned = true) {
    using namespace softmax_topk;
    const auto multiprocessors = static_cast<int>(chip.multiprocessors);
    const int blocks = blocks_of_cluster(rows, cols, k, sizeof(T), multiprocessors,
                                         static_cast<int>(chip.largest_cluster));
    if (blocks > 0)
        return {Way::cluster, 0, blocks, "few long rows: a cluster of blocks has one", 0, 0};
    if (k > kListed) {
        const int threads = threads_of_list(rows, cols, k, multiprocessors);
        if (threads < kBlock) return {Way::block, threads, 1, "few threads have a row", 0, 0};
        return plan_of_blocks(Way::block, rows, cols, k, multiprocessors, bytes);
    }
    constexpr auto kPack = static_cast<int64_t>(16 / sizeof(T));
    const int64_t misplaced = aligned && cols % kPack == 0
                                  ? 0
                                  : kPack - 1;  // the most elements of a row outside of whole packs
    for (int lanes = 2; lanes <= 32; lanes *= 2) {
        if (cols + misplaced <= lanes * kHeld)
            return {Way::lanes, lanes, 1, "a few lanes hold a row in registers", 0, 0};
    }
    constexpr int64_t kWarpsForAll = 16;  // per multiprocessor, which keep it loading
    if (rows >= kWarpsForAll * multiprocessors)
        return {Way::warp, 0, 1, "enough rows for a warp each", 0, 0};
    return plan_of_blocks(Way::block_of_warps, rows, cols, k, multiprocessors, bytes);
}

template <class T>
cudaError_t topk_workspace_bytes(size_t* bytes, int64_t rows, int64_t cols, int64_t k,
                                 const TopkOptions<T>& options) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = 0;
    if (!softmax_topk::is_possible(rows, cols, k)) return cudaErrorInvalidValue;
    if (rows == 0 || k == 0) return cudaSuccess;
    *bytes = topk_plan<T>(std::min(rows, softmax_topk::kMostRows), cols, k, options, this_chip())
                 .more_workspace_bytes;
    return cudaSuccess;
}

// Writes the k best elements of each row of x, the best first: their softmax to probabilities, their columns
// (int32_t or int64_t) to indices, rows x k each. Any result may be nullptr. k: up to cols and up to 1024; cols: up
// to 2^31 - 1.
template <class T, class Index>
cudaError_t topk(const T* x, std::common_type_t<T>* probabilities, Index* indices, int64_t rows,
                 int64_t cols, int64_t k, const TopkOptions<T>& options, void* workspace,
                 size_t bytes, cudaStream_t stream) {
    using softmax_topk::kMostRows;
    if (!softmax_topk::is_possible(rows, cols, k)) return cudaErrorInvalidValue;
    if (rows == 0 || k == 0) return cudaSuccess;
    if (!is_placed(x) || !is_placed(probabilities, true) || !is_placed(indices, true) ||
        !is_placed(options.logits, true) || !is_placed(options.log_sum_exp, true))
        return cudaErrorInvalidValue;
    const softmax_topk::Outputs<T> all = softmax_topk::outputs_of(softmax_topk::Results<T, Index>{
        probabilities, indices, options.logits, options.log_sum_exp});
    for (int64_t row = 0; row < rows; row += kMostRows) {
        const auto from = [&](auto* rows_of, int64_t width) {
            return rows_of == nullptr ? nullptr : rows_of + row * width;
        };
        const softmax_topk::Arguments<T> part{
            x + row * cols,
            {from(all.probabilities, k), from(all.columns, k), from(all.wide_columns, k),
             from(all.logits, k), from(all.log_sum_exp, 1)},
            std::min(kMostRows, rows - row),
            cols,
            k,
            stream};
        const TopkPlan plan =
            topk_plan<T>(part.rows, cols, k, options, this_chip(), usable_bytes(workspace, bytes),
                         reinterpret_cast<uintptr_t>(x) % 16 == 0);
        const cudaError_t status = softmax_topk::launch(plan, part, workspace);
        if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
}

}  // namespace softmax_stages
