// SPDX-License-Identifier: MIT
// Describes the variants of softmax along the middle axis of (outer, dim, inner) for checks and measurements.
#include <algorithm>
#include <vector>

#include "05_smem_softmax/variants.hpp"
#include "common/runner/build_info.hpp"
#include "further/any_axis_backward.cuh"
#include "further/any_axis_softmax.cuh"
#include "further/paddle_any_axis.cuh"

namespace smem_softmax {

// PaddlePaddle's two shapes, the same two with a batch large enough for any GPU, slabs larger than shared memory, and
// several values of inner. The CPU device only counts, so small shapes are enough there.
inline std::vector<runner::Shape> any_axis_shapes() {
    if (!runner::on_gpu()) return {{1, 128, 256}, {4, 96, 48}, {16, 100, 3}};
    return {{1, 128, 32768},  {512, 896, 48},   {16, 128, 32768}, {1536, 896, 48},
            {10, 100000, 64}, {21333, 1000, 3}, {16000, 1000, 4}, {5333, 1000, 12},
            {1000, 1000, 64}, {64, 1000, 1000}};
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

std::vector<runner::Variant> any_axis_variants() {
    using operations::softmax::Call;
    using operations::softmax::Kind;
    using operations::softmax::operation_of;
    using operations::softmax::Shape;
    using runner::DType;

    runner::Variant softmax;
    softmax.operation = operation_of(Kind::softmax);
    softmax.name = "softmax_any_axis";
    softmax.summary = "softmax along any axis: one read";
    softmax.dtypes = runner::all_dtypes();
    softmax.takes = {"inner"};
    softmax.measured_at = any_axis_shapes();
    softmax.traffic = {1, 1};
    softmax.traffic_at = [](Shape shape, DType dtype) {
        return runner::Traffic{any_axis_tiling(shape, dtype, 1, 0).held ? 1. : 2., 1.};
    };
    softmax.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return softmax_any_axis(call.input<T>(), call.output<T>(), call.rows, call.cols,
                                    call.inner, call.workspace, call.workspace_bytes, call.stream);
        });
    };
    softmax.workspace_bytes = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) {
            return any_axis_workspace_bytes<typename decltype(of)::type>(shape.rows, shape.cols,
                                                                         shape.inner);
        });
    };
    // Returns the smallest number of partial sums at any address; each step of a reduction adds up to eight values.
    const auto threads = [](int tensors) {
        return [tensors](Shape shape, DType dtype) {
            int64_t fewest = shape.cols;
            for (const int phase : {-1, 0, 1}) {
                const any_axis::Tiling tiling = any_axis_tiling(shape, dtype, tensors, phase);
                fewest = std::min<int64_t>(fewest, tiling.threads * tiling.pack / tiling.width / 8);
            }
            return std::max<int64_t>(1, fewest);
        };
    };
    softmax.partial_sums = threads(1);

    runner::Variant log_softmax = softmax;
    log_softmax.name = "log_softmax_any_axis";
    log_softmax.summary = "log_softmax along any axis: one read";
    log_softmax.operation = operation_of(Kind::log_softmax);
    log_softmax.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return log_softmax_any_axis(call.input<T>(), call.output<T>(), call.rows, call.cols,
                                        call.inner, call.workspace, call.workspace_bytes,
                                        call.stream);
        });
    };

    runner::Variant paddle = log_softmax;
    paddle.name = "paddle_any_axis";
    paddle.summary = "PaddlePaddle's launch in four steps: three reads";
    paddle.traffic = {3, 1};
    paddle.traffic_at = {};
    paddle.workspace_bytes = {};
    paddle.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return paddle_any_axis(call.input<T>(), call.output<T>(), call.rows, call.cols,
                                   call.inner, call.stream);
        });
    };
    paddle.partial_sums = [](Shape shape, DType) {
        return int64_t{paddle::block_size(shape.cols, shape.inner).x};
    };

    runner::Variant softmax_backward = softmax;
    softmax_backward.name = "any_axis_backward";
    softmax_backward.summary = "the gradient along any axis";
    softmax_backward.operation = operation_of(Kind::softmax_backward);
    softmax_backward.traffic = {2, 1};
    softmax_backward.traffic_at = [](Shape shape, DType dtype) {
        return runner::Traffic{any_axis_tiling(shape, dtype, 2, 0).held ? 2. : 4., 1.};
    };
    softmax_backward.partial_sums = threads(2);
    softmax_backward.workspace_bytes = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) {
            return any_axis_backward_workspace_bytes<typename decltype(of)::type>(
                shape.rows, shape.cols, shape.inner);
        });
    };
    softmax_backward.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return softmax_backward_any_axis(call.input<T>(), call.second_input<T>(),
                                             call.output<T>(), call.rows, call.cols, call.inner,
                                             call.workspace, call.workspace_bytes, call.stream);
        });
    };

    runner::Variant log_softmax_backward = softmax_backward;
    log_softmax_backward.name = "any_axis_log_backward";
    log_softmax_backward.summary = "the same for log_softmax";
    log_softmax_backward.operation = operation_of(Kind::log_softmax_backward);
    log_softmax_backward.traffic_at = [](Shape shape, DType dtype) {  // the sum needs no y
        return runner::Traffic{any_axis_tiling(shape, dtype, 2, 0).held ? 2. : 3., 1.};
    };
    log_softmax_backward.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return log_softmax_backward_any_axis(call.input<T>(), call.second_input<T>(),
                                                 call.output<T>(), call.rows, call.cols, call.inner,
                                                 call.workspace, call.workspace_bytes, call.stream);
        });
    };

    return {paddle, log_softmax, softmax, softmax_backward, log_softmax_backward};
}

}  // namespace smem_softmax

#define INSTANCE template
#include "05_smem_softmax/any_axis_launchers.hpp"
