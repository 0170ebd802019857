// SPDX-License-Identifier: MIT
#include "common/operations/topk/check.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>

#include "common/operations/softmax/summarize.cuh"
#include "common/operations/tally.cuh"
#include "common/operations/topk/order.cuh"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"

namespace operations::topk {

using runner::Report;
using runner::to_double;
using softmax::RowReference;
using softmax::RowSummary;
using softmax::Rules;

namespace {

template <class T>
__host__ __device__ const T* place_in(const void* array, int64_t place) {
    return array == nullptr ? nullptr : static_cast<const T*>(array) + place;
}

// What a row's log-sum-exp comes in.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

// One row of one result, beside its x.
template <class T>
struct RowJudge {
    const T* x;
    const T* values;
    Indices indices;
    const T* logits;
    const Sum<T>* log_sum_exp;
    int64_t cols;
    int64_t k;
    Kind kind;
    Rules rules;
    RowReference reference;

    __host__ __device__ RowJudge(const void* all_x, const Shape& shape, int64_t row,
                                 const RowSummary& summary, const Result& result)
        : x(static_cast<const T*>(all_x) + row * shape.cols),
          values(static_cast<const T*>(result.values) + row * shape.k),
          indices(result.indices.from(row * shape.k)),
          logits(place_in<T>(result.logits, row * shape.k)),
          log_sum_exp(place_in<Sum<T>>(result.log_sum_exp, row)),
          cols(shape.cols),
          k(shape.k),
          kind(result.kind),
          rules(result.rules),
          reference(row_reference(summary, shape.cols, result.rules)) {}

    __host__ __device__ bool is_column(int64_t index) const { return index >= 0 && index < cols; }
    __host__ __device__ double value(int64_t pick) const { return to_double(values[pick]); }
    __host__ __device__ Expected probability(int64_t col) const {
        return expected({to_double(x[col])}, reference, rules);
    }
    // Of float, also where probabilities are rounded to 16 bits: but then from fast exponentials.
    __host__ __device__ Expected sum() const {
        Rules of_sum = rules;
        of_sum.kind = softmax::Kind::log_sum_exp;
        RowReference in_sums_type = reference;
        in_sums_type.precision = softmax::precision_of(runner::dtype_of<Sum<T>>);
        in_sums_type.precision.half_ulp = reference.precision.half_ulp;
        return expected({0}, in_sums_type, of_sum);
    }
    __host__ __device__ bool row_is_nan() const {
        const double probability_of_any = probability(0).value;
        return probability_of_any != probability_of_any;
    }

    // Whether a column has to stand in the list before its last one, or beside it, whatever was rounded.
    __host__ __device__ bool is_due(int64_t col) const {
        if (kind == Kind::topk_of_softmax) {
            const Expected p = probability(col);
            return p.value - p.bound > value(k - 1);
        }
        const int64_t last = indices[k - 1];
        return is_column(last) && precedes(to_double(x[col]), col, to_double(x[last]), last);
    }
    __host__ __device__ int64_t due_columns(int64_t thread, int64_t threads) const {
        int64_t due = 0;
        if (k == 0) return due;
        for (int64_t col = thread; col < cols; col += threads) due += is_due(col);
        return due;
    }

    // Whether what stands at pick may follow what stands before it.
    __host__ __device__ bool in_order(int64_t pick) const {
        if (pick == 0) return true;
        const int64_t col = indices[pick], before = indices[pick - 1];
        if (!is_column(before)) return true;  // said of that one
        return kind == Kind::topk_of_softmax
                   ? precedes(value(pick - 1), before, value(pick), col)
                   : precedes(to_double(x[before]), before, to_double(x[col]), col);
    }
    __host__ __device__ bool is_listed_before(int64_t pick) const {
        for (int64_t earlier = 0; earlier < pick; ++earlier) {
            if (indices[earlier] == indices[pick]) return true;
        }
        return false;
    }
    __host__ __device__ bool is_right(int64_t pick, int64_t due) const {
        const int64_t col = indices[pick];
        if (!is_column(col) || !in_order(pick)) return false;
        if (kind == Kind::topk_of_softmax) {
            if (row_is_nan()) return col == pick;  // nothing but ties
            if (is_listed_before(pick)) return false;
        }
        if (pick < k - 1) return true;
        int64_t listed = 0;  // of what is due
        for (int64_t each = 0; each < k; ++each) {
            if (!is_column(indices[each])) return true;  // said of that one
            listed += is_due(indices[each]);
        }
        return listed == due;
    }

    __host__ __device__ Verdict value_verdict(double got, const Expected& wanted) const {
        return verdict_of(got, wanted, reference.precision.smallest_normal);
    }
    // Nothing is computed: the sign of a zero and the payload of NaN are all that is open.
    __host__ __device__ Verdict logit_verdict(int64_t pick, T wanted) const {
        Verdict verdict = value_verdict(to_double(logits[pick]), {to_double(wanted), 0});
        verdict.smallest_normal = INFINITY;  // no relative error
        return verdict;
    }
    // Near 0 its relative error says nothing.
    __host__ __device__ Verdict sum_verdict(const Expected& wanted) const {
        Verdict verdict = value_verdict(to_double(*log_sum_exp), wanted);
        verdict.smallest_normal = INFINITY;
        return verdict;
    }
    __host__ __device__ Verdict index_verdict(int64_t pick, bool right, double wanted) const {
        Verdict verdict;
        verdict.got = static_cast<double>(indices[pick]);
        verdict.wanted = {wanted, 0};
        verdict.share = right ? 0 : INFINITY;
        verdict.smallest_normal = INFINITY;  // an index has no relative error
        return verdict;
    }
};

// Where a verdict belongs: of each pick the index, the value and the logit, behind them the row's sum.
enum What { kIndex, kValue, kLogit, kWhats };
constexpr const char* kOperands[] = {"indices", "values", "logits"};

__host__ __device__ inline int64_t places_of_row(const Shape& shape) {
    return kWhats * shape.k + 1;
}
__host__ __device__ inline int64_t place_of(const Shape& shape, int64_t row, int64_t pick,
                                            What what) {
    return row * places_of_row(shape) + kWhats * pick + what;
}
__host__ __device__ inline int64_t place_of_sum(const Shape& shape, int64_t row) {
    return (row + 1) * places_of_row(shape) - 1;
}

template <class T>
__host__ __device__ void judge(const RowJudge<T>& ours, const Shape& shape, int64_t row,
                               int64_t due, int64_t thread, int64_t threads, Tally& tally) {
    const auto place = [&](int64_t pick, What what) { return place_of(shape, row, pick, what); };
    for (int64_t pick = thread; pick < shape.k; pick += threads) {
        const int64_t col = ours.indices[pick];
        tally.add(ours.index_verdict(pick, ours.is_right(pick, due), NAN), place(pick, kIndex));
        if (!ours.is_column(col)) continue;
        tally.add(ours.value_verdict(ours.value(pick), ours.probability(col)), place(pick, kValue));
        if (ours.logits != nullptr)
            tally.add(ours.logit_verdict(pick, ours.x[col]), place(pick, kLogit));
    }
    if (thread == 0 && ours.log_sum_exp != nullptr)
        tally.add(ours.sum_verdict(ours.sum()), place_of_sum(shape, row));
}

template <class T>
__host__ __device__ void judge_both(const RowJudge<T>& ours, const RowJudge<T>& theirs,
                                    const Shape& shape, int64_t row, int64_t thread,
                                    int64_t threads, Tally& tally) {
    const auto place = [&](int64_t pick, What what) { return place_of(shape, row, pick, what); };
    const bool both_exact =
        ours.kind != Kind::topk_of_softmax && theirs.kind != Kind::topk_of_softmax;
    for (int64_t pick = thread; pick < shape.k; pick += threads) {
        const int64_t col = ours.indices[pick], other = theirs.indices[pick];
        const bool are_columns = ours.is_column(col) && ours.is_column(other);
        bool right = are_columns && col == other;
        if (are_columns) {
            const Expected here = ours.probability(col), there = theirs.probability(other);
            const double bound = here.bound + theirs.probability(col).bound;
            tally.add(ours.value_verdict(ours.value(pick), {theirs.value(pick), bound}),
                      place(pick, kValue));
            if (col == other && ours.logits != nullptr && theirs.logits != nullptr)
                tally.add(ours.logit_verdict(pick, theirs.logits[pick]), place(pick, kLogit));
            // Columns of one probability, up to rounding, or all of them NaN.
            if (!both_exact && !(fabs(here.value - there.value) > bound + there.bound))
                right = true;
        }
        tally.add(ours.index_verdict(pick, right, static_cast<double>(other)), place(pick, kIndex));
    }
    if (thread == 0 && ours.log_sum_exp != nullptr && theirs.log_sum_exp != nullptr) {
        const double bound = ours.sum().bound + theirs.sum().bound;
        tally.add(ours.sum_verdict({to_double(*theirs.log_sum_exp), bound}),
                  place_of_sum(shape, row));
    }
}

constexpr unsigned kThreads = 128;

// A block walks rows; one tally per thread.
template <class T>
__global__ void check_kernel(const void* x, Shape shape, Result ours, Result previous,
                             bool against_a_previous, Tally* tallies) {
    __shared__ RowSummary summaries[kThreads];
    __shared__ int64_t due[kThreads];
    Tally tally;
    for (int64_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
        const T* x_row = static_cast<const T*>(x) + row * shape.cols;
        const RowSummary summary = softmax::summarize_by_block(
            summaries, shape.cols, softmax::Kind::softmax,
            [&](int64_t col) { return softmax::Element{to_double(x_row[col])}; });
        const RowJudge<T> judge_of_ours(x, shape, row, summary, ours);
        if (against_a_previous) {
            const RowJudge<T> judge_of_theirs(x, shape, row, summary, previous);
            judge_both(judge_of_ours, judge_of_theirs, shape, row, threadIdx.x, kThreads, tally);
            continue;
        }
        due[threadIdx.x] = judge_of_ours.due_columns(threadIdx.x, kThreads);
        __syncthreads();
        int64_t all_due = 0;
        for (unsigned thread = 0; thread < kThreads; ++thread) all_due += due[thread];
        judge(judge_of_ours, shape, row, all_due, threadIdx.x, kThreads, tally);
        __syncthreads();  // all have the sum, before the next row's counts take its place
    }
    tallies[blockIdx.x * kThreads + threadIdx.x] = tally;
}

template <class T>
Tally tally_on_host(const void* x, const Shape& shape, const Result& ours, const Result* previous) {
    Tally tally;
    for (int64_t row = 0; row < shape.rows; ++row) {
        const T* x_row = static_cast<const T*>(x) + row * shape.cols;
        RowSummary summary = softmax::empty_row();
        for (int64_t col = 0; col < shape.cols; ++col)
            summary.find_max({to_double(x_row[col])}, softmax::Kind::softmax);
        for (int64_t col = 0; col < shape.cols; ++col)
            summary.add({to_double(x_row[col])}, softmax::Kind::softmax);
        const RowJudge<T> judge_of_ours(x, shape, row, summary, ours);
        if (previous == nullptr) {
            judge(judge_of_ours, shape, row, judge_of_ours.due_columns(0, 1), 0, 1, tally);
        } else {
            judge_both(judge_of_ours, RowJudge<T>(x, shape, row, summary, *previous), shape, row, 0,
                       1, tally);
        }
    }
    return tally;
}

// Elements first to first + count of an array, wherever it lies.
template <class T>
std::vector<T> part_of(const void* array, int64_t first, int64_t count, bool on_device) {
    std::vector<T> part(static_cast<size_t>(count));
    const T* from = static_cast<const T*>(array) + first;
    if (on_device) {
        runner::check_cuda(
            cudaMemcpy(part.data(), from, part.size() * sizeof(T), cudaMemcpyDeviceToHost),
            "reading a row");
    } else {
        std::copy(from, from + count, part.begin());
    }
    return part;
}

std::vector<int64_t> indices_of(const Indices& indices, int64_t count, bool on_device) {
    if (indices.are_wide()) return part_of<int64_t>(indices.wide(), 0, count, on_device);
    const std::vector<int32_t> narrow = part_of<int32_t>(indices.narrow(), 0, count, on_device);
    return {narrow.begin(), narrow.end()};
}

// Where an index is wrong by itself, it is told beside the sorted row's: the first that differs.
template <class T>
Report finish(const Tally& tally, const void* x, const Shape& shape, const Result& ours,
              bool against_a_previous, bool on_device) {
    Report report = report_of(tally, [](int64_t) { return ""; });
    if (report.mismatches == 0) return report;
    const int64_t row = tally.first_index / places_of_row(shape);
    const int64_t place = tally.first_index % places_of_row(shape);
    if (place == kWhats * shape.k) {
        report.first_output = "log_sum_exp";
        report.first_element = row;
        report.first_place = "log_sum_exp, row " + std::to_string(row);
        return report;
    }
    int64_t pick = place / kWhats;
    const auto what = static_cast<What>(place % kWhats);
    if (what == kIndex && !against_a_previous) {
        std::vector<double> elements;
        for (const T each : part_of<T>(x, row * shape.cols, shape.cols, on_device))
            elements.push_back(to_double(each));
        const std::vector<int64_t> wanted = sorted_columns(elements, shape.k);
        const std::vector<int64_t> got =
            indices_of(ours.indices.from(row * shape.k), shape.k, on_device);
        const auto differ = std::mismatch(wanted.begin(), wanted.end(), got.begin());
        if (differ.first != wanted.end()) pick = differ.first - wanted.begin();
        report.first_got = static_cast<double>(got[static_cast<size_t>(pick)]);
        report.first_wanted = static_cast<double>(wanted[static_cast<size_t>(pick)]);
    }
    report.first_output = kOperands[what];
    report.first_element = row * shape.k + pick;
    report.first_place =
        report.first_output + ", row " + std::to_string(row) + ", pick " + std::to_string(pick);
    return report;
}

}  // namespace

std::vector<int64_t> sorted_columns(const std::vector<double>& row, int64_t k) {
    std::vector<int64_t> columns(row.size());
    std::iota(columns.begin(), columns.end(), int64_t{0});
    const auto middle = columns.begin() + k;
    std::partial_sort(columns.begin(), middle, columns.end(), [&](int64_t a, int64_t b) {
        return precedes(row[static_cast<size_t>(a)], a, row[static_cast<size_t>(b)], b);
    });
    columns.erase(middle, columns.end());
    return columns;
}

Report check_on_host(const void* x, const Shape& shape, const Result& ours,
                     const Result* previous) {
    return visit(ours.rules.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return finish<T>(tally_on_host<T>(x, shape, ours, previous), x, shape, ours,
                         previous != nullptr, false);
    });
}

Report check_on_device(const void* x, const Shape& shape, const Result& ours,
                       const Result* previous) {
    const auto blocks = static_cast<unsigned>(std::clamp<int64_t>(shape.rows, 1, 2048));
    const Result theirs = previous == nullptr ? Result{} : *previous;
    return visit(ours.rules.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        const Tally total = tally_of_kernel(size_t{blocks} * kThreads, [&](Tally* tallies) {
            check_kernel<T>
                <<<blocks, kThreads>>>(x, shape, ours, theirs, previous != nullptr, tallies);
        });
        return finish<T>(total, x, shape, ours, previous != nullptr, true);
    });
}

Report check(const void* x, const Shape& shape, const Result& ours, const Result* previous) {
    runner::check_cuda(cudaDeviceSynchronize(), "running the variant");
    return (runner::on_gpu() ? check_on_device : check_on_host)(x, shape, ours, previous);
}

}  // namespace operations::topk
