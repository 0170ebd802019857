// SPDX-License-Identifier: MIT
#include "common/operations/softmax/check.hpp"

#include <algorithm>
#include <string>

#include "common/operations/softmax/summarize.cuh"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"

namespace operations::softmax {

using runner::Report;

namespace {

__host__ __device__ inline bool one_per_row(const Rules& rules) {
    return rules.kind == Kind::log_sum_exp;
}

__host__ __device__ inline Verdict judge(double got, const Expected& wanted,
                                         const RowReference& reference) {
    return verdict_of(got, wanted, reference.precision.smallest_normal);
}

__host__ __device__ inline Verdict against_reference(Element at, double y,
                                                     const RowReference& reference,
                                                     const Rules& rules) {
    Verdict verdict = judge(y, expected(at, reference, rules), reference);
    verdict.promised = reference.range != ExpRange::fits;
    return verdict;
}

// A plain result as a probability, whatever the operation.
__host__ __device__ inline double probability(double x, double y, Kind kind) {
    if (kind == Kind::softmax) return y;
    if (kind == Kind::log_softmax) return exp(y);
    if (fabs(y) == INFINITY) return NAN;  // the row holds +inf, or nothing but -inf
    return x == -INFINITY && y == y ? 0 : exp(x - y);
}

// How far such a probability may lie from the true one.
__host__ __device__ inline double probability_bound(double x, const RowReference& reference,
                                                    const Rules& rules) {
    Rules softmax = rules;
    softmax.kind = Kind::softmax;
    const Expected p = expected({x}, reference, softmax);
    if (rules.kind == Kind::softmax || x == -INFINITY) return p.bound;
    // probability() rounds, too: the difference, and its exp. Only beside results in double that
    // matters.
    const double own = 0x1p-53 * (fmin(reference.row.max - x, DBL_MAX) + reference.log_sum + 4);
    return p.value * (expm1(expected({x}, reference, rules).bound) + own) +
           2 * reference.precision.subnormal;
}

__host__ __device__ inline Verdict against_previous(Element at, double y, double y_previous,
                                                    const RowReference& reference,
                                                    const Rules& rules,
                                                    const RowReference& previous_reference,
                                                    const Rules& previous_rules) {
    if (!is_plain(rules.kind)) {  // of one operation: its results are comparable as they are
        const double bound = expected(at, reference, rules).bound +
                             expected(at, previous_reference, previous_rules).bound;
        return judge(y, {y_previous, bound}, reference);
    }
    const double x = at.x;
    const Expected wanted = {probability(x, y_previous, previous_rules.kind),
                             probability_bound(x, reference, rules) +
                                 probability_bound(x, previous_reference, previous_rules)};
    Verdict verdict = judge(probability(x, y, rules.kind), wanted, reference);
    verdict.skipped =
        reference.range != ExpRange::fits || previous_reference.range != ExpRange::fits;
    return verdict;
}

// Every comparison of one row, by thread `thread` of `threads`.
template <class T>
__host__ __device__ void judge_row(const Inputs& inputs, Shape shape, int64_t row,
                                   const RowSummary& summary, const Result& ours,
                                   const Result* previous, int64_t thread, int64_t threads,
                                   Tally& tally) {
    const RowReference reference = row_reference(summary, shape.cols, ours.rules);
    // The element at index of a result, or its row's only one.
    const auto element = [&](const Result& result, int64_t index) {
        return to_double(static_cast<const T*>(result.y)[one_per_row(result.rules) ? row : index]);
    };
    if (previous == nullptr && one_per_row(ours.rules)) {
        if (thread == 0)
            tally.add(against_reference({}, element(ours, row), reference, ours.rules), row);
        return;
    }
    const RowReference theirs =
        previous == nullptr ? reference : row_reference(summary, shape.cols, previous->rules);
    for (int64_t col = thread; col < shape.cols; col += threads) {
        const int64_t index = index_of(shape, row, col);
        const Element at = element_at<T>(inputs, ours.rules.kind, shape, row, col);
        const double y = element(ours, index);
        tally.add(previous == nullptr
                      ? against_reference(at, y, reference, ours.rules)
                      : against_previous(at, y, element(*previous, index), reference, ours.rules,
                                         theirs, previous->rules),
                  index);
    }
}

// Where an element is: of a result per row, its row.
std::string place_of(int64_t index, Shape shape, bool per_row) {
    if (per_row) return "row " + std::to_string(index) + ", col 0";
    const int64_t place = index / shape.inner;
    const std::string text =
        "row " + std::to_string(place / shape.cols) + ", col " + std::to_string(place % shape.cols);
    return shape.inner == 1 ? text : text + ", inner " + std::to_string(index % shape.inner);
}

Report finish(const Tally& tally, Shape shape, const Result& ours, bool against_a_previous) {
    const bool per_row = one_per_row(ours.rules) && !against_a_previous;
    return report_of(tally, [&](int64_t index) { return place_of(index, shape, per_row); });
}

constexpr unsigned kThreads = 128;

// A block walks rows; one tally per thread.
template <class T>
__global__ void check_kernel(Inputs inputs, Shape shape, Result ours, Result previous,
                             bool against_a_previous, Tally* tallies) {
    __shared__ RowSummary summaries[kThreads];
    const Kind kind = ours.rules.kind;
    Tally tally;
    for (int64_t row = blockIdx.x; row < slices(shape); row += gridDim.x) {
        const RowSummary summary = summarize_by_block(
            summaries, shape.cols, kind,
            [&](int64_t col) { return element_at<T>(inputs, kind, shape, row, col); });
        judge_row<T>(inputs, shape, row, summary, ours, against_a_previous ? &previous : nullptr,
                     threadIdx.x, kThreads, tally);
    }
    tallies[blockIdx.x * kThreads + threadIdx.x] = tally;
}

bool device_memory_is_host_memory() {
    return !runner::on_gpu();
}

template <class T>
Tally tally_on_host(const Inputs& inputs, Shape shape, const Result& ours, const Result* previous) {
    const Kind kind = ours.rules.kind;
    Tally tally;
    for (int64_t row = 0; row < slices(shape); ++row) {
        const auto element = [&](int64_t col) {
            return element_at<T>(inputs, kind, shape, row, col);
        };
        RowSummary summary = empty_row();
        for (int64_t col = 0; col < shape.cols; ++col) summary.find_max(element(col), kind);
        for (int64_t col = 0; col < shape.cols; ++col) summary.add(element(col), kind);
        judge_row<T>(inputs, shape, row, summary, ours, previous, 0, 1, tally);
    }
    return tally;
}

}  // namespace

Report check_on_host(const Inputs& inputs, Shape shape, const Result& ours,
                     const Result* previous) {
    const Tally tally = visit(ours.rules.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return tally_on_host<T>(inputs, shape, ours, previous);
    });
    return finish(tally, shape, ours, previous != nullptr);
}

Report check_on_device(const Inputs& inputs, Shape shape, const Result& ours,
                       const Result* previous) {
    // Every thread leaves a tally, to be read by the host: no more of them than there is work for.
    constexpr int64_t kElementsPerBlock = 64 * kThreads;
    const auto blocks = static_cast<unsigned>(
        std::clamp<int64_t>(std::min(slices(shape), elements(shape) / kElementsPerBlock), 1, 2048));
    const Result theirs = previous == nullptr ? Result{} : *previous;
    const Tally total = tally_of_kernel(size_t{blocks} * kThreads, [&](Tally* tallies) {
        visit(ours.rules.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            check_kernel<T>
                <<<blocks, kThreads>>>(inputs, shape, ours, theirs, previous != nullptr, tallies);
        });
    });
    return finish(total, shape, ours, previous != nullptr);
}

Report check(const Inputs& inputs, Shape shape, const Result& ours, const Result* previous) {
    runner::check_cuda(cudaDeviceSynchronize(), "running the variant");
    return (device_memory_is_host_memory() ? check_on_host : check_on_device)(inputs, shape, ours,
                                                                              previous);
}

}  // namespace operations::softmax
