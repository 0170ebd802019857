// SPDX-License-Identifier: MIT
// Adds the variants of stage 01 that go beyond its lesson.
#include "further/batched_loads.cuh"

#include "common/operations/softmax/call.hpp"

runner::Stage lesson_01_naive_softmax();

runner::Stage describe_01_naive_softmax() {
    using operations::softmax::Call;
    using operations::softmax::Shape;
    using runner::DType;

    runner::Stage stage = lesson_01_naive_softmax();
    runner::Variant batched_loads = stage.variants.back();
    batched_loads.name = "batched_loads";
    batched_loads.summary = "block_per_row, eight loads per thread in flight";
    batched_loads.further = true;
    batched_loads.launch = [](const Call& call) {
        return naive_softmax::batched_loads(call.input<float>(), call.output<float>(), call.rows,
                                            call.cols, call.stream);
    };
    batched_loads.partial_sums = [](Shape shape, DType) {
        return naive_softmax::threads_for(shape.cols);
    };

    stage.variants.push_back(batched_loads);
    return stage;
}
