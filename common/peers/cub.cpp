// SPDX-License-Identifier: MIT
// What CUB has for the k best of a row, among the peers: its selection alone, for its time.
#include <climits>
#include <string>

#include "common/peers/cub_topk.cuh"
#include "common/peers/peers.hpp"
#include "common/runner/build_info.hpp"

namespace peers {
namespace {

using namespace operations::topk;

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
    peer.invalid = true;
    if (!runner::on_gpu()) peer.obstacle = "needs a GPU";
#ifdef STAGES_HAS_CUB_SEGMENTED_SORT
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
    peer.invalid = true;
#ifdef STAGES_HAS_CUB_BATCHED_TOPK
    unsorted.workspace_bytes = batched_topk_bytes;
    unsorted.launch = select_by_batched_topk;
#else
    peer.obstacle = "its headers were not here when this was built (pip package nvidia-cuda-cccl)";
#endif
    if (!runner::on_gpu()) peer.obstacle = "needs a GPU";
    peer.stage.name = "cub_batched_topk";
    peer.stage.title = "CUB's DeviceBatchedTopK";
    peer.stage.variants = {unsorted};
    return peer;
}

}  // namespace peers
