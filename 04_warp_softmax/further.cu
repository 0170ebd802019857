// SPDX-License-Identifier: MIT
// Adds the variants of stage 04 that go beyond its lesson.
#include "common/operations/softmax/call.hpp"
#include "further/any_width.cuh"
#include "further/masked_loads.cuh"
#include "further/row_groups.cuh"
#include "further/warp_softmax_backward.cuh"

// After the headers: declares what launchers.cu compiles.
#include "04_warp_softmax/launchers.hpp"

runner::Stage lesson_04_warp_softmax();

namespace {

using operations::softmax::Call;
using operations::softmax::operation_of;
using operations::softmax::Shape;
using runner::DType;
using warp_softmax::Algorithm;
using warp_softmax::ComputeOf;
using warp_softmax::DirectLoad;
using warp_softmax::DirectStore;

// Calls launch(x, y) with pointers of the call's type.
template <class Launch>
cudaError_t with_pointers(const Call& call, Launch launch) {
    return runner::visit(call.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return launch(call.input<T>(), call.output<T>());
    });
}

// Calls front for contiguous rows, or launch with row_groups' functors for rows with strides.
template <Algorithm kAlgorithm, class Front>
cudaError_t forward(const Call& call, Front front) {
    return with_pointers(call, [&](auto x, auto y) {
        using T = std::remove_pointer_t<decltype(y)>;
        if (!call.has_strides()) return front(x, y);
        return warp_softmax::launch<kAlgorithm>(DirectLoad<T>{x, call.x_stride},
                                                DirectStore<T>{y, call.y_stride}, call.rows,
                                                call.cols, call.stream);
    });
}
template <Algorithm kAlgorithm, class Front>
cudaError_t backward(const Call& call, Front front) {
    return runner::visit(call.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        const T* y = call.input<T>();
        const T* dy = call.second_input<T>();
        T* dx = call.output<T>();
        if (!call.has_strides()) return front(y, dy, dx);
        return warp_softmax::launch_backward<kAlgorithm>(
            DirectLoad<T>{y, call.x_stride}, DirectLoad<T>{dy, call.x_stride},
            DirectStore<T>{dx, call.y_stride}, call.rows, call.cols, call.stream);
    });
}

// Returns why a shape is unsupported (a warp's registers cannot hold kOf rows of its width), or an empty string.
template <int kOf>
std::string too_wide(Shape shape, DType dtype) {
    return runner::visit(dtype, [&](auto of) -> std::string {
        constexpr int64_t kMost = warp_softmax::kMaxCols<typename decltype(of)::type> / kOf;
        return shape.cols > kMost ? "more than " + std::to_string(kMost) + " columns" : "";
    });
}

}  // namespace

runner::Stage describe_04_warp_softmax() {
    using operations::softmax::Kind;

    runner::Stage stage = lesson_04_warp_softmax();
    runner::Variant row_groups = stage.variants.back();
    row_groups.name = "row_groups";
    row_groups.summary = "a row in the registers of 1 to 32 lanes";
    row_groups.further = true;
    row_groups.dtypes = runner::all_dtypes();
    row_groups.takes_strides = true;
    row_groups.obstacle = too_wide<1>;
    row_groups.launch = [](const Call& call) {
        return forward<Algorithm::softmax>(call, [&](auto x, auto y) {
            return warp_softmax::row_groups_softmax(x, y, call.rows, call.cols, call.stream);
        });
    };
    // Each lane adds its elements one after another: up to 17 elements if fewer than 32 lanes share a row.
    row_groups.partial_sums = [](Shape shape, DType) {
        return std::clamp<int64_t>(shape.cols / 17, 1, 32);
    };

    runner::Variant any_width = row_groups;
    any_width.name = "softmax_any_width";
    any_width.summary = "odd rows as well, in packs across rows";
    any_width.takes_strides = false;
    any_width.launch = [](const Call& call) {
        return with_pointers(call, [&](auto x, auto y) {
            return warp_softmax::softmax_any_width(x, y, call.rows, call.cols, call.stream);
        });
    };

    runner::Variant log_softmax = row_groups;
    log_softmax.name = "log_softmax";
    log_softmax.summary = "row_groups for log(softmax(x))";
    log_softmax.operation = operation_of(Kind::log_softmax);
    log_softmax.launch = [](const Call& call) {
        return forward<Algorithm::log_softmax>(call, [&](auto x, auto y) {
            return warp_softmax::log_softmax(x, y, call.rows, call.cols, call.stream);
        });
    };

    runner::Variant log_any_width = any_width;
    log_any_width.name = "log_softmax_any_width";
    log_any_width.summary = "softmax_any_width for log_softmax";
    log_any_width.operation = operation_of(Kind::log_softmax);
    log_any_width.launch = [](const Call& call) {
        return with_pointers(call, [&](auto x, auto y) {
            return warp_softmax::log_softmax_any_width(x, y, call.rows, call.cols, call.stream);
        });
    };

    runner::Variant scale_mask = row_groups;
    scale_mask.name = "scale_mask_softmax";
    scale_mask.summary = "scaled and masked by bools: one more byte";
    scale_mask.operation = operation_of(Kind::scale_mask_softmax);
    scale_mask.traffic = {1, 1};
    scale_mask.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            const auto scale = static_cast<ComputeOf<T>>(operations::softmax::kScale);
            const T* x = call.input<T>();
            T* y = call.output<T>();
            if (!call.has_strides()) {
                return warp_softmax::scale_mask_softmax(x, call.mask(), y, scale, call.rows,
                                                        call.cols, call.stream);
            }
            return warp_softmax::launch<Algorithm::softmax>(
                warp_softmax::ScaleMaskLoad<T>{x, call.mask(), scale, call.x_stride},
                DirectStore<T>{y, call.y_stride}, call.rows, call.cols, call.stream);
        });
    };

    runner::Variant causal = row_groups;
    causal.name = "causal_softmax";
    causal.summary = "reads nothing above the diagonal";
    causal.operation = operation_of(Kind::causal_softmax);
    causal.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            const auto scale = static_cast<ComputeOf<T>>(operations::softmax::kScale);
            const int64_t seq = operations::softmax::causal_rows({call.rows, call.cols});
            const T* x = call.input<T>();
            T* y = call.output<T>();
            if (!call.has_strides()) {
                return warp_softmax::causal_softmax(x, y, scale, call.rows, call.cols, seq,
                                                    call.stream);
            }
            return warp_softmax::launch<Algorithm::softmax>(
                warp_softmax::CausalLoad<T>{x, scale, seq, call.x_stride},
                DirectStore<T>{y, call.y_stride}, call.rows, call.cols, call.stream);
        });
    };

    runner::Variant softmax_backward = row_groups;
    softmax_backward.name = "softmax_backward";
    softmax_backward.summary = "the gradient from y and dy: one reduction";
    softmax_backward.operation = operation_of(Kind::softmax_backward);
    softmax_backward.traffic = {2, 1};
    softmax_backward.obstacle = too_wide<2>;
    softmax_backward.launch = [](const Call& call) {
        return backward<Algorithm::softmax>(call, [&](auto y, auto dy, auto dx) {
            return warp_softmax::softmax_backward(y, dy, dx, call.rows, call.cols, call.stream);
        });
    };

    runner::Variant log_softmax_backward = softmax_backward;
    log_softmax_backward.name = "log_softmax_backward";
    log_softmax_backward.summary = "the gradient of log_softmax";
    log_softmax_backward.operation = operation_of(Kind::log_softmax_backward);
    log_softmax_backward.launch = [](const Call& call) {
        return backward<Algorithm::log_softmax>(call, [&](auto y, auto dy, auto dx) {
            return warp_softmax::log_softmax_backward(y, dy, dx, call.rows, call.cols, call.stream);
        });
    };

    stage.variants.insert(stage.variants.end(),
                          {row_groups, any_width, log_softmax, log_any_width, scale_mask, causal,
                           softmax_backward, log_softmax_backward});
    return stage;
}
