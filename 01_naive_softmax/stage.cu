// SPDX-License-Identifier: MIT
// How the course checks and measures stage 01.
#include "naive_softmax.cuh"

#include "common/operations/softmax/call.hpp"
#include "further/batched_loads.cuh"

runner::Stage describe_01_naive_softmax() {
    using operations::softmax::Call;
    using operations::softmax::Kind;
    using operations::softmax::operation_of;
    using operations::softmax::Shape;
    using runner::DType;

    runner::Variant thread_per_row;
    thread_per_row.operation = operation_of(Kind::softmax);
    thread_per_row.name = "thread_per_row";
    thread_per_row.summary = "a thread walks a row: uncoalesced";
    thread_per_row.traffic = {2, 1};
    thread_per_row.launch = [](const Call& call) {
        return naive_softmax::thread_per_row(call.input<float>(), call.output<float>(), call.rows,
                                             call.cols, call.stream);
    };
    thread_per_row.partial_sums = [](Shape, DType) { return 1; };
    thread_per_row.overflows = true;

    runner::Variant block_per_row = thread_per_row;
    block_per_row.name = "block_per_row";
    block_per_row.summary = "a block of 256 threads walks a row: coalesced";
    block_per_row.launch = [](const Call& call) {
        return naive_softmax::block_per_row(call.input<float>(), call.output<float>(), call.rows,
                                            call.cols, call.stream);
    };
    block_per_row.partial_sums = [](Shape, DType) { return 256; };

    runner::Variant batched_loads = block_per_row;
    batched_loads.name = "batched_loads";
    batched_loads.summary = "eight loads of each thread in flight";
    batched_loads.further = true;
    batched_loads.launch = [](const Call& call) {
        return naive_softmax::batched_loads(call.input<float>(), call.output<float>(), call.rows,
                                            call.cols, call.stream);
    };
    batched_loads.partial_sums = [](Shape shape, DType) {
        return naive_softmax::threads_for(shape.cols);
    };

    runner::Stage stage;
    stage.name = "01_naive_softmax";
    stage.title = "softmax as the textbook writes it";
    stage.variants = {thread_per_row, block_per_row, batched_loads};
    return stage;
}
