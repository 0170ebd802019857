// SPDX-License-Identifier: MIT
#include "paddle_any_axis.cuh"

#include "common/peers/peers.hpp"

peers::Peer peers::paddle_any_axis() {
    using operations::softmax::Call;
    using operations::softmax::Kind;
    using runner::DType;

    runner::Variant log_softmax;
    log_softmax.operation = operations::softmax::operation_of(Kind::log_softmax);
    log_softmax.name = "log_softmax";
    log_softmax.summary = "PaddlePaddle's launch in four steps: three reads";
    log_softmax.traffic = {3, 1};
    log_softmax.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    log_softmax.takes = {"inner"};
    log_softmax.obstacle = [](operations::softmax::Shape shape, DType) -> std::string {
        return shape.inner == 1 ? "the last axis, for which PaddlePaddle has other kernels" : "";
    };
    log_softmax.launch = [](const Call& call) {
        return with_pointers(call, [&](const auto* x, auto* y) {
            return ::paddle_any_axis::log_softmax(x, y, call.rows, call.cols, call.inner,
                                                  call.stream);
        });
    };
    log_softmax.partial_sums = [](operations::softmax::Shape shape, DType) {
        return int64_t{::paddle_any_axis::block_size(shape.cols, shape.inner).x};
    };

    Peer peer;
    peer.stage.name = "paddle_any_axis";
    peer.stage.title = "PaddlePaddle's log-softmax along any axis";
    peer.stage.variants = {log_softmax};
    return peer;
}
