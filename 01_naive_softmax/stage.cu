// SPDX-License-Identifier: MIT
// Tells the runner how to check and measure the lesson of stage 01. further.cu adds the variants beyond the lesson.
#include "naive_softmax.cuh"

#include "common/operations/softmax/call.hpp"

runner::Stage lesson_01_naive_softmax() {
    using operations::softmax::Call;
    using operations::softmax::Kind;
    using operations::softmax::operation_of;
    using operations::softmax::Shape;
    using runner::DType;

    runner::Variant thread_per_row;
    thread_per_row.operation = operation_of(Kind::softmax);
    thread_per_row.name = "thread_per_row";
    thread_per_row.summary = "one thread per row: uncoalesced loads";
    thread_per_row.traffic = {2, 1};
    thread_per_row.launch = [](const Call& call) {
        return naive_softmax::thread_per_row(call.input<float>(), call.output<float>(), call.rows,
                                             call.cols, call.stream);
    };
    thread_per_row.partial_sums = [](Shape, DType) { return 1; };
    thread_per_row.overflows = true;

    runner::Variant block_per_row = thread_per_row;
    block_per_row.name = "block_per_row";
    block_per_row.summary = "one block of 256 threads per row: coalesced";
    block_per_row.launch = [](const Call& call) {
        return naive_softmax::block_per_row(call.input<float>(), call.output<float>(), call.rows,
                                            call.cols, call.stream);
    };
    block_per_row.partial_sums = [](Shape, DType) { return 256; };

    runner::Stage stage;
    stage.name = "01_naive_softmax";
    stage.title = "softmax as the textbook writes it";
    stage.variants = {thread_per_row, block_per_row};
    return stage;
}
