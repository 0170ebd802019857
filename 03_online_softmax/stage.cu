// SPDX-License-Identifier: MIT
// Tells the runner how to check and measure the lesson of stage 03. The baseline is stage 02.
#include "online_softmax.cuh"

#include "../02_safe_softmax/safe_softmax.cuh"
#include "common/operations/softmax/call.hpp"

runner::Stage lesson_03_online_softmax() {
    using operations::softmax::Call;
    using operations::softmax::Kind;
    using operations::softmax::operation_of;
    using operations::softmax::Shape;
    using runner::DType;

    runner::Variant baseline;
    baseline.operation = operation_of(Kind::softmax);
    baseline.name = "02_safe_softmax/block_per_row";
    baseline.traffic = {3, 1};
    baseline.launch = [](const Call& call) {
        return safe_softmax::block_per_row(call.input<float>(), call.output<float>(), call.rows,
                                           call.cols, call.stream);
    };
    baseline.partial_sums = [](Shape, DType) { return 256; };

    runner::Variant block_per_row;
    block_per_row.operation = operation_of(Kind::softmax);
    block_per_row.name = "block_per_row";
    block_per_row.summary = "maximum and normalizer as pairs that merge";
    block_per_row.traffic = {2, 1};
    block_per_row.launch = [](const Call& call) {
        return online_softmax::block_per_row(call.input<float>(), call.output<float>(), call.rows,
                                             call.cols, call.stream);
    };
    block_per_row.partial_sums = [](Shape, DType) { return 256; };

    runner::Stage stage;
    stage.name = "03_online_softmax";
    stage.title = "maximum and normalizer in one pass";
    stage.variants = {block_per_row};
    stage.baseline = baseline;
    return stage;
}
