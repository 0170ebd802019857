// SPDX-License-Identifier: MIT
// Describes the variants with rows on the chip, and the front call, for checks and measurements.
#include <algorithm>
#include <functional>
#include <string>

#include "05_smem_softmax/variants.hpp"
#include "further/functor_rows.cuh"
#include "further/softmax.cuh"

// After the headers: declarations of launchers that another file compiles.
#include "04_warp_softmax/launchers.hpp"

namespace {

using operations::softmax::Call;
using operations::softmax::Kind;
using operations::softmax::operation_of;
using operations::softmax::Shape;
using runner::DType;
using smem_softmax::Algorithm;
using smem_softmax::Cut;
using smem_softmax::GradientOf;
using smem_softmax::operation_on;
using smem_softmax::reads_of;
using smem_softmax::SoftmaxOf;
using smem_softmax::threads_of;

int64_t packs_of(Shape shape, DType dtype) {
    return shape.cols * static_cast<int64_t>(runner::size_of(dtype)) / 16;
}

// Returns the cut of a launch with the runner's scratch. kTensors: 1, or 2 for a gradient.
template <int kTensors>
Cut cut_for(Shape shape, DType dtype) {
    const int elements = 16 / static_cast<int>(runner::size_of(dtype));
    return smem_softmax::cut_for(shape.rows, packs_of(shape, dtype), elements, kTensors,
                                 smem_softmax::this_chip(), true);
}

// Describes a variant that launches a cut.
runner::Variant on_chip(const std::string& name, const std::string& summary,
                        const std::function<Cut(Shape, DType)>& cut_of) {
    runner::Variant variant;
    variant.operation = operation_of(Kind::softmax);
    variant.name = name;
    variant.summary = summary;
    variant.traffic = {1, 1};
    variant.dtypes = runner::all_dtypes();
    variant.traffic_at = [cut_of](Shape shape, DType dtype) -> runner::Traffic {
        return {reads_of(cut_of(shape, dtype), packs_of(shape, dtype)), 1};
    };
    variant.partial_sums = [cut_of](Shape shape, DType dtype) {
        return threads_of(cut_of(shape, dtype), packs_of(shape, dtype));
    };
    return variant;
}

runner::Variant online_cached() {
    const auto cut_of = [](Shape shape, DType dtype) {
        const int64_t packs = packs_of(shape, dtype);
        const smem_softmax::Slice slice = smem_softmax::slice_of(
            packs, smem_softmax::threads_for(packs), 1, smem_softmax::room_for_rows());
        return Cut{smem_softmax::Share::block, 1, slice, 1};
    };
    runner::Variant variant =
        on_chip("online_cached", "a row in registers, the rest in shared memory", cut_of);
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using Operation = SoftmaxOf<Algorithm::softmax, typename decltype(of)::type>;
            return smem_softmax::launch_blocks(operation_on<Operation>(call), call.rows, call.cols,
                                               call.stream);
        });
    };
    return variant;
}

// Returns the number of threads with at least one element of a row.
int64_t threads_of(const smem_softmax::Tile& tile, Shape shape) {
    return std::clamp<int64_t>(shape.cols / tile.pack, 1, tile.threads);
}

runner::Variant short_rows() {
    const auto tile_of = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return smem_softmax::tile_for_rows<T>(shape.rows, shape.cols, true,
                                                  smem_softmax::this_chip().multiprocessors);
        });
    };
    runner::Variant variant;
    variant.operation = operation_of(Kind::softmax);
    variant.name = "short_rows";
    variant.summary = "short rows in registers: fewest instructions";
    variant.traffic = {1, 1};
    variant.dtypes = runner::all_dtypes();
    variant.obstacle = [](Shape shape, DType) -> std::string {
        return shape.cols > 4096 ? "more than 4096 columns, at any address" : "";
    };
    variant.partial_sums = [tile_of](Shape shape, DType dtype) {
        const auto tile = tile_of(shape, dtype);
        return tile ? threads_of(*tile, shape) : 1;
    };
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return smem_softmax::launch_short_rows<Algorithm::softmax>(
                call.input<T>(), call.output<T>(), call.rows, call.cols, call.stream);
        });
    };
    return variant;
}

// Describes the variant that launches SoftmaxOf or GradientOf for this algorithm by its cut.
template <template <Algorithm, class> class Of, Algorithm kAlgorithm>
runner::Variant clusters(const std::string& name, const std::string& summary, Kind kind) {
    constexpr int kInputs = Of<kAlgorithm, float>::kInputs;
    runner::Variant variant = on_chip(name, summary, cut_for<kInputs>);
    variant.operation = operation_of(kind);
    variant.traffic = {kInputs, 1};
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using Operation = Of<kAlgorithm, typename decltype(of)::type>;
            return smem_softmax::launch_rows(operation_on<Operation>(call), call.rows, call.cols,
                                             call.workspace, call.workspace_bytes, call.stream);
        });
    };
    variant.workspace_bytes = [](Shape shape, DType dtype) -> size_t {
        if (shape.rows <= 0 || shape.cols <= 0) return 0;
        return smem_softmax::workspace_bytes_of(cut_for<kInputs>(shape, dtype), shape.rows);
    };
    return variant;
}

// Calls the public function and passes the scratch that its plan asks for.
template <Algorithm kAlgorithm>
runner::Variant front_call(const std::string& name, const std::string& summary) {
    const auto plan_of = [](Shape shape, DType dtype) {
        return runner::visit(dtype, [&](auto of) {
            return softmax_stages::softmax_plan<typename decltype(of)::type>(
                shape.rows, shape.cols, {}, softmax_stages::this_chip(), SIZE_MAX);
        });
    };
    runner::Variant variant = on_chip(
        name, summary, [plan_of](Shape shape, DType dtype) { return plan_of(shape, dtype).cut; });
    const runner::Variant of_cut = variant;
    using softmax_stages::Tier;
    variant.traffic_at = [=](Shape shape, DType dtype) {
        const Tier tier = plan_of(shape, dtype).tier;
        return tier == Tier::lanes || tier == Tier::tile ? of_cut.traffic
                                                         : of_cut.traffic_at(shape, dtype);
    };
    variant.partial_sums = [=](Shape shape, DType dtype) {
        const softmax_stages::SoftmaxPlan plan = plan_of(shape, dtype);
        return plan.tier == Tier::lanes  ? std::clamp<int64_t>(shape.cols / 17, 1, 32)
               : plan.tier == Tier::tile ? threads_of(plan.tile, shape)
                                         : of_cut.partial_sums(shape, dtype);
    };
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using Operation = SoftmaxOf<kAlgorithm, typename decltype(of)::type>;
            return softmax_stages::launch_call(operation_on<Operation>(call), call.rows, call.cols,
                                               {}, call.workspace, call.workspace_bytes,
                                               call.stream);
        });
    };
    variant.workspace_bytes = [plan_of](Shape shape, DType dtype) {
        return plan_of(shape, dtype).workspace_bytes;
    };
    variant.way = [plan_of](Shape shape, DType dtype) {
        constexpr const char* kNames[] = {"lanes", "tile", "block", "cluster", "grid"};
        const softmax_stages::SoftmaxPlan plan = plan_of(shape, dtype);
        const bool in_packs = plan.tier == Tier::tile && plan.tile.threads == 1;
        return std::string(in_packs ? "packs" : kNames[static_cast<int>(plan.tier)]) + ": " +
               plan.reason;
    };
    return variant;
}

}  // namespace

std::vector<runner::Variant> smem_softmax::functor_variants() {
    runner::Variant variant;
    variant.operation = operation_of(Kind::log_softmax);
    variant.name = "log_softmax";
    variant.summary = "the lesson with functors: log, strides";
    variant.traffic = {1, 1};
    variant.dtypes = runner::all_dtypes();
    variant.takes_strides = true;
    variant.obstacle = [](Shape shape, DType dtype) {
        const int64_t most =
            smem_softmax::room_for_rows() / static_cast<int64_t>(runner::size_of(dtype));
        return shape.cols > most ? "more than " + std::to_string(most) + " columns" : std::string();
    };
    variant.launch = [](const Call& call) {
        return runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            const bool apart = call.has_strides();
            return smem_softmax::launch<Algorithm::log_softmax>(
                smem_softmax::DirectLoad<T>{call.input<T>(), apart ? call.x_stride : call.cols},
                smem_softmax::DirectStore<T>{call.output<T>(), apart ? call.y_stride : call.cols},
                call.rows, call.cols, call.stream);
        });
    };
    // A thread adds up whole packs, one after another in wide rows.
    variant.partial_sums = [](Shape shape, DType) {
        return std::clamp<int64_t>(shape.cols / 8, 1, 128);
    };
    return {variant};
}

std::vector<runner::Variant> smem_softmax::on_chip_variants() {
    runner::Variant front_log =
        front_call<Algorithm::log_softmax>("front_log_softmax", "the same for log_softmax");
    front_log.operation = operation_of(Kind::log_softmax);
    return {short_rows(),
            online_cached(),
            clusters<SoftmaxOf, Algorithm::softmax>(
                "cluster_softmax", "a row over up to 16 blocks, or over the grid", Kind::softmax),
            clusters<SoftmaxOf, Algorithm::log_softmax>(
                "cluster_log_softmax", "the same for log_softmax", Kind::log_softmax),
            front_call<Algorithm::softmax>("front_softmax", "the front call: chooses the fastest"),
            front_log,
            clusters<GradientOf, Algorithm::softmax>(
                "softmax_backward", "the gradient of long rows", Kind::softmax_backward),
            clusters<GradientOf, Algorithm::log_softmax>(
                "log_softmax_backward", "the same for log_softmax", Kind::log_softmax_backward)};
}

#define INSTANCE template
#include "05_smem_softmax/on_chip_launchers.hpp"
