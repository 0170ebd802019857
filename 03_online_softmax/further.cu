// SPDX-License-Identifier: MIT
// Adds the variants of stage 03 that go beyond its lesson.
#include "further/batched.cuh"
#include "further/log_sum_exp.cuh"
#include "further/split_row.cuh"

#include "common/operations/softmax/call.hpp"

runner::Stage lesson_03_online_softmax();

runner::Stage describe_03_online_softmax() {
    using operations::softmax::Call;
    using operations::softmax::Kind;
    using operations::softmax::operation_of;
    using operations::softmax::Shape;
    using runner::DType;

    runner::Stage stage = lesson_03_online_softmax();
    const runner::Variant block_per_row = stage.variants.back();

    runner::Variant batched = block_per_row;
    batched.name = "batched";
    batched.summary = "block_per_row, tuned: batches of eight loads";
    batched.further = true;
    batched.launch = [](const Call& call) {
        return online_softmax::batched(call.input<float>(), call.output<float>(), call.rows,
                                       call.cols, call.stream);
    };
    batched.partial_sums = [](Shape shape, DType) {
        return online_softmax::threads_for(shape.cols);
    };

    runner::Variant split_row = block_per_row;
    split_row.name = "split_row";
    split_row.summary = "many blocks per row, in two launches";
    split_row.further = true;
    split_row.launch = [](const Call& call) {
        return online_softmax::split_row(call.input<float>(), call.output<float>(), call.rows,
                                         call.cols, call.workspace, call.workspace_bytes,
                                         call.stream);
    };
    split_row.partial_sums = [](Shape shape, DType) {
        const int64_t adds = (online_softmax::slice_cols_for(shape.cols) + 255) / 256;
        return std::max<int64_t>(256, shape.cols / adds);  // a thread adds up to `adds` elements
    };
    split_row.workspace_bytes = [](Shape shape, DType) {
        return online_softmax::split_row_workspace_bytes(shape.rows, shape.cols);
    };

    runner::Variant log_softmax = batched;
    log_softmax.name = "log_softmax";
    log_softmax.summary = "log(softmax(x)), keeps tiny probabilities";
    log_softmax.operation = operation_of(Kind::log_softmax);
    log_softmax.launch = [](const Call& call) {
        return online_softmax::log_softmax(call.input<float>(), call.output<float>(), call.rows,
                                           call.cols, call.stream);
    };

    runner::Variant log_sum_exp = batched;
    log_sum_exp.name = "log_sum_exp";
    log_sum_exp.summary = "log(sum of exp(x)): one result per row";
    log_sum_exp.operation = operation_of(Kind::log_sum_exp);
    log_sum_exp.traffic = {1, 0};
    log_sum_exp.launch = [](const Call& call) {
        return online_softmax::log_sum_exp(call.input<float>(), call.output<float>(), call.rows,
                                           call.cols, call.stream);
    };

    stage.variants.insert(stage.variants.end(), {batched, split_row, log_softmax, log_sum_exp});
    return stage;
}
