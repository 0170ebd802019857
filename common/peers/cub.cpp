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

std::string obstacle_of_toolkit() {
    return runner::on_gpu() ? "" : "needs a GPU";
}

std::string obstacle_of_newer_cub() {
    if (!runner::on_gpu()) return obstacle_of_toolkit();
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

// One that does this part of the work alone.
Peer alone(const char* part, const std::string& obstacle, const std::string& name,
           const std::string& title, const runner::Variant& way) {
    Peer peer;
    peer.part = part;
    peer.obstacle = obstacle;
    peer.stage.name = name;
    peer.stage.title = title;
    peer.stage.variants = {way};
    return peer;
}

}  // namespace

Peer cub_segmented_sort() {
    runner::Variant radix =
        variant("radix", "no softmax: x and its columns sorted in full, of which k are kept");
    radix.obstacle = [](const Shape& shape, DType) -> std::string {
        return shape.rows * shape.cols <= INT_MAX ? "" : "counts elements in 32 bits";
    };
#ifdef STAGES_HAS_CUB_OF_TOOLKIT
    radix.workspace_bytes = segmented_sort_bytes;
    radix.launch = select_by_segmented_sort;
#endif
    return alone(kSelection, obstacle_of_toolkit(), "cub_segmented_sort",
                 "CUB's DeviceSegmentedRadixSort", radix);
}

Peer cub_batched_topk() {
    runner::Variant unsorted =
        variant("unsorted", "no softmax: the k largest of x and their columns, in no order");
    unsorted.obstacle = [](const Shape& shape, DType) -> std::string {
        if (shape.cols > kMostColsOfBatchedTopk)
            return "more than " + std::to_string(kMostColsOfBatchedTopk) + " columns";
        return shape.rows <= INT_MAX ? "" : "counts rows in 32 bits";
    };
#ifdef STAGES_HAS_NEWER_CUB
    unsorted.workspace_bytes = batched_topk_bytes;
    unsorted.launch = select_by_batched_topk;
#endif
    return alone(kSelection, obstacle_of_newer_cub(), "cub_batched_topk", "CUB's DeviceBatchedTopK",
                 unsorted);
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
#ifdef STAGES_HAS_NEWER_CUB
    unsorted.workspace_bytes = topk_bytes;
    unsorted.launch = select_by_topk;
#endif
    return alone(kSelection, obstacle_of_newer_cub(), "cub_topk", "CUB's DeviceTopK", unsorted);
}

Peer row_sum() {
    runner::Variant sum = variant("cub", "no selection: the sum of each row, x read once");
    sum.obstacle = [](const Shape& shape, DType) -> std::string {
        return shape.k > 0 ? "" : "has no room for sums where k is 0";
    };
#ifdef STAGES_HAS_CUB_OF_TOOLKIT
    sum.workspace_bytes = row_sum_bytes;
    sum.launch = sum_rows;
#endif
    return alone(kRowSum, obstacle_of_toolkit(), "row_sum", "CUB's DeviceSegmentedReduce", sum);
}

Peer row_sum_of_fixed_size() {
    runner::Variant sum =
        variant("cub_fixed_size", "the same, told that all rows are of one length");
    sum.obstacle = [](const Shape& shape, DType) -> std::string {
        if (shape.cols > INT_MAX) return "counts columns in 32 bits";
        return shape.k > 0 ? "" : "has no room for sums where k is 0";
    };
#ifdef STAGES_HAS_NEWER_CUB
    sum.workspace_bytes = row_sum_of_fixed_size_bytes;
    sum.launch = sum_rows_of_fixed_size;
#endif
    return alone(kRowSum, obstacle_of_newer_cub(), "row_sum",
                 "CUB's DeviceSegmentedReduce, of segments of one size", sum);
}

}  // namespace peers
