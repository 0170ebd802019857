// SPDX-License-Identifier: MIT
// How the course checks and measures stage 01.
#include "naive_softmax.cuh"

#include "common/runner/stage.hpp"
#include "further/batched_loads.cuh"

runner::Stage describe_01_naive_softmax() {
    using runner::Call;
    using runner::DType;
    using runner::Shape;

    runner::Variant thread_per_row;
    thread_per_row.name = "thread_per_row";
    thread_per_row.summary = "a thread walks a row: uncoalesced";
    thread_per_row.traffic = {2, 1};
    thread_per_row.launch = [](const Call& call) {
        return naive_softmax::thread_per_row(call.input<float>(), call.output<float>(), call.rows,
                                             call.cols, call.stream);
    };
    thread_per_row.threads_per_row = [](Shape, DType) { return 1; };
    thread_per_row.overflows = true;

    runner::Variant block_per_row = thread_per_row;
    block_per_row.name = "block_per_row";
    block_per_row.summary = "a block of 256 threads walks a row: coalesced";
    block_per_row.launch = [](const Call& call) {
        return naive_softmax::block_per_row(call.input<float>(), call.output<float>(), call.rows,
                                            call.cols, call.stream);
    };
    block_per_row.threads_per_row = [](Shape, DType) { return 256; };

    runner::Variant batched_loads = block_per_row;
    batched_loads.name = "batched_loads";
    batched_loads.summary = "eight loads of each thread in flight";
    batched_loads.launch = [](const Call& call) {
        return naive_softmax::batched_loads(call.input<float>(), call.output<float>(), call.rows,
                                            call.cols, call.stream);
    };
    batched_loads.threads_per_row = [](Shape shape, DType) {
        return naive_softmax::threads_for(shape.cols);
    };

    runner::Stage stage;
    stage.name = "01_naive_softmax";
    stage.title = "softmax as the textbook writes it";
    stage.header = "01_naive_softmax/naive_softmax.cuh";
    stage.variants = {thread_per_row, block_per_row, batched_loads};
    return stage;
}
