// SPDX-License-Identifier: MIT
// Describes each kernel of sampling, and the front call, for checks and measurements.
#include <string>

#include "06_softmax_topk/variants.hpp"
#include "common/operations/sampling/variant.hpp"
#include "further/sample.cuh"

namespace {

using operations::sampling::Kind;
using operations::sampling::Shape;
using runner::DType;
using softmax_stages::SamplePlan;
using softmax_topk::sampling::Way;

softmax_stages::SampleOptions in_header(const operations::sampling::Options& options) {
    return {
        static_cast<float>(options.temperature), options.top_k, static_cast<float>(options.top_p),
        static_cast<float>(options.min_p),       options.seed,  0};
}

// Returns the number of cuts, each of which reads the row once.
int cuts_of(const Shape& shape) {
    const bool cuts_k = shape.options.top_k > 0 && shape.options.top_k < shape.cols;
    return (cuts_k ? 1 : 0) + (shape.options.top_p < 1 ? 1 : 0);
}
// Returns the minimum number of reads of the row by `cuts`: one for the maximum, one per cut, and one for the masses of
// the parts. A search for top-p also computes these masses, so that without min-p the last read is
// not needed.
runner::Traffic traffic_of_cuts(const Shape& shape, DType) {
    const bool knows_masses = shape.options.top_p < 1 && shape.options.min_p == 0;
    return {1. + cuts_of(shape) + (knows_masses ? 0 : 1), 0};
}

// Returns the reads beyond these that the checks allow: after each wrong guess of a cut's place, and for a cut
// through many equal elements, the block reads the row again.
runner::Traffic more_traffic_of_cuts(const Shape& shape, DType) {
    constexpr double kReadsAgain = 8;
    return {cuts_of(shape) * kReadsAgain, 0};
}
constexpr const char* kWhyCutsReadMore =
    "a sample and a part of the row are read again, and the row after a wrong guess of a cut";

// Completes a variant's description. (The operation's tolerance covers the second read of the chosen part.)
runner::Variant with(runner::Variant variant) {
    variant.further = true;
    variant.partial_sums = [](const Shape& shape, DType) {
        return softmax_topk::sampling::threads_for(shape.cols);
    };
    return variant;
}

// Launches this kernel, whichever the front call would choose, without a workspace.
runner::Variant way(const std::string& name, const std::string& summary,
                    softmax_topk::sampling::Way way) {
    const auto launcher = [way](const auto* x, auto* columns, float* probabilities, int64_t rows,
                                int64_t cols, const operations::sampling::Options& options, void*,
                                size_t, cudaStream_t stream) {
        namespace sampling = softmax_topk::sampling;
        if (rows == 0) return cudaSuccess;
        return sampling::launch_rows(way, x, rows, cols,
                                     softmax_stages::draws_of(in_header(options), cols),
                                     sampling::chosen_to(columns, probabilities), stream);
    };
    return with(operations::sampling::variant_of(Kind::sample_token, name, summary, launcher));
}

SamplePlan planned(const Shape& shape, DType dtype) {
    return runner::visit(dtype, [&](auto of) {
        return softmax_stages::sample_plan<typename decltype(of)::type>(
            shape.rows, shape.cols, in_header(shape.options), softmax_stages::this_chip(),
            SIZE_MAX);
    });
}

runner::Variant front(const std::string& name, const std::string& summary, Kind kind) {
    const auto launcher = [](const auto* x, auto* columns, float* probabilities, int64_t rows,
                             int64_t cols, const operations::sampling::Options& options,
                             auto... rest) {
        return softmax_stages::sample(x, columns, probabilities, rows, cols, in_header(options),
                                      rest...);
    };
    runner::Variant variant = with(operations::sampling::variant_of(kind, name, summary, launcher));
    variant.workspace_bytes = [](const Shape& shape, DType dtype) {
        return planned(shape, dtype).workspace_bytes;
    };
    variant.traffic_at = [](const Shape& shape, DType dtype) {
        return planned(shape, dtype).way == softmax_topk::sampling::Way::cuts
                   ? traffic_of_cuts(shape, dtype)
                   : runner::Traffic{1, 0};
    };
    // If a list ends before the cuts, the block reads the row as if there were no list.
    variant.more_traffic_at = [](const Shape& shape, DType dtype) {
        const runner::Traffic more = more_traffic_of_cuts(shape, dtype);
        if (planned(shape, dtype).way != softmax_topk::sampling::Way::list) return more;
        return runner::Traffic{1 + traffic_of_cuts(shape, dtype).loads + more.loads, more.stores};
    };
    variant.why_more_traffic =
        "a list is read, and the row where the list ends before the cuts are found";
    variant.way = [](const Shape& shape, DType dtype) {
        constexpr const char* kNames[] = {"best", "whole_row", "list", "cuts"};
        const SamplePlan plan = planned(shape, dtype);
        return std::string(kNames[static_cast<int>(plan.way)]) + ": " + plan.reason;
    };
    return variant;
}

}  // namespace

std::vector<runner::Variant> softmax_topk::sampling_variants() {
    runner::Variant whole_row =
        way("sample_whole_row", "temperature alone: one read, and a part again",
            sampling::Way::whole_row);
    whole_row.why_more_traffic = "the part that the random number chooses is read again";
    whole_row.takes = {operations::sampling::kTemperature, operations::sampling::kSeed};
    whole_row.obstacle = [](const Shape& shape, DType) {
        return shape.options.temperature == 0 ? "draws nothing at temperature 0" : "";
    };
    runner::Variant cuts = way("sample_by_cuts", "any cut: a read for each", sampling::Way::cuts);
    cuts.traffic = {2, 0};  // and more for each cut
    cuts.traffic_at = [](const Shape& shape, DType dtype) { return traffic_of_cuts(shape, dtype); };
    cuts.more_traffic_at = [](const Shape& shape, DType dtype) {
        return more_traffic_of_cuts(shape, dtype);
    };
    cuts.why_more_traffic = kWhyCutsReadMore;
    cuts.obstacle = [](const Shape& shape, DType) {
        return shape.options.temperature == 0 ? "draws nothing at temperature 0" : "";
    };
    return {whole_row, cuts,
            front("sample", "the front call: cuts from a list", Kind::sample_token),
            front("sample_with_probability", "the front call, with the probability",
                  Kind::sample_token_with_probability)};
}
