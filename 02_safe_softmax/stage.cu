// SPDX-License-Identifier: MIT
// Tells the runner how to check and measure stage 02. The baseline is stage 01.
#include "safe_softmax.cuh"

#include "../01_naive_softmax/naive_softmax.cuh"
#include "common/operations/softmax/call.hpp"

runner::Stage describe_02_safe_softmax() {
    using operations::softmax::Call;
    using operations::softmax::Kind;
    using operations::softmax::operation_of;
    using operations::softmax::Shape;
    using runner::DType;

    runner::Variant baseline;
    baseline.operation = operation_of(Kind::softmax);
    baseline.name = "01_naive_softmax/block_per_row";
    baseline.traffic = {2, 1};
    baseline.launch = [](const Call& call) {
        return naive_softmax::block_per_row(call.input<float>(), call.output<float>(), call.rows,
                                            call.cols, call.stream);
    };
    baseline.partial_sums = [](Shape, DType) { return 256; };
    baseline.overflows = true;

    runner::Variant block_per_row;
    block_per_row.operation = operation_of(Kind::softmax);
    block_per_row.name = "block_per_row";
    block_per_row.summary = "subtracts the maximum first: one more pass";
    block_per_row.traffic = {3, 1};
    block_per_row.launch = [](const Call& call) {
        return safe_softmax::block_per_row(call.input<float>(), call.output<float>(), call.rows,
                                           call.cols, call.stream);
    };
    block_per_row.partial_sums = [](Shape, DType) { return 256; };

    runner::Stage stage;
    stage.name = "02_safe_softmax";
    stage.title = "softmax that cannot overflow";
    stage.variants = {block_per_row};
    stage.baseline = baseline;
    stage.notes = {"02 should be slower than 01: safety costs a third pass over x."};
    return stage;
}
