// SPDX-License-Identifier: MIT
// Describes the variants of softmax along the middle axis of (outer, dim, inner) for checks and measurements.
#include <algorithm>
#include <vector>

#include "05_smem_softmax/variants.hpp"
#include "common/runner/build_info.hpp"
#include "further/any_axis_softmax.cuh"
#include "further/softmax_backward.cuh"

namespace smem_softmax {

// PaddlePaddle's two shapes, the same two with a batch large enough for any GPU, slabs for clusters, slabs larger than
// shared memory, and several values of inner. The CPU device only counts, so small shapes are enough there.
inline std::vector<runner::Shape> any_axis_shapes() {
    if (!runner::on_gpu()) return {{1, 128, 256}, {4, 96, 48}, {16, 100, 3}};
    return {{1, 128, 32768},  {512, 896, 48},   {16, 128, 32768}, {1536, 896, 48},
            {1, 8192, 256},   {64, 5000, 256},  {10, 100000, 64}, {21333, 1000, 3},
            {16000, 1000, 4}, {5333, 1000, 12}, {1000, 1000, 64}, {64, 1000, 1000}};
}

// Returns the tiling for tensors that all start `phase` elements after the start of a pack; -1: at different phases.
inline any_axis::Tiling any_axis_tiling(operations::softmax::Shape shape, runner::DType dtype,
                                        int tensors, int phase) {
    return runner::visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return any_axis::tiling_for<T>({shape.rows, shape.cols, shape.inner}, tensors, phase,
                                       any_axis::device_of(softmax_stages::this_chip()), true);
    });
}

namespace {

using operations::softmax::Call;
using operations::softmax::Kind;
using operations::softmax::Shape;
using runner::DType;

// Describes the variant of SoftmaxOf or GradientOf for this algorithm.
template <template <Algorithm, class> class Of, Algorithm kAlgorithm>
runner::Variant variant_of(Kind kind, const std::string& name, const std::string& summary) {
    using OfFloat = Of<kAlgorithm, float>;
    constexpr int kInputs = OfFloat::kInputs;
    runner::Variant variant;
    variant.operation = operations::softmax::operation_of(kind);
    variant.name = name;
    variant.summary = summary;
    variant.dtypes = runner::all_dtypes();
    variant.takes = {"inner"};
    variant.measured_at = any_axis_shapes();
    variant.traffic = {kInputs, 1};
    variant.traffic_at = [](Shape shape, DType dtype) {
        const bool once = any_axis_tiling(shape, dtype, kInputs, 0).held;
        return runner::Traffic{once ? kInputs : 2. * kInputs - OfFloat::kFirstOfTerm, 1.};
    };
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using Operation = Of<kAlgorithm, typename decltype(of)::type>;
            return any_axis::launch(operation_on<Operation>(call),
                                    {call.rows, call.cols, call.inner}, call.workspace,
                                    call.workspace_bytes, call.stream);
        });
    };
    variant.workspace_bytes = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) {
            using Operation = Of<kAlgorithm, typename decltype(of)::type>;
            return any_axis::workspace_bytes<Operation>({shape.rows, shape.cols, shape.inner});
        });
    };
    // Returns the smallest number of partial sums at any address; each step of a reduction adds up to eight values.
    variant.partial_sums = [](Shape shape, DType dtype) {
        int64_t fewest = shape.cols;
        for (const int phase : {-1, 0, 1}) {
            const any_axis::Tiling tiling = any_axis_tiling(shape, dtype, kInputs, phase);
            fewest = std::min<int64_t>(fewest, tiling.threads * tiling.pack / tiling.width / 8);
        }
        return std::max<int64_t>(1, fewest);
    };
    return variant;
}

}  // namespace

std::vector<runner::Variant> any_axis_variants() {
    return {variant_of<SoftmaxOf, Algorithm::log_softmax>(Kind::log_softmax, "log_softmax_any_axis",
                                                          "log_softmax along any axis: one read"),
            variant_of<SoftmaxOf, Algorithm::softmax>(Kind::softmax, "softmax_any_axis",
                                                      "softmax along any axis: one read"),
            variant_of<GradientOf, Algorithm::softmax>(Kind::softmax_backward, "any_axis_backward",
                                                       "the gradient along any axis"),
            variant_of<GradientOf, Algorithm::log_softmax>(
                Kind::log_softmax_backward, "any_axis_log_backward", "the same for log_softmax")};
}

}  // namespace smem_softmax

#define INSTANCE template
#include "05_smem_softmax/any_axis_launchers.hpp"
