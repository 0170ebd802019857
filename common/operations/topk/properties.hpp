// SPDX-License-Identifier: MIT
// What every top-k of the course must hold, whatever its kernel: one call per variant in a stage's test.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/operations/topk/check.hpp"
#include "common/operations/topk/inputs.hpp"
#include "common/runner/launcher.hpp"
#include "common/runner/memory_needed.hpp"
#include "common/runner/tensors.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/outcome.hpp"

namespace testing {

using operations::topk::Kind;
using operations::topk::kind_of;
using operations::topk::Shape;
using runner::DType;
using runner::Variant;

// What a variant finds in these rows. Empty: it does not tell that.
struct TopkResult {
    std::vector<double> values;
    std::vector<double> indices;
    std::vector<double> logits;
    std::vector<double> log_sum_exp;
    runner::Report report;  // against the reference

    bool operator==(const TopkResult& other) const {
        const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
            return a.size() == b.size() &&
                   (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
        };
        return same(values, other.values) && same(indices, other.indices) &&
               same(logits, other.logits) && same(log_sum_exp, other.log_sum_exp);
    }
};

inline TopkResult result_of(const Variant& variant, const runner::Tensors& inputs,
                            const Shape& shape, DType dtype) {
    const Outcome outcome = outcome_of(variant, inputs, shape, dtype);
    const bool tells_all = kind_of(*variant.operation) == Kind::softmax_topk_lse;
    const auto told = [&](const char* name) {
        return tells_all ? outcome.outputs.values(name) : std::vector<double>();
    };
    return {outcome.outputs.values("values"), outcome.outputs.values("indices"), told("logits"),
            told("log_sum_exp"), outcome.report};
}

inline TopkResult result_of(const Variant& variant, const std::vector<double>& x,
                            const Shape& shape, DType dtype = DType::float32) {
    return result_of(variant, inputs_with(*variant.operation, shape, dtype, x, 1), shape, dtype);
}

inline std::vector<double> named_values(const Variant& variant, const std::string& input,
                                        const Shape& shape, DType dtype = DType::float32) {
    return filled_inputs(*variant.operation, shape, dtype, input, 1).values("x");
}

inline bool takes(const Variant& variant, const Shape& shape, DType dtype) {
    return obstacle_of(variant, shape, dtype).empty();
}

// A row, the longest of these that the variant takes.
inline Shape row_of_up_to(std::initializer_list<int64_t> widths, int64_t k, const Variant& variant,
                          DType dtype) {
    for (const int64_t cols : widths) {
        if (takes(variant, {1, cols, k}, dtype)) return {1, cols, k};
    }
    FAIL(variant.name << " takes none of these rows");
    return {0, 0, 0};
}

// Every named input at lists of every length: also as long as the row, and in rows shorter than a warp.
// In the first of the variant's types each shape meets every other input, and each input every other shape; in the others,
// which differ from it in loads and stores, it is a third.
inline void matches_reference_on_named_inputs(const Variant& variant, DType dtype) {
    const bool is_first = dtype == variant.dtypes.front();
    const size_t share = is_first ? 2 : 3;
    size_t first = 0;
    for (const Shape& shape :
         {Shape(4, 1, 1), Shape(4, 2, 2), Shape(4, 31, 7), Shape(5, 32, 32), Shape(4, 33, 9),
          Shape(4, 33, 33), Shape(4, 128, 100), Shape(4, 257, 16), Shape(4, 1000, 5),
          Shape(4, 1024, 1024), Shape(4, 2053, 17), Shape(4, 4096, 1), Shape(4, 5000, 300)}) {
        size_t number = first++;
        for (const runner::NamedInput& input : variant.operation->inputs()) {
            if (number++ % share == 0)
                matches_reference_where_taken(variant, input.name, shape, dtype);
        }
    }
    if (!is_first) return;
    // A language model's.
    for (const int64_t k : {50, 1024}) {
        for (const char* input : {"distinct", "ties", "ascending", "plateau"})
            matches_reference_where_taken(variant, input, Shape(1, 128256, k), dtype);
    }
}

// The same elements in another order: the same list of elements, with the same probabilities up to rounding.
// Where no two are equal, it is the same columns, too.
inline void follows_a_permutation(const Variant& variant, DType dtype) {
    std::mt19937 random(6);
    for (const Shape& shape : {Shape(1, 40, 32), Shape(1, 777, 5), Shape(1, 3001, 20)}) {
        if (!takes(variant, shape, dtype)) continue;
        const std::vector<double> x =
            named_values(variant, operations::topk::kDistinct, shape, dtype);
        const bool some_are_equal = std::set<double>(x.begin(), x.end()).size() < x.size();
        std::vector<size_t> from(x.size());
        std::iota(from.begin(), from.end(), size_t{0});
        std::shuffle(from.begin(), from.end(), random);
        std::vector<double> shuffled;
        for (const size_t col : from) shuffled.push_back(x[col]);
        const TopkResult once = result_of(variant, x, shape, dtype);
        const TopkResult again = result_of(variant, shuffled, shape, dtype);
        const double tolerance = dtype == DType::float32 ? 1e-5 : 1e-2;
        INFO(text_of(runner::Shape(shape)));
        for (size_t pick = 0; pick < once.indices.size(); ++pick) {
            INFO("pick " << pick);
            const size_t here = from.at(static_cast<size_t>(again.indices[pick]));
            const auto there = static_cast<size_t>(once.indices[pick]);
            CHECK((some_are_equal || here == there));
            CHECK(std::fabs(again.values[pick] / once.values[pick] - 1) < tolerance);
            // By probabilities after rounding, other elements may be as good.
            if (kind_of(*variant.operation) != Kind::topk_of_softmax) CHECK(x[here] == x.at(there));
        }
        CHECK(again.logits == once.logits);
    }
}

// Of equal elements the lower columns come first, and -0 equals +0.
inline void takes_ties_in_order(const Variant& variant, DType dtype) {
    const Shape shape = row_of_up_to({1030, 515, 40}, 8, variant, dtype);
    const int64_t cols = shape.cols;
    std::vector<double> x(static_cast<size_t>(cols), -1);
    const auto at = [&](int64_t col) -> double& { return x[static_cast<size_t>(col)]; };
    for (const int64_t col : {cols - 1, cols * 2 / 3, cols / 4, int64_t{1}}) at(col) = 0;
    for (const int64_t col : {cols * 2 / 3 - 1, cols / 4 - 1, int64_t{3}}) at(col) = -0.;
    at(cols / 2) = 2;
    std::vector<double> wanted;
    for (const int64_t col : {cols / 2, int64_t{1}, int64_t{3}, cols / 4 - 1, cols / 4,
                              cols * 2 / 3 - 1, cols * 2 / 3, cols - 1})
        wanted.push_back(static_cast<double>(col));
    CHECK(result_of(variant, x, shape, dtype).indices == wanted);
    const TopkResult constant =
        result_of(variant, std::vector<double>(x.size(), 3.25), shape, dtype);
    CHECK(constant.indices == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7});
}

// -inf comes last among numbers and has probability 0; a row of nothing else has NaN. So has a row with NaN
// or +inf. The log-sum-exp of these rows is -inf, NaN and +inf.
inline void knows_special_rows(const Variant& variant, DType dtype) {
    const Shape shape = row_of_up_to({600, 60}, 4, variant, dtype);
    const int64_t cols = shape.cols;
    const auto all_are = [](const std::vector<double>& values, auto what) {
        return std::all_of(values.begin(), values.end(), what);
    };
    const auto is_nan = [](double value) { return std::isnan(value); };
    const bool by_probability = kind_of(*variant.operation) == Kind::topk_of_softmax;
    const bool tells_all = kind_of(*variant.operation) == Kind::softmax_topk_lse;
    const auto columns = [](std::initializer_list<int64_t> list) {
        return std::vector<double>(list.begin(), list.end());
    };
    std::vector<double> x;
    const auto at = [&](int64_t col) -> double& { return x[static_cast<size_t>(col)]; };
    const auto result = [&] {
        TopkResult found = result_of(variant, x, shape, dtype);
        INFO(describe(found.report));
        CHECK(found.report.good());
        return found;
    };

    x = std::vector<double>(static_cast<size_t>(cols), -INFINITY);
    const TopkResult all_masked = result();
    CHECK(all_masked.indices == columns({0, 1, 2, 3}));
    CHECK(all_are(all_masked.values, is_nan));

    at(cols / 2) = -8192;
    at(cols - 1) = 5;
    const TopkResult two = result();
    CHECK(two.values == std::vector<double>{1, 0, 0, 0});
    // By its own probabilities -8192 is a zero among others.
    CHECK(two.indices ==
          (by_probability ? columns({cols - 1, 0, 1, 2}) : columns({cols - 1, cols / 2, 0, 1})));

    x = std::vector<double>(static_cast<size_t>(cols), 1);
    at(10) = 7;
    at(cols * 2 / 3) = INFINITY;
    at(20) = INFINITY;
    const TopkResult infinite = result();
    at(cols * 5 / 6) = NAN;
    at(15) = -NAN;
    const TopkResult with_nan = result();
    CHECK(all_are(infinite.values, is_nan));
    CHECK(all_are(with_nan.values, is_nan));
    const std::vector<double> first = columns({0, 1, 2, 3});
    CHECK(infinite.indices == (by_probability ? first : columns({20, cols * 2 / 3, 10, 0})));
    CHECK(with_nan.indices ==
          (by_probability ? first : columns({15, cols * 5 / 6, 20, cols * 2 / 3})));
    if (!tells_all) return;
    CHECK(two.logits == std::vector<double>{5, -8192, -INFINITY, -INFINITY});
    CHECK(infinite.logits == std::vector<double>{INFINITY, INFINITY, 7, 1});
    CHECK(is_nan(with_nan.logits[1]));
    CHECK(with_nan.logits[2] == INFINITY);
    CHECK(all_masked.log_sum_exp == std::vector<double>{-INFINITY});
    CHECK(infinite.log_sum_exp == std::vector<double>{INFINITY});
    CHECK(is_nan(with_nan.log_sum_exp.at(0)));
}

// The same bits again.
inline void repeats_itself(const Variant& variant, DType dtype) {
    Shape shape = row_of_up_to({3001, 777, 40}, 8, variant, dtype);
    shape.rows = 6;
    const std::vector<double> x = named_values(variant, "ties", shape, dtype);
    const TopkResult once = result_of(variant, x, shape, dtype);
    CHECK(once == result_of(variant, x, shape, dtype));
}

// Each result is the same whichever others are wanted, to the bit.
inline void tells_only_what_is_wanted(const Variant& variant, DType dtype) {
    const runner::Operation& operation = *variant.operation;
    Shape shape = row_of_up_to({3001, 777, 40}, 8, variant, dtype);
    shape.rows = 3;
    const runner::Tensors inputs = filled_inputs(operation, shape, dtype, "ties", 1);
    const auto result = [&](const std::function<bool(const std::string&)>& is_wanted) {
        runner::Tensors outputs = poisoned_outputs(operation, shape, dtype, inputs.view());
        runner::View view = outputs.view();
        for (const runner::Operand& each : outputs.operands()) {
            if (!is_wanted(each.name)) view[each.name].data = nullptr;
        }
        runner::Launcher(variant, shape, dtype, inputs.view(), view)();
        runner::check_cuda(cudaDeviceSynchronize(), "running " + variant.name);
        return outputs;
    };
    const runner::Tensors all = result([](const std::string&) { return true; });
    for (const runner::Operand& one : all.operands()) {
        INFO(one.name);
        const runner::Tensors alone = result([&](const auto& name) { return name == one.name; });
        CHECK(alone.values(one.name) == all.values(one.name));
        const runner::Tensors others = result([&](const auto& name) { return name != one.name; });
        for (const runner::Operand& each : all.operands()) {
            if (each.name != one.name) CHECK(others.values(each.name) == all.values(each.name));
        }
    }
}

inline void holds_every_topk_property(const Variant& variant) {
    INFO(variant.name);
    for (const DType dtype : variant.dtypes) {
        INFO(name_of(dtype));
        matches_reference_on_named_inputs(variant, dtype);
        follows_a_permutation(variant, dtype);
        takes_ties_in_order(variant, dtype);
        knows_special_rows(variant, dtype);
        repeats_itself(variant, dtype);
        if (kind_of(*variant.operation) == Kind::softmax_topk_lse)
            tells_only_what_is_wanted(variant, dtype);
    }
}

// A problem too large for most machines: left out where memory is short.
inline void finds_the_best_where_it_fits(const Variant& variant, const Shape& shape) {
    const std::string shortage = runner::shortage(memory_needed(
        *variant.operation, workspace_of(variant, shape, DType::float32), shape, DType::float32));
    if (!shortage.empty()) {
        WARN(variant.name << ", " << text_of(runner::Shape(shape)) << ": left out, " << shortage);
        return;
    }
    INFO(variant.name);
    matches_reference_where_taken(variant, operations::topk::kDistinct, shape, DType::float32);
}

}  // namespace testing
