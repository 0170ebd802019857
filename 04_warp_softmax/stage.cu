// SPDX-License-Identifier: MIT
// Tells the runner how to check and measure the lesson of stage 04. The baseline is stage 03.
#include "warp_softmax.cuh"

#include "../03_online_softmax/online_softmax.cuh"
#include "common/operations/softmax/call.hpp"

namespace {

using operations::softmax::Call;
using operations::softmax::operation_of;
using operations::softmax::Shape;
using runner::DType;

// Columns of the widest row that a warp of the lesson holds.
constexpr int64_t kMostCols = 32 * warp_softmax::kMaxElements;
std::string too_wide_for_a_warp(Shape shape, DType) {
    return shape.cols > kMostCols ? "more than " + std::to_string(kMostCols) + " columns" : "";
}

}  // namespace

runner::Stage lesson_04_warp_softmax() {
    using operations::softmax::Kind;

    runner::Variant baseline;
    baseline.operation = operation_of(Kind::softmax);
    baseline.name = "03_online_softmax/block_per_row";
    baseline.traffic = {2, 1};
    baseline.launch = [](const Call& call) {
        return online_softmax::block_per_row(call.input<float>(), call.output<float>(), call.rows,
                                             call.cols, call.stream);
    };
    baseline.partial_sums = [](Shape, DType) { return 256; };

    runner::Variant softmax;
    softmax.operation = operation_of(Kind::softmax);
    softmax.name = "softmax";
    softmax.summary = "a row in the registers of a warp: one read";
    softmax.traffic = {1, 1};
    softmax.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    softmax.obstacle = too_wide_for_a_warp;
    softmax.launch = [](const Call& call) {
        return runner::visit_but_double(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return warp_softmax::softmax(call.input<T>(), call.output<T>(), call.rows, call.cols,
                                         call.stream);
        });
    };
    // All lanes that have a pack add in parallel; the first lanes may have one pack more than the others.
    softmax.partial_sums = [](Shape shape, DType dtype) {
        const int64_t pack = 16 / static_cast<int64_t>(runner::size_of(dtype));
        const int64_t of_a_lane = (shape.cols + 32 * pack - 1) / (32 * pack) * pack;
        return std::clamp<int64_t>(shape.cols / std::max<int64_t>(1, of_a_lane), 1, 32);
    };

    runner::Stage stage;
    stage.name = "04_warp_softmax";
    stage.title = "a row lives in registers";
    stage.variants = {softmax};
    stage.baseline = baseline;
    return stage;
}
