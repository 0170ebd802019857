// SPDX-License-Identifier: MIT
// Describes the variants of stage 06's lesson for checks and measurements, each step compared with the one before.
// further.cu adds the variants beyond the lesson.
#include "softmax_topk.cuh"

#include "common/operations/topk/variant.hpp"

namespace {

using operations::topk::Kind;
using operations::topk::operation_of;
using operations::topk::Shape;
using runner::Call;
using runner::DType;

using Fused = cudaError_t (*)(const float*, float*, int32_t*, int64_t, int64_t, int64_t,
                              cudaStream_t);
using Unfused = cudaError_t (*)(const float*, float*, int32_t*, int64_t, int64_t, int64_t, void*,
                                size_t, cudaStream_t);

// Describes one step of the lesson. loads, stores: accesses per element, without those of the results.
runner::Variant step(const std::string& name, const std::string& summary, double loads,
                     double stores) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.traffic = {loads, stores};
    variant.takes = {operations::topk::kOption};
    variant.obstacle = operations::topk::at_most(softmax_topk::kMaxK);
    variant.partial_sums = [](const Shape&, DType) { return softmax_topk::kThreads; };
    return variant;
}

runner::Variant fused(const std::string& name, const std::string& summary, double loads,
                      Fused launcher) {
    runner::Variant variant = step(name, summary, loads, 0);
    variant.operation = operation_of(Kind::softmax_topk);
    variant.launch = [launcher](const Call& call) {
        const Shape shape = call.shape;
        return launcher(call.input<float>("x"), call.output<float>("values"),
                        call.output<int32_t>("indices"), shape.rows, shape.cols, shape.k,
                        call.stream);
    };
    return variant;
}

runner::Variant unfused(const std::string& name, const std::string& summary, double loads,
                        Unfused launcher) {
    runner::Variant variant = step(name, summary, loads, 1);
    variant.operation = operation_of(Kind::topk_of_softmax);
    variant.launch = [launcher](const Call& call) {
        const Shape shape = call.shape;
        return launcher(call.input<float>("x"), call.output<float>("values"),
                        call.output<int32_t>("indices"), shape.rows, shape.cols, shape.k,
                        call.workspace, call.workspace_bytes, call.stream);
    };
    variant.workspace_bytes = [](const Shape& shape, DType) {
        return softmax_topk::unfused_workspace_bytes(shape.rows, shape.cols);
    };
    return variant;
}

}  // namespace

runner::Stage lesson_06_softmax_topk() {
    using namespace softmax_topk;
    runner::Stage stage;
    stage.name = "06_softmax_topk";
    stage.title = "the best k of each row, from one read";
    stage.variants = {
        unfused("safe_unfused", "02's softmax, then the best of its result", 4, safe_unfused),
        unfused("online_unfused", "03's softmax, then the best of its result", 3, online_unfused),
        fused("safe_fused", "the maximum, then sum and best together", 2, safe_fused),
        fused("online_fused", "maximum, sum and best in one pass", 1, online_fused)};
    return stage;
}
