// SPDX-License-Identifier: MIT
// How the course checks and measures stage 05, against stage 04.
#include "smem_softmax.cuh"

#include "../04_warp_softmax/warp_softmax.cuh"
#include "any_axis_variants.cuh"
#include "common/runner/stage.hpp"
#include "further/softmax.cuh"

namespace {

using runner::Call;
using runner::DType;
using runner::Shape;
using smem_softmax::Algorithm;
using smem_softmax::DirectLoad;
using smem_softmax::DirectStore;

// The front call where rows lie close together; the functors where there are strides.
template <Algorithm kAlgorithm, class Layout, int kRows = 1>
cudaError_t forward(const Call& call) {
    return runner::visit(call.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        const T* x = call.input<T>();
        T* y = call.output<T>();
        if (call.has_strides()) {
            return smem_softmax::launch<kAlgorithm, Layout, kRows>(
                DirectLoad<T>{x, call.x_stride}, DirectStore<T>{y, call.y_stride}, call.rows,
                call.cols, call.stream);
        }
        if constexpr (kAlgorithm == Algorithm::log_softmax) {
            return smem_softmax::log_softmax<Layout>(x, y, call.rows, call.cols, call.stream);
        } else {
            return smem_softmax::softmax<Layout, kRows>(x, y, call.rows, call.cols, call.stream);
        }
    });
}

// What shared memory has no room for: kRows rows of a block.
template <int kRows>
std::string does_not_fit(Shape shape, DType dtype) {
    const int64_t most =
        smem_softmax::room_for_rows() / kRows / static_cast<int64_t>(runner::size_of(dtype));
    return shape.cols > most ? "more than " + std::to_string(most) + " columns" : "";
}

// A thread adds up whole packs of up to kPack elements, and of wide rows one pack after the other.
template <int kThreads, int kPack>
int64_t threads_per_row(Shape shape, DType) {
    return std::clamp<int64_t>(shape.cols / kPack, 1, kThreads);
}

template <class Layout>
runner::Variant four_rows(const std::string& name, const std::string& summary) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.traffic = {1, 1};
    variant.dtypes = runner::all_dtypes();
    variant.takes_strides = true;
    variant.obstacle = does_not_fit<4>;
    variant.launch = forward<Algorithm::softmax, Layout, 4>;
    variant.threads_per_row = threads_per_row<32, 2>;
    return variant;
}

template <class Layout>
runner::Variant block_per_row(const std::string& name, const std::string& summary) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.traffic = {1, 1};
    variant.dtypes = runner::all_dtypes();
    variant.takes_strides = true;
    variant.obstacle = does_not_fit<1>;
    variant.launch = forward<Algorithm::softmax, Layout>;
    variant.threads_per_row = threads_per_row<128, 8>;
    return variant;
}

// How the runner's scratch, which a variant may leave unused, changes what it does.
smem_softmax::Cut cut_of(Shape shape, DType dtype, int tensors) {
    const int64_t packs = shape.cols * static_cast<int64_t>(runner::size_of(dtype)) / 16;
    return smem_softmax::cut_for(shape.rows, packs, tensors, smem_softmax::current_chip(), true);
}
template <int kTensors>
int64_t threads_of_cut(Shape shape, DType dtype) {
    const smem_softmax::Cut cut = cut_of(shape, dtype, kTensors);
    const int64_t packs = shape.cols * static_cast<int64_t>(runner::size_of(dtype)) / 16;
    return std::min<int64_t>(int64_t{cut.blocks} * cut.slice.threads, std::max<int64_t>(1, packs));
}

runner::Variant on_chip(const std::string& name, const std::string& summary) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.traffic = {1, 1};
    variant.dtypes = runner::all_dtypes();
    return variant;
}

runner::Variant online_cached() {
    runner::Variant variant =
        on_chip("online_cached", "a row in registers, what is left in shared");
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return smem_softmax::online_cached_softmax(call.input<T>(), call.output<T>(), call.rows,
                                                       call.cols, call.stream);
        });
    };
    variant.threads_per_row = [](Shape shape, DType dtype) -> int64_t {
        const int64_t packs = shape.cols * static_cast<int64_t>(runner::size_of(dtype)) / 16;
        return std::min<int64_t>(smem_softmax::threads_for(packs), std::max<int64_t>(1, packs));
    };
    return variant;
}

template <Algorithm kAlgorithm>
runner::Variant clusters(const std::string& name, const std::string& summary) {
    runner::Variant variant = on_chip(name, summary);
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return smem_softmax::launch_clusters<kAlgorithm>(call.input<T>(), call.output<T>(),
                                                             call.rows, call.cols, call.workspace,
                                                             call.workspace_bytes, call.stream);
        });
    };
    variant.threads_per_row = threads_of_cut<1>;
    variant.workspace_bytes = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) {
            return smem_softmax::cluster_softmax_workspace_bytes<typename decltype(of)::type>(
                shape.rows, shape.cols);
        });
    };
    return variant;
}

// The front call, with the scratch that its plan asks for.
template <Algorithm kAlgorithm>
runner::Variant front_call(const std::string& name, const std::string& summary) {
    const auto plan_of = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) {
            return softmax_stages::plan<typename decltype(of)::type>(
                shape.rows, shape.cols, softmax_stages::this_chip(), SIZE_MAX);
        });
    };
    runner::Variant variant = on_chip(name, summary);
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return softmax_stages::of_rows<kAlgorithm>(call.input<T>(), call.output<T>(), call.rows,
                                                       call.cols, call.workspace,
                                                       call.workspace_bytes, call.stream);
        });
    };
    variant.threads_per_row = [plan_of](Shape shape, DType dtype) -> int64_t {
        const softmax_stages::Plan plan = plan_of(shape, dtype);
        if (plan.tier == softmax_stages::Tier::lanes) {
            return std::clamp<int64_t>(shape.cols / 17, 1, 32);
        }
        const int64_t packs = shape.cols * static_cast<int64_t>(runner::size_of(dtype)) / 16;
        return std::clamp<int64_t>(int64_t{plan.cut.blocks} * plan.cut.slice.threads, 1,
                                   std::max<int64_t>(1, packs));
    };
    variant.workspace_bytes = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) {
            return softmax_stages::softmax_workspace_bytes<typename decltype(of)::type>(shape.rows,
                                                                                        shape.cols);
        });
    };
    variant.way = [plan_of](Shape shape, DType dtype) {
        return std::string(plan_of(shape, dtype).reason);
    };
    return variant;
}

template <Algorithm kAlgorithm>
runner::Variant backward(const std::string& name, const std::string& summary,
                         runner::Operation operation) {
    runner::Variant variant = on_chip(name, summary);
    variant.operation = operation;
    variant.traffic = {2, 1};
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return smem_softmax::launch_backward<kAlgorithm>(
                call.input<T>(), call.second_input<T>(), call.output<T>(), call.rows, call.cols,
                call.workspace, call.workspace_bytes, call.stream);
        });
    };
    variant.threads_per_row = threads_of_cut<2>;
    variant.workspace_bytes = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) {
            return smem_softmax::softmax_backward_workspace_bytes<typename decltype(of)::type>(
                shape.rows, shape.cols);
        });
    };
    return variant;
}

}  // namespace

runner::Stage describe_05_smem_softmax() {
    runner::Variant baseline;
    baseline.name = "04_warp_softmax/softmax";
    baseline.traffic = {1, 1};
    baseline.dtypes = runner::all_dtypes();
    baseline.obstacle = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) -> std::string {
            constexpr int64_t kMost = warp_softmax::kMaxCols<typename decltype(of)::type>;
            return shape.cols > kMost ? "more than " + std::to_string(kMost) + " columns" : "";
        });
    };
    baseline.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return warp_softmax::softmax(call.input<T>(), call.output<T>(), call.rows, call.cols,
                                         call.stream);
        });
    };
    baseline.threads_per_row = [](Shape shape, DType) {
        return std::clamp<int64_t>(shape.cols / 17, 1, 32);
    };

    const runner::Variant four_rows_packed = four_rows<smem_softmax::Packed>(
        "four_rows_packed", "four rows a block, in their order: conflicts");
    const runner::Variant four_rows_interleaved = four_rows<smem_softmax::Interleaved>(
        "four_rows_interleaved", "four rows a block, packs split up: none");

    // Of one row, nvcc knows where it lies.
    runner::Variant packed =
        block_per_row<smem_softmax::Packed>("packed", "a row a block: nvcc fuses what conflicts");
    packed.shared_accesses_fuse = true;
    const runner::Variant interleaved =
        block_per_row<smem_softmax::Interleaved>("interleaved", "OneFlow's way round the conflict");
    const runner::Variant softmax =
        block_per_row<smem_softmax::Whole>("softmax", "16 bytes at a time, in and out");

    runner::Variant log_softmax =
        block_per_row<smem_softmax::Whole>("log_softmax", "log(softmax(x)), from the same row");
    log_softmax.operation = runner::Operation::log_softmax;
    log_softmax.launch = forward<Algorithm::log_softmax, smem_softmax::Whole>;

    runner::Variant uncached =
        block_per_row<smem_softmax::Uncached>("uncached", "any width: x is read three times");
    uncached.traffic = {3, 1};
    uncached.obstacle = {};
    uncached.threads_per_row = threads_per_row<1024, 8>;

    runner::Stage stage;
    stage.name = "05_smem_softmax";
    stage.title = "a row lives in shared memory";
    stage.header = "05_smem_softmax/smem_softmax.cuh";
    runner::Variant cluster_log = clusters<Algorithm::log_softmax>(
        "cluster_log_softmax", "log(softmax(x)), from the same clusters");
    cluster_log.operation = runner::Operation::log_softmax;

    stage.variants = {four_rows_packed,
                      four_rows_interleaved,
                      packed,
                      interleaved,
                      softmax,
                      log_softmax,
                      uncached,
                      online_cached(),
                      clusters<Algorithm::softmax>("cluster_softmax",
                                                   "a row over up to 16 blocks, or over the grid"),
                      cluster_log};
    runner::Variant front_log =
        front_call<Algorithm::log_softmax>("front_log_softmax", "the same of log_softmax");
    front_log.operation = runner::Operation::log_softmax;
    stage.variants.push_back(front_call<Algorithm::softmax>(
        "front_softmax", "the front call: the way that takes the least time"));
    stage.variants.push_back(front_log);
    stage.variants.push_back(backward<Algorithm::softmax>("softmax_backward",
                                                          "the gradient of rows of any length",
                                                          runner::Operation::softmax_backward));
    stage.variants.push_back(
        backward<Algorithm::log_softmax>("log_softmax_backward", "the same of log_softmax",
                                         runner::Operation::log_softmax_backward));
    for (const runner::Variant& variant : smem_softmax::any_axis_variants()) {
        stage.variants.push_back(variant);
    }
    stage.baseline = baseline;
    return stage;
}
