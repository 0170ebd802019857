// SPDX-License-Identifier: MIT
#include "oneflow_warp_softmax.cuh"

#include "common/peers/peers.hpp"

// A type's kernels take as long to compile as all else here: each has a file of its own.
extern template cudaError_t oneflow_warp_softmax::softmax(const __half*, __half*, int64_t, int64_t,
                                                          cudaStream_t);
extern template cudaError_t oneflow_warp_softmax::softmax(const __nv_bfloat16*, __nv_bfloat16*,
                                                          int64_t, int64_t, cudaStream_t);

namespace {

namespace kernels = ::oneflow_warp_softmax;
using kernels::Algorithm;
using operations::softmax::Call;
using operations::softmax::Kind;
using operations::softmax::operation_of;
using runner::DType;

template <Algorithm kAlgorithm>
std::string too_wide(operations::softmax::Shape shape, DType) {
    const int64_t most = kernels::most_cols(kAlgorithm);
    return shape.cols > most ? "more than " + std::to_string(most) + " columns" : "";
}

}  // namespace

peers::Peer peers::oneflow_warp_softmax() {
    runner::Variant softmax;
    softmax.operation = operation_of(Kind::softmax);
    softmax.name = "softmax";
    softmax.summary = "OneFlow's first tier: rows in registers";
    softmax.traffic = {1, 1};
    softmax.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    softmax.obstacle = too_wide<Algorithm::softmax>;
    softmax.launch = [](const Call& call) {
        return with_pointers(call, [&](const auto* x, auto* y) {
            return kernels::softmax(x, y, call.rows, call.cols, call.stream);
        });
    };
    softmax.partial_sums = [](operations::softmax::Shape shape, DType) {
        return std::clamp<int64_t>(shape.cols / 2, 1, 32);
    };

    runner::Variant log_softmax = softmax;
    log_softmax.name = "log_softmax";
    log_softmax.summary = "OneFlow's first tier: the logarithm of it";
    log_softmax.operation = operation_of(Kind::log_softmax);
    log_softmax.dtypes = {DType::float32};  // nobody times the others: a minute less to compile
    log_softmax.obstacle = too_wide<Algorithm::log_softmax>;
    log_softmax.launch = [](const Call& call) {
        return kernels::log_softmax(call.input<float>(), call.output<float>(), call.rows, call.cols,
                                    call.stream);
    };

    Peer peer;
    peer.stage.name = "oneflow_warp_softmax";
    peer.stage.title = "OneFlow's softmax of short rows";
    peer.stage.variants = {softmax, log_softmax};
    return peer;
}
