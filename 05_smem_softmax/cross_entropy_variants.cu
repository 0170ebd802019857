// SPDX-License-Identifier: MIT
// Describes the cross-entropy of rows, and its gradient, for checks and measurements.
#include <algorithm>
#include <string>

#include "05_smem_softmax/variants.hpp"
#include "common/operations/cross_entropy/operation.hpp"
#include "common/runner/stage.hpp"
#include "further/cross_entropy.cuh"

namespace {

using operations::cross_entropy::Kind;
using operations::cross_entropy::operation_of;
using operations::cross_entropy::Shape;
using runner::DType;
using smem_softmax::reads_of;
using smem_softmax::threads_of;
using softmax_stages::CrossEntropyOptions;
using softmax_stages::CrossEntropyPlan;
using softmax_stages::Reduction;

// Returns the options as the header has them, without the optional operands.
template <class T>
CrossEntropyOptions<T> in_header(const operations::cross_entropy::Options& options) {
    using Compute = warp_softmax::ComputeOf<T>;
    CrossEntropyOptions<T> in_header;
    in_header.reduction = options.mean  ? Reduction::mean
                          : options.sum ? Reduction::sum
                                        : Reduction::none;
    in_header.ignore_index = options.ignore_index;
    in_header.label_smoothing = static_cast<Compute>(options.label_smoothing);
    in_header.z_loss = static_cast<Compute>(options.z_loss);
    in_header.soft_cap = static_cast<Compute>(options.soft_cap);
    return in_header;
}

// Returns the options of a call.
template <class T>
CrossEntropyOptions<T> options_of(const runner::Call& call, Kind kind) {
    using Compute = warp_softmax::ComputeOf<T>;
    const operations::cross_entropy::Options& options = Shape(call.shape).options;
    CrossEntropyOptions<T> in_header = ::in_header<T>(options);
    if (options.class_weights) in_header.class_weights = call.input<Compute>("class_weights");
    if (kind == Kind::cross_entropy) in_header.grad_output = call.input<Compute>("grad_output");
    if (options.reduces()) in_header.totals = call.output<Compute>("totals");
    in_header.lse = call.output<Compute>("lse");
    return in_header;
}

template <class T, class Target>
cudaError_t launch_as(const runner::Call& call, Kind kind) {
    using Compute = warp_softmax::ComputeOf<T>;
    const CrossEntropyOptions<T> options = options_of<T>(call, kind);
    const Shape shape = call.shape;
    const T* const logits = call.input<T>("logits");
    const Target* const targets = call.input<Target>("targets");
    auto* const loss = call.output<Compute>("loss");
    if (kind == Kind::cross_entropy_loss) {
        return softmax_stages::cross_entropy_loss(logits, targets, loss, shape.rows, shape.cols,
                                                  options, call.workspace, call.workspace_bytes,
                                                  call.stream);
    }
    return softmax_stages::cross_entropy(logits, targets, loss, call.output<T>("gradient"),
                                         shape.rows, shape.cols, options, call.workspace,
                                         call.workspace_bytes, call.stream);
}

int64_t packs_of(const Shape& shape, DType dtype) {
    return shape.cols * static_cast<int64_t>(runner::size_of(dtype)) / 16;
}
CrossEntropyPlan plan_of(const Shape& shape, DType dtype, Kind kind) {
    return runner::visit(dtype, [&](auto of) {
        return softmax_stages::plan_of_losses<typename decltype(of)::type>(
            shape.rows, shape.cols, in_header<typename decltype(of)::type>(shape.options),
            softmax_stages::this_chip(), true, kind == Kind::cross_entropy);
    });
}

runner::Variant front_call(const std::string& name, const std::string& summary, Kind kind) {
    runner::Variant variant;
    variant.operation = operation_of(kind);
    variant.name = name;
    variant.summary = summary;
    variant.traffic = {1, kind == Kind::cross_entropy ? 1. : 0.};
    variant.dtypes = runner::all_dtypes();
    for (const runner::Optional& each : variant.operation->optional())
        variant.takes.push_back(each.name);
    variant.traffic_at = [kind](const Shape& shape, DType dtype) -> runner::Traffic {
        if (kind == Kind::cross_entropy_loss) return {1, 0};
        const CrossEntropyPlan plan = plan_of(shape, dtype, kind);
        return {plan.threads == 0 ? reads_of(plan.cut, packs_of(shape, dtype)) : 2, 1};
    };
    // A thread adds up whole packs.
    variant.partial_sums = [kind](const Shape& shape, DType dtype) {
        const CrossEntropyPlan plan = plan_of(shape, dtype, kind);
        return plan.threads == 0 ? threads_of(plan.cut, packs_of(shape, dtype))
                                 : std::clamp<int64_t>(shape.cols / plan.pack, 1, plan.threads);
    };
    variant.launch = [kind](const runner::Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return Shape(call.shape).options.target_bits == 32 ? launch_as<T, int32_t>(call, kind)
                                                               : launch_as<T, int64_t>(call, kind);
        });
    };
    variant.way = [kind](const Shape& shape, DType dtype) {
        const CrossEntropyPlan plan = plan_of(shape, dtype, kind);
        const bool is_cluster = plan.cut.share == smem_softmax::Share::cluster;
        return std::string(plan.threads == 32                ? "warp"
                           : plan.threads == 0 && is_cluster ? "cluster"
                                                             : "block") +
               ": " + plan.reason;
    };
    return variant;
}

}  // namespace

std::vector<runner::Variant> smem_softmax::cross_entropy_variants() {
    return {front_call("cross_entropy", "loss and gradient, over the logits or not",
                       Kind::cross_entropy),
            front_call("cross_entropy_loss", "the loss alone: one read", Kind::cross_entropy_loss)};
}
