// SPDX-License-Identifier: MIT
// All is exact but sums of two, which are rounded in float and to the element type, and the softmax: a scaled x is
// off by u |x / sqrt(size)|, u the unit of rounding of float (in 16-bit types that of the short exponential), and so
// is the maximum; exp passes that on; then come the roundings of the sum's longest chain, and a few.
#include "common/operations/heads/check.hpp"

#include <cmath>

#include "common/operations/elements.cuh"
#include "common/operations/named_inputs.hpp"
#include "common/operations/softmax/inputs.cuh"
#include "common/runner/build_info.hpp"

namespace operations::heads {
namespace {

using runner::mix;
using runner::to_double;
using runner::View;
using softmax::Precision;
using softmax::precision_of;

// ---------------------------------------------------------------- named inputs

struct Named {
    const char* name;
    const char* summary;
};
constexpr Named kInputs[] = {
    {kNormal, "mean 0, standard deviation 1 (nearly)"},
    {"even_lengths", "as normal; sequences of nearly the same length"},
    {"first_full", "as normal; sequences full or empty, but for one"},
    {"wide", "normal times 64: products that leave the range of float16"},
    {"special_values", "rows with NaN, rows with infinities"},
};

struct Value {
    uint64_t seed;
    double scale;
    bool special;

    __host__ __device__ double operator()(int64_t i) const {
        const uint64_t bits = mix(seed + static_cast<uint64_t>(i));
        if (special && bits % 8 == 0)
            return bits % 24 == 0 ? NAN : bits % 16 == 0 ? INFINITY : -INFINITY;
        return scale * softmax::nearly_normal(bits, false);
    }
};

// Where a sequence's rows are: by offsets, by lengths (added up here), or each `seq` behind the one before.
struct Rows {
    const int32_t* offsets;
    const int32_t* lengths;
    int64_t batch, seq;

    __host__ __device__ int64_t first(int64_t b) const {
        if (offsets != nullptr) return offsets[b];
        if (lengths == nullptr) return b * seq;
        int64_t sum = 0;
        for (int64_t i = 0; i < b; ++i) sum += lengths[i];
        return sum;
    }
    __host__ __device__ int64_t count(int64_t b) const {
        if (offsets != nullptr) return offsets[b + 1] - offsets[b];
        return lengths != nullptr ? lengths[b] : seq;
    }
    // The sequence that has this row.
    __host__ __device__ int64_t sequence_of(int64_t row) const {
        int64_t b = 0;
        for (int64_t sum = count(0); row >= sum; sum += count(++b)) {
        }
        return b;
    }
};

// A value, NaN where there is no token. x: [batch, heads, seq, size], or with one head [batch, seq, size].
struct PaddedValue {
    Value value;
    Rows rows;
    int64_t heads, size;

    __host__ __device__ double operator()(int64_t i) const {
        const int64_t s = i / size % rows.seq, b = i / size / rows.seq / heads;
        return s < rows.count(b) ? value(i) : NAN;
    }
};

// The same of scores: [batch, heads, seq, seq].
struct ScoreValue {
    Value value;
    Rows rows;
    int64_t heads;

    __host__ __device__ double operator()(int64_t i) const {
        const int64_t col = i % rows.seq, s = i / rows.seq % rows.seq;
        const int64_t count = rows.count(i / rows.seq / rows.seq / heads);
        return s < count && col < count ? value(i) : NAN;
    }
};

// ---------------------------------------------------------------- the reference

// Part 0, 1, 2: q, k, v.
template <class T>
struct WantedPart {
    const T* qkv;
    const T* bias;
    Rows rows;
    int64_t heads, size;
    int part;
    Precision precision;

    __host__ __device__ Expected operator()(int64_t i) const {
        const int64_t n = i % size, s = i / size % rows.seq, h = i / size / rows.seq % heads;
        const int64_t b = i / size / rows.seq / heads;
        if (s >= rows.count(b)) return {0, 0};
        const int64_t col = (part * heads + h) * size + n;
        const double x = to_double(qkv[(rows.first(b) + s) * 3 * heads * size + col]);
        const double added = to_double(bias[col]);
        return elements::expected(x + added, elements::kFloatUnit * (fabs(x) + fabs(added)),
                                  precision);
    }
};

// Of a row of scores.
struct RowStatistics {
    double max;   // scaled; -inf: no column is seen
    double sum;   // of exp(scaled x - max)
    double size;  // of the largest scaled x
};

template <class T>
struct Scores {
    const T* x;
    Rows rows;
    int64_t heads;
    double scale;
    bool causal;

    __host__ __device__ int64_t seen(int64_t row) const {
        const int64_t s = row % rows.seq, count = rows.count(row / rows.seq / heads);
        return s >= count ? 0 : causal ? s + 1 : count;
    }
    __host__ __device__ double at(int64_t row, int64_t col) const {
        return to_double(x[row * rows.seq + col]) * scale;
    }
};

template <class T>
struct FindRowStatistics {
    Scores<T> scores;
    RowStatistics* found;

    __host__ __device__ void operator()(int64_t row) const {
        RowStatistics of{-INFINITY, 0, 0};
        const int64_t seen = scores.seen(row);
        bool has_nan = false;
        for (int64_t col = 0; col < seen; ++col) {
            const double x = scores.at(row, col);
            has_nan = has_nan || x != x;
            of.max = fmax(of.max, x);
            if (fabs(x) < INFINITY) of.size = fmax(of.size, fabs(x));
        }
        for (int64_t col = 0; col < seen; ++col) of.sum += exp(scores.at(row, col) - of.max);
        if (has_nan) of.max = of.sum = NAN;
        found[row] = of;
    }
};

template <class T>
struct WantedScores {
    Scores<T> scores;
    const RowStatistics* found;
    double chain;  // roundings of a sum
    Precision precision;

    __host__ __device__ Expected operator()(int64_t i) const {
        const int64_t row = i / scores.rows.seq, col = i % scores.rows.seq;
        const RowStatistics& of = found[row];
        if (of.max == -INFINITY) return {0, 0};  // nothing is seen, or -inf alone
        if (of.sum != of.sum) return {NAN, 0};   // NaN or +inf: all of the row
        if (col >= scores.seen(row)) return {0, 0};
        const double x = scores.at(row, col);
        const double value = exp(x - of.max) / of.sum;
        const double relative = (3 * (of.size + of.size) + chain + 12) * precision.half_ulp;
        return elements::expected(value, relative * value + 2 * precision.smallest_term, precision);
    }
};

template <class T>
struct WantedBack {
    const T* x;
    Rows rows;
    int64_t heads, size;

    __host__ __device__ Expected operator()(int64_t i) const {
        const int64_t n = i % size, h = i / size % heads, row = i / size / heads;
        const int64_t b = rows.sequence_of(row), s = row - rows.first(b);
        return {to_double(x[((b * heads + h) * rows.seq + s) * size + n]), 0};
    }
};

template <class T>
struct WantedRemoved {
    const T* x;
    Rows rows;
    int64_t hidden;

    __host__ __device__ Expected operator()(int64_t i) const {
        const int64_t row = i / hidden, b = rows.sequence_of(row), s = row - rows.first(b);
        return {to_double(x[(b * rows.seq + s) * hidden + i % hidden]), 0};
    }
};

template <class T>
struct WantedRebuilt {
    const T* x;
    Rows rows;
    int64_t hidden;

    __host__ __device__ Expected operator()(int64_t i) const {
        const int64_t s = i / hidden % rows.seq, b = i / hidden / rows.seq;
        if (s >= rows.count(b)) return {0, 0};
        return {to_double(x[(rows.first(b) + s) * hidden + i % hidden]), 0};
    }
};

// dims: of the result.
template <class T, class Wanted>
runner::Report judged(bool device, const View& ours, const View* previous, const char* name,
                      const std::vector<int64_t>& dims, const Wanted& wanted) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    const T* const other =
        previous == nullptr ? nullptr : static_cast<const T*>((*previous)[name].data);
    const elements::Judge<T, Wanted> judge{static_cast<const T*>(ours[name].data), other, wanted,
                                           wanted, precision_of(runner::dtype_of<T>)};
    runner::Report report = elements::judge(device, count, judge, [&](int64_t i) {
        std::string place;
        for (size_t dim = dims.size(); dim-- > 0; i /= dims[dim])
            place = std::to_string(i % dims[dim]) + (place.empty() ? "" : ", ") + place;
        return std::string(name) + "[" + place + "]";
    });
    report.first_output = name;
    return report;
}

// The operand if the problem has it.
template <class T>
T* operand(const View& view, const char* name) {
    for (const runner::Placed& each : view.operands()) {
        if (each.name == name) return static_cast<T*>(each.data);
    }
    return nullptr;
}

Rows rows_in(const View& inputs, const Shape& shape) {
    return {operand<const int32_t>(inputs, "offsets"), operand<const int32_t>(inputs, "lengths"),
            shape.batch, shape.seq};
}

template <class T>
runner::Report check_scores(bool device, const View& inputs, const Shape& shape, const View& ours,
                            const View* previous) {
    const Scores<T> scores{static_cast<const T*>(inputs["x"].data), rows_in(inputs, shape),
                           shape.heads, double{scale_of(shape)}, shape.causal};
    const int64_t rows = shape.batch * shape.heads * shape.seq;
    std::vector<RowStatistics> on_host(device ? 0 : static_cast<size_t>(rows));
    runner::DeviceBuffer<RowStatistics> on_device(device ? static_cast<size_t>(rows) : 0);
    RowStatistics* const found = device ? on_device.data() : on_host.data();
    elements::for_each(device, rows, FindRowStatistics<T>{scores, found});
    // A lane adds up to 64 elements, or a thread of a block as many as its share.
    const double chain = std::max(64., static_cast<double>(shape.seq) / 32) + 16;
    return judged<T>(device, ours, previous, "y", {shape.batch, shape.heads, shape.seq, shape.seq},
                     WantedScores<T>{scores, found, chain, precision_of(runner::dtype_of<T>)});
}

template <class T>
runner::Report check_as(bool device, const View& inputs, Kind kind, const Shape& shape,
                        const View& ours, const View* previous) {
    const Rows rows = rows_in(inputs, shape);
    const T* const x = static_cast<const T*>(inputs.operands().front().data);
    const std::vector<int64_t> by_token = {shape.rows(), shape.hidden()};
    const std::vector<int64_t> padded = {shape.batch, shape.seq, shape.hidden()};
    switch (kind) {
        case Kind::add_qkv_bias_transpose:
            break;
        case Kind::masked_softmax:
            return check_scores<T>(device, inputs, shape, ours, previous);
        case Kind::transpose_back:
            return judged<T>(device, ours, previous, "y", by_token,
                             WantedBack<T>{x, rows, shape.heads, shape.size});
        case Kind::remove_padding:
            return judged<T>(device, ours, previous, "y", by_token,
                             WantedRemoved<T>{x, rows, shape.hidden()});
        case Kind::rebuild_padding:
            return judged<T>(device, ours, previous, "y", padded,
                             WantedRebuilt<T>{x, rows, shape.hidden()});
    }
    const std::vector<int64_t> by_head = {shape.batch, shape.heads, shape.seq, shape.size};
    runner::Report all;
    int part = 0;
    for (const char* name : {"q", "k", "v"}) {
        const WantedPart<T> wanted{
            x,    operand<const T>(inputs, "bias"), rows, shape.heads, shape.size,
            part, precision_of(runner::dtype_of<T>)};
        const runner::Report one = judged<T>(device, ours, previous, name, by_head, wanted);
        all = part++ == 0 ? one : joined(all, one);
    }
    return all;
}

void upload(int32_t* to, const std::vector<int32_t>& from) {
    runner::check_cuda(
        cudaMemcpy(to, from.data(), from.size() * sizeof(int32_t), cudaMemcpyHostToDevice),
        "filling lengths");
}

}  // namespace

std::vector<runner::NamedInput> all_inputs() {
    return listed(kInputs);
}

float scale_of(const Shape& shape) {
    return 1 / std::sqrt(static_cast<float>(std::max<int64_t>(1, shape.size)));
}

std::vector<int32_t> lengths_of(const Shape& shape, const std::string& input, uint64_t seed) {
    std::vector<int32_t> lengths;
    int64_t left = shape.rows();
    for (int64_t b = 0; b < shape.batch; ++b) {
        const int64_t others = shape.batch - b - 1;
        const int64_t least = std::max<int64_t>(0, left - others * shape.seq);
        const int64_t most = std::min(left, shape.seq);
        const auto draw = mix(mix(seed) + static_cast<uint64_t>(b));
        int64_t length =
            least + static_cast<int64_t>(draw % static_cast<uint64_t>(most - least + 1));
        if (input == "even_lengths") length = (left + others) / (others + 1);
        if (input == "first_full") length = most;
        lengths.push_back(static_cast<int32_t>(length));
        left -= length;
    }
    return lengths;
}

void fill(const View& inputs, Kind kind, const Shape& shape, DType dtype, const std::string& input,
          uint64_t seed, bool with_first) {
    input_named(input, kInputs);  // throws where there is none
    const std::vector<int32_t> lengths = lengths_of(shape, input, seed);
    if (auto* const to = operand<int32_t>(inputs, "lengths")) upload(to, lengths);
    if (auto* const to = operand<int32_t>(inputs, "offsets")) {
        std::vector<int32_t> offsets = {0};
        for (const int32_t length : lengths) offsets.push_back(offsets.back() + length);
        upload(to, offsets);
    }
    const Value value{mix(seed), input == "wide" ? 64. * 512 : 1, input == "special_values"};
    if (void* const bias = operand<void>(inputs, "bias")) {
        const Value of_bias{mix(seed + 1), value.scale, false};
        elements::fill(bias, dtype, 3 * shape.hidden(), of_bias);
    }
    if (!with_first) return;
    void* const x = inputs.operands().front().data;
    const Rows rows = rows_in(inputs, shape);
    const int64_t padded = shape.batch * shape.seq * shape.hidden();
    switch (kind) {
        case Kind::masked_softmax:
            elements::fill(x, dtype, shape.batch * shape.heads * shape.seq * shape.seq,
                           ScoreValue{value, rows, shape.heads});
            break;
        case Kind::add_qkv_bias_transpose:
            elements::fill(x, dtype, 3 * shape.rows() * shape.hidden(), value);
            break;
        case Kind::transpose_back:
            elements::fill(x, dtype, padded, PaddedValue{value, rows, shape.heads, shape.size});
            break;
        case Kind::remove_padding:
            elements::fill(x, dtype, padded, PaddedValue{value, rows, 1, shape.hidden()});
            break;
        case Kind::rebuild_padding:
            elements::fill(x, dtype, shape.rows() * shape.hidden(), value);
            break;
    }
}

runner::Report check_on(bool device, const View& inputs, Kind kind, const Shape& shape, DType dtype,
                        const View& ours, const View* previous) {
    return runner::visit(dtype, [&](auto of) {
        return check_as<typename decltype(of)::type>(device, inputs, kind, shape, ours, previous);
    });
}

runner::Report check(const View& inputs, Kind kind, const Shape& shape, DType dtype,
                     const View& ours, const View* previous) {
    runner::check_cuda(cudaDeviceSynchronize(), "running the variant");
    return check_on(runner::on_gpu(), inputs, kind, shape, dtype, ours, previous);
}

}  // namespace operations::heads
