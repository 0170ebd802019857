// SPDX-License-Identifier: MIT
// How the course checks and measures stage 04, against stage 03.
#include "warp_softmax.cuh"

#include "../03_online_softmax/online_softmax.cuh"
#include "common/runner/stage.hpp"

runner::Stage describe_04_warp_softmax() {
    using runner::Call;
    using runner::DType;
    using runner::Operation;
    using runner::Shape;

    runner::Variant baseline;
    baseline.name = "03_online_softmax/block_per_row";
    baseline.traffic = {2, 1};
    baseline.launch = [](const Call& call) {
        return online_softmax::block_per_row(call.input<float>(), call.output<float>(), call.rows,
                                             call.cols, call.stream);
    };
    baseline.threads_per_row = [](Shape shape, DType) {
        return online_softmax::threads_for(shape.cols);
    };

    runner::Variant softmax;
    softmax.name = "softmax";
    softmax.summary = "a row in the registers of up to 32 lanes: one read";
    softmax.traffic = {1, 1};
    softmax.dtypes = runner::all_dtypes();
    softmax.obstacle = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) -> std::string {
            constexpr int64_t kMost = warp_softmax::kMaxCols<typename decltype(of)::type>;
            return shape.cols > kMost ? "more than " + std::to_string(kMost) + " columns" : "";
        });
    };
    softmax.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return warp_softmax::softmax(call.input<T>(), call.output<T>(), call.rows, call.cols,
                                         call.stream);
        });
    };
    // A lane's elements are one chain of additions: of up to 17 where fewer lanes than a warp do.
    softmax.threads_per_row = [](Shape shape, DType) {
        return std::clamp<int64_t>(shape.cols / 17, 1, 32);
    };

    runner::Variant log_softmax = softmax;
    log_softmax.name = "log_softmax";
    log_softmax.summary = "log(softmax(x)), from the same registers";
    log_softmax.operation = Operation::log_softmax;
    log_softmax.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return warp_softmax::log_softmax(call.input<T>(), call.output<T>(), call.rows,
                                             call.cols, call.stream);
        });
    };

    runner::Stage stage;
    stage.name = "04_warp_softmax";
    stage.title = "a row lives in registers";
    stage.header = "04_warp_softmax/warp_softmax.cuh";
    stage.variants = {softmax, log_softmax};
    stage.baseline = baseline;
    return stage;
}
