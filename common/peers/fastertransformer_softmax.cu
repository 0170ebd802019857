// SPDX-License-Identifier: MIT
// A matrix of rows x cols as attention scores [batch, heads, cols, cols], under a mask of ones.
#include "fastertransformer_softmax.cuh"

#include "common/peers/peers.hpp"
#include "common/runner/device.hpp"
#include "invalid_fastertransformer.cuh"

namespace {

namespace kernels = ::fastertransformer_softmax;
using operations::softmax::Call;
using operations::softmax::Kind;
using operations::softmax::operation_of;
using operations::softmax::Shape;
using runner::DType;

struct Batches {
    int64_t batch;
    int64_t heads;
};

// 32 batches and 64 heads, as in the table that this is about; else one batch, whose heads share one
// mask: what is read of it hardly counts.
Batches batches_of(Shape shape) {
    const int64_t matrices = shape.rows / shape.cols;
    const int64_t batch = matrices % (32 * 64) == 0 ? 32 : 1;
    return {batch, matrices / batch};
}

// At least so many ones on the device, kept from call to call: made where a result is judged first,
// and there already when it is timed.
template <class T>
const T* ones(int64_t count) {
    static auto& kept = *new runner::DeviceBuffer<T>;  // the device may be gone when statics go
    if (kept.size() < static_cast<size_t>(count)) {
        kept = runner::DeviceBuffer<T>();  // first, to make room
        kept = runner::DeviceBuffer<T>(std::vector<T>(static_cast<size_t>(count), T(1.f)));
    }
    return kept.data();
}

// launch(x, y, mask, batches) with pointers of the call's type.
template <class Launch>
cudaError_t with_mask(const Call& call, Launch launch) {
    const Batches batches = batches_of({call.rows, call.cols});
    const int64_t elements = batches.batch * call.cols * call.cols;
    if (call.dtype == DType::float16) {
        return launch(call.input<__half>(), call.output<__half>(), ones<__half>(elements), batches);
    }
    return launch(call.input<float>(), call.output<float>(), ones<float>(elements), batches);
}

std::string no_matrices(Shape shape) {
    return shape.rows % shape.cols == 0 ? "" : "wants square matrices: rows a multiple of columns";
}

std::string beyond(int64_t limit) {
    return "more than " + std::to_string(limit) + " columns";
}

std::string obstacle_to_v1(Shape shape, DType) {
    if (shape.cols > kernels::kV1MaxLength) return beyond(kernels::kV1MaxLength);
    if (elements(shape) > kernels::kV1MaxElements) return "counts elements in 32 bits";
    return no_matrices(shape);
}

std::string obstacle_to_v5(Shape shape, DType dtype) {
    const int64_t limit = kernels::v5_max_length(dtype == DType::float16 && shape.cols % 2 == 0);
    if (shape.cols > limit) return beyond(limit);
    if (shape.rows % shape.cols == 0 && batches_of(shape).heads > kernels::kMostOfGrid) {
        return "more than " + std::to_string(kernels::kMostOfGrid) + " heads";
    }
    return no_matrices(shape);
}

runner::Variant v1() {
    runner::Variant variant;
    variant.operation = operation_of(Kind::softmax);
    variant.name = "v1";
    variant.summary = "FasterTransformer 1.0: an element a thread";
    variant.traffic = {1, 1};  // and the mask
    variant.dtypes = {DType::float32, DType::float16};
    variant.obstacle = obstacle_to_v1;
    variant.launch = [](const Call& call) {
        return with_mask(call, [&](const auto* x, auto* y, const auto* mask, Batches batches) {
            return kernels::v1(x, y, mask, batches.batch, batches.heads, call.cols, 1.f,
                               call.stream);
        });
    };
    variant.partial_sums = [](Shape shape, DType) { return shape.cols; };
    return variant;
}

runner::Variant v5() {
    runner::Variant variant = v1();
    variant.name = "v5";
    variant.summary = "FasterTransformer 5: up to four elements a thread, half by pairs";
    variant.obstacle = obstacle_to_v5;
    variant.launch = [](const Call& call) {
        return with_mask(call, [&](const auto* x, auto* y, const auto* mask, Batches batches) {
            return kernels::v5(x, y, mask, batches.batch, batches.heads, call.cols, 1.f,
                               call.stream);
        });
    };
    variant.partial_sums = [](Shape shape, DType) { return std::min<int64_t>(shape.cols, 1024); };
    return variant;
}

}  // namespace

peers::Peer peers::fastertransformer_softmax() {
    Peer peer;
    peer.stage.name = "fastertransformer_softmax";
    peer.stage.title = "FasterTransformer's softmax of attention scores";
    peer.stage.variants = {v1(), v5()};
    return peer;
}

peers::Peer peers::invalid_fastertransformer() {
    runner::Variant variant = v1();
    variant.name = "input_unused";
    variant.summary = "WRONG: what a well-known table calls FasterTransformer; never looks at x";
    variant.traffic = {0, 1};
    variant.obstacle = [](Shape shape, DType dtype) -> std::string {
        if (shape.cols == 1) return "right for one column, whatever it holds";
        return obstacle_to_v1(shape, dtype);
    };
    variant.launch = [](const Call& call) {
        const Batches batches = batches_of({call.rows, call.cols});
        const auto launch = [&](const auto* x, auto* y) {
            return ::invalid_fastertransformer::v1_without_input(x, y, batches.batch, batches.heads,
                                                                 call.cols, call.stream);
        };
        return call.dtype == DType::float16 ? launch(call.input<__half>(), call.output<__half>())
                                            : launch(call.input<float>(), call.output<float>());
    };

    Peer peer;
    peer.stage.name = "invalid_fastertransformer";
    peer.stage.title = "a kernel that uses no input";
    peer.stage.variants = {variant};
    peer.invalid = true;
    return peer;
}
