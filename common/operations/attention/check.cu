// SPDX-License-Identifier: MIT
#include "common/operations/attention/check.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "common/operations/attention/judge.cuh"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"

namespace operations::attention {

using runner::Report;
using runner::to_double;

namespace {

// One head's rows of all operands, and one query's results among all.
template <class T>
struct Head {
    int64_t key_head;  // number of its keys' head among all
    const T* q;
    const T* k;
    const T* v;
    int64_t queries, size, length, offset;
    bool causal;
    int64_t first;  // number of its first query among all

    __host__ __device__ Head(const Operands& operands, const Shape& s, int64_t number)
        : key_head(number / (s.heads / s.heads_of_keys())),
          q(static_cast<const T*>(operands.q) + number * s.queries * s.size),
          k(static_cast<const T*>(operands.k) + key_head * s.keys * s.size),
          v(static_cast<const T*>(operands.v) + key_head * s.keys * s.size),
          queries(s.queries),
          size(s.size),
          length(operands.lengths[number / s.heads]),
          offset(s.keys - s.queries),
          causal(s.causal),
          first(number * s.queries) {
        if (length > s.keys) length = s.keys;
        if (length < 0) length = 0;
    }
    __host__ __device__ int64_t seen_by(int64_t query) const {
        const int64_t seen = causal ? query + offset + 1 : length;
        return seen < 0 ? 0 : seen < length ? seen : length;
    }
    __host__ __device__ double norm(const T* row) const {
        double sum = 0;
        for (int64_t i = 0; i < size; ++i) sum += to_double(row[i]) * to_double(row[i]);
        return sqrt(sum);
    }
    __host__ __device__ double product(int64_t query, int64_t key) const {
        double sum = 0;
        for (int64_t i = 0; i < size; ++i)
            sum += to_double(q[query * size + i]) * to_double(k[key * size + i]);
        return sum;
    }
};

struct All {
    Outputs ours, previous;
    int64_t outputs;   // elements of o
    int64_t step = 1;  // every so many queries one is looked at
};

// Element `at` of o, or a sum, which stand behind these in the report.
template <class T>
__host__ __device__ void judge(Tally& tally, const Expected& reference, const Rules& rules,
                               const All& all, int64_t at) {
    const Expected wanted =
        all.previous.o == nullptr
            ? reference
            : beside(to_double(static_cast<const T*>(all.previous.o)[at]), reference);
    tally.add(verdict_of(to_double(static_cast<const T*>(all.ours.o)[at]), wanted,
                         rules.precision.smallest_normal),
              at);
}
__host__ __device__ void judge_sum(Tally& tally, const Scores& scores, const Rules& rules,
                                   const All& all, int64_t query) {
    if (all.ours.log_sum_exp == nullptr) return;
    const Expected reference = expected_sum(scores, rules);
    const Expected wanted = all.previous.log_sum_exp == nullptr
                                ? reference
                                : beside(all.previous.log_sum_exp[query], reference);
    tally.add(verdict_of(all.ours.log_sum_exp[query], wanted, INFINITY), all.outputs + query);
}

// ---- by a kernel: a block has a query, its threads first keys, then columns

constexpr int kThreads = 128;
constexpr int kColumnsEach = 8;

template <class T>
__global__ void __launch_bounds__(kThreads)
    check_kernel(Operands operands, Shape shape, Rules rules, All all, Tally* tallies) {
    __shared__ Scores of_threads[kThreads];
    __shared__ double scores[kThreads];
    const auto thread = static_cast<int64_t>(threadIdx.x);
    const int64_t count = shape.batch * shape.heads * shape.queries;
    Tally tally;
    for (int64_t number = blockIdx.x * all.step; number < count; number += gridDim.x * all.step) {
        const int64_t query = number % shape.queries;
        const Head<T> head(operands, shape, number / shape.queries);
        const int64_t seen = head.seen_by(query);
        const auto score = [&](int64_t key) { return rules.scale * head.product(query, key); };
        Scores mine;
        for (int64_t key = thread; key < seen; key += kThreads)
            mine.add(score(key), head.norm(head.k + key * head.size));
        of_threads[thread] = mine;
        __syncthreads();
        for (int other = 0; other < kThreads; ++other) {
            if (other != thread) mine.add(of_threads[other]);
        }
        mine.norm = head.norm(head.q + query * head.size);
        Column columns[kColumnsEach];
        for (int64_t first = 0; first < seen; first += kThreads) {
            __syncthreads();  // those before have been used
            if (first + thread < seen) scores[thread] = score(first + thread);
            __syncthreads();
            for (int64_t i = 0; i < kThreads && first + i < seen; ++i) {
                const double weight = mine.weight(scores[i]);
                mine.weights += weight;
                for (int64_t j = 0; j < kColumnsEach && thread + j * kThreads < head.size; ++j)
                    columns[j].add(
                        weight, to_double(head.v[(first + i) * head.size + thread + j * kThreads]));
            }
        }
        __syncthreads();
        for (int64_t j = 0; j < kColumnsEach && thread + j * kThreads < head.size; ++j)
            judge<T>(tally, expected(columns[j], mine, rules), rules, all,
                     number * head.size + thread + j * kThreads);
        if (thread == 0) judge_sum(tally, mine, rules, all, number);
    }
    tallies[blockIdx.x * kThreads + thread] = tally;
}

// ---- on the host

template <class T>
Tally tally_on_host(const Operands& operands, const Shape& shape, const Rules& rules,
                    const All& all) {
    Tally tally;
    std::vector<double> scores, norms;
    std::vector<Column> columns;
    for (int64_t number = 0; number < shape.batch * shape.heads; ++number) {
        const Head<T> head(operands, shape, number);
        norms.clear();
        for (int64_t key = 0; key < head.length; ++key)
            norms.push_back(head.norm(head.k + key * head.size));
        for (int64_t query = 0; query < shape.queries; ++query) {
            Scores known;
            scores.clear();
            for (int64_t key = 0; key < head.seen_by(query); ++key) {
                scores.push_back(rules.scale * head.product(query, key));
                known.add(scores.back(), norms[static_cast<size_t>(key)]);
            }
            known.norm = head.norm(head.q + query * head.size);
            columns.assign(static_cast<size_t>(head.size), {});
            for (size_t key = 0; key < scores.size(); ++key) {
                const double weight = known.weight(scores[key]);
                known.weights += weight;
                const T* const v = head.v + static_cast<int64_t>(key) * head.size;
                for (size_t col = 0; col < columns.size(); ++col)
                    columns[col].add(weight, to_double(v[col]));
            }
            const int64_t of_all = head.first + query;
            for (int64_t col = 0; col < head.size; ++col)
                judge<T>(tally, expected(columns[static_cast<size_t>(col)], known, rules), rules,
                         all, of_all * head.size + col);
            judge_sum(tally, known, rules, all, of_all);
        }
    }
    return tally;
}

All all_of(const Shape& shape, const Outputs& ours, const Outputs* previous) {
    All all{};
    all.ours = ours;
    if (previous != nullptr) all.previous = *previous;
    all.outputs = shape.batch * shape.heads * shape.queries * shape.size;
    return all;
}

Report report_of(const Tally& tally, const Shape& shape) {
    Report report =
        operations::report_of(tally, [&](int64_t index) { return place_of(shape, index); });
    const int64_t outputs = shape.batch * shape.heads * shape.queries * shape.size;
    if (report.first_element < outputs) return report;
    report.first_output = "log_sum_exp";
    report.first_element -= outputs;
    return report;
}

}  // namespace

std::string place_of(const Shape& shape, int64_t index) {
    const int64_t outputs = shape.batch * shape.heads * shape.queries * shape.size;
    const bool is_sum = index >= outputs;
    const int64_t query = is_sum ? index - outputs : index / shape.size;
    return "batch " + std::to_string(query / shape.queries / shape.heads) + ", head " +
           std::to_string(query / shape.queries % shape.heads) + ", query " +
           std::to_string(query % shape.queries) +
           (is_sum ? ", log_sum_exp" : ", col " + std::to_string(index % shape.size));
}

Report check_on_host(const Operands& operands, const Shape& shape, DType dtype, const Outputs& ours,
                     const Outputs* previous) {
    const Rules rules(shape, dtype);
    return report_of(visit(dtype,
                           [&](auto of) {
                               using T = typename decltype(of)::type;
                               return tally_on_host<T>(operands, shape, rules,
                                                       all_of(shape, ours, previous));
                           }),
                     shape);
}

Report check_on_device(const Operands& operands, const Shape& shape, DType dtype,
                       const Outputs& ours, const Outputs* previous) {
    const int64_t queries = shape.batch * shape.heads * shape.queries;
    if (queries == 0) return {};
    if (shape.size > kThreads * kColumnsEach)
        throw std::invalid_argument("heads of more than 1024 elements are not checked");
    const auto blocks = static_cast<unsigned>(std::min<int64_t>(queries, 4096));
    const Rules rules(shape, dtype);
    All all = all_of(shape, ours, previous);
    all.step =
        step_of_check(static_cast<double>(queries) * static_cast<double>(shape.keys * shape.size));
    return report_of(tally_of_kernel(size_t{blocks} * kThreads,
                                     [&](Tally* tallies) {
                                         visit(dtype, [&](auto of) {
                                             using T = typename decltype(of)::type;
                                             check_kernel<T><<<blocks, kThreads>>>(
                                                 operands, shape, rules, all, tallies);
                                         });
                                     }),
                     shape);
}

Report check(const Operands& operands, const Shape& shape, DType dtype, const Outputs& ours,
             const Outputs* previous) {
    runner::check_cuda(cudaDeviceSynchronize(), "running the variant");
    return (runner::on_gpu() ? check_on_device : check_on_host)(operands, shape, dtype, ours,
                                                                previous);
}

}  // namespace operations::attention
