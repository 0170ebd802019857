// SPDX-License-Identifier: MIT
#include "common/operations/sampling/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "common/operations/sampling/draw.cuh"
#include "common/operations/softmax/summarize.cuh"
#include "common/operations/tally.cuh"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"

namespace operations::sampling {

using runner::Report;
using runner::to_double;
using softmax::RowSummary;

namespace {

// What sums over a row are made of: up to four at a time.
struct Sums {
    double sum[4];
    __host__ __device__ void add(const Sums& other) {
        for (int i = 0; i < 4; ++i) sum[i] += other.sum[i];
    }
};

// Elements in the order of a stable descending sort, as numbers: of equal elements the lower column has the
// larger. x is a float.
__host__ __device__ inline uint64_t key_of(double x, int64_t col, int column_bits) {
    const float value = x == 0 ? 0.f : static_cast<float>(x);  // -0, too
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    const uint64_t order = (bits >> 31) != 0 ? static_cast<uint32_t>(~bits) : bits | 0x80000000u;
    const uint64_t from_behind = (uint64_t{1} << column_bits) - 1 - static_cast<uint64_t>(col);
    return order << column_bits | from_behind;
}

// The smallest key above which there is less than a limit: what comes first, until it makes up that limit, ends
// there. A bit of the key a round.
struct Search {
    double limit = 0;
    int bits_left = 0;
    uint64_t key = 0;

    // If there is less than the limit above this, the next bit is 0.
    __host__ __device__ uint64_t tried() const {
        return key | ((uint64_t{1} << (bits_left - 1)) - 1);
    }
    __host__ __device__ void take(double above_tried) {
        --bits_left;
        if (above_tried >= limit) key |= uint64_t{1} << bits_left;
    }
};

// How the options are computed with.
struct Cuts {
    double temperature, top_p, min_p;
    int64_t top_k;

    __host__ __device__ Cuts(const Options& options, int64_t cols)
        : temperature(static_cast<float>(options.temperature)),
          top_p(static_cast<float>(options.top_p)),
          min_p(static_cast<float>(options.min_p)),
          top_k(options.top_k < cols ? options.top_k : 0) {
        if (temperature != 0) return;
        temperature = top_p = 1;
        min_p = 0;
        top_k = cols > 1 ? 1 : 0;
    }
};

// How much results may be off, all relative.
//
// A weight is exp2 of (x - max) * scale, four roundings, and an exp2 that is good to two units: 4 t + 4 half units
// of the weight, where t = (max - x) / temperature. Of all that stays, the mean of t is at most log(columns), as
// the entropy is. A sum by threads adds its roundings, and where the maximum is not known before, a rescaling for
// each batch of 16. Weights are then rounded to units of which the best has 2^40, or fewer, if there are more than
// 2^21 columns.
struct Bounds {
    double weight;  // of a sum of weights, relative to the sum of all that stay
    double border;  // of u, in the cumulative distribution
    double top_p;   // of the probability at which top-p cuts

    __host__ __device__ Bounds(const Cuts& cuts, int64_t cols, int64_t partial_sums, double max,
                               DType dtype) {
        constexpr double kHalfUlp = 0x1p-24;
        const double log_cols = log(static_cast<double>(cols));
        const double serial = ceil(static_cast<double>(cols) / static_cast<double>(partial_sums));
        const double adds = serial + 16 + log2(static_cast<double>(partial_sums));
        const double units = fmin(0x1p40, 0x1p61 / static_cast<double>(cols));
        weight = kHalfUlp * (4 * log_cols + 8 + adds + 6 * ceil(serial / 16)) +
                 static_cast<double>(cols) / units;
        border = 4 * weight;
        top_p = 2 * weight;
        // At temperature 1 a row's sum may come from its logarithm: a float, which knows it only so well.
        if (cuts.temperature == 1 && cuts.top_k == 0)
            top_p +=
                softmax::precision_of(dtype).half_ulp * (4 * fabs(max) + 2 * log_cols + adds + 8);
    }
    __host__ __device__ static double of_weight(double t) { return 0x1p-24 * (4 * t + 8); }
};

// One row and the column that was chosen. Whatever has to be known of it are sums over the row: as long as
// wants_more(), take() wants the sum of term(col) over all columns.
template <class T>
class RowJudge {
public:
    // weights: of all columns; nullptr where they are not known yet.
    __host__ __device__ RowJudge(const T* x, const double* weights, const Shape& shape, int64_t row,
                                 const RowSummary& summary, const Result& result)
        : x_(x),
          weights_(weights),
          cols_(shape.cols),
          cuts_(shape.options, shape.cols),
          bounds_(cuts_, shape.cols, result.partial_sums, summary.max, result.dtype),
          max_(summary.max),
          u_(unit_of_row(shape.options.seed, row)),
          chosen_(result.columns[row]),
          probability_(result.probabilities == nullptr ? 0 : result.probabilities[row]),
          tells_probability_(result.probabilities != nullptr),
          has_distribution_(!summary.has_nan && !summary.has_infinity && max_ > -INFINITY) {
        while (int64_t{1} << column_bits_ < cols_) ++column_bits_;
        if (!has_distribution_ || !is_column(chosen_)) return;
        chosen_key_ = key(chosen_);
        begin(cuts_.top_k > 0 ? Phase::top_k : cuts_.top_p < 1 ? Phase::mass : Phase::rest);
    }

    __host__ __device__ bool wants_more() const { return phase_ != Phase::none; }
    __host__ __device__ Sums term(int64_t col) const {
        const uint64_t at = key(col);
        switch (phase_) {
            case Phase::top_k:
                return {{at > by_count_.tried() ? 1. : 0.}};
            case Phase::mass:
                return {{at >= by_count_.key ? weight(col) : 0}};
            case Phase::top_p: {
                const double mass = at >= by_count_.key ? weight(col) : 0;
                return {{at > surely_.tried() ? mass : 0, at > maybe_.tried() ? mass : 0}};
            }
            default:
                break;
        }
        // What certainly stays, and at least up to the chosen one; then what may stay beside. Both before the
        // chosen column, and in all, or behind it.
        const double mass = weight(col);
        const bool before = col < chosen_;
        if (stays(at, mass, surely_, 1) || at >= chosen_key_) return {{before ? mass : 0, mass}};
        if (!stays(at, mass, maybe_, -1)) return {};
        return {{0, 0, before ? mass : 0, col > chosen_ ? mass : 0}};
    }
    __host__ __device__ void take(const Sums& sums) {
        switch (phase_) {
            case Phase::top_k:
                by_count_.take(sums.sum[0]);
                if (by_count_.bits_left == 0) begin(cuts_.top_p < 1 ? Phase::mass : Phase::rest);
                return;
            case Phase::mass:
                surely_.limit = fmax((cuts_.top_p - bounds_.top_p) * sums.sum[0], 1e-300);
                maybe_.limit = (cuts_.top_p + bounds_.top_p) * sums.sum[0];
                return begin(Phase::top_p);
            case Phase::top_p:
                surely_.take(sums.sum[0]);
                maybe_.take(sums.sum[1]);
                if (surely_.bits_left == 0) begin(Phase::rest);
                return;
            default:
                rest_ = sums;
                phase_ = Phase::none;
        }
    }

    __host__ __device__ Verdict column_verdict() const {
        Verdict verdict;
        verdict.got = static_cast<double>(chosen_);
        verdict.wanted = {NAN, 0};
        verdict.share = has_distribution_ ? share() : chosen_ == -1 ? 0 : INFINITY;
        verdict.smallest_normal = INFINITY;  // a column has no relative error
        return verdict;
    }
    __host__ __device__ bool is_right() const { return column_verdict().share <= 1; }
    __host__ __device__ bool tells_probability() const {
        return tells_probability_ && (is_column(chosen_) || !has_distribution_);
    }
    __host__ __device__ Verdict probability_verdict() const {
        Verdict verdict;
        verdict.got = probability_;
        verdict.wanted = {NAN, 0};
        verdict.smallest_normal = 0x1p-126;
        verdict.share = probability_ != probability_ ? 0 : INFINITY;
        if (!has_distribution_) return verdict;
        // Of what may stay beside what certainly does, any part may.
        const double all = rest_.sum[1], more = rest_.sum[2] + rest_.sum[3];
        const double largest = weight(chosen_) / all, smallest = weight(chosen_) / (all + more);
        const double t = (max_ - element(chosen_)) / cuts_.temperature;
        const double relative = Bounds::of_weight(t) + bounds_.weight + 0x1p-22;
        verdict.wanted = {largest, largest * relative + 0x1p-149};
        const double outside = fmax(fmax(probability_ - largest, smallest - probability_), 0.);
        verdict.share = outside / verdict.wanted.bound;
        if (probability_ != probability_) verdict.share = INFINITY;
        return verdict;
    }

private:
    enum class Phase { none, top_k, mass, top_p, rest };

    __host__ __device__ bool is_column(int64_t index) const { return index >= 0 && index < cols_; }
    __host__ __device__ double element(int64_t col) const { return to_double(x_[col]); }
    __host__ __device__ uint64_t key(int64_t col) const {
        return key_of(element(col), col, column_bits_);
    }
    __host__ __device__ double weight(int64_t col) const {
        return weights_ != nullptr ? weights_[col] : exp((element(col) - max_) / cuts_.temperature);
    }
    // side: 1 where it must, -1 where it may.
    __host__ __device__ bool stays(uint64_t at, double mass, const Search& top_p, int side) const {
        const double off = Bounds::of_weight(cuts_.min_p > 0 ? -log(cuts_.min_p) : 0);
        const double least = fmin(cuts_.min_p * (1 + side * off), 1.);
        return at >= by_count_.key && at >= top_p.key && mass >= least;
    }
    __host__ __device__ void begin(Phase phase) {
        phase_ = phase;
        const int bits = 32 + column_bits_;
        if (phase == Phase::top_k) {
            by_count_.bits_left = bits;
            by_count_.limit = static_cast<double>(cuts_.top_k);
        }
        if (phase == Phase::top_p) surely_.bits_left = maybe_.bits_left = bits;
    }

    // How far u lies outside of the chosen column's interval, as a share of the bound. What stays beside what
    // certainly does moves it: before the column by (u - 1) of its mass, behind it by u.
    __host__ __device__ double share() const {
        if (!is_column(chosen_)) return INFINITY;
        const double mass = weight(chosen_);
        if (mass == 0 || !stays(chosen_key_, mass, maybe_, -1)) return INFINITY;
        const double all = rest_.sum[1];
        const double at = u_ * all - rest_.sum[0];
        const double least = at - (1 - u_) * rest_.sum[2];
        const double most = at + u_ * rest_.sum[3];
        const double outside = fmax(fmax(-most, least - mass), 0.);
        return outside / (bounds_.border * all);
    }

    const T* x_;
    const double* weights_;
    int64_t cols_;
    Cuts cuts_;
    Bounds bounds_;
    double max_;
    double u_;
    int64_t chosen_;
    double probability_;
    bool tells_probability_;
    bool has_distribution_;
    int column_bits_ = 0;
    uint64_t chosen_key_ = 0;
    Phase phase_ = Phase::none;
    Search by_count_, surely_, maybe_;
    Sums rest_ = {};
};

// Where a verdict belongs: a row's probability behind its column.
template <class T>
__host__ __device__ void judge(const RowJudge<T>& ours, int64_t row, Tally& tally) {
    tally.add(ours.column_verdict(), 2 * row);
    if (ours.tells_probability()) tally.add(ours.probability_verdict(), 2 * row + 1);
}

// Two columns are as good as one another where both are right.
template <class T>
__host__ __device__ void judge_both(const RowJudge<T>& ours, const RowJudge<T>& theirs,
                                    const Result& our_result, const Result& their_result,
                                    int64_t row, Tally& tally) {
    Verdict verdict = ours.column_verdict();
    const int64_t col = our_result.columns[row], other = their_result.columns[row];
    const bool same = col == other || (ours.is_right() && theirs.is_right());
    verdict.wanted = {static_cast<double>(other), 0};
    verdict.share = same ? 0 : INFINITY;
    tally.add(verdict, 2 * row);
}

constexpr unsigned kThreads = 128;

// The block's sum in all threads.
__device__ inline Sums sum_of_block(Sums* sums, const Sums& mine) {
    sums[threadIdx.x] = mine;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x].add(sums[threadIdx.x + half]);
    }
    __syncthreads();
    const Sums all = sums[0];
    __syncthreads();  // all have it, before the next one's take its place
    return all;
}
template <class T>
__device__ void find_out(RowJudge<T>& judge, int64_t cols, Sums* sums) {
    while (judge.wants_more()) {
        Sums mine = {};
        for (int64_t col = threadIdx.x; col < cols; col += kThreads) mine.add(judge.term(col));
        judge.take(sum_of_block(sums, mine));
    }
}

// A block walks rows; thread 0 keeps the tally.
template <class T>
__global__ void check_kernel(const void* x, Shape shape, Result ours, Result previous,
                             bool against_a_previous, Tally* tallies) {
    __shared__ RowSummary summaries[kThreads];
    __shared__ Sums sums[kThreads];
    Tally tally;
    for (int64_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
        const T* x_row = static_cast<const T*>(x) + row * shape.cols;
        const RowSummary summary = softmax::summarize_by_block(
            summaries, shape.cols, softmax::Kind::softmax,
            [&](int64_t col) { return softmax::Element{to_double(x_row[col])}; });
        RowJudge<T> judge_of_ours(x_row, nullptr, shape, row, summary, ours);
        find_out(judge_of_ours, shape.cols, sums);
        if (!against_a_previous) {
            judge(judge_of_ours, row, tally);
            continue;
        }
        RowJudge<T> judge_of_theirs(x_row, nullptr, shape, row, summary, previous);
        find_out(judge_of_theirs, shape.cols, sums);
        judge_both(judge_of_ours, judge_of_theirs, ours, previous, row, tally);
    }
    if (threadIdx.x == 0) tallies[blockIdx.x] = tally;
}

template <class T>
void find_out(RowJudge<T>& judge, int64_t cols) {
    while (judge.wants_more()) {
        Sums all = {};
        for (int64_t col = 0; col < cols; ++col) all.add(judge.term(col));
        judge.take(all);
    }
}

template <class T>
Tally tally_on_host(const void* x, const Shape& shape, const Result& ours, const Result* previous) {
    Tally tally;
    const double temperature = Cuts(shape.options, shape.cols).temperature;
    std::vector<double> weights(static_cast<size_t>(shape.cols));
    for (int64_t row = 0; row < shape.rows; ++row) {
        const T* x_row = static_cast<const T*>(x) + row * shape.cols;
        RowSummary summary = softmax::empty_row();
        for (int64_t col = 0; col < shape.cols; ++col)
            summary.find_max({to_double(x_row[col])}, softmax::Kind::softmax);
        for (size_t col = 0; col < weights.size(); ++col)
            weights[col] = std::exp((to_double(x_row[col]) - summary.max) / temperature);
        RowJudge<T> judge_of_ours(x_row, weights.data(), shape, row, summary, ours);
        find_out(judge_of_ours, shape.cols);
        if (previous == nullptr) {
            judge(judge_of_ours, row, tally);
            continue;
        }
        RowJudge<T> judge_of_theirs(x_row, weights.data(), shape, row, summary, *previous);
        find_out(judge_of_theirs, shape.cols);
        judge_both(judge_of_ours, judge_of_theirs, ours, *previous, row, tally);
    }
    return tally;
}

// Where a column is wrong by itself, it is told beside the right one.
template <class T>
Report finish(const Tally& tally, const void* x, const Shape& shape, bool against_a_previous,
              bool on_device) {
    Report report = report_of(tally, [](int64_t) { return ""; });
    if (report.mismatches == 0) return report;
    const int64_t row = tally.first_index / 2;
    const bool is_column = tally.first_index % 2 == 0;
    report.first_output = is_column ? "column" : "probability";
    report.first_element = row;
    report.first_place = report.first_output + ", row " + std::to_string(row);
    if (!is_column || against_a_previous) return report;
    std::vector<T> elements(static_cast<size_t>(shape.cols));
    const T* from = static_cast<const T*>(x) + row * shape.cols;
    runner::check_cuda(cudaMemcpy(elements.data(), from, elements.size() * sizeof(T),
                                  on_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost),
                       "reading a row");
    std::vector<double> values(elements.size());
    std::transform(elements.begin(), elements.end(), values.begin(),
                   [](T each) { return to_double(each); });
    report.first_wanted = static_cast<double>(
        column_at(unit_of_row(shape.options.seed, row), distribution_of(values, shape.options)));
    return report;
}

}  // namespace

std::vector<double> distribution_of(const std::vector<double>& row, const Options& options) {
    const auto cols = static_cast<int64_t>(row.size());
    const Cuts cuts(options, cols);
    double max = -INFINITY;
    bool is_odd = false;
    for (const double x : row) {
        max = std::max(max, x);
        is_odd = is_odd || !(x < INFINITY);
    }
    if (is_odd || max == -INFINITY) return std::vector<double>(row.size(), NAN);
    const auto weight = [&](int64_t col) {
        return std::exp((row[static_cast<size_t>(col)] - max) / cuts.temperature);
    };
    std::vector<int64_t> order = topk::sorted_columns(row, cuts.top_k > 0 ? cuts.top_k : cols);
    double all = 0;
    for (const int64_t col : order) all += weight(col);
    double before = 0, staying = 0;
    std::vector<double> probabilities(row.size(), 0);
    for (const int64_t col : order) {
        const double mass = weight(col);
        if ((cuts.top_p < 1 && before >= cuts.top_p * all) || mass < cuts.min_p) break;
        probabilities[static_cast<size_t>(col)] = mass;
        staying += mass;
        before += mass;
    }
    for (double& each : probabilities) each /= staying;
    return probabilities;
}

int64_t column_at(double u, const std::vector<double>& distribution) {
    int64_t last = -1;  // with a probability: u may lie behind what is summed up
    for (size_t col = 0; col < distribution.size(); ++col) {
        if (!(distribution[col] > 0)) continue;
        last = static_cast<int64_t>(col);
        if (u < distribution[col]) return last;
        u -= distribution[col];
    }
    return last;
}

Report check_on_host(const void* x, const Shape& shape, const Result& ours,
                     const Result* previous) {
    return visit(ours.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return finish<T>(tally_on_host<T>(x, shape, ours, previous), x, shape, previous != nullptr,
                         false);
    });
}

Report check_on_device(const void* x, const Shape& shape, const Result& ours,
                       const Result* previous) {
    const auto blocks = static_cast<unsigned>(std::clamp<int64_t>(shape.rows, 1, 2048));
    const Result theirs = previous == nullptr ? Result{} : *previous;
    return visit(ours.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        const Tally total = tally_of_kernel(blocks, [&](Tally* tallies) {
            check_kernel<T>
                <<<blocks, kThreads>>>(x, shape, ours, theirs, previous != nullptr, tallies);
        });
        return finish<T>(total, x, shape, previous != nullptr, true);
    });
}

Report check(const void* x, const Shape& shape, const Result& ours, const Result* previous) {
    runner::check_cuda(cudaDeviceSynchronize(), "running the variant");
    return (runner::on_gpu() ? check_on_device : check_on_host)(x, shape, ours, previous);
}

}  // namespace operations::sampling
