// SPDX-License-Identifier: MIT
#include "oneflow_block_softmax.cuh"

#include "common/peers/peers.hpp"

namespace {

namespace kernels = ::oneflow_block_softmax;
using kernels::Algorithm;
using operations::softmax::Call;
using operations::softmax::Kind;
using operations::softmax::operation_of;
using runner::DType;

template <Algorithm kAlgorithm>
std::string too_narrow(operations::softmax::Shape shape, DType) {
    const int64_t most = ::oneflow_warp_softmax::most_cols(kAlgorithm);
    return shape.cols <= most ? std::to_string(most) + " columns or less: the first tier's" : "";
}

}  // namespace

peers::Peer peers::oneflow_block_softmax() {
    runner::Variant softmax;
    softmax.operation = operation_of(Kind::softmax);
    softmax.name = "softmax";
    softmax.summary = "OneFlow's second and third tier: rows in shared memory, or read thrice";
    softmax.traffic = {1, 1};  // of the second
    softmax.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    softmax.obstacle = too_narrow<Algorithm::softmax>;
    softmax.launch = [](const Call& call) {
        return with_pointers(call, [&](const auto* x, auto* y) {
            return kernels::softmax(x, y, call.rows, call.cols, call.stream);
        });
    };
    softmax.partial_sums = [](operations::softmax::Shape, DType) { return 128; };  // or more

    runner::Variant log_softmax = softmax;
    log_softmax.name = "log_softmax";
    log_softmax.summary = "OneFlow's second and third tier: the logarithm of it";
    log_softmax.operation = operation_of(Kind::log_softmax);
    log_softmax.obstacle = too_narrow<Algorithm::log_softmax>;
    log_softmax.launch = [](const Call& call) {
        return with_pointers(call, [&](const auto* x, auto* y) {
            return kernels::log_softmax(x, y, call.rows, call.cols, call.stream);
        });
    };

    Peer peer;
    peer.stage.name = "oneflow_block_softmax";
    peer.stage.title = "OneFlow's softmax of long rows";
    peer.stage.variants = {softmax, log_softmax};
    return peer;
}
