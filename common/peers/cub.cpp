// SPDX-License-Identifier: MIT
// What CUB has for parts of a top-k, among the peers: its selection alone, its sums of rows alone, for their time.
#include <climits>
#include <string>

#include "common/peers/cub_topk.cuh"
#include "common/peers/peers.hpp"
#include "common/runner/build_info.hpp"

namespace peers {
namespace {

using namespace operations::topk;

constexpr const char* kSelection = "selection";
constexpr const char* kRowSum = "row sum";
constexpr const char* kNeedsGpu = "needs a GPU";

std::string obstacle_of_newer_cub() {
    if (!runner::on_gpu()) return kNeedsGpu;
#ifndef STAGES_HAS_NEWER_CUB
    return "its headers were not here when this was built (pip package nvidia-cuda-cccl)";
#else
    return "";
#endif
}

runner::Variant variant(const std::string& name, const std::string& summary) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.operation = operation_of(Kind::softmax_topk);
    variant.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    variant.takes = {kOption};
    return variant;
}

}  // namespace

Peer cub_segmented_sort() {
    runner::Variant radix =
        variant("radix", "no softmax: x and its columns sorted in full, of which k are kept");
    radix.obstacle = [](const Shape& shape, DType) -> std::string {
        return shape.rows * shape.cols <= INT_MAX ? "" : "counts elements in 32 bits";
    };
    Peer peer;
    peer.part = kSelection;
    if (!runner::on_gpu()) peer.obstacle = kNeedsGpu;
#ifdef STAGES_HAS_CUB_OF_TOOLKIT
    radix.workspace_bytes = segmented_sort_bytes;
    radix.launch = select_by_segmented_sort;
#endif
    peer.stage.name = "cub_segmented_sort";
    peer.stage.title = "CUB's DeviceSegmentedRadixSort";
    peer.stage.variants = {radix};
    return peer;
}

Peer cub_batched_topk() {
    runner::Variant unsorted =
        variant("unsorted", "no softmax: the k largest of x and their columns, in no order");
    unsorted.obstacle = [](const Shape& shape, DType) -> std::string {
        if (shape.cols > kMostColsOfBatchedTopk)
            return "more than " + std::to_string(kMostColsOfBatchedTopk) + " columns";
        return shape.rows <= INT_MAX ? "" : "counts rows in 32 bits";
    };
    Peer peer;
    peer.part = kSelection;
    peer.obstacle = obstacle_of_newer_cub();
#ifdef STAGES_HAS_NEWER_CUB
    unsorted.workspace_bytes = batched_topk_bytes;
    unsorted.launch = select_by_batched_topk;
#endif
    peer.stage.name = "cub_batched_topk";
    peer.stage.title = "CUB's DeviceBatchedTopK";
    peer.stage.variants = {unsorted};
    return peer;
}

Peer cub_topk() {
    runner::Variant unsorted =
        variant("unsorted", "no softmax: the same of one row, by a call for each row");
    unsorted.obstacle = [](const Shape& shape, DType) -> std::string {
        if (shape.rows > kMostRowsOfTopk)
            return "takes a call for each row: more than " + std::to_string(kMostRowsOfTopk) +
                   " rows";
        return shape.cols <= INT_MAX ? "" : "counts columns in 32 bits";
    };
    Peer peer;
    peer.part = kSelection;
    peer.obstacle = obstacle_of_newer_cub();
#ifdef STAGES_HAS_NEWER_CUB
    unsorted.workspace_bytes = topk_bytes;
    unsorted.launch = select_by_topk;
#endif
    peer.stage.name = "cub_topk";
    peer.stage.title = "CUB's DeviceTopK";
    peer.stage.variants = {unsorted};
    return peer;
}

Peer row_sum() {
    runner::Variant sum = variant("cub", "no selection: the sum of each row, x read once");
    sum.obstacle = [](const Shape& shape, DType) -> std::string {
        return shape.k > 0 ? "" : "has no room for sums where k is 0";
    };
    Peer peer;
    peer.part = kRowSum;
    if (!runner::on_gpu()) peer.obstacle = kNeedsGpu;
#ifdef STAGES_HAS_CUB_OF_TOOLKIT
    sum.workspace_bytes = row_sum_bytes;
    sum.launch = sum_rows;
#endif
    peer.stage.name = "row_sum";
    peer.stage.title = "CUB's DeviceSegmentedReduce";
    peer.stage.variants = {sum};
    return peer;
}

Peer row_sum_of_fixed_size() {
    runner::Variant sum =
        variant("cub_fixed_size", "the same, told that all rows are of one length");
    sum.obstacle = [](const Shape& shape, DType) -> std::string {
        if (shape.cols > INT_MAX) return "counts columns in 32 bits";
        return shape.k > 0 ? "" : "has no room for sums where k is 0";
    };
    Peer peer;
    peer.part = kRowSum;
    peer.obstacle = obstacle_of_newer_cub();
#ifdef STAGES_HAS_NEWER_CUB
    sum.workspace_bytes = row_sum_of_fixed_size_bytes;
    sum.launch = sum_rows_of_fixed_size;
#endif
    peer.stage.name = "row_sum";
    peer.stage.title = "CUB's DeviceSegmentedReduce, of segments of one size";
    peer.stage.variants = {sum};
    return peer;
}

}  // namespace peers
