// SPDX-License-Identifier: MIT
#include "common/operations/topk/operation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>

#include "common/operations/topk/check.hpp"
#include "common/operations/topk/inputs.hpp"

namespace operations::topk {

using runner::Cost;
using runner::ElementType;
using runner::Extent;
using runner::Operand;
using runner::Report;
using runner::Role;
using runner::Roof;
using runner::Traffic;
using runner::View;

const char* name_of(Kind kind) {
    constexpr const char* kNames[] = {"softmax_topk", "topk_of_softmax", "softmax_topk_lse"};
    return kNames[static_cast<size_t>(kind)];
}

namespace {

constexpr int64_t kUsualRows = 256;
constexpr int64_t kUsualCols = 1024;

// Rows at which lists go wrong: as long as the list, below, at and above a warp and a block; primes. Lists
// that are longer than a warp, than a block, and so long that a block has no registers for them.
struct Width {
    int64_t cols;
    int64_t k;
};
const std::vector<Width> kWidths = {
    {1, 1},    {7, 5},    {8, 8},      {31, 16},     {32, 32},     {33, 5},      {255, 9},
    {257, 32}, {1000, 5}, {1024, 17},  {4096, 32},   {10007, 8},   {100003, 32}, {33, 33},
    {61, 50},  {128, 8},  {1000, 100}, {1024, 1024}, {1025, 1023}, {5003, 256},  {20011, 1000}};
const std::vector<Width> kQuickWidths = {{33, 5}, {1000, 5}, {4099, 32}, {2053, 300}};
// A language model's logits: where a GPU is there to look at them.
const std::vector<Width> kVocabularies = {{128256, 50}, {128256, 1024}};

// The shapes of the course: few and many rows of a vocabulary, short rows as a router of experts has them.
struct Measured {
    int64_t rows;
    int64_t cols;
    std::vector<int64_t> lists;
};
const std::vector<Measured> kMeasured = {{4000, 128256, {1, kUsualK, 8, 16, 32, 50, 256, 1000}},
                                         {4000, 25000, {1, kUsualK, 8, 16, 32, 50, 256, 1000}},
                                         {32768, 4096, {8, 32, 128}},
                                         {4000, 1024, {8, 32}},
                                         {32768, 128, {8, 32}},
                                         {64, 128256, {50}},
                                         {10, 128256, {kUsualK, 50, 256, 1000}},
                                         {1, 128256, {kUsualK, 50, 256, 1000}},
                                         {10, 1000000, {kUsualK, 50, 256}},
                                         {1, 1000000, {kUsualK}}};

class TopkOperation : public runner::Operation {
public:
    explicit TopkOperation(Kind kind) : kind_(kind) {}

    Kind kind() const { return kind_; }
    std::string name() const override { return name_of(kind_); }
    std::string family() const override { return "topk"; }
    std::string shown_as() const override { return name_of(Kind::softmax_topk); }
    std::string along() const override { return "cols k"; }
    // Of the paper's two batches a table shows round widths and vocabularies.
    bool swept(const runner::Shape& shape) const override {
        static const std::set<int64_t> shown = {1000, 4000, 128256, 1000000};
        return shape[0] <= 4000 && shown.count(shape[1]) == 0;
    }

    // ---- sizes

    std::vector<std::string> size_names(const runner::Shape&) const override {
        return {"rows", "cols"};
    }
    std::string shape_help() const override {
        return "ROWSxCOLS,k=K is wanted, K at most COLS, as in 4000x128256,k=5; without K it is 5";
    }
    bool has_shape(const runner::Shape& shape) const override {
        const double k = shape.option(kOption, static_cast<double>(kUsualK));
        const bool no_other = shape.options().size() == shape.options().count(kOption);
        return shape.rank() == 2 && shape[0] >= 0 && shape[1] >= 0 && no_other &&
               k == std::floor(k) && k >= 0 && k <= static_cast<double>(shape[1]);
    }
    // With k, also where it is as usual: what was asked for without it is the same problem.
    runner::Shape plain(const runner::Shape& shape) const override { return Shape(shape); }
    std::vector<runner::Optional> optional() const override {
        return {{kOption, static_cast<double>(kUsualK), "finds the best 5 and no other number"}};
    }
    runner::Shape shape_of_array(const std::vector<int64_t>& dims,
                                 const runner::Words& said) const override {
        if (dims.size() != 2) return runner::Shape(dims);  // none that has_shape takes
        return with_words(*this, Shape(dims[0], dims[1], std::min(dims[1], kUsualK)), said);
    }
    int64_t elements(const runner::Shape& shape) const override { return shape[0] * shape[1]; }

    // ---- operands

    std::vector<Operand> operands(const runner::Shape& of, DType dtype) const override {
        const Shape shape = of;
        const ElementType type = runner::element_type(dtype);
        const std::vector<int64_t> lists = {shape.rows, shape.k};
        std::vector<Operand> operands = {{"x", Role::in, type, {shape.rows, shape.cols}},
                                         {"values", Role::out, type, lists}};
        if (kind_ != Kind::softmax_topk_lse) {
            operands.push_back({"indices", Role::out, ElementType::int32, lists});
            return operands;
        }
        const bool wide = dtype == DType::float64;
        operands.push_back({"indices", Role::out, ElementType::int64, lists});
        operands.push_back({"logits", Role::out, type, lists});
        operands.push_back({"log_sum_exp",
                            Role::out,
                            wide ? ElementType::float64 : ElementType::float32,
                            {shape.rows}});
        return operands;
    }
    std::vector<runner::NamedInput> inputs() const override { return all_inputs(); }
    // The time depends on the order of the elements alone; and whoever breaks ties otherwise is right, too.
    std::string usual_input() const override { return kDistinct; }
    void fill(const runner::Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        topk::fill(inputs["x"].data, dtype, shape, input, seed);
    }
    void complete(const runner::Shape&, DType, uint64_t, const View&) const override {}  // x is all

    // ---- the reference

    Report check(const runner::Shape& shape, DType dtype, const View& inputs,
                 const runner::Result& ours) const override {
        return explained(topk::check(inputs["x"].data, shape, result_of(ours, dtype)),
                         "a result near the type's largest number may overflow");
    }
    bool is_comparable(const runner::Operation& other) const override {
        return dynamic_cast<const TopkOperation*>(&other) != nullptr;
    }
    Report compare(const runner::Shape& shape, DType dtype, const View& inputs,
                   const runner::Result& ours, const runner::Result& previous) const override {
        const Result before = result_of(previous, dtype);
        return topk::check(inputs["x"].data, shape, result_of(ours, dtype), &before);
    }

    // ---- cost

    Roof roof() const override { return Roof::read; }
    // What is declared leaves out the results, which are counted.
    Traffic counted(const Traffic& declared, const runner::Shape& shape,
                    DType dtype) const override {
        const Cost whole = cost(shape, dtype);
        const auto written =
            std::accumulate(whole.written.begin(), whole.written.end(), int64_t{0});
        const auto all = static_cast<double>(whole.read.front());
        return {declared.loads, declared.stores + static_cast<double>(written) / all};
    }
    int64_t parts(const runner::Shape& shape) const override { return shape[0]; }

    // ---- which problems

    std::vector<runner::Shape> validated_at(Extent extent) const override {
        std::vector<runner::Shape> shapes;
        for (const Width& width : extent.quick ? kQuickWidths : kWidths)
            shapes.push_back(Shape(extent.gpu ? 300 : 4, width.cols, width.k));
        if (!extent.gpu || extent.quick) return shapes;
        for (const Width& width : kVocabularies) shapes.push_back(Shape(20, width.cols, width.k));
        return shapes;
    }
    std::vector<runner::Shape> measured_at(Extent extent) const override {
        if (!extent.gpu && extent.quick) return {Shape(16, kUsualCols, kUsualK)};
        if (!extent.gpu) return {usual_shape()};
        if (extent.quick) return {Shape(4000, 25000, kUsualK), Shape(10, 128256, kUsualK)};
        std::vector<runner::Shape> shapes;
        for (const int64_t rows : {int64_t{4000}, int64_t{10}}) {  // the paper's two batches
            std::vector<int64_t> widths = {100, 1000, 4000, 10000, 25000, 128256, 1000000};
            const int64_t widest = rows == 4000 ? 129024 : 1032192;
            for (int64_t cols = 63; cols <= widest; cols *= 2) widths.push_back(cols);  // its own
            std::sort(widths.begin(), widths.end());
            for (const int64_t cols : widths) shapes.push_back(Shape(rows, cols, kUsualK));
        }
        for (const Measured& each : kMeasured) {
            for (const int64_t k : each.lists) {
                const runner::Shape shape = Shape(each.rows, each.cols, k);
                if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end())
                    shapes.push_back(shape);
            }
        }
        return shapes;
    }
    runner::Shape usual_shape() const override { return Shape(kUsualRows, kUsualCols, kUsualK); }
    // Lanes that part in a loop, fewer columns than threads, other lengths of the list; a router's rows.
    std::vector<runner::Shape> held_at() const override {
        return {usual_shape(),    Shape(61, 777, kUsualK), Shape(50, 1002, 3), Shape(256, 128, 8),
                Shape(33, 61, 8), Shape(3, 20011, 32),     Shape(5, 5003, 300)};
    }
    std::vector<runner::Shape> profiled_at() const override {
        return {usual_shape(), Shape(4000, 4000, kUsualK), Shape(4000, 128256, kUsualK),
                Shape(10, 128256, kUsualK)};
    }
    runner::Shape draw(runner::Draws& draws, int64_t elements,
                       const std::function<bool(const std::string&)>& takes) const override {
        const int64_t least = takes(kOption) ? 1 : std::min(kUsualK, elements);
        const int64_t cols = std::max(least, draws.width_up_to(elements));
        constexpr int64_t kMostRows = 400;  // many short rows show no more than some
        const int64_t rows = draws.size_up_to(std::clamp<int64_t>(elements / cols, 1, kMostRows));
        if (!takes(kOption)) return Shape(rows, cols, kUsualK);
        const int64_t most = std::min(cols, kLargestDrawnK);
        // Half of them where a way ends: one, all columns, a warp's worth, the most.
        const int64_t k = draws.below(2) == 0
                              ? draws.size_up_to(most)
                              : draws.one_of<int64_t>({1, cols, 32, 33, kLargestDrawnK});
        return Shape(rows, cols, std::min(k, most));
    }

private:
    static Result result_of(const runner::Result& result, DType dtype) {
        const Kind kind = kind_of(*result.operation);
        const View& outputs = result.outputs;
        const void* indices = outputs["indices"].data;
        const bool tells_all = kind == Kind::softmax_topk_lse;
        return {
            outputs["values"].data,
            tells_all ? Indices(static_cast<const int64_t*>(indices))
                      : Indices(static_cast<const int32_t*>(indices)),
            kind,
            softmax::Rules{softmax::Kind::softmax, false, result.arithmetic.partial_sums, dtype},
            tells_all ? outputs["logits"].data : nullptr,
            tells_all ? outputs["log_sum_exp"].data : nullptr};
    }

    Kind kind_;
};

}  // namespace

const runner::Operation* operation_of(Kind kind) {
    static const TopkOperation of_x(Kind::softmax_topk);
    static const TopkOperation of_softmax(Kind::topk_of_softmax);
    static const TopkOperation of_x_and_all(Kind::softmax_topk_lse);
    return kind == Kind::softmax_topk      ? &of_x
           : kind == Kind::topk_of_softmax ? &of_softmax
                                           : &of_x_and_all;
}

Kind kind_of(const runner::Operation& operation) {
    const auto* of_family = dynamic_cast<const TopkOperation*>(&operation);
    if (of_family == nullptr) throw std::invalid_argument(operation.name() + " is no top-k");
    return of_family->kind();
}

std::vector<const runner::Operation*> all() {
    return {operation_of(Kind::softmax_topk), operation_of(Kind::topk_of_softmax),
            operation_of(Kind::softmax_topk_lse)};
}

}  // namespace operations::topk
