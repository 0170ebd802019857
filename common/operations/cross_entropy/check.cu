// SPDX-License-Identifier: MIT
// Sums of exponentials are softmax's (common/operations/softmax/reference.cuh), with their bound. What follows is a
// few sums and products a row and an element: each number carries its greatest error along (Known), to which every
// operation adds that of its own rounding. So the bound follows from the formula by itself, cancellation included.
#include "common/operations/cross_entropy/check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "common/operations/elements.cuh"
#include "common/operations/named_inputs.hpp"
#include "common/operations/softmax/inputs.cuh"
#include "common/operations/softmax/summarize.cuh"
#include "common/runner/build_info.hpp"

namespace operations::cross_entropy {
namespace {

using runner::mix;
using runner::to_double;
using runner::unit;
using runner::View;
using softmax::Precision;
using softmax::RowReference;
using softmax::RowSummary;

// The element type of losses, totals, class weights and grad_output.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

// ---------------------------------------------------------------- named inputs

struct WeightValue {
    uint64_t seed;
    // One class in eight weighs nothing, the others 0.25 to 1.25.
    __host__ __device__ double operator()(int64_t i) const {
        const uint64_t bits = mix(seed + static_cast<uint64_t>(i));
        return bits % 8 == 0 ? 0 : 0.25 + unit(mix(bits), false);
    }
};

struct NormalValue {
    uint64_t seed;
    __host__ __device__ double operator()(int64_t i) const {
        return softmax::nearly_normal(mix(seed + static_cast<uint64_t>(i)), false);
    }
};

softmax::Input logits_of(const std::string& input) {
    for (const softmax::Input each : softmax::all_inputs()) {
        if (input == softmax::name_of(each)) return each;
    }
    if (input != kIgnored && input != kOutOfRange)
        throw std::invalid_argument("no input is called " + input);
    return softmax::Input::normal;
}

// The operand if the problem has it.
template <class T>
T* operand(const View& view, const char* name) {
    for (const runner::Placed& each : view.operands()) {
        if (each.name == name) return static_cast<T*>(each.data);
    }
    return nullptr;
}

template <class Element>
void upload(void* to, const std::vector<int64_t>& from) {
    const std::vector<Element> values(from.begin(), from.end());
    runner::check_cuda(
        cudaMemcpy(to, values.data(), values.size() * sizeof(Element), cudaMemcpyHostToDevice),
        "filling targets");
}

// ---------------------------------------------------------------- numbers with errors

// A number that the arithmetic knows up to an error. Aligned, since both may be loaded at once.
struct __align__(16) Known {
    double value;
    double error = 0;
};

// Rounds as a kernel does, and as often as any order of the same operations may.
struct Rounding {
    double share;  // of a result, for each operation: two roundings
    double least;  // and no less than that

    __host__ __device__ Known rounded(double value, double error) const {
        return {value, error + share * (fabs(value) + error) + least};
    }
    __host__ __device__ Known sum(Known a, Known b) const {
        return rounded(a.value + b.value, a.error + b.error);
    }
    __host__ __device__ Known difference(Known a, Known b) const {
        return sum(a, {-b.value, b.error});
    }
    __host__ __device__ Known product(Known a, Known b) const {
        return rounded(a.value * b.value,
                       fabs(a.value) * b.error + fabs(b.value) * a.error + a.error * b.error);
    }
    __host__ __device__ Known quotient(Known a, Known b) const {
        const double value = a.value / b.value;
        const double least_divisor = fabs(b.value) - b.error;
        return rounded(value, (a.error + fabs(value) * b.error) / fmax(least_divisor, 0.));
    }
};

__host__ __device__ inline Rounding rounding_of(const Precision& precision) {
    // The reference itself errs in double as a kernel does.
    const double own = precision.reference_ulps > 0 ? 2 : 1;
    return {2 * own * precision.half_ulp, own * precision.smallest_term};
}

// What must come out: NaN and infinities exactly.
__host__ __device__ inline Expected expected_of(Known known, const Precision& precision) {
    if (!(fabs(known.value) < INFINITY)) return {known.value, 0};
    return softmax::finite(known.value, 0, known.error, precision);
}

// A compensated sum: while it is finite, rounding loses nearly nothing.
struct Adder {
    double sum;
    double rest;
    double size;  // sum of magnitudes

    __host__ __device__ void add(double term) {
        const softmax::TwoSum next = softmax::two_sum(sum, term);
        sum = next.sum;
        if (fabs(next.sum) < INFINITY) rest += next.rest;
        size += fabs(term);
    }
    __host__ __device__ void join(const Adder& other) {
        const double both = size + other.size;
        add(other.sum);
        rest += other.rest;
        size = both;
    }
    __host__ __device__ double value() const { return sum + rest; }
};

// ---------------------------------------------------------------- the reference

// The problem as a kernel gets it. Options are rounded to the type of the arithmetic.
template <class T>
struct Problem {
    using Sum = SumOf<T>;
    const T* logits;
    const void* targets;
    const Sum* class_weights;
    const Sum* grad_output;
    int64_t rows, cols;
    bool wide;  // targets of 64 bits
    int64_t ignore_index;
    double label_smoothing, z_loss, soft_cap;
    bool mean, sum;
    int64_t partial_sums;

    __host__ __device__ int64_t target(int64_t row) const {
        return wide ? static_cast<const int64_t*>(targets)[row]
                    : static_cast<const int32_t*>(targets)[row];
    }
    __host__ __device__ bool is_ignored(int64_t row) const { return target(row) == ignore_index; }
    __host__ __device__ bool has_column(int64_t row) const {
        return target(row) >= 0 && target(row) < cols;
    }
    __host__ __device__ double weight(int64_t col) const {
        return class_weights == nullptr ? 1 : double{class_weights[col]};
    }
    __host__ __device__ double upstream(int64_t row) const {
        return double{grad_output[mean || sum ? 0 : row]};
    }
    __host__ __device__ double at(int64_t row, int64_t col) const {
        const double x = to_double(logits[row * cols + col]);
        return soft_cap > 0 ? soft_cap * tanh(x / soft_cap) : x;
    }
    __host__ __device__ Precision precision() const {
        return softmax::precision_of(runner::dtype_of<T>);
    }
    // How far a capped logit may be off: a quotient, a hyperbolic tangent good to two units, a product.
    __host__ __device__ double cap_error(double capped) const {
        if (soft_cap == 0) return 0;
        const double own = precision().reference_ulps > 0 ? 2 : 1;
        return own * 8 * precision().half_ulp * fabs(capped) + precision().smallest_term;
    }
};

// The sums that label smoothing needs of a row, and the largest magnitude of its finite logits.
struct Extras {
    Adder weighted;  // sum of w[c] x[c]
    Adder weights;   // sum of w[c]
    double size;

    template <class T>
    __host__ __device__ void add(const Problem<T>& problem, int64_t row, int64_t col) {
        const double x = problem.at(row, col);
        if (fabs(x) < INFINITY) size = fmax(size, fabs(x));
        if (problem.label_smoothing == 0) return;
        weighted.add(problem.weight(col) * x);
        weights.add(problem.weight(col));
    }
    __host__ __device__ void join(const Extras& other) {
        weighted.join(other.weighted);
        weights.join(other.weights);
        size = fmax(size, other.size);
    }
};

struct __align__(16) Totals {
    Known loss, weight, rows;
};

// What the results of a row follow from. If the row does not count, all of its results are `constant`.
struct RowFacts {
    bool counts;
    double constant;  // 0 or NaN
    bool open;        // divided by a weight that may be 0: held to no value
    Known lse, loss;
    RowReference reference;
    double cap_error;
    // gradient = (of_softmax * softmax - of_weight * w[c] - of_target where c is the target) * slope of the cap
    Known of_softmax, of_weight, of_target;
};

template <class T>
__host__ __device__ RowFacts facts_of(const Problem<T>& problem, int64_t row,
                                      const RowSummary& summary, const Extras& extras,
                                      const Totals& totals) {
    const Precision precision = problem.precision();
    const Rounding by = rounding_of(precision);
    const double unit_error = by.share / 2;
    RowFacts facts{};
    const softmax::Rules rules{softmax::Kind::softmax, false, problem.partial_sums,
                               runner::dtype_of<T>};
    facts.reference = softmax::row_reference(summary, problem.cols, rules);
    facts.counts = problem.has_column(row) && !problem.is_ignored(row);
    facts.constant = problem.is_ignored(row) ? 0 : NAN;
    if (!facts.counts) return facts;
    facts.open = problem.mean && !(totals.weight.value > totals.weight.error);
    const RowReference& of = facts.reference;
    if (summary.has_nan || summary.has_infinity) {
        facts.counts = false;
        return facts;
    }
    facts.cap_error = problem.cap_error(extras.size);
    const double in_softmax = unit_error * of.base + 2 * facts.cap_error;

    const double x = problem.at(row, problem.target(row));
    const double distance = fmin(summary.max - x, DBL_MAX);
    facts.lse = {summary.max + of.log_sum,
                 in_softmax + unit_error * (fabs(summary.max) + fabs(of.log_sum))};
    const Known nll{(summary.max - x) + of.log_sum,
                    in_softmax + unit_error * (fabs(distance) + fabs(of.log_sum))};
    if (summary.max == -INFINITY) facts.lse = {-INFINITY};

    const Known s{problem.label_smoothing}, z{problem.z_loss};
    const Known hard = by.product(by.difference({1}, s), {problem.weight(problem.target(row))});
    const Known smooth = by.quotient(s, {static_cast<double>(problem.cols)});
    const double chain = 2 * unit_error * (of.adds + 2);
    const Known weights{problem.class_weights == nullptr ? static_cast<double>(problem.cols)
                                                         : extras.weights.value(),
                        problem.class_weights == nullptr ? 0 : chain * extras.weights.size};
    const Known weighted{extras.weighted.value(),
                         chain * extras.weighted.size + facts.cap_error * extras.weights.size};
    const Known per_weight = problem.mean ? by.quotient({1}, totals.weight) : Known{1};
    const Known per_row = problem.mean ? by.quotient({1}, totals.rows) : Known{1};

    facts.loss = by.product(hard, nll);
    Known of_softmax = hard;
    if (problem.label_smoothing > 0) {
        facts.loss =
            by.sum(facts.loss,
                   by.product(smooth, by.difference(by.product(facts.lse, weights), weighted)));
        of_softmax = by.sum(of_softmax, by.product(smooth, weights));
    }
    facts.loss = by.product(facts.loss, per_weight);
    of_softmax = by.product(of_softmax, per_weight);
    if (problem.z_loss > 0) {
        const Known once = by.product(by.product(z, facts.lse), per_row);
        facts.loss = by.sum(facts.loss, by.product(once, facts.lse));
        of_softmax = by.sum(of_softmax, by.product({2}, once));
    }
    if (problem.grad_output == nullptr) return facts;
    const Known upstream{problem.upstream(row)};
    facts.of_softmax = by.product(upstream, of_softmax);
    facts.of_weight = by.product(by.product(upstream, smooth), per_weight);
    facts.of_target = by.product(by.product(upstream, hard), per_weight);
    return facts;
}

// All rows' facts, a block a row.
constexpr unsigned kThreads = 128;

template <class T>
__global__ void find_facts_kernel(Problem<T> problem, const Totals* totals, RowFacts* facts) {
    __shared__ RowSummary summaries[kThreads];
    __shared__ Extras extras[kThreads];
    for (int64_t row = blockIdx.x; row < problem.rows; row += gridDim.x) {
        const RowSummary summary = softmax::summarize_by_block(
            summaries, problem.cols, softmax::Kind::softmax,
            [&](int64_t col) { return softmax::Element{problem.at(row, col)}; });
        Extras mine{};
        for (int64_t col = threadIdx.x; col < problem.cols; col += kThreads)
            mine.add(problem, row, col);
        extras[threadIdx.x] = mine;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (unsigned other = 1; other < kThreads; ++other) mine.join(extras[other]);
            facts[row] = facts_of(problem, row, summary, mine, *totals);
        }
        __syncthreads();  // thread 0 has read the others', before the next row's take their place
    }
}

template <class T>
struct FindFacts {
    Problem<T> problem;
    const Totals* totals;
    RowFacts* facts;

    __host__ __device__ void operator()(int64_t row) const {
        RowSummary summary = softmax::empty_row();
        Extras extras{};
        for (int64_t col = 0; col < problem.cols; ++col)
            summary.find_max({problem.at(row, col)}, softmax::Kind::softmax);
        for (int64_t col = 0; col < problem.cols; ++col) {
            summary.add({problem.at(row, col)}, softmax::Kind::softmax);
            extras.add(problem, row, col);
        }
        facts[row] = facts_of(problem, row, summary, extras, *totals);
    }
};

// The roundings of the longest chain of a sum over rows, which a warp or a block computes.
__host__ __device__ inline double chain_of_rows(int64_t rows) {
    return static_cast<double>(rows) / 32 + 16;
}

// The weight and the number of the rows that count, which the facts of each row need.
template <class T>
struct FindWeight {
    Problem<T> problem;
    Totals* totals;

    __host__ __device__ void operator()(int64_t) const {
        Adder weight{};
        double rows = 0;
        for (int64_t row = 0; row < problem.rows; ++row) {
            if (problem.is_ignored(row)) continue;
            weight.add(problem.has_column(row) ? problem.weight(problem.target(row)) : 1);
            ++rows;
        }
        const double each = rounding_of(problem.precision()).share;
        totals->weight = {weight.value(), each * chain_of_rows(problem.rows) * weight.size};
        totals->rows = {rows, each * rows};
    }
};

// The sum of the losses, once they are known.
template <class T>
struct FindLoss {
    Problem<T> problem;
    const RowFacts* facts;
    Totals* totals;

    __host__ __device__ void operator()(int64_t) const {
        Adder sum{};
        double error = 0;
        for (int64_t row = 0; row < problem.rows; ++row) {
            const RowFacts& of = facts[row];
            if (of.counts && of.open) {
                error = NAN;
            } else if (of.counts) {
                sum.add(of.loss.value);
                error += of.loss.error;
            } else {
                sum.add(of.constant);
            }
        }
        const double each = rounding_of(problem.precision()).share;
        totals->loss = {sum.value(), error + each * chain_of_rows(problem.rows) * sum.size};
        if (problem.mean && totals->rows.value == 0) totals->loss = {NAN};
    }
};

// ---------------------------------------------------------------- what must come out

// The precision of losses and totals: float arithmetic, without a further rounding to a narrow type.
__host__ __device__ inline Precision precision_of_sums(Precision precision) {
    if (!precision.narrow) return precision;
    Precision sums;
    sums.half_ulp = precision.half_ulp;
    return sums;
}

template <class T>
struct WantedLoss {
    Problem<T> problem;
    const RowFacts* facts;
    __host__ __device__ Expected operator()(int64_t row) const {
        const RowFacts& of = facts[row];
        if (!of.counts) return {of.constant, 0};
        if (of.open) return {0, NAN};
        return expected_of(of.loss, precision_of_sums(problem.precision()));
    }
};

template <class T>
struct WantedLse {
    Problem<T> problem;
    const RowFacts* facts;
    __host__ __device__ Expected operator()(int64_t row) const {
        const RowFacts& of = facts[row];
        if (!of.counts) return {of.constant, 0};
        return expected_of(of.lse, precision_of_sums(problem.precision()));
    }
};

template <class T>
struct WantedTotal {
    Problem<T> problem;
    const Totals* totals;
    __host__ __device__ Expected operator()(int64_t i) const {
        const Known known = i == 0 ? totals->loss : i == 1 ? totals->weight : totals->rows;
        return expected_of(known, precision_of_sums(problem.precision()));
    }
};

template <class T>
struct WantedGradient {
    Problem<T> problem;
    const RowFacts* facts;

    __host__ __device__ Expected operator()(int64_t i) const {
        const int64_t row = i / problem.cols, col = i % problem.cols;
        const RowFacts& of = facts[row];
        if (!of.counts) return {of.constant, 0};
        if (of.open) return {0, NAN};
        const RowSummary& summary = of.reference.row;
        if (summary.max == -INFINITY) return {NAN, 0};
        const Precision precision = problem.precision();
        const Rounding by = rounding_of(precision);
        const double x = problem.at(row, col);
        Known share{0};
        if (x > -INFINITY) {
            const double distance = fmin(summary.max - x, DBL_MAX);
            share.value = softmax::exp_of_difference(x, summary.max) / of.reference.sum;
            share.error =
                share.value * (by.share / 2 * (distance + of.reference.base) + 2 * of.cap_error) +
                2 * by.least;
        }
        Known gradient = by.product(of.of_softmax, share);
        if (problem.label_smoothing > 0)
            gradient = by.difference(gradient, by.product(of.of_weight, {problem.weight(col)}));
        if (col == problem.target(row)) gradient = by.difference(gradient, of.of_target);
        if (problem.soft_cap > 0) {
            // 1 - tanh^2, or a product of 1 - tanh and 1 + tanh: tanh is good to six roundings.
            const double tanh_of = x / problem.soft_cap;
            gradient = by.product(gradient, {1 - tanh_of * tanh_of, 8 * by.share});
        }
        return expected_of(gradient, precision);
    }
};

// ---------------------------------------------------------------- comparisons

// Ours is judged by `wanted`; beside another's result, that one by `of_previous`.
template <class Element, class Wanted, class Place>
runner::Report judged(bool device, int64_t count, const View& ours, const View* previous,
                      const char* name, const Wanted& wanted, const Wanted& of_previous,
                      const Precision& precision, Place place) {
    const auto* const other =
        previous == nullptr ? nullptr : static_cast<const Element*>((*previous)[name].data);
    const elements::Judge<Element, Wanted> judge{static_cast<const Element*>(ours[name].data),
                                                 other, wanted, of_previous, precision};
    runner::Report report = elements::judge(device, count, judge, place);
    report.first_output = name;
    return report;
}

// A problem's facts, where the judge can read them.
template <class T>
class Facts {
public:
    Facts(bool device, const Problem<T>& problem)
        : on_host_(device ? 0 : count(problem)),
          totals_on_host_(device ? 0 : 1),
          on_device_(device ? count(problem) : 0),
          totals_on_device_(device ? 1 : 0),
          rows_(device ? on_device_.data() : on_host_.data()),
          totals_(device ? totals_on_device_.data() : totals_on_host_.data()) {
        elements::for_each(device, 1, FindWeight<T>{problem, totals_});
        if (device) {
            const auto blocks = static_cast<unsigned>(std::clamp<int64_t>(problem.rows, 1, 2048));
            find_facts_kernel<<<blocks, kThreads>>>(problem, totals_, rows_);
            runner::check_cuda(cudaGetLastError(), "launching the checker");
        } else {
            elements::for_each(false, problem.rows, FindFacts<T>{problem, totals_, rows_});
        }
        elements::for_each(device, 1, FindLoss<T>{problem, rows_, totals_});
    }
    const RowFacts* rows() const { return rows_; }
    const Totals* totals() const { return totals_; }

private:
    static size_t count(const Problem<T>& problem) { return static_cast<size_t>(problem.rows); }

    std::vector<RowFacts> on_host_;
    std::vector<Totals> totals_on_host_;
    runner::DeviceBuffer<RowFacts> on_device_;
    runner::DeviceBuffer<Totals> totals_on_device_;
    RowFacts* rows_;
    Totals* totals_;
};

template <class T>
runner::Report check_as(bool device, const View& inputs, Kind kind, const Shape& shape,
                        const Result& ours, const Result* previous) {
    using Sum = SumOf<T>;
    const Options& options = shape.options;
    const auto as_computed = [](double option) { return double{static_cast<Sum>(option)}; };
    const Problem<T> problem{operand<const T>(inputs, "logits"),
                             operand<const void>(inputs, "targets"),
                             operand<const Sum>(inputs, "class_weights"),
                             operand<const Sum>(inputs, "grad_output"),
                             shape.rows,
                             shape.cols,
                             options.target_bits == 64,
                             options.ignore_index,
                             as_computed(options.label_smoothing),
                             as_computed(options.z_loss),
                             as_computed(options.soft_cap),
                             options.mean,
                             options.sum,
                             ours.partial_sums};
    if (shape.rows == 0 || shape.cols == 0) return {};
    const Facts<T> facts(device, problem);
    // The other result may have been added up in another way.
    Problem<T> its = problem;
    std::optional<Facts<T>> of_previous;
    if (previous != nullptr) {
        its.partial_sums = previous->partial_sums;
        of_previous.emplace(device, its);
    }
    const Facts<T>& others = of_previous ? *of_previous : facts;
    const View* const theirs = previous == nullptr ? nullptr : &previous->outputs;
    const Precision precision = problem.precision();
    const Precision of_sums = precision_of_sums(precision);
    const auto row_of = [](int64_t row) { return "row " + std::to_string(row); };

    runner::Report report = judged<Sum>(device, shape.rows, ours.outputs, theirs, "loss",
                                        WantedLoss<T>{problem, facts.rows()},
                                        WantedLoss<T>{its, others.rows()}, of_sums, row_of);
    report = joined(report, judged<Sum>(device, shape.rows, ours.outputs, theirs, "lse",
                                        WantedLse<T>{problem, facts.rows()},
                                        WantedLse<T>{its, others.rows()}, of_sums, row_of));
    if (options.reduces()) {
        constexpr const char* kNames[] = {"loss", "weight", "rows"};
        report = joined(report, judged<Sum>(device, 3, ours.outputs, theirs, "totals",
                                            WantedTotal<T>{problem, facts.totals()},
                                            WantedTotal<T>{its, others.totals()}, of_sums,
                                            [&](int64_t i) { return std::string(kNames[i]); }));
    }
    if (kind == Kind::cross_entropy) {
        const auto place = [&](int64_t i) {
            return row_of(i / shape.cols) + ", col " + std::to_string(i % shape.cols);
        };
        report = joined(report, judged<T>(device, shape.rows * shape.cols, ours.outputs, theirs,
                                          "gradient", WantedGradient<T>{problem, facts.rows()},
                                          WantedGradient<T>{its, others.rows()}, precision, place));
    }
    return report;
}

}  // namespace

std::vector<runner::NamedInput> all_inputs() {
    std::vector<runner::NamedInput> inputs;
    for (const softmax::Input each : softmax::all_inputs())
        inputs.push_back({softmax::name_of(each), softmax::summary_of(each)});
    inputs.push_back({kIgnored, "normal, two rows in three do not count"});
    inputs.push_back({kOutOfRange, "normal, targets of one row in three are no column"});
    return inputs;
}

std::vector<int64_t> targets_of(const Shape& shape, const std::string& input, uint64_t seed) {
    std::vector<int64_t> targets;
    // The third would be right if 32 bits of 64 were read.
    const std::vector<int64_t> wrong = {
        -1, shape.cols, shape.options.target_bits == 64 ? int64_t{1} << 32 : INT32_MAX, INT32_MIN};
    for (int64_t row = 0; row < shape.rows; ++row) {
        const uint64_t bits = mix(mix(seed ^ 0x7a26e7) + static_cast<uint64_t>(row));
        int64_t target =
            static_cast<int64_t>(bits % static_cast<uint64_t>(std::max<int64_t>(1, shape.cols)));
        const bool third = mix(bits) % 3 == 0;
        if (input == kIgnored && !third) target = shape.options.ignore_index;
        if (input == kOutOfRange && third) target = wrong[bits % wrong.size()];
        targets.push_back(target);
    }
    return targets;
}

void fill(const View& inputs, const Shape& shape, DType dtype, const std::string& input,
          uint64_t seed, bool with_logits) {
    const softmax::Input logits = logits_of(input);
    if (with_logits)
        softmax::fill(inputs["logits"].data, dtype, {shape.rows, shape.cols}, logits, seed);
    const std::vector<int64_t> targets = targets_of(shape, input, seed);
    (shape.options.target_bits == 32 ? upload<int32_t> : upload<int64_t>)(inputs["targets"].data,
                                                                          targets);
    const DType sums = dtype == DType::float64 ? DType::float64 : DType::float32;
    elements::fill(operand<void>(inputs, "class_weights"), sums, shape.cols,
                   WeightValue{mix(seed + 1)});
    elements::fill(operand<void>(inputs, "grad_output"), sums,
                   shape.options.reduces() ? 1 : shape.rows, NormalValue{mix(seed + 2)});
}

runner::Report check_on(bool device, const View& inputs, Kind kind, const Shape& shape, DType dtype,
                        const Result& ours, const Result* previous) {
    return runner::visit(dtype, [&](auto of) {
        return check_as<typename decltype(of)::type>(device, inputs, kind, shape, ours, previous);
    });
}

runner::Report check(const View& inputs, Kind kind, const Shape& shape, DType dtype,
                     const Result& ours, const Result* previous) {
    runner::check_cuda(cudaDeviceSynchronize(), "running the variant");
    return check_on(runner::on_gpu(), inputs, kind, shape, dtype, ours, previous);
}

}  // namespace operations::cross_entropy
