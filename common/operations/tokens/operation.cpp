// SPDX-License-Identifier: MIT
#include "common/operations/tokens/operation.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "common/operations/tokens/check.hpp"

namespace operations::tokens {

using runner::Extent;
using runner::Operand;
using runner::Report;
using runner::Role;
using runner::View;

namespace {

struct ActivationOption {
    const char* name;
    Activation activation;
    const char* refusal;
};
constexpr std::array<ActivationOption, 3> kActivations = {
    {{kByTanh, Activation::gelu_by_tanh, "has no GELU by tanh"},
     {kRelu, Activation::relu, "has no ReLU"},
     {kSilu, Activation::silu, "has no SiLU"}}};

const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::add_bias_activation:
            break;
        case Kind::add_bias_residual_layernorm:
            return "add_bias_residual_layernorm";
        case Kind::add_bias_residual_prenorm:
            return "add_bias_residual_prenorm";
    }
    return "add_bias_activation";
}

class TokensOperation : public runner::Operation {
public:
    TokensOperation(Kind kind, Rounding rounding) : kind_(kind), rounding_(rounding) {}
    Kind kind() const { return kind_; }
    Rounding rounding() const { return rounding_; }

    std::string name() const override {
        return shown_as() + (rounding_ == Rounding::once ? "" : "_in_steps");
    }
    std::string family() const override { return "tokens"; }
    std::string shown_as() const override { return tokens::name_of(kind_); }
    std::string along() const override { return "tokens"; }

    // ---- sizes

    std::vector<std::string> size_names(const runner::Shape&) const override {
        return {"tokens", "hidden"};
    }
    std::string shape_help() const override {
        return "TOKENSxHIDDEN is wanted, as in 32768x1024, with tanh, relu or silu for another "
               "activation than GELU";
    }
    bool has_shape(const runner::Shape& shape) const override {
        const auto is_possible = [](const auto& option) {
            return std::any_of(
                       kActivations.begin(), kActivations.end(),
                       [&](const ActivationOption& each) { return option.first == each.name; }) &&
                   (option.second == 0 || option.second == 1);
        };
        const auto& options = shape.options();
        return shape.rank() == 2 && shape[0] >= 0 && shape[1] >= 0 &&
               std::all_of(options.begin(), options.end(), is_possible) &&
               std::count_if(options.begin(), options.end(),
                             [](const auto& option) { return option.second != 0; }) <= 1;
    }
    runner::Shape plain(const runner::Shape& shape) const override { return Shape(shape); }
    std::vector<runner::Optional> optional() const override {
        std::vector<runner::Optional> optional;
        for (const ActivationOption& each : kActivations)
            optional.push_back({each.name, 0, each.refusal});
        return optional;
    }
    int64_t elements(const runner::Shape& shape) const override { return shape[0] * shape[1]; }

    // ---- operands

    std::vector<Operand> operands(const runner::Shape& of, DType dtype) const override {
        const Shape shape = of;
        const runner::ElementType type = runner::element_type(dtype);
        const std::vector<int64_t> all = {shape.rows, shape.hidden}, row = {shape.hidden};
        if (kind_ == Kind::add_bias_activation)
            return {{"x", Role::in, type, all},
                    {"bias", Role::in, type, row},
                    {"y", Role::out, type, all, {"x"}}};
        std::vector<Operand> operands = {{"x", Role::in, type, all},
                                         {"bias", Role::in, type, row},
                                         {"residual", Role::in, type, all},
                                         {"gamma", Role::in, type, row},
                                         {"beta", Role::in, type, row}};
        if (kind_ == Kind::add_bias_residual_prenorm) {
            operands.push_back({"sum", Role::out, type, all, {"residual"}});
            operands.push_back({"y", Role::out, type, all, {"x"}});
        } else {
            operands.push_back({"y", Role::out, type, all, {"x", "residual"}});
        }
        return operands;
    }
    std::vector<runner::NamedInput> inputs() const override { return all_inputs(); }
    std::string usual_input() const override { return kNormal; }
    void fill(const runner::Shape& shape, DType dtype, const std::string& input, uint64_t seed,
              const View& inputs) const override {
        tokens::fill(inputs, kind_, shape, dtype, input, seed, true);
    }
    void complete(const runner::Shape& shape, DType dtype, uint64_t seed,
                  const View& inputs) const override {
        tokens::fill(inputs, kind_, shape, dtype, kNormal, seed, false);
    }

    // ---- the reference

    Report check(const runner::Shape& shape, DType dtype, const View& inputs,
                 const runner::Result& ours) const override {
        return explained(tokens::check(inputs, kind_, shape, dtype, outputs_of(ours), nullptr),
                         "squares of a row may overflow in float, or the result may");
    }
    bool is_comparable(const runner::Operation& other) const override {
        const auto* const one = dynamic_cast<const TokensOperation*>(&other);
        return one != nullptr && one->kind_ == kind_;
    }
    Report compare(const runner::Shape& shape, DType dtype, const View& inputs,
                   const runner::Result& ours, const runner::Result& previous) const override {
        const Outputs other = outputs_of(previous);
        return tokens::check(inputs, kind_, shape, dtype, outputs_of(ours), &other);
    }

    // ---- cost

    // The norm reads two arrays and writes one; what also keeps the sum writes as much as it reads.
    runner::Roof roof() const override {
        return kind_ == Kind::add_bias_residual_layernorm ? runner::Roof::join : runner::Roof::copy;
    }

    // ---- which problems

    // One token and many, odd sizes, sizes around those of packs, warps and blocks.
    std::vector<runner::Shape> validated_at(Extent extent) const override {
        std::vector<runner::Shape> shapes = {{1, 1}, {5, 7}, {33, 66}, {9, 1000}, {3, 1030}};
        if (kind_ == Kind::add_bias_activation) {
            for (const Activation f :
                 {Activation::gelu_by_tanh, Activation::relu, Activation::silu})
                shapes.push_back(Shape(37, 130, f));
        }
        if (extent.quick) return shapes;
        const std::vector<runner::Shape> more = {{1, 16384}, {7, 255},   {2, 4096}, {3, 4104},
                                                 {2, 9001},  {1, 16383}, {131, 768}};
        shapes.insert(shapes.end(), more.begin(), more.end());
        if (extent.gpu) shapes.push_back({12289, 768});
        return shapes;
    }
    std::vector<runner::Shape> measured_at(Extent extent) const override {
        if (!extent.gpu) {
            const int64_t rows = extent.quick ? 16 : 256;
            if (kind_ != Kind::add_bias_activation) return {{rows, 1024}};
            return {{rows, 1024}, Shape(rows, 1024, Activation::gelu_by_tanh)};
        }
        if (extent.quick) return {{32768, 1024}};
        std::vector<runner::Shape> shapes = {{32768, 1024}, {12288, 768}, {1, 1024},    {32, 768},
                                             {1024, 1024},  {4096, 4096}, {2048, 16384}};
        if (kind_ != Kind::add_bias_activation) return shapes;
        for (const Activation f : {Activation::gelu_by_tanh, Activation::relu, Activation::silu}) {
            shapes.push_back(Shape(32768, 1024, f));
            shapes.push_back(Shape(12288, 768, f));
        }
        return shapes;
    }
    runner::Shape usual_shape() const override { return {256, 1024}; }
    std::vector<runner::Shape> held_at() const override {
        std::vector<runner::Shape> shapes = {
            {256, 1024}, {131, 768}, {33, 66}, {61, 777}, {3, 9001}};
        if (kind_ == Kind::add_bias_activation) {
            shapes.push_back(Shape(256, 1024, Activation::gelu_by_tanh));
            shapes.push_back(Shape(61, 778, Activation::gelu_by_tanh));  // pairs, and no packs
        }
        return shapes;
    }
    std::vector<runner::Shape> profiled_at() const override { return {{256, 1024}, {32768, 1024}}; }
    runner::Shape draw(runner::Draws& draws, int64_t elements,
                       const std::function<bool(const std::string&)>& takes) const override {
        constexpr int64_t kMostHidden = 16384;
        const int64_t hidden = draws.width_up_to(std::min(elements, kMostHidden));
        Shape shape(draws.size_up_to(std::max<int64_t>(1, elements / hidden)), hidden);
        const auto which = static_cast<size_t>(draws.below(4));
        if (which < kActivations.size() && takes(kActivations[which].name))
            shape.activation = kActivations[which].activation;
        return shape;
    }

private:
    static Outputs outputs_of(const runner::Result& result) {
        const auto& of = dynamic_cast<const TokensOperation&>(*result.operation);
        return {result.outputs["y"].data,
                of.kind_ == Kind::add_bias_residual_prenorm ? result.outputs["sum"].data : nullptr,
                of.rounding_, result.arithmetic.partial_sums};
    }

    Kind kind_;
    Rounding rounding_;
};

// The one object for each.
const auto& objects() {
    static const std::array<TokensOperation, 6> objects = {
        TokensOperation(Kind::add_bias_activation, Rounding::once),
        TokensOperation(Kind::add_bias_activation, Rounding::each_step),
        TokensOperation(Kind::add_bias_residual_layernorm, Rounding::once),
        TokensOperation(Kind::add_bias_residual_layernorm, Rounding::each_step),
        TokensOperation(Kind::add_bias_residual_prenorm, Rounding::once),
        TokensOperation(Kind::add_bias_residual_prenorm, Rounding::each_step)};
    return objects;
}

}  // namespace

Shape::Shape(const runner::Shape& shape) : Shape(shape[0], shape[1]) {
    for (const ActivationOption& each : kActivations) {
        if (shape.option(each.name, 0) != 0) activation = each.activation;
    }
}

Shape::operator runner::Shape() const {
    runner::Shape shape{rows, hidden};
    for (const ActivationOption& each : kActivations) {
        if (activation == each.activation) shape.set_option(each.name, 1);
    }
    return shape;
}

const runner::Operation* operation_of(Kind kind, Rounding rounding) {
    for (const TokensOperation& each : objects()) {
        if (each.kind() == kind && each.rounding() == rounding) return &each;
    }
    throw std::invalid_argument("there is no such operation on tokens");
}

std::vector<const runner::Operation*> all() {
    std::vector<const runner::Operation*> all;
    for (const TokensOperation& each : objects()) all.push_back(&each);
    return all;
}

}  // namespace operations::tokens
