// SPDX-License-Identifier: MIT
#include "common/runner/check.hpp"

#include <algorithm>
#include <cstdio>

#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"
#include "common/runner/summarize.cuh"

namespace runner {

const char* name_of(Operation operation) {
    switch (operation) {
        case Operation::softmax:
            return "softmax";
        case Operation::log_softmax:
            return "log_softmax";
        case Operation::log_sum_exp:
            return "log_sum_exp";
        case Operation::scale_mask_softmax:
            return "scale_mask_softmax";
        case Operation::causal_softmax:
            return "causal_softmax";
        case Operation::softmax_backward:
            return "softmax_backward";
        case Operation::log_softmax_backward:
            return "log_softmax_backward";
    }
    return "?";
}

std::string describe(const Report& report) {
    char text[240];
    if (report.good()) {
        std::snprintf(text, sizeof(text), "%lld elements good, worst error %.2f of its bound",
                      static_cast<long long>(report.checked), report.worst_share);
    } else if (report.checked + report.unchecked == 0) {
        std::snprintf(text, sizeof(text), "nothing was compared");
    } else {
        const std::string inner =
            report.first_inner < 0 ? "" : ", inner " + std::to_string(report.first_inner);
        std::snprintf(
            text, sizeof(text),
            "%lld of %lld elements wrong; first at row %lld, col %lld%s: got %.9g, wanted %.9g +- "
            "%.2g",
            static_cast<long long>(report.mismatches), static_cast<long long>(report.checked),
            static_cast<long long>(report.first_row), static_cast<long long>(report.first_col),
            inner.c_str(), report.first_got, report.first_wanted, report.first_bound);
    }
    return text;
}

namespace {

// One comparison: what came, what was wanted, and what became of it.
struct Verdict {
    bool skipped = false;
    bool unchecked = false;
    bool promised = false;
    double got = 0;
    Expected wanted = {0, 0};
    double share = 0;
    double smallest_normal = 0;  // of the result's type
};

__host__ __device__ inline bool one_per_row(const Rules& rules) {
    return rules.operation == Operation::log_sum_exp;
}

__host__ __device__ inline Verdict judge(double got, const Expected& wanted,
                                         const RowReference& reference) {
    Verdict verdict;
    verdict.got = got;
    verdict.wanted = wanted;
    verdict.unchecked = wanted.bound != wanted.bound;
    verdict.share = share_of_bound(got, wanted);
    verdict.smallest_normal = reference.precision.smallest_normal;
    return verdict;
}

__host__ __device__ inline Verdict against_reference(Element at, double y,
                                                     const RowReference& reference,
                                                     const Rules& rules) {
    Verdict verdict = judge(y, expected(at, reference, rules), reference);
    verdict.promised = reference.range != ExpRange::fits;
    return verdict;
}

// A plain result as a probability, whatever the operation.
__host__ __device__ inline double probability(double x, double y, Operation operation) {
    if (operation == Operation::softmax) return y;
    if (operation == Operation::log_softmax) return exp(y);
    if (fabs(y) == INFINITY) return NAN;  // the row holds +inf, or nothing but -inf
    return x == -INFINITY && y == y ? 0 : exp(x - y);
}

// How far such a probability may lie from the true one.
__host__ __device__ inline double probability_bound(double x, const RowReference& reference,
                                                    const Rules& rules) {
    Rules softmax = rules;
    softmax.operation = Operation::softmax;
    const Expected p = expected({x}, reference, softmax);
    if (rules.operation == Operation::softmax || x == -INFINITY) return p.bound;
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
    if (!is_plain(rules.operation)) {  // of one operation: its results are comparable as they are
        const double bound = expected(at, reference, rules).bound +
                             expected(at, previous_reference, previous_rules).bound;
        return judge(y, {y_previous, bound}, reference);
    }
    const double x = at.x;
    const Expected wanted = {probability(x, y_previous, previous_rules.operation),
                             probability_bound(x, reference, rules) +
                                 probability_bound(x, previous_reference, previous_rules)};
    Verdict verdict = judge(probability(x, y, rules.operation), wanted, reference);
    verdict.skipped =
        reference.range != ExpRange::fits || previous_reference.range != ExpRange::fits;
    return verdict;
}

struct Tally {
    Report report;
    int64_t first_index = INT64_MAX;

    __host__ __device__ void add(const Verdict& verdict, int64_t index) {
        if (verdict.skipped) return;
        if (verdict.unchecked) {
            ++report.unchecked;
            return;
        }
        ++report.checked;
        report.promised += verdict.promised;
        if (verdict.share > report.worst_share) report.worst_share = verdict.share;
        const double magnitude = fabs(verdict.wanted.value);
        if (verdict.share < INFINITY && magnitude >= verdict.smallest_normal &&
            magnitude < INFINITY) {
            const double relative =
                fabs((verdict.got - verdict.wanted.value) - verdict.wanted.rest) / magnitude;
            if (relative > report.worst_relative_error) report.worst_relative_error = relative;
        }
        if (verdict.share <= 1) return;
        ++report.mismatches;
        if (index < first_index) {
            first_index = index;
            report.first_got = verdict.got;
            report.first_wanted = verdict.wanted.value;
            report.first_bound = verdict.wanted.bound;
        }
    }
    __host__ __device__ void add(const Tally& other) {
        const Tally& first = other.first_index < first_index ? other : *this;
        const int64_t index = first.first_index;
        const double got = first.report.first_got;
        const double wanted = first.report.first_wanted;
        const double bound = first.report.first_bound;
        report.checked += other.report.checked;
        report.unchecked += other.report.unchecked;
        report.promised += other.report.promised;
        report.mismatches += other.report.mismatches;
        if (other.report.worst_share > report.worst_share)
            report.worst_share = other.report.worst_share;
        if (other.report.worst_relative_error > report.worst_relative_error) {
            report.worst_relative_error = other.report.worst_relative_error;
        }
        first_index = index;
        report.first_got = got;
        report.first_wanted = wanted;
        report.first_bound = bound;
    }
};

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
        const Element at = element_at<T>(inputs, ours.rules.operation, shape, row, col);
        const double y = element(ours, index);
        tally.add(previous == nullptr
                      ? against_reference(at, y, reference, ours.rules)
                      : against_previous(at, y, element(*previous, index), reference, ours.rules,
                                         theirs, previous->rules),
                  index);
    }
}

Report finish(Tally tally, Shape shape, const Result& ours, bool against_a_previous) {
    if (tally.first_index == INT64_MAX) return tally.report;
    const bool per_row = one_per_row(ours.rules) && !against_a_previous;
    const int64_t place = tally.first_index / shape.inner;
    tally.report.first_row = per_row ? tally.first_index : place / shape.cols;
    tally.report.first_col = per_row ? 0 : place % shape.cols;
    if (shape.inner > 1) tally.report.first_inner = tally.first_index % shape.inner;
    return tally.report;
}

constexpr unsigned kThreads = 128;

// A block walks rows; one tally per thread.
template <class T>
__global__ void check_kernel(Inputs inputs, Shape shape, Result ours, Result previous,
                             bool against_a_previous, Tally* tallies) {
    __shared__ RowSummary summaries[kThreads];
    const Operation operation = ours.rules.operation;
    Tally tally;
    for (int64_t row = blockIdx.x; row < slices(shape); row += gridDim.x) {
        const RowSummary summary = summarize_by_block(
            summaries, shape.cols, operation,
            [&](int64_t col) { return element_at<T>(inputs, operation, shape, row, col); });
        judge_row<T>(inputs, shape, row, summary, ours, against_a_previous ? &previous : nullptr,
                     threadIdx.x, kThreads, tally);
    }
    tallies[blockIdx.x * kThreads + threadIdx.x] = tally;
}

bool device_memory_is_host_memory() {
    return build_info().backend == "cpu";
}

template <class T>
Tally tally_on_host(const Inputs& inputs, Shape shape, const Result& ours, const Result* previous) {
    const Operation operation = ours.rules.operation;
    Tally tally;
    for (int64_t row = 0; row < slices(shape); ++row) {
        const auto element = [&](int64_t col) {
            return element_at<T>(inputs, operation, shape, row, col);
        };
        RowSummary summary = empty_row();
        for (int64_t col = 0; col < shape.cols; ++col) summary.find_max(element(col), operation);
        for (int64_t col = 0; col < shape.cols; ++col) summary.add(element(col), operation);
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
    DeviceBuffer<Tally> tallies(size_t{blocks} * kThreads);
    const Result theirs = previous == nullptr ? Result{} : *previous;
    visit(ours.rules.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        check_kernel<T><<<blocks, kThreads>>>(inputs, shape, ours, theirs, previous != nullptr,
                                              tallies.data());
    });
    check_cuda(cudaGetLastError(), "launching the checker");
    Tally total;
    for (const Tally& tally : tallies.download()) total.add(tally);
    return finish(total, shape, ours, previous != nullptr);
}

Report check(const Inputs& inputs, Shape shape, const Result& ours) {
    check_cuda(cudaDeviceSynchronize(), "running the variant");
    return device_memory_is_host_memory() ? check_on_host(inputs, shape, ours)
                                          : check_on_device(inputs, shape, ours);
}

Report compare(const Inputs& inputs, Shape shape, const Result& ours, const Result& previous) {
    check_cuda(cudaDeviceSynchronize(), "running the variant");
    return device_memory_is_host_memory() ? check_on_host(inputs, shape, ours, &previous)
                                          : check_on_device(inputs, shape, ours, &previous);
}

}  // namespace runner
