// SPDX-License-Identifier: MIT
// Describes each fast kernel, and the front call, for checks and measurements.
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#include "06_softmax_topk/variants.hpp"
#include "common/operations/topk/variant.hpp"
#include "further/topk.cuh"

namespace {

using operations::topk::at_most;
using operations::topk::Kind;
using operations::topk::Shape;
using runner::DType;
using softmax_topk::Arguments;
using softmax_topk::kListed;
using softmax_topk::kMostK;
using softmax_topk::Results;
using softmax_topk::TopkPlan;
using softmax_topk::Way;

// Chooses a plan within a workspace. aligned: true if x starts at a multiple of 16 bytes.
using Choice = std::function<TopkPlan(const Shape&, size_t element_bytes, size_t workspace_bytes,
                                      bool aligned)>;

TopkPlan planned(const Shape& shape, size_t element_bytes, size_t workspace_bytes, bool aligned) {
    using softmax_stages::topk_plan;
    const softmax_stages::Chip chip = softmax_stages::this_chip();
    return element_bytes == sizeof(float) ? topk_plan<float>(shape.rows, shape.cols, shape.k, {},
                                                             chip, workspace_bytes, aligned)
                                          : topk_plan<__half>(shape.rows, shape.cols, shape.k, {},
                                                              chip, workspace_bytes, aligned);
}
TopkPlan a_warp_each(const Shape&, size_t, size_t, bool) {
    return {Way::warp, 0, 1, "", 0, 0};
}
// Returns the fewest threads that have room for the candidates, for any number of rows.
int threads_with_room(const Shape& shape) {
    return softmax_topk::threads_of_list(INT32_MAX, shape.cols, shape.k, 1);
}
TopkPlan small_lists(const Shape& shape, size_t, size_t, bool) {
    return {Way::block, threads_with_room(shape), 1, "", 0, 0};
}
// Returns the accesses per element; for rows longer than a batch, the kernel also reads a sample.
runner::Traffic with_sample(const Shape& shape, DType) {
    const int threads = threads_with_room(shape);
    const int of_thread =
        threads == 32 ? softmax_topk::CandidateList<32>::kSample : softmax_topk::BlockList::kSample;
    if (shape.cols <= threads * softmax_topk::kBatchElements) return {1, 0};
    return {1 + static_cast<double>(threads * of_thread) / static_cast<double>(shape.cols), 0};
}

template <Way kWay>
TopkPlan blocks(const Shape& shape, size_t, size_t workspace_bytes, bool) {
    const auto multiprocessors = static_cast<int>(softmax_stages::this_chip().multiprocessors);
    return softmax_topk::plan_of_blocks(kWay, shape.rows, shape.cols, shape.k, multiprocessors,
                                        workspace_bytes);
}

TopkPlan clusters(const Shape&, size_t, size_t, bool) {
    return {Way::cluster, 0, softmax_topk::kLargestCluster, "", 0, 0};
}

// Completes a variant's description. threads: threads of a block, or lanes of a row.
runner::Variant with(runner::Variant variant, int64_t most_k, int64_t most_cols, int threads,
                     const Choice& choice) {
    variant.further = true;
    variant.obstacle = at_most(most_k, most_cols);
    variant.workspace_bytes = [choice](const Shape& shape, DType dtype) {
        return choice(shape, runner::size_of(dtype), SIZE_MAX, false).workspace_bytes;
    };
    variant.partial_sums = [threads, choice](const Shape& shape, DType dtype) {
        return threads * choice(shape, runner::size_of(dtype), SIZE_MAX, false).slices;
    };
    return variant;
}

// Launches this kernel, whichever the front call would choose.
runner::Variant way(const std::string& name, const std::string& summary, int64_t most_k,
                    int64_t most_cols, int threads, const Choice& choice) {
    const auto launcher = [choice](const auto* x, const auto& results, int64_t rows, int64_t cols,
                                   int64_t k, void* workspace, size_t bytes, cudaStream_t stream) {
        if (rows == 0 || k == 0) return cudaSuccess;
        using T = std::remove_const_t<std::remove_reference_t<decltype(*x)>>;
        const bool aligned = reinterpret_cast<uintptr_t>(x) % 16 == 0;
        const TopkPlan plan = choice({rows, cols, k}, sizeof(T), bytes, aligned);
        return softmax_topk::launch(
            plan, Arguments<T>{x, outputs_of(results), rows, cols, k, stream}, workspace);
    };
    return with(operations::topk::variant_of<Results>(Kind::softmax_topk, name, summary, launcher),
                most_k, most_cols, threads, choice);
}

runner::Variant list_of_few() {
    runner::Variant variant = way("small_lists", "the same, by the fewest threads with room",
                                  kMostK, INT32_MAX, 256, small_lists);
    variant.traffic_at = with_sample;
    return variant;
}

runner::Variant front(const std::string& name, const std::string& summary, Kind kind) {
    const auto launcher = [](const auto* x, const auto& results, int64_t rows, int64_t cols,
                             int64_t k, auto... rest) {
        return softmax_stages::topk(x, results.probabilities, results.indices, rows, cols, k,
                                    {results.logits, results.log_sum_exp}, rest...);
    };
    return with(operations::topk::variant_of<Results>(kind, name, summary, launcher), kMostK,
                INT32_MAX, 256, planned);
}

}  // namespace

std::vector<runner::Variant> softmax_topk::fast_variants() {
    return {
        way("short_rows", "a few lanes hold a row in registers", kListed, 505, 32, planned),
        way("warp_per_row", "a list in a warp's lanes, and a queue", kListed, INT32_MAX, 32,
            a_warp_each),
        way("warps_per_row", "the same, by the warps of one or more blocks", kListed, INT32_MAX,
            256, blocks<Way::block_of_warps>),
        way("block_per_row", "one read, or two after a wrong guess", kMostK, INT32_MAX, 256,
            blocks<Way::block>),
        list_of_few(),
        way("cluster_per_row", "a cluster of blocks per row, in one launch", kMostK, INT32_MAX, 256,
            clusters),
        front("front_topk", "the front call", Kind::softmax_topk),
        front("front_topk_lse", "the front call, with all of its results", Kind::softmax_topk_lse)};
}
