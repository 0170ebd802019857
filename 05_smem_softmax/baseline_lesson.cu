// SPDX-License-Identifier: MIT
// The baseline of stage 05, in a separate file, so that an edit of 05's header does not recompile the baseline.
#include "../04_warp_softmax/warp_softmax.cuh"
#include "common/operations/softmax/call.hpp"

namespace smem_softmax_lesson {

using operations::softmax::Call;
using operations::softmax::Kind;
using operations::softmax::operation_of;
using operations::softmax::Shape;
using runner::DType;

runner::Variant baseline_variant() {
    runner::Variant baseline;
    baseline.operation = operation_of(Kind::softmax);
    baseline.name = "04_warp_softmax/softmax";
    baseline.traffic = {1, 1};
    baseline.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    baseline.obstacle = [](Shape shape, DType) -> std::string {
        constexpr int64_t kMost = 32 * warp_softmax::kMaxElements;
        return shape.cols > kMost ? "more than " + std::to_string(kMost) + " columns" : "";
    };
    baseline.launch = [](const Call& call) {
        return runner::visit_but_double(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return warp_softmax::softmax(call.input<T>(), call.output<T>(), call.rows, call.cols,
                                         call.stream);
        });
    };
    baseline.partial_sums = [](Shape shape, DType) {
        return std::clamp<int64_t>(shape.cols / 8, 1, 32);
    };
    return baseline;
}

}  // namespace smem_softmax_lesson
