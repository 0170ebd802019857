// SPDX-License-Identifier: MIT
#include "nvidia_online_softmax.cuh"

#include "common/operations/topk/variant.hpp"
#include "common/peers/peers.hpp"

peers::Peer peers::nvidia_online_softmax() {
    using operations::softmax::Call;
    using operations::softmax::Kind;
    using operations::softmax::operation_of;
    namespace kernels = ::nvidia_online_softmax;

    runner::Variant naive;
    naive.operation = operation_of(Kind::softmax);
    naive.name = "naive";
    naive.summary = "NVIDIA/online-softmax, Algorithm 1: no maximum";
    naive.traffic = {2, 1};
    naive.launch = [](const Call& call) {
        return kernels::naive(call.input<float>(), call.output<float>(), call.rows, call.cols,
                              call.stream);
    };
    naive.partial_sums = [](operations::softmax::Shape shape, runner::DType) {
        return kernels::threads_for(shape.cols);
    };
    naive.overflows = true;

    runner::Variant safe = naive;
    safe.name = "safe";
    safe.summary = "NVIDIA/online-softmax, Algorithm 2: the maximum first";
    safe.traffic = {3, 1};
    safe.launch = [](const Call& call) {
        return kernels::safe(call.input<float>(), call.output<float>(), call.rows, call.cols,
                             call.stream);
    };
    safe.overflows = false;

    runner::Variant online = safe;
    online.name = "online";
    online.summary = "NVIDIA/online-softmax, Algorithm 3: one pass for both";
    online.traffic = {2, 1};
    online.launch = [](const Call& call) {
        return kernels::online(call.input<float>(), call.output<float>(), call.rows, call.cols,
                               call.stream);
    };

    const auto with_topk = [](const char* name, const char* summary, double loads, auto launcher) {
        using operations::topk::Shape;
        runner::Variant variant;
        variant.operation = operation_of(operations::topk::Kind::softmax_topk);
        variant.name = name;
        variant.summary = summary;
        variant.traffic = {loads, 0};
        variant.takes = {operations::topk::kOption};
        variant.obstacle = operations::topk::at_most(kernels::kPlaces);
        variant.launch = [launcher](const runner::Call& call) {
            const Shape shape = call.shape;
            return launcher(call.input<float>("x"), call.output<float>("values"),
                            call.output<int32_t>("indices"), shape.rows, shape.cols, shape.k,
                            call.stream);
        };
        variant.partial_sums = [](const Shape& shape, runner::DType) {
            return kernels::threads_for(shape.cols, kernels::kLeastForTopk);
        };
        return variant;
    };

    Peer peer;
    peer.stage.name = "nvidia_online_softmax";
    peer.stage.title = "the kernels of the 2018 paper";
    peer.stage.variants = {
        naive, safe, online,
        with_topk("safe_topk", "NVIDIA/online-softmax: the maximum, then sum and best", 2,
                  kernels::topk<false>),
        with_topk("online_topk", "NVIDIA/online-softmax, Algorithm 4: one pass for all", 1,
                  kernels::topk<true>)};
    return peer;
}
