// SPDX-License-Identifier: MIT
#include "common/operations/attention/operation.hpp"

#include <algorithm>
#include <cmath>

#include "common/operations/attention/check.hpp"
#include "common/operations/attention/inputs.hpp"

namespace operations::attention {

using runner::Cost;
using runner::ElementType;
using runner::Extent;
using runner::Operand;
using runner::Report;
using runner::Role;
using runner::Roof;
using runner::View;

namespace {

// What an option may be.
bool is_possible(const std::string& name, double value) {
    if (name == kCausal) return value == 0 || value == 1;
    if (name == kKeyHeads) return value >= 0 && value <= 1e6 && value == std::floor(value);
    return name == kScale && value >= 0 && value <= 1e3;
}

// One key, one query, one element; below, at and above the 64 keys and 128 queries that tiles have; sizes that no
// tile has; more queries than keys and fewer, with and without a mask.
std::vector<Shape> odd_shapes() {
    return {Shape(1, 1, 1, 1, 1),
            Shape(3, 2, 7, 9, 8),
            Shape(5, 1, 33, 65, 32).with_causal(),
            Shape(2, 1, 65, 33, 40).with_causal(),
            Shape(1, 2, 129, 70, 64).with_scale(0.5),
            Shape(1, 1, 2, 200, 128).with_causal(),
            Shape(1, 1, 31, 64, 34),
            Shape(2, 1, 5, 0, 16),
            Shape(1, 1, 5, 40, 200),
            Shape(4, 1, 20, 129, 96).with_causal(),
            Shape(2, 6, 3, 70, 40).with_causal().with_key_heads(2)};
}
std::vector<Shape> quick_shapes() {
    return {Shape(1, 1, 33, 65, 32).with_causal(), Shape(1, 1, 65, 70, 64).with_scale(0.5),
            Shape(1, 2, 7, 9, 8), Shape(1, 4, 5, 37, 24).with_key_heads(2)};
}

std::vector<runner::Shape> as_the_runners(const std::vector<Shape>& shapes) {
    return {shapes.begin(), shapes.end()};
}

class AttentionOperation : public runner::Operation {
public:
    explicit AttentionOperation(Kind kind) : kind_(kind) {}

    std::string name() const override {
        return kind_ == Kind::attention ? "attention" : "attention_with_sum";
    }
    std::string family() const override { return "attention"; }
    std::string shown_as() const override { return "attention"; }
    std::string along() const override { return "queries=keys/batch"; }
    // A table shows every second length.
    bool swept(const runner::Shape& shape) const override {
        const int64_t queries = shape[2];
        return queries == 256 || queries == 1024 || queries == 4096;
    }

    // ---- sizes

    std::vector<std::string> size_names(const runner::Shape&) const override {
        return {"batch", "heads", "queries", "keys", "size"};
    }
    std::string shape_help() const override {
        return "BATCHxHEADSxQUERIESxKEYSxSIZE is wanted, as in 8x16x2048x2048x64, with causal, "
               "scale=X or key_heads=N where they are as in 8x16x2048x2048x64,causal";
    }
    bool has_shape(const runner::Shape& shape) const override {
        const std::vector<int64_t>& sizes = shape.sizes();
        const auto key_heads = static_cast<int64_t>(shape.option(kKeyHeads, 0));
        return shape.rank() == 5 && sizes[4] >= 1 &&
               (key_heads <= 0 || sizes[1] % key_heads == 0) &&
               std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 0; }) &&
               std::all_of(shape.options().begin(), shape.options().end(), [](const auto& option) {
                   return is_possible(option.first, option.second);
               });
    }
    std::vector<runner::Optional> optional() const override {
        return {{kCausal, 0, "shows all keys to each query"},
                {kScale, 0, "scales by 1 / sqrt(size)"},
                {kKeyHeads, 0, "has keys for each head"}};
    }
    // Queries; there are as many keys unless it is said.
    runner::Shape shape_of_array(const std::vector<int64_t>& dims,
                                 const runner::Words& said) const override {
        constexpr size_t kDimensions = 4;
        if (dims.size() < 2 || dims.size() > kDimensions) return {};
        std::vector<int64_t> q(kDimensions - dims.size(), 1);
        q.insert(q.end(), dims.begin(), dims.end());
        return with_words(*this, {q[0], q[1], q[2], q[2], q[3]}, said);
    }
    std::string array_help() const override {
        return "queries as [batch, heads, queries, size], without heads or batch where there is "
               "one; --shape says keys=N where there are more or fewer, causal, scale=X, "
               "key_heads=N";
    }
    int64_t elements(const runner::Shape& shape) const override {
        return shape[0] * shape[1] * shape[2] * shape[4];
    }

    // ---- operands

    std::vector<Operand> operands(const runner::Shape& of, DType dtype) const override {
        const Shape s = of;
        const ElementType type = runner::element_type(dtype);
        const std::vector<int64_t> of_queries = {s.batch, s.heads, s.queries, s.size};
        const std::vector<int64_t> of_keys = {s.batch, s.heads_of_keys(), s.keys, s.size};
        std::vector<Operand> all = {{"q", Role::in, type, of_queries},
                                    {"k", Role::in, type, of_keys},
                                    {"v", Role::in, type, of_keys},
                                    {"lengths", Role::in, ElementType::int32, {s.batch}},
                                    {"o", Role::out, type, of_queries}};
        if (kind_ == Kind::attention_with_sum)
            all.push_back(
                {"log_sum_exp", Role::out, ElementType::float32, {s.batch, s.heads, s.queries}});
        return all;
    }
    std::vector<runner::NamedInput> inputs() const override { return all_inputs(); }
    std::string usual_input() const override { return kNormal; }
    void fill(const runner::Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        attention::fill(
            {inputs["q"].data, inputs["k"].data, inputs["v"].data, inputs["lengths"].data}, dtype,
            shape, input, seed);
    }
    void complete(const runner::Shape& shape, DType dtype, uint64_t seed,
                  const View& inputs) const override {
        attention::fill({nullptr, inputs["k"].data, inputs["v"].data, inputs["lengths"].data},
                        dtype, shape, kNormal, seed);
    }

    // ---- the reference

    Report check(const runner::Shape& shape, DType dtype, const View& inputs,
                 const runner::Result& ours) const override {
        return explained(attention::check(operands_in(inputs), shape, dtype, outputs_in(ours)),
                         "scores are so large that rounding them may change any weight, or they or "
                         "the result may overflow");
    }
    bool is_comparable(const Operation& other) const override { return other.family() == family(); }
    Report compare(const runner::Shape& shape, DType dtype, const View& inputs,
                   const runner::Result& ours, const runner::Result& previous) const override {
        const Outputs before = outputs_in(previous);
        return attention::check(operands_in(inputs), shape, dtype, outputs_in(ours), &before);
    }

    // ---- cost

    Cost cost(const runner::Shape& of, DType dtype) const override {
        Cost cost = Operation::cost(of, dtype);
        const Shape s = of;
        double pairs = 0;
        for (int64_t query = 0; query < s.queries; ++query)
            pairs += static_cast<double>(s.seen_by(query, s.keys));
        cost.operations = 4 * pairs * static_cast<double>(s.batch * s.heads * s.size);
        return cost;
    }
    runner::Unit unit() const override { return runner::Unit::teraflops; }
    Roof roof() const override { return Roof::join; }
    // A length, asked by all threads of a query's block, and the sums.
    runner::Traffic tolerance(const runner::Shape& of, DType) const override {
        const double of_row = 1 / static_cast<double>(of[4]);
        return {256 * of_row, 4 * of_row};
    }

    // ---- which problems

    std::vector<runner::Shape> validated_at(Extent extent) const override {
        std::vector<Shape> shapes = extent.quick ? quick_shapes() : odd_shapes();
        if (extent.gpu && !extent.quick) {
            shapes.push_back(Shape(2, 3, 1000, 777, 64).with_causal());
            shapes.push_back(Shape(1, 1, 64, 5000, 128));
        }
        return as_the_runners(shapes);
    }
    std::vector<runner::Shape> measured_at(Extent extent) const override {
        if (!extent.gpu && extent.quick) return {Shape(1, 1, 64, 64, 64)};
        if (!extent.gpu) return {usual_shape()};
        if (extent.quick) return {Shape(32, 12, 384, 384, 64)};
        std::vector<Shape> shapes = {Shape(32, 12, 384, 384, 64)};
        constexpr int64_t kTokens = 16384;
        for (const int64_t size : {64, 128}) {
            for (int64_t length = 128; length <= kTokens; length *= 2) {
                const Shape shape(kTokens / length, 2048 / size, length, length, size);
                shapes.push_back(shape);
                if (length >= 512) shapes.push_back(shape.with_causal());
            }
        }
        shapes.push_back(Shape(8, 16, 2048, 2048, 64));
        shapes.push_back(Shape(4, 16, 8192, 8192, 128));
        shapes.push_back(Shape(1, 16, 1, 16384, 128));  // the next token after a long text
        return as_the_runners(shapes);
    }
    // Whole tiles, more than one each way.
    runner::Shape usual_shape() const override { return Shape(1, 2, 256, 128, 64); }
    std::vector<runner::Shape> held_at() const override {
        return as_the_runners({Shape(1, 2, 256, 128, 64), Shape(1, 1, 61, 77, 40),
                               Shape(1, 2, 130, 130, 32).with_causal()});
    }
    std::vector<runner::Shape> profiled_at() const override {
        return as_the_runners({Shape(1, 2, 256, 128, 64), Shape(32, 12, 384, 384, 64)});
    }
    runner::Shape draw(runner::Draws& draws, int64_t elements,
                       const std::function<bool(const std::string&)>& takes) const override {
        constexpr int64_t kMost = 500, kFewQueries = 4, kMostKeys = 16384;
        const int64_t size = draws.below(2) == 0 ? draws.one_of(std::vector<int64_t>{32, 64, 128})
                                                 : draws.width_up_to(256);
        const auto up_to = [](int64_t most, int64_t limit) {
            return std::clamp<int64_t>(most, 1, limit);
        };
        // Now and then few queries see many keys: so many that it takes no longer than others do.
        const bool is_long = draws.below(16) == 0;
        const int64_t queries =
            draws.width_up_to(up_to(elements / size, is_long ? kFewQueries : kMost));
        const int64_t of_row = queries * size;
        const int64_t most_keys = is_long ? std::clamp(elements / 4, kMost, kMostKeys) : kMost;
        const int64_t keys =
            draws.below(16) == 0 ? 0 : draws.width_up_to(up_to(64 * elements / of_row, most_keys));
        const int64_t most = std::min(elements / of_row, 64 * elements / (of_row * (keys + 1)));
        const int64_t heads = draws.size_up_to(std::clamp<int64_t>(most, 1, 8));
        const int64_t batch = draws.size_up_to(std::clamp<int64_t>(most / heads, 1, 8));
        Shape shape(batch, heads, queries, keys, size);
        if (takes(kCausal)) shape.causal = draws.below(2) == 0;
        if (takes(kScale) && draws.below(4) == 0)
            shape.scale = draws.one_of(std::vector<double>{0.5, 0.3, 1, 0.01});
        if (takes(kKeyHeads) && draws.below(4) == 0) {
            std::vector<int64_t> divisors;
            for (int64_t of_keys = 1; of_keys <= heads; ++of_keys) {
                if (heads % of_keys == 0) divisors.push_back(of_keys);
            }
            shape.key_heads = draws.one_of(divisors);
        }
        return shape;
    }

private:
    static Operands operands_in(const View& inputs) {
        return {inputs["q"].data, inputs["k"].data, inputs["v"].data,
                static_cast<const int32_t*>(inputs["lengths"].data)};
    }
    static Outputs outputs_in(const runner::Result& result) {
        const bool tells_sum = result.operation == operation_of(Kind::attention_with_sum);
        return {
            result.outputs["o"].data,
            tells_sum ? static_cast<const float*>(result.outputs["log_sum_exp"].data) : nullptr};
    }

    Kind kind_;
};

}  // namespace

Shape::Shape(const runner::Shape& shape) : Shape(shape[0], shape[1], shape[2], shape[3], shape[4]) {
    causal = shape.option(kCausal, 0) != 0;
    scale = shape.option(kScale, 0);
    key_heads = static_cast<int64_t>(shape.option(kKeyHeads, 0));
}

Shape::operator runner::Shape() const {
    runner::Shape shape{batch, heads, queries, keys, size};
    shape.set_option(kCausal, causal ? 1 : 0);
    shape.set_option(kScale, scale);
    shape.set_option(kKeyHeads, static_cast<double>(key_heads));
    return operation_of(Kind::attention)->plain(shape);
}

float Shape::scale_of_scores() const {
    return static_cast<float>(scale == 0 ? 1 / std::sqrt(static_cast<double>(size)) : scale);
}

int64_t Shape::seen_by(int64_t query, int64_t length) const {
    const int64_t most = std::clamp<int64_t>(length, 0, keys);
    return causal ? std::clamp<int64_t>(query + keys - queries + 1, 0, most) : most;
}

const runner::Operation* operation_of(Kind kind) {
    static const AttentionOperation attention(Kind::attention);
    static const AttentionOperation with_sum(Kind::attention_with_sum);
    return kind == Kind::attention ? &attention : &with_sum;
}

std::vector<const runner::Operation*> all() {
    return {operation_of(Kind::attention), operation_of(Kind::attention_with_sum)};
}

}  // namespace operations::attention
