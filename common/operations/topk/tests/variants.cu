// SPDX-License-Identifier: MIT
// The plainest top-k there is, as a stage registers its own: everything of the course takes it in every type,
// with indices of either width, and finds what is wrong with it.
#include <cmath>
#include <fstream>

#include "common/operations/topk/order.cuh"
#include "common/operations/topk/properties.hpp"
#include "common/operations/topk/variant.hpp"
#include "common/runner/fuzz.hpp"
#include "common/runner/run.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

namespace {

using namespace operations::topk;
using runner::to_double;

enum class Fault {
    none,
    higher_column_first,  // of equal elements
    no_logits,            // forgets to write them
    sum_without_max,      // the sum's logarithm alone
    short_index,          // of columns from 64 on
};

template <class T, class Index>
struct Results {
    T* probabilities;
    Index* indices;
    T* logits;
    float* log_sum_exp;
};

// A block a row. A column's place is how many come before it.
template <class T, class Index>
__global__ void rank_kernel(const T* x, Results<T, Index> results, int64_t cols, int64_t k,
                            Fault fault) {
    const int64_t row = blockIdx.x;
    const T* x_row = x + row * cols;
    float max = -INFINITY, sum = 0;
    for (int64_t col = 0; col < cols; ++col) {
        const auto x_j = static_cast<float>(x_row[col]);
        max = x_j > max || x_j != x_j ? x_j : max;
    }
    for (int64_t col = 0; col < cols; ++col) sum += expf(static_cast<float>(x_row[col]) - max);
    for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) {
        int64_t place = 0;
        const double mine = to_double(x_row[col]);
        const int64_t sign = fault == Fault::higher_column_first ? -1 : 1;
        for (int64_t other = 0; other < cols; ++other)
            place += precedes(to_double(x_row[other]), sign * other, mine, sign * col);
        if (place >= k) continue;
        const int64_t to = row * k + place;
        if (results.probabilities != nullptr)
            results.probabilities[to] =
                static_cast<T>(expf(static_cast<float>(x_row[col]) - max) / sum);
        if (results.indices != nullptr)
            results.indices[to] = static_cast<Index>(fault == Fault::short_index ? col % 64 : col);
        if (results.logits != nullptr && fault != Fault::no_logits) results.logits[to] = x_row[col];
    }
    if (threadIdx.x != 0 || results.log_sum_exp == nullptr) return;
    const float log_sum = fault == Fault::sum_without_max ? logf(sum) : max + logf(sum);
    results.log_sum_exp[row] = std::isinf(max) ? max : log_sum;
}

runner::Variant rank_topk(Kind kind, Fault fault = Fault::none) {
    runner::Variant variant = variant_of<Results>(
        kind, kind == Kind::softmax_topk ? "ranks" : "ranks_and_all", "for this test",
        [fault](const auto* x, const auto& results, int64_t rows, int64_t cols, int64_t k, void*,
                size_t, cudaStream_t stream) {
            if (k > 0)
                rank_kernel<<<static_cast<unsigned>(rows), 64, 0, stream>>>(x, results, cols, k,
                                                                            fault);
            return cudaGetLastError();
        });
    variant.obstacle = at_most(100, 300);
    variant.partial_sums = [](const Shape&, DType) { return 1; };
    variant.more_traffic_at = [](const Shape& shape, DType) {  // each thread reads the whole row
        return runner::Traffic{64 * (2 + static_cast<double>(shape.cols)), 0};
    };
    return variant;
}

std::string first_wrong(Kind kind, Fault fault, int64_t cases) {
    runner::Stage stage;
    stage.name = "96_ranks";
    stage.variants = {rank_topk(kind, fault)};
    for (int64_t number = 0; number < cases; ++number) {
        const runner::FuzzCase one = runner::fuzz_case({&stage}, "", 5, number, 600);
        const std::string wrong = runner::run_case(one);
        if (!wrong.empty()) return wrong;
    }
    return "";
}

}  // namespace

TEST_CASE("the plainest top-k holds every property, in every type, with both widths of index") {
    testing::holds_every_topk_property(rank_topk(Kind::softmax_topk));
    testing::holds_every_topk_property(rank_topk(Kind::softmax_topk_lse));
}

TEST_CASE("random cases find whatever is wrong with a top-k") {
    for (const Kind kind : {Kind::softmax_topk, Kind::softmax_topk_lse}) {
        CHECK(first_wrong(kind, Fault::none, 100).empty());
        CHECK_THAT(first_wrong(kind, Fault::higher_column_first, 20),
                   ContainsSubstring("indices, row 0"));
        CHECK_THAT(first_wrong(kind, Fault::short_index, 50), ContainsSubstring("elements wrong"));
    }
    const Kind all = Kind::softmax_topk_lse;
    CHECK_THAT(first_wrong(all, Fault::no_logits, 1), ContainsSubstring("logits, row 0, pick 0"));
    CHECK_THAT(first_wrong(all, Fault::sum_without_max, 3), ContainsSubstring("log_sum_exp, row "));
}

TEST_CASE("top-k with everything beside is validated against one that tells less, and recorded") {
    const Folder folder;
    runner::Stage stage;
    stage.name = "96_ranks";
    stage.title = "for this test";
    stage.variants = {rank_topk(Kind::softmax_topk), rank_topk(Kind::softmax_topk_lse)};
    runner::RunOptions options;
    options.out = folder.path;
    options.quick = true;
    options.shapes = {Shape(20, 257, 40)};
    CHECK(runner::run({stage}, options) == runner::kGood);
    CHECK_THAT(folder.read("96_ranks.partial.json"), ContainsSubstring("\"softmax_topk_lse\""));
    stage.variants.back() = rank_topk(Kind::softmax_topk_lse, Fault::sum_without_max);
    CHECK(runner::run({stage}, options) == runner::kWrong);
}

TEST_CASE("a variant says what is too long for it") {
    const runner::Variant variant = rank_topk(Kind::softmax_topk);
    const auto obstacle = [&](const Shape& shape) {
        return obstacle_of(variant, shape, DType::bfloat16);
    };
    CHECK(obstacle({5, 300, 100}).empty());
    CHECK(obstacle({5, 300, 101}) == "more than 100 best");
    CHECK(obstacle({5, 301, 100}) == "more than 300 columns");
    CHECK(obstacle_of(variant, Shape(5, 300, 7), DType::float64) ==
          "takes float32 float16 bfloat16 only");
}
